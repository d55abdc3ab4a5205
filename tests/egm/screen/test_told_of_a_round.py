"""The line below the field says of a settled table what the field says: a win, what is received, a push."""

from dataclasses import replace

import pytest

from egm.kernel.messages import Play
from egm.screen.layout import LANDSCAPE
from egm.screen.message_reducer import heard
from egm.screen.painter import Painter
from egm.screen.scenes.deck import win_meter
from egm.screen.scenes.stage import Stage
from egm.screen.scenes.status import status
from egm.screen.text import Texts
from egm.screen.view import times
from tools.dev.gallery.felts import felt
from tools.lab.views import UNIT_CENTS, at_rest

HELD, LAID = "jacks-or-better-9-6", "quebec-roulette-french"


def told(theme, name, rows, language="en", state="idle"):
    """What is said of a round that settled so: credits and stakes, bet by bet; and while it is still shown."""
    return status(settled(theme, name, rows, language, state))


def settled(theme, name, rows, language="en", state="idle", stays=None):
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
    update = {"state": state, "win_cents": play.win_cents, "standing": stays or {}}
    after = view.snapshot.model_copy(update=update)
    view = replace(heard(view, play), snapshot=after)
    view = replace(view, now=view.show.began + times(view, theme).done)
    return Stage(Painter(theme), Texts(language), LANDSCAPE, view)


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


def test_a_lost_round_says_so_and_what_it_cost_and_what_stays(theme):
    """The bar went back to "PLAY stakes ..." as though nothing had been played."""
    rows = [(0, 20), (0, 4)]
    assert told(theme, LAID, rows, state="playing") == ("No win. Lost: $6.00", "text_dim")
    assert told(theme, LAID, rows)[0].startswith("No win. Lost: $6.00  ·  ")
    spot = next(iter(settled(theme, LAID, rows).view.table.spots))
    stays = settled(theme, LAID, rows, stays={spot: 8})
    assert status(stays)[0].startswith("No win. Lost: $6.00  ·  On the table: $2.00")
    assert told(theme, LAID, rows, "fr")[0].startswith("Aucun gain. Perdu\N{NO-BREAK SPACE}: 6,00")
    touched = replace(stays, view=replace(stays.view, marked_at=stays.view.now))
    assert "Lost" not in status(touched)[0]


@pytest.mark.parametrize(
    ("name", "rows", "label"),
    [
        (LAID, [(40, 20)], "meter.win"),
        (LAID, [(40, 20), (0, 20)], "meter.returned"),
        (LAID, [(20, 20)], "meter.returned"),
        (LAID, [(10, 20)], "meter.returned"),
        (LAID, [(0, 20)], "meter.win"),
        (HELD, [(20, 20)], "meter.win"),
    ],
)
def test_stakes_that_come_back_are_no_win_on_the_meter(theme, name, rows, label):
    """$15 staked and $10 back was shown as WIN $10.00, in green."""
    assert win_meter(settled(theme, name, rows)) == label
