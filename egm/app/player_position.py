"""One player position in the running machine: its engine, its devices and its screens.

The machine process (:mod:`egm.app.process`) owns the background services and everything that its positions share:
journal, random number generator, games, service menu, doors.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from egm.app.entries import SCREEN_REFUSED, ScreenRefused
from egm.app.ports import PositionDevices
from egm.app.removed_devices import settle_removed_devices_and_hosts
from egm.app.view import build_game_view, build_snapshot, build_withdrawn_game_view
from egm.app.wiring import (
    build_event_from_intent,
    find_lit_lamps,
    find_lit_tower_lights,
    is_bell_ringing,
    iter_reported_events,
    list_outputs_under_test,
)
from egm.config.cabinet_file import StateFolder
from egm.devices.interface import (
    ButtonPressed,
    DeviceEvent,
    DeviceFault,
    DoorChanged,
    FaultCode,
    InputsReported,
    LineLost,
    LineRestored,
    MoneyDevices,
)
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import Event, EventType
from egm.kernel.feature import Features
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import (
    DecisionRequest,
    GameOutcome,
    GameView,
    Hello,
    Intent,
    Message,
    PlayButtonPress,
    Snapshot,
)
from egm.kernel.positions import is_position_fault
from egm.kernel.running_positions import RunningPosition, RunningPositions
from egm.links.screen.private_sockets import write_new_token
from egm.links.screen.server import ScreenServer
from egm.money.device_ledgers import create_ledgers
from egm.money.value_in import (
    are_coins_routed_to_hopper,
    list_acceptable_bills,
    list_acceptable_coins,
    should_accept_tickets,
)
from egm.play import game_messages
from egm.play.definitions import GameDefectiveError, find_definition
from egm.play.events import OutcomeShown
from egm.play.installed_games import InstalledGame
from egm.play.records.games import find_open_game
from egm.seats.wheel import process_wheel_report
from egm.staff.desk import ServiceDesk
from egm.staff.service.key_switches import iter_concerned_positions

#: The longest wait for a screen that never reports it has shown the outcome.
_OUTCOME_SHOWN_SECONDS_MAX: Final = 60.0
#: How long an interrupted game waits for the screen to return.
_SCREEN_RECONNECT_SECONDS_MAX: Final = 10.0


class DiscardingOutbox:
    """A receiver of screen messages that drops them, for the time before a position is created."""

    def send_message(self, message: GameOutcome | DecisionRequest) -> None:
        """Drop the message: a screen that connects later receives the current one."""


class PlayerPosition:
    """One player position with its engine, devices and screens.

    ``submit_event`` submits an event at a position; ``on_change`` is called after every change. The position can be
    used once :meth:`connect_devices` has received the drivers of its devices.
    """

    devices: PositionDevices
    """The drivers of the position's devices."""

    def __init__(
        self,
        machine: PositionMachine,
        installed_games: Mapping[str, InstalledGame],
        state_folder: StateFolder,
        submit_event: Callable[["PlayerPosition", Event], None],
        on_change: Callable[[], None],
    ) -> None:
        self.machine = machine
        self.engine = StateMachineEngine(
            machine, machine.component(Features).state_table, self.process_change
        )
        self.ledgers = create_ledgers(machine, self.engine.handle)
        self._installed_games = installed_games
        self._submit_event = submit_event
        self._on_change = on_change
        self._game_end_timer: asyncio.TimerHandle | None = None
        self._shown_play_id = ""
        self._play_id_at_start = ""
        self._withdrawn_game_view: GameView | None = None
        self._outcome_sent_ns = 0
        self._doors_open_at_board: frozenset[str] | None = None
        self._board_faults: frozenset[FaultCode] = frozenset()
        number = machine.position.number
        self.server = ScreenServer(
            state_folder.get_screen_socket_path(number),
            write_new_token(state_folder.get_screen_token_path(number)),
            build_greeting=self._build_connection_messages,
            on_intent=self._handle_intent,
            on_peer_error=self._record_refused_screen,
            read_monotonic_seconds=lambda: machine.clock.monotonic_ns() / 1e9,
        )
        machine.screen_outbox = self

    def _record_refused_screen(self, text: str) -> None:
        """Record in the journal that a screen was refused or sent an invalid message."""
        self.machine.post(SCREEN_REFUSED, ScreenRefused(text=text))

    def connect_devices(self, devices: PositionDevices) -> None:
        """Store the drivers of the position's devices, and connect the machine to them.

        Each driver receives the faults of its device that are still active in the journal. Also store which game was
        open at the start.
        """
        self.devices = devices
        game_record = find_open_game(self.machine)
        self._play_id_at_start = "" if game_record is None else game_record.play_id
        self.machine.component(MoneyDevices).acceptor = devices.bill_acceptor
        self.machine.component(MoneyDevices).printer = devices.ticket_printer
        self.machine.component(MoneyDevices).hopper = devices.hopper
        self.machine.component(ServiceDesk).device_page_data.kind_by_device_name = devices.kind_by_device_name
        self.machine.component(RunningPositions).position_by_number[self.machine.position.number] = (
            RunningPosition(
                engine=self.engine,
                submit_event=partial(self._submit_event, self),
                build_snapshot=self.build_snapshot,
                update_tower_light_and_bell=self._update_tower_light_and_bell,
                has_own_io_board=devices.io_board is not None,
                find_open_doors=self._find_doors_open_at_board,
                list_board_faults=lambda: self._board_faults,
            )
        )
        for driver in devices.drivers:
            driver.restore_faults(self._find_device_faults(devices.kind_by_device_name[driver.name]))

    def settle_removed_devices(self, configured_host_sources: Collection[str]) -> None:
        """Settle the unfinished operations of devices and hosts that the cabinet file no longer names.

        Each is completed, or passed to staff as a disputed amount or a fault.
        """
        device_kinds = frozenset(self.devices.kind_by_device_name.values())
        settle_removed_devices_and_hosts(
            self.machine, self.ledgers, self.engine.submit, device_kinds, configured_host_sources
        )

    def _find_device_faults(self, device_kind: str) -> frozenset[FaultCode]:
        """Return the active faults of this position's device of the kind ``device_kind``, such as ``hopper``.

        The faults of a device that serves all positions are returned only at the first position.
        """
        fault_code_by_stored_code = {f"{device_kind}.{code}": code for code in FaultCode}
        concerns_position = self.machine.position.number == 1 or is_position_fault(device_kind)
        return frozenset(
            fault_code_by_stored_code[code]
            for code in self.machine.active_faults
            if code in fault_code_by_stored_code and concerns_position
        )

    # ------------------------------------------------------------------ devices and people
    def handle_device_report(self, report: DeviceEvent) -> None:
        """Process a report of a device of this player position."""
        service_desk = self.machine.component(ServiceDesk)
        service_desk.device_page_data.store_report(report)
        if isinstance(report, ButtonPressed) and report.button == "play" and self.server.player_screen_count:
            self.server.send(PlayButtonPress(button="play"))  # its meaning depends on what the screen shows
            return
        process_wheel_report(self.machine, report)
        self._store_reported_doors(report)
        doors_open_elsewhere = self._list_doors_open_at_other_boards()
        if isinstance(report, DoorChanged) and not report.is_open and report.door in doors_open_elsewhere:
            return
        if self.devices.kind_by_device_name[report.device] == "io_board":
            ended_fault = self._store_board_fault(report)
            if ended_fault is not None and ended_fault in self._list_faults_of_other_boards():
                return
        running_positions, own_number = self.machine.component(RunningPositions), self.machine.position.number
        doors_known_open = tuple(door for door in self.machine.open_doors if door not in doors_open_elsewhere)
        for event in iter_reported_events(
            report, self.devices.kind_by_device_name[report.device], doors_known_open
        ):
            for running_position in iter_concerned_positions(running_positions, own_number, event):
                running_position.submit_event(event)
        if service_desk.is_open:  # its pages show what devices report
            self.process_change()

    def _store_reported_doors(self, report: DeviceEvent) -> None:
        """Store which doors this position's I/O board reports open, if the report is about doors."""
        if isinstance(report, InputsReported):
            self._doors_open_at_board = report.doors_open
        elif isinstance(report, DoorChanged) and self._doors_open_at_board is not None:
            reported_doors = frozenset({report.door})
            self._doors_open_at_board = (
                self._doors_open_at_board | reported_doors
                if report.is_open
                else self._doors_open_at_board - reported_doors
            )

    def _store_board_fault(self, report: DeviceEvent) -> FaultCode | None:
        """Update the active faults of this position's I/O board; return the fault that the report ends, or None."""
        match report:
            case DeviceFault(code=fault_code, is_active=is_active):
                pass
            case LineLost() | LineRestored():
                fault_code, is_active = FaultCode.COMMUNICATION, isinstance(report, LineLost)
            case _:
                return None
        reported_faults = frozenset({fault_code})
        self._board_faults = (
            self._board_faults | reported_faults if is_active else self._board_faults - reported_faults
        )
        return None if is_active else fault_code

    def _list_faults_of_other_boards(self) -> frozenset[FaultCode]:
        """Return the active faults of the I/O boards of the other positions."""
        positions = self.machine.component(RunningPositions).position_by_number
        return frozenset[FaultCode]().union(
            *(
                running_position.list_board_faults()
                for number, running_position in positions.items()
                if number != self.machine.position.number
            )
        )

    def _find_doors_open_at_board(self) -> frozenset[str] | None:
        """Return the doors that this position's I/O board reports open.

        Return None until the board has reported its inputs; empty if the position has no board.
        """
        return frozenset() if self.devices.io_board is None else self._doors_open_at_board

    def _list_doors_open_at_other_boards(self) -> frozenset[str]:
        """Return the doors that are open, or may be, according to the I/O boards of the other positions.

        A board that has not reported its inputs yet may have any recorded door open.
        """
        positions = self.machine.component(RunningPositions).position_by_number
        doors_of_boards = [
            running_position.find_open_doors()
            for number, running_position in positions.items()
            if number != self.machine.position.number
        ]
        return frozenset[str]().union(
            *(self.machine.open_doors if doors is None else doors for doors in doors_of_boards)
        )

    def _handle_intent(self, intent: Intent) -> None:
        """Submit a person's request at the screen as an event.

        The report "outcome shown" is not submitted at once: it schedules the end of the game whose outcome was shown.
        """
        event = build_event_from_intent(intent, self.engine.rules.payloads)
        if event.name is EventType.OUTCOME_SHOWN:
            self._end_shown_game(event.read_payload(OutcomeShown).play_id)
        else:
            self._submit_event(self, event)

    # ------------------------------------------------------------------ the screen
    def send_message(self, message: GameOutcome | DecisionRequest) -> None:
        """Send a message to the screens of this position.

        If it is an outcome, the game ends when a screen has shown it, or after a time limit.
        """
        self.server.send(message)
        if isinstance(message, GameOutcome):
            self._shown_play_id, self._outcome_sent_ns = message.play_id, self.machine.clock.monotonic_ns()
            self._schedule_game_end(self._compute_outcome_shown_timeout_seconds(message), message.play_id)

    def _compute_outcome_shown_timeout_seconds(self, outcome: GameOutcome) -> float:
        """Return how long to wait for a screen to report that it has shown an outcome."""
        if self.server.player_screen_count:
            return _OUTCOME_SHOWN_SECONDS_MAX
        # After a restart the screen is about to return, and the player has yet to see how their game ended,
        # even if it is decided only now, by a wheel's number or by other seats.
        is_resumed_game = outcome.is_resumed or outcome.play_id == self._play_id_at_start
        return _SCREEN_RECONNECT_SECONDS_MAX if is_resumed_game else self._read_minimum_game_seconds()

    def _end_shown_game(self, play_id: str | None) -> None:
        """Schedule the end of the game ``play_id``, whose outcome a screen has shown.

        It ends at once or, if that is later, when the minimum duration of a game has passed. Ignore a report about an
        earlier game.
        """
        if play_id != self._shown_play_id:  # a late report of an earlier game: this one is still being shown
            return
        elapsed_seconds = (self.machine.clock.monotonic_ns() - self._outcome_sent_ns) / 1e9
        self._schedule_game_end(max(0.0, self._read_minimum_game_seconds() - elapsed_seconds), play_id)

    def _schedule_game_end(self, seconds: float, play_id: str | None) -> None:
        """Schedule the end of the game ``play_id`` in ``seconds``, and cancel the previous schedule."""
        if self._game_end_timer is not None:
            self._game_end_timer.cancel()
        self._game_end_timer = asyncio.get_running_loop().call_later(
            seconds,
            lambda: self._submit_event(self, Event(EventType.OUTCOME_SHOWN, OutcomeShown(play_id=play_id))),
        )

    def _read_minimum_game_seconds(self) -> float:
        """Return the minimum duration of a game that the jurisdiction requires, in seconds."""
        return self.machine.profile.play.game_interval_min_ms / 1000

    def _build_connection_messages(self) -> tuple[Message, ...]:
        """Return the messages that a screen receives when it connects.

        They include the view of the open game if that game is no longer offered; this view is also stored.
        """
        denominations_cents, includes_advice = (
            self.machine.denominations_cents,
            self.machine.profile.play.allows_advice,
        )
        games = tuple(
            build_game_view(
                replace(self._installed_games[game_id], denominations_cents=denominations_cents[game_id]),
                includes_advice=includes_advice,
            )
            for game_id in self.machine.games
        )
        self._withdrawn_game_view = self._build_withdrawn_game_view()
        view_by_id = {
            view.id: view
            for view in (*games, *(() if self._withdrawn_game_view is None else (self._withdrawn_game_view,)))
        }
        message = game_messages.build_message(self.machine, is_resumed=True)
        return (
            Hello(
                games=tuple(view_by_id.values()),
                feature_texts=self.machine.component(Features).texts_by_language,
            ),
            self.build_snapshot(),
            *([] if message is None else [message]),
        )

    def _build_withdrawn_game_view(self) -> GameView | None:
        """Return the screen's view of the open game if that game is no longer offered; None in all other cases."""
        game_record = find_open_game(self.machine)
        if game_record is None:
            return None
        try:
            rules = find_definition(self.machine, game_record.game_reference)
        except GameDefectiveError:
            return None
        offered_game = self.machine.games.get(rules.id)
        if offered_game is not None and offered_game.digest == rules.digest:
            return None
        return build_withdrawn_game_view(rules, game_record.denomination_cents)

    def build_snapshot(self) -> Snapshot:
        """Return the machine's snapshot that a person at this player position may see."""
        return build_snapshot(self.engine)

    def process_change(self) -> None:
        """Update this position's screens and devices, and all tower lights and bells, then call ``on_change``."""
        # the withdrawn game has ended: show the games offered again
        if self._withdrawn_game_view is not None and find_open_game(self.machine) is None:
            for message in self._build_connection_messages():
                self.server.send(message)
        positions = self.machine.component(RunningPositions)
        with positions.share_snapshots():
            snapshot = positions.read_snapshot(self.machine.position.number)
            self.server.send(snapshot)
            self._update_devices(snapshot)
            for running_position in positions.position_by_number.values():
                running_position.update_tower_light_and_bell()
            self._on_change()

    def _update_devices(self, snapshot: Snapshot) -> None:
        """Set each device of the position to what the machine's state requires: accepted money, coin route, lamps."""
        machine, state, devices = self.machine, self.engine.state, self.devices
        if devices.bill_acceptor is not None:
            is_testing = machine.component(ServiceDesk).device_page_data.is_testing_acceptor
            all_bills_cents = frozenset(machine.profile.value_in.bills_cents)
            accepted_cents = all_bills_cents if is_testing else list_acceptable_bills(machine, state)
            if accepted_cents:
                devices.bill_acceptor.enable(
                    accepted_cents, accepts_tickets=is_testing or should_accept_tickets(machine, state)
                )
            else:
                devices.bill_acceptor.disable()
        if devices.coin_acceptor is not None:
            devices.coin_acceptor.route_coins(to_hopper=are_coins_routed_to_hopper(machine))
            devices.coin_acceptor.enable(list_acceptable_coins(machine, state))
        if devices.io_board is not None:
            # empty unless an output test is running
            tested_outputs = machine.component(ServiceDesk).device_page_data.tested_outputs
            devices.io_board.light_lamps(
                list_outputs_under_test(tested_outputs, "lamp")
                if tested_outputs
                else find_lit_lamps(snapshot)
            )

    def _update_tower_light_and_bell(self) -> None:
        """Update tower light and bell, for every position that this position's I/O board serves."""
        io_board = self.devices.io_board
        if io_board is None:
            return
        # empty unless an output test is running
        tested_outputs = self.machine.component(ServiceDesk).device_page_data.tested_outputs
        positions = self.machine.component(RunningPositions)
        positions_served = positions.iter_positions_served(self.machine.position.number)
        snapshots = [
            positions.read_snapshot(running_position.engine.machine.position.number)
            for running_position in positions_served
        ]
        io_board.light_tower(
            list_outputs_under_test(tested_outputs, "tower")
            if tested_outputs
            else frozenset[str]().union(*map(find_lit_tower_lights, snapshots))
        )
        io_board.switch_bell(on="bell" in tested_outputs or any(map(is_bell_ringing, snapshots)))
