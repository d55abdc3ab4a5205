"""The reply to each poll after a session with known amounts; the frames were written by hand from the tables."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from egm.app.view import build_snapshot
from egm.integrity.lockups import list_disabling_sources
from egm.kernel.events import EventType, State
from egm.kernel.games import InstalledGames
from egm.links.sas.poll import VARIABLE_REPLY_SIZE
from egm.links.sas.polls import IMPLEMENTED_POLLS
from egm.links.sas.polls.games import _encode_ascii_name
from egm.links.sas.tables.polls import REGULATOR_MINIMUM_POLL_CODES
from egm.testing.machine import MachineRig, ScriptedGenerator, create_generator, write_undeclared_entry
from egm.testing.sas import SasHostBench
from paytables import load_game
from paytables.definition import list_shipped_games

FAIR = Path(__file__).parents[2] / "vectors" / "fair.toml"
#: Stops of maple-classic that pay 300 minor units for a wager of 5, and that pay nothing.
JACKPOT = (23, 7, 5)

#: Poll -> data of the answer, after :func:`session`.
#: 2,000 + 500 in bills; one game: 5 wagered, 300 won; a ticket of 2,795; a bill of 100.
READINGS = {
    0x0F: "00002795 00000005 00000300 00002600 00000000 00000001",
    0x10: "00002795",
    0x11: "00000005",
    0x12: "00000300",
    0x13: "00002600",
    0x14: "00000000",
    0x15: "00000001",
    0x16: "00000001",
    0x17: "00000000",
    0x18: "0001 0001",
    0x19: "00000005 00000300 00002600 00000000 00000001",
    0x1A: "00000100",
    0x1B: "00" * 20,
    0x1C: "00000005 00000300 00002600 00000000 00000001 00000001 00000000 00000001",
    0x1E: "00000001 00000001 00000000 00000001 00000000 00000000",
    0x20: "00000026",
    0x2A: "00000000",
    0x2B: "00000000",
    0x31: "00000001",
    0x32: "00000000",
    0x33: "00000001",
    0x34: "00000000",
    0x35: "00000001",
    0x36: "00000000",
    0x37: "00000000",
    0x3D: "00000000 0000002795",
    0x46: "00002600",
    0x48: "37 00 00000001",
    0x49: "00000003",
    0x4A: "00002600",
    0x51: "0001",
    0x54: "09" + b"602TEST-1".hex(),
    0x55: "0001",
    0x56: "03 01 0001",
    0x7E: "01012026 000000",
    0x8F: "170705 FFFFFFFFFFFF",
    0xB1: "02",
    0xB3: "06",
}


DENOMINATION_CODES = {
    1: "01",
    2: "17",
    5: "02",
    10: "03",
    25: "04",
    50: "05",
    100: "06",
    200: "0c",
    500: "07",
}


def normalise_hex(text: str) -> str:
    return text.replace(" ", "").lower()


def win_game(folder: Path, **settings: object) -> tuple[MachineRig, SasHostBench]:
    """Win a game after a bill of 2,000, with scripted draws; later draws are random."""
    rig = MachineRig(folder, generator=ScriptedGenerator(*JACKPOT), devices=("printer",))
    bench = SasHostBench(folder, rig, **settings)
    rig.insert(2000)
    rig.play()
    rig.machine.random_service = create_generator()
    return rig, bench


@pytest.fixture
def bench(tmp_path: Path):
    rig, bench = win_game(tmp_path)
    rig.report_shown()
    rig.insert(500)
    assert rig.state is State.IDLE
    rig.cash_out_ticket()
    rig.insert(100)
    bench.read_exceptions()
    yield bench
    rig.close()


@pytest.mark.requirement("K-11", "K-08")
@pytest.mark.sas(polls=" ".join(f"{code:02X}" for code in READINGS))
def test_every_reading_poll_with_a_fixed_layout_has_the_published_reply(bench: SasHostBench) -> None:
    answers = {}
    for code in READINGS:
        answers[code] = bench.read(code)
        size = IMPLEMENTED_POLLS[code].reply_size_bytes
        assert size in {VARIABLE_REPLY_SIZE, len(answers[code]) // 2 + 4}, (
            f"{code:02X} has not the size of the tables"
        )
    assert answers == {code: normalise_hex(data) for code, data in READINGS.items()}


@pytest.mark.requirement("A-01", "K-11")
def test_the_last_bill_and_ticket_and_the_stacker_survive_a_power_loss(
    bench: SasHostBench, tmp_path: Path
) -> None:
    bench.rig.journal.close_without_checkpoint()
    bench.rig.lose_power()
    rig = MachineRig(tmp_path, devices=("printer",))
    restarted = SasHostBench(tmp_path, rig)
    polls = (0x3D, 0x48, 0x49, 0x4A)
    assert [restarted.read(code) for code in polls] == [normalise_hex(READINGS[code]) for code in polls]
    rig.close()


@pytest.mark.requirement("K-12")
@pytest.mark.sas(exceptions="7A 17 4A 7E 3D 7F 66 11 12 27")
def test_a_session_is_reported_in_exceptions(tmp_path: Path) -> None:
    rig, bench = win_game(tmp_path)
    assert bench.read_exceptions() == [0x7A, 0x17, 0x4A, 0x7E]
    rig.report_shown()
    rig.cash_out_ticket()
    assert bench.read_exceptions() == [0x3D, 0x7F, 0x66]
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.stacker_full")
    assert bench.read_exceptions() == [0x11, 0x12, 0x27]
    rig.close()


def test_the_published_minimum_of_polls_is_implemented() -> None:
    assert set(IMPLEMENTED_POLLS) >= REGULATOR_MINIMUM_POLL_CODES


# ---------------------------------------------------------------------------------------------- by code
@pytest.mark.sas(polls="2F")
def test_selected_meters_are_sent_in_the_requested_order(bench: SasHostBench) -> None:
    query = "05 0000 00 0C 0D"
    assert bench.send_long_poll(0x2F, query) == normalise_hex("12 0000 00 00000005 0C 00000100 0D 0000000000")


@pytest.mark.sas(polls="6F AF")
def test_extended_meters_state_their_size_and_missing_meters(bench: SasHostBench) -> None:
    query = "08 0000 0000 A600 8600"
    expected = "14 0000 0000 04 00000005 A600 00 8600 05 0000002795"
    assert bench.send_long_poll(0x6F, query) == normalise_hex(expected)
    assert bench.send_long_poll(0xAF, query) == normalise_hex(expected)


@pytest.mark.sas(polls="52 2D 6F")
def test_meters_of_a_game_and_of_an_unknown_game_are_answered(bench: SasHostBench) -> None:
    assert bench.send_long_poll(0x52, "0001") == normalise_hex("0001 00000005 00000300 00000000 00000001")
    assert bench.send_long_poll(0x52, "0000") == normalise_hex("0000 00000005 00000300 00000000 00000001")
    assert bench.send_long_poll(0x52, "0002") == ""
    assert bench.send_long_poll(0x2D, "0000") == normalise_hex("0000 00000000")
    assert bench.send_long_poll(0x6F, "06 0001 0000 0B00") == normalise_hex(
        "0C 0001 0000 04 00000005 0B00 00"
    )


#: Requests whose CRC is right and whose content is not.
SENSELESS = (
    (0x2F, "02 0000"),
    (0x2F, "03 0000 3A"),
    (0x2F, "0D 0000 00 01 02 03 04 05 06 07 08 09 0A"),
    (0x2F, "03 00AA 00"),
    (0x6F, "03 0000 00"),
    (0x52, "FFFF"),
    (0xB4, "0001 0002"),
    (0x09, "00AA 01"),
    (0x7F, "AA AA 2026 00 00 00"),
)
#: Polls that are answered with ACK or NACK, with a value that does not exist.
IMPOSSIBLE = (
    (0x09, "0001 02"),
    (0x09, "9999 01"),
    (0x7F, "13 01 2026 00 00 00"),
    (0x7F, "02 30 2026 00 00 00"),
    (0x7F, "00 00 2026 00 00 00"),
    (0x7F, "11 21 2026 24 00 00"),
    (0x7F, "11 21 2026 23 60 00"),
    (0x7F, "11 21 1969 00 00 00"),
    (0x7F, "11 21 9999 00 00 00"),
)


def test_an_invalid_request_gets_no_reply(bench: SasHostBench) -> None:
    for code, data in SENSELESS:
        assert bench.send_long_poll(code, data) == "", f"{code:02X} {data}"
        assert bench.send_general_poll() == 0x00


@pytest.mark.sas(polls="7F 09")
def test_a_value_that_does_not_exist_is_answered_with_nack_and_changes_nothing(bench: SasHostBench) -> None:
    """Regression: month 13 got no reply, as on a broken line, and the host believed that the machine had its time."""
    before = bench.read(0x7E)
    for code, data in IMPOSSIBLE:
        assert bench.send_long_poll(code, data) == "81", f"{code:02X} {data}"
    assert bench.read(0x7E) == before
    assert not bench.rig.records("host.time")
    assert list_disabling_sources(bench.rig.machine) == {}
    assert bench.send_long_poll(0x7F, "11 21 2026 07 15 00") == "01"


# ---------------------------------------------------------------------------------------------- games
@pytest.mark.requirement("O-04")
@pytest.mark.sas(polls="1F 53")
def test_machine_and_game_identify_themselves(bench: SasHostBench) -> None:
    game = next(iter(bench.rig.machine.games.values()))
    block = (
        b"OE000\x01" + bytes((max(game.bet_options),)) + b"\0\0\0" + game.digest[:6].upper().encode("ascii")
    )
    percent = f"{int(bench.rig.machine.component(InstalledGames).lowest_return_by_game[game.id] * 10000):04d}".encode()
    assert bench.read(0x1F) == (block + percent).hex()
    assert bench.send_long_poll(0x53, "0001") == "0001" + (block + percent).hex()
    assert bench.send_long_poll(0x53, "0000") == "0000" + (block + percent).hex()
    assert bench.send_long_poll(0x53, "0002") == ""


def test_no_two_games_of_the_library_have_one_name_for_a_host():
    """Regression: names were cut off at 20 bytes, so that three games had the same name."""
    games = [load_game(name) for name in list_shipped_games()]
    for texts in ([game.title["en"] for game in games], [f"{game.id}@{game.version}" for game in games]):
        names = [_encode_ascii_name(text, game) for text, game in zip(texts, games, strict=True)]
        assert len(set(names)) == len(set(texts)) > 40
        assert all(len(name) <= 20 for name in names)


@pytest.mark.requirement("O-04")
@pytest.mark.sas(polls="B5 B4")
def test_names_and_wager_category_of_a_game(bench: SasHostBench) -> None:
    version = load_game("maple-classic").version.encode()
    names = b"\x0dMaple Classic\x13maple-classic@" + version
    max_bet = max(bench.rig.machine.games["maple-classic"].bet_options)
    data = bytes.fromhex(f"0001 {max_bet:04d} 00 00000000") + names + b"\x00\x01"
    assert bench.send_long_poll(0xB5, "0001") == (bytes((len(data),)) + data).hex()
    percent = f"{int(bench.rig.machine.component(InstalledGames).lowest_return_by_game['maple-classic'] * 10000):04d}".encode().hex()
    assert bench.send_long_poll(0xB4, "0001 0001") == normalise_hex(f"0D 0001 0001 {percent} 04 00000005")


@pytest.mark.sas(polls="A0")
def test_the_features_reply_states_what_this_host_may_use(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig)
    assert bench.send_long_poll(0xA0, "0000") == normalise_hex("0000 00 8C 01 000000")
    assert bench.send_long_poll(0xA0, "0009") == ""
    other = SasHostBench(tmp_path, rig, name="plain", boot=False, disable=["multi_denomination"])
    assert other.send_long_poll(0xA0, "0000") == normalise_hex("0000 00 0C 01 000000")
    assert other.read(0xB1) == ""
    rig.close()


@pytest.mark.sas(polls="B0 11 6F 56")
def test_meters_of_one_denomination(bench: SasHostBench) -> None:
    assert bench.send_long_poll(0xB0, "02 02 11") == normalise_hex("06 02 11 00000005")
    assert bench.send_long_poll(0xB0, "02 00 11") == normalise_hex("06 00 11 00000005")
    assert bench.send_long_poll(0xB0, "05 02 6F 04 0000") == normalise_hex("03 02 00 02")
    assert bench.send_long_poll(0xB0, "07 02 6F 04 0000 0000") == normalise_hex(
        "0C 02 6F 09 0000 0000 04 00000005"
    )
    assert bench.send_long_poll(0xB0, "02 02 56") == normalise_hex("06 02 56 03 01 0001")
    assert bench.send_long_poll(0xB0, "02 02 1A") == normalise_hex("03 02 00 03")
    assert bench.send_long_poll(0xB0, "02 02 8E") == normalise_hex("03 02 00 01")
    assert bench.send_long_poll(0xB0, "02 16 11") == normalise_hex("03 16 00 05")
    assert bench.send_long_poll(0xB0, "01 02") == ""


# ---------------------------------------------------------------------------------------------- control
@pytest.mark.requirement("K-03")
@pytest.mark.sas(polls="01 02")
def test_after_a_shut_down_a_game_ends_and_credits_can_be_cashed_out(tmp_path: Path) -> None:
    rig, bench = win_game(tmp_path)
    assert bench.send_long_poll(0x01) == "01"
    assert rig.state is State.PLAYING
    rig.report_shown()
    assert rig.state is State.OUT_OF_SERVICE
    assert rig.credit_cents == 2295
    rig.play()
    assert rig.state is State.OUT_OF_SERVICE
    assert rig.cash_out_ticket()
    assert rig.credit_cents == 0
    assert bench.send_long_poll(0x02) == "01"
    assert rig.state is State.IDLE
    rig.close()


@pytest.mark.requirement("K-03")
@pytest.mark.sas(polls="0A 0B")
def test_maintenance_mode_and_shut_down_are_independent(bench: SasHostBench) -> None:
    for code in (0x01, 0x0A, 0x02):
        assert bench.send_long_poll(code) == "01"
    assert bench.rig.state is State.OUT_OF_SERVICE
    assert bench.send_long_poll(0x0B) == "01"
    assert bench.rig.state is State.IDLE


@pytest.mark.sas(polls="06 07")
def test_bill_acceptance_is_disabled_and_enabled(bench: SasHostBench) -> None:
    rig = bench.rig
    rig.offer(500)
    assert rig.hands.orders[-1][0] == "stack"
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    assert bench.send_long_poll(0x07) == "01"
    rig.offer(500)
    assert rig.hands.orders[-1][0] == "return"
    assert bench.send_long_poll(0x06) == "01"
    rig.insert(500)


@pytest.mark.requirement("G-03")
@pytest.mark.sas(polls="08")
def test_selected_bills_can_be_accepted_once_or_always(bench: SasHostBench) -> None:
    rig = bench.rig
    assert bench.send_long_poll(0x08, "04000000 00") == "01"  # $5 only, and close after each
    rig.offer(2000)
    assert rig.hands.orders[-1][0] == "return"
    rig.insert(500)
    rig.offer(500)
    assert rig.hands.orders[-1][0] == "return"
    assert bench.send_long_poll(0x06) == "01"
    rig.insert(500)


@pytest.mark.requirement("O-03")
@pytest.mark.sas(polls="09 56 B2", exceptions="8C")
def test_a_game_can_be_disabled(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path, games=("maple-classic", "aurora-twenty"))
    bench = SasHostBench(tmp_path, rig)
    rig.insert(500)
    assert bench.send_long_poll(0x09, "0001 00") == "01"
    assert bench.read(0x56) == normalise_hex("03 01 0002")
    rig.play()
    assert rig.notice == "refused.game_is_enabled"
    rig.engine.handle(EventType.SELECT_GAME, value="aurora-twenty")
    rig.engine.handle(EventType.SELECT_GAME, value="maple-classic")
    assert rig.machine.selection.game_id == "aurora-twenty"
    assert bench.read_exceptions()[-1] == 0x8C
    assert bench.send_long_poll(0x09, "0001 01") == "01"
    assert bench.read(0x56) == normalise_hex("05 02 0001 0002")
    offered = sorted(
        {cents for values_cents in rig.machine.denominations_cents.values() for cents in values_cents}
    )
    codes = "".join(DENOMINATION_CODES[cents] for cents in offered)
    assert bench.read(0xB2) == normalise_hex(f"{len(offered) + 1:02d} {len(offered):02d} {codes}")
    assert bench.send_long_poll(0x09, "0003 01") == "81"
    selected = [(record["name"], record["value"]) for record in rig.records("host.control")]
    assert selected == [("game.maple-classic", False), ("game.maple-classic", None)]
    assert all(record["source"].startswith("host:") for record in rig.records("host.control"))
    rig.close()


@pytest.mark.sas(polls="03 04 05")
def test_sounds_but_no_alarms_can_be_muted(bench: SasHostBench) -> None:
    def sound() -> str:
        return build_snapshot(bench.rig.engine).allowed_sound

    assert sound() == "on"
    assert bench.send_long_poll(0x05) == "01"
    assert sound() == "no_play"
    assert bench.send_long_poll(0x03) == "01"
    assert sound() == "off"
    assert bench.send_long_poll(0x04) == "01"
    assert sound() == "on"


# ---------------------------------------------------------------------------------------------- hand-pays
@pytest.mark.requirement("K-12")
@pytest.mark.sas(polls="1B 94", exceptions="51 52")
def test_a_hand_pay_is_reported_once_and_reset_remotely(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig, enable=["handpay_reset"])
    rig.insert(2000)
    bench.read_exceptions()
    assert bench.send_long_poll(0x94) == "02"
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    assert bench.read_exceptions() == [0x51]
    data = "00 80 0000002000 0000 00" + "00" * 10
    assert bench.read(0x1B) == normalise_hex(data)
    assert bench.read(0x1B) == normalise_hex(data)
    bench.poll_other_address()
    assert bench.read(0x1B) == "00" * 20
    bench.poll_other_address()
    assert bench.send_long_poll(0x94) == "00"
    assert rig.state is State.IDLE
    assert rig.credit_cents == 0
    assert bench.read(0x10) == normalise_hex("00002000")
    assert bench.read_exceptions() == [0x52]
    assert rig.records("handpay.paid")[0]["person"] == "host:main"
    rig.close()


@pytest.mark.requirement("K-12")
@pytest.mark.sas(polls="1B 94", exceptions="51 52")
def test_a_prize_in_kind_is_a_hand_pay_of_zero_until_its_value_is_taken(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path, games=(str(FAIR),), generator=ScriptedGenerator(0, 0))
    bench = SasHostBench(tmp_path, rig, enable=["handpay_reset"])
    rig.insert(500)
    rig.play()
    bench.read_exceptions()
    rig.report_shown()
    assert bench.read_exceptions()[0] == 0x51
    assert bench.read(0x1B) == "00" * 20
    bench.poll_other_address()
    rig.clock.pass_seconds(16)
    assert bench.read_exceptions() == []  # the host has read it, and receives it no more
    assert bench.send_long_poll(0x94) == "01"  # a remote host cannot hand over a prize
    assert rig.state is State.HANDPAY

    rig.engine.handle(EventType.EXCHANGE_PRIZE, form="prize_cash", person="2", persons=("2",))
    assert bench.read_exceptions() == [0x51]
    assert bench.read(0x1B) == normalise_hex("00 00 0000029000 0000 00" + "00" * 10)
    bench.poll_other_address()
    assert bench.send_long_poll(0x94) == "00"
    assert (rig.state, bench.read_exceptions()) == (State.IDLE, [0x52])
    assert rig.journal.meters().values["att_jackpot"] == 29000
    rig.close()


@pytest.mark.sas(exceptions="51")
def test_a_form_for_one_hand_pay_releases_no_other(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig)
    rig.insert(2000)
    bench.read_exceptions()
    rig.engine.handle(EventType.CASH_OUT)
    assert bench.read_exceptions() == [0x51]
    bench.read(0x1B)
    bench.poll_other_address()
    rig.engine.handle(
        EventType.RECORD_HANDPAY_FORM, form="handpay", method="cash", name="", person="2", persons=("2",)
    )
    assert rig.records("handpay.form")
    assert bench.read_exceptions() == []
    rig.close()


def test_remote_reset_is_off_until_enabled(bench: SasHostBench) -> None:
    bench.rig.engine.handle(EventType.CASH_OUT)
    assert bench.send_long_poll(0x94) == ""


@pytest.mark.sas(polls="7E 7F")
def test_the_hosts_time_is_returned_and_the_journal_keeps_its_own(bench: SasHostBench) -> None:
    assert bench.send_long_poll(0x7F, "12 31 2026 23 59 00") == "01"
    bench.rig.clock.pass_seconds(61)
    assert bench.read(0x7E) == normalise_hex("01012027 000001")
    assert bench.rig.journal.entries("host.time", newest_first=True).__next__().time_utc.year == 2026


@pytest.mark.parametrize("date", ["12 31 9999 23 59 58", "01 01 0001 00 00 00", "01 01 1969 00 00 00"])
def test_a_date_beyond_the_calendar_is_refused(bench: SasHostBench, date: str) -> None:
    assert bench.send_long_poll(0x7F, date) == "81"
    bench.rig.clock.pass_seconds(4)
    assert bench.read(0x7E) == normalise_hex("01012026000004")
    bench.rig.clock.wall = datetime(2105, 12, 31, tzinfo=UTC)  # the latest accepted date can be reported
    assert bench.send_long_poll(0x7F, "12 31 2999 23 59 58") == "01"
    assert bench.read(0x7E) == normalise_hex("12312999235958")
    bench.rig.clock.wall = datetime(1970, 1, 1, tzinfo=UTC)
    assert bench.read(0x7E) != ""


def test_a_stored_time_offset_beyond_the_calendar_is_ignored(bench: SasHostBench) -> None:
    write_undeclared_entry(
        bench.rig.machine, "test.old", state={f"host_time:{bench.host.name}": 252_000_000_000}
    )
    bench.host.republish_readout()
    assert bench.read(0x7E) == normalise_hex("01012026000000")


def test_a_set_time_never_runs_backwards_and_is_not_recorded_each_time(bench: SasHostBench) -> None:
    clock = bench.rig.clock
    for n, millionths in enumerate((300_000, 999_999, 1, 0, 500_000, 700_000)):
        clock.wall = datetime(2026, 1, 1, 10, 0, 0, millionths, tzinfo=UTC)
        for year in (2019 + n, 2019 + n):  # as news, and as a distance that is kept
            assert bench.send_long_poll(0x7F, f"01 01 {year} 00 00 00") == "01"
            assert bench.read(0x7E) in {
                normalise_hex(f"0101{year}000000"),
                normalise_hex(f"0101{year}000001"),
            }
    before = len(bench.rig.records("host.time"))
    for minute in range(30):  # a host whose clock trembles around ours
        clock.wall = datetime(2026, 1, 1, 11, minute, 0, 400 if minute % 2 else 999_600, tzinfo=UTC)
        second = 0 if minute % 2 else 1
        bench.send_long_poll(0x7F, f"01 01 2026 11 {minute:02} {second:02}")
    assert len(bench.rig.records("host.time")) <= before + 2
