"""Money of the player that a device with a fault holds: how much, or that the amount is not known."""

from dataclasses import dataclass
from typing import Any, Final

from egm.devices.ledgers import EscrowPhase
from egm.kernel.machine import Machine
from egm.records.keys import MoneyKey
from egm.records.money import CashOutRecord, PaperRecord
from egm.tickets.redemption import LockedTicket

#: The way of a cash-out that each paying device is.
_WAYS: Final = {"hopper": "coins", "ticket_printer": "ticket"}
#: Faults with a paper in the path that the acceptor need not have named before.
_WITH_A_PAPER: Final = frozenset({"bill_acceptor.jam", "bill_acceptor.stacker_jam"})


@dataclass(slots=True)
class EscrowedBill:
    """The bill that the acceptor holds in escrow, as far as this run of the machine knows; 0 for none."""

    amount_cents: int = 0


def held_cents(machine: Machine, code: str) -> int:
    """Return the player's money that the device of a fault holds, in minor units; 0 where none is known."""
    device, _, name = code.partition(".")
    if name == "disputed":
        disputes: Any = machine.journal.states(machine.memory.name(MoneyKey.DISPUTED))
        return sum(each["most_cents"] for each in disputes.values() if each["device"] == device)
    if device == "bill_acceptor":
        return _in_acceptor_cents(machine)
    pay_out = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT) if device in _WAYS else None
    return pay_out.amount_cents if pay_out is not None and pay_out.way == _WAYS[device] else 0


def _in_acceptor_cents(machine: Machine) -> int:
    paper = machine.memory.read(PaperRecord, MoneyKey.PAPER)
    if paper is not None and paper.phase is EscrowPhase.ORDERED:
        return paper.amount_cents
    redemption = machine.state(LockedTicket).redemption
    return machine.state(EscrowedBill).amount_cents if redemption is None else redemption.ticket.amount_cents


def held_values(machine: Machine, code: str) -> dict[str, int | str]:
    """Return what a notice of a fault says of held money: an amount, a bill of unknown amount, or nothing."""
    amount_cents = held_cents(machine, code)
    if amount_cents:
        return {"amount_cents": amount_cents}
    return {"held": "bill"} if code in _WITH_A_PAPER else {}
