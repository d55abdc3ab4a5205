"""Signs that two positions play together, from the journal of a poker room and from rounds with known flows."""

import json
from random import Random

import pytest
from click.testing import CliRunner
from rigs.positions import open_positions

from egm.kernel.events import EventType
from egm.kernel.messages import Decision
from egm.seats.answers import answer_overdue_turns, take_recorded_steps
from egm.seats.table import SharedTable
from tools.audit.collusion import ROUNDS_MIN, Pair, RoundResult, compute_pair_flows
from tools.cli import main

GAME, CENTS = "quebec-texas-holdem-room", 25


def find_asked(rooms):
    """Return the position that is asked, with its message; None once nobody is."""
    told = [(rig, rig.hands.told[-1]) for rig in rooms]
    return next(((rig, each) for rig, each in told if isinstance(each, Decision) and each.options), None)


def play_round(rooms, choose):
    """Play a round of poker with stakes of 200; ``choose`` returns each position's answer."""
    table = rooms[0].machine.component(SharedTable)
    for rig in rooms:
        rig.engine.handle(EventType.BET, value=200, options={"bets": {"stack": 200}})
        rig.engine.handle(EventType.PLAY)
    table.close_betting(rooms[0].machine.games[GAME].digest)
    take_recorded_steps(table)
    answer_overdue_turns(table)
    while (asked := find_asked(rooms)) is not None:
        rig, decision = asked
        rig.engine.handle(EventType.CHOOSE, value=choose(rig.machine.position.number, decision))
        take_recorded_steps(table)
    for rig in rooms:
        rig.report_shown()


def dump_chips(position, decision):
    """Position 1 raises up to more than half of its stakes and folds to position 2, which raises every time."""
    own = next(hand for hand in decision.display["hands"] if hand.get("own"))
    if position == 1 and own["staked"] >= 100 and "fold" in decision.options:
        return "fold"
    raises = [option for option in decision.options if option in {"raise", "bet", "half-pot", "pot"}]
    others = ("call", "check") if position == 1 else ("all-in", "call", "check")
    return raises[-1] if raises else next(each for each in others if each in decision.options)


def check(position, decision):
    return next(each for each in ("check", "call", "fold") if each in decision.options)


def list_signs(folder):
    done = CliRunner().invoke(main, ["register", "collusion", "--state", str(folder), "--json"])
    assert done.exit_code in {0, 1}, done.output
    lines = json.loads(done.output)
    assert done.exit_code == any(line["verdict"] == "judge" for line in lines)
    return lines


@pytest.mark.requirement("S-56")
def test_folds_after_large_bets_are_reported_with_the_amounts_and_checked_hands_are_not(tmp_path):
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
def test_money_that_always_goes_one_way_is_a_sign_and_even_luck_is_none():
    def play(flow_cents):
        """Position 3 wins and loses at random; position 2 wins ``flow_cents`` from position 1."""
        rng = Random(5)
        for _ in range(ROUNDS_MIN):
            luck = rng.choice((-300, 300))
            yield RoundResult("2026-11-28", GAME, {1: -flow_cents - luck, 2: flow_cents, 3: luck})

    signs = {flow.pair: flow for flow in compute_pair_flows(play(400)) if flow.is_sign}
    assert [*signs] == [Pair("2026-11-28", GAME, 1, 2)]
    rng = Random(7)
    even = [
        RoundResult("2026-11-28", GAME, {1: cents, 2: -cents})
        for cents in (rng.choice((-1, 1)) * rng.randrange(100, 900) for _ in range(200))
    ]
    ((flow),) = compute_pair_flows(even)
    assert (flow.is_sign, flow.rounds) == (False, 200)
    assert flow.net_cents == abs(sum(each.net_cents[1] for each in even))
