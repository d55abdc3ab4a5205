"""The table of audit rules has a row for every kind of entry that the product writes, and no other row."""

import ast
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import egm
import meters
from egm.app.features import FEATURES
from tools.audit.clears import belongs_to_memory_clear
from tools.audit.rules import RULES, find_rules

SOURCES = [path for package in (egm, meters) for path in Path(package.__file__).parent.rglob("*.py")]
#: Kinds that contain a value: pattern -> possible values.
MADE = {}


def list_possible_texts(node):
    """Return every text that an expression may evaluate to, with {} for unknown parts."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.JoinedStr):
        return {"".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)}
    if isinstance(node, ast.IfExp):
        return list_possible_texts(node.body) | list_possible_texts(node.orelse)
    return set()


def read_text_constants(tree):
    """Return a module's text constants by name; some kinds of entry are written as constants."""
    named = {}
    for node in tree.body:
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(node, ast.Assign):
            target = node.targets[0]
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant):
            named[target.id] = {node.value.value}
    return named


def read_imported_constants(tree):
    """Return the text constants that a module imports from others of the product."""
    named = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in {"egm", "meters"}:
            known = vars(import_module(node.module))
            for alias in node.names:
                value, name = known.get(alias.name), alias.asname or alias.name
                named |= {name: value} | (vars(value) if isinstance(value, ModuleType) else {})
    return {name: {value} for name, value in named.items() if isinstance(value, str)}


def list_written_kinds():
    """Return every kind of entry that the product writes, with the file."""
    found = {}
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        local = read_imported_constants(tree) | read_text_constants(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            kind = next((word.value for word in node.keywords if word.arg == "kind"), None)
            if name in {"record", "log", "_record"} and node.args:
                kind = node.args[0]
            elif name != "Transaction":
                continue
            for text in list_possible_texts(kind) | local.get(
                getattr(kind, "id", getattr(kind, "attr", "")), set()
            ):
                if isinstance(text, str) and re.fullmatch(r"[a-z_.{}]+", text):
                    found.setdefault(text, path.name)
    return found


def test_every_entry_kind_of_the_product_has_an_audit_rule_and_every_rule_a_kind():
    kinds = list_written_kinds() | {entry.kind: "declared" for entry in FEATURES.entry_declarations}
    assert len(kinds) > 100
    built_kinds = {kind for kind in kinds if "{}" in kind}
    assert built_kinds == MADE.keys(), "a kind made of a value says in MADE what it can be"
    every = {kind for kind in kinds if "{}" not in kind} | set().union(*MADE.values())
    ruled = [
        kind for kind in every if not belongs_to_memory_clear(kind)
    ]  # the first entry of a clear states its possible kinds
    without = sorted(f"{kind} ({kinds.get(kind, 'made')})" for kind in ruled if not find_rules(kind))
    assert not without, "kinds of entry without a row in tools/audit/rules"
    idle = sorted({rule.kind for rule in RULES} - every)
    assert not idle, "rows for kinds that nothing writes"
