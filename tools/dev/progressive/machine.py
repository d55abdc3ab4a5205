"""A simulated machine on a link: the real link client over the real carrier, and a memory that outlives it.

It plays by dice instead of games. :class:`Memory` holds what a machine's journal would; everything else is
lost with the object, as in a killed process. ``step`` is called after each durable change and before its
consequences: an exception raised there kills the machine at that point.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from egm.progressive.carrier import Carrier
from egm.progressive.link import (
    AmountLocked,
    CommitmentReceived,
    Complaint,
    ControllerAhead,
    ControllerBehind,
    Link,
    MysteryWinFound,
    News,
    PaymentRecorded,
    ResultsKnown,
)
from egm.progressive.messages import Claim, Commit, Contribution, FromController, Won
from egm.progressive.pools import Pool
from egm.progressive.trigger import Trigger

_TICK_SECONDS: Final = 0.005


@dataclass(slots=True)
class Hit:
    """One hit as the machine's memory has it; amounts in minor units, None until known.

    ``falls``: how often the level had fallen when the machine showed ``shown_cents``.
    """

    after: int
    shown_cents: int
    falls: int = 0
    locked_cents: int | None = None
    paid_cents: int | None = None
    closed: bool = False
    given_again: bool = False
    """To a controller whose restored store had lost it: what that locks now is not what is paid."""
    trigger: Trigger | None = None
    """Of a mystery prize: the secret amount."""


@dataclass(slots=True)
class Memory:
    """The durable state of a machine."""

    given: list[Contribution] = field(default_factory=list)
    counted: int = 0
    hits: dict[str, Hit] = field(default_factory=dict)
    shown_cents: int = 0
    falls: int = 0
    boots: int = 0
    sealed: dict[int, str] = field(default_factory=dict)
    """Of a mystery level: the commitment heard of each prize."""
    complaints: list[str] = field(default_factory=list)


class SimulatedMachine:
    """One life of a machine that feeds one level."""

    def __init__(
        self,
        serial: str,
        pool: Pool,
        memory: Memory,
        carrier: Carrier,
        *,
        now_ns: Callable[[], int],
        stale_ns: int,
        tick_seconds: float = _TICK_SECONDS,
        step: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._serial = serial
        self._pool = pool
        self.memory = memory
        self._carrier = carrier
        self._now_ns = now_ns
        self._step = step
        self._tick_seconds = tick_seconds
        self.link = Link(serial, (pool,), stale_ns=stale_ns)
        self._connections = 0
        memory.boots += 1
        self.link.restore_contributions(pool.id, memory.counted, memory.given[memory.counted :])
        self.link.restore_shown_amount(pool.id, memory.shown_cents, memory.falls)
        for name, hit in memory.hits.items():
            if hit.closed:
                self.link.drop_claim(name)
            else:
                self._take_up(name, hit)

    def _take_up(self, name: str, hit: Hit) -> None:
        claim = self._claim(name, hit)
        if hit.paid_cents is not None:
            self.link.report_payment(self._commit(name, hit.paid_cents), claim, self._now_ns())
            return
        if hit.trigger is not None:
            self.link.open_claim(claim, self._now_ns())
            self._pay(name, hit)
            return
        self.link.hit(claim, self._now_ns())
        if hit.locked_cents is not None:
            self.link.locked(name)
            self._pay(name, hit)

    # ------------------------------------------------------------------ playing
    @property
    def joined(self) -> bool:
        """The controller has enrolled it."""
        return self.link.feeders[self._pool.id].joined

    @property
    def settled(self) -> bool:
        """Everything given is counted, and every hit is paid and closed at the controller."""
        feeder = self.link.feeders[self._pool.id]
        memory = self.memory
        return feeder.counted == len(memory.given) and all(hit.closed for hit in memory.hits.values())

    @property
    def shown_cents(self) -> int:
        """Return the amount on its screen, in minor units."""
        return self.link.find_displayed_amount(self._pool.id, self._now_ns()).amount_cents

    def play(self, dice: random.Random, hit_chance: float) -> None:
        """One wager; ``hit_chance`` of it wins the level."""
        memory, terms = self.memory, self._pool.definition.terms
        stake_cents = self._pool.definition.chance.stake_cents
        made = Contribution(
            machine=self._serial,
            level=self._pool.id,
            sequence=len(memory.given) + 1,
            wager_cents=stake_cents,
            amount=stake_cents * terms.increment,
        )
        memory.given.append(made)
        won = dice.random() < hit_chance and not terms.mystery
        name = f"{self._serial}.{self._pool.id}.{made.sequence}"
        if won:  # in the wager's own transaction, as the machine does it
            memory.hits[name] = Hit(made.sequence, self.shown_cents, self.link.feeders[self._pool.id].falls)
        self._step("wager")
        self.link.queue_contribution(made, self._now_ns())
        if won:
            self._step("hit")
            self.link.hit(self._claim(name, memory.hits[name]), self._now_ns())
        self._send()

    def _claim(self, name: str, hit: Hit) -> Claim:
        return Claim(
            machine=self._serial,
            level=self._pool.id,
            claim=name,
            after=hit.after,
            shown_cents=hit.shown_cents,
        )

    def _commit(self, name: str, cents: int) -> Commit:
        return Commit(machine=self._serial, level=self._pool.id, claim=name, amount_cents=cents)

    # ------------------------------------------------------------------ the link's ears
    async def run(self) -> None:
        """Live until cancelled or killed."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._carrier.run(self))
            while True:
                self.link.tick(self._now_ns())
                self._learn_all()
                self._send()
                await asyncio.sleep(self._tick_seconds)

    def handle_connection(self) -> None:
        """Enrol anew."""
        self._connections += 1
        nonce = f"{self._serial}.{self.memory.boots}.{self._connections}"
        self.link.enrol_levels(nonce, self._now_ns())
        self._send()

    def disconnected(self, why: str) -> None:
        """Mark the level as down."""
        del why
        self.link.disconnected()

    def process_message(self, message: FromController) -> None:
        """Take what the controller says."""
        self.link.receive(message, self._now_ns())
        self._learn_all()
        self._send()

    def misunderstood(self, text: str) -> None:
        """Keep it; nothing moves."""
        self.memory.complaints.append(text)

    def _send(self) -> None:
        for message in self.link.take_messages():
            self._carrier.send(message)

    # ------------------------------------------------------------------ what it learns
    def _learn_all(self) -> None:
        for news in self.link.take_news():
            self._learn(news)
        feeder = self.link.feeders[self._pool.id]
        self.memory.counted = max(self.memory.counted, feeder.counted)
        self.memory.shown_cents, self.memory.falls = feeder.amount_cents, feeder.falls

    def _learn(self, news: News) -> None:
        match news:
            case AmountLocked():
                self._locked(news.claim, news.amount_cents)
            case PaymentRecorded():
                self._step("closed")
                self.memory.hits[news.claim].closed = True
                self.link.drop_claim(news.claim)
            case ControllerBehind():
                self._give_again(news.sequence)
            case MysteryWinFound():
                self._found(news.won)
            case CommitmentReceived():
                self.memory.sealed[news.prize] = news.commitment
            case ResultsKnown():
                pass  # no game of dice waits for it
            case ControllerAhead() | Complaint():
                self.memory.complaints.append(str(news))

    def _locked(self, name: str, cents: int) -> None:
        """Record the amount that the controller locked for a hit, then pay it."""
        hit = self.memory.hits[name]
        if hit.locked_cents is None:
            self._step("award heard")
            hit.locked_cents = cents
            self._step("award kept")
        elif hit.locked_cents != cents and not hit.given_again:
            self.memory.complaints.append(f"{name}: awarded {cents} besides")
        self.link.locked(name)
        self._pay(name, hit)

    def _give_again(self, after: int) -> None:
        """Give a controller that has lost it what came after a contribution, and the hits of it."""
        self.memory.counted = after
        self.link.restore_contributions(self._pool.id, after, self.memory.given[after:])
        for name, hit in self.memory.hits.items():
            if hit.after > after and hit.trigger is None:
                hit.closed, hit.given_again = False, True
                self._take_up(name, hit)

    def _found(self, won: Won) -> None:
        """Record a wager that the controller found to have won, then pay it. A repeat changes nothing."""
        hit = self.memory.hits.get(won.claim)
        if hit is None:
            if self.memory.sealed.get(won.trigger.number, won.trigger.commitment) != won.trigger.commitment:
                self.memory.complaints.append(f"{won.claim}: its secret is not the one that was promised")
            self._step("award heard")
            hit = self.memory.hits[won.claim] = Hit(
                after=won.sequence,
                shown_cents=won.amount_cents,
                locked_cents=won.amount_cents,
                trigger=won.trigger,
            )
            self._step("award kept")
        elif (hit.locked_cents, hit.trigger) != (won.amount_cents, won.trigger):
            self.memory.complaints.append(f"{won.claim}: {won.amount_cents} besides")
        if not hit.closed:
            self.link.open_claim(self._claim(won.claim, hit), self._now_ns())
            self._pay(won.claim, hit)

    def _pay(self, name: str, hit: Hit) -> None:
        if hit.paid_cents is None and hit.locked_cents is not None:
            hit.paid_cents = hit.locked_cents
            self._step("paid")
        if hit.paid_cents is not None:
            self.link.report_payment(
                self._commit(name, hit.paid_cents), self._claim(name, hit), self._now_ns()
            )
