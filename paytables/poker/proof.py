"""Figures that a definition carries because they take a laboratory to work out.

A cabinet reads them; certification works them out again and refuses a definition whose figures are others.
Amounts are fractions as texts (``"9/10"``), for they outgrow a TOML number.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from paytables.errors import AnalysisError
from paytables.poker.policy import unpacked

#: An exact number: ``-3/20``, ``7/1``.
Exact = Annotated[str, StringConstraints(pattern=r"^-?\d+/[1-9]\d*$")]


def exact(value: Fraction) -> str:
    """Return a fraction as definitions hold it."""
    return f"{value.numerator}/{value.denominator}"


def held_against(game: str, carried: object, prove: Callable[[], object]) -> None:
    """Hold carried figures against what comes out. Raises :class:`AnalysisError` where they differ."""
    if carried and _plain(carried) != _plain(prove()):
        raise AnalysisError(
            f"{game}: proved: other figures come out; `python -m tools.dev prove` writes them"
        )


def _plain(proof: object) -> object:
    """A proof with its policies unpacked, for two compressions of the same need not be alike."""
    if isinstance(proof, BaseModel):
        return {key: unpacked(value) if key == "policy" and value else _plain(value) for key, value in proof}
    if isinstance(proof, Mapping):
        return {key: _plain(value) for key, value in proof.items()}
    if isinstance(proof, tuple):
        return tuple(map(_plain, proof))
    return proof
