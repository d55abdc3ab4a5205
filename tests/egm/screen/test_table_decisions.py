"""During a table's decision: the cards are shown first, the panel explains the decision, and BET is the whole stake."""

from collections import Counter
from dataclasses import replace

import pygame
import pytest
from rigs.cards import remove_cards
from rigs.layouts import PHONE
from test_alignment import Scribe
from test_visit import Visit

from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.picture import Picture
from egm.screen.scenes.dealt_hands import build_current_hands, read_final_hands
from egm.screen.scenes.deck import compute_meter_amounts, format_key_label, is_key_lit
from egm.screen.scenes.status import choose_status_text_and_colour
from egm.screen.theme import load_theme
from egm.screen.view import Action, build_view_timeline, is_decision_by_marking, is_decision_due
from egm.testing.machine import ScriptedGenerator
from paytables import SEATS_DECISION_KIND, list_table_games, load_game
from paytables.cards import Shoe, parse_cards
from paytables.contract import Round
from paytables.seating import SeatedRules
from tools.dev.gallery import FixedDraws
from tools.dev.gallery.felts import (
    build_decision_request,
    build_wager_from_chips,
    choose_answer,
    iter_felt_scenes,
    lay_chips,
    load_table_game,
)
from tools.lab.views import build_idle_view

#: Tables where the gallery asks nobody: a tie at war, and the draws of a player that is the bank, are too rare.
UNASKED = {"monaco-banque-a-tout-va", "monaco-chemin-de-fer", "quebec-war"}
GAME = "quebec-blackjack-options"
#: Eights split twice, and doubled once: three hands.
SPLIT = "8s 6h 8d 8c 3h 8h 2c 3d 4s Th 3c 9s Ks Td"
INSURANCE = "As Ah Kd 9c 3h 8h 2c 3d"


def numbers(cards):
    shoe = Shoe.from_decks(8)
    for card in parse_cards(cards):
        yield sum(shoe.counts[:card])
        remove_cards(shoe, card)


@pytest.fixture
def visit(tmp_path, theme):
    def start_round(cards, *spots):
        opened = Visit(tmp_path, theme, games=(GAME,))
        opened.room.machine.random_service = ScriptedGenerator(*numbers(cards))
        opened.do(opened.room.insert, 10_000)
        for spot in ("main", *spots):
            opened.press("spot", spot)
        opened.press("play")
        return opened

    return start_round


def wait_for_decision(visit):
    """Let time pass until a decision is shown or the game is over."""
    for _ in range(400):
        if visit.view.decision is not None and is_decision_due(visit.view, visit.theme):
            break
        if visit.view.decision is None and visit.view.snapshot.state == "idle":
            break
        visit.wait(0.05)
    return visit


def test_a_decision_is_shown_after_the_deal_and_play_ends_the_deal_at_once(visit):
    player_visit = visit(SPLIT)
    player_visit.wait(0.1)
    assert player_visit.view.decision is not None
    assert not is_decision_due(player_visit.view, player_visit.theme)
    assert player_visit.bar == player_visit.context.texts.translate("status.spinning")
    assert is_key_lit(player_visit.context, "play")
    player_visit.press("play")
    player_visit.wait(0.6)
    assert is_decision_due(player_visit.view, player_visit.theme)
    assert "STAND" in player_visit.bar
    assert not is_key_lit(player_visit.context, "play")


@pytest.mark.parametrize(
    "layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, PHONE], ids=["landscape", "portrait", "telephone"]
)
def test_during_a_decision_only_lit_keys_have_an_effect(visit, layout):
    """PLAY pressed repeatedly during the deal answers no decision; only a key that names an answer does."""
    player_visit, picture = wait_for_decision(visit(SPLIT)), Picture(load_theme(), layout=layout)
    for _ in range(3):
        before = player_visit.view
        assert not is_key_lit(player_visit.context, "play")
        player_visit.view, requests = apply_action(
            player_visit.view,
            Action("play"),
            player_visit.theme,
            picture.list_selectable_actions(player_visit.view),
        )
        assert (requests, player_visit.view.is_focus_shown, player_visit.view.decision) == (
            (),
            False,
            before.decision,
        )
    player_visit.view, _ = apply_action(
        player_visit.view,
        Action("bet_more"),
        player_visit.theme,
        picture.list_selectable_actions(player_visit.view),
    )
    assert is_key_lit(player_visit.context, "play")
    assert (
        format_key_label(player_visit.context, "play")
        == format_key_label(player_visit.context, "bet_max")
        == "SELECT"
    )
    target = picture.list_selectable_actions(player_visit.view)[player_visit.view.focused_target_index]
    _, (request,) = apply_action(
        player_visit.view,
        Action("play"),
        player_visit.theme,
        picture.list_selectable_actions(player_visit.view),
    )
    assert (request.name, request.value) == (target.name, target.value)


def test_the_bet_meter_includes_splits_and_doubles(visit):
    player_visit = visit(SPLIT)
    credits_, staked = [], 2
    for answer in ("split", "split", "double"):
        wait_for_decision(player_visit)
        credits_.append(compute_meter_amounts(player_visit.context).bet_credits)
        assert credits_[-1] == staked
        staked += player_visit.view.decision.costs[answer]
        player_visit.press("choose", answer)
    wait_for_decision(player_visit)
    assert compute_meter_amounts(player_visit.context).bet_credits == staked == 8
    while player_visit.view.decision is not None:
        player_visit.press("choose", "stand")
        wait_for_decision(player_visit)
    assert compute_meter_amounts(player_visit.context).bet_credits == 2  # what PLAY would bet now
    words, _ = choose_status_text_and_colour(player_visit.context)
    assert player_visit.view.snapshot.paid_cents == 0 or player_visit.context.format_money(800) in words


def read_side_panel(player_visit):
    """Return the texts of the right side panel."""
    picture = Picture(player_visit.theme)
    painter = picture.painter = Scribe(player_visit.theme)
    picture.draw_view(pygame.Surface(picture.size_pixels), player_visit.view)
    x, y, w, h = picture.layout.right_panel
    return [words for words, rect in painter.written if pygame.Rect(x, y, w, h).contains(rect)]


def test_the_side_panel_explains_the_decision_instead_of_the_touched_spot(visit):
    player_visit = visit(INSURANCE, "over")
    assert "Over 13" in read_side_panel(player_visit)
    wait_for_decision(player_visit)
    texts = read_side_panel(player_visit)
    assert texts[:6] == ["Bet", "Your bet: $2.00", "INSURANCE", "+$1.00", "Pays 2:1", "Bet"]
    assert "Your bet: $1.00" not in texts


@pytest.mark.requirement("S-04", "S-08")
@pytest.mark.parametrize(
    "name", [name for name in list_table_games() if isinstance(load_game(name).rules, SeatedRules)]
)
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PHONE], ids=["landscape", "telephone"])
def test_a_seat_has_no_decision_keys_while_another_seat_decides(theme, layout, name):
    scenes = iter_felt_scenes(*load_table_game(name), "en", theme, layout)
    waiting = {title: view for title, view in scenes if title.startswith("shared-waits")}
    picture = Picture(theme, layout=layout)
    for view in waiting.values():
        picture.draw_view(pygame.Surface(picture.size_pixels), view)
        keys = {touch.action.name for touch in picture.list_touch_targets(view)}
        assert keys.isdisjoint({"choose", "hold", "set_as"})
        assert not is_decision_by_marking(view)
    assert waiting or name in UNASKED


def count_shown_cards(view, theme):
    """Return the highest number of cards shown in each hand at any time, and the number at the end."""
    line, steps = build_view_timeline(view, theme), view.presentation.steps
    most = Counter()
    for part in range(41):
        since = line.end_seconds * part / 40
        index = line.find_step_index(since)
        time = line.steps[index] if since < line.steps[index].last_stop_seconds else None
        hands = build_current_hands(steps[index], steps[index - 1] if index else None, time, since)
        most |= Counter({hand.id: len(hand.cards) for hand in hands})
    return most, Counter({hand.id: len(hand.cards) for hand in read_final_hands(steps[-1].display)})


@pytest.mark.requirement("S-04")
@pytest.mark.parametrize("name", ["quebec-texas-holdem-room", "quebec-pai-gow", "quebec-let-it-ride"])
def test_no_card_is_dealt_again_after_a_decision_that_deals_none(theme, name):
    game, game_view = load_table_game(name)
    view = build_idle_view((game_view,), game_view, "en", felt_state=game.rules.build_current_view())
    seats = game.rules.table_layout.table.seat_count
    alone = build_wager_from_chips(lay_chips(view, theme), game)
    wager = game.rules.combine_seat_wagers(alone, 1, dict.fromkeys(range(seats), alone))
    played = Round(game.play(wager, FixedDraws(name)), wager)
    played.advance()
    checked = 0
    while played.decision is not None:
        if played.decision.kind != SEATS_DECISION_KIND:
            view = apply_message(view, build_decision_request(played, game_view, seat=1))
            most, end = count_shown_cards(view, theme)
            assert most == end, played.decision
            checked += not played.cues
            view = replace(
                view, now=view.presentation.began_at + build_view_timeline(view, theme).end_seconds
            )
        played.advance(choose_answer(played.decision))
    assert checked, "no decision without a card before it"
