"""Cards at a table while they move, under a scoreboard and in four colours; and the display of results."""

from dataclasses import replace

import pygame
import pytest
from rigs.layouts import LAYOUTS

from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.picture import Picture
from egm.screen.roads import count_most_and_least_frequent_numbers
from egm.screen.scenes.card_faces import render_card_art
from egm.screen.scenes.cards import _format_hand_label
from egm.screen.scenes.dealt_hands import read_final_hands
from egm.screen.scenes.scoreboard import should_draw_scoreboard
from egm.screen.view import Action, build_view_timeline
from tools.dev.gallery.felts import iter_felt_scenes, load_table_game
from tools.lab.views import build_idle_view


def build_moving_scene(theme, name="monaco-punto-banco"):
    """Return a scene of a round whose cards are moving."""
    scenes = dict(iter_felt_scenes(*load_table_game(name), "en", theme, LANDSCAPE_LAYOUT))
    return scenes["moving"], Picture(theme)


@pytest.mark.parametrize("by", ["touch", "key"])
def test_a_touch_or_play_completes_the_deal_without_changing_the_round(theme, by):
    view, picture = build_moving_scene(theme)
    left, top, width, height = picture._build_context(view).layout.game_field
    action = (
        picture.find_touched_action(view, left + width / 2, top + height / 3)
        if by == "touch"
        else Action("play")
    )
    assert action is not None
    cut, requests = apply_action(view, action, theme, picture.list_selectable_actions(view))
    assert requests == ()
    assert cut.presentation.outcome == view.presentation.outcome
    assert cut.next_play_pressed_at is None
    ends = build_view_timeline(cut, theme).steps[-1]
    assert len({stop for stop in ends.stop_seconds if cut.presentation.began_at + stop > view.now}) == 1
    assert (
        cut.presentation.began_at + ends.last_stop_seconds - view.now
        < 0.6
        < build_view_timeline(view, theme).steps[-1].last_stop_seconds
    )
    later = replace(cut, now=cut.presentation.began_at + build_view_timeline(cut, theme).end_seconds)
    assert picture.find_touched_action(later, left + width / 2, top + 40) is None or action.name == "play"


def test_the_hands_of_punto_banco_are_named_like_its_bets(theme):
    for name, called in (("monaco-punto-banco", ("Punto", "Banco")), ("quebec-baccarat", ("Player", "Bank"))):
        hands = {hand["id"]: hand["names"]["en"] for hand in load_table_game(name)[1].presentation["hands"]}
        assert (hands["player"], hands["bank"]) == called


@pytest.mark.requirement("S-52")
@pytest.mark.parametrize(("language", "player"), [("en", "Player 1"), ("fr", "Joueur 1")])
def test_a_hand_with_several_bettors_shows_the_player_who_holds_it(theme, language, player):
    view = dict(
        iter_felt_scenes(*load_table_game("monaco-banque-a-tout-va"), language, theme, LANDSCAPE_LAYOUT)
    )["shared-settled"]
    context = Picture(theme)._build_context(view)
    hands = read_final_hands(view.presentation.round_result.display)
    labels = [_format_hand_label(context, hand, hands) for hand in hands]
    assert labels[1:] == [f"Tableau 1 ({player})", f"Tableau 2 ({player})"]
    own_label = _format_hand_label(context, replace(hands[1], is_own=True), hands)
    assert own_label == {"en": "Tableau 1 (You)", "fr": "Tableau 1 (Vous)"}[language]


def test_the_scoreboard_appears_after_the_deal_and_its_key_hides_it(theme):
    game, game_view = load_table_game("quebec-baccarat")
    view = build_idle_view((game_view,), game_view, "en")
    build_context = Picture(theme)._build_context
    assert not should_draw_scoreboard(build_context(view), view.table)  # no card has arrived yet
    view = apply_message(view, view.snapshot.model_copy(update={"last_results": ("bank", "tie", "player")}))
    assert should_draw_scoreboard(build_context(view), view.table)
    hidden, requests = apply_action(view, Action("board"), theme)
    assert requests == ()
    assert not should_draw_scoreboard(build_context(hidden), view.table)
    settled = dict(iter_felt_scenes(game, game_view, "en", theme, LANDSCAPE_LAYOUT))["settled"]
    end_s = settled.presentation.began_at + build_view_timeline(settled, theme).end_seconds
    later = replace(settled, now=end_s + 60)  # the cards are there as long as nothing is laid
    assert not should_draw_scoreboard(build_context(later), later.table)
    laid, _ = apply_action(later, Action("spot", next(iter(later.table.spots))), theme)
    assert should_draw_scoreboard(build_context(laid), laid.table)
    reopened, _ = apply_action(later, Action("board"), theme)  # or its key is touched
    assert should_draw_scoreboard(build_context(reopened), reopened.table)
    away, _ = apply_action(replace(reopened, now=reopened.now + 1), Action("board"), theme)
    assert not should_draw_scoreboard(build_context(away), away.table)


@pytest.mark.parametrize("name", ["quebec-baccarat", "jacks-or-better-9-6"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_touch_switches_the_cards_to_four_suit_colours(theme, name, layout):
    _, game_view = load_table_game(name)
    picture = Picture(theme, layout=layout)
    view = build_idle_view((game_view,), game_view, "en")
    places = [touch.rect for touch in picture.list_touch_targets(view) if touch.action == Action("suits")]
    ((x, y, w, h),) = places
    action = picture.find_touched_action(view, x + w / 2, y + h / 2)
    touched, requests = apply_action(view, action, theme)
    assert (touched.has_four_suit_colours, requests) == (True, ())
    faces = {}
    for suit in "shdc":
        two, four = (
            render_card_art(
                picture._build_context(view),
                (72, 100),
                card_code=f"A{suit}",
                has_four_suit_colours=has_four_colours,
            )
            for has_four_colours in (False, True)
        )
        faces[suit] = tuple(four.get_at((47, 71)))[:3]
        assert (pygame.image.tobytes(two, "RGB") == pygame.image.tobytes(four, "RGB")) == (suit in "sh")
    spade, heart, diamond, club = (faces[suit] for suit in "shdc")
    assert max(spade) < 60
    assert heart[0] == max(heart) > 150
    assert diamond[2] == max(diamond) > 150
    assert club[1] == max(club) > 100


def test_hot_and_cold_numbers_are_counted_from_the_stored_results():
    most, least = count_most_and_least_frequent_numbers(
        ("7", "7", "0", "32", "7", "0"), ("0", "32", "15", "7"), 2
    )
    assert most == [("7", 3), ("0", 2)]
    assert least == [("15", 0), ("32", 1)]
    most, least = count_most_and_least_frequent_numbers(("4-4-2", "4-1-2"), tuple("123456"), 3)
    assert most == [("4", 3), ("2", 2), ("1", 1)]
    assert least == [("3", 0), ("5", 0), ("6", 0)]
