"""Browser access: who may see the picture is who holds the token, from this computer, on this page.

The address printed carries a token that opens the door once; the page it opens holds a session, and says it
first on its link and with each sound it asks for. There is no cookie: a browser sends those to every port of
this computer, so another user's server would be given the session. A new token is then written, for its owner
only, to a file of the state folder. A session is good for one run of the cabinet, while its browser is heard
now and then: who starts the screen holds the listening socket and, in memory alone, the digests of the
sessions, so a screen that is started again knows its browsers, and nobody else can have had the port
meanwhile. Requests under another host name (DNS rebinding) and links from another origin (a page elsewhere
that knows the port) are refused.
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

from egm.links.screen.private import HOST, is_token
from egm.screen.audio.synthesis import wave_file
from egm.screen.controls import BY_NAME, TYPED
from egm.secret_files import replace_private

IDLE_SECONDS: Final = 30 * 60.0
"""A browser not heard for so long must be let in anew."""
SESSIONS_MAX: Final = 8
"""As many browsers are known at once; one more, and the one that came first is forgotten."""
_MEMORY_BYTES: Final = 1024
"""Room for the digests of :data:`SESSIONS_MAX` browsers and when each was heard."""
_SHOWN_AS: Final = "Bearer "
"""How a request shows its session (RFC 6750)."""
_PAGE: Final = Path(__file__).resolve().parent / "page.html"
_USED = (
    "This address has been used, or was never given: each opens one browser.\n"
    "For another, run `egm screen address` (in a checkout: .venv/bin/egm) and open what it prints.\n"
    "\n"
    "Cette adresse a servi, ou n'a jamais été donnée : chacune n'ouvre qu'un navigateur.\n"
    "Pour en avoir une autre, lancez « egm screen address » et ouvrez ce qui s'affiche.\n"
)


def new_token() -> str:
    """A token nobody can guess."""
    return os.urandom(24).hex()


@dataclass(slots=True)
class _Session:
    """A browser that was let in: its session's SHA-256, in hex, and when it was heard, monotonic seconds."""

    digest: str
    heard: float


def _digest(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()


class Door:
    """Answers the browser's requests; ``port`` is set once the server listens."""

    def __init__(
        self,
        address_file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        sound_of: Callable[[str, str], bytes | None] = lambda _cue, _family: None,
        memory: int | None = None,
    ) -> None:
        """``clock`` gives monotonic seconds; ``sound_of`` the samples of a cue and family that are made.

        ``memory`` is a file that outlives this process and no computer's start: who was let in before.
        """
        self._sound_of = sound_of
        self.port = 0
        self._clock = clock
        self._address_file = address_file
        self._token = new_token()
        self._memory = memory
        self._sessions: list[_Session] = [] if memory is None else _remembered(memory)

    @property
    def address(self) -> str:
        """The address that opens the door once."""
        return f"http://{HOST}:{self.port}/?token={self._token}"

    def request(self, _: ServerConnection, request: Request) -> Response | None:
        """Answer a page's request; None lets the link's request through to its handshake."""
        names = [name.lower() for name, _value in request.headers.raw_items()]
        host = request.headers.get("Host", "") if len(names) == len(set(names)) else ""
        if host not in {f"{HOST}:{self.port}", f"localhost:{self.port}"}:
            return answer(HTTPStatus.MISDIRECTED_REQUEST, "This machine's screen has another address.\n")
        path, _mark, query = request.path.partition("?")
        if path == "/link":
            own = request.headers.get("Origin") == f"http://{host}"
            return None if own else answer(HTTPStatus.FORBIDDEN, "Not from here.\n")
        if path.startswith("/sound/") and self.knows(_session_of(request)):
            family, _slash, cue = path.removeprefix("/sound/").removesuffix(".wav").partition("/")
            data = self._sound_of(cue, family)
            return answer(HTTPStatus.NOT_FOUND, "No such sound.\n") if data is None else sound(data)
        return self._page(query) if path == "/" else answer(HTTPStatus.NOT_FOUND, "There is nothing but /.\n")

    def _page(self, query: str) -> Response:
        if not query:
            return page("")
        if is_token(query.removeprefix("token="), self._token):
            return page(self._enter())
        return answer(HTTPStatus.FORBIDDEN, _USED)

    def knows(self, session: str) -> bool:
        """Whether this is the session of a browser that was let in; it is heard by that, and lives on."""
        now = self._clock()
        self._sessions = [each for each in self._sessions if now - each.heard < IDLE_SECONDS]
        for each in self._sessions:
            if is_token(_digest(session), each.digest):
                each.heard = now
                self._remember()
                return True
        return False

    def _enter(self) -> str:
        """The token is spent: this browser gets a session, the next one will need a new token."""
        session, self._token = new_token(), new_token()
        self._sessions.append(_Session(_digest(session), self._clock()))
        del self._sessions[:-SESSIONS_MAX]
        self._remember()
        self.write_address()
        return session

    def write_address(self) -> None:
        """Write the address that opens the door next where its owner finds it."""
        if self._address_file is not None:
            replace_private(self._address_file, self.address + "\n")

    def _remember(self) -> None:
        """Have whoever starts the screen again keep who was let in."""
        if self._memory is not None:
            data = json.dumps([[each.digest, each.heard] for each in self._sessions]).encode()
            os.pwrite(self._memory, data.ljust(_MEMORY_BYTES), 0)


def _remembered(memory: int) -> list[_Session]:
    """Who was let in before; a record that was cut short is nobody."""
    try:
        return [
            _Session(str(digest), float(heard))
            for digest, heard in json.loads(os.pread(memory, _MEMORY_BYTES, 0))
        ]
    except (ValueError, RecursionError, TypeError):
        return []


def _session_of(request: Request) -> str:
    """The session a request shows, or nothing."""
    shown = request.headers.get("Authorization", "")
    return shown.removeprefix(_SHOWN_AS) if shown.startswith(_SHOWN_AS) else ""


def page(session: str) -> Response:
    """The page itself, with a policy that lets it run its own script and reach its own origin, no more.

    ``session`` is empty for a page that is loaded again: its tab still has its own, or the page says that it
    needs another address.
    """
    nonce = new_token()
    text = _PAGE.read_text("utf-8").replace("%NONCE%", nonce)
    for name, value in (("KEYS", [*BY_NAME, *TYPED]), ("SESSION", session), ("USED", _USED)):
        text = text.replace(f"%{name}%", json.dumps(value))
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "connect-src 'self'; img-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return answer(
        HTTPStatus.OK, text, {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy}
    )


def sound(samples: bytes) -> Response:
    """A sound of the machine, for a browser that is let in."""
    data = wave_file(samples)
    fields = {"Content-Type": "audio/wav", "Content-Length": str(len(data)), "Connection": "close"}
    headers = Headers(
        {**fields, "X-Content-Type-Options": "nosniff", "Cache-Control": "private, max-age=86400"}
    )
    return Response(HTTPStatus.OK.value, HTTPStatus.OK.phrase, headers, data)


def answer(status: HTTPStatus, body: str, extra: Mapping[str, str] | None = None) -> Response:
    """A whole response that nobody keeps, frames or sniffs."""
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
