"""Falsify a machine's journal (entries reordered or removed) and sign it again with its key."""

import json
import re

from meters.machine_key import MachineKey
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.dev.lies import adopt_entries, compute_journal_tag, rewrite_chain

KEY = MachineKey(bytes(range(32)))


def read_signed_entries(rig, shelf=None):
    """Switch an honest machine off; return its journal's entries, signed again with the test's key."""
    bodies = list(rig.journal.iter_bodies())
    rig.close()
    assert Auditor(shelf or GameFiles()).audit_entries(bodies).findings == []
    return adopt_entries(bodies, KEY)


def audit_findings(entries, shelf=None):
    """Return the audit's findings as text, by entry number."""
    report = Auditor(shelf or GameFiles()).audit_entries(
        rewrite_chain(entries, KEY, compute_journal_tag(entries[0]))
    )
    found = {}
    for finding in report.findings:
        found.setdefault(finding.sequence, []).append(finding.text)
    return {sequence: "; ".join(reasons) for sequence, reasons in found.items()}


def reorder_entries(entries, order):
    """Return the entries in this order, with every id derived from an entry's number made consistent."""
    new, mark = (
        {old + 1: new_index + 1 for new_index, old in enumerate(order)},
        compute_journal_tag(entries[0]),
    )

    def fitted(found):
        return f"{new.get(int(found[1]), int(found[1]))}-{mark}"

    return [json.loads(re.sub(rf"(\d+)-{mark}", fitted, json.dumps(entries[old]))) for old in order]


def remove_entries(entries, *removed):
    """Return the journal without the entries at these indices, or without the first entry of these kinds."""
    kinds = [raw["kind"] for raw in entries]
    indices = {kinds.index(selector) if isinstance(selector, str) else selector for selector in removed}
    return reorder_entries(entries, [index for index in range(len(entries)) if index not in indices])


def remove_residual_terms(raw):
    """Return the entry as an earlier version wrote it, without the residual-credit terms of its start."""
    state = {key: value for key, value in raw.get("state", {}).items() if "residual_terms" not in key}
    other_fields = {key: value for key, value in raw.items() if key != "state"}
    return other_fields | ({"state": state} if state else {})
