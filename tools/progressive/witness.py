"""Who reads every value published, as the public is shown it, and remembers what was ever too low."""

from typing import Final

from egm.progressive import topics
from egm.progressive.connection import Line, payload, stay_connected, tls
from egm.progressive.messages import Value, from_controller
from egm.progressive.slots import LinkSlot
from tools.progressive.certificates import SIGN

_RETRY_SECONDS: Final = 0.02


class Witness:
    """Holds each value of a level against the one before."""

    def __init__(self, slot: LinkSlot) -> None:
        self._slot = slot
        self._last: dict[str, Value] = {}
        self._highest: dict[tuple[str, int], int] = {}
        self.seen = 0
        self.wrong: list[str] = []

    async def run(self) -> None:
        """Watch until cancelled."""

        async def serve(line: Line) -> None:
            await line.subscribe(topics.ALL_VALUES)
            async for message in line.messages:
                value = from_controller(payload(message))
                if isinstance(value, Value):
                    self.see(value)

        context = tls(self._slot)
        await stay_connected(self._slot, context, SIGN, serve, lambda _: None, retry_seconds=_RETRY_SECONDS)

    def see(self, value: Value) -> None:
        """Take a value; one that comes late is passed over."""
        last = self._last.get(value.level)
        if last is not None and value.sequence <= last.sequence:
            return
        if last is not None and (wrong := value.contradiction(last.amount_cents, last.falls)):
            self.wrong.append(wrong)
        self._last[value.level] = value
        self._highest[value.level, value.falls] = value.amount_cents
        self.seen += 1

    def highest_cents(self, level: str, falls: int) -> int:
        """The most the public was shown of a level after so many falls, minor units; nothing shown: 0."""
        return self._highest.get((level, falls), 0)
