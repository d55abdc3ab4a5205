"""Stakes "in prison" (Monaco, arrêté 88-384, art. 8.2), and whatever bet outlasts its round.

At zero, or at a refait, a player takes half of his stake back or leaves all of it in prison. What he could
have taken is halved each time that it comes again.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from paytables.analysis import BetAnalysis
from paytables.contract import Bet, Choice, Decision, Settlement, Spot, Wager
from paytables.layout import bets_from_json

#: What a player may choose: half of what his stake is worth back, or all of it in prison.
HALF: Final = "half"
PRISON: Final = "prison"


@dataclass(frozen=True, slots=True)
class Held(Bet):
    """A bet on the table; ``count``: 0 as it is laid, then how often it met what keeps it there."""

    count: int = 0

    @property
    def value(self) -> int:
        """What a stake in prison is worth when it is freed: half less for each zero after the first."""
        return self.credits >> max(0, self.count - 1)

    @property
    def part(self) -> int:
        """What its player may take back of a stake at the zero last met: a half, a quarter, an eighth ..."""
        return self.credits >> self.count

    @property
    def may_stay(self) -> bool:
        """Whether the stake may stay in prison: the part after the next zero would be whole too."""
        return self.count < self.credits.bit_length() and self.credits % (2 << self.count) == 0


#: What becomes of a bet: a settlement, or how it stays; both: its player chooses.
Fate: TypeAlias = tuple[Settlement | None, Held | None]


def on_table(held: Iterable[Held], wager: Wager, spots: Iterable[Spot]) -> tuple[Held, ...]:
    """Return every bet of a round in the order it is settled: seat by seat as the cloth has the spots."""
    order = {spot.id: n for n, spot in enumerate(spots)}
    laid = [Held(bet.spot, bet.credits, bet.seat) for bet in wager.bets]
    return tuple(sorted((*held, *laid), key=lambda bet: (bet.seat, order[bet.spot], -bet.count)))


def settle(
    bets: Iterable[Held], fate: Callable[[Held], Fate], shown: Mapping[str, object], kind: str
) -> Generator[Settlement | Decision, Choice | None, list[Held]]:
    """Settle every bet, asking for half or prison where its player chooses; return those that stay.

    ``shown`` is the table as it lies; ``kind`` is what is asked.
    """
    staying: list[Held] = []
    for bet in bets:
        settlement, stays = fate(bet)
        if settlement is not None and stays is not None:
            prompt = {"spot": bet.spot, "staked": bet.credits, "credits": stays.part, "advice": HALF}
            answer = yield Decision(kind, (HALF, PRISON), {**shown, **prompt}, seat=bet.seat)
            taken = answer is None or answer.value == HALF
            settlement, stays = (settlement, None) if taken else (None, stays)
        if settlement is not None:
            yield settlement
        elif stays is not None:
            staying.append(stays)
    return staying


def part_back(bet: Held) -> Settlement:
    """Return the part of a stake that its player takes back."""
    detail = {"part": f"1/{1 << bet.count}"}
    return Settlement("half", bet.part, detail, spot=bet.spot, staked=bet.credits, seat=bet.seat)


def released(bet: Held, *, won: bool) -> Settlement:
    """Return what becomes of a stake in prison when its chance is decided: freed, or lost."""
    name, credits_ = ("freed", bet.value) if won else ("lost", 0)
    return Settlement(name, credits_, spot=bet.spot, staked=bet.credits, seat=bet.seat)


def held_to_json(held: Iterable[Held]) -> list[dict[str, object]]:
    """Return held bets as a table keeps them; :func:`held_from_json` is the inverse."""
    return [{**bet.to_json(), "count": bet.count} for bet in held]


def held_from_json(
    data: Sequence[Mapping[str, object]], spots: Mapping[str, object], seats: int
) -> tuple[Held, ...]:
    """Read held bets back. Raises ValueError for what no round leaves."""
    if not isinstance(data, list) or not data:
        raise ValueError(f"no standing bets: {data!r}")
    held = []
    for bet, each in zip(bets_from_json(data, spots, seats), data, strict=True):
        count = each.get("count")
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"bets stand without what they have met: {data!r}")
        held.append(Held(bet.spot, bet.credits, bet.seat, count))
    if len({(bet.seat, bet.spot, bet.count) for bet in held}) != len(held):
        raise ValueError("a bet stands twice")
    return tuple(held)


def where_asked(figures: BetAnalysis, strategy: str, worst: Fraction, note: str) -> BetAnalysis:
    """Return the figures of taking every part back as those of a choice, ``worst`` of never taking it."""
    return replace(
        figures,
        strategy=strategy,
        worst_rtp=worst,
        simplest_strategy=strategy,
        simplest_rtp=figures.rtp,
        notes=(*figures.notes, note),
    )
