"""Slips without value that the machine prints for the venue: access tickets and audit tickets (E-10, G-17).

If the profile requires it, an access ticket is printed when an intervention starts (who, why, the current
meters) and when the logic area or an area with money is opened, and an audit ticket when the main door is
opened. A slip uses the ticket printer and the jurisdiction's template. Its content is recorded in the journal
before it is printed. If the printer is busy with a ticket or another slip, or has a fault, the slip is not printed,
which is recorded too.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from egm.devices.interface import MoneyDevices, PrintState, TicketJob
from egm.devices.ioboard.codec import MONEY_DOORS
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.money.events import PrintFailure
from egm.money.keys import MoneyKey
from egm.money.records.money import PrintingRecord
from egm.staff.entries import (
    SLIP_FAILED,
    SLIP_NOT_STARTED,
    SLIP_ORDERED,
    SLIP_PRINTED,
    PrintJobOrTestFailed,
    SlipOrdered,
    SlipOrTestPagePrinted,
)
from egm.tickets.model import TICKET_NUMBER_DIGIT_COUNT
from egm.tickets.templates import load_template

#: Prefix of the ids of slips.
_SLIP_JOB_PREFIX: Final = "slip-"
#: Title of an access ticket.
_ACCESS_TICKET_TITLE: Final = "ACCESS"
#: Title of an audit ticket.
_AUDIT_TICKET_TITLE: Final = "AUDIT"
#: Door -> the ticket that its opening prints (SD addenda 1-2 and 4-5).
_TICKET_TITLE_BY_DOOR: Final[Mapping[str, str]] = {
    "main": _AUDIT_TICKET_TITLE,
    **dict.fromkeys(("logic", *MONEY_DOORS), _ACCESS_TICKET_TITLE),
}
#: The meters on a slip, in minor units.
_SLIP_METERS: Final = ("coin_in", "coin_out", "coin_drop", "bill_in.value", "hand_paid")


def is_slip_job_id(job_id: str) -> bool:
    """Return whether this id of a print job is that of a slip without value, such as an access or audit ticket."""
    return job_id.startswith(_SLIP_JOB_PREFIX)


def format_meters_line(values: Mapping[str, int]) -> str:
    """Return the line of a slip that states some of the meters in ``values``, in minor units."""
    return "  ".join(f"{name} {values[name]}" for name in _SLIP_METERS)


def build_slip_job(machine: PositionMachine, job_id: str) -> TicketJob:
    """Return the print job of a slip, with the content of its journal entry, in the jurisdiction's ticket layout."""
    entry = machine.journal.get(job_id)
    slip_record: Any = {} if entry is None else entry.record
    template = load_template(machine.profile.id)
    text_by_field = dict.fromkeys(template.field_names, "")
    for field_names, text in (
        (("kind",), slip_record.get("title", "")),
        (("site",), slip_record.get("serial", "")),
        (("validation", "number_edge"), job_id),
        (("when",), slip_record.get("when", "")),
        (("amount",), slip_record.get("about", "")),
        (("amount_words_en", "amount_words"), slip_record.get("meters", "")),
        (("witness",), slip_record.get("witness", "")),
    ):
        text_by_field.update(dict.fromkeys((name for name in field_names if name in text_by_field), text))
    return TicketJob(
        job_id=job_id, template=template.id, barcode="0" * TICKET_NUMBER_DIGIT_COUNT, fields=text_by_field
    )


def print_door_slip(machine: PositionMachine, door: str, *, was_unobserved: bool) -> None:
    """Print the slip about the opening of a door; do nothing if no slip is defined for this door.

    ``was_unobserved``: the door was opened while the machine was off or received no reports.
    """
    if (title := _TICKET_TITLE_BY_DOOR.get(door)) is not None:
        _print_slip(machine, title, f"{door} {'opened while off' if was_unobserved else 'opened'}")


def print_access_ticket(machine: PositionMachine, work_description: str) -> None:
    """Print the access ticket of an intervention; ``work_description`` says who works on the machine and why."""
    _print_slip(machine, _ACCESS_TICKET_TITLE, work_description)


def _print_slip(machine: PositionMachine, title: str, subject_lines: str) -> None:
    """Record a slip, then print it or record why the printer cannot print it now.

    If the profile requires no slips, or the machine has no printer, do nothing. ``subject_lines`` state what the slip
    is about.
    """
    printer = machine.component(MoneyDevices).printer
    if not machine.profile.staff.prints_slips or printer is None:
        return
    job_id = machine.fresh_id(_SLIP_JOB_PREFIX.rstrip("-"))
    machine.post(
        SLIP_ORDERED,
        SlipOrdered(
            title=f"{title} - NO VALUE",
            subject_lines=subject_lines,
            printed_time=machine.clock.now().isoformat(timespec="seconds"),
            meter_lines=format_meters_line(machine.journal.meters().values),
            serial=machine.identity.serial,
            journal_head=machine.journal_head,
        ),
        entry_id=job_id,
    )
    if machine.memory.get(MoneyKey.PRINT_JOB) is not None or machine.memory.get(MoneyKey.PAY_OUT) is not None:
        machine.post(
            SLIP_NOT_STARTED,
            PrintJobOrTestFailed(id=job_id, reason="the printer is still printing a ticket or slip"),
        )
        return
    try:
        printer.print_ticket(build_slip_job(machine, job_id))
    except ValueError as error:  # the driver reports what it cannot do
        machine.post(SLIP_NOT_STARTED, PrintJobOrTestFailed(id=job_id, reason=str(error)))


# ---------------------------------------------------------------------------------------------- guards
def ticket_is_a_slip(machine: PositionMachine, _: Event) -> bool:
    """Return whether the ticket being printed is a slip."""
    printing_record = machine.memory.read(PrintingRecord, MoneyKey.PRINT_JOB)
    return printing_record is not None and is_slip_job_id(printing_record.id)


# ---------------------------------------------------------------------------------------------- effects
def record_slip(machine: PositionMachine, _: Event) -> None:
    """Record that an access or audit ticket is printed."""
    printing_record = machine.memory.require(PrintingRecord, MoneyKey.PRINT_JOB)
    machine.post(
        SLIP_PRINTED,
        SlipOrTestPagePrinted(id=printing_record.id),
        state={MoneyKey.PRINT_JOB: replace(printing_record, state=PrintState.BARCODE_DONE)},
    )


def record_slip_failed(machine: PositionMachine, event: Event) -> None:
    """Record that an access or audit ticket was not printed."""
    printing_record = machine.memory.require(PrintingRecord, MoneyKey.PRINT_JOB)
    reason = event.read_payload(PrintFailure).reason
    machine.post(
        SLIP_FAILED,
        PrintJobOrTestFailed(id=printing_record.id, reason=reason),
        state={MoneyKey.PRINT_JOB: None},
    )
