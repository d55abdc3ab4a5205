"""Simulated ccTalk devices. One wire: the machine hears its own bytes back before the answer.

What has no battery in a real one is lost with the power: events, inhibits, the order being paid. What has is
kept: the life-time counters, the coins and bills themselves.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from egm.devices.bill_twin import RETURN_SECONDS, STACK_SECONDS, BillTwin, Paper, Phase
from egm.devices.cctalk import codec
from egm.devices.cctalk.codec import (
    HOST,
    BillEvent,
    CoinError,
    Events,
    Frame,
    Header,
    HopperStatus,
    HopperTest,
    Pair,
    Route,
)
from egm.devices.twin import ActionError, Port, Twin, Values, number

_COIN_SECONDS: Final = 0.3
_PAY_SECONDS: Final = 0.15
_EMPTY_SECONDS: Final = 2.0
_START_SECONDS: Final = 0.5
_COUNT_RING: Final = 1 << 24


class _EventMemory:
    """A device's numbered events, the last five kept."""

    def __init__(self) -> None:
        self.counter = 0
        self._pairs: deque[Pair] = deque([Pair(0, 0)] * 5, maxlen=5)

    def add(self, a: int, b: int) -> None:
        """One more event."""
        self.counter = self.counter % 255 + 1
        self._pairs.appendleft(Pair(a, b))

    def encode(self) -> bytes:
        """As answer data."""
        return Events(self.counter, tuple(self._pairs)).encode()


class _OnBus(Twin[Frame]):
    """The line's half of a ccTalk twin."""

    address: int = 0
    product: bytes = b""
    serial: bytes = b"\x39\x30\x00"

    def _heard(self, data: bytes) -> None:
        self.port.send(data)  # the wire itself says it back, powered or not
        super()._heard(data)

    def received(self, message: Frame) -> None:
        """Answer what is addressed to this device; an unknown header is met with silence."""
        if message.destination != self.address or message.source != HOST:
            return
        answer = self._common(message) if message.header in _COMMON else self._answer(message)
        if answer is not None:
            self._send(Frame(HOST, self.address, Header.REPLY, answer).encode())

    def _common(self, message: Frame) -> bytes:
        return {
            Header.SIMPLE_POLL: b"",
            Header.MANUFACTURER: b"SIM",
            Header.PRODUCT: self.product,
            Header.SERIAL: self.serial,
        }[Header(message.header)]

    def _answer(self, message: Frame) -> bytes | None:
        """The answer's data, or None for silence."""
        raise NotImplementedError


_COMMON: Final = frozenset({Header.SIMPLE_POLL, Header.MANUFACTURER, Header.PRODUCT, Header.SERIAL})


class CctalkCoinTwin(_OnBus):
    """A simulated coin acceptor with its diverter."""

    kind = "coin acceptor (ccTalk)"
    address = codec.COIN_ADDRESS
    product = b"COIN-SIM"

    def __init__(
        self, name: str, port: Port, speed: float = 1.0, coins: Mapping[int, int] = codec.COINS
    ) -> None:
        super().__init__(name, port, codec.cut, speed)
        self._slots = {cents: slot for slot, cents in coins.items()}
        self._events = _EventMemory()
        self._mask = 0
        self._master = False
        self._paths: dict[int, int] = {}
        self._accepted = 0
        self.hopper_cents = 0
        self.drop_cents = 0
        self.tray_cents = 0

    def _answer(self, message: Frame) -> bytes | None:
        match message.header:
            case Header.READ_CREDITS:
                return self._events.encode()
            case Header.ACCEPT_COUNT:
                return self._accepted.to_bytes(3, "little")
            case Header.INHIBIT_MASK if len(message.data) == 2:
                self._mask = int.from_bytes(message.data, "little")
            case Header.MASTER_INHIBIT if len(message.data) == 1:
                self._master = bool(message.data[0] & 1)
            case Header.SORTER_PATH if len(message.data) == 2:
                self._paths[message.data[0]] = message.data[1]
            case Header.RESET:
                self.power_lost()
            case _:
                return None
        return b""

    def power_lost(self) -> None:
        """Events and settings are forgotten, the life-time count is not."""
        self._events = _EventMemory()
        self._mask, self._master = 0, False
        self._paths.clear()

    def power_restored(self) -> None:
        """Every coin is inhibited until the machine says otherwise."""

    def memory(self) -> dict[str, Any]:
        """The life-time count, and where the coins are."""
        sums = [self.hopper_cents, self.drop_cents, self.tray_cents]
        return {"accepted": self._accepted, "sums": sums}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """See :meth:`memory`."""
        self._accepted = memory["accepted"]
        self.hopper_cents, self.drop_cents, self.tray_cents = memory["sums"]

    def actions(self) -> dict[str, Callable[[Values], str]]:
        """Hands: see each method."""
        return {"insert": self._insert, "cheat": self._cheat, "jam": self._jam, "diverter": self._diverter}

    def _insert(self, values: Values) -> str:
        """``amount_cents``: a coin goes in; what is not accepted falls into the tray."""
        cents = number(values, "amount_cents")
        if cents not in self._slots:
            raise ActionError(f"{self.name}: no coin of {cents} cents; there are {sorted(self._slots)}")
        slot = self._slots[cents]
        if not self.powered or not self._master or not self._mask >> (slot - 1) & 1:
            self.tray_cents += cents
            if self.powered:
                self._events.add(0, CoinError.INHIBITED)
            return f"{cents} cents fall into the tray"
        self._after(_COIN_SECONDS, lambda: self._passed(slot, cents))
        return f"{cents} cents go in"

    def _passed(self, slot: int, cents: int) -> None:
        path = self._paths.get(slot, codec.PATH_HOPPER)
        if path == codec.PATH_HOPPER:
            self.hopper_cents += cents
        else:
            self.drop_cents += cents
        self._accepted = (self._accepted + 1) % _COUNT_RING
        self._events.add(slot, path)

    def _cheat(self, _: Values) -> str:
        """A coin on a string is pulled back."""
        self._events.add(0, CoinError.ON_STRING)
        return "coin on a string"

    def _jam(self, _: Values) -> str:
        """The credit sensor is blocked."""
        self._events.add(0, CoinError.CREDIT_SENSOR_BLOCKED)
        return "coin jam"

    def _diverter(self, _: Values) -> str:
        """The sorter does not move."""
        self._events.add(0, CoinError.SORTER_BLOCKED)
        return "diverter blocked"

    def state(self) -> dict[str, Any]:
        """Where the coins went."""
        return {
            "status": "idle" if self._master and self._mask else "disabled",
            "hopper_cents": self.hopper_cents,
            "drop_cents": self.drop_cents,
            "tray_cents": self.tray_cents,
            "accepted_coins": self._accepted,
        }


class CctalkHopperTwin(_OnBus):
    """A simulated hopper of one denomination."""

    kind = "hopper (ccTalk)"
    address = codec.HOPPER_ADDRESS
    product = b"HOPPER-SIM"

    def __init__(self, name: str, port: Port, speed: float = 1.0) -> None:
        super().__init__(name, port, codec.cut, speed)
        self._counter = 0
        self._remaining = 0
        self._paid = 0
        self._unpaid = 0
        self._armed = False
        self._jammed = False
        self._timed_out = False
        self._extra = 0
        self._total = 0
        self.level_coins = 500
        self.tray_coins = 0

    def _answer(self, message: Frame) -> bytes | None:
        match message.header:
            case Header.HOPPER_STATUS | Header.TEST_HOPPER | Header.DISPENSE_COUNT:
                return self._readings()[Header(message.header)]
            case Header.ENABLE_HOPPER:
                self._armed = message.data == bytes((codec.HOPPER_ARMED,))
            case Header.EMERGENCY_STOP:
                return self._stop_paying()
            case Header.DISPENSE:
                return self._dispense(message.data)
            case _:
                return None
        return b""

    def _readings(self) -> dict[Header, bytes]:
        test = HopperTest(
            jammed=self._jammed,
            timed_out=self._timed_out,
            powered_up=self._counter == 0,
            disabled=not self._armed,
        )
        status = HopperStatus(self._counter, self._remaining, self._paid, self._unpaid)
        return {
            Header.HOPPER_STATUS: status.encode(),
            Header.TEST_HOPPER: test.encode(),
            Header.DISPENSE_COUNT: self._total.to_bytes(3, "little"),
        }

    def _stop_paying(self) -> bytes:
        self._stop_timers()
        left, self._remaining = self._remaining, 0
        self._unpaid += left
        return bytes((left,))

    def _dispense(self, data: bytes) -> bytes | None:
        if not self._armed or self._remaining or len(data) != 4 or data[:3] != self.serial or not data[3]:
            return None
        self._counter = self._counter % 255 + 1
        self._remaining, self._paid, self._unpaid = data[3], 0, 0
        self._timed_out = False
        self._after(_PAY_SECONDS, self._turn)
        return bytes((self._counter,))

    def _turn(self) -> None:
        """The disc turns once: a coin leaves, or there is none."""
        if self._jammed or not self.level_coins:
            self._after(_EMPTY_SECONDS, self._give_up)
            return
        self._drop_coin()
        self._remaining -= 1
        self._paid += 1
        if self._remaining:
            self._after(_PAY_SECONDS, self._turn)
            return
        while self._extra and self.level_coins:  # a disc that does not stop in time
            self._extra -= 1
            self._drop_coin()

    def _drop_coin(self) -> None:
        self.level_coins -= 1
        self.tray_coins += 1
        self._total = (self._total + 1) % _COUNT_RING

    def _give_up(self) -> None:
        self._timed_out = True
        self._remaining, self._unpaid = 0, self._remaining

    def power_lost(self) -> None:
        """The order is forgotten; coins paid are paid, and counted for life."""
        self._counter = self._remaining = self._paid = self._unpaid = 0
        self._armed = self._timed_out = False

    def power_restored(self) -> None:
        """Waits to be armed."""

    def memory(self) -> dict[str, Any]:
        """The life-time count, and the coins inside and out."""
        return {"total": self._total, "level": self.level_coins, "tray": self.tray_coins}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """See :meth:`memory`."""
        self._total, self.level_coins, self.tray_coins = memory["total"], memory["level"], memory["tray"]

    def actions(self) -> dict[str, Callable[[Values], str]]:
        """Hands: see each method."""
        return {"fill": self._fill, "jam": self._jam, "clear": self._clear, "runaway": self._runaway}

    def _fill(self, values: Values) -> str:
        """``coins``: how many are in it now."""
        self.level_coins = number(values, "coins")
        return f"{self.level_coins} coins in the hopper"

    def _jam(self, _: Values) -> str:
        """A coin is stuck: no more leave."""
        self._jammed = True
        return "hopper jammed"

    def _clear(self, _: Values) -> str:
        """A technician frees it."""
        self._jammed = self._timed_out = False
        return "hopper free"

    def _runaway(self, values: Values) -> str:
        """``coins``: so many too many leave at the end of the next payout."""
        self._extra = number(values, "coins", default=1)
        return f"{self._extra} coins too many at the next payout"

    def state(self) -> dict[str, Any]:
        """Where the coins are."""
        return {
            "status": "paying" if self._remaining else "idle",
            "level_coins": self.level_coins,
            "tray_coins": self.tray_coins,
            "paid_for_life": self._total,
        }


class CctalkBillTwin(_OnBus, BillTwin[Frame]):
    """A simulated bill validator: it reports a bill stacked and goes on, acknowledged or not."""

    kind = "bill acceptor (ccTalk)"
    address = codec.BILL_ADDRESS
    product = b"BILL-SIM"

    def __init__(
        self, name: str, port: Port, speed: float = 1.0, notes: Mapping[int, int] = codec.BILLS
    ) -> None:
        BillTwin.__init__(self, name, port, codec.cut, notes, speed)
        self._events = _EventMemory()
        self._mask = 0
        self._master = False
        self._accepted = 0
        self._after(_START_SECONDS, self._started)

    def _answer(self, message: Frame) -> bytes | None:
        match message.header:
            case Header.READ_BILL_EVENTS:
                return self._events.encode()
            case Header.ACCEPT_COUNT:
                return self._accepted.to_bytes(3, "little")
            case Header.ROUTE_BILL if len(message.data) == 1:
                orders = {
                    Route.STACK: self.order_stack,
                    Route.RETURN: self.order_return,
                    Route.EXTEND: self.order_hold,
                }
                known = message.data[0] in frozenset(orders)
                return b"" if known and orders[Route(message.data[0])]() else bytes((Route.EMPTY,))
            case Header.READ_BARCODE:
                return self._paper.barcode.encode("ascii") if self._paper is not None else b""
            case Header.INHIBIT_MASK if len(message.data) == 2:
                self._mask = int.from_bytes(message.data, "little")
            case Header.MASTER_INHIBIT if len(message.data) == 1:
                self._master = bool(message.data[0] & 1)
            case Header.OPERATING_MODE:
                pass
            case _:
                return None
        return b""

    def _accepting(self) -> bool:
        return self._master

    def _enabled(self, paper: Paper) -> bool:
        return bool(paper.barcode) or bool(self._mask >> (self._codes[paper.cents] - 1) & 1)

    def _kind_of_paper(self) -> int:
        return 1 if self._paper is None else self._codes.get(self._paper.cents, 0)

    def _entered(self, phase: Phase) -> None:
        match phase:
            case Phase.ESCROW:
                kind = self._kind_of_paper()
                self._events.add(kind, codec.IN_ESCROW if kind else BillEvent.BARCODE)
            case Phase.IN_BOX:
                kind = self._kind_of_paper()
                self._accepted += self._paper is not None
                self._events.add(kind, codec.STACKED if kind else BillEvent.UNKNOWN_STACKED)
                self.acknowledge()
            case Phase.REJECTING:
                self._events.add(0, BillEvent.INVALID_VALIDATION)
            case Phase.CHEATED:
                self._events.add(0, BillEvent.FRAUD_STRING)
                self._after(RETURN_SECONDS, self._out)
            case _ if phase in _FAULT_EVENTS:
                self._events.add(0, _FAULT_EVENTS[phase])

    def _out(self) -> None:
        if self._phase in {Phase.RETURNING, Phase.CHEATED}:
            self._events.add(0, BillEvent.RETURNED)
        super()._out()

    def memory(self) -> dict[str, Any]:
        """As of every acceptor, and the life-time count."""
        return {**super().memory(), "accepted": self._accepted}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """See :meth:`memory`."""
        self._accepted = memory["accepted"]
        super().recall(memory)

    def power_lost(self) -> None:
        """The paper stays where it is; events and inhibits are forgotten."""
        self._events = _EventMemory()
        self._mask, self._master = 0, False

    def power_restored(self) -> None:
        """Bring a paper inside to where it belongs, without being asked."""
        self.power_lost()
        if self._stuck is not None:
            self._go(self._stuck)
            return
        self._go(Phase.STARTING)
        self._after(_START_SECONDS, self._started)

    def _started(self) -> None:
        if self._paper is None:
            self._go(Phase.READY)
        elif self._paper.past_return:
            self._go(Phase.STACKING)
            self._after(STACK_SECONDS, lambda: self._go(Phase.IN_BOX))
        else:
            self._give_back()


_FAULT_EVENTS: Final[Mapping[Phase, BillEvent]] = {
    Phase.JAM: BillEvent.JAM_TRANSPORT,
    Phase.STACKER_JAM: BillEvent.JAM_STACKER,
    Phase.FULL: BillEvent.STACKER_FULL,
    Phase.BOX_OUT: BillEvent.STACKER_REMOVED,
    Phase.FAILED: BillEvent.STACKER_FAULTY,
}
