"""Carrier of the progressive link's messages over MQTT 5 with TLS and mutual authentication by certificates.

The only assumption is that a connection delivers bytes in order while it lasts: messages may be lost or
arrive twice, and the link (:mod:`egm.progressive.link`) handles that.
"""

import ssl
from collections.abc import Iterable

import aiomqtt

from egm.config.levels import ProgressiveLinkTable
from egm.errors import OperatorError
from egm.kernel.services import BackgroundService, MachineContext
from egm.progressive import topics
from egm.progressive.carrier import CarrierListener
from egm.progressive.connection import (
    BROKER_REPLY_SECONDS_MAX,
    QOS_AT_LEAST_ONCE,
    QOS_AT_MOST_ONCE,
    RECONNECT_SECONDS,
    BrokerConnection,
    DeduplicatingQueue,
    build_tls_context,
    get_payload,
    keep_connected,
    run_together,
)
from egm.progressive.link_service import ProgressiveLinkService
from egm.progressive.messages import (
    Contribution,
    MachineMessage,
    ProgressiveMessageError,
    decode_controller_message,
    encode,
)


class MqttCarrier:
    """Transport of the progressive link's messages over MQTT, to the broker named in the cabinet file."""

    def __init__(
        self,
        link_table: ProgressiveLinkTable,
        machine_id: str,
        *,
        retry_seconds: float = RECONNECT_SECONDS,
        broker_reply_seconds_max: float = BROKER_REPLY_SECONDS_MAX,
    ) -> None:
        """Create the transport for the machine with the serial number ``machine_id``.

        Without valid certificates it stays disconnected.
        """
        self._link_table = link_table
        self._machine_id = machine_id
        self._retry_seconds = retry_seconds
        self._broker_reply_seconds_max = broker_reply_seconds_max
        self._certificate_error = ""
        self._outbox: DeduplicatingQueue[MachineMessage] | None = None

    def send(self, message: MachineMessage) -> None:
        """Queue a message to the controller; drop it if there is no connection."""
        if self._outbox is not None:
            self._outbox.put_nowait(message)

    async def run(self, listener: CarrierListener) -> None:
        """Connect and carry messages until cancelled, reconnecting after each interruption.

        ``listener`` receives the controller's messages and the changes of the connection.
        """

        async def use_connection(connection: BrokerConnection) -> None:
            """Subscribe to the machine's topics, then exchange messages until the connection ends."""
            await connection.subscribe(topics.LEVEL_VALUE_TOPIC_FILTER)
            await connection.subscribe(topics.build_downlink_topic(self._machine_id))
            outbox: DeduplicatingQueue[MachineMessage] = DeduplicatingQueue()
            self._outbox = outbox
            listener.handle_connected()
            try:
                await run_together(
                    self._pass_messages_on(connection, listener),
                    self._publish_queued_messages(connection, outbox),
                )
            except aiomqtt.MqttError as error:
                listener.handle_disconnected(str(error))
                raise
            finally:
                self._outbox = None

        def build_checked_tls_context() -> ssl.SSLContext:
            """Check the link's certificates, and return the TLS context that uses them."""
            try:
                return build_tls_context(self._link_table)
            except OperatorError as error:
                if str(error) != self._certificate_error:
                    self._certificate_error = str(error)
                    listener.handle_disconnected(self._certificate_error)
                raise

        await keep_connected(
            self._link_table,
            build_checked_tls_context,
            self._machine_id,
            use_connection,
            lambda _: None,  # every lost connection is already reported to the listener
            retry_seconds=self._retry_seconds,
            broker_reply_seconds_max=self._broker_reply_seconds_max,
        )

    async def _pass_messages_on(self, connection: BrokerConnection, listener: CarrierListener) -> None:
        """Pass each message received from the broker on to the listener."""
        async for message in connection.messages:
            try:
                controller_message = decode_controller_message(get_payload(message))
            except ProgressiveMessageError as error:
                listener.handle_invalid_message(str(error))
            else:
                listener.process_message(controller_message)

    async def _publish_queued_messages(
        self, connection: BrokerConnection, outbox: DeduplicatingQueue[MachineMessage]
    ) -> None:
        """Publish the queued messages.

        Wait until the broker has acknowledged each, except for contributions.
        """
        while True:
            message = await outbox.get()
            # Contributions are many, so they are sent without acknowledgement. They are numbered, and the controller
            # asks again for any that are missing.
            qos = QOS_AT_MOST_ONCE if isinstance(message, Contribution) else QOS_AT_LEAST_ONCE
            await connection.publish(topics.build_uplink_topic(self._machine_id), encode(message), qos)


def create_progressive_link_service(context: MachineContext) -> Iterable[BackgroundService]:
    """Create the service for the progressive link; nothing if the cabinet file names no broker."""
    link_table = context.cabinet_file.progressive_link
    if link_table is None:
        return ()
    return (ProgressiveLinkService(context, MqttCarrier(link_table, context.engine.machine.identity.serial)),)
