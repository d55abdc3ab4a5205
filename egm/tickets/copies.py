"""The two copies of the ticket ledger, kept consistent: SQLite serves queries, the log of moves is the backup.

A move is one recorded action on a ticket. The log is on the second medium if the cabinet has one: if a medium
dies, one copy remains.

A transaction is written to the log first and committed in SQLite second, each durably, so the log always
contains everything that was acknowledged. Therefore:

* If the log is ahead of SQLite by complete lines, the power failed in a transaction: the next opening completes it.
* A damaged, lost or older SQLite file is rebuilt from the log; a damaged one is kept beside it.
* A damaged or lost log is rebuilt from SQLite.
* If both are damaged, or disagree, nothing is guessed: :class:`TicketLedgerDamaged` is raised.
* It is also raised for a line of the log that SQLite lacks and that has no valid digest of this machine: it may be a
  forged ticket, or the only trace of a real one.
* A reader writes nothing to either copy.
* Information that a host can repeat (the enrolment, which tickets it knows) is in SQLite only.

SQLite is in WAL mode with ``synchronous=FULL``. A writer of either copy first takes SQLite's write lock, so that
processes write one after another. Every process holds a shared lock on the lock file while it has the ledger open. A
reader never creates the lock file; without one, it opens the ledger without a lock. To rebuild SQLite's file, a
process needs the lock exclusively: every other process must have closed the ledger, so none can continue with the old
file.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from egm.tickets.errors import TicketLedgerDamaged, TicketLedgerUnwritable
from egm.tickets.model import mask_number
from egm.tickets.move_log import (
    EMPTY_LEDGER_END,
    MOVE_LOG_FILE_NAME,
    LedgerEnd,
    MoveRow,
    TicketMoveLog,
    get_row_end,
    is_next_row,
)
from meters import JournalUnwritable
from meters.storage import Database, DatabaseRows, MediumError, Storage

#: File name of the database.
TICKET_DATABASE_FILE_NAME: Final = "tickets.sqlite"
#: Name of the file whose lock every process holds while it has the ledger open.
LOCK_FILE_NAME: Final = "tickets.lock"
#: Version of the ledger's format; format 1 had digests without a key.
TICKET_LEDGER_FORMAT: Final = 2
#: How long one process waits for another's transaction (a few durable writes).
_BUSY_TIMEOUT_MS: Final = 10_000
#: SQLite's error texts when the file, not the medium, is at fault.
_FILE_DAMAGE_TEXTS: Final = (
    "malformed",
    "not a database",
    "no such table",
    "no such column",
    "unsupported file format",
)
#: The step of a ticket's first move; a move that concerns the whole ledger has step 0.
FIRST_TICKET_MOVE_STEP: Final = 1
#: A move that concerns the whole ledger (a restoration) has, in place of a ticket number, a name with this prefix.
LEDGER_MOVE_NAME_PREFIX: Final = "begin-"
#: Columns of a move in the database: ``place`` is the number of the move, ``number`` that of the ticket, ``step`` the
#: index among the ticket's moves, and ``story`` the details as JSON.
MOVE_COLUMNS_SQL: Final = "place, number, step, action, state, at, by, redemption_id, story, digest"

#: SQL statements that create the tables.
_CREATE_TABLES_SQL: Final = (
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
#: SQL statement that enters a ticket's data from its first move.
_INSERT_TICKET_SQL: Final = """INSERT INTO tickets SELECT ?2, json_extract(?9, '$.issue_id'),
    json_extract(?9, '$.ticket.machine_serial'), json_extract(?9, '$.ticket.sequence')"""


class _AutomaticRepairForbidden(TicketLedgerDamaged):
    """Raised if neither copy of the ticket ledger may be rebuilt from the other.

    Either both are damaged, or they contradict each other, or the database has the format of another version.
    """


class TicketLedgerCopies:
    """The two open copies of the ticket ledger: a SQLite database and a log, on two media.

    ``repair_text`` is a text for the machine's log: which copy was rebuilt from the other, and why; "" if none was.
    """

    close: Callable[[], None]
    """Close both copies and release the ledger."""

    def __init__(
        self,
        folder: Path,
        second_folder: Path,
        storage: Storage,
        key: bytes,
        *,
        verify: bool,
        read_only: bool,
    ) -> None:
        """Open both copies of the ticket ledger and, unless ``read_only``, rebuild a damaged one from the other.

        ``second_folder`` is the folder of the log. If ``verify`` is True, every move in both copies is verified,
        which takes about a second for a large ledger and blocks other writers. Raises
        :class:`TicketLedgerUnwritable` or :class:`TicketLedgerDamaged`.
        """
        self.path = folder / TICKET_DATABASE_FILE_NAME
        self.log_path = second_folder / MOVE_LOG_FILE_NAME
        self.repair_text = ""
        self._storage = storage
        self._key = key
        self._must_verify = verify
        self._is_read_only = read_only
        self._is_in_transaction = False
        self._log_size_before_bytes: int | None = None
        with ExitStack() as cleanup:
            try:
                if not read_only:
                    storage.make_folder(folder)
                    storage.make_folder(second_folder)
                self._lock_ledger(folder, cleanup)
                if not read_only:
                    self._log = TicketMoveLog(storage.open_file(self.log_path, write=True), key)
                    cleanup.callback(self._log.close)
                self._database = self._connect()
                cleanup.callback(self._close_database)
            except (JournalUnwritable, OSError) as error:
                raise TicketLedgerUnwritable(f"{folder}: {error}") from None
            if read_only:
                self._prepare_reader()
            else:
                self._open_or_repair()
                for changed_folder in dict.fromkeys(
                    (folder, folder.parent, second_folder, second_folder.parent)
                ):
                    storage.sync_folder(changed_folder)
            self.close = cleanup.pop_all().close

    # ------------------------------------------------------------------ opening and repair
    def _lock_ledger(self, folder: Path, cleanup: ExitStack) -> None:
        """Take the shared lock on the ticket ledger, so that no process replaces its file while it is open here."""
        path = folder / LOCK_FILE_NAME
        if self._is_read_only and not path.exists():
            return
        flags = os.O_RDONLY if self._is_read_only else os.O_RDWR | os.O_CREAT
        self._lock_descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        cleanup.callback(os.close, self._lock_descriptor)
        fcntl.flock(self._lock_descriptor, fcntl.LOCK_SH)

    def _open_or_repair(self) -> None:
        """Prepare the ledger's database; if it is damaged, rebuild it from the log of moves."""
        try:
            self._prepare_database()
        except _AutomaticRepairForbidden:
            raise
        except TicketLedgerDamaged as error:
            self._rebuild_database(str(error))

    def _prepare_reader(self) -> None:
        """Prepare the ledger's database for reading only. Raises TicketLedgerDamaged if the database is empty."""
        self.run_sql(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
        if not self._is_initialised():
            raise TicketLedgerDamaged(f"{self.path}: there is no ticket ledger in it")
        if self._must_verify:
            self.verify_moves()

    def _is_initialised(self) -> bool:
        """Return True if the ledger's database has its tables, False if it is new.

        Raises TicketLedgerDamaged if the database has the format of another version.
        """
        format_number = self.run_sql("PRAGMA user_version").fetchone()[0]
        if format_number not in {0, TICKET_LEDGER_FORMAT}:
            raise _AutomaticRepairForbidden(
                f"{self.path}: expected format {TICKET_LEDGER_FORMAT}, found "
                f"{format_number}. Two persons can copy a ledger of format 1 into a new one: egm ticket restore"
            )
        return bool(format_number)

    def _connect(self) -> Database:
        """Open the ledger's database; a new one is readable by its owner only, because ticket numbers are money."""
        if not self._is_read_only and not self._storage.exists(self.path):
            self._storage.open_file(self.path, write=True).close()
        return self._storage.connect(self.path, read_only=self._is_read_only)

    def _close_database(self) -> None:
        self._database.close()

    def _prepare_database(self) -> None:
        """Prepare and verify the ledger's database, and make it agree with the log of moves."""
        self.run_sql(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
        self.run_sql("PRAGMA journal_mode=WAL")
        self.run_sql("PRAGMA synchronous=FULL")
        self.run_sql("PRAGMA foreign_keys=ON")
        with self._run_database_transaction():
            if not self._is_initialised():
                for statement in _CREATE_TABLES_SQL:
                    self.run_sql(statement)
                self.run_sql(f"PRAGMA user_version={TICKET_LEDGER_FORMAT}")
            if self._must_verify:
                self._verify_database()
            self._reconcile_copies(must_verify=self._must_verify)

    def _rebuild_database(self, reason: str) -> None:
        """Rebuild the ledger's database from the log under an exclusive lock; the old file is renamed and kept."""
        move_count = sum(1 for _ in self._log.iter_rows())  # raises if the log is damaged too
        if not move_count:
            raise TicketLedgerDamaged(
                f"{reason}; it cannot be rebuilt, because {MOVE_LOG_FILE_NAME} is empty"
            )
        self._database.close()
        try:
            fcntl.flock(self._lock_descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TicketLedgerDamaged(
                f"{reason}; it can be rebuilt once every program that has it open is closed"
            ) from None
        folder, file_names = self.path.parent, self._storage.list_names(self.path.parent)
        damaged_file_number = (
            sum(file_name.startswith(f"{TICKET_DATABASE_FILE_NAME}.damaged-") for file_name in file_names) + 1
        )
        # The old write-ahead log first: it would be taken for the new file's own.
        for suffix in ("-wal", "-shm", ""):
            if TICKET_DATABASE_FILE_NAME + suffix in file_names:
                self._storage.rename(
                    folder / (TICKET_DATABASE_FILE_NAME + suffix),
                    folder / f"{TICKET_DATABASE_FILE_NAME}.damaged-{damaged_file_number}{suffix}",
                )
                self._storage.sync_folder(folder)
        self._database = self._connect()
        self._must_verify = True
        self._prepare_database()
        fcntl.flock(self._lock_descriptor, fcntl.LOCK_SH)
        self.repair_text = (
            f"{TICKET_DATABASE_FILE_NAME} rebuilt from {MOVE_LOG_FILE_NAME}, {move_count} moves: {reason}"
        )

    def _reconcile_copies(self, *, must_verify: bool = False) -> None:
        """Bring the ledger's database and its log to the same moves; the caller holds the write lock.

        With ``must_verify`` the whole log is read and verified; otherwise only the last moves of both copies are
        compared, if they agree.
        """
        database_end = self.find_database_end()
        if database_end == self._log.read_end() and not must_verify:
            return
        try:
            logged_rows = list(self._log.iter_rows())
        except TicketLedgerDamaged as error:
            if self._log.find_highest_move_number() > database_end.move_number:
                raise _AutomaticRepairForbidden(
                    f"{error}; {TICKET_DATABASE_FILE_NAME} cannot replace it, because it ends earlier, "
                    f"at move {database_end.move_number}"
                ) from None
            self._log.rewrite(self._select_rows("ORDER BY place"))
            self.repair_text = f"{MOVE_LOG_FILE_NAME} rebuilt from {TICKET_DATABASE_FILE_NAME}: {error}"
            return
        common_move_number = min(database_end.move_number, len(logged_rows))
        common_log_end = (
            get_row_end(logged_rows[common_move_number - 1]) if common_move_number else EMPTY_LEDGER_END
        )
        common_database_end = (
            self.run_sql("SELECT place, digest FROM moves WHERE place = ?", common_move_number).fetchone()
            or EMPTY_LEDGER_END
        )
        if common_database_end != common_log_end:
            raise _AutomaticRepairForbidden(
                f"{self.path}: {MOVE_LOG_FILE_NAME} differs from this file at move {common_move_number} or before"
            )
        for row in logged_rows[database_end.move_number :]:
            self.insert_move(row)
        if logged_rows and not database_end.move_number:
            move_count = len(logged_rows)
            self.repair_text = (
                f"{TICKET_DATABASE_FILE_NAME} rebuilt from {MOVE_LOG_FILE_NAME}, "
                f"{move_count} moves: it was lost"
            )
        missing_rows = self._select_rows("WHERE place > ? ORDER BY place", len(logged_rows))
        if missing_rows:
            self._log.append(missing_rows)
        if missing_rows and not logged_rows:
            self.repair_text = f"{MOVE_LOG_FILE_NAME} rebuilt from {TICKET_DATABASE_FILE_NAME}: it was lost"

    # ------------------------------------------------------------------ writing
    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Combine several changes of the ledger into one: at the end all are durable in both copies, or none.

        If the commit fails and the log cannot be truncated, as at a power loss, the next opening completes the
        changes. The caller must therefore repeat the ticket's action or cancel it; a repeated action counts once.
        """
        if self._is_in_transaction:
            yield
            return
        with self._run_database_transaction():
            self._reconcile_copies()
            end_before = self.find_database_end()
            yield
            rows = self._select_rows("WHERE place > ? ORDER BY place", end_before.move_number)
            if rows:
                self._log_size_before_bytes = self._log.append(rows)

    @contextmanager
    def _run_database_transaction(self) -> Iterator[None]:
        """Run one transaction of the ledger's database.

        If it fails, roll it back and remove its line from the log of moves.
        """
        self.run_sql("BEGIN IMMEDIATE")
        self._is_in_transaction = True
        try:
            yield
            self.run_sql("COMMIT")
        except BaseException:
            if self._log_size_before_bytes is not None:
                self._log.truncate_to(self._log_size_before_bytes)
            with suppress(MediumError):  # SQLite may have rolled back by itself
                self._database.execute("ROLLBACK")
            raise
        finally:
            self._is_in_transaction, self._log_size_before_bytes = False, None

    def insert_move(self, row: MoveRow) -> None:
        """Insert one move into the ledger's database; for a ticket's first move also insert the ticket."""
        _, _, step, *_ = row
        if step == FIRST_TICKET_MOVE_STEP:
            self.run_sql(_INSERT_TICKET_SQL, *row[:-1])
        self.run_sql("INSERT INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *row)

    # ------------------------------------------------------------------ reading
    def find_database_end(self) -> LedgerEnd:
        """Return the number and digest of the last move in the ledger's database."""
        last_move = self.run_sql("SELECT place, digest FROM moves ORDER BY place DESC LIMIT 1").fetchone()
        return EMPTY_LEDGER_END if last_move is None else LedgerEnd(*last_move)

    def read_ticket_rows(self, ticket_number: str) -> list[MoveRow]:
        """Return the database rows with the moves of one ticket, each verified.

        Raises :class:`TicketLedgerDamaged` if one was altered.
        """
        rows = self._select_rows("WHERE number = ? ORDER BY step", ticket_number)
        for expected_step, row in enumerate(
            rows, 0 if ticket_number.startswith(LEDGER_MOVE_NAME_PREFIX) else FIRST_TICKET_MOVE_STEP
        ):
            move_number, _, step, *_ = row
            previous_end = LedgerEnd(move_number - 1, self.read_move_digest(move_number - 1) or "")
            if step != expected_step or not is_next_row(self._key, previous_end, row):
                raise TicketLedgerDamaged(f"{self.path}: move {move_number} was altered after it was written")
        if not rows:
            raise TicketLedgerDamaged(
                f"{self.path}: the moves of ticket {mask_number(ticket_number)} are missing"
            )
        return rows

    def verify_moves(self) -> int:
        """Verify every move in both copies of the ledger, and that the copies agree; return the number of moves.

        Unless the ledger is read-only, a log that is damaged or lacks moves is repaired from the database, and a
        database that lacks moves is completed from the log. Raises :class:`TicketLedgerDamaged` for any other damage.
        """
        if self._is_read_only:
            return self._verify_read_only()
        with self._run_database_transaction():
            move_count = self._verify_database()
            self._reconcile_copies(must_verify=True)
            return move_count

    def _verify_read_only(self) -> int:
        """Verify both copies of the ledger without repairing anything; return the number of moves.

        A log that is ahead of the database is accepted, because another process may be writing.
        """
        self.run_sql("BEGIN")
        try:
            move_count = self._verify_database()
            database_rows = self._select_rows("ORDER BY place")
        finally:
            self.run_sql("COMMIT")
        logged_rows = self._read_logged_rows()
        common_move_count = min(len(database_rows), len(logged_rows))
        if (
            len(logged_rows) < move_count
            or list(map(tuple, database_rows[:common_move_count])) != logged_rows[:common_move_count]
        ):
            raise TicketLedgerDamaged(
                f"{self.log_path}: its moves differ from those in {TICKET_DATABASE_FILE_NAME}"
            )
        return move_count

    def _read_logged_rows(self) -> list[MoveRow]:
        """Return every move in the ledger's log of moves.

        This is for a read-only ledger, which does not have the log open: the file is opened for this call.
        """
        try:
            log = TicketMoveLog(self._storage.open_file(self.log_path, write=False), self._key)
        except JournalUnwritable as error:
            raise TicketLedgerDamaged(str(error)) from None
        try:
            return list(log.iter_rows())
        finally:
            log.close()

    def read_move_digest(self, move_number: int) -> str | None:
        """Return the digest of the move with this number; "" for 0, None if the ledger ends before it."""
        row = self.run_sql("SELECT digest FROM moves WHERE place = ?", move_number).fetchone()
        return str(row[0]) if row is not None else (None if move_number else "")

    def _verify_database(self) -> int:
        """Verify the ledger's database move by move; return the number of the last move."""
        for pragma in ("integrity_check", "foreign_key_check"):
            check_result = self.run_sql(f"PRAGMA {pragma}").fetchone()
            if check_result not in {None, ("ok",)}:
                raise TicketLedgerDamaged(f"{self.path}: {check_result}")
        last_end = EMPTY_LEDGER_END
        for row in self._select_rows("ORDER BY place"):
            if not is_next_row(self._key, last_end, row):
                raise TicketLedgerDamaged(
                    f"{self.path}: move {last_end.move_number + 1} was altered after it was written"
                )
            last_end = get_row_end(row)
        first_move_count, ticket_count = self.run_sql(
            "SELECT (SELECT count(*) FROM moves WHERE step = 1), (SELECT count(*) FROM tickets)"
        ).fetchone()
        if first_move_count != ticket_count:
            raise TicketLedgerDamaged(
                f"{self.path}: has {ticket_count} tickets, but {first_move_count} first moves; expected one for each "
                "ticket"
            )
        return last_end.move_number

    def _select_rows(self, clause: str, *parameters: object) -> list[MoveRow]:
        """Return the moves in the ledger's database that an SQL clause selects."""
        return list(self.run_sql(f"SELECT {MOVE_COLUMNS_SQL} FROM moves {clause}", *parameters))  # noqa: S608 (it contains no values from outside)

    def run_sql(self, sql: str, *parameters: object) -> DatabaseRows:
        """Run one SQL statement on the ledger's database, and return its rows.

        Raises :class:`TicketLedgerUnwritable` or :class:`TicketLedgerDamaged`.
        """
        try:
            return self._database.execute(sql, parameters)
        except MediumError as error:
            is_damaged = any(text in str(error) for text in _FILE_DAMAGE_TEXTS)
            if is_damaged:
                reason = str(error).partition(": ")[2] or error
                raise TicketLedgerDamaged(f"{self.path}: damaged or altered: {reason}") from None
            raise TicketLedgerUnwritable(f"{self.path}: {error}") from None
