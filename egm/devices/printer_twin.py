"""Common mechanics of simulated ticket printers: paper, print head, bar code, path, and manual actions.

A printed ticket stays in the path until it is taken, which a simulated person does soon unless ``hold`` is set. Without
power a printer loses its job and the report that a bar code was printed; paper stays where it is.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from egm.devices.framing import FrameCutter
from egm.devices.printer_status import PrinterStatus
from egm.devices.twin import ActionError, BenchAction, MessageT, SimulatedPort, Twin

#: Time in which a bar code is printed.
BARCODE_PRINT_SECONDS: Final = 0.7
#: Time in which the rest of a ticket is printed.
_PRINT_SECONDS_AFTER_BARCODE: Final = 0.5
#: Time after which a person takes the ticket.
_TICKET_TAKEN_SECONDS: Final = 1.0
#: Number of printed tickets whose content is stored.
_STORED_TICKETS_MAX: Final = 50


class PrinterTwin(Twin[MessageT]):
    """Common base of the simulated ticket printers."""

    def __init__(
        self, name: str, port: SimulatedPort, cutter: FrameCutter[MessageT], speed: float = 1.0
    ) -> None:
        super().__init__(name, port, cutter, speed)
        self._is_busy = False
        self._is_ticket_in_path = False
        self._is_barcode_done = False
        self._is_jammed = False
        self._should_jam_next = False
        self._is_head_up = False
        self._is_chassis_open = False
        self._has_failed = False
        self._should_hold_tickets = False
        self._should_omit_barcode_report = False
        #: The ticket being printed, until it is in the list of printed tickets.
        self._unlisted_ticket: dict[str, object] = {}
        self.paper_ticket_count = 200
        self.printed_tickets: list[dict[str, object]] = []

    def _build_status(self) -> PrinterStatus:
        """Return the status that the printer reports now."""
        return PrinterStatus(
            is_busy=self._is_busy,
            ticket_in_path=self._is_ticket_in_path,
            barcode_done=self._is_barcode_done,
            paper_out=self.paper_ticket_count == 0,
            paper_low=self.paper_ticket_count < 20,
            jam=self._is_jammed,
            head_up=self._is_head_up,
            chassis_open=self._is_chassis_open,
            failure=self._has_failed,
        )

    # ------------------------------------------------------------ the mechanics
    def _start_printing(self, lines: Sequence[str], barcode: str) -> None:
        """Start to print a ticket; if the printer cannot print or is printing, discard the job.

        ``barcode`` is the digits of its bar code; "" if it has none.
        """
        if self._is_busy or self._is_ticket_in_path or self._build_status().printing_obstacle:
            return
        self._is_barcode_done = False
        self._is_busy = True
        self._unlisted_ticket = {"lines": list(lines), "barcode": barcode}
        self.paper_ticket_count -= 1
        self._schedule_step(BARCODE_PRINT_SECONDS, self._print_barcode)

    def _print_barcode(self) -> None:
        """Print the ticket's bar code, only partly if a jam was requested; add the ticket to the printed tickets."""
        ticket, self._unlisted_ticket = self._unlisted_ticket, {}
        if self._should_jam_next:
            self._should_jam_next = False
            self._is_jammed = True  # and the printer stays busy until the job is discarded
            self._is_ticket_in_path = True
            self.printed_tickets.append({**ticket, "barcode_complete": False})
            return
        self._is_barcode_done = not self._should_omit_barcode_report
        self._should_omit_barcode_report = False
        self._is_ticket_in_path = True
        self.printed_tickets.append({**ticket, "barcode_complete": True})
        self._schedule_step(_PRINT_SECONDS_AFTER_BARCODE, self._finish_printing)

    def _finish_printing(self) -> None:
        """Finish printing the ticket; a person takes it a moment later, unless tickets are held."""
        self._is_busy = False
        if not self._should_hold_tickets:
            self._schedule_step(_TICKET_TAKEN_SECONDS, self._take_ticket)

    def _discard_print_job(self) -> None:
        """Discard the print job, and the report that a bar code was printed."""
        self._stop_timers()
        self._is_busy = self._is_barcode_done = False
        if self._is_ticket_in_path and not self._should_hold_tickets:
            self._schedule_step(_TICKET_TAKEN_SECONDS, self._take_ticket)

    def _take_ticket(self) -> None:
        """Take the printed ticket out of the paper path, as a person would."""
        self._is_ticket_in_path = False

    def handle_power_loss(self) -> None:
        """Discard the print job; half-printed paper stays in the path."""
        self._is_ticket_in_path = self._is_ticket_in_path or self._is_busy
        if self._is_busy and self._unlisted_ticket:
            self.printed_tickets.append({**self._unlisted_ticket, "barcode_complete": False})
        self._is_busy = self._is_barcode_done = False

    def export_retained_state(self) -> dict[str, object]:
        """Return what the printer retains without power: the paper, and the last tickets that came out."""
        return {
            "paper_tickets": self.paper_ticket_count,
            "in_path": self._is_ticket_in_path or self._is_busy,
            "printed": self.printed_tickets[-_STORED_TICKETS_MAX:],
        }

    def restore_retained_state(self, retained_state: Mapping[str, Any]) -> None:
        """Restore the printer's state that :meth:`export_retained_state` returned."""
        self.paper_ticket_count, self._is_ticket_in_path = (
            retained_state["paper_tickets"],
            retained_state["in_path"],
        )
        self.printed_tickets = list(retained_state["printed"])
        self.handle_power_return()

    def handle_power_return(self) -> None:
        """Schedule that a person takes the ticket left in the paper path, unless tickets are held."""
        if self._is_ticket_in_path and not self._should_hold_tickets:
            self._schedule_step(_TICKET_TAKEN_SECONDS, self._take_ticket)

    # ------------------------------------------------------------ manual actions
    def list_actions(self) -> dict[str, BenchAction]:
        """Return the manual actions on the simulated device, by the name under which a command calls them."""
        return {
            "take": self._take_ticket_from_bezel,
            "hold": self._set_tickets_stay_in_bezel,
            "jam": self._jam_next_ticket,
            "clear": self._clear_printer_faults,
            "paper": self._set_paper,
            "head": self._set_print_head,
            "chassis": self._set_chassis,
            "fail": self._break_electronics,
            "lie": self._report_false_barcode,
            "forget": self._omit_next_barcode_report,
        }

    def _take_ticket_from_bezel(self) -> str:
        """Take the ticket out of the bezel."""
        if self._is_busy:
            raise ActionError(f"{self.name}: the ticket cannot be taken while it is being printed")
        was_in_path, self._is_ticket_in_path = self._is_ticket_in_path, False
        return "ticket taken" if was_in_path else "no ticket to take"

    def _set_tickets_stay_in_bezel(self, *, on: bool = True) -> str:
        """Set whether tickets stay in the bezel (``on``) until the action ``take``."""
        self._should_hold_tickets = on
        return "tickets stay in the bezel" if self._should_hold_tickets else "tickets are taken"

    def _jam_next_ticket(self) -> str:
        """Jam the next ticket before its bar code is printed."""
        self._should_jam_next = True
        return "the next ticket jams"

    def _clear_printer_faults(self) -> str:
        """Remove the paper from the path and repair the printer."""
        self._stop_timers()
        self._is_jammed = self._should_jam_next = self._has_failed = self._is_head_up = (
            self._is_chassis_open
        ) = False
        self._is_busy = self._is_ticket_in_path = False
        return "repaired"

    def _set_paper(self, *, tickets: int) -> str:
        """Set the number of blank tickets left in the paper stack to ``tickets``."""
        self.paper_ticket_count = tickets
        return f"{self.paper_ticket_count} tickets left"

    def _set_print_head(self, *, up: bool) -> str:
        """Raise the print head if ``up``; otherwise lower it."""
        self._is_head_up = up
        return "head up" if self._is_head_up else "head down"

    def _set_chassis(self, *, open_: bool) -> str:
        """Open the chassis if ``open_``; otherwise close it."""
        self._is_chassis_open = open_
        return "chassis open" if self._is_chassis_open else "chassis closed"

    def _break_electronics(self) -> str:
        """Break the printer's electronics."""
        self._has_failed = True
        return "electronics failed"

    def _report_false_barcode(self) -> str:
        """Simulate a defect: report a bar code that was never printed."""
        self._is_barcode_done = True
        return "a false bar code was reported"

    def _omit_next_barcode_report(self) -> str:
        """Simulate a defect: print the next ticket completely without reporting its bar code."""
        self._should_omit_barcode_report = True
        return "the next ticket will not be reported"

    def describe_state(self) -> dict[str, Any]:
        """Return the printer's paper, path and printed tickets, for display.

        Each ticket has its lines, its bar code, and whether the bar code is complete.
        """
        status = self._build_status()
        return {
            "status": status.printing_obstacle or ("printing" if self._is_busy else "idle"),
            "ticket_in_path": self._is_ticket_in_path,
            "paper_tickets": self.paper_ticket_count,
            "printed": list(self.printed_tickets),
        }
