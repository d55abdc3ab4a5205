"""Figures that a definition carries because they take a laboratory to work out.

A cabinet reads them; certification works them out again and refuses a definition whose figures are others.
Amounts are fractions as texts (``"9/10"``), for they outgrow a TOML number.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated

from pydantic import StringConstraints

from paytables.errors import AnalysisError

#: An exact number: ``-3/20``, ``7/1``.
Exact = Annotated[str, StringConstraints(pattern=r"^-?\d+/[1-9]\d*$")]


def exact(value: Fraction) -> str:
    """Return a fraction as definitions hold it."""
    return f"{value.numerator}/{value.denominator}"


def held_against(game: str, carried: object, prove: Callable[[], object]) -> None:
    """Hold carried figures against what comes out. Raises :class:`AnalysisError` where they differ."""
    if carried and carried != prove():
        raise AnalysisError(
            f"{game}: proved: other figures come out; `python -m tools.dev prove` writes them"
        )
