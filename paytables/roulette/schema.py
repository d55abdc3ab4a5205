"""The model of a roulette's definition: the pockets, the bets of the layout, and the operator's options."""

from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from paytables.definition import Identifier, IdentifierList, PositiveInt, StrictTable, Text
from paytables.layout import BetLimits, TableDefinition, WrittenOdds
from paytables.roulette.names import BET_NAMES

#: A definition may not require fewer revolutions than this for a valid spin (Québec by-law, s. 74; Monaco, arrêté
#: 88-384, arts. 4.2 and 8.3).
REVOLUTIONS_MIN: Final = 7


class Cylinder(StrictTable):
    """The roulette cylinder: its pockets clockwise, their colours, and the condition for a valid spin."""

    pockets: IdentifierList
    """The pockets clockwise."""
    red_pockets: IdentifierList = Field(alias="red")
    """The red pockets."""
    black_pockets: IdentifierList = Field(alias="black")
    """The black pockets."""
    yellow_pockets: IdentifierList = Field(default=(), alias="yellow")
    """The yellow pockets, as on a boule cylinder."""
    zero_pockets: IdentifierList = Field(default=(), alias="zeros")
    """The zero pockets, which no even-money bet covers."""
    felt_kind: Literal["roulette", "wheel"] = Field(
        default="roulette", description="the kind of felt that the screen draws", alias="felt"
    )
    """The kind of felt that the screen draws."""
    revolutions_min: PositiveInt | None = Field(
        default=REVOLUTIONS_MIN,
        description="the fewest revolutions of a valid spin; boule has none",
        alias="revolutions",
    )
    """The fewest revolutions of a valid spin; None: no minimum, as for boule."""
    decided_by: Literal["generator", "wheel"] = Field(
        default="generator", description="wheel: a real wheel of the cabinet, with a reader; 0 to 36 only"
    )
    """What decides: the random number generator, or a real wheel of the cabinet with a reader."""

    @model_validator(mode="after")
    def _check_reader(self) -> "Cylinder":
        """Refuse a wheel with an automatic reader whose pockets are not 0 to 36."""
        if self.decided_by == "wheel" and set(self.pockets) != {str(n) for n in range(37)}:
            raise ValueError("pockets: must be 0 to 36 for a real wheel with a reader")
        return self

    @model_validator(mode="after")
    def _check_pockets_and_revolutions(self) -> "Cylinder":
        """Refuse duplicate pockets, pockets without exactly one colour, and too few revolutions for a valid spin."""
        if len(set(self.pockets)) != len(self.pockets):
            raise ValueError("a pocket is listed twice")
        for key, listed_pockets in (
            ("red", self.red_pockets),
            ("black", self.black_pockets),
            ("yellow", self.yellow_pockets),
            ("zeros", self.zero_pockets),
        ):
            for pocket in listed_pockets:
                if pocket not in self.pockets:
                    raise ValueError(f"{key} names {pocket!r}, which is not a pocket")
        coloured = (*self.red_pockets, *self.black_pockets, *self.yellow_pockets, *self.zero_pockets)
        if sorted(coloured) != sorted(self.pockets):
            raise ValueError("every pocket must be exactly one of red, black, yellow and zero")
        if self.revolutions_min is not None and self.revolutions_min < REVOLUTIONS_MIN:
            raise ValueError(
                f"{self.revolutions_min} turns are too few for a valid spin: it needs at least {REVOLUTIONS_MIN}"
            )
        return self

    def map_pocket_colours(self) -> dict[str, str]:
        """Return the colour of each pocket of the cylinder."""
        colour_by_pocket = dict.fromkeys(self.zero_pockets, "green")
        for colour, pockets_of_colour in (
            ("red", self.red_pockets),
            ("black", self.black_pockets),
            ("yellow", self.yellow_pockets),
        ):
            colour_by_pocket |= dict.fromkeys(pockets_of_colour, colour)
        return {pocket: colour_by_pocket[pocket] for pocket in self.pockets}


class RouletteBetKind(BetLimits):
    """One kind of roulette bet: its betting areas, its limits, and its pay.

    The ``id`` of a bet of the usual layout of 36 numbers determines its betting areas
    (:mod:`paytables.roulette.bet_areas`).
    """

    id: Identifier
    """The id of the kind of bet, such as ``straight`` or ``dozen``."""
    name: Text | None = Field(default=None, description="the name for the player, if it is not the usual one")
    """The name for the player, if it is not the usual one."""
    odds: WrittenOdds = Field(alias="pays")
    """The odds of the bet."""
    further_areas: IdentifierList = Field(default=(), alias="also")
    """Further betting areas, by their numbers, such as ``0-1``."""
    replacing_areas: dict[Identifier, str] = Field(default={}, alias="places")
    """The betting areas that replace the usual ones: by the id of the area, its numbers."""
    is_outside: bool = Field(
        default=False, description="an outside wager (Québec by-law, s. 72)", alias="outside"
    )
    """Whether the bet is an outside wager (Québec by-law, s. 72)."""
    on_zero: Literal["lost", "half", "choice"] = Field(
        default="lost",
        description="what a zero does: the stake is lost, half is returned, or the player chooses half or prison"
        " (Monaco, art. 8.2)",
    )
    """What a zero does: the stake is lost, half is returned, or the player chooses half or prison."""
    consecutive_spins: Annotated[int, Field(strict=True, ge=1, le=3)] = Field(
        default=1,
        description="spins in a row that must all end on its number (Québec by-law, s. 72.1)",
        alias="spins",
    )
    """The number of spins in a row that must all end on the bet's number."""
    required_option: Literal["double", "triple"] | None = Field(
        default=None, description="the option that must be on offer", alias="option"
    )
    """The table option with which the bet is offered (a number twice or three times in a row); None: always."""
    odds_with_triple: WrittenOdds | None = Field(
        default=None, description="the odds if the triple is offered too", alias="with_triple"
    )
    """The odds if the ``triple`` option is offered too; None: the same as ``odds``."""

    @property
    def names(self) -> dict[str, str]:
        """Return the name of this kind of roulette bet, by language."""
        if self.name is not None:
            return self.name.model_dump()
        english, french = BET_NAMES.get(self.id, (self.id, self.id))
        return {"en": english, "fr": french}


class RouletteOptions(StrictTable):
    """Additional options of a roulette table (Québec by-law, s. 72.1)."""

    offers_double: bool = Field(
        default=False, description="a number twice in a row may be bet on", alias="double"
    )
    """Whether players may bet on a number that comes twice in a row."""
    offers_triple: bool = Field(
        default=False, description="a number three times in a row may be bet on", alias="triple"
    )
    """Whether players may bet on a number that comes three times in a row."""
    accepts_outside_bets: bool = Field(
        default=False,
        description="outside wagers are accepted if double or triple is offered",
        alias="outside",
    )
    """Whether outside wagers remain accepted if ``offers_double`` or ``offers_triple`` is set.

    Without these options, they are always accepted.
    """


class RouletteDefinition(TableDefinition):
    """A roulette table as its definition file describes it: cylinder, options and bets."""

    cylinder: Cylinder
    """The pockets and colours of the cylinder."""
    options: RouletteOptions = Field(default=RouletteOptions(), alias="option")
    """The additional options that the table offers."""
    bets: Annotated[tuple[RouletteBetKind, ...], Field(min_length=1)] = Field(alias="bet")
    """The kinds of bets."""

    def map_permitted_bets_by_index(self) -> dict[int, RouletteBetKind]:
        """Return the bets that the table's options permit, with the odds that apply, by index in the definition."""
        options = self.options
        is_offered_by_option = {"double": options.offers_double, "triple": options.offers_triple}
        return {
            n: bet.model_copy(update={"odds": bet.odds_with_triple})
            if bet.odds_with_triple and options.offers_triple
            else bet
            for n, bet in enumerate(self.bets)
            if (bet.required_option is None or is_offered_by_option[bet.required_option])
            and not (
                bet.is_outside and any(is_offered_by_option.values()) and not options.accepts_outside_bets
            )
        }

    def format_pay_table_rows(self) -> dict[str, list[str]]:
        """Return what each roulette bet pays, as text by language."""
        permitted_bets = self.map_permitted_bets_by_index().values()
        return {
            "en": [f"{bet.names['en']}: {bet.odds.format_by_language()['en']}" for bet in permitted_bets],
            "fr": [f"{bet.names['fr']} : {bet.odds.format_by_language()['fr']}" for bet in permitted_bets],
        }
