"""``egm simulate``: play a game many times and compare the result with its exact figures."""

import json
import time
from dataclasses import dataclass, replace

import click

from paytables import AnalysisDepth, AnalysisError, BetAnalysis, Game, analyse
from paytables.reels.rules import ReelRules
from paytables.wording import format_count
from tools.cli.commands.par import load_game_or_fail
from tools.cli.tables import show_progress
from tools.cli.terminal import Terminal, echo
from tools.cli.whole_number import WholeNumber
from tools.lab.parsheet import format_percent
from tools.lab.simulation import (
    DistributionVerdict,
    FrequencyVerdict,
    ReturnVerdict,
    SimulationError,
    SimulationTally,
    compute_sample_variance,
    estimate_return,
    judge_distribution,
    judge_frequency,
    judge_return,
    simulate,
)


@dataclass(frozen=True, slots=True)
class _SimulationResult:
    """The result of a finished simulation of one bet, compared with the bet's exact figures."""

    analysed_bet: BetAnalysis
    tally: SimulationTally
    """The sums over the simulated games."""
    return_verdict: ReturnVerdict
    """The simulated return with its interval and z-score, and whether the exact return is in that interval."""
    frequency_verdict: FrequencyVerdict | None
    """The simulated hit frequency compared with the exact one; None if the exact one is unknown."""
    distribution_verdict: DistributionVerdict | None
    """The simulated distribution of wins compared with the exact one; None if the exact one is unknown."""
    seconds: float
    """The seconds that the games took."""
    code_path: str
    """The code that played the games: ``production`` or ``compiled``."""

    @property
    def agrees_with_exact(self) -> bool:
        """Return whether return, hit frequency and distribution agree with the exact figures, if these are known."""
        return self.return_verdict.agrees_with_exact and all(
            verdict is None or verdict.agrees_with_exact
            for verdict in (self.frequency_verdict, self.distribution_verdict)
        )


@click.command()
@click.argument("game")
@click.option(
    "--games", default=100_000, show_default=True, type=WholeNumber(min=2), help="Number of games to play."
)
@click.option("--workers", default=1, show_default=True, type=WholeNumber(min=1), help="Number of processes.")
@click.option("--bet", help="The bet to play (default: the first one in the PAR sheet).")
@click.option(
    "--compiled",
    is_flag=True,
    help="Use the compiled evaluator: millions of games per second, only reel games whose stages are all plain spins.",
)
@click.option(
    "--seed", default=1, show_default=True, type=int, help="The seed of the compiled evaluator's generator."
)
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def command(
    game: str, games: int, workers: int, bet: str | None, seed: int, *, compiled: bool, as_json: bool
) -> None:
    """Play GAME many times as a machine plays it, with draws of the certified generator.

    Prints the interval of the simulated return and the z-score of its distance from the exact one, and
    compares hit frequency and distribution with the exact ones too; the exit status is 1 if one of them deviates
    more than 99.9 % of correct simulations do. If there is no exact return or variance, the command says
    so, and the interval is based on the deviation of the simulated games.
    """
    loaded_game = load_game_or_fail(game)
    try:
        with show_progress("computing the exact distribution"):
            analysed_bets = analyse(loaded_game, AnalysisDepth.FULL).bets
    except AnalysisError as error:
        _print_estimated_return(game, loaded_game, bet, games, workers, str(error), as_json=as_json)
        return
    analysed_bet = next(
        (analysed_bet for analysed_bet in analysed_bets if bet in {None, analysed_bet.bet}), None
    )
    if analysed_bet is None:
        raise click.ClickException(f"{loaded_game.id} has no bet {bet!r}")
    try:
        result = (
            _simulate_compiled(loaded_game, analysed_bet, games, seed)
            if compiled
            else _simulate_in_production(game, loaded_game, analysed_bet, games, workers)
        )
    except (SimulationError, AnalysisError) as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        echo(json.dumps(_build_result_data(loaded_game, result), indent=2))
    else:
        _print_result(Terminal(), loaded_game, result)
    if not result.agrees_with_exact:
        raise SystemExit(1)


def _simulate_in_production(
    game_name: str, game: Game, analysed_bet: BetAnalysis, game_count: int, workers: int
) -> _SimulationResult:
    """Play the games with the machine's own code, as a cabinet does; return the result."""
    started_seconds = time.perf_counter()
    tally = SimulationTally()
    with show_progress(f"{game.id}, bet {analysed_bet.bet}", game_count) as report_progress:
        for tally in simulate(
            game_name,
            analysed_bet.cost_credits,
            analysed_bet.options,
            game_count,
            workers,
            analysed_bet.table,
            analysed_bet.required_bets,
        ):
            report_progress(tally.game_count)
    return _build_result(analysed_bet, tally, time.perf_counter() - started_seconds, "production")


def _print_estimated_return(
    game_name: str, game: Game, bet: str | None, game_count: int, workers: int, reason: str, *, as_json: bool
) -> None:
    """Simulate a bet whose return cannot be computed exactly, and print the estimated return; ``reason`` says why."""
    modes = game.rules.modes if isinstance(game.rules, ReelRules) else {}
    if bet is not None and bet not in modes:
        raise click.ClickException(f"{game.id} has no bet {bet!r}")
    mode = bet or next(iter(modes), None)
    cost_credits = game.bet_options[0] if mode is None else modes[mode].cost_credits
    try:
        with show_progress(f"{game.id}, bet {mode or cost_credits}", game_count) as report_progress:
            for tally in simulate(
                game_name, cost_credits, {} if mode is None else {"mode": mode}, game_count, workers
            ):
                report_progress(tally.game_count)
    except SimulationError as error:
        raise click.ClickException(str(error)) from None
    estimate = estimate_return(tally, cost_credits)
    if as_json:
        echo(
            json.dumps(
                {
                    "game": game.id,
                    "digest_sha256": game.digest,
                    "bet": mode,
                    "games": estimate.game_count,
                    "credits_won": tally.win_sum,
                    "return": estimate.rtp,
                    "interval": [estimate.interval_low, estimate.interval_high],
                    "exact_return": None,
                    "why_not_exact": reason,
                },
                indent=2,
            )
        )
        return
    interval_text = (
        f"99.9 % interval {100 * estimate.interval_low:.4f} - {100 * estimate.interval_high:.4f} %"
    )
    echo(
        f"{game.id} {game.version}, bet {mode or cost_credits}: {format_count(estimate.game_count, 'game')}, "
        "production path"
    )
    echo(f"  simulated return {100 * estimate.rtp:.4f} %   {interval_text}, by the sample's own deviation")
    echo(f"  no exact return: {reason}")


def _simulate_compiled(
    game: Game, analysed_bet: BetAnalysis, game_count: int, seed: int
) -> _SimulationResult:
    """Play the games with compiled code, which is much faster than the machine's own code; return the result.

    Raises SimulationError for any family but reels.
    """
    from paytables.reels import compiled  # noqa: PLC0415 (laboratory package)

    if not isinstance(game.rules, ReelRules):
        raise SimulationError(f"there is no compiled simulation of the family {game.family!r}")
    stages = game.rules.stages[analysed_bet.bet]
    compiled.simulate(stages, 2, seed)  # compile before the timing starts
    started_seconds = time.perf_counter()
    compiled_tally = compiled.simulate(stages, game_count, seed)
    tally = SimulationTally(
        compiled_tally.game_count,
        compiled_tally.win_sum,
        compiled_tally.squared_win_sum,
        compiled_tally.winning_game_count,
        compiled_tally.highest_win,
    )
    return _build_result(analysed_bet, tally, time.perf_counter() - started_seconds, "compiled")


def _build_result(
    analysed_bet: BetAnalysis, tally: SimulationTally, seconds: float, code_path: str
) -> _SimulationResult:
    """Return the result of a simulation: return, hit frequency and distribution compared with the exact figures."""
    variance = compute_sample_variance(tally) if analysed_bet.variance is None else analysed_bet.variance
    if tally.game_count_by_win:  # the compiled path records no wins, and plays no table games
        tally = replace(
            tally,
            winning_game_count=sum(
                win_count
                for win, win_count in tally.game_count_by_win.items()
                if win >= analysed_bet.hit_min_credits
            ),
        )
    frequency_verdict = (
        None
        if analysed_bet.hit_probability is None
        else judge_frequency(tally.winning_game_count, tally.game_count, analysed_bet.hit_probability)
    )
    distribution_verdict = (
        None
        if analysed_bet.distribution is None or not tally.game_count_by_win
        else judge_distribution(tally, analysed_bet.distribution)
    )
    return_verdict = judge_return(tally, analysed_bet.cost_credits, analysed_bet.rtp, variance)
    return _SimulationResult(
        analysed_bet, tally, return_verdict, frequency_verdict, distribution_verdict, seconds, code_path
    )


def _build_result_data(game: Game, result: _SimulationResult) -> dict[str, object]:
    """Return the result of a simulation as JSON data."""
    return {
        "game": game.id,
        "digest_sha256": game.digest,
        "bet": result.analysed_bet.bet,
        "path": result.code_path,
        "games": result.tally.game_count,
        "credits_won": result.tally.win_sum,
        "return": result.return_verdict.rtp,
        "interval": [result.return_verdict.interval_low, result.return_verdict.interval_high],
        "exact_return": str(result.analysed_bet.rtp),
        "deviation": "exact" if result.analysed_bet.variance is not None else "sample",
        "z": result.return_verdict.z_score,
        "agrees": result.agrees_with_exact,
        "hit_frequency": result.tally.winning_game_count / result.tally.game_count,
        "exact_hit_frequency": None
        if result.frequency_verdict is None
        else str(result.frequency_verdict.exact_probability),
        "hit_frequency_z": None if result.frequency_verdict is None else result.frequency_verdict.z_score,
        "distribution_classes": None
        if result.distribution_verdict is None
        else result.distribution_verdict.class_count,
        "distribution_z": None
        if result.distribution_verdict is None
        else result.distribution_verdict.z_score,
        "most_credits": result.tally.highest_win,
        "games_per_second": result.tally.game_count / result.seconds,
    }


def _print_result(terminal: Terminal, game: Game, result: _SimulationResult) -> None:
    """Print the result of a simulation, and which figures agree with the exact ones."""
    return_verdict = result.return_verdict
    terminal.print(
        f"{game.id} {game.version}, bet {result.analysed_bet.bet}: {format_count(return_verdict.game_count, 'game')},"
        f" {result.code_path} path"
    )
    interval_text = (
        f"99.9 % interval {100 * return_verdict.interval_low:.4f} - "
        f"{100 * return_verdict.interval_high:.4f} %"
    )
    interval_text += "" if result.analysed_bet.variance is not None else ", by the sample's own deviation"
    terminal.print(f"  simulated return {100 * return_verdict.rtp:.4f} %   {interval_text}")
    terminal.print(
        f"  exact return     {format_percent(result.analysed_bet.rtp)}   z = {return_verdict.z_score:+.3f}"
    )
    frequency_text = (
        "no exact one"
        if result.frequency_verdict is None
        else f"exact {format_percent(result.frequency_verdict.exact_probability)}   "
        f"z = {result.frequency_verdict.z_score:+.3f}"
    )
    frequency = result.tally.winning_game_count / return_verdict.game_count
    terminal.print(f"  hit frequency    {100 * frequency:.4f} %   {frequency_text}")
    distribution_text = "not compared: " + (
        "no exact one" if result.analysed_bet.distribution is None else "too few games, or the compiled path"
    )
    if result.distribution_verdict is not None:
        distribution_text = (
            f"chi-square {result.distribution_verdict.chi_square:.1f} over "
            f"{result.distribution_verdict.class_count} classes of wins   "
            f"z = {result.distribution_verdict.z_score:+.3f}"
        )
    terminal.print(f"  distribution     {distribution_text}")
    terminal.print(f"  highest win      {format_count(result.tally.highest_win, 'credit')}")
    terminal.print(f"  {return_verdict.game_count / result.seconds:,.0f} games per second")
    for name, verdict in (
        ("return", return_verdict),
        ("hit frequency", result.frequency_verdict),
        ("distribution", result.distribution_verdict),
    ):
        if verdict is not None and not verdict.agrees_with_exact:
            terminal.print(f"  [red]the exact {name} is OUTSIDE what this simulation allows[/]")
    if result.agrees_with_exact:
        terminal.print("  [green]the exact figures lie in the simulation's intervals[/]")
