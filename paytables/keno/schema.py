"""The model of a Keno game's definition: the field, what may be marked, the tables, bonuses and limits.

- A *selection* is a set of numbers that the player marks on the ticket, in one or more *groups*.
- A *way* is a combination of groups of one selection that is staked; its *spots* are its numbers.
- A *straight* selection has one group, and so one way.
- The *catch* of a way is the number of its spots that are drawn.
"""

from math import comb
from typing import Annotated, Literal

from pydantic import Field, model_validator

from paytables.definition import Definition, Identifier, NaturalInt, PositiveInt, StrictTable, Text

#: A number of drawn balls among the marked ones.
CatchCount = Annotated[int, Field(ge=0, le=500)]
#: A factor that multiplies wins.
Factor = Annotated[int, Field(ge=1, le=1000)]
#: An exact share of the wager, written as a fraction: ``"1/100"``.
WagerShare = Annotated[str, Field(pattern=r"^(0|[1-9]\d*)/[1-9]\d*$")]


class BallField(StrictTable):
    """The Keno field of numbers 1 to ``numbers``; a draw takes ``drawn`` of them without replacement."""

    number_count: Annotated[int, Field(strict=True, ge=2, le=500)] = Field(default=80, alias="numbers")
    """The highest number on the board; the lowest is 1."""
    drawn_count: PositiveInt = Field(default=20, alias="drawn")
    """The number of balls drawn."""
    column_count: PositiveInt = Field(
        default=10, description="how many numbers a row of the board shows", alias="columns"
    )
    """How many numbers a row of the board on the screen shows."""

    @model_validator(mode="after")
    def _check_balls_left(self) -> "BallField":
        """Refuse a Keno game in which every number is drawn."""
        if self.drawn_count >= self.number_count:
            raise ValueError(
                f"drawn: {self.drawn_count} of {self.number_count} balls are drawn; expected fewer than all"
            )
        return self


class TicketLimits(StrictTable):
    """The limits on what a player may mark on a Keno ticket (Québec by-law, ss. 77 to 80)."""

    stake_options: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = Field(
        default=(1,), alias="stakes"
    )
    """The stakes, in credits, that a player may mark for a way."""
    selections_max: PositiveInt = Field(
        default=1, description="the most selections on one ticket", alias="selections"
    )
    """The largest number of selections on one ticket."""
    groups_max: PositiveInt = Field(
        default=1, description="the most groups in a selection; 1: straight only", alias="groups"
    )
    """The largest number of groups in a selection; 1: straight selections only."""
    draws_max: PositiveInt = Field(
        default=1, description="the most draws in which one ticket takes part", alias="draws"
    )
    """The largest number of draws in which one ticket takes part."""
    cost_max_credits: PositiveInt | None = Field(
        default=None, description="the most that a ticket may cost per draw, in credits", alias="cost"
    )
    """The largest cost of a ticket for one draw, in credits; None: no limit."""

    @model_validator(mode="after")
    def _check_stakes(self) -> "TicketLimits":
        """Refuse Keno stakes that are not ascending."""
        if list(self.stake_options) != sorted(set(self.stake_options)):
            raise ValueError("stakes must be different and in ascending order")
        return self


class PayTable(StrictTable):
    """The Keno pays for one number of spots: ``pays[catch]`` credits for each credit staked, stake included."""

    spot_count: PositiveInt = Field(alias="spots")
    """The number of spots for which the table pays."""
    pay_by_catch: Annotated[dict[CatchCount, NaturalInt], Field(min_length=1)] = Field(alias="pays")
    """The credits paid for each credit staked, stake included, by number of catches."""


class BallBonus(StrictTable):
    """A Keno bonus that multiplies the win of each way that contains the ``ball``-th ball drawn (1 is the first)."""

    kind: Literal["ball"]
    id: Identifier
    name: Text
    ball_number: PositiveInt = Field(alias="ball")
    """Which ball of the draw decides the bonus; 1 is the first."""
    factor: Annotated[int, Field(ge=2, le=1000)]
    """The factor of a way's win if the way contains that ball."""
    fee_per_credit: NaturalInt = Field(
        default=0, description="cost in credits per credit staked; 0: included in every bet", alias="fee"
    )
    """The credits that the bonus costs for each credit staked; 0: every ticket includes it."""


class MultiplierBonus(StrictTable):
    """A Keno bonus: a factor drawn once per draw with these weights, which multiplies every win of the ticket."""

    kind: Literal["multiplier"]
    id: Identifier
    name: Text
    weight_by_factor: Annotated[dict[Factor, PositiveInt], Field(min_length=2)] = Field(alias="weights")
    """The weight of each factor in the draw."""
    fee_per_credit: NaturalInt = Field(
        default=0, description="cost in credits per credit staked; 0: included in every bet", alias="fee"
    )
    """The credits that the bonus costs for each credit staked; 0: every ticket includes it."""


#: A bonus of either kind.
Bonus = Annotated[BallBonus | MultiplierBonus, Field(discriminator="kind")]


class KenoProgressiveLevel(StrictTable):
    """A progressive level of a Keno game. A way with certain spots and catches wins it in addition to its pay.

    One ticket wins it at most once per draw, even if several of its ways catch it; no bonus multiplies it.
    For a level that machines share, all players must pay the same and have the same chance (Québec by-law, s.92).
    Therefore a ticket plays for it only if it has one such way at exactly ``stake``, for one draw and without bought
    bonuses.
    """

    id: Identifier
    name: Text
    spot_count: PositiveInt = Field(alias="spots")
    """The number of spots of a way that can win the level."""
    catch_count: CatchCount = Field(alias="catch")
    """The number of catches that wins the level."""
    stake_min_credits: PositiveInt = Field(
        default=1,
        description="the smallest stake per way that plays for the level; if linked, the only stake that does",
        alias="stake",
    )
    """The smallest stake of a way that plays for the level; for a linked level the only one."""
    reset_credits: PositiveInt
    """The level's amount after a hit, in credits."""
    increment: WagerShare = Field(description="the share of each eligible wager that is added to the level")
    """The fraction of a wager that is added to the level's amount, if the wager plays for the level."""
    is_linked: bool = Field(default=False, alias="linked")
    """Whether several machines share the level."""


class PresetTicket(StrictTable):
    """A preset ticket (``[[form]]``) with quick-pick selections, which is offered by name; one touch buys it."""

    id: Identifier
    name: Text
    selection_count: PositiveInt = Field(default=1, alias="selections")
    """The number of quick-picked selections on the ticket."""
    spot_count: PositiveInt = Field(alias="spots")
    """The number of spots of each quick-picked selection."""
    draw_count: PositiveInt = Field(default=1, alias="draws")
    """The number of draws in which the ticket takes part."""
    bonus_ids: tuple[Identifier, ...] = Field(default=(), alias="bonuses")
    """The ids of the bonuses bought."""


class PrizeLimit(StrictTable):
    """The maximum pay of one Keno ticket in one draw, progressive levels not included.

    If the ticket's prizes together exceed the maximum, each is reduced in proportion.
    """

    credits: PositiveInt
    """The largest pay of one ticket in one draw, in credits."""


class TicketTerms(StrictTable):
    """What a Keno ticket and its slip must state in addition to the bets (Québec by-law, ss. 77, 82 and 86)."""

    rules_at: Text = Field(description="where the rules are available")
    """Where the rules are available."""
    claim_at: Text = Field(description="where a winning ticket must be presented")
    """Where a winning ticket must be presented."""
    claim_days: PositiveInt = Field(description="days after the last draw in which a prize may be claimed")
    """The number of days after the last draw in which a prize may be claimed."""


class KenoDefinition(Definition):
    """The definition of a Keno game."""

    field: BallField = BallField()
    """The numbers on the Keno board, and how many are drawn."""
    ticket_limits: TicketLimits = Field(default=TicketLimits(), alias="marks")
    """The limits on what a player may mark on a ticket."""
    pay_tables: Annotated[tuple[PayTable, ...], Field(min_length=1)] = Field(alias="table")
    """The pay tables, one for each number of spots."""
    bonuses: Annotated[tuple[Bonus, ...], Field(max_length=4)] = Field(default=(), alias="bonus")
    """The bonuses that the game offers."""
    progressive_levels: tuple[KenoProgressiveLevel, ...] = Field(default=(), alias="progressive")
    """The progressive levels of the game."""
    preset_tickets: Annotated[tuple[PresetTicket, ...], Field(min_length=1)] = Field(alias="form")
    """The tickets that are offered by name."""
    prize_limit: PrizeLimit | None = Field(default=None, alias="limit")
    """The maximum pay of one ticket in one draw, or None."""
    terms: TicketTerms | None = None
    """What tickets and slips must state; None: the game has no printed tickets."""

    def list_possible_catches(self, spot_count: int) -> range:
        """Return the possible catches (numbers of drawn balls) of a selection of that many spots."""
        missed = self.field.number_count - spot_count
        return range(max(0, self.field.drawn_count - missed), min(spot_count, self.field.drawn_count) + 1)

    @property
    def prize_limit_credits(self) -> int | None:
        """Return the maximum pay of one ticket in one draw, in credits, or None if unlimited.

        Progressive levels are not included.
        """
        return None if self.prize_limit is None else self.prize_limit.credits

    @property
    def cycle(self) -> int:
        """Return the number of possible draws, regardless of the order of the balls."""
        return comb(self.field.number_count, self.field.drawn_count)
