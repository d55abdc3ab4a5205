"""The interface of one run of a reel game's stage: its result, and the parts of its exact analysis.

These terms are used in all modules of reel games:

- A *run* plays a stage once: one spin of its reels (with all falls of a cascade, or the second spin of the reels that
  are not held), or one whole bonus (all picks, the spin of the wheel, all respins).
- A *series* is all runs of a stage that one award starts, with the runs that the stage awards to itself. Example: a
  spin awards ten free games; one of them awards five more. That is one series of fifteen runs.
- The *start condition* of a run is what the stage starts with: the number of coins already locked, or the bit mask of
  the stuck cells. Its key in definitions and in the journal is ``size``.
- A stage is *memoryless* if it retains nothing between the runs of a series, so that all its runs with the same start
  condition are alike.
- The *state* of a series (:class:`paytables.reels.chain.StageState`) is all that its next run depends on.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, Protocol, TypeAlias

from paytables.contract import Choice, Decision, DrawSource, Json
from paytables.reels.automaton import Award


@dataclass(frozen=True, slots=True)
class PaidWin:
    """One prize that a run of a stage pays: its credits at bet level 1, and where on the screen it shows."""

    name: str
    """The id of the prize."""
    credits: int
    """The credits at bet level 1, the stage's multiplier included."""
    detail: Mapping[str, Json] = field(default_factory=dict)
    """Where on the screen the win shows, and what it consists of."""


class StageRun(NamedTuple):
    """The result of one run of a stage: its payments, its awards, and the data for the screen."""

    paid_wins: tuple[PaidWin, ...]
    """The prizes that the run pays."""
    awards: tuple[Award, ...]
    """The awards that the run gives in addition to credits."""
    display: Mapping[str, Json]
    """The data that the screen needs to show the run."""


#: A run of a stage in progress: it yields each decision, is sent the player's choice, and returns the result.
StageRunDecisions: TypeAlias = Generator[Decision, Choice | None, StageRun]

#: The awards of a run, sorted: the part of its result that decides what is played next.
GivenAwards: TypeAlias = tuple[Award, ...]

#: The probability of each result of one run of a stage: the credits won and the awards given.
ChanceByCreditsAndAwards: TypeAlias = Mapping[tuple[int, GivenAwards], Fraction]
#: For each combination of awards, the highest pay of a run that gives it, and the probability of that run.
TopPayByAwards: TypeAlias = Mapping[GivenAwards, tuple[int, Fraction]]
#: How often one run gives each award on average, by the award's kind and name.
MeanByAwardKindAndName: TypeAlias = Mapping[tuple[str, str], Fraction]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Exact figures of one run of a stage; the figures of a game with several stages are combined from them.

    Credits are those at bet level 1. ``mean_by_awards`` and ``second_moment`` are computed only if variances are
    requested.
    """

    rate_by_award: Mapping[Award, Fraction]
    """The mean number of times that one run gives each award."""
    chance_by_awards: Mapping[GivenAwards, Fraction]
    """The probability of each combination of awards; empty if it was not computed."""
    mean: Fraction
    """The mean credits of one run."""
    mean_by_awards: Mapping[GivenAwards, Fraction]
    """For each combination of awards, the mean credits per run; a run that gives other awards counts as 0 credits."""
    second_moment: Fraction
    """The mean of the squared credits of one run."""


@dataclass(frozen=True, slots=True)
class PrizeRate:
    """How often one run of a stage wins one prize, in a cycle of equally likely cases."""

    name: str
    """The id of the prize."""
    credits: int
    """The credits that the prize pays once."""
    win_count: int
    """How often the prize is won in all ``cycle`` cases together; a window counts for each way and line that wins."""
    total_paid_credits: int
    """The sum of the credits that the prize pays over all ``cycle`` cases."""
    cycle: int
    """The number of equally likely cases of one run."""


class Stage(Protocol):
    """The interface of any stage that a reel game can play: reels, a pick, a wheel, hold-and-spin."""

    @property
    def name(self) -> str:
        """Return the stage's name in the definition."""

    def run(self, draw: DrawSource) -> StageRun | StageRunDecisions:
        """Play the stage once: return its result, or a generator of the player's decisions that returns it."""

    def compute_figures(self, *, with_second_moment: bool) -> RunFigures:
        """Return the exact figures of one run of the stage.

        ``mean_by_awards`` and ``second_moment`` are computed only if ``with_second_moment`` is true.
        """

    def compute_distribution(self) -> ChanceByCreditsAndAwards:
        """Return the probability of each result (credits won, awards given) of one run of this stage."""

    def find_top_pays(self) -> TopPayByAwards:
        """Return, for each combination of awards, the highest pay of a run that gives it, and its probability."""

    def list_prize_rates(self) -> list[PrizeRate]:
        """Return how often one run wins each prize of the stage, for the PAR sheet."""

    def compute_mean_awards(self) -> MeanByAwardKindAndName:
        """Return the mean number of times that one run gives each level and prize in kind, by (kind, name)."""

    @property
    def worst_mean(self) -> Fraction | None:
        """Return the mean credits of one run with the worst decisions, or None if the stage has no decision."""


#: The awards that decide what is played next. Levels and merchandise do not.
CHAINED_AWARD_KINDS = frozenset({"stage", "step", "stick"})


def select_given_awards(awards: Iterable[Award]) -> GivenAwards:
    """Return only the awards that affect what is played next (stage, step, stick), in a fixed order."""
    return tuple(
        sorted(
            (a for a in awards if a.kind in CHAINED_AWARD_KINDS),
            key=lambda a: (a.kind, a.name, a.run_count, a.start_condition),
        )
    )


def sum_award_means(award_rates: Iterable[tuple[Award, Fraction]]) -> dict[tuple[str, str], Fraction]:
    """Return how often each progressive level and merchandise prize is awarded on average, by (kind, name).

    ``award_rates`` has pairs of an award and how often it is given on average. Awards that only decide what is played
    next are left out.
    """
    rate_by_kind_and_name: dict[tuple[str, str], Fraction] = {}
    for award, rate in award_rates:
        if award.kind not in CHAINED_AWARD_KINDS:
            key = (award.kind, award.name)
            rate_by_kind_and_name[key] = rate_by_kind_and_name.get(key, Fraction(0)) + rate
    return rate_by_kind_and_name


def build_run_figures(distribution: ChanceByCreditsAndAwards) -> RunFigures:
    """Return the exact mean, second moment and award probabilities of one run of a stage, from its win distribution."""
    chance_by_awards: dict[GivenAwards, Fraction] = defaultdict(Fraction)
    mean_by_awards: dict[GivenAwards, Fraction] = defaultdict(Fraction)
    for (credits_, given_awards), chance in distribution.items():
        chance_by_awards[given_awards] += chance
        mean_by_awards[given_awards] += chance * credits_
    second_moment = sum((chance * credits_**2 for (credits_, _), chance in distribution.items()), Fraction(0))
    return RunFigures(
        compute_award_rates(chance_by_awards),
        chance_by_awards,
        sum(mean_by_awards.values(), Fraction(0)),
        mean_by_awards,
        second_moment,
    )


def find_top_pays_by_awards(
    distribution: ChanceByCreditsAndAwards,
) -> dict[GivenAwards, tuple[int, Fraction]]:
    """Return, for each combination of awards, the highest pay of a run that gives it, and its probability.

    ``distribution`` has the probability of each (credits won, awards given) of one run.
    """
    top_pays: dict[GivenAwards, tuple[int, Fraction]] = {}
    for (credits_, given_awards), chance in distribution.items():
        if chance and (given_awards not in top_pays or credits_ > top_pays[given_awards][0]):
            top_pays[given_awards] = (credits_, chance)
    return top_pays


def compute_award_rates(chance_by_awards: Mapping[GivenAwards, Fraction]) -> dict[Award, Fraction]:
    """Return the mean number of times that one run gives each award, from the probabilities of award combinations."""
    rate_by_award: dict[Award, Fraction] = defaultdict(Fraction)
    for given_awards, chance in chance_by_awards.items():
        for award in given_awards:
            rate_by_award[award] += chance
    return dict(rate_by_award)
