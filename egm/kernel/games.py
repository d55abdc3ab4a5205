"""Installed games of a machine, whether offered or not, and the player's selection of game, bet and language."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from meters.transaction import JSON
from paytables import Game


@dataclass(slots=True)
class InstalledGames:
    """Every installed game by its id, whether or not the operator's options offer it.

    ``denominations_cents`` are the approved denominations of each game. ``lowest_return_by_game`` are the lowest exact
    return (RTP) of each game at those denominations.
    """

    games_by_id: Mapping[str, Game] = field(default_factory=dict)
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
    """Bet options of the game family in addition to the credits, such as a bet mode or a Keno ticket's selections."""

    @property
    def bet_cents(self) -> int:
        """Return the selected bet in minor units."""
        return self.bet_credits * self.denomination_cents
