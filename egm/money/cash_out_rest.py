"""What one way out has left over of a cash-out: for the next way, or for the attendant's hand.

It is a rest for as long as it is all the player's money: what has been taken, played or added to is an
ordinary credit, which nobody has asked to be paid.
"""

from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.records.keys import MoneyKey
from egm.records.money import CashOutRest, PaidInCoins


def left_over(rest: CashOutRest) -> dict[str, CashOutRest]:
    """What is left over, if anything is, to go on with."""
    return {MoneyKey.GOES_ON: rest} if rest.rest_cents else {}


def left_by_hand(rest_cents: int, in_coins: PaidInCoins | None) -> dict[str, CashOutRest]:
    """The same where the way has failed."""
    return left_over(CashOutRest(rest_cents=rest_cents, by_hand=True, in_coins=in_coins))


def paid_in_coins(machine: Machine) -> PaidInCoins | None:
    """What has come as coins of the cash-out that goes on now."""
    rest = _rest(machine)
    return None if rest is None else rest.in_coins


def rest_goes_on(machine: Machine, _: Event) -> bool:
    """What one way out has left over goes the next way by itself."""
    return _rest(machine) is not None


def rest_has_ended(machine: Machine) -> bool:
    """What was left over is no rest any more."""
    return machine.memory.get(MoneyKey.GOES_ON) is not None and _rest(machine) is None


def end_rest(machine: Machine) -> None:
    """Forget it at once: a later credit that happens to be as much is not it."""
    machine.record("cashout.ended", state={MoneyKey.GOES_ON: None})


def _rest(machine: Machine) -> CashOutRest | None:
    """What one way out has left over: it is no rest any more once the credit is another."""
    if not machine.cash_cents:
        return None
    if machine.memory.get(MoneyKey.GOES_ON) is True:
        return CashOutRest(rest_cents=machine.cash_cents)
    rest = machine.memory.read(CashOutRest, MoneyKey.GOES_ON)
    return rest if rest is not None and rest.rest_cents == machine.cash_cents else None


def cash_out_by_itself(machine: Machine, _: Event) -> Event:
    """Pay the player as if he had asked; by hand what another way has failed to pay."""
    rest = _rest(machine)
    return Event(EventType.NO_PAYOUT_DEVICE if rest is not None and rest.by_hand else EventType.CASH_OUT)
