"""The link's messages over MQTT 5 with TLS: both sides prove who they are by certificates.

Nothing is relied on but that a connection carries bytes in order while it lasts: messages may be lost or come
twice, and the link (:mod:`egm.progressive.link`) is made for that.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Iterable
from typing import Final

import aiomqtt

from egm.cabinet.attachments import Attachment, Surroundings
from egm.errors import OperatorError
from egm.progressive import topics
from egm.progressive.attachment import ProgressiveLink
from egm.progressive.carrier import Ears
from egm.progressive.messages import (
    Contribution,
    FromMachine,
    ProgressiveMessageError,
    encode,
    from_controller,
)
from egm.progressive.slots import LinkSlot

#: The broker notices that a silent machine is gone, and the machine a silent broker, within about this time.
_KEEPALIVE_SECONDS: Final = 2
_TIMEOUT_SECONDS: Final = 5.0
#: Between two attempts to connect.
_RETRY_SECONDS: Final = 1.0
_FINISH_SECONDS: Final = 0.2
_AT_MOST_ONCE: Final = 0
_AT_LEAST_ONCE: Final = 1


def tls(slot: LinkSlot) -> ssl.SSLContext:
    """What proves each side to the other: TLS 1.3. Raises OperatorError naming the files."""
    try:
        context = ssl.create_default_context(cafile=str(slot.authority))
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(slot.certificate, slot.key)
    except (OSError, ssl.SSLError) as error:
        files = f"{slot.authority}, {slot.certificate}, {slot.key}"
        raise OperatorError(f"progressive link: certificates {files}: {error}") from error
    return context


@contextlib.asynccontextmanager
async def connection(
    slot: LinkSlot, context: ssl.SSLContext, identifier: str
) -> AsyncIterator[aiomqtt.Client]:
    """A connection to the broker. Raises ``aiomqtt.MqttError`` when there is none or it ends."""
    async with aiomqtt.Client(
        slot.host,
        slot.port,
        identifier=identifier,
        protocol=aiomqtt.ProtocolVersion.V5,
        tls_context=context,
        keepalive=_KEEPALIVE_SECONDS,
        timeout=_TIMEOUT_SECONDS,
        clean_start=True,
        # A hit is several small messages to and fro: waiting to fill packets would cost each of them 40 ms.
        socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
    ) as client:
        yield client


def heed_cancellation() -> None:
    """Take up a cancellation that was lost: a wait that ends in the same instant swallows it in Python 3.11.

    Whoever sends in a loop would otherwise go on for ever (python/cpython issue 86296).
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def finish(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks until they have ended, however they take it; what ended them is not raised."""
    while pending := [task for task in tasks if not task.done()]:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=_FINISH_SECONDS)
    for task in tasks:
        if not task.cancelled():
            task.exception()


class MqttCarrier:
    """A :class:`~egm.progressive.carrier.Carrier` to the broker a cabinet file names."""

    def __init__(self, slot: LinkSlot, machine: str, *, retry_seconds: float = _RETRY_SECONDS) -> None:
        """``machine``: its serial, as its certificate names it. Raises OperatorError for bad certificates."""
        self._slot = slot
        self._machine = machine
        self._retry_seconds = retry_seconds
        self._context = tls(slot)
        self._outbox: asyncio.Queue[FromMachine] | None = None

    def send(self, message: FromMachine) -> None:
        """Send, or lose it where there is no connection."""
        if self._outbox is not None:
            self._outbox.put_nowait(message)

    async def run(self, ears: Ears) -> None:
        """Connect, and connect again after each interruption, until cancelled."""
        while True:
            connected = False
            try:
                async with connection(self._slot, self._context, self._machine) as client:
                    await client.subscribe(topics.ALL_VALUES, _AT_LEAST_ONCE)
                    await client.subscribe(topics.down(self._machine), _AT_LEAST_ONCE)
                    self._outbox = asyncio.Queue()
                    connected = True
                    ears.connected()
                    await self._carry(client, ears)
            except (aiomqtt.MqttError, OSError) as error:
                if connected:
                    ears.disconnected(str(error))
            finally:
                self._outbox = None
            heed_cancellation()
            await asyncio.sleep(self._retry_seconds)

    async def _carry(self, client: aiomqtt.Client, ears: Ears) -> None:
        sending = asyncio.create_task(self._send_all(client), name="progressive sender")
        try:
            async for message in client.messages:
                payload = message.payload
                try:
                    ears.received(from_controller(payload if isinstance(payload, bytes) else b""))
                except ProgressiveMessageError as error:
                    ears.misunderstood(str(error))
        finally:
            await finish(sending)

    async def _send_all(self, client: aiomqtt.Client) -> None:
        outbox = self._outbox
        while outbox is not None:
            message = await outbox.get()
            # What is sent by the thousand is numbered, and a gap is asked for: it needs no receipt besides.
            care = _AT_MOST_ONCE if isinstance(message, Contribution) else _AT_LEAST_ONCE
            await client.publish(topics.up(self._machine), encode(message), care)
            heed_cancellation()


def progressive_link(surroundings: Surroundings) -> Iterable[Attachment]:
    """The machine's link, where the cabinet file names a broker."""
    slot = surroundings.file.progressive_link
    if slot is None:
        return ()
    return (ProgressiveLink(surroundings, MqttCarrier(slot, surroundings.engine.cabinet.identity.serial)),)
