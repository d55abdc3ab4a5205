"""The terms of the restricted credit on the meter: its expiry date and the host's pool to which it belongs."""

from datetime import date

from egm.kernel.credits import CreditKind
from egm.kernel.machine import PositionMachine
from egm.money.keys import MoneyKey
from egm.money.records.host import RestrictedTerms


def find_restricted_terms(machine: PositionMachine) -> RestrictedTerms | None:
    """Return the expiry date and the host's pool of the restricted credit on the meter, or None if none are stored."""
    if not machine.read_credit_cents(CreditKind.RESTRICTED):
        return None
    return machine.memory.read(RestrictedTerms, MoneyKey.RESTRICTED_CREDIT_TERMS)


def is_restricted_credit_expired(machine: PositionMachine, terms: RestrictedTerms) -> bool:
    """Return whether the expiry date of restricted credit has passed; False while the clock is not trusted."""
    can_expire = machine.timekeeper.is_clock_trusted and bool(terms.expiry_date)
    return can_expire and date.fromisoformat(terms.expiry_date) < machine.local_date
