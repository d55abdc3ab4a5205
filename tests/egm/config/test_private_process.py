"""Files that a cabinet's processes create are readable only by their owner, however the processes are started."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from rigs.small_cabinet import write_cabinet

from egm.config.cabinet_file import StateFolder
from egm.errors import OperatorError
from egm.isolated import build_python_command

ROOT = Path(__file__).parents[3]
MAINS = sorted(
    {*(ROOT / "egm").rglob("__main__.py"), ROOT / "egm/app/bench.py", ROOT / "tools/cli/commands/run.py"}
)


@pytest.mark.parametrize("path", MAINS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_process_makes_itself_private_first(path):
    """The call is the first statement of ``main`` or ``command`` after the docstring."""
    body = path.read_text().partition(
        "\ndef main(" if "\ndef main(" in path.read_text() else "\ndef command("
    )[2]
    after = body.partition('"""')[2].partition('"""')[2].split()
    assert after[0] == "make_process_private()", path


def test_files_of_a_cabinet_are_private_whatever_the_umask(tmp_path):
    """Even with umask 0 in an open folder, other users can read neither journal nor token."""
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(0o777)
    command = (sys.executable, "-I", "-m", "tools.cli", "run")
    cabinet = subprocess.Popen(
        [*command, "--state", state, "--cabinet", write_cabinet(tmp_path), "--screen", "web", "--silent"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        umask=0,
    )
    try:
        next(line for line in cabinet.stdout if line.startswith("Screen: "))
        end = time.monotonic() + 60
        while not (state / "run" / "screen.sock").exists():
            assert time.monotonic() < end
            time.sleep(0.1)
        found = {path: path.lstat() for path in (state, *state.rglob("*")) if not path.is_symlink()}
        assert any(path.name == "machine.key" for path in found)
        assert {
            path: oct(file_status.st_mode)
            for path, file_status in found.items()
            if file_status.st_mode & 0o077
        } == {}
    finally:
        cabinet.send_signal(signal.SIGTERM)
        cabinet.communicate(timeout=60)


@pytest.mark.skipif(os.geteuid() != 0, reason="starts processes as another user")
def test_a_process_of_the_same_user_cannot_read_the_machines_memory_or_files():
    """A compromised screen could read the key and the journal through ``/proc/PID/root``."""
    with (
        tempfile.TemporaryDirectory() as folder
    ):  # pytest's own folder is in one that only its user may enter
        os.chown(folder, 65534, 65534)
        _look_into_a_machine(Path(folder))


def _look_into_a_machine(state):
    as_nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    where = ("--state", str(state), "--cabinet", str(write_cabinet(state)))
    started = build_python_command("egm.app", *where, "--patience", "0")
    machine = subprocess.Popen(
        [*as_nobody, *started], stderr=subprocess.PIPE, env={"HOME": str(state)}, cwd="/"
    )
    try:
        end = time.monotonic() + 60
        while not (state / "run" / "screen.sock").exists():
            assert machine.poll() is None, machine.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.1)
        for way in ("root/", "cwd/", "environ", "maps", "mem", "fd/"):
            target = f"/proc/{machine.pid}/{way}"
            tool = "ls" if target.endswith("/") else "head"
            result = subprocess.run([*as_nobody, tool, target], capture_output=True, text=True, check=False)
            assert "Permission denied" in result.stderr, (way, result)
    finally:
        machine.terminate()
        machine.communicate(timeout=60)


def _mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("holds", ["", "machine.key", "machine.lock", "people.json"])
def test_an_open_folder_of_the_machine_is_made_private(tmp_path, holds):
    root = tmp_path / "state"
    (root / "run").mkdir(parents=True)
    if holds:
        (root / holds).touch(mode=0o600)
    else:
        (root / "run").rmdir()
    root.chmod(0o755)
    StateFolder(root).create_private_folders()
    assert (_mode(root), _mode(root / "run")) == (0o700, 0o700)


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o711, 0o1777, 0o703])
def test_an_open_folder_with_other_files_is_refused_and_not_changed(tmp_path, mode):
    root = tmp_path / "shared"
    root.mkdir()
    (root / "somebodys").write_text("own")
    root.chmod(mode)
    with pytest.raises(OperatorError, match=rf"shared: users other .*mode {mode & 0o777:o}.*chmod 700"):
        StateFolder(root).create_private_folders()
    assert _mode(root) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder away")
def test_an_open_folder_of_another_user_is_refused(tmp_path):
    root = tmp_path / "state"
    root.mkdir()
    root.chmod(0o755)
    os.chown(root, 65534, 65534)
    with pytest.raises(OperatorError, match="belongs to another user"):
        StateFolder(root).create_private_folders()


def test_a_run_folder_shared_with_the_screens_is_open_to_their_group_alone(tmp_path):
    state = StateFolder(tmp_path / "state")
    state.create_private_folders()
    state.run_folder.chmod(0o2777)
    state.create_private_folders()
    assert _mode(state.run_folder) == 0o2710


def test_the_write_probe_of_a_folder_follows_no_link(tmp_path):
    state, elsewhere = StateFolder(tmp_path / "state"), tmp_path / "elsewhere"
    state.create_private_folders()
    elsewhere.write_text("whole")
    (state.run_folder / ".probe").symlink_to(elsewhere)
    state.create_private_folders()
    assert elsewhere.read_text() == "whole"
    assert not (state.run_folder / ".probe").is_symlink()
