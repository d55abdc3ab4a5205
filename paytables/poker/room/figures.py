"""The figures of a poker room's game, which the players play against each other.

What a player wins depends on the other players, so the certified figure is the commission
(:attr:`RoomRules.commission_rate`). The return is stated for one play that can be counted: two players with equal
table stakes call the forced bets and then check to the showdown, where each is equally likely to win. The highest
win does not assume this play: every other seat loses table stakes of the same amount to the player.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Final

from paytables.analysis import AnalysisDepth, BetAnalysis
from paytables.contract import Bet, Wager
from paytables.errors import BeyondExactAnalysisError
from paytables.layout import WeightedResult, analyse_cases
from paytables.poker.room.betting import Player
from paytables.poker.room.pots import award_pots, build_pots, settle_stack
from paytables.poker.room.schema import STACK_SPOT, RoomDefinition

#: The chance that two hands of two hole cards and a board of five are equal: of all deals, counted.
HOLDEM_TIE_CHANCE: Final = Fraction(113_130_263_816, 2_781_381_002_400)
#: The seats of the two players of the figures.
_OWN_SEAT, _OTHER_SEAT = 0, 1
#: Note of the figures.
_FIGURES_NOTE: Final = (
    "players play against each other: the return is that of two players who call the forced bets and then check; "
    "the button is with the first"
)


def _find_tie_chance(definition: RoomDefinition) -> Fraction | None:
    """Return the probability that two players have equal hands, or None if it was not computed for this deal."""
    is_holdem = (
        definition.player_card_count,
        definition.board_card_count,
        definition.required_hole_card_count,
    ) == (2, 5, None)
    return HOLDEM_TIE_CHANCE if is_holdem else None


def analyse_stack(definition: RoomDefinition, stack_credits: int, depth: AnalysisDepth) -> BetAnalysis:
    """Return the figures of table stakes of ``stack_credits``, for two players who only call and check.

    If the probability of equal hands is not known, only the return and the highest win are stated.

    Raises :class:`BeyondExactAnalysisError` if the return depends on that probability, because the pot of the two
    players is odd.
    """
    bets = {STACK_SPOT: stack_credits}
    options = {"bets": bets, "seat": _OWN_SEAT, "others": {str(_OTHER_SEAT): bets}}
    wager, tie_chance = Wager(stack_credits, {"bets": bets}), _find_tie_chance(definition)
    cases = _build_cases(definition, stack_credits, Fraction(0) if tie_chance is None else tie_chance)
    if tie_chance is None:
        _check_equal_shares(cases)
    counted_depth = depth if tie_chance is not None else AnalysisDepth.RETURN
    figures = analyse_cases(STACK_SPOT, wager, cases, counted_depth)
    figures = replace(
        figures,
        prizes=(),
        options=options,
        table={"button": _OWN_SEAT},
        notes=(_FIGURES_NOTE,),
        is_covered_by_players=True,
    )
    if depth is AnalysisDepth.RETURN:
        return figures
    return replace(
        figures, max_win_credits=stack_credits * definition.table.seat_count, max_win_probability=None
    )


def _build_cases(
    definition: RoomDefinition, stack_credits: int, tie_chance: Fraction
) -> list[WeightedResult]:
    """Return the results of a player's table stakes with a higher, an equal and a lower hand, with probabilities.

    ``tie_chance`` is the probability of equal hands.
    """
    bet_credits = definition.forced_bets.first_call_credits + definition.forced_bets.ante
    pots = build_pots({_OTHER_SEAT: bet_credits, _OWN_SEAT: bet_credits}, (_OTHER_SEAT, _OWN_SEAT))
    pots = definition.commission_rules.deduct_commission(pots)
    player = Player(_OWN_SEAT, stack_credits - bet_credits, total_bet_credits=bet_credits)
    results = ((2, (1 - tie_chance) / 2), (1, tie_chance), (0, (1 - tie_chance) / 2))
    return [
        WeightedResult(
            chance,
            [
                *settle_stack(
                    Bet(STACK_SPOT, stack_credits),
                    player,
                    award_pots(pots, {_OTHER_SEAT: 1, _OWN_SEAT: own_strength}, (_OTHER_SEAT, _OWN_SEAT)).get(
                        _OWN_SEAT
                    ),
                )
            ],
        )
        for own_strength, chance in results
    ]


def _check_equal_shares(cases: list[WeightedResult]) -> None:
    """Raise BeyondExactAnalysisError if a tie does not return the average of a win and a loss.

    This happens if the pot is odd. The return then depends on the unknown probability of a tie.
    """
    win_credits, tie_credits, loss_credits = (
        sum(settlement.credits for settlement in case.settlements) for case in cases
    )
    if 2 * tie_credits != win_credits + loss_credits:
        raise BeyondExactAnalysisError(
            "the return depends on how often two hands are equal, which is counted for two hole cards and a board "
            "of five only: choose forced bets whose pot of two can be divided"
        )
