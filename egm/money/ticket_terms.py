"""What a host has laid down about tickets: which may go in and out, how long they are good, what they say.

A host lays down less than it may: what it has never said stays as the profile and the house have it, and it
can allow nothing that the profile forbids.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from egm.kernel.credits import CreditKind
from egm.kernel.machine import Machine
from egm.money.host.model import HostMoney
from egm.record_codec import from_json, to_json
from egm.records.keys import MoneyKey
from egm.tickets.model import House
from meters.transaction import JSON

#: So many days are for ever.
NEVER_DAYS: Final = 9999


@dataclass(frozen=True, slots=True)
class TicketTerms:
    """Empty texts, and zero days, are the machine's own."""

    restricted_out: bool = True
    redemption: bool = True
    cashable_days: int = 0
    restricted_days: int = 0
    location: str = ""
    address1: str = ""
    address2: str = ""
    said: tuple[str, ...] = ()
    """Which of these a message of the newer kind has laid down: the older kind may not change them."""

    def changed(self, changes: Mapping[str, JSON], *, outranked: bool) -> Self:
        """These with some laid down anew; ``outranked`` ones give way to what was laid down before."""
        now = to_json(self)
        if outranked:
            now |= {name: value for name, value in changes.items() if name not in self.said}
        else:
            now |= {**changes, "said": sorted({*self.said, *changes})}
        return from_json(type(self), now, "the terms of tickets")

    def valid_days(self, kind: CreditKind, own: int | None) -> int | None:
        """For how many days a ticket is good; None for ever."""
        days = self.restricted_days if kind is CreditKind.RESTRICTED else self.cashable_days
        if not days:
            return own
        return None if days == NEVER_DAYS else days

    def house(self, own: House) -> House:
        """The house as tickets name it."""
        address = " ".join(part for part in (self.address1, self.address2) if part)
        return replace(own, site=self.location or own.site, address=address or own.address)


def ticket_terms(machine: Machine) -> TicketTerms:
    """What the host has laid down about tickets; nothing where no host validates them any more."""
    if not machine.state(HostMoney).validation.by_host:
        return TicketTerms()
    return machine.memory.read(TicketTerms, MoneyKey.TICKET_TERMS) or TicketTerms()
