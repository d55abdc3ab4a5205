"""``egm ticket``: the cage of a stand-alone machine, and pictures of tickets.

The commands that only read (``check``, ``list``, ``report``, ``payees``, ``prove``) open everything
read-only, and ``render`` uses no ledger. All others need enrolled staff, each proved by a PIN.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from decimal import Decimal
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click
from babel.numbers import format_currency

from egm.clock import Clock, SystemClock
from egm.config.cabinet_file import find_default_state_folder
from egm.errors import LocalError, OperatorError
from egm.kernel.timekeeping import Timekeeper, create_timekeeper
from egm.people import Permission
from egm.tickets.cage import TicketCage, TicketPayee, is_ticket_number, iter_payee_register_lines
from egm.tickets.errors import TicketLedgerDamaged
from egm.tickets.ledger_access import open_machine_ledger, read_machine_key
from egm.tickets.ledger_comparison import compare_ledger_with_journal
from egm.tickets.model import Ticket, TicketKind, TicketState, Venue
from egm.tickets.proof import NUMBER_COMMITMENT_PURPOSE, combine_proofs, compute_commitment, read_proofs
from egm.tickets.record import TicketRecord
from egm.tickets.redemption import TicketRefusal, TicketRefusalReason
from egm.tickets.render import draw_ticket, encode_pdf, encode_png
from egm.tickets.restoration import restore_ticket_ledger
from egm.tickets.store import LEDGER_HEAD_MAC_PURPOSE, TicketStore
from egm.tickets.templates import TicketTemplate, load_template
from meters import JournalError, open_view
from meters.copies import SECOND_FOLDER
from paytables.source import read_contents
from paytables.wording import format_count
from tools.cli.cage import open_cage, query_all_journals, read_all_accepted_redemptions
from tools.cli.journal_source import STATE_OPTION
from tools.cli.printed_text import REASON_TYPE
from tools.cli.result_file import write_result
from tools.cli.staff import authenticate_for, load_roster
from tools.cli.tables import Column, OutputFormat, Table, add_format_options, build_number_column, show
from tools.cli.terminal import echo
from tools.cli.whole_number import WholeNumber

#: What the cashier reads when a ticket is refused.
_REFUSAL_TEXT_BY_REASON: Final = {
    TicketRefusalReason.MISREAD: "not a valid ticket number: read the ticket again and enter all its digits",
    TicketRefusalReason.UNKNOWN: (
        "no ticket has this number; if it was issued before a ledger was lost: egm ticket prove"
    ),
    TicketRefusalReason.NOT_PRINTED: "no machine has confirmed that this ticket was printed",
    TicketRefusalReason.LOCKED_BY_OTHER_REDEEMER: "the ticket is being redeemed by a machine, which has not finished",
    TicketRefusalReason.REDEEMED: "the ticket has been redeemed already",
    TicketRefusalReason.VOID: "the ticket is void",
    TicketRefusalReason.EXPIRED: "the ticket has expired",
    TicketRefusalReason.PAYABLE_ONLY_BY_HOST: (
        "the ticket was issued elsewhere: only the host that validates it can pay it"
    ),
    TicketRefusalReason.NOT_IN_JOURNAL: "the machine's journal has no such ticket: do not pay it, and investigate",
    TicketRefusalReason.WRONG_KIND: "this kind of ticket is not paid in cash",
}
#: What to do about a damaged ledger.
_DAMAGED_LEDGER_REMEDY: Final = (
    "start the machine, which rebuilds a damaged copy from an intact one; "
    "if it reports that neither copy is intact, two people start a new ledger: egm ticket restore"
)
#: The functions that encode the picture of a ticket, by the ending of the file's name.
_ENCODER_BY_SUFFIX: Final = {".png": encode_png, ".pdf": encode_pdf}


# ---------------------------------------------------------------- what the commands share
def _parse_digits(_: click.Context, __: click.Parameter, value: str) -> str:
    """Return the digits of a ticket number; a typed number may contain the printed dashes."""
    return value.replace("-", "").replace(" ", "")


def _check_picture_suffix(_: click.Context, __: click.Parameter, value: Path) -> Path:
    """Return the path of a picture file; raise click.BadParameter unless its name ends in .png or .pdf."""
    if value.suffix not in _ENCODER_BY_SUFFIX:
        raise click.BadParameter(f"{value}: must end in .png or .pdf")
    return value


#: The option that names the folder of the second copy.
_second_folder_option = click.option(
    "--second-copy",
    "second_folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The folder of the memory's second copy.",
)
#: The option with the staff number of the person who acts.
_person_option = click.option("--person", required=True, help="Your staff number.")
#: The option with the staff number of the second person.
_second_person_option = click.option(
    "--second-person",
    "--second",
    "second_person",
    metavar="NUMBER",
    default="",
    help="The second person's staff number, if the jurisdiction requires one.",
)
#: The option with the reason.
_reason_option = click.option(
    "--reason", "--why", "reason", type=REASON_TYPE, required=True, help="The reason; it is recorded."
)
#: The argument with the ticket's number.
_number_argument = click.argument("number", callback=_parse_digits)
#: The option for the language of a drawn ticket.
_language_option = click.option(
    "--language", default="en", show_default=True, help="The language of a ticket printed in one language."
)
#: The option that names the file of a drawn ticket.
_output_option = click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    callback=_check_picture_suffix,
    help="The file to write: .png or .pdf.",
)


@contextmanager
def _report_errors() -> Iterator[None]:
    """Convert every expected error into a one-line message of the command."""
    try:
        yield
    except (OperatorError, LocalError, JournalError, OSError) as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def _report_ledger_errors() -> Iterator[None]:
    """Convert every expected error into a one-line message; for a damaged ledger, add what to do."""
    with _report_errors():
        try:
            yield
        except TicketLedgerDamaged as error:
            raise OperatorError(
                f"{error}" if "egm ticket restore" in str(error) else f"{error}; {_DAMAGED_LEDGER_REMEDY}"
            ) from error


@contextmanager
def _open_ledger_read_only(state_folder: Path | None, second_folder: Path | None) -> Iterator[TicketStore]:
    """Open the ticket ledger for reading only; nothing is written, even if it is damaged."""
    with (
        _report_ledger_errors(),
        open_machine_ledger(
            state_folder or find_default_state_folder(), second_folder=second_folder
        ) as store,
    ):
        yield store


@contextmanager
def _open_cage(
    state_folder: Path | None, second_folder: Path | None, person: str, second_person: str
) -> Iterator[TicketCage]:
    """Open the ticket ledger for enrolled staff, each of whom must enter a PIN now."""
    with (
        _report_ledger_errors(),
        open_cage(
            state_folder or find_default_state_folder(), second_folder, person, second_person, SystemClock()
        ) as cage,
    ):
        yield cage


def _make_cage_command(cage_action: Callable[..., str]) -> Callable[..., None]:
    """Return a CLI command with which staff act on a ticket.

    ``cage_action`` acts on the ticket, and returns a text for staff about what was done.
    """

    @_number_argument
    @STATE_OPTION
    @_second_folder_option
    @_person_option
    @_second_person_option
    @wraps(cage_action)
    def run_action(
        number: str,
        *,
        state_folder: Path | None,
        second_folder: Path | None,
        person: str,
        second_person: str,
        **action_options: Any,
    ) -> None:
        """Run the action on a ticket after checking the PIN of each person named, and print what was done."""
        with _open_cage(state_folder, second_folder, person, second_person) as cage:
            text = cage_action(cage, number, **action_options)
        echo(text)

    return run_action


def _is_clock_trusted(folder: Path, clock: Clock) -> bool:
    """Return whether this computer's clock can be trusted, judged by the times in the machine's journal."""
    try:
        with open_view(folder, check_pages=True) as view:
            return create_timekeeper(view, clock).is_clock_trusted
    except JournalError:
        return Timekeeper(clock).is_clock_trusted


def _format_state(record: TicketRecord, now: datetime | None) -> str:
    """Return the state of a ticket as text; ``now`` is the current time, or None if it is not trusted.

    Only at a trusted time is the state ``expired`` derived from the ticket's last day.
    """
    return TicketState.EXPIRED.value if now is not None and record.is_expired_at(now) else record.state.value


def _read_plausible_time(folder: Path) -> datetime | None:
    """Return the current time, or None if this computer's clock does not agree with the machine's journal.

    Without the time, no ticket is called expired.
    """
    clock = SystemClock()
    return clock.now() if _is_clock_trusted(folder, clock) else None


def _format_money(amount_cents: int, currency: str) -> str:
    """Return an amount of minor units as text, with its currency."""
    return format_currency(Decimal(amount_cents).scaleb(-2), currency, locale="en_CA")


def _format_ticket_amount(ticket: Ticket) -> str:
    """Return a ticket's amount as text, with its currency."""
    return _format_money(ticket.amount_cents, ticket.currency)


def _format_time(time_utc: datetime) -> str:
    """Return a time as text, to the second."""
    return f"{time_utc:%Y-%m-%d %H:%M:%S}"


#: The column of amounts.
_AMOUNT_COLUMN: Final = Column("amount", is_right_aligned=True)


def _build_ticket_data(
    record: TicketRecord, ticket_number: str, now: datetime | None = None
) -> dict[str, Any]:
    """Return a ticket's fields and its ledger moves as JSON data, with ``ticket_number`` as the number shown."""
    ticket = json.loads(record.ticket.to_json()) | {"number": ticket_number}
    moves = [
        {"at": move.action_time.isoformat(), "action": move.action.value, "by": move.actor}
        for move in record.moves
    ]
    return {"state": _format_state(record, now), "ticket": ticket, "moves": moves}


def _write_ticket(ticket: Ticket, template: TicketTemplate, language: str, output: Path) -> None:
    """Draw a ticket with a jurisdiction's template and write the picture to the file ``output``."""
    write_result(output, _ENCODER_BY_SUFFIX[output.suffix](draw_ticket(ticket, template, language)))


@click.group("ticket")
def command() -> None:
    """Look up, pay, void and reprint tickets at the cage of a stand-alone machine."""


# ---------------------------------------------------------------- looking
@command.command("check")
@_number_argument
@STATE_OPTION
@_second_folder_option
@add_format_options
def check(
    number: str, *, state_folder: Path | None, second_folder: Path | None, output_format: OutputFormat
) -> None:
    """Print what a ticket is worth and its state. Exit status 1 unless it may be redeemed."""
    if not is_ticket_number(number):
        raise click.ClickException(_REFUSAL_TEXT_BY_REASON[TicketRefusalReason.MISREAD])
    with _open_ledger_read_only(state_folder, second_folder) as store:
        record = store.find_ticket(number)
    if record is None:
        raise click.ClickException(_REFUSAL_TEXT_BY_REASON[TicketRefusalReason.UNKNOWN])
    now = _read_plausible_time(state_folder or find_default_state_folder())
    state_text = _format_state(record, now)
    ticket = record.ticket
    validity_text = (
        "without a date limit"
        if record.expires_at is None
        else f"until {_format_time(record.expires_at)} UTC"
    )
    heading = (
        f"{state_text}: {_format_ticket_amount(ticket)} {ticket.kind.value}, good {validity_text}\n"
        f"machine {ticket.machine_serial}, ticket {ticket.sequence:04d}"
    )
    move_rows = ((_format_time(move.action_time), move.action.value, move.actor) for move in record.moves)
    document = _build_ticket_data(record, number, now)
    show(
        output_format, Table(("when (UTC)", "what", "by"), move_rows), document=document, text_before=heading
    )
    if state_text != TicketState.ISSUED:
        raise click.exceptions.Exit(1)


@command.command("list")
@STATE_OPTION
@click.option(
    "--only",
    "state_names",
    type=click.Choice([state.value for state in TicketState]),
    multiple=True,
    help="Only tickets in this state; repeat for more.",
)
@click.option(
    "--last",
    "ticket_count_max",
    type=WholeNumber(min=1),
    default=35,
    show_default=True,
    help="The greatest number to list.",
)
@_second_folder_option
@add_format_options
def list_(
    *,
    state_folder: Path | None,
    second_folder: Path | None,
    state_names: tuple[str, ...],
    ticket_count_max: int,
    output_format: OutputFormat,
) -> None:
    """List tickets, newest first; the numbers of those still owed are masked."""
    with _open_ledger_read_only(state_folder, second_folder) as store:
        records = list(
            islice(
                store.iter_records(*(TicketState(state_name) for state_name in state_names)), ticket_count_max
            )
        )
    now = _read_plausible_time(state_folder or find_default_state_folder())
    rows = (
        (
            _format_time(record.ticket.issued_at),
            record.ticket.machine_serial,
            f"{record.ticket.sequence:04d}",
            record.shown_number,
            record.ticket.kind.value,
            _format_state(record, now),
            _format_ticket_amount(record.ticket),
        )
        for record in records
    )
    columns = ("issued (UTC)", "machine", "ticket", "number", "kind", "state", _AMOUNT_COLUMN)
    document = [_build_ticket_data(record, record.shown_number, now) for record in records]
    show(output_format, Table(columns, rows, empty_text="no ticket"), document=document)


@command.command("report")
@STATE_OPTION
@click.option("--serial", help="The machine's serial number, if several machines share the ledger.")
@_second_folder_option
@add_format_options
def report(
    *, state_folder: Path | None, second_folder: Path | None, serial: str | None, output_format: OutputFormat
) -> None:
    """Print number and value of the tickets by state and kind, and the amount owed.

    Both copies of the ledger are verified, and the ledger is compared with the machine's meters. Exit status
    1 if they differ.
    """
    folder = state_folder or find_default_state_folder()
    with _open_ledger_read_only(state_folder, second_folder) as store:
        move_count = store.verify_moves()
        totals = store.list_totals()
        with open_view(folder, check_pages=True) as view:
            ledger_state: Any = view.state("tickets") or {}
            account_comparisons = compare_ledger_with_journal(
                store, view.balance_cents, serial, ledger_state.get("base")
            )
    outstanding_cents: dict[str, int] = {}
    for total in totals:
        outstanding_cents[total.currency] = (
            outstanding_cents.get(total.currency, 0) + total.is_owed * total.amount_cents
        )
    total_rows = [
        {
            "state": total.state,
            "kind": total.kind,
            "currency": total.currency,
            "tickets": total.ticket_count,
            "amount_cents": total.amount_cents,
        }
        for total in totals
    ]
    comparison_rows = [asdict(comparison) for comparison in account_comparisons]
    rows = (
        (total.state, total.kind, total.ticket_count, _format_money(total.amount_cents, total.currency))
        for total in totals
    )
    footer_lines = (
        *(
            f"outstanding: {_format_money(amount_cents, currency)}"
            for currency, amount_cents in outstanding_cents.items()
        ),
        f"{format_count(move_count, 'move')}, every digest is valid in both copies",
        *(
            f"{comparison.account}: journal {format_count(comparison.journal_cents, 'cent')}, "
            f"ledger {format_count(comparison.ledger_cents, 'cent')}"
            for comparison in account_comparisons
            if not comparison.is_equal
        ),
    )
    show(
        output_format,
        Table(
            ("state", "kind", build_number_column("tickets"), _AMOUNT_COLUMN), rows, empty_text="no ticket"
        ),
        document={
            "sums": total_rows,
            "owed_cents": outstanding_cents,
            "moves_verified": move_count,
            "meters": comparison_rows,
        },
        text_after="\n".join(footer_lines),
    )
    if not all(comparison.is_equal for comparison in account_comparisons):
        raise click.exceptions.Exit(1)


@command.command("payees")
@STATE_OPTION
@_second_folder_option
@add_format_options
def payees(*, state_folder: Path | None, second_folder: Path | None, output_format: OutputFormat) -> None:
    """List the cage payments for which the jurisdiction requires a payee: when, what, to whom, by whom.

    They come from the ticket ledger; the registers of the machine itself are in `egm register`.
    """
    with _open_ledger_read_only(state_folder, second_folder) as store:
        lines = list(iter_payee_register_lines(store))
    document = [
        _build_ticket_data(line.record, line.record.ticket.number)
        | {"name": line.payee.name, "address": line.payee.address}
        for line in lines
    ]
    rows = (
        (
            _format_time(line.payment_move.action_time),
            _format_ticket_amount(line.record.ticket),
            line.payee.name,
            line.payee.address,
            line.payment_move.actor,
        )
        for line in lines
    )
    columns = ("paid (UTC)", _AMOUNT_COLUMN, "name", "address", "by")
    show(output_format, Table(columns, rows, empty_text="no payee was written down"), document=document)


@command.command("prove")
@_number_argument
@STATE_OPTION
@_second_folder_option
def prove_(number: str, *, state_folder: Path | None, second_folder: Path | None) -> None:
    """Print what the machine's journals alone prove about a ticket. Exit status 1 if it was redeemed at a machine.

    Cage payments are only in the ledger: if it is lost, check the cage's own records.
    """
    folder = state_folder or find_default_state_folder()
    with _report_errors():
        key = read_machine_key(folder, second_folder).derive_key(NUMBER_COMMITMENT_PURPOSE)
        proofs_by_journal, error_texts = query_all_journals(
            folder, second_folder, lambda view: list(read_proofs(view, key, number))
        )
    proof = combine_proofs(proof for proofs in proofs_by_journal for proof in proofs)
    errors_text = "".join(f"; this journal cannot be read: {error_text}" for error_text in error_texts)
    if proof is None:
        raise click.ClickException(f"no journal of this machine has a ticket with this number{errors_text}")
    amount_text = f"{format_count(proof.amount_cents, 'cent')} {proof.kind}"
    echo(f"issued {proof.printed_time_utc}, entry {proof.issue_id}: {amount_text}")
    if proof.acceptance_entry_id:
        raise click.ClickException(f"a machine has redeemed it: {proof.acceptance_entry_id}")
    if error_texts:
        raise click.ClickException(f"it is not known whether a machine has redeemed it{errors_text}")
    echo("no machine has redeemed it; cage payments are not in the journals: check the cage's records")


# ---------------------------------------------------------------- acting
@command.command("pay")
@_make_cage_command
@click.option("--name", default="", help="The payee's name, if the jurisdiction requires it.")
@click.option("--address", default="", help="The payee's address.")
def pay(cage: TicketCage, number: str, *, name: str, address: str) -> str:
    """Redeem a ticket for cash. Hand over money only if this prints "paid"."""
    result = cage.pay_ticket(number, TicketPayee(name, address) if name or address else None)
    if isinstance(result, TicketRefusal):
        detail = f" ({result.detail})" if result.detail else ""
        raise click.ClickException(f"not paid: {_REFUSAL_TEXT_BY_REASON[result.reason]}{detail}")
    return f"paid: {_format_ticket_amount(result.ticket)}"


@command.command("void")
@_make_cage_command
@_reason_option
def void(cage: TicketCage, number: str, *, reason: str) -> str:
    """Cancel an issued ticket."""
    return f"void: {_format_ticket_amount(cage.void_ticket(number, reason).ticket)}"


@command.command("release")
@_make_cage_command
@_reason_option
def release(cage: TicketCage, number: str, *, reason: str) -> str:
    """Release a ticket locked to a machine that cannot complete its redemption; check its cash box first."""
    return f"redeemable again: {_format_ticket_amount(cage.release_locked_ticket(number, reason).ticket)}"


@command.command("revive")
@_make_cage_command
@_reason_option
def revive(cage: TicketCage, number: str, *, reason: str) -> str:
    """Make an expired or wrongly dated ticket redeemable again, without a date limit, because a clock was wrong."""
    return (
        "redeemable without a date limit: "
        f"{_format_ticket_amount(cage.revive_expired_ticket(number, reason).ticket)}"
    )


@command.command("reprint")
@_make_cage_command
@_reason_option
@_language_option
@_output_option
def reprint(cage: TicketCage, number: str, *, reason: str, language: str, output: Path) -> str:
    """Draw an issued ticket again, marked as a duplicate."""
    ticket = cage.reprint_ticket(number, reason)
    _write_ticket(ticket, load_template(ticket.template), language, output)
    return f"duplicate of ticket {ticket.sequence:04d} of {ticket.machine_serial}"


@command.command("restore")
@STATE_OPTION
@_second_folder_option
@_person_option
@click.option(
    "--second-person",
    "--second",
    "second_person",
    metavar="NUMBER",
    required=True,
    help="The second person's staff number.",
)
@_reason_option
def restore_(
    *, state_folder: Path | None, second_folder: Path | None, person: str, second_person: str, reason: str
) -> None:
    """Start a new ticket ledger from what can be proved of the old one. The machine must not be running.

    Use it if the machine refuses its ticket ledger, or if the ledger is of an early version, which wrote no
    tickets.head. The old files are stored under another name.
    """
    folder = state_folder or find_default_state_folder()
    with _report_errors():
        roster = load_roster(folder, second_folder)
        for number in (person, second_person):
            authenticate_for(roster, number, Permission.CLEAR_MEMORY)
        key = read_machine_key(folder, second_folder)
        action_time = SystemClock().now().replace(microsecond=0)
        redemption_id_by_commitment = read_all_accepted_redemptions(folder, second_folder)
        commitment_key = key.derive_key(NUMBER_COMMITMENT_PURPOSE)
        move_count, source_text = restore_ticket_ledger(
            folder,
            second_folder or folder / SECOND_FOLDER,
            key.derive_key(LEDGER_HEAD_MAC_PURPOSE),
            persons=(person, second_person),
            reason=reason,
            action_time=action_time,
            find_redemption=lambda number: redemption_id_by_commitment.get(
                compute_commitment(commitment_key, number)
            ),
        )
    echo(f"a new ticket ledger starts with {format_count(move_count, 'move')}; their source: {source_text}")


# ---------------------------------------------------------------- pictures
@command.command("render")
@click.option(
    "--template", "template_name", default="generic", show_default=True, help="A template's id, or a file."
)
@click.option(
    "--ticket",
    "ticket_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A ticket as JSON (default: a specimen).",
)
@_language_option
@_output_option
def render_(template_name: str, ticket_file: Path | None, language: str, output: Path) -> None:
    """Draw a sample ticket with the chosen template. The sample is not in the ledger and cannot be paid."""
    with _report_errors():
        template = load_template(Path(template_name) if template_name.endswith(".toml") else template_name)
        ticket = (
            _build_specimen(template)
            if ticket_file is None
            else Ticket.from_json(read_contents(ticket_file).decode())
        )
        _write_ticket(ticket, template, language, output)


def _build_specimen(template: TicketTemplate) -> Ticket:
    """Return a sample ticket, which cannot be redeemed because its number has wrong check digits."""
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
        venue=Venue(site="SPECIMEN", address="SPECIMEN", licence_holder="SPECIMEN"),
        template=template.id,
    )
