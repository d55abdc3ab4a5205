"""The wiring notes say what the code does."""

from pathlib import Path

from egm import devices
from egm.devices.catalogue import PROTOCOLS


def test_every_protocol_and_its_line_are_in_the_notes():
    rows = {}
    for line in (Path(devices.__file__).parent / "WIRING.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            rows[cells[0].strip("`")] = cells[2]
    lines = {
        name: f"{entry.line.baud} {entry.line.bits}{entry.line.parity}{entry.line.stop_bits}"
        for name, entry in PROTOCOLS.items()
    }
    assert rows == lines
