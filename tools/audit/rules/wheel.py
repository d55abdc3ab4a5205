"""The audit rules for a physical wheel: bets closed for a spin, the number of the spin, or that none was received."""

from typing import Any, Final

from egm.devices.wheel.codec import WHEEL_NUMBERS
from egm.play.records.wheel import WheelSpin
from egm.seats import entries
from tools.audit.rules.pattern import CheckContext, ObjectWithChanges, format_value
from tools.audit.rules.rule import AuditRule
from tools.audit.rules.shared_checks import report_unless

#: Pattern of the round and the spin that a record names.
_SPIN_PATTERN: Final[dict[str, Any]] = {"round_id": "$round", "spin": "$spin"}
#: Pattern of the stored state: it must contain a spin, which is bound to ``spin_before`` (see
#: :mod:`tools.audit.rules.pattern`).
_STORED_SPIN_PATTERN: Final = {"wheel_spin": "$spin_before:object"}


def _are_earlier_numbers_recorded(context: CheckContext) -> bool:
    """Return whether each number of an earlier spin that the new stored spin repeats is the one recorded before."""
    spin_before = context.stored_record_before(WheelSpin, "wheel_spin")
    spin_after = context.stored_record_after(WheelSpin, "wheel_spin")
    recorded_numbers = {} if spin_before is None else spin_before.number_by_round_id
    return spin_after is not None and spin_after.earlier_numbers.items() <= recorded_numbers.items()


def _is_spin_awaited(context: CheckContext) -> bool:
    """Return whether the machine was waiting for the number of this spin and this round before the checked entry."""
    spin_before = context.stored_record_before(WheelSpin, "wheel_spin")
    return (
        spin_before is not None
        and spin_before.is_awaited
        and (spin_before.round_id, spin_before.spin_counter) == (context["round"], context["spin"])
    )


#: Check that the record names the awaited spin.
_CHECK_AWAITED_SPIN: Final = report_unless(
    lambda context: (
        f"record.round_id and record.spin: expected the spin that was awaited before this entry, "
        f"{format_value(context.stored_value_before('wheel_spin'))}; "
        f"found {format_value(context['round'])} and {format_value(context['spin'])}"
    ),
    _is_spin_awaited,
)

RULES: Final = (
    AuditRule(
        entry_declaration=entries.BETTING_CLOSED,
        id="{round}.closed",
        record=_SPIN_PATTERN,
        stored_after={"wheel_spin": {**_SPIN_PATTERN, "earlier?": "$:object"}},
        extra_checks=(
            report_unless(
                lambda context: (
                    "state.wheel_spin.earlier: a number differs from the one recorded for its spin: found "
                    f"{format_value(context.stored_value_after('wheel_spin'))}, "
                    f"recorded {format_value(context.stored_value_before('wheel_spin'))}"
                ),
                _are_earlier_numbers_recorded,
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.WHEEL_NUMBER_RECEIVED,
        id="{round}.number",
        stored_before=_STORED_SPIN_PATTERN,
        record={**_SPIN_PATTERN, "number": "$number"},
        stored_after={"wheel_spin": ObjectWithChanges(original="spin_before", number="$number")},
        extra_checks=(
            _CHECK_AWAITED_SPIN,
            report_unless(
                lambda context: (
                    f"record.number: {format_value(context['number'])} is not a pocket of a wheel"
                ),
                lambda context: context["number"] in WHEEL_NUMBERS,
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.WHEEL_NUMBER_MISSED,
        id="{round}.unheard",
        stored_before=_STORED_SPIN_PATTERN,
        record={**_SPIN_PATTERN, "unheard": "$reason"},
        stored_after={"wheel_spin": ObjectWithChanges(original="spin_before", unheard="$reason")},
        extra_checks=(_CHECK_AWAITED_SPIN,),
    ),
)
