"""``egm keno``: the exact odds of any Keno ticket, and the required text of a game's selection slip."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import click

from egm.screen.text import Texts
from paytables import BetAnalysis, Game, PaytableError, load_game
from paytables.keno.printed_ticket import SLIP_TEXTS, build_slip, format_slip_form
from paytables.keno.rules import KenoRules, find_keno_rules
from paytables.wording import format_count, format_percent
from tools.cli.keno_selection import build_ticket_request
from tools.cli.tables import (
    Column,
    OutputFormat,
    Table,
    add_format_options,
    build_number_column,
    show,
    show_progress,
)
from tools.cli.terminal import echo, format_json
from tools.cli.whole_number import WholeNumber
from tools.lab.argument_names import parse_path_or_id
from tools.lab.simulation import INTERVAL_Z_SCORE, ReturnVerdict, SimulationTally, judge_return, simulate

#: The number of amounts of the distribution that are printed; ``--json`` has them all.
PRINTED_AMOUNTS_MAX = 24


def _load_keno_game(name: str) -> tuple[Game, KenoRules]:
    """Return a game and its Keno rules. Raises PaytableError for a game of another family."""
    game = load_game(parse_path_or_id(name))
    return game, find_keno_rules(game)


def _build_figure_data(bet: BetAnalysis) -> dict[str, Any]:
    """Return the exact figures of a Keno bet as JSON data."""
    fraction_by_name = {
        "return": bet.rtp,
        "hit_probability": bet.hit_probability,
        "probability_of_the_bet_or_more": bet.win_at_least_bet_probability,
        "variance_credits2": bet.variance,
        "probability_of_the_most": bet.max_win_probability,
    }
    distribution = bet.distribution
    return {
        "cost_credits": bet.cost_credits,
        **{name: _to_exact_and_decimal(value) for name, value in fraction_by_name.items()},
        "most_credits": bet.max_win_credits,
        "progressives": [
            {
                "level": level_figures.level,
                "rate": _to_exact_and_decimal(level_figures.rate),
                "return_at_reset": _to_exact_and_decimal(level_figures.rtp_at_reset),
            }
            for level_figures in bet.progressives
        ],
        "distribution": None
        if distribution is None
        else {
            str(win): str(Fraction(case_count, distribution.case_count))
            for win, case_count in distribution.case_count_by_win.items()
        },
        "notes": list(bet.notes),
    }


def _simulate_ticket(name: str, bet: BetAnalysis, game_count: int) -> tuple[SimulationTally, ReturnVerdict]:
    """Simulate a Keno ticket with the machine's own code; return the tally and the comparison with the exact return."""
    *_, tally = simulate(name, bet.cost_credits, bet.options, game_count, workers=1)
    assert bet.variance is not None  # every ticket has a variance
    return tally, judge_return(tally, bet.cost_credits, bet.rtp, bet.variance)


def compute_win_interval(win_count: int, game_count: int) -> tuple[float, float]:
    """Return the 99.9 % confidence interval of the probability of a win, after ``win_count`` in ``game_count`` games.

    Wilson's method is used, which is also valid for rare wins.
    """
    z_score_squared = INTERVAL_Z_SCORE**2
    interval_centre = (win_count + z_score_squared / 2) / (game_count + z_score_squared)
    half_width = (
        INTERVAL_Z_SCORE
        * math.sqrt(win_count * (game_count - win_count) / game_count + z_score_squared / 4)
        / (game_count + z_score_squared)
    )
    return interval_centre - half_width, interval_centre + half_width


def _to_exact_and_decimal(value: Fraction | None) -> dict[str, Any] | None:
    """Return a fraction as JSON data, exactly as text and as a decimal number; None stays None."""
    return None if value is None else {"exact": str(value), "decimal": float(value)}


def _iter_sentences(bet: BetAnalysis) -> Iterator[str]:
    """Yield sentences on a Keno ticket's cost, return, chance of a win, deviation, and progressive levels."""
    yield f"The ticket costs {format_count(bet.cost_credits, 'credit')} and returns {format_percent(bet.rtp, 4)}%."
    if bet.hit_probability is not None:
        yield f"It wins once in {float(1 / bet.hit_probability):,.2f} tickets."
    if bet.standard_deviation is not None:
        yield f"Standard deviation {bet.standard_deviation:,.4f} of its cost."
    for level_figures in bet.progressives:
        yield (
            f"Progressive {level_figures.level}: once in {float(1 / level_figures.rate):,.0f} tickets, "
            f"{format_percent(level_figures.rtp_at_reset, 4)} % more at its reset value."
        )
    yield from bet.notes


@click.group()
def command() -> None:
    """Print the exact odds of any Keno ticket, and the required text of a selection slip."""


@command.command()
@click.argument("game")
@click.argument("selections", nargs=-1, required=True)
@click.option(
    "--draws", "draw_count", default=1, show_default=True, help="Number of draws the ticket takes part in."
)
@click.option("--bonus", "bonuses", multiple=True, help="The id of a bonus to buy; repeat for more.")
@click.option(
    "--games",
    "game_count",
    type=WholeNumber(min=2),
    help="Also play the ticket this many times, and print intervals.",
)
@add_format_options
def odds(
    game: str,
    selections: Sequence[str],
    draw_count: int,
    bonuses: Sequence[str],
    game_count: int | None,
    *,
    output_format: OutputFormat,
) -> None:
    """Print the exact odds of a ticket of GAME.

    A selection is a list of numbers, "3,11,27", or groups of numbers with the stake on their combinations by
    count of spots: "3,11,27/42,80@3:1,5:2" stakes 1 on each combination of 3 spots and 2 on each of 5. "?8"
    is a quick pick of eight. If selections overlap too much for an exact distribution, only their exact
    return and variance are printed, with a note. --games also plays the ticket this many times, and prints
    the interval of its return and of its wins.
    """
    try:
        _, rules = _load_keno_game(game)
        options = build_ticket_request(
            selections, rules.definition.ticket_limits.stake_options, draw_count, bonuses
        )
        wager = rules.build_wager(rules.build_ticket(options).cost_credits, **options)
        with show_progress(f"analysing a ticket of {game}"):
            bet = rules.analyse_wager(wager)
    except PaytableError as error:
        raise click.ClickException(str(error)) from None
    figures, return_verdict = _build_figure_data(bet), None
    if game_count is not None:
        tally, return_verdict = _simulate_ticket(game, bet, game_count)
        hit_frequency_low, hit_frequency_high = compute_win_interval(
            tally.winning_game_count, tally.game_count
        )
        figures["played"] = {
            "games": tally.game_count,
            "return": return_verdict.rtp,
            "return_interval": [return_verdict.interval_low, return_verdict.interval_high],
            "hit_interval": [hit_frequency_low, hit_frequency_high],
            "most_credits": tally.highest_win,
        }
    lines_after_table = []
    amounts_and_counts = [] if bet.distribution is None else [*bet.distribution.case_count_by_win.items()]
    if output_format == "text" and len(amounts_and_counts) > PRINTED_AMOUNTS_MAX:
        lines_after_table.append(
            f"... and {format_count(len(amounts_and_counts) - PRINTED_AMOUNTS_MAX, 'amount')} more"
            " (--json and --csv have them all)"
        )
        amounts_and_counts = amounts_and_counts[:PRINTED_AMOUNTS_MAX]
    if return_verdict is not None:
        lines_after_table.append(
            f"Played {return_verdict.game_count:,} times: returns {return_verdict.rtp:.4%} "
            f"(99.9 %: {return_verdict.interval_low:.4%} to {return_verdict.interval_high:.4%}); "
            f"wins in {hit_frequency_low:.4%} to {hit_frequency_high:.4%} of tickets."
        )
    odds_column = Column("1 in", "one_in", is_right_aligned=True, format_value="{:,.2f}".format)
    odds_rows = (
        ((win, float(Fraction(bet.distribution.case_count, count))) for win, count in amounts_and_counts)
        if bet.distribution
        else ()
    )
    amount_table = Table((build_number_column("credits"), odds_column), odds_rows, empty_text="")
    show(
        output_format,
        amount_table,
        document=figures,
        text_before="\n".join(_iter_sentences(bet)),
        text_after="\n".join(lines_after_table),
    )


@command.command("slip")
@click.argument("game")
@click.option(
    "--language",
    type=click.Choice(sorted(SLIP_TEXTS)),
    default="en",
    show_default=True,
    help="The language of the text.",
)
@click.option(
    "--selections",
    "selection_count",
    type=WholeNumber(min=1),
    default=1,
    show_default=True,
    help="The number of selections with boxes.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print as JSON what the slip and the machine must show."
)
def print_slip(game: str, language: str, selection_count: int, *, as_json: bool) -> None:
    """Print the selection slip of GAME: its required text, and boxes to mark for each selection."""
    try:
        _, rules = _load_keno_game(game)
    except PaytableError as error:
        raise click.ClickException(str(error)) from None
    if selection_count > (selection_count_max := rules.definition.ticket_limits.selections_max):
        raise click.BadParameter(
            f"a ticket of this game has at most {selection_count_max} selections", param_hint="--selections"
        )
    if as_json:
        echo(format_json(build_slip(rules.definition), indent=2))
        return
    texts = Texts(language)
    page = format_slip_form(
        rules.definition,
        language,
        lambda credits_: texts.translate("meter.credits", count=texts.format_number(credits_)),
        selection_count,
    )
    echo(page, nl=False)
