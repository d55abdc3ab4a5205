"""Every area of a table's cloth that looks like a betting spot is one, and shows the return after a win."""

import pygame
import pytest
from rigs.layouts import LAYOUTS
from rigs.painters import TextPainter
from test_alignment import Scribe

from egm.screen.felt_layout import lay_out_felt, list_felt_parts
from egm.screen.input_reducer import apply_action
from egm.screen.picture import Picture
from egm.screen.spot_layout import compute_felt_rect
from egm.screen.view import Action
from tools.dev.gallery.felts import iter_felt_scenes, load_table_game
from tools.lab.views import build_idle_view


class Edged(TextPainter):
    """A painter that stores where it draws a visible edge."""

    def __init__(self, theme):
        super().__init__(theme)
        self.edged = []

    def draw_panel(self, rect, *, fill, edge_paint, **style):
        super().draw_panel(rect, fill=fill, edge_paint=edge_paint, **style)
        self.edged += [rect] if edge_paint != fill else []


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("name", ["quebec-craps", "monaco-craps", "quebec-sic-bo", "quebec-wheel-of-fortune"])
def test_every_point_of_a_drawn_spot_accepts_a_touch(theme, layout, name):
    """Regression: a row's name and the numbers of the point looked like spots, but accepted no touch."""
    game, game_view = load_table_game(name)
    view = build_idle_view((game_view,), game_view, "en", felt_state=game.rules.build_current_view())
    picture = Picture(theme, layout=layout)
    for part in list_felt_parts(view.table, picture._build_context(view).layout) or ("",):
        shown = apply_action(view, Action("felt_part", part), theme)[0] if part else view
        painter = picture.painter = Edged(theme)
        picture.draw_view(pygame.Surface(picture.size_pixels), shown)
        x, y, w, h = compute_felt_rect(picture._build_context(shown).layout)
        cells = [r for r in painter.edged if x <= r[0] and r[0] + r[2] <= x + w and y <= r[1] <= y + h - r[3]]
        assert cells
        for cx, cy, cw, ch in cells:
            for dx, dy in ((4, 4), (cw - 4, ch - 4), (cw / 2, ch / 2)):
                assert picture.find_touched_action(shown, cx + dx, cy + dy) is not None, (part, cx, cy)


@pytest.mark.parametrize(
    ("language", "payment_text"), [("en", "Paid back, stake included"), ("fr", "Rendu, mise comprise")]
)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_spot_shows_its_payment_with_the_stake(theme, layout, language, payment_text):
    """The figure is the returned credits, as on chips, and is labelled so that it cannot be read as a profit."""
    game, published = load_table_game("quebec-roulette-french")
    view = dict(iter_felt_scenes(game, published, language, theme, layout))["settled"]
    picture = Picture(theme, layout=layout)
    painter = picture.painter = Scribe(theme)
    picture.draw_view(pygame.Surface(picture.size_pixels), view)
    words = [words for words, _ in painter.written]
    laid = dict(lay_out_felt(view.table, view.chips, layout.for_table_game()).chip_points)
    for settlement in view.presentation.outcome.settlements:
        if settlement["credits"] and settlement["spot"] in laid:
            assert str(settlement["credits"]) in words
    assert not [text for text in words if text.startswith("+")]
    assert payment_text in words or layout.is_telephone
