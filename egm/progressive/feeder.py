"""Feeder of one linked level: enrolled or not, what it shows, what it has been sent."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from egm.progressive.display import Shown, Status
from egm.progressive.messages import SILENT_NS, Contribution, Enrolment, Joined, Reason, Value
from egm.progressive.pools import Pool

WINDOW: Final = 64
"""Contributions sent and not yet counted, at most; an outage's worth follows as they are counted."""
RETRY_NS: Final = 2_000_000_000
"""What is not answered is sent again after this long."""


@dataclass(slots=True)
class Feeder:
    """The state of one linked level. Times are monotonic nanoseconds."""

    pool: Pool
    prize: int = 0
    commitment: str = ""
    """Of a mystery level: the prize now played for, and the commitment to its secret amount."""
    joined: bool = False
    refused: Reason | None = None
    counted: int = 0
    """The last contribution the controller is known to have."""
    pending: deque[Contribution] = field(default_factory=deque)
    """Every contribution after ``counted``, in order."""
    sent: int = 0
    """The last contribution sent on this connection."""
    sent_ns: int = 0
    amount_cents: int = 0
    falls: int = 0
    value_sequence: int = -1
    value_utc: str = ""
    """The controller's time of the value last taken."""
    value_run: str = ""
    values_heard: int = 0
    """Since the connection began: the first may be one a broker kept, however old."""
    heard_ns: int | None = None

    @property
    def enrolment(self) -> Enrolment:
        """What the machine asks and offers at this level (s.92), and what it showed last."""
        chance = self.pool.definition.chance
        return Enrolment(
            level=self.pool.id,
            stake_cents=chance.stake_cents,
            odds=chance.odds,
            shown_cents=self.amount_cents,
            falls=self.falls,
        )

    @property
    def last(self) -> int:
        """The last contribution made."""
        return self.pending[-1].sequence if self.pending else self.counted

    def parted(self) -> None:
        """The connection is gone."""
        self.joined = False
        self.refused = None
        self.values_heard = 0
        self.sent = self.counted

    @property
    def mystery(self) -> bool:
        """Whether the controller decides who wins it."""
        return self.pool.definition.terms.mystery

    def objection(self, joined: Joined) -> tuple[Reason, str] | None:
        """Why this machine cannot feed the level as the controller keeps it, or None.

        Its increment is the game's, and it starts from no less than the game's return is stated with (s.93).
        A mystery level must be won by the same amount.
        """
        ours = self.pool.definition.terms
        if joined.increment != ours.increment:
            return Reason.OTHER_INCREMENT, f"{joined.increment}, this machine adds {ours.increment}"
        if joined.base_cents < ours.base_cents:
            return Reason.OTHER_TERMS, f"base {joined.base_cents}; this machine's game says {ours.base_cents}"
        shares = {str(share): odds for share, odds in self.pool.definition.chance.shares.items()}
        if joined.shares != shares:
            here = f"this machine's game says {_odds(shares)}"
            return Reason.OTHER_ODDS, f"parts won of it: {_odds(joined.shares)}; {here}"
        ceiling_cents = joined.ceiling_cents if joined.mystery else None
        if ceiling_cents != (ours.ceiling_cents if ours.mystery else None):
            why = f"to be won by {ceiling_cents}; this machine's game says {ours.ceiling_cents}"
            return Reason.OTHER_TERMS, why
        return None

    def shown(self, now_ns: int, stale_ns: int) -> Shown:
        """What the level shows now, and whether it is to be believed."""
        if not self.joined or self.heard_ns is None:
            return Shown(self.amount_cents, Status.DOWN)
        fresh = self.values_heard > 1 and now_ns - self.heard_ns <= stale_ns
        return Shown(self.amount_cents, Status.UP if fresh else Status.STALE)

    def hear(self, value: Value, now_ns: int) -> str:
        """Take a value; return what is wrong with it, or nothing.

        One that came before is passed over (:meth:`Value.follows`). A lower amount without a fall is never
        shown (NM 15.1.24.12(E)), and does not keep the level alive.
        """
        silent = self.heard_ns is None or now_ns - self.heard_ns > SILENT_NS
        if not value.follows(self.value_run, self.value_sequence, self.value_utc, silent=silent):
            return ""
        wrong = value.contradiction(self.amount_cents, self.falls)
        if wrong:
            return wrong
        self.value_sequence, self.value_utc, self.value_run = value.sequence, value.time_utc, value.run
        self.falls, self.amount_cents = value.falls, value.amount_cents
        self.prize, self.commitment = value.prize, value.commitment
        self.values_heard += 1
        self.heard_ns = now_ns
        return ""

    def count(self, sequence: int, now_ns: int) -> None:
        """Everything up to ``sequence`` is durable at the controller.

        What is sent and not yet counted has its time anew: a controller that is slow, but gets on, is not
        told everything again.
        """
        if sequence > self.counted:
            self.sent_ns = now_ns
        while self.pending and self.pending[0].sequence <= sequence:
            self.pending.popleft()
        self.counted = max(self.counted, sequence)
        self.sent = max(self.sent, self.counted)

    def due(self, now_ns: int) -> list[Contribution]:
        """The contributions to send now: those not sent yet as far as the window goes, or all again."""
        if not self.joined or not self.pending:
            return []
        if self.sent > self.counted and now_ns - self.sent_ns >= RETRY_NS:
            self.sent = self.counted
        found = [c for c in self._window() if c.sequence > self.sent]
        if found:
            self.sent, self.sent_ns = found[-1].sequence, now_ns
        return found

    def _window(self) -> list[Contribution]:
        return [self.pending[i] for i in range(min(WINDOW, len(self.pending)))]


def _odds(shares: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{share} at {odds} hits a wager" for share, odds in sorted(shares.items())) or "none"
