"""``egm cabinet``: write, check and explain cabinet files; list ports and protocols."""

import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import click
from serial.tools.list_ports import comports

from egm.app.preflight import iter_preflight_mistakes, iter_unknown_profile_and_game_mistakes
from egm.clock import SystemClock
from egm.config.cabinet_file import CabinetFile, GameTable, find_default_state_folder, load_cabinet
from egm.config.computer_checks import find_shared_folders, find_stable_port_name
from egm.config.mistakes import ConfigMistake, Consequence, TomlLineNumbers, parse_key_path, read_toml
from egm.config.schema import build_schema as build_cabinet_schema
from egm.config.schema import find_unchanged_example_values
from egm.devices.line import LineSettings
from egm.devices.protocols import PROTOCOLS
from egm.errors import OperatorError
from egm.garbage_collector import pause_garbage_collector
from egm.people import Permission
from egm.play.keys import PlayKey
from egm.profiles import list_profile_ids, load_profile
from meters import JournalError, open_view
from meters.recall import read_details
from paytables import DefinitionError, Game, PaytableError, list_shipped_games
from paytables.source import describe_toml_error, parse_toml, read_contents
from paytables.wording import format_count, format_known_names
from tools.cli.printed_text import REASON_TYPE
from tools.cli.result_file import describe_file_error
from tools.cli.tables import (
    BAD_STYLE,
    DOUBT_STYLE,
    Column,
    Columns,
    OutputFormat,
    Style,
    Table,
    add_format_options,
    show,
    show_progress,
)
from tools.cli.terminal import echo, format_json
from tools.lab.argument_names import format_definition_error


@click.group()
def command() -> None:
    """Write, check and explain cabinet files, which configure a machine (egm/CABINET-FILE.md)."""


#: The maximum width in characters of the column with the allowed values; a longer list wraps, also in a pipe.
_INLINE_LIST_MAX: Final = 60


# ---------------------------------------------------------------------- check
@command.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--quick", is_flag=True, help="Check only the file; do not analyse games or look for ports.")
@click.option(
    "--state",
    "state_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="The machine's state folder.",
)
@add_format_options
def check(file: Path, state_folder: Path | None, *, quick: bool, output_format: OutputFormat) -> None:
    """Print every error in FILE: line, key, error, likely intention and allowed values.

    It first checks the format. Then it checks, as the machine does at its start, whether the profile, games,
    levels, files and ports that the file names exist, whether the jurisdiction's rules admit each game, and
    whether the machine has played another definition under the same version. Exit status 0: the machine can
    start and offers everything in FILE; 1: it cannot start, or leaves something out.
    """
    try:
        text = read_contents(file).decode()
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{file}: {describe_toml_error(error)}") from error
    data = _parse_toml(text)
    cabinet, mistakes = read_toml(text, CabinetFile)
    if cabinet is not None and not quick:
        with show_progress("analysing its games", len(cabinet.games)) as report_progress:
            checked_games: list[str] = []

            def record_checked_game(game: str) -> None:
                """Show progress, and add the game to those whose files were checked."""
                report_progress(len(checked_games))
                checked_games.append(game)

            cabinet = cabinet.with_resolved_paths(file.absolute().parent)
            folder = state_folder or find_default_state_folder()
            remark_finder = _RemarkFinder.collect(cabinet, folder)
            with pause_garbage_collector():
                mistakes = [
                    *iter_preflight_mistakes(cabinet, record_checked_game, remark_finder.iter_game_remarks),
                    *find_shared_folders(cabinet, folder),
                ]
    elif not quick:
        mistakes += iter_unknown_profile_and_game_mistakes(data)
    mistakes += find_unchanged_example_values(data)
    lines = TomlLineNumbers(text)
    rows = sorted((_build_row(mistake, lines) for mistake in mistakes), key=lambda row: row[0] or 0)
    columns: Columns = (
        Column("line", is_right_aligned=True),
        "key",
        Column(
            "effect",
            "stops",
            format_value=lambda stops: _EFFECT_TEXT_BY_STOPS_MACHINE[stops],
            choose_style=_choose_style,
        ),
        Column("what is wrong", "what"),
        Column("did you mean", "meant"),
        Column("allowed values", "allowed", width_max=_INLINE_LIST_MAX),
    )
    empty_text = (
        "no error was found"
        if not quick
        else "it is a valid cabinet file; the files and games it names were not checked"
    )
    show(output_format, Table(columns, rows, empty_text=f"{file}: {empty_text}"))
    raise SystemExit(
        int(
            any(
                mistake.consequence in {Consequence.START_IS_REFUSED, Consequence.PART_IS_LEFT_OUT}
                for mistake in mistakes
            )
        )
    )


@dataclass(frozen=True, slots=True)
class _RemarkFinder:
    """A finder of remarks on the games in a cabinet file: things to know about games that the machine still offers."""

    played_definitions: Mapping[str, Any]
    """The digests of the game definitions that the machine has played, by storage key; empty without a memory."""
    bet_max_cents: int | None
    """The jurisdiction's bet limit; None if its profile has none or does not exist."""

    @classmethod
    def collect(cls, cabinet: CabinetFile, state_folder: Path) -> Self:
        """Return a finder for a cabinet file and for the machine whose memory is in the folder ``state_folder``."""
        definitions: Mapping[str, Any] = {}
        with suppress(JournalError), open_view(state_folder) as view:
            definitions = view.states(PlayKey.GAME_DEFINITION)
        bet_max_cents = None
        with suppress(OperatorError):
            bet_max_cents = load_profile(cabinet.machine.profile).play.bet_max_cents
        return cls(definitions, bet_max_cents)

    def iter_game_remarks(self, key: str, game_table: GameTable, game: Game) -> Iterator[ConfigMistake]:
        """Yield the remarks on one game of the cabinet file.

        One remark says that the machine has played another definition with the same version; others name
        table limits that the jurisdiction's bet limit reduces.
        """
        if self.played_definitions:
            yield from self._iter_conflicts(key, game)
        with suppress(PaytableError, OperatorError):
            yield from self._iter_reduced_limits(key, game_table, game)

    def _iter_conflicts(self, key: str, game: Game) -> Iterator[ConfigMistake]:
        """Yield a remark if the machine has played another definition under the game's version."""
        from egm.play.definitions import find_conflicting_digest  # noqa: PLC0415 (it loads the entries of play)

        with suppress(PaytableError):
            if earlier_digest := find_conflicting_digest(self.played_definitions, game):
                remark = (
                    f"this machine played another definition, {earlier_digest[:12]}, as version {game.version}: "
                    "give this one a new game.version"
                )
                yield ConfigMistake(key, remark, consequence=Consequence.WARNING_ONLY)

    def _iter_reduced_limits(self, key: str, game_table: GameTable, game: Game) -> Iterator[ConfigMistake]:
        """Yield a remark for each denomination at which the jurisdiction's bet limit reduces a table's own limits."""
        if self.bet_max_cents is None:
            return
        for cents in game_table.denominations_cents or game.denominations_cents:
            bet_max_by_spot = game.rules.find_highest_bet(self.bet_max_cents // cents)
            reductions = [
                f"{format_count(bet_max_by_spot[spot.id], 'credit')} on {spot.id} "
                f"(the game's definition: {spot.bet_max:,})"
                for spot in game.rules.list_spots()
                if bet_max_by_spot.get(spot.id, spot.bet_max) < spot.bet_max
            ]
            if reductions:
                remark = (
                    f"at a denomination of {cents:,} minor units, the highest bet is {', '.join(reductions)}, "
                    f"because one round may cost at most {self.bet_max_cents:,} minor units"
                )
                yield ConfigMistake(key, remark, consequence=Consequence.WARNING_ONLY)


def _parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text, or an empty dict if the text is not TOML."""
    try:
        return parse_toml(text)
    except tomllib.TOMLDecodeError:
        return {}


#: The effect of a mistake, by whether it stops the machine; None: it is only a remark.
_EFFECT_TEXT_BY_STOPS_MACHINE: Final = {True: "wrong", False: "left out", None: "remark"}


def _choose_style(stops_machine: object) -> Style:
    """Return the style in which a cabinet file's error is printed: bad if it prevents the start, else doubtful."""
    return BAD_STYLE if stops_machine else DOUBT_STYLE


def _build_row(mistake: ConfigMistake, lines: TomlLineNumbers) -> tuple[Any, ...]:
    """Return an error in a cabinet file as a table row.

    The row has line, key, whether the error prevents the start (None for a mere remark), problem, suggestion and
    allowed values.
    """
    line = mistake.line or lines.find_line(parse_key_path(mistake.key))
    stops_machine = (
        None
        if mistake.consequence is Consequence.WARNING_ONLY
        else mistake.consequence is Consequence.START_IS_REFUSED
    )
    return line, mistake.key, stops_machine, mistake.problem, mistake.suggestion, mistake.allowed_values


# ---------------------------------------------------------------------- new
def _check_game_names(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the game names; raise click.BadParameter for one that is neither a library game nor a .toml file."""
    for value in values:
        if value not in list_shipped_games() and not value.endswith(".toml"):
            raise click.BadParameter(
                f"{value!r} is neither a game of the library nor a .toml file; see egm game list"
            )
    return values


def _parse_devices(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Return (protocol, port) for each device given as ``PROTOCOL=PORT``; a simulated device needs no port."""
    devices = []
    for value in values:
        protocol, _equals, port = value.partition("=")
        if protocol not in PROTOCOLS:
            raise click.BadParameter(
                f"{protocol!r} is not a known device protocol; {format_known_names(protocol, PROTOCOLS)}"
            )
        devices.append((protocol, port or "bench"))
    return tuple(devices)


@command.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--profile", type=click.Choice(list_profile_ids()), help="The jurisdiction's profile.")
@click.option("--serial", help="The manufacturer's serial number.")
@click.option("--number", help="The operator's number of the machine.")
@click.option("--site", help="The venue's name as printed on tickets.")
@click.option("--licence-holder", help="The licence holder, if the jurisdiction's tickets name one.")
@click.option("--time-zone", help="An IANA time zone, such as America/Toronto.")
@click.option("--game", "games", multiple=True, callback=_check_game_names, help="A game; repeat for more.")
@click.option(
    "--device",
    "devices",
    multiple=True,
    callback=_parse_devices,
    metavar="PROTOCOL[=PORT]",
    help="A device, simulated if no port is given; repeat for more (default: bill, printer, I/O board).",
)
def new(
    file: Path,
    profile: str | None,
    serial: str | None,
    number: str | None,
    site: str | None,
    licence_holder: str | None,
    time_zone: str | None,
    games: tuple[str, ...],
    devices: tuple[tuple[str, str], ...],
) -> None:
    """Write a commented cabinet file to FILE, and check it.

    Values not given as options are asked for on a terminal. Without a terminal, marked examples are written;
    they must be changed, and `egm cabinet check` reports those that are not.
    """
    from tools.cli.new_cabinet_file import CabinetRequest, format_cabinet_file  # noqa: PLC0415 (it loads the drivers, which `check` does not need)

    if file.exists():
        raise click.ClickException(f"{file} exists and was not changed")
    is_at_terminal = sys.stdin.isatty()

    def ask_for_value(option: str | None, prompt: str, example: str = "") -> str:
        """Return the option's value, or ask the person for it; without a terminal return the example."""
        if option is not None or not is_at_terminal:
            return option or example
        return str(click.prompt(prompt, default=example or None))

    profile_id = ask_for_value(
        profile, f"The jurisdiction's profile ({', '.join(list_profile_ids())})", "generic"
    )
    try:
        loaded_profile = load_profile(profile_id)
    except OperatorError as error:
        raise click.ClickException(str(error)) from error
    request = CabinetRequest(
        profile=loaded_profile,
        serial=ask_for_value(serial, "The manufacturer's serial number"),
        operator_number=ask_for_value(number, "The operator's number of the machine"),
        site=ask_for_value(site, "The venue's name, as printed on tickets"),
        licence_holder=licence_holder,
        time_zone=time_zone,
        games=games,
        devices=devices or (("id003", "bench"), ("tcl", "bench"), ("ioboard", "bench")),
    )
    try:
        with show_progress("checking which games the jurisdiction allows"):
            text = format_cabinet_file(request, file.parent)
    except DefinitionError as error:
        raise click.ClickException(format_definition_error(error)) from None
    cabinet, mistakes = read_toml(text, CabinetFile)
    if cabinet is None:
        raise click.ClickException("\n".join(map(str, mistakes)))
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(describe_file_error(file, error)) from None
    echo(f"{file} written; try: egm cabinet check {file}; egm run --cabinet {file}")


# ---------------------------------------------------------------------- sign, signed
@command.command("sign")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--state",
    "state_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="The machine's state folder.",
)
@click.option(
    "--person", "staff_numbers", multiple=True, required=True, help="A staff number; repeat for more."
)
@click.option("--reason", type=REASON_TYPE, required=True, help="What was changed, and why.")
def sign(file: Path, state_folder: Path | None, staff_numbers: tuple[str, ...], reason: str) -> None:
    """Sign FILE for a machine: each person approves it with a PIN, and the journal records it.

    The machine accepts the signed file at its next start if no player has money or a game on it then; otherwise
    it stops with a fault. After the first signature, the machine only plays with signed files.
    """
    # Imported here because they load every rule of the machine, which `check` does not need.
    from egm.integrity.signed_file import (  # noqa: PLC0415
        SIGNATURE_FILE_NAME,
        CabinetFileSignature,
        compute_cabinet_file_digest,
    )
    from tools.cli import staff  # noqa: PLC0415

    try:
        load_cabinet(file)
        folder = state_folder or find_default_state_folder()
        roster = staff.load_roster(folder)
        signers = [
            staff.authenticate_for(roster, number, Permission.CONFIGURE)
            for number in dict.fromkeys(staff_numbers)
        ]
        signed_time = SystemClock().now().isoformat(timespec="seconds")
        signer_numbers = tuple(person.id for person in signers)
        CabinetFileSignature(
            compute_cabinet_file_digest(read_contents(file).decode()), signer_numbers, reason, signed_time
        ).write(folder / SIGNATURE_FILE_NAME)
    except OperatorError as error:
        raise click.ClickException(str(error)) from error
    echo(f"{file} is signed by {', '.join(signer_numbers)}; it takes effect at the machine's next start")


@command.command("signed")
@click.option(
    "--state",
    "state_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="The machine's state folder.",
)
@click.option("--file", "print_file", is_flag=True, help="Print the file signed last, unchanged.")
@add_format_options
def signed(state_folder: Path | None, *, print_file: bool, output_format: OutputFormat) -> None:
    """List the cabinet files signed for a machine, by whom and why; or print the text of the last one."""
    from egm.integrity.entries import CABINET_FILE_SIGNED  # noqa: PLC0415 (as in `sign`)
    from egm.integrity.signed_file import find_last_signed_cabinet_file  # noqa: PLC0415

    try:
        with open_view(state_folder or find_default_state_folder(), check_pages=True) as view:
            entries = [
                (entry.time_utc.isoformat(), read_details(entry))
                for entry in view.entries(CABINET_FILE_SIGNED.kind)
            ]
            last_signed_file = find_last_signed_cabinet_file(view)
    except JournalError as error:
        raise click.ClickException(str(error)) from error
    if print_file:
        if last_signed_file is None:
            raise click.ClickException("no cabinet file has been signed for this machine")
        echo(last_signed_file.text, nl=False)
        return
    rows = [
        (
            signed_time,
            signature_record["digest"][:16],
            signature_record["persons"],
            signature_record["reason"],
        )
        for signed_time, signature_record in entries
    ]
    show(
        output_format,
        Table(("time", "file", "persons", "reason"), rows, empty_text="no cabinet file has been signed yet"),
    )


# ---------------------------------------------------------------------- schema, devices
@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of a cabinet file, for editors."""
    echo(format_json(build_cabinet_schema(), indent=2))


@command.command("devices")
@add_format_options
def devices_(*, output_format: OutputFormat) -> None:
    """List the protocols a device may use, and this computer's serial ports by their stable names."""
    protocols = (
        (name, protocol.device_kind.replace("_", " "), _format_line_settings(protocol.line_settings))
        for name, protocol in PROTOCOLS.items()
    )
    ports = [
        (
            find_stable_port_name(port.device),
            port.device,
            _replace_unknown_by_empty(port.description),
            _replace_unknown_by_empty(port.manufacturer),
        )
        for port in comports()
    ]
    show(
        output_format,
        Table(("protocol", "device", "line"), protocols),
        Table(
            ("port", "now", "what it says it is", "made by"),
            ports,
            empty_text="this computer has no serial port",
        ),
        document={
            "protocols": {name: protocol.device_kind for name, protocol in PROTOCOLS.items()},
            "ports": [
                dict(zip(("port", "now", "description", "manufacturer"), port, strict=True)) for port in ports
            ],
        },
    )


def _format_line_settings(line_settings: LineSettings) -> str:
    """Return a serial line's speed, data bits, parity and stop bits as text."""
    return (
        f"{line_settings.baud_rate} {line_settings.data_bits}{line_settings.parity}{line_settings.stop_bits}"
    )


def _replace_unknown_by_empty(text: str | None) -> str:
    """Return the text, or "" if it stands for a value that the operating system does not know."""
    return "" if text in {None, "n/a"} else str(text)
