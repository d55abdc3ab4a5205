"""The exact analysis of blackjack, against every play of tiny shoes and against published analyses."""

from fractions import Fraction
from itertools import product

import pytest

from paytables.blackjack import policies
from paytables.blackjack.advice import DOUBLE_OPTION as DOUBLES
from paytables.blackjack.advice import HIT_OPTION as HITS
from paytables.blackjack.advice import STAND_OPTION as STANDS
from paytables.blackjack.advice import HandSituation
from paytables.blackjack.chart import find_best_chart, format_chart, parse_chart
from paytables.blackjack.hands import PACKED_CARD_BY_VALUE, compute_split_coefficients
from paytables.blackjack.schema import AnalysedHouseRules
from paytables.blackjack.solve import SolvedRound, StrategyEvaluation
from tests.paytables.blackjack.blackjack_brute import DOUBLE, HIT, STAND, Brute, shoe_of

ANY = frozenset(range(2, 22))


def house(**changed):
    """Return the rules: one deck, peek, stand on soft 17, double any two cards, one split."""
    rules = {
        "deck_count": 1,
        "has_hole_card": True,
        "hits_soft_17": False,
        "original_bets_only": True,
        "blackjack_odds": Fraction(3, 2),
        "double_totals": ANY,
        "double_after_split": False,
        "hands_max": 2,
        "ace_hands_max": 2,
        "aces_get_one_card": True,
        "splits_same_rank_only": False,
        "insurance_odds": Fraction(2),
        "even_money_up_cards": frozenset(),
        "sevens_odds": None,
        "suited_678_odds": None,
    }
    return AnalysedHouseRules(**{**rules, **changed})


# ------------------------------------------------------------------------------- every play of tiny shoes
def every_play(brute, counts, up, cards, *, split):
    """Return the best and the worst mean of two cards over every possible play, and the number of plays."""
    shoe = shoe_of(counts)
    shoe.subtract((up, *cards))
    can_double_by_play = {}

    def note(key, *, can_double):
        can_double_by_play[key] = can_double
        return HIT

    brute.box(shoe, up, cards, note, split=split)
    answers = [
        (STAND, HIT, DOUBLE) if can_double else (STAND, HIT) for can_double in can_double_by_play.values()
    ]
    means = []
    for play in product(*answers):
        chosen = dict(zip(can_double_by_play, play, strict=True))
        means.append(brute.box(shoe, up, cards, lambda key, chosen=chosen, **_: chosen[key], split=split))
    return max(means), min(means), len(means)


def compute_split_means(rules, counts, up, cards, *, hands):
    """Return the product's means for two cards split into up to this number of hands, or not split (0)."""
    round_, play = SolvedRound(rules, up, counts), StrategyEvaluation(rules)
    hand = sum(PACKED_CARD_BY_VALUE[card - 1] for card in cards)
    node = round_.tree[hand]
    ways, found = (node.ordinary_ways + node.blackjack_ways) * play.unit, []
    for choose in (policies.choose_best, policies.choose_worst):
        if hands:
            split = next(candidate for candidate in round_.splits if candidate.card_value == cards[0])
            mean = play.evaluate_split(round_, split, hands, choose)[0]
        else:
            mean = play.evaluate_hands(round_.hand_values, round_.tree, HandSituation(up), choose)[hand][0]
        found.append(Fraction(mean - node.blackjack_ways * play.unit * play.original_bets_only, ways))
    return tuple(found)


EUROPE = {"has_hole_card": False, "original_bets_only": False}
QUEBEC = {"has_hole_card": False, "original_bets_only": True}
EIGHTS, NINES = (1, 0, 0, 0, 0, 0, 0, 4, 0, 6), (1, 0, 0, 0, 0, 0, 0, 0, 5, 12)
SEVENS = (0, 0, 0, 0, 0, 0, 5, 0, 0, 8)
SEVENS_ODDS = Fraction(3, 2)
#: Shoe by value, dealer's first card, two cards, most hands (0: no split), the rules, and those of the brute force.
TINY = {
    "resplit": ((0, 0, 0, 0, 0, 0, 0, 4, 5, 8), 9, (8, 8), 3, {**EUROPE, "hands_max": 3}, {"das": False, "hands": 3}),
    "all lost to a blackjack": (EIGHTS, 10, (8, 8), 2, EUROPE, {"das": False}),
    "first lost to a blackjack": (
        NINES, 10, (9, 9), 3, {**QUEBEC, "hands_max": 3}, {"das": False, "hands": 3, "lost": "first"},
    ),
    "a hidden card": (EIGHTS, 10, (8, 8), 2, {}, {"das": False, "peek": True}),
    "tens": ((2, 0, 0, 0, 0, 0, 0, 0, 0, 12), 10, (10, 10), 3, {**EUROPE, "hands_max": 3}, {"das": False, "hands": 3}),
    "sevens": (
        SEVENS, 10, (7, 7), 3, {**QUEBEC, "hands_max": 3, "sevens_odds": SEVENS_ODDS}, {"das": False, "hands": 3, "lost": "first", "sevens": SEVENS_ODDS},
    ),
    "doubled after a split": (
        (0, 0, 1, 0, 0, 0, 0, 4, 0, 6), 10, (8, 8), 2, {**EUROPE, "double_after_split": True}, {},
    ),
    "aces": (
        (5, 0, 0, 0, 3, 0, 0, 0, 3, 5), 10, (1, 1), 3, {**EUROPE, "hands_max": 3, "ace_hands_max": 3},
        {"das": False, "hands": 3, "ace_hands": 3},
    ),
    "kept, soft 17 hit": (
        (2, 0, 0, 0, 0, 5, 0, 0, 0, 9), 6, (6, 10), 0, {**EUROPE, "hits_soft_17": True}, {"h17": True},
    ),
    "kept, sevens": (SEVENS, 10, (7, 7), 0, {**QUEBEC, "sevens_odds": SEVENS_ODDS}, {"lost": "first", "sevens": SEVENS_ODDS}),
}  # fmt: skip


@pytest.mark.parametrize("name", TINY)
def test_the_best_and_worst_means_equal_those_over_every_possible_play(name):
    counts, up, cards, hands, rules, brute = TINY[name]
    best, worst, plays = every_play(Brute(**brute), counts, up, cards, split=bool(hands))
    assert plays > 1 or cards == (1, 1)  # each ace gets only one card
    assert compute_split_means(house(**rules), counts, up, cards, hands=hands) == (best, worst)


def test_the_mean_number_of_split_hands_equals_a_direct_recursion():
    """If only the pair's cards lose, the mean number of hands follows from a direct recursion."""

    def hands(most, now, open_, pairs, others):
        if now == most or not open_:
            return now
        cards_left = pairs + others
        split_mean = (
            Fraction(pairs, cards_left) * hands(most, now + 1, open_ + 1, pairs - 1, others) if pairs else 0
        )
        return split_mean + (
            Fraction(others, cards_left) * hands(most, now, open_ - 1, pairs, others - 1) if others else 0
        )

    for most in (2, 3, 4, 5):
        for pairs, others in ((2, 40), (5, 7), (30, 300)):
            mean, chance, pairs_left = Fraction(0), Fraction(1), pairs
            for part in compute_split_coefficients(most):
                size = pairs_left + others
                mean += chance * (
                    part.unpaired_hand * Fraction(others, size)
                    + part.paired_hand * Fraction(pairs_left, size)
                )
                chance, pairs_left = chance * Fraction(pairs_left, size), pairs_left - 1
                if not chance:
                    break
            assert mean == hands(most, 2, 2, pairs, others)


# ------------------------------------------------------------------------------- published analyses
def test_a_tiny_shoe_has_the_return_that_farmer_published():
    """E. Farmer, strategy calculator 6.3, blackjackinfo.com thread 22710: 2-2 against 7, to all published digits."""
    rules = house(hands_max=4, double_after_split=True)
    round_, play = SolvedRound(rules, 7, (0, 4, 4, 2, 0, 0, 2, 0, 0, 7)), StrategyEvaluation(rules)
    hand = 2 * PACKED_CARD_BY_VALUE[1]
    values = play.evaluate_hands(round_.hand_values, round_.tree, HandSituation(7), policies.choose_best)
    options = play.evaluate_options(
        round_.hand_values[hand], round_.tree, hand, values, HandSituation(7), is_suited=False
    )
    ways = round_.tree[hand].ordinary_ways * play.unit
    split = play.evaluate_split(round_, round_.splits[0], 4, policies.choose_best)[0]
    found = [options[STANDS][0], options[HITS][0], options[DOUBLES][0], split]
    published = ["-61.639194139", "-13.266733267", "-123.278388278", "-76.210220335"]
    assert [f"{100 * mean / ways:.9f}" for mean in found] == published


def test_one_deck_with_one_split_has_the_published_return():
    """The full single deck of bjstrat.net: +0.000247914 (stand on soft 17, no double after the one split)."""
    mean = (
        policies.StrategyCalculator(house()).evaluate(policies.choose_best, policies.choose_highest_sum).mean
    )
    assert f"{float(mean):.9f}" == "0.000247914"


#: Wizard of Odds, blackjack appendix 9: two cards against an ace: stand, hit and double.
WIZARD = {
    ("euro 6d h17", 6, True, False): {
        (2, 1): "-0.722356 -0.379910 -1.024099", (3, 1): "-0.722119 -0.403855 -1.023717",
        (3, 2): "-0.721887 -0.529734 -1.443774", (4, 2): "-0.721646 -0.548031 -1.434834",
        (5, 4): "-0.721243 -0.396287 -0.932671", (6, 1): "-0.665166 -0.463296 -0.999484",
        (6, 4): "-0.720814 -0.286818 -0.639108", (6, 5): "-0.720879 -0.235772 -0.535879",
    },
    ("2d h17, a hidden card", 2, True, True): {
        (2, 1): "-0.594150 -0.103429 -0.571816", (3, 2): "-0.592126 -0.320313 -1.184253",
        (5, 4): "-0.589636 -0.124218 -0.438228", (6, 5): "-0.587564 0.121079 0.166650",
    },
    ("1d s17, a hidden card", 1, False, True): {
        (2, 1): "-0.661732 -0.067808 -0.593281", (3, 2): "-0.659375 -0.291565 -1.318751",
        (6, 4): "-0.636118 0.081506 0.048615", (7, 1): "-0.101015 -0.108386 -0.357778",
    },
}  # fmt: skip


@pytest.mark.parametrize("case", WIZARD, ids=lambda case: case[0])
def test_two_cards_against_an_ace_have_the_returns_of_the_wizard_of_odds(case):
    _, decks, hits, hidden = case
    rules = house(
        deck_count=decks, hits_soft_17=hits, has_hole_card=hidden, original_bets_only=hidden, hands_max=1
    )
    table = policies.StrategyCalculator(rules, (1,))
    round_, play = table.rounds[0], table.evaluation
    values = play.evaluate_hands(round_.hand_values, round_.tree, HandSituation(1), policies.choose_best)
    for (first, other), published in WIZARD[case].items():
        hand = PACKED_CARD_BY_VALUE[first - 1] + PACKED_CARD_BY_VALUE[other - 1]
        node = round_.tree[hand]
        ways = play.count_completed_ways(node) * play.unit
        options = play.evaluate_options(
            round_.hand_values[hand], round_.tree, hand, values, HandSituation(1), is_suited=False
        )
        found = [options[answer][0] / ways for answer in (STANDS, HITS, DOUBLES)]
        assert " ".join(f"{mean:.6f}" for mean in found) == published, hand


#: The same source's returns of whole games; its splits are by how many hands there are, and not exact, so
#: that the last digits differ: by this much, exact less published, in millionths.
GAMES = {
    "1d s17": ({"hands_max": 4}, "0.000423", -4),
    "1d s17 das": ({"hands_max": 4, "double_after_split": True}, "0.001839", -8),
    "2d h17": ({"deck_count": 2, "hits_soft_17": True, "hands_max": 4}, "-0.005252", -2),
    "6d h17 europe das": (
        {**EUROPE, "deck_count": 6, "hits_soft_17": True, "hands_max": 4, "double_after_split": True}, "-0.0072705", 1,
    ),
    "8d h17 europe": ({**EUROPE, "deck_count": 8, "hits_soft_17": True, "hands_max": 4}, "-0.0089865", 3),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_the_returns_of_whole_games_agree_with_published_returns(name):
    rules, published, millionths = GAMES[name]
    mean = (
        policies.StrategyCalculator(house(**rules))
        .evaluate(policies.choose_best, policies.choose_highest_sum)
        .mean
    )
    assert round((mean - Fraction(published)) * 1_000_000) == millionths


# ------------------------------------------------------------------------------- charts
BASIC = (  # as published for one deck, stand on soft 17, no double after a split
    "hard  4 HHHHHHHHHH", "hard  5 HHHHHHHHHH", "hard  6 HHHHHHHHHH", "hard  7 HHHHHHHHHH", "hard  8 HHHDDHHHHH",
    "hard  9 DDDDDHHHHH", "hard 10 DDDDDDDDHH", "hard 11 DDDDDDDDDD", "hard 12 HHSSSHHHHH", "hard 13 SSSSSHHHHH",
    "hard 14 SSSSSHHHHH", "hard 15 SSSSSHHHHH", "hard 16 SSSSSHHHHH", "hard 17 SSSSSSSSSS", "hard 18 SSSSSSSSSS",
    "hard 19 SSSSSSSSSS", "hard 20 SSSSSSSSSS", "soft 13 HHDDDHHHHH", "soft 14 HHDDDHHHHH", "soft 15 HHDDDHHHHH",
    "soft 16 HHDDDHHHHH", "soft 17 DDDDDHHHHH", "soft 18 SEEEESSHHS", "soft 19 SSSSESSSSS", "soft 20 SSSSSSSSSS",
    "soft 21 SSSSSSSSSS", "pair  1 PPPPPPPPPP", "pair  2 .PPPPP....", "pair  3 ..PPPP....", "pair  6 PPPPP.....",
    "pair  7 PPPPPP....", "pair  8 PPPPPPPPPP", "pair  9 PPPPP.PP..",
)  # fmt: skip


@pytest.mark.slow
def test_the_best_chart_of_one_deck_is_basic_strategy():
    assert format_chart(find_best_chart(policies.StrategyCalculator(house()))) == BASIC


def test_the_best_chart_of_one_deck_against_a_six_is_basic_strategy():
    book, found = parse_chart(BASIC), find_best_chart(policies.StrategyCalculator(house(), (6,)))
    assert format_chart(book) == BASIC
    assert found.decision_by_situation == {
        situation: answer for situation, answer in book.decision_by_situation.items() if situation[0] == 6
    }
    assert found.split_pairs == {situation for situation in book.split_pairs if situation[0] == 6}


def test_no_change_of_a_single_cell_improves_the_best_chart():
    table = policies.StrategyCalculator(house(), (10,))
    mean = table.evaluate(parse_chart(BASIC).build_chooser(table), parse_chart(BASIC).decide_offer).mean
    changes = [
        (cell, answer) for (up, cell), answer in parse_chart(BASIC).decision_by_situation.items() if up == 10
    ]
    for cell, answer in changes[::6]:
        for other in {(STANDS, False), (HITS, False), (HITS, True)} - {answer}:
            changed = parse_chart(BASIC)
            changed.decision_by_situation[10, cell] = other
            assert table.evaluate(changed.build_chooser(table), changed.decide_offer).mean <= mean, (
                cell,
                other,
            )
    for pair in range(1, 11):
        changed = parse_chart(BASIC)
        changed.split_pairs ^= {(10, pair)}
        assert table.evaluate(changed.build_chooser(table), changed.decide_offer).mean < mean, pair


@pytest.mark.slow
def test_better_play_returns_more():
    table = policies.StrategyCalculator(house())
    chart = parse_chart(BASIC)
    means = [
        table.evaluate(policies.choose_worst, policies.choose_lowest_sum).mean,
        table.evaluate(policies.build_dealer_rule_chooser(table.house), policies.decline_every_offer).mean,
        table.evaluate(chart.build_chooser(table), chart.decide_offer).mean,
        table.evaluate(policies.choose_best, policies.choose_highest_sum).mean,
    ]
    assert means == sorted(means)
    assert f"{float(means[2]):.9f}" == "-0.000147437"  # the book, by totals


@pytest.mark.parametrize("even", [frozenset(), frozenset({1}), frozenset({1, 10})])
def test_a_blackjack_is_insured_or_paid_evenly_but_not_both(even):
    """Insuring a blackjack at 2:1 equals even money to the cent; with one deck neither is worth it."""
    rules = house(even_money_up_cards=even, hands_max=1)
    found = []
    for take in (policies.choose_highest_sum, policies.choose_lowest_sum):
        table = policies.StrategyCalculator(rules, (1,))
        result = table.evaluate(policies.choose_best, take)
        found.append(result)
    assert not found[0].insured_hands
    assert not found[0].even_money_up_cards
    assert found[1].even_money_up_cards <= even
    # worst: a blackjack's mean is 1 either way, and never insured below it
    node = policies.StrategyCalculator(rules, (1,)).rounds[0].tree[policies.PACKED_BLACKJACK]
    assert found[1].mean < found[0].mean
    assert Fraction(node.blackjack_ways, node.ordinary_ways + node.blackjack_ways) == Fraction(15, 49)


@pytest.mark.parametrize("line", ["hard 12", "firm 12 HHSSSHHHHH", "hard 12 HHSSSHHHH", "hard 12 HHSSSHHHHX"])
def test_an_invalid_line_of_a_chart_is_refused(line):
    with pytest.raises(ValueError, match="chart"):
        parse_chart([line])
