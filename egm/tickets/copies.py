"""The two copies of the ticket ledger, kept as one: SQLite answers, the log of moves remembers.

A transaction is written to the log first and committed in SQLite second, each durably, so the log is never
behind what anybody was told. What follows:

* A log ahead of SQLite by whole lines is a transaction the power cut: whoever comes next carries it out.
* A damaged, lost or older SQLite file is made again from the log; a damaged one is kept beside it.
* A damaged or lost log is written again from SQLite.
* When both are damaged, or tell different stories, nothing is guessed: :class:`TicketLedgerDamaged`.
* What a host can say again (the enrolment, which tickets it knows) is in SQLite only.

SQLite is in WAL mode with ``synchronous=FULL``; its write lock orders the writers of all processes, for both
copies. Making SQLite's file again takes the ledger for itself alone (a file lock that every process shares
while it has the ledger open), so no process can go on with the old file.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from egm.errors import OperatorError
from egm.tickets.errors import TicketLedgerDamaged, TicketLedgerUnwritable
from egm.tickets.model import mask
from egm.tickets.movelog import FILE_NAME as LOG_NAME
from egm.tickets.movelog import START, End, MoveLog, Row, end_of, follows
from meters import JournalUnwritable
from meters.storage import Database, MediumError, Rows, Storage

FILE_NAME: Final = "tickets.sqlite"
LOCK_NAME: Final = "tickets.lock"
_FORMAT: Final = 1
#: How long one process waits for another's transaction (a few durable writes).
_BUSY_MS: Final = 10_000
#: What SQLite says when the file, not the medium, is at fault.
_DAMAGE: Final = ("malformed", "not a database", "no such table", "no such column", "unsupported file format")
_COLUMNS: Final = "place, number, step, action, state, at, by, redemption_id, story, digest"

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
_INSERT_TICKET: Final = """INSERT INTO tickets SELECT ?2, json_extract(?9, '$.issue_id'),
    json_extract(?9, '$.ticket.machine_serial'), json_extract(?9, '$.ticket.sequence')"""


class _TwoStories(TicketLedgerDamaged):
    """The copies contradict each other, or neither is whole: neither can mend the other."""


class Copies:
    """Both copies, open. ``mended`` says what was made again from the other copy, or is empty."""

    close: Callable[[], None]
    """Close both copies and give the ledger up."""

    def __init__(self, folder: Path, storage: Storage, *, prove: bool) -> None:
        """Open, and where one copy is damaged make it again from the other.

        ``prove`` looks at every move of both, which a great ledger takes a second for while its writers wait.

        Raises :class:`TicketLedgerUnwritable` or :class:`TicketLedgerDamaged`.
        """
        self.path = folder / FILE_NAME
        self.mended = ""
        self._storage = storage
        self._prove = prove
        self._changing = False
        self._logged: int | None = None
        with ExitStack() as opened:
            try:
                storage.make_folder(folder)
                self._lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                opened.callback(os.close, self._lock)
                fcntl.flock(self._lock, fcntl.LOCK_SH)
                self._log = MoveLog(storage.open_file(folder / LOG_NAME, write=True))
                opened.callback(self._log.close)
                self._database = self._connect()
                opened.callback(self._close_database)
            except (JournalUnwritable, OSError) as why:
                raise TicketLedgerUnwritable(f"{folder}: {why}") from None
            try:
                self._prepare()
            except _TwoStories:
                raise
            except TicketLedgerDamaged as why:
                self._make_database_again(str(why))
            storage.sync_folder(folder)
            storage.sync_folder(folder.parent)
            self.close = opened.pop_all().close

    # ------------------------------------------------------------------ opening and mending
    def _connect(self) -> Database:
        """SQLite's copy, made for its owner only: a number in the wrong hands is money."""
        if not self._storage.exists(self.path):
            self._storage.open_file(self.path, write=True).close()
        return self._storage.connect(self.path, read_only=False)

    def _close_database(self) -> None:
        self._database.close()

    def _prepare(self) -> None:
        """Ready SQLite's copy, prove it, and bring it together with the log."""
        self.run(f"PRAGMA busy_timeout={_BUSY_MS}")
        self.run("PRAGMA journal_mode=WAL")
        self.run("PRAGMA synchronous=FULL")
        self.run("PRAGMA foreign_keys=ON")
        with self._transaction():
            found = self.run("PRAGMA user_version").fetchone()[0]
            if found not in {0, _FORMAT}:
                raise OperatorError(f"{self.path}: format {found}; this program knows {_FORMAT}")
            if not found:
                for statement in _SCHEMA:
                    self.run(statement)
                self.run(f"PRAGMA user_version={_FORMAT}")
            if self._prove:
                self._check_database()
            self._agree(thorough=self._prove)

    def _make_database_again(self, why: str) -> None:
        """From the log, alone with the ledger; what was there is kept under another name."""
        count = sum(1 for _ in self._log.rows())  # raises when the log is damaged too
        if not count:
            raise TicketLedgerDamaged(f"{why}; and {LOG_NAME} is empty")
        self._database.close()
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TicketLedgerDamaged(f"{why}; to mend it, close every program that has it open") from None
        folder, names = self.path.parent, self._storage.names(self.path.parent)
        kept = sum(name.startswith(f"{FILE_NAME}.damaged-") for name in names) + 1
        # The write-ahead log first: beside a new file it would be taken for the new file's own.
        for suffix in ("-wal", "-shm", ""):
            if FILE_NAME + suffix in names:
                self._storage.rename(
                    folder / (FILE_NAME + suffix), folder / f"{FILE_NAME}.damaged-{kept}{suffix}"
                )
                self._storage.sync_folder(folder)
        self._database = self._connect()
        self._prove = True
        self._prepare()
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        self.mended = f"{FILE_NAME} made again from {LOG_NAME}, {count} moves: {why}"

    def _agree(self, *, thorough: bool = False) -> None:
        """Bring the copies together, under the write lock: a look at the end of each, unless ``thorough``."""
        ours = self.end()
        if ours == self._log.end() and not thorough:
            return
        try:
            logged = list(self._log.rows())
        except TicketLedgerDamaged as why:
            if self._log.furthest() > ours[0]:
                raise _TwoStories(f"{why}; and {FILE_NAME} ends before it, at move {ours[0]}") from None
            self._log.rewrite(self._rows("ORDER BY place"))
            self.mended = f"{LOG_NAME} written again from {FILE_NAME}: {why}"
            return
        place = min(ours[0], len(logged))
        common = end_of(logged[place - 1]) if place else START
        here = self.run("SELECT place, digest FROM moves WHERE place = ?", place).fetchone() or START
        if here != common:
            raise _TwoStories(f"{self.path}: {LOG_NAME} tells another story from move {place} on")
        for row in logged[ours[0] :]:
            self.insert(row)
        missing = self._rows("WHERE place > ? ORDER BY place", len(logged))
        if missing:
            self._log.append(missing)

    # ------------------------------------------------------------------ writing
    @contextmanager
    def together(self) -> Iterator[None]:
        """Several changes as one: all of them durable in both copies at the end, or none of them.

        Where the last commit itself fails, the changes may still be carried out later, whole; every step of
        a ticket can be repeated, so the caller repeats it or takes it back.
        """
        if self._changing:
            yield
            return
        with self._transaction():
            self._agree()
            before = self.end()
            yield
            rows = self._rows("WHERE place > ? ORDER BY place", before[0])
            if rows:
                self._logged = self._log.append(rows)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """One transaction of SQLite; when it fails, the line it has in the log is taken back."""
        self.run("BEGIN IMMEDIATE")
        self._changing = True
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            if self._logged is not None:
                self._log.cut(self._logged)
            with suppress(MediumError):  # where SQLite has rolled back by itself
                self._database.execute("ROLLBACK")
            raise
        finally:
            self._changing, self._logged = False, None

    def insert(self, row: Row) -> None:
        """Insert one move; a ticket's first brings the ticket."""
        if row[2] == 1:
            self.run(_INSERT_TICKET, *row[:-1])
        self.run("INSERT INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *row)

    # ------------------------------------------------------------------ reading
    def end(self) -> End:
        """Where SQLite's copy ends."""
        found = self.run("SELECT place, digest FROM moves ORDER BY place DESC LIMIT 1").fetchone()
        return START if found is None else (found[0], found[1])

    def rows_of(self, number: str) -> list[Row]:
        """The moves of one ticket, each proved. Raises :class:`TicketLedgerDamaged`."""
        rows = self._rows("WHERE number = ? ORDER BY step", number)
        for place, row in enumerate(rows, 1):
            before = self.run("SELECT place, digest FROM moves WHERE place = ?", row[0] - 1).fetchone()
            if row[2] != place or not follows((row[0] - 1, "" if before is None else before[1]), row):
                raise TicketLedgerDamaged(f"{self.path}: move {row[0]} is not what was written")
        if not rows:
            raise TicketLedgerDamaged(f"{self.path}: ticket {mask(number)} lacks its moves")
        return rows

    def verify(self) -> int:
        """Prove every row of both copies, and that they agree; return how many moves there are."""
        with self._transaction():
            count = self._check_database()
            self._agree(thorough=True)
            return count

    def _check_database(self) -> int:
        for pragma in ("integrity_check", "foreign_key_check"):
            said = self.run(f"PRAGMA {pragma}").fetchone()
            if said not in {None, ("ok",)}:
                raise TicketLedgerDamaged(f"{self.path}: {said}")
        last = START
        for row in self._rows("ORDER BY place"):
            if not follows(last, row):
                raise TicketLedgerDamaged(f"{self.path}: move {last[0] + 1} is not what was written")
            last = end_of(row)
        first, tickets = self.run(
            "SELECT (SELECT count(*) FROM moves WHERE step = 1), (SELECT count(*) FROM tickets)"
        ).fetchone()
        if first != tickets:
            raise TicketLedgerDamaged(f"{self.path}: {tickets} tickets, {first} of them with a beginning")
        return last[0]

    def _rows(self, which: str, *parameters: object) -> list[Row]:
        return list(self.run(f"SELECT {_COLUMNS} FROM moves {which}", *parameters))  # noqa: S608 (no values)

    def run(self, sql: str, *parameters: object) -> Rows:
        """Run one statement. Raises :class:`TicketLedgerUnwritable` or :class:`TicketLedgerDamaged`."""
        try:
            return self._database.execute(sql, parameters)
        except MediumError as why:
            damaged = any(words in str(why) for words in _DAMAGE)
            raise (TicketLedgerDamaged if damaged else TicketLedgerUnwritable)(
                f"{self.path}: {why}"
            ) from None
