"""Ticket polls: numbers for printed tickets, values of inserted tickets, and the text printed on tickets.

SAS calls the number of a ticket its validation number.
Each poll is only translated here; its effect on the machine's money is in :mod:`egm.host.ticket_interface`. These
polls are answered only on the line of the host that validates the machine's tickets. If no host validates them,
they are answered on no line.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from egm.config.cabinet_file import TicketValidator
from egm.config.sas_line import SasPollGroup
from egm.devices.interface import MoneyDevices
from egm.host.ticket_interface import (
    HostTicketInterface,
    PrintedTicketInRing,
    RedemptionState,
    TicketNumberReply,
)
from egm.kernel.credits import CreditKind
from egm.links.sas.codec import (
    MalformedPollError,
    Reply,
    decode_bcd,
    decode_binary,
    encode_bcd,
    encode_binary,
    encode_date_and_time,
    is_bcd,
    prepend_length,
)
from egm.links.sas.host import SasHost
from egm.links.sas.poll import VARIABLE_REPLY_SIZE, PollImplementation
from egm.links.sas.readout import SasReadout
from egm.links.sas.request_sizes import AMOUNT_SIZE_BYTES
from egm.links.sas.wire import LongPoll
from egm.money.host_money import HOST_TICKET_RING_SIZE, HostMoney
from egm.money.records.host import RedemptionStatus
from egm.money.ticket_terms import find_ticket_terms
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TICKET_NUMBER_DIGIT_COUNT, Ticket, TicketKind
from egm.tickets.redemption import TicketRefusalReason
from meters.transaction import JSON

#: The codes of the SAS exceptions "cash-out ticket printed" and "ticket transfer complete".
TICKET_PRINTED_EXCEPTION_CODE, TICKET_TRANSFER_COMPLETE_EXCEPTION_CODE = 0x3D, 0x68


#: Validation types of tickets for a machine's credits; hand-pays are not validated here.
_VALIDATION_TYPE_BY_TICKET_KIND: Final[Mapping[TicketKind, int]] = {
    TicketKind.CASHABLE: 0x00,
    TicketKind.RESTRICTED: 0x01,
}
#: Validation type -> the meters of poll 50; None for types that this machine does not validate.
_METER_BY_VALIDATION_TYPE: Final[Mapping[int, str | None]] = {
    0x00: "ticket_out.cashable",
    0x01: "ticket_out.promo_restricted",
    0x80: "ticket_in.cashable",
    0x81: "ticket_in.promo_restricted",
    0x82: "ticket_in.promo_cashable",
    **dict.fromkeys((0x02, 0x03, 0x04, 0x10, 0x20, 0x40, 0x60), None),
}


def find_ticket_interface(host: SasHost) -> HostTicketInterface | None:
    """Return the interface through which this host validates the machine's tickets, or None if it validates none."""
    host_money = host.machine.component(HostMoney)
    if host_money.ticket_validator.is_host and host_money.money_line_name == host.name:
        return HostTicketInterface(host.context.engine, host.context.submit_event)
    return None


# ---------------------------------------------------------------------------------------------- tickets out
def set_validation_id(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 4C: store the validation identifier and first sequence number; identifier 0 only reads them.

    The poll is for machines with secure enhanced validation, and for machines that may number tickets themselves while
    the host does not reply (H-09). Any other machine does not reply.
    """
    ticket_desk = host.machine.find_installed(TicketDesk)
    ticket_interface = find_ticket_interface(host)
    may_number_tickets_itself = host.machine.profile.host.offline_ticket_count_max > 0
    if ticket_interface is None:
        return None
    if (
        host.machine.component(HostMoney).ticket_validator is not TicketValidator.SECURE_ENHANCED
        and not may_number_tickets_itself
    ):
        return None
    validation_id, sequence = decode_binary(request.data[:3]), decode_binary(request.data[3:])
    if validation_id:
        ticket_interface.store_enrolment(validation_id, sequence)
    enrolment = None if ticket_desk is None else ticket_desk.current_enrolment
    if enrolment is None:
        return Reply(bytes(6), is_resent_on_repeat=True)
    return Reply(
        encode_binary(enrolment.validation_id, 3) + encode_binary(enrolment.sequence, 3),
        is_resent_on_repeat=True,
    )


#: Function code of poll 4D: the next unread record, to be marked as read.
_READ_NEXT_FUNCTION_CODE: Final = 0x00
#: Function code of poll 4D: the next unread record, not to be marked as read.
_READ_WITHOUT_REMOVING_FUNCTION_CODE: Final = 0xFF
#: Data bytes of a ticket record.
_RECORD_SIZE_BYTES: Final = 31
#: Bytes of a ticket record that hold the ticket's number.
_RECORD_NUMBER_SLICE: Final = slice(9, 17)
#: Index in a ticket record of the system ID, the first two digits of the number.
_RECORD_SYSTEM_ID_OFFSET: Final = 24


def answer_validation_record(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 4D: the record of a printed ticket, as the request's function code selects it.

    00: the next unread ticket, marked as read once the host has received it; FF: the next unread ticket, not
    marked; any other number: the ticket with that index in the ring of printed tickets.
    """
    ticket_interface = find_ticket_interface(host)
    if ticket_interface is None:
        return None
    (function_code,) = request.data
    if function_code in {_READ_NEXT_FUNCTION_CODE, _READ_WITHOUT_REMOVING_FUNCTION_CODE}:
        record = ticket_interface.find_oldest_unread_ticket()
    elif function_code <= HOST_TICKET_RING_SIZE:
        record = ticket_interface.find_ticket_in_ring(function_code)
    else:
        raise MalformedPollError(
            request,
            f"the ring of tickets has no index {function_code:02X}; expected at most {HOST_TICKET_RING_SIZE:02X}",
        )
    return Reply(
        bytes(_RECORD_SIZE_BYTES) if record is None else _encode_record(record), is_resent_on_repeat=True
    )


def _encode_record(record: PrintedTicketInRing) -> bytes:
    """Return the record of a printed ticket as the data of the reply to poll 4D."""
    ticket = record.ticket
    return (
        bytes((_VALIDATION_TYPE_BY_TICKET_KIND.get(ticket.kind, 0), record.ring_index))
        + encode_date_and_time(ticket.issued_at.astimezone(ticket.venue.zone))
        + bytes.fromhex(ticket.number[2:])
        + encode_bcd(ticket.amount_cents, AMOUNT_SIZE_BYTES)
        + encode_binary(ticket.sequence % (1 << 16), 2)
        + bytes.fromhex(ticket.number[:2])
        + _encode_expiry(ticket)
        + encode_binary(record.restricted_pool, 2)
    )


def _encode_expiry(ticket: Ticket) -> bytes:
    """Return the last day on which a ticket is valid as MMDDYYYY, or zeros if it never expires."""
    if ticket.expires_at is None:
        return bytes(4)
    return encode_date_and_time(ticket.venue.find_last_valid_moment(ticket.expires_at))[:4]


def mark_record_read(host: SasHost, request: LongPoll, reply: Reply) -> None:
    """Mark the ticket record that the host has received as read, and announce the next unread one.

    Do nothing unless the host read the record with function code 00.
    """
    ticket_interface = find_ticket_interface(host)
    ticket_number = (
        reply.data[_RECORD_SYSTEM_ID_OFFSET : _RECORD_SYSTEM_ID_OFFSET + 1].hex()
        + reply.data[_RECORD_NUMBER_SLICE].hex()
    )
    if ticket_interface is not None and request.data[0] == _READ_NEXT_FUNCTION_CODE and any(reply.data):
        ticket_interface.mark_ticket_read(ticket_number)
        if ticket_interface.find_oldest_unread_ticket() is not None:
            host.post_exception(TICKET_PRINTED_EXCEPTION_CODE)


def answer_validation_meters(request: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer poll 50: the number and the total value of the tickets of one validation type."""
    (validation_type,) = request.data
    if validation_type not in _METER_BY_VALIDATION_TYPE:
        return None
    meter_name, value_by_meter = _METER_BY_VALIDATION_TYPE[validation_type], readout.read_meters()
    count, value = (
        (0, 0)
        if meter_name is None
        else (value_by_meter[f"{meter_name}.count"], value_by_meter[f"{meter_name}.value"])
    )
    return Reply(bytes((validation_type,)) + encode_bcd(count, 4) + encode_bcd(value, AMOUNT_SIZE_BYTES))


#: Credit kind of a cash-out -> its type code in poll 57.
_CASH_OUT_TYPE_BY_CREDIT_KIND: Final = {CreditKind.CASHABLE: 0x00, CreditKind.RESTRICTED: 0x01}
#: Type code of poll 57: no cash-out waits for a number.
_NO_CASH_OUT_WAITING_TYPE: Final = 0x80


def answer_pending_cash_out(host: SasHost, _: LongPoll) -> Reply | None:
    """Answer poll 57: credit kind and amount of the cash-out that waits for a ticket number.

    Return None, which means no reply, if this host does not validate the machine's tickets.
    """
    ticket_interface = find_ticket_interface(host)
    if ticket_interface is None:
        return None
    number_request = ticket_interface.pending_ticket_number_request
    if number_request is None:
        return Reply(bytes((_NO_CASH_OUT_WAITING_TYPE,)) + bytes(AMOUNT_SIZE_BYTES))
    return Reply(
        bytes((_CASH_OUT_TYPE_BY_CREDIT_KIND[number_request.kind],))
        + encode_bcd(number_request.amount_cents, AMOUNT_SIZE_BYTES)
    )


#: The machine's reply to a number -> its code in poll 58.
_REPLY_CODE_BY_NUMBER_RESULT: Final = {
    TicketNumberReply.ACCEPTED: 0x00,
    TicketNumberReply.NO_TICKET_WAITING: 0x80,
    TicketNumberReply.INVALID_NUMBER: 0x81,
}


def receive_ticket_number(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 58: receive the host's number for the waiting ticket; system ID 00: the host gives no number.

    Return None, which means no reply, if this host does not validate the machine's tickets.
    """
    ticket_interface = find_ticket_interface(host)
    if ticket_interface is None:
        return None
    ticket_number = request.data.hex()
    if not is_bcd(request.data):
        result = TicketNumberReply.INVALID_NUMBER
    elif ticket_number.startswith("00"):
        result = ticket_interface.continue_without_host_number()
    else:
        result = ticket_interface.assign_ticket_number(ticket_number)
    return Reply(bytes((_REPLY_CODE_BY_NUMBER_RESULT[result],)), is_resent_on_repeat=True)


#: Status code of poll 70: no ticket is in escrow.
_NO_TICKET_IN_ESCROW_STATUS: Final = 0xFF
#: Parsing code of poll 70: how the bar code was read is not stated.
_UNSTATED_PARSING_CODE: Final = 0x00


def answer_ticket_validation_data(host: SasHost, _: LongPoll) -> Reply | None:
    """Answer poll 70: the number of the ticket in escrow, or that none is there.

    Return None, which means no reply, if this host does not validate the machine's tickets.
    """
    ticket_interface = find_ticket_interface(host)
    if ticket_interface is None:
        return None
    ticket_number = ticket_interface.offered_ticket_number
    if ticket_number is None:
        return Reply(prepend_length(bytes((_NO_TICKET_IN_ESCROW_STATUS,))))
    return Reply(
        prepend_length(
            bytes((0,))
            + bytes(AMOUNT_SIZE_BYTES)
            + bytes((_UNSTATED_PARSING_CODE,))
            + bytes.fromhex(ticket_number)
        )
    )


#: Status of a redemption -> its code in the reply to poll 71.
_CODE_BY_REDEMPTION_STATUS: Final[Mapping[RedemptionStatus, int]] = {
    RedemptionStatus.WAITING: 0x20,
    RedemptionStatus.PENDING: 0x40,
    RedemptionStatus.REJECTED_BY_HOST: 0x80,
    RedemptionStatus.NUMBER_MISMATCH: 0x81,
    RedemptionStatus.BAD_AMOUNT: 0x83,
    RedemptionStatus.OVER_LIMIT: 0x84,
    RedemptionStatus.NOT_NOW: 0x87,
    RedemptionStatus.TIMED_OUT: 0x88,
    RedemptionStatus.LINK_DOWN: 0x89,
    RedemptionStatus.PROMOTIONAL_TICKETS_DISABLED: 0x8A,
    RedemptionStatus.NOT_STACKED: 0x8B,
    RedemptionStatus.OTHER_POOL: 0xC0,
    RedemptionStatus.MISREAD: 0xFF,
    RedemptionStatus.NO_TICKET: 0xFF,
}
#: Status code of poll 71: the transfer code is not known.
_UNKNOWN_TRANSFER_CODE_STATUS: Final = 0x82
#: Transfer code of poll 71 -> the kind of credit that the ticket becomes.
_CREDIT_KIND_BY_TRANSFER_CODE: Final = {
    0x00: CreditKind.CASHABLE,
    0x01: CreditKind.RESTRICTED,
    0x02: CreditKind.NONRESTRICTED,
}
#: Kind of credit -> the status code of a redeemed ticket.
_CODE_BY_CREDIT_KIND: Final = {kind: code for code, kind in _CREDIT_KIND_BY_TRANSFER_CODE.items()}
#: Final statuses: once the host has received one, nothing more is reported.
_CODES_THAT_END_REDEMPTION: Final = frozenset({*_CODE_BY_CREDIT_KIND.values(), *range(0x80, 0xC1)}) - {
    _UNKNOWN_TRANSFER_CODE_STATUS
}
#: Transfer code of a refusal in poll 71 -> the reason shown to the player.
_REFUSAL_REASON_BY_TRANSFER_CODE: Final[Mapping[int, TicketRefusalReason]] = {
    0x80: TicketRefusalReason.HOST_REFUSED,
    0x81: TicketRefusalReason.HOST_REFUSED,
    0x82: TicketRefusalReason.UNKNOWN,
    0x83: TicketRefusalReason.LOCKED_BY_OTHER_REDEEMER,
    0x84: TicketRefusalReason.REDEEMED,
    0x85: TicketRefusalReason.EXPIRED,
    0x86: TicketRefusalReason.HOST_REFUSED,
    0x87: TicketRefusalReason.AMOUNT_MISMATCH,
    0x88: TicketRefusalReason.ABOVE_LIMIT,
}
#: Transfer code of poll 71 that only queries the result.
_INTERROGATE_TRANSFER_CODE: Final = 0xFF
#: Lengths of poll 71 without and with the terms of restricted credit.
_LENGTH_WITHOUT_TERMS, _LENGTH_WITH_TERMS = 0x10, 0x16


def answer_redemption(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 71: redeem the ticket in escrow or return it to the player, as the host orders; FF only queries."""
    ticket_interface = find_ticket_interface(host)
    if ticket_interface is None:
        return None
    length, transfer_code, body = (
        request.data[0],
        request.data[1] if request.data[1:] else None,
        request.data[2:],
    )
    if transfer_code == _INTERROGATE_TRANSFER_CODE and length in {
        1,
        _LENGTH_WITHOUT_TERMS,
        _LENGTH_WITH_TERMS,
    }:
        return _build_status_reply(ticket_interface.redemption_state)
    if length not in {_LENGTH_WITHOUT_TERMS, _LENGTH_WITH_TERMS} or transfer_code is None:
        raise MalformedPollError(
            request,
            f"length is {length:02X}; expected {_LENGTH_WITHOUT_TERMS:02X} or {_LENGTH_WITH_TERMS:02X}, "
            "and 01 for a query",
        )
    amount_cents, ticket_number = decode_bcd(request, body[:AMOUNT_SIZE_BYTES]), body[6:15].hex()
    if transfer_code in _REFUSAL_REASON_BY_TRANSFER_CODE:
        return _build_redemption_reply(
            host,
            ticket_interface.return_offered_ticket(
                RedemptionStatus.REJECTED_BY_HOST, _REFUSAL_REASON_BY_TRANSFER_CODE[transfer_code]
            ),
        )
    if transfer_code not in _CREDIT_KIND_BY_TRANSFER_CODE:
        return Reply(prepend_length(bytes((_UNKNOWN_TRANSFER_CODE_STATUS,))))
    expiry_date = parse_expiry(request, body[15:19], host) if length == _LENGTH_WITH_TERMS else None
    restricted_pool = decode_binary(body[19:21])
    redemption = ticket_interface.authorise_redemption(
        ticket_number,
        _CREDIT_KIND_BY_TRANSFER_CODE[transfer_code],
        amount_cents,
        expiry_date=expiry_date,
        restricted_pool=restricted_pool,
    )
    return _build_redemption_reply(host, redemption)


def _build_redemption_reply(host: SasHost, redemption: RedemptionState) -> Reply:
    """Return the reply to poll 71 with the state of a redemption.

    A repeated poll gets the same bytes. If the reply states the final result, the priority exception that announced it
    is withdrawn.
    """
    reply = _build_status_reply(redemption)
    if reply.data[1] in _CODES_THAT_END_REDEMPTION:
        host.withdraw_exception(TICKET_TRANSFER_COMPLETE_EXCEPTION_CODE)
    return Reply(reply.data, is_resent_on_repeat=True)


def _build_status_reply(redemption: RedemptionState) -> Reply:
    """Return the reply to poll 71 with the status of a redemption; without a ticket, only the status.

    With a ticket, its amount and number follow.
    """
    if redemption.status is RedemptionStatus.REDEEMED and redemption.kind is not None:
        status_code = _CODE_BY_CREDIT_KIND[redemption.kind]
    else:
        status_code = _CODE_BY_REDEMPTION_STATUS[redemption.status]
    if len(redemption.ticket_number) != TICKET_NUMBER_DIGIT_COUNT:
        return Reply(prepend_length(bytes((status_code,))))
    body = (
        bytes((status_code,))
        + encode_bcd(redemption.amount_cents, AMOUNT_SIZE_BYTES)
        + bytes((_UNSTATED_PARSING_CODE,))
    )
    return Reply(prepend_length(body + bytes.fromhex(redemption.ticket_number)))


def mark_redemption_read(host: SasHost, _: LongPoll, reply: Reply) -> None:
    """Record that the host has received the status of a redemption, so that a final status is not reported again."""
    ticket_interface = find_ticket_interface(host)
    if (
        ticket_interface is not None
        and reply.data[1] in _CODES_THAT_END_REDEMPTION
        and _build_status_reply(ticket_interface.redemption_state).data == reply.data
    ):
        ticket_interface.acknowledge_result()


def parse_expiry(request: LongPoll, data: bytes, host: SasHost) -> date | None:
    """Decode the number in a poll that states when tickets or restricted credits expire; None: zero, which means never.

    A number below 10,000 is a number of days from today, any other a date in the form MMDDYYYY. Raises
    :class:`MalformedPollError`.
    """
    number = decode_bcd(request, data)
    if number == 0:
        return None
    if number < 10_000:
        return host.machine.local_date + timedelta(days=number)
    month, day, year = number // 1_000_000, number // 10_000 % 100, number % 10_000
    try:
        return date(year, month, day)
    except ValueError as error:
        raise MalformedPollError(request, f"{number:08d} is not a date MMDDYYYY: {error}") from None


#: Bits of poll 7B: a printer is used, restricted tickets may be printed, tickets are redeemed, numbers are
#: secure.
_PRINTER_BIT, _RESTRICTED_OUT_BIT, _REDEMPTION_BIT, _SECURE_BIT = 1 << 0, 1 << 3, 1 << 5, 1 << 15
#: Validity in days that means forever.
_NEVER_EXPIRES_DAYS: Final = 9999


def answer_validation_status(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 7B: set which tickets the host allows and how long they are valid; a poll of zeros only reads this.

    Only the bits for printing restricted tickets and for redeeming tickets change what the machine does; for all
    others, the reply reports the machine's own configuration. The meaning of the bits is general knowledge.
    """
    ticket_interface = find_ticket_interface(host)
    if ticket_interface is None or request.data[0] != 8:
        return None
    changed_bits, new_bits = decode_binary(request.data[1:3]), decode_binary(request.data[3:5])
    new_terms: dict[str, JSON] = {}
    if changed_bits & _RESTRICTED_OUT_BIT:
        new_terms["restricted_out"] = bool(new_bits & _RESTRICTED_OUT_BIT)
    if changed_bits & _REDEMPTION_BIT:
        new_terms["redemption"] = bool(new_bits & _REDEMPTION_BIT)
    for name, data in (("cashable_days", request.data[5:7]), ("restricted_days", request.data[7:9])):
        if days := decode_bcd(request, data):
            new_terms[name] = days
    ticket_interface.store_ticket_terms(new_terms)
    return Reply(
        prepend_length(
            encode_binary(host.machine.component(HostMoney).asset_number, 4)
            + _encode_status_bits(host)
            + _encode_valid_days(host)
        ),
        is_resent_on_repeat=True,
    )


def _encode_status_bits(host: SasHost) -> bytes:
    """Return the two bytes of poll 7B that state what the machine allows for tickets."""
    machine = host.machine
    terms = find_ticket_terms(machine)
    bits = _PRINTER_BIT if machine.component(MoneyDevices).printer is not None else 0
    bits |= (
        _RESTRICTED_OUT_BIT
        if machine.profile.tickets.pays_out_restricted_credit and terms.may_print_restricted
        else 0
    )
    bits |= (
        _REDEMPTION_BIT
        if machine.component(MoneyDevices).acceptor is not None and terms.are_tickets_accepted
        else 0
    )
    bits |= (
        _SECURE_BIT if machine.component(HostMoney).ticket_validator is TicketValidator.SECURE_ENHANCED else 0
    )
    return encode_binary(bits, 2)


def _encode_valid_days(host: SasHost) -> bytes:
    """Return the days for which cashable and restricted tickets are valid, two decimal bytes each."""
    terms, profile_days = find_ticket_terms(host.machine), host.machine.profile.tickets.validity_days
    valid_days = (
        terms.cashable_validity_days or profile_days or _NEVER_EXPIRES_DAYS,
        terms.restricted_validity_days or profile_days or _NEVER_EXPIRES_DAYS,
    )
    return b"".join(encode_bcd(day_count, 2) for day_count in valid_days)


#: The ticket term that each text of poll 7C sets, by the text's code.
_TERM_NAME_BY_TEXT_CODE: Final = {0x00: "location", 0x01: "address1", 0x02: "address2"}
#: Longest text that a host may set.
_TICKET_TEXT_BYTES_MAX: Final = 40
#: Replies to polls 7C and 7D: the data were valid, or not.
_VALID_REPLY, _INVALID_REPLY = (
    Reply(b"\x01", is_resent_on_repeat=True),
    Reply(b"\x00", is_resent_on_repeat=True),
)


def set_extended_ticket_data(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 7C: store the texts to be printed on tickets, by code; an empty text restores the machine's own.

    Titles are prescribed by the jurisdiction's template, so a host's titles are not accepted.
    """
    ticket_interface = find_ticket_interface(host)
    if ticket_interface is None:
        return None
    new_terms: dict[str, JSON] = {}
    for code, text in _iter_text_elements(request.data[1:]):
        if code not in _TERM_NAME_BY_TEXT_CODE or text is None:
            return _INVALID_REPLY
        new_terms[_TERM_NAME_BY_TEXT_CODE[code]] = text
    ticket_interface.store_ticket_terms(new_terms)
    return _VALID_REPLY


def _iter_text_elements(data: bytes) -> Iterator[tuple[int, str | None]]:
    """Yield (text code, text) for each text in poll 7C; text is None if it is cut short, too long or unprintable."""
    offset = 0
    while offset < len(data):
        size = data[offset + 1] if offset + 1 < len(data) else _TICKET_TEXT_BYTES_MAX + 1
        yield data[offset], _decode_text(data[offset + 2 : offset + 2 + size], size)
        offset += 2 + size


def _decode_text(data: bytes, size: int) -> str | None:
    text = data.decode("ascii", "replace")
    is_valid = (
        len(data) == size <= _TICKET_TEXT_BYTES_MAX and text.isascii() and (text.isprintable() or not text)
    )
    return text if is_valid else None


def set_ticket_data(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 7D: store the days of validity and the printed texts; fields that the poll omits stay unchanged.

    Values set by polls 7B and 7C take precedence.
    """
    ticket_interface = find_ticket_interface(host)
    if ticket_interface is None:
        return None
    data = request.data[1:]
    if not data:
        return _VALID_REPLY
    if len(data) < 3:
        return _INVALID_REPLY
    new_terms: dict[str, JSON] = {"cashable_days": data[2]} if data[2] else {}
    offset = 3
    for name in _TERM_NAME_BY_TEXT_CODE.values():
        if offset >= len(data):
            break
        size = data[offset]
        text = _decode_text(data[offset + 1 : offset + 1 + size], size)
        if text is None:
            return _INVALID_REPLY
        new_terms[name] = text
        offset += 1 + size
    ticket_interface.store_ticket_terms(new_terms, comes_from_older_message_type=True)
    return _VALID_REPLY


_POLL_GROUP: Final = SasPollGroup.TICKETS
POLL_IMPLEMENTATIONS: Final[Sequence[PollImplementation]] = (
    PollImplementation(code=0x4C, reply_size_bytes=10, effect_function=set_validation_id, group=_POLL_GROUP),
    PollImplementation(
        code=0x4D,
        reply_size_bytes=35,
        effect_function=answer_validation_record,
        acknowledgement_function=mark_record_read,
        group=_POLL_GROUP,
    ),
    PollImplementation(
        code=0x50, reply_size_bytes=14, answer_function=answer_validation_meters, group=_POLL_GROUP
    ),
    PollImplementation(
        code=0x57, reply_size_bytes=10, effect_function=answer_pending_cash_out, group=_POLL_GROUP
    ),
    PollImplementation(
        code=0x58, reply_size_bytes=5, effect_function=receive_ticket_number, group=_POLL_GROUP
    ),
    PollImplementation(
        code=0x70,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        effect_function=answer_ticket_validation_data,
        group=_POLL_GROUP,
    ),
    PollImplementation(
        code=0x71,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        effect_function=answer_redemption,
        acknowledgement_function=mark_redemption_read,
        group=_POLL_GROUP,
    ),
    PollImplementation(
        code=0x7B,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        effect_function=answer_validation_status,
        group=_POLL_GROUP,
        is_executed_as_broadcast=True,
    ),
    PollImplementation(
        code=0x7C,
        reply_size_bytes=5,
        effect_function=set_extended_ticket_data,
        group=_POLL_GROUP,
        is_executed_as_broadcast=True,
    ),
    PollImplementation(
        code=0x7D,
        reply_size_bytes=5,
        effect_function=set_ticket_data,
        group=_POLL_GROUP,
        is_executed_as_broadcast=True,
    ),
)
