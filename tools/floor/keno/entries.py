"""The journal entries of a Keno office: the record and the kind of each.

The field ``at`` of a record is the local time of the action, in ISO 8601.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from egm.record_codec import stored_as


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficeOpened:
    """The office was opened for one game."""

    source: str
    """The library id or file of the game."""
    game_id: str = field(metadata=stored_as("game"))
    version: str
    digest: str
    casino: str
    claim_place: str
    """The place where winning tickets are claimed, as printed on tickets."""
    unit_cents: int
    """The value of one credit, in minor units."""
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSold:
    """A ticket was recorded; its stake may not be paid yet. The entry stores selections, draws and control number."""

    recorded_at: str = field(metadata=stored_as("at"))
    number: int
    station: str
    """The sales station at which the ticket was sold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketPaid:
    """The player has paid the stake of a recorded ticket."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketCancelled:
    """A ticket was cancelled before its first draw; its stake was given back."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SalesClosed:
    """The sales of tickets for a draw were closed."""

    draw: int
    """The number of the draw."""
    tickets: tuple[int, ...]
    """The numbers of the tickets for the draw, including those that became void."""
    void_tickets: tuple[int, ...] = field(metadata=stored_as("void"))
    """The numbers of the tickets that became void because their price was not paid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawHeld:
    """A draw was held."""

    recorded_at: str = field(metadata=stored_as("at"))
    draw: int
    balls: tuple[int, ...]
    """The drawn numbers in order."""
    factors: Mapping[str, int]
    """The drawn multiplication factor of each bonus, by the bonus's id."""
    draws: tuple[tuple[int, int, str], ...]
    """The random numbers as (bound, value, purpose)."""
    prizes: Mapping[str, int]
    """The prize of each winning ticket in credits, by ticket number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawFailed:
    """A draw could not be held; its stakes are to be returned to the holders of the tickets."""

    recorded_at: str = field(metadata=stored_as("at"))
    draw: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketClaimed:
    """The holder of a ticket presented it and was paid for the draws listed."""

    recorded_at: str = field(metadata=stored_as("at"))
    number: int
    draws: tuple[int, ...]
    """The numbers of the draws for which the ticket was paid."""
    claim_place: str = field(metadata=stored_as("place"))
    """The place where the ticket was claimed."""
    condition: str
    """The condition of the ticket's paper, such as intact or illegible."""
    differing_values: tuple[str, ...] = field(metadata=stored_as("differs"))
    """The names of the data on the paper that differed from the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketExpired:
    """A ticket was closed because its claim period was over or it was void; its record was removed."""

    recorded_at: str = field(metadata=stored_as("at"))
    number: int
    unclaimed_credits: int


#: The kind of the entry with each record.
KIND_BY_RECORD_CLASS: Final[Mapping[type, str]] = {
    OfficeOpened: "keno.opened",
    TicketSold: "keno.sold",
    TicketPaid: "keno.paid",
    TicketCancelled: "keno.cancelled",
    SalesClosed: "keno.sales_closed",
    DrawHeld: "keno.drawn",
    DrawFailed: "keno.draw_failed",
    TicketClaimed: "keno.claimed",
    TicketExpired: "keno.expired",
}
