"""A simple, independent Keno evaluator: every draw of the field one by one, and every way counted.

It knows the definition as plain data and shares no code with the package.
"""

from fractions import Fraction
from itertools import combinations, permutations, product


def definition(**changes):
    """Return a small, valid definition as plain data; ``changes`` replace its tables."""
    text = {"en": "text", "fr": "texte"}
    data = {
        "game": {
            "id": "tiny-keno",
            "family": "keno",
            "version": "1.0.0",
            "date": "2026-01-01",
            "title": text,
            "help": text,
            "denominations_cents": [5],
        },
        "field": {"numbers": 9, "drawn": 3, "columns": 3},
        "marks": {"stakes": [1, 2, 5], "selections": 6, "groups": 6, "draws": 3},
        "table": [
            {"spots": 1, "pays": {"1": 2}},
            {"spots": 2, "pays": {"1": 1, "2": 5}},
            {"spots": 3, "pays": {"0": 1, "2": 2, "3": 30}},
            {"spots": 4, "pays": {"2": 2, "3": 9}},
        ],
        "form": [{"id": "one", "name": text, "spots": 3}],
    }
    return {**data, **changes}


def ways_of(selection):
    """Return every way of a selection with its stake: the numbers of each set of groups with the required spots."""
    for spots, stake in selection["stakes"].items():
        groups = selection["groups"]
        for size in range(1, len(groups) + 1):
            for some in combinations(groups, size):
                numbers = [n for group in some for n in group]
                if len(numbers) == int(spots):
                    yield set(numbers), stake


def one_draw(data, selections, bought, balls, factor):
    """Return what one ordered draw pays: credits, and the levels won."""
    pays = {t["spots"]: {int(c): p for c, p in t["pays"].items()} for t in data["table"]}
    won, levels = 0, set()
    for selection in selections:
        for numbers, stake in ways_of(selection):
            catch = len(numbers & set(balls))
            pay = stake * pays[len(numbers)].get(catch, 0) * factor
            for bonus in data.get("bonus", []):
                in_force = not bonus.get("fee") or bonus["id"] in bought
                if bonus["kind"] == "ball" and in_force and balls[bonus["ball"] - 1] in numbers:
                    pay *= bonus["factor"]
            won += pay
            levels |= {
                p["id"]
                for p in data.get("progressive", [])
                if (p["spots"], p["catch"]) == (len(numbers), catch) and stake >= p.get("stake", 1)
            }
    return min(won, data.get("limit", {}).get("credits", won)), frozenset(levels)


def law_of_ticket(data, selections, bought=()):
    """Return the distribution of (credits, levels) of one draw over every draw, in order if order matters."""
    field = range(1, data["field"]["numbers"] + 1)
    ordered = any(b["kind"] == "ball" for b in data.get("bonus", []))
    every = (permutations if ordered else combinations)(field, data["field"]["drawn"])
    tables = [
        list(b["weights"].items())
        for b in data.get("bonus", [])
        if b["kind"] == "multiplier" and (not b.get("fee") or b["id"] in bought)
    ]
    law, total = {}, 0
    for balls in every:
        for row in product(*tables):
            weight, factor = 1, 1
            for value, count in row:
                weight, factor = weight * count, factor * int(value)
            won = one_draw(data, selections, bought, balls, factor)
            law[won] = law.get(won, 0) + weight
            total += weight
    return {won: Fraction(count, total) for won, count in law.items()}


def mix(data, sizes_and_stakes, bought=()):
    """Return the distribution of quick picks over all equally likely choices of numbers, by brute force."""
    field = range(1, data["field"]["numbers"] + 1)
    every = [[(some, stake) for some in combinations(field, size)] for size, stake in sizes_and_stakes]
    law, count = {}, 0
    for chosen in product(*every):
        selections = [{"groups": [list(some)], "stakes": {len(some): stake}} for some, stake in chosen]
        for won, p in law_of_ticket(data, selections, bought).items():
            law[won] = law.get(won, 0) + p
        count += 1
    return {won: p / count for won, p in law.items()}
