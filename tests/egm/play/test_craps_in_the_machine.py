"""Craps on a complete machine: random bets and throws, players who leave, and the audit of the games."""

import random

import pytest
from rigs.craps_text import (
    MONACO,
    QUEBEC,
    apply_changes,
    compute_take_down_return,
    kind_and_number,
    propose_changes,
    settle_throw,
)

from egm.kernel.events import EventType, State
from egm.play.records.tables import list_tables_with_standing_bets
from egm.testing.machine import MachineRig, ScriptedGenerator
from paytables import load_game
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

CENTS = 25


def split_bets_on_departure(house, bets, point):
    """Return what a leaving player is paid, and what stays: pass and come, and Monaco's minimum on don't pass."""
    back, stays = 0, {}
    for spot, credits_ in bets.items():
        kind, _ = kind_and_number(spot)
        if kind in {"pass", "come"}:
            stays[spot] = credits_
        elif kind == "dontpass" and house == MONACO:
            stays[spot] = 1
            back += credits_ - 1
        else:
            back += compute_take_down_return(spot, credits_)
    return back, stays


@pytest.mark.parametrize("house", [QUEBEC, MONACO])
@pytest.mark.requirement("D-15", "F-08", "P-07")
def test_random_bets_on_a_craps_table_balance_to_the_cent(tmp_path, house):
    rig = MachineRig(tmp_path / "m", games=(house,), generator=ScriptedGenerator()).boot()
    generator, spots = random.Random(8), [spot.id for spot in load_game(house).rules.list_spots()]
    bets, point, credit, staked, back = {}, None, 0, 0, 0
    rounds = departures = 0
    while rounds < 60:
        while credit < 30_000:
            rig.insert(10_000)
            credit += 10_000
        if generator.random() < 0.05 and bets:
            given, bets = split_bets_on_departure(house, bets, point)
            given = int(given * CENTS)
            rig.engine.handle(EventType.CASH_OUT)
            departures += given > 0
            assert read_standing_bets(rig) == bets
            back += given
            point = point if bets else None
            if bets and not given:
                assert rig.notice == "bets_stay"
            if rig.state is State.HANDPAY:
                rig.engine.handle(EventType.KEY_TURNED, key="attendant")
                credit = 0
            else:
                credit += given
            assert rig.credit_cents == credit
            continue
        change = propose_changes(house, spots, point, bets, generator)
        laid = apply_changes(house, point, bets, change)
        cost = sum(credits_ for credits_ in change.values() if credits_ > 0)
        if laid is None or cost * CENTS > 10_000:  # the profile's highest cost of a game
            continue
        dice = generator.randrange(6), generator.randrange(6)
        rig.machine.random_service.values += dice
        rig.engine.handle(EventType.SELECT_BET, value=cost, options={"bets": change})
        rig.play()
        assert rig.state is State.PLAYING, (rig.notice, change)
        rig.report_shown()
        given, bets, point = settle_throw(house, laid, point, (), dice[0] + 1, dice[1] + 1)
        won = sum(given.values()) + sum(
            compute_take_down_return(spot, -credits_) for spot, credits_ in change.items() if credits_ < 0
        )
        staked += cost * CENTS
        back += int(won * CENTS)
        credit += int(won * CENTS) - cost * CENTS
        assert (rig.credit_cents, read_standing_bets(rig)) == (credit, bets)
        rounds += 1
    assert departures > 1
    meters = rig.journal.meters().values
    assert (meters["coin_in"], meters["coin_out"]) == (staked, back)
    assert meters["games_played"] == rounds
    rig.journal.self_audit()
    assert Auditor(GameFiles(())).audit_entries(rig.journal.iter_bodies()).findings == []
    rig.close()


def read_standing_bets(rig):
    """Return the standing bets in the machine's memory as credits by spot."""
    tables = list_tables_with_standing_bets(rig.machine)
    found = {}
    for table in tables:
        found |= {bet["spot"]: bet["credits"] for bet in table.table_state["bets"]}
        assert table.standing_bets_cents == sum(found.values()) * CENTS
    return found
