"""A round as a test needs it: its questions one by one, and the stakes that are not decided yet."""

from paytables import Bet, Round, TimeToAct

#: The time limit for an answer that others wait for, if the game states none.
TURN_SECONDS_MAX = TimeToAct().seconds


def questions(game, wager, draw):
    """Yield each decision of a round, be sent its choice, return the outcome."""
    played = Round(game.play(wager, draw), wager)
    played.advance()
    while played.decision is not None:
        played.advance((yield played.decision))
    return played.outcome


def list_undecided_stakes(round_):
    """The stakes of a round that no settlement has decided yet."""
    undecided = {}
    for bet in round_.staked_bets:
        undecided[bet.seat, bet.spot] = undecided.get((bet.seat, bet.spot), 0) + bet.credits
    for settlement in round_.settlements:
        if (settlement.seat, settlement.spot) in undecided:
            undecided[settlement.seat, settlement.spot] -= settlement.staked_credits
    return tuple(Bet(spot, credits_, seat) for (seat, spot), credits_ in undecided.items() if credits_ > 0)
