"""``egm returns``: the actual return of each game on this machine, compared with its exact return."""

from fractions import Fraction
from pathlib import Path

import click

from paytables.wording import format_percent
from tools.audit.returns import EXPLAINED_Z_SCORE_MAX, GameReturn, iter_returns
from tools.cli.journal_source import EXPORT_OPTION, STATE_OPTION, open_journal
from tools.cli.tables import (
    BAD_STYLE,
    DOUBT_STYLE,
    GOOD_STYLE,
    Column,
    OutputFormat,
    Table,
    add_format_options,
    build_number_column,
    show,
    show_progress,
)

#: How a verdict is printed.
_STYLE_BY_VERDICT = {"explained": GOOD_STYLE, "investigate": BAD_STYLE, "unknown": DOUBT_STYLE}


@click.command()
@STATE_OPTION
@EXPORT_OPTION
@add_format_options
def command(state_folder: Path | None, export_file: Path | None, *, output_format: OutputFormat) -> None:
    """Print for each game, version and denomination whether chance explains its actual return (NJ 13:69D-1.31).

    A return must be investigated, and the exit status is 1, if 99.9 % of correct machines would be closer to
    the theoretical return after as many games (|z| above 3.29). Returns are rounded down.
    """
    with show_progress("comparing every game"), open_journal(state_folder, export_file) as view:
        returns = list(iter_returns(view))
    reasons_text = "\n".join(
        f"{game_return.game_version.game_id} at {game_return.game_version.denomination_cents}: "
        f"{game_return.unknown_reason}"
        for game_return in returns
        if game_return.unknown_reason
    )
    show(
        output_format,
        _build_table(returns),
        document=[game_return.to_json() for game_return in returns],
        text_after=reasons_text,
    )
    raise SystemExit(1 if any(game_return.verdict == "investigate" for game_return in returns) else 0)


def _build_table(returns: list[GameReturn]) -> Table:
    """Return a table of games with actual and theoretical returns, and the verdict whether chance explains them."""
    columns = (
        Column("verdict", choose_style=_STYLE_BY_VERDICT.get),
        "game",
        build_number_column("credit", "denomination_cents"),
        build_number_column("games"),
        build_number_column("coin in", "coin_in_cents"),
        build_number_column("coin out", "coin_out_cents"),
        Column("return", is_right_aligned=True),
        Column("theoretical", is_right_aligned=True),
        Column("sigma", is_right_aligned=True),
        Column("z", is_right_aligned=True),
    )
    title = f"minor units; explained: |z| at most {EXPLAINED_Z_SCORE_MAX:.2f}"
    return Table(
        columns,
        map(_build_row, returns),
        title=title,
        empty_text="no game has been played",
        identifying_column_count=3,
    )


def _build_row(game_return: GameReturn) -> tuple[object, ...]:
    """Return the table row that compares a game's actual return with the theoretical one."""
    game_version, theoretical_text, standard_deviation_text = game_return.game_version, "-", "-"
    if game_return.highest_return is not None and game_return.lowest_return is not None:
        lowest_text = (
            ""
            if game_return.lowest_return == game_return.highest_return
            else f"{format_percent(game_return.lowest_return)} % to "
        )
        theoretical_text = f"{lowest_text}{format_percent(game_return.highest_return)} %"
        if game_return.standard_deviation_cents is not None:
            standard_deviation_text = f"{game_return.standard_deviation_cents / game_return.staked_cents:.2%}"
    return (
        game_return.verdict,
        f"{game_version.game_id} {game_version.version} {game_version.digest[:8]}",
        game_version.denomination_cents,
        game_return.game_count,
        game_return.coin_in_cents,
        game_return.paid_cents,
        f"{format_percent(Fraction(game_return.won_cents, game_return.staked_cents))} %",
        theoretical_text,
        standard_deviation_text,
        "-" if game_return.z_score is None else f"{game_return.z_score:+.2f}",
    )
