"""Every guard of the state table refuses an event that its rule would accept without it.

``rigs.guards`` has a table for each part of the machine. In its row a guard is the only one of its rule that
fails, or the row names the later guards that fail too; the guard then decides the reason that the person reads.
"""

import pytest
from rigs.guards import integrity, money, play, staff, tournament
from rigs.guards.alone import RULES, try_row

from egm.kernel.rules import get_refusal_code

TABLES = (money, staff, integrity, play, tournament)
ROWS = [row for table in TABLES for row in table.ROWS]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{row.rule}: {row.guard}", marks=pytest.mark.requirement(*row.requirements))
        for row in ROWS
    ],
)
def test_each_guard_alone_refuses_its_event(row, tmp_path):
    try_row(row, tmp_path)


def test_every_guard_has_a_row_in_the_table():
    guards = {(name, get_refusal_code(guard)) for name, rule in RULES.items() for guard in rule.guards}
    shown = [(row.rule, row.guard) for row in ROWS]
    assert len(shown) == len(set(shown)), "a guard has two rows"
    missing = sorted(guards - set(shown))
    assert not missing, (
        "write a row for each of these guards into the table of its feature in tests/rigs/guards, in which the "
        f"guard alone refuses an event: {missing}"
    )
