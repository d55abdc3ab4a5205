"""A second evaluator for the tests, written to be obvious: every stop of every reel, every line, every prize.

It reads the definition's TOML data, not the package's objects, and uses neither automata nor dynamic programming.
"""

import itertools
from collections import Counter
from fractions import Fraction
from math import prod


def fits(data, stage, want, symbol):
    """Return the multiplier that a symbol gives a cell that requires ``want``; 0 if the symbol does not fit."""
    exact = want.startswith("=")
    name = want.removeprefix("=")
    expected = data.get("groups", {}).get(name, [name])
    if symbol in expected:
        return factor_of(data, symbol) if stage.get("multiply_own") else 1
    if exact:
        return 0
    wild = next(s for s in data["symbol"] if s["id"] == symbol)
    every = [s["id"] for s in data["symbol"]]
    stands = every if "*" in wild.get("substitutes", []) else wild.get("substitutes", [])
    stands = [s for s in stands if s not in wild.get("not_for", [])]
    return factor_of(data, symbol) if any(s in expected for s in stands) else 0


def factor_of(data, symbol):
    return next(s for s in data["symbol"] if s["id"] == symbol).get("multiplier", 1)


def combine(rule, factors):
    big = [f for f in factors if f > 1]
    if rule == "add":
        return sum(big) or 1
    return max(big, default=1) if rule == "highest" else prod(big)


def runs_of(count, cells, direction):
    if direction == "anywhere":
        return list(itertools.combinations(range(cells), count))
    every = [tuple(range(i, i + count)) for i in range(cells - count + 1)]
    return {"left": every[:1], "right": every[-1:], "both": [every[0], every[-1]], "adjacent": every}[
        direction
    ]


def strips_of(stage):
    return [s.split() if isinstance(s, str) else s for s in stage["strips"]]


def window_of(stage, stops):
    window = []
    for strip, height, stop in zip(strips_of(stage), stage["heights"], stops, strict=True):
        column = [strip[(stop + i) % len(strip)] for i in range(height)]
        for symbol in stage.get("expand", []):
            if symbol in column:
                column = [symbol] * height
                break
        window.append(column)
    return window


def shown_of(stage, stops):
    """Return the window at the stops, before any symbol expands."""
    return window_of({**stage, "expand": []}, stops)


def cells_of(line):
    return [tuple(c) if isinstance(c, list | tuple) else (i, c) for i, c in enumerate(line)]


def columns(stage):
    """Return the columns that each reel can show."""
    found = []
    for x, weights in enumerate(stop_weights(stage)):
        stops = [[0] * x + [stop] + [0] * 9 for stop, weight in enumerate(weights) if weight]
        reels = len(stage["heights"])
        found.append([window_of(stage, row[:reels])[x] for row in stops])
    return found


def is_of_symbol(data, expected, symbol):
    """Return whether a symbol itself is what an element requires, and not a substitute."""
    name = expected.removeprefix("=")
    return symbol == name or symbol in data.get("groups", {}).get(name, [])


def needs_own(stage, pay):
    return pay.get("needs_own", stage.get("wilds_alone") == "own")


def winnable(data, stage, pay):
    """Return the line prize without the counts that no window can show; None if no count is left."""
    shown = columns(stage)
    lines = [cells_of(line) for line in stage["lines"]]

    def shows(wants):
        """With one symbol at least of the prize's own, which every prize must be able to show."""

        def can(line, alone):
            return all(
                any(
                    fits(data, stage, e, c[line[i][1]])
                    and (i != alone or is_of_symbol(data, e, c[line[i][1]]))
                    for c in shown[line[i][0]]
                )
                for i, e in wants
            )

        return any(can(line, alone) for line in lines for alone, _ in wants)

    if "pattern" in pay:
        return pay if shows([(i, e) for i, e in enumerate(pay["pattern"]) if e != "*"]) else None
    cells = len(lines[0])
    pays_left = {
        n: value
        for n, value in pay["pays"].items()
        if any(
            shows([(i, pay["of"]) for i in run])
            for run in runs_of(int(n), cells, pay.get("direction", "left"))
        )
    }
    return pay | {"pays": pays_left} if pays_left else None


def pay_line(data, stage, number, cells, window):
    """Return the best prize on line ``number``, group by group."""
    shown = [window[x][y] for x, y in cells]
    best = Counter()
    for pay in stage["pay"]:
        if pay.get("on", "line") != "line" or number not in pay.get("lines", [number]):
            continue
        options = []
        if "pattern" in pay:
            pattern = pay["pattern"].split() if isinstance(pay["pattern"], str) else pay["pattern"]
            options.append(([(i, e) for i, e in enumerate(pattern) if e != "*"], pay.get("pay", 0)))
        else:
            for count, credits_ in pay["pays"].items():
                runs = runs_of(int(count), len(cells), pay.get("direction", "left"))
                options += [([(i, pay["of"]) for i in run], credits_) for run in runs]
        for wants, credits_ in options:
            factors = [fits(data, stage, e, shown[i]) for i, e in wants]
            if needs_own(stage, pay) and not any(is_of_symbol(data, e, shown[i]) for i, e in wants):
                continue
            if all(factors):
                value = credits_ * combine(stage.get("wild_multipliers", "multiply"), factors)
                group = pay.get("group", "line")
                best[group] = max(best[group], value)
    return sum(best.values())


def pay_ways(data, stage, pay, window):
    counts = [sum(fits(data, stage, pay["of"], s) for s in column) for column in window]
    if pay.get("once_a_reel"):
        counts = [int(n > 0) for n in counts]
    total = 0
    table = {int(c): v for c, v in pay["pays"].items()}
    for direction in {"left": ["left"], "right": ["right"], "both": ["left", "right"]}[
        pay.get("direction", "left")
    ]:
        row = counts if direction == "left" else counts[::-1]
        length = 0
        while length < len(row) and row[length]:
            length += 1
        reached = [c for c in table if c <= length]
        if pay.get("direction") == "both" and direction == "right" and len(row) in reached:
            continue  # a prize of the whole row is the same win counted twice
        if reached:
            total += table[max(reached)] * prod(row[: max(reached)])
    return total


def pay_scatter(data, stage, pay, window, cost):
    counts = [sum(1 for s in column if fits(data, stage, pay["of"], s)) for column in window]
    shown = sum(min(n, 1) for n in counts) if pay.get("once_a_reel") else sum(counts)
    reached = [int(c) for c in pay["pays"] if int(c) <= shown]
    value = {int(c): v for c, v in pay["pays"].items()}[max(reached)] if reached else 0
    return value * (cost if pay.get("unit", "bet") == "bet" else 1), shown


def pay_window(data, stage, window, cost, shown=None):
    """Return what a window pays; ``shown`` is the window before symbols expanded, if it is different."""
    total = 0
    counted = window if shown is None or stage.get("scatters") == "after" else shown
    for number, line in enumerate(stage.get("lines", []), start=1):
        total += pay_line(data, stage, number, cells_of(line), window)
    for pay in stage["pay"]:
        if pay.get("on") == "ways":
            total += pay_ways(data, stage, pay, window)
        if pay.get("on") == "scatter":
            total += pay_scatter(data, stage, pay, counted, cost)[0]
    return total * stage.get("multiplier", 1)


def stop_weights(stage):
    """Return the weight of each stop in the top row."""
    strips = strips_of(stage)
    weights = stage.get("weights") or [[1] * len(s) for s in strips]
    lines = [cells_of(line) for line in stage.get("lines", [])]
    rows = [stage.get("weights_row", 0)] * len(strips)
    if (
        "weights_row" not in stage
        and len(lines) == 1
        and [x for x, _ in lines[0]] == list(range(len(strips)))
    ):
        rows = [y for _, y in lines[0]]
    return [
        [w[(stop + row) % len(w)] for stop in range(len(w))] for w, row in zip(weights, rows, strict=True)
    ]


def every_stop(stage):
    """Yield the stops of every window with their weight."""
    weights = stop_weights(stage)
    for stops in itertools.product(*(range(len(s)) for s in strips_of(stage))):
        weight = prod(weights[x][stop] for x, stop in enumerate(stops))
        if weight:
            yield weight, stops


def windows(stage):
    """Yield every window with its weight."""
    for weight, stops in every_stop(stage):
        yield weight, window_of(stage, stops)


def run_law(data, name="base", cost=1):
    """Return the distribution of one run: credits -> probability."""
    stage = data["stage"][name]
    law = Counter()
    for weight, stops in every_stop(stage):
        law[pay_window(data, stage, window_of(stage, stops), cost, shown_of(stage, stops))] += weight
    total = sum(law.values())
    return {win: Fraction(n, total) for win, n in law.items()}


def moments(law):
    mean = sum(p * w for w, p in law.items())
    return mean, sum(p * w * w for w, p in law.items()) - mean**2
