"""Slips: what the machine prints for its own house, worth nothing: access and audit tickets (E-10, G-17).

Where the profile asks, a slip comes out when somebody begins an intervention (who, why, the meters of the
moment) and when the main or the logic door opens. It is printed through the ticket printer and the place's
own template; what it says is in the journal before the printer has it, so evidence of it is kept whether it
is printed or not. A printer at work for a player, or with a fault, prints none: that too is kept.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from egm.devices.interface import Devices, PrintState, TicketJob
from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.records.keys import MoneyKey
from egm.records.money import PrintingRecord
from egm.tickets.model import DIGITS
from egm.tickets.templates import load_template

_PREFIX: Final = "slip-"
#: Doors whose opening prints an audit ticket.
AUDITED: Final = frozenset({"main", "logic"})
#: What an audit ticket tells of the meters, in minor units.
_METERS: Final = ("coin_in", "coin_out", "coin_drop", "bill_in.value", "hand_paid")


def is_slip(job_id: str) -> bool:
    """Whether a print job is a slip."""
    return job_id.startswith(_PREFIX)


def meters_line(values: Mapping[str, int]) -> str:
    """What a slip says of the meters."""
    return "  ".join(f"{name} {values[name]}" for name in _METERS)


def slip_job(machine: Machine, job_id: str) -> TicketJob:
    """The slip as its entry in the journal tells it: the lines of the place's ticket, and no value."""
    entry = machine.journal.get(job_id)
    record: Any = {} if entry is None else entry.record
    template = load_template(machine.profile.id)
    fields = dict.fromkeys(template.names, "")
    for names, text in (
        (("kind",), record.get("title", "")),
        (("site",), record.get("serial", "")),
        (("validation", "number_edge"), job_id),
        (("when",), record.get("when", "")),
        (("amount",), record.get("about", "")),
        (("amount_words_en", "amount_words"), record.get("meters", "")),
        (("witness",), record.get("witness", "")),
    ):
        fields.update(dict.fromkeys((name for name in names if name in fields), text))
    return TicketJob(job_id=job_id, template=template.id, barcode="0" * DIGITS, fields=fields)


def print_slip(machine: Machine, title: str, about: str) -> None:
    """Write a slip down and print it, where the place asks for slips and the printer is free."""
    printer = machine.state(Devices).printer
    if not machine.profile.staff.slips or printer is None:
        return
    job_id = machine.fresh_id(_PREFIX.rstrip("-"))
    machine.record(
        "slip.ordered",
        transaction_id=job_id,
        details={
            "title": f"{title} - NO VALUE",
            "about": about,
            "when": machine.clock.now().isoformat(timespec="seconds"),
            "meters": meters_line(machine.journal.meters().values),
            "serial": machine.identity.serial,
            "witness": machine.witness,
        },
    )
    if machine.memory.get(MoneyKey.PRINT) is not None or machine.memory.get(MoneyKey.PAY_OUT) is not None:
        machine.log("slip.failed", {"id": job_id, "why": "the printer is at work"})
        return
    try:
        printer.print_ticket(slip_job(machine, job_id))
    except ValueError as error:  # the driver says what it cannot do
        machine.log("slip.failed", {"id": job_id, "why": str(error)})


# ---------------------------------------------------------------------------------------------- guards
def ticket_is_a_slip(machine: Machine, _: Event) -> bool:
    """The ticket being printed is a slip."""
    printing = machine.memory.read(PrintingRecord, MoneyKey.PRINT)
    return printing is not None and is_slip(printing.id)


# ---------------------------------------------------------------------------------------------- effects
def record_slip(machine: Machine, _: Event) -> None:
    """The slip is printed."""
    printing = machine.memory.require(PrintingRecord, MoneyKey.PRINT)
    machine.record(
        "slip.printed",
        counts={"slips_printed": 1},
        state={MoneyKey.PRINT: replace(printing, state=PrintState.BARCODE_DONE)},
        details={"id": printing.id},
    )


def record_slip_failed(machine: Machine, event: Event) -> None:
    """It was not printed."""
    printing, why = machine.memory.require(PrintingRecord, MoneyKey.PRINT), str(event.data.get("why", ""))
    machine.record("slip.failed", state={MoneyKey.PRINT: None}, details={"id": printing.id, "why": why})
