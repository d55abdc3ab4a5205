"""The exact figures of craps, computed with a Markov chain of table states over the 36 results of two dice.

A throw never adds a bet. So the states with the same bets form a small linear system with one unknown for each point,
and all states with fewer bets are solved first (by recursion). The dice do not depend on the bets, so a single bet is
analysed alone, and a combination of bets by the chain of all its bets.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Final

from paytables.analysis import AnalysisDepth, BetAnalysis, PrizeFigures, WinDistribution
from paytables.contract import Bet, Settlement, Wager
from paytables.craps.linear import SumsByKey, add_sums, solve_chain
from paytables.craps.schema import POINT_NUMBERS, UNORDERED_THROWS
from paytables.craps.spots import ORDERED_THROWS, SpotRules
from paytables.craps.state import CrapsState, apply_throw
from paytables.layout import Odds, WeightedResult, analyse_cases, build_distribution
from paytables.wording import format_percent

#: Maximum number of table states for a joint distribution. Above it only mean and variance are computed.
CHAIN_STATES_MAX: Final = 400
#: Every throw, the order of the dice ignored, with its probability.
UNORDERED_THROW_CHANCES: Final = tuple(
    (pair, Fraction(1 if pair[0] == pair[1] else 2, 36)) for pair in UNORDERED_THROWS
)
#: The number of the 36 throws with each total.
THROW_COUNT_BY_TOTAL: Final = {
    total: sum(sum(dice) == total for dice in ORDERED_THROWS) for total in range(2, 13)
}
#: The share of all throws that are come-outs. Each pass bet lasts for one come-out and, if that sets a point, for the
#: throws up to the point or a seven. So the share is the inverse of the mean number of throws for which a pass bet
#: lasts.
COME_OUT_SHARE_OF_THROWS: Final = 1 / sum(
    (Fraction(THROW_COUNT_BY_TOTAL[n], THROW_COUNT_BY_TOTAL[n] + 6) for n in POINT_NUMBERS), Fraction(1)
)


@dataclass
class BetReturnChain:
    """The Markov chain of a craps table: what its bets return until all are decided, without new stakes."""

    rules_by_spot: Mapping[str, SpotRules]
    """The rules of each betting spot."""
    _returns_by_state: dict[CrapsState, SumsByKey[int]] = field(default_factory=dict)
    """The probabilities of total returns that are computed already, by table state."""

    def iter_throws(self, state: CrapsState) -> Iterator[tuple[Fraction, tuple[Settlement, ...], CrapsState]]:
        """Yield each possible throw of the dice: its probability, its settlements, and the table after it."""
        for dice, chance in UNORDERED_THROW_CHANCES:
            yield chance, *apply_throw(self.rules_by_spot, state, dice)

    def find_reachable_states(self, start_state: CrapsState) -> set[CrapsState]:
        """Return every state that follows ``start_state``. The search stops above :data:`CHAIN_STATES_MAX`."""
        states, unvisited = {start_state}, [start_state]
        while unvisited and len(states) <= CHAIN_STATES_MAX:
            for _, _, next_state in self.iter_throws(unvisited.pop()):
                if next_state not in states:
                    states.add(next_state)
                    unvisited.append(next_state)
        return states

    def compute_return_chances(self, start_state: CrapsState) -> SumsByKey[int]:
        """Return the probability of each total that the bets on the craps table return until all are decided."""
        if not start_state.bets:
            return {0: Fraction(1)}
        if start_state not in self._returns_by_state:
            same_bet_states = [start_state]
            rows: list[dict[int, Fraction]] = []
            later_chances: list[SumsByKey[int]] = []
            for state in same_bet_states:  # grows by the states with the same bets
                row: dict[int, Fraction] = {}
                later_chances_of_state: SumsByKey[int] = {}
                for chance, settlements, next_state in self.iter_throws(state):
                    if (next_state.bets, next_state.switched_bets) == (
                        start_state.bets,
                        start_state.switched_bets,
                    ):
                        if next_state not in same_bet_states:
                            same_bet_states.append(next_state)
                        add_sums(row, {same_bet_states.index(next_state): chance})
                    else:
                        returned_credits = sum(settlement.credits for settlement in settlements)
                        later_returns = self.compute_return_chances(next_state)
                        add_sums(
                            later_chances_of_state,
                            {
                                returned_credits + later_return: later_chance
                                for later_return, later_chance in later_returns.items()
                            },
                            chance,
                        )
                rows.append(row)
                later_chances.append(later_chances_of_state)
            self._returns_by_state |= zip(same_bet_states, solve_chain(rows, later_chances), strict=True)
        return self._returns_by_state[start_state]


def find_highest_throw_return(
    rules_by_spot: Mapping[str, SpotRules], table_state: CrapsState
) -> dict[int, int]:
    """Return the most credits that a single throw of the dice, the next or a later one, may return to each seat.

    For each result of the two dice, each bet is counted at the point that is best for it; pass and don't pass bets and
    their odds are counted at the table's point if one is set. The sum is an upper bound; it is exact for bets that one
    throw decides.
    """
    highest_returns = {
        bet: _find_highest_bet_returns(rules_by_spot, bet, table_state.point) for bet in table_state.bets
    }
    return {
        seat: max(
            sum(highest_returns[bet][throw_index] for bet in table_state.bets if bet.seat == seat)
            for throw_index in range(len(UNORDERED_THROWS))
        )
        for seat in {bet.seat for bet in table_state.bets}
    }


def _find_highest_bet_returns(
    rules_by_spot: Mapping[str, SpotRules], bet: Bet, point: int | None
) -> list[int]:
    """Return the most credits that a craps bet may return on each of the 21 results of two dice, their order ignored.

    A come bet may also return them from the spot that it travels to.
    """
    bet_spot_rules = rules_by_spot[bet.spot]
    is_in_come_box = bet_spot_rules.bet.kind in {"come", "dontcome"} and not bet_spot_rules.number_or_dice
    possible_spot_rules = (
        (bet_spot_rules, *(rules_by_spot[f"{bet_spot_rules.id}-{number}"] for number in POINT_NUMBERS))
        if is_in_come_box
        else (bet_spot_rules,)
    )
    highest_returns = [0] * len(UNORDERED_THROWS)
    for spot_rules in possible_spot_rules:
        is_decided_by_table_point = (
            point is not None
            and not spot_rules.number_or_dice
            and (spot_rules.flat_bet_kind or spot_rules.bet.kind in {"pass", "dontpass"})
        )
        points = (point,) if is_decided_by_table_point else (None, *POINT_NUMBERS)
        for tried_point, is_switched in product(
            points, (False, True) if spot_rules.can_switch_on_off else (False,)
        ):
            for throw_index, dice in enumerate(UNORDERED_THROWS):
                result = spot_rules.decide_bet(dice, tried_point, is_switched=is_switched)
                if isinstance(result, Odds):
                    highest_returns[throw_index] = max(
                        highest_returns[throw_index],
                        spot_rules.settle_decided(bet, result, tried_point).credits,
                    )
    return highest_returns


def compute_bets_per_throw(spot_rules: SpotRules, point: int | None = None) -> Fraction:
    """Return the mean number of bets per throw of a player who bets on a craps spot whenever the spot accepts bets.

    Throws in which the bet is off count too. An odds bet is placed each time its flat bet has a number; of the odds on
    pass and don't pass, only those with the number ``point`` are counted.
    """
    rate_key = spot_rules.flat_bet_kind or spot_rules.bet.kind
    rate_by_kind = {
        "pass": COME_OUT_SHARE_OF_THROWS,
        "dontpass": COME_OUT_SHARE_OF_THROWS,
        "come": 1 - COME_OUT_SHARE_OF_THROWS,
        "dontcome": 1 - COME_OUT_SHARE_OF_THROWS,
    }
    if rate_key in rate_by_kind:
        number = spot_rules.number or point
        return rate_by_kind[rate_key] * (
            Fraction(THROW_COUNT_BY_TOTAL[number], 36) if number and spot_rules.flat_bet_kind else 1
        )
    if not spot_rules.can_outlast_throw:
        return Fraction(1)
    share_of_throws_on = 1 - COME_OUT_SHARE_OF_THROWS if spot_rules.bet.is_off_on_come_out else Fraction(1)
    return share_of_throws_on * compute_decision_chance_per_throw(spot_rules, None)


def compute_decision_chance_per_throw(spot_rules: SpotRules, point: int | None) -> Fraction:
    """Return the probability that one throw decides a bet on a craps spot, if the bet is on."""
    results = (
        spot_rules.decide_bet(dice, point, is_switched=spot_rules.bet.is_off_on_come_out)
        for dice in ORDERED_THROWS
    )
    return Fraction(sum(not isinstance(result, str) for result in results), 36)


def analyse_spots(rules_by_spot: Mapping[str, SpotRules], depth: AnalysisDepth) -> tuple[BetAnalysis, ...]:
    """Return the exact figures of the minimum craps bet of each kind and pay, played to its end."""
    figures_by_name: dict[str, BetAnalysis] = {}
    for spot_rules in rules_by_spot.values():
        if spot_rules.number_or_dice and spot_rules.bet.kind in {"come", "dontcome"}:
            continue  # the destination of a come bet: part of its figures
        is_line_bet = spot_rules.bet.kind in {"pass", "dontpass"}
        for point in (
            POINT_NUMBERS
            if spot_rules.flat_bet_kind and not spot_rules.number_or_dice
            else (None if is_line_bet else POINT_NUMBERS[0],)
        ):
            name = (
                f"{spot_rules.group} {spot_rules.list_odds(point)[0].text}"
                if spot_rules.flat_bet_kind and not spot_rules.number_or_dice
                else spot_rules.group
            )
            if name not in figures_by_name:
                figures_by_name[name] = _analyse_bet_alone(rules_by_spot, spot_rules, point, name, depth)
    return tuple(figures_by_name.values())


def _analyse_bet_alone(
    rules_by_spot: Mapping[str, SpotRules],
    spot_rules: SpotRules,
    point: int | None,
    bet_name: str,
    depth: AnalysisDepth,
) -> BetAnalysis:
    """Return the exact figures of one craps bet at its minimum, alone on the table, until it is decided."""
    bet_min = spot_rules.build_spot(point).bet_min
    on_off_choices = {"working": {spot_rules.id: True}} if spot_rules.bet.is_off_on_come_out else {}
    wager = Wager(bet_min, {"bets": {spot_rules.id: bet_min}, **on_off_choices})
    switched_bets = frozenset({(0, spot_rules.id)}) if spot_rules.bet.is_off_on_come_out else frozenset()
    figures = analyse_cases(
        bet_name,
        wager,
        _iter_cases(BetReturnChain(rules_by_spot), CrapsState(point, 0, wager.bets, switched_bets)),
        depth,
    )
    figures = replace(
        figures,
        table=None if point is None else _build_table_with_point(rules_by_spot, spot_rules, point, bet_min),
    )
    if depth is AnalysisDepth.RETURN:
        return figures
    house_edge = 1 - figures.rtp
    mean_throw_count = _compute_mean_throws(spot_rules, point)
    house_edge_per_throw = house_edge * compute_bets_per_throw(spot_rules, point)
    # format_percent multiplies by 100: mean_throw_count / 100 gives the number of throws with four decimals.
    note = (
        f"decided in {format_percent(mean_throw_count / 100, 4)} throws on average ({mean_throw_count}); "
        f"the house edge is {house_edge} of each bet, {house_edge / mean_throw_count} per throw while the bet is on, "
        f"and {house_edge_per_throw} ({format_percent(house_edge_per_throw, 4)} %) per throw of the table if it is "
        "placed whenever it is accepted"
    )
    return replace(figures, notes=(note,))


def _build_table_with_point(
    rules_by_spot: Mapping[str, SpotRules], spot_rules: SpotRules, point: int, credits_: int
) -> object:
    """Return the stored state of a craps table with this point, on which a bet on the spot can be placed.

    The bet that the spot requires stands on the table; if it requires none, the shooter's line bet does.
    """
    line_spots = (
        line_rules.id for line_rules in rules_by_spot.values() if line_rules.bet.kind in {"pass", "dontpass"}
    )
    required_spot = spot_rules.required_spot or next(line_spots)
    odds_multiple = (
        spot_rules.bet.multiple_max_by_number.get(spot_rules.number_or_dice or str(point), 1)
        if spot_rules.required_spot
        else 1
    )
    stake_credits = max(
        rules_by_spot[required_spot].build_spot(None).bet_min,
        -(-credits_ // odds_multiple) if spot_rules.bet.multiple_max_by_number else 1,
    )
    return CrapsState(point, 0, (Bet(required_spot, stake_credits),)).to_json()


def _compute_mean_throws(spot_rules: SpotRules, point: int | None) -> Fraction:
    """Return the mean number of throws until a craps bet is decided, if the bet is on at every throw."""
    if spot_rules.bet.kind in {"pass", "dontpass", "come", "dontcome"}:
        return 1 / COME_OUT_SHARE_OF_THROWS
    return 1 / compute_decision_chance_per_throw(spot_rules, point)


def _iter_cases(chain: BetReturnChain, start_state: CrapsState) -> Iterator[WeightedResult]:
    """Yield one case for each total that the only bet on a craps table may return."""
    (bet,) = start_state.bets
    for returned_credits, chance in chain.compute_return_chances(start_state).items():
        name = "push" if returned_credits == bet.credits else "won" if returned_credits else "lost"
        weight = chance * 36
        weight_or_chance = (
            int(weight)
            if weight.denominator == 1 and not chain.rules_by_spot[bet.spot].can_outlast_throw
            else chance
        )
        yield WeightedResult(
            weight_or_chance,
            (Settlement(name, returned_credits, spot=bet.spot, staked_credits=bet.credits, seat=bet.seat),),
        )


def analyse_wager(
    rules_by_spot: Mapping[str, SpotRules], table_state: CrapsState, wager: Wager
) -> BetAnalysis:
    """Return the exact figures of a wager's new stakes on a craps table, until each bet is decided.

    The distribution is exact up to :data:`CHAIN_STATES_MAX` states of the table. Beyond that, mean and variance
    are exact and the highest win is an upper bound.
    """
    table_state = replace(table_state, shooter=0)
    new_bets = tuple(bet for bet in wager.bets if bet.credits > 0)
    chain = BetReturnChain(rules_by_spot)
    start_state_by_bet = {
        bet: replace(
            table_state, bets=(bet,), switched_bets=table_state.switched_bets & {(bet.seat, bet.spot)}
        )
        for bet in new_bets
    }
    cost = wager.credits
    if not new_bets:
        distribution = WinDistribution(1, {0: 1})
        return BetAnalysis(
            bet="bets", cost_credits=0, options=wager.options, rtp=Fraction(1), distribution=distribution
        )
    distribution_by_bet = {
        bet: build_distribution(chain.compute_return_chances(start_state))
        for bet, start_state in start_state_by_bet.items()
    }
    mean = sum((distribution.compute_moment(1) for distribution in distribution_by_bet.values()), Fraction(0))
    figures = BetAnalysis(
        bet="bets",
        cost_credits=cost,
        options=wager.options,
        rtp=mean / cost,
        prizes=tuple(_iter_prizes(distribution_by_bet, cost)),
        max_win_credits=sum(
            max(distribution.case_count_by_win) for distribution in distribution_by_bet.values()
        ),
    )
    start_state = table_state.with_bets(new_bets, table_state.switched_bets)
    if len(chain.find_reachable_states(start_state)) > CHAIN_STATES_MAX:
        note = (
            "the joint distribution is too large to compute; the highest win is an upper bound, the sum of the bets' "
            "highest wins"
        )
        return replace(
            figures, variance=_compute_sum_variance(chain, table_state, distribution_by_bet), notes=(note,)
        )
    distribution = build_distribution(chain.compute_return_chances(start_state))
    return figures.with_distribution(distribution)


def _compute_sum_variance(
    chain: BetReturnChain, table_state: CrapsState, distribution_by_bet: Mapping[Bet, WinDistribution]
) -> Fraction:
    """Return the variance of the total return of several craps bets, from single bets and every pair of bets.

    With n bets it is the sum of the variances of all pairs, less n - 2 times the sum of the bets' own variances: each
    covariance occurs in the variance of one pair, but each bet's own variance in those of n - 1 pairs, n - 2 too many.
    """
    sum_of_variances = sum(
        (distribution.compute_variance() for distribution in distribution_by_bet.values()), Fraction(0)
    )
    pair_distributions = (
        build_distribution(
            chain.compute_return_chances(table_state.with_bets(pair, table_state.switched_bets))
        )
        for pair in combinations(distribution_by_bet, 2)
    )
    return (
        sum((distribution.compute_variance() for distribution in pair_distributions), Fraction(0))
        - (len(distribution_by_bet) - 2) * sum_of_variances
    )


def _iter_prizes(distribution_by_bet: Mapping[Bet, WinDistribution], cost: int) -> Iterable[PrizeFigures]:
    """Yield the results of each craps bet that return credits, as prizes; ``cost`` is the wager's cost in credits."""
    for bet, distribution in distribution_by_bet.items():
        for returned_credits, count in distribution.case_count_by_win.items():
            if returned_credits:
                rate = Fraction(count, distribution.case_count)
                name = "push" if returned_credits == bet.credits else "won"
                yield PrizeFigures(
                    name=name,
                    stage_or_spot=bet.spot,
                    credits=returned_credits,
                    rate=rate,
                    rtp=rate * returned_credits / cost,
                )
