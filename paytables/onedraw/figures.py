"""The exact figures of a table with one draw: every kind of bet, every preset bet, any combination of bets.

Results are counted among equally likely cases, so a bet of one draw is an enumeration. Bets that outlast a
draw make a Markov chain that continues only if the same result repeats: it is followed to its end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.contract import Settlement, Wager
from paytables.layout import WeightedResult, analyse_cases
from paytables.onedraw.bets import OneDrawBets
from paytables.prison import HeldBet, list_bets_on_table, with_prison_choice
from paytables.wording import format_percent

#: The name of the strategy in the figures.
_TAKE_PART_BACK_TEXT: Final = "take your part back at every zero"


def analyse(table: OneDrawBets, depth: AnalysisDepth) -> Analysis:
    """Return the exact figures of every kind of bet at its minimum stake.

    At depth HIGHEST and above, the figures of every preset bet on several spots are included.
    """
    bets = []
    for group, spot_rules in table.list_rules_by_group().items():
        spot = spot_rules[0].spot
        wager = table.build_wager(spot.bet_min, bets={spot.id: spot.bet_min})
        bets.append(analyse_bets(table, wager, group, depth))
    if depth in {AnalysisDepth.HIGHEST, AnalysisDepth.FULL}:
        for preset_bet in table.preset_bets:
            if len(preset_bet.bets) > 1:
                wager = table.build_wager(sum(preset_bet.bets.values()), form=preset_bet.id)
                bets.append(analyse_bets(table, wager, preset_bet.id, depth))
    header = table.header
    return Analysis(game_id=header.id, version=header.version, family=header.family, bets=tuple(bets))


def analyse_bets(
    table: OneDrawBets, wager: Wager, bet_name: str, depth: AnalysisDepth = AnalysisDepth.FULL
) -> BetAnalysis:
    """Return the exact figures of a wager, each bet followed to its end.

    If the rules let a player choose between prison and taking a part of the stake back, the part is taken
    back.
    """
    bets = list_bets_on_table((), wager, table.table_layout.spots)
    figures = analyse_cases(bet_name, wager, iter_cases(table, bets), depth)
    figures = replace(figures, cycle=sum(table.case_count_by_result.values()))
    choice_spots = {bet.spot for bet in bets if table.rules_by_spot[bet.spot].on_zero == "choice"}
    if not choice_spots:
        return figures
    worst_rtp = analyse_cases(
        bet_name, wager, iter_cases(table, bets, leaves_in_prison=True), AnalysisDepth.RETURN
    ).rtp
    rtp_without_limit = min(compute_rtp_with_unlimited_prison(table, spot) for spot in choice_spots)
    note = (
        f"return if every stake is left in prison at zero: {format_percent(worst_rtp)} %; "
        f"of a simple chance without a limit to the halving: {format_percent(rtp_without_limit)} %"
    )
    return with_prison_choice(figures, _TAKE_PART_BACK_TEXT, worst_rtp, note)


def iter_cases(
    table: OneDrawBets, bets: Sequence[HeldBet], *, leaves_in_prison: bool = False
) -> Iterator[WeightedResult]:
    """Yield every possible end of bets at a table with one draw, with its weight.

    ``leaves_in_prison``: the player leaves every stake in prison that may stay there.
    """
    case_total = sum(table.case_count_by_result.values())
    for result, case_count in table.case_count_by_result.items():
        settlements: list[Settlement] = []
        held_bets: list[HeldBet] = []
        for bet in bets:
            settlement, held_bet = table.decide_bet(bet, result)
            if held_bet is not None and (settlement is None or leaves_in_prison):
                held_bets.append(held_bet)
            elif settlement is not None:
                settlements.append(settlement)
        if not held_bets:
            yield WeightedResult(case_count, settlements)
            continue
        for later_case in iter_cases(table, held_bets, leaves_in_prison=leaves_in_prison):
            yield WeightedResult(
                case_count * Fraction(later_case.weight) / case_total, [*settlements, *later_case.settlements]
            )


def compute_rtp_with_unlimited_prison(table: OneDrawBets, spot: str) -> Fraction:
    """Return an even-money bet's RTP if the stake is always left in prison and may be halved without limit.

    A stake in prison returns h on average: the whole stake with the probability of a win, and half of h with the
    probability of another zero, so that h = wins + zero * h / 2.
    """
    case_total, odds_by_result = (
        sum(table.case_count_by_result.values()),
        table.rules_by_spot[spot].odds_by_result,
    )
    win_chance = Fraction(sum(table.case_count_by_result[result] for result in odds_by_result), case_total)
    zero_chance = Fraction(
        sum(table.case_count_by_result[result] for result in table.zero_results), case_total
    )
    held_return = win_chance / (1 - zero_chance / 2)
    net = next(iter(odds_by_result.values())).net
    return win_chance * (1 + net) + zero_chance * held_return
