"""If a medium appears after the check, it is mounted and checked, and the machine is started on it."""

import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from egm.kernel.messages import Snapshot
from egm.unix_sockets import open_socket_address
from tools.image import update


class Computer:
    """A simulated computer for the commands; its medium appears at a given query, and queries are its clock."""

    def __init__(self, folder, monkeypatch, *, there_at, bad_tries=0, label="egm-state-1", is_slow=False):
        """``is_slow``: systemctl returns before the medium is mounted, as when systemd is re-executed."""
        self.labels, self.path = folder / "by-label", folder / "state"
        self.labels.mkdir()
        self.path.mkdir()
        self.done, self.looks = [], 0
        self._there_at, self._bad, self._label = there_at, bad_tries, label
        self.mounted, self._is_slow = False, is_slow
        monkeypatch.setattr(subprocess, "run", self._run)
        monkeypatch.setattr(update, "_is_mounted", lambda _path: self.mounted)
        monkeypatch.setattr(time, "sleep", self._sleep)

    def _sleep(self, seconds):
        assert seconds >= 5
        self.looks += 1
        if self._is_slow and self._bad < 0:
            self.mounted = True
        assert self.looks < 50, "it never goes on"
        if self.looks == self._there_at:
            (self.labels / self._label).touch()

    def _run(self, command, *, check):
        assert check is False
        self.done.append(command)
        if command[:2] == ("systemctl", "start") and command[2].endswith(".mount"):
            self._bad -= 1
            self.mounted = self.mounted or (self._bad < 0 and not self._is_slow)

    def look_again(self):
        update.wait_for_media({"egm-state-1": self.path}, self.labels, lambda: self.done.append("checked"))

    def take_second(self):
        update.wait_for_second_medium(
            self.labels / self._label, self.path, lambda: self.done.append("may restart")
        )


def test_a_medium_present_at_boot_changes_nothing(tmp_path, monkeypatch):
    computer = Computer(tmp_path, monkeypatch, there_at=0)
    computer.mounted = True
    computer.look_again()
    assert computer.done == []


@pytest.mark.parametrize("bad_tries", [0, 2])
def test_a_late_medium_is_mounted_and_checked_and_the_machine_started(tmp_path, monkeypatch, bad_tries):
    """Regression: the display announced that the machine continues, but the medium was not checked again."""
    computer = Computer(tmp_path, monkeypatch, there_at=7, bad_tries=bad_tries)
    computer.look_again()
    mount = update._find_mount_unit(computer.path)
    steps = computer.done[-5:]
    assert steps[0][:4] == ("systemctl", "stop", "open-egm-machine.service", "open-egm-screen.service")
    assert steps[1] == ("systemctl", "start", mount, update._find_mount_unit(computer.path / "run"))
    assert steps[2] == ("systemd-tmpfiles", "--create", "open-egm.conf")
    assert steps[3:] == ["checked", ("systemctl", "start", "open-egm.target")]
    assert computer.looks == 7 + bad_tries
    started = [step for step in computer.done if step == ("systemctl", "start", "open-egm.target")]
    assert len(started) == 1 + bad_tries, "meanwhile the display goes on saying what is wrong"


def test_a_medium_mounted_after_systemctl_returned_is_prepared_before_the_start(tmp_path, monkeypatch):
    """Regression: the machine started before the permissions of the medium were set and refused its file."""
    computer = Computer(tmp_path, monkeypatch, there_at=7, is_slow=True)
    computer.look_again()
    steps = [step if step == "checked" else step[:2] for step in computer.done]
    attempt = [("systemctl", "stop"), ("systemctl", "start")]
    prepared = [("systemd-tmpfiles", "--create"), "checked", ("systemctl", "start")]
    assert steps == [*attempt, ("systemctl", "start"), *attempt, *prepared]


def test_a_late_medium_is_handled_after_systemd_is_re_executed():
    """``systemctl daemon-reexec`` cut the connection of the ``systemctl start`` that mounted the medium."""
    units = Path(update.__file__).parent / "root/usr/lib/systemd/system"
    after = next(
        line for line in (units / "egm-late.service").read_text().splitlines() if line[:6] == "After="
    )
    assert "egm-watchdog.service" in after
    assert "systemctl daemon-reexec" in (units / "egm-watchdog.service").read_text()


def test_a_second_medium_present_at_boot_restarts_nothing(tmp_path, monkeypatch):
    computer = Computer(tmp_path, monkeypatch, there_at=0, label="egm-state-2")
    computer.mounted = True
    computer.take_second()
    assert computer.done == []


@pytest.mark.parametrize("bad_tries", [0, 2])
def test_a_late_second_medium_is_mounted_and_the_machine_restarted(tmp_path, monkeypatch, bad_tries):
    """Regression: the machine stayed out of service until it was switched off and on."""
    computer = Computer(tmp_path, monkeypatch, there_at=7, bad_tries=bad_tries, label="egm-state-2")
    computer.take_second()
    mount = ("systemctl", "start", update._find_mount_unit(computer.path))
    assert computer.done == [
        *(mount,) * (1 + bad_tries),
        "may restart",
        ("systemctl", "restart", "open-egm-machine.service"),
    ]
    assert computer.looks == 7 + bad_tries


@pytest.mark.parametrize(
    ("states", "can_restart"),
    [
        ((), True),
        (("out_of_service",), True),
        (("out_of_service", "playing"), False),
        (("paying",), False),
        (("handpay",), False),
        (("service_menu",), False),
    ],
)
def test_a_restart_for_the_second_medium_waits_until_no_position_is_in_use(
    tmp_path, monkeypatch, states, can_restart
):
    shown = [Snapshot.model_construct(state=state) for state in states]
    monkeypatch.setattr(update.ScreenWatch, "list_snapshots", lambda _self: shown)
    assert update.ScreenWatch(tmp_path).can_restart is can_restart


def test_the_awaited_media_are_those_mounted_by_fstab():
    table = (Path(update.__file__).parent / "root/etc/fstab").read_text().splitlines()
    places = {line.split()[1]: line.split()[0] for line in table if line and line[0] != "#"}
    assert places[str(update._SECOND_MEDIUM_FOLDER)] == f"LABEL={update._SECOND_STATE_LABEL}"
    for label, path in update._MOUNT_POINT_BY_STATE_LABEL.items():
        assert places[str(path)] == f"LABEL={label}"
        assert str(path / "run") in places
    assert update._find_mount_unit(update._STATE_FOLDER) == "var-lib-open\\x2degm.mount"
    assert update._find_mount_unit(update._STATE_FOLDER / "run") == "var-lib-open\\x2degm-run.mount"


@pytest.mark.skipif(os.geteuid() != 0, reason="the update's units are root's")
def test_the_update_reads_no_more_in_the_machines_folder_than_the_machine_may():
    """Regression: a token that linked to a file of root was read and disclosed."""
    with (
        tempfile.TemporaryDirectory() as folder
    ):  # pytest's own folder is in one that only its user may enter
        Path(folder).chmod(0o755)
        _steal(Path(folder))


def _steal(folder):
    state, secret = folder / "state", folder / "secret"
    (state / "run").mkdir(parents=True)
    secret.write_text("of root alone")
    secret.chmod(0o600)
    (state / "run/screen.token").symlink_to(secret)
    with socket.socket(socket.AF_UNIX) as thief:
        with open_socket_address(state / "run/screen.sock") as address:
            thief.bind(address)
        thief.listen()
        thief.settimeout(0.5)
        for path in (state, state / "run", state / "run/screen.sock"):
            os.chown(path, 65534, 65534)
        received = b""
        machine = update.ScreenWatch(state)
        for _ in range(20):
            machine.list_snapshots()
            time.sleep(0.05)
        try:
            link, _ = thief.accept()
            link.settimeout(0.5)
            received = link.recv(4096)
        except TimeoutError:
            pass
    assert b"of root alone" not in received
    assert (os.geteuid(), os.getegid()) == (0, 0)
