"""Payout methods: ticket, coins or hand-pay, and which of them is available now."""

from egm.devices.interface import MoneyDevices
from egm.integrity.clock_trust import CLOCK_DOUBTED_FAULT
from egm.integrity.keys import IntegrityKey
from egm.kernel.active_faults import is_device_disabled_by_fault
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import refusal_code
from egm.money.host_money import HostMoney
from egm.money.keys import MoneyKey
from egm.money.ticket_ledger import are_tickets_available
from egm.money.ticket_terms import find_ticket_terms
from egm.tickets.desk import TicketDesk


@refusal_code("has_credit")
def has_cashable_credit(machine: PositionMachine, _: Event) -> bool:
    """Return whether there is credit to cash out; restricted credit does not count."""
    return machine.cashable_cents > 0


@refusal_code("restricted_may_leave")
def restricted_credit_may_leave_on_ticket(machine: PositionMachine, _: Event) -> bool:
    """Return whether only restricted credit is left and it may leave on a restricted ticket."""
    return (
        machine.cashable_cents == 0
        and machine.read_credit_cents(CreditKind.RESTRICTED) > 0
        and machine.profile.tickets.pays_out_restricted_credit
        and find_ticket_terms(machine).may_print_restricted
        and not find_reason_ticket_is_unavailable(machine, machine.read_credit_cents(CreditKind.RESTRICTED))
    )


def ticket_comes_first(machine: PositionMachine, _: Event) -> bool:
    """Return whether a ticket is the payout method to use: the first available one in the profile's order."""
    return _choose_payout_method(machine) == "ticket"


def coins_come_first(machine: PositionMachine, _: Event) -> bool:
    """Return whether coins are the payout method to use: the first available one in the profile's order."""
    return _choose_payout_method(machine) == "coins"


def _choose_payout_method(machine: PositionMachine) -> str:
    """Return the first payout method that is available now, in the profile's order: ticket, coins or ``hand``."""
    return next(
        (
            method
            for method in machine.profile.pay_out.payout_methods
            if _is_payout_method_available(machine, method)
        ),
        "hand",
    )


def _is_payout_method_available(machine: PositionMachine, payout_method: str) -> bool:
    """Return whether ``ticket`` or ``coins`` could pay the player's cashable credit now; False for other methods."""
    if payout_method == "ticket":
        return not find_reason_ticket_is_unavailable(machine, machine.cashable_cents)
    if payout_method == "coins":
        return (
            machine.component(MoneyDevices).hopper is not None
            and machine.memory.get(MoneyKey.HOPPER_PAYOUT) is None
            and not is_device_disabled_by_fault(machine, "hopper")
            and count_payable_coins(machine) > 0
        )
    return False


def find_reason_ticket_is_unavailable(machine: PositionMachine, amount_cents: int) -> str:
    """Return the code of the reason why no ticket of this amount could be printed now; empty if one could.

    ``printer``: there is no printer; ``jam`` and ``paper``: a paper jam, or no paper; ``fault``: another
    printer failure; ``busy``: the printer is printing; ``limit``: the amount is above the ticket limit;
    ``clock``: the date is not trusted, and a ticket with a wrong date may be worthless; ``tickets``: this
    machine issues none now, because it is out of service, lacks the host that the profile requires, or has no
    trusted ticket ledger.
    """
    desk = machine.find_installed(TicketDesk)
    ticket_rules = machine.profile.tickets
    is_met_by_reason = {
        "printer": desk is None or machine.component(MoneyDevices).printer is None,
        "jam": "ticket_printer.jam" in machine.active_faults,
        "paper": "ticket_printer.paper_out" in machine.active_faults,
        "fault": is_device_disabled_by_fault(machine, "ticket_printer"),
        "busy": machine.memory.get(MoneyKey.PRINT_JOB) is not None,
        "limit": amount_cents > ticket_rules.ticket_max_cents,
        "clock": not machine.timekeeper.is_clock_trusted or CLOCK_DOUBTED_FAULT in machine.active_faults,
        "tickets": machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is not None
        or (
            ticket_rules.requires_central_system and not machine.component(HostMoney).ticket_validator.is_host
        )
        or (desk is not None and not are_tickets_available(machine)),
    }
    return next((reason for reason, is_met in is_met_by_reason.items() if is_met), "")


def count_payable_coins(machine: PositionMachine) -> int:
    """Return how many coins the hopper may pay for the credit; 0 if that is more than the profile allows."""
    coin_cents, coins_max = machine.profile.coins.hopper_coin_cents, machine.profile.coins.payout_coins_max
    coin_count = machine.cashable_cents // coin_cents if coin_cents else 0
    return coin_count if coin_count <= coins_max else 0
