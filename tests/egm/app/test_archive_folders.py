"""Each medium's archive is in the folder that the cabinet file names; every reader finds it from the state folder.

The machine stores a link to the archive in the state folder. The link never replaces an archive in another folder,
and a folder that is temporarily unavailable does not stop the machine.
"""

import errno
import os
import shutil
from datetime import UTC, datetime

import pytest

from egm.app.archive_folder import link_archive_folder
from egm.app.preflight import iter_preflight_mistakes
from egm.config.cabinet_file import DEFAULT_CABINET, load_cabinet
from egm.config.computer_checks import find_shared_folders
from egm.config.mistakes import Consequence
from egm.errors import OperatorError
from meters import Journal, JournalPolicy, Transaction, Transfer, open_view
from meters.archive import ARCHIVE_END_KEY
from meters.clear import Clearance, clear_memory, inspect_journal

POLICY = JournalPolicy(
    entries_per_checkpoint=7,
    segment_size_bytes=4096,
    entries_archived_together_min=40,
    newest_entries_not_archived=30,
)


def now():
    return datetime(2026, 1, 1, tzinfo=UTC)


def write_entries(folder, entries, cents=0):
    with Journal.open(folder, now=now, policy=POLICY) as journal:
        if cents:
            moved = (Transfer("world:bill", "credit:1:cashable", cents),)
            journal.append(Transaction(id=journal.fresh_id("bill"), kind="bill.in", transfers=moved))
        for _ in range(entries):
            journal.check()
            journal.append(Transaction(id=journal.fresh_id("event"), kind="event"))
        return journal.state(ARCHIVE_END_KEY)


@pytest.fixture
def placed(tmp_path):
    """A memory with archives in the folders ``one`` and ``two`` that contain many entries."""
    state = tmp_path / "state"
    write_entries(state, 1)
    for medium, folder_name in ((state, "one"), (state / "second", "two")):
        link_archive_folder(medium, tmp_path / folder_name)
    assert write_entries(state, 400, cents=700)["through"] > 100
    return state


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_entries_are_archived_where_the_cabinet_file_states_and_read_from_there(placed, tmp_path):
    assert names(tmp_path / "one") == names(tmp_path / "two")
    assert sum(name.endswith(".seg") for name in names(tmp_path / "one")) > 3
    link_archive_folder(placed, tmp_path / "one")
    link_archive_folder(placed, None)
    with open_view(placed) as view:
        assert len(list(view.iter_bodies())) == view.sequence


def test_a_second_archive_never_hides_an_existing_one(placed, tmp_path):
    with pytest.raises(OperatorError, match=r"the archive is in .*one, but the cabinet file says .*three"):
        link_archive_folder(placed, tmp_path / "three")
    own_folder = tmp_path / "own"
    write_entries(own_folder, 400)
    with pytest.raises(OperatorError, match=r"the archive is in .*archive, but the cabinet file says"):
        link_archive_folder(own_folder, tmp_path / "three")
    assert not (tmp_path / "three").exists()
    # Moved as it says, it is followed.
    shutil.move(own_folder / "archive", tmp_path / "three")
    link_archive_folder(own_folder, tmp_path / "three")
    with open_view(own_folder) as view:
        assert len(list(view.iter_bodies())) == view.sequence


def test_no_archive_folder_is_created_on_a_missing_medium(tmp_path):
    link_archive_folder(tmp_path / "absent", tmp_path / "one")
    assert not (tmp_path / "absent").exists()


def test_a_missing_archive_medium_delays_archiving_until_it_returns(placed, tmp_path, monkeypatch):
    monkeypatch.setattr("meters.journal._CHECKS_BEFORE_NEXT_ARCHIVING", 5)
    (tmp_path / "one").rename(tmp_path / "away")
    before = write_entries(placed, 200)
    with open_view(placed) as view:
        codes = {entry.record["code"] for entry in view.entries("event") if entry.record}
        assert "memory.archive_delayed" in codes
        assert len(list(view.iter_bodies())) == view.sequence
    (tmp_path / "away").rename(tmp_path / "one")
    assert write_entries(placed, 200)["through"] > before["through"]


def test_a_memory_clear_moves_an_archive_on_another_file_system(placed, tmp_path, monkeypatch):
    """A rename between two file systems is impossible; the archive must be copied."""
    rename = os.replace
    file_names = names(tmp_path / "one")

    def across(self, target):
        if self.resolve().is_relative_to(tmp_path / "one") != target.parent.resolve().is_relative_to(
            tmp_path / "one"
        ):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(self))
        rename(self, target)

    monkeypatch.setattr("pathlib.Path.replace", across)
    inspection = inspect_journal(placed)
    authority = {"person": "A. Tremblay", "second_person": "B. Roy", "reason": "sold"}
    agreed = Clearance(
        **authority,
        challenge=inspection.challenge,
        opening_transactions=(),
        accounted_credit_cents=inspection.best_reading.credits_cents,
    )
    evidence = clear_memory(placed, agreed, now=now, policy=POLICY)
    assert names(tmp_path / "one") == []
    assert names(evidence / "archive") == file_names
    assert write_entries(placed, 400)["through"] > 100
    assert names(tmp_path / "one")


def test_two_archives_in_one_folder_are_a_fault(tmp_path):
    file = tmp_path / "cabinet.toml"
    default = DEFAULT_CABINET.read_text(encoding="utf-8")
    both = '\n[memory]\narchive = "/srv/a"\nsecond_archive = "/srv/a"\n'
    file.write_text(default + both, encoding="utf-8")
    (mistake,) = find_shared_folders(load_cabinet(file), tmp_path)
    assert (mistake.key, mistake.consequence) == ("memory.second_archive", Consequence.START_IS_REFUSED)


def test_a_memory_folder_that_cannot_be_created_is_a_fault_of_the_file(tmp_path):
    """The check creates no folder; at a start, the machine waits for a missing medium."""
    file, a_file, link = tmp_path / "cabinet.toml", tmp_path / "file", tmp_path / "link"
    a_file.touch()
    link.symlink_to(tmp_path / "nothing")
    for folder, reason in (
        (a_file / "second", f"{a_file} is not a folder"),
        (link / "second", f"{link} is a link whose target does not exist"),
        ("/proc/egm/second", "/proc is on a file system that cannot store files"),
        (tmp_path / ("n" * 300), "File name too long"),
    ):
        text = f'{DEFAULT_CABINET.read_text(encoding="utf-8")}\n[memory]\nsecond_copy = "{folder}"\n'
        file.write_text(text, encoding="utf-8")
        mistake = next(
            mistake
            for mistake in iter_preflight_mistakes(load_cabinet(file))
            if mistake.key.startswith("memory")
        )
        assert (mistake.key, mistake.consequence) == ("memory.second_copy", Consequence.START_IS_REFUSED)
        assert reason in mistake.problem
    good = text.replace(str(folder), str(tmp_path / "not/there/yet"))
    file.write_text(good, encoding="utf-8")
    first = next(iter_preflight_mistakes(load_cabinet(file)), None)
    assert first is None or not first.key.startswith("memory")
    assert not (tmp_path / "not").exists()
