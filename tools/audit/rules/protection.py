"""The audit rules of player protection: reminders, limits and pauses of a session.

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

from typing import Any, Final

from egm.kernel.events import State
from egm.kernel.states import STATES_FOR_CASH_OUT, single_state
from egm.play import entries
from egm.play.player_protection import PAUSING_REMINDER_KINDS
from tools.audit.rules.pattern import (
    CheckContext,
    DerivedValue,
    ObjectWithChanges,
    ObjectWithMembers,
    format_value,
)
from tools.audit.rules.rule import AuditRule
from tools.audit.rules.shared_checks import report_unless


def _compute_spent_cents(context: CheckContext) -> int:
    """Return what the player has lost in the session before the checked entry: wagers minus wins, in minor units."""
    session = context.stored_value_before("session")
    return int(session["wagered_cents"]) - int(session["won_cents"])


def _derive_limits(context: CheckContext) -> Any:
    """Return the player's limits that must be stored: those before the checked entry, with the recorded change."""
    record = context.record
    return {**(context.stored_value_before("limits") or {}), record["of"]: record["value"]}


#: Pattern of the stored values of a position without a game, a hand-pay or a cash-out.
_NO_PLAY_PATTERN: Final = {"game": None, "handpay": None, "pay_out": None}
#: Pattern of the stored values of a position without a session.
_NO_SESSION_PATTERN: Final = {"session": None, "reminder": None, "limits": None}

RULES: Final = (
    AuditRule(
        entry_declaration=entries.REMINDER_SHOWN,
        allowed_machine_states=single_state(State.IDLE),
        stored_before={
            "reminder": None,
            "session": ObjectWithMembers(bound_name="session", wagered_cents="$:count"),
        },
        record={"kind": "$reminder_kind", "spent_cents": DerivedValue(_compute_spent_cents)},
        stored_after={
            "reminder": DerivedValue(lambda context: context.record),
            "session": ObjectWithChanges(
                original="session", time_reminders="$:count", spend_reminders="$:count"
            ),
        },
        counts={"reminders.{reminder_kind}": 1},
    ),
    AuditRule(
        entry_declaration=entries.REMINDER_ACKNOWLEDGED,
        allowed_machine_states=single_state(State.IDLE),
        stored_before={"reminder": ObjectWithMembers(bound_name="reminder", kind="$reminder_kind")},
        record={"kind": "$reminder_kind"},
        stored_after={"reminder": None},
        extra_checks=(
            report_unless(
                lambda context: (
                    f"record.kind is {format_value(context['reminder_kind'])}: "
                    "a pause at a limit cannot be ended by acknowledging it"
                ),
                lambda context: context["reminder_kind"] not in PAUSING_REMINDER_KINDS,
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.PAUSE_OVER,
        allowed_machine_states=STATES_FOR_CASH_OUT,
        stored_before={"reminder": ObjectWithMembers(bound_name="reminder", kind="$reminder_kind")},
        record={"kind": "$reminder_kind"},
        stored_after={
            "reminder": None,
            "session": {
                "since": "$:time",
                "wagered_cents": 0,
                "won_cents": 0,
                "time_reminders": 0,
                "spend_reminders": 0,
            },
        },
    ),
    AuditRule(
        entry_declaration=entries.SESSION_ENDED,
        allowed_machine_states=STATES_FOR_CASH_OUT,
        stored_before={"session": "$:object", **_NO_PLAY_PATTERN},
        record={"spent_cents": DerivedValue(_compute_spent_cents)},
        stored_after=_NO_SESSION_PATTERN,
    ),
    AuditRule(
        entry_declaration=entries.SESSION_ENDED_WITHOUT_GAME,
        allowed_machine_states=STATES_FOR_CASH_OUT,
        stored_before={"session": None, "limits": "$:object", **_NO_PLAY_PATTERN},
        stored_after=_NO_SESSION_PATTERN,
    ),
    AuditRule(
        entry_declaration=entries.LIMIT_SET,
        allowed_machine_states=single_state(State.IDLE),
        stored_after={"limits": DerivedValue(_derive_limits)},
    ),
)
