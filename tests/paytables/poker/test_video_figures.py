"""Exact figures of video poker: published returns to every digit, and holds counted card by card."""

import math
from fractions import Fraction
from itertools import combinations

import pytest

import paytables
from paytables import AnalysisDepth, analyse, load_game
from paytables.cards import get_rank
from paytables.errors import AnalysisError, DefinitionError
from paytables.game import build_game_from_json
from paytables.poker.video import figures
from paytables.poker.video.holds import HoldEvaluation
from tests.paytables.poker import hands_brute as brute

GAMES = paytables.definition.LIBRARY_FOLDER / "tables"

#: Percent at the most credits (maths.md, section 3.1; the same as the tables of wizardofodds.com).
PUBLISHED = {
    "jacks-or-better-9-6": "99.543904369512",
    "jacks-or-better-8-5": "97.298433750559",
    "bonus-poker-8-5": "99.165973187234",
    "double-bonus-10-7": "100.172522355101",
    "double-bonus-9-7": "99.106471854031",
    "double-double-bonus-9-6": "98.980783486948",
    "all-american": "100.722076840820",
    "deuces-wild-full-pay": "100.761961203935",
    "deuces-wild-not-so-ugly": "99.728294651661",
    "joker-poker-kings": "100.646296634588",
}


def load(name):
    return load_game(GAMES / f"{name}.toml")


def bet(name, title="5 x 1", depth=AnalysisDepth.PRIZES):
    return next(b for b in analyse(load(name), depth).bets if b.bet == title)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_stored_figures_are_the_published_ones(name):
    assert f"{float(bet(name).rtp * 100):.12f}" == PUBLISHED[name]


def test_jacks_or_better_is_the_published_fraction_with_its_published_deviation():
    """The covariance of two hands of one deal and the variance: wizardofodds.com, video poker, n-play."""
    one_hand, fifty_hands = bet("jacks-or-better-9-6"), bet("jacks-or-better-9-6", "5 x 50")
    assert one_hand.rtp == Fraction(1653526326983, 1661102543100)
    assert round(math.sqrt(one_hand.variance / 25), 6) == 4.417542
    assert round(float(one_hand.variance / 25), 6) == 19.514676
    covariance = (fifty_hands.variance / 25 / 50 - one_hand.variance / 25) / 49
    assert round(float(covariance), 6) == 1.966389
    assert one_hand.distribution.compute_variance() == one_hand.variance
    assert one_hand.distribution.compute_moment(1) / 5 == one_hand.rtp == fifty_hands.rtp


@pytest.mark.parametrize(
    "name", ["joker-poker-kings", *(pytest.param(n, marks=pytest.mark.slow) for n in PUBLISHED)]
)
def test_the_stored_figures_equal_newly_computed_figures(name):
    game = load(name)
    assert figures.prove(game.rules.definition) == game.rules.definition.proved


#: Percent at the most credits of who holds by the simple list for Jacks or Better, or for Deuces Wild.
SIMPLE = {
    "jacks-or-better-9-6": "99.4592",
    "jacks-or-better-8-5": "97.1988",
    "bonus-poker-8-5": "99.0650",
    "double-bonus-10-7": "99.4674",
    "double-bonus-9-7": "98.3156",
    "double-double-bonus-9-6": "98.3272",
    "all-american": "97.0343",
    "deuces-wild-full-pay": "100.7006",
    "deuces-wild-not-so-ugly": "98.8166",
}


@pytest.mark.parametrize("name", SIMPLE)
def test_simple_strategies_have_their_published_returns(name):
    """99.46 % (wizardofodds.com) and 100.71 % (american-video-poker.com) in the two games they are made for."""
    found = bet(name)
    assert f"{float(found.simplest_rtp * 100):.4f}" == SIMPLE[name]
    assert found.worst_rtp < found.simplest_rtp < found.rtp


@pytest.mark.parametrize(
    ("name", "dealt", "held_cards"),
    [
        ("jacks-or-better-9-6", "As Ks Qs Js Td", "As Ks Qs Js"),
        ("jacks-or-better-9-6", "Ac Kd Qh 7s 2c", "Kd Qh"),  # the lowest two of three high cards
        ("jacks-or-better-9-6", "4c 4d 5c 6c 9c", "4c 5c 6c 9c"),
        ("jacks-or-better-9-6", "Ac 2d 3h 4s 9c", "Ac"),  # an inside straight
        ("jacks-or-better-9-6", "9c 9d 9h 9s Ac", "9c 9d 9h 9s"),
        ("jacks-or-better-9-6", "2c 4d 6h 8s Tc", ""),
        ("jacks-or-better-9-6", "Kc Kd 6h 6s Tc", "Kc Kd 6h 6s"),
        *(
            pytest.param("deuces-wild-full-pay", dealt, held_cards, marks=pytest.mark.slow)
            for dealt, held_cards in (
                ("2c 9d 9h 9s Tc", "2c 9d 9h 9s"),
                ("2c 5d 6d 7d 7s", "2c 5d 6d 7d"),
                ("2c 3d 4d 5d 5s", "2c 5d 5s"),
                ("2c 2d 4d 5d 9s", "2c 2d"),
                ("2c 2d 6h 7h 9s", "2c 2d 6h 7h"),
                ("4c 4d 5h 5s 9c", "4c 4d"),
            )
        ),
    ],
)
def test_a_simple_strategy_holds_the_cards_that_its_text_says(name, dealt, held_cards, simple):
    holds, hold_masks = simple(name)
    kinds = {tuple(row): n for n, row in enumerate(holds.sets.cards_by_set[holds.deals].tolist())}
    for turn in _TURNS:
        cards = sorted(map(brute.DECK.index, dealt.split()), key=lambda c: c // 4 * 4 + turn[c % 4])
        kind = kinds.get(tuple(c // 4 * 4 + turn[c % 4] for c in cards))
        if kind is not None:
            found = {brute.DECK[card] for n, card in enumerate(cards) if int(hold_masks[kind]) >> n & 1}
            assert found == set(held_cards.split())


@pytest.fixture(scope="module")
def simple():
    masks_by_name = {}

    def of(name):
        if name not in masks_by_name:
            definition = load(name).rules.definition
            holds = HoldEvaluation(definition)
            masks_by_name[name] = (
                holds,
                holds.select_cards_held_by(definition.simplest_strategy.simple_strategy),
            )
        return masks_by_name[name]

    return of


def test_an_unknown_simple_strategy_is_refused():
    text = load("jacks-or-better-9-6").text.replace('"way":"jacks-or-better"', '"way":"jacks"')
    with pytest.raises(
        DefinitionError, match=r"simplest\.way: there is no simple strategy 'jacks'; there are"
    ):
        build_game_from_json(text, "other.toml")


def test_a_definition_with_other_figures_is_refused_by_certification():
    game = load("jacks-or-better-9-6")
    worst = game.rules.definition.proved.max_bet_figures.worst_rtp
    assert game.text.count(worst) == 1
    other = build_game_from_json(game.text.replace(worst, "1/2"), "other.toml")
    assert analyse(other, AnalysisDepth.PRIZES).bets[-1].worst_rtp == Fraction(1, 2)
    with pytest.raises(
        AnalysisError, match="jacks-or-better-9-6: proved: the stored figures differ from newly computed ones"
    ):
        other.rules.verify()


@pytest.mark.slow
def test_a_definition_without_stored_figures_has_the_same_figures_computed():
    game = load("jacks-or-better-8-5")
    bare = game.rules.definition.model_copy(update={"proved": None})
    assert figures.analyse(bare).bets == analyse(game, AnalysisDepth.RETURN).bets


NAMES = {"royal": 4000, "sf": 250, "quads": 125, "full": 45, "flush": 30, "straight": 20, "trips": 15}


def worth(hand):
    """Return what a final hand of 9/6 pays for five credits, from the words of the pay table."""
    rank = brute.judge(hand)
    name = brute.FIVE[rank[0]]
    return {**NAMES, "two-pair": 10, "pair": 5 if rank[1] >= brute.ORDER.index("J") else 0}.get(name, 0)


@pytest.mark.parametrize(
    "hand",
    [
        "2c 2d 3c 3d Ks",
        *(pytest.param(hand, marks=pytest.mark.slow) for hand in ("As Ks Qs Js 2d", "4c 5c 6c 7d Jh")),
    ],
)
def test_the_mean_win_of_a_hold_equals_that_of_every_draw(hand):
    """Every hold of at least three cards, with each of the 47 cards, or each two of them, drawn in turn."""
    definition = load("jacks-or-better-9-6").rules.definition
    holds = HoldEvaluation(definition)
    values = holds.compute_mean_wins(definition.list_pays(5))
    kinds = {tuple(row): n for n, row in enumerate(holds.sets.cards_by_set[holds.deals].tolist())}
    cards, column = _canonical(hand.split(), kinds)
    undealt_cards = [card for card in brute.DECK if card not in cards]
    for hold_mask in range(32):
        held_cards = [card for card_index, card in enumerate(cards) if hold_mask >> card_index & 1]
        if len(held_cards) >= 3:
            drawn = list(combinations(undealt_cards, 5 - len(held_cards)))
            mean = Fraction(sum(worth([*held_cards, *drawn_cards]) for drawn_cards in drawn), len(drawn))
            assert Fraction(int(values[hold_mask, column]), holds.unit) == mean


def _canonical(hand, kinds):
    """Return the hand with its suits exchanged to those of its class, in order, and the place of the class."""
    for turn in _TURNS:
        cards = sorted((brute.DECK.index(card) for card in hand), key=lambda c: c // 4 * 4 + turn[c % 4])
        turned = tuple(c // 4 * 4 + turn[c % 4] for c in cards)
        if turned in kinds:
            return [brute.DECK[c] for c in turned], kinds[turned]
    raise AssertionError(hand)


_TURNS = [
    (a, b, c, 6 - a - b - c) for a in range(4) for b in range(4) for c in range(4) if len({a, b, c}) == 3
]


def test_the_best_hold_of_well_known_hands():
    """A made straight is broken for four cards to a royal flush; a high pair is not for four to a flush."""
    definition = load("jacks-or-better-9-6").rules.definition
    holds = HoldEvaluation(definition)
    best = holds.compute_mean_wins(definition.list_pays(5)).argmax(axis=0)
    kinds = {tuple(row): n for n, row in enumerate(holds.sets.cards_by_set[holds.deals].tolist())}
    held_by_hand = {
        "As Ks Qs Js Td": "As Ks Qs Js",
        "Jc Jd 2c 5c 9c": "Jc Jd",
        "4c 4d 2c 5c 9c": "2c 4c 5c 9c",
        "2c 5d 7h 9s Kc": "Kc",
        "2c 3d 5h 7s 9c": "",
    }
    for hand, held_cards in held_by_hand.items():
        for turn in _TURNS:
            turned = sorted(c // 4 * 4 + turn[c % 4] for c in map(brute.DECK.index, hand.split()))
            if tuple(turned) in kinds:
                mask = int(best[kinds[tuple(turned)]])
                found = {
                    (c // 4, turn.index(c % 4))
                    for card_index, c in enumerate(turned)
                    if mask >> card_index & 1
                }
                assert found == {(get_rank(c), c % 4) for c in map(brute.DECK.index, held_cards.split())}, (
                    hand
                )


def test_a_progressive_level_replaces_the_royal_pay_in_the_figures():
    game = load("jacks-or-better-8-5")
    plain = game.rules.definition
    level = {
        "id": "royal",
        "name": {"en": "Royal", "fr": "Royale"},
        "row": "royal-flush",
        "reset_credits": 4000,
        "increment": "1/100",
    }
    with_level = type(plain).model_validate({**plain.model_dump(by_alias=True), "progressive": level})
    found = {b.bet: b for b in figures.analyse(with_level).bets}
    share = found["5 x 1"].progressives[0]
    assert found["5 x 1"].rtp + share.rtp_at_reset == bet("jacks-or-better-8-5").rtp
    assert share.rate == next(p.rate for p in bet("jacks-or-better-8-5").prizes if p.name == "royal-flush")
    # Break-even of the best play of the reset: the meter at which this play returns everything.
    meter = share.break_even_credits
    assert found["5 x 1"].rtp + share.rate * meter / 5 == 1
    assert found["5 x 1"].simplest_rtp is None  # it counts the level
    assert not found["5 x 3"].progressives
    assert found["5 x 3"].rtp == bet("jacks-or-better-8-5", "5 x 3").rtp
