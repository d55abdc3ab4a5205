"""List every codec with sample messages, for fuzzers and tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from egm.devices.cctalk import codec as cctalk
from egm.devices.ebds import codec as ebds
from egm.devices.framing import FrameCut, FrameReader, ProtocolError
from egm.devices.id003 import codec as id003
from egm.devices.ioboard import codec as ioboard
from egm.devices.ithaca import codec as ithaca
from egm.devices.printer_status import PrinterStatus
from egm.devices.tcl import codec as tcl
from egm.devices.wheel import codec as wheel
from egm.links.gat import codec as gat

_PRINTER_STATUS: Final = PrinterStatus(is_busy=True, barcode_done=True, paper_low=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """What a fuzzer needs of one codec: its functions, and valid sample messages.

    ``cut_frame`` cuts the first message from received bytes. ``decoders`` decode a message and raise ProtocolError if
    it is invalid.
    """

    cut_frame: Callable[[bytes], FrameCut[Any] | None]
    decoders: Sequence[Callable[[Any], object]] = ()
    samples: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class FeedResult:
    """Result of feeding bytes to a codec: the decoded messages, and the bytes that its errors quoted as refused."""

    messages: tuple[object, ...]
    refused: bytes


def _list_cctalk_decoders() -> tuple[Callable[[cctalk.CctalkFrame], object], ...]:
    layouts = (
        cctalk.decode_event_buffer,
        cctalk.decode_hopper_status,
        cctalk.decode_hopper_test,
        cctalk.decode_three_byte_number,
    )

    def on_data(layout: Callable[[bytes], object]) -> Callable[[cctalk.CctalkFrame], object]:
        return lambda frame: layout(frame.data)

    return tuple(on_data(layout) for layout in layouts)


CODECS: Final[Mapping[str, Codec]] = {
    "gat": Codec(
        cut_frame=gat.cut_packet,
        decoders=(gat.decode_request,),
        samples=(
            gat.GatPacket(gat.GatCommand.STATUS).encode(),
            gat.GatPacket(gat.GatCommand.LAST_AUTHENTICATION_RESULTS, b"\x02\x00\x01").encode(),
            gat.GatPacket(gat.GatCommand.INITIATE_CALCULATION, b"\xba\x00Component\tchance\t0123").encode(),
        ),
    ),
    "id003": Codec(
        cut_frame=id003.cut_frame,
        decoders=(id003.decode_report,),
        samples=(
            id003.Id003Frame(id003.Id003Command.STATUS).encode(),
            id003.Id003Frame(id003.Id003Status.ESCROW, b"\x65").encode(),
            id003.Id003Frame(id003.Id003Status.ESCROW, b"\x6f004724978028378429").encode(),
            id003.Id003Frame(id003.Id003Status.REJECTING, b"\x76").encode(),
            id003.Id003Frame(id003.Id003Command.BARCODE, id003.BARCODE_TYPE_INTERLEAVED_18).encode(),
        ),
    ),
    "ebds": Codec(
        cut_frame=ebds.cut_frame,
        decoders=(ebds.decode_acceptor_message, ebds.decode_machine_message),
        samples=(
            ebds.EbdsPoll(
                ack_number=1, enabled_notes_mask=0x7F, accepts_barcodes=True, is_stack_command=True
            ).encode(),
            ebds.AuxiliaryCommand(0, ebds.AuxiliaryCommandCode.ACCEPTOR_TYPE).encode(),
            ebds.AcceptorStatus(
                ack_number=0,
                bits=ebds.AcceptorStatusBits.ESCROWED | ebds.AcceptorStatusBits.BOX_PRESENT,
                note_code=5,
            ).encode(),
            ebds.AcceptorStatus(
                ack_number=1, bits=ebds.AcceptorStatusBits.ESCROWED, barcode="004724978028378429"
            ).encode(),
            ebds.IdentificationText(1, "AE2600").encode(),
        ),
    ),
    "cctalk": Codec(
        cut_frame=cctalk.cut_frame,
        decoders=_list_cctalk_decoders(),
        samples=(
            cctalk.CctalkFrame(2, 1, cctalk.Header.SIMPLE_POLL).encode(),
            cctalk.CctalkFrame(
                1, 2, 0, cctalk.EventBuffer(3, (cctalk.CctalkEvent(4, 1),) * 5).encode()
            ).encode(),
            cctalk.CctalkFrame(1, 3, 0, cctalk.HopperStatus(1, 2, 3, 4).encode()).encode(),
        ),
    ),
    "ioboard": Codec(
        cut_frame=ioboard.cut_message,
        samples=(
            ioboard.IdentityQuery().encode(),
            ioboard.IoBoardPoll(
                acknowledged_edge_number=7,
                wait_hundredths=8,
                button_lamps=frozenset({"play"}),
                tower_lights=frozenset({"door"}),
            ).encode(),
            ioboard.IdentityReply(1, "board").encode(),
            ioboard.InputStatus(
                boot_number=1,
                input_levels_mask=5,
                are_edges_lost=False,
                edges=(ioboard.InputEdge(9, 0, is_on=True),),
            ).encode(),
        ),
    ),
    "wheel": Codec(
        cut_frame=wheel.cut_report,
        samples=(
            wheel.WheelReaderStatus(wheel.ReaderPhase.NUMBER, 117, 13).encode(),
            b"13\r\n",
            b"*F;12\r\n",
        ),
    ),
    "tcl_answer": Codec(
        cut_frame=tcl.cut_printer_reply, samples=(tcl.PrinterReply("V1", _PRINTER_STATUS).encode(),)
    ),
    "tcl_command": Codec(
        cut_frame=tcl.cut_command,
        samples=(
            tcl.StatusQuery().encode(),
            tcl.ClearPrintJob().encode(),
            tcl.PrintTicket("0", ("a", "b")).encode(),
        ),
    ),
    "ithaca_answer": Codec(
        cut_frame=ithaca.cut_status_byte,
        samples=tuple(byte.encode() for byte in ithaca.encode_status(_PRINTER_STATUS)),
    ),
    "ithaca_command": Codec(
        cut_frame=ithaca.cut_command,
        samples=(ithaca.StatusQuery(1).encode(), ithaca.encode_ticket(["A line", "another"], "0047")),
    ),
}


def feed_codec(name: str, data: bytes, step: int) -> FeedResult:
    """Feed ``data`` to the codec ``name``, ``step`` bytes at a time, then simulate a pause; decode every message.

    Any error except :class:`~egm.devices.framing.ProtocolError` is a fault of the codec and is raised.
    """
    codec = CODECS[name]
    reader: FrameReader[Any] = FrameReader(codec.cut_frame)
    messages_and_errors: list[Any] = []
    for start in range(0, len(data), step):
        messages_and_errors += reader.feed(data[start : start + step])
    messages_and_errors += reader.flush(name)
    messages = tuple(
        message_or_error
        for message_or_error in messages_and_errors
        if not isinstance(message_or_error, ProtocolError)
    )
    for message in messages:
        for read in codec.decoders:
            _decode_ignoring_protocol_error(read, message)
    refused_bytes = b"".join(
        message_or_error.data
        for message_or_error in messages_and_errors
        if isinstance(message_or_error, ProtocolError)
    )
    return FeedResult(messages, refused_bytes)


def _decode_ignoring_protocol_error(read: Callable[[Any], object], message: object) -> None:
    try:
        read(message)
    except ProtocolError:
        return
