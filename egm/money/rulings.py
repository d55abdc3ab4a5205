"""Rulings on money: complements (additional payments), orphans (unclaimed money) and forfeits.

A ruling never undoes or changes an entry: it is one more transaction, with the persons who made it. Each is
entered through a staff form (:mod:`egm.staff.forms`), which says who may make it; a forfeit takes two
persons.
"""

from egm.kernel.credits import MONEY, CreditKind
from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.money import ticket_ledger
from egm.money.hand_pays import find_unclaimed_account
from egm.money.host.model import HostMoney
from egm.record_codec import to_json
from egm.records.game_record import LastGame
from egm.records.keys import MoneyKey, PlayKey
from egm.records.money import HandpayRecord, OrphanFlow, UnclaimedRecord
from egm.records.tables import list_standing_tables
from egm.staff.form import build_ruling_details, has_text_in
from egm.tickets.desk import TicketDesk
from egm.tickets.redemption import Refusal
from meters import Phase, Transfer
from meters.transaction import JSON


# ---------------------------------------------------------------------------------------------- complements
def complement_is_sound(machine: Machine, event: Event) -> bool:
    """Return whether the form has an amount and a reason; a slip number, if given, must be one that was issued."""
    amount_cents, slip = event.data.get("amount_cents"), event.data.get("slip")
    is_paid = slip is None or (type(slip) is int and 0 < slip <= int(machine.memory.get(MoneyKey.SLIP) or 0))
    return is_paid and type(amount_cents) is int and amount_cents > 0 and has_text_in(event, "reason")


def pay_complement(machine: Machine, event: Event) -> None:
    """Pay by hand the part of a winning combination that the machine did not pay (Monaco 21.4)."""
    amount_cents = int(event.data["amount_cents"])
    last = machine.memory.read(LastGame, PlayKey.LAST)
    slip = event.data.get("slip")
    machine.record(
        "complement.paid",
        transfers=(Transfer("house:complement", "out:handpay_complement", amount_cents),),
        counts={"complements": 1},
        details=build_ruling_details(
            machine,
            event,
            amount_cents=amount_cents,
            play_id=event.data.get("play_id") or (None if last is None else last.play_id),
            **({} if slip is None else {"slip": slip}),
        ),
    )
    machine.notice = Notice(code="complement_paid", values={"amount_cents": amount_cents})


# ---------------------------------------------------------------------------------------------- orphans
def credits_are_unclaimed(machine: Machine, _: Event) -> bool:
    """Return whether there are credits, or standing bets on a table between two games, without an owner."""
    has_standing_bets = bool(list_standing_tables(machine)) and machine.memory.get(PlayKey.GAME) is None
    return machine.credit_cents > 0 or has_standing_bets


def place_is_said(_: Machine, event: Event) -> bool:
    """Return whether the form says where the orphan was found (Monaco 21.3)."""
    return has_text_in(event, "place")


def handpay_waits(machine: Machine, _: Event) -> bool:
    """Return whether a hand-pay is waiting to be paid."""
    return machine.memory.get(MoneyKey.HANDPAY) is not None


def found_ticket_is_named(machine: Machine, event: Event) -> bool:
    """Return whether the form has a ticket number and this machine keeps its own tickets."""
    return (
        ticket_ledger.tickets_may_move(machine)
        and not machine.state(HostMoney).validation.is_by_host
        and has_text_in(event, "number")
    )


def take_orphan_credits(machine: Machine, event: Event) -> None:
    """Move credits left on the meter to the register of orphans (Monaco 21.3); restricted credits expire."""
    amount_cents, promotion_cents = machine.cash_cents, machine.read_credit_cents(CreditKind.RESTRICTED)
    machine.record(
        "orphan.credits",
        transfers=machine.take(amount_cents, "house:orphan", MONEY)
        + machine.take(promotion_cents, "house:expired", (CreditKind.RESTRICTED,)),
        counts={"orphans": 1},
        details=build_ruling_details(
            machine,
            event,
            kind="credits",
            amount_cents=amount_cents,
            expired_cents=promotion_cents,
        ),
    )


def take_orphan_handpay(machine: Machine, event: Event) -> None:
    """Void an unclaimed hand-pay and make it an orphan; see :func:`end_rulings`."""
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    reserved = next(held for held in machine.journal.pending() if held.id == handpay.id)
    details = {"kind": handpay.kind, **_build_handpay_fields(handpay)}
    given_up = UnclaimedRecord(
        id=handpay.id,
        flows=tuple(
            OrphanFlow(flow.source, find_unclaimed_account(flow), flow.amount_cents)
            for flow in reserved.transfers
        ),
        story=build_ruling_details(machine, event, **details),
    )
    machine.record(
        "handpay.unclaimed",
        transaction_id=f"{handpay.id}.unclaimed",
        phase=Phase.VOID,
        ref=handpay.id,
        state={MoneyKey.HANDPAY: None, MoneyKey.UNCLAIMED: given_up},
        details={"id": handpay.id},
    )
    end_rulings(machine, event)


def ruling_is_unfinished(machine: Machine, _: Event) -> bool:
    """Return whether the orphan of a voided hand-pay is not posted yet."""
    return machine.memory.get(MoneyKey.UNCLAIMED) is not None


def end_rulings(machine: Machine, _: Event) -> None:
    """Post the orphan of a voided hand-pay: immediately, or after a restart in between."""
    given_up = machine.memory.read(UnclaimedRecord, MoneyKey.UNCLAIMED)
    if given_up is None:
        return
    machine.record(
        "orphan.handpay",
        transaction_id=f"{given_up.id}.orphan",
        transfers=given_up.transfers,
        counts={"orphans": 1},
        state={MoneyKey.UNCLAIMED: None},
        details=given_up.story,
    )


def take_orphan_ticket(machine: Machine, event: Event) -> None:
    """Redeem a ticket found on a machine or on the floor to the register of orphans, irrevocably.

    The journal is written first, then the ticket ledger. A restart between the two finds the journal's entry
    and completes the redemption as for a ticket that was stacked (:func:`egm.money.ticket_recovery.recover`).
    """
    desk = machine.state(TicketDesk)
    redemption_id = machine.fresh_id("orphan")
    answer = desk.redeem_begin(redemption_id, str(event.data["number"]).strip())
    if isinstance(answer, Refusal):
        machine.record(
            "orphan.refused", details=build_ruling_details(machine, event, answer=answer.reason.value)
        )
        machine.notice = Notice(code=f"ticket_refused.{answer.reason.value}", severity="warning")
        return
    ticket = answer.ticket
    machine.record(
        "orphan.ticket",
        transaction_id=f"{redemption_id}.in",
        transfers=(Transfer(f"world:voucher_in:{ticket.kind}", "house:orphan", ticket.amount_cents),),
        counts={"orphans": 1},
        state=ticket_ledger.build_anchor_state(machine),
        details=build_ruling_details(
            machine,
            event,
            kind="ticket",
            amount_cents=ticket.amount_cents,
            number=ticket.masked,
            commitment=ticket_ledger.compute_number_commitment(machine, ticket.number),
        ),
    )
    desk.redeem_commit(redemption_id)
    ticket_ledger.keep_head(machine)


# ---------------------------------------------------------------------------------------------- forfeits


def prize_is_forfeit(machine: Machine, event: Event) -> bool:
    """Return whether the profile lets the waiting prize be forfeited and a reason is given; never cancelled credits."""
    handpay = machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
    return (
        "handpay" in machine.profile.by_hand.forfeits
        and handpay is not None
        and handpay.kind != "cancelled_credit"
        and has_text_in(event, "reason")
    )


def credits_are_forfeit(machine: Machine, event: Event) -> bool:
    """Return whether the profile lets credits be forfeited, the amount is within them, and a reason is given."""
    amount_cents = event.data.get("amount_cents")
    return (
        "credits" in machine.profile.by_hand.forfeits
        and type(amount_cents) is int
        and 0 < amount_cents <= machine.credit_cents
        and has_text_in(event, "reason")
    )


def forfeit_prize(machine: Machine, event: Event) -> None:
    """Void the prize that waited for an attendant (Québec s.94)."""
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    machine.record(
        "forfeit.prize",
        transaction_id=f"{handpay.id}.forfeit",
        phase=Phase.VOID,
        ref=handpay.id,
        counts={"forfeits": 1},
        state={MoneyKey.HANDPAY: None},
        details=build_ruling_details(machine, event, **_build_handpay_fields(handpay)),
    )


def _build_handpay_fields(handpay: HandpayRecord) -> dict[str, JSON]:
    """Return the fields of a hand-pay that a ruling records."""
    record = to_json(handpay)
    return {key: record[key] for key in ("id", "amount_cents", "prizes") if key in record}


def forfeit_credits(machine: Machine, event: Event) -> None:
    """Remove from the meter credits that were won in a disrupted game (Québec s.94)."""
    amount_cents = int(event.data["amount_cents"])
    machine.record(
        "forfeit.credits",
        transfers=machine.take(amount_cents, "house:forfeit", reversed(CreditKind)),
        counts={"forfeits": 1},
        details=build_ruling_details(machine, event, amount_cents=amount_cents),
    )
