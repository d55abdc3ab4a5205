"""A ruling names the member of staff who was signed in to the service menu; the audit reports any other name."""

import json

import pytest
from rigs.lies import audit_findings, read_signed_entries

from egm.devices.ledgers import PayoutRecord
from egm.kernel.events import EventType
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.people import Role
from egm.profiles import load_profile
from egm.testing.machine import MachineRig
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser

SIGNED_IN, ABSENT = STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR], STAFF_NUMBER_BY_ROLE[Role.MANAGER]


def rule_on_dispute(rig, amount):
    (dispute_id,) = read_disputed_amounts_by_id(rig.machine)
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).touch("disputed").touch(f"disputed:{dispute_id}")
    menu.fill_open_form(amount, "looked at the recording")


def rule_on_bill(folder):
    rig = MachineRig(folder / "state").boot()
    rig.offer(2000)
    rig.escrow_ledger.close_lost_paper_as_disputed("the acceptor is idle")
    rule_on_dispute(rig, "2000")
    return rig


def rule_on_coins(folder):
    profile = folder / "coins.toml"
    text = load_profile("generic").file.data.decode()
    profile.write_text(text.replace('order = ["ticket", "coins"]', 'order = ["coins", "ticket"]'))
    rig = MachineRig(folder / "state", profile=profile, devices=("hopper",)).boot().insert(500)
    rig.engine.handle(EventType.CASH_OUT)
    ((payout_id, coins),) = rig.hands.payouts
    ledger = rig.device_ledgers.payout_ledger
    ledger.open_payout(
        PayoutRecord(payout_id=payout_id, ordered_coins=coins, order_counter_before=0, lifetime_paid_before=0)
    )
    ledger.close_payout(payout_id, 2, "its count fell")
    rule_on_dispute(rig, "200")
    return rig


def take_unclaimed_handpay(folder):
    rig = MachineRig(folder / "state").boot().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("orphan_handpay", "bank 4")
    return rig


def close_and_open_tables(folder):
    rig = MachineRig(folder / "state", games=("monaco-roulette-european",)).boot()
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("close_tables", "45")
    menu.home().open_and_fill_form("open_tables")
    return rig


CASES = [
    (rule_on_bill, ("disputed.ruled",)),
    (rule_on_coins, ("disputed.released", "disputed.ruled")),
    (take_unclaimed_handpay, ("handpay.unclaimed", "orphan.handpay")),
    (close_and_open_tables, ("tables.closing",)),
    (close_and_open_tables, ("tables.opened",)),
]


@pytest.mark.requirement("E-13", "J-16")
@pytest.mark.parametrize(("act", "kinds"), CASES, ids=[kinds[0] for _, kinds in CASES])
def test_the_audit_reports_a_ruling_by_a_person_who_was_not_signed_in(tmp_path, act, kinds):
    entries = read_signed_entries(act(tmp_path))
    changed = 0
    for index, entry in enumerate(entries):
        if entry["kind"] in kinds:
            text = json.dumps(entry)
            persons = json.dumps({"persons": [SIGNED_IN]})[1:-1]
            changed += text.count(persons)
            entries[index] = json.loads(text.replace(persons, json.dumps({"persons": [ABSENT]})[1:-1]))
    assert changed == len(kinds)
    assert "signed-in" in " ".join(audit_findings(entries).values())
