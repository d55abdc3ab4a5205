"""Who may see the picture in a browser: one who holds the token, from this computer, on this page.

The address printed carries a token that opens the door once and becomes a cookie of that browser. A new token
is then written, for its owner only, to a file of the state folder. Requests under another host name (DNS
rebinding) and links from another origin (a page elsewhere that knows the port) are refused.
"""

import hmac
import json
import os
from collections.abc import Mapping
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from egm.screen.controls import BY_NAME, TYPED
from egm.screen.sound import SCORES, wave_file

HOST: Final = "127.0.0.1"
_PAGE: Final = Path(__file__).resolve().parent / "page.html"
_USED = (
    "This address has been used, or was never given.\n"
    "The file run/screen.url of the machine's state folder holds a new one.\n"
)


_SOUNDS: Final[Mapping[str, str]] = {f"/sound/{name}.wav": name for name in SCORES}


def new_token() -> str:
    """A token nobody can guess."""
    return os.urandom(24).hex()


class Door:
    """Answers the browser's requests; ``port`` is set once the server listens."""

    def __init__(self, address_file: Path | None = None) -> None:
        self.port = 0
        self._address_file = address_file
        self._token = new_token()
        self._sessions: set[str] = set()

    @property
    def address(self) -> str:
        """The address that opens the door once."""
        return f"http://{HOST}:{self.port}/?token={self._token}"

    def request(self, _: ServerConnection, request: Request) -> Response | None:
        """Answer a page's request; None lets the link's request through to its handshake."""
        host = request.headers.get("Host", "")
        url = urlsplit(request.path)
        if host not in {f"{HOST}:{self.port}", f"localhost:{self.port}"}:
            return answer(HTTPStatus.MISDIRECTED_REQUEST, "This machine's screen has another address.\n")
        if url.path == "/link":
            own = request.headers.get("Origin") == f"http://{host}"
            return None if own and self._known(request) else answer(HTTPStatus.FORBIDDEN, "Not from here.\n")
        if url.path in _SOUNDS and self._known(request):
            return sound(_SOUNDS[url.path])
        if url.path != "/":
            return answer(HTTPStatus.NOT_FOUND, "There is nothing but / here.\n")
        token = parse_qs(url.query).get("token", [""])[0]
        if hmac.compare_digest(token.encode(), self._token.encode()):
            return self._enter()
        return page() if self._known(request) else answer(HTTPStatus.FORBIDDEN, _USED)

    @property
    def _cookie(self) -> str:
        return f"egm_{self.port}"  # cookies do not know ports; the name does

    def _known(self, request: Request) -> bool:
        try:
            cookie = SimpleCookie(request.headers.get("Cookie", "")).get(self._cookie)
        except CookieError:
            return False
        shown = b"" if cookie is None else cookie.value.encode()
        return any(hmac.compare_digest(shown, session.encode()) for session in self._sessions)

    def _enter(self) -> Response:
        """The token is spent: this browser gets a cookie, the next one will need a new token."""
        session, self._token = new_token(), new_token()
        self._sessions.add(session)
        if self._address_file is not None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            with os.fdopen(os.open(self._address_file, flags, 0o600), "w", encoding="utf-8") as file:
                file.write(self.address + "\n")
        cookie = f"{self._cookie}={session}; HttpOnly; SameSite=Strict; Path=/"
        return answer(HTTPStatus.SEE_OTHER, "", {"Location": "/", "Set-Cookie": cookie})


def page() -> Response:
    """The page itself, with a policy that lets it run its own script and reach its own origin, no more."""
    nonce = new_token()
    text = (
        _PAGE.read_text("utf-8").replace("%NONCE%", nonce).replace("%KEYS%", json.dumps([*BY_NAME, *TYPED]))
    )
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "connect-src 'self'; img-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return answer(
        HTTPStatus.OK, text, {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy}
    )


def sound(name: str) -> Response:
    """A sound of the machine, for a browser that is let in."""
    data = wave_file(name)
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
