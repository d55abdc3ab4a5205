"""Installed games of a machine, whether offered or not, and the player's selection of game, bet and language."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from meters.transaction import JSON
from paytables import Game


@dataclass(slots=True)
class InstalledGames:
    """Every installed game by its id, whether or not the operator's options offer it.

    ``denominations_cents`` has the approved denominations of each game in minor units.
    ``lowest_return_by_game`` has the lowest exact return (RTP) of each game over these denominations.
    """

    game_by_id: Mapping[str, Game] = field(default_factory=dict)
    denominations_cents: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    lowest_return_by_game: Mapping[str, Fraction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Selection:
    """The player's current choice of game, denomination, bet and language."""

    game_id: str
    denomination_cents: int
    bet_credits: int
    language: str
    options: Mapping[str, JSON] = field(default_factory=dict)
    """The bet options of the game's family other than the credits: a bet mode, or the numbers of a Keno ticket."""

    @property
    def bet_cents(self) -> int:
        """Return the selected bet in minor units."""
        return self.bet_credits * self.denomination_cents
