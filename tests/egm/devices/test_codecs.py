"""Codecs encode and decode published frames and round trips, and turn any bytes into messages or named errors."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egm.devices import crc
from egm.devices.cctalk import codec as cctalk
from egm.devices.cctalk.events import compute_exchange_progress, find_new_events
from egm.devices.ebds import codec as ebds
from egm.devices.framing import FrameReader, ProtocolError
from egm.devices.id003 import codec as id003
from egm.devices.ioboard import codec as ioboard
from egm.devices.ithaca import codec as ithaca
from egm.devices.printer_status import PrinterStatus
from egm.devices.tcl import codec as tcl
from tests.rigs.examples import scale_examples
from tools.dev.fuzz.codec_table import CODECS, feed_codec


def read_frames(cutter: Callable, data: bytes) -> list[Any]:
    return FrameReader(cutter).feed(data)


# ------------------------------------------------------------------ published bytes
def test_the_crc_has_its_published_check_value():
    assert crc.compute_crc_kermit(b"123456789") == 0x2189


@pytest.mark.parametrize(
    ("frame", "line"),
    [
        (id003.Id003Frame(id003.Id003Command.STATUS), "FC 05 11 27 56"),
        (id003.Id003Frame(id003.Id003Command.RESET), "FC 05 40 2B 15"),
        (id003.Id003Frame(id003.Id003Command.STACK_1), "FC 05 41 A2 04"),
        (id003.Id003Frame(id003.Id003Command.ACK), "FC 05 50 AA 05"),
        (id003.Id003Frame(id003.Id003Command.INHIBIT, b"\x00"), "FC 06 C3 00 04 D6"),
        (cctalk.CctalkFrame(2, 1, cctalk.Header.SIMPLE_POLL), "02 00 01 FE FF"),
    ],
)
def test_frames_are_encoded_as_published(frame, line):
    assert frame.encode() == bytes.fromhex(line)


def test_the_published_ebds_idle_status_is_decoded():
    """The frame is PTI's example of an idle acceptor with its box."""
    (frame,) = read_frames(ebds.cut_frame, bytes.fromhex("02 0B 20 01 10 00 00 01 02 03 39"))
    status = ebds.decode_acceptor_message(frame)
    assert status == ebds.AcceptorStatus(
        ack_number=0,
        bits=ebds.AcceptorStatusBits.IDLING | ebds.AcceptorStatusBits.BOX_PRESENT,
        note_code=0,
        model=1,
        revision=2,
    )
    assert status.encode() == bytes.fromhex("02 0B 20 01 10 00 00 01 02 03 39")


def test_a_cctalk_checksum_of_zero_is_encoded_in_one_byte():
    """Simple public implementations write 256 into a byte in this case."""
    frame = cctalk.CctalkFrame(2, 1, 253, b"")
    assert frame.encode()[-1] == 0
    assert read_frames(cctalk.cut_frame, frame.encode()) == [frame]


# ------------------------------------------------------------------ round trips
digits = st.text("0123456789", min_size=2, max_size=28).filter(lambda text: len(text) % 2 == 0)
flags = st.booleans()


@given(st.integers(0, 255), st.binary(max_size=250))
def test_an_id003_frame_round_trips(command, data):
    frame = id003.Id003Frame(command, data)
    assert read_frames(id003.cut_frame, frame.encode()) == [frame]


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 255), st.binary(max_size=255))
def test_a_cctalk_frame_round_trips(destination, source, header, data):
    frame = cctalk.CctalkFrame(destination, source, header, data)
    assert read_frames(cctalk.cut_frame, frame.encode()) == [frame]


@given(st.integers(0, 1), st.integers(0, 0x7F), flags, flags, flags)
def test_an_ebds_poll_round_trips(ack_number, notes, barcodes, stack, return_):
    poll = ebds.EbdsPoll(
        ack_number=ack_number,
        enabled_notes_mask=notes,
        accepts_barcodes=barcodes,
        is_stack_command=stack,
        is_return_command=return_,
    )
    (frame,) = read_frames(ebds.cut_frame, poll.encode())
    assert ebds.decode_machine_message(frame) == poll


@given(
    st.integers(0, 1),
    st.sets(st.sampled_from(list(ebds.AcceptorStatusBits))),
    st.integers(0, 7),
    digits | st.just(""),
)
def test_an_ebds_status_round_trips(ack_number, bits, note, barcode):
    total = ebds.AcceptorStatusBits(sum(bits))
    status = ebds.AcceptorStatus(ack_number=ack_number, bits=total, note_code=note, barcode=barcode)
    (frame,) = read_frames(ebds.cut_frame, status.encode())
    assert ebds.decode_acceptor_message(frame) == status


@given(
    st.integers(0, 0xFFFF),
    st.integers(0, 255),
    st.frozensets(st.sampled_from(ioboard.BUTTONS)),
    st.frozensets(st.sampled_from(ioboard.TOWER_LIGHTS)),
    flags,
)
def test_an_io_board_poll_round_trips(ack_number, wait, lamps, tower, bell):
    poll = ioboard.IoBoardPoll(
        acknowledged_edge_number=ack_number,
        wait_hundredths=wait,
        button_lamps=lamps,
        tower_lights=tower,
        is_bell_on=bell,
    )
    assert read_frames(ioboard.cut_message, poll.encode()) == [poll]


@given(
    st.integers(0, 0xFFFF),
    st.integers(0, 0xFFFFFFFF),
    flags,
    st.integers(1, 0xFFFF),
    st.lists(
        st.tuples(st.integers(0, len(ioboard.INPUTS) - 1), flags, flags), max_size=ioboard.STATUS_EDGES_MAX
    ),
)
def test_an_io_board_status_round_trips(boot, levels, lost, first, changes):
    edges = []
    for input_index, level, unattended in changes:
        edges.append(ioboard.InputEdge(first, input_index, level, unattended))
        first = ioboard.compute_next_edge_number(first)
    status = ioboard.InputStatus(
        boot_number=boot, input_levels_mask=levels, are_edges_lost=lost, edges=tuple(edges)
    )
    assert read_frames(ioboard.cut_message, status.encode()) == [status]


STATUS = st.builds(PrinterStatus, **dict.fromkeys(PrinterStatus.__dataclass_fields__, flags))


@given(STATUS)
def test_printer_statuses_round_trip(status):
    assert read_frames(tcl.cut_printer_reply, tcl.PrinterReply("V1", status).encode()) == [
        tcl.PrinterReply("V1", status)
    ]
    sent = b"".join(byte.encode() for byte in ithaca.encode_status(status))
    first, second = read_frames(ithaca.cut_status_byte, sent)
    assert ithaca.decode_status(first, second) == status


printable = st.text(st.characters(codec="latin-1", exclude_categories=["C", "Z"], exclude_characters="^|*"))


@given(st.lists(printable, max_size=8))
def test_a_tcl_print_command_round_trips(fields):
    command = tcl.PrintTicket("0", tuple(fields))
    assert read_frames(tcl.cut_command, command.encode()) == [command]


@given(st.lists(st.text("ABC def 123.,$é", max_size=40), max_size=8), digits)
def test_an_ithaca_ticket_round_trips(lines, number):
    commands = read_frames(ithaca.cut_command, ithaca.encode_ticket(lines, number))
    assert [c.text for c in commands if isinstance(c, ithaca.PrintTextLine)] == lines
    assert [c.digits for c in commands if isinstance(c, ithaca.PrintBarcode)] == [number]
    assert commands[-1] == ithaca.PresentTicket()


# ------------------------------------------------------------------ any bytes
@pytest.mark.parametrize("name", sorted(CODECS))
@settings(max_examples=scale_examples(150))
@given(data=st.data())
def test_bytes_are_decoded_alike_at_once_and_one_at_a_time(name, data):
    codec = CODECS[name]
    raw = b"".join(
        data.draw(st.lists(st.binary(max_size=60) | st.sampled_from(codec.samples), max_size=6), label="line")
    )
    at_once = feed_codec(name, raw, step=max(len(raw), 1))
    one_by_one = feed_codec(name, raw, step=1)
    assert at_once.messages == one_by_one.messages
    assert at_once.refused == one_by_one.refused


@pytest.mark.parametrize("name", sorted(CODECS))
@settings(max_examples=scale_examples(100))
@given(junk=st.binary(max_size=40), which=st.integers(0, 10))
def test_a_valid_message_after_a_pause_is_always_read(name, junk, which):
    codec = CODECS[name]
    sample = codec.samples[which % len(codec.samples)]
    reader = FrameReader(codec.cut_frame)
    reader.feed(junk)
    reader.flush(name)
    assert [item for item in reader.feed(sample) if not isinstance(item, ProtocolError)]


@pytest.mark.parametrize(
    "name", sorted(set(CODECS) - {"ithaca_answer", "ithaca_command", "tcl_command", "wheel"})
)
def test_a_message_with_one_flipped_bit_is_not_accepted(name):
    """The test flips every bit of every sample. A reader of ccTalk searches for frames inside a damaged one.

    Such a frame may have a valid checksum, which is a sum of only eight bits; a driver accepts only frames that are
    addressed to it by the device that it queried.
    """
    codec = CODECS[name]
    flips = [(sample, bit) for sample in codec.samples for bit in range(len(sample) * 8)]
    for sample, bit in flips:
        damaged = bytearray(sample)
        damaged[bit // 8] ^= 1 << bit % 8
        good = feed_codec(name, sample, step=len(sample)).messages
        messages = feed_codec(name, bytes(damaged), step=len(sample)).messages
        assert messages != good
        if name == "cctalk":
            (query,) = good
            messages = [f for f in messages if (f.destination, f.source) == (query.destination, query.source)]
        if name != "tcl_answer":  # the only one of these without a check over its bytes
            assert not messages, bit


# ------------------------------------------------------------------ invalid frames
@pytest.mark.parametrize(
    ("read", "frame", "reason"),
    [
        (id003.decode_report, id003.Id003Frame(0x77), "unknown status 77"),
        (id003.decode_report, id003.Id003Frame(0x88, b"\xff"), "not ASCII"),
        (ebds.decode_acceptor_message, ebds.EbdsFrame(0x20, b"\x01"), "unknown acceptor message"),
        (ebds.decode_machine_message, ebds.EbdsFrame(0x60, b"\x00\x00\x33"), "unknown host message"),
        (cctalk.decode_event_buffer, b"\x01\x02", "bytes of events"),
        (cctalk.decode_hopper_status, b"\x01", "hopper status"),
        (cctalk.decode_hopper_test, b"", "hopper test"),
        (cctalk.decode_three_byte_number, b"", "a count"),
    ],
)
def test_refusals_name_protocol_and_reason(read, frame, reason):
    with pytest.raises(ProtocolError, match=reason) as caught:
        read(frame)
    assert str(caught.value).startswith(("id003", "ebds", "cctalk"))


@pytest.mark.parametrize(
    ("read", "frame", "read_as"),
    [
        (id003.decode_report, id003.Id003Frame(0x13, b"\x6f12a"), "12a"),
        (id003.decode_report, id003.Id003Frame(0x13, b"\x6f"), None),
        (id003.decode_report, id003.Id003Frame(0x13, b""), None),
        (
            ebds.decode_acceptor_message,
            ebds.EbdsFrame(0x70, b"\x01" + bytes(6) + b"12x".ljust(28, b"\0")),
            "12x",
        ),
        (ebds.decode_acceptor_message, ebds.EbdsFrame(0x70, b"\x01" + bytes(6) + b"(" * 28), "?"),
        (ebds.decode_acceptor_message, ebds.EbdsFrame(0x70, b"\x7f" + bytes(6)), ""),
    ],
)
def test_an_unknown_code_is_decoded_so_that_it_can_be_returned(read, frame, read_as):
    assert read(frame).barcode == read_as


def test_an_unknown_lamp_is_refused():
    with pytest.raises(ValueError, match="unknown disco; expected names of "):
        ioboard.IoBoardPoll(
            acknowledged_edge_number=0, wait_hundredths=0, button_lamps=frozenset({"disco"})
        ).encode()


# ------------------------------------------------------------------ ccTalk's event ring
class Device:
    """The events of a device that remembers only five of them, and none after a reset."""

    def __init__(self) -> None:
        self.counter = 0
        self.pairs = [cctalk.CctalkEvent(0, 0)] * 5

    def happen(self, a: int) -> None:
        self.counter = self.counter % 255 + 1
        self.pairs = [cctalk.CctalkEvent(a, 1), *self.pairs[:4]]

    def reset(self) -> None:
        self.counter = 0
        self.pairs = [cctalk.CctalkEvent(0, 0)] * 5

    def events(self) -> cctalk.EventBuffer:
        return cctalk.EventBuffer(self.counter, tuple(self.pairs))


@given(st.lists(st.integers(0, 7), max_size=80), st.integers(0, 255))
def test_every_event_is_reported_once_or_counted_as_lost(bursts, start):
    device = Device()
    for _ in range(start):
        device.happen(1)
    mark = compute_exchange_progress(device.events(), 0)
    serial = 0
    for burst in bursts:
        expected = []
        for _ in range(burst):
            serial = serial % 200 + 1
            device.happen(serial)
            expected.append(serial)
        new_events = find_new_events(mark, device.events())
        assert [pair.result_a for pair in new_events.events] == expected[-5:]
        assert new_events.lost_count == max(0, burst - 5)
        assert not new_events.was_reset
        mark = compute_exchange_progress(device.events(), 0)


@given(st.integers(0, 255), st.integers(0, 5))
def test_a_reset_is_detected_and_later_events_are_reported(before, after):
    device = Device()
    for _ in range(before):
        device.happen(1)
    mark = compute_exchange_progress(device.events(), 0)
    device.reset()
    for serial in range(after):
        device.happen(100 + serial)
    new_events = find_new_events(mark, device.events())
    assert [pair.result_a for pair in new_events.events] == [100 + serial for serial in range(after)]
