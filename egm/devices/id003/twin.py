"""A simulated ID-003 bill acceptor: head, escrow, stacker and box, speaking the driver's own codec.

What a real one keeps without power is kept: the note where it was, whether its VEND VALID was heard, the box.
At power-up a note that can still come back is reported by 41 and returned after the reset; one past the point
of no return by 42 and stacked after the reset, followed by VEND VALID only if ``revend`` is set (models
differ, and the machine must be right with both). ``lie`` makes it report things that did not happen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from egm.devices.id003 import codec
from egm.devices.id003.codec import Command, Frame, Status
from egm.devices.twin import ActionError, Port, Twin, Values, flag, number, word

VERSION: Final = b"(USA) UBA-10-SS SIM V1.00 ID003"

_ACCEPT_SECONDS: Final = 0.8
_STACK_SECONDS: Final = 0.7
_RETURN_SECONDS: Final = 0.5
_REJECT_SECONDS: Final = 0.6
_INITIALIZE_SECONDS: Final = 0.4
_ESCROW_SECONDS: Final = 10.0


class Place(StrEnum):
    """Where a note is."""

    HEAD = "head"
    ESCROW = "escrow"
    PAST_RETURN = "past_return"  # on its way to the box or in it, and VEND VALID not yet acknowledged


@dataclass(slots=True)
class Paper:
    """A note or ticket inside the acceptor; ``data`` is how the escrow status names it."""

    data: bytes
    cents: int
    place: Place
    counterfeit: bool = False


class Id003Twin(Twin[Frame]):
    """See the module."""

    kind = "bill acceptor (ID-003)"

    def __init__(
        self, name: str, port: Port, speed: float = 1.0, notes: Mapping[int, int] = codec.DOLLARS
    ) -> None:
        super().__init__(name, port, codec.cut, speed)
        self._codes = {cents: code for code, cents in notes.items()}
        self._status = Status.POWER_UP
        self._status_data = b""
        self._settings: dict[Command, bytes] = {}
        self._paper: Paper | None = None
        self._stuck: Status | None = None  # what only a hand can mend
        self._full_next = False
        self._revend = False
        self._jam_next = False
        self.inserted_cents = 0
        self.stacked_cents = 0
        self.returned_cents = 0
        self.stacked_notes: list[int] = []

    # ------------------------------------------------------------ the line
    def _reply(self, command: int, data: bytes = b"") -> None:
        self._send(Frame(command, data).encode())

    def received(self, message: Frame) -> None:
        """Answer as the protocol says."""
        command = message.command
        if command == Command.STATUS:
            self._reply(self._status, self._status_data)
        elif command == Command.ACK:
            self._acknowledged()
        elif command == Command.RESET:
            self._reply(Command.ACK)
            self._reset()
        elif command == Command.VERSION:
            self._reply(Command.VERSION, VERSION)
        elif command in {Command.STACK_1, Command.RETURN, Command.HOLD}:
            self._escrow_order(Command(command))
        elif command in codec.SETTINGS:
            self._reply(command, message.data)
            self._settings[Command(command)] = message.data
            if command == Command.INHIBIT:
                self._rest()
        else:
            self._reply(Status.INVALID_COMMAND)

    def _escrow_order(self, command: Command) -> None:
        paper = self._paper
        if paper is None or self._status not in {Status.ESCROW, Status.HOLDING}:
            self._reply(Status.INVALID_COMMAND)
            return
        self._reply(Command.ACK)
        self._stop_timers()
        if command == Command.STACK_1:
            self._show(Status.STACKING)
            self._after(_STACK_SECONDS / 2, self._past_return)
        elif command == Command.RETURN:
            self._give_back()
        else:
            self._show(Status.HOLDING)
            self._after(_ESCROW_SECONDS, self._into_escrow)

    # ------------------------------------------------------------ the mechanics
    def _show(self, status: Status, data: bytes = b"") -> None:
        self._status = status
        self._status_data = data

    def _rest(self) -> None:
        """Go to idle or disabled, from a state where nothing is going on."""
        if self._status not in {Status.INITIALIZE, Status.IDLE, Status.DISABLED}:
            return
        if Command.INHIBIT not in self._settings:
            self._show(Status.INITIALIZE)
        else:
            open_ = self._settings[Command.INHIBIT] == b"\x00"
            self._show(Status.IDLE if open_ else Status.DISABLED)

    def _stick(self, status: Status) -> None:
        """Stop in a fault that no command ends."""
        self._stop_timers()
        self._stuck = status
        self._show(status)

    def _into_escrow(self) -> None:
        paper = self._paper
        if paper is None:
            return
        if self._jam_next:
            self._jam_next = False
            self._stick(Status.ACCEPTOR_JAM)
            return
        if paper.counterfeit or self._refuses(paper):
            self._show(Status.REJECTING, b"\x76" if paper.counterfeit else b"\x79")
            self._after(_REJECT_SECONDS, self._out)
            return
        paper.place = Place.ESCROW
        self._show(Status.ESCROW, paper.data)
        self._after(_ESCROW_SECONDS, self._give_back)

    def _refuses(self, paper: Paper) -> bool:
        if paper.data[0] == codec.BARCODE_MARK:
            return self._settings.get(Command.BARCODE_INHIBIT) != b"\x00"
        bits = self._settings.get(Command.DENOMINATIONS, b"\xff\xff")[0]
        return bool(bits >> (paper.data[0] - 0x61) & 1)

    def _past_return(self) -> None:
        if self._paper is None:
            return
        if self._jam_next:
            self._jam_next = False
            self._stick(Status.STACKER_JAM)
            return
        self._paper.place = Place.PAST_RETURN
        self._after(_STACK_SECONDS / 2, self._vend)

    def _vend(self) -> None:
        self._show(Status.VEND_VALID)

    def _acknowledged(self) -> None:
        if self._status is Status.VEND_VALID:
            self._boxed()
            self._show(Status.STACKED)
            self._after(_STACK_SECONDS / 2, self._ready_again)

    def _boxed(self) -> None:
        paper, self._paper = self._paper, None
        if paper is not None:
            self.stacked_cents += paper.cents
            self.stacked_notes.append(paper.cents)

    def _ready_again(self) -> None:
        if self._full_next:
            self._full_next = False
            self._stick(Status.STACKER_FULL)
        else:
            self._status = Status.IDLE
            self._rest()

    def _give_back(self) -> None:
        self._show(Status.RETURNING)
        self._after(_RETURN_SECONDS, self._out)

    def _out(self) -> None:
        paper, self._paper = self._paper, None
        if paper is not None:
            self.returned_cents += paper.cents
        self._ready_again()

    def _reset(self) -> None:
        """What the acceptor does with a note inside when told to start afresh depends on where it is."""
        self._stop_timers()
        paper = self._paper
        self._settings.clear()
        if self._stuck is not None:
            self._show(self._stuck)
            return
        self._show(Status.INITIALIZE)
        if paper is None:
            return
        if paper.place is Place.PAST_RETURN:
            self._show(Status.STACKING)
            self._after(_STACK_SECONDS, self._finish_interrupted)
        else:
            self._show(Status.RETURNING)
            self._after(_RETURN_SECONDS, self._out_initialized)

    def _finish_interrupted(self) -> None:
        if self._revend:
            self._vend()
        else:
            self._boxed()
            self._show(Status.INITIALIZE)

    def _out_initialized(self) -> None:
        self._out()
        self._show(Status.INITIALIZE)

    def power_lost(self) -> None:
        """The note stays where it is; settings are forgotten."""
        self._settings.clear()

    def power_restored(self) -> None:
        """Report where the note was found."""
        place = None if self._paper is None else self._paper.place
        if place is None:
            self._show(Status.POWER_UP)
        elif place is Place.PAST_RETURN:
            self._show(Status.POWER_UP_BILL_IN_STACKER)
        else:
            self._show(Status.POWER_UP_BILL_IN_ACCEPTOR)

    # ------------------------------------------------------------ hands on it
    def actions(self) -> dict[str, Callable[[Values], str]]:
        """Hands: see each method."""
        return {
            "insert": self._insert,
            "insert_ticket": self._insert_ticket,
            "jam": self._jam,
            "clear": self._clear,
            "box": self._box,
            "full": self._fill,
            "cheat": self._cheat,
            "fail": self._fail,
            "lie": self._lie,
            "revend": self._set_revend,
        }

    def _push(self, paper: Paper, what: str) -> str:
        if not self.powered or self._status is not Status.IDLE:
            state = self._status.name.lower() if self.powered else "without power"
            raise ActionError(f"{self.name}: the acceptor is {state} and takes nothing")
        self._paper = paper
        self.inserted_cents += paper.cents
        self._show(Status.ACCEPTING)
        self._after(_ACCEPT_SECONDS, self._into_escrow)
        return f"{what} goes in"

    def _insert(self, values: Values) -> str:
        """``amount_cents``; ``counterfeit`` true for a bad one."""
        cents = number(values, "amount_cents")
        if cents not in self._codes:
            raise ActionError(f"{self.name}: no note of {cents} cents; there are {sorted(self._codes)}")
        fake = flag(values, "counterfeit", default=False)
        return self._push(Paper(bytes((self._codes[cents],)), cents, Place.HEAD, fake), f"{cents} cents")

    def _insert_ticket(self, values: Values) -> str:
        """``barcode``: the digits on the ticket."""
        digits = word(values, "barcode")
        if not (digits.isascii() and digits.isdigit()):
            raise ActionError(f"{self.name}: bar code {digits!r} is not digits")
        return self._push(
            Paper(bytes((codec.BARCODE_MARK,)) + digits.encode(), 0, Place.HEAD), f"ticket {digits}"
        )

    def _jam(self, _: Values) -> str:
        """The paper under way, or the next one, jams."""
        if self._status in {Status.ACCEPTING, Status.ESCROW, Status.HOLDING}:
            self._stick(Status.ACCEPTOR_JAM)
            return "jammed"
        self._jam_next = True
        return "the next paper jams"

    def _clear(self, _: Values) -> str:
        """A technician mends what is wrong; paper that can still come out goes back to the player."""
        self._stop_timers()
        self._jam_next = self._full_next = False
        self._stuck = None
        if self._paper is not None and self._paper.place is not Place.PAST_RETURN:
            self.returned_cents += self._paper.cents
            self._paper = None
        self.power_restored()
        return "mended"

    def _box(self, values: Values) -> str:
        """``present`` false takes the note box out, true puts it back."""
        if flag(values, "present"):
            return self._clear({})
        self._stick(Status.STACKER_OPEN)
        return "box out"

    def _fill(self, _: Values) -> str:
        """The box is full, at the latest after the note under way."""
        if self._paper is None:
            self._stick(Status.STACKER_FULL)
        else:
            self._full_next = True
        return "box full"

    def _cheat(self, _: Values) -> str:
        """Somebody pulls on a string."""
        self._stop_timers()
        self._show(Status.CHEATED)
        return "cheated"

    def _fail(self, _: Values) -> str:
        """The head breaks."""
        self._stick(Status.FAILURE)
        return "failed"

    def _lie(self, _: Values) -> str:
        """It claims to have stacked a note there never was."""
        self._stop_timers()
        self._show(Status.VEND_VALID)
        return "lying"

    def _set_revend(self, values: Values) -> str:
        """Whether a stacking interrupted by a power loss is reported again after the reset."""
        self._revend = flag(values, "on", default=True)
        return "reports again" if self._revend else "does not report again"

    def state(self) -> dict[str, Any]:
        """Status, contents and sums: inserted = stacked + returned + inside."""
        return {
            "status": self._status.name.lower(),
            "inside_cents": 0 if self._paper is None else self._paper.cents,
            "inserted_cents": self.inserted_cents,
            "stacked_cents": self.stacked_cents,
            "returned_cents": self.returned_cents,
            "stacked_notes": list(self.stacked_notes),
        }
