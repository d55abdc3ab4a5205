"""The reading of the records of journal entries, and the class of a record that only the audit reads.

The audit uses the machine's record classes, which only state the form of a record, and derives every expected value
itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from egm.progressive.entries import LevelOpened
from egm.record_codec import RecordError, from_json, stored_as
from meters import StoredEntry
from meters.entry import encode_canonical_json

RecordT = TypeVar("RecordT")

#: Parts of game records whose JSON must be exactly what their class writes, because the class accepts more.
_FIELDS_COMPARED_AS_JSON: Final = ("wager", "outcome")


def read_record(entry: StoredEntry, record_class: type[RecordT]) -> RecordT:
    """Return the record of an entry, decoded as the class ``record_class``.

    Raises RecordError, which names the entry's kind and the field.
    """
    data = entry.transaction.record
    record = from_json(record_class, data, entry.transaction.kind)
    for name in _FIELDS_COMPARED_AS_JSON:
        part = getattr(record, name, None)
        if (
            part is not None
            and isinstance(data, Mapping)
            and encode_canonical_json(part.to_json()) != encode_canonical_json(data[name])
        ):
            raise RecordError(f"{entry.transaction.kind}: {name} is not in the form that the machine writes")
    return record


# ---------------------------------------------------------------------------------------------- levels
@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCarried:
    """The record of a progressive level that a memory clear carried over from the earlier journal."""

    claim_id: str = field(metadata=stored_as("claim"))
    """The id of the claim (an amount owed at the memory clear) under which the level is carried over."""
    pool: str
    opened_level: LevelOpened | None = field(metadata=stored_as("opened"))
    """The record of the level's opening; None if it is unknown."""
