"""Printer status: what every ticket printer reports, independent of its protocol."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PrinterStatus:
    """The status that all printers report. ``barcode_done`` is set from the end of the bar code until it is cleared."""

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
        """Return the fault that stops the printer from printing, as text; otherwise empty."""
        names = ("paper_out", "jam", "head_up", "chassis_open", "failure")
        return next((name.replace("_", " ") for name in names if getattr(self, name)), "")
