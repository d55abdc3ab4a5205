"""The line below the field says of a settled table what the field says: a win, what is received, a push."""

from dataclasses import replace

import pytest

from egm.kernel.messages import Play
from egm.screen.layout import LANDSCAPE
from egm.screen.message_reducer import heard
from egm.screen.painter import Painter
from egm.screen.scenes.stage import Stage
from egm.screen.scenes.status import status
from egm.screen.text import Texts
from egm.screen.view import times
from tools.dev.gallery.felts import felt
from tools.lab.views import UNIT_CENTS, at_rest

HELD, LAID = "jacks-or-better-9-6", "quebec-roulette-french"


def told(theme, name, rows, language="en", state="idle"):
    """What is said of a round that settled so: credits and stakes, bet by bet; and while it is still shown."""
    _, game = felt(name)
    view = at_rest((game,), game, language)
    settlements = [{"name": "any", "credits": back, "staked": staked} for back, staked in rows]
    felt_ = game.presentation["felt"]
    back = sum(each["credits"] for each in settlements)
    play = Play(
        play_id="1",
        game_id=game.id,
        bet_credits=sum(staked for _, staked in rows),
        win_credits=back,
        win_cents=back * UNIT_CENTS,
        display={"kind": "table", "felt": felt_},
        settlements=tuple(settlements),
    )
    after = view.snapshot.model_copy(update={"state": state, "win_cents": play.win_cents})
    view = replace(heard(view, play), snapshot=after)
    view = replace(view, now=view.show.began + times(view, theme).done)
    return status(Stage(Painter(theme), Texts(language), LANDSCAPE, view))


@pytest.mark.parametrize(
    ("name", "rows", "words", "colour"),
    [
        (HELD, [(30, 20)], "You win $7.50", "win"),
        (HELD, [(20, 20)], "Push. Bet returned: $5.00", "text"),
        (HELD, [(20, 20), (0, 20)], "Returned: $5.00 of $10.00 staked", "text"),
        (HELD, [(40, 20), (0, 20)], "You win $10.00", "win"),
        (LAID, [(40, 20)], "You receive $10.00 for $5.00 staked", "win"),
        (LAID, [(40, 20), (0, 20)], "You receive $10.00 for $10.00 staked", "win"),
        (LAID, [(20, 20), (4, 4)], "Push. Bet returned: $6.00", "text"),
        (LAID, [(10, 20)], "Returned: $2.50 of $5.00 staked", "text"),
        (LAID, [(40, 0)], "You receive $10.00, stake included", "win"),
    ],
)
def test_a_round_is_told_as_a_win_as_received_or_as_a_push(theme, name, rows, words, colour):
    assert told(theme, name, rows) == (words, colour)
    assert told(theme, name, rows, state="playing") == (words, colour)


def test_in_french_a_push_is_a_stake_given_back(theme):
    assert (
        told(theme, HELD, [(20, 20)], "fr")[0]
        == "Nulle. Mise remise\N{NO-BREAK SPACE}: 5,00\N{NO-BREAK SPACE}$"
    )
