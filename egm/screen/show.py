"""An outcome being shown: its steps, and the moment of everything that happens in them."""

from dataclasses import dataclass, replace

from egm.link.messages import Play
from egm.screen.outcome import Result
from egm.screen.steps import GambleStep, HoldStep, KenoStep, PickStep, Step, WheelStep
from egm.screen.theme import Motion

#: The machine ends a game whose show takes a minute; a longer one is shown quicker, down to this pace.
LONGEST = 45.0
QUICKEST = 0.55


@dataclass(frozen=True, slots=True)
class Show:
    """An outcome being shown: when it began, if its roll-up was cut short, and if its end was told.

    ``before`` is what the reels stood at. A game that asks is shown in parts: what leads to a question is not
    ``whole``; the first ``seen`` steps, and the first ``opened`` boxes of the next, were shown in the parts
    before, when the game had won ``seen_credits``.
    """

    play: Play
    began: float
    steps: tuple[Step, ...]
    before: Result | None = None
    skipped: float | None = None
    told: bool = False
    whole: bool = True
    seen: int = 0
    opened: int = 0
    seen_credits: int = 0
    seen_cents: int = 0


@dataclass(frozen=True, slots=True)
class StepTime:
    """The moments of one step, in seconds from the show's start: each reel's stop, all standing, over."""

    begin: float
    stops: tuple[float, ...]
    spun: float
    end: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """The moments of a show, in seconds from its start; ``spun`` is when the last step stands."""

    steps: tuple[StepTime, ...]
    spun: float
    rolled: float
    done: float
    level: int


def step_stage(show: Show, index: int) -> str:
    """The stage of a step; a Keno draw has none."""
    step = show.steps[index]
    return "" if isinstance(step, KenoStep) else step.stage


def timeline(show: Show, motion: Motion, level: int) -> Timeline:
    """When each reel of each step stops, when the roll-up ends, and when the game may be closed."""
    steps: list[StepTime] = []
    begin = 0.0
    for index, step in enumerate(show.steps):
        if index < show.seen:
            steps.append(StepTime(0.0, (0.0,) * parts(step), 0.0, 0.0))
            continue
        time = _step_time(step, begin, motion, show.opened if index == show.seen else 0)
        pause = motion.line_cycle if step.credits else motion.result_hold
        begin = time.spun + (pause if index < len(show.steps) - 1 else 0.0)
        steps.append(replace(time, end=begin))
    if steps[-1].spun > LONGEST:
        pace = max(QUICKEST, LONGEST / steps[-1].spun)
        steps = [_paced(time, pace) for time in steps]
    spun = steps[-1].spun
    grows = show.play.win_cents > show.seen_cents or bool(show.play.prizes)
    length = 0.45 + motion.rollup_per_level * level if grows else 0.0
    rolled = spun + length
    if show.skipped is not None:
        rolled = min(rolled, max(spun, show.skipped - show.began))
    return Timeline(tuple(steps), spun, rolled, rolled + motion.result_hold, level)


def _paced(time: StepTime, pace: float) -> StepTime:
    stops = tuple(stop * pace for stop in time.stops)
    return StepTime(time.begin * pace, stops, time.spun * pace, time.end * pace)


def parts(step: Step) -> int:
    """How many parts of a step happen one after another: its reels, spins, boxes, balls."""
    if isinstance(step, Result):
        return len(step.window)
    if isinstance(step, HoldStep):
        return len(step.spins)
    if isinstance(step, PickStep):
        return len(step.opened)
    return len(step.balls) if isinstance(step, KenoStep) else 1


def _step_time(step: Step, begin: float, motion: Motion, opened: int = 0) -> StepTime:
    """When the parts of a step happen; the first ``opened`` of them have happened already."""
    if isinstance(step, Result):
        held = {i for i, (a, b) in enumerate(zip(step.first, step.stops, strict=False)) if a == b}
        turning = [reel for reel in range(len(step.window)) if reel not in held]
        stops = tuple(
            begin + (motion.first_stop + turning.index(reel) * motion.stop_step if reel in turning else 0.0)
            for reel in range(len(step.window))
        )
        spun = max(stops) + motion.settle * 0.6 + motion.fall * max(0, len(step.falls) - 1)
        return StepTime(begin, stops, spun, spun)
    beats: dict[type, float] = {
        HoldStep: motion.hold_spin,
        PickStep: motion.box,
        WheelStep: motion.wheel,
        KenoStep: motion.ball,
        GambleStep: motion.card,
    }
    first = begin if opened or isinstance(step, GambleStep) else begin + motion.entrance
    stops = (begin,) * opened + tuple(
        first + beats[type(step)] * (i + 1) for i in range(parts(step) - opened)
    )
    spun = (stops[-1] if stops else first) + motion.settle
    return StepTime(begin, stops, spun, spun)
