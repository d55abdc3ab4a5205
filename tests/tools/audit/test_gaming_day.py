"""Statements, sheets and venue files are divided by the venue's gaming day, in every command that reads them."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from rigs.positions import open_positions

from egm.gaming_day import GamingDay
from egm.kernel.events import EventType
from egm.seats.table import SharedTables
from egm.testing.machine import MachineRig, ScriptedGenerator
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main

#: 20:30 on New Year's Eve in Montreal.
EVENING = datetime(2027, 1, 1, 1, 30, tzinfo=UTC)
#: Stops of maple-classic: a win so large that it is paid by hand, and a loss.
LANTERNS, LOSS = (11, 11, 12), (0, 0, 0)


def read_bill_totals(folder, by):
    """Return the amount of bills by period, as ``egm register statement`` prints it."""
    run = CliRunner().invoke(main, ["register", "statement", "--state", str(folder), "--by", by, "--csv"])
    assert run.exit_code == 0, run.output
    rows = csv.DictReader(io.StringIO(run.output))
    return {row[by]: int(row["value"]) for row in rows if row["meter"] == "bill_in.value"}


def read_totals(folder, *arguments):
    """Return the values of the only period of a statement, as ``egm register statement`` prints them."""
    run = CliRunner().invoke(main, ["register", "statement", "--state", str(folder), *arguments, "--json"])
    assert run.exit_code == 0, run.output
    ((_, values),) = json.loads(run.output).items()
    return values


@pytest.mark.requirement("D-21")
@pytest.mark.parametrize(
    ("day", "by", "expected"),
    [
        (GamingDay("America/Toronto"), "day", {"2026-12-31": 2000, "2027-01-01": 500}),
        (GamingDay("America/Toronto", 6), "day", {"2026-12-31": 2500}),
        (GamingDay("America/Toronto", 6), "month", {"2026-12": 2500}),
        (GamingDay("America/Toronto"), "year", {"2026": 2000, "2027": 500}),
        (GamingDay(), "day", {"2027-01-01": 2500}),
    ],
    ids=str,
)
def test_a_statement_is_divided_where_the_venues_gaming_day_ends(tmp_path, day, by, expected):
    rig = MachineRig(tmp_path, wall_time=EVENING, gaming_day=day).boot().insert(2000)
    rig.clock.pass_seconds(timedelta(hours=5).total_seconds())  # half past one in the morning
    rig.insert(500)
    rig.close()
    assert read_bill_totals(tmp_path, by) == expected


@pytest.mark.requirement("P-04")
def test_each_position_has_its_own_buy_ins_wagers_cash_outs_and_net_win(tmp_path):
    with open_positions(tmp_path) as start:
        rooms = start("monaco-roulette-european", count=3, generator=ScriptedGenerator(1, 101, 102, 103))
        for number, rig in enumerate(rooms, 1):  # one of the three dozens wins
            rig.insert((1000, 2000, 5000)[number - 1])
            rig.engine.handle(EventType.SELECT_BET, value=5, options={"bets": {f"dozen-{number}": 5}})
            rig.engine.handle(EventType.PLAY)
        table = rooms[0].machine.component(SharedTables)
        table.close_betting(rooms[0].machine.games["monaco-roulette-european"].digest)
        for rig in rooms:
            rig.report_shown()
        credit = [rig.credit_cents for rig in rooms]
        for rig in rooms:
            rig.cash_out_ticket()
    alone = [read_totals(tmp_path, "--position", str(number)) for number in (1, 2, 3)]
    assert len(set(credit)) == 3
    assert [(values["money_out"], values["ticket_out.cashable.value"]) for values in alone] == list(
        zip(credit, credit, strict=True)
    )
    assert [(values["bill_in.value"], values["coin_in"]) for values in alone] == [
        (1000, 500),
        (2000, 500),
        (5000, 500),
    ]
    assert sorted(values["house_win"] for values in alone) == [-1000, 500, 500]
    totals = read_totals(tmp_path)
    for name in ("games_played", "coin_in", "coin_out", "money_in", "money_out", "house_win"):
        assert totals[name] == sum(values[name] for values in alone), name
    assert "counted_cents" not in alone[0]
    assert "counted_cents" in totals


@pytest.mark.requirement("P-04", "D-01")
def test_the_statement_of_the_only_position_equals_that_of_the_machine(tmp_path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*LANTERNS, *LOSS)).boot().insert(2000)
    for _ in range(2):
        rig.play()
        rig.report_shown()
    rig.close()
    totals, alone = read_totals(tmp_path), read_totals(tmp_path, "--position", "1")
    assert alone == {name: value for name, value in totals.items() if name in alone}
    assert (alone["games_played"], alone["bill_in.value"]) == (2, 2000)
    readout = ["meters", "--state", str(tmp_path), "--where", "position=1", "--json"]
    run = CliRunner().invoke(main, readout)
    assert run.exit_code == 0, run.output
    assert json.loads(run.output)["meters"]["games_played"] == 2


@pytest.mark.requirement("P-04", "D-01")
def test_position_net_win_is_reduced_by_hand_paid_amounts(tmp_path):
    with open_positions(tmp_path) as start:
        rooms = start("maple-classic", count=2, generator=ScriptedGenerator(*LANTERNS, *LOSS))
        for rig in rooms:
            rig.insert(10000)
            rig.engine.handle(EventType.SELECT_DENOMINATION, value=100)
            rig.engine.handle(EventType.SELECT_BET, value=3)
            rig.play()
            rig.report_shown()
        rooms[0].engine.handle(EventType.KEY_TURNED, key="attendant")
    names = ("coin_in", "coin_out", "hand_paid", "house_win")
    alone = [read_totals(tmp_path, "--position", str(number)) for number in (1, 2)]
    assert [tuple(values[name] for name in names) for values in alone] == [
        (300, 0, 150000, 300 - 150000),
        (300, 0, 0, 300),
    ]


@pytest.mark.parametrize(
    ("zone", "name"), [("America/Toronto", "America/Toronto"), ("No/Where", "UTC (No/Where is")]
)
def test_an_unknown_time_zone_is_named_and_replaced_by_utc(zone, name):
    day = GamingDay(zone, 6)
    assert day.description.startswith(name)
    assert day.description.endswith("days end at 06:00")


def test_the_day_on_which_clocks_are_set_back_ends_once():
    """On 1 November 2026 the hour from 01:00 occurs twice in Montreal; the day ends once, at 06:00 local time."""
    day = GamingDay("America/Toronto", 6)
    last = datetime(2026, 11, 1, 10, 59, tzinfo=UTC)
    assert day.find_date(last).isoformat() == "2026-10-31"
    assert day.find_date(last + timedelta(minutes=1)).isoformat() == "2026-11-01"


@pytest.mark.parametrize(
    "record",
    [
        None,
        {"profile": "generic"},
        *(
            {"time_zone": "America/Toronto", "day_ends_hour": hour}
            for hour in ("6", -1, 24, 6.0, True, None, [], 10**30)
        ),
        *({"time_zone": zone, "day_ends_hour": 6} for zone in (None, 5, ["UTC"])),
    ],
    ids=str,
)
def test_a_journal_that_states_no_valid_gaming_day_is_divided_by_utc(record):
    assert GamingDay.from_power_up(record) == GamingDay("UTC", 0)


@pytest.mark.parametrize(("hour", "findings"), [(6, 0), (24, 1), (-1, 1)])
def test_a_power_up_that_states_no_valid_gaming_day_is_reported(tmp_path, hour, findings):
    rig = MachineRig(tmp_path, gaming_day=GamingDay("America/Toronto", hour)).boot()
    found = Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings
    assert sum("gaming day" in finding.text for finding in found) == findings
    rig.close()
