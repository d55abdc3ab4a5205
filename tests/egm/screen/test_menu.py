"""In the game menu of the demonstration cabinet, a newcomer finds every kind of game and every game of each kind."""

from contextlib import suppress
from dataclasses import replace
from itertools import combinations

import pygame
import pytest
from rigs.layouts import PHONE
from rigs.painters import TextPainter
from test_alignment import Scribe

from egm.config.cabinet_file import load_cabinet
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, build_telephone_layout
from egm.screen.picture import Picture
from egm.screen.scenes.limits_sign import format_table_limits, list_kind_limits
from egm.screen.scenes.menu import (
    draw_menu,
    find_game_kind,
    lay_out_game_tiles,
    lay_out_kind_tabs,
    list_menu_touch_targets,
)
from egm.screen.table import read_table
from egm.screen.text import Texts
from egm.screen.view import Action
from paytables import WagerError, list_table_games, load_game
from tools.lab.views import build_game_view, build_idle_view


@pytest.fixture(scope="module")
def on_offer():
    return tuple(build_game_view(load_game(str(slot.game))) for slot in load_cabinet(None).games)


def test_the_demonstration_has_slots_keno_tables_and_video_poker(on_offer):
    found = {}
    for game in on_offer:
        found.setdefault(find_game_kind(game), set()).add(str(game.presentation.get("felt", game.family)))
    assert set(found) == {"reels", "keno", "tables", "poker"}
    assert found["tables"] >= {"roulette", "craps", "cards"}
    words = {code: [Texts(code).translate(f"menu.{kind}") for kind in found] for code in ("en", "fr")}
    assert all(len(set(letters)) == 4 for letters in words.values())


def test_a_screen_reader_gets_every_game_of_the_page_and_its_stakes(on_offer, theme):
    picture = Picture(theme)
    view, _ = apply_action(build_idle_view(on_offer, on_offer[0], "en"), Action("games"), theme)
    words = picture.build_screen_reader_text(view)
    for _, game in lay_out_game_tiles(view, LANDSCAPE_LAYOUT):
        assert picture.find_texts(view).choose_translation(game.title) in words
    assert words.count("Bets ") == len(lay_out_game_tiles(view, LANDSCAPE_LAYOUT))
    assert "SLOTS" in words
    assert "CLOSE" in words


@pytest.mark.parametrize(
    "layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, PHONE, build_telephone_layout(390, 600)]
)
@pytest.mark.parametrize("now", [0, 13], ids=["reels", "roulette"])
def test_every_game_is_reached_by_its_kind_or_by_turning_pages(on_offer, theme, layout, now):
    view, _ = apply_action(build_idle_view(on_offer, on_offer[now], "fr"), Action("games"), theme)
    assert on_offer[now] in [
        game for _, game in lay_out_game_tiles(view, layout)
    ]  # it opens where the player is
    heads = lay_out_kind_tabs(view, layout)
    assert [kind for _, kind, _ in heads] == ["reels", "keno", "tables", "poker"]
    for (_, y, w, h), kind, action in heads:
        assert min(w, h) >= layout.touch_size_min
        shown, sent = apply_action(view, action, theme)
        assert not sent
        assert {find_game_kind(game) for _, game in lay_out_game_tiles(shown, layout)} == {kind}
        low = min(tile_rect[1] for tile_rect, _ in lay_out_game_tiles(shown, layout))
        assert y + h <= low - 22  # the mark of the current game is between them
    found = [
        game.id
        for sheet in range(20)
        for _, game in lay_out_game_tiles(replace(view, sheet_index=view.sheet_index + sheet), layout)
    ]
    assert set(found) == {game.id for game in on_offer}
    assert all(
        min(rect[2:]) >= min(layout.touch_size_min, 60)
        for rect, action in list_menu_touch_targets(view, layout)
        if action.name != "game"
    )


class Beside(TextPainter):
    """A painter that records the rects of texts and of game pictures."""

    def __init__(self, theme):
        super().__init__(theme)
        self.begin()

    def begin(self):
        """Begin a new picture."""
        self.words_at, self.pictures = [], []

    def draw_text(self, words, at, style, *, align="centre", width_max=None, alpha=1.0):
        rect = super().draw_text(words, at, style, align=align, width_max=width_max, alpha=alpha)
        if not words.isdecimal():  # a chip's own figure, a ball's
            self.words_at.append(
                (words, self.render_text(words, style, width_max).get_bounding_rect().move(rect.topleft))
            )
        return rect

    def draw_cached_picture(self, key, rect, make, *, alpha=1.0):
        if key[0] in {"tile", "sheet"}:
            self.words_at = [
                placed_word
                for placed_word in self.words_at
                if not self.scale_rect(rect).colliderect(placed_word[1])
            ]
        if key[0] in {"symbol", "playing card", "chip", "ball"}:
            self.pictures.append(self.scale_rect(rect))


@pytest.mark.parametrize(
    "layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, PHONE, build_telephone_layout(390, 700)]
)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_no_text_of_the_menu_covers_a_games_pictures(on_offer, theme, layout, language):
    picture = Picture(theme, layout=layout)
    view, _ = apply_action(build_idle_view(on_offer, on_offer[0], language), Action("games"), theme)
    surface, drawn = pygame.Surface(picture.size_pixels), 0
    painter = picture.painter = Beside(theme)
    for sheet in range(6):
        painter.begin()
        shown = replace(view, sheet_index=sheet)
        painter.surface = surface
        draw_menu(picture._build_context(shown))
        drawn += len(painter.pictures)
        for words, canvas in painter.words_at:
            assert canvas.collidelist(painter.pictures) < 0, (sheet, words)
    assert drawn > 20 or layout.is_telephone


@pytest.mark.parametrize(
    "layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, PHONE], ids=["landscape", "portrait", "telephone"]
)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_tile_states_its_bets_in_money_and_in_portrait_the_denomination(
    on_offer, theme, layout, language
):
    """Before a game is chosen, its tile states the lowest and highest bet below its title."""
    view = build_idle_view(on_offer, on_offer[13], language, bet_max_cents=50_000)
    picture = Picture(theme, layout=layout)
    painter = picture.painter = Scribe(theme)
    picture.draw_view(pygame.Surface(picture.size_pixels), apply_action(view, Action("games"), theme)[0])
    written, texts = [words for words, _ in painter.written], Texts(language)
    shown = lay_out_game_tiles(apply_action(view, Action("games"), theme)[0], layout)
    bet_texts = [words for words in written if "\u2009" not in words and words.startswith(("Bets", "Mises"))]
    bet_texts += [words for words in written if "\u00b7" in words and ("Bets" in words or "Mises" in words)]
    context = picture._build_context(view)
    limits = format_table_limits(context)
    if limits is not None and not (
        context.layout.is_portrait and list_kind_limits(context)
    ):  # the small print
        key = "felt.limits_short" if layout.is_telephone else "felt.limits"
        small_print = texts.translate(key, least=limits[0], most=limits[1])
        bet_texts.remove(next(words for words in bet_texts if small_print in words))
    bet_texts = [words for words in bet_texts if "intérieures" not in words and "extérieures" not in words]
    assert len(bet_texts) == len(shown)
    assert any(
        texts.format_money(50_000, "CAD") in words for words in bet_texts
    )  # no more than the profile permits


def test_pays_in_the_rules_have_their_own_lines_or_are_spaced_apart(theme):
    """Regression: they ran into each other as one text."""
    for name, apart in (("quebec-three-card-poker", ""), ("quebec-craps", " \u00b7 ")):
        game_view = build_game_view(load_game(name))
        view, _ = apply_action(build_idle_view((game_view,), game_view, "en"), Action("help"), theme)
        picture = Picture(theme)
        painter = picture.painter = Scribe(theme)
        picture.draw_view(pygame.Surface(picture.size_pixels), view)
        lines = [words for words, _ in painter.written]
        if apart:
            assert any(f"11: 15 to 1 {apart.strip()} " in " ".join(line.split()) for line in lines)
        else:
            assert next(line for line in lines if line.startswith(("Ante: ", "Pair plus: "))).endswith("1:1.")


@pytest.mark.parametrize("name", [name for name in list_table_games() if load_game(name).rules.list_spots()])
def test_the_minimum_on_a_tile_is_the_minimum_of_the_rules(name):
    game = load_game(name)
    table = read_table(build_game_view(game))
    taken = []
    several = range(1, 4 if len(table.spots) < 12 else 2)
    for spots in (
        combination for count in several for combination in combinations(table.spots.values(), count)
    ):
        bets = {spot.id: spot.bet_min for spot in spots}
        with suppress(WagerError):
            taken.append(game.build_wager(sum(bets.values()), bets=bets).credits)
    assert table.lowest_round_credits == min(taken)
