"""A visit at tables on the real machine: it journals and settles the chips laid on the screen as bets."""

import math
import random
from dataclasses import replace
from itertools import pairwise

import pytest
from test_visit import Visit

from egm.kernel.events import EventType
from egm.screen.input_reducer import apply_action
from egm.screen.message_reducer import apply_message
from egm.screen.painter import Painter
from egm.screen.picture import Picture
from egm.screen.scenes.roulette_wheel import draw_roulette_wheel
from egm.screen.table import TABLE_ACTIONS, read_registered_bets
from egm.screen.view import Action, View, build_view_timeline


def start_visit(folder, theme, game):
    visit = Visit(folder, theme, games=(game,))
    return visit.do(visit.room.insert, 10000)


@pytest.mark.requirement("C-22")
def test_roulette_chips_are_staked_settled_and_placed_again(tmp_path, theme):
    visit = start_visit(tmp_path, theme, "quebec-roulette-french")
    assert visit.view.chips.bets == {}
    visit.press("play")
    assert visit.view.snapshot.state == "idle"
    red = next(spot.id for spot in visit.view.table.spots.values() if spot.id == "red")
    assert visit.press("spot", red) == ["bet"]
    assert visit.press("spot", "straight-7") == ["bet"]
    staked = visit.view.chips.credits
    assert visit.view.snapshot.bet_wager["bets"] == dict(visit.view.chips.bets)
    before = visit.view.snapshot.credit_cents
    visit.play_out()
    display, shown = visit.view.snapshot.last_display, visit.view.presentation
    covers = {spot: visit.view.table.spots[spot].covered_pockets for spot in visit.view.chips.bets}
    won = {spot for spot, pockets in covers.items() if display["pocket"] in pockets}
    paid_spots = {settlement["spot"] for settlement in shown.outcome.settlements if settlement["credits"]}
    assert paid_spots == won
    unit = visit.view.snapshot.denomination_cents
    after = visit.view.snapshot.credit_cents
    assert after == before - staked * unit + visit.view.snapshot.paid_cents
    assert visit.view.snapshot.last_results == (display["result"],)
    laid = dict(visit.view.chips.bets)
    visit.press("clear")
    visit.press("repeat")
    assert dict(visit.view.chips.bets) == laid


def test_a_pass_line_bet_stays_until_its_point_is_made_or_missed(tmp_path, theme):
    """PLAY continues with the standing bet; no new chip is staked, and the bet is returned once."""
    visit = start_visit(tmp_path, theme, "quebec-craps")
    visit.press("clear")
    assert visit.press("spot", "pass") == ["bet"]
    stake = visit.view.chips.credits
    rounds = 0
    while rounds < 40:
        before, stood = visit.view.snapshot.credit_cents, dict(visit.view.snapshot.standing_credits_by_spot)
        visit.play_out()
        rounds += 1
        unit = visit.view.snapshot.denomination_cents
        cost = 0 if stood else stake * unit
        assert visit.view.snapshot.credit_cents == before - cost + visit.view.snapshot.paid_cents
        assert visit.view.chips.bets == {}
        if visit.view.snapshot.standing_credits_by_spot:
            assert visit.view.snapshot.standing_credits_by_spot == {"pass": stake}
            continue
        if rounds > 1:
            break
        visit.press("repeat")
    assert rounds > 1
    assert Action("spot", "pass") in {t.action for t in Picture(theme).list_touch_targets(visit.view)}


@pytest.mark.parametrize(("game", "cards"), [("quebec-pai-gow-poker", 7), ("quebec-pai-gow", 4)])
def test_two_hands_are_set_by_touch_and_the_house_way_is_marked(tmp_path, theme, game, cards):
    """Touched cards form the low hand; an illegal setting is not sent; the bank's cards are face down until then."""
    visit = start_visit(tmp_path, theme, game)
    assert visit.press("spot", next(iter(visit.view.table.spots))) == ["bet"]
    assert visit.press("play") == ["play"]
    visit.wait(30)
    decision = visit.view.decision
    assert decision.kind == "set"
    bank = decision.display["hands"][0]["cards"]
    assert len(bank) == cards
    assert all(card[0] == "?" for card in bank)
    assert visit.view.marked_items_mask == decision.display["advice"]
    for card_index in range(cards):
        if visit.view.marked_items_mask >> card_index & 1:
            visit.press("hold", card_index)
    assert visit.view.marked_items_mask == 0
    assert visit.press("play") == []
    touches = {touch.action for touch in Picture(theme).list_touch_targets(visit.view)}
    assert {Action("hold", card_index) for card_index in range(cards)} | {
        Action("choose", "surrender")
    } <= touches
    visit.press("set_as", decision.display["house"])
    assert visit.view.marked_items_mask == decision.display["house"]
    assert visit.press("play") == ["choose"]
    assert visit.view.decision is None
    last = visit.view.presentation.outcome.display["hands"]
    names_by_hand = {hand["id"]: hand.get("says") for hand in last}
    assert names_by_hand["player"] == decision.display["ways"][str(decision.display["house"])]
    assert "?" not in "".join(last[0]["cards"])


@pytest.mark.requirement("P-06")
@pytest.mark.parametrize("game", ["quebec-roulette-french", "quebec-craps", "quebec-blackjack-options"])
def test_the_chips_shown_are_always_the_current_bet(tmp_path, theme, game):
    """After touches, keys, rounds and another person's bets, PLAY stakes exactly the chips that are shown."""
    visit, hands = start_visit(tmp_path, theme, game), random.Random(5)
    picture, chips, bare = Picture(theme), 0, visit.view.game.bet_options
    for turn in range(120):
        acts = [t.action for t in picture.list_touch_targets(visit.view) if t.action.name in TABLE_ACTIONS]
        acts += [Action(name) for name in ("bet_less", "bet_more", "bet_max", "bet_max")]
        act = hands.choice(acts)
        visit.view, requests = apply_action(
            visit.view, act, theme, picture.list_selectable_actions(visit.view)
        )
        visit.send(requests)
        if turn % 7 == 3:
            visit.submit_event(EventType.SELECT_BET, value=hands.choice(bare))
        if turn % 40 == 39:
            visit.press("play")
            visit.wait(20, 0.25)
        while visit.view.decision is not None:
            visit.press("choose", visit.view.decision.options[0])
            visit.wait(20, 0.25)
        wagered_bets = visit.view.snapshot.bet_wager.get("bets")
        in_force = read_registered_bets(visit.view.table, visit.view.snapshot)
        assert dict(visit.view.chips.bets) == dict(in_force if wagered_bets is None else wagered_bets), act
        chips += bool(visit.view.chips.bets)
    assert chips > 40


def test_an_unanswered_request_leaves_no_chips_without_a_bet(tmp_path, theme):
    visit = start_visit(tmp_path, theme, "quebec-roulette-french")
    visit.press("spot", "red")
    before = dict(visit.view.chips.bets)
    visit.view, requests = apply_action(visit.view, Action("spot", "black"), theme)
    assert [request.name for request in requests] == ["bet"]  # lost on its way
    visit.view = apply_message(visit.view, visit.view.snapshot)  # an older word is no answer
    assert set(visit.view.chips.bets) == {"red", "black"}
    assert visit.press("play") == []
    visit.wait(2)
    assert dict(visit.view.chips.bets) == before


def test_the_next_player_finds_no_bets(tmp_path, theme):
    """A table opens without bets, and a player's bets are removed when their credit is gone."""
    visit = start_visit(tmp_path, theme, "quebec-roulette-french")
    assert (visit.view.chips.bets, visit.view.snapshot.bet_credits) == ({}, 0)
    visit.press("spot", "red")
    visit.do(visit.room.cash_out_ticket)
    assert visit.view.snapshot.credit_cents == 0
    visit.do(visit.room.insert, 2000)
    assert (visit.view.chips.bets, visit.view.snapshot.bet_credits) == ({}, 0)
    before = visit.view.snapshot.credit_cents
    visit.submit_event(EventType.PLAY)
    assert (visit.view.snapshot.state, visit.view.snapshot.credit_cents) == ("idle", before)


def count_turns(angles):
    """Return the number of whole turns of an object that was seen at these angles in turn."""
    steps = ((later - earlier + 180) % 360 - 180 for earlier, later in pairwise(angles))
    return abs(sum(steps)) / 360


@pytest.mark.requirement("B-16:a")
@pytest.mark.parametrize(
    ("game", "revolutions"),
    [
        ("quebec-roulette-french", 7),
        ("quebec-roulette-french", 12),
        *(
            pytest.param(f"monaco-roulette-{name}", 7, marks=pytest.mark.slow)
            for name in ("american", "european")
        ),
    ],
)
def test_pressing_play_does_not_shorten_the_balls_minimum_turns(
    tmp_path, theme, game, revolutions, monkeypatch
):
    """Québec by-law, s. 74; Monaco's order, arts 4.2 and 8.3: at least seven turns, or more if the game says so."""
    visit = start_visit(tmp_path, theme, game)
    visit.press("spot", "red")
    angles, painter = [], Painter(theme, 0.2)

    def seen(key, rect, *_, **__):
        x, y, w, h = rect
        if key == ("rotor ball",):
            angles.append(math.degrees(math.atan2(y + h / 2 - middle, x + w / 2 - middle)))

    middle = 500.0
    monkeypatch.setattr(painter, "draw_cached_picture", seen)
    monkeypatch.setattr(painter, "draw_surface", lambda *_: None)
    assert visit.press("play") == ["play"]
    assert visit.view.game.presentation["revolutions"] >= 7
    shown = visit.view.game.presentation | {"revolutions": revolutions}
    turning = visit.view.game.model_copy(update={"presentation": shown})
    monkeypatch.setattr(View, "game", property(lambda _: turning))
    step, table = visit.view.presentation.steps[0], visit.view.table
    turns = [cue["cue"] for cue in step.cues].index("ball")
    pocket, began_at = str(step.cues[turns]["pocket"]), visit.view.presentation.began_at
    while (since := visit.view.now - began_at) < (
        line := build_view_timeline(visit.view, theme)
    ).last_stop_seconds:
        if len(angles) % 20 == 10:
            visit.press("play")
        time = line.steps[0]
        lasts = (time.stop_seconds[turns - 1] if turns else time.start_seconds, time.stop_seconds[turns])
        context = replace(visit.context, painter=painter)
        draw_roulette_wheel(context, table, (0, 0, 1000, 1000), (pocket, None), lasts, since, has_pin=False)
        visit.wait(0.02, step=0.02)
    assert count_turns(angles) >= revolutions
