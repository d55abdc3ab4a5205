"""The audit rules for the machine's operation: start, self-tests, doors, faults, keys, service calls.

Patterns such as ``"$before:object|none"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

from typing import Any, Final

from egm.app import entries as app_entries
from egm.gaming_day import GamingDay
from egm.integrity import entries as integrity_entries
from egm.kernel import own_entries as kernel_entries
from egm.kernel.events import State
from egm.kernel.faults import get_fault_definition
from egm.kernel.states import (
    ALL_STATES,
    STATES_FOR_ATTENDANT_KEY,
    STATES_WITH_STAFF_AT_WORK,
    single_state,
)
from egm.people import Permission
from egm.play import entries as play_entries
from egm.staff import entries as staff_entries
from tools.audit.rules.pattern import (
    AlternativePatterns,
    CheckContext,
    ObjectWithMembers,
    PatternMismatch,
    format_storage_key,
    format_value,
)
from tools.audit.rules.rule import AuditRule, Check
from tools.audit.rules.shared_checks import (
    ABSENT_VALUE,
    check_position_is_one,
    check_signed_in_to_menu,
    report_unless,
    report_unless_equal,
    require_stored_value,
)
from tools.audit.rules.states import is_from_earlier_version


def _has_generator_or_test_failed(context: CheckContext) -> bool:
    """Return whether, before the checked entry, the random number generator or a self-test had failed.

    Return True for journals of earlier versions, in which a working generator could be restarted too.
    """
    return (
        is_from_earlier_version(context.ledger) or context.stored_value_before("out_of_service") is not None
    )


def _is_gaming_day_valid(context: CheckContext) -> bool:
    """Return whether the gaming day (time zone and hour of change) that a power-up records is valid.

    Return True if it records none, as in earlier versions.
    """
    record = context.entry.record
    if not isinstance(record, dict) or not {"time_zone", "day_ends_hour"} & record.keys():
        return True
    zone, hour = record.get("time_zone"), record.get("day_ends_hour")
    return GamingDay.from_power_up(record) == GamingDay(str(zone), hour if type(hour) is int else -1)


def _derive_out_of_service_after_test(context: CheckContext) -> Any:
    """Return what a passed self-test must store under ``out_of_service``.

    Return None (removed) if a failed self-test had put the machine out of service, else ABSENT_VALUE (unchanged).
    """
    out_of_service = context.stored_value_before("out_of_service")
    return None if out_of_service is not None and out_of_service["cause"] == "self_test" else ABSENT_VALUE


#: Pattern of the terms of residual credit: the amount below which credit is residual, and what happens to it (it stays
#: on the machine, the player may give it up, or the player may play it for a chance of a whole stake).
RESIDUAL_TERMS_PATTERN: Final = {
    "way": AlternativePatterns("stays", "given_up", "played"),
    "useful_cents": "$:count",
}

#: The rules of start, self-tests, and taking the machine out of service or into service.
_START_AND_SERVICE_RULES: Final = (
    AuditRule(
        entry_declaration=integrity_entries.POWER_UP,
        id="power-up-{boots}",
        stored_after={"boots": "$boots", "residual_terms?": RESIDUAL_TERMS_PATTERN, "currency?": "$:words"},
        extra_checks=(
            check_position_is_one,
            report_unless(
                lambda context: (
                    "record.time_zone and record.day_ends_hour do not state a valid gaming day: found "
                    f"{format_value(context.record.get('time_zone'))}, "
                    f"{format_value(context.record.get('day_ends_hour'))}"
                ),
                _is_gaming_day_valid,
            ),
            report_unless(
                "state.currency: the journal has a currency already",
                lambda context: (
                    context.stored_value_after("currency") is None
                    or context.stored_value_before("currency") is None
                ),
            ),
            report_unless_equal(
                "state.boots is not the number of the next power-up",
                lambda context: context["boots"],
                lambda context: int(context.stored_value_before("boots") or 0) + 1,
            ),
        ),
    ),
    AuditRule(
        entry_declaration=integrity_entries.RESIDUAL_CREDIT_TERMS,
        stored_after={"residual_terms": RESIDUAL_TERMS_PATTERN},
        extra_checks=(
            report_unless(
                "dims.position: the entry is of position 1, whose residual credit terms belong in its power-up entry",
                lambda context: context.position > 1,
            ),
        ),
    ),
    AuditRule(
        entry_declaration=integrity_entries.SELF_TEST_PASSED,
        extra_checks=(
            check_position_is_one,
            require_stored_value("out_of_service", _derive_out_of_service_after_test),
        ),
    ),
    AuditRule(
        entry_declaration=integrity_entries.SELF_TEST_FAILED,
        allowed_machine_states=ALL_STATES,
        record={"cause": "self_test", "detail": "$detail"},
        stored_after={"out_of_service": {"cause": "self_test", "detail": "$detail"}},
    ),
    AuditRule(
        entry_declaration=integrity_entries.GENERATOR_FAILED,
        allowed_machine_states=ALL_STATES,
        record={"cause": "chance", "detail": "$detail"},
        stored_after={"out_of_service": {"cause": "chance", "detail": "$detail"}},
    ),
    AuditRule(
        entry_declaration=integrity_entries.GENERATOR_RESTARTED,
        allowed_machine_states=STATES_FOR_ATTENDANT_KEY | single_state(State.PLAYING),
        stored_after={"out_of_service": None},
        permission=Permission.RESTART,
        extra_checks=(
            report_unless(
                "the RNG is restarted, but no failed RNG or self-test was stored before this entry",
                _has_generator_or_test_failed,
            ),
        ),
    ),
    *(
        AuditRule(entry_declaration=declaration, extra_checks=(check_position_is_one,))
        for declaration in app_entries.ENTRY_BY_GENERATOR_EVENT.values()
    ),
    AuditRule(
        entry_declaration=integrity_entries.MACHINE_DISABLED,
        allowed_machine_states=ALL_STATES,
        stored_before={"disabled:{source}": None},
        record={"source": "$source", "reason": "$reason", "since": "$since"},
        stored_after={"disabled:{source}": {"reason": "$reason", "since": "$since"}},
    ),
    AuditRule(
        entry_declaration=integrity_entries.MACHINE_ENABLED,
        stored_before={"disabled:{source}": "$:object"},
        record={"source": "$source"},
        stored_after={"disabled:{source}": None},
    ),
    AuditRule(
        entry_declaration=staff_entries.MACHINE_RESTART,
        allowed_machine_states=STATES_WITH_STAFF_AT_WORK,
        permission=Permission.RESTART,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(entry_declaration=app_entries.GAME_REFUSED, extra_checks=(check_position_is_one,)),
    AuditRule(
        entry_declaration=play_entries.GAME_VERSION_CONFLICT,
        stored_before={"definition:{digest}": None, "definition:{before}": "$:text"},
        record={"digest": "$digest", "before": "$before"},
    ),
    AuditRule(
        entry_declaration=play_entries.LARGEST_PRIZES_COMPUTED,
        record={"digest": "$digest", "code": "$code", "prizes": "$prizes"},
        stored_after={"examined:{digest}": {"code": "$code", "prizes": "$prizes"}},
    ),
    AuditRule(
        entry_declaration=staff_entries.INVENTORY_CHANGED,
        stored_before={"inventory": "$before:object|none"},
        record={"before": "$before", "after": "$after"},
        stored_after={"inventory": "$after"},
        extra_checks=(check_position_is_one,),
    ),
)


#: For each fault code, who else may clear the fault in the entries of earlier versions.
_FAULT_AUTHORITY_IN_EARLIER_VERSIONS: Final = {"logic_access": "attendant"}


def _require_clearable_faults(authority: str) -> Check:
    """Return the check of an entry that clears faults: each was active, and ``authority`` may clear it."""

    def check(context: CheckContext) -> None:
        """Check that the entry clears exactly the faults of its record, all active and clearable by ``authority``."""
        codes = context.record["codes"]
        if len(set(codes)) != len(codes):
            raise PatternMismatch(f"record.codes: a fault is named twice in {format_value(codes)}")
        for code in codes:
            fault = context.stored_value_before(f"fault:{code}")
            if type(fault) is not dict:
                raise PatternMismatch(f"record.codes: fault {code} was not active before this entry")
            if fault["cleared_by"] != authority:
                raise PatternMismatch(
                    f"record.codes: fault {code} is cleared by a {authority}, "
                    f"expected a {format_value(fault['cleared_by'])}"
                )
        expected = {format_storage_key(f"fault:{code}", context.position): None for code in codes}
        if dict(context.entry.state) != expected:
            raise PatternMismatch(
                f"state does not clear exactly the faults of record.codes: expected {format_value(expected)}, "
                f"found {format_value(dict(context.entry.state))}"
            )

    return check


def _check_declared_fault(context: CheckContext) -> None:
    """Check that a raised fault locks the machine, and can be cleared, as the declaration of the fault states."""
    code, fault = context["code"], context["fault"]
    fault_definition = get_fault_definition(code)
    if fault["locks"] is not fault_definition.stops_play:
        raise PatternMismatch(
            f"state.fault:{code}.locks: the declaration of this fault states {fault_definition.stops_play}, "
            f"found {format_value(fault['locks'])}"
        )
    if fault["cleared_by"] not in {
        fault_definition.cleared_by,
        _FAULT_AUTHORITY_IN_EARLIER_VERSIONS.get(code),
    }:
        raise PatternMismatch(
            f"state.fault:{code}.cleared_by: the declaration of this fault states "
            f"{format_value(fault_definition.cleared_by)}, found {format_value(fault['cleared_by'])}"
        )


def _check_service_call(context: CheckContext) -> None:
    """Check that the checked entry starts a service call while none is active, or ends the active call."""
    is_on, was_active = context["is_on"], context.stored_value_before("service_call") is not None
    if is_on is was_active:
        call_text = "a service call was already" if was_active else "no service call was"
        raise PatternMismatch(f"record.on is {format_value(is_on)}, but {call_text} active before this entry")
    if context["service_call"] is not (True if is_on else None):
        raise PatternMismatch(
            f"state.service_call: expected {True if is_on else None}, found {format_value(context['service_call'])}"
        )


#: The rules of doors, faults and calls.
_FAULT_RULES: Final = (
    *(
        AuditRule(
            entry_declaration=declaration,
            allowed_machine_states=ALL_STATES,
            stored_before={"door:{door}": None},
            record={"door": "$door"},
            stored_after={"door:{door}": "$:object"},
            counts={"door.{door}.opens": 1},
        )
        for declaration in (integrity_entries.DOOR_OPENED, integrity_entries.DOOR_OPENED_WHILE_OFF)
    ),
    AuditRule(
        entry_declaration=integrity_entries.DOOR_CLOSED,
        stored_before={"door:{door}": "$:object"},
        record={"door": "$door"},
        stored_after={"door:{door}": None},
    ),
    AuditRule(
        entry_declaration=kernel_entries.FAULT_RAISED,
        allowed_machine_states=ALL_STATES,
        stored_before={"fault:{code}": None},
        record={"code": "$code"},
        stored_after={"fault:{code}": "$fault:object"},
        counts={"fault.{code}": 1},
        extra_checks=(_check_declared_fault,),
    ),
    AuditRule(
        entry_declaration=kernel_entries.FAULT_CLEARED,
        stored_before={"fault:{code}": ObjectWithMembers(bound_name="fault", cleared_by="self")},
        record={"code": "$code"},
        stored_after={"fault:{code}": None},
    ),
    AuditRule(
        entry_declaration=integrity_entries.FAULTS_CLEARED_BY_TECHNICIAN,
        allowed_machine_states=STATES_WITH_STAFF_AT_WORK,
        permission=Permission.RESTART,
        extra_checks=(_require_clearable_faults("technician"), check_signed_in_to_menu),
    ),
    AuditRule(
        entry_declaration=integrity_entries.TILT_CLEARED,
        allowed_machine_states=single_state(State.TILT),
        permission=Permission.CLEAR_TILTS,
        extra_checks=(_require_clearable_faults("attendant"),),
    ),
    AuditRule(entry_declaration=staff_entries.KEY_TURNED, record={"on": True}),
    AuditRule(entry_declaration=staff_entries.KEY_RETURNED, record={"on": False}),
    AuditRule(
        entry_declaration=staff_entries.SERVICE_CALL_TOGGLED,
        record={"on": "$is_on"},
        stored_after={"service_call": "$service_call"},
        extra_checks=(_check_service_call,),
    ),
    AuditRule(
        entry_declaration=staff_entries.SERVICE_CALL_ANSWERED,
        allowed_machine_states=STATES_FOR_ATTENDANT_KEY | {State.HANDPAY, State.TILT},
        stored_before={"service_call": True},
        stored_after={"service_call": None},
    ),
)


RULES: Final = (*_START_AND_SERVICE_RULES, *_FAULT_RULES)
