"""Files that the machine opens or writes under fixed names never follow a link into another file."""

import errno
import json

import pytest

from egm.app.rng_startup import _write_random_output
from egm.config.cabinet_file import StateFolder
from egm.errors import OperatorError
from egm.links.sas.line_service import _DeliveredExceptionFile
from egm.links.screen.start_up_activity import (
    StartUpActivity,
    read_start_up_activity,
    write_start_up_activity,
)
from egm.people.roster import _lock_roster_file
from egm.people.wrong_pins import WRONG_PINS_FILE_NAME as TRIES
from egm.people.wrong_pins import edit_wrong_pins
from egm.private_files import replace_transient_file
from meters import JournalUnwritable
from meters.lock import MACHINE_LOCK_FILE_NAME, FolderLock
from tools.cli.commands.run import _lock_state_folder
from tools.floor.progressive.store import SqliteStore

VICTIM = "somebody else's"


@pytest.fixture
def victim(tmp_path):
    file = tmp_path / "victim"
    file.write_text(VICTIM)
    yield file
    assert file.read_text() == VICTIM


def test_no_lock_of_a_state_folder_follows_a_link(tmp_path, victim):
    """Regression: with `run/cabinet.lock` as a link, its target was overwritten with the process id."""
    folder = StateFolder(tmp_path / "state")
    folder.create_private_folders()
    lock = folder.run_folder / "cabinet.lock"
    lock.symlink_to(victim)
    with pytest.raises(JournalUnwritable, match=r"cabinet\.lock"):
        _lock_state_folder(folder)
    (tmp_path / MACHINE_LOCK_FILE_NAME).symlink_to(victim)
    with pytest.raises(JournalUnwritable, match=MACHINE_LOCK_FILE_NAME):
        FolderLock(tmp_path)


def test_no_lock_beside_another_file_follows_a_link(tmp_path, victim):
    (tmp_path / "levels.db.lock").symlink_to(victim)
    with pytest.raises(OperatorError, match=r"levels\.db\.lock"):
        SqliteStore(tmp_path / "levels.db")
    (tmp_path / "people.lock").symlink_to(victim)
    with pytest.raises(OSError, check=lambda error: error.errno == errno.ELOOP):
        _lock_roster_file(tmp_path / "people.json").__enter__()
    (tmp_path / TRIES).symlink_to(victim)
    with pytest.raises(OSError, check=lambda error: error.errno == errno.ELOOP):
        edit_wrong_pins(tmp_path, must_wait=False).__enter__()


@pytest.mark.parametrize("name", ["metrics.port", "metrics.port.new"])
def test_a_file_written_at_each_start_replaces_a_link(tmp_path, victim, name):
    (tmp_path / name).symlink_to(victim)
    replace_transient_file(tmp_path / "metrics.port", "9477")
    assert not (tmp_path / "metrics.port").is_symlink()
    assert (tmp_path / "metrics.port").read_text() == "9477"


def test_the_start_up_activity_and_a_hosts_cursor_replace_a_link(tmp_path, victim):
    for name in ("starting.json", "starting.json.new", "starting.new", "cursor", "cursor.new"):
        (tmp_path / name).symlink_to(victim)
    write_start_up_activity(tmp_path / "starting.json", StartUpActivity("game", {"number": 1}))
    assert read_start_up_activity(tmp_path / "starting.json") == StartUpActivity("game", {"number": 1})
    assert json.loads((tmp_path / "starting.json").read_text())["what"] == "game"
    cursor = _DeliveredExceptionFile(tmp_path / "cursor", "mark")
    cursor.write(7)
    assert cursor.read(default=0) == 7


def test_the_generators_carry_over_file_follows_no_link(tmp_path, victim):
    (tmp_path / "carry").symlink_to(victim)
    _write_random_output(tmp_path / "carry", b"secret")
