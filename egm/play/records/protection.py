"""Records of player protection: the session's counts, the active reminder, and the player's own limits."""

from dataclasses import dataclass

from egm.kernel.messages import ReminderKind
from egm.record_codec import omit_if_default
from egm.record_fields import Count, Time


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """The counts of the player's current session, and how many reminders have been given in it."""

    since: Time
    wagered_cents: Count
    won_cents: Count
    time_reminders: Count
    spend_reminders: Count

    @property
    def spent_cents(self) -> int:
        """Return the net cost of the session so far, in minor units."""
        return self.wagered_cents - self.won_cents


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderRecord:
    """The active player-protection reminder."""

    kind: ReminderKind
    """The kind of reminder, or the kind of limit that was reached."""
    minutes: Count
    """The length of the session when the reminder was shown, in minutes."""
    spent_cents: int
    """The net cost of the session so far: wagers less wins."""
    until: str
    """When the pause of play ends; empty if there is no pause or it ends with the session."""
    own: bool
    """Whether the reached limit was set by the player, not by the profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLimits:
    """The limits that a player has set for themselves; 0 or None means no limit."""

    minutes: Count | None = omit_if_default(None)
    cents: Count | None = omit_if_default(None)

    def get_limit(self, what: str) -> int:
        """Return the player's own limit of ``minutes`` or ``cents``; 0 if they have set none."""
        return (self.minutes if what == "minutes" else self.cents) or 0
