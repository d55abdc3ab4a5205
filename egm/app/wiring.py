"""Mapping of device reports and screen requests to events, and of the state to lamps, tower light and bell.

No decisions are made here: a report is only translated into events, or into none if it contains nothing new.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from egm.devices import interface
from egm.integrity.events import DoorChange
from egm.kernel.events import Event, EventError, EventType, FaultChange, PayloadClasses, State
from egm.kernel.messages import Intent, Notice, Snapshot
from egm.money.events import BillEscrowed, CashOut, PaperNotAccepted, TicketEscrowed
from egm.staff.events import Authorisation, KeySwitchChange, MenuClosed, MenuRequest
from egm.staff.service.effects import MENU_KEYS

#: The event that each button of the button deck requests, as the same key on the screen does.
_EVENT_BY_BUTTON: Final[Mapping[str, Event]] = {
    "play": Event(EventType.PLAY),
    "cash_out": Event(EventType.CASH_OUT, CashOut()),
    "service": Event(EventType.TOGGLE_SERVICE_CALL),
}


def iter_reported_events(  # noqa: C901, PLR0912 (one branch for each kind of report)
    report: interface.DeviceEvent, device_kind: str, doors_known_open: tuple[str, ...]
) -> Iterator[Event]:
    """Yield the events into which a device report is translated.

    ``device_kind`` is the kind of the device, such as ``hopper``. ``doors_known_open`` are the doors that the machine
    has recorded as open, except those that another I/O board reports open.
    """
    match report:
        case interface.PaperInEscrow(escrow_number=escrow, content=interface.Banknote(amount_cents=amount)):
            yield Event(EventType.BILL_ESCROWED, BillEscrowed(escrow_number=escrow, amount_cents=amount))
        case interface.PaperInEscrow(escrow_number=escrow, content=interface.Barcode(digits=digits)):
            yield Event(EventType.TICKET_ESCROWED, TicketEscrowed(escrow_number=escrow, digits=digits))
        case interface.PaperReturned(content=content, reason=reason):
            is_ticket = isinstance(content, interface.Barcode)
            yield Event(EventType.BILL_RETURNED, PaperNotAccepted(reason=reason.value, is_ticket=is_ticket))
            # Only for bills and tickets: a refused coin has already fallen into the tray.
        case interface.ItemRejected(reason=text) if device_kind == "bill_acceptor":
            yield Event(EventType.BILL_REJECTED, PaperNotAccepted(reason=text))
        case interface.DeviceFault(code=code, is_active=is_active, detail=detail):
            event_type = EventType.FAULT_RAISED if is_active else EventType.FAULT_CLEARED
            yield Event(event_type, FaultChange(code=f"{device_kind}.{code.value}", detail=detail))
        case interface.LineLost(reason=reason):
            code = interface.FaultCode.COMMUNICATION
            yield Event(
                EventType.FAULT_RAISED, FaultChange(code=f"{device_kind}.{code.value}", detail=reason)
            )
        case interface.LineRestored():
            code = interface.FaultCode.COMMUNICATION
            yield Event(EventType.FAULT_CLEARED, FaultChange(code=f"{device_kind}.{code.value}"))
        case interface.DoorChanged(door=door, is_open=is_open, was_unobserved=was_unobserved):
            event_type = EventType.DOOR_OPENED if is_open else EventType.DOOR_CLOSED
            yield Event(event_type, DoorChange(door=door, was_unobserved=was_unobserved))
        case interface.InputsReported(doors_open=doors_open):
            for door in sorted(doors_open.difference(doors_known_open)):
                yield Event(EventType.DOOR_OPENED, DoorChange(door=door, was_unobserved=True))
            for door in sorted(set(doors_known_open) - doors_open):
                yield Event(EventType.DOOR_CLOSED, DoorChange(door=door, was_unobserved=True))
        case interface.KeyTurned(key=key_switch, is_on=is_on, was_unobserved=was_unobserved):
            yield Event(
                EventType.KEY_SWITCH_CHANGED,
                KeySwitchChange(key=key_switch, is_on=is_on, was_unobserved=was_unobserved),
            )
            if key_switch in MENU_KEYS and not is_on:
                yield Event(EventType.SERVICE_MENU_CLOSED, MenuClosed(reason="key"))
            elif is_on and not was_unobserved and key_switch in MENU_KEYS:
                yield Event(EventType.OPEN_SERVICE_MENU, MenuRequest(key=key_switch))
            elif is_on and not was_unobserved:
                yield Event(EventType.KEY_TURNED, Authorisation(key=key_switch))
        case interface.ButtonPressed(button=button) if button in _EVENT_BY_BUTTON:
            yield _EVENT_BY_BUTTON[button]
        case _:
            return


def build_event_from_intent(intent: Intent, payloads: PayloadClasses) -> Event:
    """Return a person's request at the screen as an event.

    If the request's value or options are not valid for the event, the event has neither, and the state table
    refuses it.
    """
    event_type, values = EventType(intent.name), {"value": intent.value, "options": intent.options}
    try:
        return payloads.build_event(
            event_type, {key: value for key, value in values.items() if value is not None}
        )
    except EventError:
        return payloads.build_event(event_type, {})


def list_outputs_under_test(outputs: frozenset[str], group: str) -> frozenset[str]:
    """Return the outputs of ``group`` that an output test has switched on, without the group's name.

    For example, ``lamp:play`` becomes ``play`` for the group ``lamp``.
    """
    return frozenset(name.removeprefix(f"{group}:") for name in outputs if name.startswith(f"{group}:"))


def find_lit_lamps(snapshot: Snapshot) -> frozenset[str]:
    """Return the names of the button lamps to light: those of all buttons that the machine accepts now."""
    return frozenset(snapshot.accepted_inputs) & frozenset(_EVENT_BY_BUTTON)


def find_lit_tower_lights(snapshot: Snapshot) -> frozenset[str]:
    """Return the tower lights to light (FR68-11, J-09): a service call, an open door, a hand-pay, a tilt."""
    is_lit_by_light = {
        "service": any(_needs_attendant(notice) for notice in snapshot.notices),
        "door": bool(snapshot.open_doors),
        "jackpot": snapshot.handpay is not None,
        "tilt": bool(snapshot.tilts) or snapshot.state == State.OUT_OF_SERVICE,
    }
    return frozenset(name for name, is_lit in is_lit_by_light.items() if is_lit)


def _needs_attendant(notice: Notice) -> bool:
    """Return whether a notice calls the attendant: a player's call, or a device fault that holds the player's money."""
    return notice.code == "service_called" or (notice.code.startswith("fault.") and bool(notice.values))


def is_bell_ringing(snapshot: Snapshot) -> bool:
    """Return whether the alarm bell rings: a door is open or money waits for the attendant."""
    return snapshot.state == State.DOOR_OPEN or snapshot.handpay is not None
