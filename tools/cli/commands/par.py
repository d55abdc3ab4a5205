"""``egm par``: the PAR sheet of a game, computed exactly from the definition the cabinet plays."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from egm.errors import OperatorError
from paytables import (
    Analysis,
    AnalysisError,
    BetAnalysis,
    DefinitionError,
    Game,
    WagerError,
    analyse,
    load_game,
)
from paytables.odds import DEFAULT_ODDS_LIMITS
from paytables.wording import format_count, format_known_names
from tools.cli.par_sheet import print_level_returns, print_par_sheet
from tools.cli.result_file import write_result
from tools.cli.tables import show_progress
from tools.cli.terminal import echo, format_json
from tools.cli.whole_number import parse_whole_number
from tools.lab.argument_names import format_definition_error, parse_path_or_id
from tools.lab.parsheet import build_sheet, format_percent
from tools.lab.parsheet.formats import to_csv, to_html

if TYPE_CHECKING:
    from egm.profiles import Profile

#: The number of games of an estimate if there are no exact figures.
ESTIMATE_GAMES = 100_000
#: The most characters of an argument that a refusal repeats.
_QUOTED_CHARACTERS_MAX = 80


def load_game_or_fail(name: str) -> Game:
    """Return a game loaded by id or file, for a command. Raises ``click.ClickException`` with the reason."""
    try:
        return load_game(parse_path_or_id(name))
    except DefinitionError as error:
        raise click.ClickException(format_definition_error(error)) from None


def note_stated_figures(game: Game) -> None:
    """Print a note if the game's figures are stated in its definition rather than computed here."""
    if getattr(getattr(game.rules, "definition", None), "proved", None):
        text = "the figures are those stated in the definition, not computed here (`egm certify` checks them)"
        echo(f"{game.id}: {text}")


@click.command()
@click.argument("game")
@click.option("--json", "output_format", flag_value="json", help="Print JSON, with exact fractions.")
@click.option("--csv", "output_format", flag_value="csv", help="Print one long table as CSV.")
@click.option("--html", "output_format", flag_value="html", help="Print one HTML page with plots.")
@click.option(
    "--out",
    "output_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write there instead of the terminal.",
)
@click.option(
    "--jurisdiction",
    help="Compare the return with this profile's minimum; the exit status is 1 if it is lower.",
)
@click.option(
    "--bet",
    "bets",
    multiple=True,
    metavar="SPOT=CREDITS",
    help="For a layout: the sheet of these bets together.",
)
@click.option(
    "--strategy",
    metavar="NAME",
    help="The sheet of a strategy named in the definition, per hand of dice (craps only).",
)
@click.option(
    "--meter",
    "level_amounts",
    multiple=True,
    metavar="LEVEL=CREDITS",
    help="The return with a progressive level at this value.",
)
@click.option(
    "--state",
    "state_folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The returns with the present levels of the machine with this state folder.",
)
def command(
    game: str,
    output_format: str | None,
    output_file: Path | None,
    jurisdiction: str | None,
    bets: tuple[str, ...],
    strategy: str | None,
    level_amounts: tuple[str, ...],
    state_folder: Path | None,
) -> None:
    """Print the PAR sheet of GAME, a library id or a definition file."""
    loaded_game = load_game_or_fail(game)
    odds_limits = (
        DEFAULT_ODDS_LIMITS if jurisdiction is None else load_named_profile(jurisdiction).awards.odds_limits
    )
    try:
        with show_progress(f"analysing {loaded_game.id}"):
            if strategy is not None:
                from paytables.craps.strategy import analyse_named_strategy  # noqa: PLC0415 (only craps has strategies)

                analysis = _wrap_single_bet(loaded_game, analyse_named_strategy(strategy, loaded_game.rules))
            else:
                analysis = _analyse_layout(loaded_game, bets) if bets else analyse(loaded_game)
    except WagerError as error:
        raise click.ClickException(f"--bet: {error}") from None
    except AnalysisError as error:
        if bets or strategy is not None:
            raise click.ClickException(str(error)) from None
        raise click.ClickException(describe_estimate(game, loaded_game, str(error))) from None
    if level_amounts or state_folder is not None:
        _print_present_returns(loaded_game, analysis, level_amounts, state_folder)
    elif output_format is None and output_file is None:
        print_par_sheet(loaded_game, analysis, odds_limits)
        note_stated_figures(loaded_game)
    else:
        text = {
            "csv": lambda: to_csv(loaded_game, analysis, odds_limits),
            "html": lambda: to_html(loaded_game, analysis, odds_limits),
        }.get(
            output_format or "json",
            lambda: format_json(build_sheet(loaded_game, analysis, odds_limits), indent=2),
        )()
        if output_file is None:
            echo(text)
        else:
            write_result(output_file, text)
    if jurisdiction is not None:
        print_and_check_return_floor(loaded_game, analysis, jurisdiction)


def _analyse_layout(game: Game, bets: tuple[str, ...]) -> Analysis:
    """Return the figures of several bets placed together on a layout.

    Raises WagerError for a bet that is not allowed, and ClickException for a text that is not SPOT=CREDITS or
    names an unknown spot.
    """
    credits_by_spot: dict[str, int] = {}
    spot_ids = [spot.id for spot in game.rules.list_spots()]
    for text in bets:
        spot, _, credits_ = text.partition("=")
        if spot_ids and spot not in spot_ids:
            raise click.ClickException(
                f"--bet {text}: there is no spot {spot!r}; {format_known_names(spot, spot_ids)}"
            )
        if (staked_credits := parse_whole_number(credits_)) is None:
            raise click.ClickException(
                f"--bet {text[:_QUOTED_CHARACTERS_MAX]}: write SPOT=CREDITS, a whole number of credits"
            )
        credits_by_spot[spot] = credits_by_spot.get(spot, 0) + staked_credits
    bet = game.rules.analyse_wager(game.build_wager(sum(credits_by_spot.values()), bets=credits_by_spot))
    return _wrap_single_bet(
        game, replace(bet, bet=" ".join(f"{spot}={staked}" for spot, staked in credits_by_spot.items()))
    )


def _wrap_single_bet(game: Game, bet: BetAnalysis) -> Analysis:
    """Return an analysis of the game with the figures of only this bet."""
    return Analysis(game_id=game.id, version=game.version, family=game.family, bets=(bet,))


def _print_present_returns(
    game: Game, analysis: Analysis, level_amounts: tuple[str, ...], state_folder: Path | None
) -> None:
    """Print the returns of the progressive levels at the given amounts, and at a machine's amounts if one is named."""
    from meters import JournalError, open_view  # noqa: PLC0415 (no other sheet needs the machine's records)
    from tools.lab.parsheet import level_returns  # noqa: PLC0415 (as above)

    try:
        if level_amounts:
            amount_by_level = dict(_parse_level_amount(text) for text in level_amounts)
            print_level_returns(level_returns.compute_level_returns(analysis, amount_by_level), "credits")
        if state_folder is not None:
            with open_view(state_folder) as view:
                present_returns = level_returns.compute_present_level_returns(game, analysis, view)
                print_level_returns(present_returns, "minor units")
    except (level_returns.LevelAmountError, JournalError) as error:
        raise click.ClickException(str(error)) from None


def _parse_level_amount(text: str) -> tuple[str, int]:
    """Return the level and the amount from ``LEVEL=CREDITS``. Raises ClickException for any other form."""
    level, _, value = text.partition("=")
    if (number := parse_whole_number(value)) is None:
        raise click.ClickException(
            f"--meter {text[:_QUOTED_CHARACTERS_MAX]}: write LEVEL=CREDITS, a whole number of credits"
        )
    return level, number


def describe_estimate(name: str, game: Game, reason: str) -> str:
    """Return text on why there is no exact PAR sheet, with a simulated return of the lowest bet."""
    from tools.lab.simulation import estimate_return, simulate  # noqa: PLC0415 (needed only without exact figures)

    cost_credits = game.bet_options[0]
    with show_progress(
        f"{game.id}, {format_count(cost_credits, 'credit')}", ESTIMATE_GAMES
    ) as report_progress:
        for tally in simulate(name, cost_credits, {}, ESTIMATE_GAMES, 1):
            report_progress(tally.game_count)
    estimate = estimate_return(tally, cost_credits)
    return (
        f"no exact figures: {reason}. Simulated, not exact: {format_count(estimate.game_count, 'game')} "
        f"at {format_count(cost_credits, 'credit')} return {100 * estimate.rtp:.3f} %, "
        f"99.9 % interval {100 * estimate.interval_low:.3f} - {100 * estimate.interval_high:.3f} %"
    )


def load_named_profile(jurisdiction: str) -> "Profile":
    """Return the jurisdiction profile with this name. Raises ``click.ClickException`` if none exists."""
    from egm.profiles import load_profile  # noqa: PLC0415 (most sheets need no profile)

    try:
        return load_profile(parse_path_or_id(jurisdiction))
    except OperatorError as error:
        raise click.ClickException(str(error)) from None


def print_and_check_return_floor(game: Game, analysis: Analysis, jurisdiction: str) -> None:
    """Print the lowest return and the minimum that the jurisdiction's profile requires.

    Raises ``click.ClickException`` if the profile refuses the game's returns.
    """
    profile = load_named_profile(jurisdiction)
    return_floor = profile.returns.find_minimum(game.family)
    return_by_bet = {
        bet.bet: bet.compute_rtp_including_levels(profile.progressives.part_counted_in_return)
        for bet in analysis.bets
    }
    house_return_by_bet = {
        bet.bet: return_by_bet[bet.bet] for bet in analysis.bets if not bet.is_covered_by_players
    }
    lowest_text = format_percent(min((house_return_by_bet or return_by_bet).values()))
    required_text = format_percent(return_floor.required_return)
    sentence = f"at least {lowest_text} on each bet; {jurisdiction} requires {required_text} "
    sentence += {"bet": "on each bet", "game": "on its best bet", "nothing": "on no bet"}[
        return_floor.applies_to
    ]
    if return_floor.find_bet_below(house_return_by_bet) is not None:
        raise click.ClickException(f"{game.id} returns {sentence}")
    echo(sentence, err=True)
