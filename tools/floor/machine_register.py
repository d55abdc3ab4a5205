"""The venue's register of machines and cabinet stands (bases), from all machines' journals (Monaco 19.2, 19.3).

The register is not stored: it is derived from what the machines recorded, and so is always up to date. It
checks that no two machines have the same base number (which is never assigned again), serial number or
operator's number.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from egm.gaming_day import GamingDay
from egm.integrity.entries import POWER_UP
from egm.staff.entries import CABINET_BASE_RETURNED, CABINET_BASE_WITHDRAWN
from egm.staff.inventory import INVENTORY_ENTRY_KIND, format_certified_figure
from meters import StoredEntry

#: The fields that must differ for every machine of a venue.
_UNIQUE_FIELDS: Final = ("base_number", "serial", "operator_number")
#: The fields of a machine in the register.
_REGISTER_FIELDS: Final = (
    "serial",
    "operator_number",
    "kind",
    "manufacturer",
    "model",
    "site",
    "location",
    "photograph",
)
#: The status of a base on which a machine stands.
_BASE_IN_PLACE_STATUS: Final = "in place"
_BASE_WITHDRAWN_KIND, _BASE_RETURNED_KIND = CABINET_BASE_WITHDRAWN.kind, CABINET_BASE_RETURNED.kind


@dataclass(slots=True)
class RegisteredMachine:
    """One machine in the venue's register; ``inventory_entry`` is the last inventory recorded in its journal."""

    source: str
    """The path of the state folder or export from which the machine was read, for messages."""
    inventory_entry: Mapping[str, Any] = field(default_factory=dict)
    base_status: str = _BASE_IN_PLACE_STATUS
    """Whether the machine's cabinet stand (base) is in place, or since when it is out of service; as text."""

    def to_json(self) -> dict[str, Any]:
        """Return the machine's row in the venue's register of machines."""
        games = [
            f"{g['game']} {format_certified_figure(g)} ({g['certified_on'] or '-'})"
            for g in self.inventory_entry["games"]
        ]
        register_fields = {name: self.inventory_entry[name] for name in _REGISTER_FIELDS}
        return {
            "base_number": self.inventory_entry["base_number"],
            "base": self.base_status,
            **register_fields,
            "games": games,
        }


def read_machine(source: str, entries: Iterable[StoredEntry]) -> RegisteredMachine:
    """Return a machine for the venue's register, as its journal ``entries`` describe it."""
    machine, gaming_day = RegisteredMachine(source), GamingDay()
    for entry in entries:
        record: Any = entry.record
        if entry.kind == INVENTORY_ENTRY_KIND:
            machine.inventory_entry = record["after"]
        elif entry.kind == POWER_UP.kind:
            gaming_day = GamingDay.from_power_up(record)
        elif entry.kind == _BASE_WITHDRAWN_KIND:
            withdrawal_date = gaming_day.find_date(entry.time_utc).isoformat()
            machine.base_status = f"out of service since {withdrawal_date}; lock and key: {record['cashier']}"
        elif entry.kind == _BASE_RETURNED_KIND:
            machine.base_status = _BASE_IN_PLACE_STATUS
    return machine


def list_duplicate_identifiers(machines: Iterable[RegisteredMachine]) -> list[str]:
    """Return a sentence for each base, serial or operator's number that more than one machine has."""
    sources_by_identifier: dict[tuple[str, str], list[str]] = defaultdict(list)
    for machine in machines:
        for name in _UNIQUE_FIELDS:
            if machine.inventory_entry[name]:
                sources_by_identifier[name, machine.inventory_entry[name]].append(machine.source)
    return [
        f"{name.replace('_', ' ')} {value} is used by {' and by '.join(sources)}; expected a different one for each"
        for (name, value), sources in sources_by_identifier.items()
        if len(sources) > 1
    ]
