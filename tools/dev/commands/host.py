"""``python -m tools.dev host``: a SAS host for the bench that polls and commands; explains a recording."""

import json
import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, monotonic_ns
from typing import Any, Final

import click
from rich.live import Live

from egm.config.cabinet_file import default_state_dir
from egm.errors import OperatorError, PeerError
from tools.cli.tables import build_facts_table, show
from tools.cli.terminal import Terminal, echo
from tools.dev.host.explain import Message, explain
from tools.dev.host.host import Host
from tools.dev.host.line import HostLine, Wire
from tools.dev.host.live import picture
from tools.dev.host.store import Store
from tools.dev.host.trace import Recorder, Side, read_trace
from tools.dev.host.verbs import VERBS, VerbError, obey, refresh

_CONNECT_SECONDS: Final = 15.0
_REFRESH_SECONDS: Final = 1.0
_FRAME_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class _Options:
    state: Path | None
    port: str | None
    address: int
    wire: str | None
    ledger: Path | None
    record: Path | None
    answer_ms: int
    as_json: bool


def _now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def _host(options: _Options) -> Iterator[Host]:
    """Open line, ledger and recording, with what goes wrong as a sentence."""
    state = options.state or default_state_dir()
    port = options.port or _only_line(state)
    path = options.ledger or state / "host.sqlite"
    try:
        with ExitStack() as cleanup:
            path.parent.mkdir(parents=True, exist_ok=True)
            store = cleanup.enter_context(Store.open(path, _now))
            recorder = None
            if options.record is not None:
                file = cleanup.enter_context(options.record.open("w", encoding="utf-8"))
                recorder = Recorder(file, monotonic_ns, started=_now().isoformat(timespec="seconds"))
            wire = Wire(options.wire) if options.wire else None
            line = HostLine(port, wire, recorder=recorder, answer_seconds=options.answer_ms / 1000)
            cleanup.callback(line.close)
            yield Host(line, store, address=options.address, now=_now)
    except (OperatorError, PeerError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _only_line(state: Path) -> str:
    """Return the line of the machine of this state folder if it has exactly one on a pseudo-terminal."""
    lines = sorted((state / "run" / "sas").glob("*"))
    if len(lines) != 1:
        known = ", ".join(map(str, lines)) or f"no machine runs with one on {state}"
        raise click.ClickException(f"which line? --port a serial port, socket://name:number, or: {known}")
    return str(lines[0])


@click.group(invoke_without_command=True)
@click.option("--state", type=click.Path(path_type=Path), help="the machine's state folder")
@click.option(
    "--port", help="the machine's line: a serial port, socket://, rfc2217:// (default: the one there is)"
)
@click.option("--address", type=click.IntRange(1, 127), default=1, show_default=True)
@click.option(
    "--wire",
    type=click.Choice([str(wire) for wire in Wire]),
    help="how the wakeup bit travels (default: by the port)",
)
@click.option("--ledger", type=click.Path(path_type=Path), help="the host's tickets and transfers (SQLite)")
@click.option("--record", type=click.Path(path_type=Path), help="record the line into this file")
@click.option(
    "--answer-ms", type=click.IntRange(5, 5000), default=100, show_default=True, help="wait for answers"
)
@click.option("--json", "as_json", is_flag=True, help="print results as JSON")
@click.option("--seconds", type=float, help="stop after so long (default: until Ctrl-C)")
@click.pass_context
def command(ctx: click.Context, /, *, seconds: float | None, **given: Any) -> None:
    """Be the SAS host of one machine.

    Without a verb, show everything live, answer the machine's requests (ticket numbers, redemptions), and
    obey verbs typed below the picture.

    \b
    python -m tools.dev host
    python -m tools.dev host --port /dev/ttyUSB0 --record line.jsonl
    python -m tools.dev host --json meters
    python -m tools.dev host aft in 5.00
    python -m tools.dev host send 6F game=0 codes=00,01,0C
    python -m tools.dev host trace line.jsonl
    """  # noqa: D301 (click wants the character itself)
    options = ctx.obj = _Options(**given)
    if ctx.invoked_subcommand is None:
        with _host(options) as host, suppress(KeyboardInterrupt):  # the way to end it
            if sys.stdout.isatty():
                _live(host, seconds)
            else:
                _listen(host, seconds, as_json=options.as_json)


# ---------------------------------------------------------------- looking on
def _live(host: Host, seconds: float | None) -> None:
    """Show the live picture until Ctrl-C, and execute typed commands."""
    until = None if seconds is None else monotonic() + seconds
    typed = ""
    next_refresh = next_frame = 0.0
    with _keys() as keys, Live(picture(host), console=Terminal(), screen=True, auto_refresh=False) as live:
        while until is None or monotonic() < until:
            host.step()
            now = monotonic()
            if now >= next_refresh:
                refresh(host)
                next_refresh = now + _REFRESH_SECONDS
            for key in keys():
                typed = _typed(host, typed, key)
            if now >= next_frame:
                live.update(picture(host, typed), refresh=True)
                next_frame = now + _FRAME_SECONDS


def _typed(host: Host, typed: str, key: str) -> str:
    """Take one key into the command line; return what it holds now."""
    if key in {"\r", "\n"}:
        try:
            host.tell(f"{typed}: {json.dumps(obey(host, typed.split()))}")
        except (OperatorError, ValueError) as error:
            host.tell(str(error))
        return ""
    if key in {"\x7f", "\b"}:
        return typed[:-1]
    return typed + key if key.isprintable() else typed


@contextmanager
def _keys() -> Iterator[Any]:
    """Keys one by one without waiting for a line, where there is a keyboard."""
    if not sys.stdin.isatty():
        yield lambda: ""
        return
    fileno = sys.stdin.fileno()
    before = termios.tcgetattr(fileno)
    tty.setcbreak(fileno)

    def waiting() -> str:
        ready, _, _ = select.select([fileno], [], [], 0)
        return os.read(fileno, 256).decode(errors="ignore") if ready else ""

    try:
        yield waiting
    finally:
        termios.tcsetattr(fileno, termios.TCSADRAIN, before)


def _listen(host: Host, seconds: float | None, *, as_json: bool) -> None:
    """Print what is heard, line by line."""
    until = None if seconds is None else monotonic() + seconds
    while until is None or monotonic() < until:
        host.step()
        while host.reports:
            report = host.reports.popleft()
            stamp = report.at.isoformat(timespec="milliseconds")
            echo(json.dumps({"at": stamp, "text": report.text}) if as_json else f"{stamp}  {report.text}")


# ---------------------------------------------------------------- verbs
def _add(verb: str) -> None:
    help_ = (VERBS[verb].__doc__ or "").strip()

    @command.command(name=verb, help=help_)
    @click.argument("words", nargs=-1)
    @click.pass_obj
    def run(options: _Options, words: tuple[str, ...]) -> None:
        with _host(options) as host:
            host.connect(_CONNECT_SECONDS)
            try:
                result = obey(host, (verb, *words))
            except ValueError as error:
                raise VerbError(f"{verb}: {error}") from error
            host.run_until(lambda: host.conversation.idle, _CONNECT_SECONDS)
            _print(result, as_json=options.as_json)


for _verb in VERBS:
    _add(_verb)


def _print(result: dict[str, Any], *, as_json: bool) -> None:
    if as_json:  # a line a result: several may follow each other
        echo(json.dumps(result))
    else:
        show("text", build_facts_table(result.items()))


# ---------------------------------------------------------------- recordings
@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--brief", is_flag=True, help="one line a message, without its fields")
@click.option("--troubles", is_flag=True, help="only what is wrong")
@click.option("--poll", help="only this poll and its answers (two hexadecimal digits)")
@click.pass_obj
def trace(options: _Options, file: Path, *, brief: bool, troubles: bool, poll: str | None) -> None:
    """Explain a recording byte by byte: fields, values, CRC, timing; A, B, K and X say how sure a row is.

    The exit status is 1 where something is wrong in it.
    """
    wrong = 0
    try:
        only = None if poll is None else bytes((int(poll, 16),))
        for message in explain(read_trace(file)):
            wrong += message.trouble
            if (troubles and not message.trouble) or only not in (None, message.data[1:2]):
                continue
            if options.as_json:
                echo(json.dumps(message.document()))
            else:
                _explain(message, brief=brief)
    except (OperatorError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    if wrong:
        raise click.exceptions.Exit(1)


def _explain(message: Message, *, brief: bool) -> None:
    who = "host   " if message.side is Side.HOST else "machine"
    echo(f"{message.us / 1e6:12.6f}  {who}  {message.data.hex(' ').upper():<24}  {message.title}")
    for note in message.notes:
        echo(f"{'':14}!! {note}", fg="red")
    for piece in () if brief else message.pieces:
        line = f"{'':14}+{piece.at:<3} {piece.data.hex(' ').upper():<30} {piece.name}: {piece.text}"
        echo(f"{line}  !! {piece.trouble}" if piece.trouble else line, fg="red" if piece.trouble else None)
