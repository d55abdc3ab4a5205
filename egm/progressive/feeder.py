"""State of one controller's progressive level on this machine, with the contributions that are still to be sent."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NamedTuple

from egm.progressive.display import DisplayedAmount, LevelStatus
from egm.progressive.messages import (
    VALUE_TIMEOUT_NS,
    Contribution,
    EnrolmentAccepted,
    LevelEnrolment,
    LevelValue,
    RefusalReason,
)
from egm.progressive.pools import ProgressivePool

#: The maximum number of contributions that may be sent and not yet counted by the controller; further ones wait.
UNCOUNTED_CONTRIBUTIONS_MAX: Final = 64
#: The interval at which messages without a reply are repeated, in nanoseconds.
CONTRIBUTION_RETRY_NS: Final = 2_000_000_000


class EnrolmentObjection(NamedTuple):
    """The reason why the controller's parameters of a level do not fit this machine's game."""

    reason: RefusalReason
    detail: str


@dataclass(slots=True)
class LinkedLevelFeeder:
    """The state on this machine of one progressive level that a controller manages."""

    pool: ProgressivePool
    prize_number: int = 0
    """For a mystery level: the number of the current prize."""
    commitment: str = ""
    """For a mystery level: the commitment to the secret amount of the current prize."""
    is_enrolled: bool = False
    """Whether the controller has accepted the enrolment of this machine in the level."""
    refusal_reason: RefusalReason | None = None
    """The reason why this machine does not feed the level, or None."""
    last_counted_number: int = 0
    """The number of the last contribution that the controller is known to have counted."""
    pending_contributions: deque[Contribution] = field(default_factory=deque)
    """Every contribution after number ``last_counted_number``, in order."""
    last_sent_number: int = 0
    """The number of the last contribution sent on this connection; ``last_counted_number`` if none was sent."""
    sent_ns: int = 0
    """The monotonic time from which the retry interval of the sent contributions runs, in nanoseconds."""
    amount_cents: int = 0
    """The last accepted amount of the level, in minor units."""
    fall_count: int = 0
    """How often the level's amount has ever been lowered, according to the last accepted value."""
    value_sequence: int = -1
    """The sequence number of the last accepted :class:`LevelValue` message; -1 before the first."""
    value_time_utc: str = ""
    """The controller's time stamp of the last accepted value."""
    controller_run_id: str = ""
    """The name of the controller program's run that sent the last accepted value."""
    received_value_count: int = 0
    """The number of values received on this connection; the first may be an old one stored by the broker."""
    received_ns: int | None = None
    """The monotonic time at which the last value was accepted, in nanoseconds; None before the first."""

    @property
    def level_enrolment(self) -> LevelEnrolment:
        """Return the level's part of the enrolment message: stake, hit rate, and the amount last shown here."""
        stake_and_hit_rate = self.pool.definition.stake_and_hit_rate
        return LevelEnrolment(
            level=self.pool.id,
            stake_cents=stake_and_hit_rate.stake_cents,
            odds=stake_and_hit_rate.hit_rate,
            shown_cents=self.amount_cents,
            falls=self.fall_count,
        )

    @property
    def last_contribution_number(self) -> int:
        """Return the number of this machine's last contribution to the level; 0 before the first."""
        return (
            self.pending_contributions[-1].number if self.pending_contributions else self.last_counted_number
        )

    def reset_connection(self) -> None:
        """Reset the state of the lost connection: the level must be enrolled and uncounted contributions sent again."""
        self.is_enrolled = False
        self.refusal_reason = None
        self.received_value_count = 0
        self.last_sent_number = self.last_counted_number

    @property
    def is_mystery(self) -> bool:
        """Return whether this is a mystery level, whose winner the controller decides."""
        return self.pool.definition.terms.is_mystery

    def find_enrolment_objection(self, reply: EnrolmentAccepted) -> EnrolmentObjection | None:
        """Return why the controller's parameters of the level do not fit this machine's game, or None if they fit.

        The increment must be the game's, and the base at least the base that the game's return assumes (s.93). The
        shares that can be won must have the game's hit rates. A level that is a mystery level at the controller must be
        a mystery level in the game too, with the same ceiling.
        """
        own_terms = self.pool.definition.terms
        if reply.increment != own_terms.increment:
            return EnrolmentObjection(
                RefusalReason.OTHER_INCREMENT,
                f"the increment is {reply.increment}; expected {own_terms.increment}, as in this machine's game",
            )
        if reply.base_cents < own_terms.base_cents:
            return EnrolmentObjection(
                RefusalReason.OTHER_TERMS,
                f"the base is {reply.base_cents}; expected at least {own_terms.base_cents}, as in this machine's game",
            )
        hit_rate_by_share = {
            str(share): hit_rate
            for share, hit_rate in self.pool.definition.stake_and_hit_rate.hit_rate_by_share.items()
        }
        if reply.hit_rate_by_share != hit_rate_by_share:
            own_hit_rates_text = f"expected {_format_hit_rates(hit_rate_by_share)}, as in this machine's game"
            return EnrolmentObjection(
                RefusalReason.OTHER_ODDS,
                f"the parts that can be won are {_format_hit_rates(reply.hit_rate_by_share)}; {own_hit_rates_text}",
            )
        ceiling_cents = reply.ceiling_cents if reply.is_mystery else None
        if ceiling_cents != (own_terms.ceiling_cents if own_terms.is_mystery else None):
            detail = (
                f"the mystery ceiling is {ceiling_cents}; expected "
                f"{own_terms.ceiling_cents}, as in this machine's game"
            )
            return EnrolmentObjection(RefusalReason.OTHER_TERMS, detail)
        return None

    def find_displayed_amount(self, now_ns: int, stale_after_ns: int) -> DisplayedAmount:
        """Return the amount that the progressive level shows, and whether it is current."""
        if not self.is_enrolled or self.received_ns is None:
            return DisplayedAmount(self.amount_cents, LevelStatus.DOWN)
        is_current = self.received_value_count > 1 and now_ns - self.received_ns <= stale_after_ns
        return DisplayedAmount(self.amount_cents, LevelStatus.UP if is_current else LevelStatus.STALE)

    def update_value(self, value: LevelValue, now_ns: int) -> str:
        """Process the level's amount that the controller has published.

        An outdated message is ignored (:meth:`LevelValue.is_after`). A lower amount is accepted only if the count of
        falls (wins, ceilings and corrections) has increased; otherwise it is not shown (NM 15.1.24.12(E)), and the
        level still becomes stale.

        Return what is wrong with the message; empty if nothing is.
        """
        has_timed_out = self.received_ns is None or now_ns - self.received_ns > VALUE_TIMEOUT_NS
        if not value.is_after(
            self.controller_run_id, self.value_sequence, self.value_time_utc, has_timed_out=has_timed_out
        ):
            return ""
        contradiction = value.find_amount_error(self.amount_cents, self.fall_count)
        if contradiction:
            return contradiction
        self.value_sequence = value.sequence
        self.value_time_utc = value.time_utc
        self.controller_run_id = value.run
        self.fall_count, self.amount_cents = value.fall_count, value.amount_cents
        self.prize_number, self.commitment = value.prize_number, value.commitment
        self.received_value_count += 1
        self.received_ns = now_ns
        return ""

    def process_count(self, last_counted_number: int, now_ns: int) -> None:
        """Drop the contributions up to number ``last_counted_number``, which the controller has counted and stored.

        The retry interval of the contributions still uncounted starts again, so that a slow controller does not
        receive everything twice.
        """
        if last_counted_number > self.last_counted_number:
            self.sent_ns = now_ns
        while self.pending_contributions and self.pending_contributions[0].number <= last_counted_number:
            self.pending_contributions.popleft()
        self.last_counted_number = max(self.last_counted_number, last_counted_number)
        self.last_sent_number = max(self.last_sent_number, self.last_counted_number)

    def take_due_contributions(self, now_ns: int) -> list[Contribution]:
        """Return the contributions to send to the controller now, and record them as sent.

        A new contribution is returned once, and again if the controller has not counted it within the retry
        interval. At most ``UNCOUNTED_CONTRIBUTIONS_MAX`` are sent ahead of the controller's count.
        """
        if not self.is_enrolled or not self.pending_contributions:
            return []
        if (
            self.last_sent_number > self.last_counted_number
            and now_ns - self.sent_ns >= CONTRIBUTION_RETRY_NS
        ):
            self.last_sent_number = self.last_counted_number
        contributions = [c for c in self._list_sendable_contributions() if c.number > self.last_sent_number]
        if contributions:
            self.last_sent_number, self.sent_ns = contributions[-1].number, now_ns
        return contributions

    def _list_sendable_contributions(self) -> list[Contribution]:
        """Return the oldest uncounted contributions, at most ``UNCOUNTED_CONTRIBUTIONS_MAX``."""
        return [
            self.pending_contributions[i]
            for i in range(min(UNCOUNTED_CONTRIBUTIONS_MAX, len(self.pending_contributions)))
        ]


def _format_hit_rates(hit_rate_by_share: Mapping[str, Fraction]) -> str:
    """Return hit rates as text: each share of the level with its hits per wager; ``none`` if empty."""
    return (
        ", ".join(
            f"{share} at {hit_rate} hits a wager" for share, hit_rate in sorted(hit_rate_by_share.items())
        )
        or "none"
    )
