"""The minimum and maximum bets of a table can always be read on its screen (by-law ss. 9, 72 and 95.5)."""

from dataclasses import replace

import pygame
import pytest
from rigs.painters import TextPainter

from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, build_telephone_layout
from egm.screen.picture import Picture
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.limits_sign import format_table_limits, list_kind_limits, list_limit_rows
from egm.screen.text import Texts
from paytables import list_table_games, load_game
from tools.dev.gallery.felts import iter_felt_scenes, load_table_game
from tools.lab.views import build_game_view, build_idle_view

LAYOUTS = {
    "landscape": LANDSCAPE_LAYOUT,
    "portrait": PORTRAIT_LAYOUT,
    "telephone": build_telephone_layout(390, 700),
}
TABLES = tuple(name for name in list_table_games() if load_game(name).build_presentation()["spots"])


class RecordingPainter(TextPainter):
    """A painter that lists the texts that it draws."""

    def __init__(self, theme):
        super().__init__(theme)
        self.texts, self.widths = [], {}

    def draw_text(self, words, at, style, **options):
        self.texts.append(words)
        self.widths.setdefault(words, []).append((self.measure_text(words, style), options.get("width_max")))
        return super().draw_text(words, at, style, **options)


@pytest.mark.requirement("S-04")
@pytest.mark.parametrize("name", TABLES)
def test_the_sign_has_the_limits_of_every_spot_that_takes_a_bet_before_the_deal(theme, name):
    _, view = load_table_game(name)
    context = DrawingContext(
        TextPainter(theme), Texts("en"), LANDSCAPE_LAYOUT, build_idle_view((view,), view, "en")
    )
    rows = list_limit_rows(context)
    cents = context.view.snapshot.denomination_cents
    for spot in context.view.table.spots.values():
        if not spot.added_bet_multiples:
            least, most = (
                context.format_money(credits_ * cents)
                for credits_ in (spot.bet_min, spot.bet_max - spot.bet_max % spot.bet_step)
            )
            assert any(amounts in {least, f"{least}\u2013{most}"} for _, amounts in rows), spot.id
    assert all(names for names, _ in rows)


@pytest.mark.requirement("S-04")
def test_a_minimum_of_the_venue_replaces_a_lower_one_of_the_table(theme):
    _, view = load_table_game("quebec-baccarat")
    idle = build_idle_view((view,), view, "en")
    least, most = format_table_limits(DrawingContext(TextPainter(theme), Texts("en"), LANDSCAPE_LAYOUT, idle))
    snapshot = idle.snapshot.model_copy(update={"bet_min_cents": 10 * idle.snapshot.denomination_cents})
    context = DrawingContext(
        TextPainter(theme), Texts("en"), LANDSCAPE_LAYOUT, replace(idle, snapshot=snapshot)
    )
    raised = context.format_money(snapshot.bet_min_cents)
    assert raised != least
    assert format_table_limits(context) == (raised, most)


@pytest.mark.requirement("S-04")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["quebec-baccarat", "quebec-craps", "monaco-roulette-european"])
def test_the_limits_of_the_table_are_drawn_before_during_and_after_a_round(theme, name, layout):
    picture = Picture(theme, layout=LAYOUTS[layout])
    for scene, view in iter_felt_scenes(*load_table_game(name), "en", theme, LAYOUTS[layout]):
        if scene.startswith("help"):
            continue
        painter = picture.painter = RecordingPainter(theme)
        picture.draw_view(pygame.Surface(picture.size_pixels), view)
        context = picture._build_context(view)
        least, most = format_table_limits(context)
        small_print = f"Bets {least}\u2013{most}" if layout == "telephone" else f"Bets of {least} to {most}"
        by_kind = list_kind_limits(context) if layout != "landscape" else []
        for fact in by_kind or [small_print]:
            assert any(fact in words for words in painter.texts), (scene, fact)
        if layout == "landscape":
            assert "BET LIMITS" in painter.texts, scene
            _, amounts = list_limit_rows(context)[0]
            assert amounts in painter.texts, scene


@pytest.fixture(scope="module")
def picture_by_layout(theme):
    return {name: Picture(theme, layout=layout) for name, layout in LAYOUTS.items()}


@pytest.mark.requirement("S-04")
@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.slow), "fr"])
@pytest.mark.parametrize("layout", ["portrait", "telephone"])
@pytest.mark.parametrize("name", TABLES)
def test_without_a_sign_the_small_print_lists_the_limits_of_each_kind_of_bet(
    theme, picture_by_layout, name, layout, language
):
    """Craps has too many kinds; the by-law requires only the table's minimum and maximum (s. 95.5)."""
    _, view = load_table_game(name)
    picture = picture_by_layout[layout]
    painter = picture.painter = RecordingPainter(theme)
    idle = build_idle_view((view,), view, language)
    picture.draw_view(pygame.Surface(picture.size_pixels), idle)
    context = picture._build_context(idle)
    expected = list_kind_limits(context)
    if not expected:
        assert len(list_limit_rows(context)) == 1 or "craps" in name
        expected = list(format_table_limits(context))
    for text in expected:
        drawn = next(words for words in painter.texts if text in words)
        width, room = painter.widths[drawn][0]
        assert width <= 1.15 * room


@pytest.mark.requirement("S-04")
@pytest.mark.parametrize("layout", ["portrait", "telephone"])
@pytest.mark.parametrize(
    ("language", "kinds"),
    [("en", ("Inside bets", "Outside bets")), ("fr", ("Mises intérieures", "Mises extérieures"))],
)
def test_without_a_sign_roulette_shows_the_limits_of_inside_and_outside_bets(theme, layout, language, kinds):
    """The by-law, s. 72, requires both."""
    _, view = load_table_game("quebec-roulette-french")
    picture = Picture(theme, layout=LAYOUTS[layout])
    painter = picture.painter = RecordingPainter(theme)
    idle = build_idle_view((view,), view, language)
    picture.draw_view(pygame.Surface(picture.size_pixels), idle)
    context = picture._build_context(idle)
    cents, spots = idle.snapshot.denomination_cents, idle.table.spots
    for kind, least, most in zip(
        kinds, ("straight-7", "column-1"), ("six-line-31-32-33-34-35-36", "red"), strict=True
    ):
        limits = f"{kind} {context.format_money(spots[least].bet_min * cents)}\u2013{context.format_money(spots[most].bet_max * cents)}"
        assert any(limits in words for words in painter.texts), limits


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("name", ["quebec-texas-holdem-room", "quebec-caribbean-stud", "river-wheel"])
def test_a_telephone_shows_the_malfunction_clause_as_large_as_other_texts(theme, name, language):
    """Regression: it was written in half of the panel, with letters of a quarter of that size."""
    view = build_game_view(load_game(name))
    picture = Picture(theme, layout=LAYOUTS["telephone"])
    painter = picture.painter = RecordingPainter(theme)
    idle = build_idle_view((view,), view, language)
    picture.draw_view(pygame.Surface(picture.size_pixels), idle)
    clause = picture._build_context(idle).texts.translate(f"defect.{idle.snapshot.defect_rule}")
    ((width, room),) = painter.widths[clause]
    assert width <= room
