"""The PAR sheet as JSON data; all its other formats are printed from it.

Each exact value is a fraction as text, with its decimal value beside it; only that decimal is rounded (NZ 1.47.10).
"""

from bisect import bisect_left
from fractions import Fraction
from importlib import import_module
from typing import Any

from paytables import Analysis, BetAnalysis, Game, WinDistribution, find_family
from paytables.analysis import (
    CONFIDENCE_BAND_GAME_COUNTS,
    CONFIDENCE_QUANTILES,
    ProgressiveFigures,
    compute_confidence_band,
    compute_volatility_index,
)
from paytables.odds import DEFAULT_ODDS_LIMITS, OddsLimits, list_awards, list_awards_to_disclose
from tools.lab.parsheet.features import build_feature_sheets
from tools.lab.parsheet.figures import list_notes, to_exact_data

#: How the figures were derived, as text for the reader; the braces take the cases that the game's family counts.
DERIVATION_TEMPLATE = (
    "Exact: integer counts {}; fractions to the end. "
    "Volatility index: z x sigma. Confidence bands: return -+ z x sigma / sqrt(n)."
)
#: What a signature covers, as text for the reader.
SIGNATURE_TEXT = (
    "A sheet has no signature of its own. In a bundle of `egm certify` it is signed with the laboratory's key, "
    "which `egm certify --verify` checks; a sheet printed by `egm par` is not signed."
)
#: Upper limits of the win classes of a printed distribution, as multiples of the bet.
WIN_CLASS_UPPER_LIMITS = (
    Fraction(1),
    Fraction(2),
    Fraction(5),
    Fraction(10),
    Fraction(20),
    Fraction(50),
    Fraction(100),
)


def build_sheet(game: Game, analysis: Analysis, limits: OddsLimits = DEFAULT_ODDS_LIMITS) -> dict[str, Any]:
    """Return the whole PAR sheet as JSON data. ``limits``: odds longer than these must be disclosed to the player."""
    # Imported only for reel games, because it imports their rules.
    reels = import_module(f"{__package__}.reels") if game.family == "reels" else None
    return {
        "game": game.id,
        "title": game.title,
        "family": game.family,
        "version": game.version,
        "date": game.header.date.isoformat(),
        "digest_sha256": game.digest,
        "denominations_cents": list(game.denominations_cents),
        "bet_options_credits": list(game.bet_options),
        "help": game.help,
        "departures": list(game.departures),
        "exact": analysis.is_exact,
        "levy": to_exact_data(game.rules.commission_rate),
        "minimum_return": to_exact_data(analysis.minimum_rtp),
        "maximum_return": to_exact_data(analysis.maximum_rtp),
        # The lowest "return_of_the_worst_choices" of all bets.
        "return_of_the_worst_play": to_exact_data(analysis.worst_rtp),
        "bets": [build_bet_sheet(bet, game.denominations_cents) for bet in analysis.bets],
        "awards": [build_award_sheet(bet, limits) for bet in analysis.bets],
        "feature_sheets": build_feature_sheets(game, analysis),
        "reels": reels.build_strip_sheets(game.rules) if reels else [],
        "double_up": reels.describe_double_up(game.rules) if reels else None,
        "merchandise": [
            {
                "id": prize.id,
                "name": dict(prize.names),
                "description": dict(prize.description),
                "value_cents": prize.value_cents,
            }
            for prize in game.list_prizes_in_kind()
        ],
        "derivation": DERIVATION_TEMPLATE.format(find_family(game.family).counted_cases),
        "signature": SIGNATURE_TEXT,
    }


def build_bet_sheet(bet: BetAnalysis, denominations_cents: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return the PAR sheet's figures of one bet; the return of prizes in kind is stated for each denomination."""
    return {
        "bet": bet.bet,
        "cost_credits": bet.cost_credits,
        "cycle": bet.cycle,
        "return": to_exact_data(bet.rtp),
        "return_with_progressives_at_reset": to_exact_data(bet.compute_rtp_including_levels("reset")),
        "return_with_progressives_and_increments": to_exact_data(bet.rtp_with_progressives),
        "hit_frequency": to_exact_data(bet.hit_probability),
        "win_of_the_bet_or_more": to_exact_data(bet.win_at_least_bet_probability),
        "win_of_more_than_the_bet": to_exact_data(bet.profit_probability),
        "variance_credits": to_exact_data(bet.variance),
        "sigma_bets": bet.standard_deviation,
        "max_win_credits": bet.max_win_credits,
        "mean_added_credits": to_exact_data(bet.mean_raise_credits),
        **_build_always_doubled_figures(bet),
        "max_win_odds": to_exact_data(bet.max_win_probability),
        "prizes": [
            {
                "stage": prize.stage_or_spot,
                "prize": prize.name,
                "credits": prize.credits,
                "mean_credits": to_exact_data(prize.compute_mean_credits(bet.cost_credits)),
                "hits": prize.win_count,
                "per_game": to_exact_data(prize.rate),
                "return": to_exact_data(prize.rtp),
            }
            for prize in bet.prizes
        ],
        "features": [
            {
                "feature": feature.feature,
                "per_game": to_exact_data(feature.rate),
                "mean_runs": to_exact_data(feature.mean_runs),
                "most_runs": feature.max_runs,
                "mean_credits": to_exact_data(feature.mean_credits),
                "return": to_exact_data(feature.rtp),
            }
            for feature in bet.features
        ],
        "progressives": [_describe_level(level_figures) for level_figures in bet.progressives],
        "merchandise": [
            {
                "prize": merchandise.prize,
                "value_cents": merchandise.value_cents,
                "per_game": to_exact_data(merchandise.rate),
                **{
                    f"return_at_{cents}_cents": to_exact_data(
                        merchandise.compute_rtp_at(cents, bet.cost_credits)
                    )
                    for cents in denominations_cents
                },
            }
            for merchandise in bet.merchandise
        ],
        "volatility": build_volatility_rows(bet),
        "distribution": build_win_classes(bet.distribution, bet.cost_credits) if bet.distribution else None,
        "choices": bet.strategy,
        "return_of_the_worst_choices": to_exact_data(bet.worst_rtp),
        "simplest_choices": bet.simplest_strategy,
        "return_of_the_simplest_choices": to_exact_data(bet.simplest_rtp),
        "notes": list(list_notes(bet)),
    }


def _describe_level(figures: ProgressiveFigures) -> dict[str, Any]:
    """Return the figures of a progressive level for one bet (rate, reset, increment, break-even) as JSON data."""
    return {
        "level": figures.level,
        "per_game": to_exact_data(figures.rate),
        "reset_credits": figures.reset_credits,
        "return_at_reset": to_exact_data(figures.rtp_at_reset),
        "increment": to_exact_data(figures.increment),
        "break_even_credits": to_exact_data(figures.break_even_credits),
        "shares": {str(share): to_exact_data(rate) for share, rate in figures.partial_hit_rates.items()},
    }


def _build_always_doubled_figures(bet: BetAnalysis) -> dict[str, Any]:
    """Return a bet's figures for a player who doubles up every win as often as the rules allow."""
    doubled_figures = bet.double_up
    return {
        "most_credits_after_double_up": None
        if doubled_figures is None
        else bet.max_win_credits_with_double_up,
        "variance_when_always_doubled": None
        if doubled_figures is None
        else to_exact_data(doubled_figures.variance),
        "distribution_when_always_doubled": (
            build_win_classes(doubled_figures.distribution, bet.cost_credits)
            if doubled_figures and doubled_figures.distribution
            else None
        ),
    }


def build_award_sheet(bet: BetAnalysis, limits: OddsLimits) -> dict[str, Any]:
    """Return a bet's rarest award, its top awards, and the awards whose odds must be disclosed to the player.

    ``limits``: odds longer than these must be disclosed (Ontario 10.1).
    """
    awards = list_awards(bet)
    awards_to_disclose = list_awards_to_disclose(awards, limits)

    def list_rows(listed_awards: list[Any]) -> list[dict[str, Any]]:
        """Return these awards as JSON rows: the stage, the award, its credits, and its rate per game."""
        return [
            {
                "stage": award.stage_or_spot,
                "award": award.name,
                "credits": award.credits,
                "per_game": to_exact_data(award.rate),
            }
            for award in listed_awards
        ]

    return {
        "bet": bet.bet,
        "rarest": list_rows(awards[:1]),
        "top": list_rows([a for a in awards if a.is_top]),
        "told_to_the_player": list_rows(awards_to_disclose),
    }


def build_volatility_rows(bet: BetAnalysis) -> list[dict[str, Any]]:
    """Return one row per confidence level: the volatility index and the bands of the return.

    Empty if the standard deviation is not known.
    """
    if bet.standard_deviation is None:
        return []
    rows = []
    for name, quantile in CONFIDENCE_QUANTILES.items():
        z_score = float(quantile)
        bands = [
            {
                "games": game_count,
                "band": compute_confidence_band(float(bet.rtp), bet.standard_deviation, game_count, z_score),
            }
            for game_count in CONFIDENCE_BAND_GAME_COUNTS
        ]
        rows.append(
            {
                "quantile": name,
                "z": quantile,
                "index": compute_volatility_index(bet.standard_deviation, z_score),
                "bands": bands,
            }
        )
    return rows


def build_win_classes(distribution: WinDistribution, cost_credits: int) -> dict[str, Any]:
    """Return the probability and the return of each class of wins; class limits are multiples of ``cost_credits``."""
    rows: list[dict[str, Any]] = []
    lower_limit: Fraction | None = None
    wins = sorted(win for win in distribution.case_count_by_win if win)
    first_index = 0
    for upper_limit in (*WIN_CLASS_UPPER_LIMITS, None):
        end_index = len(wins) if upper_limit is None else bisect_left(wins, upper_limit * cost_credits)
        counts_in_class = {win: distribution.case_count_by_win[win] for win in wins[first_index:end_index]}
        first_index = end_index
        rows.append(
            {
                "from_bets": str(lower_limit or 0),
                "below_bets": None if upper_limit is None else str(upper_limit),
                "probability": to_exact_data(
                    Fraction(sum(counts_in_class.values()), distribution.case_count)
                ),
                "return": to_exact_data(
                    Fraction(
                        sum(win * count for win, count in counts_in_class.items()),
                        distribution.case_count * cost_credits,
                    )
                ),
            }
        )
        lower_limit = upper_limit
    no_win_probability = Fraction(distribution.case_count_by_win.get(0, 0), distribution.case_count)
    return {
        "nothing": to_exact_data(no_win_probability),
        "classes": rows,
        "left_out": to_exact_data(distribution.unlisted_probability),
    }
