"""A progressive controller on each store: SQLite, and PostgreSQL if it is installed."""

import itertools

import pytest
from controller_clock import Clock
from rigs.postgres import start_postgres_or_skip

from tools.floor.progressive.controller import Controller
from tools.floor.progressive.mystery_secrets import MysterySecrets
from tools.floor.progressive.store import SqliteStore


@pytest.fixture(scope="session")
def postgres():
    server = start_postgres_or_skip()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def open_store(request, tmp_path):
    """Return a function that opens the same store each time; all are closed at the end."""
    opened = []
    if request.param == "sqlite":

        def make():
            return SqliteStore(tmp_path / "levels.db")
    else:
        import psycopg

        from tools.floor.progressive.postgres import PostgresStore

        server = request.getfixturevalue("postgres")
        name = f"test_{next(_NAMES)}"
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")  # a separate database costs ten times as much
        dsn = f"{server.dsn()} options=-csearch_path={name}"

        def make():
            return PostgresStore(dsn)

    def open_():
        opened.append(make())
        return opened[-1]

    yield open_
    for store in opened:
        store.close()


_NAMES = itertools.count(1)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def controller(open_store, clock):
    return Controller(open_store(), clock, MysterySecrets(bytes(32)))
