"""Alignment of text and keys: capitals centred, BACK always at the same position, each amount shown once."""

from dataclasses import replace

import pygame
import pytest
from rigs.layouts import PHONE
from rigs.painters import TextPainter

from egm.screen.layout import DECK_KEYS, LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, is_inside
from egm.screen.painter import Painter, TextStyle
from egm.screen.picture import Picture
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.moving_money import compute_moving_money_rect
from egm.screen.scenes.odds import draw_chances
from egm.screen.scenes.service import compute_back_key_rect
from egm.screen.text import LOCALE_BY_LANGUAGE, Texts
from egm.screen.view import Action
from tools.dev.gallery import iter_game_scenes
from tools.dev.gallery.machine import iter_machine_scenes
from tools.lab.views import build_idle_view

LAYOUTS = {"landscape": LANDSCAPE_LAYOUT, "portrait": PORTRAIT_LAYOUT, "phone": PHONE}


class Scribe(TextPainter):
    """A painter that stores each text that it draws, with its position."""

    def __init__(self, theme):
        super().__init__(theme)
        self.written = []

    def draw_text(self, words, at, style, *, align="centre", width_max=None, alpha=1.0):
        rect = super().draw_text(words, at, style, align=align, width_max=width_max, alpha=alpha)
        self.written.append((words, rect))
        return rect


def list_written_texts(picture, view):
    scribe = picture.painter = Scribe(picture.theme)
    picture.draw_view(pygame.Surface(picture.size_pixels), view)
    return scribe.written


@pytest.mark.parametrize("size", ["tiny", "caption", "small", "body", "lead", "title", "marquee"])
@pytest.mark.parametrize("face", ["numbers", "text", "strong", "heavy"])
@pytest.mark.parametrize("words", ["H", "HÉ", "Hpg", "HÀÇ", "HŸ"])
def test_a_line_is_centred_by_its_capitals_whatever_its_accents(theme, face, size, words):
    painter = Painter(theme)
    line = painter.render_text(words, TextStyle(face, size))
    font = painter.find_font(face, theme.size_by_name[size])
    capital = line.subsurface((0, 0, font.metrics("H")[0][1], line.get_height())).get_bounding_rect()
    assert capital.height
    assert abs(capital.y + capital.height / 2 - line.get_height() / 2) <= 1.5


@pytest.mark.parametrize("face", ["numbers", "text", "strong", "heavy"])
@pytest.mark.parametrize("words", ["HÀ HH", "HH HÉ", "HÀÇ HH HÉ"])
def test_all_words_of_a_line_share_one_baseline(theme, face, words):
    """If each word is set by itself, an accent above the font's box must not lower that word."""
    painter, apart = Painter(theme), 0
    for pixels in range(10, 60):
        font, line = painter.find_font(face, pixels), painter._render_line(face, pixels, words)
        apart += font.size(words)[0] < line.get_width()
        capital = font.metrics("H")[0][1]
        last = line.get_width() - font.size(words.split(" ")[-1])[0]
        first, then = (line.subsurface((x, 0, capital, line.get_height())) for x in (0, last))
        assert first.get_bounding_rect().bottom == then.get_bounding_rect().bottom, pixels
    assert apart, "no line of this face is set word by word"


@pytest.mark.parametrize("language", LOCALE_BY_LANGUAGE)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_text_of_every_deck_key_is_centred(published, theme, layout, language):
    picture = Picture(theme, layout=layout)
    found = list_written_texts(picture, build_idle_view(published, published[0], language))
    for name in DECK_KEYS:
        x, y, w, h = layout.key_rect_by_name[name]
        lines = [
            written_line
            for written_line in found
            if is_inside(layout.key_rect_by_name[name], *written_line[1].center)
        ]
        assert 1 <= len(lines) <= 2
        words, line_rect = (
            " ".join(line for line, _ in lines),
            lines[0][1].unionall([rect for _, rect in lines]),
        )
        assert x + 4 <= line_rect.left, words
        assert line_rect.right <= x + w - 4, words
        assert abs(line_rect.centerx - (x + w / 2)) <= 2, words
        if name in {"cash_out", "bet_less", "bet_more", "bet_max", "play"}:
            assert abs(line_rect.centery - (y + h / 2)) <= 2, words


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_back_key_has_the_same_position_on_every_service_page(published, outcomes, theme, layout):
    picture = Picture(theme, layout=layout)
    game = next(game for game in published if game.id == "orchard-picnic")
    scenes = [*iter_machine_scenes(published, "en", theme)]
    scenes += iter_game_scenes(published, game, outcomes[game.id], "en", theme, layout)
    seen = set()
    for name, view in scenes:
        if not name.startswith(("service-", "recall-")):
            continue
        backs = [
            action.id
            for action in view.snapshot.service_page.actions
            if action.style == "back" and action.enabled
        ]
        places = [
            t.rect
            for t in picture.list_touch_targets(view)
            if t.action == Action("answer", (backs or [""])[0])
        ]
        for rect in places[:1]:
            assert rect[:2] == compute_back_key_rect(layout)[:2], name
            seen.add(name.partition("-")[0])
    assert seen == {"service", "recall"}


@pytest.mark.parametrize("language", LOCALE_BY_LANGUAGE)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_plate_of_an_accepted_value_states_its_amount_once(published, theme, layout, language):
    picture = Picture(theme, layout=layout)
    shown = 0
    for name, view in iter_machine_scenes(published, language, theme):
        if not name.startswith("value-") or "amount_cents" not in view.latest_notice.values:
            continue
        context = picture._build_context(view)
        sum_ = context.format_money(view.latest_notice.values["amount_cents"])
        plate = compute_moving_money_rect(context)
        amounts = [
            words
            for words, rect in list_written_texts(picture, view)
            if is_inside(plate, *rect.center) and sum_ in words
        ]
        assert amounts == [sum_], name
        shown += 1
    assert shown >= 4


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_only_key_of_a_reminder_is_centred(published, theme, layout):
    picture = Picture(theme, layout=layout)
    view = dict(iter_machine_scenes(published, "en", theme))["reminder-spend_limit"]
    rect = next(t.rect for t in picture.list_touch_targets(view) if t.action == Action("cash_out"))
    assert rect[0] + rect[2] / 2 == pytest.approx(layout.game_field[0] + layout.game_field[2] / 2)


def test_no_second_full_stop_follows_a_value_that_ends_in_one():
    texts = Texts("en")
    assert texts.translate("reminder.say_time_limit_until", time="5:20 p.m.").endswith("until 5:20 p.m.")
    assert texts.translate("reminder.say_time_limit_until", time="17:20").endswith("until 17:20.")


@pytest.mark.parametrize("game_id", ["river-wheel", "orchard-picnic"])
def test_odds_are_worded_in_the_players_language(published, theme, game_id):
    """The wheel's areas, its repeats and a bonus wheel's parts are not shown by their identifiers."""
    game = next(game for game in published if game.id == game_id)
    scribe = Scribe(theme)
    scribe.surface = pygame.Surface(LANDSCAPE_LAYOUT.size)
    context = DrawingContext(scribe, Texts("fr"), LANDSCAPE_LAYOUT, build_idle_view(published, game, "fr"))
    draw_chances(replace(context, painter=scribe), LANDSCAPE_LAYOUT.player_page, game.chances)
    written_texts = {words.replace("\u00a0", " ") for words, _ in scribe.written}
    expected = {
        "river-wheel": {
            "Loutre : Parties où un lot est gagné",
            "Nouveau tour de la roue",
            "Plus gros lot : Étoile, 45 crédits",
        },
        "orchard-picnic": {"Roue", "Plus gros lot : Roue 100, 900 crédits"},
    }[game_id]
    assert expected <= written_texts
