"""The controller's store in PostgreSQL: several controllers may stand by, one works."""

import contextlib
from typing import Any, Final

import psycopg

from egm.errors import OperatorError
from tools.floor.progressive.store import Row, Store, StoreBusyError, StoreLostError

#: The advisory lock whoever works holds; PostgreSQL releases it when the connection is gone.
_LOCK: Final = 0x45474D50  # EGMP
#: Nobody waits longer for what another holds.
_LOCK_MS: Final = 30_000
#: A controller speaks every two seconds at least; one silent for this long is dead or hangs, and loses its
#: place: without this a computer that is cut off, or a process that stands still, would hold it for hours.
_SILENT_MS: Final = 30_000
#: Both ends find out by themselves within this time that the other's computer is gone.
_GONE_SECONDS: Final = 15
_KEEPALIVES: Final = 3
#: From this version on the server ends a silent session.
_ENDS_SILENCE: Final = 140_000


class PostgresReader(Store):
    """A database of a PostgreSQL server, only to be read, while a controller may be working on it."""

    begin = "BEGIN READ ONLY"
    looks_for = "SELECT count(to_regclass(?))"

    def __init__(self, dsn: str) -> None:
        """Connect. Raises OperatorError for a fault; a password in ``dsn`` is never repeated in a message."""
        try:
            self._base = psycopg.connect(
                dsn,
                autocommit=True,
                connect_timeout=_GONE_SECONDS,
                keepalives_idle=_GONE_SECONDS // _KEEPALIVES,
                keepalives_interval=_GONE_SECONDS // _KEEPALIVES,
                keepalives_count=_KEEPALIVES,
                tcp_user_timeout=_GONE_SECONDS * 1000,
            )
        except psycopg.Error as error:
            raise OperatorError(_told(error)) from None

    def _hold_office(self) -> None:
        """Who only reads needs none."""

    def run(self, sql: str, *values: Any) -> list[Row]:
        """See :meth:`Store.run`."""
        try:
            cursor = self._base.execute(sql.replace("?", "%s").encode(), values or None)
            return list(cursor.fetchall()) if cursor.description else []
        except (psycopg.OperationalError, psycopg.InternalError, psycopg.InterfaceError) as error:
            raise StoreLostError(_told(error)) from None

    def rollback(self) -> None:
        """See :meth:`Store.rollback`."""
        with contextlib.suppress(psycopg.Error):
            self._base.execute("ROLLBACK")

    def close(self) -> None:
        """See :meth:`Store.close`."""
        self._base.close()


class PostgresStore(PostgresReader):
    """The database taken over, when nobody else works on it."""

    begin = "BEGIN"
    _hold_office = Store._hold_office  # noqa: SLF001 (who writes holds the office, unlike who reads)

    def __init__(self, dsn: str) -> None:
        """Connect and take over. Raises :class:`StoreBusyError` while another works."""
        super().__init__(dsn)
        try:
            self._watch_over()
            if not self.run("SELECT pg_try_advisory_lock(?)", _LOCK)[0][0]:
                raise StoreBusyError("PostgreSQL: another controller works on this database")
            self._take_over("BIGINT")
        except BaseException:
            self._base.close()
            raise

    def _watch_over(self) -> None:
        """Let the server end this session where its controller stands still or is gone."""
        limits = {
            "lock_timeout": _LOCK_MS,
            "idle_in_transaction_session_timeout": _SILENT_MS,
            "tcp_keepalives_idle": _GONE_SECONDS // _KEEPALIVES,
            "tcp_keepalives_interval": _GONE_SECONDS // _KEEPALIVES,
            "tcp_keepalives_count": _KEEPALIVES,
        }
        if self._base.info.server_version >= _ENDS_SILENCE:
            limits["idle_session_timeout"] = _SILENT_MS
        for name, limit in limits.items():
            self.run("SELECT set_config(?, ?, false)", name, str(limit))


def _told(error: psycopg.Error) -> str:
    """What happened, in a line, as the server tells it."""
    return f"PostgreSQL: {type(error).__name__}: {str(error).splitlines()[0]}"
