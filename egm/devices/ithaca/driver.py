"""Driver of ESC-style ticket printers; the rules for a ticket's states are in :mod:`egm.devices.printer_driver`.

The printer stores no templates: a template here is a list of lines with fields in braces.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from egm.devices.interface import EventSink, TicketJob
from egm.devices.ithaca import codec
from egm.devices.ithaca.codec import CancelPrintJob, StatusByte, StatusQuery
from egm.devices.ledgers import PrintLedger
from egm.devices.line import LineSettings, SerialLine
from egm.devices.printer_driver import PrinterDriver
from egm.devices.printer_status import PrinterStatus

#: Settings of the line to a printer.
ITHACA_LINE_SETTINGS: Final = LineSettings(baud_rate=9600)


class IthacaDriver(PrinterDriver[StatusByte]):
    """A :class:`~egm.devices.interface.TicketPrinter` without templates: the driver sends it lines of text."""

    def __init__(
        self,
        name: str,
        line: SerialLine,
        sink: EventSink,
        ledger: PrintLedger,
        text_lines_by_template: Mapping[str, Sequence[str]],
    ) -> None:
        """Create the driver. ``text_lines_by_template`` maps template names to lines such as ``"AMOUNT {amount}"``."""
        super().__init__(
            name, line, sink, cutter=codec.cut_status_byte, protocol=codec.ITHACA_PROTOCOL, ledger=ledger
        )
        self._text_lines_by_template = dict(text_lines_by_template)

    def _build_print_command(self, job: TicketJob) -> bytes:
        """Return the bytes that print a ticket by its template.

        Raises ValueError for an unknown template, a missing field, or a text or bar code that cannot be
        printed.
        """
        template_lines = self._text_lines_by_template.get(job.template)
        if template_lines is None:
            template_names = ", ".join(sorted(self._text_lines_by_template))
            raise ValueError(
                f"{self.name}: there is no ticket template {job.template!r}; expected one of {template_names}"
            )
        values = {**job.fields, "barcode": job.barcode}
        try:
            lines = [line.format_map(values) for line in template_lines]
        except KeyError as error:
            raise ValueError(f"{self.name}: template {job.template}: missing {error}") from error
        return codec.encode_ticket(lines, job.barcode)

    async def _query_status(self) -> PrinterStatus | None:
        """Query both status bytes; return the status, or None if a reply is missing."""
        status_bytes: dict[int, StatusByte] = {}
        for status_byte_index in (0, 1):
            for byte in await self._exchange(StatusQuery(status_byte_index).encode()):
                status_bytes[byte.status_byte_index] = byte
        return codec.decode_status(status_bytes[0], status_bytes[1]) if len(status_bytes) == 2 else None

    async def _discard_printer_job(self) -> None:
        """Make the printer discard the data of the job, and clear its flag that a bar code was printed."""
        self._line.write(CancelPrintJob().encode())
