"""GAT packets against published bytes and check values, and every way in which a packet can be invalid."""

import hashlib
import hmac
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egm.devices import crc
from egm.devices.framing import FrameReader, ProtocolError
from egm.links.gat import codec
from egm.links.gat.codec import (
    CalculationStatus,
    GatPacket,
    GatStatusQuery,
    InitiateCalculation,
    LastAuthenticationStatusQuery,
    ReportFormat,
    ResultsQuery,
)
from egm.links.gat.functions import (
    GET_SPECIAL_FUNCTIONS,
    SPECIAL_FUNCTIONS,
    FunctionResultKind,
    SpecialFunctionError,
    list_offered_functions,
    parse_function_request,
)
from egm.links.gat.report import (
    ReportIdentity,
    build_functions_report,
    build_signatures_report,
    build_software_list_report,
)
from egm.verify.digest import SignatureAlgorithm
from tools.audit import gat_verifier

ALL = frozenset(("accounting", "chance"))
ABOUT = ReportIdentity(name="Open EGM", manufacturer="m & co", version="1", serial="S-1")


def test_the_crc_matches_its_published_check_value():
    assert crc.compute_crc_modbus(b"123456789") == 0x4B37
    assert gat_verifier.compute_crc(b"123456789") == 0x4B37


def test_the_published_status_query_is_decoded():
    assert GatPacket(codec.GatCommand.STATUS).encode() == bytes.fromhex("01 04 E3 01")
    [packet] = FrameReader(codec.cut_packet).feed(bytes.fromhex("01 04 E3 01"))
    assert codec.decode_request(packet) == GatStatusQuery()


@given(st.integers(0, 255), st.binary(max_size=251))
def test_round_trip(command, payload):
    packet = GatPacket(command, payload)
    assert FrameReader(codec.cut_packet).feed(packet.encode()) == [packet]


def test_a_payload_that_does_not_fit_is_refused():
    with pytest.raises(ProtocolError, match="at most 255 can be sent"):
        GatPacket(4, bytes(252)).encode()


@pytest.mark.parametrize(
    ("packet", "request_"),
    [
        (GatPacket(2), LastAuthenticationStatusQuery()),
        (GatPacket(3, b"\x02\x01\x02"), ResultsQuery(2, 258)),
        (
            GatPacket(4, b"\xba\0Get File\tProgramID.xml"),
            InitiateCalculation(0xBA, ("Get File", "ProgramID.xml")),
        ),
        (GatPacket(4, b"\x01\0x"), InitiateCalculation(1, ("x",))),
    ],
)
def test_requests(packet, request_):
    assert codec.decode_request(packet) == request_


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (GatPacket(5), "unknown command 05"),
        (GatPacket(0x81, b"1234"), "unknown command 81"),
        (GatPacket(1, b"x"), "expected 0 bytes of payload, received 1"),
        (GatPacket(2, b"x"), "expected 0 bytes of payload, received 1"),
        (GatPacket(3, b"\x01\x00"), "expected 3 bytes of payload, received 2"),
        (GatPacket(4, b"\xba\x00"), "expected a level, the byte 00 and a function"),
        (GatPacket(4, b"\xba\x01x"), "expected a level, the byte 00 and a function"),
    ],
)
def test_an_invalid_request_is_refused_with_the_reason(packet, reason):
    with pytest.raises(ProtocolError, match=reason):
        codec.decode_request(packet)


def test_noise_is_refused_and_the_next_packet_is_read():
    reader = FrameReader(codec.cut_packet)
    good = GatPacket(1).encode()
    broken = good[:-1] + bytes((good[-1] ^ 1,))
    items = reader.feed(broken + b"\x07\x03" + good)
    assert items[-1] == GatPacket(1)
    assert all(isinstance(item, ProtocolError) for item in items[:-1])
    assert reader.feed(good[:3]) == []
    assert len(reader.flush("GAT")) == 1  # a gap ends it
    assert reader.feed(good) == [GatPacket(1)]


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (codec.encode_status_reply(CalculationStatus.REQUESTED, has_results=False), "81 08 03 50 00 03"),
        (codec.encode_status_reply(CalculationStatus.CALCULATING, has_results=False), "81 08 03 50 09 03"),
        (codec.encode_status_reply(CalculationStatus.FINISHED, has_results=True), "81 08 03 50 06 03"),
        (codec.encode_status_reply(CalculationStatus.ERROR, has_results=False), "81 08 03 50 0C 03"),
        (codec.encode_last_status_reply(0xBA, 258), "82 09 BA 00 00 01 02"),
        (codec.encode_last_status_reply(0, 1 << 40), "82 09 00 FF FF FF FF"),
        (codec.encode_results_reply(b"A", 1, is_last=False), "83 08 00 00 01 41"),
        (codec.encode_results_reply(b"A", 258, is_last=True), "83 08 02 01 02 41"),
        (codec.encode_no_results_reply(3), "83 07 01 00 03"),
        (codec.encode_initiated_reply(has_started=True), "84 05 00"),
        (codec.encode_initiated_reply(has_started=False), "84 05 01"),
    ],
)
def test_replies_have_the_published_bytes(answer, line):
    """The bytes were written by hand from the protocol's description; the CRC is from an independent computation."""
    body = bytes.fromhex(line)
    assert answer.encode() == body + gat_verifier.compute_crc(body).to_bytes(2, "big")


def test_the_largest_frame_of_results_fills_a_packet():
    assert (
        len(
            codec.encode_results_reply(
                bytes(codec.RESULTS_DATA_BYTES_PER_FRAME_MAX), 1, is_last=False
            ).encode()
        )
        == 255
    )


# ---------------------------------------------------------------------------------------------- functions
@pytest.mark.requirement("A-18")
def test_every_listed_function_is_decoded_with_and_without_a_seed():
    assert (
        parse_function_request((GET_SPECIAL_FUNCTIONS,), ALL).result_kind is FunctionResultKind.FUNCTION_LIST
    )
    for function in list_offered_functions(ALL):
        order = parse_function_request((function.name, function.fixed_parameter), ALL)
        assert (order.result_kind, order.algorithm, order.components) == (
            function.result_kind,
            function.algorithm,
            function.components,
        )
        if function.algorithm is not None:
            assert (
                parse_function_request((function.name, function.fixed_parameter, "00Ff"), ALL).seed
                == b"\x00\xff"
            )
    assert {f.algorithm for f in SPECIAL_FUNCTIONS} == {
        None,
        SignatureAlgorithm.SHA1_HMAC,
        SignatureAlgorithm.SHA256_HMAC,
    }


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (("",), "there is no special function"),
        (("Component",), "there is no special function 'Component'"),
        (("Component", "screen"), "there is no special function 'Component screen'"),  # this machine has none
        (("Get File", "passwd"), "there is no special function"),
        (("component", "chance"), "there is no special function"),
        ((GET_SPECIAL_FUNCTIONS, "x"), "expected at most 0 parameters, received 1"),
        (("Get File", "ProgramID.xml", "00"), "expected at most 1 parameters, received 2"),
        (("Component", "chance", "00", "00"), "expected at most 2 parameters, received 3"),
        (("Component", "chance", "%%SHA1_HMAC%%"), "not hexadecimal"),
        (("Component", "chance", "00" * 65), "64 at most"),
    ],
)
def test_an_undecodable_function_is_refused_with_the_reason(parameters, reason):
    with pytest.raises(SpecialFunctionError, match=reason):
        parse_function_request(parameters, ALL)


# ---------------------------------------------------------------------------------------------- reports
def test_the_list_of_functions_reads_as_published():
    root = ET.fromstring(build_functions_report(list_offered_functions(ALL), ReportFormat.XML))
    assert root.tag == "SpecialFunctions"
    listed = [
        (f.findtext("Feature"), *(p.text for p in f.findall("Parameter"))) for f in root.findall("Function")
    ]
    assert ("Get File", "AuthenticationResponse.xml", "%%SHA1_HMAC%%") in listed
    assert ("Component", "chance", "%%SHA1_HMAC%%") in listed
    text = build_functions_report(list_offered_functions(ALL), ReportFormat.TEXT).decode()
    assert text.count("Feature: ") == len(listed)


def test_signatures_have_the_published_xml_and_are_escaped():
    value = hmac.digest(b"", b"", hashlib.sha1).hex()
    root = ET.fromstring(build_signatures_report(ABOUT, "sha1-hmac", {"chance": value}, ReportFormat.XML))
    assert root.tag == "Components"
    assert root.get("GatExec") == "default"
    assert root.findtext("Game/Manufacturer") == "m & co"
    assert root.findtext("Game/Component/Name") == "chance"
    assert root.findtext("Game/Component/Checksum") == value.upper()
    assert (
        f"chance: {value.upper()}\r\n"
        in build_signatures_report(ABOUT, "x", {"chance": value}, ReportFormat.TEXT).decode()
    )


def test_an_unsigned_installation_says_so():
    assert "Signed by: nobody" in build_software_list_report(ABOUT, "", {}, ReportFormat.TEXT).decode()
    assert (
        ET.fromstring(build_software_list_report(ABOUT, "k", {"chance": "aa"}, ReportFormat.XML)).findtext(
            "Game/SignedBy"
        )
        == "k"
    )
