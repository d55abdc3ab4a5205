"""The panel's text about a selected spot ends above the line below it, in both languages, at every table."""

import pygame
import pytest

from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.picture import Picture
from egm.screen.scenes import table_side_panels
from egm.screen.view import Action
from paytables import list_table_games
from tools.dev.gallery.felts import TABLE_GAMES, load_table_game
from tools.lab.views import build_idle_view

#: Rounding of text positions to pixels.
TOLERANCE = 1.0


def iter_table_parameters():
    for name in list_table_games():
        yield pytest.param(name, marks=() if name in TABLE_GAMES else pytest.mark.slow)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
@pytest.mark.parametrize("name", [*iter_table_parameters()])
def test_the_details_of_each_kind_of_spot_fit(theme, monkeypatch, name, layout, language):
    drawn = {}
    draw = table_side_panels._draw_spot_details

    def measured(context, spot, rect):
        used = draw(context, spot, rect)
        drawn[spot.id] = used - rect[3]
        return used

    monkeypatch.setattr(table_side_panels, "_draw_spot_details", measured)
    game, game_view = load_table_game(name)
    view = build_idle_view((game_view,), game_view, language, felt_state=game.rules.build_current_view())
    picture = Picture(theme, layout=layout)
    surface = pygame.Surface(picture.size_pixels)
    kinds = {spot.group: spot.id for spot in view.table.spots.values()}
    for spot in kinds.values():
        picture.draw_view(surface, apply_action(view, Action("spot", spot), theme)[0])
    assert drawn.keys() == set(kinds.values())
    assert {spot: over for spot, over in drawn.items() if over > TOLERANCE} == {}
