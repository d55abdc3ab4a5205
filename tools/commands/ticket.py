"""``egm ticket``: the cage of a machine that stands alone, and pictures of tickets."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

import click
from babel.numbers import format_currency
from rich.console import Console
from rich.table import Table

from egm.clock import Clock, SystemClock
from egm.config import default_state_dir
from egm.errors import LocalError, OperatorError
from egm.tickets import House, Reason, Record, Refusal, Ticket, TicketKind, TicketState, TicketStore
from egm.tickets.audit import compare
from egm.tickets.cage import Cage, Payee, expire_due, reads, register
from egm.tickets.render import pdf, png, render
from egm.tickets.templates import Template, load_template
from meters import JournalError, open_view

#: What the cashier reads when a ticket is refused.
_WORDS: Final = {
    Reason.MISREAD: "these digits are no ticket number: read them again",
    Reason.UNKNOWN: "no ticket has this number",
    Reason.NOT_PRINTED: "no machine says that this ticket was printed",
    Reason.PENDING: "the ticket is locked to a redemption that has not ended",
    Reason.REDEEMED: "the ticket has been redeemed already",
    Reason.VOID: "the ticket is void",
    Reason.EXPIRED: "the ticket has expired",
    Reason.HOST_OWES: "the ticket was issued elsewhere: the host that validates it pays it",
    Reason.WRONG_KIND: "this kind of ticket is not paid in cash",
}
_WRITERS: Final = {".png": png, ".pdf": pdf}


# ---------------------------------------------------------------- what the commands share
def _digits(_: click.Context, __: click.Parameter, value: str) -> str:
    """The digits of a number as typed: people copy the dashes, scanners do not."""
    return value.replace("-", "").replace(" ", "")


def _picture(_: click.Context, __: click.Parameter, value: Path) -> Path:
    if value.suffix not in _WRITERS:
        raise click.BadParameter(f"{value}: a .png or .pdf is wanted")
    return value


_state = click.option("--state", type=click.Path(path_type=Path), help="The machine's state folder.")
_person = click.option("--person", required=True, help="Who does it.")
_why = click.option("--why", required=True, help="The reason, for the record.")
_json = click.option("--json", "as_json", is_flag=True, help="For scripts.")
_number = click.argument("number", callback=_digits)
_language = click.option("--language", default="en", show_default=True, help="Of a ticket in one language.")
_output = click.option(
    "--output", required=True, type=click.Path(path_type=Path), callback=_picture, help="A .png or .pdf."
)


@contextmanager
def _told() -> Iterator[None]:
    """End in one line whatever can be refused."""
    try:
        yield
    except (OperatorError, LocalError, JournalError, OSError) as why:
        raise click.ClickException(str(why)) from why


@contextmanager
def _ledger(state: Path | None) -> Iterator[tuple[TicketStore, Clock]]:
    """Open the ledger there is, with what has expired marked."""
    with _told(), TicketStore.open(state or default_state_dir(), make=False, prove=False) as store:
        if store.mended:
            click.echo(f"note: {store.mended}", err=True)
        clock = SystemClock()
        expire_due(store, clock, "cage")
        yield store, clock


def _money(amount_cents: int, currency: str) -> str:
    return format_currency(Decimal(amount_cents).scaleb(-2), currency, locale="en_CA")


def _worth(ticket: Ticket) -> str:
    return _money(ticket.amount_cents, ticket.currency)


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _print(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(show_edge=False)
    for column in columns:
        side: Literal["left", "right"] = "right" if column in {"amount", "tickets"} else "left"
        table.add_column(column, justify=side, overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def _data(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _ticket_data(record: Record, number: str) -> dict[str, Any]:
    """A ticket for a script: its fields and moves, under the number that may be shown."""
    ticket = json.loads(record.ticket.to_json()) | {"number": number}
    moves = [{"at": move.at.isoformat(), "action": move.action.value, "by": move.by} for move in record.moves]
    return {"state": record.state.value, "ticket": ticket, "moves": moves}


def _draw(ticket: Ticket, template: Template, language: str, output: Path) -> None:
    output.write_bytes(_WRITERS[output.suffix](render(ticket, template, language)))


@click.group("ticket")
def command() -> None:
    """The cage of a stand-alone machine: look up, pay, void and reprint tickets."""


# ---------------------------------------------------------------- looking
@command.command("check")
@_number
@_state
@_json
def check(number: str, state: Path | None, as_json: bool) -> None:  # noqa: FBT001 (click's)
    """Say what a ticket is worth and what became of it. Ends with 1 unless it may be redeemed."""
    if not reads(number):
        raise click.ClickException(_WORDS[Reason.MISREAD])
    with _ledger(state) as (store, _):
        record = store.get(number)
    if record is None:
        raise click.ClickException(_WORDS[Reason.UNKNOWN])
    if as_json:
        _data(_ticket_data(record, number))
    else:
        ticket = record.ticket
        until = "for ever" if ticket.expires_at is None else f"until {_when(ticket.expires_at)} UTC"
        click.echo(f"{record.state.value}: {_worth(ticket)} {ticket.kind.value}, good {until}")
        click.echo(f"machine {ticket.machine_serial}, ticket {ticket.sequence:04d}")
        rows = ((_when(move.at), move.action.value, move.by) for move in record.moves)
        _print(("when (UTC)", "what", "by"), rows)
    if record.state is not TicketState.ISSUED:
        raise click.exceptions.Exit(1)


@command.command("list")
@_state
@click.option("--only", type=click.Choice([state.value for state in TicketState]), multiple=True)
@click.option("--last", type=click.IntRange(min=1), default=35, show_default=True, help="How many at most.")
@_json
def list_(state: Path | None, only: tuple[str, ...], last: int, as_json: bool) -> None:  # noqa: FBT001
    """List tickets, newest first; the numbers of those still owed are masked."""
    with _ledger(state) as (store, _):
        records = list(islice(store.records(*(TicketState(value) for value in only)), last))
    if as_json:
        _data([_ticket_data(record, record.shown_number) for record in records])
        return
    _print(
        ("issued (UTC)", "machine", "ticket", "number", "kind", "state", "amount"),
        (
            (
                _when(record.ticket.issued_at),
                record.ticket.machine_serial,
                f"{record.ticket.sequence:04d}",
                record.shown_number,
                record.ticket.kind.value,
                record.state.value,
                _worth(record.ticket),
            )
            for record in records
        ),
    )


@command.command("report")
@_state
@click.option("--serial", help="The machine, where several share the ledger.")
@_json
def report(state: Path | None, serial: str | None, as_json: bool) -> None:  # noqa: FBT001
    """Count and value by state and kind, what is owed; proves both copies, and compares the meters.

    Ends with 1 where the machine's meters and the ledger differ.
    """
    folder = state or default_state_dir()
    with _ledger(state) as (store, _):
        moves = store.verify()
        sums = store.sums()
        with open_view(folder) as view:
            compared = compare(store, view.balance_cents, serial)
    owed: dict[str, int] = {}
    for line in sums:
        owed[line.currency] = owed.get(line.currency, 0) + line.owed * line.amount_cents
    if as_json:
        fields = ("state", "kind", "currency", "tickets", "amount_cents")
        lines = [{field: getattr(line, field) for field in fields} for line in sums]
        meters = [asdict(pair) for pair in compared]
        _data({"sums": lines, "owed_cents": owed, "moves_verified": moves, "meters": meters})
    else:
        _print(
            ("state", "kind", "tickets", "amount"),
            ((x.state, x.kind, str(x.tickets), _money(x.amount_cents, x.currency)) for x in sums),
        )
        for currency, amount_cents in owed.items():
            click.echo(f"outstanding: {_money(amount_cents, currency)}")
        click.echo(f"{moves} moves, every digest holds in both copies")
        for pair in compared:
            if not pair.agrees:
                said = f"the meters say {pair.journal_cents}, the tickets {pair.ledger_cents} cents"
                click.echo(f"{pair.account}: {said}")
    if not all(pair.agrees for pair in compared):
        raise click.exceptions.Exit(1)


@command.command("register")
@_state
@_json
def register_(state: Path | None, as_json: bool) -> None:  # noqa: FBT001
    """The payments whose payee the place wants written down."""
    with _ledger(state) as (store, _):
        lines = list(register(store))
    if as_json:
        _data(
            [
                _ticket_data(line.record, line.record.ticket.number)
                | {"name": line.payee.name, "address": line.payee.address}
                for line in lines
            ]
        )
        return
    _print(
        ("paid (UTC)", "amount", "name", "address", "by"),
        (
            (_when(x.paid.at), _worth(x.record.ticket), x.payee.name, x.payee.address, x.paid.by)
            for x in lines
        ),
    )


# ---------------------------------------------------------------- acting
@command.command("pay")
@_number
@_state
@_person
@click.option("--name", default="", help="Who is paid, where the place wants it written down.")
@click.option("--address", default="", help="The payee's address.")
def pay(number: str, state: Path | None, person: str, name: str, address: str) -> None:
    """Redeem a ticket for cash. Hand over money only when this says paid."""
    payee = Payee(name, address) if name or address else None
    with _ledger(state) as (store, clock):
        answer = Cage(store, clock, person).pay(number, payee)
    if isinstance(answer, Refusal):
        detail = f" ({answer.detail})" if answer.detail else ""
        raise click.ClickException(f"not paid: {_WORDS[answer.reason]}{detail}")
    click.echo(f"paid: {_worth(answer.ticket)}")


@command.command("void")
@_number
@_state
@_person
@_why
def void(number: str, state: Path | None, person: str, why: str) -> None:
    """Cancel an issued ticket."""
    with _ledger(state) as (store, clock):
        record = Cage(store, clock, person).void(number, why)
    click.echo(f"void: {_worth(record.ticket)}")


@command.command("release")
@_number
@_state
@_person
@click.option("--witness", required=True, help="The second person, who has looked into the machine too.")
@_why
def release(number: str, state: Path | None, person: str, witness: str, why: str) -> None:
    """Free a ticket locked to a machine that will never end its redemption. Look into its box first."""
    with _ledger(state) as (store, clock):
        record = Cage(store, clock, person).release(number, why, witness)
    click.echo(f"good again: {_worth(record.ticket)}")


@command.command("reprint")
@_number
@_state
@_person
@_why
@_language
@_output
def reprint(number: str, state: Path | None, person: str, why: str, language: str, output: Path) -> None:
    """Draw an issued ticket again, marked as a duplicate."""
    with _ledger(state) as (store, clock):
        ticket = Cage(store, clock, person).reprint(number, why)
        _draw(ticket, load_template(ticket.template), language, output)
    click.echo(f"duplicate of ticket {ticket.sequence:04d} of {ticket.machine_serial}: {output}")


# ---------------------------------------------------------------- pictures
@command.command("render")
@click.option("--template", "name", default="generic", show_default=True, help="A template's id, or a file.")
@click.option(
    "--ticket",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A ticket as JSON; without it, a specimen.",
)
@_language
@_output
def render_(name: str, file: Path | None, language: str, output: Path) -> None:
    """Draw a ticket with a template, to look at. It is in no ledger: nobody pays it."""
    with _told():
        template = load_template(Path(name) if name.endswith(".toml") else name)
        ticket = _specimen(template) if file is None else Ticket.from_json(file.read_text(encoding="utf-8"))
        _draw(ticket, template, language, output)
    click.echo(str(output))


def _specimen(template: Template) -> Ticket:
    """A ticket nobody can take for money: its number holds no check."""
    issued_at = SystemClock().now().replace(microsecond=0)
    country = next(iter(template.locales.values())).rpartition("_")[2]
    return Ticket(
        number="123456789012345678",
        sequence=1,
        kind=TicketKind.CASHABLE,
        amount_cents=12345,
        currency={"CA": "CAD", "US": "USD"}.get(country, "EUR"),
        denomination_cents=25,
        issued_at=issued_at,
        expires_at=issued_at + timedelta(days=365),
        machine_serial="SPECIMEN",
        operator_number="0",
        house=House(site="SPECIMEN", address="SPECIMEN", licence_holder="SPECIMEN"),
        template=template.id,
    )
