"""The journal entries of the closing of the tables: announced, moved or revoked by staff."""

from dataclasses import dataclass
from typing import Final

from egm.features.closing.keys import ClosingKey
from egm.kernel.entries import Entry
from egm.kernel.logs import Log
from egm.record_fields import Persons, Time


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingAnnounced:
    """Staff announced the closing of the tables, or moved it to another time."""

    at: Time
    """The time at which the last rounds begin."""
    persons: Persons


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesOpened:
    """Staff opened the tables again, or revoked their closing."""

    persons: Persons


CLOSING_ANNOUNCED: Final = Entry(
    kind="tables.closing", record=ClosingAnnounced, writes=(ClosingKey.TABLES,), logs=(Log.ACCESS,)
)
TABLES_OPENED: Final = Entry(
    kind="tables.opened", record=TablesOpened, writes=(ClosingKey.TABLES,), logs=(Log.ACCESS,)
)
