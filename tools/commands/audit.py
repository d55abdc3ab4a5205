"""``egm audit``: export a journal, verify one, read its logs, and clear a machine that cannot be repaired."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from egm.config import default_state_dir
from egm.people import Permission
from meters import JournalError, JournalUnwritable, StoredEntry, events, export, open_view, recall
from meters.clear import Clearance, clear, inspect
from meters.copies import Place, check_seal
from meters.entry import decode
from meters.journal import SECOND_FOLDER
from meters.keys import MachineKey
from meters.keys import fingerprint as fingerprint_of
from meters.storage import DiskStorage
from tools.audit.games import Shelf
from tools.audit.verify import Auditor, Finding, Report
from tools.staff import prove, roster_of

STATE = click.option("--state", type=click.Path(path_type=Path), help="Where the machine's memory lives.")
SECOND = click.option("--second", type=click.Path(path_type=Path), help="Where the second copy lies.")
JSON = click.option("--json", "as_json", is_flag=True, help="For scripts.")


@click.group()
def command() -> None:
    """The journal of a machine, for whoever must be able to trust it."""


@command.command("export")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@STATE
def export_(file: Path, state: Path | None) -> None:
    """Write the whole journal to FILE, signed; the machine may be playing.

    Only what this machine wrote is signed: every seal is checked, and that no entry is missing at the end.
    """
    folder = state or default_state_dir()
    partial = file.with_name(file.name + ".partial")
    try:
        key = MachineKey.load(DiskStorage(), folder)
        if key is None:
            raise click.ClickException(f"{folder}: there is no machine key to sign with")
        with open_view(folder, key=key) as view, partial.open("wb") as out:
            count = export.write(view, key, out, datetime.now(UTC))
        partial.replace(file)
    except (JournalError, OSError) as why:
        partial.unlink(missing_ok=True)
        raise click.ClickException(str(why)) from why
    click.echo(f"{file}: {count} entries, machine {key.fingerprint}")


@command.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False, exists=True))
@STATE
@SECOND
@click.option(
    "--games",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A folder of game definitions, besides the library.",
)
@click.option("--fingerprint", help="The machine's key as its screen shows it; another is an error.")
@click.option(
    "--after",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="An earlier export: it must be the beginning of this journal.",
)
@JSON
def verify(
    *,
    file: Path | None,
    state: Path | None,
    second: Path | None,
    games: tuple[Path, ...],
    fingerprint: str | None,
    after: Path | None,
    as_json: bool,
) -> None:
    """Derive everything in FILE again: chain, signatures, balances, meters, and every game from its draws.

    Without FILE, both copies in the state folder. Exit status 1 when anything is wrong.
    """
    shelf = Shelf(games)
    try:
        heads = dict([_head_of(after)]) if after else {}
        if file is not None:
            reports = {str(file): _verify_export(file, Auditor(shelf, heads))}
        else:
            folder = state or default_state_dir()
            reports = _verify_copies(folder, second or folder / SECOND_FOLDER, shelf, heads)
    except JournalError as why:
        raise click.ClickException(str(why)) from why
    for report in reports.values():
        if fingerprint and report.fingerprint != fingerprint:
            report.add(Finding(1, "", f"the machine is {report.fingerprint}, not {fingerprint}"))
    if as_json:
        click.echo(
            json.dumps({name: report.to_json() for name, report in reports.items()}, ensure_ascii=False)
        )
    else:
        for name, report in reports.items():
            _print_report(name, report)
    raise SystemExit(1 if any(report.wrong for report in reports.values()) else 0)


def _head_of(file: Path) -> tuple[int, str]:
    with file.open("rb") as opened:
        header = export.ExportReader(opened, str(file)).header
    return header.sequence, header.head_hash


def _verify_export(file: Path, auditor: Auditor) -> Report:
    with file.open("rb") as opened:
        reader = export.ExportReader(opened, str(file))
        report = auditor.run(reader.bodies(), head=(reader.header.sequence, reader.header.head_hash))
    if reader.footer_fault:
        report.add(Finding(0, "", reader.footer_fault))
    if auditor.public_key != reader.header.public_key:
        report.add(Finding(1, "", "the key that signed the file is not the one the journal begins with"))
    return report


def _verify_copies(folder: Path, second: Path, shelf: Shelf, heads: dict[int, str]) -> dict[str, Report]:
    key = _key_of(folder)
    with open_view(folder, key=key) as view:
        head = (view.sequence, view.head_hash)
        first = Auditor(shelf, heads).run(view.bodies(), head=head)
    log = Place(DiskStorage(), folder, second).log()

    def bodies() -> Iterator[bytes]:
        # The machine may be writing: the log is read as far as the first copy had come.
        for item in log.records(until=head[0]):
            if key is not None:
                check_seal(item, key)
            yield item.entry.body

    return {"first copy": first, "second copy": Auditor(shelf, heads).run(bodies(), head=head)}


def _key_of(folder: Path) -> MachineKey | None:
    """The machine's key, which proves its seals; None for whoever may not read it, or has a copy without."""
    try:
        return MachineKey.load(DiskStorage(), folder)
    except JournalUnwritable:
        return None


def _print_report(name: str, report: Report) -> None:
    console = Console()
    console.print(f"[bold]{name}[/bold]  machine {report.fingerprint}")
    rate = report.games / report.seconds if report.seconds else 0
    console.print(
        f"  {report.entries} entries chained to {report.head_hash[:16]},"
        f" {report.checkpoints} signed checkpoints; games: {report.games} replayed,"
        f" {report.games_void} void, {report.games_open} open; {report.levels} progressive levels derived;"
        f" {report.seconds:.2f} s ({rate:,.0f} games/s)"
    )
    for finding in report.findings:
        console.print(f"  [red]entry {finding.sequence}[/red] {finding.id}: {finding.why}", highlight=False)
    if report.wrong > len(report.findings):
        console.print(f"  [red]and {report.wrong - len(report.findings)} more[/red]")
    console.print(
        "  [green]nothing wrong[/green]" if not report.wrong else f"  [red]{report.wrong} wrong[/red]"
    )


@command.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
def readout(file: Path) -> None:
    """Check the signature of a readout that `egm meters --json --sign` wrote to FILE."""
    try:
        signed = json.loads(file.read_text(encoding="utf-8"))
        key = export.check_readout(signed, str(file))
    except (ValueError, JournalError) as why:
        raise click.ClickException(str(why)) from why
    click.echo(
        f"{file}: entry {signed['readout']['sequence']} of machine {fingerprint_of(key)}, signature right"
    )


# ---------------------------------------------------------------------- recall and logs
@command.command()
@click.argument("name", type=click.Choice(["plays", *recall.LOGS]))
@click.option("--last", type=click.IntRange(min=1), help="How many; the log's own size when not given.")
@STATE
@JSON
def log(*, name: str, last: int | None, state: Path | None, as_json: bool) -> None:
    """Print a log, newest first: plays, events, bills, vouchers, transfers, handpays ..."""
    try:
        with open_view(state or default_state_dir()) as view:
            if name == "plays":
                rows = [_play_row(play) for play in recall.plays(view, last or recall.PLAYS_SHOWN)]
            else:
                rows = [_row(entry) for entry in recall.log(view, name, last)]
    except JournalError as why:
        raise click.ClickException(str(why)) from why
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False))
    else:
        _print_rows(rows)


def _row(entry: StoredEntry) -> dict[str, Any]:
    story = dict(recall.story(entry))
    if "validation_number" in story:
        story["validation_number"] = recall.masked(str(story["validation_number"]))
    event = events.significance(entry)
    return {
        "entry": entry.sequence,
        "time": entry.time_utc.isoformat(timespec="seconds"),
        "kind": entry.kind,
        "effect": str(event.effect) if event else "",
        "clear": str(event.clear) if event else "",
        "sas": event.sas if event else None,
        "person": events.person(entry),
        "cents": sum(t.amount_cents for t in entry.transfers) or None,
        "story": story,
    }


def _play_row(play: recall.Play) -> dict[str, Any]:
    start = recall.story(play.start)
    return {
        "entry": play.start.sequence,
        "time": play.start.time_utc.isoformat(timespec="seconds"),
        "kind": start.get("game", {}).get("id", ""),
        "bet_cents": play.bet_cents,
        "win_cents": play.win_cents,
        "prizes": [dict(prize) for prize in play.prizes_won],
        "credit_before_cents": play.credit_before_cents,
        "added_cents": dict(play.added_cents),
        "steps": [dict(recall.story(e)) for e in play.shown_steps],
        "outcome": play.outcome,
    }


def _print_rows(rows: Iterable[dict[str, Any]]) -> None:
    columns = ("entry", "time", "kind", "effect", "clear", "person")
    table = Table("entry", "time (UTC)", "kind", "effect", "who clears", "person", "what", show_edge=False)
    for row in rows:
        rest = {k: v for k, v in row.items() if k not in {*columns, "outcome", "sas"} and v}
        what = rest.pop("story", rest)
        cells = [str(row.get(name, "")) for name in columns]
        table.add_row(*cells, json.dumps(what, ensure_ascii=False)[:160])
    Console().print(table)


@command.command()
@click.argument("number", type=int)
@STATE
def entry(*, number: int, state: Path | None) -> None:
    """Print one entry, whole, as JSON."""
    try:
        with open_view(state or default_state_dir()) as view:
            found = next(view.entries(since=number - 1, limit=1), None)
    except JournalError as why:
        raise click.ClickException(str(why)) from why
    if found is None or found.sequence != number:
        raise click.ClickException(f"there is no entry {number}")
    click.echo(decode(found.body).body.decode())


# ---------------------------------------------------------------------- when both copies are damaged
@command.command("inspect")
@STATE
@SECOND
@JSON
def inspect_(*, state: Path | None, second: Path | None, as_json: bool) -> None:
    """Read both copies as far as each is whole: which values are good, which suspect."""
    found = inspect(state or default_state_dir(), second_dir=second)
    if as_json:
        click.echo(json.dumps({**found.to_json(), "challenge": found.challenge}, ensure_ascii=False))
        return
    console = Console()
    for name, copy in (("first copy", found.first), ("second copy", found.second)):
        why = copy.why or "nothing wrong"
        console.print(f"{name}: whole up to entry {copy.sequence}; {why}", highlight=False)
    table = Table("meter", "first copy", "second copy", "", show_edge=False)
    for meter, value in found.good.items():
        if value:
            table.add_row(meter, str(value), str(value), "[green]good[/green]")
    for meter, (one, two) in found.suspect.items():
        table.add_row(
            meter, "-" if one is None else str(one), "-" if two is None else str(two), "[red]suspect[/red]"
        )
    console.print(table)
    console.print(f"may be owed to the player: {found.credits_cents} cents; challenge {found.challenge}")


@command.command("clear")
@STATE
@SECOND
@click.option("--person", required=True, help="Who clears.")
@click.option("--second-person", required=True, help="Who witnesses.")
@click.option("--reason", required=True)
@click.option("--challenge", required=True, help="As `egm audit inspect` prints it.")
@click.option("--settled-cents", default=0, help="What was paid to the player by hand.")
@click.option("--machine-id", default="", help="Of the new journal.")
def clear_(state: Path | None, second: Path | None, machine_id: str, **clearance: Any) -> None:
    """Move the whole memory aside as evidence, and begin a new journal (authorised persons only).

    Where people are enrolled on the machine, both are staff numbers, and both prove it with their PINs.
    """
    folder = state or default_state_dir()
    roster = roster_of(folder)
    if roster.people:
        for number in (clearance["person"], clearance["second_person"]):
            prove(roster, number, Permission.CLEAR_MEMORY)
    try:
        evidence = clear(
            folder,
            Clearance(**clearance),
            now=lambda: datetime.now(UTC),
            second_dir=second,
            machine_id=machine_id,
        )
    except JournalError as why:
        raise click.ClickException(str(why)) from why
    click.echo(f"cleared; the evidence is in {evidence}")
