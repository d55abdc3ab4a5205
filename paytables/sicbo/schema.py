"""The model of a sic bo definition: the kinds of bet on three dice, their limits and their pays."""

from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from paytables.definition import Identifier, StrictTable
from paytables.layout import BetLimits, TableDefinition, WrittenOdds

#: The names of sic bo bets, by kind: English and French as in the by-law (Québec, s. 95.22).
BET_NAMES: Final = {
    "triple": ("Three of a kind", "Triplé"),
    "double": ("Two of a kind", "Doublé"),
    "any-triple": ("Any three of a kind", "Tout triplé"),
    "total": ("Total of", "Somme de"),
    "duo": ("Duo", "Duo"),
    "small": ("Small", "Petit"),
    "big": ("Big", "Gros"),
    "single": ("Single", "Simple"),
}


class DiceBet(BetLimits):
    """One kind of sic bo bet. A bet on a single number has a pay for one, two and three dice that show it."""

    id: Identifier
    kind: Literal["triple", "double", "any-triple", "total", "duo", "small", "big", "single"]
    """The kind of bet, such as ``double``, ``total`` or ``big``."""
    written_odds: tuple[WrittenOdds, ...] | WrittenOdds = Field(alias="pays")
    """The odds of the bet. A bet on a single number has three: if one, two or three dice show it."""
    totals: tuple[Annotated[int, Field(strict=True, ge=4, le=17)], ...] = ()
    """The totals of three dice that a ``total`` bet may be on."""

    @model_validator(mode="after")
    def _check_pays(self) -> "DiceBet":
        """Refuse a sic bo bet with a wrong number of pays, or with totals that its kind does not have."""
        if len(self.odds) != (3 if self.kind == "single" else 1):
            raise ValueError(
                "a single must have three pays, for one, two and three dice; every other bet must have one"
            )
        if bool(self.totals) != (self.kind == "total"):
            raise ValueError("totals: a bet on totals must have them, and no other bet may")
        return self

    @property
    def odds(self) -> tuple[WrittenOdds, ...]:
        """Return the odds of this bet; a bet on a single number has one for each number of matching dice."""
        return self.written_odds if isinstance(self.written_odds, tuple) else (self.written_odds,)


class DiceOptions(StrictTable):
    """Options of a sic bo game that the rules leave to the operator."""

    triple_wins_double: bool = Field(
        default=True, description="a triple of its number wins a double as well", alias="double_on_triple"
    )
    """Whether a triple also wins the bet on a double of the same number."""


class SicBoDefinition(TableDefinition):
    """A sic bo game as its definition file describes it: options and bets."""

    options: DiceOptions = Field(default=DiceOptions(), alias="option")
    """The options that the rules leave to the operator."""
    bets: Annotated[tuple[DiceBet, ...], Field(min_length=1)] = Field(alias="bet")
    """The kinds of bets."""

    def format_pay_table_rows(self) -> dict[str, list[str]]:
        """Return what each sic bo bet pays, as text by language."""
        lines_by_language: dict[str, list[str]] = {}
        for n, (language, colon, or_text) in enumerate((("en", ":", "or"), ("fr", " :", "ou"))):
            lines_by_language[language] = []
            for bet in self.bets:
                name = BET_NAMES[bet.kind][n]
                if bet.totals:
                    name += f" {f' {or_text} '.join(map(str, bet.totals))}"
                pays = [odds.format_by_language()[language] for odds in bet.odds]
                dice = ({"en": " die", "fr": " dé"}[language], {"en": " dice", "fr": " dés"}[language])
                if len(pays) > 1:
                    pays = [f"{k} {dice[k > 1].strip()}, {pay}" for k, pay in enumerate(pays, 1)]
                lines_by_language[language].append(f"{name}{colon} {f'{colon[:-1]}; '.join(pays)}")
        return lines_by_language
