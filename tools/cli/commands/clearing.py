"""``egm audit inspect`` and ``egm audit clear``: the amounts that a damaged machine owes, and their settlement.

A claim is an amount or item that the machine owes when its memory is cleared.
"""

import shlex
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import click

from egm.app.features import FEATURES
from egm.config.cabinet_file import StateFolder, find_default_state_folder
from egm.errors import LocalError, OperatorError
from egm.features.memory_clear.carrying import (
    DECISION_CARRIED,
    ClaimDecision,
    ClaimInspection,
    ProposedClaim,
    inspect_claims,
    prepare_clearance,
)
from egm.people import Permission, Roster, load_recorded_roster
from egm.screen.text import Texts
from egm.tickets.ledger_access import open_machine_ledger
from egm.tickets.model import TicketState
from meters import JournalError
from meters.clear import clear_memory, finish_memory_clear, is_clear_unfinished
from meters.copies import SECOND_FOLDER
from meters.table import METER_BY_NAME, MeterUnit
from tools.cli.journal_source import STATE_OPTION
from tools.cli.memory_folder import find_memory_folder
from tools.cli.printed_text import REASON_TYPE, PrintedText
from tools.cli.roster_entries import carry_over_roster
from tools.cli.sheet_head import find_currency
from tools.cli.staff import authenticate_for
from tools.cli.tables import (
    BAD_STYLE,
    GOOD_STYLE,
    Column,
    Columns,
    OutputFormat,
    Table,
    add_format_options,
    build_number_column,
    format_figure,
    show,
)
from tools.cli.terminal import echo
from tools.cli.whole_number import parse_whole_number

#: The option that names the folder of the second copy.
_SECOND_FOLDER_OPTION = click.option(
    "--second-copy",
    "--second",
    "second_folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The folder of the memory's second copy.",
)
#: The states of tickets that may still be redeemed.
_REDEEMABLE_STATES = (TicketState.RESERVED, TicketState.ISSUED, TicketState.PENDING, TicketState.EXPIRED)
#: The meters `audit inspect` always shows: money in and out, stakes, wins, and the number of games.
_MAIN_METER_NAMES = ("credits", "money_in", "money_out", "coin_in", "coin_out", "hand_paid", "games_played")
#: What may be decided about a claim: the word on the command line, and the recorded one.
_RECORDED_DECISION_BY_WORD = {"carry": "carried", "paid": "paid", "ended": "ended"}


class _AmountFormatter:
    """A formatter of amounts in one currency, or as plain numbers if the currency is not known."""

    def __init__(self, currency: str) -> None:
        self._texts, self._currency = Texts("en"), currency

    def __call__(self, amount: object) -> str:
        """Return an amount in minor units as text; fractions are written in full, None is a dash."""
        if not isinstance(amount, int | Fraction):
            return "-" if amount is None else str(amount)
        cents = int(amount)
        fraction = amount - cents
        return self._texts.format_money(cents, self._currency) + (
            f" and {fraction} of a minor unit" if fraction else ""
        )


@click.command("inspect")
@STATE_OPTION
@_SECOND_FOLDER_OPTION
@add_format_options
def inspect_(*, state_folder: Path | None, second_folder: Path | None, output_format: OutputFormat) -> None:
    """Show what can be read of a damaged memory: the meters in both copies, and every claim (an amount owed).

    A meter or claim is suspect if the copies differ on it. `egm audit clear` must state for each claim whether
    it is carried over, was paid, or is ended. Exit status 1 if the memory is damaged.
    """
    folder = find_memory_folder(state_folder, second_folder)
    claim_inspection = inspect_claims(folder, FEATURES, second_folder=second_folder)
    inspection = claim_inspection.journal_inspection
    amount_formatter = _AmountFormatter(find_currency(inspection.best_reading.visitor.profile_name))
    unfinished_clear = "a clear was started and not completed: `egm audit clear` completes it"
    readings = (("first copy", inspection.first_reading), ("second copy", inspection.second_reading))
    introduction = (
        *([unfinished_clear] if is_clear_unfinished(folder) else []),
        *(
            f"{name}: intact up to entry {reading.sequence}; {reading.damage or 'nothing wrong'}"
            for name, reading in readings
        ),
        _describe_agreement(claim_inspection),
        *([] if inspection.best_reading.sequence else ["nothing of the journal can be read"]),
        "",
    )
    show(
        output_format,
        *(
            [_build_main_meter_table(claim_inspection, amount_formatter)]
            if output_format == "text"
            else [_build_meter_table(claim_inspection)]
        ),
        _build_claim_table(claim_inspection.proposals, amount_formatter),
        _build_ticket_table(folder, second_folder),
        document=_build_document(claim_inspection),
        text_before="\n".join(introduction),
        text_after=_describe_next_step(claim_inspection, folder, second_folder),
    )
    if _is_damaged(claim_inspection):
        raise SystemExit(1)


def _is_damaged(claim_inspection: ClaimInspection) -> bool:
    """Return whether the memory has any fault: a damaged copy, differing copies, or missing entries."""
    inspection = claim_inspection.journal_inspection
    damage = inspection.first_reading.damage or inspection.second_reading.damage
    return bool(damage) or not (inspection.copies_agree and inspection.is_complete)


def _describe_next_step(claim_inspection: ClaimInspection, folder: Path, second_folder: Path | None) -> str:
    """Return as text what staff must do next; the text has the challenge that `egm audit clear` requires."""
    inspection = claim_inspection.journal_inspection
    challenge = f"challenge {inspection.challenge}"
    if not _is_damaged(claim_inspection):
        return f"nothing to do\n{challenge}"
    if inspection.is_complete and not (inspection.first_reading.damage and inspection.second_reading.damage):
        damaged, intact = ("first", "second") if inspection.first_reading.damage else ("second", "first")
        next_step = f"start the machine: it makes the {damaged} copy again from the {intact}; nothing is lost"
        return f"next: {next_step}\n{challenge}"
    command_parts = ["egm", "audit", "clear", "--state", str(folder)]
    command_parts += ["--second-copy", str(second_folder)] if second_folder is not None else []
    command_parts += ["--person", "NUMBER", "--second-person", "NUMBER", "--reason", "WHY"]
    command_parts += ["--challenge", inspection.challenge, "--carry-others"]
    comparison_advice = (
        ""
        if inspection.is_complete or not inspection.copies_agree
        else "  compare each claim with the hand-pay slips, the tickets and the host first: it may have been paid"
        " in an entry that is missing\n"
    )
    return (
        "next: keep the machine stopped; decide each claim above, then two people run\n"
        f"  {shlex.join(command_parts)}\n"
        "  with --claim CLAIM=paid:CENTS:WHO or --claim CLAIM=ended for each that is not to be carried over\n"
        f"{comparison_advice}{challenge}"
    )


def _build_document(claim_inspection: ClaimInspection) -> dict[str, object]:
    """Return an inspected memory and the proposed decision on each claim as JSON data."""
    claims = [
        {**proposal.to_json(), "acts": list(proposal.possible_decisions)}
        for proposal in claim_inspection.proposals
    ]
    inspection = claim_inspection.journal_inspection
    return {
        **inspection.to_json(),
        "complete": inspection.is_complete,
        "claims": claims,
        "challenge": inspection.challenge,
    }


def _describe_agreement(claim_inspection: ClaimInspection) -> str:
    """Return a sentence on whether the journal's copies agree and whether entries may be missing."""
    inspection = claim_inspection.journal_inspection
    if not inspection.copies_agree:
        return "the copies contradict each other: for each claim on which they differ, name the copy that is right"
    history_text = f"together: one history up to entry {inspection.best_reading.sequence}"
    if inspection.is_complete:
        return f"{history_text}, which is all that was acknowledged"
    acknowledged_text = (
        f"entry {inspection.acknowledged_sequence} was acknowledged"
        if inspection.acknowledged_sequence
        else "the end is unknown"
    )
    return (
        f"{history_text}; {acknowledged_text}: entries may be missing, and transfers wait until the host"
        " registers anew"
    )


def _build_meter_table(claim_inspection: ClaimInspection) -> Table:
    """Return a table of every meter in both copies of a memory; meters on which the copies differ are marked."""
    agreed_rows = (
        (name, value, value, "good")
        for name, value in claim_inspection.journal_inspection.agreed_meters.items()
        if value
    )
    differing_rows = (
        (name, first_value, second_value, "suspect")
        for name, (first_value, second_value) in claim_inspection.journal_inspection.differing_meters.items()
    )
    state_column = Column(
        "state", "standing", choose_style=lambda text: GOOD_STYLE if text == "good" else BAD_STYLE
    )
    columns: Columns = (
        "meter",
        build_number_column("first copy"),
        build_number_column("second copy"),
        state_column,
    )
    return Table(columns, (*agreed_rows, *differing_rows), empty_text="no meter has counted anything")


def _build_main_meter_table(claim_inspection: ClaimInspection, amount_formatter: _AmountFormatter) -> Table:
    """Return a table of the main meters in both copies, and of any other meter on which the copies differ."""
    inspection = claim_inspection.journal_inspection
    first_values, second_values = (
        inspection.first_reading.meter_values,
        inspection.second_reading.meter_values,
    )
    differing_names = [
        name
        for name, values in inspection.differing_meters.items()
        if None not in values and name not in _MAIN_METER_NAMES
    ]
    names = [
        name
        for name in (*_MAIN_METER_NAMES, *differing_names)
        if first_values.get(name) or second_values.get(name)
    ]
    rows = []
    for name in names:
        meter = METER_BY_NAME.get(name)
        format_value = (
            amount_formatter if meter is not None and meter.unit is MeterUnit.CENTS else format_figure
        )
        label = name.replace("_", " ") if meter is None else meter.meaning
        values = first_values.get(name), second_values.get(name)
        rows.append((label, *map(format_value, values), _describe_copy_agreement(*values)))
    state_column = Column(
        "state", "standing", choose_style=lambda label: GOOD_STYLE if label == "good" else BAD_STYLE
    )
    columns: Columns = (
        "meter",
        Column("first copy", is_right_aligned=True),
        Column("second copy", is_right_aligned=True),
        state_column,
    )
    return Table(columns, rows, title="Meters (all of them: --csv)", empty_text="no money has moved")


def _describe_copy_agreement(first_value: int | None, second_value: int | None) -> str:
    """Return "good" if a meter is equal in both copies of the journal, else a text on how the copies differ."""
    if first_value is None or second_value is None:
        return f"only the {'second' if first_value is None else 'first'} copy"
    return "good" if first_value == second_value else "they differ"


def _build_claim_table(proposals: tuple[ProposedClaim, ...], amount_formatter: _AmountFormatter) -> Table:
    """Return a table of the claims (amounts owed) in a memory: the amount in both copies, the possible decisions."""
    rows = []
    for proposal in proposals:
        details = {
            name.removesuffix("_cents").replace("_", " "): amount_formatter(value)
            if name.endswith("_cents")
            else value
            for name, value in proposal.claim.details.items()
            if value not in ("", None, [], {})
        }
        claims_shown = (
            proposal.claim,
            *(proposal.claim_by_copy.get(name) for name in ("first", "second")),
        )
        amounts = (
            claim.amount if claim is not None and claim.is_readable else None for claim in claims_shown
        )
        rows.append(
            (
                proposal.id,
                *amounts,
                proposal.evidence_status,
                details,
                list(proposal.possible_decisions),
            )
        )
    columns: Columns = (
        "claim",
        Column("amount", "cents", is_right_aligned=True, format_value=amount_formatter),
        Column("first copy", is_right_aligned=True, format_value=amount_formatter),
        Column("second copy", is_right_aligned=True, format_value=amount_formatter),
        Column("state", "standing"),
        "what",
        Column("possible decisions", "may_be"),
    )
    return Table(columns, rows, title="Claims on the machine", empty_text="no claim")


def _build_ticket_table(folder: Path, second_folder: Path | None) -> Table:
    """Return a table of the tickets that the ticket ledger shows as redeemable.

    ``folder`` and ``second_folder`` are the folders of the memory's two copies. No journal is read. If the
    ledger cannot be opened, the table is empty.
    """
    rows: list[tuple[object, ...]] = []
    with (
        suppress(OperatorError, LocalError),
        open_machine_ledger(folder, second_folder=second_folder) as store,
    ):
        for record in store.iter_records(*_REDEEMABLE_STATES):
            last_move_time = record.moves[-1].action_time.isoformat(timespec="seconds")
            ticket = record.ticket
            rows.append(
                (
                    ticket.masked_number,
                    ticket.amount_cents,
                    ticket.currency,
                    record.state.value,
                    last_move_time,
                )
            )
    columns: Columns = (
        "ticket",
        Column("amount", "cents", is_right_aligned=True, format_value=_AmountFormatter("")),
        "currency",
        "state",
        "since",
    )
    return Table(
        columns, rows, title="Tickets in the ticket ledger", empty_text="no ticket that may be money"
    )


def _parse_decisions(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> dict[str, ClaimDecision]:
    """Return the decisions given with ``--claim``, by claim id. Raises click.BadParameter for an invalid one."""
    decisions: dict[str, ClaimDecision] = {}
    for value in values:
        claim_id, equals_sign, decision_text = value.rpartition("=")
        decision_text, _at, copy_name = decision_text.partition("@")
        decision_word, *payment = decision_text.split(":", 2)
        if not equals_sign or decision_word not in _RECORDED_DECISION_BY_WORD or claim_id in decisions:
            raise click.BadParameter(
                f"{value!r}: expected once for each claim: CLAIM=carry, CLAIM=paid:CENTS:WHO or CLAIM=ended"
            )
        cents = parse_whole_number(payment[0]) if len(payment) == 2 else None
        if (decision_word == "paid") != (cents is not None) or (payment and cents is None):
            raise click.BadParameter(f"{value[:80]!r}: a payment is written as CLAIM=paid:CENTS:WHO")
        payer = payment[1] if payment else ""
        decisions[claim_id] = ClaimDecision(
            decision=_RECORDED_DECISION_BY_WORD[decision_word],
            paid_cents=cents,
            payer=payer,
            followed_copy=copy_name,
        )
    return decisions


@click.command("clear")
@STATE_OPTION
@_SECOND_FOLDER_OPTION
@click.option("--person", type=PrintedText(), required=True, help="The name of the person who clears.")
@click.option("--second-person", required=True, help="The name of the witness.")
@click.option("--reason", type=REASON_TYPE, required=True, help="The reason; it is recorded.")
@click.option("--challenge", required=True, help="The challenge printed by `egm audit inspect`.")
@click.option(
    "--claim",
    "decisions",
    multiple=True,
    callback=_parse_decisions,
    metavar="CLAIM=ACT",
    help="How to treat a claim: carry, paid:CENTS:WHO or ended; add @first or @second to use one copy.",
)
@click.option(
    "--carry-others",
    is_flag=True,
    help="Carry over every other claim that can be carried over.",
)
@click.option("--machine-id", default="", help="The machine id of the new journal.")
@click.option("--without-roster", is_flag=True, help="Clear without an intact roster; this is recorded.")
def clear_(
    *,
    state_folder: Path | None,
    second_folder: Path | None,
    person: str,
    second_person: str,
    reason: str,
    challenge: str,
    decisions: dict[str, ClaimDecision],
    carry_others: bool,
    machine_id: str,
    without_roster: bool,
) -> None:
    """Store the whole memory as evidence, and start a new journal that owes the amounts that the old one owed.

    State with --claim what happens to each claim that `egm audit inspect` shows; --carry-others carries over
    the claims that are not named. If staff are enrolled on the machine, both people give their staff numbers
    and are asked for their PINs. An interrupted clear is completed as it was authorised.
    """
    folder = state_folder or find_default_state_folder()
    try:
        if is_clear_unfinished(folder):
            evidence_folder = finish_memory_clear(folder, now=_read_clock, second_folder=second_folder)
            echo(f"the clear that was started is completed; the evidence is in {evidence_folder}")
            return
        claim_inspection = inspect_claims(folder, FEATURES, second_folder=second_folder)
        if carry_others:
            other_claim_ids = (
                proposal.id
                for proposal in claim_inspection.proposals
                if DECISION_CARRIED in proposal.possible_decisions
            )
            decisions = {
                **{claim_id: ClaimDecision(decision=DECISION_CARRIED) for claim_id in other_claim_ids},
                **decisions,
            }
        roster, authentication_method = _prove_identities(
            folder, second_folder, claim_inspection, (person, second_person), without_roster=without_roster
        )
        clearance = prepare_clearance(
            claim_inspection,
            decisions,
            person=person,
            second_person=second_person,
            reason=reason,
            challenge=challenge,
            authentication_method=authentication_method,
        )
        evidence_folder = clear_memory(
            folder, clearance, now=_read_clock, second_folder=second_folder, machine_id=machine_id
        )
        carry_over_roster(roster, folder, second_folder, machine_id, now=_read_clock)
    except JournalError as error:
        raise click.ClickException(str(error)) from error
    echo(f"cleared; the evidence is in {evidence_folder}")


def _read_clock() -> datetime:
    """Return the current date and time, UTC."""
    return datetime.now(UTC)


def _prove_identities(
    folder: Path,
    second_folder: Path | None,
    claim_inspection: ClaimInspection,
    staff_numbers: tuple[str, str],
    *,
    without_roster: bool,
) -> tuple[Roster, str]:
    """Check the identities of both people; return the staff roster, and a text on how they were proved.

    Raises ClickException if a check fails, or if the roster is not the one recorded in the memory.
    """
    roster, roster_error = _load_roster(folder, second_folder, claim_inspection)
    if roster_error and not without_roster:
        raise click.ClickException(
            f"{roster_error}: nobody can confirm their identity. Restore the roster, or clear --without-roster,"
            " which is recorded"
        )
    if roster_error:
        return Roster(), f"not proved: {roster_error}"
    for number in staff_numbers if roster.person_by_staff_number else ():
        authenticate_for(roster, number, Permission.CLEAR_MEMORY)
    return roster, "proved by PIN" if roster.person_by_staff_number else "nobody was ever enrolled"


def _load_roster(
    folder: Path, second_folder: Path | None, claim_inspection: ClaimInspection
) -> tuple[Roster, str]:
    """Return the staff roster, and the reason why it cannot be trusted ("" if it can)."""
    path = StateFolder(folder).roster_file
    second_copy = (second_folder or folder / SECOND_FOLDER) / path.name
    try:
        roster, _ = load_recorded_roster(path, second_copy, claim_inspection.newest_recorded_roster)
    except OperatorError as error:
        return Roster(), str(error)
    if not roster.person_by_staff_number and not claim_inspection.is_readable:
        return roster, "there is no roster, and no readable journal that shows whether anybody was enrolled"
    return roster, ""
