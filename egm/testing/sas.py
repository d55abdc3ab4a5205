"""A test machine and a SAS host without a serial line: the host's bytes are passed to the machine in memory."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from egm.app.view import build_snapshot
from egm.clock import Clock
from egm.config.cabinet_file import CabinetFile, StateFolder
from egm.kernel.events import Event
from egm.kernel.services import MachineContext
from egm.links.sas.channel import RunPollEffect, SasChannelState, SendBytes
from egm.links.sas.codec import MalformedPollError
from egm.links.sas.crc import append_crc, has_valid_crc
from egm.links.sas.exception_queue import SasException
from egm.links.sas.line_service import SasLineService, create_sas_line_services
from egm.links.sas.messages import DelayedResultDelivered, ExceptionWithdrawn, RealTimeReportingSet
from egm.links.sas.wire import LenientFraming, WakeupBitFraming, escape_message_with_wakeup
from egm.testing.machine import MachineRig

#: The content of a cabinet file for tests of SAS.
SAS_CABINET_TABLES = {
    "machine": {"serial": "TEST-1", "operator_number": "7", "profile": "generic", "site": "test"},
    "games": [],
}


def create_machine_context(
    rig: MachineRig, folder: Path, sas_tables: dict[str, dict[str, object]]
) -> MachineContext:
    """Create the test machine's folders, and return the parts of the machine that its SAS lines may use."""

    def submit_event(event: Event) -> None:
        """Submit an event from a SAS line to the test machine's engine."""
        rig.engine.submit(event)

    state_folder = StateFolder(folder)
    state_folder.create_private_folders()
    return MachineContext(
        engine=rig.engine,
        cabinet_file=CabinetFile.model_validate({**SAS_CABINET_TABLES, "sas": sas_tables}),
        state_folder=state_folder,
        clock=rig.clock,
        submit_event=submit_event,
    )


def attach_sas_lines(rig: MachineRig, lines: Iterable[SasLineService]) -> None:
    """Connect SAS lines to a test machine: each change of the machine's state is passed on to them."""
    lines = list(lines)

    def process_change() -> None:
        """Pass a new snapshot of the machine to its SAS lines."""
        current_snapshot = build_snapshot(rig.engine)
        for line in lines:
            line.process_change(current_snapshot)

    rig.engine._on_change = process_change


class LoopLine(SasLineService):
    """A SAS line that runs on the machine's own event loop, without a thread."""

    is_served = False
    """Whether :meth:`run` is running, which is the case while the machine serves the line."""

    async def run(self) -> None:
        """Serve the SAS line until cancelled."""
        self._loop = asyncio.get_running_loop()
        self._send_readout()
        self._link_monitor.start()
        self.is_served = True
        try:
            await self._loop.create_future()
        finally:
            self.is_served = False


class HostWire:
    """A host's end of a SAS line, without a thread.

    A message is passed to the machine as bytes and takes effect at once; the reply is returned as bytes.
    """

    def __init__(self, line: SasLineService, clock: Clock) -> None:
        self.line = line
        self.clock = clock
        self.host = line.host
        self.channel: SasChannelState = line._line._channel
        self.actions: list[object] = []
        self.is_slow = False
        """Whether the machine needs longer for a command than the host waits for the reply, so that it replies busy."""
        self.delayed_effects: list[RunPollEffect] = []
        self._is_strict = self.host.settings.framing == "strict"
        framing = WakeupBitFraming if self._is_strict else LenientFraming
        self._framing = framing(self.address, self.host.settings.gap_ns)

    @property
    def address(self) -> int:
        """Return the machine's SAS address on this line."""
        return self.host.settings.address

    def _pass_queued_messages(self) -> None:
        """Pass the machine's queued messages (exceptions, replies) to the SAS channel."""
        line = self.line._line
        inbox, self.channel.readout = line._pending_messages, line._newest_readout
        now = self.clock.monotonic_ns()
        while inbox:
            match inbox.popleft():
                case SasException() as exception:
                    self._perform(self.channel.post_exception(exception, now))
                case ExceptionWithdrawn(code=code):
                    self.channel.withdraw_exception(code)
                case DelayedResultDelivered(code=code, reply=reply):
                    self.channel.deliver_delayed_result(code, reply)
                case RealTimeReportingSet(is_on=on):
                    self.channel.is_real_time_reporting_on = on

    def exchange(self, data: bytes) -> bytes:
        """Pass bytes from the host to the machine; return the bytes that the machine sends."""
        output = b""
        for message in self._framing.decode(data, self.clock.monotonic_ns()):
            self._pass_queued_messages()
            output += self._perform(self.channel.process_message(message, self.clock.monotonic_ns()))
        return output

    def tick(self) -> list[SendBytes]:
        """Let the SAS channel process the time that has passed; return what it sends without a poll."""
        sent_frames = []
        for action in self.channel.process_elapsed_time(self.clock.monotonic_ns()):
            if isinstance(action, SendBytes):
                sent_frames.append(action)
            elif not isinstance(action, RunPollEffect):
                self.actions.append(action)
                self.line._handle_notification(action)
        return sent_frames

    def _perform(self, actions: Iterable[Any]) -> bytes:
        """Perform the SAS channel's actions; return the bytes that it sends."""
        output = b""
        for action in actions:
            match action:
                case SendBytes(data=data):
                    output += data
                case RunPollEffect(poll=poll, request=request):
                    if self.is_slow:
                        self.delayed_effects.append(action)
                        output += self._perform(self.channel.send_busy_reply(request))
                        continue
                    assert poll.effect_function is not None
                    try:
                        reply = poll.effect_function(self.host, request)
                    except MalformedPollError:
                        reply = None
                    self._pass_queued_messages()
                    output += self._perform(self.channel.reply_to_request(poll, request, reply))
                case _:
                    self.actions.append(action)
                    self.line._handle_notification(action)
        return output

    # ------------------------------------------------------------------ as a host
    def send(self, message: bytes) -> bytes:
        """Send one message; return the bytes of the reply."""
        return self.exchange(escape_message_with_wakeup(message) if self._is_strict else message)

    def send_general_poll(self) -> int:
        """Send a general poll; return the exception code in the machine's reply."""
        reply = self.send(bytes((0x80 | self.address,)))
        assert len(reply) == 1, reply.hex(" ")
        return reply[0]

    def poll_other_address(self) -> None:
        """Poll another address. The machine takes this as the acknowledgement of its last reply."""
        assert self.send(b"\x80") == b""

    def read_exceptions(self) -> list[int]:
        """Send general polls until the machine reports no more exceptions; return all exception codes in order."""
        codes = []
        while code := self.send_general_poll():
            codes.append(code)
            self.poll_other_address()
        return codes

    def read(self, code: int) -> str:
        """Send a type R poll with this code; return the data of the reply in hex, or "" if there is no reply."""
        return self._extract_reply_data(code, self.send(bytes((self.address, code))))

    def send_long_poll(self, code: int, data_hex: str = "") -> str:
        """Send a long poll with this code, data (hex) and a CRC; return the data of the reply in hex.

        A reply of one byte (ACK, NACK) is returned in full. The result is ``busy`` if the machine replies that it is
        busy.
        """
        return self._extract_reply_data(
            code, self.send(append_crc(bytes((self.address, code)) + bytes.fromhex(data_hex)))
        )

    def _extract_reply_data(self, code: int, reply: bytes) -> str:
        """Return the data of the machine's reply in hex, after checking its first bytes and its CRC.

        Return ``busy`` if the machine replies that it is busy, and a reply of less than two bytes in full.
        """
        if len(reply) < 2:
            return reply.hex()
        assert reply[:2] == bytes((self.address, code)), reply.hex(" ")
        if len(reply) == 2:
            return "busy"
        assert has_valid_crc(reply), reply.hex(" ")
        return reply[2:-2].hex()


class SasHostBench(HostWire):
    """A SAS host connected to a test machine. It also creates the machine's end of the line.

    Its time is the time of the machine's clock.
    """

    def __init__(
        self, folder: Path, rig: MachineRig, *, name: str = "main", boot: bool = True, **settings: object
    ) -> None:
        self.rig = rig
        lines = create_sas_line_services(create_machine_context(rig, folder, {name: settings}))
        super().__init__(next(line for line in lines if isinstance(line, SasLineService)), rig.clock)
        attach_sas_lines(rig, [self.line])
        if boot:
            rig.boot()
        self.line._send_readout()
