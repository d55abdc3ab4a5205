"""A simulated TCL-style ticket printer."""

from collections.abc import Sequence
from typing import Final

from egm.devices.printer_twin import PrinterTwin
from egm.devices.tcl import codec
from egm.devices.tcl.codec import ClearPrintJob, PrinterReply, PrintTicket, StatusQuery
from egm.devices.twin import SimulatedPort

#: The simulated printer's firmware version.
SIMULATED_VERSION: Final = "TCLSIM100"
#: Digits of a ticket's bar code.
_BARCODE_DIGIT_COUNT: Final = 18


class TclTwin(PrinterTwin[StatusQuery | ClearPrintJob | PrintTicket]):
    """A simulated TCL ticket printer."""

    kind = "ticket printer (TCL)"

    def __init__(self, name: str, port: SimulatedPort, speed: float = 1.0) -> None:
        super().__init__(name, port, codec.cut_command, speed)

    def process_message(self, message: StatusQuery | ClearPrintJob | PrintTicket) -> None:
        """Reply to a status query; execute other commands without a reply."""
        match message:
            case StatusQuery():
                self._send(PrinterReply(SIMULATED_VERSION, self._build_status()).encode())
            case ClearPrintJob():
                self._discard_print_job()
            case PrintTicket():
                self._start_printing(message.fields, _find_barcode_field(message.fields))


def _find_barcode_field(fields: Sequence[str]) -> str:
    """Return the field to be printed as a bar code.

    It is recognised by its form, because the simulated printer has no templates. The machine sends it as the last
    field.
    """
    return next(
        (text for text in reversed(fields) if len(text) == _BARCODE_DIGIT_COUNT and text.isdigit()), ""
    )
