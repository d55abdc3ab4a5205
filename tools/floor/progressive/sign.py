"""What a sign on the floor shows, and where it hears it (Québec by-law s.91: the amount, continuously).

The sign reads the values a controller publishes and nothing else. Between two values its drums run from what
they show to what was told last and never past it, so that no amount stands there that the level did not
have. A level that has not been heard for five seconds shows no amount at all. A value a broker kept says what
a level was once worth, and is not a sign of life.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import aiomqtt

from egm.config.levels import LinkSlot
from egm.progressive import topics
from egm.progressive.connection import (
    AT_MOST_ONCE,
    RETRY_SECONDS,
    Line,
    payload,
    stay_connected,
    tls,
    together,
)
from egm.progressive.messages import SILENT_NS, ProgressiveMessageError, Value, from_controller

STALE_NS: Final = SILENT_NS
#: Drums take this long to what was told. Values come twice a second: the drums never stand still in between.
RUN_NS: Final = 750_000_000
#: How often it is asked whether a heartbeat is due.
_LOOK_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plate:
    """One level as the sign shows it now.

    ``thousandths`` are those of a minor unit, for the drums; None: the amount is not known, none is shown.
    ``heard_ns`` is how long ago the level gave a sign of life; None: never.
    """

    level: str
    names: Mapping[str, str]
    thousandths: int | None
    heard_ns: int | None


@dataclass(slots=True)
class _Level:
    value: Value
    start: int
    told_ns: int
    heard_ns: int | None = None

    def thousandths(self, now_ns: int) -> int:
        """What the drums show: on the way from ``start`` to the value told."""
        target = self.value.amount_cents * 1000
        run_ns = min(RUN_NS, max(0, now_ns - self.told_ns))
        return self.start + (target - self.start) * run_ns // RUN_NS

    def fresh(self, now_ns: int) -> bool:
        return self.heard_ns is not None and now_ns - self.heard_ns <= STALE_NS


@dataclass(slots=True)
class Sign:
    """The levels of a sign. Times are monotonic nanoseconds.

    ``chosen``: the levels it shows, in this order; empty: every level that gives a sign of life, by its id.
    """

    chosen: tuple[str, ...] = ()
    _levels: dict[str, _Level] = field(default_factory=dict)

    def hear(self, value: Value, now_ns: int, *, kept: bool = False) -> str:
        """Take a value; return what is wrong with it, or nothing. ``kept``: a broker had kept it.

        One that came before is passed over (:meth:`Value.follows`). A lower amount without a fall is never
        shown, and gives no life (NM 15.1.24.12(E)); one after a fall is shown at once. If no amount was shown
        any more, another run of the controller starts the level anew: nobody reports to it what signs showed.
        """
        level = self._levels.get(value.level)
        silent = level is not None and not level.fresh(now_ns)
        if level is None or (silent and not kept and value.run != level.value.run):
            level = self._levels[value.level] = _Level(value, value.amount_cents * 1000, now_ns)
        elif not value.follows(level.value.run, level.value.sequence, level.value.time_utc, silent=silent):
            return ""
        elif wrong := value.contradiction(level.value.amount_cents, level.value.falls):
            return wrong
        else:
            if value.falls != level.value.falls:
                level.start, level.told_ns = value.amount_cents * 1000, now_ns
            elif (
                value.amount_cents != level.value.amount_cents
            ):  # told again, it does not hold the drums back
                level.start, level.told_ns = level.thousandths(now_ns), now_ns
            level.value = value
        if not kept:
            level.heard_ns = now_ns
        return ""

    def plates(self, now_ns: int) -> tuple[Plate, ...]:
        """What it shows now."""
        alive = sorted(name for name, level in self._levels.items() if level.heard_ns is not None)
        return tuple(self._plate(name, now_ns) for name in self.chosen or alive)

    def _plate(self, name: str, now_ns: int) -> Plate:
        level = self._levels.get(name)
        if level is None:
            return Plate(level=name, names={}, thousandths=None, heard_ns=None)
        return Plate(
            level=name,
            names=level.value.names,
            thousandths=level.thousandths(now_ns) if level.fresh(now_ns) else None,
            heard_ns=None if level.heard_ns is None else now_ns - level.heard_ns,
        )


@dataclass(slots=True)
class Watch:
    """Notices when a level of a sign goes dark, and when it lights again: each is an event (I-02)."""

    sign: Sign
    tell: Callable[[str], None]
    _lit: dict[str, bool] = field(default_factory=dict)

    def look(self, now_ns: int) -> tuple[Plate, ...]:
        """What the sign shows now; whatever changed since the last look is told."""
        plates = self.sign.plates(now_ns)
        for plate in plates:
            lit = plate.thousandths is not None
            if lit != self._lit.get(plate.level):
                self._lit[plate.level] = lit
                self.tell(f"{plate.level}: {'shown' if lit else 'not heard, no amount is shown'}")
        return plates


class Listener(Protocol):
    """Who hears values: a sign, or whoever watches as one does."""

    def hear(self, value: Value, now_ns: int, *, kept: bool = False) -> str:
        """Take a value; return what is wrong with it, or nothing. ``kept``: a broker had kept it."""
        ...


async def listen(
    sign: Listener,
    slot: LinkSlot,
    now_ns: Callable[[], int],
    tell: Callable[[str], None],
    *,
    name: str,
    beat: Callable[[int], bytes | None] = lambda _: None,
    retry_seconds: float = RETRY_SECONDS,
    lost: Callable[[str], None] | None = None,
) -> None:
    """Hear every value, and connect again after each interruption, until cancelled.

    ``tell`` hears what is wrong with a value; ``lost`` (or it) why there is no broker. ``name`` is the sign's
    own among those that share its certificate. ``beat`` is what the controller is to be told of the sign now,
    where it is time to. Raises OperatorError for bad files.
    """

    async def serve(line: Line) -> None:
        await line.subscribe(topics.ALL_VALUES)
        await together(hear(line), live(line))

    async def live(line: Line) -> None:
        while True:
            told = beat(now_ns())
            if told is not None:
                await line.publish(topics.beat(name), told, AT_MOST_ONCE)
            await asyncio.sleep(_LOOK_SECONDS)

    async def hear(line: Line) -> None:
        async for message in line.messages:
            wrong = _take(sign, message, now_ns())
            if wrong:
                tell(wrong)

    def gone(why: str) -> None:
        (lost or tell)(f"no broker: {why}")

    context = tls(slot)
    await stay_connected(slot, lambda: context, name, serve, gone, retry_seconds=retry_seconds)


def _take(sign: Listener, message: aiomqtt.Message, now_ns: int) -> str:
    try:
        value = from_controller(payload(message))
    except ProgressiveMessageError as error:
        return str(error)
    if not isinstance(value, Value) or str(message.topic) != topics.value(value.level):
        return f"{message.topic}: no value of that level"
    return sign.hear(value, now_ns, kept=bool(message.retain))
