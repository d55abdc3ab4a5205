"""Printer status: what every ticket printer can report. Pure; codecs use it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PrinterStatus:
    """The status that every printer can report. ``barcode_done`` is set from the end of the bar code until cleared."""

    busy: bool = False
    ticket_in_path: bool = False
    barcode_done: bool = False
    paper_out: bool = False
    paper_low: bool = False
    jam: bool = False
    head_up: bool = False
    chassis_open: bool = False
    failure: bool = False

    @property
    def stops_printing(self) -> str:
        """Return the text of the fault that stops printing, or "" if there is none."""
        names = ("paper_out", "jam", "head_up", "chassis_open", "failure")
        return next((name.replace("_", " ") for name in names if getattr(self, name)), "")
