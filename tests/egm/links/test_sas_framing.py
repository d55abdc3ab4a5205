"""Polls are recognised in bytes by the wakeup bit and by pauses; damaged messages and foreign bytes are ignored."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egm.links.sas.crc import append_crc
from egm.links.sas.request_sizes import find_frame_size
from egm.links.sas.tables.polls import POLL_BY_CODE
from egm.links.sas.wire import (
    BrokenMessage,
    GeneralPoll,
    LenientFraming,
    LongPoll,
    MessageToOtherMachine,
    WakeupBitFraming,
    escape_message_with_wakeup,
)

MS = 1_000_000
READ = b"\x01\x1a"
SET = bytes.fromhex("01 01 51 08")


def strict() -> WakeupBitFraming:
    return WakeupBitFraming(1, 5 * MS)


def lenient() -> LenientFraming:
    return LenientFraming(1, 30 * MS)


def decode(framing, data: bytes, now_ns: int = 0) -> list:
    return list(framing.decode(data, now_ns))


def test_polls_are_cut_by_the_wakeup_bit() -> None:
    messages = decode(
        strict(),
        escape_message_with_wakeup(b"\x81")
        + escape_message_with_wakeup(READ)
        + escape_message_with_wakeup(SET)
        + escape_message_with_wakeup(b"\x82"),
    )
    assert messages == [GeneralPoll(1), LongPoll(READ), LongPoll(SET), GeneralPoll(2)]


def test_a_byte_ff_in_the_data_comes_doubled_and_is_one_byte() -> None:
    frame = append_crc(bytes.fromhex("01 4D FF"))
    assert decode(strict(), escape_message_with_wakeup(frame)) == [LongPoll(frame)]
    assert LongPoll(frame).data == b"\xff"
    assert decode(strict(), b"\xff\x00\xff") == [GeneralPoll(127)]


def test_a_frame_may_come_byte_by_byte() -> None:
    framing, messages = strict(), []
    for number, byte in enumerate(escape_message_with_wakeup(append_crc(bytes.fromhex("01 4D FF")))):
        messages += decode(framing, bytes((byte,)), number * MS)
    assert messages == [LongPoll(append_crc(bytes.fromhex("01 4D FF")))]


@pytest.mark.parametrize("split_offset", range(1, len(escape_message_with_wakeup(SET))))
def test_a_pause_over_five_milliseconds_ends_a_message(split_offset: int) -> None:
    framing, data = strict(), escape_message_with_wakeup(SET)
    messages = decode(framing, data[:split_offset]) + decode(framing, data[split_offset:], 5 * MS + 1)
    assert LongPoll(SET) not in messages
    assert decode(framing, data, 10 * MS) == [LongPoll(SET)]


@pytest.mark.parametrize("split_offset", range(1, len(escape_message_with_wakeup(SET))))
def test_a_pause_of_five_milliseconds_does_not(split_offset: int) -> None:
    framing, data = strict(), escape_message_with_wakeup(SET)
    assert decode(framing, data[:split_offset]) + decode(framing, data[split_offset:], 5 * MS) == [
        LongPoll(SET)
    ]


def test_a_wakeup_bit_within_a_message_starts_a_new_one() -> None:
    messages = decode(strict(), escape_message_with_wakeup(SET)[:4] + escape_message_with_wakeup(READ))
    assert messages == [BrokenMessage("cut", b"\x01\x01"), LongPoll(READ)]


def test_messages_to_other_machines_are_skipped() -> None:
    other = append_crc(bytes.fromhex("02 2F 03 00 00 00"))
    assert decode(strict(), escape_message_with_wakeup(other) + escape_message_with_wakeup(READ)) == [
        MessageToOtherMachine(2),
        LongPoll(READ),
    ]
    assert decode(lenient(), other + READ) == [MessageToOtherMachine(2), LongPoll(READ)]


@pytest.mark.requirement("K-06")
def test_a_message_with_a_wrong_crc_is_damaged() -> None:
    wrong = SET[:-1] + b"\x09"
    assert decode(strict(), escape_message_with_wakeup(wrong)) == [BrokenMessage("crc", wrong)]
    assert decode(lenient(), wrong) == [BrokenMessage("crc", wrong)]


def test_an_unknown_command_is_damaged_and_the_next_poll_is_read() -> None:
    framing = strict()
    assert decode(framing, escape_message_with_wakeup(b"\x01\xfe\x00\x00")) == [
        BrokenMessage("unknown", b"\x01\xfe")
    ]
    assert decode(framing, escape_message_with_wakeup(READ)) == [LongPoll(READ)]


def test_without_a_wakeup_bit_a_host_may_send_80_before_every_poll() -> None:
    assert decode(lenient(), b"\x80" + READ + b"\x80" + SET) == [
        GeneralPoll(0),
        LongPoll(READ),
        GeneralPoll(0),
        LongPoll(SET),
    ]


def test_without_a_wakeup_bit_only_a_pause_ends_a_damaged_message() -> None:
    framing = lenient()
    assert decode(framing, b"\x01\xfe" + READ) == [
        BrokenMessage("unknown", b"\x01\xfe"),
        BrokenMessage("stray", READ),
    ]
    assert decode(framing, READ, 30 * MS) == [BrokenMessage("stray", READ)]
    assert decode(framing, READ, 61 * MS) == [LongPoll(READ)]


def test_every_named_poll_is_framed_or_reported_as_unknown() -> None:
    unknown = {code for code in POLL_BY_CODE if find_frame_size(bytes((1, code, 0))) is None}
    assert unknown == set(bytes.fromhex("5A 5B 5C 5F 8B B6 B7"))
    for code in set(POLL_BY_CODE) - unknown:
        size = find_frame_size(bytes((1, code, 3, 0, 0, 0)))
        assert size is not None
        assert 2 <= size <= 2 + 1 + 255 + 2


@given(noise=st.binary(max_size=300), address=st.integers(1, 127))
def test_noise_never_hides_the_next_poll_from_a_strict_line(noise: bytes, address: int) -> None:
    framing = WakeupBitFraming(address, 5 * MS)
    poll = append_crc(bytes((address, 0x01)))
    decode(framing, noise)
    assert decode(framing, escape_message_with_wakeup(poll), 6 * MS)[-1] == LongPoll(poll)


@given(noise=st.lists(st.binary(max_size=40), max_size=8), address=st.integers(1, 127))
def test_noise_never_hides_the_next_poll_from_a_lenient_line(noise: list[bytes], address: int) -> None:
    framing = LenientFraming(address, 30 * MS)
    poll = append_crc(bytes((address, 0x01)))
    now = 0
    for part in noise:
        now += MS
        decode(framing, part, now)
    assert decode(framing, poll, now + 31 * MS)[-1] == LongPoll(poll)


@given(data=st.binary(min_size=1, max_size=120), cuts=st.lists(st.integers(0, 120), max_size=6))
def test_framing_does_not_depend_on_how_the_bytes_were_read(data: bytes, cuts: list[int]) -> None:
    for make in (strict, lenient):
        undivided, divided = make(), make()
        edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
        messages = [h for a, b in pairwise(edges) for h in decode(divided, data[a:b])]
        strays = [h for h in messages if not (isinstance(h, BrokenMessage) and h.reason == "stray")]
        expected = [
            h for h in decode(undivided, data) if not (isinstance(h, BrokenMessage) and h.reason == "stray")
        ]
        assert strays == expected
