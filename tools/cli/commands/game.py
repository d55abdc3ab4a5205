"""``egm game``: check, write and tune a game definition, and print the JSON Schema of definitions for editors."""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import click

from egm.screen.theme import load_theme
from paytables import (
    AnalysisDepth,
    AnalysisError,
    DefinitionRemark,
    Game,
    PaytableError,
    analyse,
    list_remarks,
    list_shipped_games,
    load_game,
)
from paytables.definition import parse, read_source
from paytables.figure_binding import DIGEST_KEY, PROVED_KEY
from paytables.game import FAMILY_MODULE_BY_NAME, find_family
from paytables.source import IDENTIFIER_PATTERN
from paytables.wording import format_count, format_known_names
from tools.cli.commands.par import (
    describe_estimate,
    load_game_or_fail,
    load_named_profile,
    note_stated_figures,
    print_and_check_return_floor,
)
from tools.cli.result_file import describe_file_error
from tools.cli.tables import Column, OutputFormat, Table, add_format_options, show, show_progress
from tools.cli.terminal import echo
from tools.lab.argument_names import parse_path_or_id
from tools.lab.parsheet import format_percent
from tools.lab.rewriting import RewriteError, rewrite_definition
from tools.lab.tuning import (
    REACHED_DISTANCE_MAX,
    KeyPath,
    TuningError,
    compute_bet_returns,
    compute_hit_frequency,
    compute_rtp,
    find_pays_of_single_bets,
    get_value_at,
    list_pay_paths,
    parse_key,
    refine_pays,
    tune_pays,
    tune_strips,
)

#: A larger return probably means per cent: 92 for 0.92.
_PLAUSIBLE_RETURN_MAX: Final = Fraction(2)
#: The form of a share. The number of digits is limited: a huge power of ten would exhaust memory.
_SHARE_PATTERN: Final = re.compile(r"\s*[-+]?\d{0,18}(\.\d{0,18})?(/\d{1,18})?\s*", re.ASCII)


@click.group()
def command() -> None:
    """Check, start and tune game definitions."""


@command.command("list")
@click.option(
    "--returns",
    "with_returns",
    is_flag=True,
    help="Also print each game's lowest return, rounded down as on the screen (takes seconds).",
)
@add_format_options
def list_(*, with_returns: bool, output_format: OutputFormat) -> None:
    """List the games of the library."""
    columns: tuple[Column | str, ...] = ("game", "family", "title", Column("title in French", "title_fr"))
    rows = [_read_header(name) for name in list_shipped_games()]
    if with_returns:
        columns = (*columns, Column("lowest return", "return", is_right_aligned=True))
        with show_progress("analysing", len(rows)) as report_progress, ProcessPoolExecutor() as executor:
            for index, lowest_return_text in enumerate(
                executor.map(_format_lowest_return, list_shipped_games())
            ):
                rows[index] = (*rows[index], lowest_return_text)
                report_progress(index)
    show(output_format, Table(columns, rows))


def _read_header(name: str) -> tuple[str, ...]:
    """Return id, family and titles from a game's definition, without building the game's mathematics."""
    game = parse(read_source(name))["game"]
    return name, game["family"], game["title"]["en"], game["title"]["fr"]


def _format_lowest_return(name: str) -> str:
    """Return the lowest return of a library game as text."""
    return format_percent(analyse(load_game(name), AnalysisDepth.RETURN).minimum_rtp, 2)


@command.command()
@click.argument("file")
@click.option("--jurisdiction", help="Also compare the lowest return with this profile's minimum.")
def check(file: str, jurisdiction: str | None) -> None:
    """Check FILE: print its digest and return if it is valid, else the file, key and reason.

    The pays are printed as sentences, to compare with your own sheet; a permitted but unusual value is a
    warning. If a return cannot be computed exactly, the command says so and prints an interval from a
    simulation.
    """
    if jurisdiction is not None:
        load_named_profile(jurisdiction)  # report an unknown jurisdiction first
    game = load_game_or_fail(file)
    _require_drawable(file, game)
    for sentence in game.rules.explain_pays():
        echo(sentence)
    analysis = None
    try:
        with show_progress(f"analysing {game.id}"):
            analysis = analyse(game, AnalysisDepth.PRIZES)
    except AnalysisError as error:
        if jurisdiction is not None:
            raise click.ClickException(f"{game.id}: no exact return to check: {error}") from None
        echo(describe_estimate(file, game, str(error)))
    else:
        for bet in analysis.bets:
            echo(
                f"bet {bet.bet}: {format_count(bet.cost_credits, 'credit')}, return {format_percent(bet.rtp)}"
            )
        note_stated_figures(game)
        if jurisdiction is not None:
            print_and_check_return_floor(game, analysis, jurisdiction)
    warnings = [*list_remarks(game, analysis), *_list_look_remarks(game)]
    for warning in warnings:
        echo(f"warning: {warning.key}: {warning.text}")
    for name, source in sorted(game.assets.items()):
        echo(f"{name}: {len(source.data):,} bytes, SHA-256 {source.digest}")
    warning_text = f", with {format_count(len(warnings), 'warning')}" if warnings else ""
    echo(f"{game.id} {game.version} is valid{warning_text}; SHA-256 {game.digest}")


def _require_drawable(file: str, game: Game) -> None:
    """Raise ``click.ClickException`` if the screen cannot display one of the game's pictures."""
    from egm.screen.art.game_pictures import draw_in_child_process  # noqa: PLC0415 (pygame, which no other command here needs)

    picture_key_by_file_name = {name: key for key, name in game.art.pictures.items() if name in game.assets}
    drawing_results = (
        draw_in_child_process([(name, game.assets[name].data) for name in picture_key_by_file_name])
        if picture_key_by_file_name
        else []
    )
    for (name, key), drawing_result in zip(picture_key_by_file_name.items(), drawing_results, strict=True):
        if isinstance(drawing_result, str):
            raise click.ClickException(f"{file}: art.pictures.{key}: {name}: {drawing_result}")


def _list_look_remarks(game: Game) -> list[DefinitionRemark]:
    """Return a remark if the game's definition names a look that the screen does not have; else an empty list."""
    looks = load_theme().look_by_name
    if game.art.look is None or game.art.look in looks:
        return []
    return [
        DefinitionRemark(
            "art.look", f"no look {game.art.look!r}; {format_known_names(game.art.look, sorted(looks))}"
        )
    ]


#: The game that a new one is copied from, for families that have several games and no template.
_SIMPLEST_GAME_BY_FAMILY: Final = {
    "baccarat": "quebec-baccarat",
    "blackjack": "quebec-blackjack",
    "poker": "quebec-three-card-poker",
    "video-poker": "jacks-or-better-9-6",
}


@command.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--id", "game_id", help="The game's id (default: the file's name).")
@click.option(
    "--family",
    "family_name",
    type=click.Choice(sorted(FAMILY_MODULE_BY_NAME)),
    default="reels",
    show_default=True,
    help="What kind of game.",
)
@click.option("--from", "original", metavar="GAME", help="Start from a library game or a definition file.")
def new(file: Path, game_id: str | None, family_name: str, original: str | None) -> None:
    """Write a commented game template to FILE for editing; or, with --from, a copy of an existing game.

    For a family without a template, its simplest game is copied.
    """
    if file.suffix != ".toml":
        raise click.ClickException(
            f"{file}: the name of a definition file must end in .toml; nothing was written"
        )
    if file.exists():
        raise click.ClickException(f"{file} exists and was not changed")
    new_id = game_id or file.stem
    if not re.fullmatch(IDENTIFIER_PATTERN[1:-1], new_id):
        raise click.ClickException(
            f"{new_id!r} is not a valid id: letters and digits first, then also + . _ - (--id)"
        )
    template = files("tools.lab").joinpath("templates", f"{family_name}.toml")
    if original is None and not template.is_file():
        games = (
            name for name in list_shipped_games() if parse(read_source(name))["game"]["family"] == family_name
        )
        original = _SIMPLEST_GAME_BY_FAMILY.get(family_name) or next(games, None)
    if original is None:
        text = template.read_text(encoding="utf-8").replace("@ID@", new_id)
        content_text = f"a template of a {family_name} game"
    else:
        text = _copy_definition(original, new_id)
        content_text = f"a copy of {original}; change its title and help"
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(describe_file_error(file, error)) from None
    echo(f"{file}: {content_text}; try: egm game check {file}")


def _copy_definition(original: str, game_id: str) -> str:
    """Return the text of the definition of the game ``original`` with the id ``game_id`` and the version 0.1.0.

    Raises ``click.ClickException``.
    """
    game = load_game_or_fail(original)
    text = "" if game.source is None else game.source.data.decode()
    try:
        data = parse(read_source(parse_path_or_id(original)))
        header = data["game"] | {"id": game_id, "version": "0.1.0"}
        return rewrite_definition(text, data | {"game": header}, (("game", "id"), ("game", "version")))
    except (PaytableError, RewriteError) as error:
        raise click.ClickException(f"{original}: {error}") from None


@command.command()
@click.option(
    "--sheet", type=click.Path(dir_okay=False, path_type=Path), help="Also draw the symbols into this PNG."
)
@add_format_options
def art(sheet: Path | None, *, output_format: OutputFormat) -> None:
    """List the symbols that are drawn, and the looks a game may have, each with its sounds.

    A symbol is drawn as the listed name that its id contains (`red-seven`, `seven2`), the longest if there
    are several. Any other symbol is shown as a token with its name, or as a picture supplied with the game
    (DEFINITIONS.md).
    """
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    import pygame  # noqa: PLC0415 (the environment must be set first)

    from egm.screen.art.symbols import DRAWING_FILE_BY_NAME  # noqa: PLC0415 (the environment must be set first)
    from egm.screen.audio.scores import list_family_cues, read_sound_table  # noqa: PLC0415
    from tools.lab.picture_sheets import draw_symbol_sheet  # noqa: PLC0415

    families = read_sound_table().family_by_name
    rows = [("symbol", name, "") for name in sorted(DRAWING_FILE_BY_NAME)]
    rows += [
        ("look", name, " over ".join(families[name].instrument_names))
        for name in sorted(load_theme().look_by_name)
    ]
    rows += [("sound", name, "") for name in list_family_cues()]
    show(output_format, Table(("kind", "name", "sounds"), rows))
    if sheet is not None:
        try:
            count = draw_symbol_sheet(sheet)
        except (OSError, pygame.error) as error:
            raise click.ClickException(f"{sheet}: {error}") from None
        echo(f"{sheet}: {format_count(count, 'symbol')}", err=True)


@command.command()
@click.argument("family_name", metavar="[FAMILY]", default="reels")
def schema(family_name: str) -> None:
    """Print the JSON Schema of a FAMILY's definitions (default: reels)."""
    if family_name not in FAMILY_MODULE_BY_NAME:
        raise click.ClickException(
            f"there is no family {family_name!r}; {format_known_names(family_name, FAMILY_MODULE_BY_NAME)}"
        )
    data = add_digest_key(find_family(family_name).definition_class.model_json_schema())
    data["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    echo(json.dumps(data, indent=2))


def add_digest_key(schema: dict[str, Any]) -> dict[str, Any]:
    """Add to a family's JSON Schema, in place, the key for a digest next to stated figures; return the schema.

    The digest binds the figures that a definition states, such as its return, to the rules of that definition. The
    schema of a family whose definitions state no figures stays unchanged.
    """
    proved_schema = schema["properties"].get(PROVED_KEY, {})
    for table in (proved_schema, *proved_schema.get("anyOf", ())):
        while "$ref" in table:
            table = schema["$defs"][table["$ref"].rpartition("/")[2]]  # noqa: PLW2901 (moves to the referenced table)
        if table.get("type") == "object":
            for pattern, figures in table.pop("patternProperties", {}).items():
                table |= {"propertyNames": {"pattern": pattern}, "additionalProperties": figures}
            table.setdefault("properties", {})[DIGEST_KEY] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
    return schema


@command.command()
@click.argument("file")
@click.option(
    "--return", "wanted_return_text", required=True, metavar="SHARE", help="The wanted return, such as 0.92."
)
@click.option(
    "--pay",
    "pays",
    multiple=True,
    help="A pay that may change, such as stage.base.pay.0.pays.3 (default: all).",
)
@click.option(
    "--strips", is_flag=True, help="Change strips first, and pays only for the remaining difference."
)
@click.option("--stage", default="base", show_default=True, help="The stage whose strips may change.")
@click.option("--hit", "hit_frequency_text", metavar="SHARE", help="With --strips: the wanted hit frequency.")
@click.option(
    "--bet",
    help="the bet that must have this return"
    " (default: the bet with the lowest return, and every bet with pays of its own)",
)
@click.option("--write", "in_place", is_flag=True, help="Write the result into FILE.")
@click.option(
    "--out",
    "output_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the result into this file.",
)
def tune(
    file: str,
    wanted_return_text: str,
    pays: tuple[str, ...],
    stage: str,
    hit_frequency_text: str | None,
    bet: str | None,
    output_file: Path | None,
    *,
    strips: bool,
    in_place: bool,
) -> None:
    """Find pays or strips that give FILE the wanted return, and print them; exit status 1 if none exist.

    Files are only written with --write or --out, and only if the goal was reached: within 0.05 %.
    """
    target = _parse_share(wanted_return_text, "--return")
    hit_frequency = None if hit_frequency_text is None else _parse_share(hit_frequency_text, "--hit")
    if hit_frequency is not None and not strips:
        raise click.UsageError("--hit needs --strips, because only strips change the hit frequency")
    if strips and pays:
        raise click.UsageError("--pay and --strips cannot be combined")
    if in_place and not file.endswith(".toml"):
        raise click.UsageError(f"{file} is a game of the library: give --out FILE, or see `game new --from`")
    if output_file is not None and output_file.exists():
        raise click.ClickException(f"{output_file} exists and was not changed")
    load_game_or_fail(file)  # reports file, line and path before the search starts
    try:
        source = read_source(parse_path_or_id(file))
        definition = parse(source)
        tuned_definition, paths, bets = _tune_definition(
            definition, target, pays, stage, hit_frequency, bet, strips=strips
        )
        returns_before, returns_after = (
            _list_returns_to_compare(game_data, bet, bets) for game_data in (definition, tuned_definition)
        )
        changed_paths = [
            path for path in paths if get_value_at(definition, path) != get_value_at(tuned_definition, path)
        ]
        lines = [
            f"{'.'.join(map(str, path))}: {get_value_at(definition, path)} -> {get_value_at(tuned_definition, path)}"
            for path in changed_paths
        ]
        lines += [
            f"return{f' of bet {name}' * bool(name)} {format_percent(returns_before[name])} -> {format_percent(rtp)}"
            for name, rtp in returns_after.items()
        ]
        echo("\n".join(lines))
        missed_goal_text = _describe_missed_goal(
            target, returns_after, hit_frequency, tuned_definition, strips=strips
        )
        target_file = output_file or (source.path if in_place else None)
        if target_file is not None and not missed_goal_text:
            target_file.write_text(
                rewrite_definition(source.data.decode(), tuned_definition, changed_paths), encoding="utf-8"
            )
            echo(f"{target_file} written; change its game.version before installing it")
    except (PaytableError, TuningError, RewriteError) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
    if missed_goal_text:
        raise click.ClickException(missed_goal_text)


def _parse_share(text: str, option: str) -> Fraction:
    """Return a share above 0 and at most 1. Raises ``click.ClickException`` naming the option."""
    try:
        share = Fraction(text if _SHARE_PATTERN.fullmatch(text) else "")
    except (ValueError, ZeroDivisionError):
        raise click.ClickException(f"{option}: {text!r} is not a share: write it as 0.92 or 23/25") from None
    if share > 1:
        hint = f"; {text} per cent is {float(share) / 100:g}" if share > _PLAUSIBLE_RETURN_MAX else ""
        reason = "the machine would lose in the long run" if option == "--return" else "no share is above 1"
        raise click.ClickException(
            f"{option}: {text} is {format_percent(share)}, {reason}: write a share, as 0.92 or 23/25{hint}"
        )
    if share <= 0:
        raise click.ClickException(f"{option}: {text} is not above 0: write a share, as 0.92 or 23/25")
    return share


def _tune_definition(
    definition: Mapping[str, Any],
    target_return: Fraction,
    pays: tuple[str, ...],
    stage: str,
    hit_frequency: Fraction | None,
    bet: str | None,
    *,
    strips: bool,
) -> tuple[dict[str, Any], list[KeyPath], list[str]]:
    """Return the tuned definition, the key paths that may have changed, and the bets that were tuned separately.

    Unless a ``bet`` is named, a bet is tuned by those of its pays that change no other bet's return.
    """
    paths = [parse_key(key_text) for key_text in pays] or list_pay_paths(definition)
    pay_paths_by_bet = find_pays_of_single_bets(definition, paths) if bet is None else {}
    if not strips:
        tuned_definition = dict(definition)
        # otherwise every bet is tuned by separate pays
        if set(pay_paths_by_bet) != set(compute_bet_returns(definition)):
            tuned_definition = tune_pays(tuned_definition, target_return, paths, bet, _print_progress)
        return (
            _tune_each_bet(tuned_definition, target_return, pay_paths_by_bet, tune_pays),
            paths,
            list(pay_paths_by_bet),
        )
    tuned_definition = tune_strips(
        definition, target_return, stage=stage, hit_frequency=hit_frequency, print_progress=_print_progress
    )
    strip_count = len(get_value_at(definition, ("stage", stage, "strips")))
    changed_paths: list[KeyPath] = [
        ("stage", stage, "strips", strip_index) for strip_index in range(strip_count)
    ]
    if abs(compute_rtp(tuned_definition, bet) - target_return) > REACHED_DISTANCE_MAX:
        tuned_definition = refine_pays(tuned_definition, target_return, paths, bet, _print_progress)
    return (
        _tune_each_bet(tuned_definition, target_return, pay_paths_by_bet, refine_pays),
        changed_paths + paths,
        list(pay_paths_by_bet),
    )


def _tune_each_bet(
    definition: dict[str, Any],
    target_return: Fraction,
    pay_paths_by_bet: Mapping[str, Sequence[KeyPath]],
    tune_pays: Callable[..., dict[str, Any]],
) -> dict[str, Any]:
    """Tune the pays of each bet whose return is not near the target yet; return the changed definition.

    ``pay_paths_by_bet`` has the key paths of the pays that may change for each bet. ``tune_pays`` is the function that
    changes them.
    """
    for bet, paths in pay_paths_by_bet.items():
        if abs(compute_rtp(definition, bet) - target_return) > REACHED_DISTANCE_MAX:
            _print_progress(f"bet {bet}:")
            definition = tune_pays(definition, target_return, paths, bet, _print_progress)
    return definition


def _list_returns_to_compare(
    definition: Mapping[str, Any], bet: str | None, bets: Sequence[str]
) -> dict[str, Fraction]:
    """Return, by bet, the returns of the definition that must reach the target.

    ``bets`` are the bets that were tuned separately. Unless these are all bets, the key "" has the return of ``bet``,
    or the lowest return of any bet if ``bet`` is None.
    """
    return_by_bet = compute_bet_returns(definition)
    tuned_return_by_bet = {name: return_by_bet[name] for name in bets}
    return (
        tuned_return_by_bet
        if len(tuned_return_by_bet) == len(return_by_bet)
        else {"": compute_rtp(definition, bet), **tuned_return_by_bet}
    )


def _print_progress(line: str) -> None:
    """Print a line about a search's progress on the error stream."""
    echo(f"  {line}", err=True)


def _describe_missed_goal(
    target_return: Fraction,
    reached_returns: Mapping[str, Fraction],
    hit_frequency: Fraction | None,
    definition: Mapping[str, Any],
    *,
    strips: bool,
) -> str:
    """Return as text which part of the tuning goal was missed, or "" if all of it was reached."""
    missed_goals = [
        f"the return wanted{f' of bet {name}' * bool(name)} is {format_percent(target_return)}, "
        f"the nearest found {format_percent(rtp)}"
        for name, rtp in reached_returns.items()
        if abs(rtp - target_return) > REACHED_DISTANCE_MAX
    ]
    if (
        hit_frequency is not None
        and abs((reached_hit_frequency := compute_hit_frequency(definition)) - hit_frequency)
        > REACHED_DISTANCE_MAX
    ):
        missed_goals.append(
            f"the hit frequency wanted is {format_percent(hit_frequency)}, "
            f"the nearest found {format_percent(reached_hit_frequency)}"
        )
    if not missed_goals:
        return ""
    advice = "longer strips have finer steps" if strips else "other pays (--pay) may come nearer"
    if not strips and "stage" in definition:
        advice = f"--strips, or {advice}"
    return f"not reached: {'; '.join(missed_goals)}; {advice}"
