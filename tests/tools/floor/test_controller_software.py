"""A progressive controller verifies its software against the signed manifest before it starts to serve."""

import sqlite3

import pytest
from click.testing import CliRunner
from rigs.software import Installation

from egm.progressive.definition import create_level_source, list_level_and_game_files
from paytables import load_game
from tools.cli.commands.progressive import command

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
    "import sys; from click.testing import CliRunner; from tools.cli.commands.progressive import command;"
    "done = CliRunner().invoke(command, ['serve', *sys.argv[1:]]); print(done.exit_code, done.output)"
)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """One installation for all tests; each test signs it again and leaves it unchanged."""
    return Installation(tmp_path_factory.mktemp("software"))


def run_serve(shipped, folder, *arguments):
    """Return the output of ``egm progressive serve`` without certificates, so that it never opens a port."""
    levels, store = folder / "levels.toml", folder / "controller.db"
    if not levels.exists():
        levels.write_text(LEVELS)
    output = shipped.run(SERVE, levels, "--certificates", folder, "--store", store, *arguments)
    kinds = []
    if store.exists():
        base = sqlite3.connect(store)
        kinds = [row[0] for row in base.execute("SELECT kind FROM event")]
        base.close()
    return output, kinds


@pytest.mark.requirement("I-08", "A-09")
def test_a_controller_with_one_altered_bit_does_not_serve(shipped, tmp_path):
    signed = ("--manifest", shipped.manifest_file, "--key", shipped.public)
    (tmp_path / "levels.toml").write_text(LEVELS)
    shipped.make(own_files=(("own/levels/levels.toml", str(tmp_path / "levels.toml")),))
    output, kinds = run_serve(shipped, tmp_path, *signed)
    assert "certificates" in output
    assert kinds[:2] == ["software_verified", "opened"]
    altered = shipped.root / "egm" / "progressive" / "level.py"
    original = altered.read_bytes()
    data = bytearray(original)
    data[3] ^= 1  # one letter of a docstring, which only the digest reveals
    altered.write_bytes(bytes(data))
    output, kinds = run_serve(shipped, tmp_path, *signed)
    altered.write_bytes(original)
    assert output.startswith("1 ")
    assert "the software differs from the signed software: egm/progressive/level.py" in output
    assert kinds[-1] == "software_altered"
    output, kinds = run_serve(shipped, tmp_path)
    assert kinds[-1] == "software_not_verified"
    assert run_serve(shipped, tmp_path, "--manifest", shipped.manifest_file)[0].startswith("2 ")


@pytest.mark.requirement("I-08", "A-09")
@pytest.mark.parametrize("changed", ["levels.toml", "games/own.toml"])
def test_the_level_file_and_its_custom_games_are_verified_too(shipped, tmp_path, changed):
    levels = tmp_path / "levels.toml"
    (tmp_path / "games").mkdir()
    library = (shipped.root / "paytables/library/summit-keno.toml").read_text()
    (tmp_path / "games/own.toml").write_text(library)
    [play, *_] = load_game(str(tmp_path / "games/own.toml")).list_every_level()
    own_game = f'game = "./games/own.toml"\ngame_level = "{play.level}"'
    terms = LEVELS.replace('odds = "1/1000"', own_game).replace('"1/100"', '"1/50"')
    levels.write_text(terms.replace("base_cents = 1000", "base_cents = 1250000"))
    own_files = list_level_and_game_files(create_level_source(levels))
    assert [name for name, _ in own_files] == ["own/levels/levels.toml", "own/levels/./games/own.toml"]
    shipped.make(own_files=own_files)
    signed = ("--manifest", shipped.manifest_file, "--key", shipped.public)
    assert "differs from the signed software" not in run_serve(shipped, tmp_path, *signed)[0]
    (tmp_path / changed).write_text((tmp_path / changed).read_text() + "\n# more\n")
    output, _ = run_serve(shipped, tmp_path, *signed)
    assert "the software differs from the signed software" in output or "altered" in output
    assert changed in output


@pytest.mark.requirement("I-08")
def test_a_controller_whose_record_does_not_add_up_does_not_serve(tmp_path):
    levels, store = tmp_path / "levels.toml", tmp_path / "controller.db"
    levels.write_text(LEVELS)
    arguments = ["serve", str(levels), "--certificates", str(tmp_path), "--store", str(store)]
    output = CliRunner().invoke(command, arguments).output
    assert "certificates" in output  # of which there are none: it would serve
    base = sqlite3.connect(store)
    assert base.execute("SELECT kind FROM event").fetchall()[0] == ("software_not_verified",)
    base.execute("INSERT INTO contribution VALUES ('EGM-1', 'grand', 1, 25, '1', '0')")
    base.commit()
    base.close()
    run = CliRunner().invoke(command, arguments)
    assert run.exit_code == 1
    assert "the ledger has" in run.output
    assert "certificates" not in run.output
