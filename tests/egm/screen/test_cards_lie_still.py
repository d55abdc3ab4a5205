"""A card that lies stays where it is while others are dealt: hands have their places from the first card on."""

from dataclasses import replace
from fractions import Fraction

import pytest

from egm.app.view import game_view
from egm.play.installed_games import InstalledGame
from egm.progressive.pools import Pools
from egm.screen.layout import LANDSCAPE, PORTRAIT, slim
from egm.screen.painter import Painter
from egm.screen.scenes.cards import _places_of, _seats
from egm.screen.scenes.dealt import hands_now
from egm.screen.scenes.stage import Stage
from egm.screen.show import StepTime
from egm.screen.steps import TableStep
from egm.screen.text import Texts
from paytables import Choice, load_game, tables
from paytables.contract import Round
from tools.dev.gallery import Walk
from tools.lab.views import at_rest

LAYOUTS = {"landscape": LANDSCAPE, "portrait": PORTRAIT, "phone": slim(390, 700).with_felt()}
#: Every table of cards, and one of those whose hand is held and drawn to: their hands are alike.
CARDS = tuple(
    name
    for name in tables()
    if load_game(name).presentation().get("hands")
    and (name == "jacks-or-better-9-6" or not load_game(name).presentation().get("hold"))
)
ROUNDS = 6
#: A hand that is drawn to without end has room for so many cards; where there are more than three hands, for less.
ROOM, LESS = 5, 4


def steps_of(game, wager, walk):
    """A round with any answers, part by part."""
    played = Round(game.play(wager, walk), wager)
    played.advance()
    while (asked := played.decision) is not None:
        cues = tuple(cue.to_json() for cue in played.cues)
        yield TableStep({"kind": "table", **asked.prompt}, cues, (), 0)
        played.advance(Choice(asked.options[walk.below(len(asked.options))]))
    cues = tuple(cue.to_json() for cue in played.cues)
    yield TableStep(dict(played.outcome.display), cues, (), 0)


def moments(stage, steps):
    """Every hand with its places, before the first card, after each, and where the parts end."""
    hands, before = _seats(stage, ()), None
    yield list(zip(hands, _places_of(stage, stage.view.table, hands), strict=True))
    for step in steps:
        stops = tuple(float(n) for n in range(1, len(step.cues) + 1))
        time = StepTime(0.0, 0.0, stops, float(len(stops)), float(len(stops)))
        for since in (*(stop + 0.5 for stop in stops), None):
            now = hands_now(step, before, None if since is None else time, since or 0.0)
            hands = _seats(stage, now)
            yield list(zip(hands, _places_of(stage, stage.view.table, hands), strict=True))
        before = step


def moved(stage, steps):
    """The cards that lay and lie elsewhere, but for a split, a hand that is set as two, and one over its room."""
    lay, count = {}, None
    for hands in moments(stage, steps):
        if count != len(hands):
            first, count = count is None, len(hands)
            assert first or any("-" in hand.id for hand, _ in hands), "a hand that was not told came"
            lay = {}
        room = ROOM if len(hands) <= 3 else LESS
        for hand, rects in hands:
            for n, rect in enumerate(rects):
                key = (hand.id, n, hand.low, max(0, len(hand.cards) - room))
                was = lay.setdefault(key, rect)
                if was != pytest.approx(rect, abs=0.01) and (hand.cards[n:] or not hand.cards):
                    yield key, was, rect


@pytest.mark.parametrize("name", CARDS)
def test_a_card_that_lies_does_not_move_while_others_are_dealt(theme, name):
    game = load_game(name)
    told = game_view(InstalledGame(game, tuple(game.denominations_cents), Fraction(1), Pools()))
    form = max(game.bet_options)
    view = at_rest((told,), told, "en", felt=game.rules.as_it_stands(), bet_credits=form)
    hold = bool(game.presentation().get("hold"))
    bets = dict(view.chips.bets)
    wager = game.wager(5) if hold else game.wager(sum(bets.values()), bets=bets)
    playing = {"state": "playing", "bet_credits": wager.credits, "bet_wager": dict(wager.options)}
    view = replace(view, snapshot=view.snapshot.model_copy(update=playing))
    for layout in LAYOUTS.values():
        stage = Stage(Painter(theme), Texts("en"), layout, view)
        walk = Walk(name)
        for _ in range(ROUNDS):
            assert list(moved(stage, steps_of(game, wager, walk))) == []


def test_the_cards_that_remain_have_a_place_where_a_bet_is_on_them(theme):
    game = load_game("quebec-pai-gow-poker")
    told = game_view(InstalledGame(game, tuple(game.denominations_cents), Fraction(1), Pools()))
    view = at_rest((told,), told, "en")
    for bets, count in (({"stake": 20}, 2), ({"stake": 20, "under": 2}, 3)):
        changes = {"state": "playing", "bet_credits": sum(bets.values()), "bet_wager": {"bets": bets}}
        playing = replace(view, snapshot=view.snapshot.model_copy(update=changes))
        stage = Stage(Painter(theme), Texts("en"), LANDSCAPE, playing)
        wager = game.wager(sum(bets.values()), bets=bets)
        assert {len(hands) for hands in moments(stage, steps_of(game, wager, Walk("under")))} == {count}
