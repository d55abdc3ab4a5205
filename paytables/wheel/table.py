"""One round at a wheel table: stakes until "no more bets", a spin that counts, and the part at the pin.

Québec by-law, ss. 118 to 121: after "no more bets" no stake is made, changed or withdrawn; the player places
his own, and the machine shows him what it understood before betting closes; a spin counts only after the full
turns the wheel asks, with nothing in its way. A spin that does not count has no result: the stakes stand as
they are, and the wheel is spun anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from paytables.errors import PaytableError


class Stage(StrEnum):
    """Where a round stands."""

    OPEN = "open"
    CLOSED = "closed"
    DECIDED = "decided"


class Verdict(StrEnum):
    """What a spin is worth."""

    VALID = "valid"
    TOO_SHORT = "too_short"
    OBSTRUCTED = "obstructed"


class BetRefused(PaytableError):
    """A stake or a spin that the round does not take: what was asked, and where the round stands."""


@dataclass(frozen=True, slots=True)
class Spin:
    """A spin as it was seen: the part at the pin before, how many passed, whether anything was in the way.

    For a wheel on a screen, this is the animation it is about to show; for one of wood, what its sensor saw.
    """

    start: int
    travelled: int
    obstructed: bool = False

    def part(self, parts: int) -> int:
        """Return the part at the pin when the wheel stands still."""
        return (self.start + self.travelled) % parts

    def verdict(self, parts: int, revolutions: int) -> Verdict:
        """Judge the spin: nothing in its way, and the full turns asked."""
        if self.obstructed:
            return Verdict.OBSTRUCTED
        return Verdict.VALID if self.travelled >= revolutions * parts else Verdict.TOO_SHORT


def spin_to(start: int, part: int, parts: int, turns: int) -> Spin:
    """Return the shortest spin of at least ``turns`` full turns that ends with ``part`` at the pin."""
    return Spin(start, turns * parts + (part - start) % parts)


@dataclass(frozen=True, slots=True)
class Round:
    """A round of a wheel of ``parts`` parts. Every event returns the round after it, or refuses."""

    parts: int
    revolutions: int
    areas: frozenset[str]
    stage: Stage = Stage.OPEN
    stakes: Mapping[str, int] = field(default_factory=dict)
    confirmed: bool = False
    spins: tuple[tuple[Spin, Verdict], ...] = ()

    @property
    def result(self) -> int | None:
        """The part that won, None while no spin has counted."""
        if self.stage is not Stage.DECIDED:
            return None
        return self.spins[-1][0].part(self.parts)

    def stake(self, area: str, credits_: int) -> "Round":
        """Put ``credits_`` on an area in the place of what lies there; 0 withdraws. It is to be confirmed."""
        self._must_be(Stage.OPEN, f"a stake of {credits_} on {area}")
        if area not in self.areas:
            raise BetRefused(f"there is no area {area!r}; there are {sorted(self.areas)}")
        if credits_ < 0:
            raise BetRefused(f"a stake of {credits_} on {area}")
        laid = {name: n for name, n in {**self.stakes, area: credits_}.items() if n}
        return replace(self, stakes=laid, confirmed=False)

    def confirm(self, shown: Mapping[str, int]) -> "Round":
        """The player has checked the stakes ``shown`` to him. Refused when they are not those that lie."""
        self._must_be(Stage.OPEN, "a confirmation")
        if not self.stakes or dict(shown) != dict(self.stakes):
            raise BetRefused(f"shown were {dict(shown)}, and {dict(self.stakes)} lie on the layout")
        return replace(self, confirmed=True)

    def close(self) -> "Round":
        """Announce "no more bets". Refused while the player has not confirmed what he has laid."""
        self._must_be(Stage.OPEN, "no more bets")
        if not self.confirmed:
            raise BetRefused("no more bets: the stakes were not confirmed")
        return replace(self, stage=Stage.CLOSED)

    def spin(self, spin: Spin) -> "Round":
        """Take a spin as seen. One that does not count leaves the round closed, its stakes as they lie."""
        self._must_be(Stage.CLOSED, "a spin")
        verdict = spin.verdict(self.parts, self.revolutions)
        stage = Stage.DECIDED if verdict is Verdict.VALID else Stage.CLOSED
        return replace(self, stage=stage, spins=(*self.spins, (spin, verdict)))

    def _must_be(self, stage: Stage, what: str) -> None:
        if self.stage is not stage:
            raise BetRefused(f"{what}: the round is {self.stage}")
