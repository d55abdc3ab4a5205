"""The win distribution of a whole game with features: lower bounds, and the probability that they do not cover.

Free games that can retrigger have no highest win, and convolving distributions of fractions a thousand times is too
slow. Therefore probabilities here are integers that count units of 2**-PROBABILITY_BITS, every rounding is downwards,
and two things are left out:

- wins of ``credits_limit`` credits and more;
- retriggers beyond the last generation computed. This is generation GENERATIONS_MAX, or an earlier one that adds less
  than 2**-PRECISION_BITS.

Each probability is then a true lower bound, and the difference of their sum from one is the distribution's
``unlisted_probability``, so nothing is omitted silently.

A distribution is a list: entry n is the probability of a win of n credits. The sum of two independent wins has the
convolution of their distributions, which is computed as a product of two big integers (Kronecker substitution). Example
with three decimal digits for each entry, the first entry on the right: [1, 2] is 002 001, [3, 4] is 004 003, and their
product 008 010 003 is [3, 10, 8].

The terms (run, series, start condition, memoryless) are defined in :mod:`paytables.reels.run`.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from paytables.analysis import WinDistribution
from paytables.errors import AnalysisError
from paytables.reels.automaton import Award
from paytables.reels.build import ModeStages
from paytables.reels.chain import StageState, build_first_state, compute_next_state
from paytables.reels.run import GivenAwards

#: Probabilities are multiples of 2**-PROBABILITY_BITS.
PROBABILITY_BITS = 64
PROBABILITY_ONE = 1 << PROBABILITY_BITS
#: Maximum number of generations of retriggers to follow.
GENERATIONS_MAX = 400
#: Generations that add less than 2**-PRECISION_BITS are not followed further.
PRECISION_BITS = 44
#: The least value of ``credits_limit``.
CREDITS_LIMIT_MIN = 2048

WinProbabilities = list[int]


@dataclass(slots=True)
class TotalWinDistributions:
    """The win distributions of a mode, computed when needed: by stage, by series of runs, and of the whole game.

    Wins are at bet level 1; wins of ``credits_limit`` credits or more are left out.
    """

    stages: ModeStages
    """The stages of the mode."""
    credits_limit: int
    """Wins of this number of credits or more are left out."""
    _run_distributions: dict[tuple[str, int], dict[GivenAwards, WinProbabilities]] = field(
        default_factory=dict
    )
    """The distributions of single runs computed so far: by stage and start condition, then by the awards given."""
    _distribution_by_series: dict[tuple[str, StageState], WinProbabilities] = field(default_factory=dict)
    """The distributions of series computed so far."""
    _distribution_by_memoryless_run: dict[tuple[str, int], WinProbabilities] = field(default_factory=dict)
    """The distributions of one run of a memoryless stage and all that it starts, computed so far.

    The keys are (stage, start condition).
    """
    _stages_in_progress: set[str] = field(default_factory=set)
    """The stages that are being computed, to detect a cycle of several stages."""

    def compute_distribution(self) -> WinDistribution:
        """Return the distribution of the credits won in a whole game.

        Its tail is the probability of all wins that were left out.
        """
        distribution = self.compute_award_distribution(Award("stage", self.stages.mode.first_stage, 1, 0))
        probability_by_win = {win: probability for win, probability in enumerate(distribution) if probability}
        unlisted_probability = PROBABILITY_ONE - sum(probability_by_win.values())
        return WinDistribution(
            PROBABILITY_ONE, probability_by_win, Fraction(unlisted_probability, PROBABILITY_ONE)
        )

    def compute_award_distribution(self, award: Award) -> WinProbabilities:
        """Return the win distribution of all runs that an award gives, with everything that they start."""
        series_rules = self.stages.series_rules[award.name]
        if series_rules.is_memoryless:
            return self._compute_convolution_power(
                self._compute_memoryless_run_distribution(award.name, award.start_condition), award.run_count
            )
        return self._compute_series_distribution(
            award.name, build_first_state(series_rules, award.run_count, award.start_condition)
        )

    def _compute_memoryless_run_distribution(self, stage: str, start_condition: int) -> WinProbabilities:
        """Return the win distribution of one run of a memoryless stage, with everything that it starts.

        The runs that it starts are followed generation by generation.
        """
        key = (stage, start_condition)
        if key in self._distribution_by_memoryless_run:
            return self._distribution_by_memoryless_run[key]
        if stage in self._stages_in_progress:
            raise AnalysisError(f"stage {stage} is started again by a stage that it starts")
        self._stages_in_progress.add(stage)
        runs = self._compute_run_distributions(stage, start_condition)
        retrigger_count_by_awards = {
            given_awards: sum(a.run_count for a in given_awards if a.name == stage) for given_awards in runs
        }
        distribution_without_retriggers_by_awards = {
            given_awards: self._convolve(
                distribution, self._compute_other_stages_distribution(given_awards, stage)
            )
            for given_awards, distribution in runs.items()
        }
        # After pass n, total is the distribution of one run with all the runs that it retriggers, for at most n
        # generations of runs; each retriggered run has the distribution of pass n - 1. Before the first pass it is
        # [0], because nothing ends without a run.
        total: WinProbabilities = [0]
        for _ in range(GENERATIONS_MAX if any(retrigger_count_by_awards.values()) else 1):
            powers = self._compute_convolution_powers(
                total, sorted(set(retrigger_count_by_awards.values()) - {0})
            )
            next_total: WinProbabilities = []
            for given_awards, distribution in distribution_without_retriggers_by_awards.items():
                run_count = retrigger_count_by_awards[given_awards]
                next_total = _add_distributions(
                    next_total, self._convolve(distribution, powers[run_count]) if run_count else distribution
                )
            added_probability = sum(next_total) - sum(total)
            total = next_total
            if added_probability < PROBABILITY_ONE >> PRECISION_BITS:
                break
        self._stages_in_progress.remove(stage)
        self._distribution_by_memoryless_run[key] = total
        return total

    def _compute_series_distribution(self, stage: str, state: StageState) -> WinProbabilities:
        """Return the win distribution of the remaining runs of a series, with everything that they start."""
        if state.runs_left <= 0:
            return [PROBABILITY_ONE]
        key = (stage, state)
        if key not in self._distribution_by_series:
            series_rules = self.stages.series_rules[stage]
            factor = series_rules.multipliers[state.multiplier_index]
            total: WinProbabilities = []
            for given_awards, distribution in self._compute_run_distributions(
                stage, state.start_condition
            ).items():
                state_after, other_stage_awards = compute_next_state(series_rules, stage, state, given_awards)
                win_after_run = self._convolve(
                    self._compute_series_distribution(stage, state_after),
                    self._compute_other_stages_distribution(other_stage_awards, stage),
                )
                total = _add_distributions(
                    total, self._convolve(self._multiply_wins(distribution, factor), win_after_run)
                )
            self._distribution_by_series[key] = total
        return self._distribution_by_series[key]

    def _compute_other_stages_distribution(self, given_awards: GivenAwards, stage: str) -> WinProbabilities:
        """Return the win distribution of all runs that these awards start in stages other than ``stage``."""
        total = [PROBABILITY_ONE]
        for award in given_awards:
            if award.kind == "stage" and award.name != stage:
                total = self._convolve(total, self.compute_award_distribution(award))
        return total

    def _compute_run_distributions(
        self, stage: str, start_condition: int
    ) -> dict[GivenAwards, WinProbabilities]:
        """Return the distributions of the credits of one run, one for each combination of awards that it gives.

        Wins of ``credits_limit`` credits and more are left out.
        """
        if (stage, start_condition) not in self._run_distributions:
            distributions: dict[GivenAwards, WinProbabilities] = defaultdict(list)
            for (credits_, given_awards), chance in (
                self.stages.get_stage(stage, start_condition).compute_distribution().items()
            ):
                if credits_ < self.credits_limit:
                    distribution = distributions[given_awards]
                    distribution.extend([0] * (credits_ + 1 - len(distribution)))
                    distribution[credits_] += chance.numerator * PROBABILITY_ONE // chance.denominator
            self._run_distributions[stage, start_condition] = dict(distributions)
        return self._run_distributions[stage, start_condition]

    def _multiply_wins(self, distribution: WinProbabilities, factor: int) -> WinProbabilities:
        """Return the distribution of a win that is multiplied by ``factor``, cut at ``credits_limit`` credits."""
        if factor == 1:
            return distribution
        multiplied = [0] * min(self.credits_limit, (len(distribution) - 1) * factor + 1)
        for win, probability in enumerate(distribution):
            if win * factor < self.credits_limit:
                multiplied[win * factor] = probability
        return multiplied

    def _compute_convolution_power(self, distribution: WinProbabilities, exponent: int) -> WinProbabilities:
        """Return the distribution of the sum of ``exponent`` independent wins of one distribution."""
        result = [PROBABILITY_ONE]
        # The distributions of 1, 2, 4, 8... wins; those in the binary form of ``exponent`` are combined.
        power = distribution
        while exponent:
            if exponent & 1:
                result = self._convolve(result, power)
            exponent >>= 1
            if exponent:
                power = self._convolve(power, power)
        return result

    def _compute_convolution_powers(
        self, distribution: WinProbabilities, exponents: list[int]
    ) -> dict[int, WinProbabilities]:
        """Return the distribution of the sum of n independent wins, for each n in ``exponents`` (ascending)."""
        powers: dict[int, WinProbabilities] = {0: [PROBABILITY_ONE]}
        last_exponent = 0
        for exponent in exponents:
            difference = exponent - last_exponent
            factor = powers.get(difference) or self._compute_convolution_power(distribution, difference)
            powers[difference] = factor
            powers[exponent] = self._convolve(powers[last_exponent], factor)
            last_exponent = exponent
        return powers

    def _convolve(self, a: WinProbabilities, b: WinProbabilities) -> WinProbabilities:
        """Return the distribution of the sum of two independent wins, cut at ``credits_limit`` and rounded down."""
        if a == [PROBABILITY_ONE]:
            return b
        if b == [PROBABILITY_ONE]:
            return a
        # Both factors sum to at most PROBABILITY_ONE, so a coefficient of the product has 2 * PROBABILITY_BITS + 1
        # bits at most; the other bits are a reserve.
        bytes_per_coefficient = (2 * PROBABILITY_BITS + 24) // 8
        big_a = int.from_bytes(b"".join(n.to_bytes(bytes_per_coefficient, "little") for n in a), "little")
        big_b = int.from_bytes(b"".join(n.to_bytes(bytes_per_coefficient, "little") for n in b), "little")
        coefficient_count = len(a) + len(b) - 1
        product = (big_a * big_b).to_bytes(bytes_per_coefficient * coefficient_count + 1, "little")
        return [
            int.from_bytes(product[i * bytes_per_coefficient : (i + 1) * bytes_per_coefficient], "little")
            >> PROBABILITY_BITS
            for i in range(min(coefficient_count, self.credits_limit))
        ]


def _add_distributions(a: WinProbabilities, b: WinProbabilities) -> WinProbabilities:
    """Return the sum of two lists of probabilities, win by win."""
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    return [n + (shorter[i] if i < len(shorter) else 0) for i, n in enumerate(longer)]


class HighestWin(NamedTuple):
    """The highest win of some runs, and how likely it is."""

    credits: int
    """The highest win."""
    chance: Fraction
    """The probability of the highest win."""


@dataclass(slots=True)
class HighestWinSearch:
    """The search for the highest win of a mode's stages and whole game, and for its probability."""

    stages: ModeStages
    _highest_win_by_series: dict[tuple[str, StageState], HighestWin] = field(default_factory=dict)
    """The highest win of each series computed so far."""

    def find_highest_win(self, award: Award) -> HighestWin | None:
        """Return the highest total win of all runs that an award gives, and its probability; None if unbounded."""
        series_rules = self.stages.series_rules[award.name]
        repeat_count = award.run_count if series_rules.is_memoryless else 1
        run_count = 1 if series_rules.is_memoryless else award.run_count
        highest_win = self._find_highest_win_of_series(
            award.name, build_first_state(series_rules, run_count, award.start_condition), ()
        )
        if highest_win is None:
            return None
        return HighestWin(highest_win.credits * repeat_count, highest_win.chance**repeat_count)

    def _find_highest_win_of_series(
        self, stage: str, state: StageState, earlier_stages: tuple[str, ...]
    ) -> HighestWin | None:
        """Return the highest win of the remaining runs of a series and its probability, or None if it is unbounded.

        A win is unbounded if a memoryless stage can start itself again, or if a stage can start one of the stages that
        led to it (``earlier_stages``).
        """
        if state.runs_left <= 0:
            return HighestWin(0, Fraction(1))
        series_rules = self.stages.series_rules[stage]
        factor = series_rules.multipliers[state.multiplier_index]
        highest_win: HighestWin | None = None
        for given_awards, (credits_, run_chance) in (
            self.stages.get_stage(stage, state.start_condition).find_top_pays().items()
        ):
            state_after, other_stage_awards = compute_next_state(series_rules, stage, state, given_awards)
            if series_rules.is_memoryless and state_after.runs_left > 0:
                return None
            win_after_run = self._find_highest_win_after_run(
                stage, state_after, other_stage_awards, earlier_stages
            )
            if win_after_run is None:
                return None
            win = HighestWin(credits_ * factor + win_after_run.credits, run_chance * win_after_run.chance)
            if highest_win is None or win.credits > highest_win.credits:
                highest_win = win
            elif win.credits == highest_win.credits:
                highest_win = HighestWin(win.credits, highest_win.chance + win.chance)
        return highest_win

    def _find_highest_win_after_run(
        self,
        stage: str,
        state_after: StageState,
        other_stage_awards: GivenAwards,
        earlier_stages: tuple[str, ...],
    ) -> HighestWin | None:
        """Return the highest win after one run of a series, and its probability, or None if it is unbounded.

        The win includes the remaining runs (``state_after``) and the runs that the one run started in other
        stages (``other_stage_awards``).
        """
        key = (stage, state_after)
        if key not in self._highest_win_by_series:
            highest_win = (
                self._find_highest_win_of_series(stage, state_after, earlier_stages)
                if state_after.runs_left > 0
                else HighestWin(0, Fraction(1))
            )
            if highest_win is None:
                return None
            self._highest_win_by_series[key] = highest_win
        win_credits, chance = self._highest_win_by_series[key]
        for award in other_stage_awards:
            if award.name in earlier_stages:
                return None
            series_rules = self.stages.series_rules[award.name]
            repeat_count = award.run_count if series_rules.is_memoryless else 1
            run_count = 1 if series_rules.is_memoryless else award.run_count
            state = build_first_state(series_rules, run_count, award.start_condition)
            highest_win = self._find_highest_win_of_series(award.name, state, (*earlier_stages, stage))
            if highest_win is None:
                return None
            win_credits += highest_win.credits * repeat_count
            chance *= highest_win.chance**repeat_count
        return HighestWin(win_credits, chance)
