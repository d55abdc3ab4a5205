"""Events of the tables' closing: announced by staff, and the tables opened again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from egm.kernel.events import EventName, NoData, Payload
from egm.staff.events import FilledForm


class ClosingEvent(EventName):
    """An event about the closing of the tables."""

    #: Staff announce the closing of the tables.
    CLOSE_TABLES = "close_tables"
    #: Staff open the tables again.
    OPEN_TABLES = "open_tables"
    TABLES_DUE = "tables_due"
    """The message to players about the closing must be updated, because time has passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingForm(FilledForm):
    """Form: the minutes until the last rounds of the tables begin."""

    minutes: int = 0


EVENTS: Final[Mapping[EventName, type[Payload]]] = {
    ClosingEvent.CLOSE_TABLES: ClosingForm,
    ClosingEvent.OPEN_TABLES: FilledForm,
    ClosingEvent.TABLES_DUE: NoData,
}
