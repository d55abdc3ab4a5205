"""Hundreds of thousands of rounds of card games against the bank, from the rule texts, without code of the product.

Each game takes its decks and a generator. For each lot of rounds it yields, by bet, the cost and the result of each
round (returned credits less credits added in play), and the rounds settled under each name.
"""

import numpy as np

ROWS = 50_000
#: As near lie 99.9 % of honest simulations.
NEAR = 3.290527


def z_of(times, rounds, chance):
    """Return the normal deviate that is as improbable as this count under the binomial distribution."""
    # Imported here: it takes a second of every worker that only collects tests.
    from scipy.stats import binom, norm

    chance = float(chance)
    if times > rounds * chance:
        return float(norm.isf(binom.sf(times - 1, rounds, chance)))
    return float(norm.ppf(binom.cdf(times, rounds, chance)))


class Decks:
    """One shoe for each round; a card is 0-51 (ace, two, ... king; four suits each, the last two red)."""

    def __init__(self, pick, decks, ranks=range(13), rows=ROWS):
        cards = [4 * rank + suit for rank in ranks for suit in range(4)] * decks
        self.pick, self.left = pick, np.tile(np.array(cards, dtype=np.int8), (rows, 1))
        self.rows, self.dealt_count = np.arange(rows), 0

    def deal(self):
        """Deal a card of each shoe; each remaining card is equally likely."""
        other = self.pick.integers(self.dealt_count, self.left.shape[1], len(self.rows))
        card = self.left[self.rows, other].astype(np.int64)
        self.left[self.rows, other] = self.left[:, self.dealt_count]
        self.left[:, self.dealt_count] = card
        self.dealt_count += 1
        return card


def lots(pick, rounds, decks, ranks=range(13)):
    shoes = Decks(pick, decks, ranks, min(rounds, ROWS))
    for _ in range(rounds // len(shoes.rows)):
        shoes.dealt_count = 0
        yield shoes


def paid(cost, *cases, otherwise=0):
    """Return the first case that holds: its name, its rounds, and what comes back of ``cost``."""
    back, named, open_ = np.full(len(cases[0][1]), otherwise), {}, np.ones(len(cases[0][1]), dtype=bool)
    for name, where, credits_ in cases:
        here = open_ & where
        back[here], open_ = credits_, open_ & ~where
        named[name] = here
    return cost, back, named


# ------------------------------------------------------------------------------------------ baccarat
#: By the bank's two cards: whether it draws where the player stood, then at each third card of his.
DRAWS = {
    0: "TTTTTTTTTTT", 1: "TTTTTTTTTTT", 2: "TTTTTTTTTTT", 3: "TTTTTTTTTST", 4: "TSSTTTTTTSS",
    5: "TSSSSTTTTSS", 6: "SSSSSSSTTSS", 7: "SSSSSSSSSSS", 8: "SSSSSSSSSSS", 9: "SSSSSSSSSSS",
}  # fmt: skip
TABLE = np.array([[letter == "T" for letter in DRAWS[total]] for total in range(10)])


def worth(card):
    rank = card // 4 + 1
    return np.where(rank >= 10, 0, rank)


def baccarat(game, decks, pick, rounds):
    for shoes in lots(pick, rounds, decks):
        cards = [shoes.deal() for _ in range(6)]
        p1, b1, p2, b2, p3, b3 = map(worth, cards)
        player, bank = (p1 + p2) % 10, (b1 + b2) % 10
        over = np.maximum(player, bank) >= 8
        third = ~over & (player <= 5)
        banks = ~over & TABLE[bank, np.where(third, p3 + 1, 0)]
        p, b = (player + third * p3) % 10, (bank + banks * b3) % 10
        naturals = over & (player >= 8), over & (bank >= 8)
        yield dict(bets_of_baccarat(game, p, b, naturals, (third, banks), cards))


def bets_of_baccarat(game, p, b, naturals, third, cards):
    equal, bet_names, other_points = (
        p == b,
        ("player", "bank") if game == "quebec-baccarat" else ("punto", "banco"),
        None,
    )
    cost = {"quebec-baccarat": (10, 20), "monaco-punto-banco": (20, 20), "monaco-punto-2000": (10, 10)}[game]
    yield bet_names[0], paid(cost[0], ("won", p > b, 2 * cost[0]), ("push", equal, cost[0]))
    if game == "monaco-punto-2000":
        cases = [("won with six", (b > p) & (b == 6), 15), ("won", b > p, 20)]
    else:  # 5 % of the win, or of the stake, is one credit
        cases = [("won", b > p, 39)]
    yield bet_names[1], paid(cost[1], *cases, ("push", equal, cost[1]))
    stake = 2 if game == "quebec-baccarat" else 5
    yield "tie", paid(stake, ("won", equal, 9 * stake))
    if game == "quebec-baccarat":
        return
    for name, card_indices in (("punto-pair", (0, 2)), ("banco-pair", (1, 3))):
        yield name, paid(5, ("won", cards[card_indices[0]] // 4 == cards[card_indices[1]] // 4, 60))
    first, second = (cards[first] // 4 == cards[second] // 4 for first, second in ((0, 2), (1, 3)))
    yield "pairs", paid(10, ("two pairs", first & second, 120), ("one pair", first | second, 60))
    for n, (name, own_points, other_points) in enumerate((("punto", p, b), ("banco", b, p))):
        natural, won = naturals[n], (own_points > other_points) & ~naturals[n] & third[n]
        margins = [
            (f"by {n}", won & (own_points - other_points == n), 5 * (1 + pays)) for n, pays in DRAGON.items()
        ]
        own_rows = [
            ("natural", natural & (own_points > other_points), 10),
            ("push", natural & (own_points == other_points), 5),
        ]
        yield f"{name}-dragon", paid(5, *own_rows, *margins)


def chemin(decks, pick, rounds):
    """Play with a covered bank of twenty, less 5 % of what it wins; the player draws on five or less."""
    for shoes in lots(pick, rounds, decks):
        p1, b1, p2, b2, p3, b3 = (worth(shoes.deal()) for _ in range(6))
        player, bank = (p1 + p2) % 10, (b1 + b2) % 10
        over = np.maximum(player, bank) >= 8
        third = ~over & (player <= 5)
        banks = ~over & TABLE[bank, np.where(third, p3 + 1, 0)]
        p, b = (player + third * p3) % 10, (bank + banks * b3) % 10
        yield {
            "bank": paid(20, ("won", b > p, 39), ("push", b == p, 20)),
            "banco": paid(20, ("won", p > b, 40), ("push", b == p, 20)),
            "stake": paid(5, ("won", p > b, 10), ("push", b == p, 5)),
        }


def banque(decks, pick, rounds):
    """Play two hands that draw on five or less against a banker who draws if the table says so against either."""
    for shoes in lots(pick, rounds, decks):
        cards = [worth(shoes.deal()) for _ in range(9)]
        first, second, bank = ((cards[n] + cards[n + 3]) % 10 for n in range(3))
        draws, results = np.zeros(len(first), dtype=bool), []
        for hand, third in ((first, cards[6]), (second, cards[7])):
            draws |= TABLE[bank, np.where(hand <= 5, third + 1, 0)]
        ended = (bank + draws * cards[8]) % 10
        for hand, third in ((first, cards[6]), (second, cards[7])):
            results.append(np.sign((hand + (hand <= 5) * third) % 10 - ended))
        both = sum(results)
        yield {
            "tableau-1": paid(10, ("won", results[0] > 0, 20), ("push", results[0] == 0, 10)),
            "tableau-2": paid(10, ("won", results[1] > 0, 20), ("push", results[1] == 0, 10)),
            "a-cheval": paid(
                10,
                ("won", both == 2, 20),
                ("half won", both == 1, 15),
                ("push", both == 0, 10),
                ("half", both == -1, 5),
            ),
        }


DRAGON = {9: 20, 8: 8, 7: 7, 6: 4, 5: 3, 4: 1}


# ------------------------------------------------------------------------------------------ the others
def super_pan(decks, pick, rounds):
    """Deal three cards each, and one more on five or less, from eight decks without 7 to 10; no commission."""
    for shoes in lots(pick, rounds, decks, [0, 1, 2, 3, 4, 5, 10, 11, 12]):
        totals = []
        for _ in range(2):
            three = sum(worth(shoes.deal()) for _ in range(3)) % 10
            third_card = worth(shoes.deal())
            totals.append(np.where(three <= 5, (three + third_card) % 10, three))
        player, bank = totals
        yield {
            "stake": paid(20, ("won", player > bank, 39), ("push", player == bank, 20)),
            "bank": paid(20, ("won", bank > player, 40), ("push", player == bank, 20)),
        }


def red_dog(decks, pick, rounds):
    for shoes in lots(pick, rounds, decks):
        first, second, third = ((shoes.deal() // 4 - 1) % 13 for _ in range(3))  # the ace is high
        low, high = np.minimum(first, second), np.maximum(first, second)
        spread = high - low - 1
        between = (low < third) & (third < high)
        raised = spread >= 7
        pays = np.select([spread == 1, spread == 2, spread == 3], [5, 4, 3 - 1], 1)
        won = (spread > 0) & between
        back = np.where(
            spread == 0,
            1,
            np.where(spread == -1, np.where(third == low, 12, 1), won * (1 + pays)),
        )
        net = back + raised * np.where(won, 1, -1)
        named = {
            ("three of a rank", "ante", 12): (spread == -1) & (third == low),
            ("push", "ante", 1): (spread == 0) | ((spread == -1) & (third != low)),
            **{("won", "ante", 1 + n): won & (pays == n) for n in (5, 4, 2, 1)},
            ("won", "raise", 2): won & raised,
        }
        yield {"ante": (1, net, named)}


def war(decks, pick, rounds):
    """Play to war on every tie; three cards are burned before each of the two further cards."""
    for shoes in lots(pick, rounds, decks):
        players, banks = ((shoes.deal() // 4 - 1) % 13 for _ in range(2))
        dealt = [(shoes.deal() // 4 - 1) % 13 for _ in range(8)]
        second_card, other = dealt[3], dealt[7]
        tie = players == banks
        won, again_won, equal = players > banks, tie & (second_card > other), tie & (second_card == other)
        back = np.select([won, again_won, equal, tie], [4, 4 + 2 - 2, 4 + 4 - 2, -2], 0)
        named = {
            ("won", "main", 4): won | again_won | equal,
            ("push", "war", 2): again_won,
            ("won", "war", 4): equal,
        }
        yield {"main": (2, back, named), "tie": paid(1, ("won", tie, 11))}


def trente(decks, pick, rounds):
    """Deal two rows, black first, each beyond thirty; a refait returns half, or everything that is insured."""
    for shoes in lots(pick, rounds, decks):
        rows, first = [], None
        for _ in range(2):
            total = np.zeros(len(shoes.rows), dtype=np.int64)
            while (total <= 30).any():
                card = shoes.deal()
                first = card if first is None else first
                total = np.where(total <= 30, total + np.minimum(card // 4 + 1, 10), total)
            rows.append(total)
        black, red = rows
        equal, refait = (black == red) & (black > 31), (black == 31) & (red == 31)
        of_colour = (first % 4 >= 2) == (red < black)
        decided = black != red
        wins = {"inverse": ~of_colour, "black": black < red, "red": red < black, "colour": of_colour}
        yield {
            name + ("-insured" if insured else ""): bet_of_trente(decided & won, equal, refait, insured, name)
            for name, won in wins.items()
            for insured in (False, True)
        }


def bet_of_trente(won, equal, refait, insured, name):
    if not insured:
        return paid(20, ("won", won, 40), ("push", equal, 20), ("half", refait, 10))
    back = np.select([won, equal, refait], [200, 101, 100], 0)
    named = {
        ("won", name, 200): won,
        ("push", name, 100): equal,
        ("push", f"{name}-insured", 1): equal,
        ("insured", name, 100): refait,
    }
    return 101, back, named
