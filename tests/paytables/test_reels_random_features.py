"""Random features: exact against the tree of every draw, or against a reference written for the feature."""

import itertools
from collections import Counter
from fractions import Fraction
from functools import cache
from math import prod

import paytables_brute as brute
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from paytables_trees import TooManyOutcomesError, definition, moments_match

from paytables import DefinitionError, analyse, build_game
from tests.rigs.examples import scale_examples

TINY = settings(
    max_examples=scale_examples(50), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
STRIP = st.lists(st.sampled_from(["a", "b", "s", "w"]), min_size=1, max_size=2).map(" ".join)
ODDS = st.sampled_from([[1, 2], [1, 3], [2, 3]])


@st.composite
def award(draw, later):
    kind = draw(st.sampled_from(later))
    return {"stage": kind, "times": draw(st.integers(1, 2))}


@st.composite
def reels(draw, name, later):
    """Return a stage of two reels whose scatter or line prize may award runs of itself (capped) or of a later stage."""
    of = draw(st.sampled_from("ab"))
    pays = [{"of": of, "pays": {draw(st.integers(1, 2)): draw(st.integers(1, 5))}}]
    stage = {
        "heights": [1, 1],
        "lines": [[0, 0]],
        "strips": [f"s {of} {draw(STRIP)}", f"s {of} {draw(STRIP)}"],
        "pay": pays,
    }
    if draw(st.booleans()):
        stage["weights"] = [[draw(st.integers(1, 3)) for _ in strip.split()] for strip in stage["strips"]]
    gives = [draw(award(later))] if later and draw(st.booleans()) else []
    if name != "base":
        if draw(st.booleans()):
            gives.append({"stage": name, "times": 1})
            stage["most_runs"] = draw(st.integers(1, 3))
        if draw(st.booleans()):
            stage["multipliers"] = [1, draw(st.integers(2, 4))]
            stage.setdefault("most_runs", 3)
            if draw(st.booleans()):
                stage["advance"] = "step"
                gives.append({"step": 1})
        if draw(st.integers(0, 3)) == 0:
            stage["sticky"] = "w"
            stage.setdefault("most_runs", 2)
            stage["strips"] = [f"{strip} w" for strip in stage["strips"]]
            stage.pop("weights", None)
    if gives:
        pays.append({"on": "scatter", "of": "s", "pays": {draw(st.integers(1, 2)): 1}, "gives": gives})
    return stage


@st.composite
def games(draw):
    wheel = {"kind": "wheel", "items": [{"credits": draw(st.integers(1, 9))}, {"credits": 1}]}
    pick = {
        "kind": "pick",
        "items": [
            {"credits": draw(st.integers(1, 5))},
            {"id": "turn", "gives": [{"stage": "wheel"}]},
            {"id": "stop", "end": True},
        ],
    }
    if draw(st.booleans()):
        pick["boxes"] = draw(st.integers(1, 3))
    hold = {
        "kind": "hold",
        "cells": 2,
        "respins": draw(st.integers(1, 2)),
        "coin": draw(ODDS),
        "items": [{"credits": 1, "count": draw(st.integers(1, 2))}, {"credits": draw(st.integers(2, 6))}],
    }
    if draw(st.booleans()):
        hold["full"] = {
            "credits": draw(st.integers(1, 9)),
            "gives": draw(st.sampled_from([[], [{"stage": "wheel"}]])),
        }
    stages = {"wheel": wheel, "pick": pick, "hold": hold}
    stages["free"] = draw(reels("free", ["wheel", "pick"]))
    stages["base"] = draw(reels("base", ["free", "wheel", "pick", "hold"]))
    return definition(stages, cost=draw(st.integers(1, 3)))


def check_graph(data):
    try:
        moments_match(data, cost=data["bets"]["mode"][0]["cost"], most=4_000)
    except TooManyOutcomesError:
        reject()


@TINY
@given(games())
def test_random_feature_graphs_are_exact(data):
    check_graph(data)


@pytest.mark.slow
@settings(TINY, max_examples=300)
@given(games())
def test_many_random_feature_graphs_are_exact(data):
    check_graph(data)


def fall_law(data):
    """Return the distribution of a cascade of at least two reels, by simulating every fall."""
    stage = data["stage"]["base"]
    strips, heights, factors = brute.strips_of(stage), stage["heights"], stage["cascade"]
    law = Counter()
    for stops in itertools.product(*(range(len(s)) for s in strips)):
        tops = list(stops)
        window = [
            [s[(t + i) % len(s)] for i in range(h)] for s, t, h in zip(strips, tops, heights, strict=True)
        ]
        paid = 0
        for n in itertools.count():
            gone, won = winning_cells(data, stage, window)
            if not won or n > 60:
                break
            paid += won * factors[min(n, len(factors) - 1)]
            for x, strip in enumerate(strips):
                symbols = [s for y, s in enumerate(window[x]) if (x, y) not in gone]
                for _ in range(heights[x] - len(symbols)):
                    tops[x] -= 1
                    symbols.insert(0, strip[tops[x] % len(strip)])
                window[x] = symbols
        else:
            raise AssertionError("no end")
        if n > 60:
            return None
        law[paid] += Fraction(1, prod(len(s) for s in strips))
    return law


def winning_cells(data, stage, window):
    """Return what a window pays and the cells that are removed: each line's best prize, or each symbol's ways."""
    gone, won = set(), 0
    for line in stage["lines"]:
        best = max(
            (
                (v, n)
                for p in stage["pay"]
                if p.get("on") != "ways"
                for n, v in p["pays"].items()
                if all(brute.fits(data, stage, p["of"], window[x][line[x]]) for x in range(n))
            ),
            default=(0, 0),
        )
        won += best[0]
        gone |= {(x, line[x]) for x in range(best[1])} if best[0] else set()
    for pay in stage["pay"]:
        if pay.get("on") == "ways":
            counts = [sum(1 for s in c if brute.fits(data, stage, pay["of"], s)) for c in window]
            reached = [n for n in pay["pays"] if all(counts[:n])]
            if reached and pay["pays"][max(reached)]:
                won += pay["pays"][max(reached)] * prod(counts[: max(reached)])
                gone |= {
                    (x, y)
                    for x in range(max(reached))
                    for y, s in enumerate(window[x])
                    if brute.fits(data, stage, pay["of"], s)
                }
    return gone, won


@st.composite
def cascades(draw):
    """Return a cascade of two or three reels; longer wins pay more, so that the removed cells are unambiguous."""
    count = draw(st.integers(2, 3))
    strips = [
        f"a b {draw(st.lists(st.sampled_from('absw'), min_size=2, max_size=5).map(' '.join))}"
        for _ in range(count)
    ]
    heights = [draw(st.integers(1, 3)) for _ in range(count)]
    ways = draw(st.booleans())
    pay = [
        {
            "of": s,
            "pays": {
                n: 10 * n + draw(st.integers(0, 9)) for n in range(draw(st.integers(1, count)), count + 1)
            },
        }
        for s in "ab"
    ]
    stage = {
        "heights": heights,
        "strips": strips,
        "lines": [],
        "cascade": draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)),
    }
    if ways:
        stage |= {"pay": [{"on": "ways", **p} for p in pay], "overlapping_ways": True}
    else:
        rows = st.tuples(*(st.integers(0, h - 1) for h in heights))
        stage |= {
            "pay": pay,
            "lines": [list(r) for r in draw(st.lists(rows, min_size=1, max_size=3, unique=True))],
        }
    return definition({"base": stage})


@TINY
@given(cascades())
def test_random_cascades_are_exact(data):
    law = fall_law(data)
    if law is None:
        with pytest.raises(DefinitionError, match="has not ended after"):
            build_game(data, "test")
        return
    (bet,) = analyse(build_game(data, "test")).bets
    assert (bet.mean_credits, bet.variance) == brute.moments(law)
    assert {
        w: Fraction(n, bet.distribution.case_count) for w, n in bet.distribution.case_count_by_win.items()
    } == law
    assert bet.max_win_credits == max(law)


@st.composite
def holding_games(draw):
    """Return a game with one row of two or three reels to hold, with repeats, weights and a wild."""
    count = draw(st.integers(2, 3))
    strips = [
        ["a", "b", *draw(st.lists(st.sampled_from("abw"), min_size=1, max_size=3))] for _ in range(count)
    ]
    pay = [{"of": s, "pays": {n: draw(st.integers(0, 9)) for n in range(1, count + 1)}} for s in "ab"]
    weights = [[draw(st.integers(1, 3)) for _ in s] for s in strips]
    stage = {
        "heights": [1] * count,
        "strips": strips,
        "lines": [[0] * count],
        "pay": pay,
        "weights": weights,
        "player_holds": True,
    }
    return definition({"base": stage})


@TINY
@given(holding_games())
def test_random_holds_return_what_the_best_of_all_ways_to_hold_does(data):
    stage = data["stage"]["base"]
    odds = [
        [(s, Fraction(w, sum(weights))) for s, w in zip(strip, weights, strict=True)]
        for strip, weights in zip(stage["strips"], stage["weights"], strict=True)
    ]
    line = [(x, 0) for x in range(len(odds))]

    @cache
    def expected(held_symbols):
        total = Fraction(0)
        drawn = [odds[x] if s is None else [(s, Fraction(1))] for x, s in enumerate(held_symbols)]
        for end in itertools.product(*drawn):
            win = brute.pay_line(data, stage, 1, line, [[s] for s, _ in end])
            total += win * prod((p for _, p in end), start=Fraction(1))
        return total

    best = worst = Fraction(0)
    for first in itertools.product(*odds):
        p = prod((q for _, q in first), start=Fraction(1))
        ways = [expected(held_symbols) for held_symbols in itertools.product(*((s, None) for s, _ in first))]
        best += p * max(ways)
        worst += p * min(ways)
    game = build_game(data, "test")
    (bet,) = analyse(game).bets
    assert bet.mean_credits == best == bet.distribution.compute_moment(1)
    assert bet.worst_rtp == worst
    hold_counts = game.rules.stages["m"].get_stage("base").compute_hold_rates()
    assert sum(odds for odds, _ in hold_counts.values()) == 1
    assert sum(paid for _, paid in hold_counts.values()) == best
