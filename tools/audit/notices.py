"""The notices of an audit, about events whose reason a reader of the journal should ask for.

The entries are valid: they record that the machine's memory was repaired or unavailable, or that its clock was
changed, or that two people who are not enrolled began a new staff list.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from egm.integrity.entries import (
    CLOCK_CHANGED,
    CLOCK_CONFIRMED,
    CLOCK_DOUBTED,
    CLOCK_TRUSTED,
    MEDIUM_REPLACEMENT_NOTED,
)
from egm.integrity.journal_entries import MEMORY_EVENT_RECORDED
from egm.staff.entries import ROSTER_RENEWED
from meters import StoredEntry
from meters.recall import read_details

#: Prefixes of the kinds of entries about which there are notices, besides events of the machine's memory.
_NOTICE_KIND_PREFIXES: Final = ("memory.", "clock.", ROSTER_RENEWED.kind)

#: For each event code or entry kind, the function that builds the sentence about it from the entry's record.
_SENTENCE_BUILDER_BY_CODE: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "memory.repaired": lambda record: (
        f"a copy was rebuilt from the other: {_format_location_and_reason(record)}"
    ),
    "memory.completed": lambda record: (
        f"the last entry at a power loss was in one copy only: {_format_location_and_reason(record)}"
    ),
    "memory.anchor_lost": lambda record: (
        f"a saved journal head was missing or damaged: {_format_location_and_reason(record)}"
    ),
    "memory.medium_replaced": lambda record: (
        f"a medium was lost or replaced, and filled again: {_format_location_and_reason(record)}"
    ),
    "memory.medium_missing": lambda record: (
        f"the second medium was missing: {_format_location_and_reason(record)}"
    ),
    "memory.full": lambda record: f"a medium was full: {_format_location_and_reason(record)}",
    "memory.archive_delayed": lambda record: (
        f"old entries could not be archived: {_format_location_and_reason(record)}"
    ),
    "memory.archive_damaged": lambda record: (
        f"the archive was damaged: {_format_location_and_reason(record)}"
    ),
    MEDIUM_REPLACEMENT_NOTED.kind: lambda record: f"a person noted the new medium: {record.get('detail')}",
    CLOCK_CHANGED.kind: lambda record: (
        f"the clock went from {record.get('last_entry')} to {record.get('now')}"
    ),
    CLOCK_DOUBTED.kind: lambda record: (
        f"the clock was not trusted at {record.get('now')}: {record.get('why')}; last trusted time {record.get('good')}"
    ),
    CLOCK_TRUSTED.kind: lambda record: f"the clock was right again at {record.get('now')}",
    CLOCK_CONFIRMED.kind: lambda record: (
        f"{record.get('person')} confirmed the clock at {record.get('now')}: {record.get('why')}"
    ),
    ROSTER_RENEWED.kind: lambda record: (
        f"{record.get('person')} and {record.get('witness')}, who are not enrolled, began a new staff list: "
        f"{record.get('reason')}"
    ),
}


def _format_location_and_reason(record: Mapping[str, Any]) -> str:
    """Return "location: reason" for an event of the machine's memory, with the texts that the event's record states."""
    return f"{record.get('where')}: {record.get('why')}"


def format_notice(entry: StoredEntry) -> str:
    """Return the notice for an entry about the machine's memory, clock or a new staff list; "" for any other entry."""
    kind = entry.transaction.kind
    if kind != MEMORY_EVENT_RECORDED.kind and not kind.startswith(_NOTICE_KIND_PREFIXES):
        return ""
    record = read_details(entry)
    code = str(record.get("code")) if kind == MEMORY_EVENT_RECORDED.kind else kind
    build_sentence = _SENTENCE_BUILDER_BY_CODE.get(code)
    return code if build_sentence is None else build_sentence(record)
