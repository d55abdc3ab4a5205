"""Lies told whole about a machine's journal: entries in another order, or gone, and sealed anew with its key."""

import json
import re

from meters.keys import MachineKey
from tools.audit.games import Shelf
from tools.audit.verify import Auditor
from tools.dev.lies import adopt_entries, compute_journal_tag, rewrite_chain

KEY = MachineKey(bytes(range(32)))


def raws(rig, shelf=None):
    """The entries of an honest machine, which is switched off, as one with our key would have written them."""
    bodies = list(rig.journal.iter_bodies())
    rig.close()
    assert Auditor(shelf or Shelf()).run(bodies).findings == []
    return adopt_entries(bodies, KEY)


def found_in(entries, shelf=None):
    """What the audit finds, by entry."""
    report = Auditor(shelf or Shelf()).run(rewrite_chain(entries, KEY, compute_journal_tag(entries[0])))
    found = {}
    for finding in report.findings:
        found.setdefault(finding.sequence, []).append(finding.why)
    return {sequence: "; ".join(each) for sequence, each in found.items()}


def ordered(entries, order):
    """These entries in this order, every id that follows from a place made to fit again."""
    new, mark = {old + 1: place + 1 for place, old in enumerate(order)}, compute_journal_tag(entries[0])

    def fitted(found):
        return f"{new.get(int(found[1]), int(found[1]))}-{mark}"

    return [json.loads(re.sub(rf"(\d+)-{mark}", fitted, json.dumps(entries[old]))) for old in order]


def without(entries, *gone):
    """The journal without the entries at these places, or without the first of these kinds."""
    kinds = [raw["kind"] for raw in entries]
    places = {kinds.index(each) if isinstance(each, str) else each for each in gone}
    return ordered(entries, [at for at in range(len(entries)) if at not in places])


def without_terms(raw):
    """The entry as an earlier version wrote it, which recorded no terms of remainders at its start."""
    state = {key: value for key, value in raw.get("state", {}).items() if "residual_terms" not in key}
    rest = {key: value for key, value in raw.items() if key != "state"}
    return rest | ({"state": state} if state else {})
