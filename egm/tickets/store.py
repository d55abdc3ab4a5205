"""The ticket ledger: every ticket a machine or bank of machines has issued, and all that became of it.

For machines that stand alone there is no host to say what is owed; this file says it. It is SQLite in WAL
mode with ``synchronous=FULL``: a method that changes something **returns only when the change is durable**,
and a power cut leaves the whole change or none of it. Several processes of one computer may share it.

A ticket is a number and its *moves*, in order. Both tables only grow (triggers refuse anything else), the
state of a ticket is that of its last move, and (number, step) is unique: of two redeemers who both saw the
ticket issued, the medium itself refuses the second. Every move carries a digest over the move before it,
checked at each read; it finds damage, not an adversary who rewrites the whole file (for that, the machine's
journal names every ticket too).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from egm.errors import OperatorError
from egm.tickets.errors import TicketLedgerDamaged, TicketLedgerUnwritable, TicketOrderError
from egm.tickets.model import Ticket, TicketKind, TicketState, mask
from egm.tickets.record import LIFE, Action, Enrolment, Move, Record, Sum
from meters import JournalUnwritable
from meters.storage import Database, DiskStorage, MediumError, Storage

#: The ledger's folder inside a machine's state folder, unless a bank of machines shares one elsewhere.
FOLDER: Final = "tickets"
FILE_NAME: Final = "tickets.sqlite"
_FORMAT: Final = 1
#: How long one process waits for another's transaction (a few durable writes).
_BUSY_MS: Final = 10_000

_SCHEMA: Final = (
    """CREATE TABLE tickets (
         number TEXT PRIMARY KEY,
         issue_id TEXT NOT NULL UNIQUE,
         machine_serial TEXT NOT NULL,
         sequence INTEGER NOT NULL,
         UNIQUE (machine_serial, sequence)
       ) STRICT""",
    """CREATE TABLE moves (
         place INTEGER PRIMARY KEY,
         number TEXT NOT NULL REFERENCES tickets (number),
         step INTEGER NOT NULL,
         action TEXT NOT NULL,
         state TEXT NOT NULL,
         at TEXT NOT NULL,
         by TEXT NOT NULL,
         redemption_id TEXT,
         story TEXT NOT NULL,
         digest TEXT NOT NULL,
         UNIQUE (number, step)
       ) STRICT""",
    "CREATE UNIQUE INDEX one_lock_a_redemption ON moves (redemption_id) WHERE action = 'lock'",
    """CREATE TABLE enrolment (
         machine_serial TEXT PRIMARY KEY,
         validation_id INTEGER NOT NULL,
         sequence INTEGER NOT NULL
       ) STRICT""",
    "CREATE TABLE reported (number TEXT PRIMARY KEY REFERENCES tickets (number), at TEXT NOT NULL) STRICT",
    *(
        f"""CREATE TRIGGER {table}_never_{verb} BEFORE {verb} ON {table}
            BEGIN SELECT RAISE(ABORT, 'the ticket ledger only grows'); END"""
        for table in ("tickets", "moves", "reported")
        for verb in ("UPDATE", "DELETE")
    ),
)


class TicketStore:
    """The open ledger. Not safe for several threads at once; any number of processes may have it open."""

    def __init__(self, database: Database, path: Path) -> None:
        self._database = database
        self.path = path
        self._changing = False

    @classmethod
    def open(cls, folder: Path, *, storage: Storage | None = None, make: bool = True) -> Self:
        """Open the ledger in ``folder``, making it there unless ``make`` is False.

        Raises :class:`OperatorError` when it is absent and not to be made, :class:`TicketLedgerUnwritable`
        when the medium refuses, :class:`TicketLedgerDamaged` when the file is not a ticket ledger.
        """
        storage = storage or DiskStorage()
        path = folder / FILE_NAME
        if not make and not storage.exists(path):
            raise OperatorError(f"{folder}: no ticket ledger here ({FILE_NAME})")
        try:
            storage.make_folder(folder)
            store = cls(storage.connect(path, read_only=False), path)
        except JournalUnwritable as why:
            raise TicketLedgerUnwritable(f"{path}: {why}") from None
        try:
            store._prepare()
            storage.sync_folder(folder)
            storage.sync_folder(folder.parent)
        except BaseException:
            store.close()
            raise
        return store

    def _prepare(self) -> None:
        self._run(f"PRAGMA busy_timeout={_BUSY_MS}")
        self._run("PRAGMA journal_mode=WAL")
        self._run("PRAGMA synchronous=FULL")
        self._run("PRAGMA foreign_keys=ON")
        with self.together():
            found = self._run("PRAGMA user_version").fetchone()[0]
            if found not in {0, _FORMAT}:
                raise TicketLedgerDamaged(f"{self.path}: format {found}; this program knows {_FORMAT}")
            if not found:
                for statement in _SCHEMA:
                    self._run(statement)
                self._run(f"PRAGMA user_version={_FORMAT}")

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    # ------------------------------------------------------------------ changes
    @contextmanager
    def together(self) -> Iterator[None]:
        """Several changes as one: all of them durable at the end, or none of them."""
        if self._changing:
            yield
            return
        self._run("BEGIN IMMEDIATE")
        self._changing = True
        try:
            yield
            self._run("COMMIT")
        except BaseException:
            with suppress(MediumError):  # where SQLite has rolled back by itself
                self._database.execute("ROLLBACK")
            raise
        finally:
            self._changing = False

    def reserve(self, issue_id: str, ticket: Ticket, *, by: str) -> Record:
        """Give a ticket its number. Raises :class:`TicketOrderError` where the id or number is known."""
        with self.together():
            if self.by_issue(issue_id) is not None or self.get(ticket.number) is not None:
                raise TicketOrderError(f"ticket {ticket.masked} ({issue_id}): reserved a second time")
            self._run(
                "INSERT INTO tickets VALUES (?, ?, ?, ?)",
                (ticket.number, issue_id, ticket.machine_serial, ticket.sequence),
            )
            story = {"ticket": json.loads(ticket.to_json())}
            self._append(ticket.number, 1, Action.RESERVE, ticket.issued_at, by, None, story)
            return self.found(ticket.number)

    def move(
        self,
        number: str,
        action: Action,
        *,
        at: datetime,
        by: str,
        redemption_id: str | None = None,
        story: Mapping[str, Any] | None = None,
    ) -> Record:
        """Move a ticket. Raises :class:`TicketOrderError`, changing nothing, when its state forbids it."""
        with self.together():
            record = self.found(number)
            needs, _ = LIFE[action]
            if record.state is not needs:
                raise TicketOrderError(f"ticket {mask(number)}: {action} while {record.state}")
            self._append(number, record.moves[-1].step + 1, action, at, by, redemption_id, story or {})
            return self.found(number)

    def enrol(self, machine_serial: str, enrolment: Enrolment) -> None:
        """Set a machine's validation identifier and sequence; the next number uses the sequence after it."""
        with self.together():
            self._run(
                "INSERT INTO enrolment VALUES (?, ?, ?) ON CONFLICT (machine_serial) DO UPDATE"
                " SET validation_id = excluded.validation_id, sequence = excluded.sequence",
                (machine_serial, enrolment.validation_id, enrolment.sequence),
            )

    def spend_sequence(self, machine_serial: str) -> Enrolment | None:
        """Move an enrolled machine's validation sequence one on, and return it; None for any other."""
        with self.together():
            self._run(
                "UPDATE enrolment SET sequence = (sequence + 1) % 16777216 WHERE machine_serial = ?",
                (machine_serial,),
            )
            return self.enrolment(machine_serial)

    def report(self, number: str, at: datetime) -> None:
        """Note that the host knows the ticket; a repeat changes nothing."""
        with self.together():
            self.found(number)
            self._run("INSERT INTO reported VALUES (?, ?) ON CONFLICT DO NOTHING", (number, _text(at)))

    # ------------------------------------------------------------------ questions
    def get(self, number: str) -> Record | None:
        """The ticket of a number, or None where there is none."""
        row = self._run("SELECT issue_id FROM tickets WHERE number = ?", (number,)).fetchone()
        return None if row is None else self._read(number, row[0])

    def found(self, number: str) -> Record:
        """The ticket of a number. Raises :class:`TicketOrderError` where there is none."""
        record = self.get(number)
        if record is None:
            raise TicketOrderError(f"ticket {mask(number)} is not in the ledger")
        return record

    def by_issue(self, issue_id: str) -> Record | None:
        """The ticket its issuer knows by this id."""
        row = self._run("SELECT number FROM tickets WHERE issue_id = ?", (issue_id,)).fetchone()
        return None if row is None else self._read(row[0], issue_id)

    def by_redemption(self, redemption_id: str) -> Record | None:
        """The ticket that this redemption has locked, now or in the past."""
        row = self._run(
            "SELECT number FROM moves WHERE redemption_id = ? AND action = 'lock'", (redemption_id,)
        ).fetchone()
        return None if row is None else self.found(row[0])

    def next_ticket(self, machine_serial: str) -> int:
        """The sequence number of the machine's next ticket."""
        row = self._run(
            "SELECT max(sequence) FROM tickets WHERE machine_serial = ?", (machine_serial,)
        ).fetchone()
        return int(row[0] or 0) + 1

    def enrolment(self, machine_serial: str) -> Enrolment | None:
        """What the machine is enrolled with, or None."""
        row = self._run(
            "SELECT validation_id, sequence FROM enrolment WHERE machine_serial = ?", (machine_serial,)
        ).fetchone()
        return None if row is None else Enrolment(*row)

    def records(self, *states: TicketState, machine_serial: str | None = None) -> Iterator[Record]:
        """The tickets in any of ``states`` (all when none is named), newest first."""
        wanted = states or tuple(TicketState)
        rows = self._run(
            f"""SELECT t.number, t.issue_id FROM tickets t JOIN moves m USING (number)
                WHERE m.step = (SELECT max(step) FROM moves WHERE number = t.number)
                  AND m.state IN ({", ".join("?" * len(wanted))})
                  AND t.machine_serial = coalesce(?, t.machine_serial)
                ORDER BY (SELECT place FROM moves WHERE number = t.number AND step = 1) DESC""",  # noqa: S608 (only question marks)
            (*(state.value for state in wanted), machine_serial),
        ).fetchall()
        return (self._read(number, issue_id) for number, issue_id in rows)

    def unreported(self, machine_serial: str) -> list[Record]:
        """The machine's tickets the host does not know yet, oldest first; never-printed ones do not count."""
        rows = self._run(
            """SELECT t.number, t.issue_id FROM tickets t LEFT JOIN reported r USING (number)
               WHERE r.number IS NULL AND t.machine_serial = ?
                 AND NOT EXISTS (SELECT 1 FROM moves WHERE number = t.number AND action = 'fail')
               ORDER BY t.sequence""",
            (machine_serial,),
        ).fetchall()
        return [self._read(number, issue_id) for number, issue_id in rows]

    def sums(self) -> list[Sum]:
        """Count and value of the tickets by state and kind; see :attr:`Sum.owed` for the liability."""
        rows = self._run(
            """SELECT m.state, json_extract(first.story, '$.ticket.kind'),
                      json_extract(first.story, '$.ticket.currency'), count(*),
                      sum(json_extract(first.story, '$.ticket.amount_cents'))
               FROM moves m JOIN moves first ON first.number = m.number AND first.step = 1
               WHERE m.step = (SELECT max(step) FROM moves WHERE number = m.number)
               GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"""
        ).fetchall()
        return [
            Sum(TicketState(state), TicketKind(kind), currency, tickets, amount_cents)
            for state, kind, currency, tickets, amount_cents in rows
        ]

    def verify(self) -> int:
        """Check every digest of the ledger and SQLite's own structure; return how many moves hold.

        Raises :class:`TicketLedgerDamaged` at the first that does not.
        """
        said = self._run("PRAGMA integrity_check").fetchone()[0]
        if said != "ok":
            raise TicketLedgerDamaged(f"{self.path}: {said}")
        before, count = "", 0
        rows = self._run(f"SELECT {_COLUMNS} FROM moves ORDER BY place").fetchall()  # noqa: S608 (column names)
        for count, row in enumerate(rows, 1):
            if row[0] != count:
                raise TicketLedgerDamaged(f"{self.path}: move {count} is missing")
            self._check(row, before)
            before = row[-1]
        return count

    # ------------------------------------------------------------------ rows
    def _append(
        self,
        number: str,
        step: int,
        action: Action,
        at: datetime,
        by: str,
        redemption_id: str | None,
        story: Mapping[str, Any],
    ) -> None:
        place, before = self._run(
            "SELECT place, digest FROM moves ORDER BY place DESC LIMIT 1"
        ).fetchone() or (0, "")
        told = json.dumps(story, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        state = LIFE[action][1].value
        row = (place + 1, number, step, action.value, state, _text(at), by, redemption_id, told)
        self._run("INSERT INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, _digest(before, row)))

    def _read(self, number: str, issue_id: str) -> Record:
        rows = self._run(
            f"""SELECT {_COLUMNS}, coalesce((SELECT digest FROM moves b WHERE b.place = m.place - 1), '')
                FROM moves m WHERE number = ? ORDER BY step""",  # noqa: S608 (column names)
            (number,),
        ).fetchall()
        moves = []
        for *row, before in rows:
            self._check(tuple(row), before)
            _, _, step, action, state, at, by, redemption_id, told, _ = row
            moves.append(
                Move(
                    step=step,
                    action=Action(action),
                    state=TicketState(state),
                    at=datetime.fromisoformat(at),
                    by=by,
                    redemption_id=redemption_id,
                    story=json.loads(told),
                )
            )
        if [move.step for move in moves] != list(range(1, len(moves) + 1)) or not moves:
            raise TicketLedgerDamaged(f"{self.path}: ticket {mask(number)} lacks a move")
        ticket = Ticket.from_json(json.dumps(moves[0].story["ticket"]))
        return Record(ticket=ticket, issue_id=issue_id, moves=tuple(moves))

    def _check(self, row: tuple[Any, ...], before: str) -> None:
        if _digest(before, row[:-1]) != row[-1]:
            raise TicketLedgerDamaged(f"{self.path}: move {row[0]} is not what was written")

    # ------------------------------------------------------------------ SQLite
    def _run(self, sql: str, parameters: tuple[Any, ...] = ()) -> Any:
        try:
            return self._database.execute(sql, parameters)
        except MediumError as why:
            if any(words in str(why) for words in ("malformed", "not a database", "no such table")):
                raise TicketLedgerDamaged(f"{self.path}: {why}") from None
            raise TicketLedgerUnwritable(f"{self.path}: {why}") from None


_COLUMNS: Final = "place, number, step, action, state, at, by, redemption_id, story, digest"


def _text(at: datetime) -> str:
    return at.isoformat()


def _digest(before: str, row: tuple[Any, ...]) -> str:
    return hashlib.sha256(json.dumps([before, *row], ensure_ascii=False).encode()).hexdigest()
