"""A real PostgreSQL of the tests' own, where it is installed."""

import pytest

from tools.dev.progressive.postgres import Postgres, PostgresMissingError


def postgres_or_skip() -> Postgres:
    """A server, or the reason why there is none."""
    try:
        return Postgres()
    except PostgresMissingError as missing:
        pytest.skip(str(missing))
