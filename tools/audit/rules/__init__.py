"""The audit rules: the required state, transfers, counts, record and persons of each kind of journal entry.

An entry without a matching rule is a finding, and so is an entry that the machine could not write in its state.
A rule is an :class:`~tools.audit.rules.rule.AuditRule`; its fields are patterns
(:mod:`tools.audit.rules.pattern`). The rules are the ``RULES`` of the modules of this package, each about one
subject: ``money_in``, ``cash_outs`` and ``transfers``; ``games``, ``wheel``, ``levels``, ``protection``,
``closing``, ``time_charge`` and ``tournament`` (play); ``handpays``, ``written_records`` and ``disputed_amounts`` (what
staff pay, write down and decide); ``staff``, ``interventions``, ``technical_work``, ``operation``, ``links`` and
``memory``.
A new module needs no registration.

**To add a kind of entry**, declare it in its feature; it is then checked against its declaration. If it moves
value, or depends on earlier entries, add a rule to the module of its subject::

    AuditRule(
        entry_declaration=LAMP_CHANGED,
        stored_before={"lamp": "$lamp_before:bool"},  # the stored value before the entry; None: nothing stored
        record={"on": "$is_on"},
        stored_after={"lamp": "$is_on"},  # the same value as in the record
    )

A rule for an entry that starts something (reserves or moves money, or creates a storage key) lists in
``allowed_machine_states`` the machine states in which the entry is allowed; ``ALL_STATES`` if the entry records a fact
that can occur in any state.

Unless the rule says otherwise, the entry's id must be the one that a journal gives to a new entry of this kind.
If a value occurs in two fields, use one name for both, so that a change of only one field is found. Several
rules for one kind are alternatives.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from egm.app.features import FEATURES
from egm.kernel.entries import AnyEntryDeclaration
from tools.audit.rules.facts import Facts
from tools.audit.rules.pattern import PatternMismatch
from tools.audit.rules.rule import AuditRule

#: The modules of this package.
_RULE_MODULES: Final = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
#: The rules that these modules contain.
_RULES_OF_MODULES: Final[tuple[AuditRule, ...]] = tuple(
    rule for module in _RULE_MODULES for rule in getattr(module, "RULES", ())
)


def list_rules(
    entry_declarations: Iterable[AnyEntryDeclaration], added_rules: Iterable[AuditRule] = ()
) -> tuple[AuditRule, ...]:
    """Return the audit rules for all declared journal entries.

    ``added_rules`` are the rules of operator-supplied features. A declared entry without a specific rule gets the
    default rule: it must move no money, and its id must be the one that a journal gives to a new entry of this
    kind. It is not compared with earlier entries.
    """
    written_rules = (*_RULES_OF_MODULES, *added_rules)
    ids_with_rule = {id(rule.entry_declaration) for rule in written_rules}
    return (
        *written_rules,
        *(
            AuditRule(entry_declaration=declaration)
            for declaration in entry_declarations
            if id(declaration) not in ids_with_rule
        ),
    )


def group_by_kind(rules: Iterable[AuditRule]) -> Mapping[str, tuple[AuditRule, ...]]:
    """Return the rules by the kind of entry that they check, in the order in which they are tried."""
    kinds: dict[str, tuple[AuditRule, ...]] = {}
    for rule in rules:
        kinds[rule.kind] = (*kinds.get(rule.kind, ()), rule)
    return kinds


#: The rules for the entries of the machine's features.
RULES: Final = list_rules(FEATURES.entry_declarations)
#: The rules for the entries of the machine's features by the kind of entry, in the order in which they are tried.
RULES_BY_KIND: Final = group_by_kind(RULES)


def find_rules(entry_kind: str) -> tuple[AuditRule, ...]:
    """Return the audit rules for a kind of entry, in the order in which they are tried; empty for an unknown kind."""
    return RULES_BY_KIND.get(entry_kind, ())


__all__ = [
    "RULES",
    "RULES_BY_KIND",
    "AuditRule",
    "Facts",
    "PatternMismatch",
    "find_rules",
    "group_by_kind",
    "list_rules",
]
