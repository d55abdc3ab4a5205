"""A simulated I/O board with doors, keys and buttons; it preserves unacknowledged edges, as the protocol requires."""

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

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
from egm.devices.twin import ActionError, BenchAction, SimulatedPort, Twin

#: The simulated board's model and firmware.
SIMULATED_IDENTITY: Final = "open-egm I/O board, simulated 1.0"
#: Most edges (changes of inputs) that the board stores.
_STORED_EDGES_MAX: Final = 256
#: Time after the last poll for which the board considers a machine to be connected.
_CONNECTED_SECONDS_AFTER_POLL: Final = 1.0
#: Time for which a pressed button stays pressed.
_BUTTON_PRESS_SECONDS: Final = 0.08
#: Time of one pulse to a hard meter.
_PULSE_SECONDS: Final = 0.1


class IoBoardTwin(Twin[IoBoardMessage]):
    """A simulated I/O board with doors, keys, buttons and lamps."""

    kind = "input and output board"

    def __init__(self, name: str, port: SimulatedPort, speed: float = 1.0) -> None:
        super().__init__(name, port, codec.cut_message, speed)
        self._boot_number = 1
        self._input_levels_mask = codec.IDLE_INPUT_LEVELS_MASK
        self._unacknowledged_edges: deque[InputEdge] = deque()
        self._last_edge_number = 0
        self._are_edges_lost = False
        self._delayed_reply: asyncio.TimerHandle | None = None
        self._polled_at: float | None = None
        self._last_poll = IoBoardPoll(acknowledged_edge_number=0, wait_hundredths=0)
        self._pulse_counts = [0] * codec.HARD_METER_COUNT
        self._pulse_totals = [0] * codec.HARD_METER_COUNT
        self._is_pulsing = False

    # ------------------------------------------------------------ the line
    def process_message(self, message: IoBoardMessage) -> None:
        """Reply to the machine's message as the protocol specifies; the board's own messages are ignored."""
        match message:
            case IdentityQuery():
                self._send(IdentityReply(self._boot_number, SIMULATED_IDENTITY).encode())
            case IoBoardPoll():
                self._handle_poll(message)
            case HardMeterTotals():
                self._pulse_totals = list(message.pulse_totals)
                self._start_pulse()
                self._send(HardMeterPulseCounts(self._boot_number, tuple(self._pulse_counts)).encode())
            case IdentityReply() | InputStatus() | HardMeterPulseCounts():
                pass

    def _handle_poll(self, poll: IoBoardPoll) -> None:
        """Apply the machine's poll, and reply after the time that the poll states, at the latest.

        Reply at once if there are changes of inputs that are unacknowledged or were lost.
        """
        self._polled_at = asyncio.get_running_loop().time()
        self._last_poll = poll
        self._drop_edges(poll.acknowledged_edge_number)
        self._cancel_delayed_reply()
        if self._unacknowledged_edges or self._are_edges_lost or not poll.wait_hundredths:
            self._send_status()
        else:
            # Not scaled by the mechanics' speed: the wait is part of the protocol.
            self._delayed_reply = asyncio.get_running_loop().call_later(
                poll.wait_hundredths / 100, self._send_status
            )

    def _drop_edges(self, acknowledged_edge_number: int) -> None:
        """Drop the stored edges (changes of an input) up to the acknowledged one; drop none if it is not stored."""
        edge_numbers = [edge.edge_number for edge in self._unacknowledged_edges]
        if acknowledged_edge_number in edge_numbers:
            for _ in range(edge_numbers.index(acknowledged_edge_number) + 1):
                self._unacknowledged_edges.popleft()

    def _cancel_delayed_reply(self) -> None:
        """Cancel the delayed reply to the last poll, if there is one."""
        if self._delayed_reply is not None:
            self._delayed_reply.cancel()
            self._delayed_reply = None

    def _send_status(self) -> None:
        """Send the I/O board's status: inputs, unacknowledged edges, and whether any edges were lost."""
        self._delayed_reply = None
        edges = tuple(list(self._unacknowledged_edges)[: codec.STATUS_EDGES_MAX])
        self._send(
            InputStatus(
                boot_number=self._boot_number,
                input_levels_mask=self._input_levels_mask,
                are_edges_lost=self._are_edges_lost,
                edges=edges,
            ).encode()
        )
        self._are_edges_lost = False

    # ------------------------------------------------------------ the hard meters
    def _start_pulse(self) -> None:
        """Give one pulse to each hard meter that is behind, and schedule the end of the pulse."""
        meter_indices = [
            index for index, total in enumerate(self._pulse_totals) if total > self._pulse_counts[index]
        ]
        if self._is_pulsing or not meter_indices:
            return
        for index in meter_indices:
            self._pulse_counts[index] += 1
        self._is_pulsing = True
        self._schedule_step(_PULSE_SECONDS, self._finish_pulse)

    def _finish_pulse(self) -> None:
        """End the pulses to the hard meters, and start the next ones if a meter is still behind."""
        self._is_pulsing = False
        self._start_pulse()

    # ------------------------------------------------------------ the inputs
    def _is_machine_connected(self) -> bool:
        """Return whether a machine is connected: it has polled the I/O board within the last second."""
        now = asyncio.get_running_loop().time()
        return self._polled_at is not None and now - self._polled_at < _CONNECTED_SECONDS_AFTER_POLL

    def _set_input(self, group: str, name: str, *, is_on: bool) -> None:
        """Set an input's level and store this change (edge); if the board's memory is full, the oldest edge is lost."""
        try:
            input_index = codec.INPUTS.index((group, name))
        except ValueError:
            names = ", ".join(input_name for input_group, input_name in codec.INPUTS if input_group == group)
            raise ActionError(f"{self.name}: there is no {group} {name!r}; expected one of {names}") from None
        if bool(self._input_levels_mask >> input_index & 1) is is_on:
            return
        self._input_levels_mask ^= 1 << input_index
        self._last_edge_number = codec.compute_next_edge_number(self._last_edge_number)
        self._unacknowledged_edges.append(
            InputEdge(
                self._last_edge_number, input_index, is_on, was_unobserved=not self._is_machine_connected()
            )
        )
        if len(self._unacknowledged_edges) > _STORED_EDGES_MAX:
            self._unacknowledged_edges.popleft()
            self._are_edges_lost = True
        if self._delayed_reply is not None:
            self._cancel_delayed_reply()
            self._send_status()

    def handle_power_loss(self) -> None:
        """Lose the outputs and the hard meters' totals that the machine has sent, and release the buttons.

        The battery preserves the other inputs, the edges and the pulse counts.
        """
        self._cancel_delayed_reply()
        self._polled_at = None
        self._pulse_totals, self._is_pulsing = [0] * codec.HARD_METER_COUNT, False
        for button in codec.BUTTONS:  # nobody keeps a button pressed that long
            self._set_input("button", button, is_on=False)

    def handle_power_return(self) -> None:
        """Do nothing: the battery has preserved the inputs and the edges."""

    def export_retained_state(self) -> dict[str, object]:
        """Return what the board retains without power, because it has a battery.

        That is everything but the outputs and the hard meters' totals that the machine has sent.
        """
        return {
            "boot": self._boot_number,
            "levels": self._input_levels_mask,
            "number": self._last_edge_number,
            "lost": self._are_edges_lost,
            "counted": list(self._pulse_counts),
            "edges": [
                [edge.edge_number, edge.input_index, edge.is_on, edge.was_unobserved]
                for edge in self._unacknowledged_edges
            ],
        }

    def restore_retained_state(self, retained_state: Mapping[str, Any]) -> None:
        """Restore the I/O board's state that :meth:`export_retained_state` returned, and release the buttons."""
        self._boot_number, self._input_levels_mask, self._last_edge_number = (
            retained_state["boot"],
            retained_state["levels"],
            retained_state["number"],
        )
        self._are_edges_lost = retained_state["lost"]
        self._pulse_counts = list(retained_state.get("counted", self._pulse_counts))
        self._unacknowledged_edges = deque(
            InputEdge(number, index, is_on, was_unobserved=was_unobserved)
            for number, index, is_on, was_unobserved in retained_state["edges"]
        )
        for button in codec.BUTTONS:
            self._set_input("button", button, is_on=False)

    # ------------------------------------------------------------ manual actions
    def list_actions(self) -> dict[str, BenchAction]:
        """Return the manual actions on the simulated device, by the name under which a command calls them."""
        return {
            "door": self._set_door,
            "key": self._turn_key,
            "press": self._press_button,
            "mains": self._set_mains,
            "battery": self._set_battery_sensor,
            "forget": self._lose_stored_edges,
            "turn": self._set_hard_meter,
            "jam": self._jam_button,
            "lie": self._change_door_without_edge,
        }

    def _set_door(self, *, name: str, open_: bool) -> str:
        """Open the door called ``name`` if ``open_``; otherwise close it."""
        self._set_input("door", name, is_on=open_)
        return f"{name} door {'open' if open_ else 'closed'}"

    def _turn_key(self, *, name: str, on: bool) -> str:
        """Turn the key switch called ``name`` on or off (``on``)."""
        self._set_input("key", name, is_on=on)
        return f"{name} key {'on' if on else 'off'}"

    def _press_button(self, *, button: str) -> str:
        """Press the button called ``button``; it is released a moment later."""
        self._set_input("button", button, is_on=True)
        self._schedule_step(_BUTTON_PRESS_SECONDS, lambda: self._set_input("button", button, is_on=False))
        return f"{button} pressed"

    def _set_mains(self, *, good: bool) -> str:
        """Make the mains sensor report mains voltage if ``good``; otherwise that it is missing."""
        self._set_input("sensor", "mains_good", is_on=good)
        return "mains sensor set"

    def _set_battery_sensor(self, *, good: bool) -> str:
        """Make the battery sensor report a good battery if ``good``; otherwise a low one."""
        self._set_input("sensor", "battery_good", is_on=good)
        return "battery sensor set"

    def _jam_button(self, *, button: str) -> str:
        """Make the button called ``button`` stick in the pressed position."""
        self._set_input("button", button, is_on=True)
        return f"{button} sticks"

    def _change_door_without_edge(self) -> str:
        """Simulate a defect: change the main door's input without storing this change for the next reports."""
        self._input_levels_mask ^= 1
        return "main door changed without an edge"

    def _set_hard_meter(self, *, meter: int, pulses: int) -> str:
        """Set hard meter ``meter`` (0 to 5) to ``pulses``, as if its wheels were turned by hand or on another board."""
        if not 0 <= meter < codec.HARD_METER_COUNT:
            raise ActionError(
                f"{self.name}: there is no hard meter {meter}; expected 0 to {codec.HARD_METER_COUNT - 1}"
            )
        self._pulse_counts[meter] = pulses
        return f"hard meter {meter} stands at {self._pulse_counts[meter]}"

    def _lose_stored_edges(self) -> str:
        """Simulate a power loss with an empty battery: the stored input changes are lost, the boot number changes."""
        self._unacknowledged_edges.clear()
        self._last_edge_number = 0
        self._boot_number = self._boot_number % 0xFFFF + 1
        return "edges lost"

    def describe_state(self) -> dict[str, Any]:
        """Return which inputs of the simulated board are on, and which outputs are lit, for display."""
        is_machine_connected = self._is_machine_connected()
        return {
            "doors_open": self._list_active_inputs("door"),
            "keys_on": self._list_active_inputs("key"),
            "lamps": sorted(self._last_poll.button_lamps) if is_machine_connected else [],
            "tower": sorted(self._last_poll.tower_lights) if is_machine_connected else ["tilt"],
            "bell": self._last_poll.is_bell_on if is_machine_connected else False,
            "edges_waiting": len(self._unacknowledged_edges),
            "hard_meters": list(self._pulse_counts),
        }

    def _list_active_inputs(self, group: str) -> list[str]:
        """Return the names of the inputs of a group that are on."""
        return [
            name
            for index, (input_group, name) in enumerate(codec.INPUTS)
            if input_group == group and self._input_levels_mask >> index & 1
        ]
