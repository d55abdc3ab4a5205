"""Steps of an outcome: hold-and-spin, picks, wheels, Keno draws, double-up and tables.

They are read from the display data of the outcome (JSON made by ``paytables``). A spin of reels is a step too
(:class:`egm.screen.reel_data.ReelSpin`). ``stage`` is the stage of a reel game to which a step belongs, or the kind of
a step outside reel games.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from egm.screen.reel_data import GameDataError, ReelData, ReelSpin, read_reel_spin


@dataclass(frozen=True, slots=True)
class BonusAward:
    """What one coin, box or wheel segment awards."""

    name: str
    credits: int


@dataclass(frozen=True, slots=True)
class HoldStep:
    """A hold-and-spin feature: the coins that landed in each spin, and what they award."""

    stage: str
    coin_awards: tuple[BonusAward, ...]
    """The award of each coin that landed."""
    cells_after_spins: tuple[tuple[int | None, ...], ...]
    """The cells after each spin, column by column: the coin's index in ``coin_awards``, or None for an empty cell."""
    spins_left: tuple[int, ...]
    """How many spins were left after each spin."""
    credits: int


@dataclass(frozen=True, slots=True)
class PickStep:
    """A pick feature: its boxes, and those that the player has opened so far."""

    stage: str
    box_count: int
    opened_boxes: tuple[tuple[int, BonusAward], ...]
    """The boxes opened so far, in order: the index of each box and its content."""
    credits: int


@dataclass(frozen=True, slots=True)
class WheelStep:
    """A spin of a bonus wheel."""

    stage: str
    segments: tuple[BonusAward, ...]
    """The segments of the wheel, in order."""
    winning_index: int
    """The index of the winning segment."""
    credits: int


@dataclass(frozen=True, slots=True)
class KenoWayResult:
    """The result of one way of a Keno ticket in one draw. A way is a combination of the ticket's groups of numbers."""

    numbers: tuple[int, ...]
    """The numbers of the way."""
    caught_numbers: tuple[int, ...]
    """The numbers of the way that were drawn."""
    credits: int
    """The pay of the way in this draw, in credits."""


@dataclass(frozen=True, slots=True)
class KenoStep:
    """One Keno draw."""

    balls: tuple[int, ...]
    """The numbers drawn, in order."""
    way_results: tuple[KenoWayResult, ...]
    """The result of every way of the ticket in this draw."""
    draw_number: int
    """The number of the draw within the ticket, from 1."""
    draw_count: int
    """For how many draws the ticket was bought."""
    bonus_multipliers: tuple[tuple[str, int], ...]
    credits: int


@dataclass(frozen=True, slots=True)
class DoubleUpStep:
    """One round of double-up, in which the player stakes the win on the colour of a card to double it."""

    stage: str
    called_option: str
    """The option that the player chose before the card was turned over, such as a colour."""
    drawn_card: str
    credits: int
    """The player's win after the round, in credits; 0 after a wrong call."""
    previous_cards: tuple[str, ...]
    """The cards drawn in the rounds before this one."""


#: A part of an outcome's display data, as JSON.
DisplayData = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TableStep:
    """A part of a table round, up to a decision or the end of the round (:file:`paytables/FELTS.md`)."""

    display: DisplayData
    """The table's state at the end of the part, as JSON."""
    cues: tuple[DisplayData, ...]
    """The animations that lead to the state ``display``, in order."""
    settlements: tuple[DisplayData, ...]
    """The bets that this part decides, with their results."""
    credits: int
    stage: str = "table"


#: A step of an outcome, of any kind.
DisplayStep = ReelSpin | HoldStep | PickStep | WheelStep | KenoStep | DoubleUpStep | TableStep


def read_steps(
    reel_data_by_stage: Mapping[str, ReelData],
    display: Mapping[str, Any],
    cues: Sequence[DisplayData] = (),
    settlements: Sequence[DisplayData] = (),
    *,
    is_continued: bool = False,
) -> tuple[DisplayStep, ...]:
    """Return every step of an outcome in order, at least one. Raises :class:`GameDataError`.

    ``is_continued`` says that earlier steps of the same table round were already presented. Otherwise, a table step
    without ``cues`` gets default cues that lead to its state.
    """
    try:
        if display.get("kind") == "table":
            shown_cues = tuple(cues) if cues or is_continued else tuple(_build_default_cues(display))
            return (_read_table_step(display, shown_cues, tuple(settlements)),)
        if "draws" in display:
            draws = display["draws"]
            steps: list[DisplayStep] = [_read_keno_step(draw, len(draws)) for draw in draws]
        else:
            steps = [_read_step(reel_data_by_stage, step) for step in display.get("steps") or [display]]
            steps += _read_double_up_steps(display.get("double_up", ()))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise GameDataError(f"display: {error!r}") from error
    if not steps:
        raise GameDataError("display: no step in it")
    return tuple(steps)


def _read_table_step(
    display: DisplayData, cues: tuple[DisplayData, ...], settlements: tuple[DisplayData, ...]
) -> TableStep:
    """Return a part of a table round, from its display data, animation cues and settled bets.

    Raises one of the errors that :func:`read_steps` handles if the data lack what the scenes draw.
    """
    for hand in display.get("hands", ()):  # These expressions only raise an error if the data are incomplete.
        str(hand["id"]), [str(card) for card in hand["cards"]]
    [int(die) for die in display.get("dice", ())]
    credits_ = sum(int(settlement["credits"]) for settlement in settlements)
    return TableStep(display, cues, settlements, credits_)


def _build_default_cues(display: DisplayData) -> list[DisplayData]:
    """Return the animation cues for a table round that comes without cues, such as a recalled one.

    They roll the ball into its pocket, throw the dice, or deal every card.
    """
    if "pocket" in display:
        return [{"cue": "ball", "pocket": str(display["pocket"])}]
    if "dice" in display:
        return [{"cue": "dice", "dice": display["dice"]}]
    return [
        {"cue": "deal", "hand": hand["id"], "card": card}
        for hand in display.get("hands", ())
        for card in hand["cards"]
    ]


def _read_step(reel_data_by_stage: Mapping[str, ReelData], step_data: Mapping[str, Any]) -> DisplayStep:
    """Return one step from an outcome's display data. The keys of the data determine the kind of step."""
    stage, credits_ = str(step_data.get("stage", "base")), int(step_data.get("credits", 0))
    pay_factor = int(step_data.get("level", 1)) * int(step_data.get("multiplier", 1))
    if "spins" in step_data:
        return HoldStep(
            stage,
            _read_awards(step_data["coins"], pay_factor),
            tuple(tuple(None if c is None else int(c) for c in spin["cells"]) for spin in step_data["spins"]),
            tuple(int(spin["left"]) for spin in step_data["spins"]),
            credits_,
        )
    if "opened" in step_data:
        opened_boxes = tuple((int(box["box"]), _read_award(box, pay_factor)) for box in step_data["opened"])
        return PickStep(stage, int(step_data["boxes"]), opened_boxes, credits_)
    if "parts" in step_data:
        # A game of the wheel family states no bet level: its segments already have the pays for the stakes made.
        segments = _read_awards(step_data["parts"], pay_factor if "level" in step_data else 1)
        winning_index = int(step_data["part"])
        if not 0 <= winning_index < len(segments):
            raise GameDataError(f"display: part {winning_index} of a wheel of {len(segments)}")
        return WheelStep(stage, segments, winning_index, credits_)
    if stage not in reel_data_by_stage:
        raise GameDataError(f"display: stage {stage!r} is not one of {sorted(reel_data_by_stage)}")
    return read_reel_spin(reel_data_by_stage[stage], step_data)


def _read_double_up_steps(rounds_data: Any) -> list[DisplayStep]:
    """Return the double-up rounds in an outcome's display data, each with the cards of the rounds before it."""
    rounds = [(str(data["called"]), str(data["shown"]), int(data["credits"])) for data in rounds_data]
    drawn_cards = tuple(card for _, card, _ in rounds)
    return [
        DoubleUpStep("double_up", called_option, card, credits_, drawn_cards[:i])
        for i, (called_option, card, credits_) in enumerate(rounds)
    ]


def _read_awards(awards_data: Any, pay_factor: int) -> tuple[BonusAward, ...]:
    """Return the awards of a stage's coins, boxes or segments, their published pays multiplied by ``pay_factor``."""
    return tuple(_read_award(award_data, pay_factor) for award_data in awards_data)


def _read_award(award_data: Mapping[str, Any], pay_factor: int) -> BonusAward:
    """Return the award of one coin, box or segment, its published pay multiplied by ``pay_factor`` for the bet made."""
    return BonusAward(str(award_data["item"]), int(award_data["credits"]) * pay_factor)


def _read_keno_step(draw_data: Mapping[str, Any], draw_count: int) -> KenoStep:
    """Return one of the ticket's ``draw_count`` Keno draws, from an outcome's display data."""
    way_results = tuple(
        KenoWayResult(tuple(map(int, way["numbers"])), tuple(map(int, way["hits"])), int(way["credits"]))
        for way in draw_data["ways"]
    )
    multipliers = tuple((str(name), int(times)) for name, times in draw_data.get("multipliers", {}).items())
    balls = tuple(map(int, draw_data["balls"]))
    return KenoStep(
        balls, way_results, int(draw_data["draw"]), draw_count, multipliers, int(draw_data["credits"])
    )
