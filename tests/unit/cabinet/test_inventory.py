"""The inventory entry and the technical sheet: what they hold, every change, and a base number fixed for good."""

import hashlib
import json
from datetime import date
from fractions import Fraction

import pytest
from click.testing import CliRunner
from machine_room import GAME, Room
from staff_hands import Menu

from egm.cabinet.staff.inventory import note_inventory, percent, sheet
from egm.config import Inventory
from egm.errors import OperatorError
from egm.people import Role
from tools.cli import main


def inventory(tmp_path, **more):
    photograph = tmp_path / "machine.jpg"
    photograph.write_bytes(b"a picture")
    facts = {
        "kind": "upright",
        "manufacturer": "Works",
        "model": "One",
        "made": date(2026, 1, 2),
        "base_number": "B-12",
        "photograph": photograph,
        "certified_on": {GAME: date(2026, 2, 3)},
    }
    return Inventory(**{**facts, **more})


@pytest.fixture
def room(tmp_path):
    room = Room(tmp_path / "state").boot()
    room.cabinet.returns = {GAME: Fraction(8737, 10000)}
    note_inventory(room.cabinet, inventory(tmp_path))
    yield room
    room.close()


@pytest.mark.requirement("Q-08", "J-15")
def test_the_entry_has_all_that_the_order_asks_for(room):
    now = sheet(room.journal).now
    assert (now["kind"], now["serial"], now["operator_number"], now["base_number"]) == (
        "upright",
        "TEST-1",
        "7",
        "B-12",
    )
    assert (now["site"], now["location"]) == ("test", "floor")
    assert now["photograph"] == f"machine.jpg {hashlib.sha256(b'a picture').hexdigest()}"
    (game,) = now["games"]
    assert (game["game"], game["return"], game["certified_on"]) == (GAME, "87.3700", "2026-02-03")


@pytest.mark.requirement("Q-16", "Q-17")
def test_every_move_and_change_of_return_stays_on_the_sheet(room, tmp_path):
    before = room.journal.sequence
    note_inventory(room.cabinet, inventory(tmp_path))
    assert room.journal.sequence == before  # nothing new, nothing written
    note_inventory(room.cabinet, inventory(tmp_path, location="workshop"))
    moved = inventory(tmp_path, location="workshop", certified_on={GAME: date(2026, 5, 6)})
    note_inventory(room.cabinet, moved)
    changes = [what for _, what in sheet(room.journal).changes]
    assert "location: floor -> workshop" in changes
    assert f"{GAME}: {room.cabinet.games[GAME].version}, 87.3700 %, 2026-05-06" in changes


@pytest.mark.requirement("Q-09")
def test_a_base_number_is_fixed_for_good(room, tmp_path):
    with pytest.raises(OperatorError, match=r"inventory\.base_number: 'B-13'; this machine's base .*'B-12'"):
        note_inventory(room.cabinet, inventory(tmp_path, base_number="B-13"))
    assert len(room.records("inventory.changed")) == 1


def test_a_photograph_that_is_not_there_is_named(room, tmp_path):
    with pytest.raises(OperatorError, match=r"inventory\.photograph: .*gone\.jpg"):
        note_inventory(room.cabinet, inventory(tmp_path, photograph=tmp_path / "gone.jpg"))


def test_a_return_is_never_shown_as_more_than_it_is():
    assert percent(Fraction(2, 3)) == "66.6666"
    assert percent(Fraction(1)) == "100.0000"
    assert percent(Fraction(7, 100000)) == "0.0070"
    assert percent(None) == ""


@pytest.mark.requirement("Q-10")
def test_the_sheet_is_shown_and_exported_twice(room, tmp_path):
    menu = Menu(room).sign_in(Role.INSPECTOR).touch("inventory")
    assert menu.lines()["Base number"] == "B-12"
    room.close()

    def egm(*words):
        return CliRunner().invoke(main, ["inventory", *words, "--state", str(tmp_path / "state")])

    assert json.loads(egm("show", "--json").output)["now"]["base_number"] == "B-12"
    assert "Numéro du socle" in egm("show", "--language", "fr").output
    first, second = tmp_path / "direction.pdf", tmp_path / "secretariat.pdf"
    done = egm("export", "--out", str(first), "--copy", str(second))
    assert done.exit_code == 0, done.output
    assert first.read_bytes() == second.read_bytes()
    assert hashlib.sha256(first.read_bytes()).hexdigest() in done.output
    assert egm("export", "--out", str(first), "--copy", str(tmp_path)).exit_code != 0


def test_a_machine_without_an_entry_says_so(tmp_path):
    Room(tmp_path).boot().close()
    run = CliRunner().invoke(main, ["inventory", "show", "--state", str(tmp_path)])
    assert (run.exit_code, "no inventory entry yet" in run.output) == (1, True)
