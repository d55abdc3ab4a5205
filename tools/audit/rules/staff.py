"""The rules for staff: the roster, the menu, wrong PINs."""

from typing import Final

from egm.kernel.events import State
from egm.kernel.states import AT_WORK, SERVICEABLE, only
from egm.people import Permission
from egm.people.demonstration import BY as DEMONSTRATION
from egm.people.person import NUMBER
from egm.people.roles import Role
from tools.audit.rules.facts import KEYS
from tools.audit.rules.parts import (
    check_in_menu,
    holds,
)
from tools.audit.rules.pattern import Has, OneOf, Scope
from tools.audit.rules.rule import Rule

_CHANGE: Final = {
    "person": "$by:text",
    "whom": "$whom:words",
    "role": "$role:text",
    "at": "$:time",
    "number": "$number:cents",
    "digest?": "$digest:digest",
}


def _is_next_change(scope: Scope) -> bool:
    facts, roster, number = scope.facts, scope.value_before("staff"), scope["number"]
    digest = scope.names.get("digest")
    due = number if digest is None else {"number": number, "digest": digest}
    first = not facts.people
    return (
        number == int((roster["number"] if type(roster) is dict else roster) or 0) + 1
        and scope.value_after("staff") == due
        and scope.entry.id == (f"staff-{number}" if digest is None else f"staff-{number}-{digest[:16]}")
        and scope["role"] in set(Role)
        and NUMBER.fullmatch(scope["whom"]) is not None
        and (first or scope["by"] in {"", DEMONSTRATION} or facts.is_staff(scope["by"]))
        and (scope["whom"] in facts.people) == (scope.entry.kind != "staff.added")
        and facts.people.get(scope["whom"], scope["role"]) == scope["role"]
    )


_PERMISSION: Final = OneOf(*(permission.value for permission in Permission))
_ROLE: Final = OneOf(*(f"{role.value}" for role in Role))
_STAFF: Final = (
    *(
        Rule(
            kind=f"staff.{what}",
            id="$:text",
            record=_CHANGE,
            state={"staff": "$:any"},
            also=(
                holds("it is not the next change of the staff, or names no member of staff", _is_next_change),
            ),
        )
        for what in ("added", "disabled", "enabled", "pin")
    ),
    Rule(
        kind="staff.carried",
        id="$:text",
        record={
            "number": "$number:cents",
            "digest": "$digest:digest",
            "people": "$:object",
            "disabled": "$:list",
        },
        state={"staff": {"number": "$number", "digest": "$digest"}},
        also=(
            holds(
                "the roster is the one recorded before",
                lambda s: s.value_before("staff") in (None, s.value_after("staff")),
            ),
        ),
    ),
    Rule(
        kind="staff.renewed",
        id="$:text",
        record={"person": "$:words", "witness": "$:words", "reason": "$reason:words"},
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
    Rule(kind="staff.restored", record={"why": "$:text"}),
    Rule(kind="staff.unreadable", record={"why": "$:text"}),
    Rule(
        kind="menu.asked",
        within=SERVICEABLE | only(State.PLAYING),
        record={"by": OneOf(*sorted(KEYS))},
        state={"menu": {"since": "$:time", "person": None}},
    ),
    Rule(
        kind="menu.entered",
        within=SERVICEABLE | AT_WORK,
        before={"menu": Has("menu", person=None)},
        record={"menu": "$:text", "person": "$person:staff", "role": _ROLE},
        state={"menu": {"since": "$:time", "person": "$person"}},
        also=(
            holds(
                "it is not this person's role",
                lambda scope: (
                    scope.facts.people.get(scope["person"], scope.record["role"]) == scope.record["role"]
                ),
            ),
        ),
    ),
    Rule(
        kind="menu.left",
        before={"menu": Has("menu", person="$person")},
        record={"why": "$:text", "menu": "$:text", "person": "$person:staff"},
        state={"menu": None},
    ),
    Rule(
        kind="menu.given_up",
        before={"menu": Has("menu", person=None)},
        record={"why": "$:text"},
        state={"menu": None},
    ),
    Rule(
        kind="sign_in.not_permitted",
        record={"person": "$:staff", "permission": _PERMISSION},
    ),
    Rule(
        kind="sign_in.refused",
        record={"person": "$:text", "why": "locked"},
        state={"tries:{bucket}?": {"wrong": "$:count", "locked_seconds": "$:count"}},
    ),
    Rule(
        kind="sign_in.refused",
        record={"person": "$:text", "why": "wrong", "tries": "$tries:cents", "locked_seconds": 0},
        state={"tries:{bucket}": {"wrong": "$tries", "locked_seconds": 0}},
        counts={"sign_in_refused": 1},
    ),
    Rule(
        kind="sign_in.refused",
        id="wrong-pin-{typed}",
        record={"person": "$:text", "why": "terminal", "at": "$:time"},
        counts={"sign_in_refused": 1},
    ),
    Rule(
        kind="sign_in.locked",
        record={
            "person": "$:text",
            "why": "wrong",
            "tries": "$tries:cents",
            "locked_seconds": "$locked:cents",
        },
        state={"tries:{bucket}": {"wrong": "$tries", "locked_seconds": "$locked"}},
        counts={"sign_in_refused": 1},
    ),
    Rule(
        kind="sign_in.tries_forgotten",
        record={"person": "$:staff"},
        state={"tries:{bucket}": None},
    ),
    Rule(
        kind="sign_in.unlocked",
        record={"person": "$:staff", "persons": "$:persons", "whom": "$:staff", "reason": "$:words"},
        state={"tries:{bucket}": None},
        may=Permission.ENROL,
        also=(check_in_menu,),
    ),
)


RULES: Final = _STAFF
