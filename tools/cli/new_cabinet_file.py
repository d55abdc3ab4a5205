"""Generation of a commented cabinet file: every key with its meaning, from the published schema."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Final

from egm.app.first_start.draft import DEVICE_NAME_BY_KIND, list_game_levels
from egm.config.cabinet_file import GameTable
from egm.config.key_documentation import format_toml
from egm.config.schema import TableDocumentation, iter_cabinet_file_tables
from egm.devices.protocols import PROTOCOLS
from egm.play.installed_games import admit_games
from egm.profiles import Profile
from egm.tickets.templates import MANDATORY_FIELDS_BY_CLASS, load_template
from paytables import Game, list_non_table_games, list_table_games, load_game
from paytables.source import is_path
from tools.lab.argument_names import parse_path_or_id

#: Longest line of a comment, in characters.
_COMMENT_WIDTH: Final = 100
#: Tables that are written even if they have no values.
_TABLES_ALWAYS_WRITTEN: Final = frozenset({"[inventory]", "[memory]"})
#: Tables that are filled from the request alone. (That of progressive levels follows from the games.)
_TABLES_WITH_REQUESTED_VALUES: Final = frozenset({"[machine]", "[[games]]", "[devices.NAME]"})
#: Empty default values, as TOML, which are not worth stating beside an example.
_EMPTY_DEFAULTS: Final = frozenset({'""', "[]", "{}"})
#: The header of a progressive level's table.
_LEVEL_TABLE_HEADER: Final = "[[progressives]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class CabinetRequest:
    """The values for a new cabinet file. For a missing mandatory value, the file has an example, marked as such."""

    profile: Profile
    serial: str
    operator_number: str
    site: str
    licence_holder: str | None = None
    time_zone: str | None = None
    games: tuple[str, ...] = ()
    devices: tuple[tuple[str, str], ...] = ()
    """The devices, each as (protocol, port)."""


def format_cabinet_file(request: CabinetRequest, folder: Path) -> str:
    """Return the text of a cabinet file; game and profile files are named relative to ``folder``.

    If no games are requested, it offers the library games that the jurisdiction admits, with stand-alone
    progressive levels. Raises :class:`DefinitionError` for a game that is not valid.
    """
    table_by_header = {table.header: table for table in iter_cabinet_file_tables()}
    games = [load_game(parse_path_or_id(name)) for name in request.games] or [
        *_iter_admitted_games(request.profile)
    ]
    game_names = [_format_game_name(folder, name) for name in request.games] or [game.id for game in games]
    lines = [f"# A cabinet file for {request.profile.title['en']}. Every key: egm/CABINET-FILE.md", ""]
    lines += _format_table(table_by_header["[machine]"], "[machine]", _build_machine_table_values(request))
    for name in game_names:
        lines += _format_table(
            table_by_header["[[games]]"], "[[games]]", {"game": name}, is_first=name == game_names[0]
        )
    levels = [level_table for game in games for level_table in list_game_levels(game)]
    for level_table in levels:
        values = {"game": level_table.game_id, "level": level_table.level_name}
        lines += _format_table(
            table_by_header[_LEVEL_TABLE_HEADER],
            _LEVEL_TABLE_HEADER,
            values,
            is_first=level_table is levels[0],
        )
    device_count_by_name: dict[str, int] = {}
    for protocol, port in request.devices:
        name = DEVICE_NAME_BY_KIND[PROTOCOLS[protocol].device_kind]
        device_count_by_name[name] = device_count_by_name.get(name, 0) + 1
        header = f"[devices.{name}{device_count_by_name[name] if device_count_by_name[name] > 1 else ''}]"
        values = {"protocol": protocol} | ({} if port == "bench" else {"port": port})
        lines += _format_table(
            table_by_header["[devices.NAME]"],
            header,
            values,
            is_first=sum(device_count_by_name.values()) == 1,
        )
    for table in table_by_header.values():
        if table.header in _TABLES_ALWAYS_WRITTEN:
            lines += _format_table(table, table.header, {})
    other_headers = [
        header
        for header in table_by_header
        if header not in _TABLES_ALWAYS_WRITTEN | _TABLES_WITH_REQUESTED_VALUES
        and (header != _LEVEL_TABLE_HEADER or not levels)
    ]
    lines += _format_comment(f"Other tables: {', '.join(other_headers)}. Their keys: egm cabinet schema.")
    return "\n".join(lines).rstrip() + "\n"


def _format_game_name(folder: Path, name: str) -> str:
    """Return a game's id, or the path of its file relative to ``folder``."""
    if not isinstance(parse_path_or_id(name), Path):
        return name
    relative_path = os.path.relpath(name, folder)
    return relative_path if is_path(relative_path) else f"./{relative_path}"


def _build_machine_table_values(request: CabinetRequest) -> dict[str, str | None]:
    """Return the values of the keys in the cabinet file's ``[machine]`` table.

    None means that the file gets an example for this key.
    """
    values: dict[str, str | None] = {
        "serial": request.serial,
        "operator_number": request.operator_number,
        "profile": request.profile.id,
        "site": request.site,
    }
    mandatory_fields = MANDATORY_FIELDS_BY_CLASS[load_template(request.profile.id).ticket]
    values |= {key: None for key in ("licence_holder", "address") if key in mandatory_fields}
    if request.licence_holder is not None:
        values["licence_holder"] = request.licence_holder
    if request.time_zone is not None:
        values["time_zone"] = request.time_zone
    return values


def _format_table(
    table: TableDocumentation, header: str, values: Mapping[str, str | None], *, is_first: bool = True
) -> Iterator[str]:
    """Yield the lines of a table of the cabinet file; examples and default values are marked as such.

    The first table of its kind (``is_first``) also lists every other key, as a comment.
    """
    if is_first:
        yield from _format_comment(table.meaning)
    yield header
    for key in table.keys:
        if key.name in values:
            yield from _format_comment(key.meaning) if is_first else ()
            value = format_toml(values[key.name]) if values[key.name] else key.example
            is_example = key.is_known_only_to_operator and value == key.example
            yield f"{key.name} = {value}{'  # example' if is_example else ''}"
        elif is_first:
            yield from _format_comment(f"{key.meaning} ({key.kind})")
            has_default = key.default not in {None, "none"}
            if key.example and has_default and key.default not in _EMPTY_DEFAULTS:
                yield f"# {key.name} = {key.example}  # example; default {key.default}"
            elif key.example:
                yield f"# {key.name} = {key.example}  # example"
            else:
                yield f"# {key.name} = {f'{key.default}  # default' if has_default else '...'}"
    yield ""


def _format_comment(text: str) -> Iterator[str]:
    """Yield a text as comment lines of a TOML file."""
    yield from (f"# {line}" for line in wrap(text, _COMMENT_WIDTH))


def _iter_admitted_games(profile: Profile) -> Iterator[Game]:
    """Yield the library games that the jurisdiction admits and one position can play.

    Of several games with the same title, only one is yielded. Of the games played at a table, only one per family is
    yielded, preferably one of the jurisdiction's own.
    """
    own_territory = profile.id.partition("-")[0]
    titles, families = set(), set()
    for name in (
        *list_non_table_games(),
        *sorted(list_table_games(), key=lambda table_game: not table_game.startswith(f"{own_territory}-")),
    ):
        game = load_game(name)
        is_table_game = name in list_table_games()
        is_duplicate = game.title["en"] in titles or (is_table_game and game.family in families)
        if is_duplicate or game.rules.seats_min > 1:
            continue
        admitted_games, _ = admit_games((GameTable(game=name),), profile, list_game_levels(game))
        if admitted_games:
            titles.add(game.title["en"])
            families.add(game.family)
            yield game
