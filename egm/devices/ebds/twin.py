"""A simulated EBDS bill acceptor, which repeats its last reply until a poll has the other acknowledgement number.

Power-up policy A of the EBDS specification: a paper past the point of no return is moved to the box and reported
as stacked; one before it is returned. A "stacked" that was not acknowledged is retained without power and reported
again.
"""

from collections.abc import Mapping
from typing import Final

from egm.devices.bill_twin import STACK_SECONDS, BillTwin, PaperPhase, SimulatedPaper
from egm.devices.ebds import codec
from egm.devices.ebds.codec import (
    AcceptorStatus,
    AcceptorStatusBits,
    AuxiliaryCommand,
    AuxiliaryCommandCode,
    EbdsFrame,
    EbdsPoll,
    IdentificationText,
    NoteQuery,
    NoteTableRow,
)
from egm.devices.framing import ProtocolError
from egm.devices.twin import SimulatedPort

#: The simulated acceptor's type, as it identifies itself.
SIMULATED_MODEL: Final = "AE2600 SIMULATED"
#: Time that the acceptor needs to start.
_INITIALISATION_SECONDS: Final = 0.5

#: Phase -> the status bits that report it.
_STATUS_BITS_BY_PHASE: Final[Mapping[PaperPhase, AcceptorStatusBits]] = {
    PaperPhase.STARTING: AcceptorStatusBits.POWER_UP,
    PaperPhase.READY: AcceptorStatusBits.IDLING,
    PaperPhase.ACCEPTING: AcceptorStatusBits.ACCEPTING,
    PaperPhase.ESCROW: AcceptorStatusBits.ESCROWED,
    PaperPhase.HELD: AcceptorStatusBits.ESCROWED,
    PaperPhase.STACKING: AcceptorStatusBits.STACKING,
    PaperPhase.STACKED_UNACKNOWLEDGED: AcceptorStatusBits.IDLING | AcceptorStatusBits.STACKED,
    PaperPhase.STACKED_ACKNOWLEDGED: AcceptorStatusBits.IDLING,
    PaperPhase.REJECTING: AcceptorStatusBits.RETURNING,
    PaperPhase.RETURNING: AcceptorStatusBits.RETURNING,
    PaperPhase.JAM: AcceptorStatusBits.JAMMED,
    PaperPhase.STACKER_JAM: AcceptorStatusBits.STALLED,
    PaperPhase.BOX_FULL: AcceptorStatusBits.FULL,
    PaperPhase.BOX_REMOVED: AcceptorStatusBits(0),
    PaperPhase.SENSOR_HEAD_FAILED: AcceptorStatusBits.FAILURE,
    PaperPhase.CHEATED: AcceptorStatusBits.CHEATED,
}


class EbdsTwin(BillTwin[EbdsFrame]):
    """A simulated EBDS bill acceptor."""

    kind = "bill acceptor (EBDS)"
    escrow_seconds = None  # it holds its escrow while it is polled

    def __init__(
        self,
        name: str,
        port: SimulatedPort,
        speed: float = 1.0,
        cents_by_note_code: Mapping[int, int] = codec.DOLLAR_CENTS_BY_NOTE_CODE,
    ) -> None:
        super().__init__(name, port, codec.cut_frame, cents_by_note_code, speed)
        self._enabled_notes_mask = 0
        self._accepts_tickets = False
        self._last_ack_number: int | None = None
        self._last_reply = b""
        self._has_reported_stacked = False
        self._bits_for_next_status = AcceptorStatusBits(0)
        self._schedule_step(_INITIALISATION_SECONDS, self._finish_start_up)

    # ------------------------------------------------------------ the line
    def process_message(self, message: EbdsFrame) -> None:
        """Reply to a message of the machine as the protocol specifies."""
        try:
            query = codec.decode_machine_message(message)
        except ProtocolError:
            return
        if query.ack_number != self._last_ack_number:
            # The poll has the other acknowledgement number: the twin's reply was received.
            if self._has_reported_stacked:
                self._has_reported_stacked = False
                self.acknowledge_stacked()
            self._last_ack_number = query.ack_number
            self._last_reply = self._build_reply(query)
        self._send(self._last_reply)

    def _build_reply(self, query: EbdsPoll | NoteQuery | AuxiliaryCommand) -> bytes:
        """Return the reply to a message of the machine; empty for a soft reset."""
        match query:
            case AuxiliaryCommand(code=AuxiliaryCommandCode.SOFT_RESET):
                self._stop_timers()
                self.handle_power_return()
                return b""
            case AuxiliaryCommand():
                return IdentificationText(query.ack_number, SIMULATED_MODEL).encode()
            case EbdsPoll():
                self._apply_poll(query)
                return self._take_status(query.ack_number).encode()
            case NoteQuery(poll=poll, row_index=index):
                self._apply_poll(poll)
                return self._build_note_row(index, self._take_status(poll.ack_number)).encode()

    def _apply_poll(self, poll: EbdsPoll) -> None:
        """Apply the machine's poll: the bills and tickets to accept, and the order for the one in escrow."""
        self._enabled_notes_mask, self._accepts_tickets = poll.enabled_notes_mask, poll.accepts_barcodes
        if poll.is_stack_command:
            self.stack_escrowed_paper()
        elif poll.is_return_command:
            self.return_escrowed_paper()

    def _build_note_row(self, row_index: int, status: AcceptorStatus) -> NoteTableRow:
        """Return a row of the simulated acceptor's note table, as a message."""
        value, exponent = self._find_note_cents(row_index), -2
        if not value:
            return NoteTableRow(status, row_index)
        while not value % 10:
            value, exponent = value // 10, exponent + 1
        return NoteTableRow(status, row_index, self.currency, value, exponent)

    def _take_status(self, ack_number: int) -> AcceptorStatus:
        """Return the present status, with an acknowledgement number, and clear what is reported only once."""
        bits = (
            _STATUS_BITS_BY_PHASE[self._phase]
            | self._bits_for_next_status
            | AcceptorStatusBits.BARCODE_CAPABLE
        )
        self._bits_for_next_status = AcceptorStatusBits(0)
        if self._phase is not PaperPhase.BOX_REMOVED:
            bits |= AcceptorStatusBits.BOX_PRESENT
        self._has_reported_stacked = self._phase is PaperPhase.STACKED_UNACKNOWLEDGED
        paper = (
            self._paper
            if self._phase in {PaperPhase.ESCROW, PaperPhase.HELD, PaperPhase.STACKED_UNACKNOWLEDGED}
            else None
        )
        if paper is None:
            return AcceptorStatus(ack_number=ack_number, bits=bits, model=1, revision=2)
        note_code = self._note_code_by_cents.get(paper.cents, 0)
        return AcceptorStatus(
            ack_number=ack_number, bits=bits, note_code=note_code, barcode=paper.barcode, model=1, revision=2
        )

    # ------------------------------------------------------------ commands from the machine
    def _is_accepting(self) -> bool:
        """Return whether the machine has enabled the simulated acceptor for any bill or ticket."""
        return bool(self._enabled_notes_mask) or self._accepts_tickets

    def _is_enabled(self, paper: SimulatedPaper) -> bool:
        """Return whether the machine accepts this note or, if it is a ticket, accepts tickets."""
        if paper.barcode:
            return self._accepts_tickets
        return bool(self._enabled_notes_mask >> (self._note_code_by_cents[paper.cents] - 1) & 1)

    # ------------------------------------------------------------ the mechanics
    def _handle_phase_change(self, phase: PaperPhase) -> None:
        """Prepare what the new phase requires: the report of a rejection, or the exit of a bill pulled back by fraud.

        A rejected bill or ticket is reported in the next status. A bill that is pulled back leaves after
        ``return_seconds``.
        """
        if phase is PaperPhase.REJECTING:
            self._bits_for_next_status |= AcceptorStatusBits.REJECTED
        elif phase is PaperPhase.CHEATED:
            self._schedule_step(self.return_seconds, self._finish_return)

    def _finish_return(self) -> None:
        """Give the bill or ticket out to the player, and report its return in the next status."""
        if self._phase is PaperPhase.RETURNING:
            self._bits_for_next_status |= AcceptorStatusBits.RETURNED
        super()._finish_return()

    def handle_power_loss(self) -> None:
        """Lose the last poll's settings and the acknowledgement numbers; the bill or ticket stays where it is."""
        self._enabled_notes_mask, self._accepts_tickets = 0, False
        self._last_ack_number = None
        self._has_reported_stacked = False
        self._bits_for_next_status = AcceptorStatusBits(0)

    def handle_power_return(self) -> None:
        """Start after the return of power or a soft reset; stack or return a bill or ticket inside without an order."""
        if self._fault_phase is not None:
            self._enter_phase(self._fault_phase)
            return
        self._enter_phase(PaperPhase.STARTING)
        self._schedule_step(_INITIALISATION_SECONDS, self._finish_start_up)

    def _finish_start_up(self) -> None:
        """Become ready after the return of power; a bill or ticket still inside is stacked or returned first."""
        if self._paper is None:
            self._enter_phase(PaperPhase.READY)
        elif self._paper.is_past_point_of_no_return:
            self._enter_phase(PaperPhase.STACKING)
            self._schedule_step(STACK_SECONDS, lambda: self._enter_phase(PaperPhase.STACKED_UNACKNOWLEDGED))
        else:
            self._start_returning()
