"""Service calls: the player switches the candle (tower light) on; the attendant's key ends the call.

An attendant at the machine answers the call with the key. If a fault is active that the key cannot clear, the key
shows a notice.
"""

from egm.integrity.keys import IntegrityKey
from egm.kernel.events import Event
from egm.kernel.faults import get_fault_definition, list_faults_to_show
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.staff.entries import (
    SERVICE_CALL_ANSWERED,
    SERVICE_CALL_TOGGLED,
    ServiceCallAnswered,
    ServiceCallToggled,
)
from egm.staff.events import Authorisation


def toggle_service_call(machine: PositionMachine, _: Event) -> None:
    """Toggle the player's service call: switch the candle on, or off if it is on."""
    is_calling = machine.memory.get(IntegrityKey.SERVICE_CALL) is not None
    machine.post(
        SERVICE_CALL_TOGGLED,
        ServiceCallToggled(is_candle_on=not is_calling),
        state={IntegrityKey.SERVICE_CALL: None if is_calling else True},
    )


def show_fault_cannot_be_cleared(machine: PositionMachine, _: Event) -> None:
    """Show a notice that the attendant's key cannot clear the first active fault.

    The fault ends by itself when its cause is removed.
    """
    active_codes = [
        code
        for code in list_faults_to_show(machine.active_faults)
        if get_fault_definition(code).is_shown_to_player
    ]
    if active_codes:
        machine.notice = Notice(code="not_by_key", severity="warning", values={"fault": active_codes[0]})


def answer_service_call(machine: PositionMachine, event: Event) -> None:
    """End the player's service call, because an attendant has come."""
    if machine.memory.get(IntegrityKey.SERVICE_CALL) is None:
        return
    authorisation = event.read_payload(Authorisation)
    record = ServiceCallAnswered(
        key_switch=authorisation.key, person=authorisation.person, persons=authorisation.persons or None
    )
    machine.post(SERVICE_CALL_ANSWERED, record, state={IntegrityKey.SERVICE_CALL: None})
