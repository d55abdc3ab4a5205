"""Printer status: what every ticket printer reports, independent of its protocol."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PrinterStatus:
    """The status that all printers report.

    ``barcode_done``: a ticket's bar code was printed completely; it stays set until the driver clears it.
    """

    is_busy: bool = False
    ticket_in_path: bool = False
    barcode_done: bool = False
    paper_out: bool = False
    paper_low: bool = False
    jam: bool = False
    head_up: bool = False
    chassis_open: bool = False
    failure: bool = False

    @property
    def printing_obstacle(self) -> str:
        """Return the name of a fault that stops the printer from printing; "" without such a fault."""
        names = ("paper_out", "jam", "head_up", "chassis_open", "failure")
        return next((name.replace("_", " ") for name in names if getattr(self, name)), "")
