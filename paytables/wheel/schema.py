"""The model of a wheel game's definition: the segments of the wheel, the areas of the layout, the bets."""

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from paytables.definition import Definition, Identifier, IdentifierList, PositiveInt, StrictTable, Text
from paytables.layout import BetLimits, Odds, TableLimits

#: The least and the largest number of segments; all segments have the same width (Québec by-law, s. 117).
SEGMENTS_MIN, SEGMENTS_MAX = 9, 60
#: A definition may not require fewer revolutions than this for a valid spin (Québec by-law, s. 121; Monaco, arrêté
#: 88-384, art. 7).
REVOLUTIONS_MIN = 3


class WheelSymbol(StrictTable):
    """A symbol, which stands on one or more segments of the wheel.

    If a symbol with a respin factor (``again``) comes up, it pays nothing: all stakes stay, the wheel is spun again,
    and prizes are multiplied.
    """

    id: Identifier
    name: Text
    colour: Literal["red", "black", "green", "yellow", "white", "blue"] | None = Field(
        default=None, description="the colour of its segments on the felt of a table"
    )
    """The colour of the symbol's segments on the felt of a table, or None."""
    respin_factor: PositiveInt | None = Field(
        default=None, description="spin again; the factor of all prizes of the next spin", alias="again"
    )
    """The factor of all prizes of the next spin, if the symbol makes the wheel spin again; else None."""


class Wheel(StrictTable):
    """A wheel: its segments in the order in which they pass the pin, and the condition for a valid spin.

    The definition file, and so the messages about it, call a segment a part.
    """

    segments: IdentifierList = Field(alias="parts")
    """The symbol of each segment, in the order in which they pass the pin."""
    widths: tuple[PositiveInt, ...] | None = Field(
        default=None, description="relative widths of the parts, as a drawing of the wheel gives them"
    )
    """A copy of the relative widths in the maker's drawing, or None.

    It serves only as a check: a wheel with unequal widths is refused.
    """
    revolutions_min: PositiveInt = Field(
        default=REVOLUTIONS_MIN,
        description="the fewest full revolutions of a valid spin",
        alias="revolutions",
    )
    """The fewest full revolutions of a valid spin."""
    factor_max: PositiveInt = Field(
        default=1,
        description="the largest factor that repeated spins may multiply prizes by",
        alias="most_factor",
    )
    """The largest factor that repeated spins may multiply prizes by."""

    @field_validator("segments")
    @classmethod
    def _check_segment_count(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse a wheel with too few or too many segments."""
        if not SEGMENTS_MIN <= len(value) <= SEGMENTS_MAX:
            raise ValueError(f"a wheel has {SEGMENTS_MIN} to {SEGMENTS_MAX} parts, not {len(value)}")
        return value

    @field_validator("revolutions_min")
    @classmethod
    def _check_revolutions(cls, value: int) -> int:
        """Refuse too few revolutions of the wheel for a valid spin."""
        if value < REVOLUTIONS_MIN:
            raise ValueError(
                f"{value} revolutions are too few for a valid spin: it needs at least {REVOLUTIONS_MIN}"
            )
        return value

    @model_validator(mode="after")
    def _check_widths(self) -> "Wheel":
        """Refuse segments of unequal width, or another number of widths than of segments."""
        if self.widths is not None:
            if len(self.widths) != len(self.segments):
                raise ValueError(
                    f"widths: expected one for each of the {len(self.segments)} parts, found {len(self.widths)}"
                )
            if len(set(self.widths)) > 1:
                raise ValueError("widths: all parts of a wheel must be equally wide")
        return self


class BettingArea(StrictTable):
    """A betting area of the wheel's layout: ``pays[symbol]`` credits for each credit staked, stake included."""

    id: Identifier
    name: Text
    pay_by_symbol: Annotated[dict[Identifier, PositiveInt], Field(min_length=1)] = Field(alias="pays")
    """The credits paid for each credit staked, stake included, by symbol."""


class StakeRules(StrictTable):
    """The stakes permitted on an area of the wheel's layout.

    A standalone wheel accepts one of the fixed amounts in ``stakes``. At a table, ``limits`` apply instead.
    """

    stake_options: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = Field(
        default=(1,), alias="stakes"
    )
    """The stakes that a standalone wheel accepts on an area, in credits."""
    limits: BetLimits = BetLimits()
    """The limits of a stake on an area, at a table."""
    areas_max: PositiveInt | None = Field(
        default=None, description="the most areas on which one player may stake", alias="areas"
    )
    """How many areas one player may stake on at most; None: no limit."""
    cost_max_credits: PositiveInt | None = Field(
        default=None, description="the largest total stake of one spin, in credits", alias="cost"
    )
    """The largest total stake of one spin, in credits; None: no limit."""

    @model_validator(mode="after")
    def _check_stakes(self) -> "StakeRules":
        """Refuse stakes that are not ascending."""
        if list(self.stake_options) != sorted(set(self.stake_options)):
            raise ValueError("stakes must be different and in ascending order")
        return self


class PresetWheelBet(StrictTable):
    """A preset bet (``[[form]]``), which the wheel game offers by name: the same stake on each of several areas."""

    id: Identifier
    name: Text
    area_ids: Annotated[tuple[Identifier, ...], Field(min_length=1)] = Field(alias="areas")
    """The ids of the areas; each gets the same stake."""


class WheelDefinition(Definition):
    """A wheel game as its definition file describes it: wheel, symbols, betting areas and limits."""

    wheel: Wheel
    """The segments of the wheel, and the condition for a valid spin."""
    symbols: Annotated[tuple[WheelSymbol, ...], Field(min_length=2)] = Field(alias="symbol")
    """The symbols on the wheel's segments."""
    areas: Annotated[tuple[BettingArea, ...], Field(min_length=1)] = Field(alias="area")
    """The betting areas."""
    stake_rules: StakeRules = Field(default=StakeRules(), alias="layout")
    """The stakes permitted on an area."""
    table: TableLimits | None = Field(default=None, description="the limits of a table for several players")
    """The limits of a table for several players; None: a standalone wheel."""
    preset_bets: Annotated[tuple[PresetWheelBet, ...], Field(min_length=1)] = Field(alias="form")
    """The bets that are offered by name."""

    def format_pay_table_rows(self) -> dict[str, list[str]]:
        """Return what each area pays, as text by language.

        A table game states odds without the stake (4:1), other games a multiple that includes it (x5).
        """
        return {
            language: [
                f"{area.name.model_dump()[language]}{colon} {self._format_pays(area, language)}"
                for area in self.areas
            ]
            for language, colon in (("en", ":"), ("fr", " :"))
        }

    def _format_pays(self, area: BettingArea, language: str) -> str:
        """Return the pays of one betting area as text in one language."""
        # Called before the ids are checked: an unknown symbol is shown by its id, and the definition is refused later.
        names = {symbol.id: symbol.name.model_dump()[language] for symbol in self.symbols}
        pays_by_symbol = {
            symbol: Odds.parse(f"x{pay}" if self.table is None else f"{pay - 1}:1").format_by_language()[
                language
            ]
            for symbol, pay in area.pay_by_symbol.items()
        }
        if len({*pays_by_symbol.values()}) == 1:
            return next(iter(pays_by_symbol.values()))
        return "; ".join(f"{names.get(symbol, symbol)} {pays}" for symbol, pays in pays_by_symbol.items())
