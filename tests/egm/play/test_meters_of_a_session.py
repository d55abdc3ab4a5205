"""How meters are divided and when they start: games, denominations, bills, a door and a restart."""

import json

import pytest
from click.testing import CliRunner

from egm.kernel.events import EventType
from egm.testing.machine import MachineRig, ScriptedGenerator
from tools.cli import main

GAMES = ("maple-classic", "maple-classic-95")
STOPS = (1, 2, 3) * 8
#: The stops of three lanterns, a win so large that it is paid by hand.
LANTERNS = (11, 11, 12)


def play_games(rig, games):
    for _ in range(games):
        rig.play()
        rig.report_shown()


@pytest.mark.requirement("D-14", "D-11:a", "D-11:b", "E-07", "O-04", "O-01", "D-01", "D-08")
def test_session_meters_are_split_by_game_denomination_and_bill_since_door_and_power(tmp_path):
    rig = (
        MachineRig(tmp_path, games=GAMES, generator=ScriptedGenerator(*STOPS))
        .boot()
        .insert(2000)
        .insert(500)
        .insert(2000)
    )
    play_games(rig, 2)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=25)
    play_games(rig, 1)
    rig.engine.handle(EventType.SELECT_GAME, value="maple-classic-95")
    play_games(rig, 3)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    play_games(rig, 1)
    reading = rig.journal.meters()
    assert reading.split_by("bill_in.count", "bill_cents") == {"2000": 2, "500": 1}
    assert reading.split_by("bill_in.value", "bill_cents") == {"2000": 4000, "500": 500}
    assert reading.split_by("games_played", "game") == {"maple-classic": 3, "maple-classic-95": 4}
    assert reading.split_by("games_played", "denomination_cents") == {"5": 2, "25": 5}
    for dimension in ("game", "paytable", "denomination_cents", "wager_level"):
        for name in ("coin_in", "coin_out"):
            parts = reading.split_by(name, dimension)
            assert sum(parts.values()) == reading.get_value(name), (name, dimension)
            assert "" not in parts, f"a part of {name} belongs to no {dimension}"
    assert reading.get_value("coin_in") > 0
    counted = reading.values
    assert (counted["games_played.since_power_up"], counted["games_played.since_door_close"]) == (7, 1)
    assert (counted["door.main.opens"], counted["power_resets"], counted["bills_accepted"]) == (1, 1, 3)
    rig.close()

    restarted = MachineRig(tmp_path, games=GAMES, generator=ScriptedGenerator(*STOPS)).boot()
    play_games(restarted, 1)
    counted = restarted.journal.meters().values
    assert (counted["games_played"], counted["games_played.since_power_up"]) == (8, 1)
    assert counted["power_resets"] == 2
    restarted.close()
    bills = CliRunner().invoke(main, ["audit", "log", "bills", "--state", str(tmp_path), "--json"])
    taken = [line["story"]["amount_cents"] for line in json.loads(bills.output) if line["kind"] == "bill.in"]
    assert taken == [2000, 500, 2000]
    output = CliRunner().invoke(main, ["returns", "--state", str(tmp_path), "--json"])
    lines = {
        (line["game"], line["denomination_cents"]): line["theoretical"] for line in json.loads(output.output)
    }
    assert lines.keys() == {(GAMES[0], 5), (GAMES[0], 25), (GAMES[1], 25)}
    assert f"{lines[GAMES[0], 5]:.4f}" == "0.8738"


@pytest.mark.requirement("O-04")
def test_a_credited_win_belongs_to_its_game_pay_table_and_denomination(tmp_path):
    rig = MachineRig(tmp_path, games=GAMES, generator=ScriptedGenerator(1, 1, 1)).boot().insert(10000)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=25)
    play_games(rig, 1)
    reading, version = rig.journal.meters(), rig.machine.games[GAMES[0]].version
    for name, value in (("coin_out", 25), ("games_won", 1)):
        assert reading.split_by(name, "game") == {GAMES[0]: value}
        assert reading.split_by(name, "paytable") == {f"{GAMES[0]}@{version}": value}
        assert reading.split_by(name, "denomination_cents") == {"25": value}
    rig.close()


@pytest.mark.requirement("O-04")
def test_a_win_paid_by_hand_belongs_to_its_game_pay_table_and_denomination(tmp_path):
    rig = MachineRig(tmp_path, games=GAMES, generator=ScriptedGenerator(*LANTERNS)).boot().insert(10000)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    rig.engine.handle(EventType.SELECT_BET, value=3)
    play_games(rig, 1)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    reading, version = rig.journal.meters(), rig.machine.games[GAMES[0]].version
    for name, value in (("att_jackpot", 150000), ("coin_in", 300), ("games_won", 1)):
        assert reading.split_by(name, "game") == {GAMES[0]: value}
        assert reading.split_by(name, "paytable") == {f"{GAMES[0]}@{version}": value}
        assert reading.split_by(name, "denomination_cents") == {"100": value}
    rig.close()


@pytest.mark.requirement("D-11:a", "D-11:c")
def test_a_ticket_and_a_coin_move_no_bill_meter(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(2000)
    before = rig.journal.meters()
    rig.offer_ticket(rig.cash_out_ticket())
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    rig.device_ledgers.coin_ledger.credit_coins_in(((25, True),), 1)
    after = rig.journal.meters()
    for reading in (before, after):
        assert (reading.get_value("bill_in.value"), reading.get_value("bill_in.count")) == (2000, 1)
        assert reading.split_by("bill_in.count", "bill_cents") == {"2000": 1}
    assert (after.get_value("ticket_in.cashable.value"), after.get_value("ticket_in.cashable.count")) == (
        2000,
        1,
    )
    assert after.get_value("phys_coin_in") == 25
    rig.close()
