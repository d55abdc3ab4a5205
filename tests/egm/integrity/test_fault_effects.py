"""Every fault of the significance table has the effect that its row and the requirements state."""

from collections.abc import Callable
from typing import Final

import pytest

from egm.devices.interface import FaultCode
from egm.kernel.events import EventType, State
from egm.kernel.faults import SIGNIFICANCE_BY_FAULT
from egm.kernel.significance import EventEffect, find_significance_by_pattern
from egm.money import payout_methods
from egm.money.value_in import list_acceptable_bills, list_acceptable_coins, should_accept_tickets
from egm.testing.machine import MachineRig

#: Every fault code of the table; a pattern stands for each code that a device can report.
_CODES: Final = {
    code
    for pattern in SIGNIFICANCE_BY_FAULT
    for code in ([pattern] if "*" not in pattern else [pattern.replace("*", fault) for fault in FaultCode])
}


def effect_of(code: str) -> EventEffect:
    return find_significance_by_pattern(SIGNIFICANCE_BY_FAULT, code).effect


class Availability:
    """Whether a machine with credit plays, and which devices accept and pay money."""

    def __init__(self, rig: MachineRig) -> None:
        machine, state = rig.machine, rig.state
        self.state = state
        self.plays = rig.engine.accepts_event_type(EventType.PLAY)
        self.accepts = {
            "bill_acceptor": bool(list_acceptable_bills(machine, state))
            and should_accept_tickets(machine, state),
            "coin_acceptor": bool(list_acceptable_coins(machine, state)),
        }
        self.pays = {
            "ticket_printer": not payout_methods.find_reason_ticket_is_unavailable(
                machine, machine.cashable_cents
            ),
            "hopper": payout_methods._is_payout_method_available(machine, "coins"),
        }


def all_others_work(works_by_device: dict[str, bool], device: str) -> bool:
    return all(works for name, works in works_by_device.items() if name != device)


def assert_stopped(code: str, availability: Availability) -> None:
    assert (availability.state, availability.plays) == (State.TILT, False)
    assert not any(availability.accepts.values())


def assert_acceptor_off(code: str, availability: Availability) -> None:
    kind = code.partition(".")[0]
    assert not availability.accepts[kind]
    assert all_others_work(availability.accepts, kind)
    assert (availability.state, availability.plays, *availability.pays.values()) == (
        State.IDLE,
        True,
        True,
        True,
    )


def assert_payout_off(code: str, availability: Availability) -> None:
    """Assert that one payout device is off; a fault without a device (ticket ledger, clock) stops tickets."""
    kind = code.partition(".")[0]
    assert not availability.pays[kind if kind in availability.pays else "ticket_printer"]
    assert all_others_work(availability.pays, kind if kind in availability.pays else "ticket_printer")
    assert (availability.state, availability.plays) == (State.IDLE, True)


def assert_out_of_service(code: str, availability: Availability) -> None:
    assert (availability.state, availability.plays) == (State.OUT_OF_SERVICE, False)
    assert not any(availability.accepts.values())


def assert_only_logged(code: str, availability: Availability) -> None:
    assert (availability.state, availability.plays) == (State.IDLE, True)
    assert all([*availability.accepts.values(), *availability.pays.values()])


ASSERTION_BY_EFFECT: Final[dict[EventEffect, Callable[[str, Availability], None]]] = {
    EventEffect.LOG: assert_only_logged,
    EventEffect.STOP: assert_stopped,
    EventEffect.HARD_STOP: assert_stopped,
    EventEffect.ACCEPTOR_OFF: assert_acceptor_off,
    EventEffect.PAYOUT_OFF: assert_payout_off,
    EventEffect.OUT_OF_SERVICE: assert_out_of_service,
}


@pytest.fixture
def rig(tmp_path):
    """A machine with every acceptor and payout device, so that the effect on each of them can be tested."""
    rig = MachineRig(tmp_path, devices=("printer", "hopper")).boot().insert(500)
    yield rig
    rig.close()


def test_a_machine_without_faults_plays_accepts_money_and_pays(rig):
    assert_only_logged("", Availability(rig))


@pytest.mark.requirement("G-01", "G-02", "G-15", "H-06", "G-04", "G-10:a")
@pytest.mark.parametrize("code", sorted(_CODES))
def test_each_fault_has_the_effect_its_significance_table_row_states(rig, code):
    rig.engine.handle(EventType.FAULT_RAISED, code=code)
    ASSERTION_BY_EFFECT[effect_of(code)](code, Availability(rig))


def of_rows(code: str, assert_effect: Callable[[str, Availability], None], *rows: str) -> object:
    """Return a fault and its effect as the requirement rows state it, independent of the table."""
    return pytest.param(code, assert_effect, id=code, marks=pytest.mark.requirement(*rows))


@pytest.mark.parametrize(
    ("code", "assert_effect"),
    [
        of_rows("bill_acceptor.stacker_removed", assert_acceptor_off, "G-01", "G-04", "G-06"),
        of_rows("bill_acceptor.stacker_full", assert_acceptor_off, "G-04", "G-06"),
        of_rows("bill_acceptor.jam", assert_acceptor_off, "G-06"),
        of_rows("bill_acceptor.stacker_jam", assert_acceptor_off, "G-06"),
        of_rows("bill_acceptor.failure", assert_acceptor_off, "G-06"),
        of_rows("bill_acceptor.communication", assert_acceptor_off, "G-04", "G-06", "G-15"),
        of_rows("bill_acceptor.cheat", assert_stopped, "G-06"),
        of_rows("coin_acceptor.communication", assert_acceptor_off, "G-04", "G-15"),
        of_rows("coin_acceptor.coin_cheat", assert_stopped, "G-07"),
        of_rows("coin_acceptor.jam", assert_stopped, "G-07"),
        of_rows("coin_acceptor.sensor_stuck", assert_stopped, "G-07"),
        of_rows("coin_acceptor.diverter", assert_stopped, "G-07"),
        of_rows("coin_acceptor.uninvited", assert_stopped, "G-07"),
        of_rows("hopper.communication", assert_payout_off, "G-15"),
        of_rows("ticket_printer.communication", assert_payout_off, "G-15"),
        of_rows("io_board.communication", assert_stopped, "G-15"),
        of_rows("meter_jump", assert_stopped, "A-26"),
        of_rows("cabinet_file_changed", assert_stopped, "A-22"),
        of_rows("link.buffer_full", assert_stopped, "K-05"),
        of_rows("software_differs", assert_stopped, "A-12", "A-14"),
        of_rows("memory_damaged", assert_stopped, "A-05"),
    ],
)
def test_a_fault_has_the_effect_that_the_requirement_states(rig, code, assert_effect):
    rig.engine.handle(EventType.FAULT_RAISED, code=code)
    assert_effect(code, Availability(rig))


@pytest.mark.requirement("G-01", "G-04")
@pytest.mark.parametrize(
    "code", [code for code in sorted(_CODES) if effect_of(code) is EventEffect.ACCEPTOR_OFF]
)
def test_a_disabled_acceptor_returns_bills_and_tickets_until_its_fault_is_cleared(rig, code):
    rig.engine.handle(EventType.FAULT_RAISED, code=code)
    if code.startswith("bill_acceptor."):
        rig.offer(500)
        assert rig.hands.orders[-1][0] == "return"
        rig.offer_ticket("910000000000000000")
        assert rig.hands.orders[-1][0] == "return"
    before = rig.credit_cents
    rig.engine.handle(EventType.FAULT_CLEARED, code=code)
    assert rig.credit_cents == before
    assert_only_logged(code, Availability(rig))
