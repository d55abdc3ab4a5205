"""While a device holds the player's money, the status line shows only that; a faulty acceptor invites no bill."""

from dataclasses import replace

import pytest

from egm.kernel.messages import Notice, Tilt
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.painter import Painter
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.lockup import describe_lockup
from egm.screen.scenes.status import choose_status_text_and_colour
from egm.screen.text import Texts
from egm.screen.view import Scene
from tools.lab.views import build_idle_view


def read_statuses(published, theme, language, values, credit_cents=0):
    notice = Notice(code="fault.bill_acceptor.jam", severity="warning", values=values, is_lasting=True)
    view = build_idle_view(published, published[0], language, notices=(notice,), credit_cents=credit_cents)
    texts = Texts(language)
    moments = (900.0, 903.1, 906.2, 909.3)
    return {
        choose_status_text_and_colour(
            DrawingContext(Painter(theme), texts, LANDSCAPE_LAYOUT, replace(view, now=now))
        )[0]
        for now in moments
    }


@pytest.mark.requirement("G-12:a")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize(
    "values", [{"amount_cents": 2000}, {"held": "bill"}, {}], ids=["amount", "bill", "nothing"]
)
def test_with_a_bill_jam_the_player_reads_only_about_it(published, theme, language, values):
    words = read_statuses(published, theme, language, values)
    assert len(words) == 1
    assert Texts(language).translate("status.insert") not in words
    assert Texts(language).translate("tilt.text.bill_acceptor.jam") in next(iter(words))
    if "amount_cents" in values:
        assert "20" in next(iter(words))


def test_a_fault_without_held_money_also_shows_the_next_step(published, theme):
    assert len(read_statuses(published, theme, "en", {}, credit_cents=500)) == 2
    assert len(read_statuses(published, theme, "en", {"amount_cents": 2000}, credit_cents=500)) == 1


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("amounts_cents", [(700, 700), (0, 700), (700, 0)])
def test_a_tilt_states_the_amount_that_it_holds(published, theme, language, amounts_cents):
    """Regression: the amount disappeared if the device's last fault held nothing."""
    tilt = {"since": "2026-01-01T10:00:00+00:00"}
    tilts = (
        Tilt(code="hopper.disputed", held_cents=amounts_cents[0], cleared_by="ruling", **tilt),
        Tilt(code="hopper.jam", held_cents=amounts_cents[1], cleared_by="attendant", **tilt),
    )
    view = build_idle_view(published, published[0], language, tilts=tilts)
    words = describe_lockup(
        DrawingContext(Painter(theme), Texts(language), LANDSCAPE_LAYOUT, view), Scene.TILT
    )
    assert [line for line in words.lines if "7" in line and ("held" in line or "retenu" in line)]
