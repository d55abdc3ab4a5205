"""The presentation of a game's outcome on the screen: its steps, and the time of every event in them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Final

from egm.kernel.messages import GameOutcome
from egm.screen.reel_data import ReelSpin
from egm.screen.round_result import TableRoundResult
from egm.screen.steps import DisplayStep, DoubleUpStep, HoldStep, KenoStep, PickStep, TableStep, WheelStep
from egm.screen.theme import MotionSettings

#: If the movements of a presentation take longer than this, in seconds, it is sped up: its durations are multiplied
#: by a factor that is never below :data:`DURATION_FACTOR_MIN`. The machine ends a game a minute after its outcome,
#: even if the screen still presents it.
SPEED_UP_ABOVE_SECONDS = 45.0
#: The minimum factor by which durations are multiplied in a presentation that is sped up.
DURATION_FACTOR_MIN = 0.55
#: Seconds from a press of PLAY until the first moving part stops.
_QUICK_STOP_FIRST_SECONDS: Final = 0.1
#: Seconds between the stops of the following parts.
_QUICK_STOP_NEXT_SECONDS: Final = 0.06
#: The minimum time that a reel turns, in seconds, if the player stops it.
_REEL_TURN_SECONDS_MIN: Final = 0.55


@dataclass(frozen=True, slots=True, eq=False)
class OutcomePresentation:
    """The presentation of a game's outcome on the screen.

    A game with player decisions is presented in sections: each section ends with a decision or with the end of the
    game, and is a separate object of this class. Objects are compared by identity, so that :func:`build_timeline` can
    cache its result for them.
    """

    outcome: GameOutcome
    began_at: float
    """When the presentation began, in monotonic seconds."""
    steps: tuple[DisplayStep, ...]
    reels_before: ReelSpin | None = None
    """What the reels showed before the game; None if unknown."""
    press_times: tuple[float, ...] = ()
    """When the player shortened the presentation with PLAY or a touch of the field, in seconds from its start."""
    is_end_reported: bool = False
    """Whether the screen has reported to the machine that the presentation has ended."""
    is_last_section: bool = True
    """Whether this section ends with the end of the game, and not with a decision."""
    presented_step_count: int = 0
    """How many of the game's steps were presented in earlier sections."""
    presented_box_count: int = 0
    """If this section begins with a pick feature: how many of its boxes were opened in earlier sections."""
    presented_credits: int = 0
    """The credits that the game had won in earlier sections."""
    presented_cents: int = 0
    """The amount that the game had won in earlier sections, in minor units."""
    round_result: TableRoundResult | None = None
    """The result of the table round, or None if the round has not ended or the game is not a table game."""


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The times of one step of a game's presentation, in seconds from the start of the presentation."""

    title_card_start_seconds: float
    """When the title card of a feature appears, if the step begins one; the card disappears at ``start_seconds``."""
    start_seconds: float
    """When the step's movement begins."""
    stop_seconds: tuple[float, ...]
    """When each moving part of the step, such as a reel, stops."""
    last_stop_seconds: float
    """When all moving parts of the step have stopped."""
    end_seconds: float
    """When the step is over, so that the next one may begin."""


@dataclass(frozen=True, slots=True)
class PresentationTimeline:
    """The times of a game's presentation, in seconds from its start, and the celebration level of its win."""

    steps: tuple[StepTimes, ...]
    last_stop_seconds: float
    """When all moving parts of the last step have stopped."""
    roll_up_end_seconds: float
    """When the WIN meter has counted up to the win."""
    end_seconds: float
    """When the presentation is over, so that the game may be closed."""
    celebration_level: int
    """The celebration level of the win, from 0 (no celebration)."""

    def find_step_index(self, elapsed_seconds: float) -> int:
        """Return the index of the step that is on the screen ``elapsed_seconds`` after the presentation began.

        After the end of the last step, that step stays on the screen.
        """
        return next(
            (i for i, step in enumerate(self.steps) if elapsed_seconds < step.end_seconds),
            len(self.steps) - 1,
        )


def find_step_stage(presentation: OutcomePresentation, step_index: int) -> str:
    """Return the name of the stage in which a step is played, such as the base game or a feature.

    Empty for a Keno draw.
    """
    step = presentation.steps[step_index]
    return "" if isinstance(step, KenoStep) else step.stage


def is_feature_step(presentation: OutcomePresentation, step_index: int) -> bool:
    """Return whether a step of a presentation belongs to a feature: its stage differs from the first step's.

    Double-up is not a feature.
    """
    step, first_step = presentation.steps[step_index], presentation.steps[0]
    if isinstance(step, KenoStep | DoubleUpStep) or isinstance(first_step, KenoStep | DoubleUpStep):
        return False
    return step.stage != first_step.stage


def find_feature_steps(presentation: OutcomePresentation, step_index: int) -> range:
    """Return the indices of the adjacent steps with the same stage as step ``step_index``, which is included."""
    stage, first_index, end_index = find_step_stage(presentation, step_index), step_index, step_index + 1
    while first_index and find_step_stage(presentation, first_index - 1) == stage:
        first_index -= 1
    while end_index < len(presentation.steps) and find_step_stage(presentation, end_index) == stage:
        end_index += 1
    return range(first_index, end_index)


def compute_free_game_number_and_total(
    presentation: OutcomePresentation, step_index: int, *, has_stopped: bool
) -> tuple[int, int]:
    """Return the number of a free game within its feature, from 1, and how many free games were awarded so far.

    The free game is step ``step_index``; ``has_stopped`` says whether its reels have stopped. Free games that a step
    awards by a retrigger are counted only after the reels of that step have stopped, so that they stay a surprise.
    """
    stage = find_step_stage(presentation, step_index)
    stage_step_indices = [
        i for i in range(len(presentation.steps)) if find_step_stage(presentation, i) == stage
    ]
    number = stage_step_indices.index(step_index) + 1
    awarded_count = sum(
        int(award["times"])
        for step_data in (presentation.outcome.display.get("steps") or ())[: step_index + has_stopped]
        for award in step_data.get("awards", ())
        if award["kind"] == "stage" and award["name"] == stage
    )
    # A feature that has ended may have played fewer free games than were awarded.
    played_max = len(stage_step_indices) if presentation.is_last_section else awarded_count
    return number, max(number, min(awarded_count, played_max))


def has_feature_title_card(presentation: OutcomePresentation, step_index: int) -> bool:
    """Return whether a title card is shown before a step, because the step begins a feature.

    False if the title card was shown in an earlier section of the presentation.
    """
    begins_stage = step_index > presentation.presented_step_count and find_step_stage(
        presentation, step_index - 1
    ) != find_step_stage(presentation, step_index)
    return begins_stage and is_feature_step(presentation, step_index)


def find_anticipated_reel(step: DisplayStep, step_times: StepTimes, elapsed_seconds: float) -> int | None:
    """Return the reel that spins longer to build anticipation at this time, or None."""
    if not isinstance(step, ReelSpin) or elapsed_seconds < step_times.start_seconds:
        return None
    spinning_reels = [reel for reel, stop in enumerate(step_times.stop_seconds) if elapsed_seconds < stop]
    return spinning_reels[0] if spinning_reels and spinning_reels[0] in step.anticipation_reels else None


@lru_cache(maxsize=4)
def build_timeline(
    presentation: OutcomePresentation,
    motion: MotionSettings,
    celebration_level: int,
    *,
    is_motion_reduced: bool = False,
) -> PresentationTimeline:
    """Return when the steps begin and end, and when the roll-up of the win and the whole presentation end.

    If ``is_motion_reduced``, as the player may set it, reels do not spin longer to build anticipation.
    The result is cached, because every frame needs it several times.
    """
    steps = _build_times_of_all_steps(
        replace(presentation, press_times=()), motion, 1.0, is_motion_reduced=is_motion_reduced
    )
    duration_factor = (
        1.0
        if steps[-1].last_stop_seconds <= SPEED_UP_ABOVE_SECONDS
        else max(DURATION_FACTOR_MIN, SPEED_UP_ABOVE_SECONDS / steps[-1].last_stop_seconds)
    )
    if duration_factor < 1 or presentation.press_times:
        steps = _build_times_of_all_steps(
            presentation, motion, duration_factor, is_motion_reduced=is_motion_reduced
        )
    last_stop_seconds = steps[-1].last_stop_seconds
    has_new_win = presentation.outcome.paid_cents > presentation.presented_cents or bool(
        presentation.outcome.prizes
    )
    roll_up_seconds = 0.45 + motion.roll_up_seconds_per_level * celebration_level if has_new_win else 0.0
    roll_up_end_seconds = min(
        [
            last_stop_seconds + roll_up_seconds,
            *(pressed_at for pressed_at in presentation.press_times if pressed_at >= last_stop_seconds),
        ]
    )
    return PresentationTimeline(
        tuple(steps),
        last_stop_seconds,
        roll_up_end_seconds,
        roll_up_end_seconds + motion.result_seconds_min,
        celebration_level,
    )


def _build_times_of_all_steps(
    presentation: OutcomePresentation,
    motion: MotionSettings,
    duration_factor: float,
    *,
    is_motion_reduced: bool,
) -> list[StepTimes]:
    """Return the times of the steps of a presentation, one after the other.

    All durations are multiplied by ``duration_factor``. Presses of PLAY shorten the step that they fall in. Steps of
    earlier sections take no time.
    """
    steps: list[StepTimes] = []
    start_seconds = 0.0
    for index, step in enumerate(presentation.steps):
        if index < presentation.presented_step_count:
            steps.append(StepTimes(0.0, 0.0, (0.0,) * count_step_parts(step), 0.0, 0.0))
            continue
        title_card_seconds = motion.title_card_seconds if has_feature_title_card(presentation, index) else 0.0
        presented_box_count = (
            presentation.presented_box_count if index == presentation.presented_step_count else 0
        )
        step_times = _scale_step_times(
            _build_times_of_step(
                step, title_card_seconds, motion, presented_box_count, is_motion_reduced=is_motion_reduced
            ),
            duration_factor,
            start_seconds,
        )
        if index < len(presentation.steps) - 1:
            pause_seconds = motion.winning_line_seconds if step.credits else motion.result_seconds_min
            step_times = replace(
                step_times, end_seconds=step_times.last_stop_seconds + pause_seconds * duration_factor
            )
        for pressed_at in presentation.press_times:
            if step_times.title_card_start_seconds <= pressed_at < step_times.end_seconds:
                step_times = _shorten_step(step_times, step, pressed_at)
        steps.append(step_times)
        start_seconds = step_times.end_seconds
    return steps


def _scale_step_times(step_times: StepTimes, duration_factor: float, start_seconds: float) -> StepTimes:
    """Return a step's times if it starts at ``start_seconds``, its durations multiplied by ``duration_factor``."""
    stop_seconds = tuple(start_seconds + stop * duration_factor for stop in step_times.stop_seconds)
    last_stop_seconds = start_seconds + step_times.last_stop_seconds * duration_factor
    return StepTimes(
        start_seconds,
        start_seconds + step_times.start_seconds * duration_factor,
        stop_seconds,
        last_stop_seconds,
        last_stop_seconds,
    )


def _shorten_step(step_times: StepTimes, step: DisplayStep, play_pressed_at: float) -> StepTimes:
    """Return the times of a step that is shortened by a press of PLAY at ``play_pressed_at`` seconds.

    The press skips the title card, or stops the moving parts. If no part moves, it ends the step. In a hold-and-spin
    feature it skips one spin; in a pick feature it skips the opening of one box.
    """
    if play_pressed_at < step_times.start_seconds:
        return _move_step_earlier(
            step_times, step_times.start_seconds - play_pressed_at, 0, start_seconds=play_pressed_at
        )
    if play_pressed_at >= step_times.last_stop_seconds:
        return replace(step_times, end_seconds=play_pressed_at)
    moving_parts = [i for i, stop in enumerate(step_times.stop_seconds) if stop > play_pressed_at]
    if not moving_parts:
        return _move_step_earlier(step_times, step_times.last_stop_seconds - play_pressed_at, 0)
    if isinstance(step, HoldStep | PickStep):  # Skip one spin, or one box.
        return _move_step_earlier(
            step_times,
            max(0.0, step_times.stop_seconds[moving_parts[0]] - play_pressed_at - _QUICK_STOP_FIRST_SECONDS),
            moving_parts[0],
        )
    first_stop = max(
        play_pressed_at + _QUICK_STOP_FIRST_SECONDS,
        step_times.start_seconds + (_REEL_TURN_SECONDS_MIN if isinstance(step, ReelSpin) else 0.0),
    )
    stop_seconds = list(step_times.stop_seconds)
    # Cards are all dealt at once.
    seconds_between_stops = 0.0 if isinstance(step, TableStep) else _QUICK_STOP_NEXT_SECONDS
    for order, part in enumerate(moving_parts):
        stop_seconds[part] = min(stop_seconds[part], first_stop + order * seconds_between_stops)
    gained_seconds = max(step_times.stop_seconds) - max(stop_seconds)
    return replace(
        step_times,
        stop_seconds=tuple(stop_seconds),
        last_stop_seconds=step_times.last_stop_seconds - gained_seconds,
        end_seconds=step_times.end_seconds - gained_seconds,
    )


def _move_step_earlier(
    step_times: StepTimes, seconds: float, first_part_index: int, *, start_seconds: float | None = None
) -> StepTimes:
    """Move the end of a step, and its parts from ``first_part_index`` on, ``seconds`` earlier; return the new times.

    If ``start_seconds`` is given, it is the new start of the movement.
    """
    stop_seconds = tuple(
        stop if i < first_part_index else stop - seconds for i, stop in enumerate(step_times.stop_seconds)
    )
    return StepTimes(
        step_times.title_card_start_seconds,
        step_times.start_seconds if start_seconds is None else start_seconds,
        stop_seconds,
        step_times.last_stop_seconds - seconds,
        step_times.end_seconds - seconds,
    )


def count_step_parts(step: DisplayStep) -> int:
    """Return how many parts of a step are presented one after the other: its reels, spins, boxes, balls or cues."""
    if isinstance(step, ReelSpin):
        return len(step.window)
    if isinstance(step, HoldStep):
        return len(step.cells_after_spins)
    if isinstance(step, PickStep):
        return len(step.opened_boxes)
    if isinstance(step, TableStep):
        return len(step.cues)
    return len(step.balls) if isinstance(step, KenoStep) else 1


def build_ended_step_times(step: DisplayStep) -> StepTimes:
    """Return the times of a step in which every part has stopped at second 0, so that the step is drawn as it ended."""
    return StepTimes(
        title_card_start_seconds=0.0,
        start_seconds=0.0,
        stop_seconds=(0.0,) * count_step_parts(step),
        last_stop_seconds=0.0,
        end_seconds=0.0,
    )


def _map_cue_durations(motion: MotionSettings) -> Mapping[str, float]:
    """Return the duration in seconds of each animation of a table game, by the name of its cue."""
    return {
        "ball": motion.wheel_spin_seconds,
        "wheel": motion.wheel_spin_seconds,
        "dice": motion.dice_throw_seconds,
        "deal": motion.card_deal_seconds,
        "draw": motion.card_deal_seconds,
        "discard": motion.card_deal_seconds / 2,
        "flip": motion.card_turn_seconds / 2,
    }


def _build_times_of_step(
    step: DisplayStep,
    title_card_seconds: float,
    motion: MotionSettings,
    presented_box_count: int,
    *,
    is_motion_reduced: bool,
) -> StepTimes:
    """Return when the parts of one step are presented, in seconds from the start of the step.

    Its movement starts after ``title_card_seconds``. The first ``presented_box_count`` boxes of a pick feature were
    presented in an earlier section and take no time. Reels that the player held take none either.
    ``title_card_start_seconds`` of the result is 0.
    """
    if isinstance(step, ReelSpin):
        held_reels = {
            i for i, (a, b) in enumerate(zip(step.stops_before_hold, step.stops, strict=False)) if a == b
        }
        stop_seconds, stop_at_seconds = (
            [],
            title_card_seconds + motion.first_reel_stop_seconds - motion.seconds_between_reel_stops,
        )
        for reel in range(len(step.window)):
            if reel not in held_reels:
                stop_at_seconds += motion.seconds_between_reel_stops + (
                    motion.anticipation_seconds
                    if reel in step.anticipation_reels and not is_motion_reduced
                    else 0.0
                )
            stop_seconds.append(title_card_seconds if reel in held_reels else stop_at_seconds)
        last_stop_seconds = (
            max(stop_seconds)
            + motion.reel_settle_seconds * 0.6
            + motion.cascade_window_seconds * max(0, len(step.cascade_windows) - 1)
        )
        return StepTimes(0.0, title_card_seconds, tuple(stop_seconds), last_stop_seconds, last_stop_seconds)
    if isinstance(step, TableStep):
        seconds_by_cue = _map_cue_durations(motion)
        durations = (seconds_by_cue.get(str(cue.get("cue")), 0.0) for cue in step.cues)
        stop_seconds = [title_card_seconds + elapsed for elapsed in accumulate(durations)]
        last_stop_seconds = (
            stop_seconds[-1] if stop_seconds else title_card_seconds
        ) + motion.reel_settle_seconds
        return StepTimes(0.0, title_card_seconds, tuple(stop_seconds), last_stop_seconds, last_stop_seconds)
    seconds_per_part: dict[type, float] = {
        HoldStep: motion.hold_and_spin_seconds,
        PickStep: motion.pick_box_seconds,
        WheelStep: motion.wheel_spin_seconds,
        KenoStep: motion.keno_ball_seconds,
        DoubleUpStep: motion.card_turn_seconds,
    }
    # The board of a pick feature that continues is on the screen already; double-up has no board.
    first_part_seconds = (
        title_card_seconds
        if presented_box_count or isinstance(step, DoubleUpStep)
        else title_card_seconds + motion.feature_entrance_seconds
    )
    later_stops = (
        first_part_seconds + seconds_per_part[type(step)] * (i + 1)
        for i in range(count_step_parts(step) - presented_box_count)
    )
    stop_seconds = [*((title_card_seconds,) * presented_box_count), *later_stops]
    last_stop_seconds = (
        stop_seconds[-1] if stop_seconds else first_part_seconds
    ) + motion.reel_settle_seconds
    return StepTimes(0.0, title_card_seconds, tuple(stop_seconds), last_stop_seconds, last_stop_seconds)
