"""The audit rules for staff: the list of staff, signing in to the service menu, wrong PINs.

Wrong PINs are counted by group of staff numbers (:mod:`egm.staff.keys`): ``tries:{group}`` is the storage key of the
count of one group. Such patterns are explained in :mod:`tools.audit.rules.pattern`.
"""

from typing import Any, Final

from egm.kernel.events import State
from egm.kernel.states import STATES_FOR_SERVICE_MENU, STATES_WITH_STAFF_AT_WORK, single_state
from egm.people import Permission
from egm.people.person import STAFF_NUMBER_PATTERN
from egm.staff import entries
from egm.staff.entries import STAFF_ADDED, STAFF_PIN_CHANGED
from egm.staff.keys import StaffKey, format_wrong_pins_key
from tools.audit.rules.facts import is_first_enrolment_author
from tools.audit.rules.pattern import CheckContext, ObjectWithMembers, PatternMismatch, format_value
from tools.audit.rules.rule import AuditRule, Check
from tools.audit.rules.shared_checks import check_signed_in_to_menu, report_unless, report_unless_equal


def _check_roster_change(context: CheckContext) -> None:
    """Check an entry that changes the staff list.

    Its change number must follow the previous one. A person to be added must not be in the list yet; any other person
    must be in it, with the recorded role.
    """
    facts, staff_before, change_number = (
        context.facts,
        context.stored_value_before("staff"),
        context["number"],
    )
    digest, person_id, role = context.bound_values.get("digest"), context["person_id"], context["role"]
    expected_number = int((staff_before["number"] if type(staff_before) is dict else staff_before) or 0) + 1
    expected_id = f"staff-{change_number}" if digest is None else f"staff-{change_number}-{digest[:16]}"
    for name, recorded, expected in (
        ("record.number", change_number, expected_number),
        (
            "state.staff",
            context.stored_value_after("staff"),
            change_number if digest is None else {"number": change_number, "digest": digest},
        ),
        ("id", context.entry.id, expected_id),
    ):
        if recorded != expected:
            raise PatternMismatch(
                f"{name}: expected {format_value(expected)}, found {format_value(recorded)}"
            )
    if STAFF_NUMBER_PATTERN.fullmatch(person_id) is None:
        raise PatternMismatch(f"record.whom: {format_value(person_id)} is not a staff number")
    is_added = context.entry.kind == STAFF_ADDED.kind
    _check_author_of_change(context, is_added=is_added)
    if (person_id in facts.role_by_staff_number) == is_added:
        enrolment_text = "already" if is_added else "not"
        raise PatternMismatch(
            f"record.whom: {format_value(person_id)} was {enrolment_text} in the staff list before this entry"
        )
    if facts.role_by_staff_number.get(person_id, role) != role:
        raise PatternMismatch(
            f"record.role: expected {format_value(facts.role_by_staff_number[person_id])}, the role of {person_id} "
            f"before this entry; found {format_value(role)}"
        )


def _check_author_of_change(context: CheckContext, *, is_added: bool) -> None:
    """Check the author of a change to the staff list; ``is_added`` is whether the change enrols a person.

    The author must have the permission to enrol others, or change their own PIN. The people enrolled at a machine's
    first start have no author. The machine records them one directly after the other at its first power-up; if the
    power fails meanwhile, it records the rest at the next power-up.
    """
    facts, author = context.facts, context["author"]
    if is_added and is_first_enrolment_author(author):
        if facts.has_first_enrolment_ended:
            raise PatternMismatch(
                f"record.person: {format_value(author)} may enrol people only before an enrolled person has signed in "
                "or changed the list, and somebody has"
            )
        if facts.role_by_staff_number and facts.has_money_moved_since_staff_change:
            raise PatternMismatch(
                f"record.person: {format_value(author)} enrols others only right after the previous person, "
                "or at a power-up"
            )
    elif facts.role_by_staff_number:
        is_own_pin = context.entry.kind == STAFF_PIN_CHANGED.kind and author == context["person_id"]
        if not facts.is_staff(author):
            raise PatternMismatch(f"record.person: {format_value(author)} is not an enrolled member of staff")
        if not is_own_pin and not facts.has_permission(author, Permission.ENROL_STAFF):
            raise PatternMismatch(
                f"record.person: {format_value(author)} lacks the permission {Permission.ENROL_STAFF}"
            )


def _require_wrong_pins_keys_of(staff_number_field: str) -> Check:
    """Return a check that every count of wrong PINs which the entry changes belongs to one staff number.

    ``staff_number_field`` is the field of the entry's record that has this number. Wrong PINs are counted by group of
    staff numbers (:func:`format_wrong_pins_key`), and each number belongs to two groups: one for menus opened with a
    key switch, and one for menus opened without. An entry may also delete the count that an early version stored, in
    another form, under the staff number itself.
    """

    def check(context: CheckContext) -> None:
        """Raise :class:`PatternMismatch`, naming the key, if the entry stores a count of another staff number."""
        fingerprint, staff_number = context.facts.fingerprint, context.record[staff_number_field]
        own_keys = {
            format_wrong_pins_key(fingerprint, staff_number, is_opened_by_key=is_opened_by_key)
            for is_opened_by_key in (True, False)
        }
        early_key = f"{StaffKey.WRONG_PINS}{staff_number}"
        early_value = context.stored_value_before(early_key)
        is_present_form = type(early_value) is dict and "locked_seconds" in early_value
        if context.stored_value_after(early_key) is None and not is_present_form:
            own_keys.add(early_key)
        for key in context.entry.transaction.state:
            if fingerprint and key not in own_keys:
                raise PatternMismatch(f"state.{key}: it does not count the wrong PINs of {staff_number}")

    return check


def _read_wrong_pins(value: Any) -> tuple[int, int]:
    """Return the stored count of wrong PINs, and for how many seconds the staff number is locked.

    Both are 0 for None, and for the forms of earlier versions, which the machine ignores.
    """
    if type(value) is dict:
        count, locked_seconds = value.get("wrong"), value.get("locked_seconds")
        if type(count) is int and type(locked_seconds) is int:
            return count, locked_seconds
    return 0, 0


def _compute_next_wrong_pin_count(context: CheckContext) -> int:
    """Return the count of wrong PINs that the entry must record; after a lock of the staff number it is 1 again."""
    key = f"{StaffKey.WRONG_PINS}{context['group']}"
    count_before, locked_seconds_before = _read_wrong_pins(context.stored_value_before(key))
    return 1 if locked_seconds_before else count_before + 1


def _check_lock_continues(context: CheckContext) -> None:
    """Check an attempt to sign in with a locked staff number: the count stays, and the lock is not extended.

    A lock that comes only from wrong PINs typed at terminals is not in the journal; the entry then stores nothing.
    """
    for key in context.entry.transaction.state:
        count_before, seconds_before = _read_wrong_pins(context.stored_value_before(key))
        count_after, seconds_after = _read_wrong_pins(context.stored_value_after(key))
        if count_after != count_before or not 0 < seconds_after <= seconds_before:
            raise PatternMismatch(
                f"state.{key}: expected the count {count_before} and 1 to {seconds_before} seconds; found "
                f"{count_after} and {seconds_after}"
            )


#: A wrong PIN counts one more than those stored before, under the key of the typed staff number.
_WRONG_PIN_CHECKS: Final = (
    _require_wrong_pins_keys_of("person"),
    report_unless_equal(
        "record.tries", lambda context: context["attempt_count"], _compute_next_wrong_pin_count
    ),
)

RULES: Final = (
    *(
        AuditRule(
            entry_declaration=declaration,
            id="$:text",
            record={
                "person": "$author",
                "whom": "$person_id",
                "role": "$role",
                "number": "$number",
                "digest?": "$digest:digest",
            },
            extra_checks=(_check_roster_change,),
        )
        for declaration in (
            entries.STAFF_ADDED,
            entries.STAFF_DISABLED,
            entries.STAFF_ENABLED,
            entries.STAFF_PIN_CHANGED,
        )
    ),
    AuditRule(
        entry_declaration=entries.ROSTER_CARRIED_OVER,
        id="$:text",
        record={"number": "$number", "digest": "$digest"},
        stored_after={"staff": {"number": "$number", "digest": "$digest"}},
        extra_checks=(
            report_unless(
                lambda _: (
                    "the staff list is carried over otherwise than by a memory clear before the first power-up"
                ),
                lambda context: context.facts.may_carry_staff_over,
            ),
            report_unless(
                lambda context: (
                    f"state.staff: expected {format_value(context.stored_value_before('staff'))}, stored before this "
                    f"entry; found {format_value(context.stored_value_after('staff'))}"
                ),
                lambda context: (
                    context.stored_value_before("staff") in (None, context.stored_value_after("staff"))
                ),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.ROSTER_RENEWED,
        id="$:text",
        record={"reason": "$reason"},
        stored_after={
            "staff": {"number": 0, "digest": ""},
            "fault:staff_roster": {
                "since": "$:time",
                "locks": True,
                "cleared_by": "technician",
                "detail": "$reason",
            },
        },
    ),
    AuditRule(
        entry_declaration=entries.MENU_REQUESTED,
        allowed_machine_states=STATES_FOR_SERVICE_MENU | single_state(State.PLAYING),
        stored_after={"menu": {"since": "$:time", "person": None}},
    ),
    AuditRule(
        entry_declaration=entries.MENU_ENTERED,
        allowed_machine_states=STATES_FOR_SERVICE_MENU | STATES_WITH_STAFF_AT_WORK,
        stored_before={"menu": ObjectWithMembers(bound_name="menu", person=None)},
        record={"person": "$person"},
        stored_after={"menu": {"since": "$:time", "person": "$person"}},
        extra_checks=(
            report_unless_equal(
                "record.role does not match the person's role in the staff list",
                lambda context: context.record["role"],
                lambda context: context.facts.role_by_staff_number.get(
                    context["person"], context.record["role"]
                ),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.MENU_LEFT,
        stored_before={"menu": ObjectWithMembers(bound_name="menu", person="$person")},
        record={"person": "$person"},
        stored_after={"menu": None},
    ),
    AuditRule(
        entry_declaration=entries.MENU_GIVEN_UP,
        stored_before={"menu": ObjectWithMembers(bound_name="menu", person=None)},
        stored_after={"menu": None},
    ),
    AuditRule(
        entry_declaration=entries.SIGN_IN_WHILE_LOCKED,
        stored_after={"tries:{group}?": {"wrong": "$:count", "locked_seconds": "$:count"}},
        extra_checks=(_require_wrong_pins_keys_of("person"), _check_lock_continues),
    ),
    AuditRule(
        entry_declaration=entries.SIGN_IN_REFUSED,
        record={"tries": "$attempt_count", "locked_seconds": 0},
        stored_after={"tries:{group}": {"wrong": "$attempt_count", "locked_seconds": 0}},
        extra_checks=_WRONG_PIN_CHECKS,
    ),
    AuditRule(
        entry_declaration=entries.SIGN_IN_REFUSED_AT_TERMINAL,
        id="wrong-pin-{typed_number}",
        record={"at": "$:time"},
    ),
    AuditRule(
        entry_declaration=entries.SIGN_IN_LOCKED,
        record={"tries": "$attempt_count", "locked_seconds": "$locked_seconds:positive"},
        stored_after={"tries:{group}": {"wrong": "$attempt_count", "locked_seconds": "$locked_seconds"}},
        extra_checks=_WRONG_PIN_CHECKS,
    ),
    AuditRule(
        entry_declaration=entries.WRONG_PINS_CLEARED,
        stored_after={"tries:{group}": None},
        extra_checks=(_require_wrong_pins_keys_of("person"),),
    ),
    AuditRule(
        entry_declaration=entries.SIGN_IN_UNLOCKED,
        stored_after={"tries:{group}": None, "tries:{other_group}?": None},
        permission=Permission.ENROL_STAFF,
        extra_checks=(check_signed_in_to_menu, _require_wrong_pins_keys_of("whom")),
    ),
)
