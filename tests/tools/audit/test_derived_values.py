"""Recorded values that contradict other entries of the journal are reported.

Examples: residual credit above its limit, credit that expires too early, a denomination that the definition does not
have, options that are not the previous options with the recorded change, a tax that varies, a pocket that the wheel
does not have.
"""

import json
from copy import deepcopy
from datetime import UTC, date, datetime

import pytest
from rigs.lies import audit_findings, read_signed_entries
from test_honest_machines import with_host

from egm.devices.interface import MoneyDevices
from egm.gaming_day import GamingDay
from egm.host.transfer_interface import HostTransferInterface
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType
from egm.money.host_money import TransferOrder
from egm.money.records.host import TransferKind
from egm.testing.machine import MachineRig, ScriptedGenerator
from meters.entry import GENESIS_HASH, decode, encode_canonical_json
from meters.ledger import Ledger
from tools.audit.rules import RULES_BY_KIND, Facts, PatternMismatch
from tools.dev.lies import compute_journal_tag


def build_entry(entries, kind, **fields):
    """Return a further entry of a kind for the end of the journal."""
    return {
        "id": f"{kind}-{len(entries) + 1}-{compute_journal_tag(entries[0])}",
        "kind": kind,
        "time": entries[-1]["time"],
        **fields,
    }


@pytest.fixture
def played(tmp_path):
    rig = MachineRig(tmp_path / "state", generator=ScriptedGenerator(0, 0, 0)).boot().insert(2000)
    rig.play()
    rig.report_shown()
    return read_signed_entries(rig)


@pytest.mark.requirement("E-13", "F-10")
def test_twenty_dollars_are_not_accepted_as_residual_credit(played):
    cents = 2000 - played[-2]["transfers"][0][2]
    taken = build_entry(
        played,
        "residual.removed",
        record={"amount_cents": cents},
        counts={"residuals": 1},
        transfers=[["credit:1:cashable", "house:residual", cents]],
    )
    assert "not residual credit" in audit_findings([*played, taken])[len(played) + 1]


@pytest.mark.requirement("E-13", "D-02")
def test_a_denomination_that_the_definition_does_not_offer_is_reported(played):
    report = json.loads(json.dumps(played).replace('"denomination_cents": 5', '"denomination_cents": 3'))
    assert "which the game offers; found 3" in " ".join(audit_findings(report).values())


@pytest.mark.requirement("E-13", "F-01")
@pytest.mark.parametrize(
    ("time_zone", "time", "is_reported"),
    [
        ("America/Montreal", "2026-03-11T03:59:59+00:00", True),  # a second before the end of the local day
        ("America/Montreal", "2026-03-11T04:00:00+00:00", False),
        ("Asia/Tokyo", "2026-03-10T14:59:59+00:00", True),
        ("Asia/Tokyo", "2026-03-10T15:00:00+00:00", False),
        ("", "2026-03-09T23:59:59+00:00", True),  # a journal of an earlier version, without a time zone
        ("", "2026-03-10T00:00:00+00:00", False),
    ],
)
def test_promotional_credit_that_expires_before_the_end_of_its_last_day_is_reported(
    tmp_path, time_zone, time, is_reported
):
    rig = with_host(
        tmp_path, gaming_day=GamingDay(time_zone or "UTC", 6), wall_time=datetime(2026, 3, 8, tzinfo=UTC)
    )
    transfers = HostTransferInterface(rig.engine, rig.submit_event)
    order = TransferOrder(
        identifier="T1",
        kind=TransferKind.IN,
        cents_by_credit_kind={CreditKind.RESTRICTED: 500},
        expiry_date=date(2026, 3, 10),
        restricted_pool=1,
    )
    transfers.execute_or_refuse_order(order, asset_number=7)
    transfers.acknowledge_result()
    entries = read_signed_entries(rig)
    if not time_zone:
        (power_up,) = (entry for entry in entries if entry["kind"] == "power.up")
        del power_up["record"]["time_zone"], power_up["record"]["day_ends_hour"]
    ended = build_entry(
        entries,
        "credit.expired",
        time=time,
        state={"restricted": None},
        transfers=[["credit:1:restricted", "house:expired", 500]],
    )
    findings = audit_findings([*entries, ended])
    assert ("expires too early" in findings.get(len(entries) + 1, "")) == is_reported
    assert is_reported or not findings


@pytest.mark.requirement("E-13", "F-06:d")
def test_a_hand_pay_marked_taxable_against_its_amount_is_reported(tmp_path):
    rig = MachineRig(tmp_path / "state", devices=()).boot()
    rig.machine.component(MoneyDevices).printer = None
    for cents in (500, 1000):
        rig.insert(cents)
        rig.engine.handle(EventType.CASH_OUT)
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    entries = read_signed_entries(rig)
    paid = [raw for raw in entries if raw["kind"] == "handpay.paid"]
    paid[0]["record"]["taxable"] = True
    assert "record.taxable is" in " ".join(audit_findings(entries).values())


OPTIONS = {"off": [], "denominations_cents": {}, "bet_limit_cents": None}


@pytest.mark.requirement("E-13", "E-11")
@pytest.mark.parametrize(
    ("changes", "after", "is_right"),
    [
        ({"option": "bet_limit", "bet_limit_cents": 200}, {"bet_limit_cents": 200}, True),
        ({"option": "bet_limit", "bet_limit_cents": 200}, {"bet_limit_cents": 900}, False),
        (
            {"option": "bet_limit", "bet_limit_cents": 200},
            {"bet_limit_cents": 200, "off": ["maple-classic"]},
            False,
        ),
        ({"option": "bet_minimum", "bet_minimum_cents": 20}, {"bet_minimum_cents": 20}, True),
        ({"option": "game", "game": "maple-classic", "on": "no"}, {"off": ["maple-classic"]}, True),
        ({"option": "game", "game": "maple-classic", "on": "no"}, {"off": []}, False),
        (
            {"option": "denomination", "game": "maple-classic", "denomination_cents": "5", "on": "no"},
            {"denominations_cents": {"maple-classic": [1, 10]}},
            True,
        ),
        (
            {"option": "denomination", "game": "maple-classic", "denomination_cents": "5", "on": "no"},
            {"denominations_cents": {"maple-classic": [1, 5, 10]}},
            False,
        ),
    ],
)
def test_options_after_a_change_equal_those_before_with_that_change(played, changes, after, is_right):
    rule = next(rule for rule in RULES_BY_KIND["options.changed"] if rule.permission)
    record = {
        **changes,
        "person": "2",
        "persons": ["2", "5"],
        "before": OPTIONS,
        "after": {**OPTIONS, **after},
    }
    raw = build_entry(played, "options.changed", record=record, state={"options": record["after"]})
    ledger, facts = Ledger(), Facts()
    facts.journal_tag = compute_journal_tag(played[0])
    ledger.state["menu"] = {"since": "2026-01-01T00:00:00+00:00", "person": "2"}
    read = decode(encode_canonical_json({**raw, "sequence": len(played) + 1, "previous": GENESIS_HASH}))
    if is_right:
        rule.check(read, ledger, facts)
    else:
        with pytest.raises(
            PatternMismatch, match=r"record\.after does not equal record\.before with the change of option"
        ):
            rule.check(read, ledger, facts)


@pytest.mark.requirement("E-13")
def test_a_wheel_number_of_37_is_not_a_pocket(played):
    rule = RULES_BY_KIND["wheel.number"][0]
    ledger, facts = Ledger(), Facts()
    ledger.state["wheel_spin"] = {"round_id": "round-1", "spin": 7}
    for number, is_right in ((36, True), (37, False)):
        record = {"round_id": "round-1", "spin": 7, "number": number}
        raw = {
            **build_entry(played, "wheel.number", record=record, state={"wheel_spin": record}),
            "id": "round-1.number",
        }
        read = decode(encode_canonical_json({**raw, "sequence": len(played) + 1, "previous": GENESIS_HASH}))
        if is_right:
            rule.check(read, ledger, facts)
        else:
            with pytest.raises(PatternMismatch, match="37 is not a pocket of a wheel"):
                rule.check(read, ledger, facts)


@pytest.mark.requirement("E-13")
def test_an_entry_of_position_1_that_stores_a_key_of_position_2_is_reported(played):
    entries = deepcopy(played)
    raw = next(raw for raw in entries if raw["kind"] == "bill.in")
    raw["state"]["2/paper"] = None
    assert "2/paper: the key does not belong to position 1" in " ".join(audit_findings(entries).values())
