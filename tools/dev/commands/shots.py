"""``python -m tools.dev shots``: draw every scene as a picture for review."""

import os
from pathlib import Path

import click

from paytables.wording import format_count
from tools.cli.tables import show_progress
from tools.cli.terminal import echo
from tools.lab.argument_names import parse_path_or_id


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--game", "only", multiple=True, help="Only this game (library id or file); may be repeated.")
@click.option("--size", "sizes", multiple=True, help="Only this window (WIDTHxHEIGHT); may be repeated.")
def command(folder: Path, only: tuple[str, ...], sizes: tuple[str, ...]) -> None:
    """Draw every scene of every game, in both languages and four sizes of window, as PNG files in FOLDER."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    from paytables import DefinitionError, list_non_table_games, list_table_games, load_game  # noqa: PLC0415 (after the environment is set)
    from tools.dev.gallery.draw import WINDOW_SIZES, draw_all  # noqa: PLC0415

    try:
        games = [
            load_game(parse_path_or_id(name))
            for name in only or (*list_non_table_games(), *list_table_games())
        ]
        folder.mkdir(parents=True, exist_ok=True)
    except (DefinitionError, OSError) as error:
        raise click.ClickException(str(error)) from error
    windows = [_parse_window_size(size) for size in sizes] or WINDOW_SIZES
    count = 0
    with show_progress("drawing") as report_progress:
        for _ in draw_all(folder, games, windows):
            count += 1
            report_progress(count)
    echo(f"{format_count(count, 'picture')} in {folder}")


def _parse_window_size(text: str) -> tuple[int, int]:
    """Return the width and height in a text such as ``1280x720``. Raises UsageError."""
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and 0 < int(width) <= 7680 and 0 < int(height) <= 7680):
        raise click.UsageError(f"--size {text}: not WIDTHxHEIGHT in pixels, such as 1280x720")
    return int(width), int(height)
