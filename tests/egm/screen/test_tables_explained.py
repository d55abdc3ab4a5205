"""What a table tells the player before the machine has to refuse him."""

import pytest
from test_visit import Visit

from egm.kernel.events import EventType
from egm.screen.text import Texts


@pytest.fixture
def visit(tmp_path, theme):
    made = []

    def make(game, *draws, cents=10000):
        made.append(Visit(tmp_path / str(len(made)), theme, *draws, games=(game,)))
        return made[-1].do(made[-1].room.insert, cents)

    yield make
    for one in made:
        one.room.close()


def words(language, key, **values):
    return Texts(language).say(key, **values)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_play_with_no_chip_on_the_felt_stakes_nothing_and_says_so(visit, language):
    """Also at the cabinet's own button, which no screen sees: cleared chips are not staked."""
    at = visit("quebec-roulette-french")
    at.happen(EventType.LANGUAGE, value=language)
    before = at.view.snapshot.credit_cents
    assert at.press("clear") == ["bet"]
    assert "play" not in at.view.snapshot.accepts
    at.press("play")
    assert at.bar == words(language, "notice.refused.bet_is_laid")
    at.press("spot", "red")
    assert at.bar != words(language, "notice.refused.bet_is_laid")
    at.press("clear")
    at.happen(EventType.PLAY)
    assert at.bar == words(language, "notice.refused.bet_is_laid")
    assert (at.view.snapshot.state, at.view.snapshot.credit_cents) == ("idle", before)
    at.press("undo")
    at.play_out()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_machine_tells_no_bet_from_a_bet_not_taken_and_from_too_little_credit(visit, language):
    at = visit(
        "quebec-craps", 0, 0, cents=500
    )  # two ones: the pass line is lost, and nothing is left to play on
    at.happen(EventType.LANGUAGE, value=language)
    at.press("clear")
    at.press("spot", "pass")
    at.play_out()
    assert at.view.snapshot.bet_credits == 0
    at.happen(EventType.PLAY)
    assert at.bar == words(language, "notice.refused.bet_is_laid")
    at.happen(EventType.BET, value=200, options={"bets": {"pass": 200}})
    at.happen(EventType.PLAY)
    assert at.bar == words(language, "notice.refused.bet_is_covered")


@pytest.mark.parametrize(
    ("game", "draws", "said"),
    [
        ("quebec-red-dog", (0, 60, *[7] * 9), {"en": ("RAISE", "STAND"), "fr": ("RELANCER", "RESTER")}),
        ("quebec-war", (0, 0, *[7] * 9), {"en": ("SURRENDER", "GO TO WAR"), "fr": ("ABANDONNER", "GUERRE")}),
    ],
)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_play_at_a_question_names_the_choice(visit, language, game, draws, said):
    at = visit(game, *draws)
    at.happen(EventType.LANGUAGE, value=language)
    assert at.press("play") == ["play"]
    at.wait(10)
    assert at.view.decision is not None
    asked = at.bar
    at.happen(EventType.PLAY)
    first = at.bar
    assert first != asked
    assert first.startswith(words(language, "decide.first", options=""))
    for option in said[language]:
        assert option in asked
        assert option in first
    chosen = at.view.decision.options[0]
    assert at.press("choose", chosen) == ["choose"]
