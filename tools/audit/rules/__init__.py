"""The table of allowed journal entries: kind of entry -> phase, transfers, counts, state, record, persons.

An entry without a matching row is a finding, and so is an entry that no machine could write in its current
state. A row is a :class:`~tools.audit.rules.rule.Rule`; its fields are patterns
(:mod:`tools.audit.rules.pattern`). The rows are grouped by subject: ``papers``, ``cash_outs`` and
``transfers`` (money in and out), ``games``, ``wheel``, ``levels``, ``protection`` (play), ``hands``,
``notes`` and ``disputes`` (what staff pay, note and decide), ``staff``, ``openings``, ``work``, ``life``, ``links``
and ``memory``.

**To add a kind of entry**, add a row to its group, after the example of the code's own ``record(...)``::

    Rule(
        kind="lamp.changed",
        before={"lamp": "$was:bool"},  # the stored value before the entry; None: nothing stored
        record={"on": "$on:bool", "why?": "$:text", "person": "$:staff"},
        state={"lamp": "$on"},  # the same value as in the record
        counts={"lamps": 1},
    )

A row of an entry that starts something (reserves or moves money, or creates a storage key) lists in
``within`` the machine states in which it is allowed; EVERYWHERE if it records a fact that can occur in any
state.

An entry's id is a new one of its kind unless the row says otherwise. A value that occurs in two fields gets
one name, so that neither can be altered alone. Several rows of one kind are alternatives. A field that may be
missing ends in ``?``. ``tests/tools/audit/test_rules.py`` finds kinds without a row, and rows that are never
used: run it after adding an entry.
"""

from collections.abc import Mapping
from typing import Final

from egm.app.features import FEATURES
from tools.audit.rules import (
    cash_outs,
    disputes,
    games,
    hands,
    levels,
    life,
    links,
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
    links,
    staff,
    wheel,
    work,
)
_STATED: Final[tuple[Rule, ...]] = tuple(rule for part in _PARTS for rule in part.RULES)
RULES: Final[tuple[Rule, ...]] = (
    *_STATED,
    *(Rule(entry=entry) for entry in FEATURES.entries if not any(rule.entry is entry for rule in _STATED)),
)
"""The rules, and one without conditions of its own for each declared entry that depends on nothing before it."""


def _group_rules_by_kind() -> Mapping[str, tuple[Rule, ...]]:
    kinds: dict[str, tuple[Rule, ...]] = {}
    for rule in RULES:
        kinds[rule.kind] = (*kinds.get(rule.kind, ()), rule)
    return kinds


BY_KIND: Final = _group_rules_by_kind()


def find_rules(kind: str) -> tuple[Rule, ...]:
    """Return the rows for a kind of entry, in the order they are tried, or an empty tuple for an unknown kind."""
    return BY_KIND.get(kind, ())


__all__ = ["BY_KIND", "RULES", "Differs", "Facts", "Rule", "find_rules"]
