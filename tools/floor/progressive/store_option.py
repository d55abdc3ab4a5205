"""The option ``--store`` of commands: it opens the controller's store, for reading and writing or for reading only."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from egm.clock import SystemClock
from egm.config.cabinet_file import find_default_state_folder
from egm.errors import LocalError, OperatorError
from tools.floor.progressive.controller import Controller
from tools.floor.progressive.store import SqliteReader, SqliteStore, Store

#: Errors that are reported to the person in one line.
ERRORS_REPORTED_IN_ONE_LINE = (LocalError, OperatorError)

#: The command-line option that names the store.
STORE_OPTION = click.option(
    "--store",
    default=None,
    help="An SQLite file, or a PostgreSQL DSN (default: controller.db in the state folder).",
)


def open_store(store_name: str | None, *, read_only: bool = False) -> Store:
    """Open the named store, or the default one; with ``read_only``, for reading only.

    Raises StoreBusyError if another controller uses the store; reading is always possible.
    """
    if store_name is not None and (
        "=" in store_name or store_name.startswith(("postgres://", "postgresql://"))
    ):
        from tools.floor.progressive.postgres import PostgresReader, PostgresStore  # noqa: PLC0415 (an optional package)

        return _require_all_tables(PostgresReader(store_name)) if read_only else PostgresStore(store_name)
    path = find_default_state_folder() / "controller.db" if store_name is None else Path(store_name)
    return _require_all_tables(SqliteReader(path)) if read_only else SqliteStore(path)


def _require_all_tables(store: Store) -> Store:
    """Return the store if it has every table; otherwise close it and raise OperatorError."""
    try:
        store.require_tables()
    except BaseException:
        store.close()
        raise
    return store


@contextmanager
def open_controller(store_name: str | None, *, read_only: bool = False) -> Iterator[Controller]:
    """Yield a controller on the named store, without a network connection; errors become one-line messages."""
    try:
        opened_store = open_store(store_name, read_only=read_only)
    except ERRORS_REPORTED_IN_ONE_LINE as error:
        raise click.ClickException(str(error)) from error
    try:
        yield Controller(opened_store, SystemClock().now)
    except ERRORS_REPORTED_IN_ONE_LINE as error:
        raise click.ClickException(str(error)) from error
    finally:
        opened_store.close()
