"""A machine's statements by day, month or year: how its meters changed, and the counted cash.

They are computed from the journal's entries alone (FR69 (d); D-21), so the statement of an exported journal
equals that of the machine. An entry belongs to the gaming day of its recorded time, even if the clock was changed
between entries. The last power-up before the entry states the time zone and the hour at which the gaming day starts
(UTC and midnight if it states none).
"""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

from egm.gaming_day import GamingDay
from egm.integrity.entries import POWER_UP
from egm.staff.entries import COLLECTED_BOX_COUNTED
from meters import StoredEntry, read_meters
from meters.ledger import Ledger

#: The length of a statement's periods.
StatementPeriod: TypeAlias = Literal["day", "month", "year"]
#: How many leading characters of an ISO 8601 date name the period.
_DATE_LENGTH_BY_PERIOD: Final = {"day": 10, "month": 7, "year": 4}
#: The meters of a statement, in minor units or counts.
STATEMENT_METERS: Final = (
    "games_played",
    "coin_in",
    "coin_out",
    "hand_paid",
    "time_charges",
    "coin_drop",
    "bill_in.value",
    "ticket_in.cashable.value",
    "ticket_out.cashable.value",
    "hopper_fill",
    "money_in",
    "money_out",
)
#: The operator's win from the games, in minor units: wagers less wins, and charges for the time played. (The account
#: ``house:win`` is another thing: the wins paid to players.)
OPERATOR_WIN_KEY: Final = "house_win"
#: The meters whose sum is the operator's win, each with its sign.
_SIGN_BY_WIN_METER: Final = {"coin_in": 1, "coin_out": -1, "hand_paid": -1, "time_charges": 1}
#: What staff counted, in minor units: the sum, what was metered for the same boxes, and the difference.
COUNTED_CASH_KEYS: Final = ("counted_cents", "metered_cents", "difference_cents")


def compute_statement(
    entries: Iterable[StoredEntry], period_length: StatementPeriod, position: int | None = None
) -> dict[str, dict[str, int]]:
    """Return the totals of each period, oldest first: changes of meters, operator's win and counted cash.

    The result maps the name of the period to amounts and counts by name. With ``position``, only the meters of
    one player position are included, and no counted cash, because cash boxes are counted for the whole machine.
    """
    ledger, meters_before = Ledger(), dict.fromkeys(STATEMENT_METERS, 0)
    periods: dict[str, dict[str, int]] = {}
    current_period = ""
    for entry, gaming_day in iter_with_gaming_days(entries):
        period = gaming_day.find_date(entry.time_utc).isoformat()[: _DATE_LENGTH_BY_PERIOD[period_length]]
        if period != current_period:
            meters_before = _add_meter_changes(periods, current_period, ledger, meters_before, position)
            current_period = period
            counted_keys = () if position is not None else COUNTED_CASH_KEYS
            periods.setdefault(period, dict.fromkeys((*STATEMENT_METERS, OPERATOR_WIN_KEY, *counted_keys), 0))
        ledger.apply_effect(ledger.compute_effect(entry.transaction), entry)
        if position is None and entry.kind == COLLECTED_BOX_COUNTED.kind and isinstance(entry.record, dict):
            for name in COUNTED_CASH_KEYS:
                periods[period][name] += int(entry.record[name])
    _add_meter_changes(periods, current_period, ledger, meters_before, position)
    return periods


def iter_with_gaming_days(entries: Iterable[StoredEntry]) -> Iterator[tuple[StoredEntry, GamingDay]]:
    """Yield each entry with the gaming-day setting (time zone and first hour) in force at the entry.

    A power-up entry records the setting. Entries before the first power-up use that power-up's setting; without
    any power-up, the default setting is used.
    """
    undated_entries: list[StoredEntry] = []
    gaming_day: GamingDay | None = None
    for entry in entries:
        if entry.kind == POWER_UP.kind:
            gaming_day = GamingDay.from_power_up(entry.record)
        undated_entries.append(entry)
        if gaming_day is not None:
            yield from ((undated_entry, gaming_day) for undated_entry in undated_entries)
            undated_entries.clear()
    yield from ((undated_entry, GamingDay()) for undated_entry in undated_entries)


def _add_meter_changes(
    periods: dict[str, dict[str, int]],
    period: str,
    ledger: Ledger,
    meters_before: dict[str, int],
    position: int | None,
) -> dict[str, int]:
    """Add the change of each meter since ``meters_before`` to the totals of a period; return the meters now.

    ``periods`` has the totals by the name of the period. If ``period`` is "", nothing is added.
    """
    reading = read_meters(ledger)
    value_by_meter = reading.values if position is None else reading.select(position=str(position)).values
    meters_now = {name: value_by_meter[name] for name in STATEMENT_METERS}
    for name in STATEMENT_METERS if period else ():
        difference = meters_now[name] - meters_before[name]
        periods[period][name] += difference
        periods[period][OPERATOR_WIN_KEY] += difference * _SIGN_BY_WIN_METER.get(name, 0)
    return meters_now
