"""Array types for the type checker: nothing here is imported when a cabinet runs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.integer]
    """An array of integers."""
    Bools: TypeAlias = NDArray[np.bool_]
    """An array of booleans."""
    Bits: TypeAlias = NDArray[np.uint8]
    """An array of bytes, used as bits."""
