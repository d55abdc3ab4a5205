"""Printer status: what every ticket printer can say of itself. Pure: codecs use it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PrinterStatus:
    """What every printer can say. ``barcode_done`` holds from the end of the bar code until it is cleared."""

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
        """The fault that stops printing, in words; empty when there is none."""
        names = ("paper_out", "jam", "head_up", "chassis_open", "failure")
        return next((name.replace("_", " ") for name in names if getattr(self, name)), "")
