"""Stored exact figures (the proof) of a game, which cannot be computed on a cabinet.

A cabinet reads them from the definition; certification recomputes them and refuses a definition with different figures.
Amounts are fractions as text (``"9/10"``), because TOML numbers cannot hold them.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from paytables.errors import AnalysisError
from paytables.poker.policy import unpack_policy

#: An exact number as text: ``-3/20``, ``7/1``.
FractionText = Annotated[str, StringConstraints(pattern=r"^-?\d+/[1-9]\d*$")]


def format_fraction(value: Fraction) -> str:
    """Return a fraction as text such as ``"9/10"``, as definitions store it."""
    return f"{value.numerator}/{value.denominator}"


def check_stored_proof(game_id: str, stored_proof: object, prove: Callable[[], object]) -> None:
    """Check that ``stored_proof``, the figures stored in a game's definition, equal those that ``prove`` computes.

    Raises :class:`AnalysisError` if they differ.
    """
    if stored_proof and _unpack_policies(stored_proof) != _unpack_policies(prove()):
        raise AnalysisError(
            f"{game_id}: proved: the stored figures differ from newly computed ones; "
            "`python -m tools.dev prove` writes these"
        )


def _unpack_policies(proof: object) -> object:
    """Return stored figures with each policy unpacked to bytes.

    Compressed texts of the same policy may differ, so they cannot be compared.
    """
    if isinstance(proof, BaseModel):
        return {
            key: unpack_policy(value) if key == "policy" and value else _unpack_policies(value)
            for key, value in proof
        }
    if isinstance(proof, Mapping):
        return {key: _unpack_policies(value) for key, value in proof.items()}
    if isinstance(proof, tuple):
        return tuple(map(_unpack_policies, proof))
    return proof
