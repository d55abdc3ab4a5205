"""The machine's ticket desk, and what a restart makes of tickets that a power cut left half-way.

The journal always leads and the ticket ledger follows it, so that between the two there may be, for a moment,
a ticket nobody can redeem, and never one that two can.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from egm.clock import Clock
from egm.config.cabinet_file import POSITIONS_MOST, Validation
from egm.devices.interface import PrintState
from egm.errors import InvariantError
from egm.kernel.machine import Identity, Machine
from egm.kernel.standing_faults import raise_fault
from egm.kernel.timekeeping import Timekeeper
from egm.money.host.model import RING, HostMoney, Redeeming, in_ring, into_ring, unread_places
from egm.money.host.records import HostTicketRecord
from egm.money.host.tickets import note_number
from egm.money.ticket_ledger import hold_against, note_ledger
from egm.profiles import Profile
from egm.record_codec import from_json
from egm.records.earlier_journal import has_ended
from egm.records.keys import HostKey, MoneyKey
from egm.records.money import CashOutRecord, PrintingRecord
from egm.tickets.audit import LedgerAnchor
from egm.tickets.desk import (
    Issuer,
    TicketDesk,
    TicketRules,
    secure_enhanced_numbers,
    stand_alone_numbers,
)
from egm.tickets.model import TicketState
from egm.tickets.numbers import is_hosts, is_stand_alone
from egm.tickets.record import Action, Record
from egm.tickets.store import TicketStore
from rng import RandomService

#: The entries that credit a ticket, and how many may be cut off from their redemption: one a position.
_TAKEN: Final = ("voucher.in", "orphan.ticket", "disputed.ruled")


def open_desk(
    store: TicketStore,
    identity: Identity,
    profile: Profile,
    clock: Clock,
    times: Timekeeper,
    chance: Callable[[], RandomService | None],
    validation: Validation = Validation.STAND_ALONE,
    *,
    is_accounted: Callable[[Record], bool],
) -> TicketDesk:
    """The desk of a machine: its own unpredictable numbers where it stands alone, else as its host wants.

    With a host the machine's own numbers are made from what the host has enrolled it with, and only so many
    may be out that the host has not read (H-09).
    """
    alone = validation is Validation.STAND_ALONE
    offline = profile.host.offline_tickets if validation is Validation.SYSTEM else RING

    def below(bound: int) -> int:
        service = chance()
        if service is None:
            raise InvariantError("a ticket number wanted before there is a generator")
        with service.step() as step:
            return step.below(bound, "validation number")

    return TicketDesk(
        store,
        Issuer(
            serial=identity.serial,
            operator_number=identity.operator_number,
            house=identity.house,
        ),
        TicketRules(
            currency=profile.currency,
            template=profile.id,
            limit_cents=profile.tickets.limit_cents,
            valid_days=profile.tickets.valid_days,
            allowance=None if alone else offline,
            unread=None if alone else RING,
        ),
        clock,
        numbering=stand_alone_numbers(below) if alone else secure_enhanced_numbers,
        reads=is_stand_alone if alone else is_hosts,
        date_is_known=lambda: times.is_believed,
        is_accounted=is_accounted,
    )


def _open_anywhere(machine: Machine) -> frozenset[str]:
    """The payouts, papers and disputes under way at any position: the desk is shared by all."""
    return frozenset(
        kept["id"]
        for key, kept in machine.journal.states().items()
        if key.rpartition("/")[2].startswith((MoneyKey.PAY_OUT, MoneyKey.PAPER, MoneyKey.DISPUTED))
        and isinstance(kept, dict)
    )


def recover(machine: Machine, why: str = "") -> None:
    """End each ticket the journal says has ended; leave alone what a device still works on.

    Then the ledger is held against the journal; ``why`` there is none, or why it differs, stops tickets.
    """
    desk = machine.installed(TicketDesk)
    if desk is None:
        _let_go_of_prints(machine)
    else:
        _recover(machine, desk)
        _look_for_contradictions(machine, desk)
        why = hold_against(machine)
    note_ledger(machine, why)


def _let_go_of_prints(machine: Machine) -> None:
    """Without a ledger no printer can be asked about a ticket: one that was printed is out."""
    for key, kept in machine.journal.states().items():
        if key.rpartition("/")[2] != MoneyKey.PRINT:
            continue
        printed = from_json(PrintingRecord, kept, f"the memory's {key!r}")
        if printed.state is PrintState.BARCODE_DONE:
            machine.record("ticket.taken", state={key: None}, details={"id": printed.id})


def _look_for_contradictions(machine: Machine, desk: TicketDesk) -> None:
    """A ticket credited by the journal whose redemption ended otherwise: a technician's tilt, told once.

    It takes a cut between credit and redemption and a cage that released the ticket meanwhile. The credit
    stands; who else was paid is for persons to find.
    """
    latest = machine.journal.entries(_TAKEN, limit=POSITIONS_MOST, newest_first=True)
    for entry in list(latest):
        redemption_id = entry.transaction.id.removesuffix(".in")
        record = desk.store.by_redemption(redemption_id)
        told = machine.journal.get(f"{redemption_id}.contradicted")
        if record is None or told is not None or _was_redeemed(record, redemption_id):
            continue
        ticket, kept = record.ticket, machine.memory.require(LedgerAnchor, MoneyKey.TICKETS)
        account = f"world:voucher_in:{ticket.kind}"
        base = {**kept.base, account: kept.base.get(account, 0) - ticket.amount_cents}
        what = f"{ticket.masked}, {ticket.amount_cents} cents"
        raise_fault(machine, "ticket_contradiction", detail=what)
        machine.record(
            "tickets.contradicted",
            transaction_id=f"{redemption_id}.contradicted",
            state={MoneyKey.TICKETS: replace(kept, base=base)},
            details={"id": redemption_id, "number": ticket.masked, "amount_cents": ticket.amount_cents},
        )


def _was_redeemed(record: Record, redemption_id: str) -> bool:
    return any(move.action is Action.REDEEM and move.redemption_id == redemption_id for move in record.moves)


def _recover(machine: Machine, desk: TicketDesk) -> None:
    unfinished = desk.unfinished()
    pay_out = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
    open_ids = _open_anywhere(machine)
    for record in unfinished.tickets:
        if has_ended(machine.journal, f"{record.issue_id}.printed"):
            desk.printed(record.ticket.number)
        elif record.issue_id not in open_ids:
            desk.failed(record.ticket.number, "the machine stopped before it was printed")
        elif pay_out is not None and pay_out.id == record.issue_id and not pay_out.number:
            # the host's number was taken; the journal had not heard of it yet
            note_number(machine, pay_out, record.ticket)
    for redemption in unfinished.redemptions:
        if has_ended(machine.journal, f"{redemption.redemption_id}.in"):
            desk.redeem_commit(redemption.redemption_id)
        elif redemption.redemption_id not in open_ids:
            desk.redeem_abort(redemption.redemption_id, "the machine stopped before it was stacked")
    _recover_what_the_host_knows(machine, desk)


def _have_it_read(machine: Machine, record: Record) -> None:
    """Put a ticket into the ring of those the host reads."""
    details = {"id": record.issue_id, "number": record.ticket.masked}
    machine.record("voucher.unread", state=into_ring(machine.journal, record.issue_id), details=details)


def _recover_what_the_host_knows(machine: Machine, desk: TicketDesk) -> None:
    """Bring up to date what a host is told: the tickets it has read, and the end of the one it redeemed."""
    if machine.state(HostMoney).validation.by_host:
        unread = {in_ring(machine.journal, place) for place in unread_places(machine.journal)}
        for record in desk.unreported():
            if record.state is TicketState.RESERVED or record.issue_id in unread:
                continue
            if not machine.journal.knows(f"{record.issue_id}.printed") and len(unread) < RING:
                _have_it_read(machine, record)  # printed before a clear, which forgot that it is unread
                unread.add(record.issue_id)
            else:  # read, and the ticket ledger had not heard of it yet
                desk.reported(record.ticket.number)
    asked = machine.memory.read(HostTicketRecord, HostKey.TICKET)
    if asked is None or asked.status is not Redeeming.PENDING:
        return
    if asked.id not in _open_anywhere(machine):
        ended = replace(asked, status=Redeeming.NOT_STACKED)
        machine.record("voucher.not_stacked", state={HostKey.TICKET: ended}, details=ended)
