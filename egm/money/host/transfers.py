"""Electronic transfers between the credits and a host, and the lock that holds the machine still for them.

A host orders a transfer under an identifier of its own. What it moves, its identifier and its result are one
transaction of the journal, whose name is that identifier: whatever is repeated, by whom, after whichever
power cut, moves nothing a second time (K-09). An order the machine cannot follow now is kept only while a
game is shown; a restart forgets it, and the host, asking, finds no such transfer and may order it again.

Bonuses are the house's own money and are metered as wins of a bonus system. A bonus jackpot is never put on
the meter: it waits for the attendant, as every jackpot does.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Final

from egm.errors import InvariantError
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.money.host.model import HostMoney, Lock, Order, Redeeming, TransferKind, TransferStatus
from egm.money.host.records import CashOutTerms, HostTicketRecord, RestrictedTerms, TransferRecord
from egm.records.keys import HostKey, MoneyKey
from egm.records.money import HandpayRecord
from meters import Phase, Transfer

#: Transfers the host may read back (E-05: at least 35).
HISTORY: Final = 35


# ---------------------------------------------------------------------------------------------- guards
def order_is_open(machine: Machine, _: Event) -> bool:
    """A host has ordered a transfer that is not done."""
    return machine.state(HostMoney).order is not None


def lock_is_asked(machine: Machine, _: Event) -> bool:
    """A host wants the machine held still."""
    return machine.state(HostMoney).lock is not None


def host_takes_cash_out(machine: Machine, event: Event) -> bool:
    """Cash-outs are offered to the host first, it is there, and it has not just let this one pass."""
    money = machine.state(HostMoney)
    terms = machine.memory.read(CashOutTerms, HostKey.CASH_OUT)
    return (
        money.transfers
        and money.online
        and terms is not None
        and terms.enabled
        and machine.credit_cents > 0
        and not event.data.get("passed")
    )


def restricted_has_expired(machine: Machine, _: Event) -> bool:
    """There is restricted credit, and its last day is over by a clock that is believed."""
    terms = restricted_terms(machine)
    return terms is not None and are_over(machine, terms)


def restricted_terms(machine: Machine) -> RestrictedTerms | None:
    """The terms of the restricted credit on the meter; None where there is none, or none were said."""
    if not machine.kind_cents(CreditKind.RESTRICTED):
        return None
    return machine.memory.read(RestrictedTerms, MoneyKey.RESTRICTED)


def are_over(machine: Machine, terms: RestrictedTerms) -> bool:
    """Whether their last day is over, by a clock that is believed."""
    believed = machine.times.is_believed and bool(terms.expires)
    return believed and date.fromisoformat(terms.expires) < machine.local_date


# ---------------------------------------------------------------------------------------------- transfers
def transfer(machine: Machine, _: Event) -> None:
    """Do what was ordered, or record why not; the lock is lifted unless it is to stay."""
    money = machine.state(HostMoney)
    order = _take_order(machine)
    cents = _possible(machine, order)
    if isinstance(cents, TransferStatus):
        note_failure(machine, order, cents)
        return
    _move(machine, order, cents)
    lock = money.lock
    if lock is not None and not order.lock_after:
        money.lock = None
        if order.kind is TransferKind.OUT:
            _let_pass(machine, lock)


def refuse_transfer(machine: Machine, _: Event) -> None:
    """The machine is at something else: the order is not followed."""
    note_failure(machine, _take_order(machine), TransferStatus.NOT_NOW)


def cancel_transfer(machine: Machine, _: Event) -> None:
    """The host has thought better of an order that waited."""
    note_failure(machine, _take_order(machine), TransferStatus.CANCELLED)


def _take_order(machine: Machine) -> Order:
    money = machine.state(HostMoney)
    order, money.order = money.order, None
    if order is None:
        raise InvariantError("a transfer nobody ordered")
    return order


def _possible(machine: Machine, order: Order) -> Mapping[CreditKind, int] | TransferStatus:
    """What may be moved now of what was ordered, by kind; or why nothing may."""
    limit_cents = machine.profile.host.transfer_limit_cents
    promised = order.kind is not TransferKind.OUT and order.cents.get(CreditKind.RESTRICTED)
    if promised and not takes_pool(machine, order.pool):  # another has come while the order waited
        return TransferStatus.OTHER_POOL
    if order.kind is TransferKind.OUT:
        cents = {kind: min(asked, machine.kind_cents(kind)) for kind, asked in order.cents.items()}
    else:
        cents = dict(order.cents)
        if order.kind is not TransferKind.BONUS_JACKPOT:
            room_cents = machine.profile.value_in.credit_limit_cents - machine.credit_cents
            limit_cents = min(limit_cents, max(0, room_cents))
    within = _within(cents, limit_cents)
    if within == order.cents:
        return within
    if order.partial and not order.kind.is_bonus:
        return within
    return TransferStatus.BAD_AMOUNT if within == cents else TransferStatus.OVER_LIMIT


def _within(cents: Mapping[CreditKind, int], limit_cents: int) -> dict[CreditKind, int]:
    """As much of each kind, in the order they are asked, as the limit leaves."""
    within, rest_cents = {}, limit_cents
    for kind, asked_cents in cents.items():
        within[kind] = min(asked_cents, rest_cents)
        rest_cents -= within[kind]
    return within


def _move(machine: Machine, order: Order, cents: Mapping[CreditKind, int]) -> None:
    """One transaction: the value, the result, and what the host may read of both."""
    status = TransferStatus.FULL if cents == order.cents else TransferStatus.PARTIAL
    moved = {kind: amount_cents for kind, amount_cents in cents.items() if amount_cents}
    count = int(machine.memory.get(HostKey.TRANSFERS) or 0) + 1
    result = replace(_result(machine, order, status, cents), position=(count - 1) % HISTORY + 1)
    state: dict[str, object] = {HostKey.TRANSFERS: count, HostKey.TRANSFER: result}
    if order.kind is TransferKind.IN and CreditKind.RESTRICTED in moved:
        expires = "" if order.expires is None else order.expires.isoformat()
        state[MoneyKey.RESTRICTED] = RestrictedTerms(expires=expires, pool=order.pool)
    by_hand = order.kind is TransferKind.BONUS_JACKPOT
    if by_hand:
        state[MoneyKey.HANDPAY] = HandpayRecord(
            id=entry_id(order.identifier), kind="bonus", amount_cents=order.total_cents
        )
    machine.record(
        "aft.complete",
        transaction_id=entry_id(order.identifier),
        phase=Phase.RESERVE if by_hand else Phase.POST,
        transfers=tuple(_flow(machine, order.kind, kind, part) for kind, part in moved.items()),
        state=state,
        details=result,
    )
    if moved:
        total_cents = sum(moved.values())
        machine.notice = Notice(code=f"transfer_{order.kind.value}", values={"amount_cents": total_cents})


def _flow(machine: Machine, way: TransferKind, kind: CreditKind, amount_cents: int) -> Transfer:
    credit = machine.credit(kind)
    match way:
        case TransferKind.IN:
            return Transfer(f"world:aft_in:{kind}", credit, amount_cents)
        case TransferKind.OUT:
            return Transfer(credit, f"out:aft_out:{kind}", amount_cents)
        case TransferKind.BONUS:
            return Transfer("house:bonus", credit, amount_cents)
        case TransferKind.BONUS_JACKPOT:
            return Transfer("house:bonus", "out:handpay_bonus", amount_cents)
        case TransferKind.OTHER:
            raise InvariantError("a transfer of a kind this machine does not do")


def note_failure(machine: Machine, order: Order, status: TransferStatus, *, told: bool = False) -> None:
    """Record an order that moves nothing; ``told`` where its host has the answer already."""
    result = _result(machine, order, status, dict.fromkeys(order.cents, 0))
    kept = replace(result, position=0, told=told)
    machine.record("aft.failed", state={HostKey.TRANSFER: kept}, details=result)


def _result(
    machine: Machine, order: Order, status: TransferStatus, cents: Mapping[CreditKind, int]
) -> TransferRecord:
    return TransferRecord(
        identifier=order.identifier,
        kind=order.kind,
        status=status,
        cents=cents,
        asked_cents=order.total_cents,
        expires="" if order.expires is None else order.expires.isoformat(),
        pool=order.pool,
        codes=order.codes,
        at=machine.clock.now().isoformat(timespec="seconds"),
        told=False,
    )


def entry_id(identifier: str) -> str:
    """The journal's name of a transfer, from its host's identifier: the journal itself refuses a second."""
    return f"transfer:{identifier}"


# ---------------------------------------------------------------------------------------------- the lock
def take_lock(machine: Machine, _: Event) -> None:
    """Hold the machine still."""
    lock = _the_lock(machine)
    machine.state(HostMoney).lock = replace(lock, granted=True)
    machine.log("aft.locked", {"condition": lock.condition})


def offer_to_host(machine: Machine, _: Event) -> None:
    """Hold the machine still while the host is asked to take the credits."""
    until_ns = machine.clock.monotonic_ns() + machine.profile.host.answer_seconds * 1_000_000_000
    machine.state(HostMoney).lock = Lock(condition=0, until_ns=until_ns, granted=True, cash_out=True)
    machine.log("aft.offered", {"amount_cents": machine.credit_cents})
    machine.notice = Notice(code="cash_out_to_host")


def end_lock(machine: Machine, _: Event) -> None:
    """Let the machine go; a cash-out the host let pass is paid another way, unless the host forbids it."""
    lock, machine.state(HostMoney).lock = _the_lock(machine), None
    if lock.granted:
        machine.log("aft.unlocked", {"cash_out": lock.is_offer})
    _let_pass(machine, lock)


def _let_pass(machine: Machine, lock: Lock) -> None:
    """What a host has not taken of a cash-out offered to it is paid another way, or may not be."""
    money = machine.state(HostMoney)
    if lock.is_offer and machine.credit_cents:
        hard = machine.memory.require(CashOutTerms, HostKey.CASH_OUT).hard
        money.cash_out_passed = not hard
        money.not_taken_cents = machine.credit_cents if hard else None
        machine.notice = Notice(code="cash_out_not_taken", severity="warning") if hard else None


def _the_lock(machine: Machine) -> Lock:
    money = machine.state(HostMoney)
    if money.lock is None:
        raise InvariantError("the end of a lock that is not")
    return money.lock


# ---------------------------------------------------------------------------------------------- promotions
def expire_restricted(machine: Machine, _: Event) -> None:
    """Its last day is over: restricted credit leaves the meter."""
    amount_cents = machine.kind_cents(CreditKind.RESTRICTED)
    flow = Transfer(machine.credit(CreditKind.RESTRICTED), "house:expired", amount_cents)
    machine.record("credit.expired", transfers=(flow,), state={MoneyKey.RESTRICTED: None})
    machine.notice = Notice(code="promotion_expired", values={"amount_cents": amount_cents})


# ---------------------------------------------------------------------------------------------- in its turn
def give_order_its_turn(_machine: Machine, _: Event) -> Event:
    """An order that waited for the game to end is done; or refused, if something else has come since.

    Hours later it might find another player.
    """
    return Event(EventType.TRANSFER_ORDERED)


def give_lock_its_turn(_machine: Machine, _: Event) -> Event:
    """The machine is free, and held still for the host that asked."""
    return Event(EventType.LOCK_ASKED)


def cash_out_has_passed(machine: Machine, _: Event) -> bool:
    """A host has let a cash-out pass that was offered to it."""
    return machine.state(HostMoney).cash_out_passed


def pass_cash_out_on(machine: Machine, _: Event) -> Event:
    """What the host has let pass is paid another way, once."""
    machine.state(HostMoney).cash_out_passed = False
    return Event(EventType.CASH_OUT, {"passed": True})


def takes_pool(machine: Machine, pool: int) -> bool:
    """Whether restricted credit of a pool may join what is on the meter: of another pool it may not.

    Nor what is coming: a ticket the host has called good, on its way into the box.
    """
    here = restricted_terms(machine)
    asked = machine.memory.read(HostTicketRecord, HostKey.TICKET)
    coming = asked.restricted if asked is not None and asked.status is Redeeming.PENDING else None
    return all(terms is None or terms.pool == pool for terms in (here, coming))
