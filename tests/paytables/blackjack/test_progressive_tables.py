"""The three progressive tables of s. 21.2 against the text, with chances counted independently, and Monaco's table."""

import random
from fractions import Fraction
from math import prod

import pytest
from rigs.rounds import list_undecided_stakes

from paytables import AnalysisDepth, Bet, Choice, PartialLevelHit, Round, analyse, load_game
from paytables.blackjack.figures import compute_side_bet_return
from paytables.cards.card import parse_cards

NAMES = [f"quebec-blackjack-progressive-{n}" for n in (1, 2, 3)]
RED, HIGH = set("hd"), set("AKQJT")


def is_one_suit(cards):
    return len({suit for _, suit in cards}) == 1


def ranks(cards):
    return "".join(sorted(rank for rank, _ in cards))


def pay_first_table(cards):
    """Return what the text of the first table pays: a sum in dollars, a share of the jackpot, or nothing."""
    two, three, four, five = (cards[:n] for n in (2, 3, 4, 5))
    ten = {rank for rank, _ in two} & {"T", "J", "Q", "K"}
    if len(cards) == 5 and is_one_suit(five) and ranks(five) == "2345A":
        return Fraction(1)
    if len(cards) >= 4 and is_one_suit(four) and ranks(four) == "2345":
        return 5000
    if len(cards) >= 3 and is_one_suit(three) and ranks(three) == "456":
        return 500
    if ranks(two) == "AJ" and is_one_suit(two):
        return 50
    if "A" in ranks(two) and ten:
        return 10 if is_one_suit(two) else 2
    return 3 if two[0][0] == two[1][0] and two[0][0] in HIGH else 0


def pay_second_table(cards):
    alike = next((n for n in range(min(4, len(cards)), 1, -1) if ranks(cards[:n]) == "A" * n), 0)
    colours = {suit in RED for _, suit in cards[:alike]}
    if alike == 4 and len(colours) == 1:
        return Fraction(1)
    if alike >= 3:
        return 2500 if is_one_suit(cards[:3]) else 250
    return 0 if alike < 2 else 100 if is_one_suit(cards[:2]) else 25


def pay_third_table(cards):
    if len(cards) == 5 and is_one_suit(cards) and ranks(cards) == "2345A":
        return Fraction(1)
    four, three, two = cards[:4], cards[:3], cards[:2]
    fours, colours = {"5555", "4444", "3333", "2222"}, {suit in RED for _, suit in four}
    if len(four) == 4 and ranks(four) in fours and len(colours) == 1:
        return Fraction(1, 10)
    if len(three) == 3 and ranks(three) in {"666", "555", "444", "333"}:
        return 1000 if is_one_suit(three) else 250
    return 25 if is_one_suit(two) and ranks(two) in {"TT", "JJ", "QQ", "KK"} else 0


TEXT = dict(zip(NAMES, (pay_first_table, pay_second_table, pay_third_table), strict=True))


def paid(side, cards):
    """Return what the definition's rows pay for the cards: a sum, a share, or nothing."""
    row = side.find_winning_row(cards, cards[0])
    if row is None:
        return 0
    return row.odds.level_share or 1 + row.odds.net


def hands(rng, count):
    """Return hands of two to five cards of few ranks and suits, so that every row occurs."""
    for _ in range(count):
        few = rng.choice(["A2345", "A", "23456", "TJQKA", "23456789TJQKA", "5", "2"])
        suits = rng.choice(["s", "hd", "shdc", "sc"])
        yield " ".join(rng.choice(few) + rng.choice(suits) for _ in range(rng.randint(2, 5)))


def compare_with_text(name, count):
    (side,) = load_game(name).rules.definition.side_bets
    met = set()
    for hand in hands(random.Random(name), count):
        cards = hand.split()
        due = TEXT[name]([(card[0], card[1]) for card in cards])
        assert paid(side, list(parse_cards(hand))) == due, hand
        met.add(due)
    return met


@pytest.mark.requirement("I-18")
@pytest.mark.parametrize("name", NAMES)
def test_first_cards_are_paid_as_the_text_says(name):
    assert len(compare_with_text(name, 2_000)) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_hundred_thousand_hands_are_paid_as_the_text_says(name):
    assert len(compare_with_text(name, 100_000)) >= 6


def compute_chance_in_order(*counts):
    """Return the chance of drawing these cards in turn from six decks, each one of a number of equal cards."""
    return prod(Fraction(count, 312 - n) for n, count in enumerate(counts))


def test_the_probabilities_equal_those_counted_by_hand():
    """Six decks have 24 cards of a rank, 6 equal cards, 12 of a rank and colour; each group can come in every order."""
    steel = 4 * 120 * compute_chance_in_order(6, 6, 6, 6, 6)
    four_aces = 2 * compute_chance_in_order(12, 11, 10, 9)
    plays = [load_game(name).list_every_level()[0] for name in NAMES]
    assert [play.hit_rate for play in plays] == [steel, four_aces, steel]
    assert plays[2].partial_hit_rates == {Fraction(1, 10): 4 * four_aces}


def test_the_return_of_the_second_pay_table_equals_a_count_by_hand():
    four_aces = 2 * compute_chance_in_order(12, 11, 10, 9)
    two, three = compute_chance_in_order(24, 23), compute_chance_in_order(24, 23, 22)
    suited, three_suited = 4 * compute_chance_in_order(6, 5), 4 * compute_chance_in_order(6, 5, 4)
    both = three_suited * Fraction(9, 309)  # a fourth ace of the colour of three of one suit
    no_third = 1 - Fraction(22, 310)
    due = 2500 * (three_suited - both) + 250 * (three - three_suited - four_aces + both)
    due += (100 * suited + 25 * (two - suited)) * no_third
    game = load_game(NAMES[1])
    definition = game.rules.definition
    assert compute_side_bet_return(definition, definition.side_bets[0]) == due
    (level,) = next(
        b for b in analyse(game, AnalysisDepth.PRIZES).bets if b.bet == "progressive"
    ).progressives
    assert level.break_even_credits == (1 - due) / four_aces
    assert level.compute_rtp_at(level.break_even_credits, 1) + due == 1
    assert level.rtp_at_reset == 10_000 * four_aces
    assert level.increment == Fraction(1, 2)
    # of the three credits of a wager with the bet on the hand one plays for the level
    (of_three,) = game.rules.analyse_wager(
        game.build_wager(3, bets={"main": 2, "progressive": 1})
    ).progressives
    assert 3 * of_three.rtp_at_reset == level.rtp_at_reset
    assert 3 * of_three.increment == level.increment


class Given:
    """Draws that deal given cards of a shoe of six decks."""

    def __init__(self, cards, decks=6):
        self.cards, self.counts = list(parse_cards(cards)), [decks] * 52

    def below(self, bound, purpose):
        del purpose
        assert bound == sum(self.counts)
        card = self.cards.pop(0)
        drawn_index = sum(self.counts[:card])
        self.counts[card] -= 1
        return drawn_index


@pytest.mark.parametrize(
    ("name", "cards", "answers", "spot", "due", "hits"),
    [
        (NAMES[0], "As Kd Js 9c", ["stand"], "progressive", 50, ()),
        (NAMES[0], "2s Kd 5s 3s 4s As 9c", ["hit", "hit", "hit", "stand"], "progressive", 0, ("jackpot",)),
        (NAMES[0], "2s Kd 5s 3s 4s Ad 9c", ["hit", "hit", "hit", "stand"], "progressive", 5000, ()),
        (NAMES[1], "Ah Kc Ad Ah Ad 9c", ["hit", "hit", "stand"], "progressive", 0, ("jackpot",)),
        (NAMES[1], "Ah Kc Ad Ah Ac 9c", ["hit", "hit", "stand"], "progressive", 250, ()),
        (NAMES[2], "2h Kc 2d 2h 2d 9c", ["hit", "hit", "stand"], "progressive", 0, "tenth"),
        (NAMES[2], "2h Kc 2d 2h 2s 9c", ["hit", "hit", "stand"], "progressive", 0, ()),
        (NAMES[2], "Th Kc Th 9c", ["stand"], "progressive", 25, ()),
    ],
)
def test_the_progressive_bet_of_a_round_wins_by_its_first_cards(name, cards, answers, spot, due, hits):
    game = load_game(name)
    wager = game.build_wager(3, bets={"main": 2, "progressive": 1})
    round_ = Round(game.play(wager, Given(cards)), wager)
    round_.advance()
    for answer in answers if round_.decision is not None else ():
        assert Bet(spot, 1) in list_undecided_stakes(
            round_
        )  # it waits for the round: a void one gives it back
        round_.advance(Choice(answer))
    (settled,) = [settlement for settlement in round_.settlements if settlement.spot == spot]
    assert (settled.credits, settled.staked_credits) == (due, 1)
    tenth = (PartialLevelHit("jackpot", Fraction(1, 10)),)
    assert round_.outcome.progressives == (tenth if hits == "tenth" else hits)
    (play,) = game.list_levels(wager)
    assert (play.stake_credits, play.qualifying_credits, play.spots) == (1, 1, (spot,))


def test_the_split_aces_bet_of_monaco_has_the_counted_progressive_rates():
    game = load_game("monaco-blackjack-split-aces")
    (level,) = next(b for b in analyse(game, AnalysisDepth.PRIZES).bets if b.bet == "split-aces").progressives
    assert level.rate == 2 * compute_chance_in_order(12, 11, 10, 9)
    assert level.partial_hit_rates == {
        Fraction(1, 10): compute_chance_in_order(24, 23, 22, 21) - 2 * compute_chance_in_order(12, 11, 10, 9)
    }
