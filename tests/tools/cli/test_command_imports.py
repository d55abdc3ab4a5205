"""Each command imports only the packages and computes only the figures that it needs."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from egm.config.cabinet_file import DEFAULT_CABINET, load_cabinet
from egm.errors import OperatorError
from paytables import AnalysisDepth, DefinitionError, analyse, list_shipped_games, load_game
from paytables.definition import read_source
from tools.cli import main

PROGRAM = """
import sys, tools.cli
try:
    tools.cli.main({arguments!r}, prog_name="egm")
except SystemExit:
    pass
heavy = {{"numpy", "scipy", "numba", "matplotlib", "pygame", "PIL", "aiomqtt", "egm.play.entries"}}
print(*sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def list_loaded_modules(*arguments):
    """Return the heavy packages and modules that a command has loaded by its end."""
    program = PROGRAM.format(arguments=list(arguments))
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return run.stderr.split()


def test_the_list_of_games_loads_no_heavy_package():
    assert list_loaded_modules("game", "list") == []


def test_a_par_sheet_loads_no_more_than_its_figures_need():
    assert list_loaded_modules("par", "maple-classic") == ["numpy"]


def test_checking_a_cabinet_file_loads_no_heavy_package(tmp_path):
    file = str(tmp_path / "cabinet.toml")
    given = ["--profile", "generic", "--game", "maple-classic", "--game", "quebec-blackjack"]
    assert CliRunner().invoke(main, ["cabinet", "new", file, *given]).exit_code == 0
    assert list_loaded_modules("cabinet", "check", file) == []


def test_starting_a_cabinet_loads_no_game_analysis_and_reads_no_source():
    """Every process of a cabinet imports the module, but only the machine needs to load games."""
    program = (
        "import sys, tools.cli.commands.run, egm.profiles; from egm.config import documented_fields;"
        "print('egm.play.installed_games' in sys.modules, documented_fields._read_documented_classes.cache_info().misses)"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert run.stdout.split() == ["False", "0"]


def test_the_list_of_games_analyses_nothing(monkeypatch):
    def analysed(*_):
        raise AssertionError("a game was analysed or built for the list")

    monkeypatch.setattr("paytables.game.load_game", analysed)
    monkeypatch.setattr("paytables.game._build_from_source", analysed)
    monkeypatch.setattr("paytables.game.build_game", analysed)
    monkeypatch.setattr("tools.cli.commands.game.analyse", analysed)
    result = CliRunner().invoke(main, ["game", "list"])
    assert result.exit_code == 0
    assert all(name in result.output for name in list_shipped_games())


class TestOneGameIsMadeOnce:
    def file(self, folder, text):
        path = folder / "own.toml"
        path.write_text(text)
        return path

    def test_loading_the_same_file_twice_returns_the_same_game(self, tmp_path):
        path = self.file(tmp_path, read_source("maple-classic").data.decode())
        assert load_game(path) is load_game(path)

    def test_the_whole_library_is_loaded_and_its_figures_are_computed_once(self):
        games = [load_game(name) for name in list_shipped_games()]
        assert all(load_game(game.id) is game for game in games)
        (game,) = (game for game in games if game.id == "maple-classic")
        assert analyse(game, AnalysisDepth.RETURN) is analyse(game, AnalysisDepth.RETURN)
        assert analyse(game, AnalysisDepth.RETURN) == game.rules.analyse(AnalysisDepth.RETURN)

    def test_a_changed_file_has_another_digest(self, tmp_path):
        text = read_source("maple-classic").data.decode()
        before = load_game(self.file(tmp_path, text))
        after = load_game(self.file(tmp_path, text.replace('"Maple Classic"', '"Maple"')))
        assert before.digest != after.digest

    def test_a_file_is_read_again_after_it_was_rejected(self, tmp_path):
        text = read_source("maple-classic").data.decode()
        path = self.file(tmp_path, text.replace('family = "reels"', 'family = "none"'))
        with pytest.raises(DefinitionError):
            load_game(path)
        assert load_game(self.file(tmp_path, text)).id == "maple-classic"


def test_a_new_cabinet_file_lists_each_title_once_and_includes_tables(tmp_path):
    """Variants of one title differ in their return; an operator chooses one."""
    file = tmp_path / "cabinet.toml"
    assert CliRunner().invoke(main, ["cabinet", "new", str(file), "--profile", "monaco"]).exit_code == 0
    named = [slot.game for slot in load_cabinet(file).games]
    titles = [load_game(name).title["en"] for name in named]
    assert len(titles) == len(set(titles))
    assert "maple-classic" in named
    assert {"monaco-blackjack", "monaco-boule", "monaco-craps"} <= set(named)


def test_a_cabinet_file_with_a_byte_order_mark_is_refused(tmp_path):
    file = tmp_path / "cabinet.toml"
    file.write_bytes(b"\xef\xbb\xbf" + DEFAULT_CABINET.read_bytes())
    checked = CliRunner().invoke(main, ["cabinet", "check", str(file)])
    assert checked.exit_code == 1
    assert "byte order mark (BOM)" in checked.output
    with pytest.raises(OperatorError, match="byte order mark"):
        load_cabinet(file)
