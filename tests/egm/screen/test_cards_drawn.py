"""A table of cards or tiles shows only the existing hands, pays at the current bet, and correct limits."""

from dataclasses import replace

import pytest

from egm.kernel.service_pages import Replay
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import build_recall_view
from egm.screen.painter import Painter
from egm.screen.presentation import StepTimes
from egm.screen.scenes.chip_keys import lay_out_table_keys
from egm.screen.scenes.dealt_hands import build_current_hands
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.pay_table import format_pay, list_pay_table_rows
from egm.screen.scenes.table_side_panels import format_spot_lines
from egm.screen.text import Texts
from egm.screen.view import Action
from tools.dev.gallery.felts import iter_felt_scenes, load_table_game
from tools.lab.views import UNIT_CENTS, build_idle_view


def build_table_context(name, theme, language="en", **changes):
    """Return the drawing context of an idle table with the current bet as the machine sends it."""
    game, game_view = load_table_game(name)
    view = build_idle_view((game_view,), game_view, language)
    if changes:
        view = replace(view, snapshot=view.snapshot.model_copy(update=changes))
    return game, DrawingContext(Painter(theme), Texts(language), LANDSCAPE_LAYOUT, view)


@pytest.mark.parametrize("name", ["quebec-baccarat", "quebec-blackjack", "quebec-pai-gow-poker"])
def test_a_shuffle_a_burned_card_and_a_position_are_not_drawn_as_hands(theme, name):
    """At every moment of a deal, the hands are the same as at its end."""
    game, game_view = load_table_game(name)
    view = dict(iter_felt_scenes(game, game_view, "en", theme, LANDSCAPE_LAYOUT))["moving"]
    apart = set()
    for step in view.presentation.steps:
        apart |= {cue["cue"] for cue in step.cues if "hand" not in cue}
        end = [hand["id"] for hand in step.display["hands"]]
        stops = tuple(float(n) for n in range(1, len(step.cues) + 1))
        time = StepTimes(0.0, 0.0, stops, float(len(stops)), float(len(stops)))
        for since in (0.5, *(stop + 0.5 for stop in stops)):
            assert [hand.id for hand in build_current_hands(step, None, time, since)] == end
    assert apart


@pytest.mark.requirement("C-22", "C-11")
@pytest.mark.parametrize(("bought", "options"), [(5, {}), (200, {}), (500, {}), (30, {"hands": 10})])
def test_the_pay_table_shows_the_hands_and_credits_in_play(theme, bought, options):
    """A bet named only by its price has as many hands as the rules play for that price."""
    changes = {"bet_credits": bought, "bet_wager": options}
    game, context = build_table_context("jacks-or-better-9-6", theme, **changes)
    hands = game.build_wager(bought, **options).options["hands"]
    royal, pair = list_pay_table_rows(context)[0], list_pay_table_rows(context)[-1]
    credits_per_hand = bought // hands
    assert format_pay(context, pair) == str(credits_per_hand)
    assert format_pay(context, royal).replace(",", "") == str(
        4000 if credits_per_hand == 5 else 250 * credits_per_hand
    )


def test_only_card_games_have_the_key_for_four_suit_colours(theme):
    for name, has in (("quebec-pai-gow", False), ("quebec-pai-gow-poker", True)):
        _, context = build_table_context(name, theme)
        keys = [action for _, action in lay_out_table_keys(context.view, LANDSCAPE_LAYOUT)]
        assert (Action("suits") in keys) is has


@pytest.mark.parametrize(
    ("language", "bet_text"), [("en", "Only bet allowed: {}"), ("fr", "Seule mise permise\xa0: {}")]
)
def test_a_spot_with_one_possible_bet_shows_it_once(theme, language, bet_text):
    _, context = build_table_context("quebec-blackjack-options", theme, language)
    spot = next(spot for spot in context.view.table.spots.values() if spot.bet_min == spot.bet_max)
    lines = [words for words, _ in format_spot_lines(context, spot, UNIT_CENTS)]
    assert bet_text.format(context.format_money(spot.bet_max * UNIT_CENTS)) in lines


@pytest.mark.requirement("E-01")
def test_a_recalled_table_round_shows_its_layout_and_cards(theme):
    _, game_view = load_table_game("quebec-baccarat")
    view = dict(
        iter_felt_scenes(load_table_game("quebec-baccarat")[0], game_view, "en", theme, LANDSCAPE_LAYOUT)
    )["settled"]
    display = view.presentation.steps[-1].display
    replay = Replay.model_construct(
        play_id="p",
        game_id=game_view.id,
        denomination_cents=25,
        bet_credits=10,
        bet_wager={},
        credit_before_cents=1000,
        returned_credits=0,
        paid_cents=0,
        decision_kind="",
        options=(),
        answer=None,
        display=dict(display),
        time_utc=view.snapshot.time_utc,
    )
    shown = build_recall_view(view, view.snapshot, replay)
    assert shown is not None
    assert shown.table == view.table is not None
    assert [hand["id"] for hand in shown.presentation.steps[-1].display["hands"]] == ["player", "bank"]
