"""Electronic transfers between the credit meter and a host, and the lock that keeps the machine idle for them.

A host orders a transfer under its own identifier. The value moved, the identifier and the result are one journal
transaction, whose id contains the identifier. A repeated order therefore moves nothing, also after a power loss (K-09).
While a game is in progress, an order is held in memory. A restart drops it: the host's next poll finds no such
transfer, and the host may order it again.

Bonuses are paid by the operator and metered as wins of a bonus system. A bonus jackpot is never added to the credit
meter: it waits for the attendant, like every jackpot.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from egm.clock import NANOSECONDS_PER_SECOND
from egm.errors import InvariantError
from egm.host.entries import (
    AFT_COMPLETE,
    AFT_FAILED,
    AFT_LOCKED,
    AFT_UNLOCKED,
    CASH_OUT_OFFERED_TO_HOST,
    CREDIT_EXPIRED,
    AftLocked,
    AftUnlocked,
    CashOutOfferedToHost,
)
from egm.host.keys import HostKey
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.money.entries import AFT_JACKPOT
from egm.money.events import CashOut
from egm.money.host_money import HostMoney, TransferLock, TransferOrder
from egm.money.keys import MoneyKey
from egm.money.records.host import (
    CashOutTerms,
    HostTicketRecord,
    RedemptionStatus,
    RestrictedTerms,
    TransferKind,
    TransferRecord,
    TransferStatus,
)
from egm.money.records.money import HandpayEnding, HandpayRecord
from egm.money.restricted_credit import find_restricted_terms, is_restricted_credit_expired
from meters import Phase, Transfer
from meters.view import JournalView

#: Number of transfers the host may read back (E-05: at least 35).
TRANSFER_HISTORY_SIZE: Final = 35


# ---------------------------------------------------------------------------------------------- guards
def order_is_open(machine: PositionMachine, _: Event) -> bool:
    """Return whether a host has ordered a transfer that is not executed yet."""
    return machine.component(HostMoney).transfer_order is not None


def transfer_lock_is_requested(machine: PositionMachine, _: Event) -> bool:
    """Return whether a host has requested or holds the transfer lock."""
    return machine.component(HostMoney).transfer_lock is not None


@refusal_code("host_takes_cash_out")
def cash_out_goes_to_host_first(machine: PositionMachine, event: Event) -> bool:
    """Return whether the cash-out is to be offered to the host first.

    The host must be online and have enabled this, there must be credit, and the event must not come from an
    offer that the host has just declined.
    """
    host_money = machine.component(HostMoney)
    terms = machine.memory.read(CashOutTerms, HostKey.CASH_OUT_TERMS)
    return (
        host_money.can_transfer
        and host_money.is_online
        and terms is not None
        and terms.is_offered_to_host
        and machine.credit_cents > 0
        and not event.read_payload(CashOut).has_host_declined_credits
    )


def restricted_has_expired(machine: PositionMachine, _: Event) -> bool:
    """Return whether there is restricted credit whose expiry date has passed; False while the clock is not trusted."""
    terms = find_restricted_terms(machine)
    return terms is not None and is_restricted_credit_expired(machine, terms)


# ---------------------------------------------------------------------------------------------- transfers
def execute_transfer_order(machine: PositionMachine, _: Event) -> None:
    """Execute the host's pending transfer order, or record why it cannot be executed.

    After an executed order the transfer lock is released, unless the order says to keep it. If a cash-out
    is offered to the host and the order takes no credit, the offer stays open. If the order takes only a part of
    the credit, the host counts as having declined the remainder.
    """
    host_money = machine.component(HostMoney)
    order = _remove_order(machine)
    amounts_or_refusal = _compute_possible_amounts(machine, order)
    if isinstance(amounts_or_refusal, TransferStatus):
        record_failed_order(machine, order, amounts_or_refusal)
        return
    _record_transfer(machine, order, amounts_or_refusal)
    lock = host_money.transfer_lock
    if lock is None or order.stays_locked_afterwards:
        return
    if lock.is_cash_out_offer and order.kind is not TransferKind.OUT:
        return
    host_money.transfer_lock = None
    _decline_cash_out(machine, lock)


def refuse_transfer(machine: PositionMachine, _: Event) -> None:
    """Refuse the host's pending transfer order because the machine is busy."""
    record_failed_order(machine, _remove_order(machine), TransferStatus.NOT_NOW)


def cancel_transfer(machine: PositionMachine, _: Event) -> None:
    """Cancel the pending transfer order at the host's request."""
    record_failed_order(machine, _remove_order(machine), TransferStatus.CANCELLED)


def _remove_order(machine: PositionMachine) -> TransferOrder:
    """Remove and return the host's pending transfer order. Raises InvariantError if none exists."""
    host_money = machine.component(HostMoney)
    order, host_money.transfer_order = host_money.transfer_order, None
    if order is None:
        raise InvariantError("a transfer was started, but the host has ordered none")
    return order


def _compute_possible_amounts(
    machine: PositionMachine, order: TransferOrder
) -> Mapping[CreditKind, int] | TransferStatus:
    """Return the amounts that a host's transfer order can move now, by credit kind, or the status that refuses it.

    If only a part of the ordered amounts can move, that part is returned if the order permits it; otherwise the
    order is refused.
    """
    limit_cents = machine.profile.host.electronic_transfer_max_cents
    adds_restricted = order.kind is not TransferKind.OUT and bool(
        order.cents_by_credit_kind.get(CreditKind.RESTRICTED)
    )
    # credit of another pool was added while the order waited
    if adds_restricted and not can_add_restricted_pool(machine, order.restricted_pool):
        return TransferStatus.OTHER_POOL
    if order.kind is TransferKind.OUT:
        cents_by_kind = {
            kind: min(requested_cents, machine.read_credit_cents(kind))
            for kind, requested_cents in order.cents_by_credit_kind.items()
        }
    else:
        cents_by_kind = dict(order.cents_by_credit_kind)
        if order.kind is not TransferKind.BONUS_JACKPOT:
            room_cents = machine.profile.value_in.credit_limit_cents - machine.credit_cents
            limit_cents = min(limit_cents, max(0, room_cents))
    limited_cents_by_kind = _limit_amounts(cents_by_kind, limit_cents)
    if limited_cents_by_kind == order.cents_by_credit_kind:
        return limited_cents_by_kind
    if order.may_be_partial and not order.kind.is_bonus:
        return limited_cents_by_kind
    # If the limit has changed nothing, the credit was less than the order.
    return TransferStatus.BAD_AMOUNT if limited_cents_by_kind == cents_by_kind else TransferStatus.OVER_LIMIT


def _limit_amounts(cents_by_credit_kind: Mapping[CreditKind, int], limit_cents: int) -> dict[CreditKind, int]:
    """Return the amounts of a transfer by credit kind, reduced so that their sum is within the limit.

    The limit is used up by the kinds in the given order, so the last kinds are reduced first.
    """
    limited_cents_by_kind, remaining_cents = {}, limit_cents
    for kind, requested_cents in cents_by_credit_kind.items():
        limited_cents_by_kind[kind] = min(requested_cents, remaining_cents)
        remaining_cents -= limited_cents_by_kind[kind]
    return limited_cents_by_kind


def _record_transfer(
    machine: PositionMachine, order: TransferOrder, cents_by_credit_kind: Mapping[CreditKind, int]
) -> None:
    """Record a transfer's movements of credit, its result and what the host may read of it, in one transaction."""
    status = (
        TransferStatus.COMPLETED_IN_FULL
        if cents_by_credit_kind == order.cents_by_credit_kind
        else TransferStatus.COMPLETED_IN_PART
    )
    moved_cents_by_kind = {
        kind: amount_cents for kind, amount_cents in cents_by_credit_kind.items() if amount_cents
    }
    transfer_count = int(machine.memory.get(HostKey.TRANSFER_COUNT) or 0) + 1
    result = replace(
        _build_result_record(machine, order, status, cents_by_credit_kind),
        history_index=(transfer_count - 1) % TRANSFER_HISTORY_SIZE + 1,
    )
    state: dict[str, object] = {HostKey.TRANSFER_COUNT: transfer_count, HostKey.LAST_TRANSFER: result}
    if order.kind is TransferKind.IN and CreditKind.RESTRICTED in moved_cents_by_kind:
        expires = "" if order.expiry_date is None else order.expiry_date.isoformat()
        state[MoneyKey.RESTRICTED_CREDIT_TERMS] = RestrictedTerms(
            expiry_date=expires, restricted_pool=order.restricted_pool
        )
    is_paid_by_hand = order.kind is TransferKind.BONUS_JACKPOT
    if is_paid_by_hand:
        state[MoneyKey.HANDPAY] = HandpayRecord(
            id=format_entry_id(order.identifier), kind="bonus", amount_cents=order.total_cents
        )
    machine.post(
        AFT_JACKPOT if is_paid_by_hand else AFT_COMPLETE,
        result,
        entry_id=format_entry_id(order.identifier),
        transfers=tuple(
            _build_transfer(machine, order.kind, credit_kind, amount_cents)
            for credit_kind, amount_cents in moved_cents_by_kind.items()
        ),
        state=state,
    )
    if moved_cents_by_kind:
        total_cents = sum(moved_cents_by_kind.values())
        machine.notice = Notice(code=f"transfer_{order.kind.value}", values={"amount_cents": total_cents})


def _build_transfer(
    machine: PositionMachine, kind: TransferKind, credit_kind: CreditKind, amount_cents: int
) -> Transfer:
    """Return the journal transfer of one kind of credit: from the host, to the host, or as a bonus."""
    credit_account = machine.name_credit_account(credit_kind)
    match kind:
        case TransferKind.IN:
            return Transfer(f"world:aft_in:{credit_kind}", credit_account, amount_cents)
        case TransferKind.OUT:
            return Transfer(credit_account, f"out:aft_out:{credit_kind}", amount_cents)
        case TransferKind.BONUS:
            return Transfer("house:bonus", credit_account, amount_cents)
        case TransferKind.BONUS_JACKPOT:
            return Transfer("house:bonus", "out:handpay_bonus", amount_cents)
        case TransferKind.OTHER:
            raise InvariantError("a transfer was accepted whose kind this machine does not support")


def record_failed_order(
    machine: PositionMachine, order: TransferOrder, status: TransferStatus, *, host_has_result: bool = False
) -> None:
    """Record that a transfer order has failed and moves nothing.

    With ``host_has_result``, the reply to the order has already reported the failure to the host.
    """
    result = _build_result_record(machine, order, status, dict.fromkeys(order.cents_by_credit_kind, 0))
    record = replace(result, history_index=0, host_has_read=host_has_result)
    machine.post(AFT_FAILED, result, state={HostKey.LAST_TRANSFER: record})


def _build_result_record(
    machine: PositionMachine,
    order: TransferOrder,
    status: TransferStatus,
    cents_by_credit_kind: Mapping[CreditKind, int],
) -> TransferRecord:
    """Return the stored result of a transfer order that has moved these amounts, by kind of credit."""
    return TransferRecord(
        identifier=order.identifier,
        kind=order.kind,
        status=status,
        cents_by_credit_kind=cents_by_credit_kind,
        ordered_cents=order.total_cents,
        expiry_date="" if order.expiry_date is None else order.expiry_date.isoformat(),
        restricted_pool=order.restricted_pool,
        protocol_codes=order.protocol_codes,
        result_time=machine.clock.now().isoformat(timespec="seconds"),
        host_has_read=False,
    )


def format_entry_id(identifier: str) -> str:
    """Return the journal transaction id for a host's transfer identifier; the journal rejects a duplicate."""
    return f"transfer:{identifier}"


def would_block_a_jackpot_handpay(journal: JournalView, identifier: str) -> bool:
    """Return whether this transfer would use up the journal id that the hand-pay of an open jackpot needs to end.

    A host could order a transfer ``J1.paid`` while the bonus jackpot ``J1`` waits to be paid by hand. The journal
    rejects a repeated id, so the attendant could not pay the jackpot.
    """
    jackpot_id, _, ending = format_entry_id(identifier).rpartition(".")
    entry = journal.get(jackpot_id) if ending in tuple(HandpayEnding) else None
    return entry is not None and entry.phase is Phase.RESERVE


def is_jackpot_handpay_blocked(journal: JournalView, identifier: str) -> bool:
    """Return whether an earlier transfer has used up the journal id that this jackpot's hand-pay will need to end.

    The id of that hand-pay is the journal id of the bonus jackpot's transfer.
    """
    jackpot_id = format_entry_id(identifier)
    return any(journal.has_entry(ending.format_entry_id(jackpot_id)) for ending in HandpayEnding)


# ---------------------------------------------------------------------------------------------- the lock
def grant_transfer_lock(machine: PositionMachine, _: Event) -> None:
    """Grant the host the transfer lock that it has requested."""
    lock = _require_lock(machine)
    machine.component(HostMoney).transfer_lock = replace(lock, is_granted=True)
    machine.post(AFT_LOCKED, AftLocked(required_transfers_code=lock.required_transfers_code))


def offer_cash_out_to_host(machine: PositionMachine, _: Event) -> None:
    """Lock the machine while the player's cash-out is offered to the host."""
    end_ns = machine.clock.monotonic_ns() + machine.profile.host.reply_seconds_max * NANOSECONDS_PER_SECOND
    machine.component(HostMoney).transfer_lock = TransferLock(
        required_transfers_code=0, end_ns=end_ns, is_granted=True, is_cash_out_offer=True
    )
    machine.post(CASH_OUT_OFFERED_TO_HOST, CashOutOfferedToHost(amount_cents=machine.credit_cents))
    machine.notice = Notice(code="cash_out_to_host")


def end_transfer_lock(machine: PositionMachine, _: Event) -> None:
    """End the transfer lock.

    If it was held to offer a cash-out to the host, the cash-out is paid in another way, unless the host forbids that.
    """
    lock = _require_lock(machine)
    machine.component(HostMoney).transfer_lock = None
    if lock.is_granted:
        machine.post(AFT_UNLOCKED, AftUnlocked(was_for_cash_out=lock.has_open_cash_out_offer))
    _decline_cash_out(machine, lock)


def _decline_cash_out(machine: PositionMachine, lock: TransferLock) -> None:
    """Mark the cash-out that the host has declined, so that it is paid another way.

    If the host has forbidden other ways, the credit stays, and the player is shown a notice. Do nothing if ``lock`` was
    not held to offer a cash-out, or if no credit is left.
    """
    host_money = machine.component(HostMoney)
    if lock.has_open_cash_out_offer and machine.credit_cents:
        is_host_only = machine.memory.require(CashOutTerms, HostKey.CASH_OUT_TERMS).is_host_only
        host_money.is_cash_out_declined = not is_host_only
        host_money.declined_balance_cents = machine.credit_cents if is_host_only else None
        machine.notice = Notice(code="cash_out_not_taken", severity="warning") if is_host_only else None


def _require_lock(machine: PositionMachine) -> TransferLock:
    """Return the transfer lock that a host requested or holds. Raises InvariantError if none exists."""
    host_money = machine.component(HostMoney)
    if host_money.transfer_lock is None:
        raise InvariantError("a transfer lock was to be granted or ended, but no host has requested one")
    return host_money.transfer_lock


# ---------------------------------------------------------------------------------------------- promotions
def expire_restricted_credit(machine: PositionMachine, _: Event) -> None:
    """Remove the expired restricted credit from the credit meter."""
    amount_cents = machine.read_credit_cents(CreditKind.RESTRICTED)
    transfer = Transfer(machine.name_credit_account(CreditKind.RESTRICTED), "house:expired", amount_cents)
    machine.post(CREDIT_EXPIRED, transfers=(transfer,), state={MoneyKey.RESTRICTED_CREDIT_TERMS: None})
    machine.notice = Notice(code="promotion_expired", values={"amount_cents": amount_cents})


# ------------------------------------------------------------------------------------- after the current game
def build_pending_order_event(_machine: PositionMachine, _: Event) -> Event:
    """Return the event that makes the state table execute or refuse the pending transfer order after a game.

    The order is refused if the machine is busy again, because after a longer wait the credit could go to another
    player.
    """
    return Event(EventType.TRANSFER_ORDERED)


def build_lock_grant_event(_machine: PositionMachine, _: Event) -> Event:
    """Return the event that grants the host its requested transfer lock, now that the machine is idle."""
    return Event(EventType.TRANSFER_LOCK_REQUESTED)


def host_has_declined_cash_out(machine: PositionMachine, _: Event) -> bool:
    """Return whether the host has just declined a cash-out that is still to be paid another way."""
    return machine.component(HostMoney).is_cash_out_declined


def start_declined_cash_out(machine: PositionMachine, _: Event) -> Event:
    """Return the event that pays a cash-out in another way, after the host has declined it.

    The call clears the mark that the host has declined, so that the cash-out is paid only once.
    """
    machine.component(HostMoney).is_cash_out_declined = False
    return Event(EventType.CASH_OUT, CashOut(has_host_declined_credits=True))


def can_add_restricted_pool(machine: PositionMachine, restricted_pool: int) -> bool:
    """Return whether restricted credit of the host's pool ``restricted_pool`` may be added to the credit meter.

    Credit of different pools is never mixed. The check considers the credit on the meter and an authorised
    ticket that is still being stacked.
    """
    meter_terms = find_restricted_terms(machine)
    ticket = machine.memory.read(HostTicketRecord, HostKey.LAST_TICKET_REDEMPTION)
    escrow_terms = (
        ticket.restricted_terms if ticket is not None and ticket.status is RedemptionStatus.PENDING else None
    )
    return all(
        terms is None or terms.restricted_pool == restricted_pool for terms in (meter_terms, escrow_terms)
    )
