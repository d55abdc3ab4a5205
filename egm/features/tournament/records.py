"""Records of tournaments in the machine's memory: the installed rules, and the tournament that the machine is in."""

from dataclasses import dataclass, field

from egm.record_codec import stored_as
from egm.record_fields import IsoTime, NonBlankText, Sha256Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledRules:
    """The rules of a tournament as staff installed them: the text of the rules file, and its SHA-256."""

    digest: Sha256Digest
    """The SHA-256 of the tournament's rules file."""
    text: NonBlankText
    """The text of the tournament's rules file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentMode:
    """The tournament that the machine is in: its rules, and since when the machine is in it."""

    digest: Sha256Digest
    """The SHA-256 of the tournament's rules file."""
    entered_at: IsoTime = field(metadata=stored_as("since"))
    """The time at which staff put the machine into the tournament."""
