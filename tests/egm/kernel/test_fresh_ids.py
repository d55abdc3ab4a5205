"""Every id that the machine makes contains a mark of its journal, so that no two journals have equal ids."""

import ast
from pathlib import Path

import pytest

import egm
import meters
from egm.kernel.events import EventType
from egm.money.keys import MoneyKey
from egm.play.keys import PlayKey
from egm.testing.machine import MachineRig

#: The expressions for the sequence of a future entry.
PLACES = ("journal.sequence", "self.sequence", "ledger.sequence")
#: Where the number of an entry is no part of an id: it is shown, compared or stored as a number.
NUMBERS = {
    "egm/kernel/machine.py",  # the head of the journal, printed
    "egm/staff/service/pages.py",  # the head of the journal, shown
    "meters/checkpoint.py",  # the journal's own entries, known nowhere else
    "meters/journal.py",
    "meters/view.py",  # where ids are made
}


def find_texts_with_sequences(path: Path) -> list[int]:
    """Return the lines where an entry's sequence becomes part of a text that is not an error message."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    errors = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Raise) for part in ast.walk(node)}
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr) or id(node) in errors:
            continue
        places = [ast.unparse(part) for part in node.values if isinstance(part, ast.FormattedValue)]
        if any(pattern in text for text in places for pattern in PLACES):
            found.append(node.lineno)
    return found


def test_ids_are_formed_in_one_place_only():
    root = Path(egm.__file__).parent.parent
    paths = [*Path(egm.__file__).parent.rglob("*.py"), *Path(meters.__file__).parent.rglob("*.py")]
    found = {path.relative_to(root).as_posix(): find_texts_with_sequences(path) for path in paths}
    assert {name for name, lines in found.items() if lines} == NUMBERS


@pytest.mark.requirement("A-05")
def test_every_id_the_machine_makes_is_marked_with_its_journal(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    mark = rig.journal.get(f"genesis:{rig.journal.fingerprint}").hash_hex[:8]
    rig.insert(2000)
    rig.play()
    play_id = rig.machine.memory.get(PlayKey.GAME)["play_id"]
    rig.report_shown()
    rig.offer_ticket(rig.cash_out_ticket())
    paper = rig.machine.memory.get(MoneyKey.PAPER_BEING_STACKED)["id"]
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert all(fresh_id.split("-")[2] == mark for fresh_id in (play_id, paper, rig.hands.jobs[-1].job_id))
    meters_own = ("machine.genesis", "checkpoint", "event", "power.up")
    for entry in rig.journal.entries():
        assert entry.kind in meters_own or mark in entry.id, entry.id
    rig.close()
