"""A round as its questions alone: for tests that answer them one by one."""

from paytables import Round


def questions(game, wager, draw):
    """Yield each decision of a round, be sent its choice, return the outcome."""
    played = Round(game.play(wager, draw), wager)
    played.advance()
    while played.decision is not None:
        played.advance((yield played.decision))
    return played.outcome
