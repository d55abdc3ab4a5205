"""The presentation of a game's outcome on the screen: its steps, and the time of every event in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Final

from egm.kernel.messages import Play
from egm.screen.outcome import ReelSpin
from egm.screen.round_result import RoundResult
from egm.screen.steps import GambleStep, HoldStep, KenoStep, PickStep, Step, TableStep, WheelStep
from egm.screen.theme import Motion

#: The longest presentation, in seconds; a longer one is sped up. The machine ends a game whose presentation
#: takes a minute.
LONGEST = 45.0
#: The factor below which durations are not shortened.
QUICKEST = 0.55
#: Seconds from a press of PLAY until the first moving part stops.
_QUICK_STOP_FIRST_SECONDS: Final = 0.1
#: Seconds between the stops of the following parts.
_QUICK_STOP_NEXT_SECONDS: Final = 0.06
#: The least seconds that a reel turns.
_REEL_TURN_SECONDS_MIN: Final = 0.55


@dataclass(frozen=True, slots=True)
class GameShow:
    """The presentation of a game's outcome on the screen ("show" in this module).

    A game with decisions is presented in parts, each up to a decision or the end of the game; each part is a
    show.
    """

    play: Play
    began: float
    """When the presentation began, in monotonic seconds."""
    steps: tuple[Step, ...]
    reels_before: ReelSpin | None = None
    """The reels' windows and stops before the game."""
    shortened_at: tuple[float, ...] = ()
    """The times at which PLAY ended a movement, in seconds from the start of the presentation."""
    is_reported: bool = False
    """Whether the machine was informed that the presentation has ended."""
    is_complete: bool = True
    """Whether the game ends with this part of the presentation, and not with a decision."""
    steps_seen: int = 0
    """How many of the game's steps were presented in an earlier part."""
    boxes_opened: int = 0
    """How many boxes of the next pick were opened in an earlier part of the game."""
    seen_credits: int = 0
    """The credits that the game had won in earlier parts."""
    seen_cents: int = 0
    """The amount that the game had won in earlier parts, in minor units."""
    result: RoundResult | None = None
    """The result of a table round that has ended, or None."""


@dataclass(frozen=True, slots=True)
class StepTime:
    """The times of one step of a game's presentation, in seconds from the start of the presentation."""

    title_card_begin: float
    """When the title card of a feature appears, if the step begins one; the card disappears at ``begin``."""
    begin: float
    """When the movement of the step begins."""
    stops: tuple[float, ...]
    """When each moving part of the step, such as a reel, stops."""
    last_stop: float
    """When all moving parts of the step have stopped."""
    end: float
    """When the step is over, so that the next one may begin."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The times of a game's presentation, in seconds from its start, and the celebration level of its win."""

    steps: tuple[StepTime, ...]
    last_stop: float
    """When all moving parts of the last step have stopped."""
    roll_up_end: float
    """When the win on the WIN meter has been counted up."""
    end: float
    """When the presentation is over, so that the game may be closed."""
    level: int
    """The celebration level of the win."""

    def find_step_index(self, elapsed_seconds: float) -> int:
        """Return the index of the step that is on the screen ``elapsed_seconds`` after the presentation began."""
        return next(
            (i for i, step in enumerate(self.steps) if elapsed_seconds < step.end), len(self.steps) - 1
        )


def find_step_stage(show: GameShow, index: int) -> str:
    """Return the stage (such as the base game or a feature) in which a step is played; empty for a Keno draw."""
    step = show.steps[index]
    return "" if isinstance(step, KenoStep) else step.stage


def is_feature(show: GameShow, index: int) -> bool:
    """Return whether a presented step is played in another stage than the first step, which makes it a feature.

    Double-up is not a feature.
    """
    step, first = show.steps[index], show.steps[0]
    if isinstance(step, KenoStep | GambleStep) or isinstance(first, KenoStep | GambleStep):
        return False
    return step.stage != first.stage


def find_feature_steps(show: GameShow, index: int) -> range:
    """Return the indices of the adjacent steps that are played in the same stage: the base game or one feature."""
    stage, first, end_index = find_step_stage(show, index), index, index + 1
    while first and find_step_stage(show, first - 1) == stage:
        first -= 1
    while end_index < len(show.steps) and find_step_stage(show, end_index) == stage:
        end_index += 1
    return range(first, end_index)


def count_games_awarded(show: GameShow, index: int, *, has_stopped: bool) -> tuple[int, int]:
    """Return the number of a free game within its stage, and how many have been awarded so far.

    ``has_stopped`` means that the reels of the step have stopped. A later retrigger is not counted, so that
    it stays a surprise.
    """
    steps, stage = show.play.display.get("steps") or (), find_step_stage(show, index)
    step_indexes = [i for i in range(len(show.steps)) if find_step_stage(show, i) == stage]
    number = step_indexes.index(index) + 1
    awarded = sum(
        int(award["times"])
        for step in steps[: index + has_stopped]
        for award in step.get("awards", ())
        if award["kind"] == "stage" and award["name"] == stage
    )
    most_games = (
        len(step_indexes) if show.is_complete else awarded
    )  # The game may limit the number of free games.
    return number, max(number, min(awarded, most_games))


def has_title(show: GameShow, index: int) -> bool:
    """Return whether a presented step begins a feature, whose title card is to be shown before it.

    False if the title was shown in an earlier part of the game.
    """
    begins_stage = index > show.steps_seen and find_step_stage(show, index - 1) != find_step_stage(
        show, index
    )
    return begins_stage and is_feature(show, index)


def find_anticipated_reel(step: Step, step_time: StepTime, elapsed_seconds: float) -> int | None:
    """Return the reel that is spinning with anticipation at this time, or None."""
    if not isinstance(step, ReelSpin) or elapsed_seconds < step_time.begin:
        return None
    turning = [reel for reel, stop in enumerate(step_time.stops) if elapsed_seconds < stop]
    return turning[0] if turning and turning[0] in step.awaited_reels else None


def build_timeline(show: GameShow, motion: Motion, level: int, *, calm: bool = False) -> Timeline:
    """Return the times of a presentation: when the reels stop, when the roll-up ends, when the game may be closed.

    ``calm`` is reduced motion, in which anticipation is left out.
    """
    return _build_timeline(_TimelineKey(show, motion, id(show), id(motion), level, calm))


@dataclass(frozen=True, slots=True)
class _TimelineKey:
    """The arguments of :func:`build_timeline` as a cache key, because every frame requests the same timeline.

    Two keys are equal if they have the same ``GameShow`` and ``Motion`` objects (compared by identity).
    """

    show: GameShow = field(compare=False)
    motion: Motion = field(compare=False)
    show_id: int
    motion_id: int
    level: int
    calm: bool


@lru_cache(maxsize=4)
def _build_timeline(key: _TimelineKey) -> Timeline:
    """Compute the result of :func:`build_timeline` for the key of a cache entry."""
    show, motion, level, calm = key.show, key.motion, key.level, key.calm
    steps = _build_step_times(replace(show, shortened_at=()), motion, 1.0, calm=calm)
    pace = 1.0 if steps[-1].last_stop <= LONGEST else max(QUICKEST, LONGEST / steps[-1].last_stop)
    if pace < 1 or show.shortened_at:
        steps = _build_step_times(show, motion, pace, calm=calm)
    spun = steps[-1].last_stop
    grows = show.play.win_cents > show.seen_cents or bool(show.play.prizes)
    length = 0.45 + motion.rollup_per_level * level if grows else 0.0
    rolled = min([spun + length, *(cut for cut in show.shortened_at if cut >= spun)])
    return Timeline(tuple(steps), spun, rolled, rolled + motion.result_hold, level)


def _build_step_times(show: GameShow, motion: Motion, pace: float, *, calm: bool) -> list[StepTime]:
    """Return the times of a presentation's steps in sequence, each shortened by presses of PLAY."""
    steps: list[StepTime] = []
    begin = 0.0
    for index, step in enumerate(show.steps):
        if index < show.steps_seen:
            steps.append(StepTime(0.0, 0.0, (0.0,) * count_step_parts(step), 0.0, 0.0))
            continue
        card = motion.title if has_title(show, index) else 0.0
        boxes_opened = show.boxes_opened if index == show.steps_seen else 0
        time = _scale_step_time(_build_step_time(step, card, motion, boxes_opened, calm=calm), pace, begin)
        if index < len(show.steps) - 1:
            pause = motion.line_cycle if step.credits else motion.result_hold
            time = replace(time, end=time.last_stop + pause * pace)
        for cut in show.shortened_at:
            if time.title_card_begin <= cut < time.end:
                time = _shorten_step(time, step, cut)
        steps.append(time)
        begin = time.end
    return steps


def _scale_step_time(step_time: StepTime, pace: float, begin: float) -> StepTime:
    """Return the times of a step that starts at ``begin``, with all of its durations multiplied by ``pace``."""
    stops = tuple(begin + stop * pace for stop in step_time.stops)
    spun = begin + step_time.last_stop * pace
    return StepTime(begin, begin + step_time.begin * pace, stops, spun, spun)


def _shorten_step(step_time: StepTime, step: Step, play_pressed_at: float) -> StepTime:
    """Return the times of a step after PLAY was pressed at ``play_pressed_at``.

    The press skips the title card, stops the moving parts, or ends a step at rest. In a hold feature it skips
    one spin, in a pick feature the opening of one box.
    """
    if play_pressed_at < step_time.begin:
        return _advance_step(step_time, step_time.begin - play_pressed_at, 0, begin=play_pressed_at)
    if play_pressed_at >= step_time.last_stop:
        return replace(step_time, end=play_pressed_at)
    turning = [i for i, stop in enumerate(step_time.stops) if stop > play_pressed_at]
    if not turning:
        return _advance_step(step_time, step_time.last_stop - play_pressed_at, 0)
    if isinstance(step, HoldStep | PickStep):  # Skip one spin, or one box.
        return _advance_step(
            step_time,
            max(0.0, step_time.stops[turning[0]] - play_pressed_at - _QUICK_STOP_FIRST_SECONDS),
            turning[0],
        )
    earliest = max(
        play_pressed_at + _QUICK_STOP_FIRST_SECONDS,
        step_time.begin + (_REEL_TURN_SECONDS_MIN if isinstance(step, ReelSpin) else 0.0),
    )
    stops = list(step_time.stops)
    # Cards are all dealt at once.
    are_separate = 0.0 if isinstance(step, TableStep) else _QUICK_STOP_NEXT_SECONDS
    for part_index, part in enumerate(turning):
        stops[part] = min(stops[part], earliest + part_index * are_separate)
    gained = max(step_time.stops) - max(stops)
    return replace(
        step_time, stops=tuple(stops), last_stop=step_time.last_stop - gained, end=step_time.end - gained
    )


def _advance_step(step_time: StepTime, seconds: float, first: int, *, begin: float | None = None) -> StepTime:
    """Return the times of a step in which everything from part ``first`` on happens ``seconds`` earlier."""
    stops = tuple(stop if i < first else stop - seconds for i, stop in enumerate(step_time.stops))
    return StepTime(
        step_time.title_card_begin,
        step_time.begin if begin is None else begin,
        stops,
        step_time.last_stop - seconds,
        step_time.end - seconds,
    )


def count_step_parts(step: Step) -> int:
    """Return how many parts of a step are presented in sequence: its reels, spins, boxes or balls."""
    if isinstance(step, ReelSpin):
        return len(step.window)
    if isinstance(step, HoldStep):
        return len(step.spins)
    if isinstance(step, PickStep):
        return len(step.opened_boxes)
    if isinstance(step, TableStep):
        return len(step.cues)
    return len(step.balls) if isinstance(step, KenoStep) else 1


def _read_cue_durations(motion: Motion) -> Mapping[str, float]:
    """Return the duration in seconds of each animation cue of a table game; unknown cues take no time."""
    return {
        "ball": motion.wheel,
        "wheel": motion.wheel,
        "dice": motion.dice,
        "deal": motion.deal,
        "draw": motion.deal,
        "discard": motion.deal / 2,
        "flip": motion.card / 2,
    }


def _build_step_time(step: Step, begin: float, motion: Motion, boxes_opened: int, *, calm: bool) -> StepTime:
    """Return when the parts of one step are presented; the first ``boxes_opened`` parts were presented before."""
    if isinstance(step, ReelSpin):
        held_reels = {i for i, (a, b) in enumerate(zip(step.first_stops, step.stops, strict=False)) if a == b}
        stops, at = [], begin + motion.first_stop - motion.stop_step
        for reel in range(len(step.window)):
            if reel not in held_reels:
                at += motion.stop_step + (
                    motion.anticipation if reel in step.awaited_reels and not calm else 0.0
                )
            stops.append(begin if reel in held_reels else at)
        spun = max(stops) + motion.settle * 0.6 + motion.fall * max(0, len(step.cascade_falls) - 1)
        return StepTime(0.0, begin, tuple(stops), spun, spun)
    if isinstance(step, TableStep):
        seconds = _read_cue_durations(motion)
        lengths = (seconds.get(str(cue.get("cue")), 0.0) for cue in step.cues)
        stops = [begin + length for length in accumulate(lengths)]
        spun = (stops[-1] if stops else begin) + motion.settle
        return StepTime(0.0, begin, tuple(stops), spun, spun)
    beats: dict[type, float] = {
        HoldStep: motion.hold_spin,
        PickStep: motion.box,
        WheelStep: motion.wheel,
        KenoStep: motion.ball,
        GambleStep: motion.card,
    }
    first = begin if boxes_opened or isinstance(step, GambleStep) else begin + motion.entrance
    later = (first + beats[type(step)] * (i + 1) for i in range(count_step_parts(step) - boxes_opened))
    stops = [*((begin,) * boxes_opened), *later]
    spun = (stops[-1] if stops else first) + motion.settle
    return StepTime(0.0, begin, tuple(stops), spun, spun)
