"""Features that stages award to each other: exact against hand-walked trees, and played with real draws."""

import itertools
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from fractions import Fraction

import paytables_brute as brute
import pytest
from paytables_trees import TEXT, compute_outcome_distribution, definition, moments_match
from rigs.rounds import play_decisions

from paytables import (
    AnalysisDepth,
    Choice,
    RecordingDrawSource,
    ReplayDrawSource,
    Round,
    analyse,
    build_game,
    build_game_from_json,
    list_non_table_games,
    load_game,
    play_through,
    play_with_choices,
)
from paytables.reels.automaton import Award
from paytables.reels.totals import PROBABILITY_ONE, TotalWinDistributions

REELS = {"heights": [1, 1], "lines": [[0, 0]], "strips": ["a b s", "a b s"]}
PAYS = [{"of": "a", "pays": {2: 4, 1: 1}}, {"of": "b", "pays": {2: 2}}]
FREE = {"on": "scatter", "of": "s", "pays": {2: 1}, "gives": [{"stage": "free", "times": 2}]}


def test_free_games_with_their_own_strips_and_multiplier():
    free = {"heights": [1, 1], "lines": [[0, 0]], "strips": ["a b", "a a b"], "pay": PAYS, "multiplier": 3}
    bet = moments_match(definition({"base": {**REELS, "pay": [*PAYS, FREE]}, "free": free}))
    (feature,) = bet.features
    assert (feature.rate, feature.mean_runs, feature.max_runs) == (Fraction(1, 9), 2, 2)


def test_a_capped_series_with_a_rising_multiplier_that_retriggers():
    free = {**REELS, "pay": [*PAYS, FREE], "multipliers": [1, 2, 5], "most_runs": 3}
    bet = moments_match(definition({"base": {**REELS, "pay": [*PAYS, FREE]}, "free": free}))
    assert bet.features[0].max_runs == 3


def test_no_series_is_longer_than_its_cap_in_play():
    always = {"on": "scatter", "of": "s", "pays": {2: 1}, "gives": [{"stage": "free", "times": 2}]}
    sure = {"heights": [1, 1], "strips": ["s", "s"], "pay": [always]}
    free = {**sure, "multipliers": [1, 2, 5], "most_runs": 4}
    game = build_game(definition({"base": sure, "free": free}, cost=1), "test")
    outcome = play_through(
        game,
        game.build_wager(1),
        ReplayDrawSource([(1, 0, f"{s}.reel{x}") for s in ("base", *["free"] * 4) for x in (1, 2)]),
    )
    assert [s["stage"] for s in outcome.display["steps"]] == ["base", *["free"] * 4]
    assert [s["multiplier"] for s in outcome.display["steps"]] == [1, 1, 2, 5, 5]
    assert [s["left"] for s in outcome.display["steps"]] == [0, 3, 2, 1, 0]
    assert outcome.returned_credits == 1 + 1 + 2 + 5 + 5


def test_a_multiplier_that_moves_with_a_symbol():
    step = {"on": "scatter", "of": "b", "pays": {1: 0}, "gives": [{"step": 1}]}
    free = {**REELS, "pay": [*PAYS, step], "multipliers": [1, 3], "advance": "step"}
    moments_match(definition({"base": {**REELS, "pay": [*PAYS, FREE]}, "free": free}))


def test_expanding_wilds_that_stay_for_respins():
    reels = {
        "heights": [1, 2, 2],
        "lines": [[0, 0, 0], [0, 1, 1]],
        "strips": ["a b", "a b w", "b a w"],
        "pay": [{"of": "a", "pays": {3: 3}}, {"of": "b", "pays": {2: 1}}],
        "expand": ["w"],
        "sticky": "w",
        "then": "respin",
    }
    bet = moments_match(definition({"base": reels, "respin": {"like": "base"}}))
    assert bet.features[0].max_runs == 2  # two reels can show the wild


def test_sticky_cells_through_a_series():
    free = {
        "heights": [2, 1],
        "lines": [[0, 0], [1, 0]],
        "strips": ["a b w", "a b"],
        "pay": [{"of": "a", "pays": {2: 3}}],
        "sticky": "w",
    }
    start = {"on": "scatter", "of": "s", "pays": {1: 0}, "gives": [{"stage": "free", "times": 3}]}
    base = {"heights": [1], "lines": [[0]], "strips": ["a s"], "pay": [{"of": "a", "pays": {1: 1}}, start]}
    moments_match(definition({"base": base, "free": free}))


def test_a_pick_that_hides_a_wheel_and_free_games():
    pick = {
        "kind": "pick",
        "items": [
            {"credits": 2, "count": 2},
            {"id": "turn", "gives": [{"stage": "wheel"}]},
            {"id": "more", "gives": [{"stage": "free"}]},
            {"id": "stop", "end": True},
        ],
    }
    wheel = {"kind": "wheel", "items": [{"credits": 1, "count": 2}, {"credits": 5}]}
    free = {**REELS, "pay": PAYS}
    start = {"on": "scatter", "of": "s", "pays": {2: 1}, "gives": [{"stage": "pick"}]}
    moments_match(
        definition({"base": {**REELS, "pay": [*PAYS, start]}, "pick": pick, "wheel": wheel, "free": free})
    )


def test_many_lines_that_each_start_a_feature():
    reels = {
        "heights": [3, 2],
        "lines": [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]],
        "strips": ["a s a b", "a s b"],
        "pay": [{"of": "a", "pays": {2: 1}}, {"of": "s", "pays": {2: 0}, "gives": [{"stage": "wheel"}]}],
    }
    wheel = {"kind": "wheel", "items": [{"credits": 1}, {"credits": 2}]}
    bet = moments_match(definition({"base": reels, "wheel": wheel}))
    assert bet.features[0].rate == Fraction(3 * 2, 12)  # windows times lines that show both


def test_hold_and_spin_from_the_coins_that_started_it():
    hold = {
        "kind": "hold",
        "cells": 3,
        "respins": 1,
        "coin": [1, 3],
        "items": [{"credits": 1, "count": 2}, {"credits": 4}],
        "full": {"credits": 10},
    }
    start = {
        "on": "scatter",
        "of": "s",
        "pays": {1: 0, 2: 0},
        "gives": [{"stage": "hold", "size": {1: 1, 2: 2}}],
    }
    base = {
        "heights": [1, 1],
        "lines": [[0, 0]],
        "strips": ["a s", "a s"],
        "pay": [{"of": "a", "pays": {2: 2}}, start],
    }
    bet = moments_match(definition({"base": base, "hold": hold}))
    assert bet.features[0].rate == Fraction(3, 4)


def test_picks_with_replacement_are_draws_of_their_own():
    pick = {
        "kind": "pick",
        "boxes": 3,
        "items": [{"credits": 2, "count": 3}, {"credits": 9}, {"id": "x", "end": True}],
    }
    start = {"on": "scatter", "of": "s", "pays": {2: 0}, "gives": [{"stage": "pick"}]}
    bet = moments_match(definition({"base": {**REELS, "pay": [*PAYS, start]}, "pick": pick}))
    opened = 1 + Fraction(4, 5) + Fraction(16, 25)  # a box ends it one time in five
    rate = bet.features[0].rate
    assert {p.name: p.rate / rate for p in bet.prizes if p.stage_or_spot == "pick"} == {
        "2": opened * Fraction(3, 5),
        "9": opened * Fraction(1, 5),
    }


def test_a_top_award_of_the_last_line_only():
    """Like a progressive that three sevens win only on the third line, if the bet plays it."""
    base = {
        "heights": [3, 3],
        "strips": ["a a b b a", "b a a b"],
        "lines": [[1, 1], [0, 0], [2, 2]],
        "pay": [
            {"of": "a", "pays": {2: 5}},
            {"of": "a", "pays": {2: 100}, "lines": [3], "gives": [{"progressive": "top"}]},
        ],
    }
    level = {"id": "top", "name": TEXT, "reset_credits": 500, "increment": "1/100"}
    data = definition({"base": base}, symbols=("a", "b"), progressive=[level])
    data["bets"]["mode"] = [{"id": "one", "cost": 1, "lines": 1}, {"id": "three", "cost": 3}]
    first, third = analyse(build_game(data, "test")).bets
    assert first.mean_credits == Fraction(3 * 2, 20) * 5
    assert third.mean_credits == Fraction(3 * 2, 20) * (5 + 5 + 100)
    assert [p.rate for p in first.progressives + third.progressives] == [0, Fraction(6, 20)]
    law = brute.run_law(data, cost=3)
    assert brute.moments(law) == (third.mean_credits, third.variance)


def test_a_symbol_chosen_for_free_games_that_pays_by_reels():
    """A book: free games begin with a drawn symbol, which pays by the number of reels that show it."""
    special = {"on": "scatter", "once_a_reel": True, "unit": "line", "pays": {2: 6}}
    free = {name: {"like": "base", "pay": [*PAYS, {**special, "of": f"={name}"}]} for name in "ab"}
    draw = {"kind": "wheel", "items": [{"gives": [{"stage": name, "times": 2}], "id": name} for name in "ab"]}
    start = {"on": "scatter", "of": "s", "pays": {2: 1}, "gives": [{"stage": "book"}]}
    tall = {"heights": [2, 2], "lines": [[0, 0], [1, 1]], "strips": ["a s b a", "b a a s"]}
    stages = {"base": {**tall, "pay": [*PAYS, start]}, "book": draw, **free}
    bet = moments_match(definition(stages))
    assert {f.feature for f in bet.features} == {"book", "a", "b"}


def test_falls_with_a_rising_multiplier():
    reels = {
        "heights": [2, 2],
        "lines": [[0, 0], [1, 1]],
        "strips": ["a b a s b", "b a b a"],
        "weights": [[1, 2, 1, 1, 1], [1, 1, 3, 1]],
        "pay": [
            {"of": "a", "pays": {2: 3}},
            {"of": "b", "pays": {2: 1}},
            {"on": "scatter", "of": "s", "pays": {1: 1}},
        ],
        "cascade": [1, 3],
    }
    data = definition({"base": reels})
    weights = reels["weights"]
    law = Counter()
    for s, t in itertools.product(range(5), range(4)):
        columns = [list("abasb"), list("baba")]
        stops, window, paid, factor = [s, t], None, 0, 1
        window = [[columns[x][(stops[x] + y) % len(columns[x])] for y in range(2)] for x in range(2)]
        while True:
            rows = [y for y in range(2) if window[0][y] == window[1][y] and window[0][y] in "ab"]
            if not rows:
                break
            paid += factor * sum({"a": 3, "b": 1}[window[0][y]] for y in rows)
            factor = 3
            for x in range(2):
                stops[x] -= len(rows)
                new = [columns[x][(stops[x] + i) % len(columns[x])] for i in range(len(rows))]
                window[x] = new + [c for y, c in enumerate(window[x]) if y not in rows]
        paid += int(any("s" in c for c in window))
        law[paid] += Fraction(weights[0][s] * weights[1][t], 6 * 6)
    mean, variance = brute.moments(law)
    game = build_game(data, "test")
    (bet,) = analyse(game).bets
    assert (bet.rtp, bet.variance) == (mean, variance)
    assert compute_outcome_distribution(game, 1) == law


@pytest.mark.requirement("C-10:b")
def test_held_reels_under_the_best_strategy():
    strips = ["a b b", "a a b", "a b b b"]
    pays = {("a", "a", "a"): 20, ("b", "b", "b"): 5}
    reels = {
        "heights": [1, 1, 1],
        "lines": [[0, 0, 0]],
        "strips": strips,
        "pay": [{"pattern": " ".join(k), "pay": v} for k, v in pays.items()],
        "player_holds": True,
    }
    game = build_game(definition({"base": reels}), "test")
    symbols = [s.split() for s in strips]
    total = Fraction(0)
    for first in itertools.product(*symbols):
        best = Fraction(0)
        for held_reels in itertools.product([False, True], repeat=3):
            ends = list(
                itertools.product(
                    *([f] if h else s for f, h, s in zip(first, held_reels, symbols, strict=True))
                )
            )
            best = max(best, Fraction(sum(pays.get(e, 0) for e in ends), len(ends)))
        total += best / 36
    (bet,) = analyse(game).bets
    assert bet.rtp == total
    # the advice shown to the player is the strategy the return was computed for
    law = Counter()
    for stops in itertools.product(range(3), range(3), range(4)):
        stage = game.rules.stages["m"].get_stage("base")
        mask = stage.find_best_hold(stops)
        ends = list(
            itertools.product(
                *(
                    [s[stop]] if mask >> x & 1 else s
                    for x, (stop, s) in enumerate(zip(stops, symbols, strict=True))
                )
            )
        )
        for end in ends:
            law[pays.get(end, 0)] += Fraction(1, 36 * len(ends))
    assert brute.moments(law) == (bet.rtp, bet.variance)


@pytest.mark.requirement("C-10:c")
def test_player_may_hold_other_reels_than_the_advised_ones():
    pay = [{"pattern": "a a", "pay": 9}, {"pattern": "b b", "pay": 1}]
    reels = {"heights": [1, 1], "lines": [[0, 0]], "strips": ["a b b"] * 2, "pay": pay, "player_holds": True}
    game = build_game(definition({"base": reels}, symbols=("a", "b")), "test")
    wager = game.build_wager(1)
    first_spin = [(3, 0, "base.reel1"), (3, 1, "base.reel2")]
    played = Round(game.play(wager, ReplayDrawSource([*first_spin, (3, 2, "base.reel1")])), wager)
    played.advance()
    assert played.decision.prompt["advice"] == 0b01  # the reel that shows the better symbol
    played.advance(Choice(0b10))
    assert played.outcome.display["steps"][0]["held"] == 0b10
    assert played.outcome.returned_credits == 1  # the first reel was spun again and shows the other symbol


@pytest.mark.requirement("C-20", "B-09")
def test_the_double_up_is_fair_optional_and_limited():
    base = {"heights": [1], "lines": [[0]], "strips": ["a b"], "pay": [{"of": "a", "pays": {1: 3}}]}
    data = definition({"base": base}, symbols=("a", "b"), double_up={"most_rounds": 2, "most_credits": 12})
    game = build_game(data, "test")
    play = play_decisions(
        game,
        game.build_wager(1),
        ReplayDrawSource([(2, 0, "base.reel1"), (2, 0, "double_up"), (2, 1, "double_up")]),
    )
    decision = next(play)
    assert (decision.kind, decision.options, decision.prompt["to_win"]) == (
        "double_up",
        ("collect", "red", "black"),
        6,
    )
    play.send(Choice("red"))
    with pytest.raises(StopIteration) as end:
        play.send(Choice("red"))
    outcome = end.value.value
    assert outcome.returned_credits == 0 == sum(w.credits for w in outcome.settlements)
    assert [r["credits"] for r in outcome.display["double_up"]] == [6, 0]
    lost = play_through(game, game.build_wager(1), ReplayDrawSource([(2, 1, "base.reel1")]))
    assert lost.returned_credits == 0  # no win, no question
    collected = play_through(
        game, game.build_wager(1), ReplayDrawSource([(2, 0, "base.reel1")]), [Choice("collect")]
    )
    assert collected.returned_credits == 3


@pytest.mark.requirement("C-20")
@pytest.mark.parametrize(
    ("prize", "most", "offered"), [(3, 12, [6, 12]), (3, 11, [6]), (3, 6, [6]), (3, 5, [])]
)
def test_a_double_up_is_offered_only_while_the_doubled_win_is_within_its_limit(prize, most, offered):
    base = {"heights": [1], "lines": [[0]], "strips": ["a b"], "pay": [{"of": "a", "pays": {1: prize}}]}
    data = definition({"base": base}, symbols=("a", "b"), double_up={"most_rounds": 9, "most_credits": most})
    game = build_game(data, "test")
    draws = [(2, 0, "base.reel1"), *((2, 0, "double_up") for _ in offered)]
    wager, to_win = game.build_wager(1), []
    played = Round(game.play(wager, ReplayDrawSource(draws)), wager)
    played.advance()
    while played.decision is not None:
        to_win.append(played.decision.prompt["to_win"])
        played.advance(Choice("red"))
    assert to_win == offered
    assert played.outcome.returned_credits == (offered or [prize])[-1]


def test_progressives_by_prize_by_chance_and_by_mystery():
    base = {
        "heights": [1],
        "lines": [[0]],
        "strips": ["a b b b"],
        "pay": [{"of": "a", "pays": {1: 2}, "gives": [{"progressive": "top"}]}],
    }
    levels = [
        {"id": "top", "name": TEXT, "reset_credits": 100, "increment": "1/100"},
        {"id": "luck", "name": TEXT, "reset_credits": 50, "one_in": 200},
        {"id": "hidden", "name": TEXT, "reset_credits": 100, "ceiling_credits": 300, "increment": "1/50"},
    ]
    game = build_game(definition({"base": base}, symbols=("a", "b"), progressive=levels), "test")
    (bet,) = analyse(game).bets
    top, luck, hidden = bet.progressives
    assert bet.rtp == Fraction(1, 2)
    assert (top.rate, top.rtp_at_reset, top.increment) == (Fraction(1, 4), 25, Fraction(1, 100))
    assert top.break_even_credits == 2  # credits the meter must hold for the game to return all
    assert luck.rate == Fraction(1, 200)
    # a mystery level: 10,000 games from 100 to 300 at 2 % of a credit a game, each as likely to hit
    assert hidden.rate == Fraction(2, 10_001)
    assert hidden.rtp_at_reset + hidden.increment == Fraction(200, 10_001) + Fraction(1, 50)
    won = play_through(
        game, game.build_wager(1), ReplayDrawSource([(4, 0, "base.reel1"), (200, 0, "progressive.luck")])
    )
    assert won.progressives == ("top", "luck")


@pytest.mark.requirement("B-11")
@pytest.mark.parametrize("name", list_non_table_games())
def test_the_stake_changes_no_odds_of_a_draw(name, seeded_draw):
    """At every bet of the game, the first draw for each purpose has the same bound."""
    game = load_game(name)
    bounds = defaultdict(set)
    for seed, stake in itertools.product(range(3), game.bet_options):
        draw = RecordingDrawSource(seeded_draw(seed))
        play = play_decisions(game, game.build_wager(stake), draw)
        with suppress(StopIteration):
            decision = next(play)
            while True:
                decision = play.send(Choice(decision.options[0]))
        drawn = set()
        for bound, _, purpose in draw.records:
            if purpose not in drawn:
                drawn.add(purpose)
                bounds[purpose].add(bound)
    assert bounds
    assert {purpose: found for purpose, found in bounds.items() if len(found) > 1} == {}


@pytest.mark.requirement("B-11")
@pytest.mark.parametrize("name", list_non_table_games())
def test_every_library_game_replays_its_record(name, seeded_draw):
    game = load_game(name)
    for seed in range(60):
        draw = RecordingDrawSource(seeded_draw(seed))
        wager = game.build_wager(game.bet_options[seed % len(game.bet_options)])
        choices = []
        play = play_decisions(game, wager, draw)
        try:
            decision = next(play)
            while True:
                choices.append(Choice(decision.options[draw.source.below(len(decision.options), "player")]))
                decision = play.send(choices[-1])
        except StopIteration as end:
            outcome = end.value
        replay = ReplayDrawSource(draw.records)
        replayed = play_with_choices(game.play(wager, replay), wager, choices)
        replay.check_all_numbers_used()
        assert replayed.to_json() == outcome.to_json()
        assert outcome.returned_credits == sum(w.credits for w in outcome.settlements)


def test_the_bounded_distribution_of_unlimited_retriggers_approaches_the_exact_moments():
    free = {**REELS, "pay": [*PAYS, FREE]}
    game = build_game(definition({"base": {**REELS, "pay": [*PAYS, FREE]}, "free": free}), "test")
    (bet,) = analyse(game).bets
    assert bet.max_win_credits is None  # there is no highest win, and the analysis says so
    assert bet.distribution is not None
    assert 0 < bet.distribution.unlisted_probability < Fraction(1, 10**6)
    assert 0 < bet.mean_credits - bet.distribution.compute_moment(1) < Fraction(1, 10**3)
    assert abs(bet.variance - bet.distribution.compute_variance()) < Fraction(1, 100)
    dist = TotalWinDistributions(game.rules.stages["m"], 64).compute_award_distribution(
        Award("stage", "free", 2, 0)
    )
    assert sum(dist) <= PROBABILITY_ONE


def test_a_feature_that_starts_itself_again_and_again_is_followed_to_its_end():
    """Two dice are thrown until a seven, and each throw is paid: six throws on average, rarely a hundred."""
    throws = [
        {"credits": n, "count": 6 - abs(7 - n), "gives": [{"stage": "dice"}]} for n in range(2, 13) if n != 7
    ]
    dice = {"kind": "wheel", "items": [*throws, {"id": "seven", "count": 6, "end": True}]}
    base = {
        "heights": [1],
        "lines": [[0]],
        "strips": ["a b"],
        "pay": [{"of": "a", "pays": {1: 0}, "gives": [{"stage": "dice"}]}],
    }
    (bet,) = analyse(build_game(definition({"base": base, "dice": dice}, symbols=("a", "b")), "test")).bets
    assert (
        bet.mean_credits == Fraction(1, 2) * 7 * 5
    )  # five throws before the seven, of seven credits on average
    assert bet.features[0].mean_runs == 6
    assert bet.distribution.unlisted_probability < Fraction(1, 10**12)
    assert 0 < bet.mean_credits - bet.distribution.compute_moment(1) < Fraction(1, 10**8)


def test_a_distribution_that_cannot_be_computed_leaves_a_note_and_exact_figures(monkeypatch):
    game = load_game("orchard-picnic")
    exact = analyse(game, AnalysisDepth.VOLATILITY).bets[0]
    monkeypatch.setattr("paytables.reels.win_distribution.WINDOW_KIND_COUNT_MAX", 100)
    analysis = analyse(build_game_from_json(game.text, "test")).bets[0]
    assert (analysis.rtp, analysis.variance, analysis.distribution, analysis.hit_probability) == (
        exact.rtp,
        exact.variance,
        None,
        None,
    )
    assert "more than 100 different kinds of windows" in analysis.notes[0]


def test_award_rates_do_not_depend_on_the_order_of_stages():
    wheel = {"kind": "wheel", "items": [{"credits": 1}, {"credits": 3}]}
    start = {"on": "scatter", "of": "s", "pays": {2: 0}, "gives": [{"stage": "wheel", "times": 2}]}
    stages = {"base": {**REELS, "pay": [*PAYS, start]}, "wheel": wheel}
    listed_order = analyse(build_game(definition(stages), "test")).bets[0]
    reversed_order = analyse(build_game(definition(dict(reversed(stages.items()))), "test")).bets[0]
    assert listed_order == reversed_order
    assert defaultdict(Fraction, {f.feature: f.rate for f in listed_order.features})["wheel"] == Fraction(
        1, 9
    )


def test_the_cabinet_needs_no_laboratory_package():
    code = (
        "import sys\n"
        "for name in ('numpy', 'numba', 'scipy', 'matplotlib', 'jinja2'): sys.modules[name] = None\n"
        "import paytables as p\n"
        "for name in p.list_non_table_games():\n"
        "    game = p.load_game(name)\n"
        "    game.build_presentation()\n"
        "    assert p.analyse(game, p.AnalysisDepth.RETURN).minimum_rtp > 0\n"
        "print('done')\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr, result.returncode) == ("done\n", "", 0)


@pytest.mark.requirement("C-09")
def test_prizes_in_kind_count_in_no_return_and_their_part_is_stated_apart_to_the_last_digit():
    """Prizes on a line, on a wheel after free games, and two at once, against every possible draw."""
    car = {"on": "scatter", "of": "s", "pays": {2: 1}, "gives": [{"stage": "free", "times": 2}]}
    line = {"of": "b", "pays": {2: 0}, "gives": [{"merchandise": "car"}, {"merchandise": "pen"}]}
    free = {"heights": [1, 1], "strips": ["a s", "a s"], "pay": [{**car, "gives": [{"stage": "wheel"}]}]}
    wheel = {"kind": "wheel", "items": [{"credits": 3}, {"credits": 1, "gives": [{"merchandise": "pen"}]}]}
    stages = {"base": {**REELS, "pay": [PAYS[0], line, car]}, "free": free, "wheel": wheel}
    things = [
        {"id": name, "name": TEXT, "description": TEXT, "value_cents": cents}
        for name, cents in (("car", 900_000), ("pen", 250))
    ]
    data = definition(stages, cost=3, merchandise=things)
    game = build_game(data, "test")
    (bet,) = analyse(game, AnalysisDepth.RETURN).bets
    for share in bet.merchandise:
        law = compute_outcome_distribution(
            game, 3, of=lambda outcome, prize=share.prize: outcome.merchandise.count(prize)
        )
        assert share.rate == sum(count * p for count, p in law.items()) > 0
        assert share.compute_rtp_at(25, 3) == share.rate * share.value_cents / 75
    assert bet.rtp == sum(win * p for win, p in compute_outcome_distribution(game, 3).items()) / 3
