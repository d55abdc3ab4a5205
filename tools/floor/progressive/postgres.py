"""The controller's store in PostgreSQL: one controller works on it, and others can stand by to take over."""

import contextlib
from typing import Any, Final

import psycopg

from egm.errors import OperatorError
from tools.floor.progressive.store import DatabaseRow, Store, StoreBusyError, StoreLostError

#: The advisory lock of the working controller; PostgreSQL releases it when the connection is lost.
_ADVISORY_LOCK_ID: Final = 0x45474D50  # EGMP
#: The longest wait for a lock that another session holds.
_LOCK_WAIT_MS: Final = 30_000
#: A working controller sends a query at least every two seconds; one that is silent for this long is dead or
#: hangs, and loses its session. Otherwise a disconnected computer or a stopped process would hold the lock
#: for hours.
_IDLE_SESSION_MS: Final = 30_000
#: The time within which both ends detect that the other's computer is gone.
_CONNECTION_TIMEOUT_SECONDS: Final = 15
#: The number of unanswered probes after which the connection is lost.
_KEEPALIVE_PROBE_COUNT: Final = 3
#: The first server version that ends a silent session.
_IDLE_TIMEOUT_SERVER_VERSION: Final = 140_000


class PostgresReader(Store):
    """A controller's store in PostgreSQL, opened for reading only; a controller may use it at the same time."""

    begin_sql = "BEGIN READ ONLY"
    table_exists_sql = "SELECT count(to_regclass(?))"
    """The SQL query that returns how many tables with a given name exist (0 or 1)."""

    def __init__(self, dsn: str) -> None:
        """Connect to the server. Raises OperatorError, whose text never contains the password in ``dsn``."""
        try:
            self._connection = psycopg.connect(
                dsn,
                autocommit=True,
                connect_timeout=_CONNECTION_TIMEOUT_SECONDS,
                keepalives_idle=_CONNECTION_TIMEOUT_SECONDS // _KEEPALIVE_PROBE_COUNT,
                keepalives_interval=_CONNECTION_TIMEOUT_SECONDS // _KEEPALIVE_PROBE_COUNT,
                keepalives_count=_KEEPALIVE_PROBE_COUNT,
                tcp_user_timeout=_CONNECTION_TIMEOUT_SECONDS * 1000,
            )
        except psycopg.Error as error:
            raise OperatorError(_format_error(error)) from None

    def _require_term(self) -> None:
        """Do nothing: only a controller that writes needs a term, and this reader writes nothing."""

    def run(self, sql: str, *values: Any) -> list[DatabaseRow]:
        """Run one SQL statement; see :meth:`Store.run`."""
        try:
            cursor = self._connection.execute(sql.replace("?", "%s").encode(), values or None)
            return list(cursor.fetchall()) if cursor.description else []
        except (psycopg.OperationalError, psycopg.InternalError, psycopg.InterfaceError) as error:
            raise StoreLostError(_format_error(error)) from None

    def rollback(self) -> None:
        """Undo the transaction; see :meth:`Store.rollback`."""
        with contextlib.suppress(psycopg.Error):
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the store; see :meth:`Store.close`."""
        self._connection.close()


class PostgresStore(PostgresReader):
    """A controller's store in a PostgreSQL database that this controller has taken over; no other may use it."""

    begin_sql = "BEGIN"
    _require_term = Store._require_term  # noqa: SLF001 (shared by the stores that write, not by those that read)

    def __init__(self, dsn: str) -> None:
        """Connect to the server and take the store over.

        Raises :class:`StoreBusyError` while another controller uses the database.
        """
        super().__init__(dsn)
        try:
            self._set_session_timeouts()
            if not self.run("SELECT pg_try_advisory_lock(?)", _ADVISORY_LOCK_ID)[0][0]:
                raise StoreBusyError("PostgreSQL: another controller is using this database")
            self._take_over("BIGINT")
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Release the lock, which the server otherwise keeps until it notices the end of the session; then close."""
        with contextlib.suppress(psycopg.Error):
            self._connection.execute("SELECT pg_advisory_unlock_all()")
        super().close()

    def _set_session_timeouts(self) -> None:
        """Configure the server to end this session if the controller hangs or its connection is lost.

        Then another controller can take over.
        """
        limits = {
            "lock_timeout": _LOCK_WAIT_MS,
            "idle_in_transaction_session_timeout": _IDLE_SESSION_MS,
            "tcp_keepalives_idle": _CONNECTION_TIMEOUT_SECONDS // _KEEPALIVE_PROBE_COUNT,
            "tcp_keepalives_interval": _CONNECTION_TIMEOUT_SECONDS // _KEEPALIVE_PROBE_COUNT,
            "tcp_keepalives_count": _KEEPALIVE_PROBE_COUNT,
        }
        if self._connection.info.server_version >= _IDLE_TIMEOUT_SERVER_VERSION:
            limits["idle_session_timeout"] = _IDLE_SESSION_MS
        for name, limit in limits.items():
            self.run("SELECT set_config(?, ?, false)", name, str(limit))


def _format_error(error: psycopg.Error) -> str:
    """Return the error message of the database server in one line."""
    return f"PostgreSQL: {type(error).__name__}: {str(error).splitlines()[0]}"
