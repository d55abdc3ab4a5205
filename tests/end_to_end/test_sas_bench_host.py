"""The bench host and the machine on a SAS line: two implementations of the same tables, in real processes."""

import select
import socket
import threading
import tomllib
from pathlib import Path

import pytest
from sas_cabin import ANSWER_SECONDS, GAP_SECONDS, Cabin, LineHost, is_silent, wait_for

from egm.links.sas.crc import append_crc
from egm.links.sas.tables.meters import METER_DEFINITION_BY_CODE
from tools.dev.host.line import HostLine, WakeupEncoding
from tools.dev.host.messages import ReplyKind, encode_long_poll, is_complete_reply
from tools.dev.host.polls import POLL_BY_CODE

ENABLE, DISABLE = 0x02, 0x01
LENGTHS = tomllib.loads(
    (Path(__file__).parents[1] / "vectors" / "sas_answer_lengths.toml").read_text(encoding="utf-8")
)["lengths"]

#: Polls that this cabinet does not answer: it has no hopper, no coin acceptor of another maker and no legacy
#: bonus, and its tickets are validated by the system, not by its own numbers.
SILENT = {"2C", "47", "9A", "4C"}
#: Polls that are answered only during a transaction, or that have an effect: the money tests cover them.
ELSEWHERE = {"1B", "21", "4D", "50", "57", "58", "7C", "7D", "94", "A8", "3D"}

#: Expected values after ten dollars in and three games of one credit of five cents.
FACTS = {
    0x11: {"value": 15},
    0x13: {"value": 1000},
    0x15: {"value": 3},
    0x20: {"value": 10},
    0x34: {"value": 1},
    0x46: {"value": 1000},
    0x48: {"country": 37, "bill": 3, "count": 1},
    0x49: {"value": 1},
    0x51: {"games": 1},
    0x55: {"game": 1},
    0x56: {"count": 1, "games": [{"game": 1}]},
    0xB1: {"denomination": 2},
}


@pytest.fixture(scope="module")
def cabin(tmp_path_factory):
    with Cabin(tmp_path_factory.mktemp("bench"), {"main": {}, "script": {"framing": "lenient"}}) as cabin:
        cabin.insert_bill(1000)
        cabin.player.play_games(3)
        yield cabin


@pytest.fixture(scope="module")
def host(cabin):
    with cabin.host() as host:
        yield host


def values(code):
    """Return the values that a poll must be sent with."""
    return {"game": 1} if POLL_BY_CODE[code].type == "M" else {}


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(code, marks=pytest.mark.sas(polls=code))
        for code in sorted(set(LENGTHS) - SILENT - ELSEWHERE)
    ],
)
def test_a_reply_has_the_length_and_content_stated_in_the_tables(host, code):
    answer = host.send_poll(int(code, 16), values(int(code, 16)))
    assert answer.kind is ReplyKind.DATA
    assert len(answer.data) == LENGTHS[code]
    fact = FACTS.get(int(code, 16), {})
    assert {name: answer.values[name] for name in fact} == fact


@pytest.mark.parametrize("code", sorted(SILENT))
def test_unsupported_polls_receive_no_reply(host, code):
    poll = int(code, 16)
    request = encode_long_poll(1, poll, {"validation_id": 0, "sequence": 0} if poll == 0x4C else values(poll))
    assert is_silent(host.line, request)


@pytest.mark.sas(polls="54 B2 B4 B5")
def test_replies_of_variable_length_are_read(host):
    version = host.send_poll(0x54).values
    assert version == {"version": "602", "serial": "SAS-1"}
    identity, game = host.send_poll(0x1F).values, host.send_poll(0x53, {"game": 1}).values
    assert game == identity | {"game": 1}
    extended = host.send_poll(0xB5, {"game": 1}).values
    assert (extended["name"], extended["max_bet"]) == ("Maple Classic", 3)
    category = host.send_poll(0xB4, {"game": 1, "category": 1}).values
    assert (category["payback"], category["coin_in"]) == (identity["base_percent"], 15)
    denominations = host.send_poll(0xB2).values
    assert denominations == {"count": 1, "denominations": [{"denomination": 2}]}


@pytest.mark.sas(polls="2F 6F AF B0", meters="00")
def test_meters_are_the_same_read_singly_together_and_by_denomination(host):
    single_value = host.send_poll(0x11).values["value"]
    codes = {"game": 0, "codes": [{"code": 0}]}
    assert host.send_poll(0x0F).values["coin_in"] == single_value
    assert host.send_poll(0x19).values["coin_in"] == single_value
    assert host.send_poll(0x1C).values["coin_in"] == single_value
    assert host.send_poll(0x2F, codes).values["meters"] == [{"code": 0, "value": single_value}]
    assert host.send_poll(0x6F, codes).values["meters"] == [{"code": 0, "value": single_value}]
    assert host.send_poll(0xAF, codes).values["meters"] == [{"code": 0, "value": single_value}]
    assert host.send_poll(0x52, {"game": 1}).values["coin_in"] == single_value
    of_five_cents = host.send_poll(0xB0, {"denomination": 2, "poll": 0x11, "data": ""}).values
    assert of_five_cents["value"] == single_value
    wrong = host.send_poll(0xB0, {"denomination": 0x0B, "poll": 0x11, "data": ""}).values
    assert (wrong["poll"], wrong["data"]) == (0, "05")  # not a denomination of this machine


def test_the_features_reported_are_those_supported(host):
    """A feature's polls are answered if and only if the feature is reported as enabled."""
    features = host.send_poll(0xA0, {"game": 0}).values

    codes = {"game": 0, "codes": [{"code": 0}]}
    for is_on, code, values in (
        (features["features2"] & 1 << 3, 0x6F, codes),
        (features["features2"] & 1 << 6, 0x74, {"code": 0xFF, "condition": 0, "timeout": 0}),
        (features["features2"] & 1 << 7, 0xB1, {}),
        (features["features1"] & 1 << 2, 0x9A, {"game": 0}),
        (features["features1"] & 1 << 7, 0x70, {}),
    ):
        request = encode_long_poll(1, code, values)
        if is_on:
            assert is_complete_reply(
                request, host.line.exchange(request, lambda got, r=request: is_complete_reply(r, got))
            )
        else:
            assert is_silent(host.line, request)


@pytest.mark.requirement("K-11", "K-14")
def test_a_host_reads_the_regulators_meters_during_play(cabin, host):
    before = cabin.player.games
    expected = {
        0x0B: ("credits from bills accepted", 1000),
        0x24: ("total drop", 1000),
        0x15: ("total ticket in", 0),
        0x16: ("total ticket out", 0),
        0x04: ("cancelled credits", 0),
        0x03: ("hand-paid cancelled credits", 0),
        0x02: ("jackpot", 0),
        0x23: ("total hand-paid", 0),
        0x43: ("$10 bills accepted", 1),
    }
    meters = host.read_meters(
        tuple(METER_DEFINITION_BY_CODE)
    )  # every meter of the table; those that the machine does not have are None
    assert {code: (METER_DEFINITION_BY_CODE[code].name, meters[code]) for code in expected} == expected
    assert host.send_poll(0x1C).values["door_opened"] == 0
    cabin.player.play_games()
    assert cabin.player.games == before + 1


@pytest.mark.requirement("K-03")
@pytest.mark.sas(polls="01 02")
def test_the_machine_is_enabled_only_when_both_hosts_have_enabled_it(cabin, host):
    assert host.send_poll(DISABLE).kind is ReplyKind.ACK
    cabin.player.wait_until_shown(state="out_of_service")
    with cabin.host("script") as second:
        assert second.send_poll(DISABLE).kind is ReplyKind.ACK
        assert host.send_poll(ENABLE).kind is ReplyKind.ACK
        assert cabin.player.wait_until_shown(state="out_of_service")
        assert second.send_poll(ENABLE).kind is ReplyKind.ACK
    cabin.player.wait_until_shown(state="idle")


@pytest.mark.sas(exceptions="11 12")
def test_every_host_receives_each_exception_once(cabin, host):
    with cabin.host("script") as second:
        for polling_host in (host, second):
            polling_host.received.clear()
        cabin.operate("io", "door", name="main", open=True)
        cabin.player.wait_until_shown(open_doors=("main",))
        cabin.operate("io", "door", name="main", open=False)
        cabin.player.wait_until_shown(open_doors=())
        for polling_host in (host, second):
            assert polling_host.run_until(
                lambda h=polling_host: [a.code for a in h.received][-1:] == [0x12], 30
            )
            codes = [answer.code for answer in polling_host.received]
            assert (codes[-2:], codes.count(0x11), codes.count(0x12)) == ([0x11, 0x12], 1, 1)


def test_a_frame_encoded_by_hand_is_accepted(cabin, host):
    """The frame is written by hand, so that the test fails even if both encoders have the same error."""
    assert host.line.exchange(append_crc(bytes.fromhex("016F0400000000")), lambda got: len(got) >= 14)[
        :9
    ] == bytes.fromhex("01 6F 09 00 00 00 00 04 00".replace(" ", ""))


@pytest.mark.sas(polls="1B 94", exceptions="51 52", meters="03 04")
def test_a_hand_pay_is_reported_read_and_reset_by_the_host(tmp_path):
    with Cabin(tmp_path, {"main": {"enable": ["handpay_reset"]}}) as cabin, cabin.host() as host:
        cabin.insert_bill(2000)
        cabin.operate("printer", "paper", tickets=0)
        wait_for(lambda: "fault.ticket_printer.paper_out" in str(cabin.player.snapshot))
        cabin.player.send_intent("cash_out")
        cabin.player.wait_until_shown(state="handpay")
        assert host.run_until(lambda: host.last_handpay)
        assert (host.last_handpay["amount"], host.last_handpay["level"]) == (2000, 0x80)
        host.poll()  # acknowledges that report
        assert host.read_values(0x1B)["amount"] == 0
        assert host.send_poll(0x94).values == {"code": 0}
        cabin.player.wait_until_shown(state="idle", credit_cents=0)
        assert host.run_until(lambda: 0x52 in [answer.code for answer in host.received], 60)
        assert host.send_poll(0x94).values == {"code": 2}  # there is none any more
        cancelled = {"game": 0, "codes": [{"code": 3}, {"code": 4}]}
        assert [row["value"] for row in host.send_poll(0x6F, cancelled).values["meters"]] == [2000, 2000]


@pytest.mark.sas(polls="0E", exceptions="4F 7E 7F")
def test_events_are_reported_in_real_time_when_the_host_enables_it(tmp_path):
    with Cabin(tmp_path, {"main": {"enable": ["real_time"]}}) as cabin, cabin.host() as host:
        assert host.send_poll(0x0E, {"enable": 1}).kind is ReplyKind.ACK
        host.received.clear()
        cabin.insert_bill(500)
        cabin.player.play_games()
        codes = {"game": 0, "codes": [{"code": 0}]}
        assert (
            host.send_poll(0x6F, codes).values["meters"][0]["value"] == 5
        )  # events in between do not hinder it
        assert host.run_until(lambda: 0x7F in [answer.code for answer in host.received], 60)
        events = {answer.code: answer for answer in host.received}
        assert all(answer.kind is ReplyKind.REAL_TIME_EVENT for answer in host.received)
        assert events[0x4F].values == {"country": 37, "bill": 2, "count": 1}
        assert (events[0x7E].values["wagered"], events[0x7E].values["coin_in"]) == (5, 5)
        assert host.send_poll(0x0E, {"enable": 0}).kind is ReplyKind.ACK


def test_a_machine_answers_behind_a_serial_device_server(tmp_path):
    """Both ends reach the line over TCP, as behind a device server."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        relay = threading.Thread(target=_relay, args=(server,), daemon=True)
        relay.start()
        with Cabin(tmp_path, {"main": {"port": url, "framing": "lenient"}}) as cabin:
            line = HostLine(
                url, WakeupEncoding.PLAIN, reply_timeout_seconds=ANSWER_SECONDS, gap_seconds=GAP_SECONDS
            )
            host = LineHost()
            host.connect(line)
            assert host.read_values(0x54)["serial"] == "SAS-1"
            assert host.send_poll(DISABLE).kind is ReplyKind.ACK
            cabin.player.wait_until_shown(state="out_of_service")
            line.close()
    relay.join(60)


def _relay(server):
    """Connect the first two callers to each other until one leaves."""
    (first, _), (second, _) = server.accept(), server.accept()
    other = {first: second, second: first}
    with first, second:
        for end in other:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            ready, _, _ = select.select(list(other), [], [])
            for end in ready:
                data = end.recv(4096)
                if not data:
                    return
                other[end].sendall(data)


@pytest.mark.sas(polls="21")
def test_a_rom_signature_is_reported_after_its_computation(cabin, host):
    def signed(seed):
        host.received.clear()
        assert host.send_poll(0x21, {"seed": seed}).kind is ReplyKind.ACK
        assert host.run_until(lambda: 0x21 in [answer.code for answer in host.received])
        return next(answer.values["signature"] for answer in host.received if answer.code == 0x21)

    assert signed(0x1234) != signed(0x4321)
    cabin.player.play_games()  # the machine was not stopped meanwhile
