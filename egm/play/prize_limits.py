"""Computation of the largest prize of a game, which some jurisdictions limit.

It searches all reel windows of a game, which takes some seconds, so a machine stores the result
(:mod:`egm.play.stored_prizes`). It needs no laboratory packages.
"""

from collections.abc import Callable

from paytables import AnalysisDepth, Game, analyse

#: A function that returns, for each way to bet on a game, its largest win and its cost in credits.
#:
#: None for a win without an exact figure.
ComputeLargestPrizes = Callable[[Game], tuple[tuple[int | None, int], ...]]


def compute_largest_prizes(game: Game) -> tuple[tuple[int | None, int], ...]:
    """Compute, in some seconds, the largest prize of each way to bet on a game.

    Each result is a pair: the prize in credits (None if it cannot be computed exactly) and the cost of the bet.
    """
    return tuple((bet.max_win_credits, bet.cost_credits) for bet in analyse(game, AnalysisDepth.HIGHEST).bets)


def compute_largest_win_cents(
    game: Game,
    denomination_cents: int,
    bet_limit_cents: int,
    largest_prizes: tuple[tuple[int | None, int], ...],
) -> int | None:
    """Return the most that one game can win at a denomination within the bet limit, in minor units.

    Return None if a prize cannot be computed exactly. ``largest_prizes`` are the results of
    :func:`compute_largest_prizes`. The figure includes the largest bet within the limit and a double-up, so it is
    never too low. At a table, the best single bet is taken with the whole limit as its stake: no combination of bets
    wins a greater multiple of its cost. At least one bet must be within the limit.
    """
    highest_bet_credits = max(bet for bet in game.bet_options if bet * denomination_cents <= bet_limit_cents)
    has_spots = bool(game.rules.list_spots())
    if has_spots:
        highest_bet_credits = bet_limit_cents // denomination_cents
    largest_win_credits = 0
    for win_credits, cost_credits in largest_prizes:
        if win_credits is None:
            return None
        if has_spots:
            largest_win_credits = max(
                largest_win_credits, -(-win_credits * highest_bet_credits // cost_credits)
            )
        else:
            largest_win_credits = max(
                largest_win_credits, win_credits * max(highest_bet_credits // cost_credits, 1)
            )
    return game.find_highest_win_after_double_up(largest_win_credits) * denomination_cents
