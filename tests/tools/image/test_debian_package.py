"""The Debian package is complete and reproducible, and makes a fresh Debian a working cabinet."""

import configparser
import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tools.image import deb

FOLDER = Path(deb.__file__).with_name("debian")
UNITS = sorted(FOLDER.glob("*.service"))
STATE = "/var/lib/open-egm"


def unit(path):
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read([path, FOLDER / "shut-in.conf"])
    return parser


def test_every_file_of_the_folder_is_installed_or_is_a_script_of_the_package():
    file_names = {path.name for path in FOLDER.iterdir()}
    assert file_names == {*deb._TARGET_BY_FILE, "control", "postinst", "prerm", "postrm"}


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_each_unit_starts_a_module_isolated_and_confined(path):
    service = unit(path)["Service"]
    command = service["ExecStart"].split()
    assert command[:3] == ["/opt/open-egm/bin/python", "-I", "-m"]
    assert importlib.util.find_spec(command[3])
    screens = path.stem in {"open-egm-screen", "open-egm-page"}
    assert service["User"] == service["Group"] == ("open-egm-screen" if screens else "open-egm")
    assert service["ProtectClock"] == "yes"
    assert service.get("PrivateDevices") == "yes" or service["DevicePolicy"] == "closed"
    if "AF_INET" in service["RestrictAddressFamilies"].split():
        assert service["IPAddressDeny"] == "any" or service.get("PrivateNetwork") == "yes"
    assert service["NoNewPrivileges"] == service["ProtectHome"] == "yes"
    assert service["CapabilityBoundingSet"] == ""


def test_a_later_commit_is_a_later_version():
    """apt compares only versions; if every commit had the same version, nothing would be upgraded."""
    versions = [deb.format_version(str(epoch)) for epoch in (1_700_000_000, 1_700_000_001, 1_795_392_032)]
    assert len({*versions}) == 3
    for before, after in itertools.pairwise(versions):
        assert (
            subprocess.run(["dpkg", "--compare-versions", before, "lt", after], check=False).returncode == 0
        )


def test_the_machines_unit_has_a_watchdog_and_always_restarts():
    service = unit(FOLDER / "open-egm-machine.service")["Service"]
    assert (service["Type"], service["WatchdogSec"], service["Restart"]) == ("notify", "120", "always")
    assert unit(FOLDER / "open-egm-machine.service")["Unit"]["StartLimitIntervalSec"] == "0"


def test_the_screens_unit_has_a_watchdog_and_always_restarts():
    service = unit(FOLDER / "open-egm-screen.service")["Service"]
    assert (service["Type"], service["WatchdogSec"], service["Restart"]) == ("notify", "120", "always")


def test_the_screens_unit_allows_ten_minutes_to_the_first_frame():
    """Regression: on a slow computer the watchdog ended the screen after two minutes, before its first frame."""
    assert unit(FOLDER / "open-egm-screen.service")["Service"]["TimeoutStartSec"] == "10min"


@pytest.mark.parametrize("name", ["postinst", "prerm", "postrm", "egm"])
def test_the_packages_scripts_are_valid_shell(name):
    assert subprocess.run(["sh", "-n", FOLDER / name], check=False).returncode == 0


def run_script(tmp_path, name, *arguments):
    """Run a script of the package in ``tmp_path``, with programs that only record their calls."""
    programs, notes = tmp_path / "programs", tmp_path / "notes"
    programs.mkdir(exist_ok=True)
    for program in ("deb-systemd-invoke", "deb-systemd-helper", "systemctl", "systemd-sysusers", "gpasswd"):
        (programs / program).write_text(f'#!/bin/sh\necho "{program} $*" >> {notes}\n')
        (programs / program).chmod(0o755)
    (tmp_path / "run").mkdir(exist_ok=True)
    text = (FOLDER / name).read_text(encoding="utf-8")
    for system_path in ("/opt/open-egm", "/run/systemd/system", "/usr/bin/"):
        text = text.replace(
            system_path, str(tmp_path / system_path.split("/")[1]) + "/" * system_path.endswith("/")
        )
    path = f"{programs}:{os.environ['PATH']}"
    result = subprocess.run(
        ["sh", "-s", *arguments], input=text, env={"PATH": path}, check=False, text=True, capture_output=True
    )
    return result, notes.read_text().splitlines() if notes.exists() else []


@pytest.mark.parametrize("undone", ["abort-upgrade", "abort-remove", "abort-deconfigure"])
def test_a_machine_stopped_for_an_aborted_upgrade_starts_again(tmp_path, undone):
    result, called = run_script(tmp_path, "postinst", undone, "1.0")
    assert (result.returncode, called) == (0, ["deb-systemd-invoke start open-egm.target"])


def test_a_failed_compilation_of_modules_leaves_the_machine_installed(tmp_path):
    """Without compiled modules a start only takes longer; half installed, the machine could not start."""
    (tmp_path / "opt/lib/python3.13/site-packages").mkdir(parents=True)
    (tmp_path / "usr").mkdir()
    (tmp_path / "usr/python3.13").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "usr/python3.13").chmod(0o755)
    result, called = run_script(tmp_path, "postinst", "abort-upgrade", "1.0")
    assert result.returncode == 0
    assert "python3.13" in result.stderr
    assert called[-1] == "deb-systemd-invoke start open-egm.target"


def test_a_package_without_its_modules_can_be_removed(tmp_path):
    result, _ = run_script(tmp_path, "prerm", "remove")
    assert (result.returncode, result.stderr) == (0, "")


def test_the_package_requires_a_python_it_has_wheels_for():
    assert deb.format_python_dependencies(("3.11", "3.13")) == (
        "python3 (>= 3.11), python3 (<< 3.12) | python3 (>= 3.13), python3 (<< 3.14)"
    )
    assert deb.format_python_dependencies(("3.12", "3.13")) == "python3 (>= 3.12), python3 (<< 3.14)"


def test_the_documents_linked_from_the_readme_are_in_the_package():
    pages = [str(page) for page in deb.list_pages()]
    text = (deb._SOURCE_ROOT / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w./-]+\.md)\)", text))
    assert {"egm/CABINET-FILE.md", "docs/image.md"} <= linked
    assert linked <= set(pages)
    assert not [page for page in pages if page.startswith(("tests/", ".venv", "build"))]


def test_a_missing_build_tool_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(deb.OperatorError, match="is not installed on this computer"):
        deb.build(tmp_path)


# ---------------------------------------------------------------- on a fresh Debian
class Container:
    """A Debian system that boots with systemd, like a builder's new computer."""

    def __init__(self, root):
        self.root = root
        self._process = subprocess.Popen(
            ["systemd-nspawn", "-q", "-D", root, "-b", "--register=no", "--keep-unit", "--private-network"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.until(
            lambda: self.runs("systemctl", "is-system-running").stdout.strip() in {"running", "degraded"}
        )

    def runs(self, *command):
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        if not children:
            return subprocess.CompletedProcess(command, 1, "", "")
        within = ["nsenter", "-t", children[0], "-a", *command]
        return subprocess.run(within, check=False, capture_output=True, text=True)

    def says(self, *command):
        result = self.runs(*command)
        assert result.returncode == 0, (command, result.stdout, result.stderr)
        return result.stdout

    def egm(self, *arguments):
        return self.says("runuser", "-u", "open-egm", "--", "egm", *arguments, "--state", STATE)

    def until(self, condition, seconds=300):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, self.runs("journalctl", "-n", "40", "--no-pager").stdout
            time.sleep(0.5)

    def machine(self, property_name):
        return self.runs("systemctl", "show", "-P", property_name, "open-egm-machine").stdout.strip()

    def credits(self):
        return json.loads(self.egm("meters", "--json"))["credits_cents"]

    def close(self):
        self.runs("systemctl", "poweroff")
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return deb.build(tmp_path_factory.mktemp("first"))


@pytest.fixture(params=["bookworm", "trixie"])
def debian(request, tmp_path):
    missing = [name for name in ("mmdebstrap", "systemd-nspawn", "nsenter") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"needs root and Debian's mmdebstrap and systemd-container; missing: {missing}")
    root = tmp_path / "root"
    expected = "systemd,systemd-sysv,udev,dbus,python3,procps"
    subprocess.run(
        ["mmdebstrap", "-q", "--variant=minbase", f"--include={expected}", request.param, root], check=True
    )
    container = Container(root)
    yield container
    container.close()


@pytest.mark.slow
def test_two_builds_are_the_same_bytes(built, tmp_path):
    """The test takes about two minutes."""
    assert deb.build(tmp_path).read_bytes() == built.read_bytes()


@pytest.mark.slow
def test_installing_the_package_makes_a_fresh_debian_a_cabinet(built, debian):
    """Tests installation, play, a hang, upgrade, removal and purge; the money stays. Takes 3 minutes per release."""
    shutil.copy(built, debian.root / "open-egm.deb")
    install = ("apt-get", "install", "-y", "--no-install-recommends", "/open-egm.deb")
    debian.says(*install)
    debian.until(lambda: debian.machine("SubState") == "running")
    debian.until(lambda: debian.runs("test", "-s", "/run/open-egm-page/screen.url").returncode == 0)
    assert re.match(
        r"http://127\.0\.0\.1:8080/\?token=", debian.says("egm", "screen", "address", "--state", STATE)
    )
    debian.until(lambda: debian.runs("runuser", "-u", "open-egm", "--", "egm", "device", "bill", "insert",
                                     "amount_cents=2000", "--state", STATE).returncode == 0)  # fmt: skip
    debian.until(lambda: debian.credits() == 2000)

    # The watchdog ends a machine that hangs; after the restart, the credit is unchanged.
    debian.says("systemctl", "kill", "-s", "STOP", "--kill-whom=main", "open-egm-machine")
    debian.until(lambda: debian.machine("NRestarts") == "1" and debian.machine("SubState") == "running")
    assert "watchdog" in debian.says("journalctl", "-u", "open-egm-machine", "-o", "cat")

    # Every module is compiled for the Python that is there, and for no other.
    compiled = "find /opt/open-egm/lib/python3.*/site-packages/egm/money -name '*.pyc'"
    python = debian.says(
        "/opt/open-egm/bin/python", "-I", "-c", "import sys; print(sys.implementation.cache_tag)"
    ).strip()
    found = debian.says("sh", "-c", compiled).split()
    assert found
    assert {path.split(".")[-2] for path in found} == {python}

    # The screen cannot read the memory, not as its own user and not through the machine's process.
    page = debian.says("systemctl", "show", "-P", "MainPID", "open-egm-page").strip()
    seen = debian.says("nsenter", "-t", page, "-m", "ls", STATE).split()
    assert seen == ["run"]
    assert debian.says("ps", "-o", "uid=", "-p", page).strip() == "781"
    machine = debian.machine("MainPID")
    as_screen = ("nsenter", "-t", page, "-m", "setpriv", "--reuid=781", "--regid=781", "--clear-groups", "ls")
    for way in (f"/proc/{machine}/root{STATE}", f"{STATE}/run", f"{STATE}/machine.key"):
        assert debian.runs(*as_screen, way).returncode != 0, way

    debian.says(*install[:2], "--reinstall", *install[2:])
    debian.until(lambda: debian.machine("SubState") == "running")
    assert debian.credits() == 2000
    debian.says("apt-get", "purge", "-y", "open-egm")
    assert debian.runs("pgrep", "-u", "780,781").returncode == 1
    assert debian.runs("test", "-e", "/opt/open-egm").returncode == 1
    assert (debian.root / STATE.lstrip("/") / "journal.sqlite").exists()
    debian.says(*install)
    debian.until(lambda: debian.machine("SubState") == "running")
    assert debian.credits() == 2000
