"""The rules of player protection: reminders, limits and pauses of a session."""

from typing import Any, Final

from egm.kernel.events import State
from egm.kernel.states import PAYABLE, only
from egm.play.player_protection import LIMITS
from tools.audit.rules.parts import holds
from tools.audit.rules.pattern import But, Derived, Has, OneOf, Scope
from tools.audit.rules.rule import Rule

_COUNT: Final = {
    "since": "$:time",
    "wagered_cents": "$:count",
    "won_cents": "$:count",
    "time_reminders": "$:count",
    "spend_reminders": "$:count",
}


def _compute_spent_cents(scope: Scope) -> int:
    session = scope.value_before("session")
    return int(session["wagered_cents"]) - int(session["won_cents"])


def _derive_limits(scope: Scope) -> Any:
    record = scope.record
    return {**(scope.value_before("limits") or {}), record["of"]: record["value"]}


_NOTHING_OPEN: Final = {"game": None, "handpay": None, "pay_out": None}
_ENDED: Final = {"session": None, "reminder": None, "limits": None}

_PROTECTION: Final = (
    Rule(
        kind="protection.reminder",
        within=only(State.IDLE),
        before={"reminder": None, "session": Has("session", wagered_cents="$:count")},
        record={
            "kind": "$which:text",
            "minutes": "$minutes:count",
            "spent_cents": Derived(_compute_spent_cents),
            "until": "$:text",
            "own": "$:bool",
        },
        state={
            "reminder": Derived(lambda scope: scope.record),
            "session": But("session", time_reminders="$:count", spend_reminders="$:count"),
        },
        counts={"reminders.{which}": 1},
    ),
    Rule(
        kind="protection.acknowledged",
        within=only(State.IDLE),
        before={"reminder": Has("reminder", kind="$which")},
        record={"kind": "$which"},
        state={"reminder": None},
        also=(holds("reading it does not end a pause at a limit", lambda s: s["which"] not in LIMITS),),
    ),
    Rule(
        kind="protection.pause_over",
        within=PAYABLE,
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
        within=PAYABLE,
        before={"session": "$:object", **_NOTHING_OPEN},
        record={"minutes": "$:count", "spent_cents": Derived(_compute_spent_cents)},
        state=_ENDED,
    ),
    Rule(  # for a player who has set a limit, and played nothing
        kind="protection.session_ended",
        within=PAYABLE,
        before={"session": None, "limits": "$:object", **_NOTHING_OPEN},
        state=_ENDED,
    ),
    Rule(
        kind="protection.limit_set",
        within=only(State.IDLE),
        record={"of": OneOf("minutes", "cents"), "value": "$:count"},
        state={"limits": Derived(_derive_limits)},
    ),
)


RULES: Final = _PROTECTION
