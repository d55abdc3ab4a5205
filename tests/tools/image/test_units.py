"""What the image lays over the package's units, and what starts it."""

import shutil
import time
from pathlib import Path

import pytest

from tools.image.image import _HERE, _STUB, MADE_OF, _esp

LAID_OVER = _HERE / "root/usr/lib/systemd/system/open-egm-machine.service.d/image.conf"


def test_the_machine_starts_without_its_medium_to_say_that_it_is_missing():
    """systemd requires the medium of a state directory (systemd.exec(5)): the image's unit has none."""
    lines = LAID_OVER.read_text().splitlines()
    assert "StateDirectory=" in lines
    (paths,) = (line for line in lines if line.startswith("ReadWritePaths="))
    assert "/var/lib/open-egm" in paths.partition("=")[2].split()


def test_the_cabinet_file_is_asked_for_and_lies_on_the_medium():
    (started,) = (line for line in LAID_OVER.read_text().splitlines() if line.startswith("ExecStart=/"))
    assert "--first-start --seed /etc/open-egm/cabinet.seed.toml" in started
    assert "Environment=EGM_CABINET=/var/lib/open-egm/cabinet.toml" in LAID_OVER.read_text()
    assert MADE_OF["started"]["systemd-networkd.service"] == "multi-user.target"


@pytest.mark.skipif(
    None in {shutil.which(name) for name in ("objcopy", "mkfs.fat", "mcopy")} or not Path(_STUB).exists(),
    reason="needs binutils, dosfstools, mtools and systemd-boot-efi",
)
def test_the_system_partition_is_the_same_wherever_it_is_made(tmp_path, monkeypatch):
    made = []
    for zone in ("Pacific/Auckland", "America/Toronto"):
        monkeypatch.setenv("TZ", zone)
        for name in ("vmlinuz", "initrd"):
            (tmp_path / name).write_bytes(b"x" * 5000)
        _esp(tmp_path, "quiet", "1795392032")
        time.sleep(1.1)  # the program would name the second in which it is made
        made.append((tmp_path / "esp.img").read_bytes())
    assert made[0] == made[1]
