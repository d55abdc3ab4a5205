"""Access control of the browser screen: only a browser on this computer that presents the token sees the picture.

The printed address carries a one-time token. The page that it opens holds a session, and sends the session as
the first message on its connection and with each sound request. There is no cookie: a browser sends cookies
to every port of this computer, so another user's server would receive the session. When a token has been used,
a new one is written to a file of the state folder that only its owner can read. A session is valid for one run
of the cabinet, as long as its browser sends messages regularly.

The process that starts the screen has the listening socket and, only in memory, the digests of the sessions. A
restarted screen therefore recognizes its browsers, and no other process can take the port meanwhile. Requests
under another host name (DNS rebinding) and connections from another origin (a page elsewhere that knows the
port) are refused.
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

from egm.links.screen.private import LOOPBACK_ADDRESS, is_same_token
from egm.screen.audio.synthesis import encode_wave_file
from egm.screen.controls import ACTION_BY_KEY_NAME, DIGIT_BY_KEY_NAME
from egm.secret_files import replace_private

SESSION_IDLE_SECONDS_MAX: Final = 30 * 60.0
"""Seconds without a message after which a browser's session ends, so that it needs a new token."""
SESSIONS_MAX: Final = 8
"""The most browser sessions at once; a further session removes the oldest."""
_MEMORY_BYTES: Final = 1024
"""Size of the record of :data:`SESSIONS_MAX` session digests with the time of each browser's last message."""
_SESSION_PREFIX: Final = "Bearer "
"""Prefix of the session in a request's Authorization header (RFC 6750)."""
#: The page that shows the picture.
_PAGE_HTML: Final = Path(__file__).resolve().parent / "page.html"
#: The text for a browser whose address is not valid, or no longer.
_USED = (
    "This address has already been used, or is not valid: each address opens the screen in one browser.\n"
    "For a new address, run `egm screen address` (in a checkout: .venv/bin/egm) and open what it prints.\n"
    "\n"
    "Cette adresse a déjà servi ou n'est pas valable : chaque adresse ouvre l'écran dans un seul navigateur.\n"
    "Pour en avoir une autre, lancez « egm screen address » et ouvrez ce qui s'affiche.\n"
)


def create_token() -> str:
    """Return a random token for the browser screen, long enough that it cannot be guessed."""
    return os.urandom(24).hex()  # noqa: TID251 (it makes a token)


@dataclass(slots=True)
class _Session:
    """An authenticated browser: the SHA-256 of its session, in hex, and its last message in monotonic seconds."""

    digest: str
    last_message_at: float


def _digest_session(session: str) -> str:
    """Return the SHA-256 of a session, in hexadecimal."""
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()


class WebAccess:
    """The access control of the browser screen: it answers the browser's requests and checks its session.

    ``port`` is set once the server listens.
    """

    def __init__(
        self,
        address_file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        sound_of: Callable[[str, str], bytes | None] = lambda _cue, _family: None,
        memory: int | None = None,
    ) -> None:
        """Create the access control of the browser screen, and restore its sessions from ``memory``.

        Args:
            clock: Returns monotonic seconds.
            sound_of: Returns the samples of a cue and family, or None if they are not made.
            memory: Descriptor of a file with the sessions, which survives this process but not a reboot.
        """
        self._sound_of = sound_of
        self.port = 0
        self._clock = clock
        self._address_file = address_file
        self._token = create_token()
        self._memory = memory
        self._sessions: list[_Session] = [] if memory is None else _read_saved_sessions(memory)

    @property
    def address(self) -> str:
        """Return the address of the browser screen's page, with the one-time token."""
        return f"http://{LOOPBACK_ADDRESS}:{self.port}/?token={self._token}"

    def handle_request(self, _: ServerConnection, request: Request) -> Response | None:
        """Answer a browser's HTTP request; return None to let a WebSocket request through to its handshake."""
        names = [name.lower() for name, _value in request.headers.raw_items()]
        host = request.headers.get("Host", "") if len(names) == len(set(names)) else ""
        if host not in {f"{LOOPBACK_ADDRESS}:{self.port}", f"localhost:{self.port}"}:
            return build_response(
                HTTPStatus.MISDIRECTED_REQUEST, "This machine's screen has another address.\n"
            )
        path, _mark, query = request.path.partition("?")
        if path == "/link":
            is_own_origin = request.headers.get("Origin") == f"http://{host}"
            return None if is_own_origin else build_response(HTTPStatus.FORBIDDEN, "Not from here.\n")
        if path.startswith("/sound/") and self.is_authenticated(_read_session(request)):
            family, _slash, cue = path.removeprefix("/sound/").removesuffix(".wav").partition("/")
            data = self._sound_of(cue, family)
            return (
                build_response(HTTPStatus.NOT_FOUND, "No such sound.\n")
                if data is None
                else build_sound_response(data)
            )
        return (
            self._answer_page_request(query)
            if path == "/"
            else build_response(HTTPStatus.NOT_FOUND, "There is nothing but /.\n")
        )

    def _answer_page_request(self, query: str) -> Response:
        """Return the response to a request for the page.

        With the valid token it is the page in a new session; with another token, a refusal; without a query,
        as after a reload, the page without a session.
        """
        if not query:
            return build_page_response("")
        if is_same_token(query.removeprefix("token="), self._token):
            return build_page_response(self._open_session())
        return build_response(HTTPStatus.FORBIDDEN, _USED)

    def is_authenticated(self, session: str) -> bool:
        """Return whether this session belongs to an authenticated browser, and renew it."""
        now = self._clock()
        self._sessions = [
            known_session
            for known_session in self._sessions
            if now - known_session.last_message_at < SESSION_IDLE_SECONDS_MAX
        ]
        for known_session in self._sessions:
            if is_same_token(_digest_session(session), known_session.digest):
                known_session.last_message_at = now
                self._save_sessions()
                return True
        return False

    def _open_session(self) -> str:
        """Replace the used token, and return a new session for this browser."""
        session, self._token = create_token(), create_token()
        self._sessions.append(_Session(_digest_session(session), self._clock()))
        del self._sessions[:-SESSIONS_MAX]
        self._save_sessions()
        self.write_address()
        return session

    def write_address(self) -> None:
        """Write the address of the browser screen with a new one-time token to its file, readable by the owner only."""
        if self._address_file is not None:
            replace_private(self._address_file, self.address + "\n")

    def _save_sessions(self) -> None:
        """Save the browser sessions in the memory that survives a restart of the screen's process."""
        if self._memory is not None:
            data = json.dumps([[each.digest, each.last_message_at] for each in self._sessions]).encode()
            os.pwrite(self._memory, data.ljust(_MEMORY_BYTES), 0)


def _read_saved_sessions(memory: int) -> list[_Session]:
    """Return the saved browser sessions; none if the record is damaged."""
    try:
        return [
            _Session(str(digest), float(renewed_at))
            for digest, renewed_at in json.loads(os.pread(memory, _MEMORY_BYTES, 0))
        ]
    except (ValueError, RecursionError, TypeError):
        return []


def _read_session(request: Request) -> str:
    """Return the browser session in a request's header, or ""."""
    header = request.headers.get("Authorization", "")
    return header.removeprefix(_SESSION_PREFIX) if header.startswith(_SESSION_PREFIX) else ""


def build_page_response(session: str) -> Response:
    """Return the browser screen's page; its content policy permits only its own script and its own origin.

    ``session`` is empty for a reloaded page: its tab still has the session, or else the page reports that a
    new address is needed.
    """
    nonce = create_token()
    text = _PAGE_HTML.read_text("utf-8").replace("%NONCE%", nonce)
    for name, value in (
        ("KEYS", [*ACTION_BY_KEY_NAME, *DIGIT_BY_KEY_NAME]),
        ("SESSION", session),
        ("USED", _USED),
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
    """Return a sound of the machine, for an authenticated browser."""
    data = encode_wave_file(samples)
    fields = {"Content-Type": "audio/wav", "Content-Length": str(len(data)), "Connection": "close"}
    headers = Headers(
        {**fields, "X-Content-Type-Options": "nosniff", "Cache-Control": "private, max-age=86400"}
    )
    return Response(HTTPStatus.OK.value, HTTPStatus.OK.phrase, headers, data)


def build_response(status: HTTPStatus, body: str, extra: Mapping[str, str] | None = None) -> Response:
    """Return a complete HTTP response that is not cached, framed or content-sniffed."""
    data = body.encode()
    fields = {
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(data)),
        "Connection": "close",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        **(extra or {}),
    }
    return Response(status.value, status.phrase, Headers(fields), data)
