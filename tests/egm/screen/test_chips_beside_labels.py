"""Chips lie beside the printing on the cloth; no chip hides a spot's name or odds."""

from dataclasses import replace

import pygame
import pytest
from rigs.painters import TextPainter

from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, build_telephone_layout
from egm.screen.picture import Picture
from paytables import list_table_games, load_game
from tools.dev.gallery.felts import load_table_game
from tools.lab.views import build_idle_view

LAYOUTS = {
    "landscape": LANDSCAPE_LAYOUT,
    "portrait": PORTRAIT_LAYOUT,
    "phone": build_telephone_layout(390, 700),
}
#: A chip's disc is not its square's corners; a line's rectangle is higher than its capitals.
ROUND = 7


class Watched(TextPainter):
    """A painter that records the rects of chips, and of texts that are not on a chip."""

    def __init__(self, theme, scale=1.0):
        super().__init__(theme, scale)
        self.chips, self.texts, self.figure = [], [], False

    def draw_cached_picture(self, key, rect, make, **options):
        self.figure = key[0] in {"chip", "won"}
        if self.figure:
            x, y, w, h = rect
            self.chips.append(pygame.Rect(x, y, w, h).inflate(-2 * ROUND, -2 * ROUND))
        return super().draw_cached_picture(key, rect, make, **options)

    def draw_text(self, words, at, style, **options):
        rect = super().draw_text(words, at, style, **options)
        if not self.figure and words:
            self.texts.append((words, pygame.Rect(rect).inflate(0, -rect[3] * 0.3)))
        self.figure = False
        return rect


TABLES = tuple(name for name in list_table_games() if load_game(name).build_presentation()["spots"])
#: These each time, the others in the slow tier.
QUICK = {"quebec-craps", "quebec-blackjack-options", "quebec-boston-poker", "quebec-sic-bo"}
CASES = [
    pytest.param(name, layout, code, marks=() if name in QUICK else pytest.mark.slow)
    for name in TABLES
    for layout in LAYOUTS
    for code in ("en", "fr")
]


@pytest.mark.parametrize(("name", "layout", "language"), CASES)
def test_no_chip_covers_a_text(theme, name, layout, language):
    _, game_view = load_table_game(name)
    view = build_idle_view((game_view,), game_view, language)
    picture = Picture(theme, layout=LAYOUTS[layout])
    painter = picture.painter = Watched(theme)
    table = view.table
    chips = replace(view.chips, bets=dict.fromkeys(table.spots, 1))
    picture.draw_view(pygame.Surface(picture.size_pixels), replace(view, chips=chips))
    x, y, w, h = picture._build_context(view).layout.game_field
    field = pygame.Rect(x, y, w, h)
    chips = [chip for chip in painter.chips if field.contains(chip)]
    assert chips
    hidden = {words for words, rect in painter.texts if rect.collidelist(chips) >= 0 and field.contains(rect)}
    assert hidden == set()
