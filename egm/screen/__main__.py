"""Start the screen process: ``python -m egm.screen --state DIR --mode window|web|kmsdrm``."""

import os
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from egm.isolated import build_python_command
from egm.private_process import make_process_private
from egm.screen import EXIT_CODE_CLOSED_BY_PERSON
from egm.terminal import echo, make_lines_printable

if TYPE_CHECKING:
    from egm.screen.app import DisplaySurface, ScreenApp
    from egm.screen.audio.mixer import SoundOutput
    from egm.screen.audio.sound_store import SoundStore
    from egm.screen.theme import Theme
    from egm.screen.window import Window

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
# Without this, SDL turns SIGTERM into an event, which nothing reads if there is no window.
os.environ["SDL_NO_SIGNAL_HANDLERS"] = "1"


class StartupRefusal(click.ClickException):
    """An error of the screen that starting the screen again cannot fix.

    Its exit status says so to the cabinet, which ends if the screen fails with it right after its start.
    """

    exit_code = 2


@click.command()
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The machine's state folder.",
)
@click.option(
    "--mode",
    type=click.Choice(["window", "web", "kmsdrm"]),
    default="window",
    help="Where to show the picture.",
)
@click.option("--fullscreen", is_flag=True, help="Cover the whole display, with no way to leave it.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="The browser's port on 127.0.0.1; 0 picks one."
)
@click.option(
    "--held",
    "held_descriptors",
    type=(click.IntRange(3), click.IntRange(3)),
    help="Descriptors of a listening socket, used instead of the port, and of the file with the browser sessions.",
)
@click.option(
    "--listening",
    type=click.IntRange(3),
    help="The descriptor of a listening socket, used instead of the port.",
)
@click.option("--address", type=click.Path(path_type=Path), help="Where the page's address is written.")
@click.option("--bench", is_flag=True, help="Show the drawer of simulated peripherals.")
@click.option(
    "--device",
    "devices",
    multiple=True,
    help="A device that the drawer operates; repeat for more (default: all).",
)
@click.option("--portrait", is_flag=True, help="In a browser: always show the picture in portrait.")
@click.option(
    "--top", is_flag=True, help="The top screen: title and levels for the floor; it takes no touch."
)
@click.option(
    "--position", type=click.IntRange(1), help="The player position to show, if the machine has several."
)
@click.option("--display", type=click.IntRange(0), default=0, help="The number of the display to use.")
@click.option("--lease", type=click.IntRange(3), hidden=True, help="Descriptor of the display that is lent.")
@click.option(
    "--reduced-motion",
    "is_motion_reduced",
    is_flag=True,
    help="Show steady lamps, without flashing or coin showers.",
)
@click.option("--silent", is_flag=True, help="No sound.")
def main(
    *,
    state: Path,
    mode: str,
    fullscreen: bool,
    port: int,
    held_descriptors: tuple[int, int] | None,
    listening: int | None,
    address: Path | None,
    bench: bool,
    devices: tuple[str, ...],
    portrait: bool,
    top: bool,
    position: int | None,
    display: int,
    lease: int | None,
    is_motion_reduced: bool,
    silent: bool,
) -> None:
    """Run one screen, for the machine whose data are in the folder ``state``, until it is closed."""
    make_process_private()
    if mode == "web":
        os.environ["SDL_VIDEODRIVER"] = "dummy"
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, lambda *_: sys.exit(0))
    import pygame  # noqa: PLC0415 (SDL reads the environment set above)

    from egm.screen.app import ScreenApp, create_clients  # noqa: PLC0415
    from egm.screen.audio.cues import SoundPlayer  # noqa: PLC0415
    from egm.screen.audio.sound_store import SoundStore  # noqa: PLC0415
    from egm.screen.picture import Picture  # noqa: PLC0415
    from egm.screen.theme import ThemeError, load_theme  # noqa: PLC0415
    from egm.screen.top import TopPicture  # noqa: PLC0415
    from egm.screen.web import BrowserScreen  # noqa: PLC0415
    from egm.screen.window import Window, WindowError  # noqa: PLC0415

    pygame.font.init()
    sound_store = SoundStore()
    picture_class = TopPicture if top else Picture
    try:
        theme = load_theme()
        surface: DisplaySurface
        if mode == "web":
            address_file = address or _find_address_file(state, position, is_top_screen=top)
            open_descriptors = held_descriptors or (None if listening is None else (listening, None))
            surface = BrowserScreen(
                theme,
                port=port,
                portrait=portrait,
                address_file=address_file,
                picture_class=picture_class,
                sound_store=sound_store,
                open_descriptors=open_descriptors,
            )
            echo(f"{_format_screen_name(position, is_top_screen=top)}: {surface.address}")
        elif mode == "kmsdrm":
            surface = _create_console_window(
                theme, display, lease, None if top else state, is_motion_reduced=is_motion_reduced
            )
        else:
            surface = Window(theme, fullscreen=fullscreen, display_index=display, picture_class=picture_class)
    except (ThemeError, WindowError, OSError) as error:
        raise StartupRefusal(make_lines_printable(str(error))) from error
    machine_client, bench_client = create_clients(
        state, with_bench=bench and not top, position=position or 1, is_onlooker=top
    )
    app = ScreenApp(
        theme=theme,
        surface=surface,
        machine_client=machine_client,
        bench_client=bench_client,
        devices=frozenset(devices),
        sound_player=SoundPlayer(
            theme, _create_sound_output(surface, sound_store, silent=silent or top), sound_store
        ),
        is_motion_reduced=is_motion_reduced,
        is_top_screen=top,
        start_up_file=state / "run" / "starting.json",
    )
    with closing(sound_store):
        _run_app(app, 30 if mode == "web" or lease is not None else 60)


def _run_app(app: "ScreenApp", frames_per_second: int) -> None:
    """Run the screen's frame loop until a person closes it, then exit with :data:`EXIT_CODE_CLOSED_BY_PERSON`.

    Raises StartupRefusal if the display fails or is replaced by a different one.
    """
    from egm.screen.displays import DisplayError  # noqa: PLC0415 (pygame is slow to load)

    try:
        app.run(frames_per_second)
    except DisplayError as error:
        raise StartupRefusal(make_lines_printable(str(error))) from error
    sys.exit(EXIT_CODE_CLOSED_BY_PERSON)


def _find_address_file(state: Path, position: int | None, *, is_top_screen: bool) -> Path:
    """Return the path of the file in the state folder to which a browser screen writes its web address."""
    name = "top" if is_top_screen else "screen" if position in {None, 1} else f"screen-{position}"
    return state / "run" / f"{name}.url"


def _format_screen_name(position: int | None, *, is_top_screen: bool) -> str:
    """Return the name of this screen, which is printed before its web address."""
    return (
        "Top screen" if is_top_screen else "Screen" if position is None else f"Screen of position {position}"
    )


def _create_console_window(
    theme: "Theme", display: int, lease: int | None, state: Path | None, *, is_motion_reduced: bool
) -> "Window":
    """Return a window on a display without a desktop.

    With ``state``, it is the player's screen, which also starts the top screen on the next free display. Without
    ``state``, it is the top screen.
    """
    from egm.screen.displays import DisplayOutput, DrmCard, TopScreenProcess  # noqa: PLC0415 (see main)
    from egm.screen.top import TopPicture  # noqa: PLC0415
    from egm.screen.window import Window  # noqa: PLC0415

    if lease is not None:  # The player's screen has priority over the top screen.
        os.nice(5)
    output = DisplayOutput(DrmCard.open() if lease is None else DrmCard(lease), display)
    if state is None:
        return Window(theme, output=output, ignores_touches=True, picture_class=TopPicture)
    arguments = (
        "--state",
        str(state),
        "--mode",
        "kmsdrm",
        "--top",
        *("--reduced-motion",) * is_motion_reduced,
    )
    top_screen = TopScreenProcess(
        output,
        lambda lease_descriptor: build_python_command(
            "egm.screen", *arguments, "--lease", str(lease_descriptor)
        ),
    )
    return Window(theme, output=output, top_screen=top_screen)


def _create_sound_output(
    surface: "DisplaySurface", sound_store: "SoundStore", *, silent: bool
) -> "SoundOutput | None":
    """Return the sound output: the browser if it shows the picture, otherwise this computer's audio device.

    If ``silent``, return None.
    """
    from egm.screen.audio.mixer import SoundMixer  # noqa: PLC0415 (see main)
    from egm.screen.web import BrowserScreen  # noqa: PLC0415

    if silent:
        return None
    return surface if isinstance(surface, BrowserScreen) else SoundMixer(sound_store)


if __name__ == "__main__":
    main()
