"""Installed games of a machine, offered or not; and the game, bet and language its player has selected."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from meters.transaction import JSON
from paytables import Game


@dataclass(slots=True)
class InstalledGames:
    """Every game installed, by id, whether the options offer it or not.

    ``denominations_cents``: those admitted of each. ``returns``: its least exact return, as admitted.
    """

    games: Mapping[str, Game] = field(default_factory=dict)
    denominations_cents: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    returns: Mapping[str, Fraction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Selection:
    """What the player has chosen to play next."""

    game_id: str
    denomination_cents: int
    bet_credits: int
    language: str
    options: Mapping[str, JSON] = field(default_factory=dict)
    """What the family needs beside the credits: a bet mode, a Keno ticket's selections."""

    @property
    def bet_cents(self) -> int:
        """The wager in minor units."""
        return self.bet_credits * self.denomination_cents
