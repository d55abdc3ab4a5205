"""The player's money that a faulty device holds, for the fault's notice on the screen: an amount, or unknown."""

from dataclasses import dataclass
from typing import Any, Final

from egm.devices.ledgers import EscrowPhase
from egm.kernel.machine import PositionMachine
from egm.money.keys import MoneyKey
from egm.money.records.money import CashOutRecord, PaperRecord
from egm.tickets.redemption import LockedTicket

#: The device that pays -> the payout method that it serves.
_PAYOUT_METHOD_BY_DEVICE: Final = {"hopper": "coins", "ticket_printer": "ticket"}
#: Faults at which a bill or ticket may be in the acceptor's path without having been reported yet.
_FAULTS_WITH_PAPER_IN_PATH: Final = frozenset({"bill_acceptor.jam", "bill_acceptor.stacker_jam"})


@dataclass(slots=True)
class EscrowedBill:
    """The value of the bill in escrow, in minor units, as the acceptor reported it since the last start; 0 if none."""

    amount_cents: int = 0


def find_held_cents(machine: PositionMachine, fault_code: str) -> int:
    """Return the player's money that the device with this fault holds, in minor units; 0 if none or unknown."""
    device_kind, _, fault_name = fault_code.partition(".")
    if fault_name == "disputed":
        disputed_amounts: Any = machine.journal.states(
            machine.memory.build_stored_name(MoneyKey.DISPUTED_AMOUNT)
        )
        return sum(
            disputed_amount["most_cents"]
            for disputed_amount in disputed_amounts.values()
            if disputed_amount["device"] == device_kind
        )
    if device_kind == "bill_acceptor":
        return _find_acceptor_held_cents(machine)
    payout = (
        machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
        if device_kind in _PAYOUT_METHOD_BY_DEVICE
        else None
    )
    return (
        payout.amount_cents
        if payout is not None and payout.payout_method == _PAYOUT_METHOD_BY_DEVICE[device_kind]
        else 0
    )


def _find_acceptor_held_cents(machine: PositionMachine) -> int:
    """Return the player's money that the bill acceptor holds in escrow or is stacking, in minor units."""
    paper = machine.memory.read(PaperRecord, MoneyKey.PAPER_BEING_STACKED)
    if paper is not None and paper.phase is EscrowPhase.ORDERED:
        return paper.amount_cents
    redemption = machine.component(LockedTicket).redemption
    return (
        machine.component(EscrowedBill).amount_cents if redemption is None else redemption.ticket.amount_cents
    )


def build_held_money_values(machine: PositionMachine, fault_code: str) -> dict[str, int | str]:
    """Return the values for a fault notice that state the player's money in the faulty device.

    The result has ``amount_cents`` if the amount is known. If a bill or ticket of unknown value may be in the
    acceptor, it has ``held``: ``bill``. Otherwise it is empty.
    """
    amount_cents = find_held_cents(machine, fault_code)
    if amount_cents:
        return {"amount_cents": amount_cents}
    return {"held": "bill"} if fault_code in _FAULTS_WITH_PAPER_IN_PATH else {}
