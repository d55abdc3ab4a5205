"""``egm par``: the PAR sheet of a game, computed exactly from the definition the cabinet plays."""

import json
from fractions import Fraction
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from paytables import Analysis, BetAnalysis, DefinitionError, Depth, Game, analyse, load_game


def percent(value: Fraction, digits: int = 4) -> str:
    """Return an exact share as a percentage, rounded only here."""
    return f"{float(100 * value):.{digits}f} %"


def sheet(game: Game, analysis: Analysis) -> dict[str, Any]:
    """Return the PAR sheet as JSON data; every exact figure is a fraction in text beside its decimal."""
    return {
        "game": game.id,
        "title": game.title,
        "family": game.family,
        "version": game.version,
        "date": game.header.date.isoformat(),
        "digest_sha256": game.digest,
        "exact": analysis.exact,
        "minimum_return": _exact(analysis.minimum_rtp),
        "bets": [_bet(bet) for bet in analysis.bets],
    }


def _exact(value: Fraction | None) -> dict[str, Any] | None:
    return None if value is None else {"exact": str(value), "decimal": float(value)}


def _bet(bet: BetAnalysis) -> dict[str, Any]:
    return {
        "bet": bet.bet,
        "cost_credits": bet.cost_credits,
        "cycle": bet.cycle,
        "return": _exact(bet.rtp),
        "prizes": [
            {
                "stage": p.where,
                "prize": p.name,
                "credits": p.credits,
                "hits": p.hits,
                "per_game": _exact(p.rate),
                "return": _exact(p.rtp),
            }
            for p in bet.prizes
        ],
        "features": [
            {"feature": f.feature, "runs_per_game": _exact(f.mean_runs), "return": _exact(f.rtp)}
            for f in bet.features
        ],
    }


def _print(console: Console, game: Game, analysis: Analysis) -> None:
    console.print(
        f"[bold]{game.title['en']}[/] / {game.title['fr']}   {game.id} {game.version}, {game.header.date}"
    )
    console.print(f"definition SHA-256 {game.digest}", style="dim")
    for bet in analysis.bets:
        console.print(
            f"\nBet {bet.bet}: {bet.cost_credits} credit(s), return [bold]{percent(bet.rtp)}[/] = {bet.rtp}"
        )
        table = Table(show_edge=False)
        for column in ("stage", "prize", "credits", "hits", "1 in", "return"):
            table.add_column(column, justify="left" if column in {"stage", "prize"} else "right")
        for p in bet.prizes:
            often = f"{float(1 / p.rate):,.2f}" if p.rate else "never"
            table.add_row(p.where, p.name, f"{p.credits:,}", f"{p.hits:,}", often, percent(p.rtp))
        console.print(table)


@click.command()
@click.argument("game")
@click.option("--json", "as_json", is_flag=True, help="machine-readable, with exact fractions")
def command(game: str, *, as_json: bool) -> None:
    """Print the PAR sheet of GAME, a library id or a definition file."""
    try:
        loaded = load_game(game)
    except DefinitionError as error:
        raise click.ClickException(str(error)) from None
    analysis = analyse(loaded, Depth.FULL)
    if as_json:
        click.echo(json.dumps(sheet(loaded, analysis), indent=2, ensure_ascii=False))
    else:
        _print(Console(), loaded, analysis)
