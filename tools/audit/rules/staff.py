"""The rules for staff: the roster, the menu, wrong PINs."""

from typing import Final

from egm.kernel.events import State
from egm.kernel.states import AT_WORK, SERVICEABLE, only
from egm.people import Permission
from egm.people.demonstration import BY as DEMONSTRATION
from egm.people.person import NUMBER
from egm.people.roles import Role
from egm.staff import entries
from egm.staff.entries import STAFF_ADDED
from tools.audit.rules.parts import check_in_menu, require
from tools.audit.rules.pattern import Has, Scope
from tools.audit.rules.rule import Rule


def _is_next_change(scope: Scope) -> bool:
    """Return whether the entry is the next change of the staff list, and consistent with the list before it."""
    facts, roster, number = scope.facts, scope.value_before("staff"), scope["number"]
    digest = scope.names.get("digest")
    expected = number if digest is None else {"number": number, "digest": digest}
    first = not facts.people
    return (
        number == int((roster["number"] if type(roster) is dict else roster) or 0) + 1
        and scope.value_after("staff") == expected
        and scope.entry.id == (f"staff-{number}" if digest is None else f"staff-{number}-{digest[:16]}")
        and scope["role"] in set(Role)
        and NUMBER.fullmatch(scope["whom"]) is not None
        and (first or scope["by"] in {"", DEMONSTRATION} or facts.is_staff(scope["by"]))
        and (scope["whom"] in facts.people) == (scope.entry.kind != STAFF_ADDED.kind)
        and facts.people.get(scope["whom"], scope["role"]) == scope["role"]
    )


RULES: Final = (
    *(
        Rule(
            entry=entry,
            id="$:text",
            record={
                "person": "$by",
                "whom": "$whom",
                "role": "$role",
                "number": "$number",
                "digest?": "$digest:digest",
            },
            also=(
                require(
                    "it is not the next change of the staff, or names no member of staff", _is_next_change
                ),
            ),
        )
        for entry in (entries.STAFF_ADDED, entries.STAFF_DISABLED, entries.STAFF_ENABLED, entries.STAFF_PIN)
    ),
    Rule(
        entry=entries.STAFF_CARRIED,
        id="$:text",
        record={"number": "$number", "digest": "$digest"},
        state={"staff": {"number": "$number", "digest": "$digest"}},
        also=(
            require(
                "the roster is not the one recorded before",
                lambda s: s.value_before("staff") in (None, s.value_after("staff")),
            ),
        ),
    ),
    Rule(
        entry=entries.STAFF_RENEWED,
        id="$:text",
        record={"reason": "$reason"},
        state={
            "staff": {"number": 0, "digest": ""},
            "fault:staff_roster": {
                "since": "$:time",
                "locks": True,
                "cleared_by": "technician",
                "detail": "$reason",
            },
        },
    ),
    Rule(
        entry=entries.MENU_ASKED,
        within=SERVICEABLE | only(State.PLAYING),
        state={"menu": {"since": "$:time", "person": None}},
    ),
    Rule(
        entry=entries.MENU_ENTERED,
        within=SERVICEABLE | AT_WORK,
        before={"menu": Has("menu", person=None)},
        record={"person": "$person"},
        state={"menu": {"since": "$:time", "person": "$person"}},
        also=(
            require(
                "it is not this person's role",
                lambda scope: (
                    scope.facts.people.get(scope["person"], scope.record["role"]) == scope.record["role"]
                ),
            ),
        ),
    ),
    Rule(
        entry=entries.MENU_LEFT,
        before={"menu": Has("menu", person="$person")},
        record={"person": "$person"},
        state={"menu": None},
    ),
    Rule(entry=entries.MENU_GIVEN_UP, before={"menu": Has("menu", person=None)}, state={"menu": None}),
    Rule(
        entry=entries.SIGN_IN_WHILE_LOCKED,
        state={"tries:{bucket}?": {"wrong": "$:count", "locked_seconds": "$:count"}},
    ),
    Rule(
        entry=entries.SIGN_IN_REFUSED,
        record={"tries": "$tries", "locked_seconds": 0},
        state={"tries:{bucket}": {"wrong": "$tries", "locked_seconds": 0}},
    ),
    Rule(entry=entries.SIGN_IN_REFUSED_AT_TERMINAL, id="wrong-pin-{typed}", record={"at": "$:time"}),
    Rule(
        entry=entries.SIGN_IN_LOCKED,
        record={"tries": "$tries", "locked_seconds": "$locked:cents"},
        state={"tries:{bucket}": {"wrong": "$tries", "locked_seconds": "$locked"}},
    ),
    Rule(entry=entries.TRIES_FORGOTTEN, state={"tries:{bucket}": None}),
    Rule(
        entry=entries.SIGN_IN_UNLOCKED,
        state={"tries:{bucket}": None},
        may=Permission.ENROL,
        also=(check_in_menu,),
    ),
)
