"""``egm game``: check, start and tune a game definition, and print the schema editors read."""

import json
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import click

from paytables import AnalysisError, Depth, PaytableError, analyse, library, load_game, remarks
from paytables.definition import parse, source_of
from paytables.game import FAMILIES, family
from tools.commands.par import estimated, hold, load
from tools.named import named
from tools.parsheet import percent
from tools.tuning import NEAR, TuningError, parse_key, pay_keys, rtp_of, tune_pays, tune_strips, value_at
from tools.tuning import Path as KeyPath

#: No game returns so much: whoever writes 92 means 0.92.
_RETURN_MOST = Fraction(2)


@click.group()
def command() -> None:
    """Check, start and tune game definitions."""


@command.command("list")
def list_() -> None:
    """List the games of the library with their returns."""
    for name in library():
        game = load_game(name)
        lowest = percent(analyse(game, Depth.RETURN).minimum_rtp, 2)
        click.echo(f"{name:24} {game.family:7} {lowest:>9}  {game.title['en']} / {game.title['fr']}")


@command.command()
@click.argument("file")
@click.option("--jurisdiction", help="also hold the lowest return against this profile's floor")
def check(file: str, jurisdiction: str | None) -> None:
    """Check FILE: it is either valid, with its digest and return, or refused by file, key and reason.

    What the game pays is said in sentences to hold against your own sheet; what is legal and may surprise is
    a warning. Where a return is beyond exact reach that is said, with the interval of a simulation instead.
    """
    game = load(file)
    for sentence in game.rules.explain():
        click.echo(sentence)
    analysis = None
    try:
        analysis = analyse(game, Depth.PRIZES)
    except AnalysisError as error:
        if jurisdiction is not None:
            raise click.ClickException(f"{game.id}: no exact return to hold: {error}") from None
        click.echo(estimated(file, game, str(error)))
    else:
        for bet in analysis.bets:
            click.echo(f"bet {bet.bet}: {bet.cost_credits} credits, return {percent(bet.rtp)}")
        if jurisdiction is not None:
            hold(game, analysis, jurisdiction)
    warnings = remarks(game, analysis)
    for warning in warnings:
        click.echo(f"warning: {warning.key}: {warning.text}")
    said = f", with {len(warnings)} warning{'s' * (len(warnings) > 1)}" if warnings else ""
    click.echo(f"{game.id} {game.version} is valid{said}; SHA-256 {game.digest}")


@command.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--id", "game_id", help="the game's id (default: the file's name)")
@click.option(
    "--family", "family_name", type=click.Choice(sorted(FAMILIES)), default="reels", show_default=True
)
def new(file: Path, game_id: str | None, family_name: str) -> None:
    """Write a commented template of a game to FILE, ready to be changed."""
    if file.exists():
        raise click.ClickException(f"{file} exists; it is left alone")
    template = files("tools").joinpath("templates", f"{family_name}.toml").read_text(encoding="utf-8")
    file.write_text(template.replace("@ID@", game_id or file.stem), encoding="utf-8")
    click.echo(f"{file} written; try: egm game check {file}")


@command.command()
@click.argument("family_name", metavar="[FAMILY]", default="reels")
def schema(family_name: str) -> None:
    """Print the JSON Schema of a FAMILY's definitions (default: reels)."""
    if family_name not in FAMILIES:
        raise click.ClickException(f"no family {family_name!r}; there are: {', '.join(FAMILIES)}")
    data = family(family_name).model.model_json_schema()
    data["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    click.echo(json.dumps(data, indent=2))


@command.command()
@click.argument("file")
@click.option("--return", "wanted", required=True, help="the return wanted, as 0.92 or 23/25")
@click.option(
    "--pay", "pays", multiple=True, help="a pay that may change, as stage.base.pay.0.pays.3 (default: all)"
)
@click.option("--strips", is_flag=True, help="change strips instead of pays")
@click.option("--stage", default="base", show_default=True, help="whose strips")
@click.option("--hit", help="the hit frequency wanted as well, with --strips")
@click.option("--bet", help="the bet the return is of (default: the lowest)")
def tune(
    file: str,
    wanted: str,
    pays: tuple[str, ...],
    stage: str,
    hit: str | None,
    bet: str | None,
    *,
    strips: bool,
) -> None:
    """Print the pays or strips that give FILE the wanted return; the file is not touched."""
    try:
        data = parse(source_of(named(file)))
        target = Fraction(wanted)
        if target > _RETURN_MOST:
            raise click.ClickException(f"{wanted} is {percent(target)}: write a share, as 0.92 or 23/25")
        before = rtp_of(data, bet)
        if strips:
            found = tune_strips(data, target, stage=stage, hit=None if hit is None else Fraction(hit))
            count = len(value_at(data, ("stage", stage, "strips")))
            keys: list[KeyPath] = [("stage", stage, "strips", x) for x in range(count)]
        else:
            keys = [parse_key(p) for p in pays] or pay_keys(data)
            found = tune_pays(data, target, keys, bet)
    except (ValueError, ZeroDivisionError):
        raise click.ClickException(f"{wanted!r} is no share: write it as 0.92 or 23/25") from None
    except (PaytableError, TuningError) as error:
        raise click.ClickException(str(error)) from None
    for key in keys:
        old, new_value = value_at(data, key), value_at(found, key)
        if old != new_value:
            click.echo(f"{'.'.join(map(str, key))}: {old} -> {new_value}")
    reached = rtp_of(found, bet)
    click.echo(f"return {percent(before)} -> {percent(reached)}")
    if abs(reached - target) > NEAR:
        other = "other pays or --strips" if not strips else "other strips or pays"
        click.echo(f"{percent(target)} was wanted: no nearer was found so; {other} may come nearer")
