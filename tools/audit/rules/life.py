"""The rules of the machine's operation: start, self-tests, doors, faults, keys, attendant calls."""

from typing import Any, Final

from egm.gaming_day import GamingDay
from egm.kernel.events import State
from egm.kernel.faults import get_fault
from egm.kernel.states import AT_WORK, EVERYWHERE, ON_CALL, only
from egm.people import Permission
from egm.play import entries as play_entries
from egm.records.keys import IntegrityKey, PlayKey
from meters.transaction import Mark
from tools.audit.rules.parts import (
    ABSENT,
    check_first_position,
    check_in_menu,
    holds,
    require_stored_value,
)
from tools.audit.rules.pattern import Each, Has, OneOf, Scope, format_storage_key
from tools.audit.rules.rule import Rule

_SINCE: Final = {"since": "$:time"}


def _has_failed(scope: Scope) -> bool:
    """Return whether the RNG or a self-test had failed; earlier versions also restarted a working RNG."""
    return (
        PlayKey.RESIDUAL not in scope.ledger.state
        or scope.value_before(IntegrityKey.OUT_OF_SERVICE) is not None
    )


def _is_gaming_day(scope: Scope) -> bool:
    """Return whether a power-up states a valid gaming day, or none (written by an earlier version)."""
    record = scope.entry.record
    if not isinstance(record, dict) or not {"time_zone", "day_ends_hour"} & record.keys():
        return True
    zone, hour = record.get("time_zone"), record.get("day_ends_hour")
    return GamingDay.recorded(record) == GamingDay(str(zone), hour if type(hour) is int else -1)


def _derive_state_after_test(scope: Scope) -> Any:
    """Return the state after a passed self-test, which lifts the stop of an earlier failed one."""
    stopped = scope.value_before("out_of_service")
    return None if stopped is not None and stopped["cause"] == "self_test" else ABSENT


#: The amount below which credit is residual, and what may be done with it.
RESIDUAL_TERMS: Final = {"way": OneOf("stays", "given_up", "played"), "useful_cents": "$:count"}

_LIFE: Final = (
    Rule(
        kind="power.up",
        id="power-up-{boots}",
        record="$:object|none",
        state={"boots": "$boots:cents", "residual_terms?": RESIDUAL_TERMS},
        counts={"power_resets": 1},
        marks=(Mark.POWER_UP,),
        also=(
            check_first_position,
            holds("it does not state a valid gaming day", _is_gaming_day),
            holds(
                "a power-up is missing",
                lambda scope: scope["boots"] == int(scope.value_before("boots") or 0) + 1,
            ),
        ),
    ),
    Rule(
        kind="residual.terms",
        state={"residual_terms": RESIDUAL_TERMS},
        also=(
            holds(
                "the terms of the first position are in its power-up entry", lambda scope: scope.position > 1
            ),
        ),
    ),
    Rule(
        kind="self_test.passed",
        record="$:object|none",
        state={"out_of_service?": None},
        also=(check_first_position, require_stored_value("out_of_service", _derive_state_after_test)),
    ),
    Rule(
        kind="self_test.failed",
        within=EVERYWHERE,
        record={"cause": "self_test", "detail": "$detail:text"},
        state={"out_of_service": {"cause": "self_test", "detail": "$detail"}},
    ),
    Rule(
        kind="chance.failed",
        within=EVERYWHERE,
        record={"cause": "chance", "detail": "$detail:text"},
        state={"out_of_service": {"cause": "chance", "detail": "$detail"}},
    ),
    Rule(
        kind="chance.restarted",
        within=ON_CALL | only(State.PLAYING),
        record={"person": "$:person"},
        state={"out_of_service": None},
        may=Permission.RESTART,
        also=(holds("the generator that is restarted was in service", _has_failed),),
    ),
    Rule(kind="chance.{code}", record="$:object", also=(check_first_position,)),
    Rule(
        kind="service.disabled",
        within=EVERYWHERE,
        before={"disabled:{source}": None},
        record={"source": "$source:text", "reason": "$reason:text", "since": "$since:time"},
        state={"disabled:{source}": {"reason": "$reason", "since": "$since"}},
    ),
    Rule(
        kind="service.enabled",
        before={"disabled:{source}": "$:object"},
        record={
            "source": "$source:text",
            "reason?": "$:text",
            "form?": "$:text",
            "person?": "$:staff",
            "persons?": "$:persons",
        },
        state={"disabled:{source}": None},
    ),
    Rule(
        kind="event.unexpected",
        record={"event": "$:text", "state": "$:text", "reason": "$:text", "values": "$:object"},
    ),
    Rule(
        kind="machine.restart",
        within=AT_WORK,
        record={"person": "$:staff"},
        may=Permission.RESTART,
        also=(check_in_menu,),
    ),
    Rule(kind="game.refused", record={"game": "$:text", "reason": "$:text"}, also=(check_first_position,)),
    Rule(
        entry=play_entries.GAME_SAME_VERSION,
        before={"definition:{digest}": None, "definition:{before}": "$:text"},
        record={"digest": "$digest", "before": "$before"},
    ),
    Rule(
        entry=play_entries.GAME_EXAMINED,
        record={"digest": "$digest", "code": "$code", "prizes": "$prizes"},
        state={"examined:{digest}": {"code": "$code", "prizes": "$prizes"}},
    ),
    Rule(kind="screen.refused", record={"text": "$:text"}),
    Rule(
        kind="inventory.changed",
        before={"inventory": "$before:object|none"},
        record={"before": "$before", "after": "$after:object"},
        state={"inventory": "$after"},
        also=(check_first_position,),
    ),
)


_FAULT: Final = {
    "since": "$:time",
    "locks": "$:bool",
    "cleared_by": "$cleared_by:text",
    "detail": "$:text",
}
_CLEARED_BEFORE: Final = {"logic_access": "attendant"}
"""Who cleared a fault under the rules of earlier versions, whose journals are audited too."""
_DOOR: Final = {"door": "$door:text", "unattended?": "$:bool"}


def _require_clearable_faults(by: str) -> Any:
    """Return the check that each cleared fault was active, may be cleared by ``by``, and is in the record."""

    def test(scope: Scope) -> bool:
        record = scope.record
        codes = record["codes"]
        due = {format_storage_key(f"fault:{code}", scope.position): None for code in codes}
        standing = [scope.value_before(f"fault:{code}") for code in codes]
        return (
            len(set(codes)) == len(codes)
            and dict(scope.entry.state) == due
            and all(type(fault) is dict and fault["cleared_by"] == by for fault in standing)
        )

    return holds(
        "a cleared fault was not active, is not in the record, or may not be cleared by this person", test
    )


_FAULTS: Final = (
    Rule(
        kind="door.opened",
        within=EVERYWHERE,
        before={"door:{door}": None},
        record=_DOOR,
        state={"door:{door}": _SINCE},
        counts={"door.{door}.opens": 1},
    ),
    Rule(
        kind="door.opened_while_off",
        within=EVERYWHERE,
        before={"door:{door}": None},
        record=_DOOR,
        state={"door:{door}": _SINCE},
        counts={"door.{door}.opens": 1},
    ),
    Rule(
        kind="door.closed",
        before={"door:{door}": "$:object"},
        record=_DOOR,
        state={"door:{door}": None},
        marks=(Mark.DOOR_CLOSE,),
    ),
    Rule(
        kind="fault.raised",
        within=EVERYWHERE,
        before={"fault:{code}": None},
        record="$told:object",
        state={"fault:{code}": _FAULT},
        counts={"fault.{code}": 1},
        also=(
            holds("its record names another fault", lambda scope: scope["told"].get("code") == scope["code"]),
            holds(
                "it locks, or is cleared, otherwise than such a fault",
                lambda scope: (
                    scope.value_after(f"fault:{scope['code']}")["locks"] is get_fault(scope["code"]).locks
                    and scope["cleared_by"]
                    in {get_fault(scope["code"]).cleared_by, _CLEARED_BEFORE.get(scope["code"])}
                ),
            ),
        ),
    ),
    Rule(
        kind="fault.cleared",
        before={"fault:{code}": Has("fault", cleared_by="self")},
        record={"code": "$code:text", "detail?": "$:text"},
        state={"fault:{code}": None},
    ),
    Rule(
        kind="fault.settled",
        within=AT_WORK,
        record={
            "codes": Each("$:text", least=1),
            "finding": "$:words",
            "person": "$:staff",
            "persons": "$:persons",
        },
        state={"fault:{code}?": None},
        may=Permission.RESTART,
        also=(_require_clearable_faults("technician"), check_in_menu),
    ),
    Rule(
        kind="tilt.cleared",
        within=only(State.TILT),
        record={"codes": Each("$:text", least=1), "person": "$:person"},
        state={"fault:{code}?": None},
        may=Permission.CLEAR_TILTS,
        also=(_require_clearable_faults("attendant"),),
    ),
    Rule(kind="key.turned", record={"key": "$:text", "on": True, "unattended?": "$:bool"}),
    Rule(kind="key.returned", record={"key": "$:text", "on": False, "unattended?": "$:bool"}),
    Rule(
        kind="service.call",
        record={"on": "$on:bool"},
        state={"service_call": "$calling:any"},
        also=(
            holds(
                "a call is put out by another, or goes on",
                lambda scope: (
                    scope["on"] is (scope.value_before("service_call") is None)
                    and scope["calling"] is (True if scope["on"] else None)
                ),
            ),
        ),
    ),
    Rule(
        kind="service.answered",
        within=ON_CALL | {State.HANDPAY, State.TILT},
        before={"service_call": True},
        record="$:object",
        state={"service_call": None},
    ),
)


RULES: Final = (*_LIFE, *_FAULTS)
