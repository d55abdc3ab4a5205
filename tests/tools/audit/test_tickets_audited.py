"""The audit follows each ticket by the part of its number that the journal records."""

import pytest

from egm.testing.machine import MachineRig
from meters import open_view
from meters.machine_key import MachineKey
from meters.storage import DiskStorage
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.dev.lies import adopt_entries, compute_journal_tag, rewrite_chain


@pytest.fixture
def rig(tmp_path):
    return MachineRig(tmp_path, devices=("printer",)).boot()


def take(rig, digits):
    rig.offer_ticket(digits)
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()


@pytest.mark.requirement("E-13:a", "H-08")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda first, second: second.update(commitment=first["commitment"]), "was already redeemed by"),
        (lambda _, second: second.update(commitment="0" * 32), ""),
        (lambda _, second: second.pop("commitment"), "record.commitment is missing"),
    ],
    ids=["twice", "of elsewhere", "unnamed"],
)
def test_a_ticket_redeemed_twice_is_reported(rig, tmp_path, change, found):
    """A forger with the machine's key redeems a ticket of 20.00 twice; all other entries are consistent."""
    number = rig.insert(2000).cash_out_ticket()
    take(rig, number)
    take(rig, rig.cash_out_ticket())
    rig.close()
    (tmp_path / "liar").mkdir()
    key = MachineKey.create(DiskStorage(), tmp_path / "liar")
    with open_view(tmp_path) as view:
        bodies = list(view.iter_bodies())
    raws = adopt_entries(bodies, key)
    change(*(raw["record"] for raw in raws if raw["kind"] == "voucher.in"))
    findings = [
        finding.text
        for finding in Auditor(GameFiles())
        .audit_entries(rewrite_chain(raws, key, compute_journal_tag(raws[0])))
        .findings
    ]
    assert [found in reason for reason in findings] == ([True] if found else []), findings


@pytest.mark.requirement("E-13:a", "H-08")
def test_a_ticket_redeemed_with_another_amount_is_reported(rig, tmp_path):
    ticket = rig.insert(2000).cash_out_ticket()
    other_ticket = rig.insert(1000).cash_out_ticket()
    take(rig, other_ticket)
    take(rig, ticket)
    rig.close()
    (tmp_path / "liar").mkdir()
    key = MachineKey.create(DiskStorage(), tmp_path / "liar")
    with open_view(tmp_path) as view:
        raws = adopt_entries(list(view.iter_bodies()), key)
    first, second = (raw["record"] for raw in raws if raw["kind"] == "voucher.in")
    first["commitment"], second["commitment"] = second["commitment"], first["commitment"]
    findings = [
        finding.text
        for finding in Auditor(GameFiles())
        .audit_entries(rewrite_chain(raws, key, compute_journal_tag(raws[0])))
        .findings
    ]
    assert findings == [
        "record.amount_cents: the ticket was issued with 2000, found 1000",
        "record.amount_cents: the ticket was issued with 1000, found 2000",
    ]
