"""Implied acknowledgement, the exception queue, busy, synchronisation, chirps and real-time reports."""

from dataclasses import replace
from pathlib import Path

import pytest

from egm.integrity.lockups import list_disabling_sources
from egm.kernel.events import EventType
from egm.links.sas.channel import LinkChanged, SasChannelState, SendBytes
from egm.links.sas.codec import ACK, Reply
from egm.links.sas.crc import append_crc
from egm.links.sas.exception_queue import SasException
from egm.links.sas.poll import VARIABLE_REPLY_SIZE, PollImplementation
from egm.links.sas.wire import GeneralPoll, LongPoll, MessageToOtherMachine
from egm.testing.machine import MachineRig
from egm.testing.sas import SasHostBench, attach_sas_lines


@pytest.fixture
def bench(tmp_path: Path):
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig)
    assert bench.read_exceptions() == [0x7A, 0x17]
    yield bench
    rig.close()


def door(bench: SasHostBench, *, opened: bool) -> None:
    bench.rig.engine.handle(EventType.DOOR_OPENED if opened else EventType.DOOR_CLOSED, door="main")


@pytest.mark.requirement("K-06")
def test_the_same_general_poll_again_gets_the_same_exception_again(bench: SasHostBench) -> None:
    door(bench, opened=True)
    door(bench, opened=False)
    assert [bench.send_general_poll() for _ in range(3)] == [0x11] * 3
    bench.poll_other_address()
    assert bench.send_general_poll() == 0x12


@pytest.mark.requirement("K-06")
@pytest.mark.parametrize(
    "poll", [b"\x82", b"\x02", b"\x01\x1a", append_crc(b"\x01\x02"), append_crc(b"\0\x7f" + bytes(7))]
)
def test_another_poll_acknowledges_the_exception(bench: SasHostBench, poll: bytes) -> None:
    door(bench, opened=True)
    assert bench.send_general_poll() == 0x11
    bench.send(poll)
    assert bench.send_general_poll() == 0x00


@pytest.mark.requirement("K-06")
def test_damaged_bytes_acknowledge_no_exception(bench: SasHostBench) -> None:
    door(bench, opened=True)
    assert bench.send_general_poll() == 0x11
    assert bench.send(bytes.fromhex("01 01 51 09")) == b""
    assert bench.send_general_poll() == 0x11


@pytest.mark.parametrize(
    "message",
    ["01 01 51 09", "01 FE 00 00", "01 5A 00 00", "01 2F 03 00 00 00 FF FF", "05 1A", "01 6E 01 00 93 7B"],
)
def test_polls_for_other_addresses_and_incomplete_polls_get_no_reply(
    bench: SasHostBench, message: str
) -> None:
    assert bench.send(bytes.fromhex(message)) == b""
    assert list_disabling_sources(bench.rig.machine) == {}


@pytest.mark.sas(polls="7F")
def test_a_broadcast_is_executed_without_a_reply(bench: SasHostBench) -> None:
    assert bench.send(append_crc(b"\0\x7f" + bytes.fromhex("11 21 2026 07 15 00"))) == b""
    assert bench.rig.records("host.time")[0]["told"].startswith("2026-11-21T07:15:00")
    assert bench.send(append_crc(b"\0\x01")) == b""
    assert list_disabling_sources(bench.rig.machine) == {}


@pytest.mark.requirement("K-06")
def test_a_repeated_poll_that_changes_something_is_executed_once(bench: SasHostBench) -> None:
    assert bench.send_long_poll(0x01) == "01"
    bench.rig.engine.handle(EventType.MACHINE_ENABLED, source="host:main")
    assert bench.send_long_poll(0x01) == "01"
    assert list_disabling_sources(bench.rig.machine) == {}
    bench.poll_other_address()
    assert bench.send_long_poll(0x01) == "01"
    assert list(list_disabling_sources(bench.rig.machine)) == ["host:main"]


def test_a_repeated_reading_poll_is_read_again(bench: SasHostBench) -> None:
    assert bench.read(0x1A) == "00000000"
    bench.rig.insert(500)
    assert bench.read(0x1A) == "00000500"


@pytest.mark.requirement("K-05")
@pytest.mark.sas(exceptions="70 11 12")
def test_the_twenty_first_exception_overflows_the_queue(bench: SasHostBench) -> None:
    for _ in range(10):
        door(bench, opened=True)
        door(bench, opened=False)
    door(bench, opened=True)
    assert bench.read_exceptions() == [0x70, *[0x11, 0x12] * 10]


@pytest.mark.requirement("K-06")
@pytest.mark.parametrize(
    "next_poll", [b"\x80", b"\x81", b"\x01\x1a"], ids=["another machine", "general poll", "long poll"]
)
def test_a_priority_exception_is_raised_again_until_it_is_served(
    bench: SasHostBench, next_poll: bytes
) -> None:
    bench.host.post_exception(0x51)
    assert bench.read_exceptions() == [0x51]
    bench.rig.clock.pass_seconds(14)
    assert bench.read_exceptions() == []
    bench.rig.clock.pass_seconds(1)
    assert bench.read_exceptions() == [0x51]
    assert bench.read(0x1B) != ""
    bench.send(next_poll)  # acknowledges the reply
    bench.rig.clock.pass_seconds(60)
    assert bench.read_exceptions() == []


def test_a_priority_exception_goes_before_the_queue_and_can_be_withdrawn(bench: SasHostBench) -> None:
    door(bench, opened=True)
    bench.host.post_exception(0x51)
    assert bench.send_general_poll() == 0x51
    bench.poll_other_address()
    bench.host.post_exception(0x67)
    bench.host.withdraw_exception(0x67)
    assert bench.read_exceptions() == [0x11]


def test_a_delayed_reply_is_sent_instead_of_an_exception(bench: SasHostBench) -> None:
    door(bench, opened=True)
    bench.host.deliver_delayed_result(0x21, Reply(b"\x34\x12"))
    frame = append_crc(bytes.fromhex("01 21 34 12"))
    assert [bench.send(b"\x81") for _ in range(2)] == [frame] * 2
    bench.poll_other_address()
    assert bench.send_general_poll() == 0x11


def test_a_slow_poll_is_answered_busy_and_its_repetition_gets_the_result(bench: SasHostBench) -> None:
    bench.is_slow = True
    assert bench.send(append_crc(b"\x01\x01")) == b"\x01\x00"
    assert bench.send(append_crc(b"\x01\x01")) == b"\x01\x00"
    ask = bench.delayed_effects[-1]
    assert list(bench.channel.reply_to_request(ask.poll, ask.request, ACK)) == [SendBytes(b"\x01")]
    assert bench.send(append_crc(b"\x01\x01")) == b"\x01"


def test_a_reply_that_fails_stops_neither_the_line_nor_the_journal(bench: SasHostBench) -> None:
    def fails(*_: object) -> Reply:
        raise ZeroDivisionError("planted")

    polls = bench.channel._poll_by_code
    polls[0x1A] = replace(polls[0x1A], answer_function=fails)
    assert bench.read(0x1A) == ""
    assert bench.read(0x1A) == ""
    assert bench.read(0x11) == "00000000"
    failures = bench.rig.records("host.poll_failed")
    assert [(details["poll"], details["why"]) for details in failures] == [
        ("1A", "ZeroDivisionError('planted')")
    ]


def test_a_delayed_reply_answers_no_later_poll() -> None:
    """An order starts, the host polls for other data, and the transfer ends before its start is acknowledged."""
    order = PollImplementation(
        code=0x72, reply_size_bytes=VARIABLE_REPLY_SIZE, effect_function=lambda _host, _poll: None
    )
    channel = SasChannelState(1, {0x72: order}, now_ns=0)
    frame = append_crc(bytes.fromhex("017202FF00"))

    def receive(message: GeneralPoll | LongPoll | MessageToOtherMachine) -> bytes:
        actions = list(channel.process_message(message, 0))
        return next((action.data for action in actions if isinstance(action, SendBytes)), b"")

    assert receive(LongPoll(frame)) == b""
    assert list(channel.send_busy_reply(LongPoll(frame))) == [SendBytes(b"\x01\x00")]
    list(channel.post_exception(SasException(0x69), 0))  # the transfer is done
    receive(MessageToOtherMachine(0))
    assert receive(GeneralPoll(1)) == b"\x69"
    receive(MessageToOtherMachine(0))
    assert receive(LongPoll(frame)) == b""
    list(
        channel.reply_to_request(order, LongPoll(frame), Reply(b"\x02\x00\x40", is_resent_on_repeat=True))
    )  # "pending" came too late
    receive(MessageToOtherMachine(0))
    actions = list(channel.process_message(GeneralPoll(1), 15_000_000_000))
    assert actions == [SendBytes(b"\x69")]  # completion is reported to the host again
    receive(MessageToOtherMachine(0))
    receive(LongPoll(frame))
    list(channel.reply_to_request(order, LongPoll(frame), Reply(b"\x02\x00\x00", is_resent_on_repeat=True)))
    receive(MessageToOtherMachine(0))
    assert list(channel.process_message(GeneralPoll(1), 40_000_000_000)) == [SendBytes(b"\x00")]


# ---------------------------------------------------------------------------------------------- the link
def test_without_polls_the_line_chirps_and_the_loss_is_reported_once(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig)
    chirp = [SendBytes(b"\x01", has_wakeup_bit=True)]
    assert bench.tick() == chirp
    assert bench.tick() == []
    rig.clock.pass_seconds(0.2)
    assert bench.tick() == chirp
    bench.send_general_poll()
    rig.clock.pass_seconds(4.9)
    assert bench.tick() == []
    rig.clock.pass_seconds(0.1)
    assert bench.tick() == chirp
    changes = [action for action in bench.actions if isinstance(action, LinkChanged)]
    assert changes == [LinkChanged(is_up=True), LinkChanged(is_up=False)]
    assert [record["host"] for record in rig.records("host.link_lost")] == ["main"]
    assert rig.journal.meters().get_value("host_comm_loss") == 1
    rig.close()


def test_after_silence_the_line_waits_for_a_poll_to_another_machine_if_configured(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig, require_sync=True)
    assert bench.send(b"\x81") == b""
    assert bench.send(b"\x01\x1a") == b""
    bench.poll_other_address()
    assert bench.send_general_poll() == 0x7A
    rig.clock.pass_seconds(5)
    bench.tick()
    assert bench.send(b"\x81") == b""
    bench.send(b"\x82")
    assert bench.send_general_poll() == 0x7A
    rig.close()


# ---------------------------------------------------------------------------------------------- real time
@pytest.mark.sas(polls="0E", exceptions="4F 11")
def test_real_time_reports_are_sent_in_place_of_replies(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig, enable=["real_time"])
    bench.read_exceptions()
    assert bench.send_long_poll(0x0E, "01") == "01"
    rig.insert(500)
    bill = append_crc(bytes.fromhex("01 FF 4F 37 02 00000001"))
    assert bench.send(b"\x01\x1a") == bill
    assert bench.send(b"\x01\x1a") == append_crc(bytes.fromhex("01 1A 00000500"))
    door(bench, opened=True)
    assert bench.send(b"\x81") == append_crc(bytes.fromhex("01 FF 11"))
    bench.poll_other_address()
    assert bench.send(b"\x81") == append_crc(bytes.fromhex("01 FF 00"))
    assert bench.send_long_poll(0x0E, "00") == "01"
    bench.poll_other_address()
    assert bench.send_general_poll() == 0x00
    rig.close()


def test_real_time_reporting_is_off_until_enabled(bench: SasHostBench) -> None:
    assert bench.send_long_poll(0x0E, "01") == ""
    bench.rig.insert(500)
    assert bench.read_exceptions() == [0x48]
    assert bench.read(0x1A) == "00000500"


# ---------------------------------------------------------------------------------------------- two hosts
@pytest.mark.requirement("K-03")
def test_two_hosts_each_receive_every_exception(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path)
    first = SasHostBench(tmp_path, rig, name="first")
    second = SasHostBench(tmp_path, rig, name="second", boot=False, address=7)
    lines = (first.line, second.line)
    attach_sas_lines(rig, lines)
    first.read_exceptions()
    second.read_exceptions()
    rig.insert(2000)
    assert first.read_exceptions() == [0x4A]
    assert second.read_exceptions() == [0x4A]
    assert first.send_long_poll(0x01) == "01"
    assert second.send_long_poll(0x01) == "07"
    assert first.send_long_poll(0x02) == "01"
    assert list(list_disabling_sources(rig.machine)) == ["host:second"]
    rig.close()


@pytest.mark.requirement("K-05")
def test_unread_exceptions_are_reported_after_a_restart(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig)
    bench.read_exceptions()
    door(bench, opened=True)
    assert bench.read_exceptions() == [0x11]
    door(bench, opened=False)
    rig.insert(500)
    assert bench.send_general_poll() == 0x12
    rig.close()
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig)
    assert bench.read_exceptions() == [0x12, 0x48, 0x18, 0x17]
    rig.close()
