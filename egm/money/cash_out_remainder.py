"""The unpaid remainder of a cash-out, which the next payout method or an attendant pays.

It is valid only while it equals the player's whole cashable balance. Once that balance has changed (credits
taken, played or added), it is ordinary credit for which the player has not requested a payout.
"""

from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.money.entries import CASH_OUT_ENDED
from egm.money.events import CashOut, NoPayoutDevice
from egm.money.keys import MoneyKey
from egm.money.records.money import CashOutRemainder, CoinPayoutProgress


def build_remainder_state(remainder: CashOutRemainder) -> dict[str, CashOutRemainder]:
    """Return the state change that stores the unpaid remainder of a cash-out; empty if the remainder is zero."""
    return {MoneyKey.CASH_OUT_REMAINDER: remainder} if remainder.amount_cents else {}


def build_handpay_remainder_state(
    remainder_cents: int, coin_payout: CoinPayoutProgress | None
) -> dict[str, CashOutRemainder]:
    """Return the state change that stores the unpaid remainder of a cash-out that an attendant is to pay.

    ``coin_payout`` has the amount owed and the part of it that the hopper has already paid; None if it paid none.
    """
    return build_remainder_state(
        CashOutRemainder(amount_cents=remainder_cents, must_be_paid_by_hand=True, coin_payout=coin_payout)
    )


def find_coin_payout_progress(machine: PositionMachine) -> CoinPayoutProgress | None:
    """Return what an interrupted cash-out in coins owes and what it has paid, or None if no coins were paid."""
    remainder = _read_valid_remainder(machine)
    return None if remainder is None else remainder.coin_payout


def unpaid_remainder_is_stored(machine: PositionMachine, _: Event) -> bool:
    """Return whether there is an unpaid remainder of a cash-out, which the next payout method is to pay.

    The stored remainder must still equal the player's cashable balance.
    """
    return _read_valid_remainder(machine) is not None


def has_outdated_remainder(machine: PositionMachine) -> bool:
    """Return whether a stored remainder of a cash-out no longer equals the player's cashable balance."""
    return (
        machine.memory.get(MoneyKey.CASH_OUT_REMAINDER) is not None and _read_valid_remainder(machine) is None
    )


def clear_remainder(machine: PositionMachine) -> None:
    """Delete the stored remainder of a cash-out, so that a later balance of the same amount is not mistaken for it."""
    machine.post(CASH_OUT_ENDED, state={MoneyKey.CASH_OUT_REMAINDER: None})


def _read_valid_remainder(machine: PositionMachine) -> CashOutRemainder | None:
    """Return the stored remainder of a cash-out, or None if none is stored or the cashable balance has changed since.

    Earlier versions stored ``True`` instead of a record: the remainder is then the whole cashable balance.
    """
    if not machine.cashable_cents:
        return None
    if machine.memory.get(MoneyKey.CASH_OUT_REMAINDER) is True:
        return CashOutRemainder(amount_cents=machine.cashable_cents)
    remainder = machine.memory.read(CashOutRemainder, MoneyKey.CASH_OUT_REMAINDER)
    return remainder if remainder is not None and remainder.amount_cents == machine.cashable_cents else None


def build_automatic_cash_out_event(machine: PositionMachine, _: Event) -> Event:
    """Return the event that starts an automatic cash-out of the player's credits.

    If the unpaid remainder must be paid by hand, the event leads to a hand-pay; otherwise the first available payout
    method in the profile's order pays.
    """
    remainder = _read_valid_remainder(machine)
    if remainder is not None and remainder.must_be_paid_by_hand:
        return Event(EventType.NO_PAYOUT_DEVICE, NoPayoutDevice())
    return Event(EventType.CASH_OUT, CashOut())
