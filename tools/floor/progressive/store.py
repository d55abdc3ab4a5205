"""The controller's storage: in SQLite by default, or in PostgreSQL if a server is named; one code for both.

A transaction is durable when it ends. A controller that takes the store over gets a new number, its *term*;
this ends the term of the controller before it, which can no longer write anything, even if it resumes later
(a fencing token). If another controller already works on the store, opening it fails; `egm progressive serve
--stand-by` then tries again.
"""

import contextlib
import fcntl
import json
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

from egm.errors import LocalError, OperatorError
from egm.progressive.messages import Contribution
from egm.record_codec import from_json, to_json
from tools.floor.progressive.records import ClaimRecord, HeldMessage, LevelRecord, PrizeRecord

#: One row of a query's result.
DatabaseRow = Sequence[Any]

#: The statements that create the tables.
_CREATE_TABLES_SQL: Final = (
    "CREATE TABLE IF NOT EXISTS office (one {int} PRIMARY KEY, term {int} NOT NULL, used {int} NOT NULL)",
    "CREATE TABLE IF NOT EXISTS machine (id TEXT PRIMARY KEY, added_at TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS heard (machine TEXT PRIMARY KEY, at TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS level (id TEXT PRIMARY KEY, record TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS member (
         machine TEXT NOT NULL, level TEXT NOT NULL, counted {int} NOT NULL, PRIMARY KEY (machine, level))""",
    """CREATE TABLE IF NOT EXISTS contribution (
         machine TEXT NOT NULL, level TEXT NOT NULL, sequence {int} NOT NULL, wager_cents {int} NOT NULL,
         amount TEXT NOT NULL, hidden TEXT NOT NULL, PRIMARY KEY (machine, level, sequence))""",
    """CREATE TABLE IF NOT EXISTS claim (
         claim TEXT PRIMARY KEY, machine TEXT NOT NULL, level TEXT NOT NULL, record TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS claim_of ON claim (machine, level)",
    "CREATE TABLE IF NOT EXISTS event (at TEXT NOT NULL, kind TEXT NOT NULL, story TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS prize (
         level TEXT NOT NULL, number {int} NOT NULL, claim TEXT NOT NULL, record TEXT NOT NULL,
         PRIMARY KEY (level, number))""",
    """CREATE TABLE IF NOT EXISTS turn (
         level TEXT NOT NULL, place {int} NOT NULL, machine TEXT NOT NULL, sequence {int} NOT NULL,
         PRIMARY KEY (level, place))""",
    "CREATE TABLE IF NOT EXISTS held (claim TEXT PRIMARY KEY, record TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS sign (id TEXT PRIMARY KEY, record TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS daily (
         day TEXT NOT NULL, level TEXT NOT NULL, at TEXT NOT NULL, amount_cents {int} NOT NULL,
         PRIMARY KEY (day, level))""",
)


#: The SQL LIKE pattern of the records of hits whose payment the machine has not reported yet.
_UNREPORTED_PAYMENT_LIKE_PATTERN: Final = '%"closed_at": ""%'
#: The SQL LIKE pattern of the records of held messages without a ruling; inside a message this text would be
#: escaped.
_UNRULED_MESSAGE_LIKE_PATTERN: Final = '%"ruling": ""%'


class DeposedError(LocalError):
    """Another controller has taken the store over; this controller must stop."""


class StoreLostError(LocalError):
    """The store no longer replies or has ended the session; this controller must stop."""


class StoreBusyError(OperatorError):
    """Another progressive controller is using the store."""


class ControllerEvent(NamedTuple):
    """A recorded event of the progressive controller."""

    time_text: str
    kind: str
    details: dict[str, Any]


class DailyAmount(NamedTuple):
    """The last amount that a level displayed on a day (I-16)."""

    day: str
    level_id: str
    time_text: str
    """When it was displayed last."""
    amount_cents: int


class Session:
    """One transaction on a progressive controller's store, with its queries and changes."""

    def __init__(self, store: "Store") -> None:
        self._run_sql = store.run

    # ------------------------------------------------------------------ machines
    def list_machines(self) -> tuple[str, ...]:
        """Return the ids of the machines that may enrol in levels."""
        return tuple(str(row[0]) for row in self._run_sql("SELECT id FROM machine ORDER BY id"))

    def can_enrol(self, machine: str) -> bool:
        """Return whether this machine may enrol in levels."""
        return bool(self._run_sql("SELECT 1 FROM machine WHERE id = ?", machine))

    def add_machine(self, machine: str, time_text: str) -> None:
        """Allow a machine to enrol in levels; if it is allowed already, change nothing."""
        self._run_sql("INSERT INTO machine VALUES (?, ?) ON CONFLICT (id) DO NOTHING", machine, time_text)

    def remove_machine(self, machine: str) -> None:
        """Remove a machine from those that may enrol; its contributions and wins stay on record."""
        self._run_sql("DELETE FROM machine WHERE id = ?", machine)
        self._run_sql("DELETE FROM heard WHERE machine = ?", machine)

    def store_message_time(self, machine: str, time_text: str) -> None:
        """Store the time at which a machine's last message arrived."""
        self._run_sql(
            "INSERT INTO heard VALUES (?, ?) ON CONFLICT (machine) DO UPDATE SET at = excluded.at",
            machine,
            time_text,
        )

    def read_message_times(self) -> dict[str, str]:
        """Return the time of each machine's last message (ISO 8601); machines without one are left out."""
        return {row[0]: row[1] for row in self._run_sql("SELECT machine, at FROM heard")}

    def list_enrolled_levels(self, machine: str) -> tuple[str, ...]:
        """Return the levels a machine has enrolled in."""
        rows = self._run_sql("SELECT level FROM member WHERE machine = ? ORDER BY level", machine)
        return tuple(str(row[0]) for row in rows)

    # ------------------------------------------------------------------ levels
    def read_level(self, level_id: str) -> LevelRecord | None:
        """Return the record of one progressive level; None if the store has no such level.

        The level's amounts are checked when the record is read.
        """
        rows = self._run_sql("SELECT record FROM level WHERE id = ?", level_id)
        return LevelRecord.from_text(level_id, rows[0][0]) if rows else None

    def read_levels(self, *, excluded: Container[str] = ()) -> tuple[LevelRecord, ...]:
        """Return the records of all levels except ``excluded``; closed levels are included."""
        rows = self._run_sql("SELECT id, record FROM level ORDER BY id")
        return tuple(LevelRecord.from_text(row[0], row[1]) for row in rows if row[0] not in excluded)

    def put_level(self, record: LevelRecord) -> None:
        """Store a progressive level's record."""
        self._run_sql(
            "INSERT INTO level VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record",
            record.id,
            record.to_text(),
        )

    # ------------------------------------------------------------------ contributions
    def read_last_contribution_number(self, machine: str, level_id: str) -> int | None:
        """Return the number of a machine's last counted contribution to a level; None if it never enrolled there."""
        rows = self._run_sql("SELECT counted FROM member WHERE machine = ? AND level = ?", machine, level_id)
        return int(rows[0][0]) if rows else None

    def store_last_contribution_number(self, machine: str, level_id: str, contribution_number: int) -> None:
        """Store the number of a machine's last counted contribution to a level; the machine is enrolled in it then."""
        self._run_sql(
            "INSERT INTO member VALUES (?, ?, ?) "
            "ON CONFLICT (machine, level) DO UPDATE SET counted = excluded.counted",
            machine,
            level_id,
            contribution_number,
        )

    def find_contribution(
        self, machine: str, level_id: str, contribution_number: int
    ) -> tuple[int, Fraction] | None:
        """Return a contribution as (wager in minor units, exact amount added to the level), or None if not stored."""
        rows = self._run_sql(
            "SELECT wager_cents, amount FROM contribution WHERE machine = ? AND level = ? AND sequence = ?",
            machine,
            level_id,
            contribution_number,
        )
        return (int(rows[0][0]), Fraction(rows[0][1])) if rows else None

    def add_contribution(self, contribution: Contribution, *, hidden_increment: Fraction) -> None:
        """Store one contribution of a machine.

        ``hidden_increment`` is the exact amount in minor units that the wager adds to the level's hidden reserve,
        which pays for the level's next reset.
        """
        self._run_sql(
            "INSERT INTO contribution VALUES (?, ?, ?, ?, ?, ?)",
            contribution.machine,
            contribution.level_id,
            contribution.number,
            contribution.wager_cents,
            str(contribution.amount),
            str(hidden_increment),
        )

    def sum_contributions(self, level_id: str) -> Fraction:
        """Return the exact sum of a level's contributions, hidden shares included."""
        rows = self._run_sql(
            "SELECT amount, hidden, count(*) FROM contribution WHERE level = ? GROUP BY amount, hidden",
            level_id,
        )
        return sum((int(row[2]) * (Fraction(row[0]) + Fraction(row[1])) for row in rows), Fraction(0))

    # ------------------------------------------------------------------ mystery prizes
    def read_last_prize(self, level_id: str) -> PrizeRecord | None:
        """Return the last mystery prize of a level, or None if it has none.

        It is the current prize, unless the level was closed.
        """
        rows = self._run_sql(
            "SELECT record FROM prize WHERE level = ? ORDER BY number DESC LIMIT 1", level_id
        )
        return PrizeRecord.from_text(rows[0][0]) if rows else None

    def read_prizes(self, level_id: str) -> tuple[PrizeRecord, ...]:
        """Return every mystery prize of a level, in the order of their numbers."""
        rows = self._run_sql("SELECT record FROM prize WHERE level = ? ORDER BY number", level_id)
        return tuple(PrizeRecord.from_text(row[0]) for row in rows)

    def find_prize_of_claim(self, claim_id: str) -> PrizeRecord:
        """Return the mystery prize that a hit won. Raises LookupError if none exists."""
        return PrizeRecord.from_text(
            self._run_sql("SELECT record FROM prize WHERE claim = ?", claim_id)[0][0]
        )

    def put_prize(self, record: PrizeRecord) -> None:
        """Store a mystery prize's record."""
        self._run_sql(
            "INSERT INTO prize VALUES (?, ?, ?, ?) ON CONFLICT (level, number) "
            "DO UPDATE SET claim = excluded.claim, record = excluded.record",
            record.level_id,
            record.number,
            record.claim_id,
            record.to_text(),
        )

    def count_numbered_contributions(self, level_id: str) -> int:
        """Return the number of contributions to a mystery level so far."""
        return int(self._run_sql("SELECT coalesce(max(place), 0) FROM turn WHERE level = ?", level_id)[0][0])

    def find_numbered_contribution(
        self, level_id: str, level_contribution_number: int
    ) -> tuple[str, int] | None:
        """Return the machine that made this contribution to a mystery level, and its own number for it.

        ``level_contribution_number`` counts the contributions of all machines to the level. Return None if no
        contribution has this number.
        """
        rows = self._run_sql(
            "SELECT machine, sequence FROM turn WHERE level = ? AND place = ?",
            level_id,
            level_contribution_number,
        )
        return (str(rows[0][0]), int(rows[0][1])) if rows else None

    def assign_contribution_number(self, level_id: str, machine: str, contribution_number: int) -> None:
        """Store a machine's contribution ``contribution_number`` under the next number of its mystery level."""
        self._run_sql(
            "INSERT INTO turn VALUES (?, ?, ?, ?)",
            level_id,
            self.count_numbered_contributions(level_id) + 1,
            machine,
            contribution_number,
        )

    # ------------------------------------------------------------------ claims
    def find_claim(self, claim_id: str) -> ClaimRecord | None:
        """Return the hit with this claim id, or None."""
        rows = self._run_sql("SELECT record FROM claim WHERE claim = ?", claim_id)
        return from_json(ClaimRecord, json.loads(rows[0][0]), "win register") if rows else None

    def read_win_register(self) -> tuple[ClaimRecord, ...]:
        """Return the win register: every hit, ordered by level and number."""
        rows = self._run_sql("SELECT record FROM claim")
        hits = (from_json(ClaimRecord, json.loads(row[0]), "win register") for row in rows)
        return tuple(sorted(hits, key=lambda hit: (hit.level_id, hit.hit_number)))

    def list_open_claims(self, machine: str, level_id: str) -> tuple[ClaimRecord, ...]:
        """Return the hits of a machine on a level whose payment it has not reported yet."""
        rows = self._run_sql(
            "SELECT record FROM claim WHERE machine = ? AND level = ? AND record LIKE ?",
            machine,
            level_id,
            _UNREPORTED_PAYMENT_LIKE_PATTERN,
        )
        hits = (from_json(ClaimRecord, json.loads(row[0]), "win register") for row in rows)
        return tuple(sorted((hit for hit in hits if not hit.closed_at), key=lambda hit: hit.hit_number))

    def count_hits(self, level_id: str) -> int:
        """Return how many hits of a progressive level are recorded, including those of void games."""
        return int(self._run_sql("SELECT count(*) FROM claim WHERE level = ?", level_id)[0][0])

    def put_claim(self, record: ClaimRecord) -> None:
        """Store a progressive hit's record."""
        self._run_sql(
            "INSERT INTO claim VALUES (?, ?, ?, ?) "
            "ON CONFLICT (claim) DO UPDATE SET record = excluded.record",
            record.claim_id,
            record.machine,
            record.level_id,
            json.dumps(to_json(record), ensure_ascii=False),
        )

    def list_winning_contributions(self, machine: str, level_id: str) -> tuple[int, ...]:
        """Return the numbers of a machine's contributions that hit a level, ascending.

        A contribution with several hits appears once for each; hits of void games are included.
        """
        rows = self._run_sql("SELECT record FROM claim WHERE machine = ? AND level = ?", machine, level_id)
        return tuple(sorted(int(json.loads(row[0])["after"]) for row in rows))

    def find_held_message(self, claim_id: str) -> HeldMessage | None:
        """Return the held claim or payment with this id, ruled on or not; None if none was held."""
        rows = self._run_sql("SELECT record FROM held WHERE claim = ?", claim_id)
        return from_json(HeldMessage, json.loads(rows[0][0]), "held claim") if rows else None

    def list_held_messages(self) -> tuple[HeldMessage, ...]:
        """Return all claims and payments that were ever held for a ruling, oldest first."""
        rows = self._run_sql("SELECT record FROM held")
        return tuple(
            sorted(
                (from_json(HeldMessage, json.loads(row[0]), "held claim") for row in rows),
                key=lambda held_message: held_message.held_at,
            )
        )

    def count_held_without_ruling(self) -> int:
        """Return the number of held claims and payments that still wait for a ruling."""
        return int(
            self._run_sql("SELECT count(*) FROM held WHERE record LIKE ?", _UNRULED_MESSAGE_LIKE_PATTERN)[0][
                0
            ]
        )

    def put_held_message(self, record: HeldMessage) -> None:
        """Store a held claim or payment."""
        self._run_sql(
            "INSERT INTO held VALUES (?, ?) ON CONFLICT (claim) DO UPDATE SET record = excluded.record",
            record.claim_id,
            json.dumps(to_json(record), ensure_ascii=False),
        )

    # ------------------------------------------------------------------ events, signs and daily amounts
    def record_event(self, time_text: str, event_kind: str, **details: Any) -> None:
        """Record an event of the controller: its time, its kind and its details (keyword arguments)."""
        text = json.dumps(details, ensure_ascii=False, default=str, sort_keys=True)
        self._run_sql("INSERT INTO event VALUES (?, ?, ?)", time_text, event_kind, text)

    def read_events(self, event_kind: str = "") -> tuple[ControllerEvent, ...]:
        """Return the recorded events of the progressive controller, or those of one kind."""
        condition, values = (" WHERE kind = ?", (event_kind,)) if event_kind else ("", ())
        rows = self._run_sql(f"SELECT at, kind, story FROM event{condition}", *values)  # noqa: S608 (it inserts a constant)
        return tuple(ControllerEvent(row[0], row[1], json.loads(row[2])) for row in rows)

    def read_sign_texts(self) -> dict[str, str]:
        """Return the record of every overhead sign that must report, as JSON, by the sign's name."""
        return {row[0]: row[1] for row in self._run_sql("SELECT id, record FROM sign ORDER BY id")}

    def put_sign(self, sign: str, text: str) -> None:
        """Store the last known state of an overhead sign; ``text`` is its :class:`SignRecord` as JSON."""
        self._run_sql(
            "INSERT INTO sign VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record",
            sign,
            text,
        )

    def remove_sign(self, sign: str) -> None:
        """Remove an overhead sign from the list of signs that must report."""
        self._run_sql("DELETE FROM sign WHERE id = ?", sign)

    def put_daily_amount(self, day: str, level_id: str, time_text: str, amount_cents: int) -> None:
        """Store the last displayed amount of a level on a day (I-16), replacing an earlier one of that day."""
        self._run_sql(
            "INSERT INTO daily VALUES (?, ?, ?, ?) "
            "ON CONFLICT (day, level) DO UPDATE SET at = excluded.at, amount_cents = excluded.amount_cents",
            day,
            level_id,
            time_text,
            amount_cents,
        )

    def list_daily_amounts(self) -> tuple[DailyAmount, ...]:
        """Return the last amount that each level displayed on each day."""
        rows = self._run_sql("SELECT day, level, at, amount_cents FROM daily ORDER BY day, level")
        return tuple(DailyAmount(row[0], row[1], row[2], int(row[3])) for row in rows)


class Store(ABC):
    """The store of one working controller; ``term`` is a number that increases with every takeover."""

    term: int
    """The number of this controller's term, counted over all controllers of the store."""

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Session]:
        """Yield a transaction; at its end everything is durable, or after an error nothing was changed.

        Raises :class:`DeposedError` if another controller has taken over.
        """
        self.run(self.begin_sql)
        try:
            self._require_term()
            yield Session(self)
        except BaseException:
            self.rollback()
            raise
        self.run("COMMIT")

    begin_sql = "BEGIN"
    """The statement that begins a transaction."""
    table_exists_sql: str
    """A query with one value, a table's name; it returns 0 if there is no such table."""

    def _require_term(self) -> None:
        """Raise DeposedError if this controller's term has ended; if not, prevent a takeover in this transaction."""
        if not self.run("UPDATE office SET used = used + 1 WHERE term = ? RETURNING term", self.term):
            raise DeposedError(f"term {self.term} is over: another controller has taken over")

    @abstractmethod
    def run(self, sql: str, *values: Any) -> list[DatabaseRow]:
        """Run one SQL statement, in which each ``?`` stands for a value, and return its rows."""

    @abstractmethod
    def rollback(self) -> None:
        """Undo the changes of the transaction; never raises."""

    @abstractmethod
    def close(self) -> None:
        """Close the store."""

    def require_tables(self) -> None:
        """Raise OperatorError if a table is missing; used by readers.

        Earlier versions created fewer tables; the next controller that starts creates the missing ones.
        """
        names = [
            statement.split(" (")[0].split()[-1]
            for statement in _CREATE_TABLES_SQL
            if statement.startswith("CREATE TABLE")
        ]
        missing_tables = [name for name in names if not self.run(self.table_exists_sql, name)[0][0]]
        if missing_tables:
            raise OperatorError(
                f"the controller's store has no table {', '.join(missing_tables)}: it was written by an earlier"
                " version; run `egm progressive serve` on it to create them"
            )

    def _take_over(self, integer_sql_type: str) -> None:
        """Create missing tables and start a new term, so that earlier controllers can no longer write.

        ``integer_sql_type`` is the SQL type of whole numbers.
        """
        self.run(self.begin_sql)
        for statement in _CREATE_TABLES_SQL:
            self.run(statement.format(int=integer_sql_type))
        self.run("INSERT INTO office VALUES (1, 0, 0) ON CONFLICT (one) DO NOTHING")
        self.term = int(self.run("UPDATE office SET term = term + 1 RETURNING term")[0][0])
        self.run("COMMIT")


class SqliteReader(Store):
    """A controller's store in a SQLite file, opened for reading only; a controller may use it at the same time."""

    table_exists_sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
    """The SQL query that returns how many tables with a given name exist (0 or 1)."""

    def __init__(self, path: Path) -> None:
        """Open the SQLite file for reading. Raises OperatorError if it does not exist or is not a controller store."""
        if not path.exists():
            raise OperatorError(
                f"{path}: there is no controller store; `egm progressive serve` creates one, --store names another"
            )
        try:
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
            )
            self.run("SELECT term FROM office")
        except sqlite3.DatabaseError as error:
            raise OperatorError(f"{path} is not a controller store: {error}") from error

    def _require_term(self) -> None:
        """Do nothing: only a controller that writes needs a term, and this reader writes nothing."""

    def run(self, sql: str, *values: Any) -> list[DatabaseRow]:
        """Run one SQL statement; see :meth:`Store.run`."""
        return self._connection.execute(sql, values).fetchall()

    def rollback(self) -> None:
        """Undo the transaction; see :meth:`Store.rollback`."""
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the store; see :meth:`Store.close`."""
        self._connection.close()


class SqliteStore(SqliteReader):
    """The store of a progressive controller in a SQLite file on this computer, for one controller at a time."""

    begin_sql = "BEGIN IMMEDIATE"
    _require_term = Store._require_term  # noqa: SLF001 (shared by the stores that write, not by those that read)

    def __init__(self, path: Path) -> None:
        """Open or create the SQLite file.

        Raises :class:`StoreBusyError` if another controller uses it, or OperatorError for an invalid file.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        lock_path = path.with_name(path.name + ".lock")
        try:
            self._lock_descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise OperatorError(f"{lock_path}: {error.strerror}") from error
        try:
            fcntl.flock(self._lock_descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock_descriptor)
            raise StoreBusyError(f"{path}: another controller is using this store") from None
        try:
            self._connection = sqlite3.connect(path, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._take_over("INTEGER")
        except sqlite3.DatabaseError as error:
            os.close(self._lock_descriptor)
            raise OperatorError(f"{path}: {error}") from error

    def close(self) -> None:
        """Close the store; see :meth:`Store.close`."""
        self._connection.close()
        if self._lock_descriptor >= 0:
            os.close(self._lock_descriptor)
            self._lock_descriptor = -1
