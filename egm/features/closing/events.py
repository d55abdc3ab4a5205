"""Events of the closing of the tables: staff announce it, or open the tables again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from egm.kernel.events import EmptyPayload, EventName, Payload
from egm.staff.events import FilledForm


class ClosingEvent(EventName):
    """An event about the closing of the tables."""

    ANNOUNCE_CLOSING = "close_tables"
    """Staff announce the closing of the tables."""
    OPEN_TABLES = "open_tables"
    """Staff open the tables again."""
    CLOSING_NOTICE_DUE = "tables_due"
    """The message to players about the closing is due for its next update."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingAnnouncementForm(FilledForm):
    """A form with which staff announce the closing of the tables: the minutes until their last rounds begin."""

    minutes: int = 0


PAYLOAD_CLASS_BY_EVENT: Final[Mapping[EventName, type[Payload]]] = {
    ClosingEvent.ANNOUNCE_CLOSING: ClosingAnnouncementForm,
    ClosingEvent.OPEN_TABLES: FilledForm,
    ClosingEvent.CLOSING_NOTICE_DUE: EmptyPayload,
}
