"""A simulated ccTalk bill validator: it reports a stacked bill once and does not wait for an acknowledgement.

The specification calls the note code of a bill its bill type.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from egm.devices.bill_twin import STACK_SECONDS, BillTwin, PaperPhase, SimulatedPaper
from egm.devices.cctalk import codec
from egm.devices.cctalk.codec import BillEvent, BillRoute, CctalkFrame, Header
from egm.devices.cctalk.twin import CctalkEventMemory, CctalkTwin
from egm.devices.twin import SimulatedPort

#: Time that the validator needs to start.
_START_UP_SECONDS: Final = 0.5


class CctalkBillTwin(CctalkTwin, BillTwin[CctalkFrame]):
    """A simulated ccTalk bill validator."""

    kind = "bill acceptor (ccTalk)"
    address = codec.BILL_ACCEPTOR_ADDRESS
    product = b"BILL-SIM"
    category = b"Bill Validator"

    def __init__(
        self,
        name: str,
        port: SimulatedPort,
        speed: float = 1.0,
        cents_by_note_code: Mapping[int, int] = codec.BILL_CENTS_BY_NOTE_CODE,
    ) -> None:
        BillTwin.__init__(self, name, port, codec.cut_frame, cents_by_note_code, speed)
        port.is_echoing = True  # as in the constructor of CctalkTwin, which is not called here
        self._event_memory = CctalkEventMemory()
        self._enabled_notes_mask = 0
        self._is_master_enabled = False
        self._accept_counter = 0
        self._schedule_step(_START_UP_SECONDS, self._finish_start_up)

    def _build_reply(self, message: CctalkFrame) -> bytes | None:
        """Return the data of the simulated validator's reply to a message, or None for no reply."""
        match message.header:
            case Header.READ_BILL_EVENTS | Header.ACCEPT_COUNT:
                is_count = message.header == Header.ACCEPT_COUNT
                return self._accept_counter.to_bytes(3, "little") if is_count else self._event_memory.encode()
            case Header.ROUTE_BILL if len(message.data) == 1:
                method_by_order: Mapping[int, Callable[[], bool]] = {
                    BillRoute.STACK: self.stack_escrowed_paper,
                    BillRoute.RETURN: self.return_escrowed_paper,
                    BillRoute.EXTEND_ESCROW_TIME: self.extend_escrow_time,
                }
                execute_order = method_by_order.get(message.data[0], lambda: False)
                return b"" if execute_order() else bytes((BillRoute.ESCROW_EMPTY,))
            case Header.BILL_ID | Header.COUNTRY_SCALING if message.data:
                return self._encode_bill_description(message)
            case Header.READ_BARCODE:
                return self._paper.barcode.encode("ascii") if self._paper is not None else b""
            case Header.INHIBIT_MASK if len(message.data) == 2:
                # A bit of 1 enables its note code, and the bit of the master inhibit enables acceptance.
                self._enabled_notes_mask = int.from_bytes(message.data, "little")
            case Header.MASTER_INHIBIT if len(message.data) == 1:
                self._is_master_enabled = bool(message.data[0] & 1)
            case Header.OPERATING_MODE:
                pass
            case _:
                return None
        return b""

    def _encode_bill_description(self, message: CctalkFrame) -> bytes:
        """Return the reply to a query for a note code's name or for a country's scaling of values to minor units."""
        if message.header == Header.COUNTRY_SCALING:
            is_own_country = message.data == self._currency_country_code.encode("ascii")
            return (100).to_bytes(2, "little") + b"\x02" if is_own_country else bytes(3)
        cents = self._find_note_cents(message.data[0])
        return f"{self._currency_country_code}{cents // 100:04}A".encode("ascii") if cents else b"." * 7

    def _is_accepting(self) -> bool:
        """Return whether the machine has released the master inhibit."""
        return self._is_master_enabled

    def _is_enabled(self, paper: SimulatedPaper) -> bool:
        """Return whether the machine accepts this bill; a ticket is always accepted."""
        return bool(paper.barcode) or bool(
            self._enabled_notes_mask >> (self._note_code_by_cents[paper.cents] - 1) & 1
        )

    def _find_note_code(self) -> int:
        """Return the note code of the bill in the validator; 0 for a ticket.

        1 if the validator is empty: it then reports a stacked bill only to simulate the defect of a false bill.
        """
        return 1 if self._paper is None else self._note_code_by_cents.get(self._paper.cents, 0)

    def _handle_phase_change(self, phase: PaperPhase) -> None:
        """Store the event that the simulated validator reports on entering a phase."""
        match phase:
            case PaperPhase.ESCROW:
                note_code = self._find_note_code()
                self._event_memory.add(
                    note_code, codec.BILL_IN_ESCROW_RESULT if note_code else BillEvent.BARCODE_DETECTED
                )
            case PaperPhase.STACKED_UNACKNOWLEDGED:
                note_code = self._find_note_code()
                self._accept_counter += 0 if self._paper is None else 1
                self._event_memory.add(
                    note_code, codec.BILL_STACKED_RESULT if note_code else BillEvent.UNKNOWN_BILL_STACKED
                )
                self.acknowledge_stacked()
            case PaperPhase.REJECTING:
                self._event_memory.add(0, BillEvent.BILL_REFUSED_AT_VALIDATION)
            case PaperPhase.CHEATED:
                self._event_memory.add(0, BillEvent.FRAUD_STRING)
                self._schedule_step(self.return_seconds, self._finish_return)
            case _ if phase in _EVENT_BY_FAULT_PHASE:
                self._event_memory.add(0, _EVENT_BY_FAULT_PHASE[phase])

    def _finish_return(self) -> None:
        """Give the bill or ticket out to the player, and store the event of its return."""
        if self._phase in {PaperPhase.RETURNING, PaperPhase.CHEATED}:
            self._event_memory.add(0, BillEvent.BILL_RETURNED_FROM_ESCROW)
        super()._finish_return()

    def export_retained_state(self) -> dict[str, object]:
        """Return what the validator retains without power: the state of every acceptor, and the lifetime counter."""
        return {**super().export_retained_state(), "accepted": self._accept_counter}

    def restore_retained_state(self, retained_state: Mapping[str, Any]) -> None:
        """Restore the bill validator's state that :meth:`export_retained_state` returned."""
        self._accept_counter = retained_state["accepted"]
        super().restore_retained_state(retained_state)

    def handle_power_loss(self) -> None:
        """Lose the stored events and the inhibit settings, as a real validator does; a bill or ticket inside stays."""
        self._event_memory = CctalkEventMemory()
        self._enabled_notes_mask, self._is_master_enabled = 0, False

    def handle_power_return(self) -> None:
        """Start after the return of power: a bill inside is stacked or returned without an order of the machine."""
        self.handle_power_loss()
        if self._fault_phase is not None:
            self._enter_phase(self._fault_phase)
            return
        self._enter_phase(PaperPhase.STARTING)
        self._schedule_step(_START_UP_SECONDS, self._finish_start_up)

    def _finish_start_up(self) -> None:
        """Finish starting up: stack a bill or ticket inside if it is past the point of no return, otherwise return it.

        Without a bill or ticket, become ready.
        """
        if self._paper is None:
            self._enter_phase(PaperPhase.READY)
        elif self._paper.is_past_point_of_no_return:
            self._enter_phase(PaperPhase.STACKING)
            self._schedule_step(STACK_SECONDS, lambda: self._enter_phase(PaperPhase.STACKED_UNACKNOWLEDGED))
        else:
            self._start_returning()


#: Phase -> the status event that reports it. ccTalk has no event for a failed sensor head, so the twin reports a faulty
#: stacker.
_EVENT_BY_FAULT_PHASE: Final[Mapping[PaperPhase, BillEvent]] = {
    PaperPhase.JAM: BillEvent.BILL_JAMMED_IN_TRANSPORT,
    PaperPhase.STACKER_JAM: BillEvent.BILL_JAMMED_IN_STACKER,
    PaperPhase.BOX_FULL: BillEvent.STACKER_FULL,
    PaperPhase.BOX_REMOVED: BillEvent.STACKER_REMOVED,
    PaperPhase.SENSOR_HEAD_FAILED: BillEvent.STACKER_FAULTY,
}
