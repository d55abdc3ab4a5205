"""Connection to the MQTT broker of a progressive link: MQTT 5 over TLS 1.3, reopened after every failure.

This module sets the time limit of every wait itself. The MQTT library's limits use ``asyncio.wait_for``, which in
Python 3.11 loses a cancellation that arrives at the moment when the awaited event happens (python/cpython issue 86296);
the cancelled task would then run forever. The library is therefore used without its own limits.
"""

import asyncio
import contextlib
import math
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Final, Never, TypeVar

import aiomqtt
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.x509.oid import NameOID

from egm.config.levels import ProgressiveLinkTable
from egm.errors import OperatorError
from egm.private_files import require_private_files
from egm.progressive.certificates import convert_read_errors

MessageT = TypeVar("MessageT")

#: Keep-alive interval: the broker and its client detect each other's silence within about 1.5 times this interval.
_KEEPALIVE_SECONDS: Final = 2
#: Time limit for a reply of the broker; a connection that exceeds it is replaced.
BROKER_REPLY_SECONDS_MAX: Final = 5.0
#: Number of steps of a connection, each with the time limit: TCP, TLS, and the broker's reply.
_CONNECTION_STEP_COUNT: Final = 3
#: Delay between two attempts to connect.
RECONNECT_SECONDS: Final = 1.0
#: A task that ignores its cancellation is cancelled again after this time.
_REPEATED_CANCEL_SECONDS: Final = 1.0
#: MQTT quality of service: a message is delivered at most once.
QOS_AT_MOST_ONCE: Final = 0
#: MQTT quality of service: a message is delivered at least once.
QOS_AT_LEAST_ONCE: Final = 1
#: Reason codes from this one on are refusals (MQTT 5, 2.4).
_LOWEST_REFUSAL_REASON_CODE: Final = 0x80


class _SelfClosingSocket(ssl.SSLSocket):
    """A TLS socket to the broker that closes itself when the MQTT library no longer refers to it.

    After a failed handshake the library drops the socket without closing it.
    """

    def __del__(self) -> None:
        self.close()


def build_tls_context(link_table: ProgressiveLinkTable) -> ssl.SSLContext:
    """Return the TLS 1.3 context with which the broker and its client authenticate each other by certificates.

    Raises OperatorError that names the certificate files.
    """
    require_private_files(link_table.key)
    try:
        context = ssl.create_default_context(cafile=str(link_table.authority))
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(link_table.certificate, link_table.key)
        context.sslsocket_class = _SelfClosingSocket
    except (OSError, ssl.SSLError) as error:
        file_names = f"{link_table.authority}, {link_table.certificate}, {link_table.key}"
        raise OperatorError(f"progressive link: certificates {file_names}: {error}") from error
    return context


def check_certificates(link_table: ProgressiveLinkTable, serial: str) -> None:
    """Raise OperatorError unless the certificate files of the link authenticate this machine to the broker.

    The private key must belong to the machine's certificate, the authority must have signed the certificate,
    and the certificate must name the machine by ``serial``: the broker knows it by no other name.
    """
    build_tls_context(link_table)  # checks that the key is the certificate's
    try:
        with convert_read_errors():
            certificate = x509.load_pem_x509_certificate(link_table.certificate.read_bytes())
            authority = x509.load_pem_x509_certificate(link_table.authority.read_bytes())
            subject = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
            common_names = [str(attribute.value) for attribute in subject]
            certificate.verify_directly_issued_by(authority)
    except (OSError, ValueError, InvalidSignature) as error:
        raise OperatorError(
            f"{link_table.certificate}: not signed by {link_table.authority}: {error}"
        ) from error
    if common_names != [serial]:
        raise OperatorError(
            f"{link_table.certificate}: is for {', '.join(common_names)}, but this machine is {serial}"
        )


def get_payload(message: aiomqtt.Message) -> bytes:
    """Return the bytes of an MQTT message; empty if it has none."""
    return message.payload if isinstance(message.payload, bytes) else b""


class DeduplicatingQueue(asyncio.Queue[MessageT]):
    """A first-in, first-out queue that ignores a message equal to one already in it.

    The sender repeats a message that got no reply. With a slow network, waiting repeats would otherwise accumulate and
    slow it down further.
    """

    _queue: dict[MessageT, None]

    def _init(self, maxsize: int) -> None:
        """Create the empty queue (a hook of :class:`asyncio.Queue`)."""
        del maxsize
        self._queue = {}

    def _put(self, item: MessageT) -> None:
        """Add a message unless it waits already (a hook of :class:`asyncio.Queue`)."""
        self._queue.setdefault(item)

    def _get(self) -> MessageT:
        """Return the message that has waited longest, and remove it (a hook of :class:`asyncio.Queue`)."""
        oldest_message = next(iter(self._queue))
        del self._queue[oldest_message]
        return oldest_message


class BrokerConnection:
    """An open connection to the broker. Any failure of it, and any missing reply, raises MqttError."""

    def __init__(self, client: aiomqtt.Client, broker_reply_seconds_max: float) -> None:
        self._client = client
        self._broker_reply_seconds_max = broker_reply_seconds_max

    async def subscribe(self, topic: str) -> None:
        """Subscribe to an MQTT topic with delivery at least once."""
        async with _limit_time(self._broker_reply_seconds_max, f"subscription to {topic}"):
            reason_codes = await self._client.subscribe(topic, QOS_AT_LEAST_ONCE, timeout=math.inf)
        for code in reason_codes:
            value = code if isinstance(code, int) else code.value
            if value >= _LOWEST_REFUSAL_REASON_CODE:
                raise aiomqtt.MqttError(f"the broker refuses a subscription to {topic}: {code}")

    async def publish(self, topic: str, data: bytes, qos: int, *, retain: bool = False) -> None:
        """Publish ``data`` on an MQTT topic; with ``qos`` QOS_AT_LEAST_ONCE, wait until the broker has acknowledged it.

        With ``retain``, the broker keeps it for later subscribers.
        """
        async with _limit_time(self._broker_reply_seconds_max, f"acknowledgement of a message to {topic}"):
            await self._client.publish(topic, data, qos, retain, timeout=math.inf)

    @property
    def messages(self) -> AsyncIterator[aiomqtt.Message]:
        """Yield the messages received from the broker until the connection ends."""
        return self._client.messages


@contextlib.asynccontextmanager
async def open_connection(
    link_table: ProgressiveLinkTable,
    tls_context: ssl.SSLContext,
    client_id: str,
    *,
    broker_reply_seconds_max: float = BROKER_REPLY_SECONDS_MAX,
) -> AsyncIterator[BrokerConnection]:
    """Open a connection to the broker for the ``with`` block.

    Raises ``aiomqtt.MqttError`` if it cannot be opened, or when it fails.
    """
    client = aiomqtt.Client(
        link_table.host,
        link_table.port,
        identifier=client_id,
        protocol=aiomqtt.ProtocolVersion.V5,
        tls_context=tls_context,
        keepalive=_KEEPALIVE_SECONDS,
        timeout=math.inf,
        clean_start=True,
        # A hit is several small messages in both directions; Nagle's algorithm would delay each by 40 ms.
        socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
    )
    exit_stack = contextlib.AsyncExitStack()
    async with _limit_time(
        _CONNECTION_STEP_COUNT * broker_reply_seconds_max,
        f"connection to {link_table.host}:{link_table.port}",
    ):
        await exit_stack.enter_async_context(client)
    try:
        yield BrokerConnection(client, broker_reply_seconds_max)
    finally:
        # An error while closing must not replace the reason for which it is closed.
        with contextlib.suppress(aiomqtt.MqttError):
            async with _limit_time(broker_reply_seconds_max, "disconnection"):
                await exit_stack.aclose()


@contextlib.asynccontextmanager
async def _limit_time(seconds: float, activity: str) -> AsyncIterator[None]:
    """Raise MqttError if the ``with`` block takes longer than ``seconds``; the error names the ``activity``."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise aiomqtt.MqttError(f"{activity}: no answer within {seconds:g} s") from None


async def keep_connected(
    link_table: ProgressiveLinkTable,
    create_tls_context: Callable[[], ssl.SSLContext],
    client_id: str,
    use_connection: Callable[[BrokerConnection], Awaitable[None]],
    on_disconnection: Callable[[str], None],
    *,
    retry_seconds: float = RECONNECT_SECONDS,
    broker_reply_seconds_max: float = BROKER_REPLY_SECONDS_MAX,
) -> Never:
    """Connect to the broker and call ``use_connection`` with it; connect again whenever it ends, until cancelled.

    ``create_tls_context`` is called for each connection, because certificates may have been replaced.
    While there is no connection, ``on_disconnection`` is called with the reason, and again whenever the reason changes.
    Errors of ``use_connection`` other than a lost connection propagate.
    """
    reported_reason = ""
    while True:
        reason = ""
        try:
            tls_context = create_tls_context()
        except OperatorError as error:
            reason = str(error)
        else:
            try:
                async with open_connection(
                    link_table, tls_context, client_id, broker_reply_seconds_max=broker_reply_seconds_max
                ) as connection:
                    reported_reason = ""
                    await use_connection(connection)
            except aiomqtt.MqttError as error:
                reason = str(error)
        if reason and reason != reported_reason:
            reported_reason = reason
            on_disconnection(reason)
        await asyncio.sleep(retry_seconds)


async def run_together(*coroutines: Coroutine[None, None, None]) -> None:
    """Run several coroutines until the first of them ends, then cancel the remaining ones.

    If the first one ended with an error, raise that error. If several ended with an error, raise a lost connection
    only if there is no other error.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancel_tasks(*tasks)
    errors = [error for task in tasks if not task.cancelled() and (error := task.exception()) is not None]
    for error in sorted(errors, key=lambda task_error: isinstance(task_error, aiomqtt.MqttError)):
        raise error


async def cancel_tasks(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks and wait until they have ended; errors that they raise are dropped.

    A task that ignores the cancellation is cancelled again.
    """
    while pending_tasks := [task for task in tasks if not task.done()]:
        for task in pending_tasks:
            task.cancel()
        await asyncio.wait(pending_tasks, timeout=_REPEATED_CANCEL_SECONDS)
    for task in tasks:
        if not task.cancelled():
            task.exception()
