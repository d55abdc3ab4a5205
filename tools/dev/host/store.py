"""The host's own ledger: the tickets it knows and the transfers it ordered, in one SQLite file.

What the host will do is written down before it is said on the line, so that a host that is killed knows
afterwards what it may have said. Amounts are whole cents.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

from egm.errors import OperatorError

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS tickets (
    number TEXT PRIMARY KEY, kind TEXT NOT NULL, amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    state TEXT NOT NULL, machine TEXT NOT NULL, redeemed_by TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE IF NOT EXISTS transfers (
    id TEXT PRIMARY KEY, machine TEXT NOT NULL, type INTEGER NOT NULL, state TEXT NOT NULL, status INTEGER,
    cashable_cents INTEGER NOT NULL, restricted_cents INTEGER NOT NULL, nonrestricted_cents INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
"""


class StoreError(OperatorError):
    """The host's ledger cannot do what was asked: which ticket or transfer, and why."""


class Kind(StrEnum):
    """Kind of credit on a ticket."""

    CASHABLE = "cashable"
    RESTRICTED = "restricted"
    NONRESTRICTED = "nonrestricted"


class TicketState(StrEnum):
    """State of a ticket."""

    ASSIGNED = "assigned"
    """A number was made for a machine; whether paper carries it is not known yet."""
    ISSUED = "issued"
    """The machine has reported it as printed."""
    REDEEMING = "redeeming"
    """A machine was told that the ticket is valid, and has not yet reported the result."""
    REDEEMED = "redeemed"
    VOID = "void"


class TransferState(StrEnum):
    """State of a transfer."""

    OFFERED = "offered"
    """Sent, or about to be: the machine may know of it."""
    DONE = "done"
    REFUSED = "refused"
    """The machine has not moved anything, and will not."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One ticket: an 18-digit validation number, and what it is worth."""

    number: str
    kind: Kind
    amount_cents: int
    state: TicketState
    machine: str
    redeemed_by: str


@dataclass(frozen=True, slots=True)
class Amounts:
    """Cents of each kind of credit."""

    cashable_cents: int = 0
    restricted_cents: int = 0
    nonrestricted_cents: int = 0

    @property
    def total_cents(self) -> int:
        """All of them."""
        return self.cashable_cents + self.restricted_cents + self.nonrestricted_cents


@dataclass(frozen=True, slots=True)
class Transfer:
    """One transfer: what was ordered, or once done, what moved. ``status`` is the last the machine reported."""

    id: str
    machine: str
    type: int
    state: TransferState
    status: int | None
    amounts: Amounts

    @property
    def to_machine(self) -> bool:
        """Return whether the money goes to the machine."""
        return self.type < 0x80


class Store:
    """Open with :meth:`open`; every method is one durable transaction. Used from one thread."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Self]:
        """Open or make the ledger at ``path``. Raises :class:`StoreError`."""
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            try:
                database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + _SCHEMA)
            except sqlite3.Error as error:
                raise StoreError(f"host ledger {path}: {error}") from error
            yield cls(database)

    # ---------------------------------------------------------------- tickets
    def assign(self, number: str, kind: Kind, amount_cents: int, machine: str) -> bool:
        """Keep a new number for a cash-out; false if the number is taken already."""
        return self._changes(
            "INSERT OR IGNORE INTO tickets VALUES (?, ?, ?, ?, ?, '')",
            (number, kind, amount_cents, TicketState.ASSIGNED, machine),
        )

    def void(self, number: str) -> None:
        """Void an assigned number that the machine did not accept: it will never be valid."""
        self._move(number, TicketState.ASSIGNED, TicketState.VOID)

    def issue(self, number: str, kind: Kind, amount_cents: int, machine: str) -> None:
        """Record a ticket reported as printed, with its own or an assigned number. Repeats change nothing.

        Raises :class:`StoreError` if the report contradicts what was assigned.
        """
        self.assign(number, kind, amount_cents, machine)
        ticket = self._known(number)
        if (ticket.kind, ticket.amount_cents, ticket.machine) != (kind, amount_cents, machine):
            raise StoreError(
                f"ticket {number}: {machine} printed {amount_cents} cents {kind}, "
                f"assigned were {ticket.amount_cents} cents {ticket.kind} to {ticket.machine}"
            )
        for state in (TicketState.VOID, TicketState.ASSIGNED):  # a void number was taken after all
            self._move(number, state, TicketState.ISSUED)

    def begin_redemption(self, number: str, machine: str) -> None:
        """Hold a ticket for one machine before telling it that the ticket is good. Raises StoreError."""
        begun = self._move(number, TicketState.ISSUED, TicketState.REDEEMING, by=machine)
        if not begun and not self._is(number, TicketState.REDEEMING, machine):
            raise StoreError(f"ticket {number}: cannot be redeemed by {machine}")

    def redeemed(self, number: str, machine: str) -> None:
        """Record that the machine has stacked and credited the ticket."""
        if self._is(number, TicketState.REDEEMING, machine):
            self._move(number, TicketState.REDEEMING, TicketState.REDEEMED, by=machine)
        elif not self._is(number, TicketState.REDEEMED, machine):
            raise StoreError(f"ticket {number}: {machine} credited it, but it is {self._known(number).state}")

    def release(self, number: str, machine: str) -> None:
        """Record that the machine returned the ticket: it is valid again."""
        if self._is(number, TicketState.REDEEMING, machine):
            self._move(number, TicketState.REDEEMING, TicketState.ISSUED)

    def ticket(self, number: str) -> Ticket | None:
        """Return the ticket with this number, or None."""
        return next((ticket for ticket in self.tickets() if ticket.number == number), None)

    def tickets(self) -> tuple[Ticket, ...]:
        """All of them, the oldest first."""
        rows = self._database.execute("SELECT * FROM tickets ORDER BY rowid")
        return tuple(
            Ticket(number, Kind(kind), cents, TicketState(state), machine, by)
            for number, kind, cents, state, machine, by in rows
        )

    def redeeming(self, machine: str) -> tuple[Ticket, ...]:
        """Return the tickets that a machine has approval for and has not reported on."""
        return tuple(
            ticket
            for ticket in self.tickets()
            if (ticket.state, ticket.redeemed_by) == (TicketState.REDEEMING, machine)
        )

    # ---------------------------------------------------------------- transfers
    def offer(self, machine: str, type_: int, amounts: Amounts) -> Transfer:
        """Keep a transfer that is about to be ordered, under a transaction id never used before."""
        id_ = f"{len(self.transfers()) + 1:08d}"
        self._database.execute(
            "INSERT INTO transfers VALUES (?, ?, ?, ?, NULL, ?, ?, ?)",
            (id_, machine, type_, TransferState.OFFERED, *astuple(amounts)),
        )
        return Transfer(id_, machine, type_, TransferState.OFFERED, None, amounts)

    def close_transfer(self, id_: str, state: TransferState, status: int | None, moved: Amounts) -> None:
        """Record the final state of a transfer. Repeats change nothing. Raises StoreError."""
        closed = self._changes(
            "UPDATE transfers SET state = ?, status = ?, cashable_cents = ?, restricted_cents = ?, "
            "nonrestricted_cents = ? WHERE id = ? AND state = ?",
            (state, status, *astuple(moved), id_, TransferState.OFFERED),
        )
        known = next((transfer for transfer in self.transfers() if transfer.id == id_), None)
        if not closed and (known is None or (known.state, known.amounts) != (state, moved)):
            raise StoreError(f"transfer {id_}: reported as {state} with {moved}, but known as {known}")

    def transfers(self) -> tuple[Transfer, ...]:
        """All of them, the oldest first."""
        return tuple(
            Transfer(id_, machine, type_, TransferState(state), status, Amounts(*cents))
            for id_, machine, type_, state, status, *cents in self._database.execute(
                "SELECT * FROM transfers ORDER BY rowid"
            )
        )

    def open_transfers(self, machine: str) -> tuple[Transfer, ...]:
        """Return the transfers that a machine may have received and has not reported on."""
        return tuple(
            transfer
            for transfer in self.transfers()
            if (transfer.machine, transfer.state) == (machine, TransferState.OFFERED)
        )

    # ---------------------------------------------------------------- facts
    def fact(self, name: str, make: Callable[[], str]) -> str:
        """Return a stored value, created on first use: a registration key, a validation ID."""
        self._database.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (name, make()))
        (value,) = self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return str(value)

    # ---------------------------------------------------------------- inside
    def _changes(self, sql: str, values: tuple[object, ...]) -> bool:
        return self._database.execute(sql, values).rowcount == 1

    def _move(self, number: str, old: TicketState, new: TicketState, by: str = "") -> bool:
        return self._changes(
            "UPDATE tickets SET state = ?, redeemed_by = ? WHERE number = ? AND state = ?",
            (new, by, number, old),
        )

    def _is(self, number: str, state: TicketState, machine: str) -> bool:
        ticket = self.ticket(number)
        return ticket is not None and (ticket.state, ticket.redeemed_by) == (state, machine)

    def _known(self, number: str) -> Ticket:
        ticket = self.ticket(number)
        if ticket is None:
            raise StoreError(f"ticket {number}: not known here")
        return ticket
