"""For each event at the machine, the SAS exception that the protocol's tables require."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from egm.kernel.events import EventType
from egm.testing.machine import MachineRig, write_undeclared_entry
from egm.testing.sas import SasHostBench

#: Door -> its exceptions: opened, closed, found opened while the power was off.
DOORS: Mapping[str, tuple[int, int, int]] = {
    "main": (0x11, 0x12, 0x99),
    "drop": (0x13, 0x14, 0x9B),
    "logic": (0x15, 0x16, 0x98),
    "cash_box": (0x19, 0x1A, 0x9A),
    "belly": (0x1D, 0x1E, 0x99),
}

#: Fault -> the exceptions when it begins and when it ends (0: none).
FAULTS: Mapping[str, tuple[int, int]] = {
    "io_board.communication": (0x20, 0),
    "coin_acceptor.jam": (0x21, 0),
    "hopper.jam": (0x22, 0),
    "hopper.hopper_empty": (0x23, 0),
    "hopper.hopper_runaway": (0x24, 0),
    "coin_acceptor.diverter": (0x25, 0),
    "bill_acceptor.stacker_full": (0x27, 0),
    "bill_acceptor.jam": (0x28, 0),
    "bill_acceptor.communication": (0x29, 0),
    "bill_acceptor.disputed": (0x2A, 0),
    "bill_acceptor.cheat": (0x2C, 0),
    "coin_acceptor.coin_cheat": (0x2D, 0),
    "bill_acceptor.stacker_near_full": (0x2E, 0),
    "io_board.battery_low": (0x3B, 0),
    "ticket_printer.communication": (0x60, 0),
    "ticket_printer.paper_out": (0x61, 0),
    "ticket_printer.paper_low": (0x74, 0),
    "ticket_printer.power": (0x75, 0x76),
    "ticket_printer.jam": (0x78, 0),
}

BILLS: Mapping[int, int] = {100: 0x47, 500: 0x48, 1000: 0x49, 2000: 0x4A, 5000: 0x4B, 10000: 0x4C}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[SasHostBench]:
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig)
    bench.read_exceptions()
    yield bench
    rig.close()


def handle_and_read_exceptions(bench: SasHostBench, event: EventType, **values: Any) -> list[int]:
    bench.rig.engine.handle(event, **values)
    return bench.read_exceptions()


@pytest.mark.requirement("K-12", "J-03", "E-08")
@pytest.mark.sas(exceptions="11 12 13 14 15 16 19 1A 1D 1E 98 99 9A 9B")
def test_doors_raise_their_exceptions(bench: SasHostBench) -> None:
    for door, (opened, closed, while_off) in DOORS.items():
        assert handle_and_read_exceptions(bench, EventType.DOOR_OPENED, door=door)[0] == opened
        assert handle_and_read_exceptions(bench, EventType.DOOR_CLOSED, door=door)[0] == closed
        assert (
            handle_and_read_exceptions(bench, EventType.DOOR_OPENED, door=door, unattended=True)[0]
            == while_off
        )
        assert handle_and_read_exceptions(bench, EventType.DOOR_CLOSED, door=door)[0] == closed


@pytest.mark.requirement("K-12", "E-08")
@pytest.mark.sas(
    exceptions="20 21 22 23 24 25 27 28 29 2A 2C 2D 2E 3B 60 61 74 75 76 78",
)
def test_faults_raise_their_exceptions(bench: SasHostBench) -> None:
    for code, (raised, cleared) in FAULTS.items():
        assert handle_and_read_exceptions(bench, EventType.FAULT_RAISED, code=code) == [raised], code
        assert (
            handle_and_read_exceptions(bench, EventType.FAULT_CLEARED, code=code)
            == [cleared][: bool(cleared)]
        ), code


@pytest.mark.requirement("K-12", "K-11")
@pytest.mark.sas(exceptions="47 48 49 4A 4B 4C 2B", polls="31 33 34 35 36 37 1E 48")
def test_bills_raise_their_exceptions(bench: SasHostBench) -> None:
    for amount_cents, code in BILLS.items():
        bench.rig.insert(amount_cents)
        assert bench.read_exceptions() == [code]
    assert handle_and_read_exceptions(bench, EventType.BILL_REJECTED, reason="unknown") == [0x2B]
    assert [bench.read(code) for code in bytes.fromhex("31 33 34 35 36 37")] == ["00000001"] * 6
    assert bench.read(0x1E) == "00000001" * 6
    assert bench.read(0x48) == "370700000001"


@pytest.mark.sas(exceptions="1B 1C 7B", polls="49 4A", meters="3E 3F")
def test_a_removed_stacker_resets_its_counters(bench: SasHostBench) -> None:
    bench.rig.insert(500)
    bench.read_exceptions()
    assert (bench.read(0x49), bench.read(0x4A)) == ("00000001", "00000500")
    assert handle_and_read_exceptions(
        bench, EventType.FAULT_RAISED, code="bill_acceptor.stacker_removed"
    ) == [0x1B, 0x7B]
    assert (bench.read(0x49), bench.read(0x4A)) == ("00000000", "00000000")
    assert handle_and_read_exceptions(
        bench, EventType.FAULT_CLEARED, code="bill_acceptor.stacker_removed"
    ) == [0x1C]


@pytest.mark.requirement("K-12", "E-08")
@pytest.mark.sas(exceptions="17 18")
def test_power_loss_and_return_raise_their_exceptions(tmp_path: Path) -> None:
    for expected_exceptions in ([0x7A, 0x17], [0x18, 0x17]):
        rig = MachineRig(tmp_path)
        assert SasHostBench(tmp_path, rig).read_exceptions() == expected_exceptions
        rig.close()


@pytest.mark.sas(exceptions="71 72 86 37")
def test_service_and_closing_raise_their_exceptions(bench: SasHostBench) -> None:
    assert handle_and_read_exceptions(bench, EventType.TOGGLE_SERVICE_CALL) == [0x71]
    assert handle_and_read_exceptions(bench, EventType.TOGGLE_SERVICE_CALL) == [0x72]
    assert handle_and_read_exceptions(
        bench, EventType.MACHINE_DISABLED, source="operator", reason="cleaning"
    ) == [0x86]
    assert (
        handle_and_read_exceptions(bench, EventType.MACHINE_DISABLED, source="host:other", reason="host")
        == []
    )
    bench.rig.engine.state = bench.rig.engine.state.SELF_TEST
    assert handle_and_read_exceptions(bench, EventType.SELF_TEST_FAILED, detail="planted") == [0x37]


@pytest.mark.sas(exceptions="00")
def test_entries_without_an_exception_raise_none(bench: SasHostBench) -> None:
    assert [bench.send_general_poll() for _ in range(3)] == [0, 0, 0]


@pytest.mark.sas(exceptions="7E 7F 8C")
def test_games_raise_their_exceptions(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path, games=("maple-classic", "aurora-twenty"))
    bench = SasHostBench(tmp_path, rig)
    rig.insert(500)
    bench.read_exceptions()
    assert handle_and_read_exceptions(bench, EventType.SELECT_GAME, value="aurora-twenty") == [0x8C]
    assert bench.read(0x55) == "0002"
    assert handle_and_read_exceptions(bench, EventType.SELECT_LANGUAGE, value="fr") == []
    assert handle_and_read_exceptions(bench, EventType.SELECT_GAME, value="aurora-twenty") == []
    assert handle_and_read_exceptions(bench, EventType.PLAY) == [0x7E]
    rig.report_shown()
    assert bench.read_exceptions() == [0x7F]
    rig.close()


#: Kind of entry and its story -> exception, where the entry is made by a part of the machine not at hand here.
ENTRIES = (
    ("event", {"code": "memory.repaired"}, 0x31),
    ("options.changed", {}, 0x3C),
    ("menu.entered", {"menu": "attendant"}, 0x82),
    ("menu.left", {"menu": "attendant"}, 0x83),
    ("menu.entered", {"menu": "operator"}, 0x84),
    ("menu.left", {"menu": "operator"}, 0x85),
    ("recall.shown", {"play_id": "play-1"}, 0x8A),
    ("software.changed", {}, 0x8E),
    ("handpay.returned", {}, 0x52),
)


@pytest.mark.not_audited
@pytest.mark.sas(exceptions="31 3C 52 82 83 84 85 8A 8E")
def test_entries_of_other_features_raise_their_exceptions(bench: SasHostBench) -> None:
    for kind, details, code in ENTRIES:
        write_undeclared_entry(bench.rig.machine, kind, details=details)
        assert handle_and_read_exceptions(bench, EventType.OUTCOME_SHOWN) == [code]
