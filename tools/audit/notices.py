"""Audit notices that are not faults: the memory was repaired or unavailable, or the clock moved.

The machine must write each of these entries, but a reader of the journal should ask for the reason.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from meters import StoredEntry
from meters.recall import details

_EVENT: Final = "event"
_PREFIXES: Final = ("memory.", "clock.")

_SENTENCES: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "memory.repaired": lambda told: f"a copy was rebuilt from the other: {_where(told)}",
    "memory.completed": lambda told: f"the entry under way at a power cut was in one copy: {_where(told)}",
    "memory.anchor_lost": lambda told: f"a sealed head was missing or broken: {_where(told)}",
    "memory.medium_replaced": lambda told: f"a medium was lost or exchanged, and made again: {_where(told)}",
    "memory.medium_missing": lambda told: f"the second medium was not there: {_where(told)}",
    "memory.full": lambda told: f"a medium had no room left: {_where(told)}",
    "memory.archive_delayed": lambda told: f"old entries could not be archived: {_where(told)}",
    "memory.archive_damaged": lambda told: f"the archive was damaged: {_where(told)}",
    "memory.noted": lambda told: f"a person noted the new medium: {told.get('detail')}",
    "clock.changed": lambda told: f"the clock went from {told.get('last_entry')} to {told.get('now')}",
    "clock.doubted": lambda told: (
        f"the clock was doubted at {told.get('now')}: {told.get('why')}; last good {told.get('good')}"
    ),
    "clock.believed": lambda told: f"the clock was right again at {told.get('now')}",
    "clock.confirmed": lambda told: (
        f"{told.get('person')} confirmed the clock at {told.get('now')}: {told.get('why')}"
    ),
}


def _where(record: Mapping[str, Any]) -> str:
    return f"{record.get('where')}: {record.get('why')}"


def notice(entry: StoredEntry) -> str:
    """Return a sentence on an entry about the memory or the clock, or an empty string for any other entry."""
    kind = entry.transaction.kind
    if kind != _EVENT and not kind.startswith(_PREFIXES):
        return ""
    record = details(entry)
    code = str(record.get("code")) if kind == _EVENT else kind
    sentence = _SENTENCES.get(code)
    return code if sentence is None else sentence(record)
