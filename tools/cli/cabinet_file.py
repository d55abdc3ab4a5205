"""A generated cabinet file: every key with its meaning as a comment, from the published schema."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Final

from egm.app.first_start.draft import NAMES, levels_of
from egm.config.cabinet_file import GameSlot
from egm.config.keys import toml
from egm.config.schema import Part, parts
from egm.devices.catalogue import PROTOCOLS
from egm.play.installed_games import admit
from egm.profiles import Profile
from egm.tickets.templates import MANDATORY, load_template
from paytables import Game, load_game, tables
from paytables import library as library_games
from paytables.source import is_path
from tools.lab.named import named

_WIDTH: Final = 100
#: Tables that are written even if they have no values.
_SHOWN: Final = frozenset({"[inventory]", "[memory]"})
_GIVEN: Final = frozenset({"[machine]", "[[games]]", "[devices.NAME]"})
_LEVELS: Final = "[[progressives]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class CabinetRequest:
    """The requested values for the file; empty or None: an example value, or none."""

    profile: Profile
    serial: str
    operator_number: str
    site: str
    licence_holder: str | None = None
    time_zone: str | None = None
    games: tuple[str, ...] = ()
    devices: tuple[tuple[str, str], ...] = ()


def written(requested: CabinetRequest, folder: Path) -> str:
    """Return the text of a file for ``folder``; definitions are named relative to it.

    If no games are requested, it offers the library games that the jurisdiction admits, with stand-alone
    levels. Raises :class:`DefinitionError` for a game that is refused.
    """
    known = {part.header: part for part in parts()}
    games = [load_game(named(name)) for name in requested.games] or [*_admitted(requested.profile)]
    names = [_from(folder, name) for name in requested.games] or [game.id for game in games]
    lines = [f"# A cabinet file for {requested.profile.title['en']}. Every key: egm/CABINET-FILE.md", ""]
    lines += _table(known["[machine]"], "[machine]", _machine(requested))
    for name in names:
        lines += _table(known["[[games]]"], "[[games]]", {"game": name}, first=name == names[0])
    levels = [slot for game in games for slot in levels_of(game)]
    for slot in levels:
        given = {"game": slot.game, "level": slot.level}
        lines += _table(known[_LEVELS], _LEVELS, given, first=slot is levels[0])
    taken: dict[str, int] = {}
    for protocol, port in requested.devices:
        name = NAMES[PROTOCOLS[protocol].kind]
        taken[name] = taken.get(name, 0) + 1
        header = f"[devices.{name}{taken[name] if taken[name] > 1 else ''}]"
        given = {"protocol": protocol} | ({} if port == "bench" else {"port": port})
        lines += _table(known["[devices.NAME]"], header, given, first=not sum(taken.values()) > 1)
    for part in known.values():
        if part.header in _SHOWN:
            lines += _table(part, part.header, {})
    others = [
        header for header in known if header not in _SHOWN | _GIVEN and (header != _LEVELS or not levels)
    ]
    lines += _comment(f"Other tables: {', '.join(others)}. Their keys: egm cabinet schema.")
    return "\n".join(lines).rstrip() + "\n"


def _from(folder: Path, name: str) -> str:
    """Return a game's name as a cabinet file in ``folder`` writes it."""
    if not isinstance(named(name), Path):
        return name
    found = os.path.relpath(name, folder)
    return found if is_path(found) else f"./{found}"


def _machine(requested: CabinetRequest) -> dict[str, str | None]:
    """Return the keys of the machine's table; those without a value get an example."""
    given: dict[str, str | None] = {
        "serial": requested.serial,
        "operator_number": requested.operator_number,
        "profile": requested.profile.id,
        "site": requested.site,
    }
    must = MANDATORY[load_template(requested.profile.id).ticket]
    given |= {key: None for key in ("licence_holder", "address") if key in must}
    if requested.licence_holder is not None:
        given["licence_holder"] = requested.licence_holder
    if requested.time_zone is not None:
        given["time_zone"] = requested.time_zone
    return given


def _table(part: Part, header: str, given: Mapping[str, str | None], *, first: bool = True) -> Iterator[str]:
    """Yield the lines of a table; the ``first`` of its kind has every other key as a comment.

    Examples and default values are marked as such.
    """
    if first:
        yield from _comment(part.meaning)
    yield header
    for key in part.keys:
        if key.name in given:
            yield from _comment(key.meaning) if first else ()
            value = toml(given[key.name]) if given[key.name] else key.example
            yield f"{key.name} = {value}{'  # example' if key.owners and value == key.example else ''}"
        elif first:
            yield from _comment(f"{key.meaning} ({key.kind})")
            usual = "..." if key.default in {None, "none"} else key.default
            default = "" if usual in {"...", '""', "[]", "{}"} else f"; default {usual}"
            line_value = f"{key.example}  # example{default}" if key.example else usual
            yield f"# {key.name} = {line_value}{'  # default' if line_value == usual != '...' else ''}"
    yield ""


def _comment(text: str) -> Iterator[str]:
    yield from (f"# {line}" for line in wrap(text, _WIDTH))


def _admitted(profile: Profile) -> Iterator[Game]:
    """Yield library games that the jurisdiction admits: one of each title, and one table of each family.

    A jurisdiction's own tables come first.
    """
    own = profile.id.partition("-")[0]
    titles, families = set(), set()
    for name in (*library_games(), *sorted(tables(), key=lambda table: not table.startswith(f"{own}-"))):
        game = load_game(name)
        is_table = name in tables()
        if game.title["en"] in titles or (is_table and game.family in families):
            continue
        if admit((GameSlot(game=name),), profile, levels_of(game))[0]:
            titles.add(game.title["en"])
            families.add(game.family)
            yield game
