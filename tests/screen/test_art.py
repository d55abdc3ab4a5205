"""The art: every symbol of the library has a drawing of its own, and none is like another."""

import pygame
import pytest

from egm.screen.art.ink import Ink, Linear, painted
from egm.screen.art.symbols import DRAWINGS, draw_symbol, drawing_name, is_blank
from egm.screen.theme import ThemeError, load_theme, parse_colour


def test_every_symbol_of_the_library_has_a_drawing_of_its_own(published):
    for game in published:
        drawings = {}
        for symbol in game.presentation.get("symbols", {}):
            if not is_blank(symbol):
                name = drawing_name(symbol)
                assert name is not None, f"{game.id}: {symbol} has no drawing"
                assert DRAWINGS[name] not in drawings.values(), f"{game.id}: {symbol} looks like another"
                drawings[symbol] = DRAWINGS[name]


def test_every_game_of_the_library_has_a_look(published, theme):
    for game in published:
        look = theme.look(game.id, game.family)
        assert look.name == game.family or game.id.startswith(look.name)


@pytest.mark.parametrize("name", sorted(DRAWINGS))
def test_a_drawing_fills_its_place_and_is_premultiplied(name):
    art = draw_symbol(name, name, (64, 64))
    box = art.get_bounding_rect()
    assert box.width * box.height > 64 * 64 * 0.2
    for x in range(0, 64, 5):
        for y in range(0, 64, 5):
            r, g, b, a = art.get_at((x, y))
            assert max(r, g, b) <= a + 1


def test_a_symbol_nobody_has_drawn_is_named(theme):
    unknown = draw_symbol("zzz", "Zzz", (80, 80))
    assert drawing_name("zzz") is None
    assert unknown.get_bounding_rect().width > 60
    assert draw_symbol("blank", "", (20, 20)).get_bounding_rect().width == 0


def test_names_find_their_drawings():
    assert drawing_name("Triple Bar") == "triple_bar"
    assert drawing_name("K") == "king"
    assert drawing_name("7") == "seven"
    assert drawing_name("red-seven") == "red_seven"


def test_paint_of_two_stops_runs_from_the_one_to_the_other():
    surface = painted((4, 200), Linear(((0, (255, 0, 0, 255)), (1, (0, 0, 255, 255)))))
    assert surface.get_at((1, 0)).r > 240
    assert surface.get_at((1, 199)).b > 240


def test_ink_clips_a_shape_to_another():
    ink = Ink((100, 100), oversample=1)
    ink.clipped(
        [(0, 0), (50, 0), (50, 100), (0, 100)], [(25, 25), (75, 25), (75, 75), (25, 75)], (255, 255, 255, 255)
    )
    assert ink.finish().get_bounding_rect() == pygame.Rect(25, 25, 26, 51)


def test_a_broken_theme_is_named(tmp_path):
    with pytest.raises(ThemeError, match="#12"):
        parse_colour("#12")
    path = tmp_path / "theme.toml"
    path.write_text("[fonts]\n", "utf-8")
    with pytest.raises(ThemeError, match=r"theme\.toml"):
        load_theme(path)
