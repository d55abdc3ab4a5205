"""The I/O board's driver: outputs as wished, every edge exactly in order.

A door or key edge is always reported, also one from while nobody listened. A button press is a wish of the
person in front of the machine: one that was made before this session knew the board is not a wish any more
and is dropped, so a restart never plays a game nobody is asking for.

An edge is acknowledged in the poll after the one that brought it, when the machine has handled its event; a
machine killed between the two hears of the same door again, which tells it nothing new.
"""

from egm.devices.driver import LineDriver
from egm.devices.interface import (
    ButtonPressed,
    DoorChanged,
    EventSink,
    FaultCode,
    Identified,
    InputsKnown,
    KeyTurned,
)
from egm.devices.ioboard import codec
from egm.devices.ioboard.codec import Edge, Hello, Identity, Message, Poll, Status
from egm.devices.line import LineSettings, SerialLine

LINE = LineSettings(baud=115200)

#: How long the board may hold a poll, in hundredths of a second: below ``reply_seconds``.
_WAIT = 8
_SENSOR_FAULTS = {"mains_good": FaultCode.POWER, "battery_good": FaultCode.BATTERY_LOW}


class IoBoardDriver(LineDriver[Message]):
    """A :class:`~egm.devices.interface.IoBoard`."""

    poll_seconds = 0.005  # the board's own wait paces the polls

    def __init__(self, name: str, line: SerialLine, sink: EventSink) -> None:
        super().__init__(name, line, sink, codec.cut, codec.PROTOCOL)
        self._boot: int | None = None
        self._known = False
        self._ack = 0
        self._levels = codec.LEVELS_AT_REST
        self._lamps: frozenset[str] = frozenset()
        self._tower: frozenset[str] = frozenset()
        self._bell = False

    # ------------------------------------------------------------ the machine's side
    def lamps(self, lit: frozenset[str]) -> None:
        """Light exactly these button lamps. Raises ValueError for a lamp the board has not."""
        Poll(ack=0, wait=0, lamps=lit).encode()
        self._lamps = lit

    def tower(self, lights: frozenset[str]) -> None:
        """Light exactly these tower elements. Raises ValueError for one the tower has not."""
        Poll(ack=0, wait=0, tower=lights).encode()
        self._tower = lights

    def bell(self, *, on: bool) -> None:
        """The alarm that does not need the screen's loudspeaker."""
        self._bell = on

    # ------------------------------------------------------------ the cycle
    def _session_begins(self) -> None:
        self._boot = None
        self._known = False
        self._ack = 0

    async def _cycle(self) -> None:
        if self._boot is None:
            request: Hello | Poll = Hello()
        else:
            wait = _WAIT if self._known else 0
            request = Poll(ack=self._ack, wait=wait, lamps=self._lamps, tower=self._tower, bell=self._bell)
        for message in await self._exchange(request.encode()):
            match message:
                case Identity():
                    self._boot = message.boot
                    self._emit(Identified(device=self.name, identity=message.text))
                case Status():
                    self._status(message)
                case _:  # our own frames come back only on a line that is looped: nothing to learn
                    pass
        await self._pause()

    # ------------------------------------------------------------ what the board says
    def _status(self, status: Status) -> None:
        if self._boot is None or status.boot != self._boot:
            self._session_begins()  # a board that forgot its edges, or an answer older than our hello
            return
        for edge in status.edges:
            if self._ack and edges_ahead(self._ack, edge.number) <= 0:
                continue  # an answer sent before our acknowledgement arrived
            self._ack = edge.number
            self._edge(edge)
        complete = len(status.edges) < codec.EDGES_MAX
        if complete and (not self._known or status.lost or self._stands_apart(status)):
            self._levels = status.levels
            self._known = True
            self._show_inputs()

    def _stands_apart(self, status: Status) -> bool:
        """Whether the levels are not what the edges led to: then edges were lost after all."""
        last = status.edges[-1].number if status.edges else self._ack
        return last == self._ack and status.levels != self._levels

    def _edge(self, edge: Edge) -> None:
        group, name = codec.INPUTS[edge.input]
        bit = 1 << edge.input
        self._levels = self._levels | bit if edge.level else self._levels & ~bit
        match group:
            case "door":
                self._emit(
                    DoorChanged(device=self.name, door=name, open=edge.level, unattended=edge.unattended)
                )
            case "key":
                self._emit(KeyTurned(device=self.name, key=name, on=edge.level, unattended=edge.unattended))
            case "button":
                if edge.level and self._known and not edge.unattended:
                    self._emit(ButtonPressed(device=self.name, button=name))
            case _:
                self._show_sensors()

    def _show_inputs(self) -> None:
        def on(group: str) -> frozenset[str]:
            return frozenset(
                name
                for place, (kind, name) in enumerate(codec.INPUTS)
                if kind == group and self._levels >> place & 1
            )

        self._emit(InputsKnown(device=self.name, doors_open=on("door"), keys_on=on("key")))
        self._show_sensors()

    def _show_sensors(self) -> None:
        first = len(codec.INPUTS) - len(codec.SENSORS)
        bad = {
            _SENSOR_FAULTS[name]: name
            for place, name in enumerate(codec.SENSORS, first)
            if not self._levels >> place & 1
        }
        self._show_faults(bad)


def edges_ahead(seen: int, number: int) -> int:
    """How far ``number`` is ahead of ``seen`` round the ring; zero or less when it is not new."""
    ahead = codec.edges_after(seen, number)
    return ahead if ahead < 0x8000 else ahead - 0xFFFF
