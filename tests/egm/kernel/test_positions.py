"""Several player positions on one machine: separate credits, games, payouts and meters, in one journal."""

import random

import pytest

from egm.app.features import FEATURES
from egm.app.view import build_snapshot
from egm.devices.interface import PrintState
from egm.errors import InvariantError
from egm.kernel.events import EventType, State
from egm.kernel.keys import ClearAction, KeyOwner, StorageKey, StorageKeys
from egm.kernel.positions import Position
from egm.money.keys import MoneyKey
from egm.play.keys import PlayKey
from egm.testing.machine import GeneratorOutOfService, MachineRig, ScriptedGenerator, write_undeclared_entry
from egm.tickets.model import TicketState

FIRST, SECOND = Position(1, 2), Position(2, 2)


@pytest.fixture
def machine(tmp_path):
    """Return a function that starts the two positions of a machine, for the first time or again."""
    machines: list[tuple[MachineRig, MachineRig]] = []

    def start() -> tuple[MachineRig, MachineRig]:
        if machines:
            machines[-1][0].close()
        first = MachineRig(tmp_path, devices=("printer",), position=FIRST).boot()
        second = MachineRig(tmp_path, devices=("printer",), position=SECOND, first_rig=first).boot()
        machines.append((first, second))
        return machines[-1]

    yield start
    machines[-1][0].close()


def test_every_stored_key_declares_whether_it_belongs_to_a_position_or_the_machine():
    owners = {owner: [key for key in FEATURES.storage_keys if key.owner is owner] for owner in KeyOwner}
    assert all(owners.values())
    for key in owners[KeyOwner.POSITION]:
        assert FEATURES.storage_keys.build_stored_name(key, SECOND) == f"2/{key}"
        assert FEATURES.storage_keys.find_key(f"2/{key}") is key
    for key in owners[KeyOwner.MACHINE]:
        name = f"{key}x" if key.endswith(":") else str(key)
        assert FEATURES.storage_keys.build_stored_name(name, SECOND) == name
    assert FEATURES.storage_keys.build_stored_name("fault:hopper.jam", SECOND) == "2/fault:hopper.jam"
    assert FEATURES.storage_keys.build_stored_name("fault:hopper.jam", FIRST) == "fault:hopper.jam"
    assert FEATURES.storage_keys.build_stored_name("fault:logic.battery", SECOND) == "fault:logic.battery"


def test_nothing_is_stored_under_an_undeclared_key(tmp_path):
    rig = MachineRig(tmp_path).boot()
    with pytest.raises(InvariantError, match="no feature declares the key 'jukebox'"):
        write_undeclared_entry(rig.machine, "jukebox.played", state={"jukebox": 7})
    assert rig.journal.state("jukebox") is None
    rig.close()


def test_two_features_may_not_own_the_same_key():
    class Loud(StorageKey):
        COINS = "coins", ClearAction.KEEP, KeyOwner.POSITION

    class Louder(StorageKey):
        COINS = "coins:", ClearAction.KEEP, KeyOwner.MACHINE

    for kind in (Loud, Louder):
        with pytest.raises(InvariantError, match=f"MoneyKey.LAST_COIN_EVENT and by {kind.__name__}.COINS"):
            StorageKeys((MoneyKey, kind))


@pytest.mark.requirement("O-01", "D-01", "P-04")
def test_two_positions_play_at_once_each_with_its_own_credits_and_game(machine):
    first, second = machine()
    first.insert(2000)
    assert (first.credit_cents, second.credit_cents) == (2000, 0)
    second.play()
    assert second.notice == "refused.bet_is_covered"  # another player's credits are separate
    second.insert(500)
    first.play()
    second.play()
    assert (first.state, second.state) == (State.PLAYING, State.PLAYING)
    assert first.machine.memory.get(PlayKey.GAME) != second.machine.memory.get(PlayKey.GAME)
    second.report_shown()
    assert (first.state, second.state) == (State.PLAYING, State.IDLE)
    first.report_shown()
    first.journal.self_audit()


@pytest.mark.requirement("O-01", "D-01", "D-03")
def test_the_meters_of_the_positions_add_up_to_the_machines(machine):
    first, second = machine()
    first.insert(2000)
    second.insert(500)
    for rig, games in ((first, 5), (second, 3)):
        for _ in range(games):
            rig.play()
            rig.report_shown()
    first.engine.handle(EventType.CASH_OUT)
    reading = first.journal.meters()
    totals, parts = reading.values, [reading.select(position=number).values for number in (1, 2)]
    position_meters = (
        "credits",
        "coin_in",
        "coin_out",
        "bill_in.value",
        "games_played",
        "games_won",
        "games_lost",
        "money_in",
    )
    for name in position_meters:
        assert totals[name] == sum(part[name] for part in parts), name
    assert [part["games_played"] for part in parts] == [5, 3]
    assert [part["bill_in.value"] for part in parts] == [2000, 500]
    assert parts[1]["credits"] == second.credit_cents
    assert parts[1]["coin_in"] == 15


@pytest.mark.requirement("D-01", "O-01")
def test_coins_in_the_cash_box_and_what_is_paid_by_hand_are_counted_at_their_position(machine):
    first, second = machine()
    first.device_ledgers.coin_ledger.credit_coins_in(((100, False),), 1)
    for rig in (first, second):
        rig.insert(10000)
        rig.engine.handle(EventType.SELECT_DENOMINATION, value=100)
        rig.engine.handle(EventType.SELECT_BET, value=3)
    second.machine.random_service = ScriptedGenerator(11, 11, 12)  # the highest prize
    second.play()
    second.report_shown()
    second.engine.handle(EventType.KEY_TURNED, key="attendant")
    first.engine.handle(EventType.CASH_OUT)
    first.engine.handle(EventType.TICKET_PRINT_FAILED, why="no paper")
    first.engine.handle(EventType.KEY_TURNED, key="attendant")
    reading = first.journal.meters()
    names = ("coin_drop", "att_cancel_credit", "att_jackpot")
    parts = [reading.select(position=number).values for number in (1, 2)]
    assert [tuple(part[name] for name in names) for part in parts] == [(100, 10100, 0), (0, 0, 150000)]


@pytest.mark.requirement("O-01", "A-08")
def test_a_restart_resumes_each_position(machine):
    first, second = machine()
    first.insert(2000)
    second.insert(500)
    second.play()
    game = second.machine.memory.get(PlayKey.GAME)
    first.engine.handle(EventType.CASH_OUT)
    number = first.hands.jobs[-1].barcode
    first, second = machine()
    assert (first.state, second.state) == (State.PAYING, State.PLAYING)
    assert second.machine.memory.get(PlayKey.GAME) == game
    assert second.hands.messages[-1].is_resumed
    assert (
        first.ticket_store.find_ticket(number).state is TicketState.RESERVED
    )  # the other's ticket was left alone
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
        first.report_print_state(state)
    second.report_shown()
    assert (first.state, second.state) == (State.IDLE, State.IDLE)
    assert first.ticket_store.find_ticket(number).state is TicketState.ISSUED
    second.offer_ticket(number)  # and may be put in at the other position
    second.escrow_ledger.credit_stacked_paper()
    second.escrow_ledger.close_confirmed_paper()
    assert second.credit_cents > 2000
    assert len(first.records("power.up")) == 2  # one a start, not one a position


@pytest.mark.requirement("O-06", "O-01")
def test_a_fault_stops_its_own_position_and_a_door_stops_all(machine):
    first, second = machine()
    second.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    first.engine.update_state()
    assert (first.state, second.state) == (State.IDLE, State.TILT)
    second.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert second.state is State.IDLE

    first.engine.handle(EventType.FAULT_RAISED, code="link.buffer_full")  # an entry of the whole machine
    second.engine.update_state()
    assert (first.state, second.state) == (State.TILT, State.TILT)
    first.engine.handle(EventType.FAULT_CLEARED, code="link.buffer_full")
    second.engine.update_state()

    first.engine.handle(EventType.DOOR_OPENED, door="main")
    second.engine.update_state()
    assert (first.state, second.state) == (State.DOOR_OPEN, State.DOOR_OPEN)
    second.engine.handle(EventType.DOOR_OPENED, door="main")  # reported twice, counted once
    assert first.journal.meters().values["door.main.opens"] == 1
    first.engine.handle(EventType.DOOR_CLOSED, door="main")
    second.engine.update_state()
    assert (first.state, second.state) == (State.IDLE, State.IDLE)


@pytest.mark.requirement("O-06")
@pytest.mark.parametrize(
    ("code", "stops_all"),
    [
        ("bill_acceptor.cheat", False),
        ("coin_acceptor.coin_cheat", False),
        ("hopper.hopper_runaway", False),
        ("ticket_printer.disputed", False),
        ("game_defective", False),
        ("io_board.battery_low", True),
        ("link.buffer_full", True),
        ("logic_access", True),
        ("meter_jump", True),
        ("progressive_unproved", True),
        ("software_differs", True),
        ("staff_roster", True),
    ],
)
def test_each_fault_stops_its_position_or_the_machine(machine, code, stops_all):
    first, second = machine()
    second.engine.handle(EventType.FAULT_RAISED, code=code)
    first.engine.update_state()
    assert (second.state, code in second.machine.active_faults) == (State.TILT, True)
    assert (first.state, code in first.machine.active_faults) == (
        State.TILT if stops_all else State.IDLE,
        stops_all,
    )


@pytest.mark.requirement("O-06", "A-12")
def test_a_generator_that_fails_at_one_position_stops_all_and_a_durable_game_is_still_shown(machine):
    first, second = machine()
    first.insert(500)
    second.insert(500)
    first.play()
    second.machine.random_service = GeneratorOutOfService()
    second.play()
    assert second.state is State.OUT_OF_SERVICE
    first.engine.update_state()
    assert first.state is State.PLAYING
    first.report_shown()
    assert first.state is State.OUT_OF_SERVICE
    first.engine.handle(EventType.CASH_OUT)
    assert first.state is State.HANDPAY  # the amount is still owed
    assert second.credit_cents == 500


def test_a_machine_with_one_position_writes_no_position(tmp_path):
    rig = MachineRig(tmp_path).boot().insert(500)
    rig.play()
    rig.report_shown()
    assert not [key for key in rig.journal.states() if "/" in key]
    assert rig.journal.meters().list_dimension_values("position") == ["1"]
    assert all("position" not in entry.transaction.dims for entry in rig.journal.entries())
    rig.close()


@pytest.mark.requirement("O-01", "F-01", "D-01", "A-08")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_two_players_do_their_money_stays_separate(machine, seed):
    """Both play at random, with doors, jams, hand-pays and restarts; each player keeps only their own money."""
    dice = random.Random(seed)
    rigs = machine()
    put_in, taken_out = [0, 0], [0, 0]

    def bill(index: int) -> None:
        if rigs[index].state is State.IDLE and rigs[index].credit_cents < 100_000:
            amount = dice.choice((100, 500, 2000))
            rigs[index].insert(amount)
            put_in[index] += amount

    def game(index: int) -> None:
        rigs[index].play()

    def shown(index: int) -> None:
        rigs[index].report_shown()

    def cash_out(index: int) -> None:
        rigs[index].engine.handle(EventType.CASH_OUT)
        if rigs[index].state is State.PAYING:
            rigs[index].engine.handle(EventType.TICKET_PRINT_FAILED, why="no paper")
        if rigs[index].state is State.HANDPAY:
            taken_out[index] += rigs[index].machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]
            rigs[index].engine.handle(EventType.KEY_TURNED, key="attendant")

    def door(index: int) -> None:
        change = EventType.DOOR_CLOSED if rigs[index].machine.open_doors else EventType.DOOR_OPENED
        rigs[index].engine.handle(change, door="main")

    def cheat(index: int) -> None:
        rigs[index].engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
        rigs[index].engine.handle(EventType.KEY_TURNED, key="attendant")

    for _ in range(150):
        if dice.random() < 0.03:
            rigs = machine()
        index = dice.randrange(2)
        dice.choice((bill, game, game, game, shown, shown, shown, cash_out, door, cheat))(index)
        rigs[1 - index].engine.update_state()
        rigs[0].journal.self_audit()

    reading = rigs[0].journal.meters()
    parts = [reading.select(position=number).values for number in (1, 2)]
    for index, part in enumerate(parts):
        assert part["bill_in.value"] == put_in[index]
        lost_cents = part["coin_in"] - part["coin_out"]
        assert rigs[index].credit_cents == put_in[index] - lost_cents - part["att_cancel_credit"]
        assert part["att_cancel_credit"] + part["att_jackpot"] >= taken_out[index]
    for meter in ("coin_in", "coin_out", "bill_in.value", "games_played", "att_cancel_credit", "money_out"):
        assert reading.values[meter] == sum(part[meter] for part in parts), meter


def test_no_slip_number_is_promised_to_two_waiting_positions(tmp_path):
    """The hand-pay that is paid first gets the next number; while two wait, neither screen states a number."""
    first = MachineRig(tmp_path, position=FIRST).boot()
    second = MachineRig(tmp_path, position=SECOND, first_rig=first).boot()

    def numbers():
        return [build_snapshot(rig.engine).handpay.slip_number for rig in (first, second)]

    first.insert(2000)
    first.engine.handle(EventType.CASH_OUT)
    assert build_snapshot(first.engine).handpay.slip_number == 1
    second.insert(500)
    second.engine.handle(EventType.CASH_OUT)
    assert numbers() == [0, 0]
    second.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert second.state is State.IDLE
    assert build_snapshot(first.engine).handpay.slip_number == 2
    first.close()
