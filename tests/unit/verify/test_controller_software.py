"""A progressive controller holds its software against the signed manifest before it serves anybody."""

import sqlite3

import pytest
from software_rig import Installation

LEVELS = """
[[level]]
id = "grand"
name = { en = "Grand", fr = "Grand" }
stake_cents = 25
odds = "1/1000"
base_cents = 1000
increment = "1/100"
"""
SERVE = (
    "import sys; from click.testing import CliRunner; from tools.commands.progressive import command;"
    "done = CliRunner().invoke(command, ['serve', *sys.argv[1:]]); print(done.exit_code, done.output)"
)


def served(shipped, folder, *more):
    """What ``egm progressive serve`` says; there are no certificates, so none of them ever listens."""
    levels, store = folder / "levels.toml", folder / "controller.db"
    levels.write_text(LEVELS)
    said = shipped.run(SERVE, levels, "--certificates", folder, "--store", store, *more)
    kinds = []
    if store.exists():
        base = sqlite3.connect(store)
        kinds = [row[0] for row in base.execute("SELECT kind FROM event")]
        base.close()
    return said, kinds


@pytest.mark.requirement("I-08", "A-09")
def test_a_flipped_bit_keeps_the_controller_from_serving(tmp_path):
    shipped = Installation(tmp_path)
    signed = ("--manifest", shipped.manifest_file, "--key", shipped.public)
    said, kinds = served(shipped, tmp_path, *signed)
    assert "certificates" in said
    assert kinds[:2] == ["software_verified", "opened"]
    altered = shipped.root / "egm" / "progressive" / "level.py"
    data = bytearray(altered.read_bytes())
    data[3] ^= 1  # a letter of its docstring: nothing but the digest tells
    altered.write_bytes(bytes(data))
    said, kinds = served(shipped, tmp_path, *signed)
    assert said.startswith("1 ")
    assert "the software is not as signed: egm/progressive/level.py" in said
    assert kinds[-1] == "software_altered"
    said, kinds = served(shipped, tmp_path)
    assert kinds[-1] == "software_not_verified"
    assert served(shipped, tmp_path, "--manifest", shipped.manifest_file)[0].startswith("2 ")
