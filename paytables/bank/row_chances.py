"""The exact probability that two rows of trente et quarante end on the same point, from a full shoe.

A row is dealt until it passes 30. Take n cards, c1 aces up to c10 tens, that sum to 30 + d. The last card is any of
them with a value of d or more; the cards before it may come in any order. So the row can be dealt in
``(n - 1)! / (c1! ... c10!)`` orders, times the number of its cards with a value of d or more. Example: two tens, a
nine, a five and a two sum to 36. Only a ten or the nine can be the last card: 4! / 2! * 3 = 36 orders of values.

The rows are counted value by value, from tens to aces. The N cards of value v are the factor
``(1 + t x**v + u y**v) ** N`` of a generating function: the powers of x and y are the sums of the first and the second
row, and the powers of t and u are their numbers of cards. The powers of t and u are packed side by side in one integer,
so that a product is a shift.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import comb, factorial
from typing import Final

#: The rows of trente et quarante end on 31 to 40.
LOWEST_ROW_TOTAL: Final = 31
HIGHEST_ROW_TOTAL: Final = 40
#: Cards of value ten: tens and faces.
_TEN_VALUE: Final = 10

#: ``cells[a][b]``: the number of ways in which the rows reach the sums a and b, packed by the number of cards used.
RowSumWays = Sequence[Sequence[int]]


@cache
def compute_equal_row_probabilities(deck_count: int) -> tuple[Fraction, Fraction]:
    """Return the probabilities that both rows of trente et quarante end on the same point, and both on 31.

    The shoe is fresh, of ``deck_count`` decks.
    """
    return compute_equal_row_probabilities_for_counts(
        {value: (16 if value == _TEN_VALUE else 4) * deck_count for value in range(1, _TEN_VALUE + 1)}
    )


def compute_equal_row_probabilities_for_counts(counts: Mapping[int, int]) -> tuple[Fraction, Fraction]:
    """Return the probabilities that both rows of trente et quarante end on the same point, and both on 31.

    ``counts`` has the number of cards of each value, 1 to 10; they must be enough for two rows.
    """
    return _RowPairCount(counts).compute_probabilities()


def _find_row_length_bound(counts: Mapping[int, int], sum_max: int) -> int:
    """Return one more than the maximum number of cards whose values sum to at most ``sum_max``."""
    bound, remaining_sum = 1, sum_max
    for value, count in sorted(counts.items()):
        card_count = min(count, remaining_sum // value)
        bound, remaining_sum = bound + card_count, remaining_sum - card_count * value
    return bound


class _RowPairCount:
    """The count of how both rows of trente et quarante may end.

    ``counts`` has the number of cards of each value in the shoe. ``cells[a][b]`` is a polynomial of the ways
    in which the first row has the sum a and the second the sum b. Its powers of t and u count the cards of
    the first and of the second row; it is packed into one integer.
    """

    def __init__(self, counts: Mapping[int, int]) -> None:
        self.counts, self.card_count = counts, sum(counts.values())
        row_length_bound = _find_row_length_bound(counts, HIGHEST_ROW_TOTAL)
        card_count_bound = _find_row_length_bound(counts, 2 * HIGHEST_ROW_TOTAL)  # of both rows together
        ways_max = comb(self.card_count, min(card_count_bound, self.card_count // 2)) * comb(
            card_count_bound, card_count_bound // 2
        )
        # the highest coefficient is a sum over the ten card values of ways, times the choices of the two last cards
        self.coefficient_bits = (ways_max * row_length_bound**2 * _TEN_VALUE).bit_length()
        """The width in bits of one coefficient of a packed cell."""
        self.row_length_bound = row_length_bound
        """One more than the largest number of cards of one row."""
        self.polynomial_bits = self.coefficient_bits
        """The width in bits of the coefficients of all powers of t beside one power of u in a packed cell."""

    def compute_probabilities(self) -> tuple[Fraction, Fraction]:
        """Return the probabilities that both rows of trente et quarante end on the same point, and that both end on 31.

        Card values are added from ten down to the ace. ``open_cells`` are rows whose last card is not chosen yet;
        ``ended_cells`` are rows whose last card is chosen. A row that ends on 30 + d has its last card among the
        values of d and more. Its sum is shifted so that 30 + d becomes 40, so all such rows can be treated
        alike. The rows are symmetric, so of the sums (a, b) and (b, a) only the one with a <= b is kept at the end.
        """
        row_sums = range(HIGHEST_ROW_TOTAL + 1)
        open_cells = [[int(a == b == 0) for b in row_sums] for a in row_sums]
        ended_cells = [[0 for _ in row_sums] for _ in row_sums]
        for card_value in range(_TEN_VALUE, 1, -1):
            open_cells, ended_cells = self._repack_cells(
                HIGHEST_ROW_TOTAL // card_value + 1, open_cells, ended_cells
            )
            is_upper_half = card_value == 2
            sum_of_lower_cards = sum(
                lower_value * count for lower_value, count in self.counts.items() if lower_value < card_value
            )
            open_cells = self._add_cards_of_value(
                open_cells,
                card_value,
                LOWEST_ROW_TOTAL - 1 + card_value,
                2 * LOWEST_ROW_TOTAL - sum_of_lower_cards,
                is_upper_half=is_upper_half,
            )
            ended_cells = self._add_cards_of_value(
                ended_cells,
                card_value,
                HIGHEST_ROW_TOTAL,
                2 * HIGHEST_ROW_TOTAL - sum_of_lower_cards,
                is_upper_half=is_upper_half,
            )
            shift = _TEN_VALUE - card_value
            for a in range(HIGHEST_ROW_TOTAL + 1 - shift):
                for b in range(a if is_upper_half else 0, HIGHEST_ROW_TOTAL + 1 - shift):
                    if open_cells[a][b]:
                        ended_cells[a + shift][b + shift] += self._count_last_card_choices(open_cells[a][b])
        open_cells, ended_cells = self._repack_cells(self.row_length_bound + 1, open_cells, ended_cells)
        refait_cell = self._count_last_card_choices(self._count_ways_with_aces(open_cells, LOWEST_ROW_TOTAL))
        return self._compute_probability(
            self._count_ways_with_aces(ended_cells, HIGHEST_ROW_TOTAL) + refait_cell
        ), self._compute_probability(refait_cell)

    def _repack_cells(self, power_count: int, *grids: list[list[int]]) -> list[list[list[int]]]:
        """Return the cells of trente et quarante rows repacked with room for more cards.

        A cell has the card counts of both rows as powers of t and u; now ``power_count`` powers of t fit beside each
        power of u. While only high cards were added, few powers are needed.
        """
        cell_bits, self.polynomial_bits = self.polynomial_bits, self.coefficient_bits * power_count
        mask = (1 << cell_bits) - 1

        def widen_cell(cell: int) -> int:
            """Return a cell of trente et quarante row sums with more room for cards between its powers of u."""
            wide_cell, second_count = 0, 0
            while cell:
                wide_cell |= (cell & mask) << (second_count * self.polynomial_bits)
                cell, second_count = cell >> cell_bits, second_count + 1
            return wide_cell

        return [[[widen_cell(cell) for cell in row] for row in cells] for cells in grids]

    def _add_cards_of_value(
        self, cells: RowSumWays, value: int, sum_max: int, joint_sum_min: int, *, is_upper_half: bool
    ) -> list[list[int]]:
        """Return the cells after adding any number of cards of ``value`` to either row of trente et quarante.

        Only sums of at most ``sum_max`` each and at least ``joint_sum_min`` together are kept; smaller ones are
        dropped, because the cards of lower values could not make up the rest. With ``is_upper_half``, pairs of sums in
        which the first row's sum is the larger are left out.
        """
        row_sums = range(HIGHEST_ROW_TOTAL + 1)
        count = self.counts[value]
        # choice_factors[i][j]: the choices of j cards for the second row, if i cards of the value are in the first
        choice_factors = [[comb(count - i, j) for j in range(count - i + 1)] for i in range(count + 1)]
        return [
            [
                self._count_ways_into(cells, value, choice_factors, a, b)
                if max(a, b) <= sum_max and a + b >= joint_sum_min and not (is_upper_half and a > b)
                else 0
                for b in row_sums
            ]
            for a in row_sums
        ]

    def _count_ways_into(
        self, cells: RowSumWays, value: int, choice_factors: Sequence[Sequence[int]], a: int, b: int
    ) -> int:
        """Return the ways to reach the row sums a and b by adding any number of cards of ``value`` to either row.

        The two rows are dealt as at trente et quarante.
        """
        total_ways, sums_before_of_second_row = 0, range(b, -1, -value)
        for i, (sum_before, choice_row) in enumerate(zip(range(a, -1, -value), choice_factors, strict=False)):
            cell_row, ways, shift = cells[sum_before], 0, 0
            for second_sum_before, choices in zip(sums_before_of_second_row, choice_row, strict=False):
                if cell_row[second_sum_before]:
                    ways += cell_row[second_sum_before] * choices << shift
                shift += self.polynomial_bits
            if ways:
                total_ways += ways * choice_factors[0][i] << (i * self.coefficient_bits)
        return total_ways

    def _count_ways_with_aces(self, cells: RowSumWays, end_total: int) -> int:
        """Return the ways in which both rows reach ``end_total`` when each is completed with aces."""
        count, total_ways = self.counts[1], 0
        for i in range(min(count, end_total) + 1):
            for j in range(min(count - i, i) + 1):
                ways = (
                    cells[end_total - i][end_total - j] * comb(count, i) * comb(count - i, j) * (1 + (j < i))
                )
                total_ways += ways << (i * self.coefficient_bits + j * self.polynomial_bits)
        return total_ways

    def _iter_terms(self, cell: int) -> Iterator[tuple[int, int, int]]:
        """Yield the terms of a packed cell: the cards in the first row, those in the second row, and the ways."""
        second_count = 0
        while cell:
            packed_row, first_count = cell & ((1 << self.polynomial_bits) - 1), 0
            while packed_row:
                ways = packed_row & ((1 << self.coefficient_bits) - 1)
                if ways:
                    yield first_count, second_count, ways
                packed_row, first_count = packed_row >> self.coefficient_bits, first_count + 1
            cell, second_count = cell >> self.polynomial_bits, second_count + 1

    def _count_last_card_choices(self, cell: int) -> int:
        """Return the packed cell with each number of ways multiplied by the choices of the last card of each row."""
        return sum(
            ways * first_count * second_count
            << (first_count * self.coefficient_bits + second_count * self.polynomial_bits)
            for first_count, second_count, ways in self._iter_terms(cell)
        )

    def _compute_probability(self, cell: int) -> Fraction:
        """Return the probability that the rows are dealt in one of the ways that a packed cell counts.

        The cards before a row's last card may come in any order.
        """
        orders = sum(
            ways
            * factorial(first_count - 1)
            * factorial(second_count - 1)
            * factorial(self.card_count - first_count - second_count)
            for first_count, second_count, ways in self._iter_terms(cell)
        )
        return Fraction(orders, factorial(self.card_count))
