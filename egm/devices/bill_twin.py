"""Common mechanics of simulated bill acceptors: sensor head, escrow, point of no return, box, and manual actions.

A protocol's simulated device encodes the :class:`PaperPhase` in its own bytes, and translates the machine's commands
into calls of ``stack_escrowed_paper``, ``return_escrowed_paper``, ``extend_escrow_time`` and ``acknowledge_stacked``.
Like a real acceptor, it retains without power where the paper (bill or ticket) is, and whether its stacking was
acknowledged.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from egm.devices.framing import FrameCutter
from egm.devices.twin import ActionError, BenchAction, MessageT, SimulatedPort, Twin

#: Time in which a paper moves into escrow.
ACCEPT_SECONDS: Final = 0.8
#: Time in which a paper moves from escrow into the box.
STACK_SECONDS: Final = 0.7
#: Time in which a paper moves back to the player.
RETURN_SECONDS: Final = 0.5
#: Time for which a paper is held in escrow at the machine's command.
HOLD_SECONDS: Final = 10.0
#: Number of stacked bills and tickets, and of returned ones, whose details are retained without power.
_RETAINED_PAPERS_MAX: Final = 100
#: Time in which a rejected paper moves back to the player.
REJECT_SECONDS: Final = 0.6


class PaperPhase(StrEnum):
    """The phases of a paper (bill or ticket) in the simulated acceptor, and the faults in which the acceptor stops."""

    STARTING = "starting"
    READY = "ready"
    ACCEPTING = "accepting"
    ESCROW = "escrow"
    HELD = "held"
    STACKING = "stacking"
    STACKED_UNACKNOWLEDGED = "in_box"  # stacked, but not yet acknowledged by the machine
    STACKED_ACKNOWLEDGED = "settling"  # stacked and acknowledged
    REJECTING = "rejecting"
    RETURNING = "returning"
    # cleared by hand only
    JAM = "jam"
    STACKER_JAM = "stacker_jam"
    BOX_FULL = "full"
    BOX_REMOVED = "box_out"
    SENSOR_HEAD_FAILED = "failed"
    # cleared automatically or by a reset
    CHEATED = "cheated"


@dataclass(slots=True)
class SimulatedPaper:
    """A bill (``cents``) or ticket (``barcode``) inside the acceptor."""

    cents: int
    barcode: str = ""
    counterfeit: bool = False
    is_past_point_of_no_return: bool = False
    """Whether the bill or ticket can no longer be returned to the player."""


class BillTwin(Twin[MessageT]):
    """Base of the simulated bill acceptors, with the mechanics that all protocols share."""

    escrow_seconds: float | None = 10.0
    """Seconds after which a bill or ticket in escrow is returned if the machine has not decided; None: never."""
    return_seconds: float = RETURN_SECONDS
    """Seconds that the return of a bill or ticket to the player takes."""

    def __init__(
        self,
        name: str,
        port: SimulatedPort,
        cutter: FrameCutter[MessageT],
        cents_by_note_code: Mapping[int, int],
        speed: float = 1.0,
    ) -> None:
        """Create the simulated acceptor. ``cents_by_note_code`` has the value of each note code, in minor units."""
        super().__init__(name, port, cutter, speed)
        self._note_code_by_cents = {cents: code for code, cents in cents_by_note_code.items()}
        self._phase = PaperPhase.STARTING
        self._paper: SimulatedPaper | None = None
        self._fault_phase: PaperPhase | None = None
        self._should_jam_next = False
        self._should_fill_next = False
        self._programmed_cents_by_code: dict[int, int] = {}
        self.inserted_cents = 0
        self.stacked_cents = 0
        self.returned_cents = 0
        self.stacked_papers: list[int | str] = []
        self.returned_papers: list[int | str] = []

    # ------------------------------------------------------------ implemented per protocol
    @abstractmethod
    def _is_enabled(self, paper: SimulatedPaper) -> bool:
        """Return whether the machine has enabled this kind of bill or ticket."""

    @abstractmethod
    def _is_accepting(self) -> bool:
        """Return whether the machine has enabled the simulated acceptor for any bill or ticket."""

    def _handle_phase_change(self, phase: PaperPhase) -> None:
        """Do nothing; a protocol that reports events overrides this method to store the event of the new phase."""

    # ------------------------------------------------------------ commands of a protocol
    def stack_escrowed_paper(self) -> bool:
        """Move the bill or ticket in escrow to the box; return False if escrow is empty."""
        if self._phase not in {PaperPhase.ESCROW, PaperPhase.HELD}:
            return False
        self._stop_timers()
        self._enter_phase(PaperPhase.STACKING)
        self._schedule_step(STACK_SECONDS / 2, self._move_past_point_of_no_return)
        return True

    def return_escrowed_paper(self) -> bool:
        """Move the bill or ticket in escrow back out; return False if escrow is empty."""
        if self._phase not in {PaperPhase.ESCROW, PaperPhase.HELD}:
            return False
        self._stop_timers()
        self._start_returning()
        return True

    def extend_escrow_time(self) -> bool:
        """Hold the bill or ticket in escrow for :data:`HOLD_SECONDS`; return False if escrow is empty.

        After that, the time after which it is returned without a decision begins again.
        """
        if self._phase not in {PaperPhase.ESCROW, PaperPhase.HELD}:
            return False
        self._stop_timers()
        self._enter_phase(PaperPhase.HELD)
        self._schedule_time_limit(HOLD_SECONDS, self._move_into_escrow)
        return True

    def acknowledge_stacked(self) -> None:
        """Accept the machine's acknowledgement that the bill or ticket is in the box."""
        if self._phase is PaperPhase.STACKED_UNACKNOWLEDGED:
            self._move_paper_into_box()
            self._enter_phase(PaperPhase.STACKED_ACKNOWLEDGED)
            self._schedule_step(STACK_SECONDS / 2, self._finish_paper)

    # ------------------------------------------------------------ the mechanics
    def _enter_phase(self, phase: PaperPhase) -> None:
        """Enter a phase of handling a bill or ticket, and call ``_handle_phase_change``."""
        self._phase = phase
        self._handle_phase_change(phase)

    def _stop_in_fault(self, phase: PaperPhase) -> None:
        """Stop the simulated acceptor in a fault that only a manual action ends."""
        self._stop_timers()
        self._fault_phase = phase
        self._enter_phase(phase)

    def _move_into_escrow(self) -> None:
        """Move the inserted bill or ticket into escrow, unless a jam was requested or the machine would not accept it.

        If a jam was requested, it jams. If it is counterfeit or not enabled, it is rejected.

        A bill or ticket in escrow is returned if the machine decides nothing in time.
        """
        paper = self._paper
        if paper is None:
            return
        if self._should_jam_next:
            self._should_jam_next = False
            self._stop_in_fault(PaperPhase.JAM)
        elif paper.counterfeit or not self._is_enabled(paper):
            self._enter_phase(PaperPhase.REJECTING)
            self._schedule_step(REJECT_SECONDS, self._finish_return)
        else:
            self._enter_phase(PaperPhase.ESCROW)
            if self.escrow_seconds is not None:
                self._schedule_time_limit(self.escrow_seconds, self._start_returning)

    def _move_past_point_of_no_return(self) -> None:
        """Move the bill or ticket past the point of no return and into the box; jam if a jam was requested."""
        if self._paper is None:
            return
        if self._should_jam_next:
            self._should_jam_next = False
            self._stop_in_fault(PaperPhase.STACKER_JAM)
            return
        self._paper.is_past_point_of_no_return = True
        self._schedule_step(STACK_SECONDS / 2, lambda: self._enter_phase(PaperPhase.STACKED_UNACKNOWLEDGED))

    def _move_paper_into_box(self) -> None:
        """Move the bill or ticket from the acceptor into the box, and count it there."""
        paper, self._paper = self._paper, None
        if paper is not None:
            self.stacked_cents += paper.cents
            self.stacked_papers.append(paper.barcode or paper.cents)

    def _start_returning(self) -> None:
        """Start returning the bill or ticket in escrow."""
        self._enter_phase(PaperPhase.RETURNING)
        self._schedule_step(self.return_seconds, self._finish_return)

    def _finish_return(self) -> None:
        """Give the bill or ticket back to the player, and become ready for the next one."""
        paper, self._paper = self._paper, None
        if paper is not None:
            self._count_returned(paper)
        self._finish_paper()

    def _count_returned(self, paper: SimulatedPaper) -> None:
        """Count a bill or ticket that came out again: a bill by its value, a ticket by its number."""
        self.returned_cents += paper.cents
        self.returned_papers.append(paper.barcode or paper.cents)

    def _finish_paper(self) -> None:
        """Become ready for the next bill or ticket, or stop because the cash box is full."""
        if self._should_fill_next:
            self._should_fill_next = False
            self._stop_in_fault(PaperPhase.BOX_FULL)
        else:
            self._enter_phase(PaperPhase.READY)

    # ------------------------------------------------------------ manual actions
    def list_actions(self) -> dict[str, BenchAction]:
        """Return the manual actions on the simulated device, by the name under which a command calls them."""
        return {
            "insert": self._insert_bill,
            "insert_ticket": self._insert_ticket,
            "jam": self._jam_paper,
            "clear": self._repair_acceptor,
            "box": self._set_note_box,
            "full": self._fill_note_box,
            "cheat": self._pull_back_bill,
            "fail": self._break_sensor_head,
            "lie": self._report_false_bill,
            "worth": self._set_note_value,
            "escrow_limit": self._set_escrow_limit,
        }

    def _find_note_cents(self, code: int) -> int:
        """Return the value programmed for a note code, in minor units; 0 if the code accepts nothing."""
        cents = next(
            (cents for cents, known_code in self._note_code_by_cents.items() if known_code == code), 0
        )
        return self._programmed_cents_by_code.get(code, cents)

    def _set_note_value(self, *, slot: int, amount_cents: int) -> str:
        """Program note code ``slot`` to a note of ``amount_cents`` (0: none), whatever value the machine expects."""
        self._programmed_cents_by_code[slot] = amount_cents
        return f"note code {slot} takes {amount_cents} cents"

    def _set_escrow_limit(self, *, seconds: int) -> str:
        """Return bills and tickets from escrow after ``seconds`` without a decision of the machine (0: never)."""
        self.escrow_seconds = seconds or None
        return f"returns a paper after {seconds} s" if seconds else "returns no paper by itself"

    def _insert_paper(self, paper: SimulatedPaper, description: str) -> str:
        """Insert a bill or ticket; return a description. Raises ActionError if the acceptor takes nothing now."""
        if not self.is_powered or self._phase is not PaperPhase.READY or not self._is_accepting():
            status = self.describe_state()["status"] if self.is_powered else "without power"
            raise ActionError(
                f"{self.name}: the acceptor is {status} and accepts neither bills nor tickets now"
            )
        self._paper = paper
        self.inserted_cents += paper.cents
        self._enter_phase(PaperPhase.ACCEPTING)
        self._schedule_step(ACCEPT_SECONDS, self._move_into_escrow)
        return f"{description} inserted"

    def _insert_bill(self, *, amount_cents: int, counterfeit: bool = False) -> str:
        """Insert a bill of ``amount_cents``; if ``counterfeit``, the simulated acceptor will reject it."""
        if amount_cents not in self._note_code_by_cents:
            known_values = ", ".join(map(str, sorted(self._note_code_by_cents)))
            raise ActionError(
                f"{self.name}: no note is worth {amount_cents} cents; expected one of {known_values}"
            )
        return self._insert_paper(
            SimulatedPaper(amount_cents, counterfeit=counterfeit), f"{amount_cents} cents"
        )

    def _insert_ticket(self, *, barcode: str) -> str:
        """Insert a ticket; ``barcode`` is the number on it, with or without the printed hyphens."""
        digits = barcode.replace("-", "")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 28):
            raise ActionError(f"{self.name}: bar code {digits!r}: expected 1 to 28 digits")
        return self._insert_paper(SimulatedPaper(0, digits), f"ticket {digits}")

    def _jam_paper(self) -> str:
        """Jam the bill or ticket that is moving now, or else the next one."""
        if self._phase in {PaperPhase.ACCEPTING, PaperPhase.ESCROW, PaperPhase.HELD}:
            self._stop_in_fault(PaperPhase.JAM)
            return "jammed"
        self._should_jam_next = True
        return "the next paper jams"

    def _repair_acceptor(self) -> str:
        """Repair the acceptor; a bill or ticket that can still come out is returned to the player."""
        self._stop_timers()
        self._should_jam_next = self._should_fill_next = False
        self._fault_phase = None
        if self._paper is not None and not self._paper.is_past_point_of_no_return:
            self._count_returned(self._paper)
            self._paper = None
        self.handle_power_return()
        return "repaired"

    def _set_note_box(self, *, present: bool) -> str:
        """Put the cash box back if ``present``, and repair the acceptor; otherwise take the cash box out."""
        if present:
            return self._repair_acceptor()
        self._stop_in_fault(PaperPhase.BOX_REMOVED)
        return "cash box removed"

    def _fill_note_box(self) -> str:
        """Fill the cash box: at once, or once the acceptor has finished with the bill or ticket inside."""
        if self._paper is None:
            self._stop_in_fault(PaperPhase.BOX_FULL)
        else:
            self._should_fill_next = True
        return "cash box full"

    def _pull_back_bill(self) -> str:
        """Simulate a fraud: pull the bill back by a string after it was accepted."""
        self._stop_timers()
        self._enter_phase(PaperPhase.CHEATED)
        return "bill pulled back"

    def _break_sensor_head(self) -> str:
        """Break the acceptor's sensor head."""
        self._stop_in_fault(PaperPhase.SENSOR_HEAD_FAILED)
        return "sensor head failed"

    def _report_false_bill(self) -> str:
        """Simulate a defect: report a stacked bill that never existed."""
        self._stop_timers()
        self._enter_phase(PaperPhase.STACKED_UNACKNOWLEDGED)
        return "a false bill was reported"

    def export_retained_state(self) -> dict[str, object]:
        """Return what the acceptor retains without power: the bill or ticket inside, its fault, its box and totals."""
        paper = self._paper
        return {
            "paper": None if paper is None else asdict(paper),
            "stuck": self._fault_phase,
            "inserted_cents": self.inserted_cents,
            "stacked_cents": self.stacked_cents,
            "returned_cents": self.returned_cents,
            "stacked": self.stacked_papers[-_RETAINED_PAPERS_MAX:],
            "returned": self.returned_papers[-_RETAINED_PAPERS_MAX:],
        }

    def restore_retained_state(self, retained_state: Mapping[str, Any]) -> None:
        """Restore the bill acceptor's state that :meth:`export_retained_state` returned."""
        self._stop_timers()
        paper, fault_phase = retained_state["paper"], retained_state["stuck"]
        self._paper = None if paper is None else SimulatedPaper(**paper)
        self._fault_phase = None if fault_phase is None else PaperPhase(fault_phase)
        self.inserted_cents = retained_state["inserted_cents"]
        self.stacked_cents = retained_state["stacked_cents"]
        self.returned_cents = retained_state["returned_cents"]
        self.stacked_papers = list(retained_state["stacked"])
        self.returned_papers = list(
            retained_state.get("returned", ())
        )  # absent from states that earlier versions stored
        self.handle_power_return()

    def _format_status(self) -> str:
        """Return the name of the simulated acceptor's current phase, for display."""
        if self._phase is PaperPhase.READY:
            return "idle" if self._is_accepting() else "disabled"
        return self._phase.value

    def describe_state(self) -> dict[str, Any]:
        """Return the simulated acceptor's status, contents and totals, for display.

        In the totals, inserted = stacked + returned + inside. ``stuck`` is the fault that only a manual action ends, or
        None; ``jams_next`` is whether the next bill or ticket will jam.
        """
        return {
            "status": self._format_status(),
            "stuck": self._fault_phase,
            "jams_next": self._should_jam_next,
            "notes_cents": sorted(self._note_code_by_cents),
            "inside_cents": 0 if self._paper is None else self._paper.cents,
            "inserted_cents": self.inserted_cents,
            "stacked_cents": self.stacked_cents,
            "returned_cents": self.returned_cents,
            "stacked": list(self.stacked_papers),
            "returned": list(self.returned_papers),
        }
