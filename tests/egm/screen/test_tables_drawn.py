"""Bets at a table: chips by touch and by keys, the requests to the machine, and what may be shown."""

import re
from dataclasses import replace

import pygame
import pytest
from rigs.layouts import LAYOUTS, PHONE
from rigs.painters import TextPainter

from egm.kernel.messages import GameOutcome, Notice
from egm.screen.felt_layout import (
    RACETRACK_PART_NAME,
    find_open_felt_part,
    lay_out_felt,
    list_felt_parts,
    list_street_sheets,
)
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, is_inside
from egm.screen.message_reducer import advance_time, apply_message
from egm.screen.picture import Picture
from egm.screen.scenes.felt import _find_new_bets_to_draw
from egm.screen.scenes.table_side_panels import _format_result_label, find_settled_step, list_shown_results
from egm.screen.table import build_bet_limits, find_spot_closure, read_registered_bets
from egm.screen.view import Action, build_view_timeline, compute_bet_credits, has_unsent_bet
from paytables import WagerError, list_table_games
from tools.dev.gallery import FixedDraws, felts
from tools.dev.gallery.felts import TABLE_GAMES, iter_felt_scenes, load_table_game
from tools.lab.views import UNIT_CENTS, build_idle_view, build_snapshot

SLOW = [pytest.param(layout, marks=pytest.mark.slow) for layout in (PORTRAIT_LAYOUT, PHONE)]
WITH_SPOTS = tuple(
    name
    for name in TABLE_GAMES
    if sum(spot["open"] for spot in load_table_game(name)[1].presentation["spots"]) > 1
)

OTHERS = [name for name in list_table_games() if name not in TABLE_GAMES]


@pytest.fixture(params=WITH_SPOTS)
def table(request):
    game, game_view = load_table_game(request.param)
    return (
        game,
        game_view,
        build_idle_view((game_view,), game_view, "en", felt_state=game.rules.build_current_view()),
    )


class Player:
    """A player who performs one act after another, with a machine that accepts every bet that the rules accept."""

    def __init__(self, game, view, theme):
        self.game, self.view, self.theme, self.sent = game, view, theme, []

    def touch(self, name, value=None):
        """Touch once; apply a requested bet as the rules accept it, and return the requests."""
        view = replace(self.view, now=self.view.now + 0.2)
        self.view, requests = apply_action(view, Action(name, value), self.theme)
        for request in requests:
            self.sent.append(request)
            if (
                request.name == "bet" and not request.value and not request.options["bets"]
            ):  # every chip is off
                empty = {"bet_wager": {"bets": {}}, "bet_credits": 0}
                self.view = apply_message(self.view, self.view.snapshot.model_copy(update=empty))
            elif request.name == "bet":
                taken = self.game.build_wager(request.value, **request.options)
                bet = {"bet_wager": dict(taken.options), "bet_credits": taken.credits}
                self.view = apply_message(self.view, self.view.snapshot.model_copy(update=bet))
        return requests

    @property
    def bets(self):
        return dict(self.view.chips.bets)


@pytest.fixture
def player(table, theme):
    game, _, view = table
    opened = Player(game, view, theme)
    opened.touch("clear")
    return opened


def spots_of(player):
    """Return spots that accept a bet: the first of all, then those that may be bet together with it."""
    spots, bet_limits = player.view.table.spots.values(), build_bet_limits(player.view.snapshot)
    first = next(spot for spot in spots if not find_spot_closure(spot, {}, bet_limits).refusal_key)
    laid = {first.id: first.bet_min}
    return [
        first,
        *(
            spot
            for spot in spots
            if spot != first and not find_spot_closure(spot, laid, bet_limits).refusal_key
        ),
    ]


@pytest.mark.requirement("P-06")
def test_a_chip_is_placed_doubled_undone_cleared_and_repeated(player):
    first, second = spots_of(player)[0], spots_of(player)[-1]
    chip = player.view.table.chip_values[0]
    player.touch("chip", chip)
    (request,) = player.touch("spot", first.id)
    least = max(first.bet_min, chip)
    assert (request.name, request.value, request.options) == ("bet", least, {"bets": {first.id: least}})
    player.touch("spot", second.id)
    assert player.bets == {first.id: least, second.id: max(second.bet_min, chip)}
    player.touch("double")
    assert player.bets == {first.id: 2 * least, second.id: 2 * max(second.bet_min, chip)}
    player.touch("undo")
    player.touch("undo")
    assert player.bets == {first.id: least}
    laid = dict(player.bets)
    play = GameOutcome(
        play_id="1",
        game_id=player.game.id,
        bet_credits=least,
        returned_credits=0,
        paid_cents=0,
        display={"kind": "table", "felt": player.view.table.felt_kind, "result": "1"},
    )
    player.view = replace(apply_message(player.view, play), now=player.view.now + 60)
    requests = player.touch("clear")  # the machine must stake none of the earlier chips
    assert [(request.value, request.options) for request in requests] == [(0, {"bets": {}})] * (
        not player.view.table.can_bets_stay_after_round
    )
    assert player.bets == {}
    assert compute_bet_credits(player.view) == 0
    player.touch("repeat")
    assert player.bets == laid
    assert [request.name for request in player.touch("play")] == ["play"]


@pytest.mark.parametrize("answer", ["refused", "silent"])
def test_bets_of_a_finished_round_are_not_shown_as_new_bets(player, answer):
    """The machine was interrupted at the end of a round, so that its snapshot still contains that round's bets."""
    if not player.view.table.can_bets_stay_after_round:
        pytest.skip("its chips stay where they were laid")
    spot = spots_of(player)[0]
    player.touch("chip", player.view.table.chip_values[0])
    player.touch("spot", spot.id)
    thrown = player.view.snapshot
    play = GameOutcome(
        play_id="1",
        game_id=player.game.id,
        bet_credits=thrown.bet_credits,
        returned_credits=0,
        paid_cents=0,
        display={"kind": "table", "felt": player.view.table.felt_kind, "result": "1"},
    )
    view = replace(apply_message(player.view, play), presentation=None)

    def advance(view):
        return advance_time(view, view.now + 0.1, player.theme)

    view, (request,) = advance(view)
    assert (request.name, request.value, request.options) == ("bet", 0, {"bets": {}})
    if answer == "refused":
        notice = Notice(code="refused.locked", severity="warning")
        view = apply_message(view, thrown.model_copy(update={"notices": (notice,)}))
    sent = []
    for _ in range(30):  # three seconds
        view, requests = advance(view)
        sent += requests
        assert not view.chips.bets
    assert {(request.name, request.value) for request in sent} == {("bet", 0)}
    assert 1 < len(sent) < 4
    view = apply_message(view, thrown.model_copy(update={"bet_wager": {"bets": {}}, "bet_credits": 0}))
    view, requests = advance(view)
    assert not requests
    assert not view.chips.is_clearing_reply_pending


def test_a_refused_touch_says_why_and_changes_no_bet(player):
    spot, other = spots_of(player)[:2]
    player.touch("chip", player.view.table.chip_values[-1])
    for _ in range(200):
        player.touch("spot", spot.id)
    assert player.bets[spot.id] <= spot.bet_max
    assert player.view.chips.refusal_key in {"most", "credit", "table"}
    before, sent = player.bets, len(player.sent)
    player.touch("spot", spot.id)
    assert (player.bets, len(player.sent)) == (before, sent)
    shut = player.view.snapshot.model_copy(update={"closed_spots": (other.id,)})
    player.view = apply_message(player.view, shut)
    player.touch("spot", other.id)
    assert player.view.chips.refusal_key == "shut"
    poor = player.view.snapshot.model_copy(
        update={"credit_cents": UNIT_CENTS * sum(before.values()), "closed_spots": ()}
    )
    player.view = apply_message(player.view, poor)
    player.touch("spot", other.id)
    assert player.view.chips.refusal_key == "credit"
    assert player.bets == before


def test_info_explains_a_spot_without_a_bet_and_take_removes_its_bet(player):
    spot = spots_of(player)[0]
    player.touch("tool", "ask")
    assert player.touch("spot", spot.id) == ()
    assert player.view.chips.explained_spot_id == spot.id
    assert player.bets == {}
    player.touch("chip", player.view.table.chip_values[0])
    player.touch("spot", spot.id)
    player.touch("spot", spots_of(player)[1].id)
    player.touch("tool", "take")
    player.touch("spot", spot.id)
    beside = spots_of(player)[1]
    assert set(player.bets) == (
        {beside.id} if beside.required_spot is None else set()
    )  # bets that depend on it are removed with it


def test_a_standing_bet_is_shown_apart_and_taken_down_by_a_negative_bet(player):
    spot = spots_of(player)[0]
    view = apply_message(
        player.view, player.view.snapshot.model_copy(update={"standing_credits_by_spot": {spot.id: 5}})
    )
    player.view = view
    assert player.bets == {}
    view, (request,) = apply_action(
        apply_action(view, Action("tool", "take"), player.theme)[0], Action("spot", spot.id), player.theme
    )
    assert (request.value, request.options) == (0, {"bets": {spot.id: -5}})
    assert dict(view.chips.bets) == {spot.id: -5}


@pytest.mark.requirement("P-06")
def test_each_chip_on_the_felt_shows_its_value_at_its_spot(player, theme, monkeypatch):
    """Before the betting closes, the player can check the amount on each spot."""
    for spot in {spots_of(player)[0].id, spots_of(player)[-1].id}:
        player.touch("spot", spot)
    picture = Picture(theme)
    picture.painter, written = TextPainter(theme), []
    draw_text = picture.painter.draw_text

    def note_and_draw(words, point, *arguments, **options):
        written.append((words, point))
        return draw_text(words, point, *arguments, **options)

    monkeypatch.setattr(picture.painter, "draw_text", note_and_draw)
    picture.draw_view(pygame.Surface(picture.size_pixels), player.view)
    points = dict(lay_out_felt(player.view.table, player.view.chips, LANDSCAPE_LAYOUT).chip_points)
    bets = {spot: credits_ for spot, credits_ in player.bets.items() if spot in points}
    assert bets
    for spot, credits_ in bets.items():
        x, y = points[spot]
        values = {words for words, (at_x, at_y) in written if abs(at_x - x) < 1 and abs(at_y - y) < 4}
        assert str(credits_) in values, spot


@pytest.mark.requirement("C-22", "P-06")
def test_any_chips_on_the_layout_are_a_bet_that_the_rules_accept(player):
    """After four hundred random touches, the game has accepted every requested bet, at the displayed price."""
    walk, table = FixedDraws(player.game.id), player.view.table
    spots = list(table.spots)
    names = ("spot",) * 6 + ("chip", "undo", "double", "repeat", "clear", "tool", "pocket")
    for _ in range(400):
        name = names[walk.below(len(names))]
        value = {
            "spot": lambda: spots[walk.below(len(spots))],
            "chip": lambda: table.chip_values[walk.below(len(table.chip_values))],
            "tool": lambda: ("take", "ask")[walk.below(2)],
            "pocket": lambda: (
                table.wheel_pockets[walk.below(len(table.wheel_pockets))] if table.wheel_pockets else ""
            ),
        }.get(name, lambda: None)()
        if name == "pocket" and not table.wheel_pockets:
            continue
        try:
            player.touch(name, value)
        except WagerError as error:
            assert re.search("the round could return|come-out|needs a bet", str(error))  # noqa: PT017 (what no spot says)
            refusal_notice = Notice(code="refused.bet_is_offered", severity="warning")
            snapshot = player.view.snapshot.model_copy(update={"notices": (refusal_notice,)})
            player.view = apply_message(player.view, snapshot)
            player.view = apply_message(player.view, snapshot.model_copy(update={"notices": ()}))
        if player.bets:
            assert compute_bet_credits(player.view) == sum(player.bets.values())
            assert not has_unsent_bet(player.view)
    assert len(player.sent) > 45


def test_the_chips_of_a_refused_bet_are_removed(player):
    spot = spots_of(player)[0]
    player.touch("spot", spot.id)
    before = dict(read_registered_bets(player.view.table, player.view.snapshot))
    view, _ = apply_action(player.view, Action("spot", spot.id), player.theme)
    assert dict(view.chips.bets) != before
    refusal_notice = Notice(code="refused.bet_is_offered", severity="warning")
    view = apply_message(view, view.snapshot.model_copy(update={"notices": (refusal_notice,)}))
    assert dict(view.chips.bets) == before


# ---------------------------------------------------------------------- touch and keys
def iter_opened_views(view, layout, theme):
    """Yield the view with each part of its cloth opened."""
    for sheet in range(max(1, len(list_street_sheets(view.table, layout)) + 1)):
        for part in list_felt_parts(view.table, layout) or ("",):
            shown = apply_action(view, Action("felt_part", part), theme)[0] if part else view
            yield apply_action(shown, Action("sheet", sheet), theme)[0]


@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, LAYOUTS["short phone"], *SLOW])
@pytest.mark.parametrize(
    "name", [*WITH_SPOTS, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
)
def test_every_spot_can_be_touched_in_every_layout(name, theme, layout):
    """Each spot has an area of a finger's size, the middle of which belongs to no other spot."""
    game, game_view = load_table_game(name)
    view = build_idle_view((game_view,), game_view, "en", felt_state=game.rules.build_current_view())
    picture, found = Picture(theme, layout=layout), set()
    for open_ in iter_opened_views(view, layout, theme):
        for touch in picture.list_touch_targets(open_):
            if touch.action.name not in {
                "spot",
                "pocket",
                "chip",
                "tool",
                "undo",
                "felt_part",
                "sheet",
                "neighbours",
            }:
                continue
            x, y, w, h = touch.rect
            assert picture.find_touched_action(open_, x + w / 2, y + h / 2) == touch.action
            least = layout.touch_size_min - 0.5
            assert min(w, h) >= least, (touch.action, touch.rect)
            found.add(touch.action)
    assert {action.value for action in found if action.name == "spot"} == set(view.table.spots)
    if "roulette" in view.game.id:
        assert {action.value for action in found if action.name == "pocket"} == set(view.table.wheel_pockets)


@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_an_inside_bet_is_touched_between_the_numbers_it_covers(theme, layout):
    _, game_view = load_table_game(TABLE_GAMES[0])
    view = build_idle_view((game_view,), game_view, "en")
    picture, seen = Picture(theme, layout=layout), 0
    straight = {}
    for open_ in iter_opened_views(view, layout, theme):
        if find_open_felt_part(view.table, open_.chips, layout) == RACETRACK_PART_NAME:
            continue
        for touch in picture.list_touch_targets(open_):
            if touch.action.name != "spot":
                continue
            covers = view.table.spots[touch.action.value].covered_pockets
            x, y = touch.rect[0] + touch.rect[2] / 2, touch.rect[1] + touch.rect[3] / 2
            if len(covers) == 1:
                straight[covers[0]] = (x, y)
            elif len(covers) in {2, 4} and all(number in straight for number in covers) and "0" not in covers:
                centres = [straight[number] for number in covers]
                if "00" not in covers:
                    assert x == pytest.approx(sum(centre[0] for centre in centres) / len(centres))
                    assert y == pytest.approx(sum(centre[1] for centre in centres) / len(centres))
                    seen += 1
    assert seen > 70


def test_a_neighbours_bet_places_a_chip_on_each_adjacent_pocket_of_the_wheel(theme):
    game, game_view = load_table_game(TABLE_GAMES[0])
    player = Player(game, build_idle_view((game_view,), game_view, "en"), theme)
    player.touch("clear")
    player.touch("pocket", player.view.table.wheel_pockets[0])
    covered = {player.view.table.spots[spot].covered_pockets[0] for spot in player.bets}
    wheel = player.view.table.wheel_pockets
    assert covered == {wheel[i] for i in (-2, -1, 0, 1, 2)}
    player.touch("undo")
    assert player.bets == {}


def test_every_spot_is_reached_with_the_deck_alone_and_play_starts(table, theme):
    _, _, view = table
    picture = Picture(theme)
    places = picture.list_selectable_actions(view)
    reached = []
    for _ in places:
        view, _ = apply_action(view, Action("bet_more"), theme, picture.list_selectable_actions(view))
        reached.append(picture.list_selectable_actions(view)[view.focused_target_index])
    assert set(reached) == set(places)
    free = {
        spot.id
        for spot in view.table.spots.values()
        if not find_spot_closure(spot, {}, build_bet_limits(view.snapshot)).refusal_key
    }
    while picture.list_selectable_actions(view)[view.focused_target_index].value not in free:
        view, _ = apply_action(view, Action("bet_more"), theme, picture.list_selectable_actions(view))
    spot = picture.list_selectable_actions(view)[view.focused_target_index].value
    taken, requests = apply_action(view, Action("bet_max"), theme, picture.list_selectable_actions(view))
    assert [request.name for request in requests] == ["bet"]
    assert taken.chips.bets[spot] > view.chips.bets.get(spot, 0)
    _, requests = apply_action(view, Action("play"), theme, picture.list_selectable_actions(view))
    assert [request.name for request in requests] == ["play"]


# ---------------------------------------------------------------------- the display
@pytest.mark.requirement("B-17")
@pytest.mark.parametrize("name", TABLE_GAMES)
def test_the_result_appears_nowhere_before_it_has_been_shown(theme, name):
    scenes = dict(iter_felt_scenes(*load_table_game(name), "en", theme, LANDSCAPE_LAYOUT))
    moving, settled = scenes["moving"], scenes["settled"]
    picture = Picture(theme)
    assert list_shown_results(picture._build_context(moving)) == ()
    result = settled.snapshot.last_display.get("result")
    assert list_shown_results(picture._build_context(settled)) == (() if result is None else (result,))
    assert "win" not in picture.build_screen_reader_text(moving).lower() or not moving.snapshot.paid_cents


def test_after_a_round_with_standing_bets_no_chips_are_reported_as_new(theme):
    """At a table with standing bets, a throw with only those bets is requested once."""
    _, game_view = load_table_game(TABLE_GAMES[0])
    lasting = game_view.model_copy(update={"presentation": {**game_view.presentation, "felt": "craps"}})
    view = build_idle_view((lasting,), lasting, "en")
    spot = next(iter(view.table.spots))
    view, _ = apply_action(view, Action("spot", spot), theme)
    show = GameOutcome(
        play_id="7",
        game_id=game_view.id,
        bet_credits=1,
        returned_credits=0,
        paid_cents=0,
        display={"kind": "table", "felt": "craps", "dice": [3, 4], "result": "7"},
    )
    view = apply_message(
        apply_message(view, view.snapshot.model_copy(update={"state": "playing", "accepted_inputs": ()})),
        show,
    )
    assert view.chips.bets == {}
    line = build_view_timeline(view, theme)
    view, requests = advance_time(view, view.now + line.end_seconds, theme)
    assert [request.name for request in requests] == ["shown"]
    view = apply_message(view, build_snapshot(lasting, "en", standing_credits_by_spot={spot: 3}))
    view, requests = advance_time(view, view.now + 0.1, theme)
    assert [(request.name, request.value, request.options) for request in requests] == [
        ("bet", 0, {"bets": {}})
    ]
    assert advance_time(view, view.now + 0.1, theme)[1] == ()


def test_standing_bets_keep_their_chips_until_they_are_settled(theme):
    game, game_view = load_table_game("quebec-craps")
    scenes = dict(iter_felt_scenes(game, game_view, "en", theme, LANDSCAPE_LAYOUT))
    picture = Picture(theme)
    laid = dict(scenes["laid"].chips.bets)
    assert len(laid) > 5
    for name in ("moving", "landed"):
        assert _find_new_bets_to_draw(picture._build_context(scenes[name]), scenes[name].table, None) == laid
    settled = picture._build_context(replace(scenes["landed"], now=scenes["settled"].now))
    over = find_settled_step(settled)
    remaining_bets = _find_new_bets_to_draw(settled, settled.view.table, over)
    assert remaining_bets.keys() == laid.keys() - {settlement["spot"] for settlement in over.settlements}
    assert (
        _find_new_bets_to_draw(picture._build_context(scenes["settled"]), scenes["settled"].table, over) == {}
    )


def test_a_named_section_of_a_wheel_is_labelled_in_the_players_language(theme):
    _, game_view = load_table_game("quebec-wheel-of-fortune")
    for code, sign in (("en", "Sun"), ("fr", "S")):
        view = build_idle_view((game_view,), game_view, code)
        context = Picture(theme)._build_context(view)
        assert view.table.wheel_pockets[0] == "sun"
        assert [_format_result_label(context, view.table, result) for result in ("sun", "")] == [sign, ""]


def test_a_touch_at_the_edge_of_a_spot_selects_that_spot(table, theme):
    _, _, view = table
    picture = Picture(theme)
    for touch in picture.list_touch_targets(view):
        if touch.action.name == "spot":
            x, y, w, h = touch.rect
            assert is_inside(touch.rect, x + 1, y + 1)
            assert picture.find_touched_action(view, x + 1, y + 1) == touch.action
            assert picture.find_touched_action(view, x + w - 1, y + h - 1) == touch.action


def test_an_insurance_bet_follows_the_stake_that_it_insures(theme):
    game, game_view = load_table_game("monaco-trente-et-quarante")
    player = Player(game, build_idle_view((game_view,), game_view, "en"), theme)
    player.touch("clear")
    player.touch("spot", "red-insured")
    assert player.view.chips.refusal_key == "needs"
    player.touch("chip", 100)
    player.touch("spot", "red")
    player.touch("spot", "red-insured")
    assert player.bets == {"red": 100, "red-insured": 1}
    player.touch("spot", "red")  # one per cent of it still
    assert player.bets == {"red": 200, "red-insured": 2}
    player.touch("chip", 10)
    player.touch("spot", "red")  # 212 credits: one credit per cent gives no whole number
    assert player.bets == {"red": 212}
    player.touch("spot", "red-insured")
    assert player.view.chips.refusal_key == "share"
    player.touch("undo")
    player.touch("tool", "take")
    player.touch("spot", "red")
    assert player.bets == {}


@pytest.mark.parametrize(
    ("name", "together"),
    [
        ("quebec-let-it-ride", {"bet-3": 1, "bet-1": 1, "bet-2": 1}),
        ("quebec-boston-poker", {"ante": 1, "first": 2}),
        ("quebec-crazy-four-poker", {"ante": 1, "super-bonus": 1}),
        ("france-casino-holdem", {"ante": 1, "super-ante": 1}),
    ],
)
def test_linked_bets_are_placed_and_removed_by_one_touch(theme, name, together):
    """A chip on one of them adds chips to each in the required ratio; the machine never gets an incomplete bet."""
    game, game_view = load_table_game(name)
    for touched in together:
        player = Player(game, build_idle_view((game_view,), game_view, "en"), theme)
        player.touch("clear")
        player.touch("chip", player.view.table.chip_values[2])  # a wager the rules refuse raises
        laid = player.view.table.chip_values[2]
        player.touch("spot", touched)
        assert player.bets == {spot: times_ * laid for spot, times_ in together.items()}
        player.touch("spot", touched)
        player.touch("double")
        assert player.bets == {spot: times_ * 4 * laid for spot, times_ in together.items()}
        player.touch("tool", "take")
        player.touch("spot", touched)
        assert player.bets == {}


def test_linked_bets_are_refused_together_without_enough_credit(theme):
    game, game_view = load_table_game("quebec-let-it-ride")
    player = Player(game, build_idle_view((game_view,), game_view, "en", credit_cents=5 * UNIT_CENTS), theme)
    player.touch("clear")
    player.touch("spot", "bet-1")
    assert player.view.chips.credits == 3
    player.touch("spot", "bet-2")
    assert (player.view.chips.refusal_key, player.view.chips.credits) == ("credit", 3)
    player.touch("double")
    assert (player.view.chips.refusal_key, player.view.chips.credits) == ("credit", 3)


def test_a_round_with_several_decisions_lists_all_its_settlements(theme, monkeypatch):
    monkeypatch.setattr(felts, "FixedDraws", lambda name: FixedDraws(f"{name}a10"))  # a refait
    scenes = dict(
        iter_felt_scenes(*load_table_game("monaco-trente-et-quarante"), "en", theme, LANDSCAPE_LAYOUT)
    )
    assert len([name for name in scenes if name.startswith("asks-refait")]) == 4
    settled = find_settled_step(Picture(theme)._build_context(scenes["settled"]))
    assert {settlement["spot"] for settlement in settled.settlements} == {"inverse", "black", "red", "colour"}


@pytest.mark.parametrize("name", ["monaco-roulette-european", "quebec-roulette-french"])
def test_announced_bets_of_a_single_zero_wheel_are_placed_by_one_touch(theme, name):
    """They have nine, six and five chips; together they cover every number of the wheel."""
    game, game_view = load_table_game(name)
    covered, cost = {}, {}
    for call in ("voisins", "tiers", "orphelins"):
        player = Player(game, build_idle_view((game_view,), game_view, "en"), theme)
        player.touch("clear")
        player.touch("felt_part", RACETRACK_PART_NAME)
        player.touch("chip", player.view.table.chip_values[0])
        assert [request.name for request in player.touch("announced_bet", call)] == ["bet"]
        covered[call] = {
            pocket for spot in player.bets for pocket in player.view.table.spots[spot].covered_pockets
        }
        cost[call] = player.view.chips.credits
        player.touch("undo")
        assert player.bets == {}
    assert cost == {"voisins": 9, "tiers": 6, "orphelins": 5}
    assert {call: len(pockets) for call, pockets in covered.items()} == {
        "voisins": 17,
        "tiers": 12,
        "orphelins": 8,
    }
    assert set.union(*covered.values()) == set(player.view.table.wheel_pockets)
    assert not load_table_game(TABLE_GAMES[0])[1].presentation["calls"]  # with two zeros there are none


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_part_of_the_racetrack_and_its_keys_can_be_touched(theme, layout):
    game, game_view = load_table_game("quebec-roulette-french")
    view = Player(game, build_idle_view((game_view,), game_view, "fr"), theme)
    view.touch("felt_part", RACETRACK_PART_NAME)
    found, picture = set(), Picture(theme, layout=layout)
    for sheet in range(5):
        open_ = replace(view.view, chips=replace(view.view.chips, sheet_index=sheet))
        for touch in picture.list_touch_targets(open_):
            if touch.action.name in {"pocket", "announced_bet", "neighbours"}:
                x, y, w, h = touch.rect
                assert min(w, h) >= layout.touch_size_min - 0.5, touch
                assert picture.find_touched_action(open_, x + w / 2, y + h / 2) == touch.action
                found.add((touch.action.name, touch.action.value))
    assert len([target for target in found if target[0] == "pocket"]) == 37
    assert len([target for target in found if target[0] == "announced_bet"]) == 3
