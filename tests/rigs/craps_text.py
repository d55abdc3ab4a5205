"""Craps settled by the numbers of its two rule texts, without any code of the product.

Québec: S-13.1, r. 3, s. 95.14 to 95.17. Monaco: arrêté 88-384, art. 6.3. A return includes the stake.
"""

import random
from fractions import Fraction

QUEBEC, MONACO = "quebec-craps", "monaco-craps"
POINTS = (4, 5, 6, 8, 9, 10)

#: Return of one credit on a single number, 95.15 (2) to (7). Bets on several numbers, 95.15 (8), (10) and (11), are
#: split equally between them.
ALONE = {2: 30 + 1, 3: 15 + 1, 7: 4 + 1, 11: 15 + 1, 12: 30 + 1}


def split_equally(*numbers):
    return {n: Fraction(ALONE[n], len(numbers)) for n in numbers}


FIELD = {3: 2, 4: 2, 9: 2, 10: 2, 11: 2, 2: 3, 12: 3}
ONE_THROW = {
    QUEBEC: {
        "field": FIELD,
        "any-seven": {7: 5},
        "eleven": {11: 16},
        "any-craps": dict.fromkeys((2, 3, 12), 8),
        "craps-2": {2: 31},
        "craps-3": {3: 16},
        "craps-12": {12: 31},
        "horn": split_equally(2, 3, 11, 12),
        "world": split_equally(2, 3, 7, 11, 12),
        "three-way": split_equally(2, 3, 12),
    },
    MONACO: {
        "field": FIELD,
        "seven": {7: 5},
        "eleven": {11: 15},
        "any-craps": dict.fromkeys((2, 3, 12), 8),
        "craps-2": {2: 30},
        "craps-3": {3: 15},
        "craps-12": {12: 30},
        "horn": {12: Fraction("7.5"), 2: Fraction("7.5"), 3: Fraction("3.75"), 11: Fraction("3.75")},
        "seven-eleven": {7: Fraction(5, 2), 11: Fraction("7.5")},
        "c-and-e": {2: 4, 3: 4, 12: 4, 11: Fraction("7.5")},
        "three-way": {3: 5, 2: 10, 12: 10},
        "high-low": {2: 16, 12: 16},
        "horn-high-11": {3: 3, 2: 6, 11: 6, 12: 6},
        "horn-high-3": {11: 3, 2: 6, 3: 6, 12: 6},
        "horn-high-12": {2: 6, 3: 3, 11: 3, 12: 12},
        "horn-high-2": {2: 12, 3: 3, 11: 3, 12: 6},
        "world": {7: 1, 3: 3, 11: 3, 2: 6, 12: 6},
    },
}
HARD = {4: 8, 10: 8, 6: 10, 8: 10}
TRUE = {
    4: Fraction(2),
    10: Fraction(2),
    5: Fraction(3, 2),
    9: Fraction(3, 2),
    6: Fraction(6, 5),
    8: Fraction(6, 5),
}
PLACE = {
    6: Fraction(7, 6),
    8: Fraction(7, 6),
    5: Fraction(7, 5),
    9: Fraction(7, 5),
    4: Fraction(9, 5),
    10: Fraction(9, 5),
}
#: Bets that are off on a come-out roll unless the player asks for them to be on.
OFF = {QUEBEC: ("hard", "odds-come", "right", "buy"), MONACO: ("odds-come", "place")}
#: Highest odds bet on each number, as a multiple of the line bet.
TIMES = {4: 3, 10: 3, 5: 4, 9: 4, 6: 5, 8: 5}
#: Lay bet on each number: the stake that wins 20 credits, and its commission of 1 credit.
LAY = {4: (40, 1), 10: (40, 1), 5: (30, 1), 9: (30, 1), 6: (24, 1), 8: (24, 1)}


def kind_and_number(spot):
    kind, _, last = spot.rpartition("-")
    named = {"craps", "horn-high", "hop"}
    if last.isdigit() and not (kind in named or kind.startswith("hop")):
        return kind, int(last)
    return spot, None


def find_smallest_stake(spot, point):
    """Return the smallest stake on a spot whose pay is a whole number of credits."""
    kind, number = kind_and_number(spot)
    number = number or point
    if kind in {"odds-pass", "odds-come"}:
        return {4: 1, 10: 1, 5: 2, 9: 2, 6: 5, 8: 5}[number]
    if kind in {"odds-dontpass", "odds-dontcome"}:
        return {4: 2, 10: 2, 5: 3, 9: 3, 6: 6, 8: 6}[number]
    if kind in {"right", "place"}:
        return 6 if number in {6, 8} else 5
    if kind == "buy":
        return 21
    if kind == "lay":
        return sum(LAY[number])
    return {"horn": 4, "world": 5, "three-way": 3, "seven-eleven": 2, "c-and-e": 2}.get(spot, 1)


def find_stake_unit(house, spot, point):
    """Return the unit of the stakes on a spot; Monaco's world and three-way bets accept any whole stake."""
    return 1 if house == MONACO and spot in {"world", "three-way"} else find_smallest_stake(spot, point)


RACES = {
    "pass": lambda n: (2, False),
    "come": lambda n: (2, False),
    "big": lambda n: (2, False),
    "dontpass": lambda n: (2, True),
    "dontcome": lambda n: (2, True),
    "odds-pass": lambda n: (1 + TRUE[n], False),
    "odds-come": lambda n: (1 + TRUE[n], False),
    "odds-dontpass": lambda n: (1 + 1 / TRUE[n], True),
    "odds-dontcome": lambda n: (1 + 1 / TRUE[n], True),
    "right": lambda n: (1 + PLACE[n], False),
    "place": lambda n: (1 + PLACE[n], False),
    "buy": lambda n: (Fraction(20, 21) * (1 + TRUE[n]), False),
    "lay": lambda n: (Fraction(LAY[n][0], sum(LAY[n])) * (1 + 1 / TRUE[n]), True),
    "hard": lambda n: (HARD[n], False),
}


def settle_first_throw(kind, credits_, total):
    """Return what a line or come bet pays on its first throw, the spot that it moves to, or None if it stays."""
    if total in POINTS:
        return f"{kind}-{total}" if kind.endswith("come") else None
    natural, craps = (2, 0) if kind in {"pass", "come"} else (0, 1 if total == 12 else 2)
    return credits_ * (natural if total in {7, 11} else craps)


def settle_number_bet(kind, number, credits_, a, b):
    """Return what a bet that is decided by its number or by 7 pays on a throw of one of the two."""
    brings, on_seven = RACES[kind](number)
    easy = kind == "hard" and a != b
    return credits_ * brings if (a + b == 7) == on_seven and not easy else 0


def settle_bet(house, spot, credits_, point, is_instructed, a, b):
    """Return what a throw pays on a bet, the spot that the bet moves to, or None if it stays."""
    total = a + b
    if spot in ONE_THROW[house]:
        return credits_ * ONE_THROW[house][spot].get(total, 0)
    if spot.startswith("hop-"):
        double, other = (31, 16) if house == QUEBEC else (30, 15)
        named = sorted((a, b)) == [int(die) for die in spot.split("-")[1:]]
        return credits_ * (double if a == b else other) * named
    kind, number = kind_and_number(spot)
    if number is None and kind.endswith("come"):
        waits = kind == "dontcome" and (is_instructed or point is None)
        return None if waits else settle_first_throw(kind, credits_, total)
    number = number or point
    if number is None:
        return settle_first_throw(kind, credits_, total)
    off = kind in OFF[house] and point is None and not is_instructed
    if off and kind == "odds-come" and total in {7, number}:
        return credits_
    return None if off or total not in {7, number} else settle_number_bet(kind, number, credits_, a, b)


def settle_throw(house, bets, point, instructed_spots, a, b):
    """Settle a throw; return the pay of each decided bet, the remaining bets and the next point.

    At a table of several seats, the point stays even if no bet remains, because others may throw for it.
    """
    given, bets_left = {}, {}
    for spot, credits_ in bets.items():
        found = settle_bet(house, spot, credits_, point, spot in instructed_spots, a, b)
        if isinstance(found, str):
            bets_left[found] = credits_
        elif found is None:
            bets_left[spot] = credits_
        else:
            given[spot] = found
    total = a + b
    after = (total if total in POINTS else None) if point is None else None if total in {7, point} else point
    return given, bets_left, after


def compute_take_down_return(spot, credits_):
    """Return the credits returned when a bet is taken down: the bet without its commission."""
    kind, number = kind_and_number(spot)
    if kind == "buy":
        return Fraction(20, 21) * credits_
    return Fraction(LAY[number][0], sum(LAY[number])) * credits_ if kind == "lay" else credits_


MOST = {
    "hard": 200, "craps-2": 100, "craps-3": 100, "craps-12": 100, "field": 1000, "odds-pass": 5000,
    "odds-come": 5000, "odds-dontpass": 6000, "odds-dontcome": 6000,
}  # fmt: skip


def find_bet_limit(house, spot):
    kind, _ = kind_and_number(spot)
    if kind in MOST:
        return MOST[kind]
    if spot.startswith("hop-"):
        return 50
    return 200 if spot in ONE_THROW[house] else 1000


def is_addition_refused(house, kind, number, point, stood):
    """Return whether no credits may be added to the bet."""
    return {
        "pass": point is not None and house == QUEBEC,
        "dontpass": point is not None,
        "come": point is None or number is not None,
        "dontcome": point is None or number is not None or stood > 0,
        "odds-pass": point is None,
        "odds-dontpass": point is None,
    }.get(kind, False)


def is_reduction_refused(house, spot, kind, stood, less):
    """Return whether ``less`` credits may not be removed from the bet."""
    never = kind in {"pass", "come"} or spot in ONE_THROW[house] or spot.startswith("hop-")
    return never or less > stood or (kind == "dontpass" and house == MONACO and stood - less < 1)


def apply_changes(house, point, bets, change):
    """Return the bets after the changes, or None if the rule texts or the limits refuse the changes."""
    after = dict(bets)
    for spot, credits_ in change.items():
        kind, number = kind_and_number(spot)
        stood = bets.get(spot, 0)
        no = (
            is_addition_refused(house, kind, number, point, stood)
            if credits_ > 0
            else is_reduction_refused(house, spot, kind, stood, -credits_)
        )
        if no:
            return None
        unit = find_stake_unit(house, spot, point)
        if credits_ % unit or stood + credits_ > find_bet_limit(house, spot) // unit * unit:
            return None
        after[spot] = stood + credits_
    after = {spot: credits_ for spot, credits_ in after.items() if credits_}
    for spot, credits_ in after.items():
        kind, number = kind_and_number(spot)
        if kind.startswith("odds-"):
            times = 6 if "dont" in kind else TIMES[number or point]
            if credits_ > times * after.get(spot.removeprefix("odds-"), 0):
                return None
    staked = any(credits_ > 0 for credits_ in change.values())
    unled = point is None and staked and not {"pass", "dontpass"} & set(after)
    return None if unled else after or None


def propose_changes(house, spots, point, bets, generator: random.Random):
    """Return random changes to the bets; the rules allow most of them."""
    change = {}
    if point is None and generator.random() < 0.9:
        change[generator.choice(("pass", "pass", "dontpass"))] = generator.randint(1, 30)
    for spot in bets:
        if generator.random() < 0.06:
            unit = find_stake_unit(house, spot, point)
            change[spot] = -unit * generator.randint(1, max(1, bets[spot] // unit))
    for line in bets:
        if line in {"pass", "dontpass"} or kind_and_number(line)[0] in {"come", "dontcome"}:
            odds = f"odds-{line}"
            if odds in spots and (point is not None or odds[-1].isdigit()) and generator.random() < 0.4:
                unit = find_stake_unit(house, odds, point)
                change.setdefault(odds, unit * generator.randint(1, 12))
    if point is not None and generator.random() < 0.5:
        change.setdefault(generator.choice(("come", "come", "dontcome", "pass")), generator.randint(1, 40))
    for spot in generator.sample(spots, generator.choice((0, 0, 1, 2, 5))):
        if not spot.startswith("odds-") or spot[-1].isdigit():
            change.setdefault(spot, find_stake_unit(house, spot, point) * generator.randint(1, 3))
    if change and generator.random() < 0.02:
        change[generator.choice(list(change))] += 1
    return {spot: credits_ for spot, credits_ in change.items() if credits_}
