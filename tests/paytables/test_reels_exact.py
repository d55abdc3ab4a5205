"""The exact figures equal an independent brute-force enumeration, to the last digit of the fraction."""

from fractions import Fraction

import paytables_brute as brute
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from paytables import AnalysisDepth, DefinitionError, analyse, build_game
from tests.rigs.examples import scale_examples

SYMBOLS = ["a", "b", "c", "w", "s"]
TEXT = {"en": "x", "fr": "x"}
SMALL = settings(
    max_examples=scale_examples(100), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def definition(stage, *, cost=1, groups=None, wild=None):
    return {
        "game": {
            "id": "t",
            "family": "reels",
            "version": "1.0.0",
            "date": "2026-11-21",
            "title": TEXT,
            "help": TEXT,
            "denominations_cents": [1],
        },
        "bets": {"mode": [{"id": "m", "cost": cost}]},
        "symbol": [
            {"id": s, "name": TEXT, **(wild or {"substitutes": ["*"], "not_for": ["s"]} if s == "w" else {})}
            for s in SYMBOLS
        ],
        "groups": groups or {"ab": ["a", "b"]},
        "stage": {"base": {"kind": "reels", **stage}},
    }


@st.composite
def line_games(draw):
    reels = draw(st.integers(1, 4))
    heights = [draw(st.integers(1, 3)) for _ in range(reels)]
    strips = [
        draw(st.lists(st.sampled_from(SYMBOLS), min_size=h, max_size=6 if reels < 4 else 4)) for h in heights
    ]
    lines = draw(
        st.lists(st.tuples(*(st.integers(0, h - 1) for h in heights)), min_size=1, max_size=4, unique=True)
    )
    pays = []
    if any("s" in s for s in strips):
        once = draw(st.booleans())
        pays = [{"on": "scatter", "of": "s", "pays": {1: draw(st.integers(0, 4))}, "once_a_reel": once}]
    for of in draw(st.lists(st.sampled_from(["a", "b", "w", "ab", "=c"]), min_size=1, max_size=4)):
        counts = draw(st.lists(st.integers(1, reels), min_size=1, max_size=3, unique=True))
        pays.append(
            {
                "of": of,
                "pays": {n: draw(st.integers(0, 50)) for n in counts},
                "direction": draw(st.sampled_from(["left", "right", "both", "adjacent", "anywhere"])),
                "group": draw(st.sampled_from(["line", "line", "other"])),
            }
        )
        if draw(st.booleans()):
            pays[-1]["needs_own"] = draw(st.booleans())
        if draw(st.booleans()):
            some = st.sets(st.integers(1, len(lines)), min_size=1)
            pays[-1]["lines"] = sorted(draw(some))
    pattern = draw(st.lists(st.sampled_from(["a", "b", "w", "ab", "*"]), min_size=reels, max_size=reels))
    pays.append({"pattern": pattern, "pay": draw(st.integers(1, 99))})
    stage = {
        "heights": heights,
        "strips": strips,
        "lines": [list(line) for line in lines],
        "pay": pays,
        "wild_multipliers": draw(st.sampled_from(["multiply", "add", "highest"])),
        "multiply_own": draw(st.booleans()),
        "multiplier": draw(st.integers(1, 3)),
        "expand": draw(st.sampled_from([[], ["w"]])),
        "wilds_alone": draw(st.sampled_from(["highest", "own"])),
        "scatters": draw(st.sampled_from(["before", "after"])),
    }
    if draw(st.booleans()):
        stage["weights"] = [[draw(st.integers(0, 5)) for _ in s[:-1]] + [1] for s in strips]
        if draw(st.booleans()):
            stage["weights_row"] = draw(st.integers(0, min(heights) - 1))
    wild = {"substitutes": ["*"], "not_for": ["s"], "multiplier": draw(st.integers(1, 3))}
    data = definition(stage, cost=draw(st.integers(1, 5)), wild=wild)
    stage = data["stage"]["base"]
    known = [brute.winnable(data, stage, p) if p.get("on") is None else p for p in stage["pay"]]
    stage["pay"] = [p for p in known if p is not None]
    assume(stage["pay"])
    return data


@st.composite
def ways_games(draw):
    reels = draw(st.integers(2, 4))
    heights = [draw(st.integers(1, 3)) for _ in range(reels)]
    strips = [draw(st.lists(st.sampled_from(SYMBOLS), min_size=h, max_size=4)) for h in heights]
    pays = []
    for of in draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3, unique=True)):
        top = draw(st.integers(1, reels))
        low = draw(st.integers(1, top))
        pays.append(
            {
                "on": "ways",
                "of": of,
                "pays": {n: draw(st.integers(0, 20)) for n in range(low, top + 1)},
                "direction": draw(st.sampled_from(["left", "right", "both"])),
                "once_a_reel": draw(st.booleans()),
            }
        )
    wild = {"substitutes": ["*"], "not_for": ["s"], "multiplier": draw(st.integers(1, 3))}
    stage = {"heights": heights, "strips": strips, "pay": pays, "overlapping_ways": True}
    return definition(stage, wild=wild)


def check_exact(data):
    try:
        game = build_game(data, "random")
    except DefinitionError:
        return  # a prize that cannot be won is refused; other tests cover each refusal
    cost = data["bets"]["mode"][0]["cost"]
    law = brute.run_law(data, cost=cost)
    mean, variance = brute.moments(law)
    (quick,) = analyse(game, AnalysisDepth.RETURN).bets
    assert quick.rtp == Fraction(mean) / cost
    (full,) = analyse(game, AnalysisDepth.FULL).bets
    assert full.rtp == quick.rtp
    assert full.variance == variance
    assert sum(p.rtp for p in full.prizes) == full.rtp
    stage = game.rules.stages["m"].get_stage("base")
    assert {win: p for (win, _), p in stage.compute_distribution().items() if p} == law
    for _, stops in brute.every_stop(data["stage"]["base"]):
        window, shown = (of(data["stage"]["base"], stops) for of in (brute.window_of, brute.shown_of))
        due = brute.pay_window(data, data["stage"]["base"], window, cost, shown)
        columns = stage.reels.find_evaluated_columns(stops)
        assert [[SYMBOLS[s] for s in c[: len(w)]] for c, w in zip(columns, window, strict=True)] == window
        for paid, _ in (stage.reels.evaluate(columns), stage.reels.evaluate_stops(stops)):
            assert paid * stage.reels.multiplier == due


@pytest.mark.requirement("R-02", "B-10")
@SMALL
@given(line_games())
def test_random_line_games_are_exact(data):
    check_exact(data)


@pytest.mark.slow
@pytest.mark.requirement("R-02", "B-10")
@settings(SMALL, max_examples=600)
@given(line_games())
def test_many_random_line_games_are_exact(data):
    check_exact(data)


@SMALL
@given(ways_games())
def test_random_ways_games_are_exact(data):
    check_exact(data)


def test_a_game_that_wins_at_every_stop_is_presented_without_trying_all_its_windows():
    """Five reels of thirty stops have 24 million windows."""
    stage = {"heights": [1] * 5, "strips": ["a " * 29 + "b"] * 5, "lines": [[0] * 5], "pay": []}
    stage["pay"] = [{"of": symbol, "pays": {1: 1}} for symbol in ("a", "b")]
    data = definition(stage)
    data["symbol"] = [symbol for symbol in data["symbol"] if symbol["id"] in "ab"]
    assert build_game(data, "always").build_presentation()["rest"] == [0] * 5
