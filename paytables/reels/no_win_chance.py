"""The probability that a game wins nothing: no credits in its first play or in anything that this play starts.

The result is exact unless a stage can lead back to itself without a win, such as free games that start again after
a losing spin. The probability is then a root of a polynomial and not a fraction. It is approached from 0, with one
more level of repetitions in each pass, in whole multiples of 2**-64 rounded down.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from paytables.errors import BeyondExactAnalysis
from paytables.reels.automaton import Award
from paytables.reels.build import ModeStages
from paytables.reels.chain import StageState, build_first_state, compute_next_state
from paytables.reels.run import GivenAwards
from paytables.reels.spin import ReelSpinStage, ReelsStageBase

#: A kind of run: the stage, and the state of its series.
SeriesKey = tuple[str, StageState]
#: Probabilities of cyclic stages are whole multiples of 1 / PROBABILITY_ONE.
PROBABILITY_ONE = 1 << 64
#: How often the estimate for a cyclic stage is recomputed at most.
ITERATIONS_MAX = 400


@dataclass(slots=True)
class NoWinChance:
    """The calculation of the probability that a reel game in one mode, with all its features, wins nothing."""

    stages: ModeStages
    skips_slow_stages: bool = False
    """Whether to compute only what is fast and needs no laboratory package."""
    _chance_by_play: dict[SeriesKey, Fraction] = field(default_factory=dict)
    """The probabilities computed so far, by stage and state."""
    _estimate_by_open_play: dict[SeriesKey, Fraction] = field(default_factory=dict)
    """The present estimates for plays whose computation has not ended, because such a play may start itself."""
    is_rounded: bool = False
    """Whether the computed probability is rounded, because stages start one another in a cycle."""

    def compute_chance(self) -> Fraction:
        """Return the probability that a whole reel game wins nothing.

        Raises the errors of a stage's own distribution, and BeyondExactAnalysis if ``skips_slow_stages`` is set and the
        computation is not quick.
        """
        return self._compute_award_chance(Award("stage", self.stages.mode.stage, 1, 0))

    def _compute_award_chance(self, award: Award) -> Fraction:
        """Return the probability that all plays of an awarded feature, and everything they start, win nothing."""
        memory = self.stages.memory[award.name]
        if memory.is_plain:
            return (
                self._compute_run_no_win_chance((award.name, StageState(1, 0, 0, award.start_size)))
                ** award.run_count
            )
        return self._compute_run_no_win_chance(
            (award.name, build_first_state(memory, award.run_count, award.start_size))
        )

    def _compute_run_no_win_chance(self, series_key: SeriesKey) -> Fraction:
        """Return the probability that a play of a stage in a given state and all that it starts win nothing.

        It is computed only once, except if the play can start itself: then it is computed by iteration each time.
        """
        if series_key in self._chance_by_play:
            return self._chance_by_play[series_key]
        if series_key in self._estimate_by_open_play:
            self.is_rounded = True
            return self._estimate_by_open_play[series_key]
        self._estimate_by_open_play[series_key] = Fraction(0)
        was_rounded = self.is_rounded
        self.is_rounded = False
        chance = self._compute_one_run_chance(series_key)
        if self.is_rounded:
            for _ in range(ITERATIONS_MAX):
                chance_before = self._estimate_by_open_play[series_key]
                self._estimate_by_open_play[series_key] = Fraction(
                    int(chance * PROBABILITY_ONE), PROBABILITY_ONE
                )
                if self._estimate_by_open_play[series_key] == chance_before:
                    break
                chance = self._compute_one_run_chance(series_key)
        else:
            self._chance_by_play[series_key] = chance
        del self._estimate_by_open_play[series_key]
        self.is_rounded = self.is_rounded or was_rounded
        return chance

    def _compute_one_run_chance(self, series_key: SeriesKey) -> Fraction:
        """Compute the chance that a play and all that it starts win nothing, from those of the plays it starts."""
        stage, state = series_key
        memory = self.stages.memory[stage]
        total = Fraction(0)
        for given_awards, p in self._find_no_win_odds(stage, state.size).items():
            state_after, elsewhere = compute_next_state(memory, stage, state, given_awards)
            chance = p
            if state_after.runs_left > 0:
                next_run = (
                    (stage, StageState(1, 0, 0, state_after.size))
                    if memory.is_plain
                    else (stage, state_after)
                )
                chance *= self._compute_run_no_win_chance(next_run) ** (
                    state_after.runs_left if memory.is_plain else 1
                )
            for award in elsewhere:
                chance *= self._compute_award_chance(award)
            total += chance
        return total

    def _find_no_win_odds(self, stage_name: str, start_size: int) -> Mapping[GivenAwards, Fraction]:
        """Return the probability that one play of a stage pays no credits, for each combination of awards it gives."""
        stage = self.stages.get_stage(stage_name, start_size)
        try:
            if isinstance(stage, ReelSpinStage):
                return stage.losing_award_chances
            if isinstance(stage, ReelsStageBase):
                raise BeyondExactAnalysis(f"stage {stage_name}: has more than one spin")
        except BeyondExactAnalysis:
            if self.skips_slow_stages:
                raise
        return {
            given: p for (credits_, given), p in stage.compute_distribution().items() if p and not credits_
        }
