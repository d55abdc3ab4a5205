"""The content of the game field: a table, a decision, a step of the game being presented, or the last result."""

from egm.screen.keno_slip import is_keno_game
from egm.screen.presentation import (
    OutcomePresentation,
    StepTimes,
    build_ended_step_times,
    has_feature_title_card,
)
from egm.screen.reel_data import ReelSpin
from egm.screen.scenes.bonus import draw_hold_and_spin, draw_pick_boxes, draw_wheel
from egm.screen.scenes.decision import draw_decision
from egm.screen.scenes.double_up import draw_double_up
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.feature import draw_feature_title_card
from egm.screen.scenes.felt import draw_felt
from egm.screen.scenes.keno import draw_keno
from egm.screen.scenes.reel_wins import draw_wins, find_current_window, find_reels_stop_seconds
from egm.screen.scenes.reels import draw_cascade_window, draw_spinning_reels, draw_stopped_reels
from egm.screen.scenes.wheel_game import draw_idle_wheel
from egm.screen.steps import DisplayStep, DoubleUpStep, HoldStep, KenoStep, PickStep, WheelStep
from egm.screen.view import (
    build_view_timeline,
    find_last_reel_spin,
    find_last_step,
    is_decision_due,
    is_presentation_running,
)
from egm.screen.wheel_stakes import is_wheel_game


def draw_game_field(context: DrawingContext) -> None:
    """Draw the content of the game field: a table, a decision, a step of the game, or the last result."""
    view = context.view
    if view.game is None:
        return
    if view.table is not None:
        draw_felt(context)
        return
    if view.decision is not None and is_decision_due(view, context.theme):
        draw_decision(context, view.decision)
        return
    timeline, presentation = build_view_timeline(view, context.theme), view.selected_game_presentation
    if presentation is None or timeline is None:
        _draw_between_games(context)
        return
    elapsed_seconds = view.now - presentation.began_at
    if (
        is_keno_game(view.game)
        and view.is_request_accepted("bet")
        and not is_presentation_running(view, context.theme)
    ):
        draw_keno(context, presentation.steps[-1], None, 0.0)  # The player may mark the next slip.
        return
    step_index = timeline.find_step_index(elapsed_seconds)
    if elapsed_seconds < timeline.steps[step_index].start_seconds and has_feature_title_card(
        presentation, step_index
    ):
        previous_index = step_index - 1
        _draw_step(
            context,
            presentation,
            previous_index,
            timeline.steps[previous_index],
            # never before its last stop, so that the step is drawn as it ended
            max(timeline.steps[previous_index].last_stop_seconds, elapsed_seconds),
        )
        draw_feature_title_card(
            context, presentation, step_index, timeline.steps[step_index], elapsed_seconds
        )
        return
    _draw_step(context, presentation, step_index, timeline.steps[step_index], elapsed_seconds)


def _draw_between_games(context: DrawingContext) -> None:
    """Draw the game field between games: the last result or, before any game, the idle game."""
    view, game = context.view, context.view.game
    reel_data_by_stage = view.reel_data_by_game.get(game.id, {}) if game else {}
    if is_wheel_game(game):
        draw_idle_wheel(context)
        return
    if not reel_data_by_stage:
        draw_keno(context, find_last_step(view), None, 0.0)
        return
    last_step, reel_spin = find_last_step(view), find_last_reel_spin(view)
    if last_step is not None and not isinstance(last_step, ReelSpin):
        _draw_step_without_reels(
            context, last_step, build_ended_step_times(last_step), _LONG_AFTER_END_SECONDS
        )
        return
    reel_data = reel_data_by_stage[reel_spin.stage] if reel_spin else next(iter(reel_data_by_stage.values()))
    # Wins are no longer drawn once they were cashed out, or another game was selected.
    if reel_spin is None or view.snapshot is None or not view.snapshot.paid_cents:
        draw_stopped_reels(context, reel_data, reel_spin.last_window if reel_spin else None)
        return
    window, wins = find_current_window(reel_spin, view.now, context.theme.motion.winning_line_seconds)
    draw_stopped_reels(context, reel_data, window)
    draw_wins(context, reel_data, window, wins, view.now)


def _draw_step(
    context: DrawingContext,
    presentation: OutcomePresentation,
    step_index: int,
    step_times: StepTimes,
    elapsed_seconds: float,
) -> None:
    """Draw step ``step_index`` of the game being presented, ``elapsed_seconds`` after the presentation began."""
    step: DisplayStep = presentation.steps[step_index]
    if isinstance(step, ReelSpin):
        _draw_reels(context, presentation, step_index, step_times, elapsed_seconds)
    else:
        _draw_step_without_reels(context, step, step_times, elapsed_seconds)


def _draw_step_without_reels(
    context: DrawingContext, step: DisplayStep, step_times: StepTimes, elapsed_seconds: float
) -> None:
    """Draw a step that is not played on reels, such as a Keno draw, a bonus wheel or a round of double-up."""
    if isinstance(step, HoldStep):
        draw_hold_and_spin(context, step, step_times, elapsed_seconds)
    elif isinstance(step, PickStep):
        draw_pick_boxes(context, step, step_times, elapsed_seconds)
    elif isinstance(step, WheelStep):
        draw_wheel(context, step, step_times, elapsed_seconds)
    elif isinstance(step, DoubleUpStep):
        draw_double_up(context, step, step_times, elapsed_seconds)
    elif isinstance(step, KenoStep):
        draw_keno(context, step, step_times, elapsed_seconds)


def _draw_reels(
    context: DrawingContext,
    presentation: OutcomePresentation,
    step_index: int,
    step_times: StepTimes,
    elapsed_seconds: float,
) -> None:
    """Draw a step on reels. They spin; then each window of a cascade and its wins are shown in turn."""
    step = presentation.steps[step_index]
    game = context.view.game
    assert isinstance(step, ReelSpin)
    assert game is not None
    earlier_spins = [spin for spin in presentation.steps[:step_index] if isinstance(spin, ReelSpin)]
    previous_spin = earlier_spins[-1] if earlier_spins else presentation.reels_before
    reel_data = context.view.reel_data_by_game[game.id][step.stage]
    reels_stop_seconds = find_reels_stop_seconds(step_times, context.theme.motion)
    if elapsed_seconds < reels_stop_seconds:
        draw_spinning_reels(context, reel_data, step, previous_spin, step_times, elapsed_seconds)
        return
    seconds_since_stop = elapsed_seconds - reels_stop_seconds
    if not step.cascade_windows:
        draw_stopped_reels(context, reel_data, step.last_window)
        draw_wins(context, reel_data, step.last_window, step.wins, seconds_since_stop)
        return
    seconds_since_cascade_end = (
        seconds_since_stop - len(step.cascade_windows) * context.theme.motion.cascade_window_seconds
    )
    if seconds_since_cascade_end >= 0:
        window, wins = find_current_window(
            step, seconds_since_cascade_end, context.theme.motion.winning_line_seconds
        )
        draw_stopped_reels(context, reel_data, window)
        draw_wins(context, reel_data, window, wins, seconds_since_cascade_end)
        return
    window_index = int(seconds_since_stop / context.theme.motion.cascade_window_seconds)
    cascade_window = step.cascade_windows[window_index]
    seconds_in_window = seconds_since_stop - window_index * context.theme.motion.cascade_window_seconds
    if window_index and seconds_in_window < _SYMBOLS_FALL_SECONDS:
        draw_cascade_window(
            context,
            reel_data,
            cascade_window.window,
            step.cascade_windows[window_index - 1].window,
            seconds_in_window,
        )
        return
    draw_stopped_reels(context, reel_data, cascade_window.window)
    draw_wins(context, reel_data, cascade_window.window, cascade_window.wins, seconds_in_window)


#: A time so long after a step that nothing of it still moves.
_LONG_AFTER_END_SECONDS = 3600.0
#: Seconds in which the new symbols of a cascade fall into the window.
_SYMBOLS_FALL_SECONDS = 0.62
