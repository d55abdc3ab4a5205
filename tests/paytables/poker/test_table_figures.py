"""Exact figures of poker against the bank: control values, published values, and independently counted states."""

import json
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

import paytables
from paytables import AnalysisDepth, BeyondExactAnalysisError, analyse, build_game, load_game
from paytables.cards import parse_cards
from paytables.poker.community import HoldemSolver
from paytables.poker.table import figures
from paytables.poker.table.rules import SeatRound
from paytables.poker.table.solve import OneDecisionSolver, solve_independent_bet
from paytables.poker.table.streets import build_street_bets
from tests.paytables.poker import hands_numpy as other

GAMES = paytables.definition.LIBRARY_FOLDER / "tables"


def load(name):
    return load_game(GAMES / f"{name}.toml")


def bet(name, which):
    return next(b for b in analyse(load(name), AnalysisDepth.PRIZES).bets if b.bet == which)


#: games.md, section 6: returns in percent of the bet, or of the first stake.
CONTROL = [
    ("quebec-three-card-poker", "pair-plus", "97.6833"),
    ("quebec-boston-poker", "bonus", "97.6833"),
    ("quebec-poker-3-5-7", "three", "96.5068"),
    ("quebec-poker-3-5-7", "five", "95.8762"),
    ("quebec-poker-3-5-7", "seven", "96.7338"),
    ("quebec-four-card-poker", "aces-up", "88.3002"),
    ("quebec-crazy-four-poker", "queens-up", "92.4256"),
    ("quebec-let-it-ride", "side", "44.6948"),
    ("france-casino-holdem", "bonus", "93.8192"),
]


@pytest.mark.parametrize(("name", "which", "percent"), CONTROL)
def test_poker_tables_have_the_control_returns(name, which, percent):
    assert f"{float(bet(name, which).rtp) * 100:.4f}" == percent


def test_three_card_poker_is_the_published_fraction():
    """-3.3730 % of the ante, 97.9853 % of all staked; by playing as the bank opens, 96.55 % (wizardofodds.com)."""
    found = bet("quebec-three-card-poker", "main")
    assert found.rtp - 1 == Fraction(-686689, 20358520)
    assert f"{float(found.rtp_of_all_staked) * 100:.4f}" == "97.9853"
    assert f"{float(found.simplest_rtp - 1) * 100:.2f}" == "-3.45"


def test_let_it_ride_is_the_published_fraction():
    """-3.5057 % of one bet (games.md; wizardofodds.com 3.51 %)."""
    found = bet("quebec-let-it-ride", "main")
    assert f"{float(found.rtp - 1) * 300:.4f}" == "-3.5057"


def test_never_withdrawing_at_seven_cards():
    assert f"{float(bet('quebec-poker-3-5-7', 'seven').simplest_rtp) * 100:.4f}" == "96.7205"


def test_a_bet_on_seven_cards_has_no_figures_if_it_is_taken_back_after_other_than_three_cards():
    data = json.loads(load("quebec-poker-3-5-7").text)
    data["step"][1:3] = data["step"][2:0:-1]  # two shared cards are dealt before the question
    definition = build_game({**data, "proved": {}}, "changed.toml").rules.definition
    with pytest.raises(
        BeyondExactAnalysisError, match="no exact figures for a bet on 7 cards that may be taken back after 5"
    ):
        solve_independent_bet(definition, definition.spot_by_id["seven"])


def test_caribbean_stud_is_the_published_return():
    """-5.224 % of the ante (wizardofodds.com 5.2243 %; Griffin and Gwynn 2000 have 5.224 %)."""
    found = bet("quebec-caribbean-stud", "main")
    assert found.rtp - 1 == Fraction(-142031221, 2718662100)
    assert f"{float(found.rtp - 1) * 100:.4f}" == "-5.2243"


def test_four_card_poker_is_the_published_return():
    """2.79 % of the ante for the bank (wizardofodds.com, the pay table 2-20-25)."""
    assert f"{float(bet('quebec-four-card-poker', 'main').rtp - 1) * 100:.2f}" == "-2.79"


def test_crazy_four_at_the_flush_the_text_prints_is_the_players():
    """By-law, s. 67.85: a flush pays three to one, more than three of a kind. The published strategy raises K-Q-8-4."""
    found = bet("quebec-crazy-four-poker", "main")
    assert (found.rtp - 1) * 2 == Fraction(123472171, 3863029170)
    assert found.simplest_rtp <= found.rtp


def test_the_simplest_strategy_has_the_stated_return():
    """Of the ante or of one of three bets: Let It Ride with only winning hands, Caribbean Stud with any pair."""
    costs = {
        "quebec-let-it-ride": (3, "-5.2797"),
        "quebec-caribbean-stud": (1, "-5.4696"),
        "quebec-three-card-poker": (1, "-3.4491"),
        "quebec-four-card-poker": (1, "-3.5433"),
        "quebec-boston-poker": (3, "-20.6342"),
    }
    for name, (bets, percent) in costs.items():
        assert f"{float(bet(name, 'main').simplest_rtp - 1) * bets * 100:.4f}" == percent
    boston = bet("quebec-boston-poker", "main")
    assert boston.simplest_rtp == boston.rtp


@pytest.mark.slow
def test_crazy_four_with_the_usual_flush_is_the_published_return(tmp_path):
    """If the flush pays three to two, the bank has 3.42 % of the ante (wizardofodds.com, pay table 1)."""
    text = (GAMES / "quebec-crazy-four-poker.toml").read_text().split("[proved", maxsplit=1)[0]
    first, super_bonus_text = text.split('id = "super-bonus"', maxsplit=1)
    super_bonus_text = super_bonus_text.replace('pays = "3:1"', 'pays = "3:2"', 1)
    super_bonus_text = super_bonus_text.replace(
        "limits = { least = 1, most = 500, step = 1 }", "limits = { least = 2, most = 500, step = 2 }", 1
    )
    first = first.replace(
        "limits = { least = 1, most = 500, step = 1 }", "limits = { least = 2, most = 500, step = 2 }", 1
    )
    text = (first + 'id = "super-bonus"' + super_bonus_text).replace(
        "ante = 1, super-bonus = 1", "ante = 2, super-bonus = 2"
    )
    (tmp_path / "usual.toml").write_text(text)
    proof = OneDecisionSolver(load_game(tmp_path / "usual.toml").rules.definition).build_figures()
    mean = sum(Fraction(net) * Fraction(rate) for net, rate in proof.net_probabilities.items())
    assert f"{float(mean) * 100:.2f}" == "-3.42"


@pytest.mark.parametrize(
    "name", [path.stem for path in sorted(GAMES.glob("*.toml")) if 'family = "poker"' in path.read_text()]
)
def test_stored_distributions_add_up_to_one_and_agree_with_the_stakes(name):
    """Chances add to one, the lowest net is the loss of the highest stake, and returns exceed the worst one."""
    for found in analyse(load(name), AnalysisDepth.PRIZES).bets:
        assert sum(found.distribution.case_count_by_win.values()) == found.distribution.case_count
        assert found.worst_rtp <= found.rtp
        if found.simplest_rtp is not None:
            assert found.worst_rtp <= found.simplest_rtp <= found.rtp
        assert found.mean_staked_credits >= found.cost_credits


@pytest.mark.parametrize(
    "name",
    [
        "quebec-three-card-poker",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (
                "quebec-let-it-ride",
                "quebec-caribbean-stud",
                "quebec-poker-3-5-7",
                "quebec-boston-poker",
                "quebec-four-card-poker",
                "quebec-crazy-four-poker",
            )
        ),
    ],
)
def test_the_stored_figures_equal_newly_computed_figures(name):
    definition = load(name).rules.definition
    assert figures.prove(definition) == definition.proved


def test_bets_laid_together_add_their_returns():
    game = load("quebec-three-card-poker")
    found = game.rules.analyse_wager(game.build_wager(3, bets={"ante": 1, "pair-plus": 2}))
    parts = {b.bet: b for b in analyse(game, AnalysisDepth.PRIZES).bets}
    assert found.rtp * 3 == parts["main"].rtp + 2 * parts["pair-plus"].rtp
    assert found.mean_staked_credits == parts["main"].mean_staked_credits + 2


def hands(cards, taken):
    """Return every set of ``cards`` cards without those taken, as rows."""
    unseen_cards = np.array([card for card in range(52) if card not in taken])
    return unseen_cards[np.array(list(combinations(range(len(unseen_cards)), cards)))]


#: Game, the player's cards, the card shown: the bank's hands counted by ranks and suits, one by one.
STATES = [
    ("quebec-caribbean-stud", "As Kd Jh 8c 3s", "Kc", other.best_five),
    ("quebec-caribbean-stud", "5s 5d 9h Qc 2s", "9c", other.best_five),
    ("quebec-caribbean-stud", "Ts 9s 8s 7s 2d", "As", other.best_five),
    ("quebec-four-card-poker", "3s 3d 9h Qc 7s", "2h", other.best_four),
    ("quebec-crazy-four-poker", "Ks Qd 8h 4c 2s", "", other.best_four),
    ("quebec-boston-poker", "Ts Td 4h 4c 9s", "", other.best_five),
]


@pytest.fixture(scope="module")
def studs():
    studs_by_name = {}

    def of(name):
        if name not in studs_by_name:
            studs_by_name.clear()
            stud = OneDecisionSolver(load(name).rules.definition)
            studs_by_name[name] = stud, stud.count_bank_hands_by_comparison()
        return studs_by_name[name]

    return of


@pytest.mark.slow
@pytest.mark.parametrize(("name", "own_text", "shown", "judge"), STATES)
def test_the_count_of_the_banks_hands_equals_a_count_one_by_one(name, own_text, shown, judge, studs):
    stud, bank_hand_counts = studs(name)
    own_cards, up = parse_cards(own_text), parse_cards(shown)
    for turn in [
        (a, b, c, 6 - a - b - c) for a in range(4) for b in range(4) for c in range(4) if len({a, b, c}) == 3
    ]:
        cards = sorted(card // 4 * 4 + turn[card % 4] for card in own_cards)
        rows = (stud.player_hands.cards_by_set[stud.class_hands] == cards).all(axis=1)
        if rows.any():
            seen = [card // 4 * 4 + turn[card % 4] for card in up]
            break
    row = int(np.flatnonzero(rows)[0])
    bank = hands(stud.duel.bank_card_count - len(seen), [*cards, *seen])
    bank = np.hstack([bank, np.tile(seen, (len(bank), 1)).astype(np.int64)])
    theirs = judge(bank)
    ours = judge(np.array([cards]))[0]
    least = (
        0
        if stud.duel.lowest_qualifying_hand is None
        else judge(np.array([parse_cards(stud.duel.lowest_qualifying_hand)]))[0]
    )
    counted = [
        int((theirs < least).sum()),
        int(((theirs >= least) & (theirs < ours)).sum()),
        int(((theirs >= least) & (theirs == ours)).sum()),
        int(((theirs >= least) & (theirs > ours)).sum()),
    ]
    assert bank_hand_counts[:, row, seen[0] if seen else 0].tolist() == counted
    assert sum(counted) == comb(52 - 5 - len(seen), stud.duel.bank_card_count - len(seen))


@pytest.fixture(scope="module")
def flop():
    solver = HoldemSolver(build_street_bets(load("france-casino-holdem").rules.definition))
    n = next(n for n, row in enumerate(solver.flop_cards.tolist()) if row[0] // 4 == 2 and row[2] // 4 == 10)
    turns, sums = solver.sum_net_results(n)
    return solver.flop_cards[n].tolist(), turns, sums


@pytest.mark.parametrize(
    ("hole", "turn"),
    [
        ((51, 38), 27),
        pytest.param((8, 11), 50, marks=pytest.mark.slow),
        pytest.param((14, 12), 40, marks=pytest.mark.slow),
    ],
)
def test_the_mean_after_the_turn_equals_a_direct_count(hole, turn, flop):
    """All 46 rivers and 990 hands of the bank, judged independently; the river bet is made if it gains."""
    board, turns, _ = flop
    a, b = sorted(hole)
    assert len({*board, *hole, turn}) == 6
    best = worst = 0
    for river in range(52):
        if river in {*board, *hole, turn}:
            continue
        shared = [*board, turn, river]
        own_score = other.best_five(np.array([[*shared, a, b]]))[0]
        bank = hands(2, [*shared, a, b])
        theirs = other.best_five(np.hstack([np.tile(shared, (len(bank), 1)), bank]))
        opens = other.level(theirs) > 0
        won, lost = int((opens & (theirs < own_score)).sum()), int((opens & (theirs > own_score)).sum())
        closed = int((~opens).sum())
        # In halves of an ante: ante and super ante 2 each, bets 1 each; below a straight the super ante pushes.
        kind = other.level(own_score)
        extra = {4: 2, 5: 3, 6: 6, 7: 20}.get(int(kind), 0) if kind < 8 else 100
        results = [2 * closed + won * (2 + bets + extra) - lost * (4 + bets) for bets in (1, 2)]
        best, worst = best + max(results), worst + min(results)
    pair_index = b * (b - 1) // 2 + a
    assert turns[turn, pair_index].tolist() == [best, worst]


@pytest.mark.slow
def test_the_turn_is_advised_as_the_solver_decides_it(flop, seeded_draw):
    """Computed one by one at the table, and for all at once; half of the hands should fold, which is rare."""
    rules, draw = load("france-casino-holdem").rules, seeded_draw("turns")
    board, turns, _ = flop
    step = next(step for step in rules.definition.steps if step.decision_name == "turn")
    folded, states = -4 * 46 * 990, [(t, a, b) for b in range(52) for a in range(b) for t in range(52)]
    states = [state for state in states if len({*state, *board}) == 6]
    folds = [(t, a, b) for t, a, b in states if turns[t, b * (b - 1) // 2 + a, 0] <= folded]
    for n in range(300):
        some = folds if n % 2 else states
        turn, low, high = some[draw.below(len(some), "a state")]
        seat_round = SeatRound(0, {"ante": 2, "super-ante": 2}, [low, high])
        advised_option = rules.build_advice(step, seat_round, [], [*board, turn])["advice"]
        assert advised_option == ("fold" if (turn, low, high) in folds else "bet")


@pytest.mark.slow
def test_the_stored_figures_of_casino_holdem_equal_newly_computed_ones():
    """The test takes about three minutes on two cores."""
    from concurrent.futures import ThreadPoolExecutor

    definition = load("france-casino-holdem").rules.definition
    with ThreadPoolExecutor(2) as pool:
        assert figures.prove(definition, pool.map) == definition.proved


def test_casino_holdem_has_the_recorded_figures():
    """No exact value is published; the return is -7.1206 % of the ante and -2.1759 % of all stakes."""
    found = bet("france-casino-holdem", "main")
    assert (found.rtp - 1) * 2 == Fraction(-99024899123, 1390690501200)
    assert found.distribution.compute_moment(1) == found.rtp * found.cost_credits
