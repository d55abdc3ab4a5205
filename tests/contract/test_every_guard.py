"""Every guard of the state table is shown to refuse an event by itself: a rule without it would let the event pass.

``rigs.guards`` has a table for each part of the machine. A guard is the only one of its rule that says no in its
row, or its row names the later guards that say no with it; then it decides the reason that the person reads.
"""

import pytest
from rigs.guards import integrity, money, play, staff, tournament
from rigs.guards.alone import RULES, try_row

from egm.kernel.rules import code_of

TABLES = (money, staff, integrity, play, tournament)
ROWS = [row for table in TABLES for row in table.ROWS]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{row.rule}: {row.guard}", marks=pytest.mark.requirement(*row.requirements))
        for row in ROWS
    ],
)
def test_a_guard_refuses_by_itself(row, tmp_path):
    try_row(row, tmp_path)


def test_every_guard_has_its_row():
    guards = {(name, code_of(guard)) for name, rule in RULES.items() for guard in rule.guards}
    shown = [(row.rule, row.guard) for row in ROWS]
    assert len(shown) == len(set(shown)), "a guard has two rows"
    missing = sorted(guards - set(shown))
    assert not missing, (
        "write a row for each of these guards into the table of its feature in tests/rigs/guards, in which the "
        f"guard alone refuses an event: {missing}"
    )
