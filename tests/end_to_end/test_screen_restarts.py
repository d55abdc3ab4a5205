"""A browser page survives a restart of the screen process: same port, same session."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

from run_rig import EGM, PATIENCE_SECONDS, build_demonstration_file
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.sync.client import connect


def _screen_of(cabinet):
    """Return the process id of a cabinet's screen, or None if no screen runs."""
    for child in Path(f"/proc/{cabinet}/task/{cabinet}/children").read_text().split():
        with contextlib.suppress(OSError):
            if b"egm.screen" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0"):
                return int(child)
    return None


def _ask(port, path):
    """Send one request; return status and session. Without a screen, the connection waits for one."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    link.request("GET", path)
    answer = link.getresponse()
    match = re.search(r'let session = "(\w+)";', answer.read().decode())
    link.close()
    return answer.status, match[1] if match else ""


def _is_let_in(port, session):
    """Return whether a link with this session receives the picture."""
    with connect(f"ws://127.0.0.1:{port}/link", origin=f"http://127.0.0.1:{port}", max_size=None) as link:
        link.send(json.dumps({"session": session}))
        with contextlib.suppress(ConnectionClosed):
            link.recv(timeout=PATIENCE_SECONDS)
        return link.close_code != CloseCode.POLICY_VIOLATION


def test_a_browser_session_survives_a_restart_of_the_screen(tmp_path):
    file = tmp_path / "cabinet.toml"
    file.write_text(f"{build_demonstration_file()}\n[metrics]\nport = 0\n")
    state = tmp_path / "state"
    where = ("--state", str(state), "--cabinet", str(file))
    cabinet = subprocess.Popen(
        [*EGM, "run", *where, "--screen", "web", "--silent"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = next(found[1] for line in cabinet.stdout if (found := re.match(r"Screen: (\S+)", line)))
        url = urlsplit(address)
        status, session = _ask(url.port, f"/?{url.query}")
        assert (status, bool(session)) == (200, True)
        first = _screen_of(cabinet.pid)
        os.kill(first, signal.SIGKILL)
        end = time.monotonic() + PATIENCE_SECONDS
        while _screen_of(cabinet.pid) in {first, None}:
            assert time.monotonic() < end, "no screen came back"
            time.sleep(0.05)
        assert _is_let_in(url.port, session)
        assert not _is_let_in(url.port, session[:-1] + "x")
        assert _ask(url.port, f"/?{url.query}") == (403, ""), "the address was spent"
        fresh = urlsplit((state / "run" / "screen.url").read_text().strip())
        assert fresh.port == url.port
        assert _ask(url.port, f"/?{fresh.query}")[0] == 200
        session_files = [
            path for path in state.rglob("*") if path.is_file() and session[-40:] in path.read_text("latin1")
        ]
        assert session_files == [], "no session stands on a disk"
    finally:
        cabinet.send_signal(signal.SIGTERM)
        cabinet.communicate()
