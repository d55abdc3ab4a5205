"""The controller on the network: messages of machines in, answers and values out, over the link's broker.

Messages that wait are taken together, in one durable transaction, and answered after it: a busy floor costs
one disk write for many wagers. A controller that finds itself deposed, or a record that does not add up,
stops; whoever stands by takes over.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import aiomqtt

from egm.progressive import topics
from egm.progressive.messages import (
    Counted,
    FromController,
    ProgressiveMessageError,
    Value,
    encode,
    from_machine,
)
from egm.progressive.mqtt import connection, finish, heed_cancellation, tls
from egm.progressive.slots import LinkSlot
from tools.progressive.certificates import CONTROLLER
from tools.progressive.controller import Controller, Heard

#: Messages taken in one transaction, at most.
_BATCH: Final = 256
_VALUES_SECONDS: Final = 0.5
_RETRY_SECONDS: Final = 1.0


class Service:
    """A controller, and its place on the broker. ``tell`` hears what is worth a line on a terminal."""

    def __init__(
        self,
        controller: Controller,
        slot: LinkSlot,
        tell: Callable[[str], None],
        *,
        values_seconds: float = _VALUES_SECONDS,
        retry_seconds: float = _RETRY_SECONDS,
    ) -> None:
        """``values_seconds``: between two values of a level, at most a second (I-02)."""
        self._controller = controller
        self._slot = slot
        self._tell = tell
        self._values_seconds = values_seconds
        self._retry_seconds = retry_seconds
        self._inbox: asyncio.Queue[Heard] = asyncio.Queue()

    async def run(self) -> None:
        """Serve until cancelled, or until the store or a level's record stops the controller."""
        context = tls(self._slot)
        while True:
            try:
                async with connection(self._slot, context, CONTROLLER) as client:
                    await client.subscribe(topics.ALL_UP, 1)
                    self._tell(f"serving on {self._slot.host}:{self._slot.port}")
                    await self._serve(client)
            except (aiomqtt.MqttError, OSError) as error:
                self._tell(f"no broker: {error}")
            heed_cancellation()
            await asyncio.sleep(self._retry_seconds)

    async def _serve(self, client: aiomqtt.Client) -> None:
        tasks = [
            asyncio.create_task(self._hear(client), name="hear"),
            asyncio.create_task(self._answer(client), name="answer"),
            asyncio.create_task(self._show(client), name="show"),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await finish(*tasks)

    async def _hear(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            sender = topics.machine_of(str(message.topic))
            payload = message.payload if isinstance(message.payload, bytes) else b""
            try:
                self._inbox.put_nowait(Heard(sender, from_machine(payload)))
            except ProgressiveMessageError as error:
                self._controller.misunderstood(sender, str(error))
                self._tell(f"{sender}: {error}")

    async def _answer(self, client: aiomqtt.Client) -> None:
        while True:
            heard = [await self._inbox.get()]
            while len(heard) < _BATCH and not self._inbox.empty():
                heard.append(self._inbox.get_nowait())
            for answer in latest(self._controller.take(heard)):
                await self._send(client, answer)

    async def _send(self, client: aiomqtt.Client, answer: FromController) -> None:
        if not isinstance(answer, Value):
            care = 0 if isinstance(answer, Counted) else 1
            await client.publish(topics.down(answer.machine), encode(answer), care)
            heed_cancellation()

    async def _show(self, client: aiomqtt.Client) -> None:
        while True:
            for value in self._controller.values():
                await client.publish(topics.value(value.level), encode(value), 1, retain=True)
                heed_cancellation()
            await asyncio.sleep(self._values_seconds)


def latest(answers: list[FromController]) -> list[FromController]:
    """The answers, in order; of counts of one machine's contributions to one level only the last."""
    last = {(a.machine, a.level): a for a in answers if isinstance(a, Counted)}
    return [a for a in answers if not isinstance(a, Counted) or last[a.machine, a.level] is a]
