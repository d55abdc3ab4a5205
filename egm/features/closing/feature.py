"""The feature for the closing of tables: its forms, rules and notices, and the service that updates the notices."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from egm.features.closing import entries
from egm.features.closing.entries import CLOSING_ANNOUNCED, TABLES_OPENED, ClosingAnnounced, TablesOpened
from egm.features.closing.events import PAYLOAD_CLASS_BY_EVENT, ClosingAnnouncementForm, ClosingEvent
from egm.features.closing.keys import ClosingKey
from egm.features.closing.last_rounds import (
    PLAYER_NOTICE_PERIOD,
    iter_closing_notices,
    notify_table_closed,
    read_closing_time,
    table_is_closed,
)
from egm.kernel.entries import list_entries
from egm.kernel.events import Event, EventType, NextState, State
from egm.kernel.feature import Feature
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import REPORT_REFUSAL, Rule
from egm.kernel.services import BackgroundService, DueEventService, MachineContext
from egm.kernel.states import STATES_AFTER_BOOT, single_state
from egm.people import Permission
from egm.record_fields import IsoTime
from egm.staff.form import FieldKind, Form, FormField, build_form_rule, list_event_persons

#: The longest time for which a closing may be announced in advance, in minutes.
_MINUTES_UNTIL_CLOSING_MAX: Final = 24 * 60


# ---------------------------------------------------------------------------------------------- guards, effects
def closing_is_announced(machine: PositionMachine, _: Event) -> bool:
    """Return whether staff have announced the closing of the tables.

    This stays True during and after the last rounds, until staff open the tables again.
    """
    return read_closing_time(machine) is not None


def announce_closing(machine: PositionMachine, event: Event) -> None:
    """Announce the closing of the tables, or move it: record the closing time in the journal.

    The form states in how many minutes that is. The tables stay open until they have played their last rounds.
    """
    closing_time = machine.clock.now().replace(microsecond=0) + timedelta(
        minutes=event.read_payload(ClosingAnnouncementForm).minutes
    )
    record = ClosingAnnounced(
        closing_time=closing_time.isoformat(), persons=tuple(list_event_persons(machine, event))
    )
    machine.post(CLOSING_ANNOUNCED, record, state={ClosingKey.TABLES_CLOSING_TIME: record.closing_time})


def open_tables(machine: PositionMachine, event: Event) -> None:
    """Record in the journal that the tables are open again and take bets.

    Before the closing time, this revokes the announcement.
    """
    record = TablesOpened(persons=tuple(list_event_persons(machine, event)))
    machine.post(TABLES_OPENED, record, state={ClosingKey.TABLES_CLOSING_TIME: None})


_CLOSING_FORMS: Final = (
    Form(
        id="close_tables",
        event=ClosingEvent.ANNOUNCE_CLOSING,
        permission=Permission.CONFIGURE,
        menu_section="games",
        fields=(FormField(name="minutes", kind=FieldKind.NUMBER, value_max=_MINUTES_UNTIL_CLOSING_MAX),),
    ),
    Form(
        id="open_tables",
        event=ClosingEvent.OPEN_TABLES,
        permission=Permission.CONFIGURE,
        menu_section="games",
        submission_guards=(closing_is_announced,),
    ),
)


class ClosingNoticeService(DueEventService):
    """The service that updates the notices to players each minute in the last half hour before the closing."""

    name = "closing"
    due_event = ClosingEvent.CLOSING_NOTICE_DUE

    def compute_seconds_to_wait(self) -> float | None:
        """Return the seconds until the next update of the notices.

        The first update is due when the last half hour before the closing begins, the others each time the number of
        whole minutes left changes. None if no closing is announced, or the last rounds have begun.
        """
        closing_time = read_closing_time(self._context.engine.machine)
        seconds = None if closing_time is None else (closing_time - self._context.clock.now()).total_seconds()
        if seconds is None or seconds < 0:
            return None
        seconds_to_first_notice = seconds - PLAYER_NOTICE_PERIOD.total_seconds()
        # Update a moment after the change of the minutes: the machine's clock may be a little behind the timer.
        return seconds_to_first_notice if seconds_to_first_notice > 0 else seconds % 60 + 0.1


def create_closing_notice_service(context: MachineContext) -> Iterable[BackgroundService]:
    """Return the services of this feature at one player position: the one that updates the notices."""
    return (ClosingNoticeService(context),)


CLOSING_FEATURE: Final = Feature(
    name="closing",
    storage_keys=ClosingKey,
    value_types={ClosingKey.TABLES_CLOSING_TIME: IsoTime},
    entry_declarations=list_entries(entries),
    payload_classes=PAYLOAD_CLASS_BY_EVENT,
    rules=(
        # This feature comes before normal play: the rule takes the request to play at a table that has closed.
        Rule(
            EventType.PLAY,
            single_state(State.IDLE),
            (table_is_closed,),
            (notify_table_closed,),
            NextState.SAME,
            REPORT_REFUSAL,
        ),
        build_form_rule(
            _CLOSING_FORMS,
            ClosingEvent.ANNOUNCE_CLOSING,
            single_state(State.SERVICE_MENU),
            (),
            announce_closing,
            NextState.SAME,
        ),
        build_form_rule(
            _CLOSING_FORMS,
            ClosingEvent.OPEN_TABLES,
            single_state(State.SERVICE_MENU),
            (closing_is_announced,),
            open_tables,
            NextState.SAME,
        ),
        # No effect: after every event, the machine sends the screen its notices again.
        Rule(ClosingEvent.CLOSING_NOTICE_DUE, STATES_AFTER_BOOT),
    ),
    contributions=_CLOSING_FORMS,
    position_service_factories=(create_closing_notice_service,),
    list_notices=iter_closing_notices,
)
