"""A cabinet file with thousands of games is refused at once, and a repeated game is built only once."""

import re

import pytest
from click.testing import CliRunner

from egm.app import preflight
from egm.config.cabinet_file import DEFAULT_CABINET, GAMES_MAX
from paytables import game
from tools.cli import main


@pytest.fixture
def loads(monkeypatch):
    """The names of the loaded games, one for each load."""
    found, load = [], preflight.load_game
    monkeypatch.setattr(preflight, "load_game", lambda name: (found.append(name), load(name))[1])
    return found


@pytest.fixture
def built_games(monkeypatch):
    """The files of the built games, one for each build."""
    found, make = [], game.build_game
    monkeypatch.setattr(
        game,
        "build_game",
        lambda data, file, *arguments: (found.append(file), make(data, file, *arguments))[1],
    )
    return found


def check(tmp_path, *games):
    text = re.sub(r"\[\[games\]\]\n(?:[a-z_]+ = .*\n)+", "", DEFAULT_CABINET.read_text())
    text = re.sub(r"\[\[progressives\]\]\n(?:[a-z_]+ = .*\n)+", "", text)
    file = tmp_path / "cabinet.toml"
    file.write_text(text + "".join(f'[[games]]\ngame = "{game}"\n' for game in games))
    return CliRunner().invoke(main, ["cabinet", "check", str(file), "--state", str(tmp_path / "state")])


def test_more_games_than_the_limit_are_refused_without_loading_them(tmp_path, loads):
    """Without the limit `egm cabinet check` took 25 s for 10,000 names, and minutes for one repeated name."""
    result = check(tmp_path, *(f"none-{number}" for number in range(GAMES_MAX + 1)))
    assert result.exit_code == 1
    assert f"at most {GAMES_MAX} items" in result.output
    assert len(loads) <= GAMES_MAX


def test_a_game_listed_many_times_is_built_once(tmp_path, built_games):
    result = check(tmp_path, *["river-wheel"] * 200)
    assert result.exit_code == 1
    assert "river-wheel is already listed, as games[1]: list each game once" in result.output
    assert len(built_games) <= 1
