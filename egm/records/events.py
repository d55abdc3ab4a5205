"""Payloads of the events that several features read: reports of device drivers, and the end of a game's show."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperEscrowed:
    """Base of a bill or ticket that the acceptor holds in escrow; ``escrow`` is the acceptor's number of it."""

    escrow: int

    @property
    def face_cents(self) -> int:
        """Return the amount printed on a bill, in minor units; 0 for a ticket, whose value is not known yet."""
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BillEscrowed(PaperEscrowed):
    """The acceptor holds a bill in escrow."""

    amount_cents: int

    @property
    def face_cents(self) -> int:
        """Return the amount of the bill, in minor units."""
        return self.amount_cents


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketEscrowed(PaperEscrowed):
    """The acceptor holds a ticket in escrow, with the digits of its bar code."""

    digits: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRefused:
    """The acceptor has returned or rejected a bill or ticket, and why; ``ticket`` if it is known to be a ticket."""

    reason: str
    ticket: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintFailure:
    """A ticket was not printed, and why; with ``doubt``, it is unknown whether it was."""

    why: str = ""
    doubt: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinsPaid:
    """The hopper has stopped after paying a number of coins.

    ``doubt``: why it is unknown whether more coins have left; empty if the number is certain.
    """

    paid_coins: int
    doubt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeShown:
    """The outcome of the game with this id has been shown."""

    value: str | None = None
