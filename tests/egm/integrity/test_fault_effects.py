"""Every effect of the table of faults is held against what the machine does: none stands there that nothing does."""

from collections.abc import Callable
from typing import Final

import pytest

from egm.devices.interface import FaultCode
from egm.kernel.events import EventType, State
from egm.kernel.faults import SIGNIFICANCE_BY_FAULT
from egm.kernel.significance import EventEffect, find_significance_by_pattern
from egm.money import ways_out
from egm.money.value_in import list_acceptable_bills, list_acceptable_coins, should_accept_tickets
from egm.testing.machine import MachineRig

#: What a device may report under a pattern that leaves it open.
_CODES: Final = {
    code
    for pattern in SIGNIFICANCE_BY_FAULT
    for code in ([pattern] if "*" not in pattern else [pattern.replace("*", each) for each in FaultCode])
}


def effect_of(code: str) -> EventEffect:
    return find_significance_by_pattern(SIGNIFICANCE_BY_FAULT, code).effect


class Does:
    """What a machine with credit does, by device: takes money by it, pays by it; and whether it plays."""

    def __init__(self, rig: MachineRig) -> None:
        machine, state = rig.machine, rig.state
        self.state = state
        self.plays = rig.engine.accepts_event_type(EventType.PLAY)
        self.takes = {
            "bill_acceptor": bool(list_acceptable_bills(machine, state))
            and should_accept_tickets(machine, state),
            "coin_acceptor": bool(list_acceptable_coins(machine, state)),
        }
        self.pays = {
            "ticket_printer": not ways_out.reason_ticket_is_unavailable(machine, machine.cashable_cents),
            "hopper": ways_out._is_payout_method_available(machine, "coins"),
        }


def all_but(found: dict[str, bool], kind: str) -> bool:
    return all(works for each, works in found.items() if each != kind)


def stops(code: str, does: Does) -> None:
    assert (does.state, does.plays) == (State.TILT, False)
    assert not any(does.takes.values())


def acceptor_off(code: str, does: Does) -> None:
    kind = code.partition(".")[0]
    assert not does.takes[kind]
    assert all_but(does.takes, kind)
    assert (does.state, does.plays, *does.pays.values()) == (State.IDLE, True, True, True)


def payout_off(code: str, does: Does) -> None:
    """A fault of no device is one of tickets: of their ledger, or of the clock that dates them."""
    kind = code.partition(".")[0]
    assert not does.pays[kind if kind in does.pays else "ticket_printer"]
    assert all_but(does.pays, kind if kind in does.pays else "ticket_printer")
    assert (does.state, does.plays) == (State.IDLE, True)


def out_of_service(code: str, does: Does) -> None:
    assert (does.state, does.plays) == (State.OUT_OF_SERVICE, False)
    assert not any(does.takes.values())


def log(code: str, does: Does) -> None:
    assert (does.state, does.plays) == (State.IDLE, True)
    assert all([*does.takes.values(), *does.pays.values()])


CARRIED_OUT: Final[dict[EventEffect, Callable[[str, Does], None]]] = {
    EventEffect.LOG: log,
    EventEffect.STOP: stops,
    EventEffect.HARD_STOP: stops,
    EventEffect.ACCEPTOR_OFF: acceptor_off,
    EventEffect.PAYOUT_OFF: payout_off,
    EventEffect.OUT_OF_SERVICE: out_of_service,
}


@pytest.fixture
def rig(tmp_path):
    """A machine that takes and pays by whatever there is, so that each device's part is seen."""
    rig = MachineRig(tmp_path, devices=("printer", "hopper")).boot().insert(500)
    yield rig
    rig.close()


def test_without_a_fault_all_of_it_works(rig):
    log("", Does(rig))


@pytest.mark.requirement("G-01", "G-02", "G-15", "H-06", "G-04", "G-10:a")
@pytest.mark.parametrize("code", sorted(_CODES))
def test_what_the_table_says_of_a_fault_is_done(rig, code):
    rig.engine.handle(EventType.FAULT_RAISED, code=code)
    CARRIED_OUT[effect_of(code)](code, Does(rig))


def of_rows(code: str, carried_out: Callable[[str, Does], None], *rows: str) -> object:
    """A fault and its effect as the requirement rows state it, whatever the table says."""
    return pytest.param(code, carried_out, id=code, marks=pytest.mark.requirement(*rows))


@pytest.mark.parametrize(
    ("code", "carried_out"),
    [
        of_rows("bill_acceptor.stacker_removed", acceptor_off, "G-01", "G-04", "G-06"),
        of_rows("bill_acceptor.stacker_full", acceptor_off, "G-04", "G-06"),
        of_rows("bill_acceptor.jam", acceptor_off, "G-06"),
        of_rows("bill_acceptor.stacker_jam", acceptor_off, "G-06"),
        of_rows("bill_acceptor.failure", acceptor_off, "G-06"),
        of_rows("bill_acceptor.communication", acceptor_off, "G-04", "G-06", "G-15"),
        of_rows("bill_acceptor.cheat", stops, "G-06"),
        of_rows("coin_acceptor.communication", acceptor_off, "G-04", "G-15"),
        of_rows("coin_acceptor.coin_cheat", stops, "G-07"),
        of_rows("coin_acceptor.jam", stops, "G-07"),
        of_rows("coin_acceptor.sensor_stuck", stops, "G-07"),
        of_rows("coin_acceptor.diverter", stops, "G-07"),
        of_rows("coin_acceptor.uninvited", stops, "G-07"),
        of_rows("hopper.communication", payout_off, "G-15"),
        of_rows("ticket_printer.communication", payout_off, "G-15"),
        of_rows("io_board.communication", stops, "G-15"),
        of_rows("meter_jump", stops, "A-26"),
        of_rows("cabinet_file_changed", stops, "A-22"),
        of_rows("link.buffer_full", stops, "K-05"),
        of_rows("software_differs", stops, "A-12", "A-14"),
        of_rows("memory_damaged", stops, "A-05"),
    ],
)
def test_a_fault_has_the_effect_that_the_requirement_states(rig, code, carried_out):
    rig.engine.handle(EventType.FAULT_RAISED, code=code)
    carried_out(code, Does(rig))


@pytest.mark.requirement("G-01", "G-04")
@pytest.mark.parametrize(
    "code", [code for code in sorted(_CODES) if effect_of(code) is EventEffect.ACCEPTOR_OFF]
)
def test_what_lies_in_an_acceptor_that_is_off_goes_back(rig, code):
    rig.engine.handle(EventType.FAULT_RAISED, code=code)
    if code.startswith("bill_acceptor."):
        rig.offer(500)
        assert rig.hands.orders[-1][0] == "return"
        rig.offer_ticket("910000000000000000")
        assert rig.hands.orders[-1][0] == "return"
    before = rig.credit_cents
    rig.engine.handle(EventType.FAULT_CLEARED, code=code)
    assert rig.credit_cents == before
    log(code, Does(rig))
