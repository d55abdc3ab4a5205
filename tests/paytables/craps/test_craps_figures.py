"""The figures of craps: control values, closed forms, an independent enumeration, and played games."""

import random
from fractions import Fraction
from itertools import product

import pytest
from rigs.craps_text import MONACO, QUEBEC

from paytables import AnalysisDepth, AnalysisError, analyse, build_game, load_game
from paytables.craps.figures import COME_OUT_SHARE_OF_THROWS, BetReturnChain, compute_bets_per_throw
from paytables.craps.state import CrapsState
from paytables.craps.strategy import analyse_named_strategy, find_strategy_bets
from paytables.definition import parse, read_source
from tools.lab.simulation import judge_return, play_batch

F = Fraction
LINES = {
    "pass": F(488, 495),
    "come": F(488, 495),
    "dontpass": F(217, 220),
    "dontcome": F(217, 220),
    "field": F(17, 18),
}
NUMBERS = {
    "buy 2:1": F(20, 21), "buy 3:2": F(20, 21), "buy 6:5": F(20, 21),
    "lay 1:2": F(40, 41), "lay 2:3": F(30, 31), "lay 5:6": F(24, 25),
}  # fmt: skip
ODDS = {
    f"odds-{line} {pay}": F(1)
    for lines, pays in (("pass come", "2:1 3:2 6:5"), ("dontpass dontcome", "1:2 2:3 5:6"))
    for line, pay in product(lines.split(), pays.split())
}
#: The returns of every bet, as games.md has them, computed apart from this project.
RETURNS = {
    QUEBEC: LINES | NUMBERS | ODDS | {
        "right 9:5": F(14, 15), "right 7:5": F(24, 25), "right 7:6": F(65, 66), "hard 7:1": F(8, 9), "hard 9:1": F(10, 11),
        "any-seven": F(5, 6), "eleven": F(8, 9), "any-craps": F(8, 9), "craps-2": F(31, 36), "craps-12": F(31, 36),
        "craps-3": F(8, 9), "horn": F(7, 8), "world": F(13, 15), "three-way": F(47, 54), "hop 30:1": F(31, 36),
        "hop 15:1": F(8, 9),
    },
    MONACO: LINES | NUMBERS | ODDS | {
        "place 9:5": F(14, 15), "place 7:5": F(24, 25), "place 7:6": F(65, 66), "hard x8": F(8, 9), "hard x10": F(10, 11),
        "big": F(10, 11), "any-craps": F(8, 9), "c-and-e": F(31, 36), "high-low": F(8, 9),
    } | dict.fromkeys(
        (
            *("seven", "eleven", "craps-2", "craps-3", "craps-12", "horn", "seven-eleven", "three-way", "world"),
            *("horn-high-11", "horn-high-3", "horn-high-12", "horn-high-2", "hop x30", "hop x15"),
        ),
        F(5, 6),
    ),
}  # fmt: skip


@pytest.mark.parametrize("house", RETURNS)
@pytest.mark.requirement("P-07", "S-41", "S-42", "S-43", "S-44")
def test_every_bet_has_the_known_return(house):
    bets = analyse(load_game(house)).bets
    assert {bet.bet: bet.rtp for bet in bets} == RETURNS[house]
    for bet in bets:
        assert bet.distribution.compute_moment(1) == bet.rtp * bet.cost_credits
        assert bet.distribution.compute_variance() == bet.variance
        assert bet.max_win_credits == max(bet.distribution.case_count_by_win)
        assert not bet.distribution.unlisted_probability
    assert {bet.bet: bet.rtp for bet in analyse(load_game(house), AnalysisDepth.RETURN).bets} == RETURNS[
        house
    ]


@pytest.mark.requirement("P-07")
def test_line_bets_have_the_known_distributions():
    found = {bet.bet: bet.distribution for bet in analyse(load_game(QUEBEC)).bets}
    shares = {
        name: {win: F(n, law.case_count) for win, n in law.case_count_by_win.items()}
        for name, law in found.items()
    }
    assert shares["pass"] == shares["come"] == {0: F(251, 495), 2: F(244, 495)}
    assert shares["dontpass"] == shares["dontcome"] == {0: F(244, 495), 1: F(1, 36), 2: F(949, 1980)}
    assert shares["hard 9:1"] == {0: F(10, 11), 10: F(1, 11)}
    assert shares["buy 2:1"] == {0: F(2, 3), 60: F(1, 3)}
    assert shares["lay 5:6"] == {0: F(5, 11), 44: F(6, 11)}
    assert shares["world"] == {0: F(24, 36), 5: F(6, 36), 16: F(4, 36), 31: F(2, 36)}


@pytest.mark.requirement("P-07")
def test_the_bets_decided_per_throw_are_those_of_the_stationary_table():
    """Bets are renewed at once; the stationary shares of the points give how often each is staked."""
    ways = {n: 6 - abs(n - 7) for n in range(2, 13)}
    points = (4, 5, 6, 8, 9, 10)
    share = {None: F(165, 557)} | {n: F(165, 557) * F(ways[n], ways[n] + 6) for n in points}
    assert sum(share.values()) == 1
    for n in points:  # the inflow of a point equals its outflow and that of a come-out
        assert share[n] == share[None] * F(ways[n], 36) + share[n] * (1 - F(ways[n] + 6, 36))
    assert share[None] == COME_OUT_SHARE_OF_THROWS
    rules_by_spot = load_game(QUEBEC).rules.rules_by_spot
    assert (
        compute_bets_per_throw(rules_by_spot["pass"])
        == compute_bets_per_throw(rules_by_spot["dontpass"])
        == F(165, 557)
    )
    assert compute_bets_per_throw(rules_by_spot["come"]) == F(392, 557)
    assert compute_bets_per_throw(rules_by_spot["odds-pass"], 6) == F(165, 557) * F(5, 36)
    assert compute_bets_per_throw(rules_by_spot["odds-dontcome-4"]) == F(392, 557) * F(3, 36)
    assert compute_bets_per_throw(rules_by_spot["right-6"]) == F(11, 36) * F(392, 557)
    assert compute_bets_per_throw(rules_by_spot["lay-5"]) == F(10, 36)
    assert compute_bets_per_throw(rules_by_spot["hard-8"]) == F(11, 36) * F(392, 557)
    assert compute_bets_per_throw(load_game(MONACO).rules.rules_by_spot["hard-8"]) == F(11, 36)
    assert compute_bets_per_throw(rules_by_spot["field"]) == 1
    notes = {bet.bet: bet.notes[0] for bet in analyse(load_game(QUEBEC)).bets}
    assert (
        "3.3757 throws on average (557/165); the house edge is 7/495 of each bet, 7/1671 per throw"
        in notes["pass"]
    )
    assert f"{F(1, 66) * F(11, 36) * F(392, 557)} (0.3258 %) per throw of the table" in notes["right 7:6"]


class Dice:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def below(self, bound, purpose):
        return self.random.randrange(bound)


def play_each(house, games, seed):
    """Play every bet to its end ``rounds`` times, and compare the result with its figures."""
    game, dice = load_game(house), Dice(seed)
    for bet in analyse(game).bets:
        tally = play_batch(game, bet.cost_credits, bet.options, games, dice, table_state=bet.table)
        assert set(tally.game_count_by_win) <= set(bet.distribution.case_count_by_win), bet.bet
        assert abs(judge_return(tally, bet.cost_credits, bet.rtp, bet.variance).z_score) < 4, bet.bet


@pytest.mark.parametrize("house", RETURNS)
@pytest.mark.requirement("R-10", "B-08")
def test_every_bet_played_to_its_end_agrees_with_its_figures(house):
    play_each(house, 40, 95)


@pytest.mark.slow
@pytest.mark.parametrize("house", RETURNS)
@pytest.mark.requirement("R-10", "B-08")
def test_every_bet_played_thousands_of_times_agrees_with_its_figures(house):
    play_each(house, 4_000, 951)


def compute_distribution_by_brute_force(rules_by_spot, bets, point, instructed, depth=60):
    """Return the distribution of what bets pay, over every sequence of throws until little probability is left."""
    from rigs.craps_text import settle_throw

    ahead = {(tuple(sorted(bets.items())), point, 0): 1.0}
    law = {}
    for _ in range(depth):
        after = {}
        for (bets_left, now, back), share in ahead.items():
            for a, b in product(range(1, 7), repeat=2):
                given, still, then = settle_throw(rules_by_spot, dict(bets_left), now, instructed, a, b)
                total = back + sum(given.values())
                if still:
                    key = (tuple(sorted(still.items())), then, total)
                    after[key] = after.get(key, 0) + share / 36
                else:
                    law[total] = law.get(total, 0) + share / 36
        ahead = after
    return law, sum(ahead.values())


@pytest.mark.parametrize(
    ("house", "bets"),
    [
        (QUEBEC, {"pass": 10, "right-6": 12, "hard-6": 2}),
        pytest.param(
            QUEBEC, {"dontpass": 10, "lay-4": 41, "buy-9": 21, "any-seven": 1}, marks=pytest.mark.slow
        ),
        pytest.param(MONACO, {"pass": 10, "place-6": 6, "big-6": 3, "world": 5}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.requirement("P-07")
def test_several_bets_together_have_their_joint_distribution(house, bets):
    game = load_game(house)
    bet = game.rules.analyse_wager(game.build_wager(sum(bets.values()), bets=bets))
    law, share_left = compute_distribution_by_brute_force(house, bets, None, ())
    assert share_left < 1e-3
    assert set(bet.distribution.case_count_by_win) == set(law)
    assert all(
        abs(bet.distribution.case_count_by_win[win] / bet.distribution.case_count - share) <= share_left
        for win, share in law.items()
    )
    alone = {bet.bet: bet for bet in analyse(game).bets}
    means = {
        spot_rules.id: alone[spot_rules.group].rtp * bets[spot_rules.id]
        for spot_rules in game.rules.rules_by_spot.values()
        if spot_rules.id in bets
    }
    assert bet.rtp * bet.cost_credits == sum(means.values())


@pytest.mark.requirement("P-07")
def test_added_bets_are_analysed_with_the_bets_that_stand_on_the_table():
    game = load_game(QUEBEC)
    table = {
        "point": 6,
        "shooter": 0,
        "bets": [{"spot": "pass", "credits": 2}, {"spot": "come-4", "credits": 3}],
        "told": [],
    }
    game_at_table = game.with_table_state(table)
    bet = game_at_table.rules.analyse_wager(
        game_at_table.build_wager(19, bets={"odds-pass": 10, "odds-come-4": 9})
    )
    assert (bet.rtp, bet.max_win_credits) == (1, 22 + 27)
    assert bet.prizes[1].stage_or_spot == "odds-come-4"
    # its odds are returned if a come-out decides the come bet, because they are off on the next come-out
    assert {prize.name for prize in bet.prizes} == {"won", "push"}
    nothing = game_at_table.rules.analyse_wager(game_at_table.build_wager(0))
    assert (nothing.cost_credits, nothing.distribution.case_count_by_win) == (0, {0: 1})


@pytest.mark.requirement("P-07")
def test_a_table_full_of_bets_has_an_exact_variance_without_a_distribution(monkeypatch):
    game = load_game(QUEBEC)
    bets = {f"right-{n}": 30 for n in (4, 5, 6, 8, 9, 10)} | {
        "hard-4": 1,
        "pass": 5,
        "field": 5,
        "hop-1-2": 1,
    }
    wager = game.build_wager(sum(bets.values()), bets=bets)
    few = {name: bets[name] for name in ("right-4", "right-6", "pass", "field")}
    small = game.build_wager(sum(few.values()), bets=few)
    exact = game.rules.analyse_wager(small)
    wide = game.rules.analyse_wager(wager)
    assert wide.distribution is None
    assert wide.variance > exact.variance
    assert wide.max_win_credits == 84 + 72 + 65 + 65 + 72 + 84 + 8 + 10 + 15 + 16
    monkeypatch.setattr("paytables.craps.figures.CHAIN_STATES_MAX", 3)
    bounded = game.rules.analyse_wager(small)
    assert bounded.distribution is None
    assert (bounded.variance, bounded.rtp) == (exact.variance, exact.rtp)
    assert bounded.max_win_credits >= exact.max_win_credits


@pytest.mark.requirement("P-07", "F-11")
def test_the_highest_return_of_a_throw_counts_standing_bets_that_can_win_together():
    game = load_game(QUEBEC)
    assert (
        game.rules.find_highest_round_return(
            game.build_wager(7, bets={"pass": 5, "craps-2": 1, "craps-12": 1})
        )
        == 31
    )  # 12 loses the pass
    game_at_table = game.with_table_state(
        {"point": 6, "shooter": 0, "bets": [{"spot": "pass", "credits": 5}], "told": []}
    )
    assert (
        game_at_table.rules.find_highest_round_return(game_at_table.build_wager(25, bets={"odds-pass": 25}))
        == 10 + 55
    )
    # a 6 wins the pass bet, and a come bet that has moved there
    assert (
        game_at_table.rules.find_highest_round_return(
            game_at_table.build_wager(8, bets={"come": 5, "field": 3})
        )
        == 20
    )
    assert (
        game_at_table.rules.find_highest_round_return(game_at_table.build_wager(21, bets={"buy-4": 21})) == 60
    )  # and 7 loses both


# ---------------------------------------------------------------------------------- ways to play
@pytest.mark.requirement("P-07")
def test_odds_bets_lower_the_house_edge_to_the_known_values():
    rules = load_game(QUEBEC).rules
    plain, odds, dont = (
        analyse_named_strategy(name, rules) for name in ("pass", "pass-odds", "dontpass-odds")
    )
    assert 1 - plain.rtp_of_all_staked == F(7, 495)
    assert odds.mean_staked_credits == 1 + F(2 * (3 * 3 + 4 * 4 + 5 * 5), 36)
    assert 1 - odds.rtp_of_all_staked == F(7, 495) / odds.mean_staked_credits == F(7, 1870)
    assert dont.mean_staked_credits == 1 + 6 * F(24, 36)
    assert 1 - dont.rtp_of_all_staked == F(3, 220) / 5
    assert odds.rtp == plain.rtp == F(488, 495)  # of each credit first staked: odds cost nothing


def list_molly_bets():
    """Return the three-point molly: its stakes per throw on lines and odds, by the point and the come bets."""
    ways = {n: 6 - abs(n - 7) for n in range(2, 13)}
    times = {4: 3, 10: 3, 5: 4, 9: 4, 6: 5, 8: 5}
    now, lines, odds = {(None, frozenset()): 1.0}, 0.0, 0.0
    for _ in range(300):
        after = {}
        lines = odds = 0.0
        for (point, comes), share in now.items():
            comes_now = point is not None and len(comes) < 2
            lines += share * ((point is None) + comes_now)
            for total, n in ways.items():
                p = share * n / 36
                comes_left = frozenset() if total == 7 else comes - {total}
                if comes_now and total in times:
                    comes_left |= {total}
                    odds += p * times[total]
                if point is None:
                    then = total if total in times else None
                    odds += p * times.get(total, 0)
                else:
                    then = None if total in {7, point} else point
                after[then, comes_left] = after.get((then, comes_left), 0) + p
        now = after
    return lines, odds


@pytest.mark.requirement("P-07")
def test_three_point_molly_stakes_and_loses_as_its_stationary_table_states():
    analysis = analyse_named_strategy("three-point-molly", load_game(QUEBEC).rules)
    lines, odds = list_molly_bets()
    lost = (1 - analysis.rtp_of_all_staked) * analysis.mean_staked_credits
    throws = F(analysis.notes[0].split("average (")[1].split(")")[0])
    assert float(analysis.mean_staked_credits / throws) == pytest.approx(lines + odds, abs=1e-9)
    assert float(lost / throws) == pytest.approx(lines * 7 / 495, abs=1e-9)


@pytest.mark.requirement("P-07")
def test_a_strategy_adds_the_bets_that_are_missing_on_the_table():
    game = load_game(QUEBEC)
    way = next(
        strategy for strategy in game.rules.definition.strategies if strategy.id == "three-point-molly"
    )
    assert find_strategy_bets(way, game.rules) == {"pass": 1}
    bets = [{"spot": "pass", "credits": 1}, {"spot": "come-9", "credits": 1}]
    game_at_table = game.with_table_state({"point": 8, "shooter": 0, "bets": bets, "told": []})
    assert find_strategy_bets(way, game_at_table.rules) == {"come": 1, "odds-pass": 5, "odds-come-9": 4}
    bets.append({"spot": "come-4", "credits": 1})
    assert find_strategy_bets(way, game.with_table_state({"point": 8, "shooter": 0, "bets": bets, "told": []}).rules) == {
        "odds-pass": 5, "odds-come-9": 4, "odds-come-4": 3,
    }  # fmt: skip


@pytest.mark.requirement("P-07")
def test_an_invalid_strategy_in_a_definition_is_refused():
    data = parse(read_source(QUEBEC))
    text = {"en": "x", "fr": "x"}
    data["strategy"] = [
        {"id": "nowhere", "name": text, "keep": {"odd": 1}},
        {"id": "alone", "name": text, "keep": {"field": 1}},
        {
            "id": "wide",
            "name": text,
            "keep": {"pass": 1, "come": 1, "dontcome": 1, "right-6": 6, "right-8": 6},
            "odds": True,
        },
    ]
    rules = build_game(data, "f.toml").rules
    with pytest.raises(AnalysisError, match="strategy nowhere: there is no spot 'odd'"):
        analyse_named_strategy("nowhere", rules)
    with pytest.raises(AnalysisError, match="strategy alone, point None: bets: the shooter of a come-out"):
        analyse_named_strategy("alone", rules)
    with pytest.raises(AnalysisError, match="strategy wide: more than 500 states"):
        analyse_named_strategy("wide", rules)
    with pytest.raises(AnalysisError, match="no strategy 'molly'; there are: nowhere, alone, wide"):
        analyse_named_strategy("molly", rules)
    with pytest.raises(AnalysisError, match="can only be named for craps"):
        analyse_named_strategy("molly", load_game("river-wheel").rules)


@pytest.mark.requirement("P-07")
def test_the_markov_chain_of_a_single_bet_equals_that_of_the_table():
    rules_by_spot = load_game(QUEBEC).rules.rules_by_spot
    from paytables import Bet

    chain = BetReturnChain(rules_by_spot)
    for point in (None, 4, 6, 9):
        wins = chain.compute_return_chances(CrapsState(point, 0, (Bet("right-5", 5),)))
        assert wins == {0: F(3, 5), 12: F(2, 5)}
