"""Calibration of a touch screen: from where a finger is felt to where it was put, an affine map in integers.

Places are shares of the picture's width and height, in units of 1/65536, and may lie outside of it. A person
touches the middle of :data:`CROSSES` one after the other; the map is fitted to all but the last by least
squares, exactly, and the last must then lie where it was shown.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from egm.errors import OperatorError

#: The picture's width and height; and what a coefficient of a map is multiplied with.
UNIT: Final = 1 << 16
Place = tuple[int, int]
Matrix = tuple[int, ...]
"""``(a, b, c, d, e, f)``: x becomes (a x + b y + c) / UNIT, y becomes (d x + e y + f) / UNIT."""
_SHARES: Final = ((1, 2), (9, 2), (9, 8), (1, 8), (5, 3))
#: Where the crosses stand, in the order in which they are touched.
CROSSES: Final[tuple[Place, ...]] = tuple((UNIT * x // 10, UNIT * y // 10) for x, y in _SHARES)
#: A finger's own error, and that of the panel where it is not straight.
_NEAR: Final = UNIT // 40
#: Nobody's finger is felt farther from the picture than this.
_FAR: Final = 4 * UNIT


class CalibrationError(OperatorError):
    """Touches that no calibration follows from: says why."""


def fit(felt: Sequence[Place]) -> Matrix:
    """The map from where the touches of :data:`CROSSES` were felt. Raises CalibrationError."""
    if len(felt) != len(CROSSES) or any(not -_FAR <= value <= _FAR for place in felt for value in place):
        raise CalibrationError(f"{len(felt)} touches, not {len(CROSSES)} within reach")
    rows = [(x, y, UNIT) for x, y in felt[:-1]]
    normal = [[sum(row[i] * row[j] for row in rows) for j in range(3)] for i in range(3)]
    matrix: list[int] = []
    for axis in (0, 1):
        wanted = [
            sum(row[i] * cross[axis] for row, cross in zip(rows, CROSSES, strict=False)) for i in range(3)
        ]
        matrix += [round(value * UNIT) for value in _solved(normal, wanted)]
    matrix[2], matrix[5] = matrix[2] * UNIT, matrix[5] * UNIT
    for number, (place, cross) in enumerate(zip(felt, CROSSES, strict=True), 1):
        found = placed(tuple(matrix), *place)
        if max(abs(found[0] - cross[0]), abs(found[1] - cross[1])) > _NEAR:
            raise CalibrationError(f"touch {number} was not where its cross is")
    return tuple(matrix)


def placed(matrix: Matrix, x: int, y: int) -> Place:
    """Where a touch felt at a place was put; without a matrix, there."""
    if not matrix:
        return x, y
    a, b, c, d, e, f = matrix
    return (a * x + b * y + c) // UNIT, (d * x + e * y + f) // UNIT


def _solved(matrix: list[list[int]], wanted: list[int]) -> list[Fraction]:
    """The solution of three equations, by Cramer's rule. Raises CalibrationError where there is none."""
    whole = _determinant(matrix)
    if whole == 0:
        raise CalibrationError("the touches lie on one line")
    found = []
    for i in range(3):
        column = [[*row[:i], value, *row[i + 1 :]] for row, value in zip(matrix, wanted, strict=True)]
        found.append(Fraction(_determinant(column), whole))
    return found


def _determinant(m: list[list[int]]) -> int:
    return (
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    )
