"""Published sheets and volatility figures, reproduced to every published digit.

Sources: Wizard of Odds, slots appendix 5 (21 Bell); Bally's Blazing 7s PAR sheet as printed at easy.vegas and
by J. Robison; Harrigan and Dixon, "PAR Sheets, probabilities, and slot machine play" (2009), for the bands and
for the two Lobstermania sheets (symbol counts and pays also at wizardofodds.com/games/slots/lobstermania/);
easy.vegas, "How slot machines work", for Bluejay Bonanza.
"""

import itertools
from fractions import Fraction
from pathlib import Path

import pytest

from paytables import AnalysisDepth, analyse, build_game, load_game
from paytables.analysis import compute_confidence_band, compute_volatility_index

TEXT = {"en": "x", "fr": "x"}
VECTORS = Path(__file__).parents[1] / "vectors" / "paytables"


@pytest.mark.requirement("R-02")
def test_21_bell_every_row():
    (bet,) = analyse(load_game(VECTORS / "bell-21.toml")).bets
    assert (bet.rtp, bet.cycle) == (Fraction(7556, 8000), 8000)
    assert f"{float(bet.rtp):.2%}" == "94.45%"
    assert bet.hit_probability == Fraction(1073, 8000)
    assert f"{float(bet.hit_probability):.2%}" == "13.41%"
    assert {p.name: p.win_count for p in bet.prizes} == {
        "7 7 7": 1,
        "bar bar bar": 6,
        "melon melon melon": 8,
        "melon melon bar": 4,
        "bell bell bell": 40,
        "bell bell bar": 5,
        "plum plum plum": 63,
        "plum plum bar": 21,
        "orange orange orange": 100,
        "orange orange bar": 25,
        "cherry cherry *": 240,
        "cherry * *": 560,
    }


def test_blazing_7s_by_coins():
    bets = analyse(load_game(VECTORS / "blazing-7s.toml")).bets
    assert [f"{float(b.rtp):.2%}" for b in bets] == ["91.96%", "92.52%", "92.70%"]
    assert [b.rtp for b in bets] == [
        Fraction(57209, 62208),
        Fraction(115109, 124416),
        Fraction(173009, 186624),
    ]
    assert [b.hit_probability * 373248 for b in bets] == [42264, 44964, 44964]
    hits = {p.name: p.win_count for p in bets[2].prizes}
    assert (hits["B7 B7 B7"], hits["R7 R7 R7"], hits["AB AB AB"], hits["B7 B7 DJ"]) == (92, 336, 17373, 4)
    sigmas = [4.056733171799938, 7.712201918909558, 10.031624987772204]  # per coin, recomputed from the sheet
    assert [b.standard_deviation for b in bets] == pytest.approx(sigmas, rel=1e-14)


@pytest.mark.requirement("R-03")
def test_double_diamond_deluxe_volatility_bands():
    sigma = 6.349285
    assert round(compute_volatility_index(sigma), 3) == 10.476
    # The bands are printed for "92.5 %"; the six printed ends together place the return between 92.5837 and
    # 92.5840 %, and with any return in there every one of them comes out as printed.
    ends = {1_000: ("59.45", "125.71"), 100_000: ("89.27", "95.90"), 10_000_000: ("92.25", "92.92")}
    for games, printed in ends.items():
        assert tuple(f"{100 * end:.2f}" for end in compute_confidence_band(0.925839, sigma, games)) == printed


def test_roulette_and_boule_as_wheels_of_equal_parts():
    for numbers, zeros, edge in ((36, 1, "1/37"), (36, 2, "1/19"), (8, 1, "1/9")):
        parts = [*(f"n{n}" for n in range(numbers)), *(f"zero{n}" for n in range(zeros))]
        straight = 36 if numbers == 36 else 8
        half = parts[: numbers // 2]
        areas = [
            {"id": "straight", "name": TEXT, "pays": {"n0": straight}},
            {"id": "even", "name": TEXT, "pays": dict.fromkeys(half, 2)},
        ]
        header = {"id": "sheet", "family": "wheel", "version": "1.0.0", "date": "2026-11-22"}
        data = {
            "game": header | {"title": TEXT, "help": TEXT, "denominations_cents": [5]},
            "wheel": {"parts": parts},
            "symbol": [{"id": part, "name": TEXT} for part in parts],
            "area": areas,
            "form": [{"id": "one", "name": TEXT, "areas": ["even"]}],
        }
        assert {1 - bet.rtp for bet in analyse(build_game(data, "sheet")).bets} == {Fraction(edge)}


def moments_of(law, award):
    """Return E and Var of a run's credits and of its runs of ``award``, and their covariance."""
    pairs = [(c, sum(a.run_count for a in given if a.name == award), p) for (c, given), p in law.items()]
    x, k = (sum(pair[i] * pair[2] for pair in pairs) for i in (0, 1))
    xx, kk = (sum(pair[i] ** 2 * pair[2] for pair in pairs) for i in (0, 1))
    xk = sum(c * n * p for c, n, p in pairs)
    return x, k, xx - x * x, kk - k * k, xk - x * k


@pytest.mark.requirement("R-03")
def test_sigma_counts_the_covariance_of_the_trigger_and_the_win():
    """The closed form of free games that retrigger, against the analysis of a library game."""
    game = load_game("aurora-twenty")
    stages = game.rules.stages["twenty"]
    base, free = (
        moments_of(stages.get_stage(name).compute_distribution(), "free") for name in ("base", "free")
    )
    x, k, var_x, var_k, cov = free
    m = x / (1 - k)
    one_free = (var_x + m * m * var_k + 2 * m * cov) / (1 - k)
    x0, k0, var_x0, var_k0, cov0 = base
    bet = next(b for b in analyse(game, AnalysisDepth.VOLATILITY).bets if b.bet == "twenty")
    assert bet.mean_credits == x0 + k0 * m
    assert bet.variance == var_x0 + m * m * var_k0 + 2 * m * cov0 + k0 * one_free
    assert 2 * m * cov0 > 0  # an omitted variance would lower the volatility


def sheet_of(symbols, stages, *, cost=1, **bets):
    """Return a definition with one bet for the strips and pays of a published sheet."""
    header = {"id": "sheet", "family": "reels", "version": "1.0.0", "date": "2026-11-22"}
    header |= {"title": TEXT, "help": TEXT, "denominations_cents": [5]}
    mode = {"id": "one", "cost": cost, **bets}
    rows = [{"id": s, "name": TEXT, **properties} for s, properties in symbols.items()]
    return build_game({"game": header, "bets": {"mode": [mode]}, "symbol": rows, "stage": stages}, "sheet")


def test_bluejay_bonanza_with_cherries_anywhere():
    counts = {"jackpot": 2, "red7": 9, "3bar": 10, "2bar": 14, "1bar": 20, "cherry": 9, "blank": 64}
    strip = [s for s, n in counts.items() for _ in range(n)]
    pays = {"jackpot": 2000, "red7": 150, "3bar": 100, "2bar": 60, "1bar": 40}
    pay = [{"of": s, "pays": {3: n}} for s, n in pays.items()]
    bars = [
        {"pattern": [a, b, c], "pay": 10} for a, b, c in itertools.product(["1bar", "2bar", "3bar"], repeat=3)
    ]
    cherries = {"of": "cherry", "direction": "anywhere", "pays": {1: 1, 2: 8, 3: 25}}
    base = {"heights": [1] * 3, "strips": [strip] * 3, "lines": [[0, 0, 0]], "pay": [*pay, *bars, cherries]}
    (bet,) = analyse(sheet_of({s: {} for s in counts}, {"base": base})).bets
    assert f"{float(bet.rtp):.0%}" == "99%"
    returns = {p.name: f"{float(p.rtp):.2%}" for p in bet.prizes}
    printed = {
        "3 jackpot": "0.76%",
        "3 red7": "5.21%",
        "3 2bar": "7.85%",
        "3 1bar": "15.26%",
        "3 cherry": "0.87%",
    }
    assert {name: returns[name] for name in printed} == printed


LOBSTERS = ("wild", "logo", "buoy", "boat", "house", "tuna", "clam", "gull", "star", "bonus", "scatter")
#: Percentage a sheet is for -> how many of each symbol, reel by reel.
LOBSTER_COUNTS = {
    "96.2": (
        "2 4 4 6 5 6 6 5 5 2 2",
        "2 4 4 4 4 4 6 6 5 5 2",
        "1 3 5 4 6 5 5 5 6 6 2",
        "4 4 4 4 6 6 6 6 8 0 2",
        "2 4 5 4 7 7 6 6 7 0 2",
    ),
    "85.0": (
        "2 4 3 4 3 4 10 3 10 2 2",
        "2 3 4 3 4 3 8 9 3 5 2",
        "1 3 3 4 6 6 3 4 10 6 2",
        "4 3 8 3 3 6 4 10 7 0 2",
        "2 4 5 4 7 6 7 5 8 0 2",
    ),
}
LOBSTER_PAYS = {
    "logo": {2: 2, 3: 40, 4: 200, 5: 1000}, "buoy": {3: 25, 4: 100, 5: 500}, "boat": {3: 25, 4: 100, 5: 500},
    "house": {3: 10, 4: 50, 5: 500}, "tuna": {3: 10, 4: 50, 5: 250}, "clam": {3: 5, 4: 30, 5: 200},
    "gull": {3: 5, 4: 30, 5: 200}, "star": {3: 5, 4: 30, 5: 150},
}  # fmt: skip


def lobstermania(percent):
    """Return one line of the sheet. Only means are published of its bonus: 7.5 lobsters of 2025/46 credits."""
    strips = []
    for counts in LOBSTER_COUNTS[percent]:
        strip = [s for s, n in zip(LOBSTERS[:-1], counts.split(), strict=False) for _ in range(int(n))]
        strips.append(["scatter", *strip[::2], "scatter", *strip[1::2]])  # never two of them in one window
    pay = [
        {"of": "=wild", "pays": {2: 5, 3: 100, 4: 500, 5: 10000}},
        *({"of": s, "pays": pays} for s, pays in LOBSTER_PAYS.items()),
        {"of": "bonus", "pays": {3: 0}, "gives": [{"stage": "buoys"}]},
        {"on": "scatter", "of": "scatter", "once_a_reel": True, "pays": {3: 5, 4: 25, 5: 200}},
    ]
    stages = {
        "base": {"heights": [3] * 5, "strips": strips, "lines": [[1] * 5], "pay": pay},
        "buoys": {
            "kind": "pick",
            "picks": 1,
            "items": [{"id": str(n), "gives": [{"stage": "lobster", "times": n}]} for n in range(5, 11)],
        },
        "lobster": {
            "kind": "pick",
            "boxes": 8,
            "picks": 1,
            "items": [{"credits": 40, "count": 41}, {"credits": 77, "count": 5}],
        },
    }
    wild = {"substitutes": ["*"], "not_for": ["bonus", "scatter"]}
    return sheet_of({s: wild if s == "wild" else {} for s in LOBSTERS}, stages)


@pytest.mark.parametrize("percent", LOBSTER_COUNTS)
def test_lobstermania_returns_what_its_two_sheets_say(percent):
    (bet,) = analyse(lobstermania(percent), AnalysisDepth.VOLATILITY).bets
    assert bet.cycle == 259_440_000  # 47 x 46 x 48 x 50 x 50
    assert f"{100 * float(bet.rtp):.1f}" == percent
    features = {f.feature: f for f in bet.features}
    mean = (
        features["buoys"].mean_credits
        + features["lobster"].mean_credits * features["lobster"].rate / features["buoys"].rate
    )
    assert f"{float(mean):.3f}" == "330.163"
    assert f"{float(features['lobster'].mean_credits):.4f}" == f"{7.5 * 2025 / 46:.4f}"
    if percent == "96.2":  # the paper's hit frequency of one line with its scatter, 5.2 %
        rate = sum(p.rate for p in bet.prizes if p.stage_or_spot == "base")
        assert f"{float(rate):.1%}" == "5.2%"
