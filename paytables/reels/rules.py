"""The rules of one reel game: its wagers, and how its stages start one another in play."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.contract import (
    Choice,
    Decision,
    DefinitionRemark,
    DrawSource,
    Json,
    LevelParticipation,
    Outcome,
    PrizeInKind,
    RoundEvents,
    Settlement,
    Wager,
)
from paytables.errors import WagerError
from paytables.reels import explain, figures, presentation
from paytables.reels.build import ModeStages
from paytables.reels.chain import StageState, build_first_state, compute_next_state
from paytables.reels.run import Stage, StageRun, StageRunDecisions
from paytables.reels.schema import BetMode, DoubleUp, ReelsDefinition
from paytables.tableless import TablelessRules
from paytables.wording import format_count


@dataclass(slots=True)
class RunSeries:
    """A series of runs of one stage in a reel game, such as ten free games, and how far it has been played."""

    stage: str
    """The id of the stage that is played."""
    state: StageState
    """The runs left and made, the multiplier and the sticky cells."""


@dataclass(slots=True)
class GameTally:
    """The running totals of one reel game in play: its prizes, its awards and its runs as the screen shows them.

    In the data for the screen and the journal, "steps" are the runs, "step" is the index of a run, "left" the number of
    runs left in the series, "level" the bet level, and "rounds" the doublings of the double-up.
    """

    bet_level: int
    """The bet level; every pay is multiplied by it."""
    wins: list[Settlement] = field(default_factory=list)
    """The prizes won so far."""
    hit_level_ids: list[str] = field(default_factory=list)
    """The ids of the progressive levels hit so far."""
    merchandise: list[str] = field(default_factory=list)
    """The ids of the merchandise prizes won so far."""
    shown_runs: list[dict[str, Json]] = field(default_factory=list)
    """The data that the screen needs to show each run, in order."""

    @property
    def credits(self) -> int:
        """Return the credits won so far in this reel game."""
        return sum([win.credits for win in self.wins])

    def add_run(self, series: RunSeries, run: StageRun, multiplier: int) -> None:
        """Add the result of one run of a stage; ``multiplier`` is its series' multiplier."""
        run_index = len(self.shown_runs)
        wins = []
        if run.paid_wins:  # most runs pay nothing; skipping them halves the time
            wins = [
                Settlement(
                    p.name,
                    p.credits * multiplier * self.bet_level,
                    {**p.detail, "stage": series.stage, "step": run_index},
                )
                for p in run.paid_wins
            ]
            self.wins += wins
        if run.awards:
            self.hit_level_ids += [a.name for a in run.awards if a.kind == "progressive"]
            self.merchandise += [a.name for a in run.awards if a.kind == "merchandise"]
        self.shown_runs.append(
            {
                "stage": series.stage,
                "multiplier": multiplier,
                "level": self.bet_level,
                **run.display,
                "wins": [win.to_json() for win in wins] if wins else [],
                "credits": sum([win.credits for win in wins]) if wins else 0,
                "awards": [a.to_json() for a in run.awards] if run.awards else [],
            }
        )


@dataclass(frozen=True)
class ReelRules(TablelessRules):
    """The rules of a playable reel game: every stage in every mode (way to bet)."""

    definition: ReelsDefinition
    modes: Mapping[str, BetMode]
    """The ways to bet, by id."""
    stages: Mapping[str, ModeStages]
    """The playable stages of each mode, by the mode's id."""

    @cached_property
    def bet_options(self) -> tuple[int, ...]:
        """Return every total bet of the reel game, in credits, ascending."""
        return tuple(
            sorted(
                {
                    mode.cost_credits * bet_level
                    for mode in self.modes.values()
                    for bet_level in self.definition.bets.bet_levels
                }
            )
        )

    @cached_property
    def _offered_wagers(self) -> tuple[Wager, ...]:
        """Return every wager that the reel game accepts, by mode and bet level in the definition's order."""
        return tuple(
            Wager(mode.cost_credits * bet_level, {"mode": mode.id, "level": bet_level})
            for mode in self.modes.values()
            for bet_level in self.definition.bets.bet_levels
        )

    def build_wager(self, credits_: int, **options: Json) -> Wager:
        """Return the first offered wager that costs ``credits_`` and has the given mode and bet level.

        Without the option ``mode`` or ``level``, any fits. Raises :class:`WagerError` if no wager fits.
        """
        for wager in self._offered_wagers:
            if wager.credits == credits_ and options.items() <= wager.options.items():
                return wager
        unknown_options = set(options) - {"mode", "level"}
        if unknown_options:
            raise WagerError(
                f"a bet of a reel game has the options mode and level, not {', '.join(sorted(unknown_options))}"
            )
        request = "".join(f", {k} {v}" for k, v in sorted(options.items()))
        raise WagerError(
            f"no bet of {format_count(credits_, 'credit')}{request}; the game offers {list(self.bet_options)}"
        )

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play one game: the stage that the wager buys, and every series of runs that follows from it.

        A series that is awarded during another one is played before the other continues.
        """
        offered_wager = self.build_wager(wager.credits, **wager.options)
        stages = self.stages[offered_wager.options["mode"]]
        tally = GameTally(bet_level=offered_wager.options["level"])
        first_stage = stages.mode.first_stage
        pending_series = [
            RunSeries(
                first_stage,
                build_first_state(stages.series_rules[first_stage], run_count=1, start_condition=0),
            )
        ]
        while pending_series:
            series = pending_series[-1]
            state = series.state
            if state.runs_left <= 0:
                pending_series.pop()
                continue
            series_rules = stages.series_rules[series.stage]
            multiplier = series_rules.multipliers[state.multiplier_index]
            run = stages.get_stage(series.stage, state.start_condition).run(draw)
            if not isinstance(run, StageRun):
                run = yield from _forward_decisions(run, tally, multiplier)
            tally.add_run(series, run, multiplier)
            series.state, other_stage_awards = compute_next_state(
                series_rules, series.stage, state, run.awards
            )
            tally.shown_runs[-1]["left"] = series.state.runs_left
            for award in other_stage_awards:
                first_state = build_first_state(
                    stages.series_rules[award.name], award.run_count, award.start_condition
                )
                pending_series.append(RunSeries(award.name, first_state))
        for level in self.definition.progressive_levels:
            if level.one_in is not None and draw.below(level.one_in, f"progressive.{level.id}") == 0:
                tally.hit_level_ids.append(level.id)
        final_credits = tally.credits
        doublings: list[dict[str, Json]] = []
        if final_credits and self.definition.double_up is not None:
            final_credits, doublings = yield from self._offer_double_up(
                self.definition.double_up, tally, draw
            )
        yield from tally.wins
        if doublings:
            yield Settlement(
                "double-up", final_credits - tally.credits, {"stage": "double_up", "rounds": doublings}
            )
        return _build_outcome(tally, final_credits, doublings)

    @staticmethod
    def _offer_double_up(
        double_up: DoubleUp, tally: GameTally, draw: DrawSource
    ) -> Generator[Decision, Choice | None, tuple[int, list[dict[str, Json]]]]:
        """Offer to double the win as often as the rules allow; return the final credits, and the doublings played."""
        win_credits = tally.credits
        doublings: list[dict[str, Json]] = []
        while (
            win_credits
            and len(doublings) < double_up.rounds_max
            and 2 * win_credits <= double_up.win_max_credits
        ):
            prompt = {
                "credits": win_credits,
                "to_win": 2 * win_credits,
                "rounds": list(doublings),
                "steps": list(tally.shown_runs),
            }
            decision = Decision("double_up", ("collect", "red", "black"), prompt)
            called_colour = decision.get_chosen_option((yield decision))
            if called_colour == "collect":
                break
            shown_colour = ("red", "black")[draw.below(2, "double_up")]
            win_credits = 2 * win_credits if shown_colour == called_colour else 0
            doublings.append({"called": called_colour, "shown": shown_colour, "credits": win_credits})
        return win_credits, doublings

    @cached_property
    def _hit_rate_by_level_by_mode(self) -> Mapping[str, Mapping[str, Fraction]]:
        """Return, for each mode, the mean number of hits of each progressive level per game."""
        bets = self.analyse(AnalysisDepth.RETURN).bets if self.definition.progressive_levels else ()
        return {bet.options["mode"]: {p.level: p.rate for p in bet.progressives} for bet in bets}

    def find_highest_win_after_double_up(self, win_credits: int) -> int:
        """Return the highest win, in credits, that a win of up to ``win_credits`` can become in the double-up."""
        double_up = self.definition.double_up
        return win_credits if double_up is None else double_up.compute_win_bound(win_credits)

    def list_levels(self, wager: Wager) -> tuple[LevelParticipation, ...]:
        """Return every progressive level that the wager's mode can win.

        The reset value and the ceiling of each grow with the bet level, as pays do.
        """
        if not self.definition.progressive_levels:
            return ()
        bet_level = wager.options["level"]
        hit_rate_by_level = self._hit_rate_by_level_by_mode.get(wager.options["mode"], {})
        return tuple(
            LevelParticipation(
                level=level.id,
                names=level.name.model_dump(),
                stake_credits=wager.credits,
                hit_rate=hit_rate_by_level[level.id],
                increment=Fraction(level.increment),
                reset_credits=level.reset_credits * bet_level,
                ceiling_credits=None if level.ceiling_credits is None else level.ceiling_credits * bet_level,
            )
            for level in self.definition.progressive_levels
            if hit_rate_by_level[level.id]
        )

    def list_every_level(self) -> tuple[LevelParticipation, ...]:
        """Return each progressive level once for each total bet that plays for it.

        Of several bets with the same total, only the first is listed.
        """
        return self._level_participations

    @cached_property
    def _level_participations(self) -> tuple[LevelParticipation, ...]:
        """Return the levels of :meth:`list_every_level`, computed once."""
        participations: dict[tuple[str, int], LevelParticipation] = {}
        for wager in self._offered_wagers:
            for participation in self.list_levels(wager):
                participations.setdefault((participation.level, participation.stake_credits), participation)
        return tuple(participations.values())

    def list_prizes_in_kind(self) -> tuple[PrizeInKind, ...]:
        """Return the merchandise prizes of the definition."""
        return tuple(
            PrizeInKind(
                id=prize.id,
                names=prize.name.model_dump(),
                description=prize.description.model_dump(),
                value_cents=prize.value_cents,
            )
            for prize in self.definition.merchandise
        )

    def list_shown_stages(self) -> dict[str, Stage]:
        """Return each stage as the first mode (way to bet) plays it, which is what the screen draws."""
        first_mode_stages = next(iter(self.stages.values()))
        return {name: first_mode_stages.get_stage(name) for name in self.definition.stages}

    def build_presentation(self) -> dict[str, Json]:
        """Return the strips, window, symbols, lines and pays of the game as the screen draws them."""
        return presentation.build_presentation(self.definition, self.stages)

    def explain_pays(self) -> tuple[str, ...]:
        """Return English sentences that describe what the reel game pays."""
        return explain.explain_pays(self.stages)

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return remarks on what is legal in this reel game but may surprise its designer."""
        return explain.list_remarks(self.definition, self.stages)

    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of every mode of the reel game; ``depth`` selects how many are computed."""
        return figures.analyse(self.definition, self.stages, depth)

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures (return and variance) of a mode at a bet level.

        The bet level multiplies cost and pays alike.
        """
        offered_wager = self.build_wager(wager.credits, **wager.options)
        mode_figures = next(
            bet for bet in self._volatility_figures.bets if bet.bet == offered_wager.options["mode"]
        )
        return BetAnalysis(
            bet=mode_figures.bet,
            cost_credits=offered_wager.credits,
            rtp=mode_figures.rtp,
            options=offered_wager.options,
            variance=None
            if mode_figures.variance is None
            else mode_figures.variance * offered_wager.options["level"] ** 2,
            strategy=mode_figures.strategy,
            worst_rtp=mode_figures.worst_rtp,
        )

    @cached_property
    def _volatility_figures(self) -> Analysis:
        """Return the exact figures of every mode up to :attr:`AnalysisDepth.VOLATILITY`, computed only once."""
        return self.analyse(AnalysisDepth.VOLATILITY)


def _build_outcome(tally: GameTally, win_credits: int, doublings: list[dict[str, Json]]) -> Outcome:
    """Return the outcome of a reel game that won ``win_credits``, double-ups included."""
    first_run = tally.shown_runs[0]
    display = {
        "stops": first_run.get("stops", []),
        "window": first_run.get("window", []),
        "wins": first_run["wins"],
        "credits": win_credits,
        "steps": tally.shown_runs,
        **({"double_up": doublings} if doublings else {}),
    }
    return Outcome(
        progressives=tuple(tally.hit_level_ids),
        merchandise=tuple(tally.merchandise),
        display=display,
    )


def _forward_decisions(
    run_decisions: StageRunDecisions, tally: GameTally, multiplier: int
) -> StageRunDecisions:
    """Forward a stage's player decisions, with the game's runs so far added to their prompts.

    The screen shows these runs first.
    """
    try:
        decision = next(run_decisions)
        while True:
            progress = {"steps": list(tally.shown_runs), "level": tally.bet_level, "multiplier": multiplier}
            decision = run_decisions.send((yield replace(decision, prompt={**decision.prompt, **progress})))
    except StopIteration as end:
        run: StageRun = end.value
        return run
