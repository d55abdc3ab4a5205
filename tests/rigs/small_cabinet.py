"""A cabinet file with one game, with which a complete machine starts fastest."""

from pathlib import Path

from egm.config.cabinet_file import DEFAULT_CABINET

_MACHINE = """\
[machine]
serial = "EGM-0000001"
operator_number = "1"
site = "Demonstration"
profile = "generic"

[[games]]
game = "maple-classic"
"""


def write_cabinet(folder: Path) -> Path:
    """Write ``cabinet.toml`` with one game and the demonstration's devices; return its path."""
    blocks = DEFAULT_CABINET.read_text().split("\n\n")  # one table in each block
    devices = [block for block in blocks if block.startswith("[devices.")]
    path = folder / "cabinet.toml"
    path.write_text("\n\n".join([_MACHINE, *devices]))
    return path
