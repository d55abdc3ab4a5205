"""Tables between rounds: how each stands, and the bets on it."""

from egm.kernel.machine import Machine
from egm.records.game_record import TableRecord
from egm.records.keys import TableKey


def table_of(machine: Machine, digest: str) -> TableRecord | None:
    """How the table of a definition stands; None: as it opens."""
    return machine.memory.read(TableRecord, f"{TableKey.TABLE}{digest}")


def standing_tables(machine: Machine) -> tuple[TableRecord, ...]:
    """The tables on which bets stand."""
    tables = machine.memory.read_all(TableRecord, TableKey.TABLE)
    return tuple(table for table in tables.values() if table.staked)
