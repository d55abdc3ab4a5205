"""The entries of a Keno office's journal: the fields of each, and its kind. ``at`` is the local time, in ISO 8601."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficeOpened:
    """The office was opened for one game; ``source`` is the library id or file from which the game is loaded."""

    source: str
    game: str
    version: str
    digest: str
    casino: str
    claim_place: str
    unit_cents: int
    """The value of one credit, in minor units."""
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSold:
    """A ticket was recorded; the entry's state has its selections, draws and control number."""

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
    """The sales for a draw were closed; unpaid tickets of the draw became void (``void``)."""

    draw: int
    tickets: tuple[int, ...]
    void: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawHeld:
    """A draw was held: the balls in order, the random numbers (bound, value, purpose), prizes in credits by ticket."""

    at: str
    draw: int
    balls: tuple[int, ...]
    factors: Mapping[str, int]
    draws: tuple[tuple[int, int, str], ...]
    prizes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawFailed:
    """A draw could not be held; its stakes are owed to the holders of the tickets."""

    at: str
    draw: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketClaimed:
    """A ticket was paid for these draws; ``differs`` names the data on the paper that differed from the record."""

    at: str
    number: int
    draws: tuple[int, ...]
    place: str
    condition: str
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketExpired:
    """A ticket was closed because its claim period was over or it was void; its record was removed from the state."""

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
