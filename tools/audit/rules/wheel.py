"""Entries of a physical wheel: bets closed for a spin, and its number, or that none was received."""

from typing import Any, Final

from egm.devices.wheel.codec import NUMBERS
from egm.records.wheel import WheelSpin
from tools.audit.rules.parts import holds
from tools.audit.rules.pattern import But, OneOf, Scope
from tools.audit.rules.rule import Rule

_SPIN: Final[dict[str, Any]] = {"round_id": "$round:text", "spin": "$spin:count"}
_BEFORE: Final = {"wheel_spin": "$was:object"}
#: The machine's codes for the reason why no number was received.
_UNHEARD: Final = OneOf("another_spin", "went_on", "line_lost", "restart")


def _are_earlier_recorded(scope: Scope) -> bool:
    was, now = scope.record_before(WheelSpin, "wheel_spin"), scope.record_after(WheelSpin, "wheel_spin")
    known = {} if was is None else was.numbers
    return now is not None and now.earlier.items() <= known.items()


def _is_awaited(scope: Scope) -> bool:
    was = scope.record_before(WheelSpin, "wheel_spin")
    return was is not None and was.is_awaited and (was.round_id, was.spin) == (scope["round"], scope["spin"])


_OF_THE_SPIN: Final = holds("no number is awaited for its spin", _is_awaited)

RULES: Final = (
    Rule(
        kind="wheel.no_more_bets",
        id="{round}.closed",
        record=_SPIN,
        state={"wheel_spin": {**_SPIN, "earlier?": {"{waits}?": "$:count"}}},
        also=(holds("numbers of earlier rounds are not as recorded", _are_earlier_recorded),),
    ),
    Rule(
        kind="wheel.number",
        id="{round}.number",
        before=_BEFORE,
        record={**_SPIN, "number": "$number:count"},
        state={"wheel_spin": But("was", number="$number:count")},
        also=(_OF_THE_SPIN, holds("no wheel has such a pocket", lambda scope: scope["number"] in NUMBERS)),
    ),
    Rule(
        kind="wheel.unheard",
        id="{round}.unheard",
        before=_BEFORE,
        record={**_SPIN, "unheard": _UNHEARD},
        state={"wheel_spin": But("was", unheard=_UNHEARD)},
        also=(_OF_THE_SPIN,),
    ),
)
