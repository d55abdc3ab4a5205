"""Every false entry about a disputed amount, or about the ruling on it, is reported.

Goal: a dispute cannot be used to pay a player too much, to withhold what they are owed, or to hide the dispute.
"""

import copy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rigs.lies import audit_findings, read_signed_entries, remove_entries
from test_persons_of_rulings import rule_on_bill, rule_on_coins, rule_on_dispute

from egm.devices.interface import PrintState
from egm.kernel.events import EventType
from egm.testing.machine import MachineRig


def rule_on_ticket(folder):
    rig = MachineRig(folder / "state", devices=("printer",)).boot().insert(2000)
    rig.offer_ticket(rig.cash_out_ticket())
    rig.escrow_ledger.close_lost_paper_as_disputed("the acceptor is idle")
    rule_on_dispute(rig, "2000")
    return rig


def dispute_printed_ticket(folder):
    rig = MachineRig(folder / "state", devices=("printer",)).boot().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    rig.report_print_state(PrintState.PRINTING)
    rig.report_print_state(PrintState.DISPUTED, "the printer is silent")
    return rig


@cache
def honest_entries(session):
    with TemporaryDirectory() as folder:
        return read_signed_entries(session(Path(folder)))


def find_dispute(raw):
    """Return the storage key and the value of the dispute that the entry opens."""
    return next((key, value) for key, value in raw["state"].items() if key.startswith("disputed:"))


def raise_recorded_maximum(raw):
    raw["record"]["disputed"]["most_cents"] += 1000


def raise_maximum(raw):
    find_dispute(raw)[1]["most_cents"] += 1000
    raw["record"].get("disputed", raw["record"])["most_cents"] += 1000


def raise_stored_maximum(raw):
    find_dispute(raw)[1]["most_cents"] += 1000


def hide_record(raw):
    del raw["record"]["disputed"]


def hide_dispute(raw):
    del raw["state"][find_dispute(raw)[0]]


def store_under_another_id(raw):
    raw["state"]["disputed:bill-1"] = raw["state"].pop(find_dispute(raw)[0])


def pay(cents):
    def change(raw):
        raw["record"]["amount_cents"] = raw["transfers"][0][2] = cents

    return change


def rule_on_unknown_dispute(raw):
    raw["record"]["id"] = "bill-1"


def raise_ruled_maximum(raw):
    raw["record"]["most_cents"] += 1000


def keep_fault(raw):
    del raw["state"]["fault:bill_acceptor.disputed"]


def rename(raw):
    raw["id"] += ".again"


def raise_released_maximum(raw):
    raw["state"]["ruling"]["disputed"]["most_cents"] += 1000


LIES = [
    (rule_on_bill, "bill.not_stacked", raise_recorded_maximum, "record.disputed: expected"),
    (rule_on_bill, "bill.not_stacked", raise_maximum, "state.disputed: expected"),
    (rule_on_bill, "bill.not_stacked", hide_record, "record.disputed is missing"),
    (rule_on_bill, "bill.not_stacked", hide_dispute, "state.disputed is missing"),
    (rule_on_bill, "bill.not_stacked", store_under_another_id, "expected one disputed amount, stored under"),
    (rule_on_bill, "disputed.ruled", pay(2500), "expected 0 to 2000"),
    (rule_on_bill, "disputed.ruled", rule_on_unknown_dispute, "no disputed amount 'bill-1' was open"),
    (rule_on_bill, "disputed.ruled", raise_ruled_maximum, "record: expected"),
    (rule_on_bill, "disputed.ruled", keep_fault, "state does not end exactly this disputed amount"),
    (rule_on_bill, "disputed.ruled", rename, "id: expected"),
    (rule_on_coins, "disputed.opened", raise_maximum, "disputed.opened"),
    (rule_on_coins, "disputed.opened", raise_stored_maximum, "does not match the disputed amount in state"),
    (
        rule_on_coins,
        "disputed.released",
        raise_released_maximum,
        "state.ruling is not on the disputed amount",
    ),
    (rule_on_coins, "disputed.ruled", pay(100), "disputed.ruled"),
    (rule_on_ticket, "disputed.ruled", pay(1000), "a ticket pays 2000 or 0, found 1000"),
    (dispute_printed_ticket, "ticket.disputed", raise_stored_maximum, "for the ticket of the open cash-out"),
    (dispute_printed_ticket, "ticket.disputed", raise_maximum, "state.disputed: expected"),
]


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize(("session", "kind", "change", "finding"), LIES)
def test_a_lie_about_a_dispute_is_named(session, kind, change, finding):
    entries = copy.deepcopy(honest_entries(session))
    index = [raw["kind"] for raw in entries].index(kind)
    change(entries[index])
    assert finding in audit_findings(entries)[index + 1]


@pytest.mark.requirement("E-13")
def test_set_aside_credit_is_released_before_the_ruling_pays_it():
    entries = remove_entries(copy.deepcopy(honest_entries(rule_on_coins)), "disputed.released")
    index = [raw["kind"] for raw in entries].index("disputed.ruled")
    assert "is released first" in audit_findings(entries)[index + 1]
