"""The screen's transitions from one frozen view to the next."""

from dataclasses import replace

import pygame
import pytest

from egm.kernel.messages import BenchCommand, BenchReply, DecisionRequest, Hello, Notice, Tilt
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import (
    advance_time,
    apply_bench_reply,
    apply_message,
    mark_machine_connection_lost,
)
from egm.screen.painter import Painter
from egm.screen.picture import Picture
from egm.screen.presentation import SPEED_UP_ABOVE_SECONDS
from egm.screen.reel_data import GameDataError
from egm.screen.scenes.deck import compute_meter_amounts, is_key_lit
from egm.screen.scenes.drawer import COMMAND_RESULT_SHOWN_SECONDS
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.text import Texts
from egm.screen.view import Action, PlayerPage, Scene, View, build_view_timeline, is_presentation_running
from tools.dev.gallery import FixedDraws, play_game, show_outcome
from tools.lab.views import UNIT_CENTS, build_idle_view, build_snapshot


@pytest.fixture
def game(published):
    return next(game for game in published if game.id == "maple-classic")


@pytest.fixture
def idle_view(published, game):
    return build_idle_view(published, game, "en")


def build_context(view, theme):
    return DrawingContext(Painter(theme), Texts("en"), LANDSCAPE_LAYOUT, view)


def sent(view, name, theme, value=None):
    return apply_action(view, Action(name, value), theme)[1]


def test_the_attract_scene_never_covers_a_standing_bet(idle_view, game):
    """Regression: a player whose credits were all on the table saw the attract scene."""
    for standing, scene in (({}, Scene.ATTRACT), ({"pass": 20}, Scene.GAME)):
        snapshot = build_snapshot(game, "en", credit_cents=0).model_copy(
            update={"standing_credits_by_spot": standing}
        )
        view = apply_message(idle_view, snapshot)
        assert replace(view, now=view.last_activity_at + 60).scene is scene


@pytest.mark.requirement("C-17", "C-24")
@pytest.mark.parametrize("kind", ["loss", "small_win"])
def test_game_end_is_reported_once_and_only_after_the_result_was_shown(
    idle_view, game, outcomes, theme, kind
):
    """A win is counted up and then shown for a moment before the machine receives the report."""
    view = show_outcome(idle_view, game, getattr(outcomes[game.id], kind))
    line = build_view_timeline(view, theme)
    timed_requests = []
    for i in range(2000):
        view, requests = advance_time(view, 100 + i * 0.005, theme)
        timed_requests += [(view.now - 100, request) for request in requests]
    assert [request.name for _, request in timed_requests] == ["shown"]
    assert timed_requests[0][1].value == game.id
    assert timed_requests[0][0] >= line.roll_up_end_seconds + theme.motion.result_seconds_min - 0.006
    assert line.roll_up_end_seconds - line.last_stop_seconds >= (0.4 if kind == "small_win" else 0)


@pytest.mark.requirement("C-24")
def test_a_losing_result_is_shown_for_a_third_of_a_second(idle_view, game, outcomes, theme):
    """In less than a quarter of a second, a player could not read three reels."""
    line = build_view_timeline(show_outcome(idle_view, game, outcomes[game.id].loss), theme)
    assert line.end_seconds - line.last_stop_seconds >= 0.3


@pytest.mark.requirement("C-24")
def test_a_losing_spin_of_a_feature_is_shown_before_the_next(published, outcomes, theme):
    pauses = {}
    for game in published:
        if (feature := outcomes[game.id].feature) is None:
            continue
        view = show_outcome(build_idle_view(published, game, "en"), game, feature)
        times = build_view_timeline(view, theme).steps
        for step, time in [*zip(view.presentation.steps, times, strict=True)][:-1]:
            if not step.credits:
                pauses.setdefault(game.id, time.end_seconds - time.last_stop_seconds)
    assert len(pauses) > 3
    assert min(pauses.values()) >= 0.1, pauses


def test_the_end_of_a_game_is_not_reported_to_a_machine_that_is_not_playing(idle_view, game, outcomes, theme):
    view = show_outcome(idle_view, game, outcomes[game.id].loss)
    view = apply_message(view, build_snapshot(game, "en", state="door_open", open_doors=("main",)))
    view, requests = advance_time(view, 200, theme)
    assert requests == ()
    view = apply_message(view, build_snapshot(game, "en", state="playing"))
    _, requests = advance_time(view, 201, theme)
    assert [request.name for request in requests] == ["shown"]


def test_play_during_a_presentation_only_shortens_it(idle_view, game, outcomes, theme):
    view = show_outcome(idle_view, game, outcomes[game.id].big_win)
    line = build_view_timeline(view, theme)
    stopped, requests = apply_action(replace(view, now=100.5), Action("play"), theme)
    assert requests == ()
    assert build_view_timeline(stopped, theme).last_stop_seconds < line.last_stop_seconds
    assert build_view_timeline(stopped, theme).celebration_level == line.celebration_level
    rolling = replace(view, now=100 + line.last_stop_seconds + 0.1)
    assert is_key_lit(build_context(rolling, theme), "play")
    skipped, requests = apply_action(rolling, Action("play"), theme)
    assert requests == ()
    assert not is_presentation_running(replace(skipped, now=rolling.now + 0.01), theme)
    assert (
        compute_meter_amounts(build_context(skipped, theme)).win_cents == view.presentation.outcome.paid_cents
    )


@pytest.mark.requirement("C-17")
def test_credit_rolls_up_and_is_debited_at_once(idle_view, game, theme):
    with_more_credit = apply_message(
        replace(idle_view, now=50), build_snapshot(game, "en", credit_cents=133450)
    )
    seen = [
        compute_meter_amounts(build_context(replace(with_more_credit, now=50 + i / 50), theme)).credit_cents
        for i in range(50)
    ]
    assert seen[0] == 123450
    assert seen == sorted(seen)
    assert seen[-1] == 133450
    less = apply_message(replace(idle_view, now=50), build_snapshot(game, "en", credit_cents=100))
    assert compute_meter_amounts(build_context(less, theme)).credit_cents == 100


def test_keys_send_requests_and_change_nothing_themselves(idle_view, theme):
    assert [i.name for i in sent(idle_view, "play", theme)] == ["play"]
    assert [i.name for i in sent(idle_view, "cash_out", theme)] == ["cash_out"]
    assert [i.name for i in sent(idle_view, "service", theme)] == ["service"]
    assert [(i.name, i.value) for i in sent(idle_view, "language", theme)] == [("language", "fr")]
    assert [(i.name, i.value) for i in sent(idle_view, "bet_less", theme)] == [("bet", 2)]
    assert [(i.name, i.value) for i in sent(idle_view, "bet_more", theme)] == [("bet", 3)]
    assert [(i.name, i.value) for i in sent(idle_view, "bet_max", theme)] == [("bet", 3)]
    assert [(i.name, i.value) for i in sent(idle_view, "denomination", theme, 5)] == [("denomination", 5)]
    command = BenchCommand(device="io", action="key")
    assert sent(idle_view, "bench", theme, (command,)) == (command,)


def test_without_a_machine_no_key_is_lit_and_nothing_fails(theme):
    nothing = View()
    for name in ("play", "bet_more", "language", "help", "games", "volume", "drawer", "unknown", "next"):
        after, _ = apply_action(nothing, Action(name), theme)
        assert after.scene is Scene.STARTING
        assert not is_key_lit(build_context(after, theme), name)


def test_a_handpay_lockup_closes_the_help(idle_view, game, theme):
    view, _ = apply_action(idle_view, Action("help"), theme)
    assert view.player_page is PlayerPage.HELP
    stopped = apply_message(
        view,
        build_snapshot(
            game, "en", state="tilt", tilts=(Tilt(code="x", since="2026-11-21T00:00:00Z", cleared_by="self"),)
        ),
    )
    assert (stopped.player_page, stopped.scene) == (PlayerPage.NONE, Scene.TILT)


@pytest.mark.requirement("Q-21")
@pytest.mark.parametrize(
    ("state", "scene"),
    [
        ("boot", Scene.STARTING),
        ("self_test", Scene.STARTING),
        ("door_open", Scene.DOOR),
        ("tilt", Scene.TILT),
        ("handpay", Scene.HANDPAY),
        ("paying", Scene.PAYING),
        ("locked", Scene.LOCKED_BY_HOST),
        ("out_of_service", Scene.OUT_OF_SERVICE),
        ("idle", Scene.GAME),
        ("playing", Scene.GAME),
    ],
)
def test_every_state_has_its_scene(idle_view, game, state, scene):
    assert apply_message(idle_view, build_snapshot(game, "en", state=state)).scene is scene


def test_a_lost_connection_is_shown_until_the_machine_answers(idle_view, game):
    gone = mark_machine_connection_lost(idle_view)
    assert gone.scene is Scene.CONNECTION_LOST
    assert not gone.is_request_accepted("play")
    assert mark_machine_connection_lost(replace(gone, now=90)).scene_began_at == gone.scene_began_at, (
        "still since the same moment"
    )
    assert apply_message(gone, build_snapshot(game, "en")).scene is Scene.GAME


def test_the_same_refusal_twice_is_shown_twice(idle_view, game, theme):
    refusal = build_snapshot(game, "en", notices=(Notice(code="refused.playing"),))
    first = apply_message(replace(idle_view, now=10), refusal)
    pressed, _ = apply_action(replace(first, now=30), Action("play"), theme)
    assert apply_message(pressed, refusal).notice_received_at == 30
    assert apply_message(replace(first, now=60), refusal).notice_received_at == 10


def test_a_screen_restarted_in_mid_game_shows_the_same_game_again(idle_view, game, outcomes):
    view = show_outcome(idle_view, game, outcomes[game.id].small_win)
    shown_again = apply_message(replace(view, now=101), view.presentation.outcome)
    assert shown_again.presentation.began_at == view.presentation.began_at, (
        "a repeat of the game being shown does not start it anew"
    )


def test_an_outcome_that_does_not_fit_its_game_is_named(idle_view, game, outcomes):
    play = show_outcome(idle_view, game, outcomes[game.id].loss).presentation.outcome
    for display in (
        {"steps": [{"stage": "base", "window": [["birch"]], "stops": [0]}]},
        {"steps": []},
        {"window": 3},
    ):
        with pytest.raises(GameDataError, match="display"):
            apply_message(idle_view, play.model_copy(update={"display": display, "play_id": "other"}))


def test_an_invalid_presentation_is_named(game):
    broken = game.model_copy(update={"presentation": {"strips": [[]], "heights": [3]}})
    with pytest.raises(GameDataError, match="maple-classic"):
        apply_message(View(), Hello(games=(broken,)))


@pytest.mark.requirement("N-01:c")
def test_the_clock_advances_between_snapshots(idle_view):
    assert replace(idle_view, now=idle_view.snapshot_received_at + 61).time_utc == "2026-11-21T17:06:01+00:00"


def test_the_drawer_shows_only_the_replies_of_the_bench(idle_view, theme):
    view, _ = apply_action(replace(idle_view, has_device_drawer=True), Action("drawer"), theme)
    assert view.is_drawer_open
    answered_view = apply_bench_reply(view, BenchReply(ok=True, state={"io": {"doors_open": ["main"]}}))
    assert answered_view.state_by_device["io"]["doors_open"] == ["main"]
    answered = apply_bench_reply(answered_view, BenchReply(ok=False, text="no"))
    assert answered.bench_reply.text == "no"
    assert answered.bench_reply_at == answered_view.now
    assert not apply_action(idle_view, Action("drawer"), theme)[0].is_drawer_open, "no bench, no drawer"


@pytest.mark.requirement("N-10")
def test_a_win_below_the_stake_is_not_celebrated(theme):
    assert theme.find_celebration_level(2, 3) == 0
    assert theme.find_celebration_level(3, 3) == 1
    assert theme.find_celebration_level(0, 0) == 0
    assert theme.find_celebration_level(4000, 100) == len(theme.celebration_levels) - 1


@pytest.mark.requirement("C-16", "C-17")
def test_what_is_drawn_is_what_was_recorded(idle_view, games, game, theme):
    """Over many games, the symbols, lines and amounts of the final frame equal the outcome."""
    source = next(candidate for candidate in games if candidate.id == game.id)
    for number in range(120):
        outcome = play_game(source, f"session/{number}", 3)
        view = show_outcome(idle_view, game, outcome)
        line = build_view_timeline(view, theme)
        final = replace(view, now=100 + line.roll_up_end_seconds)
        last, display = final.presentation.steps[-1], outcome.display
        assert [list(column) for column in last.window] == display["window"]
        reel_data = view.reel_data_by_game[game.id]["base"]
        for strip, stop, column in zip(reel_data.reel_strips, last.stops, last.window, strict=True):
            assert tuple(strip[(stop + row) % len(strip)] for row in range(len(column))) == column
        assert list(last.stops) == display["stops"]
        assert [(win.credits, win.line_number, [list(p) for p in win.positions]) for win in last.wins] == [
            (win["credits"], win["number"], win["positions"]) for win in display["wins"]
        ]
        assert (
            compute_meter_amounts(build_context(final, theme)).win_cents
            == outcome.returned_credits * UNIT_CENTS
        )
        assert compute_meter_amounts(build_context(final, theme)).credit_cents == 123450


@pytest.mark.requirement("C-10:c")
def test_held_reels_start_as_advised_and_the_player_can_change_them(published, games, theme):
    """The advice can be overridden; PLAY answers with the held reels; a new decision starts from new advice."""
    game = next(game for game in published if game.id == "hold-fast")
    source = next(game for game in games if game.id == "hold-fast")
    decision = next(source.play(source.build_wager(1), FixedDraws("hold"))).with_complete_prompt()
    idle_view = build_idle_view(published, game, "en", state="playing", accepted_inputs=("language",))
    question = DecisionRequest(
        play_id="p", kind=decision.kind, options=decision.options, display=dict(decision.prompt)
    )
    view = apply_message(idle_view, question)
    assert view.marked_items_mask == decision.prompt["advice"]
    assert apply_action(view, Action("hold", 2), theme)[0].marked_items_mask == view.marked_items_mask, (
        "the first spin is still running"
    )
    view = replace(view, now=view.now + 10)
    assert is_key_lit(build_context(view, theme), "play")
    changed, requests = apply_action(view, Action("hold", 2), theme)
    assert (changed.marked_items_mask, requests) == (view.marked_items_mask ^ 4, ())
    (request,) = apply_action(changed, Action("play"), theme)[1]
    assert (request.name, request.value) == ("choose", changed.marked_items_mask)
    assert request.value in decision.options


def test_a_very_long_game_is_shown_faster(idle_view, game, outcomes, theme):
    """Twenty free games and more must end within the minute that the machine permits."""
    view = show_outcome(idle_view, game, outcomes[game.id].loss)
    long = replace(view.presentation, steps=view.presentation.steps * 30)
    line = build_view_timeline(replace(view, presentation=long), theme)
    assert 40 < line.last_stop_seconds <= SPEED_UP_ABOVE_SECONDS + 1e-6
    assert [step.start_seconds for step in line.steps] == sorted(step.start_seconds for step in line.steps)
    assert line.end_seconds < 60


def test_the_drawers_message_disappears_after_a_while(idle_view, theme):
    """A bill inserted minutes ago must not be mistaken for a new one."""
    did = (BenchCommand(device="bill", action="insert", values={"amount_cents": 2000}),)
    drawer_view = replace(
        idle_view,
        has_device_drawer=True,
        is_bench_connected=True,
        drawer_opening_began_at=idle_view.now - 60,
        bench_commands=did,
    )
    answered = apply_bench_reply(drawer_view, BenchReply(ok=True))

    def drawn(view):
        picture = Picture(theme, scale=0.3)
        surface = pygame.Surface(picture.size_pixels)
        picture.draw_view(surface, view)
        box = picture.painter.scale_rect(picture.layout.drawer)
        return surface.subsurface(box.clip(surface.get_rect())).copy().get_view("2").raw

    later = {"now": answered.now + COMMAND_RESULT_SHOWN_SECONDS}
    assert drawn(answered) != drawn(drawer_view)
    assert drawn(replace(answered, **later)) == drawn(replace(drawer_view, **later))
