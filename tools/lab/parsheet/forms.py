"""The printed forms of a PAR sheet: terminal tables, CSV, and one HTML file with its plots inside."""

import base64
import csv
import io
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from egm.profiles.profile import Awards
from paytables import Analysis, BetAnalysis, Game
from paytables.wording import counted
from tools.cli.tables import Column, Columns, Table, facts, show
from tools.cli.terminal import echo
from tools.lab.parsheet.features import feature_sheets
from tools.lab.parsheet.figures import one_in, percent
from tools.lab.parsheet.meter import Standing
from tools.lab.parsheet.sheet import award_sheet, bet_sheet, sheet


def to_terminal(game: Game, analysis: Analysis, rules: Awards | None = None) -> None:
    """Print the sheet; ``rules`` say which odds are so long that the player is told them."""
    echo(f"{game.title['en']} / {game.title['fr']}   {game.id} {game.version}, {game.header.date}")
    echo(f"definition SHA-256 {game.digest}")
    for bet in analysis.bets:
        tables = [each for each in _bet(bet, game.denominations_cents) if each]
        bands = _bands(bet_sheet(bet)) if bet.sigma is not None else ()
        notes = [f"note: {note}" for note in bet.notes]
        before = f"\nBet {bet.bet}: {counted(bet.cost_credits, 'credit')}"
        show("text", *tables, *bands, before=before, after="\n".join(notes))
    for data in feature_sheets(game, analysis):
        show("text", *_feature_sheet(data), before=f"\n{data['sheet']}")
    for bet in analysis.bets:
        for award in award_sheet(bet, rules or Awards())["told_to_the_player"]:
            odds = one_in(Fraction(award["per_game"]["exact"]))
            echo(f"told to the player, bet {bet.bet}: {award['stage']} {award['award']} {odds}")


def _right(*titles: str) -> tuple[Column, ...]:
    return tuple(Column(title, right=True) for title in titles)


def _bet(bet: BetAnalysis, denominations_cents: tuple[int, ...]) -> tuple[Table, ...]:
    return (
        Table(("figure", "value", "more"), _facts(bet), headed=False),
        _prizes(bet),
        _features(bet),
        _progressives(bet),
        _merchandise(bet, denominations_cents),
    )


def _facts(bet: BetAnalysis) -> Iterator[tuple[str, str, str]]:
    yield "return", percent(bet.rtp), f"{bet.rtp}" if bet.rtp.denominator < 10**12 else ""
    if bet.worst_rtp is not None:
        yield "of the worst choices", percent(bet.worst_rtp), bet.strategy or ""
    if bet.progressives:
        yield "with progressives at reset", percent(bet.rtp_counting("reset")), ""
        yield "and what play adds to them", percent(bet.rtp_with_progressives), ""
    if bet.hit_probability is not None:
        yield "hit frequency", percent(bet.hit_probability), one_in(bet.hit_probability)
    if bet.return_bet_probability is not None:
        yield "win of the bet or more", percent(bet.return_bet_probability), ""
    if bet.sigma is not None:
        yield "standard deviation", f"{bet.sigma:.6f} bets", f"index {1.65 * bet.sigma:.3f} (z 1.65)"
    if bet.max_win_credits is not None:
        yield "highest win", counted(bet.max_win_credits, "credit"), one_in(bet.max_win_probability)


def _feature_sheet(data: dict[str, Any]) -> tuple[Table, ...]:
    told = (facts((label, cell(value)) for label, value in data["facts"]),)
    if not data["rows"]:
        return told
    first, *others = data["columns"]
    rows = ([*map(cell, row)] for row in data["rows"])
    return (*told, Table((first, *_right(*others)), rows, naming=1))


def cell(value: Any) -> str:
    """Return a cell of a feature's sheet as it is printed: shares below one to twelve significant digits."""
    if value is None:
        return "-"
    if isinstance(value, dict):
        return f"{value['decimal']:.12g}" if value["decimal"] is not None else str(value["exact"])
    return f"{value:,}" if isinstance(value, int) else str(value)


def _prizes(bet: BetAnalysis) -> Table:
    rows = (
        (
            p.where,
            p.name,
            f"{p.credits:,}",
            "" if p.hits is None or p.hits > 10**15 else f"{p.hits:,}",
            one_in(p.rate),
            percent(p.rtp),
        )
        for p in bet.prizes
    )
    return Table(("stage", "prize", *_right("credits", "hits", "odds", "return")), rows, naming=2)


def _features(bet: BetAnalysis) -> Table:
    rows = (
        (
            f.feature,
            one_in(f.rate),
            f"{float(f.mean_runs):.4f}",
            "no limit" if f.longest_runs is None else str(f.longest_runs),
            f"{float(f.mean_credits):.4f}",
            percent(f.rtp),
        )
        for f in bet.features
    )
    return Table(
        ("feature", *_right("odds", "mean runs", "most runs", "mean credits", "return")), rows, naming=1
    )


def _progressives(bet: BetAnalysis) -> Table:
    rows = (
        (
            p.level,
            one_in(p.rate),
            f"{p.reset_credits:,}",
            percent(p.rtp_at_reset),
            percent(p.increment),
            "-" if p.break_even_credits is None else f"{float(p.break_even_credits):,.1f}",
        )
        for p in bet.progressives
    )
    return Table(
        ("level", *_right("odds", "reset", "at reset", "increment", "break-even credits")), rows, naming=1
    )


def _merchandise(bet: BetAnalysis, denominations_cents: tuple[int, ...]) -> Table:
    """Prizes in kind, at their stated value: stated apart, for no return counts them."""
    apart = _right(*(f"apart, at {cents}" for cents in denominations_cents))
    rows = (
        (
            m.prize,
            one_in(m.rate),
            f"{m.value_cents:,}",
            *(percent(m.rtp_at(cents, bet.cost_credits), 6) for cents in denominations_cents),
        )
        for m in bet.merchandise
    )
    return Table(("prize in kind", *_right("odds", "value, minor units"), *apart), rows, naming=1)


def standings(rows: list[Standing], unit: str) -> None:
    """Print what levels return while their meters stand where they stand; ``unit`` of stakes and meters."""
    columns: Columns = (
        "bet",
        "level",
        *_right(f"stake, {unit}", f"meter, {unit}", "level returns", "with the game"),
    )
    cells = (
        (row.bet, row.level, f"{row.stake:,}", f"{row.shown:,}", percent(row.returned), percent(row.whole))
        for row in rows
    )
    show("text", Table(columns, cells, empty="no level", naming=2))


def _bands(bet: dict[str, Any]) -> tuple[Table, ...]:
    columns = _right("games", *(row["quantile"] for row in bet["volatility"]))
    rows = []
    for i, first in enumerate(bet["volatility"][0]["bands"]):
        ends = [row["bands"][i]["band"] for row in bet["volatility"]]
        rows.append((f"{first['games']:,}", *(f"{100 * low:.2f} - {100 * high:.2f} %" for low, high in ends)))
    return (Table(columns, rows, naming=1),)


def to_csv(game: Game, analysis: Analysis, rules: Awards | None = None) -> str:
    """Return the figures as one long table: bet, section, name, figure, exact, decimal."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["bet", "section", "name", "figure", "exact", "decimal"])
    data = sheet(game, analysis, rules)
    for key in ("game", "version", "date", "digest_sha256"):
        writer.writerow(["", "game", game.id, key, data[key], ""])
    for reel in data["reels"]:
        name = f"{reel['stage']} reel {reel['reel']}"
        writer.writerow(["", "strip", name, "stops", " ".join(reel["strip"]), reel["stops"]])
        for symbol, count in reel["counts"].items():
            writer.writerow(["", "count", name, symbol, count, ""])
    for bet in data["bets"]:
        _csv_bet(writer, bet)
    for told in data["awards"]:
        for award in told["told_to_the_player"]:
            _csv_row(writer, told["bet"], "told to the player", f"{award['stage']} {award['award']}", award)
    for feature in data["feature_sheets"]:
        _csv_feature(writer, feature)
    return out.getvalue()


def _csv_feature(writer: Any, feature: dict[str, Any]) -> None:
    name = feature["sheet"]
    for label, value in feature["facts"]:
        writer.writerow(["", name, "", label, *_exactly(value)])
    for row in feature["rows"]:
        for column, value in zip(feature["columns"][1:], row[1:], strict=True):
            writer.writerow(["", name, row[0], column, *_exactly(value)])


def _exactly(value: Any) -> tuple[Any, Any]:
    if isinstance(value, dict):
        return value["exact"], value["decimal"]
    return ("", "") if value is None else (value, value if isinstance(value, int) else "")


def _csv_bet(writer: Any, bet: dict[str, Any]) -> None:
    name = bet["bet"]
    _csv_row(writer, name, "bet", name, bet)
    for section, label in (
        ("prizes", "prize"),
        ("features", "feature"),
        ("progressives", "level"),
        ("merchandise", "prize"),
    ):
        for row in bet[section]:
            _csv_row(writer, name, section, f"{row.get('stage', '')} {row[label]}".strip(), row)
    for row in bet["volatility"]:
        for b in row["bands"]:
            low, high = b["band"]
            writer.writerow([name, "band", row["quantile"], b["games"], f"{low} {high}", ""])


def _csv_row(writer: Any, bet: str, section: str, name: str, row: dict[str, Any]) -> None:
    for key, value in row.items():
        if isinstance(value, dict) and "exact" in value:
            writer.writerow([bet, section, name, key, value["exact"], value["decimal"]])
        elif isinstance(value, int | float):
            writer.writerow([bet, section, name, key, value, value])


def to_html(game: Game, analysis: Analysis, rules: Awards | None = None) -> str:
    """Return one self-contained HTML page with plots (laboratory packages)."""
    import jinja2  # noqa: PLC0415 (laboratory package)

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tools.lab.parsheet"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["odds"] = lambda figure: one_in(Fraction(figure["exact"]))
    environment.filters["cell"] = cell
    data = sheet(game, analysis, rules)
    plots = [_plot(bet) for bet in data["bets"]]
    return environment.get_template("par.html.j2").render(sheet=data, plots=plots)


def _plot(bet: dict[str, Any]) -> str:
    """Return the distribution and the bands of one bet as a PNG in base64."""
    if bet["distribution"] is None or not bet["volatility"]:
        return ""
    from matplotlib.figure import Figure  # noqa: PLC0415 (laboratory package)

    figure = Figure(figsize=(10, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    rows = bet["distribution"]["classes"]
    names = [f"{r['from_bets']}-{r['below_bets'] or ''}" for r in rows]
    shares = [r["probability"]["decimal"] or 0.0 for r in rows]
    left.bar(names, shares, color="#2f6f9f")
    if any(shares):
        left.set_yscale("log")
    left.set_title("probability of a win, by its size in bets")
    left.tick_params(axis="x", rotation=45)
    for colour, row in zip(("#2f6f9f", "#c77d2f"), bet["volatility"][1:], strict=True):
        games = [b["games"] for b in row["bands"]]
        for end in (0, 1):
            ends = [100 * b["band"][end] for b in row["bands"]]
            right.plot(games, ends, color=colour, label=None if end else row["quantile"])
    right.axhline(100 * bet["return"]["decimal"], color="black", linewidth=0.8)
    right.set_xscale("log")
    right.set_title("return after so many games, %")
    right.legend()
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110, metadata={"Software": None})
    return base64.b64encode(out.getvalue()).decode()
