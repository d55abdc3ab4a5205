"""Printing of a PAR sheet on a terminal, as tables."""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from paytables import Analysis, BetAnalysis, Game
from paytables.analysis import PrizeFigures
from paytables.odds import DEFAULT_ODDS_LIMITS, OddsLimits
from paytables.wording import format_count
from tools.cli.tables import Column, Columns, Table, build_facts_table, show
from tools.cli.terminal import echo
from tools.lab.parsheet.features import build_feature_sheets
from tools.lab.parsheet.figures import format_one_in, format_percent, list_notes
from tools.lab.parsheet.formats import format_cell
from tools.lab.parsheet.sheet import SIGNATURE_TEXT, build_award_sheet, build_bet_sheet

if TYPE_CHECKING:
    from tools.lab.parsheet.level_returns import LevelReturn

#: What the columns of the confidence bands mean, as text.
_CONFIDENCE_BANDS_LEGEND: Final = (
    "a band is the interval in which the return lies, with the stated probability, after that number of games; "
    "'trade 90 %' uses z = 1.65, as is usual in the trade, and '90 %' uses z = 1.644853627"
)


def print_par_sheet(game: Game, analysis: Analysis, odds_limits: OddsLimits = DEFAULT_ODDS_LIMITS) -> None:
    """Print the PAR sheet of a game.

    Awards whose odds are longer than ``odds_limits`` are listed, because their odds must be displayed to the player.
    """
    echo(f"{game.title['en']} / {game.title['fr']}   {game.id} {game.version}, {game.header.date}")
    echo(f"definition SHA-256 {game.digest}")
    if game.rules.commission_rate is not None:
        echo(
            "levy (the certified figure of games between players): "
            f"{format_percent(game.rules.commission_rate)}"
        )
    for bet in analysis.bets:
        tables = [table for table in _build_bet_tables(bet, game.denominations_cents) if table]
        bands = _build_band_tables(build_bet_sheet(bet)) if bet.standard_deviation is not None else ()
        notes = [
            f"note: {note}" for note in (*list_notes(bet), *([_CONFIDENCE_BANDS_LEGEND] if bands else []))
        ]
        heading = f"\nBet {bet.bet}: {format_count(bet.cost_credits, 'credit')}"
        show("text", *tables, *bands, text_before=heading, text_after="\n".join(notes))
    for feature_data in build_feature_sheets(game, analysis):
        show("text", *_build_feature_sheet_tables(feature_data), text_before=f"\n{feature_data['sheet']}")
    for bet in analysis.bets:
        for award in build_award_sheet(bet, odds_limits)["told_to_the_player"]:
            odds = format_one_in(Fraction(award["per_game"]["exact"]))
            echo(f"shown to the player, bet {bet.bet}: {award['stage']} {award['award']} {odds}")
    echo(f"\n{SIGNATURE_TEXT}")


def _build_right_aligned_columns(*titles: str) -> tuple[Column, ...]:
    """Return right-aligned columns with these titles."""
    return tuple(Column(title, is_right_aligned=True) for title in titles)


def _build_bet_tables(bet: BetAnalysis, denominations_cents: tuple[int, ...]) -> tuple[Table, ...]:
    """Return the tables of a bet's PAR sheet: figures, prizes, features, progressive levels, merchandise."""
    return (
        Table(("figure", "value", "more"), _iter_facts(bet), shows_titles=False),
        _build_prize_table(bet),
        _build_feature_table(bet),
        _build_progressive_table(bet),
        _build_merchandise_table(bet, denominations_cents),
    )


def _iter_facts(bet: BetAnalysis) -> Iterator[tuple[str, str, str]]:
    """Yield the main figures of a bet as rows (name, figure, note)."""
    yield "return", format_percent(bet.rtp), f"{bet.rtp}" if bet.rtp.denominator < 10**12 else ""
    if bet.mean_staked_credits is not None:
        yield (
            "return of all that is staked",
            format_percent(bet.rtp_of_all_staked),
            f"{bet.rtp_of_all_staked}",
        )
    if bet.worst_rtp is not None:
        yield "return of the best choices", format_percent(bet.rtp), bet.strategy or ""
        if bet.simplest_rtp is not None:
            yield (
                "return of the simplest choices",
                format_percent(bet.simplest_rtp),
                bet.simplest_strategy or "",
            )
        yield "return of the worst choices", format_percent(bet.worst_rtp), ""
    if bet.progressives:
        yield (
            "return with progressives at reset",
            format_percent(bet.compute_rtp_including_levels("reset")),
            "",
        )
        yield "return with progressives and increments", format_percent(bet.rtp_with_progressives), ""
    if bet.hit_probability is not None:
        yield "hit frequency", format_percent(bet.hit_probability), format_one_in(bet.hit_probability)
    if bet.win_at_least_bet_probability is not None:
        yield "win of the bet or more", format_percent(bet.win_at_least_bet_probability), ""
    if bet.profit_probability is not None:
        yield "win of more than the bet", format_percent(bet.profit_probability), ""
    if bet.standard_deviation is not None:
        yield (
            "standard deviation",
            f"{bet.standard_deviation:.6f} bets",
            f"index {1.65 * bet.standard_deviation:.3f} (z 1.65)",
        )
    if bet.max_win_credits is not None:
        label = "highest win, raises deducted" if bet.mean_raise_credits else "highest win"
        yield label, format_count(bet.max_win_credits, "credit"), format_one_in(bet.max_win_probability)


def _build_feature_sheet_tables(feature_data: dict[str, Any]) -> tuple[Table, ...]:
    """Return the tables of a feature's PAR sheet: single figures, and a further table if the feature has rows."""
    facts_tables = (build_facts_table((label, format_cell(value)) for label, value in feature_data["facts"]),)
    if not feature_data["rows"]:
        return facts_tables
    first_title, *other_columns = feature_data["columns"]
    rows = ([*map(format_cell, row)] for row in feature_data["rows"])
    return (
        *facts_tables,
        Table((first_title, *_build_right_aligned_columns(*other_columns)), rows, identifying_column_count=1),
    )


def _build_prize_table(bet: BetAnalysis) -> Table:
    """Return the table of a bet's prizes: credits, number of winning cases, odds and share of the return."""
    rows = (
        (
            prize.stage_or_spot,
            prize.name,
            f"{prize.credits:,}",
            *([_format_mean(prize, bet.cost_credits)] if bet.prizes_with_multipliers else []),
            "" if prize.win_count is None or prize.win_count > 10**15 else f"{prize.win_count:,}",
            format_one_in(prize.rate),
            format_percent(prize.rtp),
        )
        for prize in bet.prizes
    )
    mean_titles = ("mean credits",) if bet.prizes_with_multipliers else ()
    columns: Columns = (
        "stage",
        "prize",
        *_build_right_aligned_columns("credits", *mean_titles, "hits", "odds", "return"),
    )
    return Table(columns, rows, identifying_column_count=2)


def _format_mean(prize: PrizeFigures, cost_credits: int) -> str:
    """Return the mean payment of a prize in credits as text, or a dash if the prize has none."""
    mean = prize.compute_mean_credits(cost_credits)
    return "-" if mean is None else f"{float(mean):,.2f}"


def _build_feature_table(bet: BetAnalysis) -> Table:
    """Return the table of a bet's features: odds, number of runs, mean credits and share of the return."""
    rows = (
        (
            feature.feature,
            format_one_in(feature.rate),
            f"{float(feature.mean_runs):.4f}",
            "no limit" if feature.max_runs is None else str(feature.max_runs),
            f"{float(feature.mean_credits):.4f}",
            format_percent(feature.rtp),
        )
        for feature in bet.features
    )
    return Table(
        (
            "feature",
            *_build_right_aligned_columns("odds", "mean runs", "most runs", "mean credits", "return"),
        ),
        rows,
        identifying_column_count=1,
    )


def _build_progressive_table(bet: BetAnalysis) -> Table:
    """Return the table of a bet's progressive levels: odds, reset, increment, and break-even meter."""
    rows = []
    for level_figures in bet.progressives:
        break_even_text = (
            "-"
            if level_figures.break_even_credits is None
            else f"{float(level_figures.break_even_credits):,.1f}"
        )
        reset_text = f"{level_figures.reset_credits:,}"
        rows.append(
            (
                level_figures.level,
                format_one_in(level_figures.rate),
                reset_text,
                format_percent(level_figures.rtp_at_reset),
                format_percent(level_figures.increment),
                break_even_text,
            )
        )
        rows += [
            (f"{format_percent(share)} of it", format_one_in(rate), "", "", "", "")
            for share, rate in level_figures.partial_hit_rates.items()
        ]
    return Table(
        (
            "level",
            *_build_right_aligned_columns("odds", "reset", "at reset", "increment", "break-even credits"),
        ),
        rows,
        identifying_column_count=1,
    )


def _build_merchandise_table(bet: BetAnalysis, denominations_cents: tuple[int, ...]) -> Table:
    """Return a table of the prizes in kind with their stated values, which no return of a bet includes."""
    value_columns = _build_right_aligned_columns(
        *(f"return at {cents} (not in the total)" for cents in denominations_cents)
    )
    rows = (
        (
            merchandise.prize,
            format_one_in(merchandise.rate),
            f"{merchandise.value_cents:,}",
            *(
                format_percent(merchandise.compute_rtp_at(cents, bet.cost_credits), 6)
                for cents in denominations_cents
            ),
        )
        for merchandise in bet.merchandise
    )
    return Table(
        ("prize in kind", *_build_right_aligned_columns("odds", "value, minor units"), *value_columns),
        rows,
        identifying_column_count=1,
    )


def print_level_returns(level_returns: "list[LevelReturn]", unit: str) -> None:
    """Print the return of each progressive level at its current amount.

    ``unit`` names the unit in which stakes and level amounts are printed (minor units or credits).
    """
    columns: Columns = (
        "bet",
        "level",
        *_build_right_aligned_columns(
            f"stake, {unit}", f"meter, {unit}", "return of the level", "return with the game"
        ),
    )
    rows = (
        (
            level_return.bet,
            level_return.level,
            f"{level_return.level_stake:,}",
            f"{level_return.level_amount:,}",
            format_percent(level_return.level_return),
            format_percent(level_return.bet_return),
        )
        for level_return in level_returns
    )
    show("text", Table(columns, rows, empty_text="no level", identifying_column_count=2))


def _build_band_tables(bet_data: dict[str, Any]) -> tuple[Table, ...]:
    """Return a table of confidence intervals of a bet's return, with one row for each number of games."""
    columns = _build_right_aligned_columns("games", *(row["quantile"] for row in bet_data["volatility"]))
    rows = []
    for index, first_band in enumerate(bet_data["volatility"][0]["bands"]):
        intervals = [row["bands"][index]["band"] for row in bet_data["volatility"]]
        rows.append(
            (
                f"{first_band['games']:,}",
                *(f"{100 * low:.2f} - {100 * high:.2f} %" for low, high in intervals),
            )
        )
    return (Table(columns, rows, identifying_column_count=1),)
