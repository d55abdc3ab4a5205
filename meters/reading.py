"""A reading of every meter as of one journal entry, for the whole machine or a part of it, such as a position."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from meters.chart import parse_account_variables
from meters.errors import JournalError
from meters.ledger import Ledger
from meters.table import METER_BY_NAME, METERS, OCCURRENCE_METERS, MeterUnit, find_flow_meters
from meters.transaction import PeriodMark

#: The number of digits that a meter displays (D-05).
METER_DIGIT_COUNT: Final = 10


class UnknownMeter(JournalError, KeyError):
    """Raised if no meter has this name."""


@dataclass(frozen=True, slots=True)
class MeterCell:
    """One meter cell of a reading: the sum of a flow of value, or a count, for one combination of dimensions."""

    source: str
    """The account that value flowed out of, or the name of a count."""
    target: str
    """The account that value flowed into; empty for a count."""
    dims: Mapping[str, str]
    """The value of each dimension of the cell, by the dimension's name, such as ``game``."""
    amount_cents: int
    """The amount that flowed, in minor units; 0 for a count."""
    count: int
    """The number of transfers that were added up; for a count, its value."""


@dataclass(frozen=True, slots=True)
class MeterReading:
    """The value of every meter as of the journal entry ``sequence``, whose hash is ``head_hash``.

    ``values`` has the value of each meter by name, in minor units or occurrences. :meth:`split_by` splits a
    meter by a dimension; :meth:`select` returns the reading of a part, such as a position or a game.
    """

    sequence: int
    """The number of the last journal entry that is included."""
    head_hash: str
    """The hash of the last journal entry that is included."""
    cells: tuple[MeterCell, ...]
    """The meter cells; every meter is a sum over some of them."""
    values_at_marks: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For each period mark (an event such as a power-up), the values of the occurrence meters when it last occurred.

    The keys are the mark and the meter name.
    """

    @property
    def values(self) -> dict[str, int]:
        """Return every meter's value by name, and occurrence meters also since each mark (as ``NAME.since_MARK``)."""
        values = dict.fromkeys((m.name for m in METERS), 0) | dict.fromkeys(OCCURRENCE_METERS, 0)
        for cell in self.cells:
            for name, amount in _list_meter_changes(cell):
                values[name] = values.get(name, 0) + amount
        occurrence_meter_names = [name for name in values if name not in METER_BY_NAME]
        for mark, values_then in self.values_at_marks.items():
            for name in occurrence_meter_names:
                values[f"{name}.since_{mark}"] = values[name] - values_then.get(name, 0)
        return values

    def get_value(self, name: str) -> int:
        """Return the value of the meter ``name``. Raises :class:`UnknownMeter` if no meter has this name."""
        values = self.values
        if name not in values:
            raise UnknownMeter(f"there is no meter {name!r}")
        return values[name]

    def split_by(self, meter_name: str, dimension: str) -> dict[str, int]:
        """Return a meter's value for each value of ``dimension``, such as each game.

        The key "" has the sum of the cells that lack this dimension.
        """
        value_by_dimension: Counter[str] = Counter()
        for cell in self.cells:
            for meter, amount in _list_meter_changes(cell):
                if meter == meter_name:
                    value_by_dimension[cell.dims.get(dimension, "")] += amount
        return dict(value_by_dimension)

    def select(self, **dims: str | int) -> "MeterReading":
        """Return the reading of only those meter cells that have every given dimension value.

        For example, ``select(position=1)`` returns the meters of player position 1. The result has no meters of
        the form ``NAME.since_MARK``, because those are only counted for the whole machine.
        """
        selection = {key: str(value) for key, value in dims.items()}
        cells = tuple(c for c in self.cells if selection.items() <= c.dims.items())
        return MeterReading(self.sequence, self.head_hash, cells)

    def list_dimension_values(self, name: str) -> list[str]:
        """Return, sorted, the distinct values of the dimension ``name`` (such as each game) in this reading."""
        return sorted({c.dims[name] for c in self.cells if name in c.dims})


def _list_meter_changes(cell: MeterCell) -> list[tuple[str, int]]:
    """Return (meter name, amount) for each meter that includes a cell.

    The amount is negative if the cell reduces the meter.
    """
    if not cell.target:
        return [(cell.source, cell.count)]
    return [
        (meter.name, sign * (cell.count if meter.unit is MeterUnit.TIMES else cell.amount_cents))
        for meter, sign in find_flow_meters(cell.source, cell.target)
    ]


def compute_displayed_value(value: int, digit_count: int = METER_DIGIT_COUNT) -> int:
    """Return what a meter of ``digit_count`` digits displays for ``value``: it rolls over at its capacity (D-05, D-07).

    A negative value (coins paid from a hopper whose filling was not recorded) is displayed with its sign. Only
    the display rolls over; the ledger's integers have no capacity.
    """
    capacity = int(10**digit_count)
    return value % capacity if value >= 0 else -(-value % capacity)


def read_meters(ledger: Ledger) -> MeterReading:
    """Return the meter reading that results from a ledger."""
    flow_cells = [
        MeterCell(
            source,
            target,
            _build_cell_dimensions(key, source, target),
            flow.amount_cents,
            flow.transfer_count,
        )
        for (source, target, key), flow in ledger.flows.items()
    ]
    count_cells = [
        MeterCell(name, "", _build_cell_dimensions(key), 0, count)
        for (name, key), count in ledger.counts.items()
    ]
    values_at_marks = {str(mark): dict(ledger.counts_at_marks.get(mark, {})) for mark in PeriodMark}
    return MeterReading(ledger.sequence, ledger.head_hex, (*flow_cells, *count_cells), values_at_marks)


def _build_cell_dimensions(key: tuple[tuple[str, str | int], ...], *accounts: str) -> dict[str, str]:
    """Return a meter cell's dimensions: those in ``key``, and those in its account names (position, kind, level).

    If neither names a position, it is position 1: a machine with one position names none.
    """
    account_variables = (item for account in accounts for item in parse_account_variables(account).items())
    return {"position": "1", **dict(account_variables), **{k: str(v) for k, v in key}}
