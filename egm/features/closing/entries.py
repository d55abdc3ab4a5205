"""The journal entries about the closing of the tables: staff announced, moved or revoked it."""

from dataclasses import dataclass, field
from typing import Final

from egm.features.closing.keys import ClosingKey
from egm.kernel.entries import EntryDeclaration
from egm.kernel.logs import Log
from egm.record_codec import stored_as
from egm.record_fields import IsoTime, StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingAnnounced:
    """Staff announced the closing of the tables, or moved it to another time."""

    closing_time: IsoTime = field(metadata=stored_as("at"))
    """The time from which each table plays only its last rounds."""
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesOpened:
    """Staff opened the tables again, or revoked their closing."""

    persons: StaffNumbers


CLOSING_ANNOUNCED: Final = EntryDeclaration(
    kind="tables.closing",
    record=ClosingAnnounced,
    written_keys=(ClosingKey.TABLES_CLOSING_TIME,),
    logs=(Log.ACCESS,),
)
TABLES_OPENED: Final = EntryDeclaration(
    kind="tables.opened",
    record=TablesOpened,
    written_keys=(ClosingKey.TABLES_CLOSING_TIME,),
    logs=(Log.ACCESS,),
)
