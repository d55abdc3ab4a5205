"""Rulings of staff on money: additional payments (complements), unclaimed money (orphans) and forfeits.

A ruling never undoes or changes an entry: it is a separate transaction, with the persons who made it. It is
entered through a staff form (:mod:`egm.money.forms`), which says who may make it; a forfeit takes two persons.
"""

from egm.kernel.credits import CASH_OUT_CREDIT_KINDS, CreditKind
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.money import ticket_ledger
from egm.money.entries import (
    COMPLEMENT_PAID,
    CREDITS_FORFEITED,
    HANDPAY_UNCLAIMED,
    ORPHAN_CREDITS,
    ORPHAN_HANDPAY,
    ORPHAN_TICKET,
    ORPHAN_TICKET_REFUSED,
    PRIZE_FORFEITED,
    ComplementPaid,
    CreditsForfeited,
    HandpayUnclaimed,
    OrphanCredits,
    OrphanHandpay,
    OrphanTicket,
    OrphanTicketRefused,
    PrizeForfeited,
)
from egm.money.events import ComplementForm, ForfeitCreditsForm, FoundTicketForm
from egm.money.hand_pays import find_unclaimed_account
from egm.money.host_money import HostMoney
from egm.money.keys import MoneyKey
from egm.money.records.money import HandpayEnding, HandpayRecord, UnclaimedRecord, UnclaimedTransfer
from egm.play.keys import PlayKey
from egm.play.records.game_record import LastGame
from egm.play.records.tables import list_tables_with_standing_bets
from egm.record_codec import from_json, to_json
from egm.staff.events import RulingForm, are_texts_filled_in
from egm.staff.form import build_ruling_details
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TicketKind
from egm.tickets.redemption import TicketRedemption, TicketRefusal, TicketRefusalReason
from meters import Transfer


# ---------------------------------------------------------------------------------------------- complements
@refusal_code("complement_is_sound")
def complement_form_is_valid(machine: PositionMachine, event: Event) -> bool:
    """Return whether the form for an additional payment has an amount and a reason.

    If it gives the number of a hand-pay slip, that slip must exist.
    """
    form = event.read_payload(ComplementForm)
    last_slip_number = int(machine.memory.get(MoneyKey.LAST_SLIP_NUMBER) or 0)
    is_slip_valid = form.slip_number is None or 0 < form.slip_number <= last_slip_number
    return is_slip_valid and form.amount_cents > 0 and are_texts_filled_in(form.reason)


def record_complement(machine: PositionMachine, event: Event) -> None:
    """Record that staff have paid by hand the part of a win that the machine did not pay (Monaco 21.4)."""
    form = event.read_payload(ComplementForm)
    last_game = machine.memory.read(LastGame, PlayKey.LAST_GAME)
    machine.post(
        COMPLEMENT_PAID,
        ComplementPaid(
            **build_ruling_details(machine, event),
            amount_cents=form.amount_cents,
            play_id=form.play_id or (None if last_game is None else last_game.play_id),
            slip_number=form.slip_number or 0,
        ),
        transfers=(Transfer("house:complement", "out:handpay_complement", form.amount_cents),),
    )
    machine.notice = Notice(code="complement_paid", values={"amount_cents": form.amount_cents})


# ---------------------------------------------------------------------------------------------- orphans
def credits_are_unclaimed(machine: PositionMachine, _: Event) -> bool:
    """Return whether the machine holds money that an absent player may have left.

    That is credit on the meter, or bets that stay on a table between two games.
    """
    has_standing_bets = (
        bool(list_tables_with_standing_bets(machine)) and machine.memory.get(PlayKey.GAME) is None
    )
    return machine.credit_cents > 0 or has_standing_bets


def location_is_stated(_: PositionMachine, event: Event) -> bool:
    """Return whether the form says where the unclaimed money was found (Monaco 21.3)."""
    return are_texts_filled_in(event.read_payload(RulingForm).location)


def handpay_waits(machine: PositionMachine, _: Event) -> bool:
    """Return whether a hand-pay waits for an attendant."""
    return machine.memory.get(MoneyKey.HANDPAY) is not None


def found_ticket_is_named(machine: PositionMachine, event: Event) -> bool:
    """Return whether the form states the found ticket's number, and this machine validates its own tickets."""
    return (
        ticket_ledger.are_tickets_available(machine)
        and not machine.component(HostMoney).ticket_validator.is_host
        and are_texts_filled_in(event.read_payload(FoundTicketForm).ticket_number)
    )


def register_unclaimed_credits(machine: PositionMachine, event: Event) -> None:
    """Move credits that an unknown player left on the meter to the register of unclaimed money (Monaco 21.3).

    Restricted credit expires.
    """
    amount_cents, restricted_cents = machine.cashable_cents, machine.read_credit_cents(CreditKind.RESTRICTED)
    machine.post(
        ORPHAN_CREDITS,
        OrphanCredits(
            **build_ruling_details(machine, event), amount_cents=amount_cents, expired_cents=restricted_cents
        ),
        transfers=machine.build_debit_transfers(amount_cents, "house:orphan", CASH_OUT_CREDIT_KINDS)
        + machine.build_debit_transfers(restricted_cents, "house:expired", (CreditKind.RESTRICTED,)),
    )


def void_unclaimed_handpay(machine: PositionMachine, event: Event) -> None:
    """Void a hand-pay that nobody claims; :func:`post_unclaimed_handpay` then posts its amount as unclaimed money."""
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    handpay_reservation = next(
        reservation for reservation in machine.journal.list_pending() if reservation.id == handpay.id
    )
    entry_record = OrphanHandpay(
        **build_ruling_details(machine, event),
        kind=handpay.kind,
        id=handpay.id,
        amount_cents=handpay.amount_cents,
        prizes=handpay.prizes,
    )
    unclaimed_handpay = UnclaimedRecord(
        id=handpay.id,
        reserved_transfers=tuple(
            UnclaimedTransfer(transfer.source, find_unclaimed_account(transfer), transfer.amount_cents)
            for transfer in handpay_reservation.transfers
        ),
        entry_record=to_json(entry_record),
    )
    machine.post(
        HANDPAY_UNCLAIMED,
        HandpayUnclaimed(id=handpay.id),
        entry_id=HandpayEnding.UNCLAIMED.format_entry_id(handpay.id),
        ref=handpay.id,
        state={MoneyKey.HANDPAY: None, MoneyKey.UNCLAIMED_HANDPAY: unclaimed_handpay},
    )
    post_unclaimed_handpay(machine, event)


def unclaimed_handpay_is_unposted(machine: PositionMachine, _: Event) -> bool:
    """Return whether a hand-pay that nobody claimed was voided, but is not posted as unclaimed money yet."""
    return machine.memory.get(MoneyKey.UNCLAIMED_HANDPAY) is not None


def post_unclaimed_handpay(machine: PositionMachine, _: Event) -> None:
    """Post a voided hand-pay that nobody claimed to the register of unclaimed money.

    Called immediately after it was voided, and again after a restart.
    """
    unclaimed_handpay = machine.memory.read(UnclaimedRecord, MoneyKey.UNCLAIMED_HANDPAY)
    if unclaimed_handpay is None:
        return
    machine.post(
        ORPHAN_HANDPAY,
        from_json(
            OrphanHandpay, unclaimed_handpay.entry_record, f"the memory's {MoneyKey.UNCLAIMED_HANDPAY}"
        ),
        entry_id=HandpayEnding.ORPHAN.format_entry_id(unclaimed_handpay.id),
        transfers=unclaimed_handpay.transfers,
        state={MoneyKey.UNCLAIMED_HANDPAY: None},
    )


def register_found_ticket(machine: PositionMachine, event: Event) -> None:
    """Redeem a ticket found on a machine or on the floor into the register of unclaimed money, irrevocably.

    A ticket of restricted credit is refused and stays valid.

    The journal is written first, then the ticket ledger. If the power fails in between, the restart completes
    the redemption from the journal's entry, as for a ticket that was stacked
    (:func:`egm.host.ticket_recovery.recover_tickets`).
    """
    desk = machine.component(TicketDesk)
    redemption_id = machine.fresh_id("orphan")
    result = desk.begin_redemption(redemption_id, event.read_payload(FoundTicketForm).ticket_number.strip())
    if isinstance(result, TicketRedemption) and result.ticket.kind is TicketKind.RESTRICTED:
        desk.abort_redemption(redemption_id, "restricted")
        result = TicketRefusal(TicketRefusalReason.WITHOUT_CASH_VALUE)
    if isinstance(result, TicketRefusal):
        refusal = OrphanTicketRefused(
            **build_ruling_details(machine, event), refusal_reason=result.reason.value
        )
        machine.post(ORPHAN_TICKET_REFUSED, refusal)
        machine.notice = Notice(code=f"ticket_refused.{result.reason.value}", severity="warning")
        return
    ticket = result.ticket
    machine.post(
        ORPHAN_TICKET,
        OrphanTicket(
            **build_ruling_details(machine, event),
            amount_cents=ticket.amount_cents,
            number=ticket.masked_number,
            number_commitment=ticket_ledger.compute_number_commitment(machine, ticket.number),
        ),
        entry_id=f"{redemption_id}.in",
        transfers=(Transfer(f"world:voucher_in:{ticket.kind}", "house:orphan", ticket.amount_cents),),
        state=ticket_ledger.build_anchor_state(machine),
    )
    desk.commit_redemption(redemption_id)
    ticket_ledger.store_journal_head(machine)


# ---------------------------------------------------------------------------------------------- forfeits
@refusal_code("prize_is_forfeit")
def forfeiting_prize_is_permitted(machine: PositionMachine, event: Event) -> bool:
    """Return whether staff may declare the prize that waits as a hand-pay forfeited, and the form gives a reason.

    Cancelled credits cannot be forfeited.
    """
    handpay = machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
    return (
        "handpay" in machine.profile.handpay.forfeitable_money_kinds
        and handpay is not None
        and handpay.kind != "cancelled_credit"
        and are_texts_filled_in(event.read_payload(RulingForm).reason)
    )


@refusal_code("credits_are_forfeit")
def forfeiting_credits_is_permitted(machine: PositionMachine, event: Event) -> bool:
    """Return whether staff may declare credits forfeited: at most those on the meter, and with a reason on the form."""
    form = event.read_payload(ForfeitCreditsForm)
    return (
        "credits" in machine.profile.handpay.forfeitable_money_kinds
        and 0 < form.amount_cents <= machine.credit_cents
        and are_texts_filled_in(form.reason)
    )


def forfeit_prize(machine: PositionMachine, event: Event) -> None:
    """Void the prize that waited for an attendant (Québec s.94)."""
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    machine.post(
        PRIZE_FORFEITED,
        PrizeForfeited(
            **build_ruling_details(machine, event),
            id=handpay.id,
            amount_cents=handpay.amount_cents,
            prizes=handpay.prizes,
        ),
        entry_id=HandpayEnding.FORFEIT.format_entry_id(handpay.id),
        ref=handpay.id,
        state={MoneyKey.HANDPAY: None},
    )


def forfeit_credits(machine: PositionMachine, event: Event) -> None:
    """Remove from the meter credits that were won in a disrupted game (Québec s.94)."""
    amount_cents = event.read_payload(ForfeitCreditsForm).amount_cents
    machine.post(
        CREDITS_FORFEITED,
        CreditsForfeited(**build_ruling_details(machine, event), amount_cents=amount_cents),
        transfers=machine.build_debit_transfers(amount_cents, "house:forfeit", reversed(CreditKind)),
    )
