"""Binding of the figures stored in a definition to the rules that they describe, by a digest in ``[proved]``.

``proved.sha256`` is the SHA-256, over canonical JSON, of the stored figures and of everything that determines
them. It excludes what may change without changing the figures: the header except for the family, texts,
pictures, and what may be staked (``table``, ``boxes``, ``player_bank``, ``stake``, ``limits``), because the
figures are per unit staked. The digest detects a change that was not proved again. It does not protect against
someone who recomputes the digest as well: certification recomputes the figures.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

from paytables.definition import format_canonical_text, read_header_value
from paytables.errors import DefinitionError

#: The table of a definition that stores its figures.
PROVED_KEY: Final = "proved"
#: The key of the digest in the table :data:`PROVED_KEY`.
DIGEST_KEY: Final = "sha256"
#: Tables of a definition that do not determine its figures.
_KEYS_WITHOUT_INFLUENCE_ON_FIGURES: Final = frozenset(
    {"game", "art", "table", "boxes", "player_bank", PROVED_KEY}
)
#: Keys that only limit what is staked.
_STAKE_LIMIT_KEYS: Final = frozenset({"limits", "stake"})
#: The languages of a text.
_LANGUAGES: Final = frozenset({"en", "fr"})


def remove_binding_digest(definition_data: Mapping[str, object]) -> Mapping[str, object]:
    """Return a definition with the digest removed from its table ``[proved]``, as the families' data models expect."""
    proved_figures = definition_data.get(PROVED_KEY)
    if not isinstance(proved_figures, Mapping) or DIGEST_KEY not in proved_figures:
        return definition_data
    return {
        **definition_data,
        PROVED_KEY: {key: value for key, value in proved_figures.items() if key != DIGEST_KEY},
    }


def add_binding_digest(definition_data: Mapping[str, object]) -> dict[str, object]:
    """Return the stored figures together with the digest that binds them to the rest of their definition."""
    figures = remove_binding_digest(definition_data)[PROVED_KEY]
    assert isinstance(figures, Mapping)
    return {DIGEST_KEY: _compute_digest(definition_data), **figures}


def check_binding_digest(definition_data: Mapping[str, object], file: str) -> None:
    """Raise :class:`DefinitionError` if the stored figures were changed or belong to other rules."""
    proved_figures = definition_data.get(PROVED_KEY)
    if (
        isinstance(proved_figures, Mapping)
        and proved_figures
        and proved_figures.get(DIGEST_KEY) != _compute_digest(definition_data)
    ):
        difference = "is of other rules or other figures" if DIGEST_KEY in proved_figures else "is missing"
        reason = (
            f"{difference}: `python -m tools.dev prove {file}` computes [proved] again; "
            "without [proved], the figures are computed when they are needed"
        )
        raise DefinitionError(file, f"{PROVED_KEY}.{DIGEST_KEY}", reason)


def _compute_digest(definition_data: Mapping[str, object]) -> str:
    """Return the SHA-256 over a definition's stored figures and the other parts that affect these figures."""
    rules = {
        key: value for key, value in definition_data.items() if key not in _KEYS_WITHOUT_INFLUENCE_ON_FIGURES
    }
    family = read_header_value(definition_data, "", "family")
    figures = remove_binding_digest(definition_data)[PROVED_KEY]
    bound_data = {"family": family, "rules": _remove_texts_and_limits(rules), PROVED_KEY: figures}
    return hashlib.sha256(format_canonical_text(bound_data).encode()).hexdigest()


def _remove_texts_and_limits(definition_part: object) -> object:
    """Return a part of a definition without texts and betting limits, because these do not affect the figures."""
    if isinstance(definition_part, Mapping):
        relevant_children = {
            key: child
            for key, child in definition_part.items()
            if key not in _STAKE_LIMIT_KEYS and not _is_multilingual_text(child)
        }
        return {key: _remove_texts_and_limits(child) for key, child in relevant_children.items()}
    return (
        [_remove_texts_and_limits(child) for child in definition_part]
        if isinstance(definition_part, list)
        else definition_part
    )


def _is_multilingual_text(definition_part: object) -> bool:
    """Return whether a value of a definition is a text in the machine's languages."""
    return isinstance(definition_part, Mapping) and definition_part.keys() == _LANGUAGES
