"""The model of a craps definition: every bet of the layout, how it is decided, what it pays, its limits."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from paytables.definition import DEFINITION_CREDITS_MAX, Identifier, PositiveInt, StrictTable, Text
from paytables.errors import DefinitionError
from paytables.layout import Odds, TableDefinition, WrittenOdds
from paytables.wording import format_count

#: The pay of the flat bets.
EVEN_MONEY_ODDS: Final = Odds.parse("1:1")
#: The totals that become a point.
POINT_NUMBERS: Final = (4, 5, 6, 8, 9, 10)
#: Every throw of two dice, the lower first.
UNORDERED_THROWS: Final = tuple((a, b) for a in range(1, 7) for b in range(a, 7))

#: The kind of a craps bet, which says how throws decide it.
CrapsBetKind = Literal[
    "pass", "dontpass", "come", "dontcome", "odds", "right", "wrong", "hard", "throw", "hop"
]
#: The kinds of flat bets, behind which odds can be placed.
FLAT_BET_KINDS: Final = ("pass", "dontpass", "come", "dontcome")
#: The keys that the pays of a craps bet may have, by its kind; flat bets have none, and pay even money.
_PAY_KEYS_BY_BET_KIND: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(FLAT_BET_KINDS, ()),
    **dict.fromkeys(("odds", "right", "wrong"), tuple(map(str, POINT_NUMBERS))),
    "hard": ("4", "6", "8", "10"),
    "throw": tuple(str(total) for total in range(2, 13)),
    "hop": tuple(f"{a}-{b}" for a, b in UNORDERED_THROWS),
}


class CrapsCommission(StrictTable):
    """A fee paid in advance for a craps bet to be accepted; it is not returned with the bet."""

    percent: Annotated[int, Field(strict=True, ge=1, le=100)]
    """The fee, in per cent."""
    percentage_base: Literal["stake", "win"] = Field(alias="of")
    """Whether the fee is a percentage of the stake or of the win."""


class CrapsBet(StrictTable):
    """A bet of the craps layout.

    ``right`` (place and buy bets) wins with its number and loses with 7; ``wrong`` (lay bets) wins with 7 and loses
    with its number. ``hard`` wins with a double, and loses with 7 or with the same total without a double. ``throw`` is
    decided by the total of one throw, ``hop`` by its two dice. Pass, don't pass, come and don't come are flat bets.

    A flat bet, a ``throw`` bet, and the odds behind pass or don't pass have one spot each; these odds pay by the point.
    Every other bet has one spot for each key of ``pays``.
    """

    id: Identifier
    kind: CrapsBetKind
    """How the bet is decided, such as ``pass``, ``right`` or ``hop``."""
    name: Text
    odds_by_result: dict[str, WrittenOdds] = Field(
        {}, description="odds by number, total or dice; none: even money", alias="pays"
    )
    """The odds by number, total or dice; empty: even money."""
    bet_min: PositiveInt = Field(default=1, alias="least")
    """The smallest bet, in credits."""
    bet_max: PositiveInt = Field(default=1000, alias="most")
    """The largest bet, in credits."""
    flat_bet_id: Identifier | None = Field(
        default=None, description="for odds: the bet behind which they are placed", alias="on"
    )
    """For odds: the id of the flat bet behind which they are placed."""
    multiple_max_by_number: dict[str, PositiveInt] = Field(
        {}, description="for odds: their largest multiple of that bet, by number", alias="times"
    )
    """For odds: the largest multiple of the bet behind which they are placed, by number."""
    is_off_on_come_out: bool = Field(
        default=False, description="does not play on a come-out throw unless the player asks", alias="off"
    )
    """Whether the bet is not in action on a come-out throw unless the player asks."""
    allows_put_bets: bool = Field(
        default=False, description="pass: may be staked, or added to, once the point is known", alias="put"
    )
    """For pass: whether it may be staked or increased after the point is known."""
    can_wait: bool = Field(
        default=False, description="don't come: may lie without playing ('no action')", alias="waits"
    )
    """For don't come: whether it may lie on the table without being in action."""
    requires_shooter_minimum: bool = Field(
        default=False,
        description="don't pass: the shooter must leave the minimum bet until it is decided",
        alias="shooter_keeps",
    )
    """For don't pass: whether the shooter must leave the minimum bet until it is decided."""
    commission: CrapsCommission | None = None
    """The fee paid in advance for the bet, or None."""

    @model_validator(mode="after")
    def _check_keys(self) -> "CrapsBet":
        """Refuse keys that do not belong to this kind of craps bet."""
        keys = _PAY_KEYS_BY_BET_KIND[self.kind]
        for key in (*self.odds_by_result, *self.multiple_max_by_number):
            if key not in keys:
                raise ValueError(
                    f"{key!r} is not a key of a {self.kind} bet; expected {', '.join(keys) or 'no keys'}"
                )
        if bool(keys) != bool(self.odds_by_result):
            raise ValueError(
                f"pays: a bet of kind {self.kind} "
                f"{'must have pays' if keys else 'pays even money and must not have pays'}"
            )
        value_and_kinds_by_key: dict[str, tuple[object, tuple[str, ...]]] = {
            "on": (self.flat_bet_id, ("odds",)),
            "times": (self.multiple_max_by_number, ("odds",)),
            "off": (self.is_off_on_come_out, ("odds", "right", "wrong", "hard")),
            "put": (self.allows_put_bets, ("pass",)),
            "waits": (self.can_wait, ("dontcome",)),
            "shooter_keeps": (self.requires_shooter_minimum, ("dontpass",)),
            "commission": (self.commission, ("right", "wrong")),
        }
        for key, (value, kinds) in value_and_kinds_by_key.items():
            if value and self.kind not in kinds:
                raise ValueError(f"{key} is only valid for {' and '.join(kinds)}, not for {self.kind}")
        if self.kind == "odds" and (self.flat_bet_id is None or set(self.odds_by_result) != set(keys)):
            raise ValueError("odds must give `on`, the flat bet that they go with, and a pay for every point")
        if not self.bet_min <= self.bet_max <= DEFINITION_CREDITS_MAX:
            raise ValueError(
                f"least and most: {self.bet_min:,} to {format_count(self.bet_max, 'credit')} is not a valid range"
            )
        return self


class CrapsStrategy(StrictTable):
    """A craps betting strategy whose figures are computed."""

    id: Identifier
    name: Text
    credits_by_bet: Annotated[dict[Identifier, PositiveInt], Field(min_length=1)] = Field(alias="keep")
    """The bets that the player keeps on the table, in credits by bet: each is placed again whenever it is gone."""
    come_bets_on_numbers_max: Annotated[int, Field(strict=True, ge=1, le=6)] = Field(
        default=6, alias="points"
    )
    """The largest number of come (or don't come) bets that the player has on numbers at the same time."""
    takes_maximum_odds: bool = Field(default=False, alias="odds")
    """Whether the maximum odds are placed behind every flat bet."""


class CrapsDefinition(TableDefinition):
    """A craps game as its definition file describes it: its bets, and the bet a shooter must have at a come-out."""

    requires_shooter_bet: bool = Field(
        default=True,
        description="the shooter must have a bet on pass or don't pass at a come-out",
        alias="shooter_bets",
    )
    """Whether the shooter must have a bet on pass or don't pass at a come-out."""
    bets: Annotated[tuple[CrapsBet, ...], Field(min_length=1)] = Field(alias="bet")
    """The bets of the craps layout."""
    strategies: tuple[CrapsStrategy, ...] = Field(default=(), alias="strategy")
    """The betting strategies whose figures are computed."""

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return the lines of the pay table by language: the name of each bet and what it pays."""
        return {
            "en": [f"{bet.name.en}: {_format_pays(bet, 'en')}" for bet in self.bets],
            "fr": [f"{bet.name.fr} : {_format_pays(bet, 'fr')}" for bet in self.bets],
        }


def describe_terms(bet: CrapsBet, odds: str) -> dict[str, str] | None:
    """Return, by language, a text on what a craps bet pays, or None if its odds alone are enough.

    The text states a commission, or the different pays of a one-throw bet.
    """
    if bet.kind == "throw" and len(set(bet.odds_by_result.values())) > 1:
        return {language: _format_pays(bet, language) for language in ("en", "fr")}
    if bet.commission is None:
        return None
    base_texts = {"stake": ("the stake", "la mise"), "win": ("the win", "le gain")}[
        bet.commission.percentage_base
    ]
    return {
        "en": f"{odds}; {bet.commission.percent}% commission on {base_texts[0]}, paid with the bet",
        "fr": f"{odds} ; commission de {bet.commission.percent}\u00a0% sur {base_texts[1]}, payée avec la mise",
    }


def _format_pays(bet: CrapsBet, language: str) -> str:
    """Return a bet's pays as text such as ``2 to 1 (4, 10); 3 to 2 (5, 9)``.

    Numbers are left out if a one-throw bet pays the same on all its numbers.
    """
    numbers_by_pay: dict[str, list[str]] = {}
    for key, odds in bet.odds_by_result.items():
        numbers_by_pay.setdefault(odds.format_by_language()[language], []).append(key)
    if bet.kind == "throw" and len(numbers_by_pay) == 1:
        return next(iter(numbers_by_pay))
    separator = {"en": "; ", "fr": " ; "}[language]
    pays = separator.join(f"{pay} ({', '.join(numbers)})" for pay, numbers in numbers_by_pay.items())
    return pays or EVEN_MONEY_ODDS.format_by_language()[language]


def check_definition(definition: CrapsDefinition, file: str) -> None:
    """Check the rules of a craps definition that its data model cannot check.

    Raises :class:`DefinitionError`, which names the wrong key.
    """
    ids = [bet.id for bet in definition.bets]
    kinds = {bet.id: bet.kind for bet in definition.bets}
    for bet_index, bet in enumerate(definition.bets):
        if bet.id in ids[:bet_index]:
            raise DefinitionError(file, f"bet.{bet_index}.id", f"{bet.id!r} is listed twice")
        if bet.flat_bet_id is not None and kinds.get(bet.flat_bet_id) not in FLAT_BET_KINDS:
            raise DefinitionError(
                file, f"bet.{bet_index}.on", f"{bet.flat_bet_id!r} is not a flat bet of this table"
            )
    for kind in FLAT_BET_KINDS:
        if list(kinds.values()).count(kind) > 1:
            raise DefinitionError(file, "bet", f"two bets have the kind {kind}; a table has only one of it")
    flat_bet_ids = [bet.flat_bet_id for bet in definition.bets if bet.flat_bet_id is not None]
    if len(flat_bet_ids) != len(set(flat_bet_ids)):
        raise DefinitionError(
            file, "bet", "two bets of kind odds go with the same flat bet; expected one at most"
        )
    if not {"pass", "dontpass"} & set(kinds.values()):
        raise DefinitionError(
            file, "bet", "the shooter needs a bet of kind pass or dontpass; the table has none"
        )
