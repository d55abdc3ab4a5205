"""A dealt card keeps its position while others are dealt, because hands have fixed positions from the first card on."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from rigs.cards import script_cards

from egm.app.view import build_game_view
from egm.play.installed_games import InstalledGame
from egm.progressive.pools import ProgressivePools
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, build_telephone_layout
from egm.screen.painter import Painter
from egm.screen.presentation import StepTimes
from egm.screen.scenes.card_faces import FACE_DOWN_CARD_CODE
from egm.screen.scenes.cards import _find_base_hand_id, _list_hands_with_area, _place_hands, format_hand_name
from egm.screen.scenes.dealt_hands import DealtHand, build_current_hands
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.steps import TableStep
from egm.screen.text import Texts
from paytables import Choice, list_table_games, load_game
from paytables.contract import Round
from tools.dev.gallery import FixedDraws
from tools.lab.views import build_idle_view

LAYOUTS = {
    "landscape": LANDSCAPE_LAYOUT,
    "portrait": PORTRAIT_LAYOUT,
    "phone": build_telephone_layout(390, 700).for_table_game(),
}
HELD = "jacks-or-better-9-6"
#: Every table of cards, and one of those whose hand is held and drawn to: their hands are alike.
CARDS = tuple(
    name
    for name in list_table_games()
    if load_game(name).build_presentation().get("hands")
    and load_game(name).rules.seats_min == 1
    and (name == HELD or not load_game(name).build_presentation().get("hold"))
)
ROUNDS = 6


class Scripted(FixedDraws):
    """Scripted draws, followed by seeded ones."""

    def __init__(self, numbers):
        super().__init__("after")
        self.numbers = list(numbers)

    def below(self, bound, purpose=""):
        return self.numbers.pop(0) if self.numbers and purpose else super().below(bound)


def play_parts(game, wager, walk, answers=()):
    """Return the parts of a round with these answers, followed by any answers."""
    answers = list(answers)
    played = Round(game.play(wager, walk), wager)
    played.advance()
    while (decision := played.decision) is not None:
        cues = tuple(cue.to_json() for cue in played.cues)
        yield TableStep({"kind": "table", **decision.prompt}, cues, (), 0)
        choice = answers.pop(0) if answers else decision.options[walk.below(len(decision.options))]
        played.advance(Choice(choice))
    cues = tuple(cue.to_json() for cue in played.cues)
    yield TableStep(dict(played.outcome.display), cues, (), 0)


def iter_moments(context, steps):
    """Yield every hand with its positions before the first card, after each card, and at the end of each part."""
    hands, before = _list_hands_with_area(context, ()), None
    yield lay_out_hands(context, hands)
    for step in steps:
        stops = tuple(float(n) for n in range(1, len(step.cues) + 1))
        time = StepTimes(0.0, 0.0, stops, float(len(stops)), float(len(stops)))
        for since in (*(stop + 0.5 for stop in stops), None):
            now = build_current_hands(step, before, None if since is None else time, since or 0.0)
            yield lay_out_hands(context, _list_hands_with_area(context, now))
        before = step


def lay_out_hands(context, hands):
    places = _place_hands(context, context.view.table, hands)
    for hand, hand_layout in zip(hands, places, strict=True):
        assert len(hand_layout.card_rects) >= len(hand.cards)
        assert len(set(hand_layout.card_rects)) == len(hand_layout.card_rects)  # none lies on another
    return [(hand, hand_layout.card_rects) for hand, hand_layout in zip(hands, places, strict=True)]


def iter_moved_cards(context, steps):
    """Yield the dealt cards that change position; a split may only move cards of its own hand."""
    lay, count = {}, None
    for hands in iter_moments(context, steps):
        of = Counter(_find_base_hand_id(context, hand.id) for hand, _ in hands)
        came = [base for base in of if count and of[base] != count.get(base, 0)]
        assert count is None or not any(lay.values()) or set(of) == set(count), (
            "a hand appeared that was not sent"
        )
        lay = {key: rect for key, rect in lay.items() if _find_base_hand_id(context, key[0]) not in came}
        count = of
        for hand, rects in hands:
            for n, _ in enumerate(hand.cards):
                was = lay.setdefault((hand.id, n), rects[n])
                if was != pytest.approx(rects[n], abs=0.01):
                    yield (hand.id, n), was, rects[n]


def build_table_contexts(theme, name, credits_=None):
    """Yield a game, a wager, and its table in each layout while the wager is played."""
    game = load_game(name)
    game_view = build_game_view(
        InstalledGame(game, tuple(game.denominations_cents), Fraction(1), ProgressivePools())
    )
    form = credits_ or max(game.bet_options)
    view = build_idle_view(
        (game_view,), game_view, "en", felt_state=game.rules.build_current_view(), bet_credits=form
    )
    bets = dict(view.chips.bets)
    wager = game.build_wager(credits_) if credits_ else game.build_wager(sum(bets.values()), bets=bets)
    playing = {"state": "playing", "bet_credits": wager.credits, "bet_wager": dict(wager.options)}
    view = replace(view, snapshot=view.snapshot.model_copy(update=playing))
    contexts = [DrawingContext(Painter(theme), Texts("en"), layout, view) for layout in LAYOUTS.values()]
    return game, wager, contexts


@pytest.mark.parametrize("name", CARDS)
def test_a_dealt_card_does_not_move_while_others_are_dealt(theme, name):
    game, wager, contexts = build_table_contexts(theme, name, 5 if name == HELD else None)
    for context in contexts:
        walk = FixedDraws(name)
        for _ in range(ROUNDS):
            assert list(iter_moved_cards(context, play_parts(game, wager, walk))) == []


@pytest.mark.parametrize(
    ("credits_", "hands"), [(5, 1), (50, 10), pytest.param(500, 100, marks=pytest.mark.slow)]
)
def test_hands_have_their_positions_before_the_deal(theme, credits_, hands):
    """The cards held in the first hand are in every other hand before the draw; the other cards are backs.

    A telephone cannot show a hundred hands beside cards that can be held; there, the hands appear when they are
    drawn.
    """
    game, wager, contexts = build_table_contexts(theme, HELD, credits_)
    held_bits, thrown = 0b10011, (2, 3)
    for context in contexts if hands < 100 else contexts[:2]:
        steps = list(play_parts(game, wager, FixedDraws(HELD), [held_bits]))
        seen = list(iter_moments(context, steps))
        assert {len(moment) for moment in seen} == {hands}
        assert list(iter_moved_cards(context, steps)) == []
        dealt = seen[6][0][0].cards
        for hand, _ in seen[len(steps[0].cues) + 2][1:]:
            assert hand.cards == tuple(
                FACE_DOWN_CARD_CODE if n in thrown else card for n, card in enumerate(dealt)
            )
        assert all(FACE_DOWN_CARD_CODE not in hand.cards and len(hand.cards) == 5 for hand, _ in seen[-1])


def test_splitting_one_hand_moves_and_renames_no_other(theme):
    """Eights are split into four hands in the order 1 and 2, 1 and 3, 1 and 4; then seven cards go to the first."""
    game, _, contexts = build_table_contexts(theme, "quebec-blackjack-options")
    wager = game.build_wager(2, bets={"main": 2})
    for context in contexts:
        generator = script_cards("8s 9c 8d 8h 8c 2d 2h 2s 2c 3d 3c Tc 4h Ts 5h Td Th", decks=8)
        answers = ["split"] * 3 + ["hit"] * 5 + ["hit"] * 3
        steps = list(play_parts(game, wager, Scripted(generator.values), answers))
        assert list(iter_moved_cards(context, steps)) == []
        (*_, over) = iter_moments(context, steps)
        assert [hand.id for hand, _ in over] == ["bank", "box-1", "box-1-2", "box-1-3", "box-1-4"]
        names = [
            format_hand_name(context, hand.id, [other_hand.id for other_hand, _ in over]) for hand, _ in over
        ]
        assert names == ["Dealer", "Hand 1", "Hand 2", "Hand 3", "Hand 4"]
        assert max(len(hand.cards) for hand, _ in over) > 6


@pytest.mark.parametrize("seats", [4, 7])
def test_at_a_full_table_the_players_hands_are_below_and_legible_after_a_split(theme, seats):
    _, _, contexts = build_table_contexts(theme, "quebec-blackjack-options")
    own_position = {"seat": 2, "is_own": True}
    others = [DealtHand(f"box-{n + 1}", ("8c", "8d"), {}, seat=n) for n in range(seats) if n != 2]
    first = [DealtHand("bank", ("9c",), {}), *others, DealtHand("box-3", ("8h", "8s"), {}, **own_position)]
    third = [*first, *(DealtHand(f"box-3-{n}", ("8h",), {}, **own_position) for n in (2, 3))]
    for context in contexts:
        before, after = (
            {hand.id: cards for hand, cards in lay_out_hands(context, _list_hands_with_area(context, hands))}
            for hands in (first, third)
        )
        own_hands = [after[name] for name in ("box-3", "box-3-2", "box-3-3")]
        if context.layout.is_telephone:  # it has no room for the hands of others
            assert before.keys() == {"bank", "box-3"}
            assert min(cards[0][3] for cards in own_hands) > 60
            continue
        assert {other_hand.id: before[other_hand.id] for other_hand in others} == {
            other_hand.id: after[other_hand.id] for other_hand in others
        }
        assert min(cards[0][3] for cards in own_hands) > 60
        lowest = max(y + h for other_hand in others for _, y, _, h in after[other_hand.id])
        assert all(cards[0][1] > lowest for cards in own_hands)


def test_remaining_cards_are_shown_if_a_bet_is_on_them(theme):
    game = load_game("quebec-pai-gow-poker")
    game_view = build_game_view(
        InstalledGame(game, tuple(game.denominations_cents), Fraction(1), ProgressivePools())
    )
    view = build_idle_view((game_view,), game_view, "en")
    for bets, count in (({"stake": 20}, 2), ({"stake": 20, "under": 2}, 3)):
        changes = {"state": "playing", "bet_credits": sum(bets.values()), "bet_wager": {"bets": bets}}
        playing = replace(view, snapshot=view.snapshot.model_copy(update=changes))
        context = DrawingContext(Painter(theme), Texts("en"), LANDSCAPE_LAYOUT, playing)
        wager = game.build_wager(sum(bets.values()), bets=bets)
        assert {
            len(hands) for hands in iter_moments(context, play_parts(game, wager, FixedDraws("under")))
        } == {count}
