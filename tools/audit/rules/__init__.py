"""The one table of what a journal may say: kind of entry -> phase, transfers, counts, state, record, persons.

What is not in the table is a finding, and so is what no machine could write in the state it was in. A row is
a :class:`~tools.audit.rules.rule.Rule`; its fields are patterns (:mod:`tools.audit.rules.pattern`). The rows
stand with what they are about: ``papers``, ``cash_outs`` and ``transfers`` (what comes in and goes out),
``games``, ``wheel``, ``levels``, ``protection`` (play), ``hands``, ``notes`` and ``disputes`` (what persons
pay, write down and decide), ``staff``, ``openings``, ``work``, ``life`` and ``memory``.

**To add a kind of entry**, add a row where it belongs, next to the code's own ``record(...)``::

    Rule(
        kind="lamp.changed",
        before={"lamp": "$was:bool"},  # what memory held; None: nothing
        record={"on": "$on:bool", "why?": "$:text", "person": "$:staff"},
        state={"lamp": "$on"},  # the same value as in the record
        counts={"lamps": 1},
    )

A row of what begins something (a reservation, money that moves, a key of the memory taken in hand) says in
``within`` in which states of the machine it may be, EVERYWHERE where it is a fact that comes in any.

An entry's id is a fresh one of its kind unless the row says otherwise. What stands in two places gets one
name: then neither can be altered alone. Several rows of one kind are several ways it may be. A field that may
be missing ends in ``?``. ``tests/tools/audit/test_rules.py`` finds a kind that has no row, and a row nobody
uses: run it after you have added an entry.
"""

from collections.abc import Mapping
from typing import Final

from tools.audit.rules import (
    cash_outs,
    disputes,
    games,
    hands,
    levels,
    life,
    memory,
    notes,
    openings,
    papers,
    protection,
    staff,
    transfers,
    wheel,
    work,
)
from tools.audit.rules.facts import Facts
from tools.audit.rules.pattern import Differs
from tools.audit.rules.rule import Rule

_PARTS: Final = (
    openings,
    papers,
    cash_outs,
    transfers,
    games,
    levels,
    protection,
    hands,
    notes,
    disputes,
    memory,
    life,
    staff,
    wheel,
    work,
)
RULES: Final[tuple[Rule, ...]] = tuple(rule for part in _PARTS for rule in part.RULES)


def _by_kind() -> Mapping[str, tuple[Rule, ...]]:
    kinds: dict[str, tuple[Rule, ...]] = {}
    for rule in RULES:
        kinds[rule.kind] = (*kinds.get(rule.kind, ()), rule)
    return kinds


BY_KIND: Final = _by_kind()


def rules_of(kind: str) -> tuple[Rule, ...]:
    """The rows for a kind of entry, in the order they are tried; none where it has no place in a journal."""
    found = BY_KIND.get(kind, ())
    return found or (BY_KIND["chance.{code}"] if kind.startswith("chance.") else ())


__all__ = ["BY_KIND", "RULES", "Differs", "Facts", "Rule", "rules_of"]
