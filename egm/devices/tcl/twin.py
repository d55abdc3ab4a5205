"""A simulated TCL-style ticket printer."""

from collections.abc import Sequence
from typing import Final

from egm.devices.printer_twin import PrinterTwin
from egm.devices.tcl import codec
from egm.devices.tcl.codec import Clear, Print, PrinterReply, StatusQuery
from egm.devices.twin import Port

#: The simulated printer's firmware version.
VERSION: Final = "TCLSIM100"
#: Digits of a ticket's bar code.
_BARCODE_DIGITS: Final = 18


class TclTwin(PrinterTwin[StatusQuery | Clear | Print]):
    """A simulated TCL ticket printer."""

    kind = "ticket printer (TCL)"

    def __init__(self, name: str, port: Port, speed: float = 1.0) -> None:
        super().__init__(name, port, codec.cut_command, speed)

    def process_message(self, message: StatusQuery | Clear | Print) -> None:
        """Answer a status query; execute other commands without a reply."""
        match message:
            case StatusQuery():
                self._send(PrinterReply(VERSION, self._build_status()).encode())
            case Clear():
                self._cancel()
            case Print():
                self._print(message.fields, _find_barcode_field(message.fields))


def _find_barcode_field(fields: Sequence[str]) -> str:
    """Return the field printed as a bar code; recognised by its form here, by the template in a real printer."""
    return next((text for text in reversed(fields) if len(text) == _BARCODE_DIGITS and text.isdigit()), "")
