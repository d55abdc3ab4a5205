"""Simulate a machine on a progressive link, with the real link client and a memory that outlives each run.

Wins are decided by random numbers instead of games. :class:`MachineMemory` stores what a machine's journal would;
everything else is lost with the object, as in a killed process. ``step`` is called after each durable change and
before its consequences: an exception raised there kills the machine at that point.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from egm.progressive.carrier import LinkCarrier
from egm.progressive.link import (
    ClaimAmountLocked,
    ClaimPaymentRecorded,
    CommitmentReceived,
    ControllerComplaint,
    ControllerCountAhead,
    ControllerCountBehind,
    ControllerLink,
    LevelResultsKnown,
    LinkNotification,
    MysteryWinFound,
)
from egm.progressive.messages import (
    Claim,
    Contribution,
    ControllerMessage,
    MysteryPrizeMessage,
    PaymentReport,
)
from egm.progressive.pools import ProgressivePool
from egm.progressive.trigger import MysteryTrigger

_TICK_SECONDS: Final = 0.005


@dataclass(slots=True)
class Hit:
    """One hit in the machine's memory. Amounts are in minor units, and None until they are known.

    ``fall_count`` is how often the level had been reset when the machine showed ``shown_cents``.
    """

    contribution_number: int
    shown_cents: int
    fall_count: int = 0
    locked_cents: int | None = None
    paid_cents: int | None = None
    is_closed: bool = False
    was_resent: bool = False
    """Whether the hit was sent again, to a controller whose restored store had lost it.

    The amount that this controller locks is not paid again.
    """
    trigger: MysteryTrigger | None = None
    """The secret amount at which a mystery prize was won."""


@dataclass(slots=True)
class MachineMemory:
    """What a simulated machine stores durably."""

    contributions: list[Contribution] = field(default_factory=list)
    last_counted_number: int = 0
    hits: dict[str, Hit] = field(default_factory=dict)
    shown_cents: int = 0
    fall_count: int = 0
    run_count: int = 0
    commitments: dict[int, str] = field(default_factory=dict)
    """The commitment to each prize's secret amount of a mystery level, as received from the controller."""
    findings: list[str] = field(default_factory=list)


class SimulatedMachine:
    """One run of a machine that contributes to one level."""

    def __init__(
        self,
        serial: str,
        pool: ProgressivePool,
        memory: MachineMemory,
        carrier: LinkCarrier,
        *,
        now_ns: Callable[[], int],
        stale_after_ns: int,
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
        self.link = ControllerLink(serial, (pool,), stale_after_ns=stale_after_ns)
        self._connections = 0
        memory.run_count += 1
        self.link.restore_contributions(
            pool.id, memory.last_counted_number, memory.contributions[memory.last_counted_number :]
        )
        self.link.restore_shown_amount(pool.id, memory.shown_cents, memory.fall_count)
        for name, hit in memory.hits.items():
            if hit.is_closed:
                self.link.drop_claim(name)
            else:
                self._resume_hit(name, hit)

    def _resume_hit(self, name: str, hit: Hit) -> None:
        claim = self._build_claim(name, hit)
        if hit.paid_cents is not None:
            self.link.report_payment(self._build_payment_report(name, hit.paid_cents), claim, self._now_ns())
            return
        if hit.trigger is not None:
            self.link.open_mystery_claim(claim, self._now_ns())
            self._pay_hit(name, hit)
            return
        self.link.open_hit_claim(claim, self._now_ns())
        if hit.locked_cents is not None:
            self.link.mark_award_recorded(name)
            self._pay_hit(name, hit)

    # ------------------------------------------------------------------ playing
    @property
    def is_enrolled(self) -> bool:
        """Return whether the controller has enrolled the machine."""
        return self.link.feeder_by_level[self._pool.id].is_enrolled

    @property
    def is_settled(self) -> bool:
        """Return whether every contribution is counted, and every hit is paid and closed at the controller."""
        feeder = self.link.feeder_by_level[self._pool.id]
        memory = self.memory
        return feeder.last_counted_number == len(memory.contributions) and all(
            hit.is_closed for hit in memory.hits.values()
        )

    @property
    def shown_cents(self) -> int:
        """Return the level's amount on the machine's screen, in minor units."""
        return self.link.find_displayed_amount(self._pool.id, self._now_ns()).amount_cents

    def play(self, random_source: random.Random, hit_chance: float) -> None:
        """Play one wager, which hits the level with probability ``hit_chance``."""
        memory, terms = self.memory, self._pool.definition.terms
        stake_cents = self._pool.definition.stake_and_hit_rate.stake_cents
        contribution = Contribution(
            machine=self._serial,
            level=self._pool.id,
            sequence=len(memory.contributions) + 1,
            wager_cents=stake_cents,
            amount=stake_cents * terms.increment,
        )
        memory.contributions.append(contribution)
        is_hit = random_source.random() < hit_chance and not terms.is_mystery
        name = f"{self._serial}.{self._pool.id}.{contribution.number}"
        if is_hit:  # in the transaction of the wager, as the machine does
            memory.hits[name] = Hit(
                contribution.number, self.shown_cents, self.link.feeder_by_level[self._pool.id].fall_count
            )
        self._step("wager")
        self.link.queue_contribution(contribution, self._now_ns())
        if is_hit:
            self._step("hit")
            self.link.open_hit_claim(self._build_claim(name, memory.hits[name]), self._now_ns())
        self._send_messages()

    def _build_claim(self, name: str, hit: Hit) -> Claim:
        return Claim(
            machine=self._serial,
            level=self._pool.id,
            claim=name,
            after=hit.contribution_number,
            shown_cents=hit.shown_cents,
        )

    def _build_payment_report(self, name: str, cents: int) -> PaymentReport:
        return PaymentReport(machine=self._serial, level=self._pool.id, claim=name, amount_cents=cents)

    # ------------------------------------------------------------------ carrier listener
    async def run(self) -> None:
        """Run until cancelled or killed."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._carrier.run(self))
            while True:
                self.link.send_due_messages(self._now_ns())
                self._process_all_news()
                self._send_messages()
                await asyncio.sleep(self._tick_seconds)

    def handle_connected(self) -> None:
        """Enrol at the controller again, because the link has connected."""
        self._connections += 1
        nonce = f"{self._serial}.{self.memory.run_count}.{self._connections}"
        self.link.enrol_levels(nonce, self._now_ns())
        self._send_messages()

    def handle_disconnected(self, reason: str) -> None:
        """Mark the level as unavailable, because the link has disconnected."""
        del reason
        self.link.handle_disconnected()

    def process_message(self, message: ControllerMessage) -> None:
        """Process a message from the controller, such as a value, an acknowledgement or a locked amount."""
        self.link.process_message(message, self._now_ns())
        self._process_all_news()
        self._send_messages()

    def handle_invalid_message(self, text: str) -> None:
        """Store the error text of an invalid message; no money moves."""
        self.memory.findings.append(text)

    def _send_messages(self) -> None:
        for message in self.link.take_messages():
            self._carrier.send(message)

    # ------------------------------------------------------------------ news
    def _process_all_news(self) -> None:
        for news in self.link.take_notifications():
            self._process_news(news)
        feeder = self.link.feeder_by_level[self._pool.id]
        self.memory.last_counted_number = max(self.memory.last_counted_number, feeder.last_counted_number)
        self.memory.shown_cents, self.memory.fall_count = feeder.amount_cents, feeder.fall_count

    def _process_news(self, news: LinkNotification) -> None:
        match news:
            case ClaimAmountLocked():
                self._handle_locked_amount(news.claim_id, news.amount_cents)
            case ClaimPaymentRecorded():
                self._step("closed")
                self.memory.hits[news.claim_id].is_closed = True
                self.link.drop_claim(news.claim_id)
            case ControllerCountBehind():
                self._resend_contributions(news.last_counted_number)
            case MysteryWinFound():
                self._handle_mystery_win(news.won_prize)
            case CommitmentReceived():
                self.memory.commitments[news.prize_number] = news.commitment
            case LevelResultsKnown():
                pass  # no simulated game waits for it
            case ControllerCountAhead() | ControllerComplaint():
                self.memory.findings.append(str(news))

    def _handle_locked_amount(self, name: str, cents: int) -> None:
        """Record the amount that the controller locked for a hit, then pay it."""
        hit = self.memory.hits[name]
        if hit.locked_cents is None:
            self._step("award received")
            hit.locked_cents = cents
            self._step("award stored")
        elif hit.locked_cents != cents and not hit.was_resent:
            self.memory.findings.append(f"{name}: awarded {cents} in addition")
        self.link.mark_award_recorded(name)
        self._pay_hit(name, hit)

    def _resend_contributions(self, last_counted_number: int) -> None:
        """Send contributions and their hits again, to a controller that lost them.

        All contributions with a number above ``last_counted_number`` are sent.
        """
        self.memory.last_counted_number = last_counted_number
        self.link.restore_contributions(
            self._pool.id, last_counted_number, self.memory.contributions[last_counted_number:]
        )
        for name, hit in self.memory.hits.items():
            if hit.contribution_number > last_counted_number and hit.trigger is None:
                hit.is_closed, hit.was_resent = False, True
                self._resume_hit(name, hit)

    def _handle_mystery_win(self, won_prize: MysteryPrizeMessage) -> None:
        """Record that the controller decided that a wager wins, then pay it. A repeated message changes nothing."""
        hit = self.memory.hits.get(won_prize.claim_id)
        if hit is None:
            if (
                self.memory.commitments.get(won_prize.trigger.prize_number, won_prize.trigger.commitment)
                != won_prize.trigger.commitment
            ):
                self.memory.findings.append(f"{won_prize.claim_id}: its secret does not match the commitment")
            self._step("award received")
            hit = self.memory.hits[won_prize.claim_id] = Hit(
                contribution_number=won_prize.contribution_number,
                shown_cents=won_prize.amount_cents,
                locked_cents=won_prize.amount_cents,
                trigger=won_prize.trigger,
            )
            self._step("award stored")
        elif (hit.locked_cents, hit.trigger) != (won_prize.amount_cents, won_prize.trigger):
            self.memory.findings.append(f"{won_prize.claim_id}: {won_prize.amount_cents} in addition")
        if not hit.is_closed:
            self.link.open_mystery_claim(self._build_claim(won_prize.claim_id, hit), self._now_ns())
            self._pay_hit(won_prize.claim_id, hit)

    def _pay_hit(self, name: str, hit: Hit) -> None:
        if hit.paid_cents is None and hit.locked_cents is not None:
            hit.paid_cents = hit.locked_cents
            self._step("paid")
        if hit.paid_cents is not None:
            self.link.report_payment(
                self._build_payment_report(name, hit.paid_cents), self._build_claim(name, hit), self._now_ns()
            )
