"""The closing feature: its forms, rules, notices, and the clock that keeps the notices up to date."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from egm.features.closing import entries
from egm.features.closing.entries import CLOSING_ANNOUNCED, TABLES_OPENED, ClosingAnnounced, TablesOpened
from egm.features.closing.events import EVENTS, ClosingEvent, ClosingForm
from egm.features.closing.keys import ClosingKey
from egm.features.closing.last_rounds import (
    CLOSING_ANNOUNCEMENT_LEAD,
    iter_closing_notices,
    notify_table_closed,
    read_closing_time,
    table_is_closed,
)
from egm.kernel.entries import list_entries
from egm.kernel.events import Event, EventType, Next, State
from egm.kernel.feature import Feature
from egm.kernel.machine import Machine
from egm.kernel.rules import REPORT, Rule
from egm.kernel.services import BackgroundService, DueEventService, MachineContext
from egm.kernel.states import AWAKE, only
from egm.people import Permission
from egm.record_fields import Time
from egm.staff.form import Field, FieldKind, Form, build_form_rule, list_event_persons

#: The longest time for which a closing may be announced in advance, in minutes.
_ADVANCE_MINUTES_MAX: Final = 24 * 60


# ---------------------------------------------------------------------------------------------- guards, effects
def closing_is_announced(machine: Machine, _: Event) -> bool:
    """Return whether the closing of the tables is announced, or its time has come."""
    return read_closing_time(machine) is not None


def announce_closing(machine: Machine, event: Event) -> None:
    """Record when the last rounds of the tables begin."""
    at = machine.clock.now().replace(microsecond=0) + timedelta(minutes=event.of(ClosingForm).minutes)
    announced = ClosingAnnounced(at=at.isoformat(), persons=tuple(list_event_persons(machine, event)))
    machine.post(CLOSING_ANNOUNCED, announced, state={ClosingKey.TABLES: announced.at})


def open_tables(machine: Machine, event: Event) -> None:
    """Record that the tables take bets again."""
    record = TablesOpened(persons=tuple(list_event_persons(machine, event)))
    machine.post(TABLES_OPENED, record, state={ClosingKey.TABLES: None})


_FORMS: Final = (
    Form(
        id="close_tables",
        event=ClosingEvent.CLOSE_TABLES,
        permission=Permission.CONFIGURE,
        subject="games",
        fields=(Field(name="minutes", kind=FieldKind.NUMBER, value_max=_ADVANCE_MINUTES_MAX),),
    ),
    Form(
        id="open_tables",
        event=ClosingEvent.OPEN_TABLES,
        permission=Permission.CONFIGURE,
        subject="games",
        needs=(closing_is_announced,),
    ),
)


class ClosingClock(DueEventService):
    """Service that updates the notices of the closing, each minute of its last half hour."""

    name = "closing"
    event = ClosingEvent.TABLES_DUE

    def compute_seconds_to_wait(self) -> float | None:
        """Return the seconds until the next minute of the closing's last half hour, or None if there is none."""
        at = read_closing_time(self._context.engine.machine)
        seconds = None if at is None else (at - self._context.clock.now()).total_seconds()
        if seconds is None or seconds < 0:
            return None
        announced_in = seconds - CLOSING_ANNOUNCEMENT_LEAD.total_seconds()
        return announced_in if announced_in > 0 else seconds % 60 + 0.1


def create_closing_clock(context: MachineContext) -> Iterable[BackgroundService]:
    """Return the service that updates the closing notices of one player position."""
    return (ClosingClock(context),)


CLOSING: Final = Feature(
    name="closing",
    keys=ClosingKey,
    values={ClosingKey.TABLES: Time},
    entries=list_entries(entries),
    events=EVENTS,
    rules=(
        Rule(EventType.PLAY, only(State.IDLE), (table_is_closed,), (notify_table_closed,), Next.SAME, REPORT),
        build_form_rule(
            _FORMS, ClosingEvent.CLOSE_TABLES, only(State.SERVICE_MENU), (), announce_closing, Next.SAME
        ),
        build_form_rule(
            _FORMS,
            ClosingEvent.OPEN_TABLES,
            only(State.SERVICE_MENU),
            (closing_is_announced,),
            open_tables,
            Next.SAME,
        ),
        Rule(ClosingEvent.TABLES_DUE, AWAKE),
    ),
    offers=_FORMS,
    position_services=(create_closing_clock,),
    notices=iter_closing_notices,
)
