"""Frames of third-party software, compared with this product's codecs, drivers and simulated devices."""

import asyncio
import tomllib
from functools import reduce
from operator import or_, xor
from pathlib import Path

import pytest

from egm.devices.cctalk import codec as cctalk
from egm.devices.channel_values import compute_minor_units
from egm.devices.ebds import codec
from egm.devices.ebds.driver import EbdsDriver
from egm.devices.framing import FrameReader
from egm.devices.id003 import codec as id003
from egm.devices.interface import Barcode, PaperInEscrow, PaperReturned, PaperStacked
from egm.devices.transient import TransientEscrowLedger
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump

VECTORS = tomllib.loads(Path("tests/vectors/device_frames.toml").read_text("utf-8"))
STATUSES = VECTORS["ebds"]["status"]
BARCODES = VECTORS["ebds"]["barcode"]


def read(frame):
    (complete_frame,) = FrameReader(codec.cut_frame).feed(bytes.fromhex(frame))
    return codec.decode_acceptor_message(complete_frame)


@pytest.mark.parametrize("frame", STATUSES)
def test_an_ebds_status_is_decoded_and_encoded_like_other_software(frame):
    ack_number, names, note = STATUSES[frame]
    status = read(frame)
    assert (status.ack_number, status.note_code) == (ack_number, note)
    assert status.bits == reduce(or_, (codec.AcceptorStatusBits[name] for name in names))
    assert status.encode() == bytes.fromhex(frame)


@pytest.mark.parametrize("frame", BARCODES)
def test_a_bar_code_is_read_with_any_padding(frame):
    assert read(frame).barcode == BARCODES[frame]


def test_the_simulated_acceptor_pads_a_bar_code_like_real_ones():
    filled = [frame for frame in BARCODES if "28 28" in frame]
    assert [read(frame).encode() for frame in filled] == [bytes.fromhex(frame) for frame in filled]


def test_the_note_table_is_requested_and_read_like_other_software():
    table = VECTORS["ebds"]["note_table"]
    (query,) = FrameReader(codec.cut_frame).feed(bytes.fromhex(table["query"]))
    request = codec.decode_machine_message(query)
    assert (request.row_index, request.ack_number, request.poll.enabled_notes_mask) == (1, 0, 0)
    row = read(table["row"])
    assert (row.row_index, row.currency, row.base_value * 10**row.decimal_exponent) == (
        0,
        table["currency"],
        table["major_units"],
    )
    assert (
        compute_minor_units(row.base_value, row.decimal_exponent, row.currency) == table["major_units"]
    )  # yen have no decimals


@pytest.mark.parametrize("currency", VECTORS["id003"]["countries"])
def test_id003_country_codes_match_other_software(currency):
    country = VECTORS["id003"]["countries"][currency]
    assert id003.CURRENCY_BY_COUNTRY_CODE[country] == currency
    answer = id003.Id003Frame(0x8A, bytes((0x64, country, 1, 1, 0x65, country, 2, 1, 0x66, 0, 0, 0)))
    assert id003.decode_report(answer).rows[1] == id003.CurrencyTableRow(0x65, country, 2, 1)


@pytest.mark.parametrize("name", VECTORS["cctalk"]["bills"])
def test_the_names_of_bills_are_read_like_other_software(name):
    assert list(cctalk.decode_coin_or_bill_name(name.encode(), 4)) == VECTORS["cctalk"]["bills"][name]


def test_the_scaling_of_a_country_is_read_low_byte_first():
    assert cctalk.decode_country_scaling(b"\x64\x00\x02") == (100, 2)


class Replayed(DeviceRig):
    """An acceptor that replays published frames with the acknowledgement number of each query."""

    def __post_init__(self):
        super().__post_init__()
        self.twin.process_message = lambda _: None
        self.twin.port._listeners.clear()
        self.twin.port.add_listener(self.receive)
        self.says = "02 0B 21 01 10 00 00 01 02 03 38"
        self.stack_ordered = self.return_ordered = False

    def receive(self, data):
        if data[2] & 0x70 != 0x10:  # it answers only the poll
            data = b"\x02\x08\x10" + bytes(5)
        self.stack_ordered |= bool(data[4] & 0x20)
        self.return_ordered |= bool(data[4] & 0x40)
        frame = bytearray.fromhex(self.says)
        frame[2] = frame[2] & 0x70 | data[2] & 1
        frame[-1] = reduce(xor, frame[1:-2])
        self.cable.send(bytes(frame))


def replay_frame(frame):
    rig = Replayed("ebds")
    driver = EbdsDriver("bill", rig.create_serial_line(), rig.receive_event, TransientEscrowLedger())
    driver.enable(frozenset({500, 2000}), accepts_tickets=True)
    rig.react = lambda event: isinstance(event, PaperInEscrow) and driver.stack(event.escrow_number)
    rig.start(driver)
    return rig, driver


@pytest.mark.requirement("G-02", "H-05")
@pytest.mark.parametrize("frame", [frame for frame, text in BARCODES.items() if text.isdigit()])
def test_a_ticket_in_a_published_frame_is_stacked(frame):
    async def scene():
        rig, _ = replay_frame(frame)
        await asyncio.sleep(5)
        rig.says = frame
        await rig.advance_until(lambda: rig.stack_ordered)
        rig.says = "02 0B 21 11 10 00 00 01 02 03 28"
        await rig.advance_until(lambda: rig.list_events(PaperStacked))
        assert rig.list_events(PaperStacked)[0].content == Barcode("004724978028378429")
        await rig.stop()
        rig.close()

    jump(scene())


def test_a_bar_code_that_is_no_number_in_a_published_frame_is_returned_at_once():
    (frame,) = (frame for frame, text in BARCODES.items() if not text.isdigit())
    escrowed = frame.replace("71 01 01", "71 01 04", 1)

    async def scene():
        rig, _ = replay_frame(frame)
        await asyncio.sleep(5)
        rig.says = escrowed
        await rig.advance_until(lambda: rig.return_ordered, 1)
        rig.says = "02 0B 21 41 10 00 00 01 02 03 78"
        await rig.advance_until(lambda: rig.list_events(PaperReturned))
        assert not rig.list_events(PaperInEscrow)
        await rig.stop()
        rig.close()

    jump(scene())
