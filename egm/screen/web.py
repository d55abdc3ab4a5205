"""The screen's picture in a browser on this computer: sends it as JPEG bands, receives taps and keys.

Only the newest browser is served; the one before it gets a message that the picture is now shown elsewhere. Only the
rows that have changed since the last frame are sent, and only after the browser has confirmed that frame. A slow
browser therefore gets fewer frames, but never outdated ones. The picture is drawn for the window size that the browser
reports: in portrait if the window is, and with as many pixels as it can show, within limits. :mod:`egm.screen.web_auth`
decides who may connect.
"""

import asyncio
import contextlib
import io
import json
import math
import socket
import struct
import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import pygame
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode

from egm.screen import LOOPBACK_ADDRESS
from egm.screen.app import TouchFraction
from egm.screen.audio.scores import SOUND_CUE_BY_NAME
from egm.screen.audio.sound_store import SoundStore
from egm.screen.controls import find_action_by_key_name
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, Layout, build_telephone_layout
from egm.screen.picture import Picture
from egm.screen.theme import Theme
from egm.screen.view import Action
from egm.screen.web_auth import WebAccess

#: Height of the bands in which frames are compared and sent, in pixels.
BAND_HEIGHT_PIXELS: Final = 24
#: The steps of the picture's scale.
SCALE_STEP: Final = 1 / 24
#: The smallest scale of the picture.
SCALE_MIN: Final = 1 / 3
#: The largest scale of the picture.
SCALE_MAX: Final = 1.0
#: A page no wider than this uses the telephone layout (CSS pixels).
_TELEPHONE_WIDTH_MAX_PIXELS: Final = 600
#: The maximum number of inputs that wait for the next frame; older ones are dropped.
_QUEUED_INPUTS_MAX: Final = 64
#: Stands for the last sent frame if none was sent to this browser in this size.
_NO_FRAME: Final = b""
#: Quality of the JPEG bands, from 1 to 95.
_JPEG_QUALITY: Final = 85
#: The maximum number of messages in transit. A browser that reads nothing is disconnected, and gets the current state
#: when it reconnects.
_UNSENT_MESSAGES_MAX: Final = 128
#: Seconds between two renewals of a connected browser's session.
_SESSION_RENEWAL_SECONDS: Final = 60.0
#: Seconds to wait for the close handshake. A sleeping tab, or one on a sleeping computer, never answers it.
_CLOSE_HANDSHAKE_SECONDS_MAX: Final = 0.5
#: Seconds that a connection has for each of: the handshake, and the session message after it.
_HANDSHAKE_SECONDS_MAX: Final = 5.0
#: The maximum number of connections that have not yet sent their session. One more closes the oldest of them, never an
#: authenticated one.
_HANDSHAKES_MAX: Final = 32


def find_changed_bands(old_frame: bytes, new_frame: bytes, width: int, height: int) -> list[tuple[int, int]]:
    """Return the rows in which two frames differ, as pairs (first row, number of rows).

    Rows are compared in bands of :data:`BAND_HEIGHT_PIXELS` rows; adjacent bands are joined.
    """
    row_bytes = width * 4
    bands: list[tuple[int, int]] = []
    for top in range(0, height, BAND_HEIGHT_PIXELS):
        row_count = min(BAND_HEIGHT_PIXELS, height - top)
        if (
            old_frame[top * row_bytes : (top + row_count) * row_bytes]
            == new_frame[top * row_bytes : (top + row_count) * row_bytes]
        ):
            continue
        if bands and sum(bands[-1]) == top:
            bands[-1] = (bands[-1][0], bands[-1][1] + row_count)
        else:
            bands.append((top, row_count))
    return bands


def encode_bands(surface: pygame.Surface, bands: list[tuple[int, int]]) -> bytes:
    """Return the binary message that sends bands of a frame, each as a JPEG; ``page.html`` decodes it.

    ``bands`` are pairs (first row, number of rows). The surface has the display's pixel format (32 bits, blue
    first). pygame's own JPEG writer is not used because it leaks a file object for each call.
    """
    width, height = surface.get_size()
    message_parts = [struct.pack(">HHH", width, height, len(bands))]
    for top, row_count in bands:
        jpeg_file, band = io.BytesIO(), surface.subsurface((0, top, width, row_count))
        raw_format = ("raw", "BGRX", surface.get_pitch(), 1)
        Image.frombuffer("RGB", (width, row_count), band.get_view("0"), *raw_format).save(
            jpeg_file, "JPEG", quality=_JPEG_QUALITY
        )
        message_parts += [struct.pack(">HHI", 0, top, jpeg_file.tell()), jpeg_file.getvalue()]
    return b"".join(message_parts)


@dataclass(frozen=True, slots=True)
class BrowserMessage:
    """A decoded message from the browser."""

    has_shown_frame: bool = False
    """Whether the browser confirms that it has shown a frame."""
    input_action: TouchFraction | Action | None = None
    """The person's touch or key press, or None."""
    window_size_pixels: tuple[int, int] | None = None
    """The size of the browser's window in device pixels, or None if the message does not state it."""
    pixel_ratio: float = 1.0
    """Device pixels per CSS pixel."""


#: A position as a share of the picture's width or height.
_UnitShare = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
#: A length in pixels.
_Pixels = Annotated[int, Field(ge=0, le=1 << 16)]
#: The number of device pixels per CSS pixel.
_PixelRatio = Annotated[float, Field(gt=0.1, lt=10, allow_inf_nan=False)]


class _RawBrowserMessage(BaseModel):
    """A message from the browser's page before decoding, with the field names of its JSON.

    It confirms a frame, or reports a touch, a key, the setting of reduced motion (``calm``) or the window size
    (``room``).
    """

    model_config = ConfigDict(defer_build=True, frozen=True, strict=True)

    shown: bool = False
    tap: tuple[_UnitShare, _UnitShare] | None = None
    key: Annotated[str, Field(max_length=64)] = ""
    char: Annotated[str, Field(max_length=64)] = ""
    calm: bool | None = None
    room: tuple[_Pixels, _Pixels] | tuple[_Pixels, _Pixels, _PixelRatio] | None = None


class _SessionMessage(BaseModel):
    """The first message on a browser's connection: the session with which the browser authenticates itself."""

    model_config = ConfigDict(defer_build=True, frozen=True, strict=True)

    session: Annotated[str, Field(max_length=256)]


def decode_browser_message(message_text: str | bytes) -> BrowserMessage:
    """Return a decoded message from the browser.

    If any field is invalid, the whole message is treated as empty. A setting of reduced motion replaces a touch or key
    of the same message.
    """
    try:
        message = _RawBrowserMessage.model_validate_json(message_text)
    except ValueError:
        return BrowserMessage()
    input_action = (
        find_action_by_key_name(message.key, message.char)
        if message.tap is None
        else TouchFraction(*message.tap)
    )
    if message.calm is not None:
        input_action = Action("calm", message.calm)
    if message.room is None:
        return BrowserMessage(message.shown, input_action)
    width, height, *pixel_ratio = message.room
    return BrowserMessage(message.shown, input_action, (int(width), int(height)), *pixel_ratio)


def decode_session_message(message_text: str | bytes) -> str:
    """Return the session in the first message of a connection, or "" if the message has no valid session."""
    try:
        return _SessionMessage.model_validate_json(message_text).session
    except ValueError:
        return ""


def choose_fitting_layout(
    window_size_pixels: tuple[int, int], *, portrait: bool, pixel_ratio: float = 1.0
) -> tuple[Layout, float]:
    """Return the layout for a browser window, and its scale in pixels per layout unit.

    ``window_size_pixels`` is the window's size in device pixels. The scale changes in steps, so that resizing a window
    seldom redraws everything. ``pixel_ratio`` is the number of device pixels per CSS pixel; it is 3 on many telephones.
    """
    width, height = (min(max(n, 1), 1 << 14) for n in window_size_pixels)
    layout = PORTRAIT_LAYOUT if portrait or height > width else LANDSCAPE_LAYOUT
    if height > width and width / pixel_ratio <= _TELEPHONE_WIDTH_MAX_PIXELS:
        layout = build_telephone_layout(width, height)
    scale = min(width / layout.size[0], height / layout.size[1])
    return layout, min(max(math.floor(scale / SCALE_STEP + 1e-9) * SCALE_STEP, SCALE_MIN), SCALE_MAX)


class _BrowserConnection(ServerConnection):
    """A browser's connection.

    Until its session is accepted, it is listed in ``handshaking_connections``, whose length is limited.
    """

    handshaking_connections: "deque[_BrowserConnection]"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Add the connection to ``handshaking_connections``; if the list is full, close the oldest one."""
        super().connection_made(transport)
        self.handshaking_connections.append(self)
        if len(self.handshaking_connections) > _HANDSHAKES_MAX:
            self.handshaking_connections.popleft().transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the closed connection from ``handshaking_connections``."""
        self.leave_handshaking()
        super().connection_lost(exc)

    def leave_handshaking(self) -> None:
        """Remove the connection from ``handshaking_connections``, if it is still there."""
        with contextlib.suppress(ValueError):
            self.handshaking_connections.remove(self)


class BrowserScreen:
    """A web server that shows the picture in one browser. It runs in a thread; a lock protects frames and inputs."""

    def __init__(
        self,
        theme: Theme,
        *,
        port: int = 0,
        portrait: bool = False,
        scale: float = 2 / 3,
        address_file: Path | None = None,
        picture_class: type[Picture] = Picture,
        sound_store: SoundStore | None = None,
        open_descriptors: tuple[int, int | None] | None = None,
    ) -> None:
        """Start the server.

        ``open_descriptors`` are inherited file descriptors: that of a listening socket, used instead of ``port``, and
        that of the file with the browser sessions, which may be missing. Raises OSError if the port cannot be used.
        """
        pygame.display.init()
        pygame.display.set_mode((8, 8))  # surfaces need a display's pixel format to convert to
        self._theme = theme
        self._picture_class = picture_class
        self._sound_store = sound_store or SoundStore()
        self._playing_loops: dict[str, str] = {}
        self._is_portrait_forced = portrait
        self._screen_reader_text = ""
        self._layout_and_scale = (PORTRAIT_LAYOUT if portrait else LANDSCAPE_LAYOUT, scale)
        self._fitting_layout_and_scale = self._layout_and_scale
        """The layout and scale that fit the browser's window; :meth:`take_inputs` applies them to the picture."""
        self.picture = picture_class(theme, scale=scale, layout=self._layout_and_scale[0])
        self._surface = pygame.Surface(self.picture.size_pixels).convert()
        self.can_be_closed = False
        self._lock = threading.Lock()
        self._waiting_inputs: deque[TouchFraction | Action] = deque(maxlen=_QUEUED_INPUTS_MAX)
        self._viewer: ServerConnection | None = None
        """The connection of the browser that shows the picture."""
        self._handshaking_connections: deque[_BrowserConnection] = deque()
        self._unsent_message_count = 0
        self._is_frame_confirmed = False
        self._sent_frame = _NO_FRAME
        self._session_renewed_at = 0.0
        self.bytes_sent = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="browser screen", daemon=True)
        self._thread.start()
        try:
            self._server, self._access = asyncio.run_coroutine_threadsafe(
                self._listen(port, address_file, open_descriptors), self._loop
            ).result()
        except OSError as error:
            self._end_loop()
            raise OSError(f"port {port} on {LOOPBACK_ADDRESS}: {error}") from error

    @property
    def address(self) -> str:
        """Return the web address of the screen's page. It contains the one-time token for access."""
        return self._access.address

    # ------------------------------------------------------------------ called by the frame loop
    def take_inputs(self) -> list[TouchFraction | Action] | None:
        """Return the browser's taps and keys since the last call.

        Without any, and the browser's window has a new size, fit the picture to it. A tap must be read with the
        layout in which it was made.
        """
        with self._lock:
            inputs = list(self._waiting_inputs)
            self._waiting_inputs.clear()
            layout_and_scale = self._fitting_layout_and_scale
        if layout_and_scale != self._layout_and_scale and not inputs:
            self._fit_picture(*layout_and_scale)
        return inputs

    def _fit_picture(self, layout: Layout, scale: float) -> None:
        """Draw the picture with another layout and scale from now on. The next frame is then sent completely."""
        self._layout_and_scale = (layout, scale)
        self.picture = self._picture_class(self._theme, scale=scale, layout=layout)
        surface = pygame.Surface(self.picture.size_pixels).convert()
        with self._lock:
            self._surface, self._sent_frame = surface, _NO_FRAME

    def get_drawing_surface(self) -> pygame.Surface | None:
        """Return the surface for the next frame.

        None if no browser is connected, or if the browser has not confirmed the last frame yet.
        """
        with self._lock:
            return self._surface if self._viewer is not None and self._is_frame_confirmed else None

    def show_frame(self) -> None:
        """Send the browser the rows of the frame that differ from the frame sent before it."""
        new_frame = self._surface.get_buffer().raw
        width, height = self._surface.get_size()
        with self._lock:
            old_frame, viewer = self._sent_frame, self._viewer
        bands = find_changed_bands(old_frame, new_frame, width, height) if old_frame else [(0, height)]
        if not bands or viewer is None:
            return
        message = encode_bands(self._surface, bands)
        with self._lock:
            if self._viewer is not viewer:
                return
            self._sent_frame, self._is_frame_confirmed = new_frame, False
            self.bytes_sent += len(message)
        asyncio.run_coroutine_threadsafe(self._send_to_browser(viewer, message), self._loop)

    def set_text(self, screen_reader_text: str) -> None:
        """Send the picture's text for screen readers to the page, if it has changed."""
        if screen_reader_text != self._screen_reader_text:
            self._screen_reader_text = screen_reader_text
            self._queue_message(json.dumps({"words": screen_reader_text}))

    def play(self, cue: str, sound_family: str, channel: str, loudness: float) -> None:
        """Play a sound cue in the browser. If no browser is connected, play nothing."""
        is_loop = SOUND_CUE_BY_NAME[cue].is_loop
        message = json.dumps(
            {"sound": f"{sound_family}/{cue}", "channel": channel, "level": loudness, "loop": is_loop}
        )
        self._queue_message(message)
        self._playing_loops.pop(channel, None)
        if is_loop:
            self._playing_loops[channel] = message

    def stop(self, channel: str) -> None:
        """Fade out a sound channel in the browser."""
        self._playing_loops.pop(channel, None)
        self._queue_message(json.dumps({"stop": channel}))

    def set_loudness(self, channel: str, loudness: float) -> None:
        """Change the loudness of the sound on a channel in the browser."""
        if channel in self._playing_loops:
            self._playing_loops[channel] = json.dumps(
                json.loads(self._playing_loops[channel]) | {"level": loudness}
            )
        self._queue_message(json.dumps({"channel": channel, "level": loudness}))

    def _queue_message(self, message: str) -> None:
        """Queue a message to the browser; if too many messages are queued, disconnect the browser instead."""
        with self._lock:
            viewer = self._viewer
            is_too_slow = self._unsent_message_count >= _UNSENT_MESSAGES_MAX
            if viewer is None:
                return
            if is_too_slow:
                self._viewer = None
            else:
                self._unsent_message_count += 1
        asyncio.run_coroutine_threadsafe(
            viewer.close() if is_too_slow else self._send_queued_message(viewer, message), self._loop
        )

    async def _send_queued_message(self, viewer: ServerConnection, message: str) -> None:
        """Send a queued message to the browser, and decrease the count of queued messages."""
        try:
            await self._send_to_browser(viewer, message)
        finally:
            with self._lock:
                self._unsent_message_count -= 1

    def close(self) -> None:
        """Stop the web server."""

        async def stop_server() -> None:
            self._server.close()
            await self._server.wait_closed()

        asyncio.run_coroutine_threadsafe(stop_server(), self._loop).result(timeout=10)
        self._end_loop()

    def _end_loop(self) -> None:
        """Stop the server's event loop, and wait for its thread to end."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    # ------------------------------------------------------------------ runs in the server's thread
    async def _listen(
        self, port: int, address_file: Path | None, open_descriptors: tuple[int, int | None] | None
    ) -> tuple[Server, WebAccess]:
        """Start the web server and write the address file.

        It listens on the first of ``open_descriptors`` if it is given, otherwise on ``port``.
        """
        access = WebAccess(
            address_file,
            find_sound=self._sound_store.find_sound,
            session_descriptor=open_descriptors[1] if open_descriptors else None,
        )
        listening_socket = (
            socket.create_server((LOOPBACK_ADDRESS, port))
            if open_descriptors is None
            else socket.socket(fileno=open_descriptors[0])
        )
        access.port = int(listening_socket.getsockname()[1])
        access.write_address()

        class ScreenConnection(_BrowserConnection):
            """A browser's connection to this screen's server."""

            handshaking_connections = self._handshaking_connections

        server = await serve(
            self._serve,
            sock=listening_socket,
            process_request=access.handle_request,
            create_connection=ScreenConnection,
            open_timeout=_HANDSHAKE_SECONDS_MAX,
            max_size=4096,
            compression=None,
            close_timeout=_CLOSE_HANDSHAKE_SECONDS_MAX,
        )
        return server, access

    @staticmethod
    async def _send_to_browser(connection: ServerConnection, message: bytes | str) -> None:
        """Send a message to a browser; do nothing if its connection is closed."""
        with contextlib.suppress(ConnectionClosed):
            await connection.send(message)

    async def _serve(self, connection: ServerConnection) -> None:
        """Serve one browser connection until it closes.

        If its session is valid, this browser shows the picture from now on, and the one before it no longer does.
        """
        try:
            async with asyncio.timeout(_HANDSHAKE_SECONDS_MAX):
                session = decode_session_message(await connection.recv())
        except (TimeoutError, ConnectionClosed):
            await connection.close(CloseCode.TRY_AGAIN_LATER)
            return
        if not self._access.authenticate_and_renew(session):
            await connection.close(CloseCode.POLICY_VIOLATION)
            return
        if isinstance(connection, _BrowserConnection):
            connection.leave_handshaking()
        with self._lock:
            previous_viewer, self._viewer = self._viewer, connection
            self._is_frame_confirmed, self._sent_frame = True, _NO_FRAME
        if previous_viewer is not None:
            with contextlib.suppress(ConnectionClosed):
                await previous_viewer.send('{"moved": true}')
                await previous_viewer.close()
        text_messages = [json.dumps({"words": self._screen_reader_text})] if self._screen_reader_text else []
        for message in [*text_messages, *self._playing_loops.values()]:
            await self._send_to_browser(connection, message)
        with contextlib.suppress(ConnectionClosed):
            async for message_text in connection:
                self._handle_message(connection, message_text)
                self._renew_session(session)
        with self._lock:
            if self._viewer is connection:
                self._viewer = None

    def _renew_session(self, session: str) -> None:
        """Renew the session of a connected browser, at most once a minute."""
        now = self._loop.time()
        if now - self._session_renewed_at >= _SESSION_RENEWAL_SECONDS:
            self._session_renewed_at = now
            self._access.authenticate_and_renew(session)

    def _handle_message(self, connection: ServerConnection, message_text: str | bytes) -> None:
        """Record what a message of the browser reports.

        Ignore the message if another browser has replaced this one.
        """
        message = decode_browser_message(message_text)
        with self._lock:
            if self._viewer is not connection:
                return
            self._is_frame_confirmed = self._is_frame_confirmed or message.has_shown_frame
            if message.input_action is not None:
                self._waiting_inputs.append(message.input_action)
            if message.window_size_pixels is not None:
                self._fitting_layout_and_scale = choose_fitting_layout(
                    message.window_size_pixels,
                    portrait=self._is_portrait_forced,
                    pixel_ratio=message.pixel_ratio,
                )
