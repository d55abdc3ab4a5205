"""Exact mean and variance of games whose stages start one another, such as spins that start free games.

The terms (run, series, start condition, memoryless) are defined in :mod:`paytables.reels.run`. One paid game is a
branching process whose particles are runs. All runs of a memoryless stage are alike, so a group of memoryless stages
that start one another is a linear system. Let K[s][t] be the mean number of runs of t that a run of s starts. Then N =
(I - K)^-1 has the expected numbers of runs. Example: each free game starts 0.1 further ones on average, so N = 1 / (1 -
0.1): one free game leads to 1.111 with its retriggers. With x the mean credits of one run, the means are N x. With d
the variance of (the credits of one run + the mean credits of the runs of the group that it starts), the variances are N
d. What a run starts outside the group is computed first and counts as part of its credits. A stage that is not
memoryless (a capped series, a multiplier that moves, symbols that stick) is followed state by state instead.

N exists and is non-negative exactly if the elimination meets only positive pivots (I - K is then a
non-singular M-matrix); otherwise the expected length of the game is infinite, and it is refused.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from paytables.errors import AnalysisError, BeyondExactAnalysisError
from paytables.reels.automaton import Award
from paytables.reels.run import GivenAwards, RunFigures

ZERO = Fraction(0)
#: A kind of run: the stage and the start condition. It is a node of the graph of stages that start one another.
RunKind = tuple[str, int]


@dataclass(frozen=True, slots=True)
class SeriesRules:
    """The rules of a series of runs of one reel-game stage: multipliers, a limit of runs, sticky cells."""

    multipliers: tuple[int, ...] = (1,)
    """The multipliers of a series in order; the last stays until the series ends."""
    advances_every_run: bool = True
    """Whether every run moves the series to its next multiplier; if not, only a step award does."""
    runs_max: int | None = None
    """The largest number of runs in a series, or None if there is no limit."""
    has_sticky_symbol: bool = False
    """Whether a symbol of the stage sticks to its cell for the rest of the series."""

    @property
    def is_memoryless(self) -> bool:
        """Return whether the stage retains nothing between runs, so that every run of a series is alike."""
        return len(self.multipliers) == 1 and self.runs_max is None and not self.has_sticky_symbol


class StageState(NamedTuple):
    """The state of a series of runs of one stage, such as ten free games.

    It has the runs left and made, the index of the multiplier, and the start condition of the next run.
    """

    runs_left: int
    """The number of runs of the series that are still to be made."""
    runs_played: int
    """The number of runs of the series that were made; 0 if the stage has no limit of runs."""
    multiplier_index: int
    """The index of the series' current multiplier."""
    start_condition: int
    """The start condition of the next run, such as the mask of the stuck cells."""


def build_first_state(series_rules: SeriesRules, run_count: int, start_condition: int) -> StageState:
    """Return the initial state of a series of ``run_count`` runs of a stage with these rules."""
    runs_max = series_rules.runs_max
    return StageState(run_count if runs_max is None else min(run_count, runs_max), 0, 0, start_condition)


def compute_next_state(
    series_rules: SeriesRules, stage: str, state: StageState, given_awards: Iterable[Award]
) -> tuple[StageState, GivenAwards]:
    """Return the state of a series after one run, and the awards of the run that start other stages.

    ``given_awards`` are all awards of the run. Play and analysis both use this function: it defines how stages
    start one another.
    """
    if not given_awards and series_rules.is_memoryless:
        return StageState(state.runs_left - 1, 0, 0, state.start_condition), ()
    own_run_count = step_count = 0
    start_condition = state.start_condition
    other_stage_awards: list[Award] = []
    for award in given_awards:
        if award.kind == "stage" and award.name == stage:
            own_run_count += award.run_count
        elif award.kind == "stage":
            other_stage_awards.append(award)
        elif award.kind == "step":
            step_count += award.run_count
        elif award.kind == "stick":
            start_condition = award.start_condition
    runs_left = state.runs_left - 1 + own_run_count
    runs_played = state.runs_played + 1
    if series_rules.runs_max is not None:
        runs_left = min(runs_left, series_rules.runs_max - runs_played)
    multiplier_index = min(
        state.multiplier_index + (1 if series_rules.advances_every_run else step_count),
        len(series_rules.multipliers) - 1,
    )
    return StageState(
        runs_left, runs_played if series_rules.runs_max is not None else 0, multiplier_index, start_condition
    ), tuple(other_stage_awards)


@dataclass(frozen=True, slots=True)
class WinMoments:
    """Mean and variance of all credits that one run or a series of runs leads to, at bet level 1."""

    mean: Fraction
    """The mean, in credits."""
    variance: Fraction
    """The variance, in squared credits."""


@dataclass(slots=True)
class StageChain:
    """The stages of a reel game in one mode, which may start one another: expected runs, means and variances."""

    get_run_figures: Callable[[str, int], RunFigures]
    """A function that returns the exact figures of one run of a stage, from its id and start condition."""
    series_rules: Mapping[str, SeriesRules]
    """The rules of each stage's series, by the stage's id."""
    _moments_by_run_kind: dict[RunKind, WinMoments] = field(default_factory=dict)
    """Mean and variance of runs of memoryless stages computed so far, by (stage, start condition)."""
    _moments_by_series: dict[tuple[str, StageState], WinMoments] = field(default_factory=dict)
    """Mean and variance of series of stages that are not memoryless, computed so far, by (stage, state)."""
    _length_by_series: dict[tuple[str, StageState], int] = field(default_factory=dict)
    """The maximum number of remaining runs of series computed so far, by (stage, state of the series)."""
    _stages_in_progress: list[str] = field(default_factory=list)
    """The stages whose figures are being computed now. It shows when a stage leads back to itself."""

    # ------------------------------------------------------------ forwards: expected runs
    def count_expected_runs(self, stage: str) -> dict[tuple[str, int, int], Fraction]:
        """Return the expected number of runs of each stage in one game that starts with ``stage``.

        The keys are (stage, start condition, multiplier of the series). The multiplier is 1 for a memoryless stage,
        which retains nothing between runs.
        """
        expected_runs: dict[tuple[str, int, int], Fraction] = defaultdict(Fraction)
        memoryless_run_rates: dict[RunKind, Fraction] = defaultdict(Fraction)
        series_rates: dict[tuple[str, int, int], Fraction] = defaultdict(Fraction)

        def add_started_runs(award: Award, rate: Fraction) -> None:
            """Add the runs that an award starts to those still to be followed.

            ``rate`` is how often one game gives the award.
            """
            if self.series_rules[award.name].is_memoryless:
                memoryless_run_rates[award.name, award.start_condition] += rate * award.run_count
            else:
                series_rates[award.name, award.run_count, award.start_condition] += rate

        add_started_runs(Award("stage", stage, 1, 0), Fraction(1))
        for group in self._sort_groups(stage):
            if self.series_rules[group[0]].is_memoryless:
                nodes = self._list_reachable_nodes(group, [n for n in memoryless_run_rates if n[0] in group])
                matrix = self.invert_run_matrix(nodes)
                for column, node in enumerate(nodes):
                    # each first run (row) leads to matrix[row][column] runs of this node on average
                    rate = sum(
                        (
                            memoryless_run_rates.get(first_node, ZERO) * matrix[row][column]
                            for row, first_node in enumerate(nodes)
                        ),
                        ZERO,
                    )
                    expected_runs[(*node, 1)] += rate
                    for award, mean in self.get_run_figures(*node).rate_by_award.items():
                        if award.kind == "stage" and award.name not in group:
                            add_started_runs(award, rate * mean)
                continue
            # a stage that is not memoryless is alone in its group
            for key in [key for key in series_rates if key[0] == group[0]]:
                self._walk_series(key, series_rates[key], expected_runs, add_started_runs)
        return dict(expected_runs)

    def _walk_series(
        self,
        series_key: tuple[str, int, int],
        start_rate: Fraction,
        expected_runs: dict[tuple[str, int, int], Fraction],
        add_started_runs: Callable[[Award, Fraction], None],
    ) -> None:
        """Follow a series of runs to its end, adding the expected number of each run to ``expected_runs``.

        ``series_key`` is the stage, the number of runs and the start condition; ``start_rate`` is how often the series
        starts in one game. ``add_started_runs`` is called with each award that starts runs of another stage.
        """
        stage, run_count, start_condition = series_key
        states = {build_first_state(self.series_rules[stage], run_count, start_condition): start_rate}
        while states:
            next_states: dict[StageState, Fraction] = defaultdict(Fraction)
            for state, state_rate in states.items():
                expected_runs[
                    stage, state.start_condition, self.series_rules[stage].multipliers[state.multiplier_index]
                ] += state_rate
                for given_awards, chance in self._get_award_chances(stage, state.start_condition).items():
                    state_after, other_stage_awards = compute_next_state(
                        self.series_rules[stage], stage, state, given_awards
                    )
                    for award in other_stage_awards:
                        add_started_runs(award, state_rate * chance)
                    if state_after.runs_left > 0 and chance:
                        next_states[state_after] += state_rate * chance
            states = next_states

    def _get_award_chances(self, stage: str, start_condition: int) -> Mapping[GivenAwards, Fraction]:
        """Return the probability of each combination of awards that one run of a stage gives.

        Raises :class:`BeyondExactAnalysisError`.
        """
        chance_by_awards = self.get_run_figures(stage, start_condition).chance_by_awards
        if not chance_by_awards:
            raise BeyondExactAnalysisError(
                f"stage {stage} keeps state during its series, and too many of its prizes give awards"
            )
        return chance_by_awards

    # ------------------------------------------------------------ backwards: mean and variance
    def compute_award_moments(self, award: Award) -> WinMoments:
        """Return mean and variance of all credits that follow from an award of a stage, in that stage and in others.

        The stages' figures must include second moments.
        """
        if self.series_rules[award.name].is_memoryless:
            run_moments = self._compute_memoryless_run_moments(award.name, award.start_condition)
            return WinMoments(run_moments.mean * award.run_count, run_moments.variance * award.run_count)
        if award.name in self._stages_in_progress:
            raise AnalysisError(
                f"stage {award.name} keeps state during its series and is started again by its own awards"
            )
        self._stages_in_progress.append(award.name)
        series_moments = self._compute_series_moments(
            award.name,
            build_first_state(self.series_rules[award.name], award.run_count, award.start_condition),
        )
        self._stages_in_progress.pop()
        return series_moments

    def _compute_memoryless_run_moments(self, stage: str, start_condition: int) -> WinMoments:
        """Return mean and variance of the credits of one run of a memoryless stage and of all runs that it starts."""
        if (stage, start_condition) not in self._moments_by_run_kind:
            group = self._find_group(stage)
            nodes = self._list_reachable_nodes(group, [(stage, start_condition)])
            matrix = self.invert_run_matrix(nodes)
            figures_by_node = [self.get_run_figures(*node) for node in nodes]
            means = self._multiply(matrix, [self._compute_run_mean(f, group) for f in figures_by_node])
            mean_by_run_kind = dict(zip(nodes, means, strict=True))
            run_variances = [self._compute_run_variance(f, group, mean_by_run_kind) for f in figures_by_node]
            for node, mean, variance in zip(nodes, means, self._multiply(matrix, run_variances), strict=True):
                self._moments_by_run_kind[node] = WinMoments(mean, variance)
        return self._moments_by_run_kind[stage, start_condition]

    def _compute_run_mean(self, figures: RunFigures, group: tuple[str, ...]) -> Fraction:
        """Return the mean credits of one run plus those of all runs that it starts outside ``group``."""
        outside_award_rates = [
            (a, award_rate)
            for a, award_rate in figures.rate_by_award.items()
            if a.kind == "stage" and a.name not in group and award_rate
        ]
        return figures.mean + sum(
            (award_rate * self.compute_award_moments(a).mean for a, award_rate in outside_award_rates), ZERO
        )

    def _compute_run_variance(
        self, figures: RunFigures, group: tuple[str, ...], mean_by_run_kind: Mapping[RunKind, Fraction]
    ) -> Fraction:
        """Return the variance of (credits of one run + mean credits of the runs in ``group`` that it starts).

        What the run starts outside ``group`` counts as part of its credits, with its own variance. ``figures`` are
        those of the run. ``mean_by_run_kind`` has the mean credits of each kind of run in ``group``.
        """
        mean = ZERO
        second_moment = figures.second_moment
        for given_awards, chance in figures.chance_by_awards.items():
            mean_credits_part = figures.mean_by_awards[given_awards]
            outside_moments = self._sum_moments_outside_group(given_awards, group)
            following_mean = outside_moments.mean + sum(
                (
                    mean_by_run_kind[a.name, a.start_condition] * a.run_count
                    for a in given_awards
                    if a.kind == "stage" and a.name in group
                ),
                ZERO,
            )
            mean += mean_credits_part + chance * following_mean
            # E[(X + Y)^2] = E[X^2] + 2 E[XY] + E[Y^2] of the credits X of the run and Y of what it starts
            second_moment += (
                2 * following_mean * mean_credits_part
                + chance * following_mean**2
                + chance * outside_moments.variance
            )
        return second_moment - mean**2

    def _sum_moments_outside_group(self, given_awards: GivenAwards, group: tuple[str, ...]) -> WinMoments:
        """Return mean and variance of the credits of all runs that these awards start in stages outside ``group``."""
        moments_by_award = [
            self.compute_award_moments(a) for a in given_awards if a.kind == "stage" and a.name not in group
        ]
        return WinMoments(
            sum((award_moments.mean for award_moments in moments_by_award), ZERO),
            sum((award_moments.variance for award_moments in moments_by_award), ZERO),
        )

    def _compute_series_moments(self, stage: str, state: StageState) -> WinMoments:
        """Return the mean and variance of the credits that a series wins from this state on; (0, 0) at its end."""
        if state.runs_left <= 0:
            return WinMoments(ZERO, ZERO)
        key = (stage, state)
        if key not in self._moments_by_series:
            factor = self.series_rules[stage].multipliers[state.multiplier_index]
            figures = self.get_run_figures(stage, state.start_condition)
            mean = ZERO
            second_moment = factor**2 * figures.second_moment
            for given_awards, chance in figures.chance_by_awards.items():
                mean_credits_part = figures.mean_by_awards[given_awards]
                state_after, other_stage_awards = compute_next_state(
                    self.series_rules[stage], stage, state, given_awards
                )
                remaining_moments = self._compute_series_moments(stage, state_after)
                other_stage_moments = self._sum_moments_outside_group(other_stage_awards, (stage,))
                following_mean = remaining_moments.mean + other_stage_moments.mean
                mean += factor * mean_credits_part + chance * following_mean
                second_moment += 2 * factor * mean_credits_part * following_mean + chance * (
                    following_mean**2 + remaining_moments.variance + other_stage_moments.variance
                )
            self._moments_by_series[key] = WinMoments(mean, second_moment - mean**2)
        return self._moments_by_series[key]

    def find_longest_series(self, award: Award) -> int | None:
        """Return the maximum number of runs in the series that an award starts, or None if it is unlimited."""
        series_rules = self.series_rules[award.name]
        if series_rules.is_memoryless:
            restarts_itself = any(
                a.name == award.name
                for a in self.get_run_figures(award.name, award.start_condition).rate_by_award
            )
            return None if restarts_itself else award.run_count
        return self._count_longest_series(
            award.name, build_first_state(series_rules, award.run_count, award.start_condition)
        )

    def _count_longest_series(self, stage: str, state: StageState) -> int:
        """Return the maximum number of runs that a series of this stage can still have in this state."""
        if state.runs_left <= 0:
            return 0
        key = (stage, state)
        if key not in self._length_by_series:
            states_after = {
                compute_next_state(self.series_rules[stage], stage, state, given_awards)[0]
                for given_awards in self._get_award_chances(stage, state.start_condition)
            }
            self._length_by_series[key] = 1 + max(self._count_longest_series(stage, s) for s in states_after)
        return self._length_by_series[key]

    # ------------------------------------------------------------ which stages start which
    def _collect_reachable_nodes(
        self, stage: str, seen_nodes: set[RunKind], start_condition: int = 0
    ) -> None:
        """Add (stage, start condition) to ``seen_nodes``, and every other such pair that can follow it in a game."""
        unvisited_nodes = [(stage, start_condition)]
        while unvisited_nodes:
            node = unvisited_nodes.pop()
            if node in seen_nodes:
                continue
            seen_nodes.add(node)
            for award, mean in self.get_run_figures(*node).rate_by_award.items():
                if award.kind == "stage" and mean:
                    unvisited_nodes.append((award.name, award.start_condition))
                elif award.kind == "stick" and mean:
                    unvisited_nodes.append((node[0], award.start_condition))

    def find_reachable_nodes(self, stage: str) -> set[RunKind]:
        """Return every (stage, start condition) that can be played in a game that starts with ``stage``."""
        seen_nodes: set[RunKind] = set()
        self._collect_reachable_nodes(stage, seen_nodes)
        return seen_nodes

    def _find_started_stages(self, stage: str) -> dict[str, set[str]]:
        """Return, for each stage that a game starting with ``stage`` can reach, the stages that it starts directly."""
        started_by_stage: dict[str, set[str]] = defaultdict(set)
        for node in self.find_reachable_nodes(stage):
            rates = self.get_run_figures(*node).rate_by_award
            started_by_stage[node[0]].update(
                a.name for a, mean in rates.items() if mean and a.kind == "stage"
            )
        return {name: started_by_stage[name] for name in started_by_stage}

    def _find_reachable_stages(self, stage: str) -> dict[str, set[str]]:
        """Return, for each stage that a game starting with ``stage`` can reach, every stage that can follow it."""
        started_by_stage = self._find_started_stages(stage)
        reachable_by_stage = {s: set(t) for s, t in started_by_stage.items()}
        for middle in started_by_stage:  # transitive closure (Warshall)
            for s in started_by_stage:
                if middle in reachable_by_stage[s]:
                    reachable_by_stage[s] |= reachable_by_stage[middle]
        return reachable_by_stage

    def _find_group(self, stage: str) -> tuple[str, ...]:
        """Return the stages that ``stage`` leads to and that lead back to it; only ``stage`` if no stage does."""
        reachable_by_stage = self._find_reachable_stages(stage)
        return tuple(
            sorted({stage} | {t for t in reachable_by_stage[stage] if stage in reachable_by_stage[t]})
        )

    def _sort_groups(self, stage: str) -> list[tuple[str, ...]]:
        """Return the groups of stages that start one another, each group before the groups that it starts."""
        reachable_by_stage = self._find_reachable_stages(stage)
        groups = {
            tuple(sorted({s} | {t for t in reachable_by_stage[s] if s in reachable_by_stage[t]}))
            for s in reachable_by_stage
        }
        for group in groups:
            if len(group) > 1 and not all(self.series_rules[s].is_memoryless for s in group):
                raise AnalysisError(
                    f"stages {', '.join(group)} start one another, and one of them keeps state during its series"
                )
        # a group reaches all that the groups it starts reach, and itself in addition
        return sorted(
            groups, key=lambda group: -len(set().union(*(reachable_by_stage[s] for s in group)) | set(group))
        )

    def _list_reachable_nodes(self, group: tuple[str, ...], first_nodes: list[RunKind]) -> list[RunKind]:
        """Return every (stage, start condition) of ``group`` that the runs in ``first_nodes`` can lead to."""
        seen_nodes: set[RunKind] = set()
        for node in first_nodes:
            self._collect_reachable_nodes(node[0], seen_nodes, node[1])
        return sorted(node for node in seen_nodes if node[0] in group)

    # ------------------------------------------------------------ linear algebra
    def invert_run_matrix(self, nodes: list[RunKind]) -> list[list[Fraction]]:
        """Return (I - K)^-1, where K[s][t] is the mean number of runs of node t that a run of node s starts.

        Raises :class:`AnalysisError` if it does not exist.
        """
        size = len(nodes)
        index_by_node = {node: i for i, node in enumerate(nodes)}
        # Gauss-Jordan elimination of [I - K | I]: the right half ends as the inverse
        matrix = [[Fraction(int(i == j % size)) for j in range(2 * size)] for i in range(size)]
        for i, node in enumerate(nodes):
            for award, mean in self.get_run_figures(*node).rate_by_award.items():
                if award.kind == "stage" and (award.name, award.start_condition) in index_by_node:
                    matrix[i][index_by_node[award.name, award.start_condition]] -= mean * award.run_count
        for i in range(size):
            pivot = matrix[i][i]
            if pivot <= 0:
                raise AnalysisError(
                    f"stage {nodes[i][0]} never ends in expectation: it starts itself without end"
                )
            matrix[i] = [value / pivot for value in matrix[i]]
            for j in range(size):
                if j != i and matrix[j][i]:
                    factor = matrix[j][i]
                    matrix[j] = [a - factor * b for a, b in zip(matrix[j], matrix[i], strict=True)]
        return [row[size:] for row in matrix]

    @staticmethod
    def _multiply(matrix: list[list[Fraction]], vector: list[Fraction]) -> list[Fraction]:
        """Return the product of a matrix and a vector."""
        return [sum((a * b for a, b in zip(row, vector, strict=True)), ZERO) for row in matrix]
