"""The figures of blackjack tables: side bets against control values, the best play as data, a simulation."""

import math
import os
import random
from fractions import Fraction

import numpy as np
import pytest

from paytables import analyse, load_game
from paytables.analysis import AnalysisDepth
from paytables.blackjack import policies
from paytables.blackjack.advice import OPTION_NAMES, PackedStrategy
from paytables.blackjack.chart import find_best_chart, format_chart, parse_chart
from paytables.blackjack.figures import compute_side_bet_return, prove
from paytables.blackjack.hands import list_card_values
from paytables.blackjack.net_distribution import compute_net_distribution
from paytables.blackjack.schema import BlackjackSideBet
from paytables.blackjack.side_bet_chances import compute_row_chances
from tests.paytables.blackjack import blackjack_fast as fast
from tests.paytables.blackjack.test_blackjack_exact import house
from tools.lab.parsheet.features import build_feature_sheets
from tools.lab.simulation import compute_sample_variance, judge_frequency, judge_return, play_batch, simulate

TABLES = ("quebec-blackjack", "quebec-blackjack-options", "quebec-multi-action-blackjack", "monaco-blackjack")
#: These, and those that differ from one of them by their side bet.
CARRIED = (
    *TABLES,
    *(f"quebec-blackjack-progressive-{n}" for n in (1, 2, 3)),
    "monaco-blackjack-split-aces",
)


def definition(name, decks=None):
    loaded = load_game(name).rules.definition
    return (
        loaded
        if decks is None
        else loaded.model_copy(update={"shoe": loaded.shoe.model_copy(update={"deck_count": decks})})
    )


#: Bet, decks, the return in per cent to four decimals, as counted apart from this project.
CONTROLS = {
    ("quebec-blackjack-options", "twelve-sixteen", 6): "88.7954",
    ("quebec-blackjack-options", "over", 6): "93.4455",
    ("quebec-blackjack-options", "under", 6): "89.9332",
    ("quebec-blackjack-options", "sevens", 6): "88.6000",
    ("quebec-blackjack-options", "sevens", 8): "90.9922",
    ("quebec-blackjack-options", "sevens", 1): "60.1810",
    ("monaco-blackjack", "pairs", 6): "93.8907",
    ("monaco-blackjack", "pairs", 8): "95.9036",
    ("monaco-blackjack", "twenty-one-plus-three", 6): "96.7614",
    ("monaco-blackjack", "twenty-one-plus-three", 8): "97.2640",
}


@pytest.mark.parametrize("case", CONTROLS, ids=lambda case: f"{case[1]}, {case[2]} decks")
def test_side_bets_have_the_control_returns(case):
    name, bet, decks = case
    loaded = definition(name, decks)
    side = next(side for side in loaded.side_bets if side.id == bet)
    assert f"{float(100 * compute_side_bet_return(loaded, side)):.4f}" == CONTROLS[case]


def side(*rows):
    name = {"en": "x", "fr": "x"}
    return BlackjackSideBet.model_validate(
        {
            "id": "x",
            "name": name,
            "row": [{"id": f"row-{n}", "name": name, **row} for n, row in enumerate(rows)],
        }
    )


#: Québec by-law, s. 21.2: the three progressive tables, the rows that are no share of a pot at their dollars.
PROGRESSIVE = {
    1: [
        {"cards": 5, "ranks": ["A2345"], "suits": "same", "pays": "100%"},
        {"cards": 4, "ranks": ["2345"], "suits": "same", "pays": "4999:1"},
        {"cards": 3, "ranks": ["456"], "suits": "same", "pays": "499:1"},
        {"ranks": ["AJ"], "suits": "same", "pays": "49:1"},
        {"ranks": ["AT", "AQ", "AK"], "suits": "same", "pays": "9:1"},
        {"ranks": ["AA", "KK", "QQ", "JJ", "TT"], "pays": "2:1"},
        {"ranks": ["AT", "AJ", "AQ", "AK"], "pays": "1:1"},
    ],
    2: [
        {"cards": 4, "ranks": ["AAAA"], "suits": "colour", "pays": "100%"},
        {"cards": 3, "ranks": ["AAA"], "suits": "same", "pays": "2499:1"},
        {"cards": 3, "ranks": ["AAA"], "pays": "249:1"},
        {"ranks": ["AA"], "suits": "same", "pays": "99:1"},
        {"ranks": ["AA"], "pays": "24:1"},
    ],
    3: [
        {"cards": 5, "ranks": ["A2345"], "suits": "same", "pays": "100%"},
        {"cards": 4, "ranks": ["5555", "4444", "3333", "2222"], "suits": "colour", "pays": "10%"},
        {"cards": 3, "ranks": ["666", "555", "444", "333"], "suits": "same", "pays": "999:1"},
        {"cards": 3, "ranks": ["666", "555", "444", "333"], "pays": "249:1"},
        {"ranks": ["TT", "JJ", "QQ", "KK"], "suits": "same", "pays": "24:1"},
    ],
}  # fmt: skip


def perm(number, times):
    return number * perm(number - 1, times - 1) if times else 1


@pytest.mark.parametrize("decks", [1, 2, 6])
def test_progressive_rows_have_the_probabilities_of_their_formulas(decks):
    """Each row's probability is computed by falling factorials, less the higher rows."""
    cards, n = 52 * decks, decks
    first, second, third = (
        compute_row_chances(side(*PROGRESSIVE[table]), n, has_hole_card=False) for table in (1, 2, 3)
    )
    run = Fraction(120 * 4 * n**5, perm(cards, 5))
    assert first["row-0"] == third["row-0"] == run
    # a 2-3-4-5 in the first four, less those an ace follows
    assert first["row-1"] == Fraction(24 * 4 * n**4, perm(cards, 4)) * (1 - Fraction(n, cards - 4))
    assert first["row-2"] == Fraction(6 * 4 * n**3, perm(cards, 3))
    assert first["row-3"] == Fraction(2 * 4 * n * n, perm(cards, 2))
    assert first["row-6"] == Fraction(2 * (4 * n) * (16 * n) - 2 * 4 * 4 * n * n, perm(cards, 2))
    four = 2 * perm(2 * n, 4)
    assert second["row-0"] == Fraction(four, perm(cards, 4))
    suited = Fraction(4 * perm(n, 3), perm(cards, 3))
    after = Fraction(2 * n - 3, cards - 3) if decks > 1 else 0
    assert second["row-1"] == suited * (1 - after)
    every = Fraction(perm(4 * n, 3), perm(cards, 3))
    assert second["row-0"] + second["row-1"] + second["row-2"] == every
    assert sum(second.values()) == Fraction(perm(4 * n, 2), perm(cards, 2))
    assert third["row-1"] == Fraction(4 * four, perm(cards, 4))
    assert third["row-4"] == Fraction(4 * 4 * perm(n, 2), perm(cards, 2))


def test_a_hidden_blackjack_ends_the_round_before_a_third_card():
    """Counted separately: 7-7-7 and then two cards of the dealer, in all orders of one deck."""
    rows = side({"cards": 3, "ranks": ["777"], "pays": "500:1"}, {"ranks": ["77"], "pays": "50:1"})
    seen, hidden = (compute_row_chances(rows, 1, has_hole_card=hole) for hole in (False, True))
    assert seen["row-0"] == Fraction(24, 52 * 51 * 50)
    assert hidden["row-0"] == seen["row-0"] * (1 - Fraction(2 * 4 * 16, 49 * 48))
    assert sum(hidden.values()) == sum(seen.values()) == Fraction(12, 52 * 51)


def test_the_stored_best_strategy_has_the_mean_of_the_best_play():
    rules = house(
        hands_max=3,
        double_after_split=True,
        has_hole_card=False,
        sevens_odds=Fraction(3, 2),
        suited_678_odds=Fraction(2),
    )
    table, answers = policies.StrategyCalculator(rules, (7,)), {}
    best = table.evaluate(
        policies.build_recording_chooser(policies.choose_best, answers), policies.choose_highest_sum
    )
    data = PackedStrategy.pack_strategy(
        rules, answers, best.hand_count_by_pair, best.insured_hands, best.even_money_up_cards
    )

    def choose(kind, hand, suited, _options):
        return OPTION_NAMES.index(data.find_option(kind, list_card_values(hand), is_suited=suited))

    def take(situation, sums):
        into = (
            data.count_split_hands(situation.up_card_value, list_card_values(situation.hand)[0])
            if situation.kind == "split"
            else 0
        )
        return min(into, len(sums)) - 1 if into else 0

    repeated = table.evaluate(choose, take)
    assert (repeated.mean, repeated.mean_staked) == (best.mean, best.mean_staked)
    suits = [
        answers[question] != answers[question[0], question[1], False] for question in answers if question[2]
    ]
    assert not all(suits)  # a suit changes no more than it must


@pytest.mark.parametrize("name", TABLES)
def test_a_table_definition_stores_its_figures_and_its_chart(name):
    game = load_game(name)
    proof = game.rules.definition.proved["main"]
    assert format_chart(parse_chart(proof.chart)) == proof.chart
    means = [
        Fraction(mean)
        for mean in (proof.worst_mean, proof.dealer_rule_mean, proof.chart_mean, proof.best_mean)
    ]
    assert means == sorted(means)
    analysis = analyse(game, AnalysisDepth.FULL)
    for bet in analysis.bets:
        if bet.required_bets:  # a side bet by itself, which no play of the hand makes better
            assert bet.worst_rtp <= bet.simplest_rtp == bet.rtp < 1
        elif bet.bet == "back":  # only another player plays it
            assert bet.worst_rtp < bet.rtp < 1
            assert bet.distribution.compute_moment(1) == bet.rtp * bet.cost_credits
        else:
            assert bet.worst_rtp < bet.simplest_rtp < bet.rtp < 1
        laid = {**bet.required_bets, **bet.options["bets"]}
        assert game.build_wager(sum(laid.values()), bets=laid).credits == sum(laid.values())
    (sheet,) = build_feature_sheets(game, analysis)
    assert [row[0] for row in sheet["rows"][:2]] == ["hard 4", "hard 5"]
    assert all(len(row) == len(sheet["columns"]) == 11 for row in sheet["rows"])


@pytest.mark.parametrize("up", [3, 9])
def test_a_printed_chart_has_the_return_that_is_stated_for_it(up):
    """Twos are split three ways only against some dealer's cards; the printed chart must cover the others too."""
    table = policies.StrategyCalculator(
        house(
            deck_count=6, has_hole_card=False, original_bets_only=False, hands_max=3, double_after_split=True
        ),
        (up,),
    )
    chart = find_best_chart(table)
    printed = parse_chart(format_chart(chart))
    stated_return, chart_return = (
        table.evaluate(rule_chart.build_chooser(table), rule_chart.decide_offer).mean
        for rule_chart in (chart, printed)
    )
    assert stated_return == chart_return
    assert (up, (False, 4)) in printed.decision_by_situation


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_a_stored_chart_has_the_return_that_is_stored_with_it(name):
    loaded = definition(name)
    table, chart = (
        policies.StrategyCalculator(loaded.analysed_house_rules),
        parse_chart(loaded.proved["main"].chart),
    )
    assert table.evaluate(chart.build_chooser(table), chart.decide_offer).mean == Fraction(
        loaded.proved["main"].chart_mean
    )


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("name", CARRIED)
def test_the_stored_figures_equal_newly_computed_ones(name):
    game = load_game(name)
    assert game.rules.definition.proved == prove(game.rules.definition)


class _Draw:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def below(self, bound, _purpose):
        return self.random.randrange(bound)


@pytest.mark.parametrize("name", ["quebec-blackjack-options", "monaco-blackjack"])
def test_a_simulation_by_advice_agrees_with_the_figures(name):
    """A few rounds in the quick test, many in the slow one."""
    game = load_game(name)
    bet = analyse(game).bets[0]
    tally = play_batch(game, bet.cost_credits, bet.options, 500, _Draw(20261123))
    assert judge_return(tally, bet.cost_credits, bet.rtp, compute_sample_variance(tally)).agrees_with_exact


#: The rules of a table, from the texts, for the compiled simulation: decks, hit soft 17, only the first stake lost to a
#: blackjack, totals that may be doubled, double after a split, most hands (and of aces), half stakes won at once, and
#: number of hands that the dealer plays from one first card.
TEXTS = {
    "quebec-blackjack": (6, True, True, range(9, 12), False, (2, 2), (0, 0), 1),
    "quebec-blackjack-options": (8, False, True, range(2, 21), True, (4, 2), (3, 4), 1),
    "quebec-multi-action-blackjack": (6, True, True, range(9, 12), False, (2, 2), (0, 0), 3),
    "monaco-blackjack": (6, False, False, range(2, 22), True, (3, 2), (0, 0), 1),
}


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("name", TEXTS)
def test_ten_million_rounds_by_the_chart_agree_with_its_return_and_distribution(name):
    """The rounds are compiled, without code of the product; 99.9 % of honest samples are as close."""
    decks, h17, first_only, doubled, das, most, at_once, banks = TEXTS[name]
    loaded, rounds = definition(name), 10_000_000
    chart = loaded.proved["main"].chart
    totals = np.isin(np.arange(22), list(doubled))
    found = fast.play(
        rounds, 20261123, decks, h17, first_only, totals, das, most, at_once, *fast.chart_of(chart), banks
    )
    halves = np.arange(-64, 65)
    for nets in found:
        mean = float((nets * halves).sum()) / rounds / 2
        deviation = math.sqrt((float((nets * halves**2).sum()) / rounds / 4 - mean**2) / rounds)
        assert abs(mean - float(Fraction(loaded.proved["main"].chart_mean))) <= 3.2905 * deviation
    if loaded.analysed_house_rules.hands_max > 2:
        return
    table, answers, played = policies.StrategyCalculator(loaded.analysed_house_rules), {}, parse_chart(chart)
    result = table.evaluate(
        policies.build_recording_chooser(played.build_chooser(table), answers), played.decide_offer
    )
    chances = compute_net_distribution(table, answers, result)
    assert sum(net * chance for net, chance in chances.items()) == result.mean
    for nets in found:
        assert {Fraction(n - 64, 2) for n in np.flatnonzero(nets).tolist()} == set(chances)
        for net, chance in chances.items():
            assert judge_frequency(int(nets[64 + int(2 * net)]), rounds, chance).agrees_with_exact, net


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("name", TABLES)
def test_rounds_by_advice_agree_with_the_figures(name):
    """The cabinet's own rounds; with a stop card, they are compared with rounds of such shoes."""
    bet, loaded = analyse(load_game(name)).bets[0], definition(name)
    rtp = (
        bet.rtp
        if loaded.shoe.cards_behind_stop_card is None
        else 1 + loaded.proved["main"].simulated_rounds.compute_mean(1)
    )
    *_, tally = simulate(name, bet.cost_credits, bet.options, 200_000, os.cpu_count() or 1)
    verdict = judge_return(tally, bet.cost_credits, rtp, compute_sample_variance(tally))
    assert verdict.agrees_with_exact, verdict
