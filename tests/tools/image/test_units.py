"""What the image lays over the package's units."""

from tools.image.image import _HERE, MADE_OF

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
