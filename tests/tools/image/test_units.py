"""The systemd units of the image, which override those of the package."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tools.image.image import (
    _EFI_STUB,
    _IMAGE_FILES_FOLDER,
    _REMOVE_OTHER_PYTHONS_SCRIPT,
    IMAGE_CONTENT,
    _build_esp,
)

LAID_OVER = _IMAGE_FILES_FOLDER / "root/usr/lib/systemd/system/open-egm-machine.service.d/image.conf"


def test_the_machine_starts_without_its_medium_to_report_it_missing():
    """The image's unit has no state directory, because systemd would then require its medium (systemd.exec(5))."""
    lines = LAID_OVER.read_text().splitlines()
    assert "StateDirectory=" in lines
    (paths,) = (line for line in lines if line.startswith("ReadWritePaths="))
    assert "/var/lib/open-egm" in paths.partition("=")[2].split()


def test_a_missing_cabinet_file_is_created_on_the_medium_at_first_start():
    (started,) = (line for line in LAID_OVER.read_text().splitlines() if line.startswith("ExecStart=/"))
    assert "--first-start --seed /etc/open-egm/cabinet.seed.toml" in started
    assert "Environment=EGM_CABINET=/var/lib/open-egm/cabinet.toml" in LAID_OVER.read_text()
    assert IMAGE_CONTENT["started"]["systemd-networkd.service"] == "multi-user.target"


def test_the_hardware_watchdog_allows_a_slow_start():
    """The hardware watchdog's limit is ten minutes until everything has started, and one minute from then on."""
    root = _IMAGE_FILES_FOLDER / "root/usr"
    starting = (root / "lib/systemd/system.conf.d/open-egm.conf").read_text().splitlines()
    assert "RuntimeWatchdogSec=10min" in starting
    assert "RuntimeWatchdogSec=60" in (root / "share/open-egm/watchdog-started.conf").read_text().splitlines()
    unit = (root / "lib/systemd/system/egm-watchdog.service").read_text()
    assert "After=open-egm-machine.service open-egm-screen.service" in unit
    assert "/usr/share/open-egm/watchdog-started.conf /run/systemd/system.conf.d/" in unit
    assert (
        IMAGE_CONTENT["started"]["egm-watchdog.service"]
        == IMAGE_CONTENT["started"]["egm-late.service"]
        == "open-egm.target"
    )


def test_the_images_own_units_are_confined_and_valid(tmp_path):
    """Every unit of the image is named ``egm-...`` and confined; the debug image's root shell has another name."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    system = tmp_path / "usr/lib/systemd/system"
    shutil.copytree(_IMAGE_FILES_FOLDER / "root/usr/lib/systemd/system", system)
    for unit in Path("/lib/systemd/system").glob("*"):
        if unit.is_file() and not (system / unit.name).exists():
            shutil.copy(unit, system)
    own_units = sorted(
        path.name for path in (_IMAGE_FILES_FOLDER / "root/usr/lib/systemd/system").glob("*.service")
    )
    assert own_units
    assert all(name.startswith("egm-") for name in own_units)
    assert not list((_IMAGE_FILES_FOLDER / "debug").rglob("egm-*.service"))
    python = tmp_path / "opt/open-egm/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    named = [name.replace("@.", "@sda.") for name in own_units]
    result = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", f"--root={tmp_path}", *named],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    output = [
        line for line in result.stderr.splitlines() if "egm-" in line and "is not executable" not in line
    ]
    assert output == []
    for name in named:
        seen = subprocess.run(
            ["systemd-analyze", "security", "--offline=yes", f"--root={tmp_path}", "--threshold=60", name],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert seen.returncode == 0, seen.stdout[-200:]


def test_the_image_contains_only_the_packages_of_its_own_python(tmp_path):
    """Regression: the image also contained the packages of another Debian release's Python."""
    libraries = tmp_path / "opt/open-egm/lib"
    for name in ("python3.11", "python3.13"):
        (libraries / name / "site-packages").mkdir(parents=True)
    python = tmp_path / "usr/bin/python3.11"
    python.parent.mkdir(parents=True)
    python.touch(0o755)
    subprocess.run(["sh", "-e", "-s", tmp_path], input=_REMOVE_OTHER_PYTHONS_SCRIPT, text=True, check=True)
    assert [path.name for path in libraries.iterdir()] == ["python3.11"]


@pytest.mark.skipif(
    None in {shutil.which(name) for name in ("objcopy", "mkfs.fat", "mcopy")} or not Path(_EFI_STUB).exists(),
    reason="needs binutils, dosfstools, mtools and systemd-boot-efi",
)
def test_the_system_partition_is_the_same_in_any_time_zone(tmp_path, monkeypatch):
    partitions = []
    for zone in ("Pacific/Auckland", "America/Toronto"):
        monkeypatch.setenv("TZ", zone)
        for name in ("vmlinuz", "initrd"):
            (tmp_path / name).write_bytes(b"x" * 5000)
        _build_esp(tmp_path, "quiet", "1795392032")
        time.sleep(1.1)  # the program would name the second in which it is made
        partitions.append((tmp_path / "esp.img").read_bytes())
    assert partitions[0] == partitions[1]
