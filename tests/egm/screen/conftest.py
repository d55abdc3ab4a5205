"""Fixtures of the screen's tests: no window, no sound device, one theme, the published library."""

import os

os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ["SDL_AUDIODRIVER"] = "dummy"
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"

import pytest
from rigs.display import open_display

from egm.screen.theme import load_theme
from paytables import AnalysisDepth, analyse, list_non_table_games, load_game
from tools.dev.gallery import find_sample_outcomes
from tools.lab.views import build_game_view


@pytest.fixture(autouse=True)
def _display():
    open_display()


@pytest.fixture(scope="session")
def theme():
    return load_theme()


@pytest.fixture(scope="session")
def games():
    return tuple(load_game(name) for name in list_non_table_games())


@pytest.fixture(scope="session")
def analyses(games):
    """Return the published exact figures of each game."""
    return {game.id: analyse(game, AnalysisDepth.PRIZES) for game in games}


@pytest.fixture(scope="session")
def published(games, analyses):
    return tuple(build_game_view(game, analyses[game.id]) for game in games)


@pytest.fixture(scope="session")
def outcomes(games, theme):
    return {game.id: find_sample_outcomes(game, theme, 600) for game in games}
