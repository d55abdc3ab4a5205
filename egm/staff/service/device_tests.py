"""Device tests, which use the real driver and change no meter of value (J-10, J-11), and touch calibration.

The ids of a test ticket and a test payout have a prefix of their own (:data:`TEST_JOB_PREFIX`). So everything
that the driver reports about them, also after a restart, is recognised as a test. A bill or ticket inserted into an
acceptor under test is returned. Every test is recorded with the person. Nothing here reserves, credits or
settles anything.
"""

from dataclasses import replace
from typing import Final

from egm.devices.interface import MoneyDevices, PrintState, TicketJob
from egm.devices.ledgers import PayoutRecord
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import Guard, refusal_code
from egm.money.events import CoinsPaid, PaperEscrowed, PaperNotAccepted, PrintFailure
from egm.money.keys import MoneyKey
from egm.money.records.money import PrintingRecord
from egm.people import Permission
from egm.staff.desk import ServiceDesk, find_actor
from egm.staff.entries import (
    TEST_COINS_PAID,
    TEST_NOT_STARTED,
    TEST_PAPER_READ,
    TEST_PAPER_RETURNED,
    TEST_STARTED,
    TEST_TICKET_FAILED,
    TEST_TICKET_PRINTED,
    TOUCH_CALIBRATED,
    CalibrationMatrix,
    DeviceTestStarted,
    PrintJobOrTestFailed,
    SlipOrTestPagePrinted,
    TestCoinsPaid,
    TestPaperRead,
    TestPaperReturned,
    TouchCalibrated,
)
from egm.staff.events import DeviceTest
from egm.staff.form import is_authorised
from egm.staff.keys import StaffKey
from egm.tickets.model import TICKET_NUMBER_DIGIT_COUNT
from egm.tickets.templates import load_template

#: Prefix of the ids of test tickets and test payouts.
TEST_JOB_PREFIX: Final = "test-"
#: Text of a test ticket in place of kind and amount; its number of zeros is not a valid ticket number.
_TEST_TICKET_TEXT: Final = "TEST - NO VALUE - SANS VALEUR"
#: A hopper test requires one of these doors open, so that the person can return the coins.
_HOPPER_DOORS: Final = frozenset({"main", "hopper", "belly"})


def is_test_job_id(job_id: str) -> bool:
    """Return whether this id of a print job or hopper payout is that of a device test."""
    return job_id.startswith(TEST_JOB_PREFIX)


def build_test_job(jurisdiction: str, job_id: str) -> TicketJob:
    """Return the print job of a test ticket: every line of the jurisdiction's template, without value."""
    template = load_template(jurisdiction)
    fields = {name: _TEST_TICKET_TEXT if name in {"kind", "amount"} else "" for name in template.field_names}
    return TicketJob(
        job_id=job_id, template=template.id, barcode="0" * TICKET_NUMBER_DIGIT_COUNT, fields=fields
    )


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("may_test")
def person_may_test_devices(machine: PositionMachine, event: Event) -> bool:
    """Return whether a person who may test devices has authorised the event."""
    return is_authorised(machine, event, Permission.TEST_DEVICES, 1)


def build_device_is_free_guard(no_ticket_query_waits: Guard[PositionMachine]) -> Guard[PositionMachine]:
    """Return the guard that decides whether a device test may start.

    ``no_ticket_query_waits``: the guard that holds while no ticket in escrow waits for validation.
    """

    def device_is_free(machine: PositionMachine, event: Event) -> bool:
        """Return whether the device to test exists, is not serving a player, and may be tested now.

        A hopper may be tested only if one of its doors is open and the number of coins is within the profile's limit.
        """
        device_test = event.read_payload(DeviceTest)
        match device_test.test_kind:
            case "print":
                return (
                    machine.component(MoneyDevices).printer is not None
                    and machine.memory.get(MoneyKey.PRINT_JOB) is None
                    and machine.memory.get(MoneyKey.PAY_OUT) is None
                )
            case "pay":
                return (
                    machine.component(MoneyDevices).hopper is not None
                    and machine.memory.get(MoneyKey.HOPPER_PAYOUT) is None
                    and machine.memory.get(MoneyKey.PAY_OUT) is None
                    and not _HOPPER_DOORS.isdisjoint(machine.open_doors)
                    and device_test.coin_count is not None
                    and 1 <= device_test.coin_count <= machine.profile.staff.test_coins_max
                )
            case "take":
                return (
                    machine.component(MoneyDevices).acceptor is not None
                    and machine.memory.get(MoneyKey.PAPER_BEING_STACKED) is None
                    and no_ticket_query_waits(machine, event)
                )
            case "light" | "calibrate":
                return True
            case _:
                return False

    return device_is_free


@refusal_code("acceptor_is_tested")
def acceptor_test_is_running(machine: PositionMachine, _: Event) -> bool:
    """Return whether the bill acceptor is under test."""
    return machine.component(ServiceDesk).device_page_data.is_testing_acceptor


def ticket_is_a_test(machine: PositionMachine, _: Event) -> bool:
    """Return whether the ticket being printed is a test ticket."""
    printing_record = machine.memory.read(PrintingRecord, MoneyKey.PRINT_JOB)
    return printing_record is not None and is_test_job_id(printing_record.id)


def payout_is_a_test(machine: PositionMachine, _: Event) -> bool:
    """Return whether the hopper's present payout is a device test."""
    payout = machine.memory.read(PayoutRecord, MoneyKey.HOPPER_PAYOUT)
    return payout is not None and is_test_job_id(payout.payout_id)


# ---------------------------------------------------------------------------------------------- effects
def start_test(machine: PositionMachine, event: Event) -> None:
    """Record and start the requested test of a device; if the event has a touch calibration, store that instead."""
    device_test, page_data = event.read_payload(DeviceTest), machine.component(ServiceDesk).device_page_data
    if device_test.test_kind is None or device_test.test_kind == "calibrate":
        _store_calibration(machine, event)
        return
    devices, test_id = machine.component(MoneyDevices), machine.fresh_id(TEST_JOB_PREFIX.rstrip("-"))
    machine.post(
        TEST_STARTED,
        DeviceTestStarted(
            device=device_test.device,
            test_kind=device_test.test_kind,
            person=find_actor(machine, event),
            coin_count=device_test.coin_count,
            takes_paper=device_test.takes_paper,
            switched_on_outputs=device_test.outputs,
        ),
        entry_id=test_id,
    )
    try:
        if device_test.test_kind == "print" and devices.printer is not None:
            devices.printer.print_ticket(build_test_job(machine.profile.id, test_id))
        elif device_test.coin_count is not None and devices.hopper is not None:
            devices.hopper.pay(test_id, device_test.coin_count)
        elif device_test.test_kind == "take":
            page_data.is_testing_acceptor = bool(device_test.takes_paper)
        elif device_test.test_kind == "light":
            page_data.tested_outputs = frozenset(device_test.outputs or ())
    except ValueError as error:  # the driver reports what it cannot do
        _report_failed_test(machine, test_id, str(error))


def _store_calibration(machine: PositionMachine, event: Event) -> None:
    """Store the touch-screen calibration that the event contains; it applies from now on."""
    a, b, c, d, e, f = event.read_payload(DeviceTest).matrix
    new_matrix: CalibrationMatrix = (a, b, c, d, e, f)
    details = TouchCalibrated(
        person=find_actor(machine, event),
        matrix_before=tuple(machine.memory.get(StaffKey.TOUCH_CALIBRATION) or ()),
        matrix_after=new_matrix,
    )
    machine.post(TOUCH_CALIBRATED, details, state={StaffKey.TOUCH_CALIBRATION: list(new_matrix)})


def _report_failed_test(machine: PositionMachine, test_id: str, reason: str) -> None:
    """Record that a device test could not be started, and show why."""
    machine.post(TEST_NOT_STARTED, PrintJobOrTestFailed(id=test_id, reason=reason))
    machine.notice = Notice(code="test_failed", severity="warning", values={"why": reason})


def return_test_paper(machine: PositionMachine, event: Event) -> None:
    """Let the acceptor return the bill or ticket that it has read in a test; a ticket's number is not recorded."""
    acceptor, paper = machine.component(MoneyDevices).acceptor, event.read_payload(PaperEscrowed)
    if acceptor is not None:
        acceptor.return_paper(paper.escrow_number)
    machine.post(TEST_PAPER_READ, TestPaperRead(amount_cents=paper.face_cents))


def record_test_paper(machine: PositionMachine, event: Event) -> None:
    """Record that the acceptor under test returned or rejected a bill or ticket."""
    paper = event.read_payload(PaperNotAccepted)
    details = TestPaperReturned(
        reported_event=event.name.value, reason=paper.reason, is_ticket=paper.is_ticket
    )
    machine.post(TEST_PAPER_RETURNED, details)


def record_test_ticket(machine: PositionMachine, _: Event) -> None:
    """Record that the printer has printed the bar code of the test ticket."""
    printing_record = machine.memory.require(PrintingRecord, MoneyKey.PRINT_JOB)
    machine.post(
        TEST_TICKET_PRINTED,
        SlipOrTestPagePrinted(id=printing_record.id),
        state={MoneyKey.PRINT_JOB: replace(printing_record, state=PrintState.BARCODE_DONE)},
    )


def record_test_ticket_failed(machine: PositionMachine, event: Event) -> None:
    """Record that the test ticket was not printed."""
    printing_record = machine.memory.require(PrintingRecord, MoneyKey.PRINT_JOB)
    reason = event.read_payload(PrintFailure).reason
    machine.post(
        TEST_TICKET_FAILED,
        PrintJobOrTestFailed(id=printing_record.id, reason=reason),
        state={MoneyKey.PRINT_JOB: None},
    )


def record_test_coins(machine: PositionMachine, event: Event) -> None:
    """Record the number of coins that the hopper has paid in a test. The tester puts them back."""
    payout = machine.memory.require(PayoutRecord, MoneyKey.HOPPER_PAYOUT)
    paid_coins = event.read_payload(CoinsPaid).paid_coins
    machine.post(
        TEST_COINS_PAID,
        TestCoinsPaid(id=payout.payout_id, ordered_coins=payout.ordered_coins, paid_coins=paid_coins),
        state={MoneyKey.HOPPER_PAYOUT: None},
    )
    machine.notice = Notice(code="test_coins", values={"paid": paid_coins, "ordered": payout.ordered_coins})
