"""The output formats of a PAR sheet: CSV, and one HTML file with embedded plots."""

import base64
import csv
import io
from fractions import Fraction
from typing import Any

from paytables import Analysis, Game
from paytables.odds import DEFAULT_ODDS_LIMITS, OddsLimits
from tools.lab.parsheet.figures import format_one_in
from tools.lab.parsheet.sheet import build_sheet


def format_cell(value: Any) -> str:
    """Return a cell of a PAR sheet's table as printed text.

    Exact figures have twelve significant digits, whole numbers have thousands separators, and None is a dash.
    """
    if value is None:
        return "-"
    if isinstance(value, dict):
        return f"{value['decimal']:.12g}" if value["decimal"] is not None else str(value["exact"])
    return f"{value:,}" if isinstance(value, int) else str(value)


def to_csv(game: Game, analysis: Analysis, odds_limits: OddsLimits = DEFAULT_ODDS_LIMITS) -> str:
    """Return the PAR sheet as one long CSV table: bet, section, name, figure, exact, decimal."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["bet", "section", "name", "figure", "exact", "decimal"])
    data = build_sheet(game, analysis, odds_limits)
    for key in ("game", "version", "date", "digest_sha256"):
        writer.writerow(["", "game", game.id, key, data[key], ""])
    if data["levy"] is not None:
        writer.writerow(["", "game", game.id, "levy", *_split_exact_and_decimal(data["levy"])])
    for reel in data["reels"]:
        name = f"{reel['stage']} reel {reel['reel']}"
        # The format has no columns for strips: here "exact" has the symbols, and "decimal" the number of stops.
        writer.writerow(["", "strip", name, "stops", " ".join(reel["strip"]), reel["stops"]])
        for symbol, count in reel["counts"].items():
            writer.writerow(["", "count", name, symbol, count, ""])
    for bet in data["bets"]:
        _write_bet_csv(writer, bet)
    for bet_awards in data["awards"]:
        for award in bet_awards["told_to_the_player"]:
            _write_row_csv(
                writer, bet_awards["bet"], "shown to the player", f"{award['stage']} {award['award']}", award
            )
    for feature_data in data["feature_sheets"]:
        _write_feature_csv(writer, feature_data)
    return buffer.getvalue()


def _write_feature_csv(writer: Any, feature_data: dict[str, Any]) -> None:
    """Write the sheet of a game feature, such as a bonus stage, to the CSV table."""
    name = feature_data["sheet"]
    for label, value in feature_data["facts"]:
        writer.writerow(["", name, "", label, *_split_exact_and_decimal(value)])
    for row in feature_data["rows"]:
        for column, value in zip(feature_data["columns"][1:], row[1:], strict=True):
            writer.writerow(["", name, row[0], column, *_split_exact_and_decimal(value)])


def _split_exact_and_decimal(value: Any) -> tuple[Any, Any]:
    """Return the exact and the decimal form of a figure, as two cells; for None, two empty cells."""
    if isinstance(value, dict):
        return value["exact"], value["decimal"]
    return ("", "") if value is None else (value, value if isinstance(value, int) else "")


def _write_bet_csv(writer: Any, bet_data: dict[str, Any]) -> None:
    """Write a bet's figures, prizes, features, levels and confidence bands to the CSV table."""
    name = bet_data["bet"]
    _write_row_csv(writer, name, "bet", name, bet_data)
    for section, label in (
        ("prizes", "prize"),
        ("features", "feature"),
        ("progressives", "level"),
        ("merchandise", "prize"),
    ):
        for row in bet_data[section]:
            _write_row_csv(writer, name, section, f"{row.get('stage', '')} {row[label]}".strip(), row)
    for row in bet_data["volatility"]:
        for band in row["bands"]:
            low, high = band["band"]
            writer.writerow([name, "band", row["quantile"], band["games"], f"{low} {high}", ""])


def _write_row_csv(writer: Any, bet: str, section: str, name: str, row: dict[str, Any]) -> None:
    """Write each figure of a PAR sheet's row to the CSV table, exactly and as a decimal."""
    for key, value in row.items():
        if isinstance(value, dict) and "exact" in value:
            writer.writerow([bet, section, name, key, value["exact"], value["decimal"]])
        elif isinstance(value, int | float):
            writer.writerow([bet, section, name, key, value, value])


def to_html(game: Game, analysis: Analysis, odds_limits: OddsLimits = DEFAULT_ODDS_LIMITS) -> str:
    """Return the PAR sheet as one self-contained HTML page with plots; needs the laboratory packages."""
    import jinja2  # noqa: PLC0415 (laboratory package)

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tools.lab.parsheet"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["odds"] = lambda figure: format_one_in(Fraction(figure["exact"]))
    environment.filters["cell"] = format_cell
    data = build_sheet(game, analysis, odds_limits)
    plots = [_plot_bet(bet) for bet in data["bets"]]
    return environment.get_template("par.html.j2").render(sheet=data, plots=plots)


def _plot_bet(bet_data: dict[str, Any]) -> str:
    """Return one bet's distribution of wins and its confidence bands as a PNG in base64; "" if either is not known."""
    if bet_data["distribution"] is None or not bet_data["volatility"]:
        return ""
    from matplotlib.figure import Figure  # noqa: PLC0415 (laboratory package)

    # Fixed margins: an automatic layout draws every plot twice, and a table game has a plot for each of 40 bets.
    figure = Figure(figsize=(10, 3.4))
    figure.subplots_adjust(left=0.06, right=0.98, top=0.9, bottom=0.25, wspace=0.14)
    left_axes, right_axes = figure.subplots(1, 2)
    class_rows = bet_data["distribution"]["classes"]
    names = [f"{class_row['from_bets']}-{class_row['below_bets'] or ''}" for class_row in class_rows]
    probabilities = [class_row["probability"]["decimal"] or 0.0 for class_row in class_rows]
    left_axes.bar(names, probabilities, color="#2f6f9f")
    if any(probabilities):
        left_axes.set_yscale("log")
    left_axes.set_title("probability of a win, by its size in bets")
    left_axes.tick_params(axis="x", rotation=45)
    # "trade 90 %", the first of the three CONFIDENCE_QUANTILES, is left out: its lines would lie on those of "90 %"
    for colour, volatility_row in zip(("#2f6f9f", "#c77d2f"), bet_data["volatility"][1:], strict=True):
        game_counts = [band_row["games"] for band_row in volatility_row["bands"]]
        for end_index in (0, 1):
            band_ends = [100 * band_row["band"][end_index] for band_row in volatility_row["bands"]]
            right_axes.plot(
                game_counts, band_ends, color=colour, label=None if end_index else volatility_row["quantile"]
            )
    right_axes.axhline(100 * bet_data["return"]["decimal"], color="black", linewidth=0.8)
    right_axes.set_xscale("log")
    right_axes.set_title("return by number of games, %")
    right_axes.legend()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    return base64.b64encode(buffer.getvalue()).decode()
