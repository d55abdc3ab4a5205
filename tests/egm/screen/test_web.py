"""The browser screen over real sockets on loopback: admission, sent frames and received input."""

import asyncio
import contextlib
import gc
import io
import json
import logging
import re
import socket
import struct
import wave
from contextlib import contextmanager
from types import SimpleNamespace

import pygame
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import CloseCode
from websockets.sync.client import connect

import egm.screen.web as web_module
from egm.links.screen.client import PollResult as NoNews
from egm.screen.app import ScreenApp, TouchFraction
from egm.screen.audio.scores import synthesise_cue
from egm.screen.audio.synthesis import SAMPLES_PER_SECOND
from egm.screen.picture import Picture
from egm.screen.view import Action, PlayerPage, View
from egm.screen.web import (
    BAND_HEIGHT_PIXELS,
    BrowserMessage,
    BrowserScreen,
    choose_fitting_layout,
    decode_browser_message,
    encode_bands,
    find_changed_bands,
)
from egm.screen.web_auth import SESSION_IDLE_SECONDS_MAX, SESSIONS_MAX

#: How long an answer may take on the slowest computer.
PATIENCE_SECONDS = 60


@pytest.fixture
def web(theme, tmp_path):
    opened = BrowserScreen(theme, scale=0.2, address_file=tmp_path / "screen.url")
    yield opened
    opened.close()


def ask(web, path="/", host=None, session="", added_headers=()):
    """Send one HTTP request as bytes; return status, headers and body."""
    port = web._access.port
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: {host or f'127.0.0.1:{port}'}",
        "Connection: close",
        *added_headers,
    ]
    if session:
        lines.append(f"Authorization: Bearer {session}")
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as link:
        link.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        data = b""
        while piece := link.recv(65536):
            data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    return status, headers, body.decode("latin1")


def enter(web):
    """Open the address; return the session that its page contains."""
    status, headers, body = ask(web, web.address.split(str(web._access.port), 1)[1])
    assert status == 200
    assert not [name for name in headers if name.lower() == "set-cookie"]
    return re.search(r'let session = "(\w+)";', body)[1]


@contextmanager
def open_link(web, session, origin=None, **headers):
    port = web._access.port
    with connect(
        f"ws://127.0.0.1:{port}/link",
        origin=origin or f"http://127.0.0.1:{port}",
        additional_headers=headers,
        max_size=None,
    ) as link:
        if session is not None:
            link.send(json.dumps({"session": session}))
        yield link


def is_session_admitted(web, session):
    """Return whether a session is admitted, by requesting a sound with it."""
    web._sound_store._samples_by_cue_and_family["turn", "keno"] = synthesise_cue("turn", "keno")
    return ask(web, "/sound/keno/turn.wav", session=session)[0] == 200


def draw(web, view, tries=2000):
    """Draw frames until one was wanted and sent."""
    for _ in range(tries):
        target = web.get_drawing_surface()
        if target is not None:
            web.picture.draw_view(target, view)
            web.show_frame()
            return
        pygame.time.wait(1)
    raise AssertionError("no frame was wanted")


def test_the_address_opens_once_and_then_belongs_to_that_browser(web, tmp_path):
    address = web.address
    session = enter(web)
    path = address.split(str(web._access.port), 1)[1]
    assert ask(web, path)[0] == 403, "spent"
    assert is_session_admitted(web, session)
    fresh = (tmp_path / "screen.url").read_text().strip()
    assert fresh == web.address != address
    assert (tmp_path / "screen.url").stat().st_mode & 0o077 == 0
    assert ask(web, fresh.split(str(web._access.port), 1)[1])[0] == 200


def test_a_session_ends_after_a_long_silence_of_its_browser(web):
    now = [1000.0]
    web._access._clock = lambda: now[0]
    session = enter(web)
    for _ in range(4):  # heard now and then, it lives on
        now[0] += SESSION_IDLE_SECONDS_MAX - 1
        assert is_session_admitted(web, session)
    web._session_renewed_at = -1000.0
    with open_link(web, session) as link:
        now[0] += SESSION_IDLE_SECONDS_MAX - 1
        link.send('{"shown": true}')
        while web._session_renewed_at < 0:
            pygame.time.wait(1)
        now[0] += SESSION_IDLE_SECONDS_MAX - 1
        assert is_session_admitted(web, session)  # its connection was received
    now[0] += SESSION_IDLE_SECONDS_MAX
    assert not is_session_admitted(web, session)
    assert read_close_code(web, session) == CloseCode.POLICY_VIOLATION


def read_close_code(web, session, **headers):
    """Return the code with which a link of this session is closed; it gets no frame, and its keys are ignored."""
    with open_link(web, session, **headers) as link:
        with contextlib.suppress(ConnectionClosed):
            link.send('{"key": "Space"}')
        with pytest.raises(ConnectionClosed) as closed:
            link.recv(timeout=20)
    assert (web.get_drawing_surface(), web.take_inputs()) == (None, [])
    return closed.value.rcvd.code


def test_the_number_of_browser_sessions_is_limited(web):
    first = enter(web)
    others = [enter(web) for _ in range(SESSIONS_MAX)]
    assert not is_session_admitted(web, first)
    assert all(is_session_admitted(web, session) for session in others)


def test_requests_that_browsers_send_by_themselves_open_no_session(web):
    """Browsers send cookies to every port of a computer, also to other users' servers; none is set or accepted."""
    session = enter(web)
    cookies = f"egm_{web._access.port}={session}; session={session}"
    assert read_close_code(web, "", Cookie=cookies) == CloseCode.POLICY_VIOLATION
    assert (
        read_close_code(web, None, Cookie=cookies, Authorization=f"Bearer {session}")
        == CloseCode.POLICY_VIOLATION
    )
    status, headers, body = ask(web, "/", added_headers=[f"Cookie: {cookies}"])
    assert (status, "Set-Cookie" in headers, session in body) == (200, False, False)
    assert 'let session = "";' in body, "a page that is loaded again has what its tab has"
    assert ask(web, "/sound/keno/turn.wav", added_headers=[f"Cookie: {cookies}"])[0] == 404


@pytest.mark.parametrize(
    "first", ['{"key": "Space"}', "[]", "no", '{"session": 7}', '{"session": ""}', "\x00"]
)
def test_a_connection_that_does_not_state_its_session_first_is_closed(web, first):
    enter(web)
    with open_link(web, None) as link:
        link.send(first)
        with pytest.raises(ConnectionClosed) as closed:
            link.recv(timeout=20)
    assert closed.value.rcvd.code == CloseCode.POLICY_VIOLATION
    assert (web.get_drawing_surface(), web.take_inputs()) == (None, [])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/?", 200),
        ("/?token=", 403),
        ("//[", 404),
        ("/?token=" + "0" * 8000, 403),
        ("/?token=0000", 403),
        ("/%2e%2e/etc/passwd", 404),
        ("/link", 403),
        ("/other", 404),
    ],
)
def test_a_stranger_gets_nothing(web, path, status):
    answered, _headers, body = ask(web, path)
    assert answered == status
    assert not (found := re.search(r'let session = "(\w+)";', body)), found


def test_another_host_name_is_refused_even_with_the_token(web):
    path = web.address.split(str(web._access.port), 1)[1]
    assert ask(web, path, host="evil.example:80")[0] == 421
    assert ask(web, path)[0] == 200, "and the token was not spent"


def test_a_page_of_another_origin_cannot_link(web):
    session = enter(web)
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{web._access.port + 1}"):
        with pytest.raises(InvalidStatus) as refusal, open_link(web, session, origin):
            pass
        assert refusal.value.response.status_code == 403


def test_the_page_may_run_only_its_own_script(web):
    _, headers, body = ask(web, web.address.split(str(web._access.port), 1)[1])
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    nonce = policy.split("'nonce-")[1].split("'")[0]
    assert body.count(f'nonce="{nonce}"') == 2
    assert "%" + "NONCE" not in body
    assert headers["Cache-Control"] == "no-store"


def test_frames_are_sent_and_touches_and_keys_received(web):
    with open_link(web, enter(web)) as link:
        draw(web, View(now=1.0))
        message = link.recv(timeout=20)
        width, height, count = struct.unpack(">HHH", message[:6])
        assert (width, height, count) == (*web.picture.size_pixels, 1)
        _, top, length = struct.unpack(">HHI", message[6:14])
        assert (top, message[14:16]) == (0, b"\xff\xd8"), "a whole frame first, as a JPEG"
        assert len(message) == 14 + length
        assert web.get_drawing_surface() is None, "nothing more before it is shown"
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
            got += web.take_inputs()
            if len(got) >= 2:
                break
            pygame.time.wait(1)
        assert got == [TouchFraction(0.5, 0.25), Action("play")]
        draw(web, View(now=1.6))
        update = link.recv(timeout=20)
        assert len(update) < len(message) / 2, "only what changed"


def test_a_new_browser_replaces_the_last_one_which_is_informed(web):
    session = enter(web)
    with open_link(web, session) as first:
        draw(web, View(now=1.0))
        first.recv(timeout=20)
        with open_link(web, session) as second:
            assert json.loads(first.recv(timeout=20)) == {"moved": True}
            with pytest.raises(ConnectionClosed):
                first.recv(timeout=20)
            draw(web, View(now=2.0))
            assert second.recv(timeout=20)[:2] == struct.pack(">H", web.picture.size_pixels[0])


def test_a_port_in_use_is_named(web, theme):
    with pytest.raises(OSError, match=f"port {web._access.port} on 127.0.0.1"):
        BrowserScreen(theme, port=web._access.port, scale=0.1)


@given(
    st.text()
    | st.binary(max_size=200)
    | st.recursive(
        st.none() | st.integers() | st.text() | st.floats(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    ).map(json.dumps)
)
def test_no_message_of_a_browser_breaks_the_screen(line):
    browser_input = decode_browser_message(line)
    assert isinstance(browser_input.has_shown_frame, bool)
    assert browser_input.input_action is None or isinstance(
        browser_input.input_action, TouchFraction | Action
    )
    assert (
        browser_input.window_size_pixels is None
        or choose_fitting_layout(browser_input.window_size_pixels, portrait=False)[1] > 0
    )


@pytest.mark.parametrize(
    "line",
    [
        '{"tap": [NaN, 0]}',
        '{"tap": [0, Infinity]}',
        '{"tap": [-Infinity, 0]}',
        '{"tap": ["nan", "0.5"]}',
        '{"tap": [1e308, 0]}',
        '{"tap": [-0.5, 0]}',
        '{"tap": [0.5]}',
        '{"tap": [0.5, 0.5, 0.5]}',
        '{"tap": {"0": 0.5, "1": 0.5}}',
        '{"tap": [true, false]}',
        f'{{"tap": [{"9" * 5000}, 0]}}',
        f'{{"room": [{"9" * 4000}, 1]}}',
        '{"room": [NaN, 1, 1]}',
        '{"room": [100, 100, NaN]}',
        '{"room": [-1, 100]}',
        '{"key": "Space", "tap": [NaN, 0]}',
        f'{{"key": "{"x" * 3000}", "char": "x"}}',
        '{"calm": NaN}',
        "[" * 4000,
        "{" * 4000,
        '{"tap": ' * 500,
    ],
)
def test_a_partly_invalid_message_has_no_effect(line):
    """Regression: one touch at NaN ended the screen, and five ended the cabinet."""
    assert decode_browser_message(line) == BrowserMessage()


@pytest.mark.parametrize("room", [(0, 0), (1, 1), (1, 65536), (65536, 1), (300, 65536), (65536, 65536)])
@pytest.mark.parametrize("dense", [0.11, 1.0, 9.9])
def test_any_size_of_browser_gets_a_picture(room, dense):
    layout, scale = choose_fitting_layout(room, portrait=False, pixel_ratio=dense)
    width, height = layout.size
    assert 0 < round(width * scale) <= 4096
    assert 0 < round(height * scale) <= 4096


def test_a_touch_that_cannot_be_handled_leaves_the_picture_and_is_reported(theme, capsys):
    """Whatever a touch causes, the player keeps the picture, and the next touch is accepted."""

    class Faulty(Picture):
        def find_touched_action(self, view, x, y):
            if x < 100:
                raise ZeroDivisionError("of a layout")
            return Action("help")

    class Still:
        can_be_closed = False
        picture = Faulty(theme, scale=0.1)

        def take_inputs(self):
            return [TouchFraction(0.0, 0.0), TouchFraction(0.5, 0.5)]

        def get_drawing_surface(self):
            return None

    silent = SimpleNamespace(poll=lambda _now: NoNews(), send=lambda _message: True)
    sounds = SimpleNamespace(play_changes=lambda _before, _after: None)
    app = ScreenApp(
        theme=theme,
        surface=Still(),
        machine_client=silent,
        bench_client=None,
        sound_player=sounds,
        clock=lambda: 1.0,
    )
    assert app.run_frame()
    assert app.view.player_page is PlayerPage.HELP
    assert "ZeroDivisionError: of a layout" in capsys.readouterr().err


def test_sent_pieces_of_a_frame_are_not_retained(theme):
    """Regression: pygame keeps each file object of a saved JPEG, so that a browser screen grew by 4 MB a second."""
    surface = pygame.Surface((320, 2 * BAND_HEIGHT_PIXELS))
    surface.fill((200, 30, 60), (0, BAND_HEIGHT_PIXELS, 160, BAND_HEIGHT_PIXELS))

    def files():
        gc.collect()
        return sum(isinstance(instance, io.BytesIO) for instance in gc.get_objects())

    before = files()
    for _ in range(50):
        message = encode_bands(surface, [(0, BAND_HEIGHT_PIXELS), (BAND_HEIGHT_PIXELS, BAND_HEIGHT_PIXELS)])
    assert files() == before
    sizes = struct.unpack_from(">HHH", message), struct.unpack_from(">HHI", message, 6)
    assert sizes[0] == (320, 2 * BAND_HEIGHT_PIXELS, 2)
    second = 6 + 8 + sizes[1][2]
    x, y, length = struct.unpack_from(">HHI", message, second)
    assert (x, y) == (0, BAND_HEIGHT_PIXELS)
    piece = pygame.image.load(io.BytesIO(message[second + 8 : second + 8 + length]), "band.jpg")
    for pixel_x, colour in ((40, (200, 30, 60)), (280, (0, 0, 0))):
        assert all(abs(a - b) < 12 for a, b in zip(piece.get_at((pixel_x, 12))[:3], colour, strict=True))


def build_first_frame(session):
    """Return the first message of a link, framed as a browser does."""
    text = json.dumps({"session": session}).encode()
    return bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text


def test_stalled_browser_is_disconnected_and_receives_everything_on_return(web):
    session, port = enter(web), web._access.port
    http_request = (
        f"GET /link HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as link:
        link.sendall(http_request.encode() + build_first_frame(session))
        until(lambda: web._viewer is not None)
        for number in range(20_000):
            web.set_text(f"{number} " + "x" * 4000)
        assert len(asyncio.all_tasks(web._loop)) < 300
        assert web._viewer is None
    until(lambda: not web._unsent_message_count)
    with open_link(web, session) as link:
        assert json.loads(link.recv(timeout=PATIENCE_SECONDS))["words"].startswith("19999 ")
        web.set_text("heard again")
        assert json.loads(link.recv(timeout=PATIENCE_SECONDS)) == {"words": "heard again"}


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
def test_the_picture_fits_the_browsers_window(room, upright, pixels):
    layout, scale = choose_fitting_layout(room, portrait=False)
    assert layout.is_portrait is upright
    assert (round(layout.size[0] * scale), round(layout.size[1] * scale)) == pixels


def until(holds):
    for _ in range(5000):
        if holds():
            return
        pygame.time.wait(1)
    raise AssertionError("it never held")


def test_the_picture_has_the_size_that_the_browser_states(web):
    """From a small landscape window to a portrait telephone and back; a touch on the old picture is mapped to it."""
    with open_link(web, enter(web)) as link:
        until(lambda: web.get_drawing_surface() is not None)
        before = web.picture
        link.send(json.dumps({"room": [810, 1440], "tap": [0.5, 0.5]}))
        until(lambda: web.take_inputs() == [TouchFraction(0.5, 0.5)])
        assert web.picture is before
        until(lambda: web.take_inputs() == [] and web.picture is not before)
        assert web.picture.size_pixels == (810, 1440)
        assert web.get_drawing_surface().get_size() == (810, 1440)
        web.get_drawing_surface().fill((9, 9, 9))
        web.show_frame()
        assert struct.unpack(">HH", link.recv()[:4]) == (810, 1440)
        link.send(json.dumps({"room": [960, 540], "shown": True}))
        until(lambda: web.take_inputs() == [] and web.picture.size_pixels == (960, 540))


def test_changed_rows_are_found_and_merged():
    width, height = 10, BAND_HEIGHT_PIXELS * 4
    before = bytearray(width * height * 4)
    after = bytearray(before)
    after[width * 4 * BAND_HEIGHT_PIXELS] = 1
    after[width * 4 * (BAND_HEIGHT_PIXELS * 2 + 3)] = 1
    assert find_changed_bands(bytes(before), bytes(after), width, height) == [
        (BAND_HEIGHT_PIXELS, 2 * BAND_HEIGHT_PIXELS)
    ]
    assert find_changed_bands(bytes(before), bytes(before), width, height) == []
    surface = pygame.Surface((width, height))
    assert encode_bands(surface, [])[:6] == struct.pack(">HHH", width, height, 0)


def test_sounds_are_complete_wave_files_for_admitted_browsers_only(web):
    web._sound_store._samples_by_cue_and_family["turn", "keno"] = synthesise_cue("turn", "keno")
    assert ask(web, "/sound/keno/turn.wav")[0] == 404
    session = enter(web)
    _, headers, body = ask(web, "/sound/keno/turn.wav", session=session)
    assert headers["Content-Type"] == "audio/wav"
    with wave.open(io.BytesIO(body.encode("latin1"))) as file:
        assert (file.getnchannels(), file.getframerate()) == (1, SAMPLES_PER_SECOND)
        assert file.readframes(10**9) == synthesise_cue("turn", "keno")
    for none in ("keno/none", "comet/turn", "turn", "keno/../turn", ""):
        assert ask(web, f"/sound/{none}.wav", session=session)[0] == 404, none


def test_sounds_are_sent_to_the_current_browser_and_loops_also_to_the_next(web):
    web.play("turn", "keno", "turn", 0.5)
    web.play("win_1", "keno", "lead", 0.5)
    with open_link(web, enter(web)) as link:
        sound = {"sound": "keno/turn", "channel": "turn", "level": 0.5, "loop": True}
        assert json.loads(link.recv(timeout=PATIENCE_SECONDS)) == sound
        draw(web, View())
        assert isinstance(link.recv(timeout=PATIENCE_SECONDS), bytes)
        web.play("win_1", "keno", "lead", 0.25)
        sound = {"sound": "keno/win_1", "channel": "lead", "level": 0.25, "loop": False}
        assert json.loads(link.recv(timeout=PATIENCE_SECONDS)) == sound
        web.set_loudness("turn", 1.0)
        assert json.loads(link.recv(timeout=PATIENCE_SECONDS)) == {"channel": "turn", "level": 1.0}
        web.stop("turn")
        assert json.loads(link.recv(timeout=PATIENCE_SECONDS)) == {"stop": "turn"}
    with open_link(web, enter(web)) as link:
        draw(web, View())
        assert isinstance(link.recv(timeout=PATIENCE_SECONDS), bytes)


def test_a_silent_browser_does_not_prevent_closing(theme, tmp_path):
    web = BrowserScreen(theme, scale=0.2, address_file=tmp_path / "screen.url")
    port = web._access.port
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    upgrade = f"GET /link HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    upgrade += f"Connection: Upgrade\r\nUpgrade: websocket\r\n{key}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as quiet:
        quiet.sendall(upgrade.encode() + build_first_frame(enter(web)))
        assert quiet.recv(65536).startswith(b"HTTP/1.1 101")
        draw(web, View(now=0.0, last_activity_at=0.0))
        web.close()  # a close that is never answered: TimeoutError where it is waited for
    assert not web._thread.is_alive()


def test_many_silent_connections_do_not_block_others(web):
    """The first of too many connections without a session is closed, so that descriptors and sounds stay available."""
    with contextlib.ExitStack() as stack, open_link(web, enter(web)) as link:
        draw(web, View(now=1.0))
        assert isinstance(link.recv(timeout=20), bytes)
        port = web._access.port
        for number in range(300):
            half = stack.enter_context(
                socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
            )
            half.sendall(f"GET /?{number} HTTP/1.1\r\nHost: 127.0".encode())
        until(lambda: len(web._handshaking_connections) == web_module._HANDSHAKES_MAX)
        until(lambda: len(asyncio.all_tasks(web._loop)) < 3 * web_module._HANDSHAKES_MAX)
        draw_after(web, link)
        assert is_session_admitted(web, enter(web))
    with open_link(web, enter(web)) as link:
        draw(web, View(now=3.0))
        assert isinstance(link.recv(timeout=20), bytes)


def draw_after(web, link):
    """Check that a link that was admitted before still shows frames and receives keys."""
    link.send('{"shown": true}')
    draw(web, View(now=2.0))
    assert isinstance(link.recv(timeout=20), bytes)
    link.send('{"key": "Space"}')
    until(lambda: web.take_inputs() == [Action("play")])


def test_an_incomplete_request_is_ended_soon(web):
    assert web_module._HANDSHAKE_SECONDS_MAX <= 5
    with socket.create_connection(("127.0.0.1", web._access.port), timeout=20) as half:
        half.sendall(b"GET / HTTP/1.1\r\nHost:")
        with contextlib.suppress(ConnectionError):
            assert half.recv(1) == b""


@pytest.mark.parametrize(
    "lines",
    [
        ["GET / HTTP/1.1", "{host}", "{host}"],
        ["GET //[ HTTP/1.1", "{host}"],
        ["GET http://[/ HTTP/1.1", "{host}"],
        ["GET /?token=%ff%00 HTTP/1.1", "{host}"],
        ["GET /link HTTP/1.1", "{host}", "{origin}", "{origin}"],
        ["GET /link HTTP/1.1", "{host}", "{origin}"],
        [
            "GET /link HTTP/1.1",
            "{host}",
            "{origin}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "{key}",
            "{key}",
        ],
        ["GET /sound/a/b HTTP/1.1", "{host}", "Authorization: Bearer a", "Authorization: Bearer b"],
        ["GET / HTTP/1.1"],
        ["POST / HTTP/1.1", "{host}"],
        ["GET / HTTP/9", "{host}"],
        ["\xff\xfe"],
        ["GET / HTTP/1.1", "{host}", "no colon"],
        ["GET / HTTP/1.1", "{host}", *(f"X-{n}: 1" for n in range(400))],
        ["GET / HTTP/1.1", "{host}", "X: " + "x" * 20_000],
    ],
)
def test_a_malformed_request_writes_nothing_to_the_log(web, lines, caplog, capfd):
    port = web._access.port
    filled = {"host": f"Host: 127.0.0.1:{port}", "origin": f"Origin: http://127.0.0.1:{port}"}
    filled["key"] = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as link:
        link.sendall(("\r\n".join(line.format(**filled) for line in lines) + "\r\n\r\n").encode("latin1"))
        answered = b""
        with contextlib.suppress(ConnectionError):
            while piece := link.recv(65536):
                answered += piece
    assert not answered.startswith(b"HTTP/1.1 5"), answered
    assert not answered.startswith(b"HTTP/1.1 101"), answered
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert capfd.readouterr().err == ""
