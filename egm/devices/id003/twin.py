"""A simulated ID-003 bill acceptor.

If a bill or ticket is inside at power-up, the status says where. POWER_UP_BILL_IN_ACCEPTOR: it can still be returned,
and the RESET command returns it. POWER_UP_BILL_IN_STACKER: it is past the point of no return, and the RESET command
stacks it. Models differ in whether they report that stacking by VEND VALID, and the machine must handle both: the
simulated acceptor reports it if the action ``revend`` has switched this on.
"""

from collections.abc import Callable, Mapping
from typing import Final

from egm.devices.bill_twin import STACK_SECONDS, BillTwin, PaperPhase, SimulatedPaper
from egm.devices.id003 import codec
from egm.devices.id003.codec import CurrencyTable, CurrencyTableRow, Id003Command, Id003Frame, Id003Status
from egm.devices.twin import BenchAction, SimulatedPort

#: The simulated acceptor's version, as it identifies itself.
SIMULATED_VERSION: Final = b"(USA) UBA-10-SS SIM V1.00 ID003"

#: Phase -> the status that reports it.
_STATUS_BY_PHASE: Final[Mapping[PaperPhase, Id003Status]] = {
    PaperPhase.ACCEPTING: Id003Status.ACCEPTING,
    PaperPhase.ESCROW: Id003Status.ESCROW,
    PaperPhase.HELD: Id003Status.HOLDING,
    PaperPhase.STACKING: Id003Status.STACKING,
    PaperPhase.STACKED_UNACKNOWLEDGED: Id003Status.VEND_VALID,
    PaperPhase.STACKED_ACKNOWLEDGED: Id003Status.STACKED,
    PaperPhase.REJECTING: Id003Status.REJECTING,
    PaperPhase.RETURNING: Id003Status.RETURNING,
    PaperPhase.JAM: Id003Status.ACCEPTOR_JAM,
    PaperPhase.STACKER_JAM: Id003Status.STACKER_JAM,
    PaperPhase.BOX_FULL: Id003Status.STACKER_FULL,
    PaperPhase.BOX_REMOVED: Id003Status.STACKER_OPEN,
    PaperPhase.SENSOR_HEAD_FAILED: Id003Status.FAILURE,
    PaperPhase.CHEATED: Id003Status.CHEATED,
}


class Id003Twin(BillTwin[Id003Frame]):
    """A simulated ID-003 bill acceptor."""

    kind = "bill acceptor (ID-003)"

    def __init__(
        self,
        name: str,
        port: SimulatedPort,
        speed: float = 1.0,
        cents_by_note_code: Mapping[int, int] = codec.DOLLAR_CENTS_BY_NOTE_CODE,
    ) -> None:
        super().__init__(name, port, codec.cut_frame, cents_by_note_code, speed)
        self._settings: dict[int, bytes] = {}
        self._reports_interrupted_stacking = False
        self._action_by_command: dict[int, Callable[[], bool]] = {
            Id003Command.STACK_1: self.stack_escrowed_paper,
            Id003Command.STACK_2: self.stack_escrowed_paper,
            Id003Command.RETURN: self.return_escrowed_paper,
            Id003Command.HOLD: self.extend_escrow_time,
        }

    # ------------------------------------------------------------ the line
    def process_message(self, message: Id003Frame) -> None:
        """Reply to a message of the machine as the protocol specifies."""
        command = message.command
        if command == Id003Command.STATUS:
            self._reply(self._build_status(), self._encode_status_data())
        elif command == Id003Command.ACK:
            self.acknowledge_stacked()
        elif command == Id003Command.RESET:
            self._reply(Id003Command.ACK)
            self._reset()
        elif command == Id003Command.VERSION:
            self._reply(Id003Command.VERSION, SIMULATED_VERSION)
        elif command == Id003Command.CURRENCY:
            self._reply(Id003Command.CURRENCY, self._build_currency_table().encode())
        elif command in codec.SETTING_COMMANDS:
            self._reply(command, message.data)
            self._settings[command] = message.data
        elif command in self._action_by_command and self._action_by_command[command]():
            self._reply(Id003Command.ACK)
        else:
            self._reply(Id003Status.INVALID_COMMAND)

    def _reply(self, command: int, data: bytes = b"") -> None:
        """Send an ID-003 message to the machine."""
        self._send(Id003Frame(command, data).encode())

    def _build_status(self) -> Id003Status:
        """Return the status that the acceptor reports now."""
        if self._phase is PaperPhase.STARTING:
            if self._paper is None:
                return Id003Status.POWER_UP
            is_past_point_of_no_return = self._paper.is_past_point_of_no_return
            return (
                Id003Status.POWER_UP_BILL_IN_STACKER
                if is_past_point_of_no_return
                else Id003Status.POWER_UP_BILL_IN_ACCEPTOR
            )
        if self._phase is PaperPhase.READY:
            if Id003Command.INHIBIT not in self._settings:
                return Id003Status.INITIALIZE
            return Id003Status.IDLE if self._is_accepting() else Id003Status.DISABLED
        return _STATUS_BY_PHASE[self._phase]

    def _encode_status_data(self) -> bytes:
        """Return the data of the acceptor's status: the bill or ticket in escrow, or the reason of a rejection."""
        paper = self._paper
        if self._phase is PaperPhase.ESCROW and paper is not None:
            if paper.barcode:
                return bytes((codec.BARCODE_ESCROW_CODE,)) + paper.barcode.encode("ascii")
            return bytes((self._note_code_by_cents[paper.cents],))
        if self._phase is PaperPhase.REJECTING:
            # The reasons "denomination not recognised" and "inhibited denomination".
            return b"\x76" if paper is not None and paper.counterfeit else b"\x79"
        return b""

    def _build_currency_table(self) -> CurrencyTable:
        """Return the notes of all note codes."""
        country_code_by_currency = {
            currency: country_code for country_code, currency in codec.CURRENCY_BY_COUNTRY_CODE.items()
        }
        rows = []
        for code in range(codec.FIRST_NOTE_CODE, codec.FIRST_NOTE_CODE + codec.NOTE_CODE_COUNT):
            value, exponent = self._find_note_cents(code) // 100, 0
            while value and not value % 10:
                value, exponent = value // 10, exponent + 1
            rows.append(
                CurrencyTableRow(
                    code, country_code_by_currency[self.currency] if value else 0, value, exponent
                )
            )
        return CurrencyTable(tuple(rows))

    # ------------------------------------------------------------ the machine's settings
    def _is_accepting(self) -> bool:
        """Return whether the machine has enabled the simulated acceptor for any bill or ticket."""
        return self._settings.get(Id003Command.INHIBIT) == b"\x00"

    def _is_enabled(self, paper: SimulatedPaper) -> bool:
        """Return whether the machine accepts this note or, if it is a ticket, accepts tickets."""
        if paper.barcode:
            return self._settings.get(Id003Command.BARCODE_INHIBIT) == b"\x00"
        inhibited_notes_mask = self._settings.get(Id003Command.DENOMINATIONS, b"\xff\xff")[0]
        return not inhibited_notes_mask >> (self._note_code_by_cents[paper.cents] - codec.FIRST_NOTE_CODE) & 1

    def _format_status(self) -> str:
        """Return the name of the simulated acceptor's current ID-003 status, for display."""
        return self._build_status().name.lower()

    # ------------------------------------------------------------ reset and power
    def _reset(self) -> None:
        """Restart the acceptor at the RESET command; stack a bill or ticket inside that can no longer be returned."""
        self._stop_timers()
        self._settings.clear()
        if self._fault_phase is not None:
            self._enter_phase(self._fault_phase)
            return
        if self._paper is None:
            self._enter_phase(PaperPhase.READY)
        elif self._paper.is_past_point_of_no_return:
            self._enter_phase(PaperPhase.STACKING)
            self._schedule_step(STACK_SECONDS, self._finish_interrupted_stacking)
        else:
            self._enter_phase(PaperPhase.RETURNING)
            self._schedule_step(self.return_seconds, self._finish_return)

    def _finish_interrupted_stacking(self) -> None:
        """Finish a stacking that a power loss interrupted, and report it if the acceptor is set to do so."""
        if self._reports_interrupted_stacking:
            self._enter_phase(PaperPhase.STACKED_UNACKNOWLEDGED)
        else:
            self._move_paper_into_box()
            self._finish_paper()

    def handle_power_loss(self) -> None:
        """Lose the machine's settings; the bill or ticket stays where it is."""
        self._settings.clear()

    def handle_power_return(self) -> None:
        """Wait for the RESET command; until then the status reports where the bill or ticket was found."""
        self._enter_phase(PaperPhase.STARTING)

    def list_actions(self) -> dict[str, BenchAction]:
        """Return the manual actions of all simulated acceptors, and ``revend``, which only ID-003 acceptors have."""
        return {**super().list_actions(), "revend": self._set_interrupted_stacking_report}

    def _set_interrupted_stacking_report(self, *, on: bool = True) -> str:
        """Set whether a stacking that a power loss interrupted is reported after the RESET command."""
        self._reports_interrupted_stacking = on
        return "reports again" if self._reports_interrupted_stacking else "does not report again"
