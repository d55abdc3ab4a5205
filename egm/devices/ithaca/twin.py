"""A simulated ESC-style ticket printer (Ithaca)."""

from egm.devices.ithaca import codec
from egm.devices.ithaca.codec import Bars, Cancel, Command, Present, Setting, StatusQuery, Text
from egm.devices.printer_twin import PrinterTwin
from egm.devices.twin import Port


class IthacaTwin(PrinterTwin[Command]):
    """A simulated Ithaca ticket printer."""

    kind = "ticket printer (ESC)"

    def __init__(self, name: str, port: Port, speed: float = 1.0) -> None:
        super().__init__(name, port, codec.cut_command, speed)
        self._lines: list[str] = []
        self._digits = ""

    def process_message(self, message: Command) -> None:
        """Collect a ticket, print it when it is presented, answer status queries."""
        match message:
            case StatusQuery(which=which):
                self._send(codec.encode_status(self._build_status())[which].encode())
            case Text(text=text):
                self._lines.append(text)
            case Bars(digits=digits):
                self._digits = digits
            case Present():
                if self._digits:
                    self._print(self._lines, self._digits)
                self._discard_input()
            case Cancel():
                self._discard_input()
                self._cancel()
            case Setting():
                pass

    def _discard_input(self) -> None:
        """Discard the lines and the bar code received for the next ticket."""
        self._lines, self._digits = [], ""

    def handle_power_loss(self) -> None:
        """Lose power; what was received and not printed yet is discarded too."""
        self._discard_input()
        super().handle_power_loss()
