"""The spots of a craps layout: how a throw decides a bet on each spot, its limits, and what it returns."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Final, TypeAlias

from paytables.contract import Bet, Settlement, Spot
from paytables.craps.schema import (
    EVEN_MONEY_ODDS,
    FLAT_BET_KINDS,
    POINT_NUMBERS,
    CrapsBet,
    CrapsDefinition,
    describe_terms,
)
from paytables.errors import DefinitionError
from paytables.layout import Odds, settle_bet, settle_push

#: A bet that is returned as staked: a push, or odds that were off when their bet was decided.
PUSH_ODDS: Final = Odds.parse("0:1")
#: The effect of a throw on a craps bet: won at odds, lost (None), or the id of the spot where it stands next.
BetResult: TypeAlias = Odds | str | None

#: The kinds of flat bets that are placed after the come-out.
_COME_BET_KINDS: Final = ("come", "dontcome")


@dataclass(frozen=True)
class SpotRules:
    """The rules of one betting spot of a craps layout.

    A come bet has several spots: its own, and one for each number that it may travel to.
    """

    id: str
    """The id of the betting spot."""
    bet: CrapsBet
    """The bet of the craps definition that is placed on the spot."""
    number_or_dice: str = ""
    """The number or the dice that the spot is on, such as ``6`` or ``1-5``; empty: none."""
    flat_bet_kind: str = ""
    """For odds: the kind of flat bet behind which they are placed; else empty."""
    required_spot: str | None = None
    """For odds: the id of the spot with the flat bet behind which they are placed; else None."""

    @property
    def number(self) -> int | None:
        """Return the number that decides a bet on the spot if it is thrown before 7, or None without a fixed number."""
        return int(self.number_or_dice) if self.number_or_dice and self.bet.kind != "hop" else None

    @property
    def can_outlast_throw(self) -> bool:
        """Return whether a bet on this spot may stay on the table after a throw."""
        return self.bet.kind not in {"throw", "hop"}

    @property
    def is_removable(self) -> bool:
        """Return whether the player may take down a bet on this spot: False for pass, come and one-throw bets."""
        return self.can_outlast_throw and self.bet.kind not in {"pass", "come"}

    @property
    def can_switch_on_off(self) -> bool:
        """Return whether the player may turn a craps bet on this spot on or off.

        The player may do so with two kinds of bets: bets that are off on a come-out unless the player turns them
        on; and, if the table's rules allow "no action", a don't come bet that has not moved to its number.
        """
        return self.bet.is_off_on_come_out or (self.bet.can_wait and not self.number_or_dice)

    def accepts_bets(self, point: int | None) -> bool:
        """Return whether the spot accepts bets while this point is set (None: on a come-out).

        Pass and don't pass accept bets on a come-out (a put bet also later), come and don't come while a point is set,
        and odds once the number of their flat bet is known. The spots that come and don't come bets move to never
        accept bets; all other spots always do.
        """
        has_point, kind = point is not None, self.bet.kind
        if kind in {"pass", "dontpass"}:
            return not has_point or self.bet.allows_put_bets
        if kind in _COME_BET_KINDS:
            return has_point and not self.number_or_dice
        return has_point or bool(self.number_or_dice) or not self.flat_bet_kind

    @cached_property
    def _wins_on_seven(self) -> bool:
        """Return whether a bet on this spot wins when a seven is thrown."""
        return self.bet.kind == "wrong" or (self.flat_bet_kind or self.bet.kind).startswith("dont")

    def list_odds(self, point: int | None) -> tuple[Odds, ...]:
        """Return all the odds that a craps bet on this spot may pay while ``point`` is the table's point."""
        if self.bet.kind in FLAT_BET_KINDS:
            return (EVEN_MONEY_ODDS,)
        point_key = self.number_or_dice or (str(point) if self.flat_bet_kind and point else "")
        return (self.bet.odds_by_result[point_key],) if point_key else tuple(self.bet.odds_by_result.values())

    def decide_bet(self, dice: tuple[int, int], point: int | None, *, is_switched: bool = False) -> BetResult:
        """Return a throw's effect on a bet on this spot: the odds if it wins, None if it loses, or else a spot.

        A bet that is not decided yet stays on its spot, or a come bet moves to the spot of its number. ``is_switched``:
        the player has turned the bet on or off, against the default.
        """
        dice_total = sum(dice)
        if self.bet.kind == "throw":
            return self.bet.odds_by_result.get(str(dice_total))
        if self.bet.kind == "hop":
            return (
                self.bet.odds_by_result[self.number_or_dice]
                if f"{min(dice)}-{max(dice)}" == self.number_or_dice
                else None
            )
        if self.bet.kind in _COME_BET_KINDS and not self.number_or_dice:
            return self.id if is_switched or point is None else self._decide_first_throw(dice_total)
        number = self.number or point
        if number is None:
            return self._decide_first_throw(dice_total)
        if self.bet.is_off_on_come_out and point is None and not is_switched:
            return PUSH_ODDS if self.flat_bet_kind and dice_total in {7, number} else self.id
        return self._decide_number_before_seven(dice, number, point)

    def _decide_first_throw(self, dice_total: int) -> BetResult:
        """Return the effect of the come-out throw on a flat bet.

        It is the odds if the bet wins, None if it loses, or the spot where it stays.
        """
        if dice_total in POINT_NUMBERS:
            return f"{self.id}-{dice_total}" if self.bet.kind in _COME_BET_KINDS else self.id
        if self._wins_on_seven:
            return PUSH_ODDS if dice_total == 12 else None if dice_total in {7, 11} else EVEN_MONEY_ODDS
        return EVEN_MONEY_ODDS if dice_total in {7, 11} else None

    def _decide_number_before_seven(
        self, dice: tuple[int, int], winning_number: int, point: int | None
    ) -> BetResult:
        """Return the effect of a throw on a bet that is decided by a number or seven, whichever comes first."""
        dice_total = sum(dice)
        if dice_total not in {7, winning_number}:
            return self.id
        is_easy_way = self.bet.kind == "hard" and dice[0] != dice[1]
        is_won = (dice_total == 7) == self._wins_on_seven and not is_easy_way
        return self.list_odds(point)[0] if is_won else None

    def find_smallest_stake(self, point: int | None) -> tuple[int, int]:
        """Return the smallest stake on this craps spot that pays whole credits, and its commission, in credits.

        ``point`` is the table's point, None on a come-out.
        """
        net_odds = [odds.net for odds in self.list_odds(point)]
        commission = self.bet.commission
        if commission is None:
            return lcm(*(net.denominator for net in net_odds)), 0
        rate = Fraction(commission.percent, 100)
        commission_rates = [rate if commission.percentage_base == "stake" else rate * net for net in net_odds]
        stake = lcm(*(fraction.denominator for fraction in (*net_odds, *commission_rates)))
        return stake, int(stake * max(commission_rates))

    def find_stake_step(self, point: int | None) -> int:
        """Return this spot's bet step in credits, commission included: every bet is a multiple of the step."""
        return sum(self.find_smallest_stake(point))

    def compute_commission(self, credits_: int, point: int | None) -> int:
        """Return the part of a craps bet of ``credits_`` on this spot that is commission, in credits."""
        return credits_ // self.find_stake_step(point) * self.find_smallest_stake(point)[1]

    def settle_decided(self, bet: Bet, odds: Odds | None, point: int | None) -> Settlement:
        """Return the settlement of a craps bet on this spot: won at ``odds``, or lost if None.

        The house keeps the commission in both cases. Odds that pay nothing are a push: the whole bet is returned.
        """
        if odds is None:
            return settle_bet(bet, None)
        commission = self.compute_commission(bet.credits, point)
        if not odds.net:
            return settle_push(bet)
        returned_credits = odds.compute_total_return(bet.credits - commission)
        return _replace_credits(settle_bet(bet, EVEN_MONEY_ODDS), returned_credits, commission)

    def settle_taken_down(self, bet: Bet, point: int | None) -> Settlement:
        """Return the settlement of a craps bet that is taken down: the bet less its commission is returned."""
        commission = self.compute_commission(bet.credits, point)
        return _replace_credits(settle_push(bet, "taken down"), bet.credits - commission, commission)

    def build_spot(self, point: int | None) -> Spot:
        """Return this craps betting spot with the limits and odds that apply at this point."""
        bet_step, bet = self.find_stake_step(point), self.bet
        name = bet.name.model_dump()
        odds = " / ".join(dict.fromkeys(odds_.text for odds_ in self.list_odds(point)))
        return Spot(
            id=self.id,
            group=self.group,
            names={language: f"{text} {self.number_or_dice}".strip() for language, text in name.items()},
            odds=odds,
            bet_min=-(-bet.bet_min // bet_step) * bet_step,
            bet_max=bet.bet_max // bet_step * bet_step,
            bet_step=bet_step,
            accepts_bets=self.accepts_bets(point),
            required_spot=self.required_spot,
            required_multiple_max=self.find_odds_multiple_max(point),
            covered_results=self._find_covered_totals(point),
            terms=describe_terms(bet, odds),
        )

    def find_odds_multiple_max(self, point: int | None) -> int | None:
        """Return the largest multiple of its flat bet that an odds bet may be, or None if no multiple is set."""
        return (
            self.bet.multiple_max_by_number.get(self.number_or_dice or str(point))
            if self.required_spot
            else None
        )

    @property
    def group(self) -> str:
        """Return the id that groups craps spots of the same bet and the same pay."""
        has_several_pays = (
            self.number_or_dice and len({odds.text for odds in self.bet.odds_by_result.values()}) > 1
        )
        return (
            f"{self.bet.id} {self.bet.odds_by_result[self.number_or_dice].text}"
            if has_several_pays
            else self.bet.id
        )

    def _find_covered_totals(self, point: int | None) -> tuple[str, ...]:
        """Return the dice totals that win a bet on this spot on the next throw; for a hop bet, its two dice."""
        if self.bet.kind == "hop":
            return (self.number_or_dice,)
        winning_totals = {
            str(sum(dice)): None
            for dice in ORDERED_THROWS
            if isinstance(
                result := self.decide_bet(dice, point, is_switched=self.bet.is_off_on_come_out), Odds
            )
            and result.net
        }
        return tuple(winning_totals)


def _replace_credits(settlement: Settlement, credits_: int, commission: int) -> Settlement:
    """Return a copy of a settlement that pays ``credits_`` and states the commission in its details."""
    detail = {"commission": commission} if commission else {}
    return replace(settlement, credits=credits_, detail=detail)


#: Both dice of every throw, 36 equally likely.
ORDERED_THROWS: Final = tuple((a, b) for a in range(1, 7) for b in range(1, 7))


@dataclass(frozen=True, eq=False)
class CrapsSpots:
    """The betting spots of a craps table by id, and what each offers at each point."""

    definition: CrapsDefinition
    """The craps game's definition."""

    @cached_property
    def rules_by_spot(self) -> Mapping[str, SpotRules]:
        """Return the rules of every craps betting spot by its id, in the order of the definition's bets."""
        return {spot_rules.id: spot_rules for spot_rules in _build_spot_rules(self.definition)}

    @cached_property
    def removable_spots(self) -> frozenset[str]:
        """Return the ids of the craps spots whose bets may be taken down."""
        return frozenset(
            spot_rules.id for spot_rules in self.rules_by_spot.values() if spot_rules.is_removable
        )

    @cached_property
    def spots_by_point(self) -> Mapping[int | None, Mapping[str, Spot]]:
        """Return the craps table's betting spots by point, then by id; point None is a come-out."""
        return {
            point: {spot_rules.id: spot_rules.build_spot(point) for spot_rules in self.rules_by_spot.values()}
            for point in (None, *POINT_NUMBERS)
        }


def check_spots(craps_spots: CrapsSpots, file: str) -> None:
    """Refuse a craps layout with two spots of the same id, or with limits that no bet can meet.

    Raises :class:`DefinitionError`.
    """
    ids = [spot_rules.id for spot_rules in _build_spot_rules(craps_spots.definition)]
    for spot_id in ids:
        if ids.count(spot_id) > 1:
            raise DefinitionError(file, "bet", f"two spots have the id {spot_id!r}")
    for spots in craps_spots.spots_by_point.values():
        for spot in spots.values():
            if spot.bet_min > spot.bet_max:
                bet_index = craps_spots.definition.bets.index(craps_spots.rules_by_spot[spot.id].bet)
                reason = f"no bet within the limits of {spot.id!r} is a multiple of {spot.bet_step}"
                raise DefinitionError(file, f"bet.{bet_index}.most", reason)


def _build_spot_rules(definition: CrapsDefinition) -> list[SpotRules]:
    """Return the rules of every betting spot that the definition's bets need."""
    bet_by_id = {bet.id: bet for bet in definition.bets}
    spot_rules: list[SpotRules] = []
    for bet in definition.bets:
        if bet.kind in FLAT_BET_KINDS or bet.kind == "throw":
            spot_rules.append(SpotRules(bet.id, bet))
        if bet.kind in _COME_BET_KINDS:
            spot_rules += [SpotRules(f"{bet.id}-{n}", bet, str(n)) for n in POINT_NUMBERS]
        elif bet.kind == "odds":
            flat_bet = bet_by_id[str(bet.flat_bet_id)]
            number_keys = [str(n) for n in POINT_NUMBERS] if flat_bet.kind in _COME_BET_KINDS else [""]
            spot_rules += [
                SpotRules(_format_spot_id(bet, key), bet, key, flat_bet.kind, _format_spot_id(flat_bet, key))
                for key in number_keys
            ]
        elif bet.kind in {"right", "wrong", "hard", "hop"}:
            spot_rules += [SpotRules(f"{bet.id}-{key}", bet, key) for key in bet.odds_by_result]
    return spot_rules


def _format_spot_id(bet: CrapsBet, number_or_dice: str) -> str:
    """Return the id of a bet's spot for this number or dice; the bet's own id if ``number_or_dice`` is empty."""
    return f"{bet.id}-{number_or_dice}" if number_or_dice else bet.id
