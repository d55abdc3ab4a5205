"""The model of a reel game's definition.

A game is a set of *stages* that start one another. ``[stage.base]`` is what a wager buys; any pay may *give*
runs of another stage, a progressive level or a merchandise prize. Free games are a stage that gives itself
more runs; a pick, a wheel and hold-and-spin are other kinds of stages. No feature is hard-coded.
"""

from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from paytables.definition import (
    Definition,
    DisplayText,
    Identifier,
    IdentifierList,
    NaturalInt,
    PositiveInt,
    StrictTable,
    Text,
    WordList,
)

#: A pay is one number of credits, or one per column if the bets select a column (buy-a-pay, multi-coin pays).
PayCredits = NaturalInt | Annotated[tuple[NaturalInt, ...], Field(min_length=1)]
#: How many equal symbols a pay needs.
SymbolCount = Annotated[int, Field(ge=1, le=400)]
#: The maximum number of cases (the sum of the weights) of a reel: 8,000 times a usual virtual reel of 128.
REEL_CASE_COUNT_MAX: Final = 1 << 20
#: One row per reel, or ``[reel, row]`` for each cell of lines that do not have exactly one cell per reel.
PayLine = tuple[NaturalInt, ...] | tuple[tuple[NaturalInt, NaturalInt], ...]


def _allow_inheritance(schema: dict[str, Any]) -> None:
    """Require in the JSON schema of a stage either its keys or ``like``, the stage from which they are copied."""
    schema["anyOf"] = [{"required": ["like"]}, {"required": schema.pop("required")}]


class ReelSymbol(StrictTable):
    """A symbol on the strips. A wild is a symbol that ``substitutes`` for others (``"*"``: for every one)."""

    id: Identifier
    name: Text
    substitutes: tuple[str, ...] = ()
    """The symbols for which this one counts as a wild; ``*``: every symbol."""
    not_for: tuple[Identifier, ...] = ()
    """The symbols that a wild does not substitute for."""
    multiplier: PositiveInt = 1
    """The symbol's factor for a line win that it takes part in."""


class BetMode(StrictTable):
    """One way to bet on a reel game: its cost at bet level 1, the lines that it plays, and the pay column it reads."""

    id: Identifier
    """The id of this way to bet."""
    cost: PositiveInt
    """The credits that a game costs at bet level 1."""
    name: Text | None = None
    lines: PositiveInt | None = None
    """The number of lines that are played, or None for all lines of the stage."""
    column: NaturalInt = 0
    """The index, from 0, of this mode's value in every pay that the definition writes as a list."""
    stage: Identifier = "base"
    """The id of the first stage of a game."""


class ReelBets(StrictTable):
    """The bets of a reel game: each is a mode at a bet level; the bet level multiplies the cost and every pay."""

    mode: Annotated[tuple[BetMode, ...], Field(min_length=1)]
    """The ways to bet, such as a number of lines."""
    levels: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1,)
    """The bet levels: factors of the cost and of every pay."""


class AwardDefinition(StrictTable):
    """An award that a prize gives in addition to credits: exactly one of stage, progressive, merchandise and step."""

    stage: Identifier | None = None
    """The id of the stage that the prize starts, such as free games; else None."""
    times: PositiveInt | dict[SymbolCount, PositiveInt] = 1
    """The number of runs of the stage that are given; as a mapping, by the count of the symbol."""
    size: NaturalInt | dict[SymbolCount, NaturalInt] = 0
    """The stage's start condition (hold-and-spin: coins already locked); as a mapping, by the count of the symbol."""
    progressive: Identifier | None = None
    """The id of the progressive level that the prize hits; else None."""
    merchandise: Identifier | None = None
    """The id of the prize in kind that the prize gives; else None."""
    step: PositiveInt | None = None
    """By how many multipliers the series moves on in its list; else None."""
    at: SymbolCount | None = Field(default=None, description="only for exactly this count of the symbol")
    """The only count of the symbol for which the award is given; None: every count."""
    modes: tuple[Identifier, ...] | None = None
    """The modes in which the prize gives the award; None: all."""

    def list_references(self) -> list[tuple[str, str | None]]:
        """Return the kind and name of each thing that this award may give; the name is None for kinds not given."""
        kinds = [("stage", self.stage), ("progressive", self.progressive), ("merchandise", self.merchandise)]
        return [*kinds, *(("bets.mode", mode) for mode in self.modes or ())]

    @model_validator(mode="after")
    def _check_one_kind(self) -> "AwardDefinition":
        """Refuse an award that names none, or several, of stage, progressive, merchandise and step."""
        if sum(x is not None for x in (self.stage, self.progressive, self.merchandise, self.step)) != 1:
            raise ValueError("must name exactly one of stage, progressive, merchandise, step")
        return self


class PayTableRow(StrictTable):
    """One row of a reel stage's pay table: a pattern or a count of a symbol, on a line, by ways or anywhere."""

    id: Identifier | None = None
    name: Text | None = None
    on: Literal["line", "ways", "scatter"] = "line"
    """Whether the row is paid on a line, by ways, or for a count anywhere in the window (``scatter``)."""
    of: DisplayText | None = None
    """The symbol or group that is counted; ``=name`` counts only the symbol itself, without substitutes."""
    pays: dict[SymbolCount, PayCredits] = Field(default_factory=dict)
    """The pay by the count of the symbol."""
    pattern: WordList | None = None
    """The symbol of each cell of a line, instead of a count of one symbol; ``*`` is any symbol."""
    pay: PayCredits | None = None
    """The pay of the pattern."""
    direction: Literal["left", "right", "both", "adjacent", "anywhere"] = "left"
    """The side of the window from which the symbols are counted.

    `adjacent` and `anywhere`: they need not start at a side.
    """
    unit: Literal["line", "bet"] | None = None
    """Whether the pay is multiplied by the stake on a line or by the total bet."""
    group: Identifier = "line"
    """Rows of one group exclude each other on a line; only the highest is paid. Groups add up."""
    gives: tuple[AwardDefinition, ...] = ()
    """The awards that the prize gives in addition to credits."""
    lines: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] | None = Field(
        default=None,
        description="the only lines on which it can be won, such as the last line for a top award",
    )
    """The numbers of the only lines that can win the prize; None: every line."""
    once_a_reel: bool = Field(
        default=False, description="a reel counts once, however often it shows the symbol"
    )
    """Whether a reel counts once, however often it shows the symbol."""
    needs_own: bool | None = Field(
        default=None,
        description="substitutes alone do not win it: one symbol of `of` itself must show (lines only;"
        " default: what the stage's `wilds_alone` says)",
    )
    """Whether one symbol must be the prize's own, not a substitute; None: as ``wilds_alone`` says."""

    @model_validator(mode="after")
    def _check_shape(self) -> "PayTableRow":
        """Refuse a pay table row whose keys do not make one kind of prize."""
        if self.on != "line" and self.lines is not None:
            raise ValueError("`lines` is only valid for a line prize")
        if self.on != "line" and self.needs_own is not None:
            raise ValueError("`needs_own` is only valid for a line prize")
        if self.on == "line" and self.once_a_reel:
            raise ValueError("`once_a_reel` is only valid for a ways or scatter prize")
        if (self.pattern is None) == (self.of is None):
            raise ValueError("must have either `of` with `pays`, or `pattern` with `pay`")
        if self.pattern is not None and (self.pays or self.on != "line"):
            raise ValueError("`pattern` must be on a line, with one `pay` and without `pays`")
        if self.pattern is None and (self.pay is not None or not self.pays):
            raise ValueError("`of` needs `pays`, a table of count = credits")
        return self


class ReelsStage(StrictTable):
    """A stage that spins the reels, with its strips, and the pay table of its window."""

    model_config = ConfigDict(json_schema_extra=_allow_inheritance)

    kind: Literal["reels"] = "reels"
    like: Identifier | None = Field(default=None, description="the stage from which missing keys are copied")
    """The id of the stage that missing keys are copied from, or None."""
    name: Text | None = None
    heights: Annotated[tuple[PositiveInt, ...], Field(min_length=1, max_length=7)]
    """The number of visible rows of each reel."""
    strips: tuple[IdentifierList, ...]
    """The symbols of each reel strip, in order."""
    weights: tuple[tuple[NaturalInt, ...], ...] | None = Field(
        default=None, description="one number per stop: in how many cases the reel stops there"
    )
    """For each reel, the number of equally likely cases in which it stops at each stop."""
    weights_row: NaturalInt | None = Field(
        default=None,
        description="the row of the window to which a stop's weight refers, 0 at the top (default: the row of"
        " the only line; if there are several lines or none, the top row)",
    )
    """The window row, 0 at the top, to which a stop's weight refers; None: the row of the stage's only line, else 0."""
    lines: tuple[PayLine, ...] = ()
    """The row of each reel on each line."""
    repeat_lines: bool = Field(default=False, description="the same line may be defined more than once")
    """Whether the same line may be defined more than once."""
    pay: Annotated[tuple[PayTableRow, ...], Field(min_length=1)]
    """The rows of the pay table."""
    wild_multipliers: Literal["multiply", "add", "highest"] = "multiply"
    """How the multipliers of several wilds in one win are combined."""
    multiply_own: bool = Field(default=False, description="a multiplier symbol multiplies its own pays too")
    """Whether a symbol with a multiplier also multiplies its own prizes."""
    wilds_alone: Literal["highest", "own"] = Field(
        default="highest",
        description="what a line of wilds alone pays: the highest prize that they can stand for, or only"
        " their own",
    )
    """What a line of wilds alone pays: their own prize, or the highest that they can stand for."""
    expand: tuple[Identifier, ...] = Field(
        default=(), description="symbols that fill their reel where they show"
    )
    """The symbols that fill their reel wherever they show."""
    scatters: Literal["before", "after"] = Field(
        default="before", description="scatters are counted before symbols expand, or after"
    )
    """Whether scatters are counted before or after symbols expand."""
    overlapping_ways: bool = False
    """Whether one way may win two prizes, which is otherwise refused."""
    multiplier: PositiveInt = 1
    """The factor of every pay of the stage."""
    multipliers: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1,)
    """The factors of the runs of a series, in order; the last is that of all later runs."""
    advance: Literal["run", "step"] = Field(
        default="run", description="what moves a series to its next multiplier: every run, or a `step` award"
    )
    """What moves a series to its next multiplier: every run (``run``) or a ``step`` award."""
    most_runs: PositiveInt | None = Field(default=None, description="no series has more runs than this")
    """The largest number of runs in a series; None: no limit."""
    sticky: Identifier | None = Field(default=None, description="the symbol that stays where it shows")
    """The symbol that stays on its cell for the rest of the series, or None."""
    then: Identifier | None = Field(
        default=None, description="a stage that is played once whenever a new cell sticks"
    )
    """The id of a stage that is played once whenever a new cell sticks, or None."""
    cascade: tuple[PositiveInt, ...] = Field(
        default=(),
        description="winning symbols fall away; the multipliers of the falls in order, of which the last is"
        " that of all later falls",
    )
    """If winning symbols disappear: the multipliers of the first window and of the window after each fall.

    The last multiplier is also that of all later windows. Empty: symbols do not disappear.
    """
    player_holds: bool = Field(
        default=False, description="the player may hold reels and spin the others once again"
    )
    """Whether the player may hold reels and spin the others once again."""

    @field_validator("weights")
    @classmethod
    def _check_case_count(
        cls, value: tuple[tuple[int, ...], ...] | None
    ) -> tuple[tuple[int, ...], ...] | None:
        """Refuse stop weights that give a reel too many equally likely cases."""
        for x, weights in enumerate(value or ()):
            if sum(weights) > REEL_CASE_COUNT_MAX:
                raise ValueError(
                    f"reel {x + 1} has {sum(weights):,} cases; at most {REEL_CASE_COUNT_MAX:,} are possible"
                )
        return value


class BonusItemDefinition(StrictTable):
    """The contents of one box, wheel segment or coin: credits and other awards."""

    credits: NaturalInt = 0
    """The credits that the item pays."""
    count: PositiveInt = 1
    """The number of boxes or wheel segments with the item; for coins and independent boxes, the weight of its draw."""
    end: bool = Field(default=False, description="ends the picking")
    """Whether the item ends the picking."""
    gives: tuple[AwardDefinition, ...] = ()
    """The awards that the item gives in addition to credits."""
    name: Text | None = None
    id: Identifier | None = None


class PickStage(StrictTable):
    """A bonus stage in which the player opens boxes one at a time, until ``picks`` are open or an item ends it.

    By default there are ``count`` boxes with each item, and each box is opened once. With ``boxes`` there are that many
    boxes, and the content of each is an independent draw from the items with ``count`` as the weight (with
    replacement).
    """

    kind: Literal["pick"]
    name: Text | None = None
    items: Annotated[tuple[BonusItemDefinition, ...], Field(min_length=1)]
    """The possible contents of the boxes."""
    picks: PositiveInt | None = None
    """The largest number of boxes that the player opens; None: all boxes."""
    boxes: Annotated[int, Field(strict=True, ge=1, le=400)] | None = Field(
        default=None, description="the number of boxes, each drawn separately: picks with replacement"
    )
    """The number of boxes if each is an independent draw from the items; None: ``count`` boxes for each item."""
    unit: Literal["line", "bet"] = "bet"
    """Whether an item's credits are multiplied by the stake on a line or by the total bet."""


class WheelStage(StrictTable):
    """A bonus wheel of equal segments, spun once; an item's ``count`` is how many adjacent segments show it."""

    kind: Literal["wheel"]
    name: Text | None = None
    items: Annotated[tuple[BonusItemDefinition, ...], Field(min_length=1)]
    """The contents of the segments, in their order on the wheel."""
    unit: Literal["line", "bet"] = "bet"
    """Whether an item's credits are multiplied by the stake on a line or by the total bet."""


class HoldStage(StrictTable):
    """A hold-and-spin bonus stage: coins stay, empty cells spin again, a new coin resets the respins.

    Each empty cell lands a coin with probability ``coin[0] / coin[1]``; each coin has the value of one of
    ``items``, drawn with ``count`` as its weight. ``full`` is given if every cell holds a coin.
    """

    kind: Literal["hold"]
    name: Text | None = None
    cells: Annotated[int, Field(strict=True, ge=2, le=42)]
    """The number of cells of the board."""
    respins: Annotated[int, Field(strict=True, ge=1, le=10)] = 3
    """The number of spins without a new coin after which the stage ends."""
    coin: tuple[PositiveInt, PositiveInt]
    """The probability of a coin in an empty cell, as numerator and denominator."""
    items: Annotated[tuple[BonusItemDefinition, ...], Field(min_length=1)]
    """The possible values of a coin, drawn by their weights."""
    full: BonusItemDefinition | None = None
    """The prize if every cell holds a coin; None: no such prize."""
    unit: Literal["line", "bet"] = "bet"
    """Whether an item's credits are multiplied by the stake on a line or by the total bet."""

    @field_validator("coin")
    @classmethod
    def _check_coin_chance(cls, value: tuple[int, int]) -> tuple[int, int]:
        """Refuse a coin chance of 1 or more: every empty cell would always land a coin."""
        if value[0] >= value[1]:
            raise ValueError("must be less than 1: coin = [1, 20] is one in twenty")
        return value


class Progressive(StrictTable):
    """A progressive level of a reel game. The cabinet stores its amount and pays it; the game sets the odds.

    A level is hit by a prize that gives it, by a separate draw in each game, or when its amount reaches a
    secret amount that was drawn uniformly between reset value and ceiling.
    """

    id: Identifier
    name: Text
    reset_credits: PositiveInt
    """The level's amount after a hit, in credits."""
    increment: Annotated[str, Field(pattern=r"^\d+/[1-9]\d*$")] = "0/1"
    """The part of each bet that is added to the level's amount, as a fraction."""
    one_in: PositiveInt | None = None
    """The level is hit in one of this many games by a separate draw; None: it is not."""
    ceiling_credits: PositiveInt | None = None
    """The upper limit of the secret amount that hits the level; None: there is no such amount."""
    linked: bool = False
    """Whether several machines share the level."""

    @field_validator("increment")
    @classmethod
    def _check_increment(cls, value: str) -> str:
        """Refuse an increment of the whole bet or more."""
        if Fraction(value) >= 1:
            raise ValueError(f"{value} of each bet: less than the whole bet must go to the level")
        return value


class Merchandise(StrictTable):
    """A prize in kind: it must be described (or shown) to the player; no return includes it.

    Because it is not paid in credits, it has the same value at every denomination and bet level.
    """

    id: Identifier
    name: Text
    description: Text
    value_cents: PositiveInt = Field(
        description="the value that the operator states, in minor units of the currency of the game"
    )
    """The value that the operator states, in minor units of the currency of the game."""


class DoubleUp(StrictTable):
    """A reel game's double-up: after a win the player may stake it; an even chance doubles it or loses it."""

    most_rounds: Annotated[int, Field(strict=True, ge=1, le=20)]
    """The largest number of times that one win may be doubled up."""
    most_credits: PositiveInt
    """The largest win, in credits, that may result from a double-up."""

    def count_possible_rounds(self, win_credits: int) -> int:
        """Return how often a reel game's win can be doubled before it would exceed the double-up's limit."""
        rounds = 0
        while win_credits > 0 and rounds < self.most_rounds and 2 * win_credits <= self.most_credits:
            win_credits, rounds = 2 * win_credits, rounds + 1
        return rounds

    def compute_win_bound(self, win_credits: int) -> int:
        """Return an upper bound on what any win of up to ``win_credits`` can become in the double-up."""
        return max(win_credits, min(self.most_credits, win_credits << self.most_rounds))


StageDefinition = Annotated[ReelsStage | PickStage | WheelStage | HoldStage, Field(discriminator="kind")]


class ReelsDefinition(Definition):
    """The definition of a reel game."""

    bets: ReelBets
    """The ways to bet and the bet levels."""
    symbols: Annotated[tuple[ReelSymbol, ...], Field(min_length=2)] = Field(alias="symbol")
    """The symbols of the game."""
    groups: dict[Identifier, tuple[Identifier, ...]] = Field(default_factory=dict)
    """Named groups of symbols that pay rows may refer to."""
    stage: dict[Identifier, StageDefinition]
    """The stages of the game, by id."""
    progressive: tuple[Progressive, ...] = ()
    """The progressive levels of the game."""
    merchandise: tuple[Merchandise, ...] = ()
    """The prizes in kind of the game."""
    double_up: DoubleUp | None = None
    """The terms of the double-up after a win; None: not offered."""
