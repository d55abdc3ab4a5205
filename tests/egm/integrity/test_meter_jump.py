"""An entry above a meter's increment limit is not written; the machine tilts, and continues after a ruling."""

from dataclasses import replace

import pytest

from egm.kernel.events import EventType, State
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.testing.machine import MachineRig
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

TECHNICIAN = {"person": "4", "persons": ("4",)}


@pytest.fixture
def rig(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    yield rig
    rig.close()
    with open_view(tmp_path) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


def limit(rig, **max_cents):
    """Set the increment limits of the journal, as a profile with such limits does."""
    limits = {name.replace("_", ":"): cents for name, cents in max_cents.items()}
    rig.journal._policy = replace(rig.journal._policy, increment_max_cents=limits)


def settle(rig):
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    rig.engine.handle(
        EventType.CLEAR_FAULTS_AS_TECHNICIAN, form="settle_faults", finding="the limit", **TECHNICIAN
    )
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")


def assert_meter_jump(rig, account, before):
    """Assert that the machine tilts, names the account that would have moved, and has moved nothing."""
    assert rig.state is State.TILT
    active_fault = rig.machine.active_faults["meter_jump"]
    assert account in active_fault["detail"]
    assert (active_fault["cleared_by"], active_fault["locks"]) == ("technician", True)
    assert (rig.credit_cents, rig.journal.credits_cents()) == (before, before)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.state is State.TILT


def rule(rig, amount_cents):
    """Record the ruling of two people on the disputed amount."""
    (disputed,) = read_disputed_amounts_by_id(rig.machine)
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    rig.engine.handle(
        EventType.RULE_ON_DISPUTED_AMOUNT,
        form="disputed",
        disputed=disputed,
        amount_cents=amount_cents,
        reason="counted",
        person="2",
        persons=("2", "5"),
    )
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    assert not read_disputed_amounts_by_id(rig.machine)


@pytest.mark.requirement("A-26")
def test_a_bill_above_the_meter_increment_limit_is_a_disputed_amount(rig):
    limit(rig, world_bill=1000)
    rig.offer(2000)
    rig.escrow_ledger.credit_stacked_paper()
    assert_meter_jump(rig, "world:bill", 0)
    assert rig.escrow_ledger.find_open() is None
    rule(rig, 2000)
    settle(rig)
    assert rig.state is State.IDLE
    limit(rig)
    assert rig.insert(2000).credit_cents == 2000


@pytest.mark.requirement("A-26")
def test_coins_above_the_meter_increment_limit_are_a_disputed_amount(rig):
    limit(rig, world_coin=500)
    rig.device_ledgers.coin_ledger.credit_coins_in(((100, True),) * 6, 6)
    assert_meter_jump(rig, "world:coin", 0)
    assert rig.device_ledgers.coin_ledger.find_exchange_progress() == 6
    rule(rig, 600)
    settle(rig)
    rig.device_ledgers.coin_ledger.credit_coins_in(((100, True),), 7)
    assert (rig.state, rig.credit_cents) == (State.IDLE, 100)


@pytest.mark.requirement("A-26")
def test_a_wager_above_the_meter_increment_limit_starts_no_game(rig):
    rig.insert(2000)
    limit(rig, house_wager=1)
    rig.play()
    assert_meter_jump(rig, "house:wager", 2000)
    assert not rig.records("game.start")
    settle(rig)
    assert rig.state is State.IDLE


@pytest.mark.requirement("A-26")
def test_a_win_above_the_meter_increment_limit_stays_owed_until_it_is_settled(rig):
    rig.insert(2000)
    rig.play()
    while not rig.records("game.start")[-1]["outcome"]["win_credits"]:
        rig.report_shown()
        rig.play()
    before = rig.credit_cents
    limit(rig, house_win=0)
    rig.report_shown()
    assert_meter_jump(rig, "house:win", before)
    assert rig.machine.memory.get("game") is not None
    limit(rig)
    settle(rig)
    assert rig.state is State.PLAYING
    rig.report_shown()
    assert rig.credit_cents > before
