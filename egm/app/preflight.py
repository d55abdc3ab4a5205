"""Preflight check of a cabinet file: its profile, venue, games, levels, ports and files exist and fit together.

:func:`egm.config.cabinet_file.load_cabinet` checks the file itself. This module checks what depends on this
computer, its games and the jurisdiction's rules; the machine detects the same at its start, one mistake at a
time.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from egm.config.cabinet_file import GAMES_MAX, CabinetFile, GameTable
from egm.config.computer_checks import find_impossible_folders, find_missing_ports
from egm.config.levels import LevelScope
from egm.config.mistakes import ConfigMistake, Consequence, build_config_mistake, find_similar_word
from egm.devices.protocols import PROTOCOLS
from egm.errors import LocalError, OperatorError
from egm.play.installed_games import CertificateRules, admit_games
from egm.play.prize_limits import compute_largest_prizes
from egm.profiles import Profile, list_profile_ids, load_profile
from egm.tickets.templates import load_template
from paytables import Game, PaytableError, list_shipped_games, load_game
from paytables.errors import UnknownNameError
from paytables.source import is_path

#: What is wrong with a game or profile that does not exist.
_NOT_IN_LIBRARY_TEXT: Final = "not in the library"


#: An additional check of a game in the cabinet file.
#:
#: It receives the game's key and table in the file and the game itself, and returns the mistakes.
GameCheck: TypeAlias = Callable[[str, GameTable, Game], Iterable[ConfigMistake]]


def iter_preflight_mistakes(
    cabinet_file: CabinetFile,
    on_progress: Callable[[str], None] = lambda _: None,
    check_game: GameCheck = lambda _key, _game_table, _game: (),
) -> Iterator[ConfigMistake]:
    """Yield a mistake for everything that would keep the machine from starting or from offering a game.

    A mistake's :attr:`~egm.config.mistakes.ConfigMistake.consequence` says whether the machine starts despite it.
    ``on_progress`` receives each game before it is analysed, which takes some time. ``check_game`` is called
    for each game that can be checked against the jurisdiction's rules.
    """
    yield from _iter_file_mistakes(cabinet_file)
    yield from find_impossible_folders(cabinet_file)
    profile, mistakes = _load_profile_or_mistake(cabinet_file.machine.profile)
    if profile is None:
        yield from mistakes
        for i, game_table in enumerate(cabinet_file.games):
            _, game_mistakes = _load_game_or_mistake(game_table.game, f"games[{i + 1}].game")
            yield from game_mistakes
        return
    yield from _iter_venue_data_mistakes(cabinet_file, profile)
    yield from _iter_position_mistakes(cabinet_file)
    level_names_by_game = yield from _iter_game_mistakes(cabinet_file, profile, on_progress, check_game)
    yield from _iter_level_mistakes(cabinet_file, level_names_by_game)


def iter_unknown_profile_and_game_mistakes(data: Mapping[str, object]) -> Iterator[ConfigMistake]:
    """Yield a mistake for each profile and game that a cabinet file names and that does not exist.

    ``data`` is the TOML of a file that failed its own check, so it may have any shape.
    """
    profile = _get_table_or_empty(data.get("machine")).get("profile")
    if isinstance(profile, str):
        _, profile_mistakes = _load_profile_or_mistake(profile)
        yield from profile_mistakes
    game_tables = data.get("games")
    for i, game_table in enumerate(game_tables[:GAMES_MAX] if isinstance(game_tables, list) else ()):
        if isinstance(name := _get_table_or_empty(game_table).get("game"), str):
            _, game_mistakes = _load_game_or_mistake(name, f"games[{i + 1}].game")
            yield from game_mistakes


def _get_table_or_empty(data: object) -> Mapping[str, object]:
    """Return ``data`` if it is a TOML table, else an empty table."""
    return data if isinstance(data, Mapping) else {}


def _load_profile_or_mistake(name: str) -> tuple[Profile | None, list[ConfigMistake]]:
    """Return the profile with this name, or None and the mistake."""
    try:
        return load_profile(name), []
    except OperatorError as error:
        profile_ids = list_profile_ids()
        if name in profile_ids or is_path(name) or name.endswith(".toml"):
            return None, [ConfigMistake("machine.profile", str(error))]
        return None, [
            build_config_mistake(
                "machine.profile", f"{name}: {_NOT_IN_LIBRARY_TEXT}", *profile_ids, written_word=name
            )
        ]


def _load_game_or_mistake(name: str, key: str) -> tuple[Game | None, list[ConfigMistake]]:
    """Return the game with this name or path, or None and the mistake; ``key`` is its key in the cabinet file."""
    try:
        return load_game(name), []
    except PaytableError as error:
        if isinstance(error, UnknownNameError):
            return None, [
                ConfigMistake(
                    key,
                    f"{name}: {_NOT_IN_LIBRARY_TEXT}",
                    suggestion=find_similar_word(name, list_shipped_games()),
                    consequence=Consequence.PART_IS_LEFT_OUT,
                )
            ]
        return None, [ConfigMistake(key, str(error), consequence=Consequence.PART_IS_LEFT_OUT)]


def _iter_file_mistakes(cabinet_file: CabinetFile) -> Iterator[ConfigMistake]:
    """Yield a mistake for each port and file that the cabinet file names and that does not exist.

    If the files of the progressive link exist, they are also checked.
    """
    yield from find_missing_ports(cabinet_file)
    path_by_key: dict[str, Path | None] = {
        "software.manifest": None if cabinet_file.software is None else cabinet_file.software.manifest,
        "inventory.photograph": cabinet_file.inventory.photograph,
        **{
            f"games[{i + 1}].certificate": game_table.certificate
            for i, game_table in enumerate(cabinet_file.games)
        },
    }
    if cabinet_file.progressive_link is not None:
        link = cabinet_file.progressive_link
        path_by_key |= {
            "progressive_link.authority": link.authority,
            "progressive_link.certificate": link.certificate,
            "progressive_link.key": link.key,
        }
    missing_path_by_key = {
        key: path for key, path in path_by_key.items() if path is not None and not path.exists()
    }
    for key, path in missing_path_by_key.items():
        yield ConfigMistake(key, f"there is no file {path}", consequence=Consequence.PART_IS_LEFT_OUT)
    if cabinet_file.progressive_link is not None and not any(
        key.startswith("progressive_link") for key in missing_path_by_key
    ):
        from egm.progressive.connection import check_certificates  # noqa: PLC0415 (it loads the broker's client)

        try:
            check_certificates(cabinet_file.progressive_link, cabinet_file.machine.serial)
        except OperatorError as error:
            yield ConfigMistake(
                "progressive_link.certificate", str(error), consequence=Consequence.PART_IS_LEFT_OUT
            )


def _iter_position_mistakes(cabinet_file: CabinetFile) -> Iterator[ConfigMistake]:
    """Yield a mistake for each player position where no key can reset a hand-pay.

    A machine with several positions also gets one for each position where no device accepts money.
    """
    positions_by_device_kind: dict[str, set[int]] = {}
    for device in cabinet_file.devices.values():
        positions_by_device_kind.setdefault(PROTOCOLS[device.protocol].device_kind, set()).add(
            device.position
        )
    positions_taking_money = positions_by_device_kind.get(
        "bill_acceptor", set()
    ) | positions_by_device_kind.get("coin_acceptor", set())
    positions_with_io_board = positions_by_device_kind.get("io_board", set())
    for number in range(1, cabinet_file.machine.position_count + 1):
        if cabinet_file.machine.position_count > 1 and number not in positions_taking_money:
            reason = f"no device of position {number} accepts money: give one of [devices] the key position = {number}"
            yield ConfigMistake("machine.positions", reason, consequence=Consequence.PART_IS_LEFT_OUT)
        if cabinet_file.devices and positions_with_io_board.isdisjoint({1, number}):
            reason = f"hand-pays cannot be paid, because no I/O board has a key switch for position {number}"
            yield ConfigMistake(
                "devices",
                f"{reason}: add a board to it, or to position 1 for all positions",
                consequence=Consequence.PART_IS_LEFT_OUT,
            )


def _iter_venue_data_mistakes(cabinet_file: CabinetFile, profile: Profile) -> Iterator[ConfigMistake]:
    """Yield a mistake for each item of venue data that the jurisdiction's tickets must print and the file lacks."""
    try:
        load_template(profile.id).check_venue(cabinet_file.machine.venue)
    except (LocalError, OperatorError) as error:
        yield ConfigMistake("machine.licence_holder", str(error))


def _iter_game_mistakes(
    cabinet_file: CabinetFile, profile: Profile, on_progress: Callable[[str], None], check_game: GameCheck
) -> Generator[ConfigMistake, None, dict[str, set[str]]]:
    """Yield a mistake for each game that the machine would not offer or not accept bets on; return the games' levels.

    The result maps the id of each game that could be loaded, offered or not, to the names of its progressive levels.
    """
    # A demonstration, in which all devices are simulated, needs no certificates.
    are_certificates_required = (
        bool(cabinet_file.hardware_port_descriptions) and profile.inventory.requires_certificates
    )
    first_number_by_game: dict[str, int] = {}
    level_names_by_game: dict[str, set[str]] = {}
    offered_count = 0
    for i, game_table in enumerate(cabinet_file.games):
        on_progress(game_table.game)
        key = f"games[{i + 1}].game"
        game, mistakes = _load_game_or_mistake(game_table.game, key)
        yield from mistakes
        if game is None:
            continue
        if game.id in first_number_by_game:
            reason = (
                f"{game.id} is already listed, as games[{first_number_by_game[game.id]}]: list each game once"
            )
            yield ConfigMistake(key, reason, consequence=Consequence.PART_IS_LEFT_OUT)
            continue
        if game.rules.seats_min > cabinet_file.machine.position_count:
            reason = f"{game.id} needs at least {game.rules.seats_min} positions, but machine.positions is"
            yield ConfigMistake(
                key,
                f"{reason} {cabinet_file.machine.position_count}: its bets are not accepted",
                consequence=Consequence.PART_IS_LEFT_OUT,
            )
        level_names_by_game[game.id] = {participation.level for participation in game.list_every_level()}
        first_number_by_game[game.id] = i + 1
        _, refused_games = admit_games(
            (game_table,),
            profile,
            cabinet_file.progressives,
            compute_largest_prizes,
            CertificateRules(cabinet_file.machine.certifier_key_hex, are_certificates_required),
            has_wheel=cabinet_file.has_wheel,
        )
        offered_count += not refused_games
        for refusal in refused_games:
            yield ConfigMistake(key, refusal.reason, consequence=Consequence.PART_IS_LEFT_OUT)
        yield from check_game(key, game_table, game)
    if not offered_count:
        yield ConfigMistake(
            "games", "none of the listed games can be offered, so the machine would be out of service"
        )
    return level_names_by_game


def _iter_level_mistakes(
    cabinet_file: CabinetFile, level_names_by_game: dict[str, set[str]]
) -> Iterator[ConfigMistake]:
    """Yield a mistake for each progressive level in the file whose game is not in the file or has no such level.

    Another mistake is yielded if a level needs a progressive link and the file has none.
    """
    for i, level_table in enumerate(cabinet_file.progressives):
        key = f"progressives[{i + 1}]"
        level_names = level_names_by_game.get(level_table.game_id)
        if level_names is None:
            known_names = tuple(sorted(level_names_by_game))
            message = f"{level_table.game_id!r} is not among the games of this file"
            yield ConfigMistake(
                f"{key}.game",
                message,
                suggestion=find_similar_word(level_table.game_id, known_names),
                allowed_values=known_names,
                consequence=Consequence.PART_IS_LEFT_OUT,
            )
        elif level_table.level_name not in level_names:
            known_names = tuple(sorted(level_names))
            message = f"{level_table.game_id} has no level {level_table.level_name!r}"
            yield ConfigMistake(
                f"{key}.level",
                message,
                suggestion=find_similar_word(level_table.level_name, known_names),
                allowed_values=known_names,
                consequence=Consequence.PART_IS_LEFT_OUT,
            )
        if (
            level_table.scope is not LevelScope.STAND_ALONE
            and level_table.carrier == "controller"
            and cabinet_file.progressive_link is None
        ):
            yield ConfigMistake(
                "progressive_link",
                f"must be given, because a controller manages {level_table.game_id} {level_table.level_name}",
            )
