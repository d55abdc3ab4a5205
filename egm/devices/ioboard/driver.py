"""Driver of the I/O board: sets the outputs, and reports every change of an input exactly once, in order.

A change (edge) of a door or key is always reported, even if no driver was connected at the time. An edge is
acknowledged in the poll after the one that delivered it, when the machine has handled its event. If the machine is
killed or the line is lost in between, the board delivers the same edge again.

At the start of a session (which lasts from the opening of the line to its loss) the board first delivers the edges that
nobody has acknowledged. Until these have come, the driver does not know the inputs, and it treats the edges as follows:

* A door is reported. To report the same change again is harmless.
* A turn of a key is reported as unobserved, because it may have been reported before and have paid a hand-pay: it must
  not pay another one.
* A button press is dropped. It was a request of the person who stood in front of the machine, and a restart must not
  play a game that nobody requested.
"""

from egm.devices.driver import LineDriver
from egm.devices.interface import (
    ButtonPressed,
    DeviceIdentified,
    DoorChanged,
    EventSink,
    FaultCode,
    InputsReported,
    KeyTurned,
)
from egm.devices.ioboard import codec
from egm.devices.ioboard.codec import (
    HardMeterPulseCounts,
    HardMeterTotals,
    IdentityQuery,
    IdentityReply,
    InputEdge,
    InputStatus,
    IoBoardMessage,
    IoBoardPoll,
)
from egm.devices.line import LineSettings, SerialLine

#: Settings of the line to an I/O board.
IO_BOARD_LINE_SETTINGS = LineSettings(baud_rate=115200)

#: How long the board may delay its reply to a poll, in hundredths of a second: less than ``reply_seconds`` of the base.
_POLL_WAIT_HUNDREDTHS_OF_SECOND = 8
#: Most pulses by which a hard meter can be behind a running machine; if more are missing, somebody has turned the
#: counter or fitted another board.
HARD_METER_PULSES_BEHIND_MAX = 10_000
#: The fault to report if a sensor's level is bad, by sensor.
_FAULT_BY_SENSOR = {"mains_good": FaultCode.POWER_SUPPLY, "battery_good": FaultCode.BATTERY_LOW}


class IoBoardDriver(LineDriver[IoBoardMessage]):
    """An :class:`~egm.devices.interface.IoBoard` that speaks the board's own protocol.

    The protocol has no query of the hard meters' pulse counts: the board states them in reply to a message with the
    totals that the meters must reach. To read the counts only, the driver sends totals of zero, which move no meter.
    """

    poll_seconds = 0.005  # the board's own wait paces the polls

    def __init__(self, name: str, line: SerialLine, sink: EventSink) -> None:
        super().__init__(name, line, sink, codec.cut_message, codec.IO_BOARD_PROTOCOL)
        self._board_boot_number: int | None = None
        self._are_inputs_known = False
        self._acknowledged_edge_number = 0
        self._input_levels_mask = codec.IDLE_INPUT_LEVELS_MASK
        self._lit_lamps: frozenset[str] = frozenset()
        self._lit_tower_lights: frozenset[str] = frozenset()
        self._is_bell_on = False
        self._hard_meter_totals: tuple[int, ...] | None = None
        self._pulse_counts: tuple[int, ...] | None = None
        self._should_read_hard_meters = False
        self._sensor_faults: dict[FaultCode, str] = {}

    # ------------------------------------------------------------ the machine's side
    def light_lamps(self, lamp_names: frozenset[str]) -> None:
        """Light exactly these button lamps. Raises ValueError for an unknown lamp."""
        IoBoardPoll(  # encoded only to reject an unknown name here
            acknowledged_edge_number=0, wait_hundredths=0, button_lamps=lamp_names
        ).encode()
        self._lit_lamps = lamp_names

    def light_tower(self, light_names: frozenset[str]) -> None:
        """Light exactly these lights of the tower. Raises ValueError for an unknown light."""
        IoBoardPoll(  # encoded only to reject an unknown name here
            acknowledged_edge_number=0, wait_hundredths=0, tower_lights=light_names
        ).encode()
        self._lit_tower_lights = light_names

    def switch_bell(self, *, on: bool) -> None:
        """Switch the alarm bell on or off; it is a bell of its own, not a sound of the screen's loudspeaker."""
        self._is_bell_on = on

    @property
    def hard_meter_pulse_counts(self) -> tuple[int, ...] | None:
        """Return how many pulses each hard meter has been given since the I/O board was fitted.

        Return None until the board has reported this.
        """
        return self._pulse_counts

    def start_reading_hard_meters(self) -> None:
        """Start to query the pulse counts of the hard meters that this I/O board drives."""
        self._should_read_hard_meters = True

    def advance_hard_meters(self, pulse_totals: tuple[int, ...]) -> None:
        """Give each hard meter the pulses that it lacks to reach its total in ``pulse_totals``.

        If a meter is ahead of its total or lacks too many pulses, no meter is advanced, and a fault is raised. Raises
        ValueError unless there are six totals that fit the message.
        """
        HardMeterTotals(pulse_totals).encode()  # only to reject totals that do not fit
        self._hard_meter_totals = pulse_totals

    # ------------------------------------------------------------ the cycle
    def _reset_session(self) -> None:
        """Clear the inputs and pulse counts that the I/O board has reported: unknown until it reports again."""
        self._board_boot_number = None
        self._are_inputs_known = False
        self._acknowledged_edge_number = 0
        self._pulse_counts = None

    async def _run_cycle(self) -> None:
        """Run one cycle: poll the I/O board with all outputs, then send the hard meters' totals if that is due.

        If the board's counts are unknown or the meters may not be advanced, the totals sent are zero.
        """
        if self._board_boot_number is None:
            request: IdentityQuery | IoBoardPoll = IdentityQuery()
        else:
            wait_hundredths = _POLL_WAIT_HUNDREDTHS_OF_SECOND if self._are_inputs_known else 0
            request = IoBoardPoll(
                acknowledged_edge_number=self._acknowledged_edge_number,
                wait_hundredths=wait_hundredths,
                button_lamps=self._lit_lamps,
                tower_lights=self._lit_tower_lights,
                is_bell_on=self._is_bell_on,
            )
        for message in await self._exchange(request.encode()):
            self._process_message(message)
        if self._board_boot_number is not None and self._should_send_hard_meter_totals:
            pulse_totals = (
                self._hard_meter_totals
                if self._hard_meter_totals and self._can_advance_hard_meters
                else (0,) * codec.HARD_METER_COUNT
            )
            for message in await self._exchange(HardMeterTotals(pulse_totals).encode()):
                self._process_message(message)
        await self._pause_until_next_poll()

    def _process_message(self, message: IoBoardMessage) -> None:
        """Process one message of the I/O board.

        Pulse counts are ignored if the board has restarted with a new boot number since they were queried.
        """
        match message:
            case IdentityReply():
                self._board_boot_number = message.boot_number
                self._emit(DeviceIdentified(device=self.name, identity=message.identity_text))
            case InputStatus():
                self._handle_status(message)
            case HardMeterPulseCounts() if message.boot_number == self._board_boot_number:
                self._pulse_counts = message.pulse_counts
                self._report_faults()
            case _:  # our own frames, looped back: ignored
                pass

    # ------------------------------------------------------------ the hard meters
    @property
    def _should_send_hard_meter_totals(self) -> bool:
        """Return whether to send the I/O board the totals that its hard meters must reach.

        They are sent once the machine has started to read the hard meters, while the pulse counts are unknown or
        differ from the totals.
        """
        return self._should_read_hard_meters and (
            self._pulse_counts is None or self._hard_meter_totals not in {None, self._pulse_counts}
        )

    @property
    def _can_advance_hard_meters(self) -> bool:
        """Return whether the pulses that the hard meters lack are few enough to be given while the machine runs.

        Return False if a hard meter is ahead of its total, or while totals or counts are unknown.
        """
        if self._hard_meter_totals is None or self._pulse_counts is None:
            return False
        missing_pulse_counts = [
            total - count for total, count in zip(self._hard_meter_totals, self._pulse_counts, strict=True)
        ]
        return all(0 <= count <= HARD_METER_PULSES_BEHIND_MAX for count in missing_pulse_counts)

    def _report_faults(self) -> None:
        """Report the faults of the board's sensors, and a fault if the hard meters may not be advanced."""
        has_meter_mismatch = (
            self._hard_meter_totals is not None
            and self._pulse_counts is not None
            and not self._can_advance_hard_meters
        )
        detail = f"counted {self._pulse_counts}, metered {self._hard_meter_totals}"
        self._update_faults(
            self._sensor_faults | ({FaultCode.HARD_METER_MISMATCH: detail} if has_meter_mismatch else {})
        )

    # ------------------------------------------------------------ the board's reports
    def _handle_status(self, status: InputStatus) -> None:
        """Report each edge (change of an input) in the I/O board's status exactly once.

        All inputs are reported if they were unknown or if edges were lost.
        """
        if self._board_boot_number is None or status.boot_number != self._board_boot_number:
            self._reset_session()  # a board that lost its edges, or a reply older than our identity query
            return
        for edge in status.edges:
            if (
                self._acknowledged_edge_number
                and compute_signed_edge_distance(self._acknowledged_edge_number, edge.edge_number) <= 0
            ):
                continue  # a reply sent before our acknowledgement arrived
            self._acknowledged_edge_number = edge.edge_number
            self._report_edge(edge)
        has_delivered_all_edges = len(status.edges) < codec.STATUS_EDGES_MAX
        if has_delivered_all_edges and (
            not self._are_inputs_known or status.are_edges_lost or self._are_levels_different(status)
        ):
            self._input_levels_mask = status.input_levels_mask
            self._are_inputs_known = True
            self._report_inputs()

    def _are_levels_different(self, status: InputStatus) -> bool:
        """Return whether the reported levels of inputs contradict their reported changes, so that changes were lost."""
        last_edge_number = status.edges[-1].edge_number if status.edges else self._acknowledged_edge_number
        return (
            last_edge_number == self._acknowledged_edge_number
            and status.input_levels_mask != self._input_levels_mask
        )

    def _report_edge(self, edge: InputEdge) -> None:
        """Store an input's level and report its change.

        Of a button, only a press is reported, and only if it happened while the driver was connected and knew the
        inputs. A turn of a key that may have been reported in an earlier session is reported as unobserved.
        """
        group, name = codec.INPUTS[edge.input_index]
        input_bit = 1 << edge.input_index
        self._input_levels_mask = (
            self._input_levels_mask | input_bit if edge.is_on else self._input_levels_mask & ~input_bit
        )
        match group:
            case "door":
                self._emit(
                    DoorChanged(
                        device=self.name, door=name, is_open=edge.is_on, was_unobserved=edge.was_unobserved
                    )
                )
            case "key":
                was_unobserved = edge.was_unobserved or not self._are_inputs_known
                self._emit(
                    KeyTurned(device=self.name, key=name, is_on=edge.is_on, was_unobserved=was_unobserved)
                )
            case "button":
                if edge.is_on and self._are_inputs_known and not edge.was_unobserved:
                    self._emit(ButtonPressed(device=self.name, button=name))
            case _:
                self._report_sensor_faults()

    def _report_inputs(self) -> None:
        """Report the state of all doors and keys."""

        def list_active_inputs(group: str) -> frozenset[str]:
            """Return the names of the inputs of a group that are on."""
            return frozenset(
                name
                for index, (input_group, name) in enumerate(codec.INPUTS)
                if input_group == group and self._input_levels_mask >> index & 1
            )

        self._emit(
            InputsReported(
                device=self.name, doors_open=list_active_inputs("door"), keys_on=list_active_inputs("key")
            )
        )
        self._report_sensor_faults()

    def _report_sensor_faults(self) -> None:
        """Report a fault for each sensor of the I/O board whose level is bad."""
        first_sensor_index = len(codec.INPUTS) - len(codec.SENSORS)
        self._sensor_faults = {
            _FAULT_BY_SENSOR[name]: name
            for index, name in enumerate(codec.SENSORS, first_sensor_index)
            if not self._input_levels_mask >> index & 1
        }
        self._report_faults()


def compute_signed_edge_distance(last_edge_number: int, edge_number: int) -> int:
    """Return by how many edges (changes of an input) ``edge_number`` is ahead of ``last_edge_number``.

    The result is 0 or less if that edge is not new.

    The numbers run from 1 to 65535 and start again at 1.
    """
    difference = codec.count_edges_after(last_edge_number, edge_number)
    return difference if difference < 0x8000 else difference - 0xFFFF
