"""The approval a changed game needs: none, a theme approval, a notice, or full approval again (AGC 2.1).

The two definitions are compared leaf by leaf, as data. This module lists which leaves are texts and pictures;
every leaf that is not listed counts as a rule.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from paytables import Depth, Game, analyse

Path = tuple[str, ...]


class Class(StrEnum):
    """The kind of approval that a changed game needs, in increasing order."""

    SAME = "same"
    """No change: the same game."""
    THEME = "cloned theme"
    """Texts, names and their ids only: the rules, the prizes and their odds are the approved ones."""
    NOTICE = "notice only"
    """Additional information or offers that change no existing game: a notice is required."""
    FULL = "full approval"
    """The rules, the prizes or their odds."""


#: Texts that do not affect the rules; ids count as texts if they are renamed consistently.
_THEME: Final = frozenset({("game", "id"), ("game", "title"), ("game", "author")})
#: Information for the player or the operator, and the choice among approved options.
_NOTICE: Final = frozenset({("game", "version"), ("game", "date"), ("game", "help")})


@dataclass(frozen=True, slots=True)
class Change:
    """One changed value of a definition, by its path; a side is None if the value is missing there."""

    path: str
    before: Any
    after: Any
    asks: Class


def classify_changes(old: Game, new: Game) -> tuple[Class, tuple[Change, ...]]:
    """Return the approval that a game's new definition needs, and every changed value.

    Symbol ids are matched by their order, so a theme that renames them consistently is recognised. The exact
    return of every bet is compared too: a changed return always needs full approval.
    """
    before, after = json.loads(old.text), json.loads(new.text)
    renamed = _match_renamed_symbols(before, after)
    found = tuple(_iter_changed_leaves((), _rename_ids(before, renamed), after))
    if renamed:
        words = ", ".join(f"{name} is {new_name}" for name, new_name in sorted(renamed.items()))
        found = (*found, Change("symbol.id", None, words, Class.THEME))
    asks = max((change.asks for change in found), key=list(Class).index, default=Class.SAME)
    if asks is not Class.FULL and _list_bet_figures(old) != _list_bet_figures(new):
        found = (*found, Change("return", _list_bet_figures(old), _list_bet_figures(new), Class.FULL))
        asks = Class.FULL
    return asks, found


def _list_bet_figures(game: Game) -> list[tuple[str, int, str]]:
    bets = analyse(game, Depth.RETURN).bets
    return sorted((bet.bet, bet.cost_credits, str(bet.rtp_with_progressives)) for bet in bets)


def _match_renamed_symbols(before: Any, after: Any) -> dict[str, str]:
    """Return old id -> new id, matched by their order, if both definitions have equally many symbols.

    Return an empty mapping if the match would be ambiguous because the old definition already used a new id.
    """
    old, new = ([s.get("id") for s in data.get("symbol", ())] for data in (before, after))
    if len(old) != len(new) or len(set(new)) != len(new):
        return {}
    found = {a: b for a, b in zip(old, new, strict=True) if a != b}
    words = set(re.findall(r"[\w-]+", json.dumps({**before, "game": None})))
    return {} if words & set(found.values()) else found


def _rename_ids(data: Any, renamed: dict[str, str]) -> Any:
    """Return the data with these ids renamed in keys and in texts, except in texts shown to people."""
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


def _iter_changed_leaves(path: Path, before: Any, after: Any) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from _iter_changed_leaves((*path, key), before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for n, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _iter_changed_leaves((*path, str(n)), one, other)
    elif before != after or type(before) is not type(after):
        yield Change(".".join(path), before, after, _classify_leaf(path, before, after))


def _classify_leaf(path: Path, before: Any, after: Any) -> Class:
    if path[:2] in _THEME or (len(path) > 1 and path[-2] == "name" and path[0] == "symbol"):
        return Class.THEME
    if path[:2] in _NOTICE:
        return Class.NOTICE
    if path == ("game", "denominations_cents") and set(after or ()) < set(before or ()):
        return Class.NOTICE  # only approved values, fewer of them
    return Class.FULL
