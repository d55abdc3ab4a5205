"""Readable and playable for everybody: measured contrast, signs besides colours, and play with keys alone."""

from dataclasses import replace

import numpy as np
import pygame
import pytest

from egm.screen.controls import find_action_by_key_name
from egm.screen.input_reducer import apply_action
from egm.screen.layout import DECK_KEYS, LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.painter import Painter
from egm.screen.picture import Picture
from egm.screen.scenes.deck import format_key_label, is_key_lit
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.view import Action, PlayerPage
from paytables import list_table_games
from tools.dev.gallery import iter_game_scenes
from tools.dev.gallery.felts import TABLE_GAMES, iter_table_game_scenes
from tools.dev.gallery.machine import iter_machine_scenes
from tools.lab.views import build_idle_view

#: Looks that differ most: pale reels, dark reels, a board, a wheel.
GAMES = ("maple-classic", "lantern-harbour", "archipelago-keno", "river-wheel", "orchard-picnic")
#: WCAG 2.2, 1.4.3: 4.5 to 1, and 3 to 1 for letters of 24 pixels and more.
SMALL, LARGE, LARGE_FROM = 4.5, 3.0, 24


def luminance(colour):
    """Return the relative luminance of an sRGB colour (WCAG 2.2)."""
    parts = [c / 255 for c in colour[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    """Return the contrast of two colours, from 1 (equal) to 21 (black on white)."""
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_computed_as_the_standard_defines_it():
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.01)


class Meter(Painter):
    """Measures the contrast of each text with its background, or with its outline if it has one."""

    cache_bytes_max = 48 * 1024 * 1024

    def __init__(self, theme, scale):
        super().__init__(theme, scale)
        self.faint = []
        self._colours = {}

    def _colour_of(self, words, style, width):
        """Return the median colour of the letters, or None if there are none."""
        key = (words, style, width)
        if key not in self._colours:
            plain = self.render_text(words, style._replace(edge_width=0.0), width)
            letters = pygame.surfarray.array3d(plain)[pygame.surfarray.array_alpha(plain) > 200]
            self._colours[key] = np.median(letters, 0) if len(letters) else None
        return self._colours[key]

    def draw_text(self, words, at, style, *, align="centre", width_max=None, alpha=1.0):
        letters = self._colour_of(words, style, width_max)
        surface = self.render_text(words, style, width_max)
        x, y = self.scale_length(at[0]), self.scale_length(at[1])
        left = {"left": x, "centre": x - surface.get_width() // 2, "right": x - surface.get_width()}[align]
        box = pygame.Rect((left, y - surface.get_height() // 2), surface.get_size())
        under = self.surface.subsurface(box.clip(self.surface.get_rect()))
        if words.strip() and letters is not None:
            edged = style.edge_width > 0
            ground = style.edge_colour if edged else np.median(pygame.surfarray.array3d(under), (0, 1))
            height = (
                self.find_font(style.font_face, self._fit_font_pixels(words, style, width_max)).get_height()
                / self.scale
            )
            ratio = contrast(letters, ground)
            if ratio < (LARGE if height >= LARGE_FROM else SMALL):
                self.faint.append((words, round(ratio, 2), round(height)))
        return super().draw_text(words, at, style, align=align, width_max=width_max, alpha=alpha)


@pytest.mark.parametrize(
    ("layout", "language", "looks"),
    [
        pytest.param(LANDSCAPE_LAYOUT, "en", GAMES[:2], id="wide"),
        pytest.param(LANDSCAPE_LAYOUT, "en", GAMES[2:], id="wide, other looks", marks=pytest.mark.slow),
        pytest.param(PORTRAIT_LAYOUT, "fr", GAMES, id="upright", marks=pytest.mark.slow),
    ],
)
def test_every_text_has_enough_contrast_with_its_background(
    published, outcomes, theme, layout, language, looks
):
    """Keys whose lamp is off are exempt, because they must not look lit."""
    picture = Picture(theme, scale=0.5, layout=layout)
    meter = picture.painter = Meter(theme, 0.5)
    surface = pygame.Surface(picture.size_pixels)
    faults = set()
    views = [("machine", name, view) for name, view in iter_machine_scenes(published, language, theme)]
    for game in published:
        if game.id in looks:
            scenes = iter_game_scenes(published, game, outcomes[game.id], language, theme, layout)
            views += [(game.id, name, view) for name, view in scenes]
    shown = TABLE_GAMES if layout is LANDSCAPE_LAYOUT else list_table_games()  # all of them in the slow tier
    views += [("", name, view) for name, view in iter_table_game_scenes(shown, language, theme, layout)]
    for group, name, view in views:
        meter.faint = []
        picture.draw_view(surface, view)
        context = DrawingContext(meter, picture.find_texts(view), layout, view)
        unlit = {format_key_label(context, key) for key in DECK_KEYS if not is_key_lit(context, key)}
        faults |= {(group, name, *fault) for fault in meter.faint if fault[0] not in unlit}
    assert not faults, "\n".join(map(str, sorted(faults)))


def test_the_down_arrow_moves_the_focus_and_lowers_a_bet(published, theme):
    """Regression: it moved back in every list; in a list of spots, the key that lowers a bet comes first."""
    picture, view = Picture(theme), build_idle_view(published, published[0], "en")
    requests_by_key = {
        key: apply_action(view, find_action_by_key_name(key), theme, picture.list_selectable_actions(view))[1]
        for key in ("ArrowDown", "ArrowUp")
    }
    assert requests_by_key["ArrowDown"] == apply_action(view, Action("bet_less"), theme)[1]
    assert (
        requests_by_key["ArrowUp"]
        == apply_action(view, Action("bet_more"), theme)[1]
        != requests_by_key["ArrowDown"]
    )
    view, seen = replace(view, player_page=PlayerPage.GAME_MENU), []
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        view, _ = apply_action(
            view, find_action_by_key_name(key), theme, picture.list_selectable_actions(view)
        )
        seen.append(view.focused_target_index)
    assert seen == [0, 1, 2, 1]


def test_every_game_can_be_played_with_the_button_deck_alone(published, theme):
    """Bet, play, choose a game and a denomination, and read the help with ten keys and without touch."""
    picture = Picture(theme)
    view = build_idle_view(published, published[0], "en")
    requests = []

    def key(name):
        nonlocal view
        view, key_requests = apply_action(view, Action(name), theme, picture.list_selectable_actions(view))
        requests.extend((request.name, request.value) for request in key_requests)

    key("bet_less")
    key("play")
    key("games")
    assert view.player_page is PlayerPage.GAME_MENU
    key("bet_more")
    key("bet_more")
    key("play")
    second = picture.list_selectable_actions(replace(view, player_page=PlayerPage.GAME_MENU))[1].value
    assert requests[-1] == ("game", second)
    key("games")
    places = picture.list_selectable_actions(view)
    unit = next(i for i, target in enumerate(places) if target.name == "denomination")
    for _ in range(unit + 1):
        key("bet_more")
    key("bet_max")
    assert requests[-1] == ("denomination", places[unit].value)
    key("games")
    key("help")
    sheet = view.sheet_index
    key("bet_more")
    while picture.list_selectable_actions(view)[view.focused_target_index].name != "next":
        key("bet_more")
    key("bet_max")
    assert view.sheet_index == sheet + 1
    assert {name for name, _ in requests} == {"bet", "play", "game", "denomination"}


def test_the_focused_target_can_be_seen_without_colour(published, theme):
    """The frame changes brightness, not only hue, so that grey pictures differ too."""
    picture = Picture(theme, scale=0.5)
    surface = pygame.Surface(picture.size_pixels)
    view = apply_action(build_idle_view(published, published[0], "en"), Action("games"), theme)[0]
    picture.draw_view(surface, view)
    before = pygame.transform.grayscale(surface)
    picture.draw_view(surface, replace(view, is_focus_shown=True, focused_target_index=1))
    after = pygame.transform.grayscale(surface)
    changed = pygame.surfarray.array3d(before).astype(int) - pygame.surfarray.array3d(after)
    assert (abs(changed) > 60).sum() > 500


@pytest.mark.parametrize("hertz", [60, 30])
def test_no_area_of_the_picture_flashes_more_than_three_times_a_second(published, outcomes, theme, hertz):
    """Two seconds of the strongest celebration are counted on a grid of the drawn frames (WCAG 2.3.1)."""
    game = next(game for game in published if game.id == "maple-classic")
    view = dict(iter_game_scenes(published, game, outcomes[game.id], "en", theme, LANDSCAPE_LAYOUT))[
        "big-win-rolling"
    ]
    picture = Picture(theme, scale=0.15)
    surface = pygame.Surface(picture.size_pixels)
    levels = []
    for i in range(2 * hertz):
        picture.draw_view(surface, replace(view, now=view.now - 1 + i / hertz))
        grey = pygame.surfarray.array3d(pygame.transform.grayscale(surface))[:, :, 0] / 255.0
        width, height = grey.shape
        cells = grey[: width // 8 * 8, : height // 8 * 8].reshape(width // 8, 8, height // 8, 8).mean((1, 3))
        levels.append(cells)
    series = np.stack(levels)
    flashes = np.zeros(series.shape[1:], dtype=int)
    last = series[0].copy()
    rising = np.zeros(last.shape, dtype=bool)
    for frame in series[1:]:
        up, down = frame - last > 0.1, last - frame > 0.1
        flashes += down & rising
        rising = np.where(up, True, np.where(down, False, rising))
        last = np.where(up | down, frame, np.where(rising, np.maximum(last, frame), np.minimum(last, frame)))
    share = (flashes > 3 * 2).mean()
    assert share < 0.25, f"{share:.0%} of the picture flashes faster than three times a second"
