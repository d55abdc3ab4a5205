"""The common part of all table games: odds, limits and preset bets, validation of bets, and exact figures.

A pay is printed as net odds, ``"35:1"`` (the stake is returned in addition), or as the total returned, stake
included, ``"x8"`` (Monaco's "mise comprise"). Both are read into exact net odds; the text is stored as
printed. The step of a bet keeps all amounts in whole credits: if a stake has a fractional pay, the definition
or the bet is refused, unless the definition names a rounding.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, gcd, lcm
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeAlias, TypedDict

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from paytables import exposure, required_bets
from paytables.analysis import AnalysisDepth, BetAnalysis, PrizeFigures, WinDistribution
from paytables.contract import Bet, Json, Settlement, Spot, Wager
from paytables.definition import Definition, Identifier, PositiveInt, StrictTable, Text
from paytables.errors import DefinitionError, WagerError
from paytables.tableless import TablelessRules
from paytables.wording import format_count

#: The maximum number of seats in one round.
SEATS_MAX: Final = 9
#: Matches the two forms of odds in a definition: ``35:1`` and ``x8``.
ODDS_PATTERN: Final = re.compile(
    r"(?:(\d{1,6}(?:\.\d{1,4})?):([1-9]\d{0,5})|x(\d{1,6}(?:\.\d{1,4})?))", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Odds:
    """The odds of a bet: the text as printed, and the net win per credit staked.

    A bet that pays a part of a progressive level returns no credits.
    """

    text: str
    """The odds as printed, such as ``3:2``."""
    net: Fraction
    """The net win for each credit staked."""
    level_share: Fraction = Fraction(0)
    """The part of a progressive level that is paid instead of credits; 0: the bet pays ``net``."""

    @classmethod
    def parse(cls, text: str) -> "Odds":
        """Return the odds in a text: ``"35:1"`` (net) or ``"x8"`` (stake included).

        Raises ValueError for other text.
        """
        match = ODDS_PATTERN.fullmatch(text)
        if match is None:
            raise ValueError(f'{text!r} is not valid odds: write "35:1" (net), or "x36" (stake included)')
        won_part, per_stake, total = match.groups()
        net = Fraction(total) - 1 if total else Fraction(won_part) / int(per_stake)
        if net < 0:
            raise ValueError(f"{text!r} returns less than the stake; odds are at least 0:1 or x1")
        return cls(text, net)

    def format(self, language: str) -> str:
        """Return the odds as printed on the layout; in French a space precedes the percent sign."""
        return self.text.replace("%", "\N{NO-BREAK SPACE}%") if language == "fr" else self.text

    def format_by_language(self) -> dict[str, str]:
        """Return the odds as the rules print them, by language."""
        if self.level_share:
            per_cent = self.text.removesuffix("%")
            return {
                "en": f"{per_cent}% of the progressive jackpot",
                "fr": f"{per_cent} % du lot progressif",
            }
        if self.text.startswith("x"):
            times = self.text[1:]
            return {
                "en": f"{times} for 1, stake included",
                "fr": f"{times.replace('.', ',')} fois la mise, mise comprise",
            }
        if not self.net:
            return {"en": "the stake back", "fr": "la mise rendue"}
        if self.net == 1:
            return {"en": "even money", "fr": "à l'égalité"}
        won_part, per_stake = self.text.split(":")
        return {"en": f"{won_part} to {per_stake}", "fr": f"{won_part.replace('.', ',')} à {per_stake}"}

    def compute_total_return(self, credits_: int, rounding: Literal["down"] | None = None) -> int:
        """Return what a winning bet of ``credits_`` returns in total, the stake included, in whole credits.

        Raises ValueError if that is a fraction and ``rounding`` is not given.
        """
        returned_credits = credits_ * (1 + self.net)
        if returned_credits.denominator > 1 and rounding is None:
            raise ValueError(
                f"a bet of {format_count(credits_, 'credit')} at {self.text} does not pay whole credits"
            )
        return int(returned_credits // 1)


def _parse_odds(value: Any) -> Any:
    """Return the odds in a definition's text; return a value that is not text unchanged."""
    return Odds.parse(value) if isinstance(value, str) else value


#: Odds as a definition writes them.
WrittenOdds: TypeAlias = Annotated[
    Odds,
    BeforeValidator(_parse_odds),
    WithJsonSchema({"type": "string", "pattern": f"^{ODDS_PATTERN.pattern}$"}),
]


class SpotLimits(TypedDict):
    """The fields of a :class:`Spot` that limit the bet on it."""

    bet_min: int
    bet_max: int
    bet_step: int
    worth_cents: int | None
    required_multiple_max: int | None


class BetLimits(StrictTable):
    """The smallest and the largest amount of one bet, and the step between permitted amounts."""

    bet_min: PositiveInt = Field(default=1, alias="least")
    """The smallest bet, in credits."""
    bet_max: PositiveInt = Field(default=100, alias="most")
    """The largest bet, in credits."""
    bet_step: PositiveInt = Field(default=1, alias="step")
    """Every bet must be a multiple of this number of credits."""
    worth_cents: PositiveInt | None = None
    """The exact value of a bet if the rules fix it, in minor units of the currency."""
    required_multiple_max: PositiveInt | None = Field(
        default=None,
        description="the largest multiple of the required bet that this bet may be",
        alias="most_times",
    )
    """The largest multiple of the required bet that this bet may be; None: no limit."""

    def build_spot_fields(self) -> SpotLimits:
        """Return the limits as fields of :class:`Spot`."""
        return {
            "bet_min": self.bet_min,
            "bet_max": self.bet_max,
            "bet_step": self.bet_step,
            "worth_cents": self.worth_cents,
            "required_multiple_max": self.required_multiple_max,
        }

    @model_validator(mode="after")
    def _check_limits(self) -> "BetLimits":
        """Refuse limits that no bet can meet exactly."""
        if self.bet_min > self.bet_max or self.bet_min % self.bet_step or self.bet_max % self.bet_step:
            raise ValueError(
                f"no bet fits the limits of {self.bet_min:,} to "
                f"{format_count(self.bet_max, 'credit')} in steps of {self.bet_step}"
            )
        return self


class TableLimits(StrictTable):
    """Limits of a whole game table: how many seats play together, and what one seat may stake and win."""

    seat_count: Annotated[int, Field(strict=True, ge=1, le=SEATS_MAX)] = Field(default=1, alias="seats")
    """The number of seats that may play together."""
    stake_max_credits: PositiveInt | None = Field(
        default=None,
        description="the largest total stake of one player on the table, in credits",
        alias="most",
    )
    """The largest total stake of one player on the table, in credits; None: no limit."""
    win_max_credits: PositiveInt | None = Field(
        default=None,
        description="the most credits that one player may get back from a round",
        alias="most_win",
    )
    """The most credits that one player may get back from a round; None: no limit. Families that do not enforce it
    (:attr:`TableRules.enforces_win_limit`) refuse it."""
    betting_seconds: Annotated[int, Field(strict=True, ge=1, le=600)] = Field(
        default=30, description="how long a table of several seats takes bets, from the first bet on"
    )
    """How long a table of several seats takes bets, from the first bet on."""

    @property
    def shared_betting_seconds(self) -> int | None:
        """Return how many seconds several seats have to bet on one round, or None if only one seat plays."""
        return self.betting_seconds if self.seat_count > 1 else None


class PresetBet(StrictTable):
    """A preset bet (``[[form]]``): a wager that the table game offers by name, with credits on each of its spots."""

    id: Identifier
    """The id with which this preset bet is requested."""
    name: Text
    """The name of the wager for the player."""
    bets: dict[Identifier, PositiveInt]
    """The credits on each spot."""


class TableDefinition(Definition):
    """The part of a game definition that every table game has; each family of games adds further tables."""

    table: TableLimits = TableLimits()
    """The number of seats, and what one seat may stake and win."""
    preset_bets: Annotated[tuple[PresetBet, ...], Field(min_length=1)] = Field(alias="form")
    """The wagers that the table offers by name (preset bets)."""


@dataclass(frozen=True)
class TableLayout:
    """The betting spots of a game table in its current state, and the limits of a wager on them.

    A wager may add to bets of earlier rounds. It may take credits off them if their spot is in ``removable_spots``.
    """

    spots: tuple[Spot, ...]
    """The betting spots that exist in the table's current state."""
    table: TableLimits
    """The number of seats, and what one seat may stake and win."""
    preset_bets: tuple[PresetBet, ...] = ()
    """The wagers that the table offers by name (preset bets)."""
    standing_bets: tuple[Bet, ...] = ()
    """The bets of earlier rounds that the player may still change."""
    removable_spots: Container[str] = ()
    """The ids of the spots whose standing bets may be reduced or withdrawn."""

    @cached_property
    def spot_by_id(self) -> dict[str, Spot]:
        """Return the betting spots of the layout by their ids."""
        return {spot.id: spot for spot in self.spots}

    @property
    def bet_options(self) -> tuple[int, ...]:
        """Return the costs of the preset bets in credits, ascending.

        Freely placed bets may cost other sums.
        """
        return tuple(sorted({sum(preset_bet.bets.values()) for preset_bet in self.preset_bets}))

    def build_wager(self, credits_: int, **options: Json) -> Wager:
        """Return the wager of ``credits_``, given by ``bets`` (by spot), ``seats`` (bets of each seat) or ``form``.

        ``form`` is the id of a preset bet. Without any of these options, the wager is the first preset bet of that
        cost. If there is no such bet, but the cost is 0 and bets stand on the table, it is a wager without new bets. A
        negative amount takes that much off a standing bet. Raises :class:`WagerError` with the spot, the requested
        amount and the allowed amounts.
        """
        if set(options) - {"bets", "seats", "form"} or len(options) > 1:
            given_options = ", ".join(sorted(options))
            raise WagerError(f"a table takes bets, seats with bets, or a form; not {given_options}")
        if "seats" in options:
            bets_by_seat = self._parse_seats(options["seats"])
            return self._build_wager(
                credits_, bets_by_seat, {"seats": {str(seat): bets for seat, bets in bets_by_seat.items()}}
            )
        if "bets" in options:
            bets = self.parse_bets(options["bets"])
            return self._build_wager(credits_, {0: bets}, {"bets": bets})
        for preset_bet in self.preset_bets:
            if (
                options.get("form", preset_bet.id) == preset_bet.id
                and sum(preset_bet.bets.values()) == credits_
            ):
                return Wager(credits_, {"bets": self.parse_bets(preset_bet.bets)})
        if not options and credits_ == 0 and self.standing_bets:
            return Wager(0, {"bets": {}})
        form_text = f" of form {options['form']!r}" if options else ""
        raise WagerError(
            f"no bet{form_text} of {format_count(credits_, 'credit')}; the game offers {list(self.bet_options)}"
        )

    def with_other_seats(self, wager: Wager, seat: object, others: object) -> Wager:
        """Return the wager of seat ``seat`` for a round that it plays with ``others``, the bets of the other seats.

        Raises :class:`WagerError` if there is no such seat, if the wager is one for several seats, or if the other
        seats' bets are not valid.
        """
        seat_by_text = {str(number): number for number in range(self.table.seat_count)}
        if isinstance(seat, bool) or seat not in seat_by_text.values() or "bets" not in wager.options:
            raise WagerError(
                f"seat: there is no seat {seat!r} for one player; there are {', '.join(seat_by_text)}"
            )
        if not isinstance(others, Mapping) or not set(others) <= seat_by_text.keys() - {str(seat)}:
            raise WagerError(f"others: must map the numbers of seats other than {seat} to their bets")
        other_bets = {number: self.parse_bets(bets, seat_by_text[number]) for number, bets in others.items()}
        return replace(wager, options={"bets": wager.options["bets"], "seat": seat, "others": other_bets})

    def _build_wager(
        self, credits_: int, bets_by_seat: Mapping[int, Mapping[str, int]], options: Mapping[str, object]
    ) -> Wager:
        """Return the wager with these bets by seat, after checking its cost."""
        cost_credits = sum(
            credits_on_spot
            for bets in bets_by_seat.values()
            for credits_on_spot in bets.values()
            if credits_on_spot > 0
        )
        if cost_credits != credits_:
            raise WagerError(f"the bets cost {format_count(cost_credits, 'credit')}, not {credits_}")
        return Wager(credits_, options)

    def _parse_seats(self, requested_bets_by_seat: object) -> dict[int, dict[str, int]]:
        """Return the requested bets, in credits by seat and spot. Raises :class:`WagerError` if one is not accepted."""
        if self.table.seat_count == 1:
            raise WagerError("seats: this table has one seat; use `bets`")
        if not isinstance(requested_bets_by_seat, Mapping) or not requested_bets_by_seat:
            raise WagerError("seats: must map the number of each playing seat to its bets")
        seat_by_text = {str(seat): seat for seat in range(self.table.seat_count)}
        for seat in requested_bets_by_seat:
            if str(seat) not in seat_by_text:
                raise WagerError(f"seats: there is no seat {seat!r}; there are {', '.join(seat_by_text)}")
        return {
            seat_by_text[str(seat)]: self.parse_bets(bets, seat_by_text[str(seat)])
            for seat, bets in requested_bets_by_seat.items()
        }

    def parse_bets(self, requested_bets: object, seat: int = 0) -> dict[str, int]:
        """Return the requested bets of one seat in the order of the spots, in credits by spot.

        Raises :class:`WagerError` if the table does not accept them: for an unknown spot, or an amount outside the
        limits, for example.
        """
        if not isinstance(requested_bets, Mapping):
            raise WagerError("bets: must map spots to credits")
        standing_credits = self._find_standing_credits(seat)
        if not requested_bets and not standing_credits:
            raise WagerError("bets: at least one bet must be staked, because no bet stands on the table")
        for name in requested_bets:
            if name not in self.spot_by_id:
                raise WagerError(f"bets: there is no spot {name!r}")
        bets = {spot.id: requested_bets[spot.id] for spot in self.spots if spot.id in requested_bets}
        bets_after = standing_credits | {
            name: self._compute_bet_after(self.spot_by_id[name], bet_credits, standing_credits.get(name, 0))
            for name, bet_credits in bets.items()
        }
        self._check_seat_bets(bets_after)
        return bets

    def _find_standing_credits(self, seat: int) -> dict[str, int]:
        """Return the credits that already stand on each spot for a seat."""
        standing_credits: dict[str, int] = {}
        for bet in self.standing_bets:
            if bet.seat == seat:
                standing_credits[bet.spot] = standing_credits.get(bet.spot, 0) + bet.credits
        return standing_credits

    def _check_seat_bets(self, bets_after: Mapping[str, int]) -> None:
        """Check that a seat's bets, as they are after its wager, fit each other and the table limit.

        Raises :class:`WagerError` if a required bet is missing, if two bets exclude each other, or if the limit is
        exceeded.
        """
        for spot in self.spots:
            if spot.required_spot is not None:
                required_bets.check_required_bet(spot, spot.required_spot, bets_after)
            excluded_spot = next(
                (spot_id for spot_id in spot.excluded_spots if bets_after.get(spot_id)), None
            )
            if excluded_spot is not None and bets_after.get(spot.id):
                raise WagerError(f"bets.{spot.id}: cannot be combined with a bet on {excluded_spot!r}")
        total, stake_max = sum(bets_after.values()), self.table.stake_max_credits
        if stake_max is not None and total > stake_max:
            raise WagerError(
                f"bets: would be {format_count(total, 'credit')} on the table, which allows {stake_max:,} at most"
            )

    def compute_raise_reserve(self, bets: Iterable[Bet]) -> int:
        """Return the most credits that the certified strategy may add to these bets during the round."""
        return ceil(
            sum(
                (self.spot_by_id[bet.spot].reserve_per_credit * max(bet.credits, 0) for bet in bets),
                Fraction(0),
            )
        )

    def find_smallest_bets_with(self, spot: Spot, credits_: int) -> dict[str, int]:
        """Return the smallest bets, by spot, with ``credits_`` on ``spot`` and every bet that they require."""
        return required_bets.find_smallest_bets_with(self.spot_by_id, spot, credits_)

    def with_required_bets(self, figures: BetAnalysis) -> BetAnalysis:
        """Return the figures of a bet, with the minimum other bets that it requires as ``required_bets``."""
        own_bets: Mapping[str, int] = figures.options["bets"]
        smallest_bets = {
            name: bet_credits
            for spot, credits_ in own_bets.items()
            for name, bet_credits in self.find_smallest_bets_with(self.spot_by_id[spot], credits_).items()
        }
        return replace(
            figures,
            required_bets={
                name: bet_credits for name, bet_credits in smallest_bets.items() if name not in own_bets
            },
        )

    def compute_round_cost(self, bets: Mapping[str, int]) -> int:
        """Return the most credits that a round with these bets may cost, raises of the certified strategy included."""
        return sum(bets.values()) + self.compute_raise_reserve(
            Bet(name, bet_credits) for name, bet_credits in bets.items()
        )

    def find_highest_bet(self, spot: Spot, credits_: int) -> int:
        """Return the maximum bet on a spot if a round may cost at most ``credits_``; 0 means no bet."""
        bet_amounts = range(spot.bet_min, spot.bet_max + 1, spot.bet_step)
        affordable_count = bisect_right(
            bet_amounts,
            credits_,
            key=lambda n: self.compute_round_cost(self.find_smallest_bets_with(spot, n)),
        )
        return bet_amounts[affordable_count - 1] if affordable_count else 0

    def find_highest_bets(self, credits_: int) -> dict[str, int]:
        """Return the maximum bet on each spot if a round may cost at most ``credits_``; computed once and kept.

        Spots on which credits are staked only by a decision during the round are left out.
        """
        if credits_ not in self._highest_bets_by_credits:
            self._highest_bets_by_credits[credits_] = {
                spot.id: self.find_highest_bet(spot, credits_)
                for spot in self.spots
                if not spot.added_bet_multiples
            }
        return self._highest_bets_by_credits[credits_]

    @cached_property
    def _highest_bets_by_credits(self) -> dict[int, dict[str, int]]:
        """Return the cache of :meth:`find_highest_bets`: its earlier results, by the cost that a round may have."""
        return {}

    def find_highest_stake(self, credits_: int) -> int:
        """Return the most that one round of a seat can stake within ``credits_``, raises included."""
        # a player without a box bets on the hands of all seats but one
        spots = [spot for spot in self.spots if spot.hand_seat != 0]
        return exposure.find_highest_stake(spots, self.table.stake_max_credits, credits_)

    def _compute_bet_after(self, spot: Spot, credits_: object, standing_credits: int) -> int:
        """Return the bet on a spot, in credits, after the player adds ``credits_`` to it or takes some off.

        ``standing_credits`` is the bet on the spot before. Raises :class:`WagerError` if the change is not allowed.
        """
        bet_key = f"bets.{spot.id}"
        if isinstance(credits_, bool) or not isinstance(credits_, int) or credits_ == 0:
            raise WagerError(f"{bet_key}: {credits_!r} is not a number of credits to stake")
        credits_after = standing_credits + credits_
        if credits_after < 0:
            raise WagerError(
                f"{bet_key}: {format_count(-credits_, 'credit')} cannot be taken down;"
                f" the bet there is {standing_credits:,}"
            )
        if credits_ < 0 and spot.id not in self.removable_spots:
            raise WagerError(f"{bet_key}: a bet there may not be taken down")
        if credits_ > 0 and not spot.accepts_bets:
            raise WagerError(f"{bet_key}: the spot is closed in the table's current state")
        if credits_after and not spot.bet_min <= credits_after <= spot.bet_max:
            raise WagerError(
                f"{bet_key}: would be {format_count(credits_after, 'credit')};"
                f" {spot.bet_min:,} to {spot.bet_max:,} may be staked"
            )
        if credits_ % spot.bet_step:
            raise WagerError(
                f"{bet_key}: {format_count(credits_, 'credit')}: not a multiple of {spot.bet_step:,}"
            )
        return credits_after

    def check_highest_win(self, highest_returns: Mapping[int, int]) -> None:
        """Raise :class:`WagerError` if a seat could win more than the table's win limit.

        ``highest_returns`` has the most credits that the round may return to each seat, by seat number.
        """
        win_max = self.table.win_max_credits
        for seat, credits_ in highest_returns.items():
            if win_max is not None and credits_ > win_max:
                raise WagerError(
                    f"bets: the round could return {format_count(credits_, 'credit')} to seat {seat}; "
                    f"the table allows {win_max:,} at most"
                )

    def to_json(self) -> dict[str, object]:
        """Return the betting spots, preset bets and limits of the table as JSON for the screen."""
        return {
            "spots": [spot.to_json() for spot in self.spots],
            "forms": [preset_bet.model_dump() for preset_bet in self.preset_bets],
            "table": self.table.model_dump(by_alias=True),
        }


class TableRules(TablelessRules):
    """Base class of the rules of table games: betting spots, and wagers made of bets on them."""

    enforces_win_limit: ClassVar[bool] = False
    """Whether :meth:`build_wager` refuses a wager that could win more than ``table.most_win``."""

    def check_installation(self, file: str) -> None:
        """Raise :class:`DefinitionError` if the definition has a win limit that the rules do not enforce."""
        if self.table_layout.table.win_max_credits is not None and not self.enforces_win_limit:
            raise DefinitionError(file, "table.most_win", "games of this family do not enforce a win limit")

    @property
    def table_layout(self) -> TableLayout:
        """Return the layout: spots and limits in the table's current state; each family implements it."""
        raise NotImplementedError

    def with_table_fields(self, **state: object) -> Self:
        """Return a copy of these rules with other values of the fields that hold the table's state.

        The copy shares all cached values, so no cached value may depend on that state.
        """
        copy = object.__new__(type(self))
        vars(copy).update(vars(self) | state)
        return copy

    def list_spots(self) -> tuple[Spot, ...]:
        """Return the table's betting spots in its current state."""
        return self.table_layout.spots

    @property
    def betting_seconds(self) -> int | None:
        """Return how many seconds several seats have to bet on one round, or None if only one seat plays."""
        return self.table_layout.table.shared_betting_seconds

    @property
    def bet_options(self) -> tuple[int, ...]:
        """Return the costs of the preset bets in credits, ascending.

        Freely placed bets may cost other sums.
        """
        return self.table_layout.bet_options

    def build_wager(self, credits_: int, **options: Json) -> Wager:
        """Return the table's wager of ``credits_`` (:meth:`TableLayout.build_wager`). Raises :class:`WagerError`."""
        return self.table_layout.build_wager(credits_, **options)

    def combine_seat_wagers(self, wager: Wager, seat: int, other_wagers: Mapping[int, Wager]) -> Wager:
        """Return a seat's wager for a round with other seats. Raises :class:`WagerError` for an unknown seat."""
        seat_count = self.table_layout.table.seat_count
        if seat not in range(seat_count):
            raise WagerError(
                f"seat: there is no seat {seat}; this table has {format_count(seat_count, 'seat')}"
            )
        return super().combine_seat_wagers(wager, seat, other_wagers)

    def compute_raise_reserve(self, wager: Wager) -> int:
        """Return the most credits that the certified strategy may add to a wager during its round."""
        return self.table_layout.compute_raise_reserve(wager.bets)

    def find_highest_bet(self, credits_: int) -> dict[str, int]:
        """Return the maximum bet on each spot if a round may cost at most ``credits_``, later stakes included.

        The result is empty at a table where nothing is added to a bet during the round, and no bet must be a fixed
        multiple of another.
        """
        spots = self.table_layout.spots
        if not any(spot.reserve_per_credit or spot.required_multiple for spot in spots):
            return {}
        return self.table_layout.find_highest_bets(credits_)

    def find_highest_stake(self, credits_: int) -> int:
        """Return the most that one round can stake within ``credits_``, later stakes included."""
        return self.table_layout.find_highest_stake(credits_)


def check_preset_bets(layout: TableLayout, file: str) -> None:
    """Raise :class:`DefinitionError` if a preset bet is listed twice, or a newly opened layout refuses it."""
    for n, preset_bet in enumerate(layout.preset_bets):
        if preset_bet.id in {other.id for other in layout.preset_bets[:n]}:
            raise DefinitionError(file, f"form.{n}.id", f"{preset_bet.id!r} is listed twice")
        try:
            layout.parse_bets(preset_bet.bets)
        except WagerError as error:
            raise DefinitionError(file, f"form.{n}", str(error)) from None


def check_credit_multiples(definition_key: str, limits: BetLimits, odds: Iterable[Odds], file: str) -> None:
    """Raise :class:`DefinitionError` if odds pay a fraction of a credit on a bet within the limits."""
    multiple = lcm(*(odds_.net.denominator for odds_ in odds))
    if limits.bet_step % multiple:
        reason = f"{limits.bet_step} does not pay whole credits: it must be a multiple of {multiple}"
        raise DefinitionError(file, f"{definition_key}.step", reason)


def find_stated_stakes(
    minimum_stake_name: str, limits: BetLimits, compute_commission: Callable[[int], int]
) -> dict[str, int]:
    """Return the stakes for which a bet's figures are stated, in credits by name.

    The minimum stake is always one of them. If the commission takes a larger share of some other stake, the stake of
    which it takes the largest share is added. ``compute_commission`` returns the commission on a winning stake.
    """
    stakes = range(limits.bet_min, limits.bet_max + 1, limits.bet_step)
    dearest_stake = max(stakes, key=lambda stake: Fraction(compute_commission(stake), stake))
    has_share_of_minimum = (
        compute_commission(dearest_stake) * limits.bet_min
        == compute_commission(limits.bet_min) * dearest_stake
    )
    further_stakes = (
        {} if has_share_of_minimum else {f"{minimum_stake_name} of {dearest_stake}": dearest_stake}
    )
    return {minimum_stake_name: limits.bet_min} | further_stakes


def settle_bet(
    bet: Bet, odds: Odds | None, settlement_name: str = "", rounding: Literal["down"] | None = None
) -> Settlement:
    """Return the settlement of a bet that wins at ``odds``, or loses if ``odds`` is None.

    ``settlement_name`` replaces the default name of the result.
    """
    credits_ = 0 if odds is None else odds.compute_total_return(bet.credits, rounding)
    result = settlement_name or ("lost" if odds is None else "won")
    return Settlement(result, credits_, spot=bet.spot, staked_credits=bet.credits, seat=bet.seat)


def settle_push(bet: Bet, settlement_name: str = "push") -> Settlement:
    """Return the settlement of a bet that is returned in full."""
    return Settlement(settlement_name, bet.credits, spot=bet.spot, staked_credits=bet.credits, seat=bet.seat)


def bets_to_json(bets: Iterable[Bet]) -> list[dict[str, object]]:
    """Return standing bets as the JSON list in a table state; :func:`bets_from_json` is the inverse."""
    return [bet.to_json() for bet in bets]


def bets_from_json(data: Json, spots: Mapping[str, object], seat_count: int) -> tuple[Bet, ...]:
    """Return the standing bets in a table state's JSON list.

    Raises ValueError for an unknown spot, an unknown seat or an invalid stake.
    """
    bets = []
    for stored_bet in data if isinstance(data, list) else [data]:
        try:
            bet = Bet.from_json(stored_bet)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ValueError(f"the stored record is not a standing bet: {stored_bet!r}") from None
        if bet.spot not in spots or not 0 <= bet.seat < seat_count or bet.credits <= 0:
            raise ValueError(
                f"the stored standing bet is on no spot or seat of this table, or has no stake: {stored_bet!r}"
            )
        bets.append(bet)
    return tuple(bets)


@dataclass(frozen=True, slots=True)
class WeightedResult:
    """One possible result of a wager, for exact figures: its weight, settlements, and stakes added in the round."""

    weight: int | Fraction
    """The number of equally likely results that are this case, or its probability."""
    settlements: Sequence[Settlement]
    """The settlements of all bets in this case."""
    added_credits: int = 0
    """The credits staked during the round, after the wager."""


def build_distribution(weight_by_win: Mapping[int, int | Fraction]) -> WinDistribution:
    """Return the win distribution of a game from the weight of each win in credits.

    The weights need not add up to one.
    """
    unit = lcm(*{weight.denominator for weight in weight_by_win.values()})
    counts = {
        win: weight.numerator * (unit // weight.denominator)
        for win, weight in sorted(weight_by_win.items())
        if weight
    }
    common_divisor = gcd(*counts.values())
    return WinDistribution(
        sum(counts.values()) // common_divisor,
        {win: count // common_divisor for win, count in counts.items()},
    )


def compute_mean_return(wager: Wager, cases: Iterable[WeightedResult]) -> Fraction:
    """Return the mean return of a wager per credit of its cost, computed from every possible result."""
    return analyse_cases("", wager, cases, AnalysisDepth.RETURN).rtp


def analyse_cases(
    bet_name: str, wager: Wager, cases: Iterable[WeightedResult], depth: AnalysisDepth = AnalysisDepth.FULL
) -> BetAnalysis:
    """Return the exact figures of one seat's wager from every possible result.

    The weights are integers if the results are counted; their sum is then the cycle. Otherwise they are exact
    probabilities. Each settlement that returns credits is a prize, by its name and spot. The
    ``added_credits`` of a case are subtracted from its win.
    """
    cases = list(cases)
    # weights are added as integer multiples of this unit
    unit = lcm(*{case.weight.denominator for case in cases})
    weight_by_win: dict[int, int] = defaultdict(int)
    weight_by_prize: dict[tuple[str, str, int], int] = defaultdict(int)
    shared_prizes: set[tuple[str, str, int]] = set()  # prizes with a weight that is an exact share
    total_weight = added_weight = 0
    for case in cases:
        weight = case.weight.numerator * (unit // case.weight.denominator)
        weight_by_win[sum(settlement.credits for settlement in case.settlements) - case.added_credits] += (
            weight
        )
        total_weight += weight
        added_weight += weight * case.added_credits
        for settlement in case.settlements:
            if settlement.credits:
                key = (settlement.name, settlement.spot, settlement.credits)
                weight_by_prize[key] += weight
                if not isinstance(case.weight, int):
                    shared_prizes.add(key)
    distribution, cost_credits = build_distribution(weight_by_win), wager.credits
    is_counted = all(isinstance(case.weight, int) for case in cases)
    figures = BetAnalysis(
        bet=bet_name,
        cost_credits=cost_credits,
        options=wager.options,
        rtp=distribution.compute_moment(1) / cost_credits,
        cycle=total_weight if is_counted else None,
        mean_staked_credits=cost_credits + Fraction(added_weight, total_weight) if added_weight else None,
    )
    if depth is AnalysisDepth.RETURN:
        return figures
    return replace(
        figures,
        prizes=tuple(
            PrizeFigures(
                name=prize_name,
                stage_or_spot=spot,
                credits=credits_,
                rate=Fraction(weight, total_weight),
                rtp=Fraction(weight * credits_, total_weight * cost_credits),
                win_count=None if (prize_name, spot, credits_) in shared_prizes else weight // unit,
            )
            for (prize_name, spot, credits_), weight in weight_by_prize.items()
        ),
    ).with_distribution(distribution)
