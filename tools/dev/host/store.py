"""The host's own ledger: the tickets it knows and the transfers it ordered, in one SQLite file.

What the host will do is written down before it is said on the line, so that a host that is killed knows
afterwards what it may have said. Amounts are whole cents.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

from egm.errors import OperatorError

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS tickets (
    number TEXT PRIMARY KEY, kind TEXT NOT NULL, amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    state TEXT NOT NULL, machine TEXT NOT NULL, made_at TEXT NOT NULL, redeemed_at TEXT, redeemed_by TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS transfers (
    id TEXT PRIMARY KEY, machine TEXT NOT NULL, type INTEGER NOT NULL, state TEXT NOT NULL, status INTEGER,
    cashable_cents INTEGER NOT NULL, restricted_cents INTEGER NOT NULL, nonrestricted_cents INTEGER NOT NULL,
    made_at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS records (
    machine TEXT NOT NULL, number TEXT NOT NULL, type INTEGER NOT NULL, amount_cents INTEGER NOT NULL,
    stamp TEXT NOT NULL, ticket_number INTEGER NOT NULL, PRIMARY KEY (machine, number, type)
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
    redeemed_by: str = ""


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
    """One transfer: what was ordered, or once done, what moved. ``status`` is the machine's last word."""

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

    def __init__(self, database: sqlite3.Connection, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    @classmethod
    @contextmanager
    def open(cls, path: Path, now: Callable[[], datetime]) -> Iterator[Self]:
        """Open or make the ledger at ``path``. Raises :class:`StoreError`."""
        try:
            database = sqlite3.connect(path, isolation_level=None)
            database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + _SCHEMA)
        except sqlite3.Error as error:
            raise StoreError(f"host ledger {path}: {error}") from error
        try:
            yield cls(database, now)
        finally:
            database.close()

    # ---------------------------------------------------------------- tickets
    def assign(self, number: str, kind: Kind, amount_cents: int, machine: str) -> bool:
        """Keep a new number for a cash-out; false where the number is taken already."""
        done = self._database.execute(
            "INSERT OR IGNORE INTO tickets VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)",
            (number, kind, amount_cents, TicketState.ASSIGNED, machine, self._stamp()),
        )
        return done.rowcount == 1

    def void(self, number: str) -> None:
        """Void an assigned number that the machine did not accept: it will never be valid."""
        self._move(number, TicketState.ASSIGNED, TicketState.VOID)

    def record(
        self, machine: str, number: str, kind: int, amount_cents: int, stamp: str, ticket_number: int
    ) -> bool:
        """Keep a machine's validation record (``kind`` is its code); false where it was known already."""
        done = self._database.execute(
            "INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?, ?)",
            (machine, number, kind, amount_cents, stamp, ticket_number),
        )
        return done.rowcount == 1

    def issue(self, number: str, kind: Kind, amount_cents: int, machine: str) -> Ticket:
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
        if ticket.state is TicketState.VOID:  # it was taken after all
            self._move(number, TicketState.VOID, TicketState.ISSUED)
        else:
            self._move(number, TicketState.ASSIGNED, TicketState.ISSUED)
        return self._known(number)

    def begin_redemption(self, number: str, machine: str) -> Ticket:
        """Hold a ticket for one machine before telling it that the ticket is good. Raises StoreError."""
        done = self._database.execute(
            "UPDATE tickets SET state = ?, redeemed_by = ? WHERE number = ? AND "
            "(state = ? OR (state = ? AND redeemed_by = ?))",
            (TicketState.REDEEMING, machine, number, TicketState.ISSUED, TicketState.REDEEMING, machine),
        )
        if done.rowcount != 1:
            raise StoreError(f"ticket {number}: cannot be redeemed by {machine}")
        return self._known(number)

    def redeemed(self, number: str, machine: str) -> None:
        """Record that the machine has stacked and credited the ticket."""
        done = self._database.execute(
            "UPDATE tickets SET state = ?, redeemed_at = ? "
            "WHERE number = ? AND state = ? AND redeemed_by = ?",
            (TicketState.REDEEMED, self._stamp(), number, TicketState.REDEEMING, machine),
        )
        ticket = self._known(number)
        if done.rowcount != 1 and (ticket.state, ticket.redeemed_by) != (TicketState.REDEEMED, machine):
            raise StoreError(f"ticket {number}: {machine} credited it, but it is {ticket.state}")

    def release(self, number: str, machine: str) -> None:
        """Record that the machine returned the ticket: it is valid again."""
        self._database.execute(
            "UPDATE tickets SET state = ?, redeemed_by = NULL "
            "WHERE number = ? AND state = ? AND redeemed_by = ?",
            (TicketState.ISSUED, number, TicketState.REDEEMING, machine),
        )

    def ticket(self, number: str) -> Ticket | None:
        """Return the ticket with this number, or None."""
        return next(self._tickets("number = ?", (number,)), None)

    def tickets(self) -> tuple[Ticket, ...]:
        """All of them, the oldest first."""
        return tuple(self._tickets("true", ()))

    def redeeming(self, machine: str) -> tuple[Ticket, ...]:
        """Return the tickets that a machine has approval for and has not reported on."""
        return tuple(self._tickets("state = ? AND redeemed_by = ?", (TicketState.REDEEMING, machine)))

    # ---------------------------------------------------------------- transfers
    def offer(self, machine: str, type_: int, amounts: Amounts) -> Transfer:
        """Keep a transfer that is about to be ordered, under a transaction id never used before."""
        with self._transaction():
            (count,) = self._database.execute("SELECT count(*) FROM transfers").fetchone()
            transfer = Transfer(f"{count + 1:08d}", machine, type_, TransferState.OFFERED, None, amounts)
            self._database.execute(
                "INSERT INTO transfers VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?)",
                (
                    transfer.id,
                    machine,
                    type_,
                    transfer.state,
                    amounts.cashable_cents,
                    amounts.restricted_cents,
                    amounts.nonrestricted_cents,
                    self._stamp(),
                ),
            )
        return transfer

    def close_transfer(self, id_: str, state: TransferState, status: int | None, moved: Amounts) -> None:
        """Record the final state of a transfer. Repeats change nothing. Raises StoreError."""
        done = self._database.execute(
            "UPDATE transfers SET state = ?, status = ?, cashable_cents = ?, restricted_cents = ?, "
            "nonrestricted_cents = ? WHERE id = ? AND state = ?",
            (
                state,
                status,
                moved.cashable_cents,
                moved.restricted_cents,
                moved.nonrestricted_cents,
                id_,
                TransferState.OFFERED,
            ),
        )
        known = next(self._transfers("id = ?", (id_,)), None)
        if done.rowcount != 1 and (known is None or (known.state, known.amounts) != (state, moved)):
            raise StoreError(f"transfer {id_}: reported as {state} with {moved}, but known as {known}")

    def transfers(self) -> tuple[Transfer, ...]:
        """All of them, the oldest first."""
        return tuple(self._transfers("true", ()))

    def open_transfers(self, machine: str) -> tuple[Transfer, ...]:
        """Return the transfers that a machine may have received and has not reported on."""
        return tuple(self._transfers("state = ? AND machine = ?", (TransferState.OFFERED, machine)))

    # ---------------------------------------------------------------- facts
    def fact(self, name: str, make: Callable[[], str]) -> str:
        """Return a stored value, created on first use: a registration key, a validation ID."""
        self._database.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (name, make()))
        (value,) = self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return str(value)

    # ---------------------------------------------------------------- inside
    def _stamp(self) -> str:
        return self._now().isoformat(timespec="seconds")

    def _move(self, number: str, old: TicketState, new: TicketState) -> None:
        self._database.execute(
            "UPDATE tickets SET state = ? WHERE number = ? AND state = ?", (new, number, old)
        )

    def _known(self, number: str) -> Ticket:
        ticket = self.ticket(number)
        if ticket is None:
            raise StoreError(f"ticket {number}: not known here")
        return ticket

    def _tickets(self, where: str, values: tuple[str, ...]) -> Iterator[Ticket]:
        columns = "number, kind, amount_cents, state, machine, redeemed_by"
        rows = self._database.execute(
            f"SELECT {columns} FROM tickets WHERE {where} ORDER BY rowid",  # noqa: S608 (our own words)
            values,
        )
        for number, kind, cents, state, machine, by in rows:
            yield Ticket(number, Kind(kind), cents, TicketState(state), machine, by or "")

    def _transfers(self, where: str, values: tuple[str, ...]) -> Iterator[Transfer]:
        columns = "id, machine, type, state, status, cashable_cents, restricted_cents, nonrestricted_cents"
        rows = self._database.execute(
            f"SELECT {columns} FROM transfers WHERE {where} ORDER BY rowid",  # noqa: S608 (our own words)
            values,
        )
        for id_, machine, type_, state, status, *cents in rows:
            yield Transfer(id_, machine, type_, TransferState(state), status, Amounts(*cents))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")
