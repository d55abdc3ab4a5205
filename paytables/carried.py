"""What binds the figures a definition carries to the rules they are of: a digest in ``[proved]``.

``proved.sha256`` is the SHA-256, over canonical JSON, of the carried figures and of everything that decides
them. Left out is what may be another while the figures stay: the header but for the family, words, pictures,
and what may be staked (``table``, ``boxes``, ``stake``, ``limits``), for the figures are of each unit staked.
It guards against a change that nobody proved again, not against whoever makes the digest anew: certification
works the figures out.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

from paytables.definition import canonical_text, header_value
from paytables.errors import DefinitionError

PROVED: Final = "proved"
DIGEST: Final = "sha256"
_NOT_OF_RULES: Final = frozenset({"game", "art", "table", "boxes", PROVED})
_STAKED: Final = frozenset({"limits", "stake"})
_LANGUAGES: Final = frozenset({"en", "fr"})


def figures_of(data: Mapping[str, object]) -> Mapping[str, object]:
    """Return the definition with its figures alone in ``[proved]``, as the families' models have them."""
    proved = data.get(PROVED)
    if not isinstance(proved, Mapping) or DIGEST not in proved:
        return data
    return {**data, PROVED: {key: value for key, value in proved.items() if key != DIGEST}}


def bound(data: Mapping[str, object]) -> dict[str, object]:
    """Return the carried figures with the digest that binds them to the rest of their definition."""
    figures = figures_of(data)[PROVED]
    assert isinstance(figures, Mapping)
    return {DIGEST: _digest(data), **figures}


def check_bound(data: Mapping[str, object], file: str) -> None:
    """Refuse figures that are not as they were proved, or of other rules. Raises :class:`DefinitionError`."""
    proved = data.get(PROVED)
    if isinstance(proved, Mapping) and proved and proved.get(DIGEST) != _digest(data):
        what = "is of other rules or other figures" if DIGEST in proved else "is missing"
        why = (
            f"{what}: `python -m tools.dev prove {file}` works [proved] out again; "
            "without any [proved] the figures are worked out when they are asked for"
        )
        raise DefinitionError(file, f"{PROVED}.{DIGEST}", why)


def _digest(data: Mapping[str, object]) -> str:
    rules = {key: value for key, value in data.items() if key not in _NOT_OF_RULES}
    family, figures = header_value(data, "", "family"), figures_of(data)[PROVED]
    of = {"family": family, "rules": _deciding(rules), PROVED: figures}
    return hashlib.sha256(canonical_text(of).encode()).hexdigest()


def _deciding(value: object) -> object:
    """A part of a definition without its words and its limits."""
    if isinstance(value, Mapping):
        kept = {key: each for key, each in value.items() if key not in _STAKED and not _is_text(each)}
        return {key: _deciding(each) for key, each in kept.items()}
    return [_deciding(each) for each in value] if isinstance(value, list) else value


def _is_text(value: object) -> bool:
    return isinstance(value, Mapping) and value.keys() == _LANGUAGES
