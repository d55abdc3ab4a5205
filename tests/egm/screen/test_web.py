"""The browser screen: who gets in, what is sent, what comes back. Real sockets on loopback."""

import asyncio
import gc
import io
import json
import socket
import struct
import wave
from contextlib import contextmanager

import pygame
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from egm.screen.app import Tap
from egm.screen.audio.scores import sound_of
from egm.screen.audio.synthesis import RATE
from egm.screen.view import Action, View
from egm.screen.web import BAND, Web, changed_bands, encode_pieces, fitting, read_input
from egm.screen.web_auth import IDLE_SECONDS, SESSIONS_MAX


@pytest.fixture
def web(theme, tmp_path):
    found = Web(theme, scale=0.2, address_file=tmp_path / "screen.url")
    yield found
    found.close()


def ask(web, path="/", host=None, cookie=""):
    """One HTTP request as bytes; the status, the headers and the body."""
    port = web._door.port
    lines = [f"GET {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Connection: close"]
    if cookie:
        lines.append(f"Cookie: {cookie}")
    with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
        link.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        data = b""
        while piece := link.recv(65536):
            data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    return status, headers, body.decode()


def enter(web):
    """Use the address; the cookie it gives."""
    status, headers, _ = ask(web, web.address.split(str(web._door.port), 1)[1])
    assert status == 303
    return headers["Set-Cookie"].split(";")[0]


@contextmanager
def linked(web, cookie, origin=None):
    port = web._door.port
    headers = {"Cookie": cookie} if cookie else {}
    with connect(
        f"ws://127.0.0.1:{port}/link",
        origin=origin or f"http://127.0.0.1:{port}",
        additional_headers=headers,
        max_size=None,
    ) as link:
        yield link


def draw(web, view, tries=2000):
    """Frames until one was wanted and sent."""
    for _ in range(tries):
        target = web.frame()
        if target is not None:
            web.picture.draw(target, view)
            web.show()
            return
        pygame.time.wait(1)
    raise AssertionError("no frame was wanted")


def test_the_address_opens_once_and_then_belongs_to_that_browser(web, tmp_path):
    address = web.address
    cookie = enter(web)
    path = address.split(str(web._door.port), 1)[1]
    assert ask(web, path)[0] == 403, "spent"
    assert ask(web, "/", cookie=cookie)[0] == 200
    fresh = (tmp_path / "screen.url").read_text().strip()
    assert fresh == web.address != address
    assert (tmp_path / "screen.url").stat().st_mode & 0o077 == 0
    assert ask(web, fresh.split(str(web._door.port), 1)[1])[0] == 303


def test_a_cookie_ends_when_its_browser_is_not_heard_for_long(web):
    now = [1000.0]
    web._door._clock = lambda: now[0]
    cookie = enter(web)
    for _ in range(4):  # heard now and then, it lives on
        now[0] += IDLE_SECONDS - 1
        assert ask(web, "/", cookie=cookie)[0] == 200
    web._vouched = -1000.0
    with linked(web, cookie) as link:
        now[0] += IDLE_SECONDS - 1
        link.send('{"shown": true}')
        while web._vouched < 0:
            pygame.time.wait(1)
        now[0] += IDLE_SECONDS - 1
        assert ask(web, "/", cookie=cookie)[0] == 200  # its link was heard
    now[0] += IDLE_SECONDS
    assert ask(web, "/", cookie=cookie)[0] == 403
    with pytest.raises(InvalidStatus, match="403"), linked(web, cookie):
        pass


def test_only_so_many_browsers_are_known_at_once(web):
    first = enter(web)
    others = [enter(web) for _ in range(SESSIONS_MAX)]
    assert ask(web, "/", cookie=first)[0] == 403
    assert {ask(web, "/", cookie=cookie)[0] for cookie in others} == {200}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 403),
        ("/?token=", 403),
        ("/?token=0000", 403),
        ("/%2e%2e/etc/passwd", 404),
        ("/link", 403),
        ("/other", 404),
    ],
)
def test_a_stranger_gets_nothing(web, path, status):
    assert ask(web, path)[0] == status


def test_another_host_name_is_refused_even_with_the_token(web):
    path = web.address.split(str(web._door.port), 1)[1]
    assert ask(web, path, host="evil.example:80")[0] == 421
    assert ask(web, path)[0] == 303, "and the token was not spent"


def test_a_page_of_another_origin_cannot_link(web):
    cookie = enter(web)
    for origin, with_cookie in (("http://evil.example", cookie), (None, "")):
        with pytest.raises(InvalidStatus) as refused, linked(web, with_cookie, origin):
            pass
        assert refused.value.response.status_code == 403


def test_the_page_runs_its_own_script_and_nothing_else(web):
    _, headers, body = ask(web, "/", cookie=enter(web))
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    nonce = policy.split("'nonce-")[1].split("'")[0]
    assert body.count(f'nonce="{nonce}"') == 2
    assert "%" + "NONCE" not in body
    assert headers["Cache-Control"] == "no-store"


def test_frames_go_out_and_taps_and_keys_come_back(web):
    with linked(web, enter(web)) as link:
        draw(web, View(now=1.0))
        message = link.recv(timeout=20)
        width, height, count = struct.unpack(">HHH", message[:6])
        assert (width, height, count) == (*web.picture.pixels, 1)
        _, top, length = struct.unpack(">HHI", message[6:14])
        assert (top, message[14:16]) == (0, b"\xff\xd8"), "a whole frame first, as a JPEG"
        assert len(message) == 14 + length
        assert web.frame() is None, "nothing more before it is shown"
        for line in (
            '{"shown": true}',
            '{"tap": [0.5, 0.25]}',
            '{"key": "Space"}',
            "rubbish",
            '{"key": "F13"}',
            '{"tap": "x"}',
            "[]",
        ):
            link.send(line)
        got = []
        for _ in range(2000):
            got += web.inputs()
            if len(got) >= 2:
                break
            pygame.time.wait(1)
        assert got == [Tap(0.5, 0.25), Action("play")]
        draw(web, View(now=1.6))
        again = link.recv(timeout=20)
        assert len(again) < len(message) / 2, "only what changed"


def test_the_last_browser_is_served_and_the_one_before_is_told(web):
    cookie = enter(web)
    with linked(web, cookie) as first:
        draw(web, View(now=1.0))
        first.recv(timeout=20)
        with linked(web, cookie) as second:
            assert json.loads(first.recv(timeout=20)) == {"moved": True}
            with pytest.raises(ConnectionClosed):
                first.recv(timeout=20)
            draw(web, View(now=2.0))
            assert second.recv(timeout=20)[:2] == struct.pack(">H", web.picture.pixels[0])


def test_a_port_in_use_is_named(web, theme):
    with pytest.raises(OSError, match=f"port {web._door.port} on 127.0.0.1"):
        Web(theme, port=web._door.port, scale=0.1)


@given(
    st.text()
    | st.binary(max_size=200)
    | st.recursive(
        st.none() | st.integers() | st.text() | st.floats(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    ).map(json.dumps)
)
def test_no_message_of_a_browser_breaks_the_screen(line):
    said = read_input(line)
    assert isinstance(said.shown, bool)
    assert said.did is None or isinstance(said.did, Tap | Action)
    assert said.room is None or fitting(said.room, portrait=False)[1] > 0


def test_a_piece_that_was_sent_is_kept_nowhere(theme):
    """pygame keeps each file object it has saved a JPEG to: a screen in a browser grew by 4 MB a second."""
    surface = pygame.Surface((320, 2 * BAND))
    surface.fill((200, 30, 60), (0, BAND, 160, BAND))

    def files():
        gc.collect()
        return sum(isinstance(one, io.BytesIO) for one in gc.get_objects())

    before = files()
    for _ in range(50):
        message = encode_pieces(surface, [(0, BAND), (BAND, BAND)])
    assert files() == before
    sizes = struct.unpack_from(">HHH", message), struct.unpack_from(">HHI", message, 6)
    assert sizes[0] == (320, 2 * BAND, 2)
    second = 6 + 8 + sizes[1][2]
    x, y, length = struct.unpack_from(">HHI", message, second)
    assert (x, y) == (0, BAND)
    piece = pygame.image.load(io.BytesIO(message[second + 8 : second + 8 + length]), "band.jpg")
    for at, colour in ((40, (200, 30, 60)), (280, (0, 0, 0))):
        assert all(abs(a - b) < 12 for a, b in zip(piece.get_at((at, 12))[:3], colour, strict=True))


def test_a_browser_that_takes_nothing_is_let_go_and_told_all_when_it_is_back(web):
    cookie, port = enter(web), web._door.port
    asked = (
        f"GET /link HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nCookie: {cookie}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
        link.sendall(asked.encode())
        until(lambda: web._viewer is not None)
        for number in range(20_000):
            web.tell(f"{number} " + "x" * 4000)
        assert len(asyncio.all_tasks(web._loop)) < 300
        assert web._viewer is None
    until(lambda: not web._unheard)
    with linked(web, cookie) as link:
        assert json.loads(link.recv(timeout=10))["words"].startswith("19999 ")
        web.tell("heard again")
        assert json.loads(link.recv(timeout=10)) == {"words": "heard again"}


@pytest.mark.parametrize(
    ("room", "upright", "pixels"),
    [
        ((1920, 1080), False, (1920, 1080)),
        ((1280, 720), False, (1280, 720)),
        ((3840, 2160), False, (1920, 1080)),
        ((1080, 1920), True, (1080, 1920)),
        ((1170, 2532), True, (1080, 1920)),
        ((390, 844), True, (390, 834)),
        ((360, 640), True, (300, 583)),
        ((1, 10**9), True, (240, 520)),
    ],
)
def test_the_picture_fits_the_room_there_is(room, upright, pixels):
    layout, scale = fitting(room, portrait=False)
    assert layout.portrait is upright
    assert (round(layout.size[0] * scale), round(layout.size[1] * scale)) == pixels


def until(holds):
    for _ in range(5000):
        if holds():
            return
        pygame.time.wait(1)
    raise AssertionError("it never held")


def test_a_browser_that_says_its_size_is_drawn_for_it(web):
    """From a landscape stamp to an upright phone and back; a touch meant for the old picture is taken on it."""
    with linked(web, enter(web)) as link:
        until(lambda: web.frame() is not None)
        before = web.picture
        link.send(json.dumps({"room": [810, 1440], "tap": [0.5, 0.5]}))
        until(lambda: web.inputs() == [Tap(0.5, 0.5)])
        assert web.picture is before
        until(lambda: web.inputs() == [] and web.picture is not before)
        assert web.picture.pixels == (810, 1440)
        assert web.frame().get_size() == (810, 1440)
        web.frame().fill((9, 9, 9))
        web.show()
        assert struct.unpack(">HH", link.recv()[:4]) == (810, 1440)
        link.send(json.dumps({"room": [960, 540], "shown": True}))
        until(lambda: web.inputs() == [] and web.picture.pixels == (960, 540))


def test_changed_rows_are_found_and_joined():
    width, height = 10, BAND * 4
    before = bytearray(width * height * 4)
    after = bytearray(before)
    after[width * 4 * BAND] = 1
    after[width * 4 * (BAND * 2 + 3)] = 1
    assert changed_bands(bytes(before), bytes(after), width, height) == [(BAND, 2 * BAND)]
    assert changed_bands(bytes(before), bytes(before), width, height) == []
    surface = pygame.Surface((width, height))
    assert encode_pieces(surface, [])[:6] == struct.pack(">HHH", width, height, 0)


def test_sounds_go_to_who_was_let_in_and_are_whole_wave_files(web):
    web._studio._made["turn", "keno"] = sound_of("turn", "keno")
    assert ask(web, "/sound/keno/turn.wav")[0] == 404
    cookie = enter(web)
    port = web._door.port
    with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
        link.sendall(
            f"GET /sound/keno/turn.wav HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode()
        )
        data = b""
        while piece := link.recv(65536):
            data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    assert b"audio/wav" in head
    with wave.open(io.BytesIO(body)) as file:
        assert (file.getnchannels(), file.getframerate()) == (1, RATE)
        assert file.readframes(10**9) == sound_of("turn", "keno")
    for none in ("keno/none", "comet/turn", "turn", "keno/../turn", ""):
        assert ask(web, f"/sound/{none}.wav", cookie=cookie)[0] == 404, none


def test_a_sound_is_told_to_the_browser_that_looks_and_a_loop_to_the_next_one_too(web):
    web.play("turn", "keno", "turn", 0.5)
    web.play("win_1", "keno", "lead", 0.5)
    with linked(web, enter(web)) as link:
        told = {"sound": "keno/turn", "channel": "turn", "level": 0.5, "loop": True}
        assert json.loads(link.recv(timeout=10)) == told
        draw(web, View())
        assert isinstance(link.recv(timeout=10), bytes)
        web.play("win_1", "keno", "lead", 0.25)
        told = {"sound": "keno/win_1", "channel": "lead", "level": 0.25, "loop": False}
        assert json.loads(link.recv(timeout=10)) == told
        web.level("turn", 1.0)
        assert json.loads(link.recv(timeout=10)) == {"channel": "turn", "level": 1.0}
        web.stop("turn")
        assert json.loads(link.recv(timeout=10)) == {"stop": "turn"}
    with linked(web, enter(web)) as link:
        draw(web, View())
        assert isinstance(link.recv(timeout=10), bytes)


def test_a_browser_that_has_gone_quiet_does_not_keep_the_screen_from_closing(theme, tmp_path):
    web = Web(theme, scale=0.2, address_file=tmp_path / "screen.url")
    port = web._door.port
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    upgrade = f"GET /link HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    upgrade += f"Cookie: {enter(web)}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{key}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as quiet:
        quiet.sendall(upgrade.encode())
        assert quiet.recv(65536).startswith(b"HTTP/1.1 101")
        draw(web, View(now=0.0, active_at=0.0))
        web.close()  # a close that is never answered: TimeoutError where it is waited for
    assert not web._thread.is_alive()
