"""Records of player protection: the current session, the active reminder, and the player's own limits."""

from dataclasses import dataclass, field
from typing import Literal

from egm.kernel.messages import ReminderKind
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import CentsOrZero, Count, IsoTime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """What is recorded of the player's current session: its start, wagers, wins and the reminders shown."""

    started_at: IsoTime = field(metadata=stored_as("since"))
    wagered_cents: CentsOrZero
    won_cents: CentsOrZero
    time_reminder_count: Count = field(metadata=stored_as("time_reminders"))
    spend_reminder_count: Count = field(metadata=stored_as("spend_reminders"))

    @property
    def spent_cents(self) -> int:
        """Return the net spending of the session so far, in minor units."""
        return self.wagered_cents - self.won_cents


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderRecord:
    """The active player-protection reminder."""

    kind: ReminderKind
    """Which reminder it is, or which limit was reached."""
    minutes: Count
    """The length of the session when the reminder was shown, in minutes."""
    spent_cents: int
    """The net spending of the session when the reminder was shown, wagers minus wins, in minor units."""
    pause_end: str = field(metadata=stored_as("until"))
    """The time at which the pause of play ends; empty if there is no pause, or if it lasts until the session ends."""
    is_own_limit: bool = field(metadata=stored_as("own"))
    """Whether the reached limit was set by the player, not by the profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLimits:
    """The limits that a player has set for themselves.

    None (the player has requested nothing) and 0 (the player has requested 0) both mean that there is no limit.
    """

    limit_minutes: Count | None = omit_if_default(None, key="minutes")
    limit_cents: CentsOrZero | None = omit_if_default(None, key="cents")

    def get_limit(self, quantity: Literal["minutes", "cents"]) -> int:
        """Return the player's own limit in ``minutes`` or ``cents``; 0 if they have set none."""
        return (self.limit_minutes if quantity == "minutes" else self.limit_cents) or 0
