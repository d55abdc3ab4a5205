"""The link to the screen transmits every message, refuses all other data, and admits only holders of the token."""

import asyncio
import contextlib
import json
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egm.kernel.messages import (
    INTEGER_MAX,
    LINE_BYTES_MAX,
    TEXT_LENGTH_MAX,
    BenchCommand,
    BenchReply,
    DecisionRequest,
    GameOutcome,
    Hello,
    Intent,
    MessageError,
    ScreenHeartbeat,
    decode_message,
    encode_message,
)
from egm.links.screen.server import ScreenServer
from egm.unix_sockets import open_socket_address

MESSAGES = [
    Hello(token="t"),
    GameOutcome(
        play_id="p", game_id="g", bet_credits=1, returned_credits=2, paid_cents=10, display={"a": [1, "x"]}
    ),
    DecisionRequest(play_id="p", kind="pick", options=(1, "b"), display={}),
    Intent(name="bet", value=3),
    Intent(name="play"),
    ScreenHeartbeat(),
    BenchCommand(device="bill", action="insert", values={"amount_cents": 500}),
    BenchReply(ok=True, text="in"),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: m.type)
def test_every_message_survives_the_line(message):
    assert decode_message(encode_message(message)) == message


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_message_error(line):
    with contextlib.suppress(MessageError):
        decode_message(line)


@given(st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=8) | st.none(), max_size=4))
def test_any_object_is_a_message_or_a_message_error(data):
    with contextlib.suppress(MessageError):
        decode_message(json.dumps({"type": "intent", **data}).encode())


@pytest.mark.parametrize("options", ['{"level": 1.0}', '{"bets": {"otter": 1e0}}', '{"a": [{"b": [2.5]}]}'])
def test_a_request_with_a_fraction_is_refused(options):
    """It would equal a bet that is offered, but the journal stores no floats, so that it would stop the machine."""
    with pytest.raises(MessageError, match="is not a whole number"):
        decode_message(f'{{"type": "intent", "name": "bet", "value": 1, "options": {options}}}'.encode())


@pytest.mark.parametrize(
    "fields",
    [
        {"value": 2**63},
        {"value": -(10**4000)},
        {"value": True},
        {"value": 1.0},
        {"value": "x" * (TEXT_LENGTH_MAX + 1)},
        {"options": {"a": 2**63}},
        {"options": {"a": {"b": [-(10**300)]}}},
        {"options": {"x" * (TEXT_LENGTH_MAX + 1): 1}},
        {"options": {"input": "x" * (TEXT_LENGTH_MAX + 1)}},
        {"options": {"a": list(range(10_000))}},
        {"options": {"a": [[[[[[[[1]]]]]]]]}},
        {"options": [1]},
        {"name": "x" * 100_000},
        {"y" * 100_000: 1},
        {"\x1b[2J": 1},
    ],
)
def test_an_oversized_request_is_refused_with_a_short_message(fields):
    """Request handlers receive only values of limited size, and the record of the refusal is limited too."""
    line = json.dumps({"type": "intent", "name": "bet", **fields}).encode()
    with pytest.raises(MessageError) as raised:
        decode_message(line)
    assert len(str(raised.value)) < 600
    assert str(raised.value).isprintable()


def test_the_largest_numbers_of_a_request_are_read():
    intent = Intent(name="bet", value=INTEGER_MAX, options={"a": [-INTEGER_MAX, None, True]})
    assert decode_message(encode_message(intent)) == intent


def test_a_line_that_is_too_long_is_refused_before_it_is_parsed():
    with pytest.raises(MessageError, match="at most"):
        decode_message(b"x" * (LINE_BYTES_MAX + 1))


class Desk:
    """A server on a socket in a folder, with the intents and errors that it has received."""

    def __init__(self, folder):
        self.path = folder / "screen.sock"
        self.intents, self.errors = [], []
        self.was_intent_received = asyncio.Event()
        self.server = ScreenServer(
            self.path,
            "secret",
            build_greeting=lambda: (Hello(), MESSAGES[1]),
            on_intent=self._hear,
            on_peer_error=self.errors.append,
        )

    def _hear(self, intent):
        self.intents.append(intent)
        self.was_intent_received.set()

    async def connect(self, first: bytes):
        with open_socket_address(self.path) as address:
            reader, writer = await asyncio.open_unix_connection(address)
        writer.write(first)
        return reader, writer


def test_a_client_with_the_token_is_admitted(tmp_path):
    async def session():
        desk = Desk(tmp_path)
        await desk.server.start()
        assert stat.S_IMODE(desk.path.stat().st_mode) == 0o600
        reader, writer = await desk.connect(encode_message(Hello(token="secret")))
        assert decode_message(await reader.readline()) == Hello()
        assert decode_message(await reader.readline()) == MESSAGES[1]
        writer.write(encode_message(Intent(name="play")))
        await desk.was_intent_received.wait()
        assert desk.server.player_screen_count == 1
        desk.server.send(MESSAGES[2])
        assert decode_message(await reader.readline()) == MESSAGES[2]
        writer.close()
        await desk.server.close()
        assert desk.intents == [Intent(name="play")]

    asyncio.run(session())


def test_a_flood_of_requests_does_not_starve_other_tasks(tmp_path):
    """Regression: buffered lines were handled without a pause, so that no device was polled for twenty seconds."""
    requests = 200

    async def session():
        desk = Desk(tmp_path)
        await desk.server.start()
        _, writer = await desk.connect(
            encode_message(Hello(token="secret")) + encode_message(Intent(name="play")) * requests
        )
        await desk.was_intent_received.wait()
        turns = 0
        while len(desk.intents) < requests:
            turns += 1
            await asyncio.sleep(0)
        assert turns >= requests // 2, "another task runs between two requests"
        writer.close()
        await desk.server.close()

    asyncio.run(session())


@pytest.mark.parametrize(
    "first",
    [
        encode_message(Hello(token="guess")),
        b'{"type":"hello","token":"s\xc3\xa9cret"}\n',
        b'{"type":"hello","token":"\\ud800"}\n',
        encode_message(Hello()),
        encode_message(Intent(name="play")),
        b"GET / HTTP/1.1\r\n",
        b"\xff\xfe\n",
        encode_message(Hello(token="secret")) + encode_message(MESSAGES[1]),
    ],
    ids=[
        "wrong token",
        "not ASCII",
        "half a character",
        "no token",
        "no hello",
        "http",
        "noise",
        "not an intent",
    ],
)
def test_clients_without_the_token_are_disconnected_and_reported(tmp_path, first):
    async def session():
        desk = Desk(tmp_path)
        await desk.server.start()
        reader, writer = await desk.connect(first)
        await reader.read()  # to the end: the machine hangs up
        writer.close()
        await desk.server.close()
        assert desk.intents == []
        assert len(desk.errors) == 1

    asyncio.run(session())


def test_a_socket_left_by_a_killed_machine_is_replaced(tmp_path):
    async def session():
        first, second = Desk(tmp_path), Desk(tmp_path)
        await first.server.start()
        await second.server.start()
        reader, writer = await second.connect(encode_message(Hello(token="secret")))
        assert decode_message(await reader.readline()) == Hello()
        writer.close()
        await first.server.close()
        await second.server.close()

    asyncio.run(session())


def test_disconnected_screen_with_unread_requests_receives_nothing_more(tmp_path, caplog):
    """Regression: each snapshot to it caused a warning in the log, thousands in all."""

    async def session():
        desk = Desk(tmp_path)
        desk.server._on_intent = lambda intent: (desk._hear(intent), desk.server.send(MESSAGES[2]))
        await desk.server.start()
        _, writer = await desk.connect(
            encode_message(Hello(token="secret")) + encode_message(Intent(name="play")) * 300
        )
        await writer.drain()
        writer.transport.abort()
        await desk.was_intent_received.wait()
        await desk.server.close()

    asyncio.run(session())
    assert "socket.send() raised exception" not in caplog.text


def test_a_machine_that_stops_while_it_opens_its_socket_leaves_no_socket_open(tmp_path):
    async def session():
        desk = Desk(tmp_path)
        starting = asyncio.ensure_future(desk.server.start())
        await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert desk.path.exists()
        with pytest.raises(ConnectionRefusedError):
            await desk.connect(b"")

    asyncio.run(session())
