"""A simulated ESC-style ticket printer (Ithaca)."""

from egm.devices.ithaca import codec
from egm.devices.ithaca.codec import (
    CancelPrintJob,
    IthacaCommand,
    PresentTicket,
    PrintBarcode,
    PrintSetting,
    PrintTextLine,
    StatusQuery,
)
from egm.devices.printer_twin import PrinterTwin
from egm.devices.twin import SimulatedPort


class IthacaTwin(PrinterTwin[IthacaCommand]):
    """A simulated Ithaca ticket printer."""

    kind = "ticket printer (ESC)"

    def __init__(self, name: str, port: SimulatedPort, speed: float = 1.0) -> None:
        super().__init__(name, port, codec.cut_command, speed)
        self._printed_lines: list[str] = []
        self._barcode_digits = ""

    def process_message(self, message: IthacaCommand) -> None:
        """Execute a command of the machine: store ticket data, print the ticket when complete, or report the status."""
        match message:
            case StatusQuery(status_byte_index=status_byte_index):
                self._send(codec.encode_status(self._build_status())[status_byte_index].encode())
            case PrintTextLine(text=text):
                self._printed_lines.append(text)
            case PrintBarcode(digits=digits):
                self._barcode_digits = digits
            case PresentTicket():
                if self._barcode_digits:
                    self._start_printing(self._printed_lines, self._barcode_digits)
                self._discard_input()
            case CancelPrintJob():
                self._discard_input()
                self._discard_print_job()
            case PrintSetting():
                pass

    def _discard_input(self) -> None:
        """Discard the lines and the bar code received for the next ticket."""
        self._printed_lines, self._barcode_digits = [], ""

    def handle_power_loss(self) -> None:
        """Lose power; what was received and not printed yet is discarded too."""
        self._discard_input()
        super().handle_power_loss()
