"""The machine's ticket desk, and what a restart makes of tickets that a power cut left half-way.

The journal always leads and the ticket ledger follows it, so that between the two there may be, for a moment,
a ticket nobody can redeem, and never one that two can.
"""

from collections.abc import Callable

from egm.cabinet.cabinet import Cabinet, Identity, Key
from egm.cabinet.host.model import RING, Redeeming, Validation, in_ring, into_ring, unread_places
from egm.cabinet.host.tickets import note_number
from egm.clock import Clock
from egm.errors import InvariantError
from egm.profiles import Profile
from egm.tickets.desk import Machine, TicketDesk, TicketRules, secure_enhanced_numbers, stand_alone_numbers
from egm.tickets.model import TicketState
from egm.tickets.numbers import is_hosts, is_stand_alone
from egm.tickets.record import Record
from egm.tickets.store import TicketStore
from rng import RandomService


def open_desk(
    store: TicketStore,
    identity: Identity,
    profile: Profile,
    clock: Clock,
    chance: Callable[[], RandomService | None],
    validation: Validation = Validation.STAND_ALONE,
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
        Machine(
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
    )


def _open_anywhere(cabinet: Cabinet) -> frozenset[str]:
    """The payouts and papers under way at any position: the desk is shared by all."""
    return frozenset(
        kept["id"]
        for key, kept in cabinet.journal.states().items()
        if key.rpartition("/")[2] in {Key.PAY_OUT, Key.PAPER} and isinstance(kept, dict)
    )


def recover(cabinet: Cabinet) -> None:
    """End each ticket the journal says has ended; leave alone what a device still works on."""
    desk = cabinet.desk
    if desk is None:
        return
    unfinished = desk.unfinished()
    pay_out = cabinet.recall(Key.PAY_OUT)
    open_ids = _open_anywhere(cabinet)
    for record in unfinished.tickets:
        if cabinet.journal.get(f"{record.issue_id}.printed") is not None:
            desk.printed(record.ticket.number)
        elif record.issue_id not in open_ids:
            desk.failed(record.ticket.number, "the machine stopped before it was printed")
        elif pay_out is not None and pay_out["id"] == record.issue_id and not pay_out["number"]:
            # the host's number was taken; the journal had not heard of it yet
            note_number(cabinet, pay_out, record.ticket)
    for redemption in unfinished.redemptions:
        if cabinet.journal.get(f"{redemption.redemption_id}.in") is not None:
            desk.redeem_commit(redemption.redemption_id)
        elif redemption.redemption_id not in open_ids:
            desk.redeem_abort(redemption.redemption_id, "the machine stopped before it was stacked")
    _recover_what_the_host_knows(cabinet, desk)


def _have_it_read(cabinet: Cabinet, record: Record) -> None:
    """Put a ticket into the ring of those the host reads."""
    story = {"id": record.issue_id, "number": record.ticket.masked}
    cabinet.record("voucher.unread", state=into_ring(cabinet.journal, record.issue_id), story=story)


def _recover_what_the_host_knows(cabinet: Cabinet, desk: TicketDesk) -> None:
    """Bring up to date what a host is told: the tickets it has read, and the end of the one it redeemed."""
    if cabinet.host.validation.by_host:
        unread = {in_ring(cabinet.journal, place) for place in unread_places(cabinet.journal)}
        for record in desk.unreported():
            if record.state is TicketState.RESERVED or record.issue_id in unread:
                continue
            if cabinet.journal.get(f"{record.issue_id}.printed") is None and len(unread) < RING:
                _have_it_read(cabinet, record)  # printed before a clear, which forgot that it is unread
                unread.add(record.issue_id)
            else:  # read, and the ticket ledger had not heard of it yet
                desk.reported(record.ticket.number)
    asked, paper = cabinet.recall(Key.HOST_TICKET), cabinet.recall(Key.PAPER)
    stacking = paper is not None and asked is not None and paper["id"] == asked["id"]
    if asked is not None and asked["status"] == Redeeming.PENDING and not stacking:
        ended = {**asked, "status": Redeeming.NOT_STACKED.value}
        cabinet.record("voucher.not_stacked", state={Key.HOST_TICKET: ended}, story=ended)
