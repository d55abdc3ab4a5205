"""Helpers to play a round decision by decision, and to find its undecided stakes."""

from paytables import Bet, Round, TimeToAct

#: Time limit of a decision that other seats wait for, if the game states none, in seconds.
TURN_SECONDS_MAX = TimeToAct().seconds


def play_decisions(game, wager, draw):
    """Play a round: yield each decision, receive its choice by ``send``, and return the outcome."""
    played = Round(game.play(wager, draw), wager)
    played.advance()
    while played.decision is not None:
        played.advance((yield played.decision))
    return played.outcome


def list_undecided_stakes(round_):
    """Return the stakes of a round that no settlement has decided yet."""
    undecided = {}
    for bet in round_.staked_bets:
        undecided[bet.seat, bet.spot] = undecided.get((bet.seat, bet.spot), 0) + bet.credits
    for settlement in round_.settlements:
        if (settlement.seat, settlement.spot) in undecided:
            undecided[settlement.seat, settlement.spot] -= settlement.staked_credits
    return tuple(Bet(spot, credits_, seat) for (seat, spot), credits_ in undecided.items() if credits_ > 0)
