"""A real PostgreSQL server for tests, if PostgreSQL is installed."""

import pytest

from tools.dev.progressive.postgres import Postgres, PostgresMissingError


def start_postgres_or_skip() -> Postgres:
    """Start a server and return it; if PostgreSQL is not installed, skip the test."""
    try:
        return Postgres()
    except PostgresMissingError as missing:
        pytest.skip(str(missing))
