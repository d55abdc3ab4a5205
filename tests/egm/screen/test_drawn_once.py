"""Parts that are drawn once and then copied equal newly drawn ones pixel by pixel, and a notice moves nothing."""

from dataclasses import replace
from functools import cache

import pygame
import pytest
from rigs.layouts import PHONE

from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.painter import Painter
from egm.screen.picture import Picture
from egm.screen.scenes.bonus import _draw_rotated_disc
from egm.screen.theme import load_theme
from egm.screen.view import Action
from egm.staff.page_texts import build_text
from paytables import load_game
from tools.dev.gallery import pages
from tools.lab.views import build_game_view, build_idle_view

SCALE = 0.4


@cache
def build_page_view(language, page_name):
    game = build_game_view(load_game("maple-classic"))
    idle_view = build_idle_view((game,), game, language)
    return replace(
        apply_message(
            idle_view, idle_view.snapshot.model_copy(update={"service_page": getattr(pages, page_name)()})
        ),
        now=100.0,
    )


def draw(picture, view, flags=0):
    surface = pygame.Surface(picture.size_pixels, flags)
    picture.draw_view(surface, view)
    return pygame.image.tobytes(surface, "RGB")


def test_cached_service_tables_follow_page_sheet_and_language():
    used, drawn = Picture(load_theme(), scale=SCALE), set()
    meters = build_page_view("en", "build_meters_page")
    equal = meters.snapshot.model_copy(
        update={"service_page": meters.snapshot.service_page.model_copy(deep=True)}
    )
    for view in (
        meters,
        replace(meters, now=101.0),
        apply_message(meters, equal),
        apply_action(meters, Action("turn_sheet", 1), load_theme())[0],
        build_page_view("fr", "build_meters_page"),
        meters,
    ):
        found = draw(used, view)
        assert found == draw(Picture(load_theme(), scale=SCALE), view)
        drawn.add(found)
    assert len(drawn) == 3


@pytest.mark.parametrize("angle", [0.0, 3.3, 17.2, 45.0, 181.9])
def test_a_rotated_disc_is_drawn_like_its_whole_surface(angle):
    face = pygame.Surface((203, 203), pygame.SRCALPHA)
    pygame.draw.circle(face, (170, 60, 90, 255), (101, 101), 101)
    turned = pygame.transform.rotozoom(face.premul_alpha(), angle, 1.0)
    painter, surfaces = Painter(load_theme()), []
    for draw_disc in (
        lambda: _draw_rotated_disc(painter, turned, (170, 160), 203),
        lambda: painter.draw_surface(turned, (170 - turned.get_width() // 2, 160 - turned.get_height() // 2)),
    ):
        painter.surface = pygame.Surface((340, 320))
        painter.surface.fill((75, 27, 36))
        draw_disc()
        surfaces.append(pygame.image.tobytes(painter.surface, "RGB"))
    assert surfaces[0] == surfaces[1]


@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PHONE], ids=["landscape", "telephone"])
def test_a_notice_moves_no_touch_target_of_a_service_page(layout):
    picture, view = Picture(load_theme(), layout=layout), build_page_view("en", "build_meters_page")
    page = view.snapshot.service_page.model_copy(update={"notice": build_text("service.done")})
    with_notice = apply_message(view, view.snapshot.model_copy(update={"service_page": page}))
    assert view.snapshot.service_page.notice is None
    assert picture.list_touch_targets(with_notice) == picture.list_touch_targets(view)
