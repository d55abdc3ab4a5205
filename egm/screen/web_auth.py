"""Access control of the browser screen: only a browser on this computer that had the token sees the picture.

The printed address contains a one-time token. The page that is opened with it gets a session: a random secret, which it
sends as the first message on its connection and with each request for a sound. Sessions are not cookies, because a
browser sends a cookie to every port of this computer, also to a server of another user. After a token has been used, a
new one is written to a file in the state folder that only its owner can read. A session is valid during one run of the
cabinet, as long as its browser sends messages regularly and not too many other sessions are opened.

The process that starts the screen holds the listening socket and, in memory only, the digests of the sessions. A
restarted screen therefore accepts the browsers that it served before, and no other process can take the port meanwhile.
Requests for another host name (DNS rebinding) and connections from a page of another origin are refused.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from egm.links.screen.private_sockets import is_same_token
from egm.private_files import replace_private_file
from egm.screen import LOOPBACK_ADDRESS
from egm.screen.audio.synthesis import encode_wave_file
from egm.screen.controls import ACTION_BY_KEY_NAME, DIGIT_BY_KEY_NAME

#: Seconds without a message after which a browser's session ends, so that it needs a new token.
SESSION_IDLE_SECONDS_MAX: Final = 30 * 60.0
#: The maximum number of browser sessions. One more session ends the oldest session.
SESSIONS_MAX: Final = 8
#: The size in bytes of the saved sessions: :data:`SESSIONS_MAX` digests, each with its last message's time.
_SAVED_SESSIONS_SIZE_BYTES: Final = 1024
#: The text before the session in the Authorization header of a request (RFC 6750).
_BEARER_PREFIX: Final = "Bearer "
#: The page that shows the picture.
_PAGE_HTML_FILE: Final = Path(__file__).resolve().parent / "page.html"
#: The text for a browser whose address is not valid, or no longer.
_ADDRESS_NOT_VALID_TEXT = (
    "This address has already been used, or is not valid: each address opens the screen in one browser.\n"
    "For a new address, run `egm screen address` (in a checkout: .venv/bin/egm) and open what it prints.\n"
    "\n"
    "Cette adresse a déjà servi ou n'est pas valable : chaque adresse ouvre l'écran dans un seul navigateur.\n"
    "Pour en avoir une autre, lancez « egm screen address » et ouvrez ce qui s'affiche.\n"
)


def create_token() -> str:
    """Return a random text for access to the browser screen, long enough that it cannot be guessed."""
    return os.urandom(24).hex()  # noqa: TID251 (it makes a token)


@dataclass(slots=True)
class _Session:
    """An authenticated browser.

    ``digest`` is the SHA-256 of its session, in hexadecimal.
    """

    digest: str
    last_message_at: float
    """When a message of the browser was last recorded, in monotonic seconds.

    While the browser is connected, one message a minute is recorded.
    """


def _compute_session_digest(session: str) -> str:
    """Return the SHA-256 digest of a session, in hexadecimal."""
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()


class WebAccess:
    """The access control of the browser screen: answers the browser's requests and checks its session."""

    def __init__(
        self,
        address_file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        find_sound: Callable[[str, str], bytes | None] = lambda _cue, _family: None,
        session_descriptor: int | None = None,
    ) -> None:
        """Create the access control, and restore the browser sessions from their file.

        Args:
            address_file: The file to which the web address is written; None for none.
            clock: Returns monotonic seconds.
            find_sound: Returns the samples of a cue in a sound family, or None if they do not exist (yet).
            session_descriptor: Descriptor of the file with the sessions, which outlives this process but not a reboot.
        """
        self._find_sound = find_sound
        self.port = 0
        self._clock = clock
        self._address_file = address_file
        self._token = create_token()
        self._session_descriptor = session_descriptor
        self._sessions: list[_Session] = (
            [] if session_descriptor is None else _read_saved_sessions(session_descriptor)
        )

    @property
    def address(self) -> str:
        """Return the web address of the screen's page. It contains the one-time token for access."""
        return f"http://{LOOPBACK_ADDRESS}:{self.port}/?token={self._token}"

    def handle_request(self, _: ServerConnection, request: Request) -> Response | None:
        """Answer a browser's HTTP request; return None to let a WebSocket request through to its handshake."""
        header_names = [name.lower() for name, _value in request.headers.raw_items()]
        host = request.headers.get("Host", "") if len(header_names) == len(set(header_names)) else ""
        if host not in {f"{LOOPBACK_ADDRESS}:{self.port}", f"localhost:{self.port}"}:
            return build_response(
                HTTPStatus.MISDIRECTED_REQUEST, "This machine's screen has another address.\n"
            )
        path, _mark, query = request.path.partition("?")
        if path == "/link":
            is_own_origin = request.headers.get("Origin") == f"http://{host}"
            return None if is_own_origin else build_response(HTTPStatus.FORBIDDEN, "Not from here.\n")
        if path.startswith("/sound/") and self.authenticate_and_renew(_read_session(request)):
            sound_family, _slash, cue = path.removeprefix("/sound/").removesuffix(".wav").partition("/")
            samples = self._find_sound(cue, sound_family)
            return (
                build_response(HTTPStatus.NOT_FOUND, "No such sound.\n")
                if samples is None
                else build_sound_response(samples)
            )
        return (
            self._choose_page_response(query)
            if path == "/"
            else build_response(HTTPStatus.NOT_FOUND, "There is nothing but /.\n")
        )

    def _choose_page_response(self, query: str) -> Response:
        """Return the response to a request for the page.

        ``query`` is the part of the address after the question mark. With the valid token in it, the response is the
        page with a new session; with another token, it refuses access. Without a query, as after a reload, it is the
        page without a session.
        """
        if not query:
            return build_page_response("")
        if is_same_token(query.removeprefix("token="), self._token):
            return build_page_response(self._open_session())
        return build_response(HTTPStatus.FORBIDDEN, _ADDRESS_NOT_VALID_TEXT)

    def authenticate_and_renew(self, session: str) -> bool:
        """Return whether the session is valid; if it is, record the present time as the time of its last message.

        Before that, end the sessions without a message for :data:`SESSION_IDLE_SECONDS_MAX`.
        """
        now = self._clock()
        self._sessions = [
            browser_session
            for browser_session in self._sessions
            if now - browser_session.last_message_at < SESSION_IDLE_SECONDS_MAX
        ]
        for browser_session in self._sessions:
            if is_same_token(_compute_session_digest(session), browser_session.digest):
                browser_session.last_message_at = now
                self._save_sessions()
                return True
        return False

    def _open_session(self) -> str:
        """Replace the token that a browser has used, and return a new session for this browser."""
        session, self._token = create_token(), create_token()
        self._sessions.append(_Session(_compute_session_digest(session), self._clock()))
        del self._sessions[:-SESSIONS_MAX]
        self._save_sessions()
        self.write_address()
        return session

    def write_address(self) -> None:
        """Write the screen's web address, with the current one-time token, to a file that only its owner can read."""
        if self._address_file is not None:
            replace_private_file(self._address_file, self.address + "\n")

    def _save_sessions(self) -> None:
        """Save the browser sessions in the file that outlives the screen's process."""
        if self._session_descriptor is not None:
            saved_bytes = json.dumps(
                [
                    [browser_session.digest, browser_session.last_message_at]
                    for browser_session in self._sessions
                ]
            ).encode()
            os.pwrite(self._session_descriptor, saved_bytes.ljust(_SAVED_SESSIONS_SIZE_BYTES), 0)


def _read_saved_sessions(session_descriptor: int) -> list[_Session]:
    """Return the browser sessions saved in the file with this descriptor; an empty list if it is damaged."""
    try:
        return [
            _Session(str(digest), float(last_message_at))
            for digest, last_message_at in json.loads(
                os.pread(session_descriptor, _SAVED_SESSIONS_SIZE_BYTES, 0)
            )
        ]
    except (ValueError, RecursionError, TypeError):
        return []


def _read_session(request: Request) -> str:
    """Return the session in a request's Authorization header, or "" if it has none."""
    authorization = request.headers.get("Authorization", "")
    return authorization.removeprefix(_BEARER_PREFIX) if authorization.startswith(_BEARER_PREFIX) else ""


def build_page_response(session: str) -> Response:
    """Return the browser screen's page; it may load only its own script, and connect only to its own server.

    ``session`` is empty if the page was reloaded. The browser tab then still has its session; if not, the page says
    that a new address is needed.
    """
    nonce = create_token()
    text = _PAGE_HTML_FILE.read_text("utf-8").replace("%NONCE%", nonce)
    for name, value in (
        ("KEYS", [*ACTION_BY_KEY_NAME, *DIGIT_BY_KEY_NAME]),
        ("SESSION", session),
        ("USED", _ADDRESS_NOT_VALID_TEXT),
    ):
        text = text.replace(f"%{name}%", json.dumps(value))
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "connect-src 'self'; img-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return build_response(
        HTTPStatus.OK, text, {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy}
    )


def build_sound_response(samples: bytes) -> Response:
    """Return the response with the samples of a sound."""
    wave_file = encode_wave_file(samples)
    header_fields = {
        "Content-Type": "audio/wav",
        "Content-Length": str(len(wave_file)),
        "Connection": "close",
    }
    headers = Headers(
        {**header_fields, "X-Content-Type-Options": "nosniff", "Cache-Control": "private, max-age=86400"}
    )
    return Response(HTTPStatus.OK.value, HTTPStatus.OK.phrase, headers, wave_file)


def build_response(
    status: HTTPStatus, body: str, additional_headers: Mapping[str, str] | None = None
) -> Response:
    """Return a complete HTTP response whose headers forbid caching, framing and content sniffing."""
    body_bytes = body.encode()
    header_fields = {
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(body_bytes)),
        "Connection": "close",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        **(additional_headers or {}),
    }
    return Response(status.value, status.phrase, Headers(header_fields), body_bytes)
