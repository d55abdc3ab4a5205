"""The controller's store in PostgreSQL: several controllers may stand by, one works."""

import contextlib
from typing import Any, Final

import psycopg

from egm.errors import OperatorError
from tools.progressive.store import Row, Store, StoreBusyError

#: The advisory lock whoever works holds; PostgreSQL releases it when the connection is gone.
_LOCK: Final = 0x45474D50  # EGMP


class PostgresReader(Store):
    """A database of a PostgreSQL server, only to be read, while a controller may be working on it."""

    begin = "BEGIN READ ONLY"

    def __init__(self, dsn: str) -> None:
        """Connect. Raises OperatorError for a fault; a password in ``dsn`` is never repeated in a message."""
        try:
            self._base = psycopg.connect(dsn, autocommit=True)
        except psycopg.Error as error:
            raise OperatorError(f"PostgreSQL: {type(error).__name__}: {str(error).splitlines()[0]}") from None

    def _hold_office(self) -> None:
        """Who only reads needs none."""

    def run(self, sql: str, *values: Any) -> list[Row]:
        """See :meth:`Store.run`."""
        cursor = self._base.execute(sql.replace("?", "%s").encode(), values or None)
        return list(cursor.fetchall()) if cursor.description else []

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
            if not self.run("SELECT pg_try_advisory_lock(?)", _LOCK)[0][0]:
                raise StoreBusyError("PostgreSQL: another controller works on this database")
            self._take_over("BIGINT")
        except BaseException:
            self._base.close()
            raise
