"""Effects of the service menu's events: the menu is opened, answered and closed; sign-in for the attendant's key.

The menu is opened with the operator's or the audit key, or from the screen if the profile allows it; the person
then signs in. While it is open, nobody plays and no money comes in; the credits do not change. It is closed
after a restart. Everything is recorded with the person.
"""

import contextlib
from dataclasses import replace
from typing import Final

from egm.errors import OperatorError
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.kernel.running_positions import RunningPositions
from egm.people import Person, Roster
from egm.staff.desk import CloseMenu, PageResult, ServiceDesk, StayOnPage, SubmitEvent, find_key_permission
from egm.staff.entries import (
    KEY_RETURNED,
    KEY_TURNED,
    MENU_ENTERED,
    MENU_GIVEN_UP,
    MENU_LEFT,
    MENU_REQUESTED,
    KeySwitchTurned,
    MenuEntered,
    MenuLeft,
    MenuRequested,
    OpenMenu,
    StaffActReason,
)
from egm.staff.events import Authorisation, KeySwitchChange, MenuClosed, MenuMove, MenuRequest, PageAnswer
from egm.staff.failed_sign_ins import restart_lock_outs
from egm.staff.form import is_authorised
from egm.staff.keys import StaffKey
from egm.staff.page_texts import build_text
from egm.staff.service.menu import MainMenuPage
from egm.staff.service.sign_in import SignInPage, reload_staff_roster

#: Characters of an input that are used; the rest is cut off.
_TYPED_TEXT_LENGTH_MAX: Final = 400
#: Key switches that open the menu; the others are the attendant's.
MENU_KEYS: Final = frozenset({"operator", "audit"})


# ---------------------------------------------------------------------------------------------- guards
def menu_may_open(machine: PositionMachine, event: Event) -> bool:
    """Return whether the service menu is closed, and may be opened in the way requested (by a key, or without one)."""
    key = event.read_payload(MenuRequest).key
    return not machine.component(ServiceDesk).is_open and (
        key in MENU_KEYS or not machine.profile.staff.requires_menu_key
    )


def page_is_open(machine: PositionMachine, event: Event) -> bool:
    """Return whether the input in the event belongs to the service page that is open now."""
    return machine.component(ServiceDesk).is_input_to_open_page(
        event.read_payload(PageAnswer).page_input.page_id
    )


@refusal_code("position_is_another")
def another_position_is_chosen(machine: PositionMachine, event: Event) -> bool:
    """Return whether a signed-in person has chosen another player position of the machine."""
    other_positions = machine.component(RunningPositions).position_by_number.keys() - {
        machine.position.number
    }
    return (
        machine.component(ServiceDesk).signed_in_person is not None
        and event.read_payload(MenuMove).position_number in other_positions
    )


@refusal_code("key_is_enough")
def key_may_act_without_sign_in(machine: PositionMachine, event: Event) -> bool:
    """Return whether the turn of the attendant's key takes effect without a further sign-in.

    True if the profile requires no sign-in for what the key would do, or if a person with the permission is signed in
    or has authorised the event.
    """
    permission = find_key_permission(machine)
    person = machine.component(ServiceDesk).signed_in_person
    return (
        permission in machine.profile.staff.permissions_of_key
        or (person is not None and person.has_permission(permission))
        or is_authorised(machine, event, permission, 1)
    )


def no_service_page_is_open(machine: PositionMachine, _: Event) -> bool:
    """Return whether no service page is open."""
    return not machine.component(ServiceDesk).is_open


# ---------------------------------------------------------------------------------------------- effects
def record_key_turn(machine: PositionMachine, event: Event) -> None:
    """Record that a key switch was turned, even if the turn has no effect (J-16)."""
    key_change = event.read_payload(KeySwitchChange)
    key_turn = KeySwitchTurned(
        key_switch=key_change.key, is_turned_on=key_change.is_on, was_unobserved=key_change.was_unobserved
    )
    machine.post(KEY_TURNED if key_turn.is_turned_on else KEY_RETURNED, key_turn)


def open_menu(machine: PositionMachine, event: Event) -> None:
    """Open the service menu at the sign-in page.

    A person who comes from another player position of the machine is signed in at once.
    """
    request = event.read_payload(MenuRequest)
    _open_service_menu(
        machine, SignInPage(_sign_in_and_show_main_menu, build_text("service.sign_in")), request.key
    )
    if not request.person:
        return
    with contextlib.suppress(OperatorError):  # recorded, with a fault
        reload_staff_roster(machine)  # the person may have been enrolled since this position read the roster
    person = machine.component(Roster).find_enabled_person(request.person)
    if person is not None:
        _sign_in_and_show_main_menu(machine, person)


def move_menu(machine: PositionMachine, event: Event) -> Event | None:
    """Move the service menu and the signed-in person to another player position, whose own screen then shows it.

    Return the event that closes the menu here. If the menu cannot be opened there, show a notice and return None.
    """
    desk, position_number = machine.component(ServiceDesk), event.read_payload(MenuMove).position_number
    target_position = machine.component(RunningPositions).position_by_number[position_number]
    key = "operator" if desk.is_opened_by_key else "screen"
    person = "" if desk.signed_in_person is None else desk.signed_in_person.id
    target_position.submit_event(Event(EventType.OPEN_SERVICE_MENU, MenuRequest(key=key, person=person)))
    if target_position.engine.machine.component(ServiceDesk).signed_in_person is None:
        machine.notice = Notice(
            code="refused.position_is_busy", severity="warning", values={"position": position_number}
        )
        return None
    return Event(EventType.SERVICE_MENU_CLOSED, MenuClosed(reason=f"to position {position_number}"))


def ask_for_sign_in(machine: PositionMachine, event: Event) -> None:
    """Open the sign-in page for the person who turned the attendant's key; the key takes effect after the sign-in."""
    permission, authorisation = find_key_permission(machine), event.read_payload(Authorisation)

    def act_as_person(machine: PositionMachine, person: Person) -> PageResult:
        """Record the sign-in, close the menu, and submit the key's event again as authorised by this person."""
        _record_sign_in(machine, person, "attendant")
        _sign_out(machine, "done")
        return SubmitEvent(Event(event.name, replace(authorisation, person=person.id, persons=(person.id,))))

    page = SignInPage(act_as_person, build_text(f"service.act.{permission}"), permission=permission)
    _open_service_menu(machine, page, authorisation.key or "attendant")
    machine.component(ServiceDesk).menu_name = "attendant"


def _open_service_menu(machine: PositionMachine, page: SignInPage, opened_by: str) -> None:
    """Open the service menu at ``page``, and record how: ``opened_by`` is the key switch, or ``screen``."""
    desk = machine.component(ServiceDesk)
    menu_record = OpenMenu(opened_at=machine.clock.now().isoformat(), person=None)
    machine.post(MENU_REQUESTED, MenuRequested(opened_by=opened_by), state={StaffKey.OPEN_MENU: menu_record})
    desk.open(page)
    desk.menu_name, desk.is_opened_by_key = "operator", opened_by != "screen"


def _sign_in_and_show_main_menu(machine: PositionMachine, person: Person) -> PageResult:
    """Open the main menu for the person who has signed in."""
    _record_sign_in(machine, person, "operator")
    machine.component(ServiceDesk).sign_in(person, MainMenuPage())
    return StayOnPage()


def _record_sign_in(machine: PositionMachine, person: Person, menu_name: str) -> None:
    """Record in the journal that a person has signed in at the service menu."""
    menu_record = OpenMenu(opened_at=machine.clock.now().isoformat(), person=person.id)
    details = MenuEntered(menu=menu_name, person=person.id, role=person.role)
    machine.post(MENU_ENTERED, details, state={StaffKey.OPEN_MENU: menu_record})


def answer_page(machine: PositionMachine, event: Event) -> Event | None:
    """Pass a person's input to the open service page; return the event that it leads to, or None."""
    answer = event.read_payload(PageAnswer)
    action, text = _clean_typed_text(answer.action), _clean_typed_text(answer.page_input.entered_text)
    machine.notice = None
    page_result = machine.component(ServiceDesk).handle_input(machine, action, text)
    return (
        Event(EventType.SERVICE_MENU_CLOSED, MenuClosed(reason=page_result.reason))
        if isinstance(page_result, CloseMenu)
        else page_result
    )


def _clean_typed_text(typed_value: object) -> str:
    """Return the input from the screen as text that can be stored: shortened, without invalid characters."""
    text = typed_value if isinstance(typed_value, str) else ""
    return text[:_TYPED_TEXT_LENGTH_MAX].encode("utf-8", "replace").decode("utf-8")


def close_menu(machine: PositionMachine, event: Event) -> None:
    """Close the service menu, because the key was turned back, the menu timed out, or the person has finished."""
    _sign_out(machine, event.read_payload(MenuClosed).reason)


def close_menu_at_start(machine: PositionMachine, _: Event) -> None:
    """Close the service menu at start-up, and sign out the person who used it when the machine stopped."""
    _sign_out(machine, "restart")


def _sign_out(machine: PositionMachine, reason: str) -> None:
    """Close the service menu, and record who was signed out, and why."""
    menu_record = machine.memory.read(OpenMenu, StaffKey.OPEN_MENU)
    desk = machine.component(ServiceDesk)
    if menu_record is not None and menu_record.person is not None:
        details = MenuLeft(reason=reason, menu=desk.menu_name, person=menu_record.person)
        machine.post(MENU_LEFT, details, state={StaffKey.OPEN_MENU: None})
    elif menu_record is not None:
        machine.post(MENU_GIVEN_UP, StaffActReason(reason=reason), state={StaffKey.OPEN_MENU: None})
    desk.close()


def record_roster_changes(machine: PositionMachine, _: Event) -> None:
    """At power-up, record changes of the staff roster since the last one recorded, and restart the stored locks.

    If the roster cannot be read, nobody can sign in.
    """
    restart_lock_outs(machine)
    with contextlib.suppress(OperatorError):  # recorded, with a fault
        reload_staff_roster(machine)
