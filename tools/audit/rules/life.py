"""The rules of the machine's operation: start, self-tests, doors, faults, keys, attendant calls."""

from typing import Any, Final

from egm.app import entries as app
from egm.gaming_day import GamingDay
from egm.integrity import entries as integrity
from egm.integrity.keys import IntegrityKey
from egm.kernel import own_entries as kernel
from egm.kernel.events import State
from egm.kernel.faults import get_fault
from egm.kernel.states import AT_WORK, EVERYWHERE, ON_CALL, only
from egm.people import Permission
from egm.play import entries as play_entries
from egm.play.keys import PlayKey
from egm.staff import entries as staff
from tools.audit.rules.parts import (
    ABSENT,
    check_first_position,
    check_in_menu,
    require,
    require_stored_value,
)
from tools.audit.rules.pattern import Has, OneOf, Scope, format_storage_key
from tools.audit.rules.rule import Rule


def _has_failed(scope: Scope) -> bool:
    """Return whether the RNG or a self-test had failed.

    True for journals of earlier versions, which also restarted a working RNG.
    """
    return (
        PlayKey.RESIDUAL not in scope.ledger.state
        or scope.value_before(IntegrityKey.OUT_OF_SERVICE) is not None
    )


def _is_gaming_day(scope: Scope) -> bool:
    """Return whether the gaming day that a power-up records is valid.

    True if it records none, as earlier versions did.
    """
    record = scope.entry.record
    if not isinstance(record, dict) or not {"time_zone", "day_ends_hour"} & record.keys():
        return True
    zone, hour = record.get("time_zone"), record.get("day_ends_hour")
    return GamingDay.read_recorded(record) == GamingDay(str(zone), hour if type(hour) is int else -1)


def _derive_state_after_test(scope: Scope) -> Any:
    """Return the state after a passed self-test, which lifts the stop of an earlier failed one."""
    stopped = scope.value_before("out_of_service")
    return None if stopped is not None and stopped["cause"] == "self_test" else ABSENT


#: The amount below which credit is residual, and what may be done with it.
RESIDUAL_TERMS: Final = {"way": OneOf("stays", "given_up", "played"), "useful_cents": "$:count"}

_LIFE: Final = (
    Rule(
        entry=integrity.POWER_UP,
        id="power-up-{boots}",
        state={"boots": "$boots", "residual_terms?": RESIDUAL_TERMS},
        also=(
            check_first_position,
            require("it does not state a valid gaming day", _is_gaming_day),
            require(
                "a power-up is missing",
                lambda scope: scope["boots"] == int(scope.value_before("boots") or 0) + 1,
            ),
        ),
    ),
    Rule(
        entry=integrity.RESIDUAL_TERMS,
        state={"residual_terms": RESIDUAL_TERMS},
        also=(
            require(
                "the terms of the first position are in its power-up entry", lambda scope: scope.position > 1
            ),
        ),
    ),
    Rule(
        entry=integrity.SELF_TEST_PASSED,
        also=(check_first_position, require_stored_value("out_of_service", _derive_state_after_test)),
    ),
    Rule(
        entry=integrity.SELF_TEST_FAILED,
        within=EVERYWHERE,
        record={"cause": "self_test", "detail": "$detail"},
        state={"out_of_service": {"cause": "self_test", "detail": "$detail"}},
    ),
    Rule(
        entry=integrity.CHANCE_FAILED,
        within=EVERYWHERE,
        record={"cause": "chance", "detail": "$detail"},
        state={"out_of_service": {"cause": "chance", "detail": "$detail"}},
    ),
    Rule(
        entry=integrity.CHANCE_RESTARTED,
        within=ON_CALL | only(State.PLAYING),
        state={"out_of_service": None},
        may=Permission.RESTART,
        also=(require("the generator that is restarted was in service", _has_failed),),
    ),
    *(Rule(entry=entry, also=(check_first_position,)) for entry in app.GENERATOR_EVENTS.values()),
    Rule(
        entry=integrity.SERVICE_DISABLED,
        within=EVERYWHERE,
        before={"disabled:{source}": None},
        record={"source": "$source", "reason": "$reason", "since": "$since"},
        state={"disabled:{source}": {"reason": "$reason", "since": "$since"}},
    ),
    Rule(
        entry=integrity.SERVICE_ENABLED,
        before={"disabled:{source}": "$:object"},
        record={"source": "$source"},
        state={"disabled:{source}": None},
    ),
    Rule(
        entry=staff.MACHINE_RESTART,
        within=AT_WORK,
        may=Permission.RESTART,
        also=(check_in_menu,),
    ),
    Rule(entry=app.GAME_REFUSED, also=(check_first_position,)),
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
    Rule(
        entry=staff.INVENTORY_CHANGED,
        before={"inventory": "$before:object|none"},
        record={"before": "$before", "after": "$after"},
        state={"inventory": "$after"},
        also=(check_first_position,),
    ),
)


_CLEARED_BEFORE: Final = {"logic_access": "attendant"}
"""Who cleared a fault under the rules of earlier versions, whose journals are audited too."""


def _require_clearable_faults(authority: str) -> Any:
    """Return the check that each fault the record clears was active and may be cleared by this authority."""

    def test(scope: Scope) -> bool:
        """Return whether the record's faults were active, may be cleared by this authority, and are all cleared."""
        record = scope.record
        codes = record["codes"]
        expected_state = {format_storage_key(f"fault:{code}", scope.position): None for code in codes}
        standing = [scope.value_before(f"fault:{code}") for code in codes]
        return (
            len(set(codes)) == len(codes)
            and dict(scope.entry.state) == expected_state
            and all(type(fault) is dict and fault["cleared_by"] == authority for fault in standing)
        )

    return require(
        "a cleared fault was not active, is not in the record, or may not be cleared by this person", test
    )


_FAULTS: Final = (
    *(
        Rule(
            entry=entry,
            within=EVERYWHERE,
            before={"door:{door}": None},
            record={"door": "$door"},
            state={"door:{door}": "$:object"},
            counts={"door.{door}.opens": 1},
        )
        for entry in (integrity.DOOR_OPENED, integrity.DOOR_OPENED_WHILE_OFF)
    ),
    Rule(
        entry=integrity.DOOR_CLOSED,
        before={"door:{door}": "$:object"},
        record={"door": "$door"},
        state={"door:{door}": None},
    ),
    Rule(
        entry=kernel.FAULT_RAISED,
        within=EVERYWHERE,
        before={"fault:{code}": None},
        record={"code": "$code"},
        state={"fault:{code}": "$fault:object"},
        counts={"fault.{code}": 1},
        also=(
            require(
                "it locks, or is cleared, otherwise than such a fault",
                lambda scope: (
                    scope["fault"]["locks"] is get_fault(scope["code"]).locks
                    and scope["fault"]["cleared_by"]
                    in {get_fault(scope["code"]).cleared_by, _CLEARED_BEFORE.get(scope["code"])}
                ),
            ),
        ),
    ),
    Rule(
        entry=kernel.FAULT_CLEARED,
        before={"fault:{code}": Has("fault", cleared_by="self")},
        record={"code": "$code"},
        state={"fault:{code}": None},
    ),
    Rule(
        entry=integrity.FAULTS_SETTLED,
        within=AT_WORK,
        may=Permission.RESTART,
        also=(_require_clearable_faults("technician"), check_in_menu),
    ),
    Rule(
        entry=integrity.TILT_CLEARED,
        within=only(State.TILT),
        may=Permission.CLEAR_TILTS,
        also=(_require_clearable_faults("attendant"),),
    ),
    Rule(entry=staff.KEY_TURNED, record={"on": True}),
    Rule(entry=staff.KEY_RETURNED, record={"on": False}),
    Rule(
        entry=staff.SERVICE_CALL,
        record={"on": "$on"},
        state={"service_call": "$calling"},
        also=(
            require(
                "a call is put out by another, or goes on",
                lambda scope: (
                    scope["on"] is (scope.value_before("service_call") is None)
                    and scope["calling"] is (True if scope["on"] else None)
                ),
            ),
        ),
    ),
    Rule(
        entry=staff.SERVICE_ANSWERED,
        within=ON_CALL | {State.HANDPAY, State.TILT},
        before={"service_call": True},
        state={"service_call": None},
    ),
)


RULES: Final = (*_LIFE, *_FAULTS)
