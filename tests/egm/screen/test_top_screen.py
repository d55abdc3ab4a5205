"""The top screen and its drums: what it shows to the floor; it accepts no input."""

from dataclasses import replace

import pygame
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rigs.layouts import PHONE
from test_picture import LETTERS_MIN, Watcher

from egm.links.screen.client import ScreenClient
from egm.screen.app import ScreenApp, TouchFraction
from egm.screen.audio.cues import SoundPlayer
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.scenes.odometer import AMOUNT_ROLL_SECONDS, compute_displayed_thousandths, compute_drum_turns
from egm.screen.top import TopPicture
from egm.screen.view import Action
from paytables import list_table_games
from tools.dev.gallery import iter_game_scenes
from tools.dev.gallery.felts import GAMES_WITH_LONGEST_TEXTS, load_table_game
from tools.dev.gallery.machine import iter_machine_scenes
from tools.lab.views import build_idle_view, build_level_views


@pytest.mark.requirement("I-11")
@given(st.integers(0, 10**10), st.integers(0, 10**9), st.floats(0, 5))
def test_a_progressive_amount_rises_to_the_received_value_and_not_beyond(before, increase, since):
    now = before + increase
    shown = compute_displayed_thousandths(before, now, since)
    assert before * 1000 <= shown <= now * 1000
    assert compute_displayed_thousandths(before, now, AMOUNT_ROLL_SECONDS) == now * 1000
    assert compute_displayed_thousandths(now + 1, now, 0.0) == now * 1000, (
        "a level that was won begins again at once"
    )


def test_digits_roll_like_those_of_an_odometer():
    assert compute_drum_turns("$12.39", 0) == (0, 0, 0, 0, 0, 0)
    assert compute_drum_turns("$12.34", 500) == (0, 0, 0, 0, 0, 0.5)
    assert compute_drum_turns("$12.99", 500) == (0, 0, 0.5, 0, 0.5, 0.5)


@pytest.mark.requirement("C-11")
def test_the_levels_beside_the_field_are_those_received(published, theme):
    """An award that changes during play is shown in money, as the machine last sent it."""
    game = next(game for game in published if game.id == "lantern-harbour")
    picture = TopPicture(theme)
    watcher = picture.painter = Watcher(theme)
    amounts = []
    picture.painter.find_or_create_surface = lambda key, make: amounts.append(key) or pygame.Surface((4, 4))
    view, levels = build_idle_view(published, game, "en"), build_level_views(game)
    grown = tuple(level.model_copy(update={"amount_cents": level.amount_cents + 1234}) for level in levels)
    later = apply_message(view, view.snapshot.model_copy(update={"progressives": grown}))
    later = replace(later, now=later.now + AMOUNT_ROLL_SECONDS)
    for seen, shown_levels in ((view, levels), (later, grown)):
        amounts.clear()
        picture.draw_view(pygame.Surface(picture.size_pixels), seen)
        drums = [key[1] for key in amounts if key[0] == "odometer digit"]
        shown_amounts = [
            picture.find_texts(seen).format_money(level.amount_cents, "CAD") for level in shown_levels
        ]
        expected = [int(c) for words in shown_amounts for c in words if c.isdigit()]
        assert [digit for i, digit in enumerate(drums) if i % 2 == 0] == expected or drums == expected
    assert {words for words, _, _ in watcher.written} >= {"Harbour", "Grand Harbour"}


@pytest.mark.parametrize(
    ("layout", "language", "names"),
    [
        pytest.param(LANDSCAPE_LAYOUT, "fr", GAMES_WITH_LONGEST_TEXTS, id="landscape-fr"),
        pytest.param(PORTRAIT_LAYOUT, "en", GAMES_WITH_LONGEST_TEXTS, id="portrait-en"),
        pytest.param(PHONE, "fr", GAMES_WITH_LONGEST_TEXTS, id="phone-fr"),
        pytest.param(LANDSCAPE_LAYOUT, "en", list_table_games(), id="landscape-en", marks=pytest.mark.slow),
        pytest.param(PORTRAIT_LAYOUT, "fr", list_table_games(), id="portrait-fr", marks=pytest.mark.slow),
        pytest.param(PHONE, "en", list_table_games(), id="phone-en", marks=pytest.mark.slow),
    ],
)
def test_nothing_on_the_top_screen_is_clipped_or_overlaps(
    published, outcomes, theme, language, layout, names
):
    picture = TopPicture(theme, layout=layout)
    watcher = picture.painter = Watcher(theme)
    surface = pygame.Surface(picture.size_pixels)
    faults = []
    scenes = list(iter_machine_scenes(published, language, theme))
    for game in published:
        scenes += [
            (f"{game.id}/{name}", view)
            for name, view in iter_game_scenes(published, game, outcomes[game.id], language, theme, layout)
            if name in {"idle", "attract", "levels-stale", "levels-won", "big-win-rolling"}
        ]
    for table in names:
        _, game_view = load_table_game(table)
        scenes.append((f"{table}/idle", build_idle_view((game_view,), game_view, language)))
    for name, view in scenes:
        watcher.begin()
        picture.draw_view(surface, view)
        assert picture.list_touch_targets(view) == []
        faults += [(name, *spoilt) for spoilt in watcher.spoilt]
        for i, (words, box, size) in enumerate(watcher.written):
            if not surface.get_rect().contains(box) or size < LETTERS_MIN[layout.is_telephone]:
                faults.append((name, words, tuple(box), size))
            faults += [
                (name, words, other)
                for other, other_rect, _ in watcher.written[:i]
                if box.colliderect(other_rect)
            ]
    assert not faults, "\n".join(map(str, faults))


class Still:
    """An unattended surface: it is touched everywhere and shows nothing."""

    def __init__(self, picture):
        self.picture = picture
        self.can_be_closed = False

    def take_inputs(self):
        return [
            TouchFraction(0.5, 0.5),
            TouchFraction(0.9, 0.95),
            Action("play"),
            Action("cash_out"),
            Action("service"),
        ]

    def get_drawing_surface(self):
        return None

    def show_frame(self):
        raise AssertionError("nothing was drawn")

    def close(self):
        pass


class Ear(ScreenClient):
    """A link that stores what is sent."""

    def __init__(self, tmp_path):
        super().__init__(tmp_path / "none", tmp_path / "none")
        self.sent = []

    def send(self, message):
        self.sent.append(message)
        return True


def test_a_watching_screen_sends_no_requests(published, outcomes, theme, tmp_path):
    """Only the player's screen reports that a game has been shown."""
    ear = Ear(tmp_path)
    moments = iter([0.0, 1.0, 100.0, 300.0])
    app = ScreenApp(
        theme=theme,
        surface=Still(TopPicture(theme, scale=0.2)),
        machine_client=ear,
        bench_client=None,
        sound_player=SoundPlayer(theme),
        clock=lambda: next(moments),
        is_top_screen=True,
    )
    game = published[0]
    views = dict(iter_game_scenes(published, game, outcomes[game.id], "en", theme, LANDSCAPE_LAYOUT))
    app.view = replace(views["spin"], is_machine_connected=True)
    for _ in range(3):
        assert app.run_frame()
    assert ear.sent == []


def test_the_same_messages_make_the_same_view(published):
    """The top screen receives the same messages as the player's screen, and no others."""
    game = published[0]
    idle_view = build_idle_view(published, game, "en")
    assert apply_message(idle_view, idle_view.snapshot).snapshot == idle_view.snapshot
