"""Sign-in: a page for the staff number, then a page for the PIN.

After a wrong PIN the PIN is requested again, not the number, so that a field which shows its input never
appears where a person expects to type a PIN. BACK leads to the number. A wrong PIN is recorded with its staff
number; after as many as the profile allows, the number is locked for a while, also across a restart
(:mod:`egm.staff.failed_sign_ins`). Nothing reveals whether a number exists: an unknown number takes as long, counts as
wrong and is locked like any other.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from egm.errors import OperatorError
from egm.kernel.active_faults import raise_fault
from egm.kernel.entries import EntryDeclaration
from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageText, Prompt, ServicePage
from egm.people import Permission, Person, RecordedRoster, Roster, RosterError, load_recorded_roster
from egm.people.roles import Role
from egm.people.roster import RosterDamaged
from egm.staff.desk import MenuPage, OpenPage, PageResult, build_refusal
from egm.staff.entries import (
    ROSTER_RESTORED,
    ROSTER_UNREADABLE,
    SIGN_IN_NOT_PERMITTED,
    STAFF_ADDED,
    STAFF_DISABLED,
    STAFF_ENABLED,
    STAFF_PIN_CHANGED,
    RosterChanged,
    SignInNotPermitted,
    StaffActReason,
)
from egm.staff.failed_sign_ins import authenticate, record_wrong_pins_of_terminals
from egm.staff.keys import StaffKey
from egm.staff.page_texts import BACK_ACTION, build_text


@dataclass(frozen=True, slots=True)
class SignInPage(MenuPage):
    """Page on which a person enters their staff number."""

    after_sign_in: Callable[[PositionMachine, Person], PageResult]
    """The function called with the person who has signed in; it returns what the menu does next."""
    title: PageText
    permission: Permission | None = None
    """The permission that the person must have; None: none is required."""
    excluded_staff_number: str = ""
    """A staff number that may not sign in here, because the second person must be a different one."""

    def build_page(self, machine: PositionMachine) -> ServicePage:  # noqa: ARG002 (signature of a menu page)
        """Return the page with the prompt for the staff number."""
        prompt = Prompt(label=build_text("service.staff_number"), kind="digits", length_max=8)
        return ServicePage(id="", title=self.title, prompt=prompt, actions=(BACK_ACTION,))

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Accept the typed staff number, and open the page for its PIN."""
        if action != "enter":
            return build_refusal("not_offered")
        if not text:
            return build_refusal("missing")
        if not (text.isascii() and text.isdigit() and len(text) <= 8):
            return build_refusal("not_digits")
        return OpenPage(_PinPage(self, text))


@dataclass(frozen=True, slots=True)
class _PinPage(MenuPage):
    """Page on which a person types the PIN of their staff number; BACK leads to the page of the number."""

    sign_in: SignInPage
    staff_number: str

    def build_page(self, machine: PositionMachine) -> ServicePage:  # noqa: ARG002 (signature of a menu page)
        """Return the page with the prompt for the PIN of the staff number."""
        prompt = Prompt(label=build_text("service.pin", number=self.staff_number), kind="pin", length_max=12)
        return ServicePage(id="", title=self.sign_in.title, prompt=prompt, actions=(BACK_ACTION,))

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:
        """Authenticate the person by PIN and continue, or refuse.

        The refusal does not say whether the staff number or the PIN was wrong.
        """
        if action != "enter":
            return build_refusal("not_offered")
        try:
            reload_staff_roster(machine)
        except OperatorError:
            return build_refusal("staff_unreadable")
        person, permission = authenticate(machine, self.staff_number, text), self.sign_in.permission
        if isinstance(person, str):
            return build_refusal(person)
        if person.id == self.sign_in.excluded_staff_number:
            return build_refusal("same_person")
        if permission is not None and not person.has_permission(permission):
            details = SignInNotPermitted(person=person.id, permission=permission)
            machine.post(SIGN_IN_NOT_PERMITTED, details)
            return build_refusal("not_permitted")
        return self.sign_in.after_sign_in(machine, person)


#: The entry of each kind of change to the roster.
_ENTRY_BY_ROSTER_CHANGE: Final[Mapping[str, EntryDeclaration[RosterChanged]]] = {
    "added": STAFF_ADDED,
    "disabled": STAFF_DISABLED,
    "enabled": STAFF_ENABLED,
    "pin": STAFF_PIN_CHANGED,
}
#: The number of pages that a sign-in occupies: number and PIN.
SIGN_IN_PAGE_COUNT = 2


def reload_staff_roster(machine: PositionMachine) -> None:
    """Read the staff roster again; record its changes since the last reading, and the terminals' wrong PINs.

    If the roster cannot be read, or is not the one that the journal recorded (:mod:`egm.people.recorded_roster`),
    raise RosterError and a technician's fault: nobody can sign in. If only the second copy is the recorded roster,
    it replaces the first copy, and people can sign in. The fault is then raised too, unless the first copy was
    merely damaged.
    """
    record_wrong_pins_of_terminals(machine)
    loaded_roster = machine.component(Roster)
    recorded_roster = RecordedRoster.from_json(machine.memory.get(StaffKey.ROSTER_CHANGE))
    if loaded_roster.path is not None:
        try:
            roster, roster_error = load_recorded_roster(
                loaded_roster.path, loaded_roster.second_copy_path, recorded_roster
            )
            machine.install(roster)
            if roster_error:
                loaded_roster.path.unlink(missing_ok=True)
                roster.write_to(loaded_roster.path)
                machine.post(ROSTER_RESTORED, StaffActReason(reason=str(roster_error)))
                if not isinstance(roster_error, RosterDamaged):
                    _raise_roster_fault(machine, str(roster_error))
        except (OperatorError, OSError) as error:
            machine.install(Roster(loaded_roster.path, second_copy_path=loaded_roster.second_copy_path))
            machine.post(ROSTER_UNREADABLE, StaffActReason(reason=str(error)))
            _raise_roster_fault(machine, str(error))
            raise RosterError(str(error)) from error
    current_roster = machine.component(Roster)
    _store_second_copy(current_roster)
    if not recorded_roster.last_change_number:
        _authenticate_first_roster(current_roster)
    for change in current_roster.list_changes_after(recorded_roster.last_change_number):
        machine.post(
            _ENTRY_BY_ROSTER_CHANGE[change.change_kind],
            RosterChanged(
                person=change.changed_by,
                changed_number=change.staff_number,
                role=Role(change.role),
                change_time=change.changed_at,
                change_number=change.number,
                digest=change.digest,
            ),
            entry_id=f"staff-{change.number}-{change.digest[:16]}",
            state={StaffKey.ROSTER_CHANGE: RecordedRoster(change.number, change.digest).to_json()},
        )


def _raise_roster_fault(machine: PositionMachine, reason: str) -> None:
    """Raise the technician's fault about a staff roster that is not the recorded one."""
    raise_fault(machine, STAFF_ROSTER_FAULT, detail=reason)


def _store_second_copy(roster: Roster) -> None:
    """Store the roster's second copy, before the journal records the changes: then both media have the roster."""
    if roster.path is None or roster.second_copy_path is None or not roster.changes:
        return
    with contextlib.suppress(OSError, RosterError):
        if (
            roster.second_copy_path.exists()
            and Roster.load(roster.second_copy_path).changes == roster.changes
        ):
            return
    with contextlib.suppress(OSError):  # the journal reports a missing second medium
        roster.write_to(roster.second_copy_path)


def _authenticate_first_roster(roster: Roster) -> None:
    """Add an HMAC made with the machine key to a staff roster that was written before that key existed.

    It is added before the journal records the roster's first change. From then on, a roster is trusted only with
    such an HMAC, even if the power fails between two recorded changes.
    """
    if roster.path is None or roster.is_authenticated or not roster.changes:
        return
    with contextlib.suppress(OSError):  # the journal reports a first medium that accepts no writes
        roster.write_to(roster.path)


#: Fault: the staff roster is not the recorded one. A technician must find out who changed it, and what else.
STAFF_ROSTER_FAULT: Final = "staff_roster"
