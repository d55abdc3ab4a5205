"""A kind of journal entry is written as text in its declaration only."""

import ast
from pathlib import Path

import egm
from egm.app.features import FEATURES

ROOT = Path(egm.__file__).parents[1]
#: Entry kinds that are also words with another meaning; in the audit they have no other meaning.
WORDS = frozenset({"event", "selection"})
WORDS_OF_AUDIT = frozenset({"selection"})
#: Files that name kinds although they cannot import the declarations, and why.
BELOW = {
    "egm/kernel/timekeeping.py": "reads the journal's own clock.changed before any feature exists",
    "egm/money/entries.py": "a hand-pay may settle reservations of games and levels, which are declared above it",
    "egm/money/ticket_ledger.py": "reads the clear in the first entry, which is declared above it",
    "egm/features/memory_clear/records.py": "reads a clear's entries, which are declared above it",
    "egm/play/records/games.py": "the open game is read by features below play",
    "egm/staff/service/pages.py": "shows the journal's own entries and the clear's",
    "egm/staff/intervention_sheet.py": "a sheet names the doors that were opened, whose entries import those of the staff",
    "egm/tickets/ledger_comparison.py": "the ticket ledger is a library below money",
    "egm/tickets/proof.py": "the ticket ledger is a library below money",
    "meters/archive.py": "the journal's own entry",
    "meters/checkpoint.py": "the journal's own entries",
    "meters/journal.py": "the journal's own entries",
    "meters/recall.py": "reads plays, which are declared above it",
}


KINDS = {entry.kind for entry in FEATURES.entry_declarations}


def named_kinds(text, kinds):
    """Return the given entry kinds that a module writes as text outside a declaration."""
    if not any(f'"{kind}"' in text for kind in kinds):
        return set()
    tree = ast.parse(text)
    declared = {
        id(word)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith(("Entry", "_declare"))
        for word in ast.walk(call)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in kinds and id(node) not in declared
    }


def test_no_entry_kind_is_written_as_text_outside_its_declaration():
    kinds_by_file = {}
    for package in ("egm", "meters", "tools"):
        for file in sorted((ROOT / package).rglob("*.py")):
            name = str(file.relative_to(ROOT))
            if "tools/dev" in name or "testing" in name or "egm/screen" in name:  # the screen names texts
                continue
            kinds = KINDS - (WORDS_OF_AUDIT if name.startswith("tools/audit/") else WORDS)
            if named := named_kinds(file.read_text(encoding="utf-8"), kinds):
                kinds_by_file[name] = sorted(named)
    assert {name: kinds for name, kinds in kinds_by_file.items() if name not in BELOW} == {}
    assert sorted(BELOW.keys() - kinds_by_file.keys()) == [], "this file no longer names a kind"


def test_the_search_finds_an_entry_kind_written_as_text():
    assert named_kinds('found = view.entries("bill.in")', KINDS) == {"bill.in"}
    assert named_kinds('BILL_IN = Entry(kind="bill.in", record=BillIn)', KINDS) == set()
