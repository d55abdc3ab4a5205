"""The exact figures of a craps betting strategy over one hand, from an empty table until no bets are left.

A seven with a point takes every bet except the winning ones off the table, so every hand ends.
"""

from dataclasses import replace
from fractions import Fraction

from paytables.analysis import BetAnalysis
from paytables.contract import Wager
from paytables.craps.figures import UNORDERED_THROW_CHANCES
from paytables.craps.linear import SumsByKey, add_sums, solve_chain
from paytables.craps.rules import CrapsRules
from paytables.craps.schema import CrapsStrategy
from paytables.craps.state import OPENING_STATE, apply_throw, find_odds_bet_max_credits
from paytables.errors import AnalysisError, WagerError
from paytables.wording import format_known_names, format_percent

#: Maximum number of table states that a craps strategy may reach.
_TABLE_STATES_MAX = 500


def find_strategy_bets(strategy: CrapsStrategy, rules: CrapsRules) -> dict[str, int]:
    """Return the bets, credits by spot, that a craps strategy places before the next throw.

    Raises :class:`AnalysisError` if the strategy has a bet on an unknown spot.
    """
    point, standing_bets = rules.state.point, rules.state.find_seat_bets(0)
    bets: dict[str, int] = {}
    for spot, credits_ in strategy.credits_by_bet.items():
        spot_rules = rules.rules_by_spot.get(spot)
        if spot_rules is None:
            raise AnalysisError(f"strategy {strategy.id}: there is no spot {spot!r}")
        moved_bet_count = sum(name.startswith(f"{spot}-") for name in standing_bets)
        has_room = moved_bet_count < strategy.come_bets_on_numbers_max
        if spot_rules.accepts_bets(point) and spot not in standing_bets and has_room:
            bets[spot] = credits_
    for spot_rules in rules.rules_by_spot.values() if strategy.takes_maximum_odds else ():
        if (
            spot_rules.flat_bet_kind
            and spot_rules.accepts_bets(point)
            and spot_rules.required_spot in standing_bets
        ):
            limits = rules.table_layout.spot_by_id[spot_rules.id]
            odds_bet_max = (
                min(find_odds_bet_max_credits(spot_rules, standing_bets, point), limits.bet_max)
                // limits.bet_step
                * limits.bet_step
            )
            if odds_bet_max > standing_bets.get(spot_rules.id, 0):
                bets[spot_rules.id] = odds_bet_max - standing_bets.get(spot_rules.id, 0)
    return bets


def analyse_named_strategy(strategy_id: str, rules: object) -> BetAnalysis:
    """Return the exact figures of a strategy that a craps definition names. Raises :class:`AnalysisError`."""
    if not isinstance(rules, CrapsRules):
        raise AnalysisError("a strategy can only be named for craps: definitions of this family have none")
    for strategy in rules.definition.strategies:
        if strategy.id == strategy_id:
            return analyse_strategy(strategy, rules)
    strategy_ids = [strategy.id for strategy in rules.definition.strategies]
    raise AnalysisError(f"no strategy {strategy_id!r}; {format_known_names(strategy_id, strategy_ids)}")


def analyse_strategy(strategy: CrapsStrategy, rules: CrapsRules) -> BetAnalysis:
    """Return the exact figures of a craps strategy over one hand of the shooter.

    The return is per credit of the first stakes, as for every game with later stakes; ``rtp_of_all_staked``
    is per credit of all stakes. The player makes no on/off choices. Raises :class:`AnalysisError` for bets
    that the rules refuse, and if the strategy reaches too many table states.
    """
    states = [OPENING_STATE]
    index_by_state = {OPENING_STATE: 0}
    rows: list[dict[int, Fraction]] = []
    sums_by_state: list[SumsByKey[str]] = []
    first_wager = Wager(0)
    for state in states:  # grows by the states it leads to
        rules_at_state = replace(rules, state=state)
        bets = find_strategy_bets(strategy, rules_at_state)
        cost_credits = sum(bets.values())
        try:
            wager = rules_at_state.build_wager(cost_credits, bets=bets)
        except WagerError as error:
            raise AnalysisError(f"strategy {strategy.id}, point {state.point}: {error}") from None
        first_wager = wager if state == OPENING_STATE else first_wager
        table_state = rules_at_state.place_bets(wager)
        row: dict[int, Fraction] = {}
        sums: SumsByKey[str] = {
            "staked": Fraction(cost_credits),
            "throws": Fraction(1),
            "returned": Fraction(0),
        }
        for dice, chance in UNORDERED_THROW_CHANCES:
            settlements, state_after = apply_throw(rules.rules_by_spot, table_state, dice)
            sums["returned"] += chance * sum(settlement.credits for settlement in settlements)
            if state_after != OPENING_STATE:
                if state_after not in index_by_state:
                    index_by_state[state_after] = len(states)
                    states.append(state_after)
                add_sums(row, {index_by_state[state_after]: chance})
        if len(states) > _TABLE_STATES_MAX:
            raise AnalysisError(f"strategy {strategy.id}: more than {_TABLE_STATES_MAX} states of the table")
        rows.append(row)
        sums_by_state.append(sums)
    return _build_figures(strategy, first_wager, solve_chain(rows, sums_by_state)[0])


def _build_figures(
    strategy: CrapsStrategy, first_wager: Wager, mean_sums_per_hand: SumsByKey[str]
) -> BetAnalysis:
    """Return a strategy's figures from the mean of stakes, returns and throws in one hand of the shooter."""
    lost_credits = mean_sums_per_hand["staked"] - mean_sums_per_hand["returned"]
    house_edge = lost_credits / mean_sums_per_hand["staked"]
    loss_per_throw = lost_credits / mean_sums_per_hand["throws"]
    mean_throws = mean_sums_per_hand["throws"]
    note = (
        f"{strategy.name.en}: a hand lasts {format_percent(mean_throws / 100, 4)} throws on average ({mean_throws}); "
        f"of all that is staked the house keeps {format_percent(house_edge, 4)} % ({house_edge}), "
        f"a throw {format_percent(loss_per_throw / 100, 6)} ({loss_per_throw})"
    )
    return BetAnalysis(
        bet=strategy.id,
        cost_credits=first_wager.credits,
        options=first_wager.options,
        rtp=1 - lost_credits / first_wager.credits,
        mean_staked_credits=mean_sums_per_hand["staked"],
        strategy=", ".join(f"{credits_} on {spot}" for spot, credits_ in strategy.credits_by_bet.items()),
        notes=(note,),
    )
