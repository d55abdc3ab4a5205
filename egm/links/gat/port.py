"""Serial port for an inspector's GAT verifier, which checks the software; it never disturbs play.

The port is outside the cabinet's logic area. A low-priority process outside the machine calculates the signatures; the
port only receives short packets and replies from memory.
"""

import asyncio
import os
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Final

from egm.devices.framing import FrameReader, ProtocolError
from egm.devices.line import LineLostError, LineSettings, SerialHandle, SerialLine, open_port
from egm.devices.twin import create_terminal_pair
from egm.errors import LocalError
from egm.kernel.messages import Snapshot
from egm.kernel.services import BackgroundService, MachineContext
from egm.links.gat import codec
from egm.links.gat.codec import GatPacket
from egm.links.gat.functions import SpecialFunctionRequest
from egm.links.gat.report import ReportIdentity
from egm.links.gat.service import GatService
from egm.verify.digest import SignatureAlgorithm
from egm.verify.examine import compute_signatures_in_child_process
from egm.verify.own_files import find_software_scope
from egm.verify.software_files import list_components

#: Settings of the serial line to a verifier.
GAT_LINE_SETTINGS: Final = LineSettings(baud_rate=9600)
#: A pause of this length between bytes ends a packet, complete or not.
_PACKET_END_PAUSE_SECONDS: Final = 0.05
#: How long one read waits for the first byte of a packet before it is repeated. The line needs some limit, and a
#: verifier may be silent for as long as it likes.
_FIRST_BYTE_TIMEOUT_SECONDS: Final = 3600.0
#: Delay before a lost port is opened again.
_PORT_REOPEN_SECONDS: Final = 0.5
#: The machine's name in GAT reports.
_MACHINE_NAME: Final = "Open EGM"
#: The manufacturer's name in GAT reports.
_MANUFACTURER: Final = "open-egm"


class _PseudoTerminalEnd:
    """The machine's end of a pseudo-terminal for a verifier on this computer, which opens the other end by name."""

    def __init__(self, link: Path) -> None:
        self._link_path = link
        self._own_descriptor, self._verifier_descriptor = create_terminal_pair(link)
        os.set_blocking(self._own_descriptor, False)

    def fileno(self) -> int:
        """Return the file descriptor of the machine's end of the pseudo-terminal."""
        return self._own_descriptor

    def close(self) -> None:
        self._link_path.unlink(missing_ok=True)
        os.close(self._own_descriptor)
        os.close(self._verifier_descriptor)


def _open_own_terminal_end(path: str, _: LineSettings) -> SerialHandle:
    """Create a pseudo-terminal for a GAT verifier on this computer; return the machine's end of it, which is open.

    ``path`` becomes the name of the verifier's end.
    """
    return _PseudoTerminalEnd(Path(path))


class GatPort:
    """Background service for the GAT port, through which a verifier checks the machine's software."""

    name = "gat"

    def __init__(self, context: MachineContext, port: str) -> None:
        machine = context.engine.machine
        is_own_pty = port == "pty"
        path = str(context.state_folder.gat_port) if is_own_pty else port
        self._line = SerialLine(path, GAT_LINE_SETTINGS, _open_own_terminal_end if is_own_pty else open_port)
        self._software_scope = find_software_scope(context.cabinet_file)
        self._pending_requests: asyncio.Queue[SpecialFunctionRequest] = asyncio.Queue()
        self._calculation_task: asyncio.Task[None] | None = None
        identity = ReportIdentity(
            name=_MACHINE_NAME,
            manufacturer=_MANUFACTURER,
            version=version("open-egm"),
            serial=machine.identity.serial,
        )
        components = list_components(self._software_scope)
        self._service = GatService(
            machine, identity, components, self._pending_requests.put_nowait, self._stop_calculations
        )

    def process_change(self, snapshot: Snapshot) -> None:
        """Do nothing: the data that a GAT verifier reads does not depend on the machine's state."""

    async def run(self) -> None:
        """Serve the GAT verifier on the port until cancelled."""
        self._service.resume_interrupted_calculation()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._serve_calculations())
            group.create_task(self._open_and_serve())

    def _stop_calculations(self) -> None:
        """Stop the GAT verifier's current signature calculation, and drop all that wait to start."""
        while not self._pending_requests.empty():
            self._pending_requests.get_nowait()
        if self._calculation_task is not None:
            self._calculation_task.cancel()

    async def _serve_calculations(self) -> None:
        """Compute the signatures that the GAT verifier requests, one calculation after another."""
        while True:
            request = await self._pending_requests.get()
            async with asyncio.TaskGroup() as group:
                self._calculation_task = group.create_task(self._calculate_signatures(request))
            self._calculation_task = None

    async def _calculate_signatures(self, request: SpecialFunctionRequest) -> None:
        """Compute the signatures of the requested components and store them; if it fails, store the reason instead."""
        algorithm = request.algorithm or SignatureAlgorithm.SHA1_HMAC
        try:
            signature_by_component = await compute_signatures_in_child_process(
                self._software_scope, algorithm, request.seed, request.components
            )
        except LocalError as error:
            self._service.store_failure(str(error))
        else:
            self._service.store_result(signature_by_component)

    async def _open_and_serve(self) -> None:
        """Open the GAT port and serve the verifier; open it again after it is lost."""
        try:
            while True:
                try:
                    self._line.open()
                    await self._serve()
                except LineLostError:
                    self._line.close()
                    await asyncio.sleep(_PORT_REOPEN_SECONDS)
        finally:
            self._line.close()

    async def _serve(self) -> None:
        """Read the GAT verifier's packets and reply to them; discard a packet that a pause interrupts."""
        reader: FrameReader[GatPacket] = FrameReader(codec.cut_packet)
        has_partial_packet = False
        while True:
            data = await self._line.read(
                _PACKET_END_PAUSE_SECONDS if has_partial_packet else _FIRST_BYTE_TIMEOUT_SECONDS
            )
            has_partial_packet = bool(data)
            if not data:
                reader.flush(codec.GAT_PROTOCOL)
            for packet_or_error in reader.feed(data):
                self._reply_to(packet_or_error)

    def _reply_to(self, packet_or_error: GatPacket | ProtocolError) -> None:
        """Reply to a verifier's packet; invalid bytes and unknown requests get no reply, as GAT specifies."""
        if isinstance(packet_or_error, ProtocolError):
            return
        try:
            reply = self._service.build_reply(packet_or_error)
        except ProtocolError:
            return
        self._line.write(reply.encode())


def create_gat_port(context: MachineContext) -> Iterable[BackgroundService]:
    """Return the background service of the GAT port; an empty result if the cabinet file has no such port."""
    return () if context.cabinet_file.gat is None else (GatPort(context, context.cabinet_file.gat.port),)
