"""The roads of baccarat, worked out by hand from the published rules, and compared with a second wording of them."""

import random

import pytest

from egm.screen.roads import (
    BigRoadMark,
    arrange_in_columns,
    build_big_road,
    derive_road_marks,
    place_bead_plate,
    place_road_marks,
)

SIDES = ("bank", "player")
NAMES = {"B": "bank", "P": "player", "T": "tie"}
R, B = "red", "blue"


def build_columns(text):
    return build_big_road([NAMES[letter] for letter in text], SIDES)


def derive_marks(text, back):
    return "".join({"red": "r", "blue": "b"}[mark] for mark in derive_road_marks(build_columns(text), back))


def test_the_bead_plate_goes_down_and_then_right():
    plate = place_bead_plate(list("BPTBBPP"))
    assert plate[0, 0] == "B"
    assert plate[0, 2] == "T"
    assert plate[0, 5] == "P"
    assert plate[1, 0] == "P"
    assert len(plate) == 7


def test_a_tie_is_marked_on_the_win_before_it():
    assert build_columns("TTBTBPPTT") == [
        [BigRoadMark("bank", 3), BigRoadMark("bank")],
        [BigRoadMark("player"), BigRoadMark("player", 2)],
    ]


@pytest.mark.parametrize(
    ("results", "eye", "small", "pig"),
    [
        # the first mark of big eye boy: second row of the second column, where the first has one (red) or none (blue)
        ("BBPP", "r", "", ""),
        ("BPP", "b", "", ""),
        # no second row in the second column: from the third column, which compares the two before it
        ("BPB", "r", "", ""),
        ("BBPB", "b", "", ""),
        # a straight drop beyond both is red again: the third mark beside a column of one
        ("BPPP", "br", "", ""),
        # a ping-pong: every road is red from its start
        ("BPBPBP", "rrrr", "rrr", "rr"),
        # runs of two: red in every road
        ("BBPPBBPP", "rrrrr", "rrr", "r"),
        # columns of 3, 1, 2, 2, 1: big eye boy marks the third column from its first row (1 is not 3: blue), then
        # its second row (a column of one ends just above: blue), the fourth (2 is not 1; beside two: red), and
        # the fifth (2 is 2). Small road: third column, second row, beside three; fourth: 2 is not 3, beside one;
        # fifth: 2 is not 1. Cockroach pig: fourth column, second row, beside three; fifth: 2 is not 3.
        ("BBBPBBPPB", "bbbrr", "rbbb", "rb"),
    ],
)
def test_the_derived_roads_match_a_worked_example(results, eye, small, pig):
    assert (derive_marks(results, 1), derive_marks(results, 2), derive_marks(results, 3)) == (eye, small, pig)


def derive_marks_by_second_wording(columns, back):
    """Return the marks of a road by the second wording of the rules.

    A mark is red if its neighbour ``back`` columns before and the cell above that neighbour are equal, both marked or
    both empty. The first mark of a column has the other colour than a continuation of the previous run would have
    had.
    """
    found = []
    for n, column in enumerate(columns):
        for row in range(len(column)):
            if row:
                if n >= back:
                    column_before = columns[n - back]
                    found.append(
                        "red" if (len(column_before) > row) == (len(column_before) > row - 1) else "blue"
                    )
            elif n > back:
                column_before, long = columns[n - 1 - back], len(columns[n - 1])
                went_on = (len(column_before) > long) == (len(column_before) > long - 1)
                found.append("blue" if went_on else "red")
    return found


def test_both_wordings_of_the_rules_give_the_same_roads():
    pick = random.Random(5)
    for _ in range(300):
        columns = build_columns("".join(pick.choices("BPT", (46, 45, 9), k=pick.randrange(90))))
        for back in (1, 2, 3):
            assert derive_road_marks(columns, back) == derive_marks_by_second_wording(columns, back)


def test_a_long_run_turns_to_the_right_and_the_next_column_keeps_its_place():
    six, two = place_road_marks([8, 2])
    assert six == [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 5), (2, 5)]
    assert two == [(1, 0), (1, 1)]
    _, second, third = place_road_marks([7, 7, 3])
    assert second == [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 4), (3, 4)]
    assert third == [(2, 0), (2, 1), (2, 2)]
    for lengths in ([9] * 12, [1, 12, 1, 12, 3, 6, 6, 20]):
        cells = [road_cell for column in place_road_marks(lengths) for road_cell in column]
        assert len(set(cells)) == len(cells) == sum(lengths)
        assert all(row < 6 for _, row in cells)
    assert arrange_in_columns([R, R, B, R]) == [[R, R], [B], [R]]
