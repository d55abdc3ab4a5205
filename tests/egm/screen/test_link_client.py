"""The screen's end of the link on a real socket: hello first, whole lines, reconnection, no blocking."""

import socket
from itertools import pairwise

import pytest

from egm.kernel.messages import LINE_BYTES_MAX, BenchReply, Hello, Intent, decode_message, encode_message
from egm.links.screen.client import FIRST_RECONNECT_DELAY_SECONDS, RECONNECT_DELAY_SECONDS_MAX, ScreenClient
from egm.unix_sockets import open_socket_address


class Peer:
    """A machine's end of the link that sends what a test chooses."""

    def __init__(self, folder):
        self.path, self.token = folder / "m.sock", folder / "m.token"
        self.token.write_text("secret\n")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with open_socket_address(self.path) as address:
            self.listener.bind(address)
        self.listener.listen()
        self.listener.settimeout(60)

    def accept(self):
        link, _ = self.listener.accept()
        link.settimeout(60)
        return link


@pytest.fixture
def peer(tmp_path):
    opened = Peer(tmp_path)
    yield opened
    opened.listener.close()


@pytest.fixture
def client(peer):
    opened = ScreenClient(peer.path, peer.token)
    yield opened
    opened.close()


def read_line(link):
    data = b""
    while not data.endswith(b"\n"):
        data += link.recv(65536)
    return decode_message(data.strip())


def test_the_first_line_is_a_hello_with_the_token(client, peer):
    assert client.poll(0).has_link_opened
    with peer.accept() as link:
        assert read_line(link) == Hello(token="secret")
        assert client.send(Intent(name="play"))
        client.poll(0)
        assert read_line(link) == Intent(name="play")


def test_messages_arrive_complete_however_they_are_split(client, peer):
    client.poll(0)
    with peer.accept() as link:
        line = encode_message(BenchReply(ok=True, text="Érable")) + encode_message(BenchReply(ok=False))
        got = []
        for i in range(len(line)):
            link.send(line[i : i + 1])
            got += client.poll(0).messages
        assert got == [BenchReply(ok=True, text="Érable"), BenchReply(ok=False)]


def test_messages_before_the_peer_left_are_not_lost(client, peer):
    client.poll(0)
    with peer.accept() as link:
        read_line(link)
        link.send(encode_message(BenchReply(ok=True)))
    assert client.poll(0).messages == (BenchReply(ok=True),)
    gone = client.poll(0)
    assert gone.has_link_been_lost
    assert not client.send(Intent(name="play")), "a request is never stored for later"


@pytest.mark.parametrize(
    "rubbish", [b"{}\n", b"\xff\xfe\n", b'{"type":"intent","name":"steal"}\n', b"[" * 100 + b"\n"]
)
def test_an_invalid_message_ends_the_link_and_is_named(client, peer, rubbish):
    client.poll(0)
    with peer.accept() as link:
        link.send(rubbish)
        news = client.poll(0)
        assert news.has_link_been_lost
        assert news.error_text


def test_an_endless_line_ends_the_link(client, peer):
    client.poll(0)
    with peer.accept() as link:
        link.setblocking(False)
        news = client.poll(0)
        sent = 0
        while not news.has_link_been_lost:
            try:
                sent += link.send(b"x" * 65536)
            except BlockingIOError:
                pass
            except BrokenPipeError:
                break
            news = client.poll(0)
        assert sent <= LINE_BYTES_MAX + 1_000_000
        assert not client.send(Intent(name="play"))


def test_reconnection_attempts_become_less_frequent(tmp_path):
    client = ScreenClient(tmp_path / "none.sock", tmp_path / "none.token")
    tries, now, waits = [], 0.0, []
    for _ in range(4000):
        before = client._next_attempt_at
        client.poll(now)
        if client._next_attempt_at != before:
            tries.append(now)
        now += 0.01
    waits = [round(later - earlier, 1) for earlier, later in pairwise(tries)]
    assert waits[:3] == [FIRST_RECONNECT_DELAY_SECONDS, 0.2, 0.4]
    assert set(waits[3:]) == {RECONNECT_DELAY_SECONDS_MAX}


def test_a_returning_peer_is_connected_again(client, peer):
    client.poll(0)
    peer.accept().close()
    assert client.poll(0).has_link_been_lost
    assert not client.poll(0.01).has_link_opened, "not at once"
    assert client.poll(1).has_link_opened
    with peer.accept() as link:
        assert read_line(link).token == "secret"
