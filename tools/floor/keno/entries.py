"""The entries of a Keno office's journal: the fields of each, and its kind. ``at`` is the local time, in ISO 8601."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficeOpened:
    """The office was opened for one game; ``source`` is what the game is loaded by."""

    source: str
    game: str
    version: str
    digest: str
    casino: str
    claim_place: str
    unit_cents: int
    """The worth of a credit, in minor units."""
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSold:
    """A ticket was recorded; its selections, draws and control number are in the state of the entry."""

    at: str
    number: int
    station: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketPaid:
    """A recorded ticket was paid for."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketCancelled:
    """A ticket was cancelled before its first draw; its stake was given back."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SalesClosed:
    """The sales for a draw were closed for these tickets; those in ``void`` were not paid for."""

    draw: int
    tickets: tuple[int, ...]
    void: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawHeld:
    """A draw was held: the balls in order, each number drawn with its bound and purpose, and the prizes in credits."""

    at: str
    draw: int
    balls: tuple[int, ...]
    factors: Mapping[str, int]
    draws: tuple[tuple[int, int, str], ...]
    prizes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawFailed:
    """A draw could not be held; its stakes are owed to the holders."""

    at: str
    draw: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketClaimed:
    """A ticket was paid for these draws; ``differs`` names where its paper differed from the record."""

    at: str
    number: int
    draws: tuple[int, ...]
    place: str
    condition: str
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketExpired:
    """A ticket's claim period was over, or the ticket was void; its record was removed from the state."""

    at: str
    number: int
    unclaimed_credits: int


#: The kind of the entry with each record.
KINDS: Final[Mapping[type, str]] = {
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
