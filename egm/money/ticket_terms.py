"""What a host has laid down about tickets: which may go in and out, how long they are good, what they say.

A host lays down less than it may: what it has never said stays as the profile and the house have it, and it
can allow nothing that the profile forbids.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Self

from egm.kernel.credits import CreditKind
from egm.kernel.machine import Cabinet
from egm.records.keys import MoneyKey
from egm.tickets.model import House

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

    @classmethod
    def from_json(cls, kept: Mapping[str, Any] | None) -> Self:
        """As the journal keeps them; without, the machine's own."""
        return cls() if kept is None else cls(**{**kept, "said": tuple(kept["said"])})

    def to_json(self) -> dict[str, Any]:
        """For the journal."""
        return {**asdict(self), "said": list(self.said)}

    def changed(self, changes: Mapping[str, Any], *, outranked: bool) -> Self:
        """These with some laid down anew; ``outranked`` ones give way to what was laid down before."""
        if outranked:
            return replace(self, **{name: value for name, value in changes.items() if name not in self.said})
        return replace(self, **changes, said=tuple(sorted({*self.said, *changes})))

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


def ticket_terms(cabinet: Cabinet) -> TicketTerms:
    """What the host has laid down about tickets."""
    return TicketTerms.from_json(cabinet.memory.get(MoneyKey.TICKET_TERMS))
