"""The link's messages over MQTT 5 with TLS: both sides prove who they are by certificates.

Nothing is relied on but that a connection carries bytes in order while it lasts: messages may be lost or come
twice, and the link (:mod:`egm.progressive.link`) is made for that.
"""

import ssl
from collections.abc import Iterable

import aiomqtt

from egm.config.levels import LinkSlot
from egm.errors import OperatorError
from egm.kernel.services import Attachment, MachineContext
from egm.progressive import topics
from egm.progressive.attachment import ProgressiveLink
from egm.progressive.carrier import CarrierListener
from egm.progressive.connection import (
    AT_LEAST_ONCE,
    AT_MOST_ONCE,
    LIMIT_SECONDS,
    RETRY_SECONDS,
    Line,
    Waiting,
    payload,
    stay_connected,
    tls,
    together,
)
from egm.progressive.messages import (
    Contribution,
    FromMachine,
    ProgressiveMessageError,
    encode,
    from_controller,
)


class MqttCarrier:
    """A :class:`~egm.progressive.carrier.Carrier` to the broker a cabinet file names."""

    def __init__(
        self,
        slot: LinkSlot,
        machine: str,
        *,
        retry_seconds: float = RETRY_SECONDS,
        limit_seconds: float = LIMIT_SECONDS,
    ) -> None:
        """``machine``: its serial, as its certificate names it. Without good certificates it is down."""
        self._slot = slot
        self._machine = machine
        self._retry_seconds = retry_seconds
        self._limit_seconds = limit_seconds
        self._unusable = ""
        self._outbox: Waiting[FromMachine] | None = None

    def send(self, message: FromMachine) -> None:
        """Send, or lose it where there is no connection."""
        if self._outbox is not None:
            self._outbox.put_nowait(message)

    async def run(self, ears: CarrierListener) -> None:
        """Connect, and connect again after each interruption, until cancelled."""

        async def serve(line: Line) -> None:
            await line.subscribe(topics.ALL_VALUES)
            await line.subscribe(topics.down(self._machine))
            outbox: Waiting[FromMachine] = Waiting()
            self._outbox = outbox
            ears.connected()
            try:
                await together(self._hear(line, ears), self._send_all(line, outbox))
            except aiomqtt.MqttError as error:
                ears.disconnected(str(error))
                raise
            finally:
                self._outbox = None

        def proofs() -> ssl.SSLContext:
            try:
                return tls(self._slot)
            except OperatorError as error:
                if str(error) != self._unusable:
                    self._unusable = str(error)
                    ears.disconnected(self._unusable)
                raise

        await stay_connected(
            self._slot,
            proofs,
            self._machine,
            serve,
            lambda _: None,  # the ears have heard of every connection that ended, and why there can be none
            retry_seconds=self._retry_seconds,
            limit_seconds=self._limit_seconds,
        )

    async def _hear(self, line: Line, ears: CarrierListener) -> None:
        async for message in line.messages:
            try:
                said = from_controller(payload(message))
            except ProgressiveMessageError as error:
                ears.misunderstood(str(error))
            else:
                ears.received(said)

    async def _send_all(self, line: Line, outbox: Waiting[FromMachine]) -> None:
        while True:
            message = await outbox.get()
            # What is sent by the thousand is numbered, and a gap is asked for: it needs no receipt besides.
            care = AT_MOST_ONCE if isinstance(message, Contribution) else AT_LEAST_ONCE
            await line.publish(topics.up(self._machine), encode(message), care)


def progressive_link(context: MachineContext) -> Iterable[Attachment]:
    """The machine's link, where the cabinet file names a broker."""
    slot = context.file.progressive_link
    if slot is None:
        return ()
    return (ProgressiveLink(context, MqttCarrier(slot, context.engine.machine.identity.serial)),)
