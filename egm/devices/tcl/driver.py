"""Driver of TCL-style ticket printers; the rules for a ticket's states are in :mod:`egm.devices.printer_driver`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from egm.devices.interface import DeviceIdentified, EventSink, TicketJob
from egm.devices.ledgers import PrintLedger
from egm.devices.line import LineSettings, SerialLine
from egm.devices.printer_driver import PrinterDriver
from egm.devices.printer_status import PrinterStatus
from egm.devices.tcl import codec
from egm.devices.tcl.codec import ClearPrintJob, PrinterReply, PrintTicket, StatusQuery

#: Settings of the line to a printer.
TCL_LINE_SETTINGS: Final = LineSettings(baud_rate=9600)


@dataclass(frozen=True, slots=True)
class TclTemplate:
    """A template stored in the printer: its identifier there, and the names of its fields in order.

    The field called ``barcode`` is filled from the job's bar code.
    """

    identifier: str
    fields: Sequence[str]


class TclDriver(PrinterDriver[PrinterReply]):
    """A :class:`~egm.devices.interface.TicketPrinter` that takes template commands."""

    def __init__(
        self,
        name: str,
        line: SerialLine,
        sink: EventSink,
        ledger: PrintLedger,
        templates: Mapping[str, TclTemplate],
    ) -> None:
        """Create the driver. ``templates`` maps the template names that ticket jobs use to the printer's templates."""
        super().__init__(
            name, line, sink, cutter=codec.cut_printer_reply, protocol=codec.TCL_PROTOCOL, ledger=ledger
        )
        self._templates = dict(templates)
        self._identity = ""

    def _build_print_command(self, job: TicketJob) -> bytes:
        """Return the command that prints a ticket by its template.

        Raises ValueError for an unknown template, a missing or unknown field, or a text that cannot be printed.
        """
        template = self._templates.get(job.template)
        if template is None:
            template_names = ", ".join(sorted(self._templates))
            raise ValueError(
                f"{self.name}: there is no ticket template {job.template!r}; expected one of {template_names}"
            )
        values = {**job.fields, "barcode": job.barcode}
        missing_fields = [field for field in template.fields if field not in values]
        unknown_fields = sorted(set(values).difference(template.fields))
        if missing_fields or unknown_fields:
            raise ValueError(
                f"{self.name}: template {job.template}: missing {missing_fields}, unknown {unknown_fields}"
            )
        return PrintTicket(template.identifier, tuple(values[field] for field in template.fields)).encode()

    async def _query_status(self) -> PrinterStatus | None:
        """Query the printer's status once; return None if there is no valid reply."""
        replies = await self._exchange(StatusQuery().encode())
        if not replies:
            return None
        if replies[-1].version != self._identity:
            self._identity = replies[-1].version
            self._emit(DeviceIdentified(device=self.name, identity=self._identity))
        return replies[-1].status

    async def _discard_printer_job(self) -> None:
        """Make the printer discard its print job, and the flag that says that a bar code was printed."""
        self._line.write(ClearPrintJob().encode())
