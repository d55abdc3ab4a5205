"""The controller on the network: receives machine messages and sends replies and values over the link's broker.

Waiting messages are processed together in one durable transaction and then answered, so that many wagers cost one
disk write. A controller stops if another one has taken over, or if it finds a record that does not add up.
Then a standby controller takes over.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from egm.config.levels import ProgressiveLinkTable
from egm.progressive import topics
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
from egm.progressive.messages import (
    ContributionCount,
    ControllerMessage,
    LevelValue,
    ProgressiveMessageError,
    decode_machine_message,
    encode,
)
from tools.floor.progressive.certificates import CONTROLLER_CERTIFICATE_NAME
from tools.floor.progressive.controller import Controller, ReceivedMessage
from tools.floor.progressive.heartbeat import SignHeartbeat, read_heartbeat
from tools.floor.progressive.signs import SignBook, SignRecord

#: The most messages processed in one transaction.
_BATCH_MESSAGES_MAX: Final = 256
#: After this many turns of the event loop without a new message, the messages received so far are processed.
_LOOP_TURNS_WITHOUT_MESSAGE: Final = 5
#: Seconds between two published values of a level.
_VALUE_INTERVAL_SECONDS: Final = 0.5
#: Seconds between two renewals of the controller's term (its hold on the store), with or without a broker.
_TERM_RENEWAL_SECONDS: Final = 2.0


class ControllerService:
    """A progressive controller and its connection to the broker; ``report`` is called with lines for the terminal."""

    def __init__(
        self,
        controller: Controller,
        link_table: ProgressiveLinkTable,
        report: Callable[[str], None],
        *,
        value_interval_seconds: float = _VALUE_INTERVAL_SECONDS,
        retry_seconds: float = RECONNECT_SECONDS,
        broker_reply_seconds_max: float = BROKER_REPLY_SECONDS_MAX,
        signs: SignBook | None = None,
        observe: Callable[[Iterable[LevelValue], Iterable[SignRecord], int], None] = lambda *_: None,
    ) -> None:
        """Create the service; ``value_interval_seconds`` is the time between two values of a level, at most 1 s (I-02).

        ``signs`` monitors the signs on the floor. ``observe`` is called repeatedly with the values of the
        levels, the state of the signs, and the number of claims and payments that wait for a ruling.
        """
        self._controller = controller
        self._link_table = link_table
        self._report = report
        self._value_interval_seconds = value_interval_seconds
        self._retry_seconds = retry_seconds
        self._broker_reply_seconds_max = broker_reply_seconds_max
        self._signs = signs
        self._observe = observe
        self._inbox: DeduplicatingQueue[ReceivedMessage] = DeduplicatingQueue()

    async def run(self) -> None:
        """Serve until cancelled, or until an error of the store or a defective level record stops the controller."""
        await run_together(self._stay_connected(), self._renew_term_periodically())

    async def _stay_connected(self) -> None:
        """Stay connected to the broker until cancelled: connect, and connect again after every interruption."""
        context = build_tls_context(self._link_table)
        await keep_connected(
            self._link_table,
            lambda: context,
            CONTROLLER_CERTIFICATE_NAME,
            self._run_session,
            lambda reason: self._report(
                f"no connection to the broker {self._link_table.host}:{self._link_table.port}: {reason}"
            ),
            retry_seconds=self._retry_seconds,
            broker_reply_seconds_max=self._broker_reply_seconds_max,
        )

    async def _renew_term_periodically(self) -> None:
        """Renew the controller's term periodically, because the database may drop the session of an idle one.

        Raises DeposedError, which stops the service, if another controller has taken the store over.
        """
        while True:
            self._controller.renew_term()
            await asyncio.sleep(_TERM_RENEWAL_SECONDS)

    async def _run_session(self, line: BrokerConnection) -> None:
        """Subscribe to the messages of machines and signs, then process them and publish until the connection ends."""
        await line.subscribe(topics.MACHINE_UPLINK_TOPIC_FILTER)
        await line.subscribe(topics.SIGN_HEARTBEAT_TOPIC_FILTER)
        self._report(f"serving on {self._link_table.host}:{self._link_table.port}")
        await run_together(
            self._receive_messages(line), self._publish_replies(line), self._publish_levels(line)
        )

    async def _receive_messages(self, line: BrokerConnection) -> None:
        """Queue the messages of machines, process the heartbeats of signs, and record invalid messages."""
        async for message in line.messages:
            sign = topics.parse_sign_id(str(message.topic))
            sender = sign or topics.parse_machine_id(str(message.topic))
            try:
                if sign:
                    self._process_heartbeat(sign, read_heartbeat(get_payload(message)))
                else:
                    self._inbox.put_nowait(
                        ReceivedMessage(sender, decode_machine_message(get_payload(message)))
                    )
            except ProgressiveMessageError as error:
                self._controller.record_invalid_message(sender, str(error))
                self._report(f"{sender}: {error}")

    def _process_heartbeat(self, sign: str, heartbeat: SignHeartbeat) -> None:
        """Store a sign's heartbeat. Raises ProgressiveMessageError if it names a sign other than its sender."""
        if heartbeat.sign != sign:
            raise ProgressiveMessageError(
                f"the heartbeat names sign {heartbeat.sign}, but was sent by {sign}"
            )
        if self._signs is not None:
            self._signs.store_heartbeat(heartbeat)

    async def _publish_replies(self, line: BrokerConnection) -> None:
        """Process the received messages and publish the replies, until cancelled."""
        while True:
            for reply in drop_outdated_acknowledgements(
                self._controller.process_messages(await self._collect_messages())
            ):
                await self._publish_reply(line, reply)

    async def _collect_messages(self) -> list[ReceivedMessage]:
        """Wait for a machine's message; return it and all that have arrived meanwhile, up to a maximum.

        A message that is still in the socket needs a few turns of the event loop to arrive.
        """
        messages, empty_turn_count = [await self._inbox.get()], 0
        while len(messages) < _BATCH_MESSAGES_MAX and empty_turn_count < _LOOP_TURNS_WITHOUT_MESSAGE:
            if self._inbox.empty():
                empty_turn_count += 1
                await asyncio.sleep(0)
            else:
                messages.append(self._inbox.get_nowait())
                empty_turn_count = 0
        return messages

    async def _publish_reply(self, line: BrokerConnection, reply: ControllerMessage) -> None:
        """Publish a reply to its machine.

        Level values are skipped, because :meth:`_publish_levels` publishes them.
        """
        if not isinstance(reply, LevelValue):
            qos = QOS_AT_MOST_ONCE if isinstance(reply, ContributionCount) else QOS_AT_LEAST_ONCE
            await line.publish(topics.build_downlink_topic(reply.machine), encode(reply), qos)

    async def _publish_levels(self, line: BrokerConnection) -> None:
        """Publish, periodically, the value of every level (retained) and the recent wins; update the metrics."""
        while True:
            values = self._controller.update_values()
            signs = () if self._signs is None else self._signs.update_states()
            self._observe(values, signs, self._controller.held_count)
            for value in values:
                await line.publish(
                    topics.build_level_value_topic(value.level_id),
                    encode(value),
                    QOS_AT_LEAST_ONCE,
                    retain=True,
                )
            for won in self._controller.wins:
                await line.publish(topics.build_level_win_topic(won.level_id), encode(won), QOS_AT_MOST_ONCE)
            await asyncio.sleep(self._value_interval_seconds)


def drop_outdated_acknowledgements(replies: list[ControllerMessage]) -> list[ControllerMessage]:
    """Return the controller's replies in order, without outdated acknowledgements of contributions.

    Only the last acknowledgement for each machine and level remains.
    """
    last_counts = {(a.machine, a.level_id): a for a in replies if isinstance(a, ContributionCount)}
    return [
        a for a in replies if not isinstance(a, ContributionCount) or last_counts[a.machine, a.level_id] is a
    ]
