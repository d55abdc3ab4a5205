"""State-table rules of device tests and slips.

They come before all other rules, so that a test's reports never count as money.
"""

from typing import Final

from egm.kernel.events import EventType, NextState
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import REPORT_REFUSAL, Guard, Rule
from egm.kernel.states import STATES_AFTER_BOOT, STATES_WITH_STAFF_AT_WORK
from egm.staff.service.device_tests import (
    acceptor_test_is_running,
    build_device_is_free_guard,
    payout_is_a_test,
    person_may_test_devices,
    record_test_coins,
    record_test_paper,
    record_test_ticket,
    record_test_ticket_failed,
    return_test_paper,
    start_test,
    ticket_is_a_test,
)
from egm.staff.slips import record_slip, record_slip_failed, ticket_is_a_slip


def build_rules(no_ticket_query_waits: Guard[PositionMachine]) -> tuple[Rule[PositionMachine], ...]:
    """Return the state-table rules of device tests and slips.

    The guard ``no_ticket_query_waits`` holds while no ticket in escrow waits for validation.
    """
    test_guards = (person_may_test_devices, build_device_is_free_guard(no_ticket_query_waits))
    return (
        Rule(
            EventType.START_DEVICE_TEST,
            STATES_WITH_STAFF_AT_WORK,
            test_guards,
            (start_test,),
            NextState.DERIVED,
            REPORT_REFUSAL,
        ),
        *_DEVICE_TEST_RULES,
    )


#: The rules that need no guard from another feature.
_DEVICE_TEST_RULES: Final[tuple[Rule[PositionMachine], ...]] = (
    Rule(
        (EventType.BILL_ESCROWED, EventType.TICKET_ESCROWED),
        STATES_AFTER_BOOT,
        (acceptor_test_is_running,),
        (return_test_paper,),
    ),
    Rule(
        (EventType.BILL_RETURNED, EventType.BILL_REJECTED),
        STATES_AFTER_BOOT,
        (acceptor_test_is_running,),
        (record_test_paper,),
    ),
    Rule(EventType.TICKET_PRINTED, STATES_AFTER_BOOT, (ticket_is_a_test,), (record_test_ticket,)),
    Rule(EventType.TICKET_PRINT_FAILED, STATES_AFTER_BOOT, (ticket_is_a_test,), (record_test_ticket_failed,)),
    Rule(EventType.COINS_PAID, STATES_AFTER_BOOT, (payout_is_a_test,), (record_test_coins,)),
    Rule(EventType.TICKET_PRINTED, STATES_AFTER_BOOT, (ticket_is_a_slip,), (record_slip,)),
    Rule(EventType.TICKET_PRINT_FAILED, STATES_AFTER_BOOT, (ticket_is_a_slip,), (record_slip_failed,)),
)
