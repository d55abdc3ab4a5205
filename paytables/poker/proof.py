"""Figures that a definition carries because they take a laboratory to work out.

A cabinet reads them; ``Depth.FULL``, which certification asks for, works them out again and refuses a
definition whose figures are others. Amounts are fractions as texts (``"9/10"``), for they outgrow a TOML
number.
"""

from fractions import Fraction
from typing import Annotated

from pydantic import StringConstraints

#: An exact number: ``-3/20``, ``7/1``.
Exact = Annotated[str, StringConstraints(pattern=r"^-?\d+/[1-9]\d*$")]


def exact(value: Fraction) -> str:
    """Return a fraction as definitions hold it."""
    return f"{value.numerator}/{value.denominator}"
