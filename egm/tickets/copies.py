"""The two copies of the ticket ledger, kept as one: SQLite answers, the log of moves remembers.

The log lies on the second medium, where the cabinet has one: a medium that dies takes one copy with it.

A transaction is written to the log first and committed in SQLite second, each durably, so the log is never
behind what anybody was told. What follows:

* A log ahead of SQLite by whole lines is a transaction the power cut: whoever comes next carries it out.
* A damaged, lost or older SQLite file is made again from the log; a damaged one is kept beside it.
* A damaged or lost log is written again from SQLite.
* When both are damaged, or tell different stories, nothing is guessed: :class:`TicketLedgerDamaged`. So it
  is with a line that goes further than SQLite and is not sealed by this machine: it may be a forged ticket,
  or a real one's last trace.
* A reader writes nothing, in neither copy.
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

from egm.tickets.errors import TicketLedgerDamaged, TicketLedgerUnwritable
from egm.tickets.model import mask
from egm.tickets.movelog import FILE_NAME as LOG_NAME
from egm.tickets.movelog import START, End, MoveLog, Row, end_of, follows
from meters import JournalUnwritable
from meters.storage import Database, MediumError, Rows, Storage

FILE_NAME: Final = "tickets.sqlite"
LOCK_NAME: Final = "tickets.lock"
#: Format 1 had digests without a key.
FORMAT: Final = 2
#: How long one process waits for another's transaction (a few durable writes).
_BUSY_MS: Final = 10_000
#: What SQLite says when the file, not the medium, is at fault.
_DAMAGE: Final = ("malformed", "not a database", "no such table", "no such column", "unsupported file format")
#: The step of a ticket's first move. Step 0 is no ticket's: an act upon the ledger itself.
FIRST_STEP: Final = 1
#: How the number of an act upon the ledger itself begins.
BEGIN_NUMBER: Final = "begin-"
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
         number TEXT NOT NULL,
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

    def __init__(
        self, folder: Path, second: Path, storage: Storage, key: bytes, *, prove: bool, read_only: bool
    ) -> None:
        """Open, and where one copy is damaged make it again from the other, unless ``read_only``.

        ``second`` is the folder of the log. ``prove`` looks at every move of both, which a great ledger takes
        a second for while its writers wait.

        Raises :class:`TicketLedgerUnwritable` or :class:`TicketLedgerDamaged`.
        """
        self.path = folder / FILE_NAME
        self.log_path = second / LOG_NAME
        self.mended = ""
        self._storage = storage
        self._key = key
        self._prove = prove
        self._read_only = read_only
        self._changing = False
        self._logged: int | None = None
        with ExitStack() as opened:
            try:
                if not read_only:
                    storage.make_folder(folder)
                    storage.make_folder(second)
                self._hold(folder, opened)
                if not read_only:
                    self._log = MoveLog(storage.open_file(self.log_path, write=True), key)
                    opened.callback(self._log.close)
                self._database = self._connect()
                opened.callback(self._close_database)
            except (JournalUnwritable, OSError) as why:
                raise TicketLedgerUnwritable(f"{folder}: {why}") from None
            if read_only:
                self._prepare_reader()
            else:
                self._open_or_mend()
                for place in dict.fromkeys((folder, folder.parent, second, second.parent)):
                    storage.sync_folder(place)
            self.close = opened.pop_all().close

    # ------------------------------------------------------------------ opening and mending
    def _hold(self, folder: Path, opened: ExitStack) -> None:
        """Share the ledger: nobody replaces its file meanwhile."""
        path = folder / LOCK_NAME
        if self._read_only and not path.exists():
            return
        flags = os.O_RDONLY if self._read_only else os.O_RDWR | os.O_CREAT
        self._lock = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        opened.callback(os.close, self._lock)
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def _open_or_mend(self) -> None:
        try:
            self._prepare()
        except _TwoStories:
            raise
        except TicketLedgerDamaged as why:
            self._make_database_again(str(why))

    def _prepare_reader(self) -> None:
        self.run(f"PRAGMA busy_timeout={_BUSY_MS}")
        if not self._check_format():
            raise TicketLedgerDamaged(f"{self.path}: there is no ticket ledger in it")
        if self._prove:
            self.verify()

    def _check_format(self) -> bool:
        """Whether the database has been begun. Raises TicketLedgerDamaged for another program's format."""
        found = self.run("PRAGMA user_version").fetchone()[0]
        if found not in {0, FORMAT}:
            raise _TwoStories(
                f"{self.path}: format {found}; this program knows {FORMAT}. Format 1 is taken over by two"
                " persons: egm ticket restore"
            )
        return bool(found)

    def _connect(self) -> Database:
        """SQLite's copy, made for its owner only: a number in the wrong hands is money."""
        if not self._read_only and not self._storage.exists(self.path):
            self._storage.open_file(self.path, write=True).close()
        return self._storage.connect(self.path, read_only=self._read_only)

    def _close_database(self) -> None:
        self._database.close()

    def _prepare(self) -> None:
        """Ready SQLite's copy, prove it, and bring it together with the log."""
        self.run(f"PRAGMA busy_timeout={_BUSY_MS}")
        self.run("PRAGMA journal_mode=WAL")
        self.run("PRAGMA synchronous=FULL")
        self.run("PRAGMA foreign_keys=ON")
        with self._transaction():
            if not self._check_format():
                for statement in _SCHEMA:
                    self.run(statement)
                self.run(f"PRAGMA user_version={FORMAT}")
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
        if logged and not ours[0]:
            self.mended = f"{FILE_NAME} made again from {LOG_NAME}, {len(logged)} moves: it was lost"
        missing = self._rows("WHERE place > ? ORDER BY place", len(logged))
        if missing:
            self._log.append(missing)
        if missing and not logged:
            self.mended = f"{LOG_NAME} written again from {FILE_NAME}: it was lost"

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
        if row[2] == FIRST_STEP:
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
        for step, row in enumerate(rows, 0 if number.startswith(BEGIN_NUMBER) else FIRST_STEP):
            before = self.run("SELECT place, digest FROM moves WHERE place = ?", row[0] - 1).fetchone()
            end = (row[0] - 1, "" if before is None else before[1])
            if row[2] != step or not follows(self._key, end, row):
                raise TicketLedgerDamaged(f"{self.path}: move {row[0]} is not what was written")
        if not rows:
            raise TicketLedgerDamaged(f"{self.path}: ticket {mask(number)} lacks its moves")
        return rows

    def verify(self) -> int:
        """Prove every row of both copies, and that they agree; return how many moves there are."""
        if self._read_only:
            return self._verify_reading()
        with self._transaction():
            count = self._check_database()
            self._agree(thorough=True)
            return count

    def _verify_reading(self) -> int:
        """The same, mending nothing: a log that is a transaction ahead is its writer's."""
        self.run("BEGIN")
        try:
            count = self._check_database()
            ours = self._rows("ORDER BY place")
        finally:
            self.run("COMMIT")
        logged = self._logged_rows()
        common = min(len(ours), len(logged))
        if len(logged) < count or list(map(tuple, ours[:common])) != logged[:common]:
            raise TicketLedgerDamaged(f"{self.log_path}: it does not hold what {FILE_NAME} does")
        return count

    def _logged_rows(self) -> list[Row]:
        """Every move in the log, for a reader that has it not open."""
        try:
            log = MoveLog(self._storage.open_file(self.log_path, write=False), self._key)
        except JournalUnwritable as why:
            raise TicketLedgerDamaged(str(why)) from None
        try:
            return list(log.rows())
        finally:
            log.close()

    def digest_at(self, place: int) -> str | None:
        """The digest of the move at a place; None where the ledger ends before it. "" at place 0."""
        found = self.run("SELECT digest FROM moves WHERE place = ?", place).fetchone()
        return str(found[0]) if found is not None else None if place else ""

    def _check_database(self) -> int:
        for pragma in ("integrity_check", "foreign_key_check"):
            said = self.run(f"PRAGMA {pragma}").fetchone()
            if said not in {None, ("ok",)}:
                raise TicketLedgerDamaged(f"{self.path}: {said}")
        last = START
        for row in self._rows("ORDER BY place"):
            if not follows(self._key, last, row):
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
            if damaged:
                said = str(why).partition(": ")[2] or why
                raise TicketLedgerDamaged(f"{self.path}: not as it was written: {said}") from None
            raise TicketLedgerUnwritable(f"{self.path}: {why}") from None
