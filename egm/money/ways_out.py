"""Ways out of the credit meter: ticket, coins or the attendant's hand, and which of them is open now."""

from egm.devices.interface import Devices
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event
from egm.kernel.faults import fault
from egm.kernel.machine import Cabinet
from egm.money.host.model import HostMoney
from egm.money.ticket_ledger import tickets_may_move
from egm.money.ticket_terms import ticket_terms
from egm.records.keys import IntegrityKey, MoneyKey
from egm.tickets.desk import TicketDesk


def has_credit(cabinet: Cabinet, _: Event) -> bool:
    """There is something to pay: restricted credit is not."""
    return cabinet.cash_cents > 0


def restricted_may_leave(cabinet: Cabinet, _: Event) -> bool:
    """Nothing but restricted credit is left, and it may leave on a ticket of its kind."""
    return (
        cabinet.cash_cents == 0
        and cabinet.kind_cents(CreditKind.RESTRICTED) > 0
        and cabinet.profile.tickets.restricted_out
        and ticket_terms(cabinet).restricted_out
        and not no_ticket(cabinet, cabinet.kind_cents(CreditKind.RESTRICTED))
    )


def ticket_comes_first(cabinet: Cabinet, _: Event) -> bool:
    """The profile's first way out that is open is a ticket."""
    return _way(cabinet) == "ticket"


def coins_come_first(cabinet: Cabinet, _: Event) -> bool:
    """The profile's first way out that is open is the hopper."""
    return _way(cabinet) == "coins"


def _way(cabinet: Cabinet) -> str:
    return next((way for way in cabinet.profile.pay_out.order if _open(cabinet, way)), "hand")


def _open(cabinet: Cabinet, way: str) -> bool:
    """Whether a way out could take what is on the credit meter now."""
    if way == "ticket":
        return not no_ticket(cabinet, cabinet.cash_cents)
    if way == "coins":
        return (
            cabinet.state(Devices).hopper is not None
            and cabinet.memory.get(MoneyKey.HOPPER) is None
            and not _has_fault(cabinet, "hopper")
            and payable_coins(cabinet) > 0
        )
    return False


def no_ticket(cabinet: Cabinet, amount_cents: int) -> str:
    """Why no ticket of so much could be printed now, as a code; empty: it could.

    ``printer`` there is none; ``fault`` it has failed; ``busy`` it is at work; ``limit`` a ticket may not be
    worth so much; ``clock`` a ticket with a wrong date may never be money; ``tickets`` this machine prints
    none now: it is out of service, has no host, or its ledger is not to be trusted.
    """
    desk = cabinet.installed(TicketDesk)
    tickets = cabinet.profile.tickets
    reasons = {
        "printer": desk is None or cabinet.state(Devices).printer is None,
        "fault": _has_fault(cabinet, "ticket_printer"),
        "busy": cabinet.memory.get(MoneyKey.PRINT) is not None,
        "limit": amount_cents > tickets.limit_cents,
        "clock": not cabinet.times.is_believed,
        "tickets": cabinet.memory.get(IntegrityKey.OUT_OF_SERVICE) is not None
        or (tickets.central and not cabinet.state(HostMoney).validation.by_host)
        or (desk is not None and not tickets_may_move(cabinet)),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _has_fault(cabinet: Cabinet, kind: str) -> bool:
    return any(code.startswith(f"{kind}.") and fault(code).hampers for code in cabinet.faults)


def payable_coins(cabinet: Cabinet) -> int:
    """Coins the hopper may pay of the credit; 0 where the profile's limit would be passed."""
    coin_cents, limit_coins = cabinet.profile.coins.hopper_cents, cabinet.profile.coins.payout_coins_max
    coins = cabinet.cash_cents // coin_cents if coin_cents else 0
    return coins if coins <= limit_coins else 0
