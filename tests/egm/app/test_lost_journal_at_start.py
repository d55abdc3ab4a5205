"""If its journal is lost, a machine never starts as if it were new: it reports the remaining files and stops."""

import asyncio
import shutil
from pathlib import Path

import pytest

from egm.app.process import MachineProcess
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.people import Person, Role, Roster
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import MachineRig, StoppedClock
from meters import Journal, JournalDamaged

LEFT = (
    "tickets.*",
    "identities.db",
    "sas-main.told",
    "carry-over",
    "people.json",
    "machine.key",
    "medium.json",
)


def write_used_state(folder: Path) -> StateFolder:
    """Write the state folder of a machine that has been used, with all files that exist beside a journal."""
    state = StateFolder(folder)
    state.create_private_folders()
    rig = MachineRig(folder, devices=("printer",)).boot().insert(2000)
    rig.cash_out_ticket()
    rig.close()
    Roster.load(state.roster_file).enrol_person(
        Person("1", "Anne", Role.MANAGER), "90170", changed_by="", changed_at=rig.clock.now()
    )
    (folder / "sas-main.told").write_text("9 abc", encoding="ascii")
    (folder / "carry-over").write_bytes(b"x" * 32)
    return state


def start(state: StateFolder) -> None:
    asyncio.run(MachineProcess(state, load_cabinet(), StoppedClock()).run())


@pytest.mark.requirement("A-03", "A-05")
@pytest.mark.parametrize("remains_pattern", LEFT)
def test_no_new_journal_is_started_beside_remains_of_an_earlier_one(tmp_path, remains_pattern):
    state = write_used_state(tmp_path)
    keep = set(tmp_path.glob(remains_pattern))
    assert keep
    shutil.rmtree(tmp_path / "second")
    for path in set(tmp_path.iterdir()) - keep - {state.run_folder}:
        path.unlink()
    before = {path.name: path.read_bytes() for path in keep}
    with pytest.raises(JournalDamaged):
        start(state)
    assert not (tmp_path / "journal.sqlite").exists()
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    clear_with_decisions(tmp_path)  # two people may, and it is on record
    with Journal.open(tmp_path, now=StoppedClock().now) as journal:
        assert "cleared" in next(journal.entries()).record


def test_a_first_start_needs_an_empty_folder_or_one_with_a_roster_alone(tmp_path):
    state = StateFolder(tmp_path)
    state.create_private_folders()
    assert state.list_files_that_imply_journal() == []
    Roster.load(state.roster_file).enrol_person(
        Person("1", "Anne", Role.MANAGER), "90170", changed_by="", changed_at=StoppedClock().now()
    )
    assert state.list_files_that_imply_journal() == []
    Journal.open(tmp_path, now=StoppedClock().now).close()
    Journal.open(tmp_path, now=StoppedClock().now).close()


def test_a_first_start_interrupted_after_creating_its_key_continues(tmp_path, monkeypatch):
    with monkeypatch.context() as cut:
        cut.setattr(Journal, "_rebuild_or_begin_journal", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            Journal.open(tmp_path, now=StoppedClock().now)
    assert (tmp_path / "machine.key").exists()
    Journal.open(tmp_path, now=StoppedClock().now).close()
    assert not (tmp_path / "first-start").exists()
