"""What holds for every test: runs that repeat exactly, and requirement marks that name real requirements."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tools.conformance.requirements import load

# The suite repeats exactly, on any machine however loaded; HYPOTHESIS_PROFILE=explore looks for new examples.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a ``requirement`` mark whose id does not exist, so that no test claims what nobody asked for."""
    known = load().rows
    unknown = sorted(
        f"{item.nodeid}: {name!r}"
        for item in items
        for mark in item.iter_markers("requirement")
        for name in mark.args
        if name not in known
    )
    if unknown:
        raise pytest.UsageError("no such requirement:\n" + "\n".join(unknown))
