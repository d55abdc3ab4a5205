"""The picture in a browser on this computer: the same frames as JPEG pieces, taps and keys back.

Who gets in: the address printed carries a token that opens the door once and becomes a cookie of that browser;
requests under another host name, and pages of another origin, are refused. The browser that came last is
served; the one before is told that the picture has moved. Only what changed since the last frame shown is sent,
and nothing before the browser says that it has shown it, so a slow browser gets fewer frames, never old ones.
"""

import asyncio
import hmac
import io
import json
import os
import struct
import threading
from collections import deque
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pygame
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from egm.screen.app import Tap, complain
from egm.screen.controls import BY_NAME, by_name
from egm.screen.layout import LANDSCAPE, PORTRAIT
from egm.screen.picture import Picture
from egm.screen.theme import Theme
from egm.screen.view import Action

HOST: Final = "127.0.0.1"
BAND: Final = 24
_PAGE: Final = Path(__file__).resolve().parent / "page.html"
_INPUTS_MAX: Final = 64
_KEYFRAME: Final = b""


def new_token() -> str:
    """A token nobody can guess."""
    return os.urandom(24).hex()


def changed_bands(before: bytes, after: bytes, width: int, height: int) -> list[tuple[int, int]]:
    """Rows that differ, as (first row, number of rows), in bands of :data:`BAND`, neighbours joined."""
    row = width * 4
    found: list[tuple[int, int]] = []
    for top in range(0, height, BAND):
        rows = min(BAND, height - top)
        one, other = before[top * row:(top + rows) * row], after[top * row:(top + rows) * row]
        if one == other:
            continue
        if found and found[-1][0] + found[-1][1] == top:
            found[-1] = (found[-1][0], found[-1][1] + rows)
        else:
            found.append((top, rows))
    return found


def encode_pieces(surface: pygame.Surface, bands: list[tuple[int, int]]) -> bytes:
    """The message that carries these rows of a frame."""
    width, height = surface.get_size()
    parts = [struct.pack(">HHH", width, height, len(bands))]
    for top, rows in bands:
        file = io.BytesIO()
        pygame.image.save(surface.subsurface((0, top, width, rows)), file, "band.jpg")
        data = file.getvalue()
        parts += [struct.pack(">HHI", 0, top, len(data)), data]
    return b"".join(parts)


class Web:
    """Serves one browser. The server runs in a thread of its own; frames and inputs pass under a lock."""

    def __init__(self, theme: Theme, *, port: int = 0, portrait: bool = False, scale: float = 2 / 3, address_file: Path | None = None) -> None:
        pygame.display.init()
        pygame.display.set_mode((8, 8))
        self.picture = Picture(theme, scale=scale, layout=PORTRAIT if portrait else LANDSCAPE)
        self._surface = pygame.Surface(self.picture.pixels).convert()
        self._address_file = address_file
        self._token = new_token()
        self._sessions: set[str] = set()
        self._lock = threading.Lock()
        self._inputs: deque[Tap | Action] = deque(maxlen=_INPUTS_MAX)
        self._viewer: ServerConnection | None = None
        self._ready = False
        self._shown = _KEYFRAME
        self.bytes_sent = 0
        self._loop = asyncio.new_event_loop()
        self._server: Server | None = None
        started = threading.Event()
        failed: list[OSError] = []

        def serve_forever() -> None:
            asyncio.set_event_loop(self._loop)
            try:
                self._server = self._loop.run_until_complete(self._listen(port))
            except OSError as error:
                failed.append(error)
            started.set()
            if not failed:
                self._loop.run_forever()
            self._loop.close()

        self._thread = threading.Thread(target=serve_forever, name="browser screen", daemon=True)
        self._thread.start()
        started.wait()
        if failed:
            raise OSError(f"port {port} on {HOST}: {failed[0]}")
        assert self._server is not None
        self.port = int(next(iter(self._server.sockets)).getsockname()[1])

    @property
    def address(self) -> str:
        """The address that opens the door once."""
        return f"http://{HOST}:{self.port}/?token={self._token}"

    # ------------------------------------------------------------------ the frame loop's side
    def inputs(self) -> list[Tap | Action] | None:
        """Taps and keys of the browser."""
        with self._lock:
            did = list(self._inputs)
            self._inputs.clear()
        return did

    def frame(self) -> pygame.Surface | None:
        """The frame to draw on; None until the browser has shown the last one."""
        with self._lock:
            return self._surface if self._viewer is not None and self._ready else None

    def show(self) -> None:
        """Send what changed."""
        after = self._surface.get_buffer().raw
        width, height = self._surface.get_size()
        with self._lock:
            before, viewer = self._shown, self._viewer
        bands = changed_bands(before, after, width, height) if before else [(0, height)]
        if not bands or viewer is None:
            return
        message = encode_pieces(self._surface, bands)
        with self._lock:
            if self._viewer is not viewer:
                return
            self._shown, self._ready = after, False
            self.bytes_sent += len(message)
        asyncio.run_coroutine_threadsafe(self._push(viewer, message), self._loop)

    def close(self) -> None:
        """Stop serving."""
        async def stop() -> None:
            if self._server is not None:
                self._server.close()
                await self._server.wait_closed()
            self._loop.stop()

        asyncio.run_coroutine_threadsafe(stop(), self._loop)
        self._thread.join(timeout=5)

    # ------------------------------------------------------------------ the server's side
    async def _listen(self, port: int) -> Server:
        return await serve(self._serve, HOST, port, process_request=self._request, max_size=4096, compression=None,
                           ping_interval=20, ping_timeout=20)

    async def _push(self, viewer: ServerConnection, message: bytes) -> None:
        try:
            await viewer.send(message)
        except ConnectionClosed:
            pass

    def _hosts(self) -> tuple[str, str]:
        return f"{HOST}:{self.port}", f"localhost:{self.port}"

    def _cookie_name(self) -> str:
        return f"egm_{self.port}"

    def _known(self, request: Request) -> bool:
        try:
            cookie = SimpleCookie(request.headers.get("Cookie", "")).get(self._cookie_name())
        except CookieError:
            return False
        return cookie is not None and any(hmac.compare_digest(cookie.value, session) for session in self._sessions)

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer a page request, or let the link's request through to the handshake."""
        host = request.headers.get("Host", "")
        if host not in self._hosts():
            return self._answer(HTTPStatus.MISDIRECTED_REQUEST, "this machine's screen has another address")
        url = urlsplit(request.path)
        if url.path == "/link":
            if request.headers.get("Origin") != f"http://{host}" or not self._known(request):
                return self._answer(HTTPStatus.FORBIDDEN, "not from here")
            return None
        if url.path != "/":
            return self._answer(HTTPStatus.NOT_FOUND, "only / is here")
        token = parse_qs(url.query).get("token", [""])[0]
        if token and hmac.compare_digest(token.encode(), self._token.encode()):
            return self._enter()
        if not self._known(request):
            return self._answer(HTTPStatus.FORBIDDEN, "this address has been used, or was never given; the file run/screen.url of the state folder holds a new one")
        return self._page()

    def _enter(self) -> Response:
        """The token is spent: this browser gets a cookie, and the next one will need a new token."""
        session = new_token()
        self._sessions.add(session)
        self._token = new_token()
        if self._address_file is not None:
            try:
                descriptor = os.open(self._address_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                with os.fdopen(descriptor, "w") as file:
                    file.write(self.address + "\n")
            except OSError as error:
                complain(f"{self._address_file}: {error.strerror}")
        cookie = f"{self._cookie_name()}={session}; HttpOnly; SameSite=Strict; Path=/"
        return self._answer(HTTPStatus.SEE_OTHER, "", {"Location": "/", "Set-Cookie": cookie})

    def _page(self) -> Response:
        nonce = new_token()
        page = _PAGE.read_text("utf-8").replace("%NONCE%", nonce).replace("%KEYS%", json.dumps(list(BY_NAME)))
        policy = f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src blob:; frame-ancestors 'none'"
        return self._answer(HTTPStatus.OK, page, {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy})

    @staticmethod
    def _answer(status: HTTPStatus, body: str, extra: dict[str, str] | None = None) -> Response:
        data = body.encode()
        headers = Headers({"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(data)), "Connection": "close",
                           "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"})
        for name, value in (extra or {}).items():
            if name in headers:
                del headers[name]
            headers[name] = value
        return Response(status.value, status.phrase, headers, data)

    async def _serve(self, viewer: ServerConnection) -> None:
        with self._lock:
            older, self._viewer = self._viewer, viewer
            self._ready, self._shown = True, _KEYFRAME
        if older is not None:
            try:
                await older.send('{"moved": true}')
                await older.close()
            except ConnectionClosed:
                pass
        try:
            async for line in viewer:
                self._heard(viewer, line)
        except ConnectionClosed:
            pass
        finally:
            with self._lock:
                if self._viewer is viewer:
                    self._viewer = None

    def _heard(self, viewer: ServerConnection, line: str | bytes) -> None:
        """One message of the browser; what is no message is dropped."""
        try:
            said: Any = json.loads(line)
            tap = said.get("tap")
            did = Tap(float(tap[0]), float(tap[1])) if tap is not None else by_name(str(said.get("key", "")))
            shown = bool(said.get("shown"))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return
        with self._lock:
            if self._viewer is not viewer:
                return
            if shown:
                self._ready = True
            if did is not None:
                self._inputs.append(did)
