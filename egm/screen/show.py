"""An outcome being shown: its steps, and the moment of everything that happens in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Final

from egm.kernel.messages import Play
from egm.screen.outcome import Result
from egm.screen.round_result import RoundResult
from egm.screen.steps import GambleStep, HoldStep, KenoStep, PickStep, Step, TableStep, WheelStep
from egm.screen.theme import Motion

#: The machine ends a game whose show takes a minute; a longer one is shown quicker, down to this pace.
LONGEST = 45.0
QUICKEST = 0.55
#: A part that PLAY stops rests so soon, seconds, the next so much later; a reel has turned so long.
_STOPPING: Final = 0.1
_NEXT_STOPPING: Final = 0.06
_TURNED: Final = 0.55


@dataclass(frozen=True, slots=True)
class Show:
    """An outcome being shown: when it began, when PLAY cut it short, and if its end was told.

    ``cuts`` are seconds from its beginning: each ends what moved then. ``before`` is what the reels stood at.
    A game that asks is shown in parts: what leads to a question is not ``whole``; the first ``seen`` steps,
    and the first ``opened`` boxes of the next, were shown before, when the game had won ``seen_credits``.
    """

    play: Play
    began: float
    steps: tuple[Step, ...]
    before: Result | None = None
    cuts: tuple[float, ...] = ()
    told: bool = False
    whole: bool = True
    seen: int = 0
    opened: int = 0
    seen_credits: int = 0
    seen_cents: int = 0
    result: RoundResult | None = None
    """What the round came to, of a table's round that has ended."""


@dataclass(frozen=True, slots=True)
class StepTime:
    """The moments of one step, in seconds from the show's start: each reel's stop, all standing, over.

    ``title`` is when the card of a feature that begins with it comes; it is gone at ``begin``.
    """

    title: float
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

    def index(self, since: float) -> int:
        """The step shown, so many seconds after the show began."""
        return next((i for i, step in enumerate(self.steps) if since < step.end), len(self.steps) - 1)


def step_stage(show: Show, index: int) -> str:
    """The stage of a step; a Keno draw has none."""
    step = show.steps[index]
    return "" if isinstance(step, KenoStep) else step.stage


def is_feature(show: Show, index: int) -> bool:
    """Whether a step is played in another stage than the game began in; doubling up is none."""
    step, first = show.steps[index], show.steps[0]
    if isinstance(step, KenoStep | GambleStep) or isinstance(first, KenoStep | GambleStep):
        return False
    return step.stage != first.stage


def feature_steps(show: Show, index: int) -> range:
    """The steps of the feature that a step belongs to: those beside it in the same stage."""
    stage, first, after = step_stage(show, index), index, index + 1
    while first and step_stage(show, first - 1) == stage:
        first -= 1
    while after < len(show.steps) and step_stage(show, after) == stage:
        after += 1
    return range(first, after)


def games_awarded(show: Show, index: int, *, stand: bool) -> tuple[int, int]:
    """Which game of its stage a step is, and how many of them the steps that stand have awarded.

    ``stand``: whether the step itself does. A retrigger still to come is not counted: it would be given away.
    """
    told, stage = show.play.display.get("steps") or (), step_stage(show, index)
    played = [i for i in range(len(show.steps)) if step_stage(show, i) == stage]
    number = played.index(index) + 1
    awarded = sum(
        int(award["times"])
        for step in told[: index + stand]
        for award in step.get("awards", ())
        if award["kind"] == "stage" and award["name"] == stage
    )
    most = len(played) if show.whole else awarded  # a game may have a most of free games
    return number, max(number, min(awarded, most))


def has_title(show: Show, index: int) -> bool:
    """Whether a step begins a feature; one that was asked in has had its title before the question."""
    begins = index > show.seen and step_stage(show, index - 1) != step_stage(show, index)
    return begins and is_feature(show, index)


def awaiting(step: Step, time: StepTime, since: float) -> int | None:
    """The reel that turns on alone and may bring the feature; None where there is none at this moment."""
    if not isinstance(step, Result) or since < time.begin:
        return None
    turning = [reel for reel, stop in enumerate(time.stops) if since < stop]
    return turning[0] if turning and turning[0] in step.awaited else None


def timeline(show: Show, motion: Motion, level: int, *, calm: bool = False) -> Timeline:
    """When each reel of each step stops, when the roll-up ends, and when the game may be closed.

    ``calm`` where motion is reduced: nothing is drawn out.
    """
    return _timeline(_Laying(show, motion, id(show), id(motion), level, calm))


@dataclass(frozen=True, slots=True)
class _Laying:
    """The arguments of a timeline, equal when they are the same objects: every frame asks several times."""

    show: Show = field(compare=False)
    motion: Motion = field(compare=False)
    show_id: int
    motion_id: int
    level: int
    calm: bool


@lru_cache(maxsize=4)
def _timeline(laying: _Laying) -> Timeline:
    show, motion, level, calm = laying.show, laying.motion, laying.level, laying.calm
    steps = _laid(replace(show, cuts=()), motion, 1.0, calm=calm)
    pace = 1.0 if steps[-1].spun <= LONGEST else max(QUICKEST, LONGEST / steps[-1].spun)
    if pace < 1 or show.cuts:
        steps = _laid(show, motion, pace, calm=calm)
    spun = steps[-1].spun
    grows = show.play.win_cents > show.seen_cents or bool(show.play.prizes)
    length = 0.45 + motion.rollup_per_level * level if grows else 0.0
    rolled = min([spun + length, *(cut for cut in show.cuts if cut >= spun)])
    return Timeline(tuple(steps), spun, rolled, rolled + motion.result_hold, level)


def _laid(show: Show, motion: Motion, pace: float, *, calm: bool) -> list[StepTime]:
    """The steps one after another, each cut where PLAY was pressed in it."""
    steps: list[StepTime] = []
    begin = 0.0
    for index, step in enumerate(show.steps):
        if index < show.seen:
            steps.append(StepTime(0.0, 0.0, (0.0,) * parts(step), 0.0, 0.0))
            continue
        card = motion.title if has_title(show, index) else 0.0
        opened = show.opened if index == show.seen else 0
        time = _paced(_step_time(step, card, motion, opened, calm=calm), pace, begin)
        if index < len(show.steps) - 1:
            pause = motion.line_cycle if step.credits else motion.result_hold
            time = replace(time, end=time.spun + pause * pace)
        for cut in show.cuts:
            if time.title <= cut < time.end:
                time = _cut(time, step, cut)
        steps.append(time)
        begin = time.end
    return steps


def _paced(time: StepTime, pace: float, begin: float) -> StepTime:
    stops = tuple(begin + stop * pace for stop in time.stops)
    spun = begin + time.spun * pace
    return StepTime(begin, begin + time.begin * pace, stops, spun, spun)


def _cut(time: StepTime, step: Step, cut: float) -> StepTime:
    """A step in which PLAY was pressed: the card goes, what turns stops, what stands is over."""
    if cut < time.begin:
        return _sooner(time, time.begin - cut, 0, begin=cut)
    if cut >= time.spun:
        return replace(time, end=cut)
    turning = [i for i, stop in enumerate(time.stops) if stop > cut]
    if not turning:
        return _sooner(time, time.spun - cut, 0)
    if isinstance(step, HoldStep | PickStep):  # one spin, or one box
        return _sooner(time, max(0.0, time.stops[turning[0]] - cut - _STOPPING), turning[0])
    least = max(cut + _STOPPING, time.begin + (_TURNED if isinstance(step, Result) else 0.0))
    stops, apart = (
        list(time.stops),
        0.0 if isinstance(step, TableStep) else _NEXT_STOPPING,
    )  # cards lie at once
    for place, part in enumerate(turning):
        stops[part] = min(stops[part], least + place * apart)
    gained = max(time.stops) - max(stops)
    return replace(time, stops=tuple(stops), spun=time.spun - gained, end=time.end - gained)


def _sooner(time: StepTime, by: float, first: int, *, begin: float | None = None) -> StepTime:
    """What is still to come of a step, from its part ``first`` on, so many seconds sooner."""
    stops = tuple(stop if i < first else stop - by for i, stop in enumerate(time.stops))
    return StepTime(time.title, time.begin if begin is None else begin, stops, time.spun - by, time.end - by)


def parts(step: Step) -> int:
    """How many parts of a step happen one after another: its reels, spins, boxes, balls."""
    if isinstance(step, Result):
        return len(step.window)
    if isinstance(step, HoldStep):
        return len(step.spins)
    if isinstance(step, PickStep):
        return len(step.opened)
    if isinstance(step, TableStep):
        return len(step.cues)
    return len(step.balls) if isinstance(step, KenoStep) else 1


def _cue_seconds(motion: Motion) -> Mapping[str, float]:
    """How long a table's cues take; one that the screen does not know takes no time."""
    return {
        "ball": motion.wheel,
        "wheel": motion.wheel,
        "dice": motion.dice,
        "deal": motion.deal,
        "draw": motion.deal,
        "discard": motion.deal / 2,
        "flip": motion.card / 2,
    }


def _step_time(step: Step, begin: float, motion: Motion, opened: int, *, calm: bool) -> StepTime:
    """When the parts of a step happen; the first ``opened`` of them have happened already."""
    if isinstance(step, Result):
        held = {i for i, (a, b) in enumerate(zip(step.first, step.stops, strict=False)) if a == b}
        stops, at = [], begin + motion.first_stop - motion.stop_step
        for reel in range(len(step.window)):
            if reel not in held:
                at += motion.stop_step + (motion.anticipation if reel in step.awaited and not calm else 0.0)
            stops.append(begin if reel in held else at)
        spun = max(stops) + motion.settle * 0.6 + motion.fall * max(0, len(step.falls) - 1)
        return StepTime(0.0, begin, tuple(stops), spun, spun)
    if isinstance(step, TableStep):
        seconds = _cue_seconds(motion)
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
    first = begin if opened or isinstance(step, GambleStep) else begin + motion.entrance
    later = (first + beats[type(step)] * (i + 1) for i in range(parts(step) - opened))
    stops = [*((begin,) * opened), *later]
    spun = (stops[-1] if stops else first) + motion.settle
    return StepTime(0.0, begin, tuple(stops), spun, spun)
