"""``egm screen``: pictures of every scene, and the browser screen's current address."""

import os
import socket
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from egm.config.cabinet_file import POSITIONS_MAX, StateFolder
from tools.cli.commands.par import load_game_or_fail
from tools.cli.journal_source import STATE_OPTION
from tools.cli.memory_folder import find_memory_folder
from tools.cli.tables import show_progress
from tools.cli.terminal import echo
from tools.lab.argument_names import parse_path_or_id

#: How long to wait for a screen to accept a connection.
_CONNECT_TIMEOUT_SECONDS: Final = 2.0
#: The smallest scale of a still picture, in pixels per unit.
_STILL_PICTURE_SCALE_MIN: Final = 2 / 3


@click.group()
def command() -> None:
    """Make pictures of the screen, and print its address."""


@command.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--game",
    "game_name",
    default="aurora-twenty",
    show_default=True,
    help="A library id or a definition file.",
)
@click.option(
    "--scale",
    type=click.FloatRange(0.1, 1.0),
    default=0.4,
    show_default=True,
    help="The scale, relative to 1920 x 1080.",
)
@click.option(
    "--quality",
    type=click.IntRange(1, 100),
    default=62,
    show_default=True,
    help="The quality of the WebP file.",
)
def preview(file: Path, game_name: str, scale: float, quality: int) -> None:
    """Write to FILE (.webp) a preview of one game: an animation, played with the machine's own generator.

    If FILE is a definition (.toml), one still picture of that game is written next to it (PNG).
    """
    if file.suffix not in {".webp", ".toml"}:
        raise click.ClickException(
            f"{file}: expected a .webp file to write (choose the game with --game), or the .toml file of a"
            " definition"
        )
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    from paytables import DefinitionError, load_game  # noqa: PLC0415 (the environment must be set first)
    from rng import KernelSource, Personalization, RandomService, RngError  # noqa: PLC0415
    from tools.lab.picture_sheets import draw_idle_game  # noqa: PLC0415
    from tools.lab.preview import PreviewError, PreviewSettings, write_preview  # noqa: PLC0415

    if file.suffix == ".toml":
        shown_game, picture_file = load_game_or_fail(str(file)), file.with_suffix(".png")
        width, height = draw_idle_game(shown_game, picture_file, max(scale, _STILL_PICTURE_SCALE_MIN))
        echo(f"{picture_file}: {width} x {height} pixels")
        return
    try:
        game = load_game(parse_path_or_id(game_name))
        personalization = Personalization(
            product="preview", version="1", machine_serial="PREVIEW", instance=1, boot_counter=1
        )
        random_service = RandomService.start(personalization=personalization, sources=[KernelSource()])
        with random_service.step() as draw, show_progress(f"drawing {game.id}"):
            byte_count = write_preview(game, draw, file, PreviewSettings(scale=scale, quality=quality))
    except (DefinitionError, PreviewError, RngError, OSError) as error:
        raise click.ClickException(str(error)) from error
    echo(f"{file}: {byte_count / 1e6:.2f} MB")


@command.command()
@STATE_OPTION
@click.option("--top", is_flag=True, help="Print the address of the top screen.")
@click.option(
    "--position",
    type=click.IntRange(1, POSITIONS_MAX),
    default=1,
    show_default=True,
    help="Print the address of this player position's screen.",
)
def address(state_folder: Path | None, position: int, *, top: bool) -> None:
    """Print the browser screen's current address.

    An address works once: after the one printed at the start was used, this prints the next one.
    """
    if top and position > 1:
        raise click.UsageError(
            "--top and --position cannot be combined: the top screen belongs to the machine"
        )
    path = StateFolder(find_memory_folder(state_folder)).get_screen_address_path(None if top else position)
    try:
        url = path.read_text("utf-8").strip()
    except OSError as error:
        raise click.ClickException(
            f"{path}: {error.strerror}: no browser screen is running; `egm run --screen web` starts one,"
            " and prints its address when the screen is ready"
        ) from error
    if not _is_screen_running(url):
        raise click.ClickException(f"no screen is running at {url.partition('?')[0]}: start `egm run`")
    echo(url)


def _is_screen_running(url: str) -> bool:
    """Return whether a program accepts connections at the host and port of a screen's address."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), _CONNECT_TIMEOUT_SECONDS).close()
    except OSError:
        return False
    return True
