"""The theme: fonts, colours, type sizes, durations, celebration levels and looks, read from ``theme.toml``."""

import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The folder of the theme and its fonts.
THEME_FOLDER = Path(__file__).resolve().parent

#: A colour as red, green, blue and opacity, 0 to 255 each.
Colour = tuple[int, int, int, int]


class ThemeError(Exception):
    """Raised if the theme file cannot be read, lacks a key or has an invalid value; the message names the file."""


def parse_colour(text: str) -> Colour:
    """Return the colour ``#rrggbb`` or ``#rrggbbaa`` as four numbers from 0 to 255. Raises :class:`ThemeError`."""
    digits = text.removeprefix("#")
    try:
        components = bytes.fromhex(digits)
    except ValueError:
        components = b""
    if not text.startswith("#") or len(components) not in {3, 4}:
        raise ThemeError(f"{text!r} is not a colour; write #rrggbb or #rrggbbaa")
    return (components[0], components[1], components[2], components[3] if len(components) == 4 else 255)


def mix_colours(first_colour: Colour, second_colour: Colour, share: float) -> Colour:
    """Return a colour between two colours: ``first_colour`` if ``share`` is 0, ``second_colour`` if it is 1."""
    (r, g, b, a), (r2, g2, b2, a2) = first_colour, second_colour
    return (
        round(r + (r2 - r) * share),
        round(g + (g2 - g) * share),
        round(b + (b2 - b) * share),
        round(a + (a2 - a) * share),
    )


def fade_colour(colour: Colour, alpha: float) -> Colour:
    """Return the colour with its opacity multiplied by ``alpha`` (0 to 1)."""
    return (colour[0], colour[1], colour[2], round(colour[3] * max(0.0, min(1.0, alpha))))


@dataclass(frozen=True, slots=True)
class MotionSettings:
    """Speeds and durations of the screen's movements, and the highest frequency of flashing lights."""

    reel_draw_back_seconds: float
    """Seconds in which the reels draw back a little at the start of a spin, before they run forward."""
    first_reel_stop_seconds: float
    """Seconds from the start of a spin to the stop of the first reel."""
    seconds_between_reel_stops: float
    """Seconds from the stop of one reel to the stop of the next."""
    reel_settle_seconds: float
    """Seconds in which a reel goes past its stop and swings back."""
    reel_cells_per_second: float
    """The full speed of a reel, in cells per second."""
    roll_up_seconds_per_level: float
    """Seconds that each celebration level adds to the roll-up of a win."""
    winning_line_seconds: float
    """Seconds for which each winning line is shown alone."""
    result_seconds_min: float
    """The minimum time that a result is shown before the game ends, in seconds (C-24).

    It is also how long the result of a step without a win is shown before the next step.
    """
    flash_hz: float
    """The highest frequency of any flashing light, in hertz; accessibility permits at most 3."""
    feature_entrance_seconds: float
    """Seconds in which a feature's board moves into the picture."""
    title_card_seconds: float
    """Seconds for which a feature's title card is shown."""
    anticipation_seconds: float
    """How many seconds longer a reel spins if its next symbol may trigger a feature."""
    hold_and_spin_seconds: float
    """Seconds of one spin in a hold-and-spin feature."""
    pick_box_seconds: float
    """Seconds in which a box of a pick feature opens."""
    wheel_spin_seconds: float
    """Seconds of a wheel's spin."""
    card_turn_seconds: float
    """Seconds in which a card is turned over."""
    card_deal_seconds: float
    """Seconds in which a card moves from the shoe to its position."""
    dice_throw_seconds: float
    """Seconds of a throw of dice."""
    keno_ball_seconds: float
    """Seconds from one drawn Keno ball to the next."""
    cascade_window_seconds: float
    """Seconds for each window of a cascade: new symbols fall into it, and its wins are shown."""
    lockup_entrance_seconds: float
    """Seconds in which a lock-up's panel moves into the picture."""
    drawer_slide_seconds: float
    """Seconds in which the drawer of simulated devices opens or closes."""


@dataclass(frozen=True, slots=True)
class GameLook:
    """The look of one game: the background and its lights, the reels' paper, the metal of rims, the accent colour."""

    name: str
    """The name of the look in the theme file."""
    background_colours: tuple[Colour, Colour, Colour]
    """The colours of the background, from top to bottom."""
    light_colour: Colour
    """The colour of the background's blurred lights."""
    sunburst_colour: Colour
    """The colour of the background's sunburst."""
    reel_paper_colours: tuple[Colour, Colour, Colour]
    """The colours of the reels' paper."""
    rim_metal: str
    """The metal of rims: gold or silver."""
    accent_colour: Colour
    """The colour of titles, lines and selected items."""
    celebration_animation: str = "fountain"
    """The animation of a great win: ``fountain``, ``rain``, ``burst`` or ``stream``."""


def _read_look(look_name: str, look_data: Mapping[str, Any]) -> GameLook:
    """Return a look from its table in the theme file."""
    background_colours, reel_paper_colours = (
        [parse_colour(text) for text in look_data[key]]
        for key in ("background_colours", "reel_paper_colours")
    )
    return GameLook(
        look_name,
        (background_colours[0], background_colours[1], background_colours[2]),
        parse_colour(look_data["light_colour"]),
        parse_colour(look_data["sunburst_colour"]),
        (reel_paper_colours[0], reel_paper_colours[1], reel_paper_colours[2]),
        str(look_data["rim_metal"]),
        parse_colour(look_data["accent_colour"]),
        str(look_data.get("celebration_animation", "fountain")),
    )


@dataclass(frozen=True, slots=True)
class Theme:
    """The theme as read from its file: fonts, colours, text sizes, durations, and the looks of games."""

    font_path_by_role: Mapping[str, Path]
    colour_by_name: Mapping[str, Colour]
    size_by_name: Mapping[str, int]
    motion: MotionSettings
    celebration_levels: tuple[int, ...]
    """The lowest win of each celebration level, as a multiple of the total bet; level 0 starts at 0."""
    look_by_name: Mapping[str, GameLook]

    def find_look(self, game_id: str, family: str, requested_look: str = "") -> GameLook:
        """Return a game's look.

        It is the first of these that exists: the look named ``requested_look``, the look with the longest name with
        which the game's id begins, the look of the game's family. If none exists, it is one of all looks, chosen by a
        checksum of the game's id.
        """
        if requested_look in self.look_by_name:
            return self.look_by_name[requested_look]
        matching_names = [name for name in self.look_by_name if game_id.startswith(name)]
        for look_name in (max(matching_names, key=len, default=""), family):
            if look_name in self.look_by_name:
                return self.look_by_name[look_name]
        names = sorted(self.look_by_name)
        return self.look_by_name[names[zlib.crc32(game_id.encode()) % len(names)]]

    def get_colour(self, colour_name: str) -> Colour:
        """Return a colour by its name in the theme. Raises :class:`ThemeError`."""
        if colour_name not in self.colour_by_name:
            raise ThemeError(f"colours.{colour_name}: the theme has no such colour")
        return self.colour_by_name[colour_name]

    def find_celebration_level(self, win_credits: int, bet_credits: int) -> int:
        """Return the highest celebration level that a win reaches; 0 for a loss or if it reaches no level."""
        if win_credits <= 0:
            return 0
        reached_levels = [
            level
            for level, bet_multiple in enumerate(self.celebration_levels)
            if win_credits >= bet_multiple * bet_credits
        ]
        return max(reached_levels, default=0)


def load_theme(path: Path = THEME_FOLDER / "theme.toml") -> Theme:
    """Read the theme. Raises :class:`ThemeError`; the message names the file."""
    try:
        theme_data: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
        return Theme(
            font_path_by_role={
                role: THEME_FOLDER / "fonts" / name for role, name in theme_data["fonts"].items()
            },
            colour_by_name={name: parse_colour(text) for name, text in theme_data["colours"].items()},
            size_by_name={name: int(size) for name, size in theme_data["sizes"].items()},
            motion=MotionSettings(**{key: float(value) for key, value in theme_data["motion"].items()}),
            celebration_levels=tuple(theme_data["celebration"]["levels"]),
            look_by_name={name: _read_look(name, look) for name, look in theme_data["looks"].items()},
        )
    except (OSError, KeyError, TypeError, ValueError, IndexError, ThemeError) as error:
        raise ThemeError(f"{path}: {error}") from error
