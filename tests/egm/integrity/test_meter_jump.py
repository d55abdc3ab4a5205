"""A master meter that would move too far at once: nothing moves, the machine tilts and says so, and goes on after."""

from dataclasses import replace

import pytest

from egm.kernel.events import EventType, State
from egm.money.disputed import list_disputed_amounts
from egm.testing.machine import MachineRig
from meters import open_view
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

TECHNICIAN = {"person": "4", "persons": ("4",)}


@pytest.fixture
def room(tmp_path):
    made = MachineRig(tmp_path, devices=("printer",)).boot()
    yield made
    made.close()
    with open_view(tmp_path) as view:
        assert Auditor(Shelf()).run(view.iter_bodies()).findings == []


def limit(room, **most_cents):
    """What a profile with such limits gives the journal."""
    limits = {name.replace("_", ":"): cents for name, cents in most_cents.items()}
    room.journal._policy = replace(room.journal._policy, increment_max_cents=limits)


def settle(room):
    room.engine.handle(EventType.MENU, key="operator")
    room.engine.handle(EventType.FAULTS_SETTLED, form="settle_faults", finding="the limit", **TECHNICIAN)
    room.engine.handle(EventType.MENU_CLOSED, why="key")


def jumped(room, account, before):
    """A tilt that says what would have moved; nothing has."""
    assert room.state is State.TILT
    standing = room.machine.faults["meter_jump"]
    assert account in standing["detail"]
    assert (standing["cleared_by"], standing["locks"]) == ("technician", True)
    assert (room.credit_cents, room.journal.credits_cents()) == (before, before)
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert room.state is State.TILT


def rule(room, amount_cents):
    """Two persons decide what is in the box."""
    (disputed,) = list_disputed_amounts(room.machine)
    room.engine.handle(EventType.MENU, key="operator")
    room.engine.handle(
        EventType.DISPUTED_AMOUNT_RULING,
        form="disputed",
        disputed=disputed,
        amount_cents=amount_cents,
        reason="counted",
        person="2",
        persons=("2", "5"),
    )
    room.engine.handle(EventType.MENU_CLOSED, why="key")
    assert not list_disputed_amounts(room.machine)


@pytest.mark.requirement("A-26")
def test_a_bill_that_moves_its_meter_too_far_is_a_disputed_amount(room):
    limit(room, world_bill=1000)
    room.offer(2000)
    room.ledger.credit_stacked_paper()
    jumped(room, "world:bill", 0)
    assert room.ledger.find_open() is None
    rule(room, 2000)
    settle(room)
    assert room.state is State.IDLE
    limit(room)
    assert room.insert(2000).credit_cents == 2000


@pytest.mark.requirement("A-26")
def test_coins_that_move_their_meter_too_far_are_a_disputed_amount(room):
    limit(room, world_coin=500)
    room.ledgers.coins.credit_coins_in(((100, True),) * 6, 6)
    jumped(room, "world:coin", 0)
    assert room.ledgers.coins.event_mark() == 6
    rule(room, 600)
    settle(room)
    room.ledgers.coins.credit_coins_in(((100, True),), 7)
    assert (room.state, room.credit_cents) == (State.IDLE, 100)


@pytest.mark.requirement("A-26")
def test_a_wager_that_moves_its_meter_too_far_is_not_played(room):
    room.insert(2000)
    limit(room, house_wager=1)
    room.play()
    jumped(room, "house:wager", 2000)
    assert not room.records("game.start")
    settle(room)
    assert room.state is State.IDLE


@pytest.mark.requirement("A-26")
def test_a_win_that_moves_its_meter_too_far_stays_owed(room):
    room.insert(2000)
    room.play()
    while not room.records("game.start")[-1]["outcome"]["win_credits"]:
        room.report_shown()
        room.play()
    before = room.credit_cents
    limit(room, house_win=0)
    room.report_shown()
    jumped(room, "house:win", before)
    assert room.machine.memory.get("game") is not None
    limit(room)
    settle(room)
    assert room.state is State.PLAYING
    room.report_shown()
    assert room.credit_cents > before
