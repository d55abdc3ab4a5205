"""If the profile allows advice, the best answer is shown as text and as held cards, and nothing else changes."""

from dataclasses import replace
from fractions import Fraction
from importlib.resources import files

import pytest

from egm.app.view import build_game_view
from egm.kernel.events import EventType, State
from egm.kernel.messages import DecisionRequest
from egm.play.installed_games import InstalledGame
from egm.progressive.pools import ProgressivePools
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.painter import Painter
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.status import choose_status_text_and_colour
from egm.screen.text import Texts
from egm.screen.theme import load_theme
from egm.testing.machine import MachineRig, ScriptedGenerator
from paytables import load_game
from tools.dev.gallery.felts import load_table_game
from tools.lab.views import build_idle_view

GENERIC = files("egm.profiles").joinpath("generic.toml").read_text()
GAME = "quebec-red-dog"


def read_question(folder, profile="generic"):
    """Return the decision of a hand with a two and an ace: raise or fold."""
    cards = 52 * load_game(GAME).rules.definition.shoe.deck_count
    generator = ScriptedGenerator(0, cards - 2)
    rig = MachineRig(folder, games=(GAME,), profile=profile, generator=generator).boot().insert(1000)
    least = rig.machine.games[GAME].bet_options[0]
    rig.engine.handle(EventType.SELECT_BET, value=least)
    rig.play()
    assert rig.state is State.PLAYING
    found = rig.hands.messages[-1]
    assert isinstance(found, DecisionRequest)
    return found


@pytest.mark.requirement("C-10:c")
def test_advice_is_shown_where_the_profile_allows_it_and_need_not_be_followed(tmp_path):
    silent = tmp_path / "silent.toml"
    silent.write_text(GENERIC.replace("game_time_ms = 0", "game_time_ms = 0\nadvice = false"))
    advised, unadvised = read_question(tmp_path / "a"), read_question(tmp_path / "b", silent)
    assert advised.display["advice"] == "raise"
    assert advised.options == unadvised.options == ("stand", "raise")
    assert unadvised.display == {key: value for key, value in advised.display.items() if key != "advice"}


@pytest.mark.requirement("C-10:a")
def test_the_strategy_chart_is_shown_where_advice_is_allowed():
    game = load_game("quebec-blackjack")
    installed = InstalledGame(game, (25,), Fraction(99, 100), ProgressivePools())
    advised, unadvised = build_game_view(installed), build_game_view(installed, includes_advice=False)
    assert "chart" in advised.presentation
    assert unadvised.presentation == {k: v for k, v in advised.presentation.items() if k != "chart"}


@pytest.mark.requirement("C-10:a")
@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "Your choice: STAND / RAISE  +$0.25  ·  Advice: RAISE"),
        ("fr", "Votre choix : ARRÊTER / RELANCER  +0,25 $  ·  Conseil\u00a0: RELANCER"),
    ],
)
def test_advice_is_shown_beside_the_decision(tmp_path, language, words):
    question, theme = read_question(tmp_path), load_theme()
    _, game_view = load_table_game(GAME)
    view = build_idle_view((game_view,), game_view, language)
    view = apply_message(
        view, view.snapshot.model_copy(update={"state": "playing", "accepted_inputs": ("choose",)})
    )

    def read_status(question):
        dealt = apply_message(view, question)
        seen = replace(dealt, now=dealt.now + 60)  # when the cards that led to the question lie
        return choose_status_text_and_colour(
            DrawingContext(Painter(theme), Texts(language), LANDSCAPE_LAYOUT, seen)
        )[0]

    assert read_status(question) == words
    plain = words.partition(" / ")[0]
    assert (
        read_status(question.model_copy(update={"options": ("stand",)})) == plain
    )  # the credit does not cover it
    untold = question.model_copy(update={"display": {"hands": []}})
    assert read_status(untold) == words.partition("  ·")[0]
