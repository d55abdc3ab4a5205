"""The machine process: opens the memory, tests the machine, then connects it to devices and people.

It owns money, random numbers and devices; other processes draw the screens. Start-up is in order: memory, games,
self-test with the start of the random number generator; only then does it communicate with anything outside
(NY 5319.54(d)). A failed self-test takes the machine out of service.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

from egm.app.archive_folder import link_archive_folder
from egm.app.entries import (
    GAME_REFUSED,
    TICKET_LEDGER_REPAIRED,
    GameRefused,
    TicketLedgerRepaired,
    record_generator_event,
)
from egm.app.features import FEATURES, build_menu
from egm.app.player_position import DiscardingOutbox, PlayerPosition
from egm.app.ports import create_position_drivers
from egm.app.removed_devices import (
    list_host_disabling_sources,
    refuse_changed_currency,
    refuse_removed_positions_with_money,
)
from egm.app.rng_startup import start_random_service, store_random_output_for_next_start
from egm.app.screen_watch import ScreenWatch
from egm.app.watchdog import DriverProgressCheck, send_watchdog_heartbeats
from egm.clock import Clock
from egm.config.cabinet_file import CabinetFile, StateFolder
from egm.config.computer_checks import find_shared_folders
from egm.devices.cctalk.hopper_twin import INITIAL_COIN_COUNT
from egm.devices.line import PortOpener, open_port
from egm.devices.protocols import PROTOCOLS
from egm.errors import LocalError, OperatorError, RestartRequested
from egm.garbage_collector import pause_garbage_collector
from egm.host.desk_creation import create_ticket_desk
from egm.host.ticket_recovery import close_printed_ticket, recover_tickets
from egm.integrity.clock_trust import record_clock_trust
from egm.integrity.events import FailureDetail, MemoryReady, SelfTestSuccess
from egm.integrity.keys import IntegrityKey
from egm.integrity.lockups import GeneratorFactory
from egm.integrity.signed_file import check_cabinet_file_signature
from egm.integrity.software import SoftwareVerifier
from egm.kernel.events import Event, EventType
from egm.kernel.feature import Features
from egm.kernel.games import InstalledGames
from egm.kernel.machine import MachineIdentity, PositionMachine
from egm.kernel.positions import Position
from egm.kernel.running_positions import RunningPositions
from egm.kernel.services import BackgroundService, MachineContext
from egm.kernel.states import STATES_FOR_BETTING
from egm.kernel.timekeeping import create_timekeeper
from egm.links.screen import start_up_activity
from egm.money.host_money import HostMoney
from egm.money.ticket_ledger import is_ticket_accounted, open_ticket_store
from egm.people import Roster
from egm.people.demonstration import require_no_demonstration
from egm.play.definitions import record_conflicting_versions
from egm.play.installed_games import (
    CertificateRules,
    InstalledGame,
    RefusedGame,
    admit_games,
    update_cabinet_file_fault,
)
from egm.play.stored_prizes import build_prize_computer_with_cache
from egm.private_files import require_private_files
from egm.profiles import load_profile
from egm.progressive.enrolment_data import STICK_PATH, EnrolmentStick
from egm.progressive.enrolment_page import reconcile_certificate_at_start
from egm.progressive.game_levels import open_levels
from egm.progressive.link_folder import LinkCertificateFolder
from egm.progressive.pools import combine_pools
from egm.seats.table import SharedTables
from egm.staff.desk import ServiceDesk
from egm.staff.identities import IdentityRegister
from egm.staff.inventory import record_inventory_change
from egm.staff.options import apply_options
from egm.staff.stock import record_simulated_opening_stock
from egm.tickets.desk import TicketDesk
from egm.tickets.store import TicketStore
from meters import Journal, JournalDamaged, JournalPolicy
from meters.copies import SECOND_FOLDER
from meters.machine_key import KEY_FILE_NAME
from meters.storage import DiskStorage, Storage
from rng import EntropySource, RandomService, RngError

#: The installed release of the software.
_SOFTWARE_VERSION: Final = version("open-egm")
#: How often to check whether background cycling (drawing and discarding random numbers) is required again, while the
#: profile does not require it or the generator is out of service.
_CYCLING_CHECK_INTERVAL_SECONDS: Final = 5.0


class MachineProcess:
    """One machine with all its player positions, on one event loop.

    :meth:`run` runs it until it is cancelled or an error stops it; the error is raised.
    """

    def __init__(
        self,
        folder: StateFolder,
        cabinet_file: CabinetFile,
        clock: Clock,
        *,
        opener: PortOpener = open_port,
        entropy_sources: Sequence[EntropySource] | None = None,
        print_message: Callable[[str], None] = lambda _: None,
        allows_single_medium: bool = False,
        requires_screen: bool = False,
        usb_stick_path: Path = STICK_PATH,
        features: Features = FEATURES,
        storage: Storage | None = None,
        release: str = _SOFTWARE_VERSION,
    ) -> None:
        """Create the machine process.

        ``opener`` opens the devices' ports. ``entropy_sources`` seed the random number generator; None: use all
        entropy sources of this computer. ``print_message`` prints a text, such as an error in the cabinet file, for
        the person who started the machine. ``allows_single_medium``: if one of the two storage media is missing, run
        all the same, but start no game and accept no money. ``requires_screen``: while no screen is connected, raise
        a fault, so that no game is started and no money accepted. ``usb_stick_path`` is the device path of a
        USB stick. ``storage`` gives access to the two storage media, and supplies the random bytes for keys and
        salts. ``release`` is the software version, which is recorded at each power-up.
        """
        self._features = features
        self._state_folder = folder
        self._cabinet_file = cabinet_file
        self._clock = clock
        self._port_opener = opener
        self._entropy_sources = entropy_sources
        self._print_message = print_message
        self._allows_single_medium = allows_single_medium
        self._requires_screen = requires_screen
        self._usb_stick_path = usb_stick_path
        self._storage = storage or DiskStorage()
        self._release = release
        self._profile = load_profile(cabinet_file.machine.profile)
        self._positions: tuple[PlayerPosition, ...] = ()
        self._stop_future: asyncio.Future[None] | None = None
        self._has_ended = False
        self._is_journal_new = False
        self._position_numbers_to_update: set[int] = set()
        self._shared_tables = SharedTables()
        self._running_positions = RunningPositions()
        self._attached_services: tuple[tuple[PlayerPosition, BackgroundService], ...] = ()

    async def run(self) -> None:
        """Start the machine and run it until cancelled.

        Raises OperatorError if the cabinet file cannot be used, and JournalError if the memory cannot. A game
        that cannot be used is only refused.
        """
        require_no_demonstration(self._cabinet_file, self._state_folder)
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(
                start_up_activity.write_start_up_activity, self._state_folder.start_up_file, None
            )
            start_up_activity.write_start_up_activity(
                self._state_folder.start_up_file, start_up_activity.StartUpActivity("memory")
            )
            journal = cleanup.enter_context(self._open_journal())
            self._state_folder.remove_line_links()  # now that no other machine can be running on this folder
            are_certificates_required = (
                self._has_real_devices and self._profile.inventory.requires_certificates
            )
            with pause_garbage_collector():
                self._installed_games, self._refused_games = admit_games(
                    self._cabinet_file.games,
                    self._profile,
                    self._cabinet_file.progressives,
                    build_prize_computer_with_cache(journal),
                    CertificateRules(self._cabinet_file.machine.certifier_key_hex, are_certificates_required),
                    self._show_examined_game,
                    has_wheel=self._cabinet_file.has_wheel,
                )
            start_up_activity.write_start_up_activity(
                self._state_folder.start_up_file, start_up_activity.StartUpActivity("self_test")
            )
            self._timekeeper = create_timekeeper(journal, self._clock)
            position_count, currency = self._cabinet_file.machine.position_count, self._profile.currency
            refuse_changed_currency(journal, currency)
            refuse_removed_positions_with_money(
                journal, position_count, self._features.storage_keys, currency
            )
            # If the second medium is missing, this is the first: then no second copies are written anywhere else.
            second_folder = journal.medium_folders[-1]
            ticket_store, ledger_error = open_ticket_store(
                journal, self._state_folder.root, second_folder, self._storage
            )
            if ticket_store is not None:
                cleanup.enter_context(ticket_store)
            self._create_machines_and_positions(journal, ticket_store, ledger_error)
            check_cabinet_file_signature(self._first_machine, self._cabinet_file, self._state_folder.root)
            certificate_folder = LinkCertificateFolder.for_state_folder(self._state_folder.root)
            reconcile_certificate_at_start(
                self._first_machine,
                certificate_folder,
                EnrolmentStick(self._usb_stick_path),
                self._cabinet_file.progressive_link,
            )
            self._verifier.verify_at_start()
            identities = IdentityRegister.open(
                self._state_folder.root, second_folder, self._storage.random_bytes
            )
            cleanup.enter_context(contextlib.closing(identities))
            for player_position in self._positions:
                player_position.machine.install(identities)
            self._run_self_test()
            try:
                await self._run_until_stopped()
            finally:
                self._has_ended = True
                if self._first_machine.random_service is not None:
                    store_random_output_for_next_start(
                        self._state_folder.carry_over_file, self._first_machine.random_service
                    )

    def _show_examined_game(self, game_number: int, game_name: str) -> None:
        """Show on the screens which game is examined: finding its highest prize may take a while the first time."""
        values: dict[str, str | int] = {
            "number": game_number,
            "count": len(self._cabinet_file.games),
            "game": Path(game_name).stem,
        }
        start_up_activity.write_start_up_activity(
            self._state_folder.start_up_file, start_up_activity.StartUpActivity("game", values)
        )

    @property
    def _has_real_devices(self) -> bool:
        """Return whether any device is real; a machine with only simulated devices is a demonstration."""
        return bool(self._cabinet_file.hardware_port_descriptions)

    # ------------------------------------------------------------------ start-up
    def _open_journal(self) -> Journal:
        """Open the journal on both storage media, with the profile's rules. Raises OperatorError, JournalError."""
        journal_rules, memory_table = self._profile.journal, self._cabinet_file.memory
        second_folder = memory_table.second_copy or self._state_folder.root / SECOND_FOLDER
        for fault in find_shared_folders(self._cabinet_file, self._state_folder.root):
            raise OperatorError(str(fault))
        require_private_files(
            second_folder / KEY_FILE_NAME, second_folder / self._state_folder.roster_file.name
        )
        archive_by_folder = {
            self._state_folder.root: memory_table.archive,
            second_folder: memory_table.second_archive,
        }
        for folder, archive in archive_by_folder.items():
            link_archive_folder(folder, archive)
        journal = Journal.open(
            self._state_folder.root,
            now=self._clock.now,
            second_folder=second_folder,
            check_new_journal_allowed=self._allow_new_journal,
            machine_id=self._cabinet_file.machine.serial,
            policy=JournalPolicy(
                entries_per_checkpoint=journal_rules.checkpoint_interval_entries,
                increment_max_cents=journal_rules.transaction_max_cents_by_account,
                reserve_size_bytes=self._cabinet_file.memory.reserve_mib << 20,
            ),
            allow_missing_second=self._allows_single_medium,
            storage=self._storage,
        )
        try:
            for folder in journal.medium_folders:  # created just now if there was none
                link_archive_folder(folder, archive_by_folder[folder])
        except OperatorError:
            journal.close()
            raise
        return journal

    def _allow_new_journal(self) -> None:
        """Allow a new journal to be started, and store that this run begins one.

        Raises :class:`JournalDamaged` if any file of an earlier journal exists.
        """
        file_names = self._state_folder.list_files_that_imply_journal()
        if file_names:
            raise JournalDamaged(
                str(self._state_folder.root),
                f"the journal is gone, but {', '.join(file_names)} remain: restore the journal,"
                " or have the memory cleared (`egm audit inspect`, `egm audit clear`)",
            )
        self._is_journal_new = True

    def _count_demonstration_coins(self) -> int:
        """Return the number of coins in the simulated hoppers of a new demonstration."""
        kinds = (PROTOCOLS[device.protocol].device_kind for device in self._cabinet_file.devices.values())
        return INITIAL_COIN_COUNT * sum(kind == "hopper" for kind in kinds)

    def _create_machines_and_positions(
        self, journal: Journal, ticket_store: TicketStore | None, ledger_error: str
    ) -> None:
        """Create the machine and services of each position, connect it, and record what was found at start-up.

        If ``ticket_store`` is None, ``ledger_error`` says why the ticket ledger cannot be used.
        """
        machine_table = self._cabinet_file.machine
        first_machine = self._create_machine_of_position(
            journal, Position(position_count=machine_table.position_count)
        )
        record_clock_trust(first_machine)  # before anything is recorded with an untrusted time
        ticket_desk = self._open_ticket_desk(first_machine, ticket_store)
        if ticket_desk is not None:
            first_machine.install(ticket_desk)
        self._first_machine = first_machine
        apply_options(first_machine)
        certificate_by_game = {
            name: installed_game.certificate for name, installed_game in self._installed_games.items()
        }
        must_be_complete = self._has_real_devices and self._profile.inventory.must_be_complete
        record_inventory_change(
            first_machine,
            self._cabinet_file.inventory,
            certificate_by_game,
            must_be_complete=must_be_complete,
        )
        if self._is_journal_new and not self._has_real_devices:
            record_simulated_opening_stock(first_machine, self._count_demonstration_coins())
        recover_tickets(first_machine, ledger_error)
        if ticket_store is not None and ticket_store.repair_text:
            first_machine.post(
                TICKET_LEDGER_REPAIRED, TicketLedgerRepaired(repair=str(ticket_store.repair_text))
            )
        machines = [first_machine]
        for position_number in range(2, machine_table.position_count + 1):
            machine = self._create_machine_of_position(
                journal, Position(position_number, machine_table.position_count)
            )
            if ticket_desk is None:
                close_printed_ticket(machine)
            else:
                machine.install(ticket_desk)
            apply_options(machine)
            machines.append(machine)
        self._positions = tuple(self._open_player_position(machine) for machine in machines)
        self._first_engine, devices = self._positions[0].engine, self._positions[0].devices
        context = MachineContext(
            self._first_engine,
            self._cabinet_file,
            self._state_folder,
            self._clock,
            self._submit_machine_event,
            devices.drivers,
            print_message=self._print_message,
        )
        self._attached_services = tuple(
            (self._positions[0], service) for service in self._features.create_services(context)
        )
        for player_position in self._positions[1:]:
            position_context = replace(
                context,
                engine=player_position.engine,
                submit_event=partial(self._submit_position_event, player_position),
                devices=player_position.devices.drivers,
            )
            self._attached_services += tuple(
                (player_position, service)
                for service in self._features.create_position_services(position_context)
            )
        self._verifier = SoftwareVerifier(context)
        for player_position in self._positions:
            ready_record = MemoryReady(version=self._release, profile=self._profile.id)
            player_position.engine.submit(Event(EventType.MEMORY_READY, ready_record))
            player_position.settle_removed_devices(list_host_disabling_sources(self._cabinet_file))

    def _open_ticket_desk(
        self, first_machine: PositionMachine, ticket_store: TicketStore | None
    ) -> TicketDesk | None:
        """Return the ticket desk, which numbers and redeems tickets; None if the ticket ledger cannot be used."""
        if ticket_store is None:
            return None
        return create_ticket_desk(
            ticket_store,
            first_machine.identity,
            self._profile,
            self._clock,
            self._timekeeper,
            lambda: self._first_machine.random_service,
            self._cabinet_file.host.ticket_validator,
            is_known_to_journal=partial(is_ticket_accounted, first_machine),
        )

    def _create_machine_of_position(self, journal: Journal, position: Position) -> PositionMachine:
        """Return the machine as one player position uses it, with the journal and the installed games."""
        machine_table = self._cabinet_file.machine
        second_folder = journal.medium_folders[-1]
        machine = PositionMachine(
            identity=MachineIdentity(
                machine_table.serial,
                machine_table.operator_number,
                machine_table.venue,
                machine_table.day_ends_hour,
            ),
            journal=journal,
            storage_keys=self._features.storage_keys,
            entry_declarations=self._features.entry_declarations,
            profile=self._profile,
            games={game_id: installed_game.game for game_id, installed_game in self._installed_games.items()},
            denominations_cents={
                game_id: installed_game.denominations_cents
                for game_id, installed_game in self._installed_games.items()
            },
            clock=self._clock,
            timekeeper=self._timekeeper,
            random_service=None,
            screen_outbox=DiscardingOutbox(),
            position=position,
        )
        lowest_return_by_game = {
            game_id: installed_game.lowest_return for game_id, installed_game in self._installed_games.items()
        }
        machine.install(InstalledGames(machine.games, machine.denominations_cents, lowest_return_by_game))
        machine.install(GeneratorFactory(self._test_and_start_random_service))
        machine.install(self._features)
        machine.install(build_menu(self._features))
        machine.install(self._create_host_money())
        machine.install(self._shared_tables)
        machine.install(self._running_positions)
        machine.install(
            Roster(
                self._state_folder.roster_file,
                second_copy_path=second_folder / self._state_folder.roster_file.name,
            )
        )
        machine.install(
            combine_pools(
                installed_game.progressive_pools for installed_game in self._installed_games.values()
            )
        )
        return machine

    def _open_player_position(self, machine: PositionMachine) -> PlayerPosition:
        """Create the drivers, screen server and services of one player position."""
        player_position = PlayerPosition(
            machine,
            self._installed_games,
            self._state_folder,
            self._submit_position_event,
            self._notify_attached_services,
        )
        machine.on_entry_recorded = partial(self._schedule_update_after_entry, player_position)
        self._shared_tables.register_position(
            machine,
            partial(self._submit_position_event, player_position),
            lambda: player_position.engine.state in STATES_FOR_BETTING,
            lambda: not self._requires_screen or player_position.server.responding_screen_count > 0,
        )
        ledgers, position_number = player_position.ledgers, machine.position.number
        player_position.connect_devices(
            create_position_drivers(
                self._cabinet_file,
                self._state_folder,
                player_position.handle_device_report,
                ledgers,
                self._port_opener,
                position_number,
                currency=self._profile.currency,
            )
        )
        return player_position

    def _create_host_money(self) -> HostMoney:
        """Return the object that says which money functions (such as credit transfers) the cabinet file gives hosts."""
        host_table = self._cabinet_file.host
        return HostMoney(
            ticket_validator=host_table.ticket_validator,
            can_transfer=host_table.can_transfer,
            can_award_bonuses=host_table.can_award_bonuses,
            asset_number=host_table.asset_number,
            money_line_name=self._cabinet_file.money_host_line_name,
        )

    def _run_self_test(self) -> None:
        """Check journal, progressive levels, games and random number generator before any game is offered.

        If a check fails, take the machine out of service, with the first fault as the reason.
        """
        try:
            self._test_and_start_random_service()
        except (LocalError, RngError) as error:
            self._print_message(f"out of service: {error}")
            for player_position in self._positions:
                player_position.engine.submit(
                    Event(EventType.SELF_TEST_FAILED, FailureDetail(detail=str(error)))
                )
            return
        digest_by_game = {
            game_id: installed_game.game.digest for game_id, installed_game in self._installed_games.items()
        }
        for player_position in self._positions:
            player_position.engine.submit(
                Event(EventType.SELF_TEST_PASSED, SelfTestSuccess(games=digest_by_game))
            )

    def _test_and_start_random_service(self) -> RandomService:
        """Check journal, progressive levels and games, then start a new random service and return it.

        Raises LocalError or RngError if a check fails; then no random service is started.
        """
        self._first_machine.journal.self_audit()
        open_levels(self._first_machine)
        self._report_games(self._installed_games, self._refused_games)
        return self._replace_random_service()

    def _report_games(
        self, installed_games: Mapping[str, InstalledGame], refused_games: tuple[RefusedGame, ...]
    ) -> None:
        """Report each game that is not offered, with the reason, to the journal, the operator and the service menu.

        Raises LocalError if no game is offered.
        """
        for refusal in refused_games:
            if installed_games:
                self._print_message(f"game refused: {refusal.reason}")
            self._first_machine.post(
                GAME_REFUSED, GameRefused(game_id_or_path=refusal.game_id_or_path, reason=refusal.reason)
            )
        for game in record_conflicting_versions(
            self._first_machine, [installed_game.game for installed_game in installed_games.values()]
        ):
            self._print_message(
                f"{game.id}: this machine played another definition as version {game.version}: "
                "give this one a new game.version"
            )
        device_page_data = self._first_machine.component(ServiceDesk).device_page_data
        device_page_data.refused_games = tuple(
            (refusal.game_id_or_path, refusal.reason) for refusal in refused_games
        )
        update_cabinet_file_fault(self._first_machine, "; ".join(refusal.reason for refusal in refused_games))
        if not installed_games:
            reasons = (
                "; ".join(refusal.reason for refusal in refused_games) or "the cabinet file lists no game"
            )
            raise LocalError(f"no game may be offered: {reasons}")

    def _replace_random_service(self) -> RandomService:
        """Start a new random service, which all player positions use from now on, and return it."""
        service = self._start_random_service()
        for player_position in self._positions:
            player_position.machine.random_service = service
        return service

    def _start_random_service(self) -> RandomService:
        """Start a random service (a random number generator with its tests) for this machine and its profile."""
        return start_random_service(
            profile=self._profile,
            identity=self._first_machine.identity,
            boot_counter=int(self._first_machine.memory.get(IntegrityKey.BOOT_COUNT)),
            carry_over_file=self._state_folder.carry_over_file,
            clock=self._clock,
            on_event=partial(record_generator_event, self._first_machine),
            sources=self._entropy_sources,
            fresh_input=os.getrandom if self._entropy_sources is None else self._storage.random_bytes,  # noqa: TID251 (it feeds the random number generator)
        )

    # ------------------------------------------------------------------ running
    async def _run_until_stopped(self) -> None:
        """Run device drivers, host connections and background services together until the machine is stopped."""
        self._stop_future = asyncio.get_running_loop().create_future()
        for player_position in self._positions:
            await player_position.server.start()
        start_up_activity.write_start_up_activity(self._state_folder.start_up_file, None)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._wait_until_stopped(), name="stop")
                drivers = [
                    driver
                    for player_position in self._positions
                    for driver in player_position.devices.drivers
                ]
                for driver in drivers:
                    group.create_task(driver.run(), name=driver.name)
                for _, service in self._attached_services:
                    group.create_task(service.run(), name=service.name)
                group.create_task(self._run_background_cycling(), name="background cycling")
                if self._requires_screen:
                    screen_watch = ScreenWatch(
                        self._first_machine, self._submit_machine_event, self._count_connected_screens
                    )
                    group.create_task(screen_watch.run(), name="screens")
                group.create_task(send_watchdog_heartbeats(DriverProgressCheck(drivers)), name="heartbeat")
        finally:
            for player_position in self._positions:
                await player_position.server.close()

    def _count_connected_screens(self) -> list[int]:
        """Return the number of screens connected at each player position."""
        return [player_position.server.responding_screen_count for player_position in self._positions]

    async def _wait_until_stopped(self) -> None:
        """Wait until an error or a requested restart stops the machine; then raise that error."""
        if self._stop_future is not None:
            await self._stop_future

    def _submit_machine_event(self, event: Event) -> None:
        """Submit an event that concerns the whole machine, at its first position."""
        self._submit_position_event(self._positions[0], event)

    def _submit_position_event(self, player_position: PlayerPosition, event: Event) -> None:
        """Submit an event at a position, and update the state of the others, because they share memory with it.

        If the machine cannot execute or record the event, it stops and restarts. Events of timers that expire
        after the machine has stopped are ignored: its memory is closed.
        """
        if self._has_ended:
            return
        with self._stop_on_error():
            player_position.engine.submit(event)
            for other_position in self._positions:
                if other_position is not player_position:
                    other_position.engine.update_state()
        is_restart_requested = player_position.machine.component(ServiceDesk).is_restart_requested
        if is_restart_requested and self._stop_future is not None and not self._stop_future.done():
            self._stop_future.set_exception(RestartRequested())

    @contextlib.contextmanager
    def _stop_on_error(self) -> Iterator[None]:
        """Stop the machine if the body of the ``with`` block raises an error, and re-raise the error."""
        try:
            yield
        except Exception as error:
            if self._stop_future is not None and not self._stop_future.done():
                self._stop_future.set_exception(error)
            raise

    async def _run_background_cycling(self) -> None:
        """Draw random numbers between games, at random intervals, and discard them.

        Some jurisdictions (NJ, OK, NZ) require this background cycling.
        """
        while True:
            pause_ns = 0
            if (
                self._first_machine.random_service is not None
                and self._first_machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is None
            ):
                try:
                    pause_ns = self._first_machine.random_service.cycle()
                except RngError as error:
                    self._submit_machine_event(
                        Event(EventType.GENERATOR_FAILED, FailureDetail(detail=str(error)))
                    )
            await asyncio.sleep(pause_ns / 1e9 or _CYCLING_CHECK_INTERVAL_SECONDS)

    def _schedule_update_after_entry(self, player_position: PlayerPosition) -> None:
        """Schedule an update of a position after a journal entry, unless the entry is part of an event.

        After an event, the position is updated anyway. But drivers, hosts and links also write entries
        outside of events; without this update, screens, hosts and metrics would show outdated data.
        """
        number = player_position.machine.position.number
        if (
            self._stop_future is None
            or player_position.engine.is_busy
            or number in self._position_numbers_to_update
        ):
            return
        self._position_numbers_to_update.add(number)
        asyncio.get_running_loop().call_soon(self._send_update, player_position)

    def _send_update(self, player_position: PlayerPosition) -> None:
        """Update a position's screens and devices after journal entries that were written outside of events."""
        self._position_numbers_to_update.discard(player_position.machine.position.number)
        if not self._has_ended:
            with self._stop_on_error():
                player_position.process_change()

    def _notify_attached_services(self) -> None:
        """Notify the background services of every position, such as links, that the machine has changed."""
        if self._attached_services:
            number_by_position = {
                player_position: player_position.machine.position.number
                for player_position, _ in self._attached_services
            }
            snapshot_by_position = {
                player_position: self._running_positions.read_snapshot(number)
                for player_position, number in number_by_position.items()
            }
            for player_position, service in self._attached_services:
                service.process_change(snapshot_by_position[player_position])
