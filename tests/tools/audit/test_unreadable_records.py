"""An invalid record is a finding with the entry, the key and the reason, and never a crash."""

import json

import pytest
from journals import CREDIT, clock, edit, find, insert, make_state, rechain

from meters import Journal, Phase, Transaction, Transfer, open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


@pytest.fixture(scope="module")
def bodies(tmp_path_factory):
    with open_view(make_state(tmp_path_factory.mktemp("state"))) as view:
        return [entry.body for entry in view.entries()]


def list_findings(bodies):
    return [
        (finding.sequence, finding.text) for finding in Auditor(GameFiles()).audit_entries(bodies).findings
    ]


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize(
    ("kind", "change", "reason"),
    [
        (
            "game.start",
            lambda r: r.update(denomination_cents="5"),
            "denomination_cents is '5', not of type int",
        ),
        ("game.start", lambda r: r.pop("bet_credits"), "bet_credits is missing"),
        ("game.start", lambda r: r.update(steps=7), "steps is 7, not a list"),
        (
            "game.start",
            lambda r: r["steps"][0]["draws"].append([1, 0]),
            "steps.0.draws.3 is [1, 0], not 3 values",
        ),
        (
            "game.start",
            lambda r: r["outcome"].update(note="x"),
            "outcome is not in the form that the machine writes",
        ),
        (
            "game.start",
            lambda r: r["wager"].update(credits="1"),
            "wager is not in the form that the machine writes",
        ),
        ("game.end", lambda r: r.update(win_cents=None), "win_cents is None, not of type int"),
        ("game.end", lambda r: r.update(more=1), "more is 1, a field that is not known"),
    ],
)
def test_a_game_record_that_cannot_be_read_is_reported(bodies, kind, change, reason):
    index = find(bodies, kind)
    altered = list(rechain(edit(bodies, index, lambda raw: change(raw["record"]))))
    assert (index + 1, f"the record of the game cannot be read: {kind}: {reason}") in list_findings(altered)


@pytest.mark.requirement("E-13")
def test_a_hand_pay_record_that_cannot_be_read_is_reported(tmp_path):
    ticks = clock()
    with Journal.open(tmp_path, now=lambda: next(ticks)) as journal:
        insert(journal, 500)
        owed = journal.fresh_id("handpay")
        flows = (Transfer(CREDIT, "out:handpay_cancelled_credit", 500),)
        handpay = {"id": owed, "kind": "cancelled_credit", "amount_cents": "500"}
        state = {"handpay": handpay, "cash_out_goes_on": None}
        journal.append(
            Transaction(id=owed, kind="handpay.pending", phase=Phase.RESERVE, transfers=flows, state=state)
        )
        slip = {**handpay, "amount_cents": 500, "method": "cash", "slip": 1, "machine": "7", "taxable": False}
        journal.append(
            Transaction(
                id=f"{owed}.paid",
                kind="handpay.paid",
                phase=Phase.SETTLE,
                ref=owed,
                counts={"handpays.cancelled_credit": 1},
                state={"handpay": None, "slip": 1},
                record={**slip, "person": "1", "persons": ["1"]},
            )
        )
        last = journal.sequence
        bodies = [entry.body for entry in journal.entries()]
    assert json.loads(bodies[-1])["kind"] == "handpay.paid"
    whys = [reason for sequence, reason in list_findings(bodies) if sequence == last]
    assert any("amount_cents is '500', not of type int" in reason for reason in whys), whys
