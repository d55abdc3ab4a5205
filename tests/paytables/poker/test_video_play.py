"""Played video poker, compared with settlements written from the words of the pay tables."""

import json

import pytest
from rigs.rounds import list_undecided_stakes

import paytables
from paytables import (
    Choice,
    RecordingDrawSource,
    ReplayDrawSource,
    Round,
    WagerError,
    load_game,
    play_through,
)
from tests.paytables.poker import hands_brute as brute

GAMES = paytables.definition.LIBRARY_FOLDER / "tables"


def load(name):
    return load_game(GAMES / f"{name}.toml")


def jacks(hand, credits_):
    rank = brute.judge(hand)
    name = brute.FIVE[rank[0]]
    if name == "royal":
        return credits_ * (800 if credits_ == 5 else 250)
    if name == "pair":
        return credits_ if hand_pair(hand) in "JQKA" else 0
    return credits_ * {
        "sf": 50,
        "quads": 25,
        "full": 9,
        "flush": 6,
        "straight": 4,
        "trips": 3,
        "two-pair": 2,
    }.get(name, 0)


def hand_pair(hand):
    ranks = [card[0] for card in hand]
    return next(rank for rank in ranks if ranks.count(rank) == 2)


def deuces(hand, credits_):
    wild = sum(card[0] == "2" for card in hand)
    name = brute.FIVE[brute.best_wild(hand, lambda card: card[0] == "2")[0]]
    if wild == 4:
        return 200 * credits_
    if name == "royal":
        return credits_ * ((800 if credits_ == 5 else 250) if not wild else 25)
    pays = {"five": 15, "sf": 9, "quads": 5, "full": 3, "flush": 2, "straight": 2, "trips": 1}
    return credits_ * pays.get(name, 0)


class Deals:
    """Draws that only deal given cards of what is left of the deck."""

    def __init__(self, cards):
        self.cards, self.left = [brute.DECK.index(card) for card in cards.split()], list(range(52))

    def below(self, bound, purpose):
        del purpose
        assert bound == len(self.left)
        drawn_index = self.left.index(self.cards.pop(0))
        self.left.pop(drawn_index)
        return drawn_index


@pytest.mark.parametrize(
    ("name", "settle"), [("jacks-or-better-9-6", jacks), ("deuces-wild-full-pay", deuces)]
)
@pytest.mark.parametrize(("credits_", "hands"), [(1, 1), (5, 1), (15, 3)])
def test_played_games_pay_what_the_pay_table_says(name, settle, credits_, hands, seeded_draw):
    game, draw = load(name), seeded_draw(f"{name} {credits_} {hands}")
    few = 12 if name.startswith("deuces") else 60
    for _ in range(few):
        wager = game.build_wager(credits_, hands=hands)
        hold_mask = draw.below(32, "the player")
        if name.startswith("deuces"):  # two wild cards take the slow judge minutes
            hold_mask = 0
        record = RecordingDrawSource(draw)
        outcome = play_through(game, wager, record, [Choice(hold_mask)])
        shown = [hand["cards"] for hand in outcome.display["hands"]]
        if any(sum(card[0] == "2" for card in hand) > 1 for hand in shown) and name.startswith("deuces"):
            continue
        credits_per_hand = credits_ // hands
        assert [s.credits for s in outcome.settlements] == [settle(hand, credits_per_hand) for hand in shown]
        assert [s.staked_credits for s in outcome.settlements] == [credits_per_hand] * hands
        replay_draw = ReplayDrawSource(json.loads(json.dumps(record.records)))
        replayed = play_through(game, wager, replay_draw, [Choice(hold_mask)])
        replay_draw.check_all_numbers_used()
        assert replayed == outcome
        assert json.loads(json.dumps(outcome.to_json())) == outcome.to_json()
        assert len(record.records) == 5 + hands * (5 - hold_mask.bit_count())


def test_a_royal_pays_more_at_five_credits_only():
    game = load("jacks-or-better-9-6")
    for credits_, win in ((4, 1000), (5, 4000)):
        outcome = play_through(
            game, game.build_wager(credits_), Deals("As Ks Qs 2d 2c Js Ts"), [Choice(0b00111)]
        )
        assert outcome.returned_credits == win
        assert outcome.display["won"] == "royal-flush"
        assert outcome.display["hands"][0]["cards"] == ["As", "Ks", "Qs", "Js", "Ts"]


def test_held_cards_stay_and_each_hand_is_drawn_from_its_own_deck(seeded_draw):
    game = load("jacks-or-better-9-6")
    wager = game.build_wager(100, hands=100)
    outcome = play_through(game, wager, seeded_draw("hundred"), [Choice(0b00011)])
    hands = [hand["cards"] for hand in outcome.display["hands"]]
    assert len(hands) == 100
    assert len({tuple(hand[:2]) for hand in hands}) == 1
    assert all(len(set(hand)) == 5 for hand in hands)
    drawn = [card for hand in hands for card in hand[2:]]
    assert len(set(drawn)) < len(drawn)


def test_the_deal_is_shown_before_it_is_asked_what_to_hold(seeded_draw):
    game = load("jacks-or-better-9-6")
    wager = game.build_wager(5)
    played = Round(game.play(wager, seeded_draw("deal")), wager)
    played.advance()
    assert [cue.kind for cue in played.cues] == ["deal"] * 5
    assert played.decision.kind == "hold"
    assert played.decision.options == tuple(range(32))
    assert played.decision.prompt["hands"][0]["cards"] == [cue.data["card"] for cue in played.cues]
    assert list_undecided_stakes(played) == wager.bets
    played.advance(Choice(0b11110))
    assert [cue.kind for cue in played.cues] == ["discard", "draw"]
    assert list_undecided_stakes(played) == ()


@pytest.mark.parametrize(
    ("credits_", "options", "expected_text"),
    [
        (6, {"hands": 1}, "no bet of 6 credits on 1 hands"),
        (501, {}, "no bet of 501"),
        (5, {"rows": 1}, "not rows"),
    ],
)
def test_a_wager_the_game_does_not_offer_is_refused(credits_, options, expected_text):
    with pytest.raises(WagerError, match=expected_text):
        load("jacks-or-better-9-6").build_wager(credits_, **options)


def test_a_level_is_won_instead_of_the_row(tmp_path):
    text = (GAMES / "jacks-or-better-8-5.toml").read_text()
    level = '[progressive]\nid = "royal"\nname = { en = "Royal", fr = "Royale" }\nrow = "royal-flush"\n'
    text = text.split("\n[proved")[0] + level + 'reset_credits = 4000\nincrement = "1/100"\n'
    (tmp_path / "with-level.toml").write_text(text)
    game = load_game(tmp_path / "with-level.toml")
    wager = game.build_wager(5, hands=1)
    (play,) = game.list_levels(wager)
    assert (play.stake_credits, play.reset_credits) == (5, 4000)
    assert game.list_levels(game.build_wager(4, hands=1)) == ()
    assert game.list_levels(game.build_wager(15, hands=3)) == ()
    assert game.list_every_level() == (play,)
    outcome = play_through(game, wager, Deals("As Ks Qs Js 2c Ts"), [Choice(0b01111)])
    assert (outcome.progressives, outcome.returned_credits) == (("royal",), 0)


@pytest.mark.parametrize(
    ("old", "new", "expected_text"),
    [
        ('of = "J-A"', 'of = "A-J"', "pay.8.of: 'A-J' is neither a rank nor two ranks in order"),
        ("hands = [1, 3, 5, 10, 25, 50, 100]", "hands = [1, 101]", "hands: is 101; at most 100"),
        ('id = "two-pair"', 'id = "straight"', "pay: two have the same id"),
        ("[bets]", '[deck]\nwild = ["1"]\n[bets]', "deck.wild: .* contains a name that is not a rank"),
    ],
)
def test_a_bad_definition_is_refused_by_key(old, new, expected_text, tmp_path):
    text = (GAMES / "jacks-or-better-9-6.toml").read_text()
    assert old in text
    (tmp_path / "bad.toml").write_text(text.replace(old, new))
    with pytest.raises(paytables.DefinitionError, match=expected_text):
        load_game(tmp_path / "bad.toml")


@pytest.mark.requirement("C-10:a")
@pytest.mark.parametrize(
    ("dealt", "held_cards"),
    [
        ("As Td Ks Qs Js", "As Ks Qs Js"),
        ("Jc 5c Jd 2c 9c", "Jc Jd"),
        ("9c 4d 2c 5c 4c", "9c 2c 5c 4c"),
        ("Kc 2c 7h 5d 9s", "Kc"),
        ("9c 7s 2c 3d 5h", ""),
        ("8c 8d 3h 8h 3c", "8c 8d 3h 8h 3c"),
    ],
)
def test_the_best_hold_is_advised_wherever_the_cards_lie(dealt, held_cards):
    """A straight is broken for four to a royal flush; a flush draw beats a low pair, but not a high pair."""
    game = load("jacks-or-better-9-6")
    wager = game.build_wager(5, hands=1)
    for turn in range(5):
        cards = dealt.split()[turn:] + dealt.split()[:turn]
        round_ = Round(game.play(wager, Deals(" ".join(cards))), wager)
        round_.advance()
        advice = round_.decision.prompt["advice"]
        assert {card for n, card in enumerate(cards) if advice >> n & 1} == set(held_cards.split())


@pytest.mark.requirement("C-10:c")
def test_player_may_hold_other_cards_than_the_advised_ones():
    game = load("jacks-or-better-9-6")
    wager = game.build_wager(5, hands=1)
    played = Round(game.play(wager, Deals("Jc 5c Jd 2c 9c 3h 4h")), wager)
    played.advance()
    assert played.decision.prompt["advice"] == 0b00101  # the jacks
    played.advance(Choice(0b11010))
    assert played.outcome.display["hands"][0]["cards"] == ["3h", "5c", "4h", "2c", "9c"]
    assert played.outcome.display["held"] == 0b11010


def test_classes_of_deals_have_the_same_numbers_as_in_the_laboratory():
    from paytables.cards.subsets import build_sets
    from paytables.poker.policy import list_hand_classes

    for deck in (52, 53):
        assert list_hand_classes(deck) == build_sets(deck, 5).suit_classes_and_sizes[0].tolist()


@pytest.mark.requirement("C-10:b")
def test_a_game_played_by_its_advice_agrees_with_its_return(seeded_draw):
    """150 deals of 100 hands each, always the same, within four standard errors of the exact return."""
    game, draw = load("jacks-or-better-9-6"), seeded_draw("advice")
    wager = game.build_wager(100, hands=100)
    figures = game.rules.analyse_wager(wager)
    won = 0
    for _ in range(150):
        outcome = paytables.play_with_answers(
            game.play(wager, draw), wager, lambda decision: Choice(decision.prompt["advice"])
        )
        won += outcome.returned_credits
    error = (float(figures.variance) / 150) ** 0.5
    assert abs(won / 150 - float(figures.mean_credits)) < 4 * error
    assert won / 150 > 85  # always taking the first option returns about 35
