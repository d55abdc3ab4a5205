"""Touch-screen calibration: an integer affine map from detected to true touch positions.

Coordinates are fractions of the picture's width and height, in units of 1/65536, and may lie outside of the
picture. A person touches the centre of each of :data:`CALIBRATION_CROSSES` in turn. The map is fitted by least
squares to all touches but the last, and must then map every touch close enough to its cross.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from egm.errors import OperatorError

#: The width and height of the picture, and the fixed-point factor of the map's coefficients.
COORDINATE_UNIT: Final = 1 << 16
#: A point on the touch screen, x and y.
TouchPoint = tuple[int, int]
#: ``(a, b, c, d, e, f)``: x becomes (a x + b y + c) / COORDINATE_UNIT, y becomes (d x + e y + f) / COORDINATE_UNIT.
#: Empty: the touch screen is not calibrated, and no touch is changed.
CalibrationMatrix = tuple[int, ...]
#: Positions of the calibration crosses, in tenths of the picture's width and height.
_CROSS_POSITIONS_TENTHS: Final = ((1, 2), (9, 2), (9, 8), (1, 8), (5, 3))
#: Centres of the calibration crosses, in the order in which a person touches them.
CALIBRATION_CROSSES: Final[tuple[TouchPoint, ...]] = tuple(
    (COORDINATE_UNIT * x // 10, COORDINATE_UNIT * y // 10) for x, y in _CROSS_POSITIONS_TENTHS
)
#: How far a calibrated touch may lie from its cross: the finger is inaccurate, and the panel not quite linear.
_TOUCH_TOLERANCE: Final = COORDINATE_UNIT // 40
#: The largest absolute coordinate of a touch that is accepted.
_TOUCH_COORDINATE_MAX: Final = 4 * COORDINATE_UNIT


class CalibrationError(OperatorError):
    """Raised if no calibration can be computed from a person's touches. The text says why."""


def fit_calibration(touches: Sequence[TouchPoint]) -> CalibrationMatrix:
    """Return the calibration map for a person's touches of :data:`CALIBRATION_CROSSES`, in this order.

    Raises CalibrationError in these cases:

    * a touch is missing;
    * a touch is far outside of the picture;
    * the touches lie on one line;
    * the map leaves a touch too far from its cross.
    """
    if len(touches) != len(CALIBRATION_CROSSES) or any(
        not -_TOUCH_COORDINATE_MAX <= value <= _TOUCH_COORDINATE_MAX for touch in touches for value in touch
    ):
        raise CalibrationError(
            f"expected {len(CALIBRATION_CROSSES)} touches, all on the screen; found {len(touches)}: {touches}"
        )
    touch_vectors = [(x, y, COORDINATE_UNIT) for x, y in touches[:-1]]
    normal_matrix = [
        [sum(touch_vector[i] * touch_vector[j] for touch_vector in touch_vectors) for j in range(3)]
        for i in range(3)
    ]
    matrix: list[int] = []
    for axis in (0, 1):
        right_side = [
            sum(
                touch_vector[i] * cross[axis]
                for touch_vector, cross in zip(touch_vectors, CALIBRATION_CROSSES, strict=False)
            )
            for i in range(3)
        ]
        matrix += [round(value * COORDINATE_UNIT) for value in _solve_equations(normal_matrix, right_side)]
    matrix[2], matrix[5] = matrix[2] * COORDINATE_UNIT, matrix[5] * COORDINATE_UNIT
    for number, (touch, cross) in enumerate(zip(touches, CALIBRATION_CROSSES, strict=True), 1):
        x, y = calibrate_touch(tuple(matrix), *touch)
        if max(abs(x - cross[0]), abs(y - cross[1])) > _TOUCH_TOLERANCE:
            raise CalibrationError(f"touch {number} was too far from its cross")
    return tuple(matrix)


def calibrate_touch(matrix: CalibrationMatrix, x: int, y: int) -> TouchPoint:
    """Return the true point of a touch detected at ``x``, ``y``.

    If ``matrix`` is empty, return the detected point.
    """
    if not matrix:
        return x, y
    a, b, c, d, e, f = matrix
    return (a * x + b * y + c) // COORDINATE_UNIT, (d * x + e * y + f) // COORDINATE_UNIT


def _solve_equations(matrix: list[list[int]], right_side: list[int]) -> list[Fraction]:
    """Return the solution of three linear equations, by Cramer's rule.

    Raises CalibrationError if there is no single solution.
    """
    determinant = _compute_determinant(matrix)
    if determinant == 0:
        raise CalibrationError("the touches lie on one line")
    solution = []
    for i in range(3):
        replaced_matrix = [
            [*row[:i], value, *row[i + 1 :]] for row, value in zip(matrix, right_side, strict=True)
        ]
        solution.append(Fraction(_compute_determinant(replaced_matrix), determinant))
    return solution


def _compute_determinant(matrix: list[list[int]]) -> int:
    """Return the determinant of a 3x3 matrix."""
    return (
        matrix[0][0] * (matrix[1][1] * matrix[2][2] - matrix[1][2] * matrix[2][1])
        - matrix[0][1] * (matrix[1][0] * matrix[2][2] - matrix[1][2] * matrix[2][0])
        + matrix[0][2] * (matrix[1][0] * matrix[2][1] - matrix[1][1] * matrix[2][0])
    )
