"""Every SAS meter by its code, after sessions with known amounts, equals the journal."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egm.kernel.events import EventType
from egm.kernel.games import InstalledGames
from egm.links.sas.tables.meters import METER_DEFINITION_BY_CODE
from egm.testing.machine import MachineRig, ScriptedGenerator, create_generator, write_undeclared_entry
from egm.testing.sas import SasHostBench
from meters import Transaction, Transfer

#: Stops of maple-classic that pay 300 minor units for a wager of 5.
WON = (23, 7, 5)
PAYBACK = 0x7F

#: Meters that are not zero after :func:`session`, in minor units except numbers of games, bills and tickets.
#: In: bills of 20.00, 5.00 and 1.00, 0.30 restricted and 0.20 nonrestricted credit from a host. Out: a ticket
#: of 27.95, then a hand-pay of 1.20; 0.30 stays, because restricted credit can only be played.
NOT_ZERO: Mapping[int, int] = {
    0x00: 5,
    0x01: 300,
    0x03: 120,
    0x04: 2915,
    0x05: 1,
    0x06: 1,
    0x0B: 2600,
    0x0C: 30,
    0x0E: 2795,
    0x12: 1,
    0x16: 2795,
    0x17: 50,
    0x1B: 30,
    0x1C: 300,
    0x22: 300,
    0x23: 120,
    0x24: 2600,
    0x25: 1,
    0x26: 1,
    0x2C: 2795,
    0x2F: 30,
    0x30: 20,
    0x38: 1,
    0x3E: 3,
    0x3F: 2600,
    0x40: 1,
    0x42: 1,
    0x44: 1,
    0x58: 2600,
    0x59: 1,
    0x5B: 1,
    0x5D: 1,
    0x86: 2795,
    0x87: 1,
    0xA2: 30,
    0xA3: 1,
    0xA4: 20,
    0xA5: 1,
}
#: Devices and transfers this machine does not have.
NOT_KEPT = {
    *(0x27, 0x31, 0x63, *range(0x64, 0x6E), 0x6E, *range(0x6F, 0x79)),
    *(0x8A, 0x8B, *range(0x8C, 0x94)),
    *(0xA6, 0xA7, *range(0xA8, 0xAE)),
}


def read_all_meters(bench: SasHostBench, game: str = "0000") -> dict[int, int | None]:
    """Return each meter as poll 6F sends it; None for a meter that the machine does not have."""
    found: dict[int, int | None] = {}
    codes = sorted(METER_DEFINITION_BY_CODE)
    for offset in range(0, len(codes), 12):
        requested_codes = codes[offset : offset + 12]
        bench.poll_other_address()
        request = bytes.fromhex(game) + b"".join(code.to_bytes(2, "little") for code in requested_codes)
        data = bytes.fromhex(bench.send_long_poll(0x6F, (bytes((len(request),)) + request).hex()))
        assert data[0] == len(data) - 1
        unread = data[3:]
        for code in requested_codes:
            assert int.from_bytes(unread[:2], "little") == code
            size, unread = unread[2], unread[3:]
            assert size in {0, METER_DEFINITION_BY_CODE[code].byte_count}
            found[code], unread = (int(unread[:size].hex()) if size else None), unread[size:]
        assert unread == b""
    return found


def credit_from_host(rig: MachineRig, kind: str, amount_cents: int) -> None:
    """Credit an amount from a host."""
    transfer = Transfer(f"world:aft_in:{kind}", f"credit:1:{kind}", amount_cents)
    rig.journal.append(Transaction(id=f"aft {kind}", kind="aft.in", transfers=(transfer,)))


@pytest.fixture
def bench(tmp_path: Path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*WON), devices=("printer",))
    bench = SasHostBench(tmp_path, rig)
    rig.insert(2000)
    rig.play()
    rig.machine.random_service = create_generator()
    rig.report_shown()
    rig.insert(500)
    rig.cash_out_ticket()
    rig.insert(100)
    credit_from_host(rig, "nonrestricted", 20)
    credit_from_host(rig, "restricted", 30)
    rig.engine.handle(EventType.FAULT_RAISED, code="ticket_printer.paper_out")
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.HANDPAY_RESET_BY_HOST, key="host:main")
    yield bench
    rig.close()


@pytest.mark.requirement("K-08", "K-11")
@pytest.mark.sas(
    polls="6F", meters=" ".join(f"{code:02X}" for code in sorted(set(METER_DEFINITION_BY_CODE) - NOT_KEPT))
)
def test_every_meter_after_a_session(bench: SasHostBench) -> None:
    values_by_code = read_all_meters(bench)
    assert {code for code, value in values_by_code.items() if value is None} == NOT_KEPT
    payback = values_by_code.pop(PAYBACK)
    assert payback == int(
        bench.rig.machine.component(InstalledGames).lowest_return_by_game["maple-classic"] * 10_000
    )
    assert {code: value for code, value in values_by_code.items() if value} == NOT_ZERO


@pytest.mark.requirement("O-04")
def test_a_game_has_the_meters_of_play_and_no_others(bench: SasHostBench) -> None:
    values_by_code = {
        code: value for code, value in read_all_meters(bench, "0001").items() if value is not None
    }
    payback = values_by_code.pop(PAYBACK)
    assert payback == int(
        bench.rig.machine.component(InstalledGames).lowest_return_by_game["maple-classic"] * 10_000
    )
    assert {code: value for code, value in values_by_code.items() if value} == {
        0x00: 5,
        0x01: 300,
        0x05: 1,
        0x06: 1,
        0x1C: 300,
        0x22: 300,
    }
    assert set(values_by_code) <= set(range(0x23))


#: Movements of money, and the SAS meters of value that each increases.
MOVEMENTS: tuple[tuple[str, str, set[int]], ...] = (
    ("world:voucher_in:cashable", "credit:1:cashable", {0x0D, 0x15, 0x24, 0x28, 0x29, 0x80}),
    ("world:voucher_in:nonrestricted", "credit:1:nonrestricted", {0x0D, 0x15, 0x24, 0x28, 0x2B, 0x84}),
    ("world:voucher_in:restricted", "credit:1:restricted", {0x0F, 0x15, 0x24, 0x2A, 0x82}),
    ("world:aft_in:cashable", "credit:1:cashable", {0x17, 0x2E, 0xA0}),
    ("house:win", "credit:1:cashable", {0x01, 0x1C, 0x22}),
    ("house:push", "credit:1:cashable", {0x01, 0x1C, 0x22}),
    ("house:bonus", "credit:1:cashable", {0x01, 0x1E, 0x22, 0xAE}),
    ("house:residual_win", "credit:1:cashable", {0x01, 0x1C, 0x22}),
    ("house:attendant_jackpot", "out:handpay_jackpot", {0x02, 0x1F, 0x22, 0x23}),
    ("house:bonus", "out:handpay_bonus", {0x02, 0x21, 0x22, 0x23}),
    ("credit:1:cashable", "out:handpay_cancelled_credit", {0x03, 0x04, 0x23}),
    ("credit:1:cashable", "out:hopper", {0x04, 0x09}),
    ("credit:1:cashable", "house:residual", {0x04}),
    ("credit:1:cashable", "house:forfeit", {0x04}),
    ("credit:1:cashable", "house:orphan", {0x04}),
    ("credit:1:cashable", "out:aft_out:cashable", {0x04, 0x18, 0x32, 0xB8}),
    ("credit:1:restricted", "house:expired", {0x04}),
)


@pytest.mark.not_audited
@pytest.mark.requirement("K-08", "K-11")
def test_each_movement_of_money_increases_the_host_s_meters_of_it(tmp_path: Path) -> None:
    """Each movement has a different power of two as its amount, so that a sum identifies its parts."""
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig)
    write_undeclared_entry(
        rig.machine,
        "test.fund",
        transfers=(
            Transfer("house:win", "credit:1:cashable", 1 << 20),
            Transfer("house:carried_over", "credit:1:restricted", 1 << 20),
        ),
        counts={"games_won": 3, "games_pushed": 4, "games_lost": 8},
    )
    rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)  # an event sends the line new readings
    before = read_all_meters(bench)
    assert (before[0x06], before[0x07]) == (3 + 4, 8)
    amounts_cents = [1 << number for number in range(len(MOVEMENTS))]
    write_undeclared_entry(
        rig.machine,
        "test.move",
        transfers=tuple(
            Transfer(source, target, cents)
            for (source, target, _), cents in zip(MOVEMENTS, amounts_cents, strict=True)
        ),
    )
    rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    after = read_all_meters(bench)
    for code in set[int]().union(*(codes for _, _, codes in MOVEMENTS)):
        expected = sum(
            cents for (_, _, codes), cents in zip(MOVEMENTS, amounts_cents, strict=True) if code in codes
        )
        assert (after[code] or 0) - (before[code] or 0) == expected, f"{code:02X}"
    for total, parts in ((0x22, (0x01, 0x02)), (0x01, (0x1C, 0x1D, 0x1E)), (0x02, (0x1F, 0x20, 0x21))):
        assert after[total] == sum(after[part] or 0 for part in parts), f"{total:02X}"
    rig.close()


@pytest.mark.requirement("K-08")
@settings(max_examples=8)
@given(
    acts=st.lists(st.sampled_from(("bill", "play", "play", "play", "cash", "key")), min_size=5, max_size=25)
)
def test_credits_are_the_money_in_less_wagers_and_payments_plus_wins(
    tmp_path_factory: pytest.TempPathFactory, acts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("identity")
    rig = MachineRig(folder)
    bench = SasHostBench(folder, rig)
    before: dict[int, int | None] = {}
    levels = {0x0C, 0x1B, 0x3E, 0x3F, PAYBACK}
    for act in acts:
        if act == "bill" and rig.state == "idle":
            rig.insert(500)
        elif act == "play":
            rig.play()
            rig.report_shown()
        elif act == "cash":
            rig.engine.handle(EventType.CASH_OUT)
        elif act == "key":
            rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        now = read_all_meters(bench)
        assert all((now[c] or 0) >= (before.get(c) or 0) for c in now if c not in levels)
        before = now
    values = {code: value or 0 for code, value in read_all_meters(bench).items()}
    came_in = sum(values[code] for code in (0x08, 0x0B, 0x15, 0x17))
    assert values[0x0C] == came_in - values[0x00] + values[0x01] - values[0x04]
    assert values[0x22] == values[0x01] + values[0x02]
    assert values[0x23] == values[0x02] + values[0x03]
    assert values[0x05] == values[0x06] + values[0x07]
    assert values[0x0C] == rig.journal.credits_cents()
    rig.close()


#: Poll -> the bill it counts, in major units.
BILL_POLLS: Mapping[int, int] = {
    0x31: 1,
    0x32: 2,
    0x33: 5,
    0x34: 10,
    0x35: 20,
    0x36: 50,
    0x37: 100,
    0x38: 500,
    0x39: 1000,
    0x3A: 200,
    0x3B: 25,
    0x3C: 2000,
    0x3E: 2500,
    0x3F: 5000,
    0x40: 10_000,
    0x41: 20_000,
    0x42: 25_000,
    0x43: 50_000,
    0x44: 100_000,
    0x45: 250,
}


@pytest.mark.not_audited
@pytest.mark.requirement("K-11", "D-11:b")
@pytest.mark.sas(
    polls=" ".join(f"{code:02X}" for code in BILL_POLLS), exceptions="47 48 49 4A 4B 4C 4D 4E 4F 50"
)
def test_every_bill_has_its_poll_its_meter_and_its_exception(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig)
    bench.read_exceptions()
    exceptions_by_bill = {
        1: 0x47,
        2: 0x4D,
        5: 0x48,
        10: 0x49,
        20: 0x4A,
        50: 0x4B,
        100: 0x4C,
        200: 0x50,
        500: 0x4E,
    }
    for count, (poll, bill) in enumerate(sorted(BILL_POLLS.items(), key=lambda item: item[1]), start=1):
        for number in range(count):
            cents = bill * 100
            moved = Transfer("world:bill", "credit:1:cashable", cents, {"bill_cents": cents})
            write_undeclared_entry(
                rig.machine,
                "bill.in",
                transaction_id=f"{bill} {number}",
                transfers=(moved,),
                details={"amount_cents": cents},
            )
            rig.engine.handle(EventType.OUTCOME_SHOWN)
            assert bench.read_exceptions() == [exceptions_by_bill.get(bill, 0x4F)]
        assert bench.read(poll) == f"{count:08d}"
        bench.poll_other_address()
        assert bench.read(0x48)[4:] == f"{count:08d}"
    rig.close()


@pytest.mark.requirement("D-13", "K-11")
@pytest.mark.sas(polls="2A 2B 2C 4F B3")
def test_coins_and_the_hopper(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path, devices=("hopper",))
    bench = SasHostBench(tmp_path, rig, enable=["hopper_status"])
    rig.engine.handle(EventType.COINS_IN, coins=((100, True), (200, True), (25, False)), exchange_progress=1)
    assert (bench.read(0x2A), bench.read(0x2B)) == ("00000325", "00000000")
    assert (bench.read(0x2C), bench.read(0x4F)) == ("00000003", "0600ff00000003")
    assert bench.read(0xB3) == "06"
    rig.engine.handle(EventType.FAULT_RAISED, code="hopper.hopper_empty")
    bench.poll_other_address()
    assert bench.read(0x4F) == "0607ff00000003"
    rig.close()


@pytest.mark.requirement("K-11")
@pytest.mark.sas(polls="1C")
def test_jackpots_cancelled_credits_and_doors_are_read_by_the_host(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(11, 11, 12))  # the highest prize
    bench = SasHostBench(tmp_path, rig)
    rig.insert(10000)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    rig.engine.handle(EventType.SELECT_BET, value=3)
    rig.play()
    rig.report_shown()
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    for _ in range(2):
        rig.engine.handle(EventType.DOOR_OPENED, door="main")
        rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    values_by_code = read_all_meters(bench)
    by_hand = {code: values_by_code[code] for code in (0x02, 0x03, 0x04, 0x23)}
    assert by_hand == {0x02: 150_000, 0x03: 9_700, 0x04: 9_700, 0x23: 159_700}
    totals = bench.read(0x1C)
    assert [int(totals[offset : offset + 8]) for offset in range(0, 64, 8)] == [
        300,
        0,
        10_000,
        150_000,
        1,
        1,
        2,
        1,
    ]
    rig.close()


@pytest.mark.requirement("K-11")
def test_the_drop_meter_excludes_coins_in_the_hopper(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path, devices=("hopper", "printer"))
    bench = SasHostBench(tmp_path, rig)
    rig.engine.handle(EventType.COINS_IN, coins=((100, True), (200, False), (25, False)), exchange_progress=1)
    rig.insert(500)
    values_by_code = read_all_meters(bench)
    money = {code: values_by_code[code] for code in (0x08, 0x09, 0x0A, 0x0B, 0x24)}
    assert money == {0x08: 325, 0x09: 0, 0x0A: 225, 0x0B: 500, 0x24: 725}
    rig.offer_ticket(rig.cash_out_ticket())
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    values_by_code = read_all_meters(bench)
    assert (values_by_code[0x15], values_by_code[0x24]) == (825, 725 + 825)
    rig.close()


def test_a_machine_without_a_hopper_reports_none(bench: SasHostBench) -> None:
    assert bench.read(0x2C) == ""
    assert bench.read(0x4F) == ""
