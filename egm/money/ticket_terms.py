"""The terms of tickets that a host sets: which kinds may be printed and accepted, their validity, the printed venue.

A host may set only some of the terms; the others stay as in the profile and the cabinet file. It cannot allow anything
that the profile forbids.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from egm.kernel.credits import CreditKind
from egm.kernel.machine import PositionMachine
from egm.money.host_money import HostMoney
from egm.money.keys import MoneyKey
from egm.record_codec import from_json, stored_as, to_json
from egm.tickets.model import Venue
from meters.transaction import JSON

#: A validity of this many days means that the ticket never expires.
NEVER_EXPIRES_DAYS: Final = 9999


@dataclass(frozen=True, slots=True)
class HostTicketTerms:
    """What the host has set for tickets: which kinds are printed and accepted, their validity, the printed venue.

    If a text is empty or a number of days is zero, the machine's own value applies.
    """

    may_print_restricted: bool = field(default=True, metadata=stored_as("restricted_out"))
    """Whether restricted credit may be printed on tickets."""
    are_tickets_accepted: bool = field(default=True, metadata=stored_as("redemption"))
    """Whether tickets are accepted."""
    cashable_validity_days: int = field(default=0, metadata=stored_as("cashable_days"))
    """The validity of tickets of cashable credit, in days."""
    restricted_validity_days: int = field(default=0, metadata=stored_as("restricted_days"))
    """The validity of tickets of restricted credit, in days."""
    venue_name: str = field(default="", metadata=stored_as("location"))
    """The venue's name as printed on tickets."""
    address_line_1: str = field(default="", metadata=stored_as("address1"))
    """The first line of the printed address."""
    address_line_2: str = field(default="", metadata=stored_as("address2"))
    """The second line of the printed address."""
    protected_terms: tuple[str, ...] = field(default=(), metadata=stored_as("said"))
    """The stored keys of the fields set by the newer host messages (SAS 7B, 7C), which 7D does not change."""

    def with_changes(self, changes: Mapping[str, JSON], *, comes_from_older_message_type: bool) -> Self:
        """Return a copy with a host's changes applied; ``changes`` has values by the stored keys of the fields.

        ``comes_from_older_message_type``: the changes come from the older host message (SAS 7D), which does not change
        fields set by the newer ones (7B, 7C).
        """
        terms = to_json(self)
        if comes_from_older_message_type:
            terms |= {name: value for name, value in changes.items() if name not in self.protected_terms}
        else:
            # "said" is the stored key of ``protected_terms``.
            terms |= {**changes, "said": sorted({*self.protected_terms, *changes})}
        return from_json(type(self), terms, "the terms of tickets")

    def find_validity_days(self, credit_kind: CreditKind, own_validity_days: int | None) -> int | None:
        """Return the number of days for which a ticket of a kind of credit is valid, or None if it never expires.

        ``own_validity_days`` is the machine's own value, which applies if the host has set none.
        """
        days = (
            self.restricted_validity_days
            if credit_kind is CreditKind.RESTRICTED
            else self.cashable_validity_days
        )
        if not days:
            return own_validity_days
        return None if days == NEVER_EXPIRES_DAYS else days

    def find_venue(self, own_venue: Venue) -> Venue:
        """Return the venue to be printed on tickets: the host's name and address if set, else the machine's own."""
        address = " ".join(part for part in (self.address_line_1, self.address_line_2) if part)
        return replace(
            own_venue, site=self.venue_name or own_venue.site, address=address or own_venue.address
        )


def find_ticket_terms(machine: PositionMachine) -> HostTicketTerms:
    """Return what the host has set for tickets; the defaults if it has set nothing or no longer validates tickets."""
    if not machine.component(HostMoney).ticket_validator.is_host:
        return HostTicketTerms()
    return machine.memory.read(HostTicketTerms, MoneyKey.TICKET_TERMS) or HostTicketTerms()
