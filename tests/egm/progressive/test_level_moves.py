"""A level that is no longer configured keeps its amount until staff move it; all of it arrives, with fractions."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from click.testing import CliRunner
from rigs.three_levels import DROPPED_LEVEL, GAME, NO_LUCK, A, drop_denomination, make_levels_machine

from egm.kernel.events import EventType
from egm.people import Role
from egm.progressive.entries import LEVEL_HIT, LevelHitRegistered
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level, LevelTerms
from egm.progressive.levels_page import build_level_tables
from egm.progressive.pools import ProgressivePools
from egm.record_codec import from_json
from egm.testing.controller import create_pool
from egm.testing.machine import MachineRig, write_undeclared_entry
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser, translate_text
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main

MISS = 49


def level(rig, pool) -> Level:
    return Level.from_json(rig.journal.state(f"{ProgressiveKey.OWN_LEVEL}{pool}"))


@pytest.fixture
def rig(tmp_path):
    rig = drop_denomination(tmp_path)
    yield rig
    rig.close()


def move(rig, source, target):
    return (
        MenuUser(rig).sign_in(Role.TECHNICIAN).touch("form:level_move").fill_open_form(source, target).notice
    )


@pytest.mark.requirement("I-06")
def test_a_level_is_moved_only_behind_an_open_door(rig):
    assert move(rig, DROPPED_LEVEL, "three-levels.luck.50") == "notice.refused.machine_is_open"
    assert level(rig, DROPPED_LEVEL).held_amount


@pytest.mark.requirement("I-12", "I-13:a", "I-13:b", "D-19")
def test_a_level_whose_game_was_removed_keeps_its_amount_and_moves_completely(rig, tmp_path):
    assert level(rig, DROPPED_LEVEL).current_amount == 30_000 + Fraction(3000, 70)
    assert DROPPED_LEVEL not in rig.machine.component(ProgressivePools).pool_by_id
    before = level(rig, "three-levels.luck.50")
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert move(rig, DROPPED_LEVEL, "three-levels.luck.50") == "service.done"
    assert rig.notice == "level_moved"
    assert rig.machine.notice.values == {"amount_cents": 30_042}
    assert level(rig, DROPPED_LEVEL).held_amount == 0
    assert level(rig, "three-levels.luck.50").current_amount == before.current_amount + 30_000 + Fraction(
        3000, 70
    )
    (moved,) = rig.records("progressive.moved")
    assert moved["amount"] == str(30_000 + Fraction(3000, 70))
    assert moved["persons"] == [STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN]]
    rig.close()
    restarted = make_levels_machine(tmp_path, denominations_cents=(5,)).boot()  # accounts and levels agree
    restarted.close()
    with open_view(tmp_path) as view:
        assert Auditor(GameFiles([GAME.parent])).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("I-13")
@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("three-levels.top.50", "three-levels.luck.50"),  # in play
        (DROPPED_LEVEL, "three-levels.top.1000"),  # not in play
        (DROPPED_LEVEL, "nowhere"),
        ("nowhere", "three-levels.luck.50"),
    ],
)
def test_impossible_moves_of_a_level_are_refused(rig, source, target):
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert move(rig, source, target) == "notice.refused.level_may_move"
    assert rig.records("progressive.moved") == []


@pytest.mark.requirement("I-05", "D-18")
def test_every_level_is_read_out_with_all_its_amounts(rig, tmp_path):
    rig.close()
    run = CliRunner().invoke(main, ["levels", "--state", str(tmp_path), "--json"])
    assert run.exit_code == 0, run.output
    shown = json.loads(run.output)["own"][DROPPED_LEVEL]
    assert (shown["shown_cents"], shown["current"], shown["hits"], shown["paid"]) == (30042, "210300/7", 0, 0)
    assert shown["terms"]["increment"] == "1/70"
    run = CliRunner().invoke(main, ["levels", "--state", str(tmp_path)])
    assert "30,042" in run.output
    run = CliRunner().invoke(main, ["levels", "--state", str(tmp_path / "none")])
    assert run.exit_code == 1


@pytest.mark.requirement("I-05", "D-18")
def test_a_level_above_its_ceiling_shows_its_overflow_hidden_pool_increments_and_hits(tmp_path):
    rig = make_levels_machine(tmp_path).boot()
    pool = next(iter(rig.machine.component(ProgressivePools).pool_by_id))
    terms = LevelTerms(
        base_cents=1000, increment=Fraction(1, 50), hidden_increment=Fraction(1, 100), ceiling_cents=1010
    )
    reached = Level.open(terms).add_contribution(1000).pay_hit()[1].add_contribution(2000)
    stored = {f"{ProgressiveKey.OWN_LEVEL}{pool}": reached.to_json()}
    write_undeclared_entry(rig.machine, "test.level", state=stored)
    table = next(t for t in build_level_tables(rig.machine) if f"({pool})" in translate_text(t.title, "en"))
    lines = {translate_text(row.cells[0], "en"): translate_text(row.cells[1], "en") for row in table.rows}
    assert lines == {
        "Amount displayed": "$10.10",
        "Exact amount, in cents": "1010",
        "Starting amount": "$10.00",
        "Highest amount": "$10.10",
        "Increment, share of each wager": "1/50",
        "Increment of the hidden reserve, share of each wager": "1/100",
        "Hidden reserve, in cents": "20",
        "Overflow, in cents": "40",
        "Number of hits": "1",
        "Total won": "$10.10",
    }
    rig.close()


@pytest.mark.requirement("I-05", "D-16", "D-18")
def test_every_level_is_shown_at_the_machine(rig):
    rig.machine.install(
        ProgressivePools(
            (*rig.machine.component(ProgressivePools).pool_by_id.values(), create_pool("SHARED"))
        )
    )
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN).touch("levels")
    tables = {translate_text(table.title, "en"): table for table in menu.page.tables}
    assert "Top (three-levels.top.50)" in tables
    given_up = tables["three-levels.top.1000 (no longer configured)"]
    lines = {translate_text(row.cells[0], "en"): translate_text(row.cells[1], "en") for row in given_up.rows}
    assert lines == {
        "Amount displayed": "$300.42",
        "Exact amount, in cents": "210300/7",
        "Starting amount": "$300.00",
        "Highest amount": "-",
        "Increment, share of each wager": "1/70",
        "Increment of the hidden reserve, share of each wager": "0",
        "Hidden reserve, in cents": "0",
        "Overflow, in cents": "0",
        "Number of hits": "0",
        "Total won": "$0.00",
    }
    shared = tables["SHARED (SHARED)"]
    assert translate_text(shared.rows[1].cells[1], "en") == "Not linked"


@pytest.mark.requirement("E-01", "D-18")
def test_a_level_won_is_in_the_recall_of_its_game_and_counted_on_its_page(tmp_path):
    rig = make_levels_machine(tmp_path, A, NO_LUCK, MISS).boot().insert(2000)
    rig.play()
    rig.report_shown()
    menu = MenuUser(rig).sign_in(Role.ATTENDANT).touch("recall")
    menu.touch(menu.page.tables[0].rows[0].action)
    lines = menu.read_rows()
    assert (lines["Win"], lines["Progressive level three-levels.top.50"]) == ("$16.00", "$15.00")
    menu.home().touch("leave")
    menu.sign_in(Role.TECHNICIAN).touch("levels")
    (won,) = (t for t in menu.page.tables if translate_text(t.title, "en") == "Top (three-levels.top.50)")
    lines = {translate_text(row.cells[0], "en"): translate_text(row.cells[1], "en") for row in won.rows}
    assert (lines["Number of hits"], lines["Total won"]) == ("1", "$15.00")
    rig.close()


@pytest.mark.requirement("D-18")
def test_the_log_of_level_wins_names_the_level_and_the_amount_of_each(tmp_path):
    rig = make_levels_machine(tmp_path, A, NO_LUCK, MISS).boot().insert(2000)
    rig.play()
    rig.report_shown()
    menu = MenuUser(rig).sign_in(Role.INSPECTOR).touch("log.progressives")
    rows = [[translate_text(cell, "en") for cell in row.cells[1:4]] for row in menu.page.tables[0].rows]
    assert rows == [["Progressive hit", "$15.00", "three-levels.top.50"]]
    rig.close()


@pytest.mark.requirement("D-18")
def test_the_last_hits_of_each_level_are_shown_however_often_another_was_hit_since(tmp_path):
    rig = make_levels_machine(tmp_path, A, NO_LUCK, MISS).boot().insert(2000)
    rig.play()
    rig.report_shown()
    hit = from_json(
        LevelHitRegistered,
        {**rig.records("progressive.hit")[0], "pool": "three-levels.luck.50", "level": "luck"},
        "a hit",
    )
    for cents in range(1, 41):
        rig.machine.post(LEVEL_HIT, replace(hit, amount_cents=cents), entry_id=f"hit-{cents}")
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN).touch("levels")
    tables = {translate_text(table.title, "en"): table for table in menu.page.tables}
    shown = {
        title.removeprefix("Last hits of level "): [translate_text(row.cells[-1], "en") for row in table.rows]
        for title, table in tables.items()
        if title.startswith("Last hits of level ")
    }
    newest = [f"$0.{cents:02d}" for cents in range(40, 15, -1)]
    assert shown == {"three-levels.luck.50": newest, "three-levels.top.50": ["$15.00"]}
    rig.close()
    run = CliRunner().invoke(main, ["levels", "--state", str(tmp_path), "--json"])
    assert run.exit_code == 0, run.output
    listed = json.loads(run.output)["last_hits"]
    assert [hit["amount_cents"] for hit in listed["three-levels.luck.50"]] == [*range(40, 15, -1)]
    assert [hit["amount_cents"] for hit in listed["three-levels.top.50"]] == [1500]
    assert "last hits" in CliRunner().invoke(main, ["levels", "--state", str(tmp_path)]).output


def test_a_machine_without_levels_has_an_empty_table_on_their_page(tmp_path):
    rig = MachineRig(tmp_path).boot()
    (table,) = (
        MenuUser(rig).sign_in(Role.TECHNICIAN).touch("levels").page.tables
    )  # the screen's text for no entries
    assert table.rows == ()
    rig.close()
