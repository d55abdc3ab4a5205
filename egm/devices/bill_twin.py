"""Common mechanics of simulated bill acceptors: sensor head, escrow, point of no return, box, and manual actions.

A protocol's simulated device encodes the :class:`ItemPhase` in its own bytes, and translates the machine's commands
into calls of ``stack_escrowed_item``, ``return_escrowed_item``, ``extend_escrow_time`` and ``acknowledge_stacked``.
Like a real acceptor, it retains without power where the item (bill or ticket) is, and whether its stacking was
acknowledged.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from egm.devices.framing import FrameCutter
from egm.devices.twin import ActionError, BenchAction, MessageT, SimulatedPort, Twin

#: Time in which an item moves into escrow.
ACCEPT_SECONDS: Final = 0.8
#: Time in which an item moves from escrow into the box.
STACK_SECONDS: Final = 0.7
#: Time in which an item moves back to the player.
RETURN_SECONDS: Final = 0.5
#: Time for which an item is held in escrow at the machine's command.
HOLD_SECONDS: Final = 10.0
#: Number of stacked items, and of returned ones, whose details are retained without power.
_STORED_ITEMS_MAX: Final = 100
#: Time in which a rejected item moves back to the player.
REJECT_SECONDS: Final = 0.6


class ItemPhase(StrEnum):
    """The phases of a bill or ticket in the simulated acceptor, and the faults in which the acceptor stops."""

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
class SimulatedItem:
    """A bill (``cents``) or ticket (``barcode``) inside the acceptor."""

    cents: int
    barcode: str = ""
    counterfeit: bool = False
    is_past_point_of_no_return: bool = False
    """Whether the item can no longer be returned to the player."""


class BillTwin(Twin[MessageT]):
    """Base of the simulated bill acceptors, with the mechanics that all protocols share."""

    escrow_seconds: float | None = 10.0
    """Time after which an item in escrow is returned if the machine has not decided about it; None: never."""
    return_seconds: float = RETURN_SECONDS
    """Duration of a return to the player."""

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
        self._phase = ItemPhase.STARTING
        self._item: SimulatedItem | None = None
        self._fault_phase: ItemPhase | None = None
        self._should_jam_next = False
        self._should_fill_next = False
        self._programmed_cents_by_code: dict[int, int] = {}
        self.inserted_cents = 0
        self.stacked_cents = 0
        self.returned_cents = 0
        self.stacked_items: list[int | str] = []
        self.returned_items: list[int | str] = []

    # ------------------------------------------------------------ implemented per protocol
    @abstractmethod
    def _is_enabled(self, item: SimulatedItem) -> bool:
        """Return whether the machine has enabled this kind of bill or ticket."""

    @abstractmethod
    def _is_accepting(self) -> bool:
        """Return whether the machine has enabled the simulated acceptor for any bill or ticket."""

    def _handle_phase_change(self, phase: ItemPhase) -> None:
        """Do nothing; a protocol that reports events instead of states stores the event of the new phase here."""

    # ------------------------------------------------------------ commands of a protocol
    def stack_escrowed_item(self) -> bool:
        """Move the item in escrow to the box; return False if escrow is empty."""
        if self._phase not in {ItemPhase.ESCROW, ItemPhase.HELD}:
            return False
        self._stop_timers()
        self._enter_phase(ItemPhase.STACKING)
        self._schedule_step(STACK_SECONDS / 2, self._move_past_point_of_no_return)
        return True

    def return_escrowed_item(self) -> bool:
        """Move the item in escrow back out; return False if escrow is empty."""
        if self._phase not in {ItemPhase.ESCROW, ItemPhase.HELD}:
            return False
        self._stop_timers()
        self._start_returning()
        return True

    def extend_escrow_time(self) -> bool:
        """Hold the item in escrow; return False if there is no item in escrow.

        After :data:`HOLD_SECONDS` the item is no longer held, and the time after which it is returned begins again.
        """
        if self._phase not in {ItemPhase.ESCROW, ItemPhase.HELD}:
            return False
        self._stop_timers()
        self._enter_phase(ItemPhase.HELD)
        self._schedule_time_limit(HOLD_SECONDS, self._move_into_escrow)
        return True

    def acknowledge_stacked(self) -> None:
        """Accept the machine's acknowledgement that the item is in the box."""
        if self._phase is ItemPhase.STACKED_UNACKNOWLEDGED:
            self._move_item_into_box()
            self._enter_phase(ItemPhase.STACKED_ACKNOWLEDGED)
            self._schedule_step(STACK_SECONDS / 2, self._finish_item)

    # ------------------------------------------------------------ the mechanics
    def _enter_phase(self, phase: ItemPhase) -> None:
        """Enter a phase of handling an item, and call the method by which the protocol reports the new phase."""
        self._phase = phase
        self._handle_phase_change(phase)

    def _stop_in_fault(self, phase: ItemPhase) -> None:
        """Stop the simulated acceptor in a fault that only a manual action ends."""
        self._stop_timers()
        self._fault_phase = phase
        self._enter_phase(phase)

    def _move_into_escrow(self) -> None:
        """Move the inserted item into escrow; jam on it if a jam was ordered; reject it if counterfeit or not enabled.

        An item in escrow is returned if the machine decides nothing in time.
        """
        item = self._item
        if item is None:
            return
        if self._should_jam_next:
            self._should_jam_next = False
            self._stop_in_fault(ItemPhase.JAM)
        elif item.counterfeit or not self._is_enabled(item):
            self._enter_phase(ItemPhase.REJECTING)
            self._schedule_step(REJECT_SECONDS, self._give_item_out)
        else:
            self._enter_phase(ItemPhase.ESCROW)
            if self.escrow_seconds is not None:
                self._schedule_time_limit(self.escrow_seconds, self._start_returning)

    def _move_past_point_of_no_return(self) -> None:
        """Move the item past the point of no return and into the box; jam on it if a jam was ordered."""
        if self._item is None:
            return
        if self._should_jam_next:
            self._should_jam_next = False
            self._stop_in_fault(ItemPhase.STACKER_JAM)
            return
        self._item.is_past_point_of_no_return = True
        self._schedule_step(STACK_SECONDS / 2, lambda: self._enter_phase(ItemPhase.STACKED_UNACKNOWLEDGED))

    def _move_item_into_box(self) -> None:
        """Move the bill or ticket from the acceptor into the box, and count it there."""
        item, self._item = self._item, None
        if item is not None:
            self.stacked_cents += item.cents
            self.stacked_items.append(item.barcode or item.cents)

    def _start_returning(self) -> None:
        """Start returning the item in escrow."""
        self._enter_phase(ItemPhase.RETURNING)
        self._schedule_step(self.return_seconds, self._give_item_out)

    def _give_item_out(self) -> None:
        """Give the item back to the player, and become ready for the next one."""
        item, self._item = self._item, None
        if item is not None:
            self._count_returned(item)
        self._finish_item()

    def _count_returned(self, item: SimulatedItem) -> None:
        """Count an item that came out again: a bill by its value, a ticket by its number."""
        self.returned_cents += item.cents
        self.returned_items.append(item.barcode or item.cents)

    def _finish_item(self) -> None:
        """Become ready for the next item, or stop because the note box is full."""
        if self._should_fill_next:
            self._should_fill_next = False
            self._stop_in_fault(ItemPhase.BOX_FULL)
        else:
            self._enter_phase(ItemPhase.READY)

    # ------------------------------------------------------------ manual actions
    def list_actions(self) -> dict[str, BenchAction]:
        """Return the manual actions on the simulated device, by the name under which a command calls them."""
        return {
            "insert": self._insert_bill,
            "insert_ticket": self._insert_ticket,
            "jam": self._jam_item,
            "clear": self._repair_acceptor,
            "box": self._set_note_box,
            "full": self._fill_note_box,
            "cheat": self._pull_back_bill,
            "fail": self._break_sensor_head,
            "lie": self._report_false_bill,
            "worth": self._set_note_worth,
            "escrow_limit": self._set_escrow_limit,
        }

    def _find_note_cents(self, code: int) -> int:
        """Return the value programmed for a note code, in minor units; 0 if the code accepts nothing."""
        cents = next(
            (cents for cents, known_code in self._note_code_by_cents.items() if known_code == code), 0
        )
        return self._programmed_cents_by_code.get(code, cents)

    def _set_note_worth(self, *, slot: int, amount_cents: int) -> str:
        """Program note code ``slot`` to a note of ``amount_cents`` (0: none), whatever value the machine expects."""
        self._programmed_cents_by_code[slot] = amount_cents
        return f"note code {slot} takes {amount_cents} cents"

    def _set_escrow_limit(self, *, seconds: int) -> str:
        """Return the next items in escrow after ``seconds`` without a decision of the machine (0: never)."""
        self.escrow_seconds = seconds or None
        return f"returns an item after {seconds} s" if seconds else "returns no item by itself"

    def _insert_item(self, item: SimulatedItem, description: str) -> str:
        """Insert a bill or ticket; return a description. Raises ActionError if the acceptor takes nothing now."""
        if not self.is_powered or self._phase is not ItemPhase.READY or not self._is_accepting():
            status = self.describe_state()["status"] if self.is_powered else "without power"
            raise ActionError(
                f"{self.name}: the acceptor is {status} and accepts neither bills nor tickets now"
            )
        self._item = item
        self.inserted_cents += item.cents
        self._enter_phase(ItemPhase.ACCEPTING)
        self._schedule_step(ACCEPT_SECONDS, self._move_into_escrow)
        return f"{description} inserted"

    def _insert_bill(self, *, amount_cents: int, counterfeit: bool = False) -> str:
        """Insert a bill of ``amount_cents``; ``counterfeit`` true for a bad one."""
        if amount_cents not in self._note_code_by_cents:
            known_values = ", ".join(map(str, sorted(self._note_code_by_cents)))
            raise ActionError(
                f"{self.name}: no note is worth {amount_cents} cents; expected one of {known_values}"
            )
        return self._insert_item(
            SimulatedItem(amount_cents, counterfeit=counterfeit), f"{amount_cents} cents"
        )

    def _insert_ticket(self, *, barcode: str) -> str:
        """Insert a ticket; ``barcode`` is the number on it, with or without the printed hyphens."""
        digits = barcode.replace("-", "")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 28):
            raise ActionError(f"{self.name}: bar code {digits!r}: expected 1 to 28 digits")
        return self._insert_item(SimulatedItem(0, digits), f"ticket {digits}")

    def _jam_item(self) -> str:
        """Jam the item that is moving now, or else the next one."""
        if self._phase in {ItemPhase.ACCEPTING, ItemPhase.ESCROW, ItemPhase.HELD}:
            self._stop_in_fault(ItemPhase.JAM)
            return "jammed"
        self._should_jam_next = True
        return "the next paper jams"

    def _repair_acceptor(self) -> str:
        """Repair the acceptor; an item that can still come out is returned to the player."""
        self._stop_timers()
        self._should_jam_next = self._should_fill_next = False
        self._fault_phase = None
        if self._item is not None and not self._item.is_past_point_of_no_return:
            self._count_returned(self._item)
            self._item = None
        self.handle_power_return()
        return "repaired"

    def _set_note_box(self, *, present: bool) -> str:
        """Remove (``present`` false) or replace (true) the note box."""
        if present:
            return self._repair_acceptor()
        self._stop_in_fault(ItemPhase.BOX_REMOVED)
        return "note box removed"

    def _fill_note_box(self) -> str:
        """Fill the note box, at the latest after the bill that is moving now."""
        if self._item is None:
            self._stop_in_fault(ItemPhase.BOX_FULL)
        else:
            self._should_fill_next = True
        return "note box full"

    def _pull_back_bill(self) -> str:
        """Simulate a fraud: pull the bill back by a string after it was accepted."""
        self._stop_timers()
        self._enter_phase(ItemPhase.CHEATED)
        return "bill pulled back"

    def _break_sensor_head(self) -> str:
        """Break the acceptor's sensor head."""
        self._stop_in_fault(ItemPhase.SENSOR_HEAD_FAILED)
        return "sensor head failed"

    def _report_false_bill(self) -> str:
        """Simulate a defect: report a stacked bill that never existed."""
        self._stop_timers()
        self._enter_phase(ItemPhase.STACKED_UNACKNOWLEDGED)
        return "a false bill was reported"

    def export_retained_state(self) -> dict[str, object]:
        """Return what the acceptor retains without power: item, fault, contents of the box, and totals."""
        item = self._item
        return {
            "paper": None if item is None else asdict(item),
            "stuck": self._fault_phase,
            "inserted_cents": self.inserted_cents,
            "stacked_cents": self.stacked_cents,
            "returned_cents": self.returned_cents,
            "stacked": self.stacked_items[-_STORED_ITEMS_MAX:],
            "returned": self.returned_items[-_STORED_ITEMS_MAX:],
        }

    def restore_retained_state(self, retained_state: Mapping[str, Any]) -> None:
        """Restore the bill acceptor's state that :meth:`export_retained_state` returned."""
        self._stop_timers()
        item, fault_phase = retained_state["paper"], retained_state["stuck"]
        self._item = None if item is None else SimulatedItem(**item)
        self._fault_phase = None if fault_phase is None else ItemPhase(fault_phase)
        self.inserted_cents = retained_state["inserted_cents"]
        self.stacked_cents = retained_state["stacked_cents"]
        self.returned_cents = retained_state["returned_cents"]
        self.stacked_items = list(retained_state["stacked"])
        self.returned_items = list(
            retained_state.get("returned", ())
        )  # absent from states that earlier versions stored
        self.handle_power_return()

    def _format_status(self) -> str:
        """Return the name of the simulated acceptor's current phase, for display."""
        if self._phase is ItemPhase.READY:
            return "idle" if self._is_accepting() else "disabled"
        return self._phase.value

    def describe_state(self) -> dict[str, Any]:
        """Return the simulated acceptor's status, contents and totals, for display.

        In the totals, inserted = stacked + returned + inside. ``stuck`` is the fault that only a manual
        action ends, or None; ``jams_next`` is whether the next item will jam.
        """
        return {
            "status": self._format_status(),
            "stuck": self._fault_phase,
            "jams_next": self._should_jam_next,
            "notes_cents": sorted(self._note_code_by_cents),
            "inside_cents": 0 if self._item is None else self._item.cents,
            "inserted_cents": self.inserted_cents,
            "stacked_cents": self.stacked_cents,
            "returned_cents": self.returned_cents,
            "stacked": list(self.stacked_items),
            "returned": list(self.returned_items),
        }
