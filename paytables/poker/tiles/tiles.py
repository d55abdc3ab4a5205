"""The 32 tiles of pai gow: the value of two tiles, and the settings of four (by-law, ss.100-105).

A tile is represented by its index here, 0 to 31; its name is its pips, such as ``6-6``. The strength of a hand of two
tiles is an integer, larger for the better hand. Hands of the same strength are equal in the sense of s.104, and the
bank wins them.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Final

from paytables.poker.two_hands import HandSetting

#: The value of single tiles from the highest (s.105); tiles in the same row have the same value.
TILE_VALUES: Final = (
    ("6-6",),
    ("1-1",),
    ("4-4",),
    ("1-3",),
    ("5-5",),
    ("3-3",),
    ("2-2",),
    ("5-6",),
    ("4-6",),
    ("1-6",),
    ("1-5",),
    ("3-6", "4-5"),
    ("2-6", "3-5"),
    ("2-5", "3-4"),
    ("2-4",),
    ("1-4", "2-3"),
    ("1-2",),
)
#: The pairs of two identical tiles in their order; every other tile is single.
_TILE_PAIRS: Final = ("6-6", "1-1", "4-4", "1-3", "5-5", "3-3", "2-2", "5-6", "4-6", "1-6", "1-5")
#: The names of the 32 tiles; two tiles of a pair have the same name.
ALL_TILES: Final = tuple(
    name for row in TILE_VALUES for name in row for _ in range(2 if name in _TILE_PAIRS else 1)
)
NAMED_COMBINATION_COUNT: Final = 20
_NINES, _EIGHTS = ("3-6", "4-5"), ("2-6", "3-5", "4-4")
_MIXED_PAIRS: Final = (("3-6", "4-5"), ("2-6", "3-5"), ("2-5", "3-4"), ("1-4", "2-3"))


def find_single_tile_value(tile: int) -> int:
    """Return the value of one pai gow tile, by which single tiles are compared; 17 is the highest."""
    return next(len(TILE_VALUES) - n for n, row in enumerate(TILE_VALUES) if ALL_TILES[tile] in row)


def count_points(tiles: Sequence[int]) -> int:
    """Return the points of two pai gow tiles: their pips without tens; 1-2 may count 6 and 2-4 may count 3 (s.103)."""
    possible_sums = {0}
    for tile in tiles:
        pips = sum(map(int, ALL_TILES[tile].split("-")))
        possible_points = {3, 6} if ALL_TILES[tile] in {"1-2", "2-4"} else {pips}
        possible_sums = {
            points_so_far + added_points
            for points_so_far in possible_sums
            for added_points in possible_points
        }
    return max(point_sum % 10 for point_sum in possible_sums)


def find_combination_rank(tiles: Sequence[int]) -> int | None:
    """Return the rank of two pai gow tiles among the twenty combinations (s.101), or None; 1 is the highest rank."""
    tile_names = tuple(sorted(ALL_TILES[tile] for tile in tiles))
    if tile_names == ("1-2", "2-4"):
        return 1
    if tile_names[0] == tile_names[1]:
        return 2 + _TILE_PAIRS.index(tile_names[0])
    if tile_names in _MIXED_PAIRS:
        return 13 + _MIXED_PAIRS.index(tile_names)
    for rank, tile_name in ((17, "6-6"), (18, "1-1")):
        if tile_name in tile_names and any(nine in tile_names for nine in _NINES):
            return rank
    for rank, tile_name in ((19, "6-6"), (20, "1-1")):
        if tile_name in tile_names and any(eight in tile_names for eight in _EIGHTS):
            return rank
    return None


@cache
def compute_strength(first_tile: int, second_tile: int) -> int:
    """Return the strength of a hand of two pai gow tiles.

    Combinations rank by their order, other hands by points and then by the higher tile. Two hands with the same
    combination are equal.
    """
    rank = find_combination_rank((first_tile, second_tile))
    if rank is not None:
        return (10 + NAMED_COMBINATION_COUNT - rank) * 32
    return count_points((first_tile, second_tile)) * 32 + max(
        find_single_tile_value(first_tile), find_single_tile_value(second_tile)
    )


def find_hand_value_index(strength: int) -> int:
    """Return the index of a two-tile hand in the lists of :class:`HouseWay`, from the hand's strength.

    The index is 0 to 9 for a hand of that number of points, and 10 to 29 for a combination.
    """
    return strength // 32


def is_worthless_hand(strength: int) -> bool:
    """Return whether a pai gow hand of that strength has no value: no combination and no points."""
    return find_hand_value_index(strength) == 0


@cache
def list_settings(tiles: tuple[int, int, int, int]) -> tuple[HandSetting, ...]:
    """Return the settings of four pai gow tiles as two hands, those with the best low hand first.

    The high hand must be equal or better (s.113).
    """
    mask_by_strengths: dict[tuple[int, int], int] = {}
    for a, b in combinations(range(4), 2):
        c, d = (index for index in range(4) if index not in (a, b))
        low_strength, high_strength = (
            compute_strength(tiles[a], tiles[b]),
            compute_strength(tiles[c], tiles[d]),
        )
        if low_strength <= high_strength:
            mask_by_strengths.setdefault((low_strength, high_strength), 1 << a | 1 << b)
    return tuple(
        sorted(
            (
                HandSetting(low_strength, high_strength, mask)
                for (low_strength, high_strength), mask in mask_by_strengths.items()
            ),
            reverse=True,
        )
    )
