"""Every guard of the state table is shown alone: without it, the event that it refuses would be accepted."""

import pytest
from rigs.guards import integrity, money, play, staff
from rigs.guards.alone import try_row

TABLES = (money, staff, integrity, play)
ROWS = {(row.rule, row.guard): row for table in TABLES for row in table.ROWS}


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row, id=f"{row.rule}: {row.guard}", marks=pytest.mark.requirement(*row.requirements)
        )
        for row in ROWS.values()
    ],
)
def test_a_guard_refuses_by_itself(row, tmp_path):
    try_row(row, tmp_path)
