"""The controller's store in PostgreSQL: several controllers may stand by, one works."""

import contextlib
from typing import Any, Final

import psycopg

from egm.errors import OperatorError
from tools.progressive.store import Row, Store, StoreBusyError

#: The advisory lock whoever works holds; PostgreSQL releases it when the connection is gone.
_LOCK: Final = 0x45474D50  # EGMP


class PostgresStore(Store):
    """A database of a PostgreSQL server, taken over when nobody else works on it."""

    def __init__(self, dsn: str) -> None:
        """Connect and take over.

        Raises :class:`StoreBusyError` while another works, OperatorError for a fault. The password, where
        there is one, is never repeated in a message.
        """
        try:
            self._base = psycopg.connect(dsn, autocommit=True)
        except psycopg.Error as error:
            raise OperatorError(f"PostgreSQL: {type(error).__name__}: {str(error).splitlines()[0]}") from None
        try:
            if not self.run("SELECT pg_try_advisory_lock(?)", _LOCK)[0][0]:
                raise StoreBusyError("PostgreSQL: another controller works on this database")
            self._take_over("BIGINT")
        except BaseException:
            self._base.close()
            raise

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
