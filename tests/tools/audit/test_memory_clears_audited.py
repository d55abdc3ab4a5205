"""A false record of a memory clear is reported: too much carried over, carried over late, or omitted."""

from datetime import UTC, datetime

import pytest

from meters import Journal, Transaction, Transfer
from meters.clear import compute_transaction_digest
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

CREDIT = "credit:1:cashable"
OWED = {
    "id": CREDIT,
    "amount": "300",
    "says": {},
    "standing": "good",
    "copies": {"first": "300", "second": "300"},
    "act": "carried",
    "copy": "",
    "entries": ["carried-1"],
}


def now():
    return datetime(2026, 1, 1, tzinfo=UTC)


def carried(cents, *, entry_id="carried-1", claim=CREDIT, kind="clear.carried"):
    flow = Transfer("house:carried_over", CREDIT, cents)
    return Transaction(id=entry_id, kind=kind, transfers=(flow,), record={"claim": claim})


def list_findings(folder, written, *, authorised=None, claim=OWED):
    """Return the findings about a journal whose clear authorised some entries and wrote others."""
    named = written if authorised is None else authorised
    cleared = {
        "person": "A",
        "second_person": "B",
        "reason": "both copies damaged",
        "evidence": "20260101T000000Z-00000000",
        "before": {},
        "claims": [claim],
        "opening": [[transaction.id, compute_transaction_digest(transaction)] for transaction in named],
    }
    with Journal.open(folder, now=now, memory_clear_record=cleared) as journal:
        for transaction in written:
            journal.append(transaction)
        report = Auditor(GameFiles()).audit_entries(journal.iter_bodies())
    return [finding.text for finding in report.findings]


@pytest.mark.requirement("A-05")
def test_a_truthful_record_of_a_memory_clear_has_no_finding(tmp_path):
    assert list_findings(tmp_path, [carried(300)]) == []


@pytest.mark.requirement("A-05")
@pytest.mark.parametrize(
    ("written", "options", "expected_text"),
    [
        ([carried(400)], {}, "400 cents are carried over under credit:1:cashable"),
        ([carried(300), carried(1, entry_id="again")], {}, "301 cents are carried over"),
        ([carried(300, claim="ghost")], {}, "300 cents are carried over under ghost"),
        ([carried(300)], {"authorised": [carried(200)]}, "expected entry carried-1 with digest"),
        ([], {"authorised": [carried(300)]}, "1 entries that the clear authorised are missing"),
        (
            [carried(300), carried(50, entry_id="later")],
            {"authorised": [carried(300)]},
            "no clear at the beginning of this journal names",
        ),
        (
            [carried(300)],
            {"claim": {**OWED, "act": ""}},
            "act of claim credit:1:cashable: expected one of carried, paid, ended, found ''",
        ),
        (
            [carried(300), carried(50, entry_id="lamp.lit-3", kind="lamp.lit")],
            {"authorised": [carried(300)]},
            "only an entry of a clear may move money from house:carried_over, not a lamp.lit entry",
        ),
    ],
)
def test_a_false_record_of_a_memory_clear_is_reported(tmp_path, written, options, expected_text):
    assert any(expected_text in reason for reason in list_findings(tmp_path, written, **options))
