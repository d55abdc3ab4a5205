"""The rules of pai gow: four tiles are set as two hands, and both are compared with the bank's."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import ClassVar, Final

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.contract import Wager
from paytables.player_bank import BANK_SPOT
from paytables.poker.policy import unpack_policy
from paytables.poker.tiles.bank import choose_bank_setting
from paytables.poker.tiles.schema import PaiGowDefinition, ProvedFigures
from paytables.poker.tiles.tiles import (
    ALL_TILES,
    NAMED_COMBINATION_COUNT,
    find_hand_value_index,
    is_worthless_hand,
    list_settings,
)
from paytables.poker.two_hands import PLAYER_STAKE_SPOT, HandSetting, TwoHandsRules
from paytables.wording import format_count

#: Tiles of a hand.
TILES_PER_HAND: Final = 4
#: How the best strategy sets the tiles, as text.
ADVISED_STRATEGY_TEXT: Final = "of the ways to set four tiles, always the one with the highest exact mean"
#: How the simplest strategy sets the tiles, as text.
SIMPLEST_STRATEGY_TEXT: Final = "set the tiles as the bank sets its own"


@dataclass(frozen=True)
class PaiGowRules(TwoHandsRules):
    """The rules of a playable game of pai gow with tiles."""

    definition: PaiGowDefinition

    PIECES_PER_HAND: ClassVar[int] = TILES_PER_HAND
    PIECE_KIND: ClassVar[str] = "tile"
    PIECE_NAMES: ClassVar[Sequence[str]] = ALL_TILES
    FACE_DOWN_TEXT: ClassVar[str] = "?-?"

    def list_settings(self, cards: Sequence[int]) -> tuple[HandSetting, ...]:
        """Return every setting of four pai gow tiles, those with the best low hand first."""
        a, b, c, d = cards
        return list_settings((a, b, c, d))

    def find_house_way_setting(self, cards: Sequence[int]) -> HandSetting:
        """Return the setting that the bank chooses for these four tiles: the one with the highest total worth."""
        return choose_bank_setting(self.definition, self.list_settings(cards))

    def is_low_hand_better(self, low_strength: int, bank_low_strength: int) -> bool:
        """Return whether a player's low hand beats the bank's low hand.

        A low hand of 0 points never beats it if the definition says so.
        """
        return low_strength > bank_low_strength and not (
            self.definition.worthless_low_loses and is_worthless_hand(low_strength)
        )

    def find_advised_low_mask(self, cards: Sequence[int]) -> int:
        """Return the advised low hand of four tiles: bit n is set if the tile with index n belongs to it.

        The advice is the best setting if the definition stores it, otherwise the setting that the bank would choose.
        """
        exact_figures = self.definition.proved
        if exact_figures is None:
            return super().find_advised_low_mask(cards)
        return self.list_settings(cards)[
            unpack_policy(exact_figures.policy)[_index_tile_sets()[tuple(sorted(cards))]]
        ].low_mask

    def describe_setting(self, setting: HandSetting) -> dict[str, str]:
        """Return the low and the high hand as text, by language.

        The text of a hand is its points, or its rank among the twenty combinations.
        """
        return {
            language: " / ".join(_describe_hand(hand, language_index) for hand in setting[:2])
            for language_index, language in enumerate(("en", "fr"))
        }

    def prove(self, *_: object) -> ProvedFigures:
        """Compute the exact figures that the definition stores. It needs the laboratory packages."""
        from paytables.poker.tiles.solve import solve  # noqa: PLC0415 (laboratory packages)

        return solve(self.definition)

    def analyse(self, depth: AnalysisDepth) -> Analysis:  # noqa: ARG002 (the result is the same at every depth)
        """Return the exact figures of the stake, with tiles set as advised, and of a player who is the bank."""
        header = self.definition.game
        bets = [self._analyse_stake(stake, name) for name, stake in self.list_stated_stakes().items()]
        bets += self.analyse_bank_at_minimum_bet(self.definition.proved or self.prove())
        return Analysis(game_id=header.id, version=header.version, family=header.family, bets=tuple(bets))

    def _analyse_stake(self, stake_credits: int, bet_name: str = PLAYER_STAKE_SPOT) -> BetAnalysis:
        """Return the exact figures of one seat's stake: those stored in the definition, else computed now."""
        exact_figures = self.definition.proved or self.prove()
        return self.build_figures(
            exact_figures,
            stake_credits,
            bet=bet_name,
            strategy=ADVISED_STRATEGY_TEXT,
            simplest_strategy=SIMPLEST_STRATEGY_TEXT,
            simplest_rtp=1 + Fraction(exact_figures.simplest_mean),
            worst_rtp=Fraction(0)
            if self.definition.can_surrender
            else 1 + Fraction(exact_figures.worst_mean),
        )

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of one seat's bets."""
        bets = {bet.spot: bet.credits for bet in self.build_wager(wager.credits, **wager.options).bets}
        if BANK_SPOT in bets:
            return self.analyse_bank(self.definition.proved or self.prove(), bets)
        return self._analyse_stake(bets[PLAYER_STAKE_SPOT])


@cache
def _index_tile_sets() -> dict[tuple[int, ...], int]:
    """Return the index of each set of four tiles (ascending) in the order of all such sets."""
    return {hand: n for n, hand in enumerate(combinations(range(len(ALL_TILES)), TILES_PER_HAND))}


def _describe_hand(strength: int, language: int) -> str:
    """Return a hand of two tiles as text in English (0) or French (1): its points, or its combination's rank."""
    value_index = find_hand_value_index(strength)
    if value_index < 10:  # the hand's points
        french = f"{value_index} points" if value_index > 1 else f"{value_index} point"
        return (format_count(value_index, "point"), french)[language]
    rank = NAMED_COMBINATION_COUNT - (value_index - 10)
    kind = next(names for last, names in _LAST_RANKS_AND_KIND_NAMES if rank <= last)
    return f"{kind[language]} ({rank})"


#: The kinds of combinations: the rank of the last one of each kind, with the kind's names in English and French.
_LAST_RANKS_AND_KIND_NAMES: Final = (
    (1, ("Supreme pair", "Paire suprême")),
    (12, ("Pair", "Paire")),
    (16, ("Mixed pair", "Paire mélangée")),
    (18, ("Wong", "Wong")),
    (20, ("Gong", "Gong")),
)
