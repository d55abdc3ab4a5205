"""Signs that two positions play together, in the journal of a poker room and in rounds with given flows of credits."""

import json
from collections import Counter
from itertools import permutations
from random import Random

import pytest
from click.testing import CliRunner
from rigs.positions import open_positions

from egm.kernel.events import EventType
from egm.kernel.messages import DecisionRequest
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns
from egm.seats.table import SharedTables
from tools.audit.collusion import SIGNIFICANT_ROUNDS_MIN, PositionPair, RoundResult, compute_pair_flows
from tools.cli import main

GAME, CENTS = "quebec-texas-holdem-room", 25


def find_asked(rooms):
    """Return the position with a pending decision and its message, or None."""
    messages_by_rig = [(rig, rig.hands.messages[-1]) for rig in rooms]
    return next(
        (
            (rig, message)
            for rig, message in messages_by_rig
            if isinstance(message, DecisionRequest) and message.options
        ),
        None,
    )


def play_round(rooms, choose):
    """Play a round of poker with stakes of 200; ``choose`` returns the answer of each position."""
    table = rooms[0].machine.component(SharedTables)
    for rig in rooms:
        rig.engine.handle(EventType.SELECT_BET, value=200, options={"bets": {"stack": 200}})
        rig.engine.handle(EventType.PLAY)
    table.close_betting(rooms[0].machine.games[GAME].digest)
    apply_recorded_steps(table)
    decide_overdue_turns(table)
    while (question := find_asked(rooms)) is not None:
        rig, decision = question
        rig.engine.handle(EventType.CHOOSE, value=choose(rig.machine.position.number, decision))
        apply_recorded_steps(table)
    for rig in rooms:
        rig.report_shown()


def dump_chips(position, decision):
    """Choose so that position 1 raises to over half of its stakes, then folds to position 2, which always raises."""
    own_hand = next(hand for hand in decision.display["hands"] if hand.get("own"))
    if position == 1 and own_hand["staked"] >= 100 and "fold" in decision.options:
        return "fold"
    raises = [option for option in decision.options if option in {"raise", "bet", "half-pot", "pot"}]
    others = ("call", "check") if position == 1 else ("all-in", "call", "check")
    return raises[-1] if raises else next(option for option in others if option in decision.options)


def check(position, decision):
    return next(option for option in ("check", "call", "fold") if option in decision.options)


def list_signs(folder):
    result = CliRunner().invoke(main, ["register", "collusion", "--state", str(folder), "--json"])
    assert result.exit_code in {0, 1}, result.output
    lines = json.loads(result.output)
    assert result.exit_code == any(line["verdict"] == "judge" for line in lines)
    return lines


@pytest.mark.requirement("S-56")
def test_folds_after_large_bets_are_reported_with_amounts_and_checked_hands_are_not(tmp_path):
    with open_positions(tmp_path) as start:
        rooms = start(GAME, count=2)
        for rig in rooms:
            rig.insert(10_000)
        play_round(rooms, check)
        usual = [rig.credit_cents for rig in rooms]
        assert [line["verdict"] for line in list_signs(tmp_path)] in ([], ["usual"])
        for _ in range(2):
            for rig in rooms:
                rig.insert(10_000)
            play_round(rooms, dump_chips)
        won_cents = rooms[1].credit_cents - usual[1] - 20_000
    ((line),) = list_signs(tmp_path)
    assert (line["verdict"], line["large_folds"]) == ("judge", 2)
    assert (line["loser"], line["winner"], line["game"]) == (1, 2, GAME)
    assert line["largest_cents"] <= won_cents
    assert won_cents > 0


@pytest.mark.requirement("S-56")
def test_money_that_always_flows_one_way_is_significant_and_balanced_wins_are_not():
    def play(flow_cents):
        """Position 3 wins and loses at random; position 2 wins ``flow_cents`` from position 1."""
        rng = Random(5)
        for _ in range(SIGNIFICANT_ROUNDS_MIN):
            luck = rng.choice((-300, 300))
            yield RoundResult("2026-11-28", GAME, {1: -flow_cents - luck, 2: flow_cents, 3: luck})

    signs = {flow.pair: flow for flow in compute_pair_flows(play(400)) if flow.is_significant}
    assert [*signs] == [PositionPair("2026-11-28", GAME, 1, 2)]
    rng = Random(7)
    even = [
        RoundResult("2026-11-28", GAME, {1: cents, 2: -cents})
        for cents in (rng.choice((-1, 1)) * rng.randrange(100, 900) for _ in range(200))
    ]
    ((flow),) = compute_pair_flows(even)
    assert (flow.is_significant, flow.round_count) == (False, 200)
    assert flow.net_cents == abs(sum(round_result.net_cents[1] for round_result in even))


def build_rounds(folds, count, positions=6):
    """Return ``count`` rounds of a room; ``folds`` contains the number of large folds by loser and winner."""
    pairs = list(permutations(range(1, positions + 1), 2))
    folds_left = Counter(folds)
    for number in range(count):
        loser, winner = pairs[number % len(pairs)]
        is_fold = folds_left[loser, winner] > 0
        folds_left[loser, winner] -= is_fold
        yield RoundResult(
            "2026-11-28", GAME, {loser: -100, winner: 100}, frozenset({loser} if is_fold else ())
        )


def list_accused(folds, count):
    flows = compute_pair_flows(build_rounds(folds, count))
    return [(flow.pair.loser, flow.pair.winner) for flow in flows if flow.is_significant]


@pytest.mark.requirement("S-56")
def test_nobody_is_reported_in_a_room_where_everybody_folds_after_large_bets():
    everybody = dict.fromkeys(permutations(range(1, 7), 2), 2)
    assert list_accused(everybody, 600) == []
    assert list_accused({(1, 2): 1}, 600) == []
    assert list_accused({(1, 2): 2}, 600) == [(1, 2)]  # no other player did so in 580 rounds
    assert list_accused(everybody | {(1, 2): 15}, 600) == [(1, 2)]


@pytest.mark.requirement("S-56")
def test_folds_after_large_bets_are_significant_even_if_the_net_flow_is_the_other_way():
    rounds = [RoundResult("2026-11-28", GAME, {1: -100, 2: 100}, frozenset({1}))] * 4
    rounds.append(RoundResult("2026-11-28", GAME, {1: 900, 2: -900}))
    ((flow),) = compute_pair_flows(rounds)
    assert flow.pair == PositionPair("2026-11-28", GAME, 2, 1)
    assert (flow.to_json()["large_folds"], flow.to_json()["large_folds_back"]) == (0, 4)
    assert flow.is_significant


@pytest.mark.requirement("S-56")
def test_equal_folds_in_both_directions_over_thousands_of_rounds_are_not_significant():
    fold = RoundResult("2026-11-28", GAME, {1: -100, 2: 100}, frozenset({1}))
    other = RoundResult("2026-11-28", GAME, {2: -100, 1: 100}, frozenset({2}))
    ((flow),) = compute_pair_flows([fold, other] * 3000)
    assert not flow.is_significant
