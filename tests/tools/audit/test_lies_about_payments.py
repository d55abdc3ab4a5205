"""Every false entry about a host's transfer, a hand-pay, a cleared fault or an attendant call is reported."""

import copy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rigs.forms import ONE, fill_in
from rigs.lies import audit_findings, read_signed_entries
from rigs.transfers import transfer_in

from egm.kernel.events import EventType
from egm.testing.machine import MachineRig

PAPER_OUT = "ticket_printer.paper_out"


def transfer(folder):
    rig = transfer_in(MachineRig(folder / "state").boot(), nonrestricted=400)
    return transfer_in(rig, "too much", nonrestricted=10**9)


def pay_by_hand(folder):
    rig = MachineRig(folder / "state", devices=("printer",)).boot().insert(2000)
    rig.engine.handle(EventType.FAULT_RAISED, code=PAPER_OUT)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.FAULT_CLEARED, code=PAPER_OUT)
    rig.engine.handle(EventType.CASH_OUT)  # the player requests a ticket, and withdraws the request
    rig.engine.handle(EventType.CASH_OUT)
    fill_in(rig, "handpay", method="cash", **ONE)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    return rig


def give_up_handpay(folder):
    rig = MachineRig(folder / "state").boot().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    fill_in(rig, "orphan_handpay", place="bank 4", **ONE)
    return rig


def clear_fault_and_call(folder):
    rig = MachineRig(folder / "state").boot()
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    return rig


@cache
def honest_entries(session):
    with TemporaryDirectory() as folder:
        return read_signed_entries(session(Path(folder)))


def write(part, name, value):
    """Return a change that replaces one member of the entry's record, state or other part."""

    def change(raw):
        raw[part][name] = value

    return change


def transfer_record(name, value):
    """Return a change of one member of a transfer's result, in the record and in its stored copy."""

    def change(raw):
        raw["record"][name] = raw["state"]["transfer"][name] = value

    return change


def repeat_request(raw):
    raw["record"]["way"] = "hand"
    del raw["state"]["handpay"]["way"]


def store_another_failure(raw):
    raw["state"]["transfer"]["status"] = "cancelled"


def register_without_staff(raw):
    raw["state"]["unclaimed"]["story"]["persons"] = []


def clear_no_fault(raw):
    del raw["state"]["fault:bill_acceptor.cheat"]


CODE = "bill_acceptor.cheat"
LIES = [
    (transfer, "aft.complete", transfer_record("kind", "other"), "'other' is not one of in, out"),
    (
        transfer,
        "aft.complete",
        transfer_record("status", "partial"),
        "400 of 400 cents moved: expected 'full'",
    ),
    (transfer, "aft.complete", transfer_record("asked_cents", 300), "400 of 300 cents moved"),
    (transfer, "aft.failed", write("record", "told", True), "a failed transfer must have no index"),
    (transfer, "aft.failed", store_another_failure, "state.transfer does not match the record"),
    (pay_by_hand, "handpay.way", repeat_request, "already had the payment method 'hand'"),
    (pay_by_hand, "handpay.paid", write("record", "persons", ["attendant"]), "the people of the form, ['2']"),
    (
        pay_by_hand,
        "handpay.paid",
        write("record", "persons", ["2", "3", "attendant"]),
        "the first after the people of the form must be record.person",
    ),
    (give_up_handpay, "handpay.unclaimed", register_without_staff, "[] are not all members of staff"),
    (clear_fault_and_call, "tilt.cleared", write("record", "codes", [CODE, CODE]), "a fault is named twice"),
    (clear_fault_and_call, "tilt.cleared", write("record", "codes", ["meter_jump"]), "was not active before"),
    (clear_fault_and_call, "tilt.cleared", clear_no_fault, "tilt.cleared"),
    (clear_fault_and_call, "service.call", write("record", "on", False), "no service call was active"),
    (
        clear_fault_and_call,
        "service.call",
        write("state", "service_call", None),
        "state.service_call: expected True",
    ),
]


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize(("session", "kind", "change", "finding"), LIES)
def test_a_lie_about_a_payment_or_a_call_is_named(session, kind, change, finding):
    entries = copy.deepcopy(honest_entries(session))
    index = [raw["kind"] for raw in entries].index(kind)
    change(entries[index])
    assert finding in audit_findings(entries)[index + 1]
