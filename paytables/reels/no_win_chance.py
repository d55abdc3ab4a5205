"""The probability that a game wins nothing: no credits in its first run or in anything that this run starts.

The result is exact unless a stage can lead back to itself without a win, such as free games that start again after
a losing spin. The probability is then a root of a polynomial and not a fraction. It is approached from below: each pass
allows one more level of repetition. Estimates are rounded down to multiples of 2**-64. Example: a free game loses and
starts nothing with probability 1/2, and loses but starts two more free games with 1/4. Then q = 1/2 + q**2 / 4; the
passes give 1/2, 9/16, 593/1024... and approach 2 - sqrt(2).

The terms (run, series, start condition, memoryless) are defined in :mod:`paytables.reels.run`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from paytables.errors import BeyondExactAnalysisError
from paytables.reels.automaton import Award
from paytables.reels.build import ModeStages
from paytables.reels.chain import StageState, build_first_state, compute_next_state
from paytables.reels.run import GivenAwards
from paytables.reels.spin import ReelSpinStage, ReelsStageBase

#: The remaining runs of a series: the stage, and the state of the series. For a memoryless stage it is one run.
SeriesKey = tuple[str, StageState]
#: Probabilities of cyclic stages are whole multiples of 1 / PROBABILITY_ONE.
PROBABILITY_ONE = 1 << 64
#: The maximum number of times that the estimate for a cyclic stage is recomputed.
ITERATIONS_MAX = 400


@dataclass(slots=True)
class NoWinChance:
    """The calculation of the probability that a reel game in one mode, with all its features, wins nothing."""

    stages: ModeStages
    skips_slow_stages: bool = False
    """Whether to compute only what is fast and needs no laboratory package."""
    _chance_by_series: dict[SeriesKey, Fraction] = field(default_factory=dict)
    """The probabilities computed so far, by stage and state."""
    _estimate_by_open_series: dict[SeriesKey, Fraction] = field(default_factory=dict)
    """Estimates for the series that are being computed; used if such a series starts itself."""
    _has_used_estimate: bool = False
    """Whether an estimate was used since the computation of the present series (at the end: of all series) started."""

    @property
    def is_rounded(self) -> bool:
        """Return whether the computed probability is rounded, which it is if stages start one another in a cycle."""
        return self._has_used_estimate

    def compute_chance(self) -> Fraction:
        """Return the probability that a whole reel game wins nothing.

        Raises the errors of a stage's own distribution, and BeyondExactAnalysisError if ``skips_slow_stages`` is set
        and the computation is not quick.
        """
        return self._compute_award_chance(Award("stage", self.stages.mode.first_stage, 1, 0))

    def _compute_award_chance(self, award: Award) -> Fraction:
        """Return the probability that all runs of an awarded feature, and everything they start, win nothing."""
        series_rules = self.stages.series_rules[award.name]
        if series_rules.is_memoryless:
            return (
                self._find_series_chance(
                    (award.name, build_first_state(series_rules, 1, award.start_condition))
                )
                ** award.run_count
            )
        return self._find_series_chance(
            (award.name, build_first_state(series_rules, award.run_count, award.start_condition))
        )

    def _find_series_chance(self, series_key: SeriesKey) -> Fraction:
        """Return the probability that the remaining runs of a series, and all that they start, win nothing.

        It is computed only once, except if the series can start itself: then it is computed by iteration each time.
        """
        if series_key in self._chance_by_series:
            return self._chance_by_series[series_key]
        if series_key in self._estimate_by_open_series:
            self._has_used_estimate = True
            return self._estimate_by_open_series[series_key]
        self._estimate_by_open_series[series_key] = Fraction(0)
        had_used_estimate, self._has_used_estimate = self._has_used_estimate, False
        chance = self._compute_one_pass(series_key)
        if self._has_used_estimate:  # the series can start itself, so the estimate 0 was used: improve it
            for _ in range(ITERATIONS_MAX):
                chance_before = self._estimate_by_open_series[series_key]
                self._estimate_by_open_series[series_key] = Fraction(
                    int(chance * PROBABILITY_ONE), PROBABILITY_ONE
                )
                if self._estimate_by_open_series[series_key] == chance_before:
                    break
                chance = self._compute_one_pass(series_key)
        else:
            self._chance_by_series[series_key] = chance
        del self._estimate_by_open_series[series_key]
        self._has_used_estimate = self._has_used_estimate or had_used_estimate
        return chance

    def _compute_one_pass(self, series_key: SeriesKey) -> Fraction:
        """Compute the chance of :meth:`_find_series_chance` once, with the present estimates."""
        stage, state = series_key
        series_rules = self.stages.series_rules[stage]
        total = Fraction(0)
        for given_awards, p in self._find_losing_award_chances(stage, state.start_condition).items():
            state_after, other_stage_awards = compute_next_state(series_rules, stage, state, given_awards)
            chance = p
            if state_after.runs_left > 0 and series_rules.is_memoryless:
                # the remaining runs are alike and independent: the chance of one is raised to their number
                one_run = (stage, build_first_state(series_rules, 1, state_after.start_condition))
                chance *= self._find_series_chance(one_run) ** state_after.runs_left
            elif state_after.runs_left > 0:
                chance *= self._find_series_chance((stage, state_after))
            for award in other_stage_awards:
                chance *= self._compute_award_chance(award)
            total += chance
        return total

    def _find_losing_award_chances(
        self, stage_name: str, start_condition: int
    ) -> Mapping[GivenAwards, Fraction]:
        """Return the probability that one run of a stage pays no credits, for each combination of awards it gives."""
        stage = self.stages.get_stage(stage_name, start_condition)
        try:
            if isinstance(stage, ReelSpinStage):
                return stage.losing_award_chances
            if isinstance(stage, ReelsStageBase):
                raise BeyondExactAnalysisError(f"stage {stage_name}: has more than one spin")
        except BeyondExactAnalysisError:
            if self.skips_slow_stages:
                raise
        return {
            given: p for (credits_, given), p in stage.compute_distribution().items() if p and not credits_
        }
