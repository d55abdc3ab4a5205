"""The rules of player protection: reminders, limits and pauses of a session."""

from typing import Any, Final

from tools.audit.rules.pattern import But, Derived, Has, OneOf, Scope
from tools.audit.rules.rule import Rule

_COUNT: Final = {
    "since": "$:time",
    "wagered_cents": "$:count",
    "won_cents": "$:count",
    "time_reminders": "$:count",
    "spend_reminders": "$:count",
}


def _spent_cents(scope: Scope) -> int:
    session = scope.was("session")
    return int(session["wagered_cents"]) - int(session["won_cents"])


def _limits(scope: Scope) -> Any:
    told = scope.told
    return {**(scope.was("limits") or {}), told["of"]: told["value"]}


_NOTHING_OPEN: Final = {"game": None, "handpay": None, "pay_out": None}
_ENDED: Final = {"session": None, "reminder": None, "limits": None}

_PROTECTION: Final = (
    Rule(
        kind="protection.reminder",
        before={"reminder": None, "session": Has("session", wagered_cents="$:count")},
        record={
            "kind": "$which:text",
            "minutes": "$minutes:count",
            "spent_cents": Derived(_spent_cents),
            "until": "$:text",
            "own": "$:bool",
        },
        state={
            "reminder": Derived(lambda scope: scope.told),
            "session": But("session", time_reminders="$:count", spend_reminders="$:count"),
        },
        counts={"reminders.{which}": 1},
    ),
    Rule(
        kind="protection.acknowledged",
        before={"reminder": Has("reminder", kind="$which")},
        record={"kind": "$which"},
        state={"reminder": None},
    ),
    Rule(
        kind="protection.pause_over",
        before={"reminder": Has("reminder", kind="$which")},
        record={"kind": "$which"},
        state={
            "reminder": None,
            "session": {
                **_COUNT,
                "wagered_cents": 0,
                "won_cents": 0,
                "time_reminders": 0,
                "spend_reminders": 0,
            },
        },
    ),
    Rule(
        kind="protection.session_ended",
        before={"session": "$:object", **_NOTHING_OPEN},
        record={"minutes": "$:count", "spent_cents": Derived(_spent_cents)},
        state=_ENDED,
    ),
    Rule(  # of a player who has set a limit, and played nothing
        kind="protection.session_ended",
        before={"session": None, "limits": "$:object", **_NOTHING_OPEN},
        state=_ENDED,
    ),
    Rule(
        kind="protection.limit_set",
        record={"of": OneOf("minutes", "cents"), "value": "$:count"},
        state={"limits": Derived(_limits)},
    ),
)


RULES: Final = _PROTECTION
