"""Entries of a real wheel: bets closed for a spin, and the number of that very spin."""

from typing import Any, Final

from tools.audit.rules.rule import Rule

_SPIN: Final[dict[str, Any]] = {"round_id": "$round:text", "spin": "$spin:count"}
_TOLD: Final[dict[str, Any]] = {**_SPIN, "number": "$number:count"}

RULES: Final = (
    Rule(kind="wheel.no_more_bets", id="{round}.closed", record=_SPIN, state={"wheel_spin": _SPIN}),
    Rule(
        kind="wheel.number",
        id="{round}.number",
        before={"wheel_spin": _SPIN},
        record=_TOLD,
        state={"wheel_spin": _TOLD},
    ),
)
