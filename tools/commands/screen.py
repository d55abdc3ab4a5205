"""``egm screen``: pictures of every scene, and the browser screen's present address."""

import os
from pathlib import Path

import click
from rich.progress import track

from egm.config import default_state_dir


@click.group()
def command() -> None:
    """Pictures of the screen, and where to find it."""


@command.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--game", "only", multiple=True, help="Only this game (library id or file); may be repeated.")
@click.option(
    "--scale", type=click.FloatRange(0.2, 2.0), default=1.0, show_default=True, help="Pixels a unit."
)
@click.option("--portrait/--landscape", "upright", default=None, help="Only this orientation; else both.")
def shots(folder: Path, only: tuple[str, ...], scale: float, *, upright: bool | None) -> None:
    """Draw every scene of every game, in both languages and orientations, as PNG files in FOLDER."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    from paytables import DefinitionError, library, load_game  # noqa: PLC0415 (the environment comes first)
    from tools.gallery.draw import draw_all  # noqa: PLC0415

    try:
        games = [load_game(name) for name in only or library()]
        folder.mkdir(parents=True, exist_ok=True)
    except (DefinitionError, OSError) as error:
        raise click.ClickException(str(error)) from error
    orientations = [upright] if upright is not None else [False, True]
    count = sum(1 for _ in track(draw_all(folder, games, scale, orientations), "drawing", transient=True))
    click.echo(f"{count} pictures in {folder}")


@command.command()
@click.option("--state", type=click.Path(path_type=Path), help="The machine's state folder.")
def address(state: Path | None) -> None:
    """Print a fresh address of the browser screen, after the one printed at the start has been used."""
    path = (state or default_state_dir()) / "run" / "screen.url"
    try:
        click.echo(path.read_text("utf-8").strip())
    except OSError as error:
        raise click.ClickException(
            f"{path}: {error.strerror}; the first address stands where `egm run` was started"
        ) from error
