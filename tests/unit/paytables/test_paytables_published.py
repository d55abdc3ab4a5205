"""Published sheets and volatility figures, reproduced to every published digit.

Sources: Wizard of Odds, slots appendix 5 (21 Bell); Bally's Blazing 7s PAR sheet as printed at easy.vegas and
by J. Robison; Harrigan and Dixon, "PAR Sheets, probabilities, and slot machine play" (2009), for the bands.
"""

from fractions import Fraction
from pathlib import Path

import pytest

from paytables import analyse, load_game
from paytables.analysis import band, games_for, volatility_index

VECTORS = Path(__file__).parents[2] / "vectors" / "paytables"


@pytest.mark.requirement("R-02")
def test_21_bell_every_row():
    (bet,) = analyse(load_game(VECTORS / "bell-21.toml")).bets
    assert (bet.rtp, bet.cycle) == (Fraction(7556, 8000), 8000)
    assert f"{float(bet.rtp):.2%}" == "94.45%"
    assert bet.hit_probability == Fraction(1073, 8000)
    assert f"{float(bet.hit_probability):.2%}" == "13.41%"
    assert {p.name: p.hits for p in bet.prizes} == {
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
    hits = {p.name: p.hits for p in bets[2].prizes}
    assert (hits["B7 B7 B7"], hits["R7 R7 R7"], hits["AB AB AB"], hits["B7 B7 DJ"]) == (92, 336, 17373, 4)
    sigmas = [4.056733171799938, 7.712201918909558, 10.031624987772204]  # per coin, recomputed from the sheet
    assert [b.sigma for b in bets] == pytest.approx(sigmas, rel=1e-14)


@pytest.mark.requirement("R-03")
def test_double_diamond_deluxe_volatility_bands():
    sigma = 6.349285
    assert round(volatility_index(sigma), 3) == 10.476
    # The bands are printed for "92.5 %"; the six printed ends together place the return between 92.5837 and
    # 92.5840 %, and with any return in there every one of them comes out as printed.
    ends = {1_000: ("59.45", "125.71"), 100_000: ("89.27", "95.90"), 10_000_000: ("92.25", "92.92")}
    for games, printed in ends.items():
        assert tuple(f"{100 * end:.2f}" for end in band(0.925839, sigma, games)) == printed


def test_the_games_needed_for_a_tenth_of_a_percent():
    assert round(games_for(5.126, 0.001, 1.96) / 1e6) == 101
