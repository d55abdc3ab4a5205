"""Opening the store a person named, for whoever works on it or only reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from egm.clock import SystemClock
from egm.config.cabinet_file import default_state_dir
from egm.errors import LocalError, OperatorError
from tools.floor.progressive.controller import Controller
from tools.floor.progressive.store import SqliteReader, SqliteStore, Store

#: What a person is told in a line.
TOLD = (LocalError, OperatorError)

STORE = click.option(
    "--store",
    default=None,
    help="an SQLite file, or a PostgreSQL DSN (default: controller.db in the state folder)",
)


def open_store(text: str | None, *, to_read: bool = False) -> Store:
    """The store a person named. Raises StoreBusyError while another controller works on it."""
    if text is not None and ("=" in text or text.startswith(("postgres://", "postgresql://"))):
        from tools.floor.progressive.postgres import PostgresReader, PostgresStore  # noqa: PLC0415 (an extra)

        return _whole(PostgresReader(text)) if to_read else PostgresStore(text)
    path = default_state_dir() / "controller.db" if text is None else Path(text)
    return _whole(SqliteReader(path)) if to_read else SqliteStore(path)


def _whole(store: Store) -> Store:
    """A store to read that has every table. Raises OperatorError, with the store closed."""
    try:
        store.require_tables()
    except BaseException:
        store.close()
        raise
    return store


@contextmanager
def controller_on(store: str | None, *, to_read: bool = False) -> Iterator[Controller]:
    """A controller on the store a person named, that speaks to nobody; what it refuses is told in a line."""
    try:
        opened = open_store(store, to_read=to_read)
    except TOLD as error:
        raise click.ClickException(str(error)) from error
    try:
        yield Controller(opened, SystemClock().now)
    except TOLD as error:
        raise click.ClickException(str(error)) from error
    finally:
        opened.close()
