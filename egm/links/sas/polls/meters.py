"""Long polls about meters: fixed lists of meters (0F to 1E, 2A to 46), and meters by code (2F, 6F, AF)."""

from collections.abc import Mapping, Sequence
from typing import Final

from egm.links.sas.codec import (
    MalformedPollError,
    Reply,
    decode_bcd,
    decode_binary,
    encode_bcd,
    encode_binary,
    prepend_length,
)
from egm.links.sas.meters import read_meter
from egm.links.sas.poll import VARIABLE_REPLY_SIZE, PollAnswerFunction, PollImplementation
from egm.links.sas.readout import SasReadout
from egm.links.sas.request_sizes import GAME_NUMBER_SIZE_BYTES
from egm.links.sas.tables.meters import METER_DEFINITION_BY_CODE
from egm.links.sas.wire import LongPoll

#: The bytes of a reply in addition to its data: address, command and CRC.
_REPLY_OVERHEAD_SIZE_BYTES: Final = 4
#: Most meters in one request of poll 2F.
_SELECTED_METERS_MAX: Final = 10
#: Most meters in one request of polls 6F and AF. One source says 12, another 11; the larger is accepted.
_EXTENDED_METERS_MAX: Final = 12

#: Poll -> the meters it returns, four bytes each.
_METER_CODES_BY_POLL: Final[Mapping[int, tuple[int, ...]]] = {
    0x0F: (0x04, 0x00, 0x01, 0x24, 0x02, 0x05),
    0x10: (0x04,),
    0x11: (0x00,),
    0x12: (0x01,),
    0x13: (0x24,),
    0x14: (0x02,),
    0x15: (0x05,),
    0x16: (0x06,),
    0x17: (0x07,),
    0x19: (0x00, 0x01, 0x24, 0x02, 0x05),
    0x1A: (0x0C,),
    0x1E: (0x40, 0x42, 0x43, 0x44, 0x46, 0x47),
    0x2A: (0x08,),
    0x2B: (0x09,),
    0x46: (0x0B,),
}
#: List polls that may be restricted to one denomination.
_POLLS_THAT_CAN_BE_LIMITED_TO_DENOMINATION: Final = frozenset({0x11, 0x12, 0x14, 0x15, 0x16, 0x17})

#: Poll -> the bill it counts, as a meter code of the accepted bills.
_BILL_METER_CODE_BY_POLL: Final[Mapping[int, int]] = dict(
    zip(
        bytes.fromhex("31 32 33 34 35 3B 36 37 3A 45 38 39 3C 3E 3F 40 41 42 43 44"),
        range(0x40, 0x54),
        strict=True,
    )
)


def _build_meters_answer(*codes: int) -> PollAnswerFunction:
    """Return the function that answers a poll with the machine's SAS meters of the given codes, in that order."""

    def answer_with_meters(_: LongPoll, readout: SasReadout) -> Reply:
        """Answer the poll with the values of its meters, four BCD bytes each; 0 for a meter that the machine lacks."""
        return Reply(b"".join(encode_bcd(read_meter(code, readout) or 0, 4) for code in codes))

    return answer_with_meters


def answer_games_since_power_up_and_door_close(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 18: games since power-up and since the slot door was closed, two bytes each."""
    return Reply(b"".join(encode_bcd(read_meter(code, readout) or 0, 2) for code in (0x25, 0x26)))


def answer_machine_meters(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 1C: six meters of play, slot door openings and power resets."""
    play_values = [read_meter(code, readout) or 0 for code in (0x00, 0x01, 0x24, 0x02, 0x05, 0x06)]
    value_by_meter = readout.read_meters()
    occurrences = [value_by_meter.get("door.main.opens", 0), value_by_meter.get("power_resets", 0)]
    return Reply(b"".join(encode_bcd(value, 4) for value in (*play_values, *occurrences)))


def answer_value_of_bills(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 20: the value of the accepted bills, in whole units of the currency."""
    return Reply(encode_bcd(readout.read_meters()["bill_in.value"] // 100, 4))


# ----------------------------------------------------------------------------------------- meters of one game
def _find_requested_game_id(request: LongPoll, readout: SasReadout, game_number_bcd: bytes) -> str | None:
    """Return the id of the game that the poll requests by number: "" for the machine, None if there is no such game."""
    game_number = decode_bcd(request, game_number_bcd)
    if game_number == 0:
        return ""
    game = readout.find_game(game_number)
    return None if game is None else game.id


def _build_game_meters_answer(*codes: int) -> PollAnswerFunction:
    """Return the function that answers a poll for one game with the game's number and its meters of these SAS codes."""

    def answer_with_game_meters(request: LongPoll, readout: SasReadout) -> Reply | None:
        """Answer the poll with the meters of the game that it names; no reply if there is no such game."""
        game_id = _find_requested_game_id(request, readout, request.data)
        if game_id is None:
            return None
        values = (read_meter(code, readout, game_id) or 0 for code in codes)
        return Reply(request.data + b"".join(encode_bcd(value, 4) for value in values))

    return answer_with_game_meters


def answer_selected_meters(request: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer poll 2F: up to ten meters by one-byte codes. A meter that the machine does not have is zero.

    An undefined code has no size, so a request with one gets no reply.
    """
    game_number_bcd, codes = (
        request.data[1 : 1 + GAME_NUMBER_SIZE_BYTES],
        request.data[1 + GAME_NUMBER_SIZE_BYTES :],
    )
    if not 0 < len(codes) <= _SELECTED_METERS_MAX:
        raise MalformedPollError(
            request, f"expected 1 to {_SELECTED_METERS_MAX} meter codes, received {len(codes)}"
        )
    game_id = _find_requested_game_id(request, readout, game_number_bcd)
    if game_id is None or any(code not in METER_DEFINITION_BY_CODE for code in codes):
        return None
    values = [
        bytes((code,))
        + encode_bcd(read_meter(code, readout, game_id) or 0, METER_DEFINITION_BY_CODE[code].byte_count)
        for code in codes
    ]
    return Reply(prepend_length(game_number_bcd + b"".join(values)))


def answer_extended_meters(request: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer polls 6F and AF: up to twelve meters by two-byte codes, each with its size; size 0: no such meter."""
    game_number_bcd = request.data[1 : 1 + GAME_NUMBER_SIZE_BYTES]
    code_bytes = request.data[1 + GAME_NUMBER_SIZE_BYTES :]
    if not code_bytes or len(code_bytes) % 2 or len(code_bytes) > 2 * _EXTENDED_METERS_MAX:
        raise MalformedPollError(
            request,
            f"expected 1 to {_EXTENDED_METERS_MAX} meter codes of two bytes, received {len(code_bytes)} bytes",
        )
    game_id = _find_requested_game_id(request, readout, game_number_bcd)
    if game_id is None:
        return None
    codes = [decode_binary(code_bytes[offset : offset + 2]) for offset in range(0, len(code_bytes), 2)]
    return Reply(
        prepend_length(
            game_number_bcd + b"".join(_encode_sized_meter(code, readout, game_id) for code in codes)
        )
    )


def _encode_sized_meter(code: int, readout: SasReadout, game_id: str) -> bytes:
    """Return a meter as poll 6F sends it: its code, its size and its BCD value; size 0 if there is no such meter."""
    value = read_meter(code, readout, game_id)
    if value is None:
        return encode_binary(code, 2) + b"\0"
    size = METER_DEFINITION_BY_CODE[code].byte_count
    return encode_binary(code, 2) + bytes((size,)) + encode_bcd(value, size)


def _build_poll_implementations() -> Sequence[PollImplementation]:
    """Return the long polls that read meters, with the size of each reply."""
    return (
        *(
            PollImplementation(
                code=code,
                reply_size_bytes=_REPLY_OVERHEAD_SIZE_BYTES + 4 * len(codes),
                answer_function=_build_meters_answer(*codes),
                can_be_limited_to_denomination=code in _POLLS_THAT_CAN_BE_LIMITED_TO_DENOMINATION,
            )
            for code, codes in _METER_CODES_BY_POLL.items()
        ),
        *(
            PollImplementation(
                code=poll_code, reply_size_bytes=8, answer_function=_build_meters_answer(bill_meter_code)
            )
            for poll_code, bill_meter_code in _BILL_METER_CODE_BY_POLL.items()
        ),
        PollImplementation(
            code=0x18, reply_size_bytes=8, answer_function=answer_games_since_power_up_and_door_close
        ),
        PollImplementation(code=0x1C, reply_size_bytes=36, answer_function=answer_machine_meters),
        PollImplementation(code=0x20, reply_size_bytes=8, answer_function=answer_value_of_bills),
        PollImplementation(code=0x2D, reply_size_bytes=10, answer_function=_build_game_meters_answer(0x03)),
        PollImplementation(
            code=0x52, reply_size_bytes=22, answer_function=_build_game_meters_answer(0x00, 0x01, 0x02, 0x05)
        ),
        PollImplementation(
            code=0x2F,
            reply_size_bytes=VARIABLE_REPLY_SIZE,
            answer_function=answer_selected_meters,
            can_be_limited_to_denomination=True,
        ),
        PollImplementation(
            code=0x6F,
            reply_size_bytes=VARIABLE_REPLY_SIZE,
            answer_function=answer_extended_meters,
            can_be_limited_to_denomination=True,
        ),
        PollImplementation(
            code=0xAF,
            reply_size_bytes=VARIABLE_REPLY_SIZE,
            answer_function=answer_extended_meters,
            can_be_limited_to_denomination=True,
        ),
    )


POLL_IMPLEMENTATIONS: Final = _build_poll_implementations()
