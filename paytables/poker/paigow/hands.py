"""Seven cards set as a hand of five and one of two: the possible settings, and the bank's (by-law, ss.39-41, 50)."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Final

from paytables.cards import ACE_RANK, RANK_LETTERS, get_rank, parse_cards
from paytables.cards.ranking import JOKER_RANK, PAI_GOW_LOW_RANKING, PAI_GOW_RANKING, HandRanking
from paytables.poker.paigow.schema import HouseWayLine
from paytables.poker.two_hands import HandSetting

#: Cards of each player.
CARDS_PER_HAND: Final = 7
#: The ranking of high hands.
HIGH_HAND_RANKING: Final = HandRanking(PAI_GOW_RANKING)
#: The ranking of low hands.
LOW_HAND_RANKING: Final = HandRanking(PAI_GOW_LOW_RANKING)
#: Every division of seven cards: the indices of the low hand's cards, and those of the high hand's.
_HIGH_LOW_SPLITS: Final = tuple(
    (low, tuple(index for index in range(CARDS_PER_HAND) if index not in low))
    for low in combinations(range(CARDS_PER_HAND), 2)
)


def list_settings_by_strength(
    dealt_cards: Sequence[int],
    compute_low_strength: Callable[..., int],
    compute_high_strength: Callable[..., int],
) -> tuple[HandSetting, ...]:
    """Return every setting of seven pai gow poker cards as a low hand of two and a high hand of five.

    The high hand is at least equal to the low hand. Settings with the best low hand come first. The function
    ``compute_low_strength`` returns the strength of two cards, ``compute_high_strength`` the strength of five.
    """
    settings = []
    for (a, b), high_indices in _HIGH_LOW_SPLITS:
        setting = HandSetting(
            low_strength=compute_low_strength((dealt_cards[a], dealt_cards[b])),
            high_strength=compute_high_strength([dealt_cards[index] for index in high_indices]),
            low_mask=1 << a | 1 << b,
        )
        if setting.low_strength <= setting.high_strength:
            settings.append(setting)
    return tuple(
        sorted(
            settings, key=lambda setting: (-setting.low_strength, -setting.high_strength, setting.low_mask)
        )
    )


def list_settings(cards: Sequence[int]) -> tuple[HandSetting, ...]:
    """Return every legal setting of seven pai gow poker cards, those with the best low hand first."""
    return list_settings_by_strength(
        cards, LOW_HAND_RANKING.compute_strength, HIGH_HAND_RANKING.compute_strength
    )


def find_equal_rank_sets(ranks: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    """Return the pairs, threes and fours among the ranks of a pai gow poker hand, with the joker as an ace.

    The first item is the sizes of these sets as text, such as ``3-2`` for a three and a pair. The second item is their
    ranks. Both start with the largest set.
    """
    counts = Counter(ACE_RANK if rank == JOKER_RANK else rank for rank in ranks)
    sets = sorted(((count, rank) for rank, count in counts.items() if count > 1), reverse=True)
    return "-".join(str(count) for count, _ in sets), tuple(rank for _, rank in sets)


class HouseWayRules:
    """The house way of a game's definition: how the bank must set its seven cards as two hands."""

    def __init__(self, lines: Sequence[HouseWayLine]) -> None:
        self._lines = [
            (
                line.set_sizes,
                _parse_ranks(line.highest_ranks, ACE_RANK),
                _parse_ranks(line.lowest_ranks, 0),
                0
                if line.lowest_low_hand is None
                else LOW_HAND_RANKING.compute_strength(parse_cards(line.lowest_low_hand)),
                0
                if line.lowest_high_hand is None
                else HIGH_HAND_RANKING.compute_strength(parse_cards(line.lowest_high_hand)),
            )
            for line in lines
        ]

    def choose_setting_by_ranks(
        self, ranks: Sequence[int], offered_settings: Sequence[HandSetting]
    ) -> HandSetting:
        """Return the setting that the house way prescribes for pai gow poker cards of these ranks.

        It is one of ``offered_settings``, the possible settings from :func:`list_settings_by_strength`.
        """
        set_sizes, set_ranks = find_equal_rank_sets(ranks)
        for (
            permitted_set_sizes,
            highest_ranks,
            lowest_ranks,
            low_strength_min,
            high_strength_min,
        ) in self._lines:
            if permitted_set_sizes and set_sizes not in permitted_set_sizes:
                continue
            if any(
                not lowest_rank <= rank <= highest_rank
                for rank, highest_rank, lowest_rank in zip(
                    set_ranks, highest_ranks, lowest_ranks, strict=False
                )
            ):
                continue
            for setting in offered_settings:
                if setting.low_strength >= low_strength_min and setting.high_strength >= high_strength_min:
                    return setting
        raise AssertionError("the last line of a house way must fit every hand")

    def choose_setting(self, dealt_cards: Sequence[int]) -> HandSetting:
        """Return the setting that the bank chooses for these seven cards."""
        return self.choose_setting_by_ranks(
            [get_rank(card) for card in dealt_cards], list_settings(dealt_cards)
        )


def _parse_ranks(text: str | None, default: int) -> list[int]:
    """Return the rank limits in a line of the house way: one rank for each pair, three or four.

    ``text`` has the rank letters. A set for which it has no letter gets ``default``.
    """
    return [RANK_LETTERS.index(rank) for rank in text or ""] + [default] * 3
