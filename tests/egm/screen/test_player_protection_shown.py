"""Reminders and the player's own limits on the screen: never over a game, never loosened, always with a way out."""

from dataclasses import replace

import pytest

from egm.kernel.messages import PlayerProtectionView, PlayerSessionView, Reminder
from egm.screen.input_reducer import apply_action
from egm.screen.picture import Picture
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.help import list_help_pages
from egm.screen.scenes.reminder import draw_limits, find_due_reminder
from egm.screen.view import Action, build_view_timeline
from tools.dev.gallery import show_outcome
from tools.lab.views import build_idle_view


def build_reminder_view(published, **changes):
    reminder = Reminder.model_validate({"kind": "time", "minutes": 60, "spent_cents": 1200, **changes})
    return build_idle_view(
        published, published[0], "en", reminder=reminder, accepted_inputs=("acknowledge", "cash_out")
    )


def touch(picture, view, theme, action):
    touch = next(touch for touch in picture.list_touch_targets(view) if touch.action == action)
    x, y, w, h = touch.rect
    assert picture.find_touched_action(view, x + w / 2, y + h / 2) == action
    return apply_action(view, action, theme)


@pytest.mark.requirement("N-02")
def test_a_reminder_can_be_dismissed_or_leads_to_cash_out(published, theme):
    picture = Picture(theme)
    view = build_reminder_view(published)
    _, (request,) = touch(picture, view, theme, Action("acknowledge"))
    assert request.name == "acknowledge"
    _, (request,) = touch(picture, view, theme, Action("cash_out"))
    assert request.name == "cash_out"
    _, (request,) = apply_action(view, Action("play"), theme)
    assert request.name == "acknowledge", "PLAY waves it away; it never plays over a reminder"


@pytest.mark.requirement("N-03")
def test_a_reached_limit_cannot_be_dismissed(published, theme):
    picture = Picture(theme)
    for kind in ("time_limit", "spend_limit"):
        view = build_reminder_view(published, kind=kind)
        names = {touch.action.name for touch in picture.list_touch_targets(view)}
        assert "acknowledge" not in names
        assert "cash_out" in names


@pytest.mark.requirement("N-02")
def test_no_reminder_covers_a_game_that_is_being_shown(published, outcomes, theme):
    picture = Picture(theme)
    view = build_reminder_view(published)
    game = published[0]
    spinning = show_outcome(view, game, outcomes[game.id].small_win)
    assert (
        find_due_reminder(DrawingContext(picture.painter, picture.find_texts(view), picture.layout, view))
        is not None
    )
    assert (
        find_due_reminder(DrawingContext(picture.painter, picture.find_texts(view), picture.layout, spinning))
        is None
    )
    assert build_view_timeline(spinning, theme) is not None


def open_page_of_limits(published, theme):
    """Return the view of a player with a limit of an hour, who has opened the last page of the help."""
    session = PlayerSessionView(since_utc="2026-11-21T16:00:00+00:00", spent_cents=0, limit_minutes=60)
    view = build_idle_view(
        published,
        published[0],
        "en",
        accepted_inputs=("limit",),
        session=session,
        protection=PlayerProtectionView(can_set_limits=True),
    )
    view, _ = apply_action(view, Action("help"), theme)
    return replace(view, sheet_index=-1)


@pytest.mark.requirement("C-19")
def test_the_keys_of_the_limits_are_on_no_page_that_does_not_show_them(published, theme):
    picture = Picture(theme)
    view = open_page_of_limits(published, theme)
    pages = list_help_pages(DrawingContext(picture.painter, picture.find_texts(view), picture.layout, view))
    keys = [
        {touch.action.name for touch in picture.list_touch_targets(replace(view, sheet_index=number))}
        for number in range(len(pages))
    ]
    assert len(keys) > 3
    assert ["limit" in names for names in keys] == [page.draw is draw_limits for page in pages]
    assert keys[0] == keys[-1] - {"limit"}


@pytest.mark.requirement("N-03")
def test_the_players_own_limits_can_be_set_but_not_loosened(published, theme):
    picture = Picture(theme)
    view = open_page_of_limits(published, theme)
    offered = [
        touch.action.value for touch in picture.list_touch_targets(view) if touch.action.name == "limit"
    ]
    assert ("minutes", 30) in offered
    assert ("minutes", 60) in offered
    assert not {("minutes", 0), ("minutes", 120)} & set(offered)
    assert {value for of, value in offered if of == "cents"} >= {0, 2000}
    _, (request,) = touch(picture, view, theme, Action("limit", ("cents", 2000)))
    assert (request.name, request.value, request.options) == ("limit", 2000, {"of": "cents"})
    assert apply_action(view, Action("limit", ("cents", 2000)), theme)[0].player_page is view.player_page, (
        "the page stays open"
    )
