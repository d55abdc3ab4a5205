"""Long polls about the machine: identity, time, and the state of its devices."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from egm.config.sas_line import SasPollGroup
from egm.links.sas.codec import (
    ACK,
    NACK,
    MalformedPollError,
    Reply,
    encode_bcd,
    encode_date_and_time,
    is_bcd,
    prepend_length,
)
from egm.links.sas.host import SasHost
from egm.links.sas.journal_exceptions import find_bill_codes
from egm.links.sas.poll import ONE_BYTE_REPLY_SIZE, VARIABLE_REPLY_SIZE, PollImplementation
from egm.links.sas.readout import SasReadout
from egm.links.sas.wire import LongPoll

SAS_VERSION: Final = b"602"
#: Longest serial number in a reply.
_SERIAL_BYTES_MAX: Final = 40
#: First and last year accepted in a host's date.
_HOST_YEAR_MIN, _HOST_YEAR_MAX = 1970, 2999
#: Number of reels in the reply to poll 8F.
_REPORTED_REEL_STOP_COUNT: Final = 9
#: Stop code of a reel that the game does not have.
_NO_REEL_STOP: Final = 0xFF
#: Hopper fill level: unknown.
_UNKNOWN_HOPPER_FILL: Final = 0xFF
#: Hopper status codes of poll 4F.
_HOPPER_OK, _HOPPER_JAM, _HOPPER_EMPTY, _HOPPER_OTHER = 0x00, 0x04, 0x07, 0xFF


def answer_version_and_serial(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 54: the SAS version and the serial number."""
    return Reply(prepend_length(SAS_VERSION + readout.serial.encode("ascii", "replace")[:_SERIAL_BYTES_MAX]))


# ---------------------------------------------------------------------------------------------- time
def answer_time_of_day(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 7E: the local date and time, by the machine's clock or by the time that this host has set by 7F."""
    return Reply(encode_date_and_time(readout.read_local_time()))


def receive_date_and_time(host: SasHost, request: LongPoll) -> Reply:
    """Answer poll 7F: store the host's date and time for this host's later polls 7E.

    The machine's own clock is not changed: every journal entry carries the machine's time, and a host must not be able
    to reorder the record. A date or time that does not exist is answered with NACK.
    """
    digits = request.data.hex()
    if not is_bcd(request.data):
        raise MalformedPollError(request, "not a date and time: not decimal")
    if not _HOST_YEAR_MIN <= int(digits[4:8]) <= _HOST_YEAR_MAX:
        return NACK
    try:
        host_time = datetime.strptime(digits, "%m%d%Y%H%M%S").replace(tzinfo=host.time_zone)
    except ValueError:
        return NACK
    host.store_host_time(host_time)
    return ACK


# ---------------------------------------------------------------------------------------------- devices
def answer_last_bill(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 48: the last bill's country, its code, and the number of bills of its value accepted so far.

    The reply has zeros before the first bill.
    """
    if not readout.last_bill_cents:
        return Reply(bytes(6))
    country_code, bill_code = find_bill_codes(readout.last_bill_cents, readout.currency)
    count = readout.count_bills(readout.last_bill_cents)
    return Reply(encode_bcd(country_code, 1) + encode_bcd(bill_code or 0, 1) + encode_bcd(count, 4))


def answer_stacker_bills(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 49: the number of bills in the stacker."""
    return Reply(encode_bcd(readout.stacker_bill_count, 4))


def answer_stacker_value(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 4A: the value of the bills in the stacker, in credits."""
    return Reply(encode_bcd(readout.convert_to_credits(readout.stacker_cents), 4))


def answer_last_ticket(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 3D: the last cash-out ticket's amount, and zeros for its number, which exceeds eight digits."""
    return Reply(bytes(4) + encode_bcd(readout.last_ticket_cents, 5))


def answer_hopper_level(_: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer poll 2C: the coins in the hopper, as counted in and out; no reply without a hopper."""
    return None if readout.hopper is None else Reply(encode_bcd(readout.hopper.coin_count, 4))


def answer_hopper_status(_: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer poll 4F: hopper status, percentage full (unknown) and level.

    The codes are based on general knowledge of the protocol, not on a published description.
    """
    hopper = readout.hopper
    if hopper is None:
        return None
    status_code = _HOPPER_OK
    if hopper.active_fault_codes:
        status_code_by_fault = {"hopper.jam": _HOPPER_JAM, "hopper.hopper_empty": _HOPPER_EMPTY}
        status_code = status_code_by_fault.get(hopper.active_fault_codes[0], _HOPPER_OTHER)
    return Reply(
        prepend_length(bytes((status_code, _UNKNOWN_HOPPER_FILL)) + encode_bcd(hopper.coin_count, 4))
    )


def answer_reel_stops(_: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer poll 8F: the reel stops of the last game; no reply if it had no reels."""
    if not readout.reel_stops:
        return None
    # A reel stop above 254 does not fit in the byte, and is reported like a missing reel.
    stops = [min(_NO_REEL_STOP, stop) for stop in readout.reel_stops[:_REPORTED_REEL_STOP_COUNT]]
    return Reply(bytes(stops).ljust(_REPORTED_REEL_STOP_COUNT, bytes((_NO_REEL_STOP,))))


def switch_real_time_reporting(host: SasHost, request: LongPoll) -> Reply:
    """Answer poll 0E: switch real-time event reporting, which replaces exceptions, on or off."""
    if request.data[0] > 1:  # neither on nor off
        return NACK
    host.set_real_time_reporting(is_on=request.data[0] == 1)
    return ACK


POLL_IMPLEMENTATIONS: Final[Sequence[PollImplementation]] = (
    PollImplementation(
        code=0x0E,
        reply_size_bytes=ONE_BYTE_REPLY_SIZE,
        effect_function=switch_real_time_reporting,
        group=SasPollGroup.REAL_TIME_EVENTS,
    ),
    PollImplementation(code=0x2C, reply_size_bytes=8, answer_function=answer_hopper_level),
    PollImplementation(code=0x3D, reply_size_bytes=13, answer_function=answer_last_ticket),
    PollImplementation(code=0x48, reply_size_bytes=10, answer_function=answer_last_bill),
    PollImplementation(code=0x49, reply_size_bytes=8, answer_function=answer_stacker_bills),
    PollImplementation(code=0x4A, reply_size_bytes=8, answer_function=answer_stacker_value),
    PollImplementation(
        code=0x4F,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        answer_function=answer_hopper_status,
        group=SasPollGroup.HOPPER_STATUS,
    ),
    PollImplementation(
        code=0x54, reply_size_bytes=VARIABLE_REPLY_SIZE, answer_function=answer_version_and_serial
    ),
    PollImplementation(code=0x7E, reply_size_bytes=11, answer_function=answer_time_of_day),
    PollImplementation(
        code=0x7F,
        reply_size_bytes=ONE_BYTE_REPLY_SIZE,
        effect_function=receive_date_and_time,
        is_executed_as_broadcast=True,
    ),
    PollImplementation(code=0x8F, reply_size_bytes=13, answer_function=answer_reel_stops),
)
