"""The screens run as another user than the machine, verified with systemd's own tools and with running processes.

The processes run here as their units start them, in a mount namespace that contains what the units show them. systemd
itself runs in the slow test of the package.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from websockets.sync.client import connect

from egm.isolated import build_python_command
from tools.image import deb

FOLDER = Path(deb.__file__).with_name("debian")
MACHINE, SCREENS = 780, 781
TOOLS = ("systemd-sysusers", "systemd-tmpfiles", "systemd-analyze")


@pytest.fixture
def root(tmp_path):
    """A root folder with the package's systemd files in their installed places."""
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"needs root and systemd's tools; missing: {missing}")
    for name, target_path in deb._TARGET_BY_FILE.items():
        (tmp_path / target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FOLDER / name, tmp_path / target_path)
    (tmp_path / "etc").mkdir(exist_ok=True)
    python = tmp_path / "opt/open-egm/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    for unit in Path("/lib/systemd/system").glob("*"):
        if not (target := tmp_path / "usr/lib/systemd/system" / unit.name).exists() and unit.is_file():
            shutil.copy(unit, target)
    return tmp_path


def run(*command):
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_users_and_folders_are_created_and_the_units_are_valid(root):
    result = run("systemd-sysusers", f"--root={root}", "open-egm.conf")
    assert result.returncode == 0, result.stderr
    users = {line.split(":")[0]: line.split(":") for line in (root / "etc/passwd").read_text().splitlines()}
    assert (users["open-egm"][2], users["open-egm-screen"][2]) == (str(MACHINE), str(SCREENS))
    groups = {
        line.split(":")[0]: line.split(":")[3] for line in (root / "etc/group").read_text().splitlines()
    }
    assert groups["dialout"] == "open-egm", "the lines of money's devices are the machine's alone"
    assert groups["open-egm-screen"] == "open-egm"
    assert groups["open-egm"] == ""
    for name in ("video", "render", "input", "audio"):
        assert groups[name] == "open-egm-screen"
    for _ in range(2):  # at each start of the computer
        assert run("systemd-tmpfiles", f"--root={root}", "--create", "open-egm.conf").returncode == 0
    state = root / "var/lib/open-egm"
    seen = {
        path.name: (path.stat().st_mode & 0o7777, path.stat().st_uid, path.stat().st_gid)
        for path in (state, state / "run")
    }
    assert seen == {"open-egm": (0o700, MACHINE, MACHINE), "run": (0o2710, MACHINE, SCREENS)}
    units = [name for name in deb._TARGET_BY_FILE if name.endswith((".service", ".socket", ".target"))]
    output = run("systemd-analyze", "verify", "--man=no", f"--root={root}", *units).stderr
    assert [line for line in output.splitlines() if "open-egm" in line] == []


#: The part of the machine's folder that a unit with `TemporaryFileSystem=` and `BindReadOnlyPaths=` sees.
_SHUT_IN = """
mount --make-rprivate / && mkdir -p {hold} && mount --bind {state}/run {hold} && mount -t tmpfs -o mode=0755 none {state} &&
mkdir {state}/run && mount --bind {hold} {state}/run && mount -o remount,bind,ro {state}/run && exec setpriv --reuid={screens}
 --regid={screens} --clear-groups --no-new-privs {command}
"""


@pytest.mark.skipif(
    os.geteuid() != 0 or None in {shutil.which(name) for name in ("unshare", "setpriv", "mount")}
    or run("unshare", "-m", "true").returncode != 0,
    reason="needs root and mount namespaces",
)  # fmt: skip
def test_a_screen_under_its_own_user_shows_the_machine_and_reads_none_of_its_files():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        _shown_and_shut_out(Path(folder))


def _shown_and_shut_out(folder):
    state, runtime = folder / "open-egm", folder / "page"
    for path, mode, user, group in (
        (state, 0o700, MACHINE, MACHINE), (state / "run", 0o2710, MACHINE, SCREENS), (runtime, 0o700, SCREENS, SCREENS),
    ):  # fmt: skip
        path.mkdir()
        os.chown(path, user, group)
        path.chmod(mode)

    def shut_in(*command):
        script = _SHUT_IN.format(
            hold=folder / "hold", state=state, screens=SCREENS, command=" ".join(command)
        )
        return ["unshare", "-m", "sh", "-c", script.replace("\n", " ")]

    as_machine = (
        "setpriv",
        f"--reuid={MACHINE}",
        f"--regid={MACHINE}",
        f"--groups={SCREENS}",
        "--no-new-privs",
    )
    environment = {
        "HOME": str(state),
        "SDL_VIDEODRIVER": "dummy",
        "SDL_AUDIODRIVER": "dummy",
        "PATH": os.environ["PATH"],
    }
    started = {"env": environment, "cwd": "/", "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    machine = subprocess.Popen(
        [*as_machine, *build_python_command("egm.app", "--state", str(state), "--patience", "0")], **started
    )
    arguments = ("--state", str(state), "--mode", "web", "--silent", "--address", str(runtime / "screen.url"))
    page = None
    try:
        until((state / "run/screen.sock").exists, machine)
        page = subprocess.Popen(shut_in(*build_python_command("egm.screen", *arguments)), **started)
        until((runtime / "screen.url").exists, page)
        url, _, token = (runtime / "screen.url").read_text().strip().partition("?")
        session = _got(f"{url}?{token}").partition('let session = "')[2].partition('"')[0]
        with connect(url.replace("http", "ws") + "link", origin=url.rstrip("/"), max_size=None) as link:
            link.send(json.dumps({"session": session}))
            words = ""
            end = time.monotonic() + 60
            while "credit" not in words.lower():  # only on a linked machine
                assert time.monotonic() < end, words
                reply = link.recv(timeout=60)
                if isinstance(reply, bytes):
                    link.send('{"shown": true}')
                else:
                    words += reply
        shell = "/bin/sh", "-c"
        for act in (
            f"cat /proc/{machine.pid}/root{state}/machine.key", f"ls -L /proc/{machine.pid}/root", f"ls {state}/run",
            f"cat {state}/machine.key", f"touch {state}/run/x", f"touch {state}/x", f"rm {state}/run/screen.sock",
            f"kill -0 {machine.pid}", f"cat /proc/{machine.pid}/environ",
        ):  # fmt: skip
            result = run(*shut_in(*shell, f'"{act}"'))
            assert result.returncode != 0, (act, result.stdout)
        assert run(*shut_in(*shell, f'"cat {state}/run/screen.token"')).returncode == 0, "what it is given"
    finally:
        for process in filter(None, (page, machine)):
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


def _got(address):
    script = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"
    return run(sys.executable, "-c", script, address).stdout


def until(holds, process, seconds=90):
    end = time.monotonic() + seconds
    while not holds():
        assert process.poll() is None, process.args
        assert time.monotonic() < end, process.args
        time.sleep(0.1)
