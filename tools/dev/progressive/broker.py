"""A Mosquitto of one's own, with the link's certificates, for simulations, campaigns and tests."""

import asyncio
import contextlib
import shutil
import socket
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from egm.config.levels import LinkSlot
from egm.errors import OperatorError
from tools.floor.progressive.certificates import AUTHORITY, make_link, write_broker_configuration
from tools.floor.progressive.secret_store import make_key

_UP_SECONDS: Final = 20.0


class BrokerMissingError(OperatorError):
    """Mosquitto is not installed."""


def mosquitto() -> str:
    """Return the path of the broker's program. Raises :class:`BrokerMissingError`."""
    found = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
    if found is None:
        raise BrokerMissingError("mosquitto is not installed (Debian: apt install mosquitto)")
    return found


class Broker:
    """One broker on a free port of this computer; ``folder`` holds its certificates and its log."""

    def __init__(self, folder: Path, machines: Iterable[str]) -> None:
        """Make the certificates of broker, controller, sign and ``machines``. Raises BrokerMissingError."""
        self._program = mosquitto()
        self._folder = folder
        make_link(folder, machines, "127.0.0.1", datetime.now(UTC))
        make_key(folder)
        # Bound for as long as the broker may come back: while it is dead, nobody else is given its port, not
        # even a client that seeks it there and would be connected to itself.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._place.bind(("127.0.0.1", 0))
        self.port: int = self._place.getsockname()[1]
        self.log = folder / "broker.log"
        self._configuration = write_broker_configuration(folder, self.port)
        self._process: subprocess.Popen[bytes] | None = None

    def slot(self, name: str) -> LinkSlot:
        """Return the connection settings for ``name``."""
        return LinkSlot(
            port=self.port,
            authority=self._folder / f"{AUTHORITY}.crt",
            certificate=self._folder / f"{name}.crt",
            key=self._folder / f"{name}.key",
        )

    @property
    def up(self) -> bool:
        """Return whether its process is running."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Run it, and wait until it listens. Raises OperatorError with its last words when it does not."""
        try:
            async with asyncio.timeout(_UP_SECONDS):
                while not await self._comes_up():
                    self.kill()
        except TimeoutError:
            said = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-1:]
            why = f"mosquitto does not come up on port {self.port}: {''.join(said)}"
            raise OperatorError(why) from None

    async def _comes_up(self) -> bool:
        """Start a process; whether it listens, and not somebody else in its place."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: ASYNC220 (it is the start of a server, and quick)
                [self._program, "-c", str(self._configuration)], stdout=log, stderr=log
            )
        while self._process.poll() is None:
            await asyncio.sleep(0.01)
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return self._process.poll() is None
        return False

    def kill(self) -> None:
        """End it as a power cut would: everybody's connection is gone, and every message on its way."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """End it for good."""
        self.kill()
        self._place.close()
