"""The host's encoding and decoding of SAS messages, compared with frames written by hand."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egm.links.sas.crc import append_crc
from egm.links.sas.tables.denominations import BILL_MAJOR_UNITS_BY_CODE as SHARED_BILLS
from egm.links.sas.tables.denominations import DENOMINATION_CENTS_BY_CODE
from egm.links.sas.tables.meters import METER_DEFINITION_BY_CODE
from egm.links.sas.tables.polls import POLL_BY_CODE as SHARED_POLLS
from tools.dev.host import codes
from tools.dev.host.fields import LayoutError, compute_fixed_size, decode_layout, encode_layout
from tools.dev.host.messages import (
    ReplyKind,
    decode_reply,
    encode_general_poll,
    encode_long_poll,
    is_complete_reply,
)
from tools.dev.host.polls import EVENT_LAYOUT_BY_CODE, POLL_BY_CODE

VECTORS = Path(__file__).parents[2] / "vectors"
KNOWN_FRAMES = tomllib.loads((VECTORS / "sas_frames_seen.toml").read_text(encoding="utf-8"))["frames"]
LENGTHS = tomllib.loads((VECTORS / "sas_answer_lengths.toml").read_text(encoding="utf-8"))["lengths"]


def frame(text: str) -> bytes:
    return append_crc(bytes.fromhex(text))


@pytest.mark.parametrize(("body", "crc"), KNOWN_FRAMES.items())
def test_long_polls_are_encoded_like_published_frames(body, crc):
    _, code, *data = bytes.fromhex(body)
    values = {"enable": data[0]} if data else {}
    assert encode_long_poll(1, code, values) == bytes.fromhex(body + crc)


@pytest.mark.parametrize("code", LENGTHS)
def test_each_reply_has_the_length_stated_in_the_tables(code):
    assert 4 + compute_fixed_size(POLL_BY_CODE[int(code, 16)].reply) == LENGTHS[code]


def test_types_and_confidence_agree_with_the_table_of_names():
    doubts = {0x75, 0x76}  # their answers are a guess of ours, though the requests are published
    for code, poll in POLL_BY_CODE.items():
        shared = SHARED_POLLS[code]
        assert shared.poll_type == poll.type + ("/G" if poll.can_be_broadcast else ""), f"{code:02X}"
        assert code in doubts or shared.confidence == poll.confidence, f"{code:02X}"


def test_meter_sizes_denominations_and_bills_agree_with_the_tables_of_names():
    assert {
        code: row.byte_count for code, row in METER_DEFINITION_BY_CODE.items()
    } == codes.METER_SIZE_BYTES_BY_CODE
    assert {code: str(value) for code, value in SHARED_BILLS.items()} == codes.BILL_MAJOR_UNITS_BY_CODE
    for code, value in DENOMINATION_CENTS_BY_CODE.items():
        dollars, _, fraction_digits = codes.DENOMINATION_BY_CODE[code].partition(".")
        assert value * 10**6 == int(dollars) * 10**8 + int(fraction_digits.ljust(8, "0")), code


def test_polls_are_encoded_as_written_by_hand():
    assert encode_general_poll(1) == b"\x81"
    assert encode_long_poll(1, 0x54) == b"\x01\x54"  # R: no CRC
    assert encode_long_poll(1, 0x2D, {"game": 12}) == frame("01 2D 0012")
    assert encode_long_poll(1, 0x2F, {"game": 0, "codes": [{"code": 0}, {"code": 5}]}) == frame(
        "01 2F 04 0000 00 05"
    )
    assert encode_long_poll(1, 0x6F, {"game": 0, "codes": [{"code": 0xA0}]}) == frame("01 6F 04 0000 A000")
    assert encode_long_poll(1, 0x4C, {"validation_id": 0x123456, "sequence": 1}) == frame(
        "01 4C 563412 010000"
    )
    assert encode_long_poll(1, 0x58, {"system_id": 1, "validation": "1234567890123456"}) == frame(
        "01 58 01 1234567890123456"
    )
    assert encode_long_poll(1, 0x71, {"code": 0xFF}) == frame("01 71 01 FF")
    assert encode_long_poll(1, 0x72, {"transfer_code": 0xFF, "index": 0}) == frame("01 72 02 FF 00")
    assert encode_long_poll(1, 0x73, {"code": 0xFF}) == frame("01 73 01 FF")
    assert encode_long_poll(0, 0x7F, {"date": "11212026", "time": "063000"}) == frame("00 7F 11212026 063000")
    assert encode_long_poll(1, 0x8A, {"amount": 100, "tax": 0}) == bytes.fromhex("018A0000010000A5E9")  # seen


def test_a_transfer_order_is_encoded_as_written_by_hand():
    order = encode_long_poll(
        1,
        0x72,
        {
            "transfer_code": 0,
            "index": 0,
            "type": 0,
            "cashable_cents": 500,
            "restricted_cents": 0,
            "nonrestricted_cents": 0,
            "flags": 0,
            "asset": 0x01020304,
            "key": "11" * 20,
            "transaction": "A" * 17,
            "expiration": "00000000",
            "pool": 0,
            "receipt": "",
        },
    )
    assert order[2] == 0x44  # the published length for a 17-byte id and no receipt
    assert order == frame(
        "01 72 44 00 00 00 0000000500 0000000000 0000000000 00 04030201"
        + "11" * 20
        + "11"
        + "41" * 17
        + "00000000 0000 00"
    )


@pytest.mark.parametrize(
    ("code", "values", "expected_text"),
    [
        (0x2D, {}, "game: no value"),
        (0x2D, {"game": 10_000}, "game: 10000"),
        (0x2D, {"game": -1}, "game: -1"),
        (0x58, {"system_id": 1, "validation": "12a"}, "validation: '12a'"),
        (0x73, {"asset": 5}, "code: no value given, but a later part has one"),
        (0x7D, {"host_id": 1, "expiration_days": 1, "location": "é"}, "location"),
        (0x7D, {"host_id": 1, "expiration_days": 1, "location": "x" * 256}, "location: 256 bytes"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_its_name(code, values, expected_text):
    with pytest.raises(LayoutError, match=expected_text):
        encode_long_poll(1, code, values)


def data(request: bytes, text: str):
    answer = decode_reply(request, frame(text))
    assert answer.kind is ReplyKind.DATA, answer.error
    assert is_complete_reply(request, answer.data)
    assert not any(is_complete_reply(request, answer.data[:n]) for n in range(len(answer.data)))
    return answer.values


def test_replies_are_decoded_as_written_by_hand():
    assert data(encode_long_poll(1, 0x1A), "01 1A 00001234") == {"value": 1234}
    assert data(encode_long_poll(1, 0x54), "01 54 07 363032 41422D37") == {"version": "602", "serial": "AB-7"}
    assert data(encode_long_poll(1, 0x56), "01 56 05 02 0001 0012") == {
        "count": 2,
        "games": [{"game": 1}, {"game": 12}],
    }
    assert data(encode_long_poll(1, 0x4F), "01 4F 02 00 FF") == {"status": 0, "percent_full": 255}
    assert data(encode_long_poll(1, 0x48), "01 48 37 10 00000003") == {"country": 37, "bill": 10, "count": 3}
    meters = {"game": 0, "codes": [{"code": 0}]}
    assert data(encode_long_poll(1, 0x2F, meters), "01 2F 0D 0000 00 00000042 0D 0000001500")["meters"] == [
        {"code": 0, "value": 42},
        {"code": 0x0D, "value": 1500},
    ]
    assert data(encode_long_poll(1, 0x6F, meters), "01 6F 0C 0000 0000 04 00000042 FF00 00")["meters"] == [
        {"code": 0, "value": 42},
        {"code": 0xFF, "value": None},  # size 0: the machine has no such meter
    ]
    assert data(encode_long_poll(1, 0x70), "01 70 10 00 0000000500 00 001234567890123456") == {
        "status": 0,
        "amount_cents": 500,
        "parsing": 0,
        "validation_data": "001234567890123456",
    }
    assert data(encode_long_poll(1, 0x70), "01 70 01 FF") == {"status": 0xFF}
    assert data(encode_long_poll(1, 0x72, {"transfer_code": 0xFE, "index": 0}), "01 72 02 00 FF") == {
        "position": 0,
        "status": 0xFF,
    }
    completed = data(
        encode_long_poll(1, 0x72, {"transfer_code": 0xFF, "index": 0}),
        "01 72 37 01 00 FF 00 0000000500 0000000000 0000000000 00 64000000 04 54455354 11212026 063000 00000000 "
        "0000 05 0000012345 05 0000000000 00",
    )
    assert (completed["transaction"], completed["asset"], completed["cashable_cents"]) == ("TEST", 100, 500)
    assert (completed["cumulative_cashable"], completed["cumulative_nonrestricted"]) == (12345, None)
    lock = data(
        encode_long_poll(1, 0x74, {"code": 0xFF, "condition": 0, "timeout": 0}),
        "01 74 23 64000000 FF 03 00 18 05 0000001000 0000000000 0000000000 0000010000 00000000 0000",
    )
    assert (lock["limit_cents"], lock["buffer_index_max"], lock["aft_status"]) == (10_000, 5, 0x18)
    long_poll = data(
        encode_long_poll(1, 0xB0, {"denomination": 1, "poll": 0x11, "data": ""}), "01 B0 06 01 11 00000042"
    )
    assert long_poll["value"] == 42


def test_short_replies_are_classified():
    general, control, reading = encode_general_poll(1), encode_long_poll(1, 0x01), encode_long_poll(1, 0x1A)
    assert decode_reply(general, b"").kind is ReplyKind.NO_REPLY
    assert decode_reply(general, b"\x00").kind is ReplyKind.NOTHING_TO_REPORT
    assert (decode_reply(general, b"\x51").kind, decode_reply(general, b"\x51").code) == (
        ReplyKind.EXCEPTION,
        0x51,
    )
    assert decode_reply(general, b"\x81").kind is ReplyKind.EXCEPTION  # at address 1 this byte is also a NACK
    assert decode_reply(control, b"\x01").kind is ReplyKind.ACK
    assert decode_reply(control, b"\x81").kind is ReplyKind.NACK
    assert decode_reply(reading, b"\x01\x00").kind is ReplyKind.BUSY
    assert decode_reply(control, b"\x42").kind is ReplyKind.DAMAGED
    assert is_complete_reply(general, b"\x51")
    assert not is_complete_reply(
        general, b"\x01"
    )  # exception 01, or the address that begins a frame: silence tells
    assert not is_complete_reply(control, b"\x01")
    assert is_complete_reply(control, b"\x81")
    assert is_complete_reply(reading, b"\x01\x00")


def test_an_event_frame_is_accepted_as_a_reply_to_any_poll():
    for request in (encode_general_poll(1), encode_long_poll(1, 0x1A)):
        answer = decode_reply(request, frame("01 FF 7E 0005 00001234 00 00"))
        assert (answer.kind, answer.code) == (ReplyKind.REAL_TIME_EVENT, 0x7E)
        assert answer.values["wagered"] == 5
        assert is_complete_reply(request, answer.data)
        assert not is_complete_reply(request, answer.data[:-1])
    assert decode_reply(encode_general_poll(1), frame("01 FF 11")).kind is ReplyKind.REAL_TIME_EVENT
    assert decode_reply(encode_general_poll(1), frame("01 FF 00")).kind is ReplyKind.NOTHING_TO_REPORT


def test_a_signature_is_accepted_as_a_reply_to_a_general_poll():
    answer = decode_reply(encode_general_poll(1), frame("01 21 3412"))
    assert (answer.kind, answer.values) == (ReplyKind.DATA, {"signature": 0x1234})


@pytest.mark.parametrize(
    ("got", "expected_text"),
    [
        (frame("01 1A 00001234")[:-1] + b"\x00", "CRC: wrong"),
        (frame("01 1A 000012"), "value: cut short"),
        (frame("01 1A 0000123400"), "surplus"),
        (frame("01 1A 0000123F"), "not decimal digits"),
        (frame("01 11 00001234"), "replies to poll 11, not 1A"),
        (frame("02 1A 00001234"), "address 2, not 1"),
        (frame("01 FD"), "replies to poll FD, not 1A"),
    ],
)
def test_a_damaged_reply_states_the_reason(got, expected_text):
    answer = decode_reply(encode_long_poll(1, 0x1A), got)
    assert answer.kind is ReplyKind.DAMAGED
    assert expected_text in answer.error


@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        ("01 54 05 363032 41", "cut short"),  # the length exceeds the data
        ("01 54 03 363032 41", "surplus"),
        ("01 54 02 3630", "version: cut short"),
        ("01 54 04 36303241 FF", "surplus"),
    ],
)
def test_a_wrong_length_byte_is_detected(text, expected_text):
    answer = decode_reply(encode_long_poll(1, 0x54), frame(text))
    assert answer.kind is ReplyKind.DAMAGED
    assert expected_text in answer.error


@given(
    st.binary(max_size=80),
    st.sampled_from([encode_general_poll(1), *(bytes((1, code)) for code in POLL_BY_CODE)]),
)
def test_decoding_never_fails_whatever_is_received(got, request_):
    answer = decode_reply(request_, got)
    is_complete_reply(request_, got)
    assert answer.data == got


@given(st.data())
def test_encoded_values_are_decoded_to_the_same(data_):
    code = data_.draw(st.sampled_from([0x2D, 0x4C, 0x57, 0x58, 0x7E, 0x70, 0x71, 0x7B, 0x7D]))
    poll = POLL_BY_CODE[code]
    layout = poll.request or poll.reply
    sample = {
        "game": st.integers(0, 9999),
        "validation_id": st.integers(0, 2**24 - 1),
        "sequence": st.integers(0, 2**24 - 1),
        "type": st.integers(0, 255),
        "amount_cents": st.integers(0, 10**10 - 1),
        "system_id": st.integers(0, 99),
        "validation": st.from_regex(r"[0-9]{16}", fullmatch=True),
        "validation_data": st.from_regex(r"[0-9]{18}", fullmatch=True),
        "date": st.from_regex(r"[0-9]{8}", fullmatch=True),
        "expiration": st.from_regex(r"[0-9]{8}", fullmatch=True),
        "time": st.from_regex(r"[0-9]{6}", fullmatch=True),
        "code": st.integers(0, 255),
        "status": st.integers(0, 255),
        "parsing": st.integers(0, 255),
        "pool": st.integers(0, 65535),
        "mask": st.integers(0, 65535),
        "states": st.integers(0, 65535),
        "cashable_days": st.integers(0, 9999),
        "restricted_days": st.integers(0, 9999),
        "host_id": st.integers(0, 65535),
        "expiration_days": st.integers(0, 255),
        "location": st.text(st.characters(max_codepoint=126, min_codepoint=32), max_size=40),
        "address1": st.text(st.characters(max_codepoint=126, min_codepoint=32), max_size=40),
        "address2": st.text(st.characters(max_codepoint=126, min_codepoint=32), max_size=40),
    }
    names = [part.name for outer in layout for part in getattr(outer, "parts", (outer,))]
    values = {name: data_.draw(sample[name]) for name in names}
    written = encode_layout(layout, values)
    assert decode_layout(layout, written) == values


def test_every_event_layout_has_a_fixed_size():
    assert all(compute_fixed_size(layout) is not None for layout in EVENT_LAYOUT_BY_CODE.values())


@pytest.mark.parametrize("code", [0x4D, 0x57, 0x70])
def test_a_reply_cut_after_the_address_is_damaged_if_the_poll_has_an_answer(code):
    """Taken as an acknowledgement, it made the host go on, and the machine's record counted as read."""
    assert decode_reply(bytes((1, code)), b"\x01").kind is ReplyKind.DAMAGED
    assert decode_reply(bytes((1, code)), b"\x81").kind is ReplyKind.NACK


def test_a_software_signature_is_acknowledged_before_it_is_sent():
    assert decode_reply(bytes((1, 0x21)), b"\x01").kind is ReplyKind.ACK
