"""The model of a definition of pai gow with tiles: the stake, the commission, how the bank sets its tiles."""

from typing import Annotated

from pydantic import Field

from paytables.definition import NaturalInt, StrictTable
from paytables.poker.policy import PackedPolicy
from paytables.poker.proof import FractionText
from paytables.poker.two_hands import TwoHandsDefinition, WinPushLoseChances

#: The worth of each hand of two tiles: first 0 to 9 points, then the 20 named combinations, the lowest first.
HandWorths = Annotated[tuple[NaturalInt, ...], Field(min_length=30, max_length=30)]


class HouseWay(StrictTable):
    """The house way, by which the bank sets its four tiles: the two hands whose worths have the highest sum."""

    low_hand_worths: HandWorths = Field(alias="low")
    """The worth of each hand of two tiles when it is the low hand."""
    high_hand_worths: HandWorths = Field(alias="high")
    """The worth of each hand of two tiles when it is the high hand."""


class ProvedFigures(WinPushLoseChances):
    """The exact figures of a pai gow game: the probabilities of a win, push and loss with the best settings."""

    worst_mean: FractionText = Field(alias="worst")
    """The player's mean net result with the worst settings."""
    simplest_mean: FractionText = Field(alias="simplest")
    """The mean net result of a player who sets tiles as the bank does, the simplest published strategy."""
    policy: PackedPolicy = Field(
        description="the index of the best setting for each set of four tiles, as packed data"
    )
    """The index of the best setting for each set of four tiles, as packed data."""


class PaiGowDefinition(TwoHandsDefinition):
    """The definition of a game of pai gow with tiles.

    The rules leave open how the bank sets its tiles, so the definition states the house way (``bank``). If two settings
    have the same total worth, the bank takes the one with the better low hand.
    """

    house_way: HouseWay = Field(alias="bank")
    """The house way: the worth of each hand; the bank sets its four tiles for the highest total worth."""
    worthless_low_loses: bool = True
    """Whether a player's low hand of 0 points always loses to the bank's low hand (s. 109, 1)."""
    proved: ProvedFigures | None = Field(None, description="written by `python -m tools.dev prove`")
    """The stored exact figures of the game; None: not stored."""
