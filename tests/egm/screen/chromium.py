"""A real headless Chromium, driven over its debugging protocol: pages, taps, keys, pictures."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

from websockets.sync.client import connect

from egm.unix_sockets import can_be_socket_address

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
    "--window-size=1280,720",
    "--hide-scrollbars",
)


#: The socket that Chromium makes in its folder of temporary files.
_SOCKET = "org.chromium.Chromium.123456/SingletonSocket"


def executable() -> str | None:
    """Return the path of Chromium, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One browser with one page."""

    def __init__(self, profile: Path) -> None:
        path = executable()
        assert path is not None
        with ExitStack() as opened:  # closed at once if the browser does not start
            self._start(path, profile, opened)
            self._open = opened.pop_all()
        self._number = 0

    def _start(self, path: str, profile: Path, opened: ExitStack) -> None:
        folder = (
            None if can_be_socket_address(Path(tempfile.gettempdir(), "egm-12345678", _SOCKET)) else "/tmp"
        )
        short = opened.enter_context(tempfile.TemporaryDirectory(prefix="egm-", dir=folder))
        log = opened.enter_context((profile / "chromium.log").open("wb"))
        process = subprocess.Popen(
            [path, *_FLAGS, f"--user-data-dir={profile / 'data'}", "about:blank"],
            stdout=log,
            stderr=log,
            env=os.environ | {"TMPDIR": short},
        )
        opened.callback(process.wait, timeout=20)
        opened.callback(process.terminate)
        port_file = profile / "data" / "DevToolsActivePort"
        self.wait_until(
            lambda: port_file.exists() and len(port_file.read_text().split()) == 2, "the browser's port"
        )
        port = port_file.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=20) as answer:
            pages = json.load(answer)
        target = next(page for page in pages if page["type"] == "page")["webSocketDebuggerUrl"]
        self._link = opened.enter_context(connect(target, max_size=64 * 1024 * 1024))

    @staticmethod
    def wait_until(holds, condition_text: str, seconds: float = 40.0):
        """Wait until ``holds`` returns a true value, and return it; fail with the condition's text on a timeout."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = holds()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"waited {seconds} s for {condition_text}")

    def call(self, method: str, **params):
        """Send one command and return its reply."""
        self._number += 1
        self._link.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._link.recv(timeout=40))
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def evaluate(self, script: str):
        """Return the value of a script in the page."""
        return self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)[
            "result"
        ].get("value")

    def open(self, address: str) -> None:
        """Open an address."""
        self.call("Page.navigate", url=address)

    def frames(self) -> int:
        """Return the number of frames that the page has shown."""
        return int(
            self.evaluate("Number((document.getElementById('screen') || {dataset: {}}).dataset.frames || 0)")
            or 0
        )

    def sounds(self) -> int:
        """Return the number of sounds that the page has played."""
        return int(self.evaluate("Number(document.getElementById('screen').dataset.sounds || 0)") or 0)

    def tap(self, x: float, y: float) -> None:
        """Tap at a position in the picture's units (1920 x 1080; the window is 1280 x 720)."""
        box = json.loads(
            self.evaluate("JSON.stringify(document.getElementById('screen').getBoundingClientRect())")
        )
        point = {
            "x": box["x"] + x / 1920 * box["width"],
            "y": box["y"] + y / 1080 * box["height"],
            "button": "left",
            "clickCount": 1,
        }
        self.call("Input.dispatchMouseEvent", type="mousePressed", **point)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **point)

    def key(self, code: str, key: str) -> None:
        """Press and release a key."""
        self.call("Input.dispatchKeyEvent", type="keyDown", code=code, key=key)
        self.call("Input.dispatchKeyEvent", type="keyUp", code=code, key=key)

    def picture(self, path: Path) -> None:
        """Write a picture of the page to ``path``."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        """End the browser."""
        self._open.close()
