"""What a change of a game asks for: nothing new but a theme, a notice, or the whole approval again (AGC 2.1).

The two definitions are compared leaf by leaf, as data; which leaves are words and pictures and which are the
rules is said here, and whatever is not said to be less is a rule.
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
    """What a change asks for, the least first."""

    SAME = "same"
    """Nothing is another: the same game."""
    THEME = "cloned theme"
    """Words, names and their ids only: the rules, the prizes and their odds are the approved ones."""
    NOTICE = "notice only"
    """What is told or offered besides, and changes no game that is played: a notice is due."""
    FULL = "full approval"
    """The rules, the prizes or their odds."""


#: Words that say nothing of the rules; ids count as words, where they are replaced alike throughout.
_THEME: Final = frozenset({("game", "id"), ("game", "title"), ("game", "author")})
#: What the player or the house is told, and what is offered of what was approved.
_NOTICE: Final = frozenset({("game", "version"), ("game", "date"), ("game", "help")})


@dataclass(frozen=True, slots=True)
class Change:
    """One leaf that is another, by its path; None where it is not there."""

    path: str
    before: Any
    after: Any
    asks: Class


def changes(old: Game, new: Game) -> tuple[Class, tuple[Change, ...]]:
    """What the new definition of a game asks for, and every leaf that is another.

    Ids of symbols are held equal place by place, so a theme that renames them throughout is one. The exact
    return of every bet is compared besides: no change of it passes for less than it is.
    """
    before, after = json.loads(old.text), json.loads(new.text)
    renamed = _renamed(before, after)
    found = tuple(_leaves((), _with_ids(before, renamed), after))
    if renamed:
        words = ", ".join(f"{name} is {new_name}" for name, new_name in sorted(renamed.items()))
        found = (*found, Change("symbol.id", None, words, Class.THEME))
    asks = max((change.asks for change in found), key=list(Class).index, default=Class.SAME)
    if asks is not Class.FULL and _figures(old) != _figures(new):
        found = (*found, Change("return", _figures(old), _figures(new), Class.FULL))
        asks = Class.FULL
    return asks, found


def _figures(game: Game) -> list[tuple[str, int, str]]:
    bets = analyse(game, Depth.RETURN).bets
    return sorted((bet.bet, bet.cost_credits, str(bet.rtp_with_progressives)) for bet in bets)


def _renamed(before: Any, after: Any) -> dict[str, str]:
    """Old id -> new, where both have as many symbols, place by place.

    Empty where it would be ambiguous: a new id that was a word of the old definition could stand for both.
    """
    old, new = ([s.get("id") for s in data.get("symbol", ())] for data in (before, after))
    if len(old) != len(new) or len(set(new)) != len(new):
        return {}
    found = {a: b for a, b in zip(old, new, strict=True) if a != b}
    words = set(re.findall(r"[\w-]+", json.dumps({**before, "game": None})))
    return {} if words & set(found.values()) else found


def _with_ids(data: Any, renamed: dict[str, str]) -> Any:
    """The data with ids in the place of ids: whole words of a text, keys too; words for people are left."""
    if not renamed:
        return data
    if isinstance(data, dict):
        return {
            renamed.get(key, key): value if key in {"name", "title", "help"} else _with_ids(value, renamed)
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [_with_ids(value, renamed) for value in data]
    if isinstance(data, str):
        return " ".join(renamed.get(word, word) for word in data.split(" "))
    return data


def _leaves(path: Path, before: Any, after: Any) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from _leaves((*path, key), before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for n, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _leaves((*path, str(n)), one, other)
    elif before != after or type(before) is not type(after):
        yield Change(".".join(path), before, after, _asks(path, before, after))


def _asks(path: Path, before: Any, after: Any) -> Class:
    if path[:2] in _THEME or (len(path) > 1 and path[-2] == "name" and path[0] == "symbol"):
        return Class.THEME
    if path[:2] in _NOTICE:
        return Class.NOTICE
    if path == ("game", "denominations_cents") and set(after or ()) < set(before or ()):
        return Class.NOTICE  # fewer of those approved
    return Class.FULL
