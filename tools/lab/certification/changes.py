"""The approval that a changed game needs: none, a theme approval, a notice, or full approval again.

Source: Ontario, AGCO Casino Electronic Gaming Devices minimum technical standards, 2.1.

The approved and the changed definition are compared value by value. This module lists which values are texts
and pictures; every other value counts as a rule.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from paytables import AnalysisDepth, Game, analyse

#: The location of a value in a definition: the keys that lead to it.
KeyPath = tuple[str, ...]


class ApprovalKind(StrEnum):
    """Kinds of approval that a changed game needs, from none to full approval."""

    SAME = "same"
    """No change of the definition: no approval is needed."""
    THEME = "cloned theme"
    """Only texts, names and ids change; the approved rules, prizes and odds stay the same."""
    NOTICE = "notice only"
    """Only information changes, or fewer of the approved denominations are offered: a notice is required."""
    FULL = "full approval"
    """The rules, the prizes or their odds change: a full approval is needed."""


#: Texts that do not affect the rules. Ids count as texts too if they are renamed consistently.
_KEY_PATHS_OF_THEME: Final = frozenset({("game", "id"), ("game", "title"), ("game", "author")})
#: Information for the player or the operator.
_KEY_PATHS_NEEDING_NOTICE_ONLY: Final = frozenset({("game", "version"), ("game", "date"), ("game", "help")})


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """One value that differs between two game definitions.

    ``dotted_path`` is its key path, with dots between the keys. ``value_before`` or ``value_after`` is None if that
    definition does not have the value.
    """

    dotted_path: str
    value_before: Any
    value_after: Any
    needed_approval: ApprovalKind
    """The kind of approval that this change needs."""


def classify_changes(old_game: Game, new_game: Game) -> tuple[ApprovalKind, tuple[DefinitionChange, ...]]:
    """Return the approval that a game's new definition needs, and every changed value.

    Symbol ids are matched by their order, so consistent renaming counts as a change of theme. The exact return of every
    bet is compared too: a changed return always needs full approval.
    """
    old_data, new_data = json.loads(old_game.text), json.loads(new_game.text)
    new_name_by_symbol = _match_renamed_symbols(old_data, new_data)
    changes = tuple(_iter_changed_leaves((), _rename_ids(old_data, new_name_by_symbol), new_data))
    if new_name_by_symbol:
        renaming_text = ", ".join(
            f"{name} is {new_name}" for name, new_name in sorted(new_name_by_symbol.items())
        )
        changes = (*changes, DefinitionChange("symbol.id", None, renaming_text, ApprovalKind.THEME))
    needed_approval = max(
        (change.needed_approval for change in changes),
        key=list(ApprovalKind).index,
        default=ApprovalKind.SAME,
    )
    if needed_approval is not ApprovalKind.FULL and _list_bet_figures(old_game) != _list_bet_figures(
        new_game
    ):
        changes = (
            *changes,
            DefinitionChange(
                "return", _list_bet_figures(old_game), _list_bet_figures(new_game), ApprovalKind.FULL
            ),
        )
        needed_approval = ApprovalKind.FULL
    return needed_approval, changes


def _list_bet_figures(game: Game) -> list[tuple[str, int, str]]:
    """Return each bet of a game with its cost in credits and its exact return as text, sorted."""
    bets = analyse(game, AnalysisDepth.RETURN).bets
    return sorted((bet.bet, bet.cost_credits, str(bet.rtp_with_progressives)) for bet in bets)


def _match_renamed_symbols(old_data: Any, new_data: Any) -> dict[str, str]:
    """Return the new id of each renamed symbol by its old id; symbols are matched by their order.

    The mapping is empty if the definitions have different numbers of symbols, or if the match would be
    ambiguous because the old definition already used a new id.
    """
    old_symbols, new_symbols = (
        [s.get("id") for s in data.get("symbol", ())] for data in (old_data, new_data)
    )
    if len(old_symbols) != len(new_symbols) or len(set(new_symbols)) != len(new_symbols):
        return {}
    renamed = {a: b for a, b in zip(old_symbols, new_symbols, strict=True) if a != b}
    old_words = set(re.findall(r"[\w-]+", json.dumps({**old_data, "game": None})))
    return {} if old_words & set(renamed.values()) else renamed


def _rename_ids(data: Any, renamed: dict[str, str]) -> Any:
    """Return the data with these symbol ids renamed in keys and in texts, except in texts shown to people."""
    if not renamed:
        return data
    if isinstance(data, dict):
        return {
            renamed.get(key, key): value if key in {"name", "title", "help"} else _rename_ids(value, renamed)
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [_rename_ids(value, renamed) for value in data]
    if isinstance(data, str):
        return " ".join(renamed.get(word, word) for word in data.split(" "))
    return data


def _iter_changed_leaves(path: KeyPath, old_value: Any, new_value: Any) -> Iterator[DefinitionChange]:
    """Yield a change for each value that differs between two definitions, with its path."""
    if isinstance(old_value, dict) and isinstance(new_value, dict):
        for key in sorted({*old_value, *new_value}):
            yield from _iter_changed_leaves((*path, key), old_value.get(key), new_value.get(key))
    elif isinstance(old_value, list) and isinstance(new_value, list) and len(old_value) == len(new_value):
        for n, (old_item, new_item) in enumerate(zip(old_value, new_value, strict=True)):
            yield from _iter_changed_leaves((*path, str(n)), old_item, new_item)
    elif old_value != new_value or type(old_value) is not type(new_value):
        yield DefinitionChange(
            ".".join(path), old_value, new_value, _classify_leaf(path, old_value, new_value)
        )


def _classify_leaf(path: KeyPath, old_value: Any, new_value: Any) -> ApprovalKind:
    """Return the kind of approval that a changed value at this path of a definition needs."""
    if path[:2] in _KEY_PATHS_OF_THEME or (len(path) > 1 and path[-2] == "name" and path[0] == "symbol"):
        return ApprovalKind.THEME
    if path[:2] in _KEY_PATHS_NEEDING_NOTICE_ONLY:
        return ApprovalKind.NOTICE
    if path == ("game", "denominations_cents") and set(new_value or ()) < set(old_value or ()):
        return ApprovalKind.NOTICE  # only approved values, fewer of them
    return ApprovalKind.FULL
