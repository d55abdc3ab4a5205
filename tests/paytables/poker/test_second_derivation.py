"""A second derivation of games without published exact values: random deals, each by brute force.

Other code (:mod:`hands_numpy`) judges every hand of the bank, and every answer is valued from the words of the text.
The result must equal the proof's own table for that deal, to the last hand. If a share s of all deals were wrong
there, n random deals would all agree with a chance of at most exp(-s n); with a certainty of 99.9 % that share is
therefore below ln(1000) / n, and the mean is off by at most that times the span of a deal's best means. The deals are
the same on every machine.
"""

from functools import cache
from itertools import combinations, permutations
from math import log

import numpy as np
import pytest

import paytables
from paytables import load_game
from paytables.cards import parse_cards
from paytables.poker.community import HoldemSolver
from paytables.poker.table.solve import OneDecisionSolver
from paytables.poker.table.streets import build_street_bets
from tests.paytables.poker import hands_numpy as other

GAMES = paytables.definition.LIBRARY_FOLDER / "tables"


@cache
def every_hand(size, judge):
    """Return all hands of ``size`` cards as bits, and their scores."""
    masks, scores = [], []
    for top in range(size - 1, 52):
        hands = np.array(list(combinations(range(top), size - 1)), dtype=np.int8)
        hands = np.hstack([hands, np.full((len(hands), 1), top, dtype=np.int8)])
        for run in range(0, len(hands), 500_000):
            some = hands[run : run + 500_000]
            masks.append(np.bitwise_or.reduce(np.left_shift(np.int64(1), some.astype(np.int64)), axis=1))
            scores.append(judge(some.astype(np.int64)).astype(np.int32))
    return np.concatenate(masks), np.concatenate(scores)


def against(own_cards, up, size, judge, least):
    """Return how many of the bank's hands do not qualify, are weaker, equal and better."""
    masks, scores = every_hand(size, judge)
    free = masks & sum(1 << card for card in own_cards) == 0
    if up is not None:
        free &= masks >> up & 1 == 1
    theirs, own_score = scores[free], judge(np.array([own_cards]))[0]
    opens = theirs >= least
    return [
        int((~opens).sum()),
        *(
            int((opens & beats).sum())
            for beats in (theirs < own_score, theirs == own_score, theirs > own_score)
        ),
    ]


def caribbean(level, own_score):
    """Value a raise of twice the ante; if the bank qualifies, raises are paid by combination (s. 67.19)."""
    pays = {0: 1, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 7, 7: 20, 8: 100 if own_score % 14**6 == 9 else 50}[level]
    return {"raise": (1, 1 + 2 * pays, 0, -3), "fold": (-1, -1, -1, -1)}


def four(level, own_score):
    """Value a raise of one to three antes; three of a kind or better is always paid a bonus (s. 67.72)."""
    del own_score
    bonus = {5: 2, 6: 20, 7: 25}.get(level, 0)
    raises = {f"raise-{n}": (0, 1 + n + bonus, 1 + n + bonus, bonus - 1 - n) for n in (1, 2, 3)}
    return raises | {"fold": (-1, -1, -1, -1)}


def crazy(level, own_score):
    """Value a bet of one ante, or three with a pair of aces; the super bonus is paid by its table (s. 67.85)."""
    listed = {3: 1, 4: 3, 5: 2, 6: 15, 7: 200 if own_score % 14**6 == 12 else 30}.get(level)
    aces = level > 1 or (level == 1 and own_score % 14**6 // 14**4 == 13)
    found = {"fold": (-2, -2, -2, -2)}
    for n in (1, 2, 3) if aces else (1,):
        extra = 0 if listed is None else listed
        found[f"play-{n}"] = (n + extra, 1 + n + extra, extra, -1 - n + (-1 if listed is None else listed))
    return found


def boston(level, own_score):
    """Value both additional bets of two antes; the ante is paid by its table, or returned (s. 67.63)."""
    tens = level == 2 and own_score % 14**6 // 14**4 - 1 >= 8
    listed = {
        3: 5,
        4: 8,
        5: 15,
        6: 25,
        7: 100,
        8: 1000 if own_score % 14**6 == 9 else 200,
        2: 2 if tens else None,
    }
    ante = listed.get(level)
    extra = 0 if ante is None else ante
    return {"raise": (0, 4 + extra, extra, -4 + (-1 if ante is None else ante)), "fold": (-3, -3, -3, -3)}


#: The game, the bank's cards, the judge, the lowest qualifying hand, the value of the answers, the number of deals.
DUELS = {
    "quebec-caribbean-stud": (5, other.best_five, "As Kd 4h 3c 2s", caribbean, 1500),
    "quebec-four-card-poker": (6, other.best_four, None, four, 250),
    "quebec-crazy-four-poker": (5, other.best_four, "Ks 4d 3h 2c", crazy, 1500),
    "quebec-boston-poker": (5, other.best_five, None, boston, 1500),
}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", DUELS)
def test_deals_against_the_bank_have_the_same_figures_by_brute_force(name, seeded_draw):
    size, judge, opens, nets, deals = DUELS[name]
    stud = OneDecisionSolver(load_game(GAMES / f"{name}.toml").rules.definition)
    bank_hand_counts, choices, draw = (
        stud.count_bank_hands_by_comparison(),
        stud.list_solved_options(),
        seeded_draw(name),
    )
    least = 0 if opens is None else judge(np.array([parse_cards(opens)]))[0]
    known = stud.player.cards_by_set[stud.chosen]
    index_by_cards = {tuple(cards): n for n, cards in enumerate(known.tolist())}
    best = []
    for _ in range(deals):
        deck = list(range(52))
        cards = [deck.pop(draw.below(len(deck), "a card")) for _ in range(6)]
        for turn in permutations(range(4)):
            turned = [card // 4 * 4 + turn[card % 4] for card in cards]
            row = index_by_cards.get(tuple(sorted(turned[:5])))
            if row is not None:
                break
        up = turned[5] if stud.face_up_bank_card_count else None
        counts = against(sorted(turned[:5]), up, size, judge, least)
        assert bank_hand_counts[:, row, up or 0].tolist() == counts
        own_score = int(judge(known[row : row + 1].astype(np.int64))[0])
        means = {
            answer: sum(net * count for net, count in zip(figures, counts, strict=True)) * stud.unit
            for answer, figures in nets(int(other.level(own_score)), own_score).items()
        }
        ours = {
            choice.option.id: int((bank_hand_counts[:, row, up or 0] * choice.nets[:, row]).sum())
            for choice in choices
            if choice.offered_classes[row]
        }
        assert ours == means
        best.append(max(means.values()) / sum(counts) / stud.unit)
    assert log(1000) / deals < 0.03  # the share of deals that may be counted otherwise
    assert max(best) <= 1005


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_flops_of_casino_holdem_have_the_same_figures_by_brute_force(seeded_draw):
    """Ten hands at ten flops, with all 1,081 turns and rivers and 990 hands of the bank on each."""
    solver, draw = (
        HoldemSolver(build_street_bets(load_game(GAMES / "france-casino-holdem.toml").rules.definition)),
        None,
    )
    draw = seeded_draw("flops")
    for _ in range(10):
        n = draw.below(len(solver.cards), "a flop")
        flop = solver.cards[n].tolist()
        unseen_cards = [card for card in range(52) if card not in flop]
        low, high = sorted(unseen_cards.pop(draw.below(len(unseen_cards), "a card")) for _ in range(2))
        turns, sums = solver.sum_net_results(n)
        hole = high * (high - 1) // 2 + low
        found, sums_by_enumeration = np.zeros((52, 2), dtype=np.int64), np.zeros(2, dtype=np.int64)
        for turn, river in combinations(unseen_cards, 2):
            base, edge = _board([*flop, turn, river], low, high)
            sums_by_enumeration += (base, edge)
            for card in (turn, river):  # in halves of an ante: the turn's bet is one, the river's one more
                found[card] += (base + edge + max(0, edge), base + edge + min(0, edge))
        assert sums[hole].tolist() == sums_by_enumeration.tolist()
        assert turns[unseen_cards, hole].tolist() == found[unseen_cards].tolist()


def _board(shared, low, high):
    """Return the result without a raise, and the gain per half ante raised, over the bank's hands (art. 55-18-3)."""
    cards_left = [card for card in range(52) if card not in {*shared, low, high}]
    bank = np.array(list(combinations(cards_left, 2)))
    theirs = other.best_five(np.hstack([np.tile(shared, (len(bank), 1)), bank]))
    own_score = int(other.best_five(np.array([[*shared, low, high]]))[0])
    opens = other.level(theirs) > 0
    won, lost = int((opens & (theirs < own_score)).sum()), int((opens & (theirs > own_score)).sum())
    level = int(other.level(own_score))
    extra = {4: 2, 5: 3, 6: 6, 7: 20, 8: 1000 if own_score % 14**6 == 9 else 100}.get(level, 0)
    return 2 * int((~opens).sum()) + won * (2 + extra) - 4 * lost, won - lost
