"""Run a private Mosquitto broker with the link's certificates, for simulations, campaigns and tests."""

import asyncio
import contextlib
import shutil
import socket
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from egm.config.levels import ProgressiveLinkTable
from egm.errors import OperatorError
from tools.floor.progressive.certificates import (
    AUTHORITY_CERTIFICATE_NAME,
    make_link_certificates,
    write_broker_configuration,
)
from tools.floor.progressive.mystery_secrets import make_key

_START_TIMEOUT_SECONDS: Final = 20.0


class BrokerMissingError(OperatorError):
    """Raised if Mosquitto is not installed."""


def find_mosquitto() -> str:
    """Return the path of the broker's program. Raises :class:`BrokerMissingError`."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        raise BrokerMissingError("mosquitto is not installed (Debian: apt install mosquitto)")
    return program


class Broker:
    """One private broker on a free port of this computer.

    ``folder`` contains the certificates and the log.
    """

    def __init__(self, folder: Path, machines: Iterable[str]) -> None:
        """Create the certificates of broker, controller, sign and ``machines``. Raises BrokerMissingError."""
        self._program = find_mosquitto()
        self._folder = folder
        make_link_certificates(folder, machines, "127.0.0.1", datetime.now(UTC))
        make_key(folder)
        # This socket reserves the port while the broker is down. Otherwise another process could get the port, or a
        # connecting client could be connected to itself.
        self._port_reservation = socket.socket()
        self._port_reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._port_reservation.bind(("127.0.0.1", 0))
        self.port: int = self._port_reservation.getsockname()[1]
        self.log = folder / "broker.log"
        self._configuration = write_broker_configuration(folder, self.port)
        self._process: subprocess.Popen[bytes] | None = None

    def build_link_settings(self, name: str) -> ProgressiveLinkTable:
        """Return the settings with which the participant ``name`` connects to the broker."""
        return ProgressiveLinkTable(
            port=self.port,
            authority=self._folder / f"{AUTHORITY_CERTIFICATE_NAME}.crt",
            certificate=self._folder / f"{name}.crt",
            key=self._folder / f"{name}.key",
        )

    @property
    def is_running(self) -> bool:
        """Return whether the broker's process is running."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Start the broker and wait until it listens. Raises OperatorError with the last line of its log."""
        try:
            async with asyncio.timeout(_START_TIMEOUT_SECONDS):
                while not await self._start_process():
                    self.kill()
        except TimeoutError:
            last_lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-1:]
            message = f"mosquitto does not start on port {self.port}: {''.join(last_lines)}"
            raise OperatorError(message) from None

    async def _start_process(self) -> bool:
        """Start the broker's process; return whether it is running and its port accepts connections."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: ASYNC220 (starting a server is fast)
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
        """End the broker's process as a power cut would: all connections and messages in transit are lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """End the broker and release its port."""
        self.kill()
        self._port_reservation.close()
