"""The screen of a machine in a tournament: its sign, points in place of money, and the published rules."""

from dataclasses import replace

import pygame
import pytest
from rigs.layouts import LAYOUTS
from rigs.painters import WordPainter

from egm.features.tournament.example import EXAMPLE_RULES_FILE
from egm.features.tournament.notice import NOTICE_LANGUAGES, list_sections
from egm.features.tournament.rules import parse_rules
from egm.kernel.messages import TournamentView
from egm.screen.input_reducer import apply_action
from egm.screen.picture import Picture
from egm.screen.scenes import background
from egm.screen.text import Texts
from egm.screen.theme import load_theme
from egm.screen.top import TopPicture
from egm.screen.view import Action
from paytables import load_game
from tools.lab.views import UNIT_CENTS, build_game_view, build_idle_view

THEME = load_theme()
GAMES = (build_game_view(load_game("maple-classic")), build_game_view(load_game("quebec-blackjack")))
RULES = parse_rules(EXAMPLE_RULES_FILE.read_text(encoding="utf-8"))
ANNOUNCED = TournamentView(
    name={"en": RULES.name.en, "fr": RULES.name.fr},
    rules={language: list_sections(RULES, language) for language in NOTICE_LANGUAGES},
    is_on=False,
)
PLAYED = {"is_on": True, "entry": 14, "round": 1, "points": 291, "won_points": 57, "games_left": 97}


class Reader(WordPainter):
    """A painter that stores each text that it draws, also before the text is broken into lines."""

    def draw_label(self, words, *arguments, **options):
        self.words.append(words)
        return super().draw_label(words, *arguments, **options)

    def draw_paragraph(self, words, *arguments, **options):
        self.words.append(words)
        return super().draw_paragraph(words, *arguments, **options)


def view_of(language, game=GAMES[0], *, won_cents=0, **changes):
    tournament = ANNOUNCED.model_copy(update=changes)
    return build_idle_view(
        GAMES,
        game,
        language,
        state="tournament" if tournament.is_on else "idle",
        tournament=tournament,
        credit_cents=tournament.points * UNIT_CENTS,
        paid_cents=won_cents,
        accepted_inputs=("play", "language", "service"),
    )


def read_all(view, layout, kind=Picture):
    """Return every text of a picture."""
    picture = kind(THEME, layout=layout)
    surface = pygame.Surface(picture.size_pixels)
    picture.painter = painter = Reader(THEME, picture.painter.scale)
    painter.surface = surface
    picture.draw_view(surface, view)
    return painter.words


@pytest.fixture
def signs(monkeypatch):
    """The drawn texts of the lit sign."""
    found, draw = [], background.draw_title_sign

    def draw_sign(context, surface, title):
        found.append(title)
        draw(context, surface, title)

    monkeypatch.setattr(background, "draw_title_sign", draw_sign)
    monkeypatch.setattr("egm.screen.top.draw_title_sign", draw_sign)
    return found


@pytest.mark.requirement("L-04", "L-10")
@pytest.mark.parametrize("language", NOTICE_LANGUAGES)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_sign_of_every_layout_marks_the_machine(signs, layout, language):
    banner = Texts(language).translate("tournament.banner")
    for scene in ({"is_on": True}, PLAYED, {**PLAYED, "is_round_over": True}):
        view = view_of(language, **scene)
        for state in ("tournament", "playing", "door_open", "tilt", "out_of_service"):
            shown = replace(view, snapshot=view.snapshot.model_copy(update={"state": state}))
            picture = Picture(THEME, layout=layout, scale=0.25)
            picture.draw_view(pygame.Surface(picture.size_pixels), shown)
            assert signs[-1] == banner, (scene, state)
    top = TopPicture(THEME, layout=layout, scale=0.25)
    top.draw_view(pygame.Surface(top.size_pixels), view_of(language, **PLAYED))
    assert signs[-1] == banner
    picture.draw_view(pygame.Surface(picture.size_pixels), view_of(language))
    assert signs[-1] != banner


@pytest.mark.requirement("L-09")
@pytest.mark.parametrize("language", NOTICE_LANGUAGES)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.family)
def test_points_are_shown_in_place_of_money(layout, language, game):
    translate = Texts(language).translate
    view = view_of(language, game, won_cents=6 * UNIT_CENTS, **PLAYED)
    read = read_all(view, layout)
    for name in ("tournament.points", "tournament.won"):
        assert translate(name) in read
    assert {"291", "57"} <= {*read}
    assert not [words for words in read if "$" in words], "money in a tournament"
    assert translate("meter.credit") not in read
    words = Picture(THEME, layout=layout).build_screen_reader_text(view)
    assert words.startswith(translate("tournament.banner"))
    assert translate("tournament.points") in words


@pytest.mark.requirement("L-10")
@pytest.mark.parametrize("language", NOTICE_LANGUAGES)
def test_the_player_reads_what_to_do(language):
    translate = Texts(language).translate
    layout = LAYOUTS["landscape"]
    assert translate("tournament.waits") in Picture(THEME, layout=layout).build_screen_reader_text(
        view_of(language, is_on=True)
    )
    over = view_of(language, **{**PLAYED, "is_round_over": True})
    assert translate("tournament.over", entry=14, round=1, points=57) in Picture(
        THEME, layout=layout
    ).build_screen_reader_text(over)
    texts = [
        Picture(THEME, layout=layout).build_screen_reader_text(replace(view_of(language, **changes), now=now))
        for now in (100.0, 103.0)
        for changes in (PLAYED, {**PLAYED, "games_left": None, "minutes_left": 18})
    ]
    assert any(translate("tournament.round_games", entry=14, round=1, left=97) in text for text in texts)
    assert any(translate("tournament.round_minutes", entry=14, round=1, left=18) in text for text in texts)


@pytest.mark.requirement("L-03")
@pytest.mark.parametrize("language", NOTICE_LANGUAGES)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_help_has_every_sentence_of_the_published_rules(layout, language):
    """This holds while the tournament is announced, and during it."""
    for changes in ({}, PLAYED):
        view, _ = apply_action(view_of(language, **changes), Action("help"), THEME)
        for n, (heading, sentences) in enumerate(list_sections(RULES, language)):
            read = " ".join(read_all(replace(view, sheet_index=n), layout)).split()
            for sentence in (heading, *sentences):
                words = Texts(language).choose_translation({language: sentence}).split()
                assert "".join(words) in "".join(read), sentence


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Entry 14, round 1: play starts at 7:00\N{NARROW NO-BREAK SPACE}p.m."),
        ("fr", "Inscription 14, manche 1 : début du jeu à 19 h 00"),
    ],
)
def test_before_the_start_the_player_reads_when_play_starts(language, sentence):
    view = view_of(language, **PLAYED, starts_utc="2027-03-08T19:00:00+00:00")
    read = [words.replace("\N{NO-BREAK SPACE}", " ") for words in read_all(view, LAYOUTS["landscape"])]
    assert sentence.replace("\N{NO-BREAK SPACE}", " ") in read, read
