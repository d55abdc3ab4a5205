"""Every way in which games deal, throw and choose: each outcome comes from exactly one sequence of draws."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import perm

import pytest

from paytables.cards import Shoe
from paytables.contract import DIE_FACES, draw_weighted_index, throw_dice
from paytables.keno.draws import draw_numbers, draw_weighted_factor


class Scripted:
    """Draws that follow a script and record their bounds."""

    def __init__(self, script: tuple[int, ...]) -> None:
        self._script = iter(script)
        self.bounds: list[int] = []

    def below(self, bound: int, purpose: str) -> int:
        self.bounds.append(bound)
        return next(self._script)


def courses(population: int, picks: int) -> Iterator[tuple[int, ...]]:
    return product(*(range(population - i) for i in range(picks)))


@pytest.mark.requirement("B-06", "B-09", "B-13")
@pytest.mark.parametrize(("population", "picks"), [(1, 1), (4, 0), (5, 2), (6, 3), (5, 5), (7, 7)])
def test_every_order_of_balls_comes_from_exactly_one_course_of_draws(population: int, picks: int) -> None:
    orders = [
        draw_numbers(Scripted(course), range(population), picks, "ball")
        for course in courses(population, picks)
    ]
    assert len(orders) == len(set(orders)) == perm(population, picks)
    assert all(len(set(order)) == picks and set(order) <= set(range(population)) for order in orders)


@pytest.mark.requirement("B-06", "B-09", "B-13")
@pytest.mark.parametrize("counts", [(1, 1, 1, 1), (2, 0, 1), (3, 1)])
def test_every_order_of_a_shoe_comes_from_as_many_courses_as_its_equal_cards_have(
    counts: tuple[int, ...],
) -> None:
    cards = sum(counts)
    orders: Counter[tuple[int, ...]] = Counter()
    for course in courses(cards, cards):
        draw, shoe = Scripted(course), Shoe(list(counts))
        orders[tuple(shoe.deal(draw, "card") for _ in range(cards))] += 1
        assert draw.bounds == list(range(cards, 0, -1))
    alike = 1
    for count in counts:
        alike *= perm(count)
    assert set(orders.values()) == {alike}
    assert all(Counter(order) == Counter({c: n for c, n in enumerate(counts) if n}) for order in orders)


@pytest.mark.requirement("B-06")
def test_a_weighted_choice_is_drawn_exactly_as_often_as_its_weight() -> None:
    weights = [3, 0, 5, 1, 0, 91]
    counts = Counter(draw_weighted_index(Scripted((number,)), weights, "prize") for number in range(100))
    assert [counts[i] for i in range(len(weights))] == weights
    assert Counter(draw_weighted_factor(Scripted((n,)), {10: 1, 2: 3}, "factor") for n in range(4)) == {
        2: 3,
        10: 1,
    }


@pytest.mark.requirement("B-09", "S-40")
def test_every_throw_of_the_dice_comes_from_exactly_one_course() -> None:
    throws = {throw_dice(Scripted(faces), 2) for faces in product(range(DIE_FACES), repeat=2)}
    assert throws == set(product(range(1, 7), repeat=2))
