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
    """Make the JSON schema of a stage require either its keys or ``like``, the stage from which they are copied."""
    schema["anyOf"] = [{"required": ["like"]}, {"required": schema.pop("required")}]


class ReelSymbol(StrictTable):
    """A symbol on the strips. A wild is a symbol that ``substitutes`` for others (``"*"``: for every one)."""

    id: Identifier
    name: Text
    substituted_ids: tuple[str, ...] = Field(default=(), alias="substitutes")
    """The symbols for which this one counts as a wild; ``*``: every symbol."""
    excluded_ids: tuple[Identifier, ...] = Field(default=(), alias="not_for")
    """The symbols that a wild does not substitute for."""
    multiplier: PositiveInt = 1
    """The symbol's factor for a line win that it takes part in."""


class BetMode(StrictTable):
    """One way to bet on a reel game: its cost at bet level 1, the lines that it plays, and the pay column it reads."""

    id: Identifier
    """The id of this way to bet."""
    cost_credits: PositiveInt = Field(alias="cost")
    """The credits that a game costs at bet level 1."""
    name: Text | None = None
    line_count: PositiveInt | None = Field(default=None, alias="lines")
    """The number of lines that are played, or None for all lines of the stage."""
    pay_column: NaturalInt = Field(default=0, alias="column")
    """The index, from 0, of this mode's value in every pay that the definition writes as a list."""
    first_stage: Identifier = Field(default="base", alias="stage")
    """The id of the first stage of a game."""


class ReelBets(StrictTable):
    """The bets of a reel game: each is a mode at a bet level; the bet level multiplies the cost and every pay."""

    modes: Annotated[tuple[BetMode, ...], Field(min_length=1)] = Field(alias="mode")
    """The ways to bet, such as a number of lines."""
    bet_levels: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = Field(default=(1,), alias="levels")
    """The bet levels: factors of the cost and of every pay."""


class AwardDefinition(StrictTable):
    """An award that a prize gives in addition to credits: exactly one of stage, progressive, merchandise and step."""

    stage_id: Identifier | None = Field(default=None, alias="stage")
    """The id of the stage that the prize starts, such as free games; else None."""
    run_count: PositiveInt | dict[SymbolCount, PositiveInt] = Field(default=1, alias="times")
    """The number of runs of the stage that are given; as a mapping, by the count of the symbol."""
    start_condition: NaturalInt | dict[SymbolCount, NaturalInt] = Field(default=0, alias="size")
    """The stage's start condition (hold-and-spin: coins already locked); as a mapping, by the count of the symbol."""
    level_id: Identifier | None = Field(default=None, alias="progressive")
    """The id of the progressive level that the prize hits; else None."""
    merchandise_id: Identifier | None = Field(default=None, alias="merchandise")
    """The id of the prize in kind that the prize gives; else None."""
    multiplier_steps: PositiveInt | None = Field(default=None, alias="step")
    """How many steps the prize moves the series on in its list of multipliers; None: the award is of another kind."""
    required_count: SymbolCount | None = Field(
        default=None, description="only for exactly this count of the symbol", alias="at"
    )
    """The only count of the symbol for which the award is given; None: every count."""
    mode_ids: tuple[Identifier, ...] | None = Field(default=None, alias="modes")
    """The modes in which the prize gives the award; None: all."""

    def list_references(self) -> list[tuple[str, str | None]]:
        """Return the kind and name of each thing that this award may give; the name is None for kinds not given."""
        kinds = [
            ("stage", self.stage_id),
            ("progressive", self.level_id),
            ("merchandise", self.merchandise_id),
        ]
        return [*kinds, *(("bets.mode", mode) for mode in self.mode_ids or ())]

    @model_validator(mode="after")
    def _check_one_kind(self) -> "AwardDefinition":
        """Refuse an award that names none, or several, of stage, progressive, merchandise and step."""
        if (
            sum(
                x is not None
                for x in (self.stage_id, self.level_id, self.merchandise_id, self.multiplier_steps)
            )
            != 1
        ):
            raise ValueError("must name exactly one of stage, progressive, merchandise, step")
        return self


class PayTableRow(StrictTable):
    """One row of a reel stage's pay table: a pattern or a count of a symbol, on a line, by ways or anywhere."""

    id: Identifier | None = None
    name: Text | None = None
    kind: Literal["line", "ways", "scatter"] = Field(default="line", alias="on")
    """Whether the row is paid on a line, by ways, or for a count anywhere in the window (``scatter``)."""
    symbol_or_group: DisplayText | None = Field(default=None, alias="of")
    """The symbol or group that is counted; ``=name`` counts only the symbol itself, without substitutes."""
    pay_by_count: dict[SymbolCount, PayCredits] = Field(default_factory=dict, alias="pays")
    """The pay by the count of the symbol."""
    pattern: WordList | None = None
    """The symbol of each cell of a line, instead of a count of one symbol; ``*`` is any symbol."""
    pattern_pay: PayCredits | None = Field(default=None, alias="pay")
    """The pay of the pattern."""
    direction: Literal["left", "right", "both", "adjacent", "anywhere"] = "left"
    """The side of the window from which the symbols are counted.

    `adjacent` and `anywhere`: they need not start at a side.
    """
    pay_unit: Literal["line", "bet"] | None = Field(default=None, alias="unit")
    """Whether the pay is multiplied by the stake on a line or by the total bet."""
    prize_group: Identifier = Field(default="line", alias="group")
    """Rows of one group exclude each other on a line; only the highest is paid. Groups add up."""
    awards: tuple[AwardDefinition, ...] = Field(default=(), alias="gives")
    """The awards that the prize gives in addition to credits."""
    line_numbers: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] | None = Field(
        default=None,
        description="the only lines on which it can be won, such as the last line for a top award",
        alias="lines",
    )
    """The numbers of the only lines that can win the prize; None: every line."""
    counts_reel_once: bool = Field(
        default=False,
        description="a reel counts once, however often it shows the symbol",
        alias="once_a_reel",
    )
    """Whether a reel counts once, however often it shows the symbol."""
    needs_own_symbol: bool | None = Field(
        default=None,
        description="substitutes alone do not win it: one symbol of `of` itself must show (lines only;"
        " default: what the stage's `wilds_alone` says)",
        alias="needs_own",
    )
    """Whether a win must contain at least one of the prize's own symbols; None: as ``wilds_alone`` says."""

    @model_validator(mode="after")
    def _check_shape(self) -> "PayTableRow":
        """Refuse a pay table row whose keys do not make one kind of prize."""
        if self.kind != "line" and self.line_numbers is not None:
            raise ValueError("`lines` is only valid for a line prize")
        if self.kind != "line" and self.needs_own_symbol is not None:
            raise ValueError("`needs_own` is only valid for a line prize")
        if self.kind == "line" and self.counts_reel_once:
            raise ValueError("`once_a_reel` is only valid for a ways or scatter prize")
        if (self.pattern is None) == (self.symbol_or_group is None):
            raise ValueError("must have either `of` with `pays`, or `pattern` with `pay`")
        if self.pattern is not None and (self.pay_by_count or self.kind != "line"):
            raise ValueError("`pattern` must be on a line, with one `pay` and without `pays`")
        if self.pattern is None and (self.pattern_pay is not None or not self.pay_by_count):
            raise ValueError("`of` needs `pays`, a table of count = credits")
        return self


class ReelsStage(StrictTable):
    """A stage that spins the reels, with its strips, and the pay table of its window."""

    model_config = ConfigDict(json_schema_extra=_allow_inheritance)

    kind: Literal["reels"] = "reels"
    parent_stage: Identifier | None = Field(
        default=None, description="the stage from which missing keys are copied", alias="like"
    )
    """The id of the stage that missing keys are copied from, or None."""
    name: Text | None = None
    heights: Annotated[tuple[PositiveInt, ...], Field(min_length=1, max_length=7)]
    """The number of visible rows of each reel."""
    strips: tuple[IdentifierList, ...]
    """The symbols of each reel strip, in order."""
    stop_weights: tuple[tuple[NaturalInt, ...], ...] | None = Field(
        default=None,
        description="one number per stop: in how many cases the reel stops there",
        alias="weights",
    )
    """For each reel, the weight of each stop: in how many of the reel's equally likely cases it stops there."""
    weighted_row: NaturalInt | None = Field(
        default=None,
        description="the row of the window to which a stop's weight refers, 0 at the top (default: the row of"
        " the only line; if there are several lines or none, the top row)",
        alias="weights_row",
    )
    """The row of the window, 0 at the top, for which the stops are weighted.

    None: the row of the stage's only line; with several lines or none, the top row.
    """
    lines: tuple[PayLine, ...] = ()
    """The row of each reel on each line."""
    allows_repeated_lines: bool = Field(
        default=False, description="the same line may be defined more than once", alias="repeat_lines"
    )
    """Whether the same line may be defined more than once."""
    pay_rows: Annotated[tuple[PayTableRow, ...], Field(min_length=1)] = Field(alias="pay")
    """The rows of the pay table."""
    wild_multipliers: Literal["multiply", "add", "highest"] = "multiply"
    """How the multipliers of several wilds in one win are combined."""
    multiplies_own_pays: bool = Field(
        default=False, description="a multiplier symbol multiplies its own pays too", alias="multiply_own"
    )
    """Whether a symbol with a multiplier also multiplies its own prizes."""
    wilds_alone: Literal["highest", "own"] = Field(
        default="highest",
        description="what a line of wilds alone pays: the highest prize that they can stand for, or only"
        " their own",
    )
    """What a line of wilds alone pays: their own prize, or the highest that they can stand for."""
    expanding_symbols: tuple[Identifier, ...] = Field(
        default=(), description="symbols that fill their reel where they show", alias="expand"
    )
    """The symbols that fill their reel wherever they show."""
    scatter_count_time: Literal["before", "after"] = Field(
        default="before", description="scatters are counted before symbols expand, or after", alias="scatters"
    )
    """Whether scatters are counted before or after symbols expand."""
    allows_overlapping_ways: bool = Field(default=False, alias="overlapping_ways")
    """Whether one way may win two prizes; if not, a definition in which this can happen is refused."""
    multiplier: PositiveInt = 1
    """The factor of every pay of the stage."""
    run_multipliers: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = Field(
        default=(1,), alias="multipliers"
    )
    """The factors of the runs of a series, in order; the last also holds for all later runs."""
    multiplier_trigger: Literal["run", "step"] = Field(
        default="run",
        description="what moves a series to its next multiplier: every run, or a `step` award",
        alias="advance",
    )
    """What moves a series to its next multiplier: every run (``run``) or a ``step`` award."""
    runs_max: PositiveInt | None = Field(
        default=None, description="no series has more runs than this", alias="most_runs"
    )
    """The largest number of runs in a series; None: no limit."""
    sticky_symbol: Identifier | None = Field(
        default=None, description="the symbol that stays where it shows", alias="sticky"
    )
    """The symbol that stays on its cell for the rest of the series, or None."""
    stage_after_stick: Identifier | None = Field(
        default=None, description="a stage that is played once whenever a new cell sticks", alias="then"
    )
    """The id of a stage that is played once whenever a new cell sticks, or None."""
    window_multipliers: tuple[PositiveInt, ...] = Field(
        default=(),
        description="winning symbols fall away; the multipliers of the falls in order; the last holds"
        " for all later falls",
        alias="cascade",
    )
    """If winning symbols disappear: the multipliers of the first window and of the window after each fall.

    The last multiplier also holds for all later windows. Empty: symbols do not disappear.
    """
    can_player_hold: bool = Field(
        default=False,
        description="the player may hold reels and spin the others once again",
        alias="player_holds",
    )
    """Whether the player may hold reels and spin the others once again."""

    @field_validator("stop_weights")
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
    ends_picking: bool = Field(default=False, description="ends the picking", alias="end")
    """Whether the item ends the picking."""
    awards: tuple[AwardDefinition, ...] = Field(default=(), alias="gives")
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
    picks_max: PositiveInt | None = Field(default=None, alias="picks")
    """The largest number of boxes that the player opens; None: all boxes."""
    box_count: Annotated[int, Field(strict=True, ge=1, le=400)] | None = Field(
        default=None,
        description="the number of boxes, each drawn separately: picks with replacement",
        alias="boxes",
    )
    """The number of boxes if each is an independent draw from the items; None: ``count`` boxes for each item."""
    pay_unit: Literal["line", "bet"] = Field(default="bet", alias="unit")
    """Whether an item's credits are multiplied by the stake on a line or by the total bet."""


class WheelStage(StrictTable):
    """A bonus wheel of equal segments, spun once; an item's ``count`` is how many adjacent segments show it."""

    kind: Literal["wheel"]
    name: Text | None = None
    items: Annotated[tuple[BonusItemDefinition, ...], Field(min_length=1)]
    """The contents of the segments, in their order on the wheel."""
    pay_unit: Literal["line", "bet"] = Field(default="bet", alias="unit")
    """Whether an item's credits are multiplied by the stake on a line or by the total bet."""


class HoldStage(StrictTable):
    """A hold-and-spin bonus stage: coins stay, empty cells spin again, a new coin resets the respins.

    Each empty cell lands a coin with probability ``coin[0] / coin[1]``; each coin has the value of one of
    ``items``, drawn with ``count`` as its weight. ``full`` is given if every cell holds a coin.
    """

    kind: Literal["hold"]
    name: Text | None = None
    cell_count: Annotated[int, Field(strict=True, ge=2, le=42)] = Field(alias="cells")
    """The number of cells of the board."""
    respin_count: Annotated[int, Field(strict=True, ge=1, le=10)] = Field(default=3, alias="respins")
    """The number of spins without a new coin after which the stage ends."""
    coin_chance: tuple[PositiveInt, PositiveInt] = Field(alias="coin")
    """The probability of a coin in an empty cell, as numerator and denominator."""
    items: Annotated[tuple[BonusItemDefinition, ...], Field(min_length=1)]
    """The possible values of a coin, drawn by their weights."""
    full_board_prize: BonusItemDefinition | None = Field(default=None, alias="full")
    """The prize if every cell holds a coin; None: no such prize."""
    pay_unit: Literal["line", "bet"] = Field(default="bet", alias="unit")
    """Whether an item's credits are multiplied by the stake on a line or by the total bet."""

    @field_validator("coin_chance")
    @classmethod
    def _check_coin_chance(cls, value: tuple[int, int]) -> tuple[int, int]:
        """Refuse a coin chance of 1 or more: every empty cell would always land a coin."""
        if value[0] >= value[1]:
            raise ValueError("must be less than 1: coin = [1, 20] is one in twenty")
        return value


class ReelProgressiveLevel(StrictTable):
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
    is_linked: bool = Field(default=False, alias="linked")
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

    rounds_max: Annotated[int, Field(strict=True, ge=1, le=20)] = Field(alias="most_rounds")
    """The largest number of times that one win may be doubled up."""
    win_max_credits: PositiveInt = Field(alias="most_credits")
    """The largest win, in credits, that may result from a double-up."""

    def count_possible_rounds(self, win_credits: int) -> int:
        """Return how often a reel game's win can be doubled before it would exceed the double-up's limit."""
        rounds = 0
        while win_credits > 0 and rounds < self.rounds_max and 2 * win_credits <= self.win_max_credits:
            win_credits, rounds = 2 * win_credits, rounds + 1
        return rounds

    def compute_win_bound(self, win_credits: int) -> int:
        """Return a number of credits that no win of up to ``win_credits`` can exceed after the double-up."""
        return max(win_credits, min(self.win_max_credits, win_credits << self.rounds_max))


StageDefinition = Annotated[ReelsStage | PickStage | WheelStage | HoldStage, Field(discriminator="kind")]


class ReelsDefinition(Definition):
    """A reel game as its definition file describes it: bets, symbols, stages, prizes and progressive levels."""

    bets: ReelBets
    """The ways to bet and the bet levels."""
    symbols: Annotated[tuple[ReelSymbol, ...], Field(min_length=2)] = Field(alias="symbol")
    """The symbols of the game."""
    groups: dict[Identifier, tuple[Identifier, ...]] = Field(default_factory=dict)
    """Named groups of symbols that pay rows may refer to."""
    stages: dict[Identifier, StageDefinition] = Field(alias="stage")
    """The stages of the game, by id."""
    progressive_levels: tuple[ReelProgressiveLevel, ...] = Field(default=(), alias="progressive")
    """The progressive levels of the game."""
    merchandise: tuple[Merchandise, ...] = ()
    """The prizes in kind of the game."""
    double_up: DoubleUp | None = None
    """The terms of the double-up after a win; None: not offered."""
