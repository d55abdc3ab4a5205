"""Ways out of the credit meter: ticket, coins or the attendant's hand, and which of them is open now."""

from egm.devices.interface import Devices
from egm.integrity.clock_trust import FAULT as CLOCK_FAULT
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.kernel.standing_faults import is_off
from egm.money.host.model import HostMoney
from egm.money.ticket_ledger import tickets_may_move
from egm.money.ticket_terms import ticket_terms
from egm.records.keys import IntegrityKey, MoneyKey
from egm.tickets.desk import TicketDesk


def has_credit(machine: Machine, _: Event) -> bool:
    """There is something to pay: restricted credit is not."""
    return machine.cash_cents > 0


def restricted_may_leave(machine: Machine, _: Event) -> bool:
    """Nothing but restricted credit is left, and it may leave on a ticket of its kind."""
    return (
        machine.cash_cents == 0
        and machine.kind_cents(CreditKind.RESTRICTED) > 0
        and machine.profile.tickets.restricted_out
        and ticket_terms(machine).restricted_out
        and not no_ticket(machine, machine.kind_cents(CreditKind.RESTRICTED))
    )


def ticket_comes_first(machine: Machine, _: Event) -> bool:
    """The profile's first way out that is open is a ticket."""
    return _way(machine) == "ticket"


def coins_come_first(machine: Machine, _: Event) -> bool:
    """The profile's first way out that is open is the hopper."""
    return _way(machine) == "coins"


def _way(machine: Machine) -> str:
    return next((way for way in machine.profile.pay_out.order if _open(machine, way)), "hand")


def _open(machine: Machine, way: str) -> bool:
    """Whether a way out could take what is on the credit meter now."""
    if way == "ticket":
        return not no_ticket(machine, machine.cash_cents)
    if way == "coins":
        return (
            machine.state(Devices).hopper is not None
            and machine.memory.get(MoneyKey.HOPPER) is None
            and not is_off(machine, "hopper")
            and payable_coins(machine) > 0
        )
    return False


def no_ticket(machine: Machine, amount_cents: int) -> str:
    """Why no ticket of so much could be printed now, as a code; empty: it could.

    ``printer`` there is none; ``jam`` and ``paper`` its path or its paper; ``fault`` it has failed
    otherwise; ``busy`` it is at work; ``limit`` a ticket may not be worth so much; ``clock`` a ticket with a
    wrong date may never be money; ``tickets`` this machine prints none now: it is out of service, has no
    host, or its ledger is not to be trusted.
    """
    desk = machine.installed(TicketDesk)
    tickets = machine.profile.tickets
    reasons = {
        "printer": desk is None or machine.state(Devices).printer is None,
        "jam": "ticket_printer.jam" in machine.faults,
        "paper": "ticket_printer.paper_out" in machine.faults,
        "fault": is_off(machine, "ticket_printer"),
        "busy": machine.memory.get(MoneyKey.PRINT) is not None,
        "limit": amount_cents > tickets.limit_cents,
        "clock": not machine.times.is_believed or CLOCK_FAULT in machine.faults,
        "tickets": machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is not None
        or (tickets.central and not machine.state(HostMoney).validation.by_host)
        or (desk is not None and not tickets_may_move(machine)),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def payable_coins(machine: Machine) -> int:
    """Coins the hopper may pay of the credit; 0 where the profile's limit would be passed."""
    coin_cents, limit_coins = machine.profile.coins.hopper_cents, machine.profile.coins.payout_coins_max
    coins = machine.cash_cents // coin_cents if coin_cents else 0
    return coins if coins <= limit_coins else 0
