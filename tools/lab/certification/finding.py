"""The types of a certification: case, status and finding."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from egm.profiles import Profile
from paytables import Analysis, DrawSource, Game


class FindingStatus(StrEnum):
    """Results that a certification rule can have."""

    PASS = "pass"  # noqa: S105 (not a password)
    """The rule is met."""
    FAIL = "fail"
    """The rule is not met."""
    NOTED = "noted"
    """The rule reports a figure or fact for the laboratory to read; the game neither passes nor fails."""
    NOT_APPLICABLE = "n/a"
    """Not applicable: the game has nothing that the rule covers."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one certification rule for one game: status, requirements, and evidence in text and figures."""

    rule: str
    """The name of the certification rule."""
    requirements: tuple[str, ...]
    """The ids of the requirements that the certification rule covers."""
    status: FindingStatus
    evidence: str

    def to_json(self) -> dict[str, object]:
        """Return the finding as the JSON object that certification bundles contain."""
        return {
            "rule": self.rule,
            "requirements": list(self.requirements),
            "status": str(self.status),
            "evidence": self.evidence,
        }


@dataclass(frozen=True, slots=True)
class CertificationCase:
    """A game under certification, with everything that the rules need to check it."""

    game: Game
    id_or_path: str | Path
    """Library id of the game definition, or the path of its file."""
    analysis: Analysis
    profile: Profile
    draw_source: DrawSource
    """The source of random numbers for simulated games."""
    games_per_bet: int
    """Number of games to simulate for each bet."""


#: Checks a game against one rule; yields its findings.
CertificationRule: TypeAlias = Callable[[CertificationCase], Iterator[Finding]]


def status_from_check(*, ok: bool) -> FindingStatus:
    """Return PASS if the certification check succeeded (``ok``), else FAIL."""
    return FindingStatus.PASS if ok else FindingStatus.FAIL
