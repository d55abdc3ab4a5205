"""A machine without its process: the real engine, journal, games and random number generator, with simulated ports.

:class:`MachineRig` is what most tests of features use. Devices are operated through the real drivers' ledgers. Time is
a clock that advances only on request. The random bytes are the same in every run.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final, Self

from egm.app.features import FEATURES, build_menu
from egm.app.removed_devices import settle_removed_devices_and_hosts
from egm.config.cabinet_file import GameTable
from egm.config.levels import ProgressiveLevelTable
from egm.devices.interface import Banknote, Barcode, MoneyDevices, PrintState, TicketJob
from egm.gaming_day import UTC_GAMING_DAY, GamingDay
from egm.host.desk_creation import create_ticket_desk
from egm.host.ticket_recovery import recover_tickets
from egm.integrity.clock_trust import record_clock_trust
from egm.integrity.lockups import GeneratorFactory
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import Event, EventType, State
from egm.kernel.feature import Features
from egm.kernel.games import InstalledGames
from egm.kernel.machine import MachineIdentity, PositionMachine, encode_value
from egm.kernel.positions import Position
from egm.kernel.timekeeping import create_timekeeper
from egm.money.device_ledgers import DeviceLedgers, create_ledgers
from egm.money.events import BillEscrowed, TicketEscrowed
from egm.money.host_money import HostMoney
from egm.money.ticket_ledger import is_ticket_accounted, open_ticket_store
from egm.people import Person, Role, Roster
from egm.play.events import OutcomeShown
from egm.play.installed_games import InstalledGame
from egm.play.keys import PlayKey
from egm.profiles import load_profile
from egm.progressive.game_levels import open_levels
from egm.progressive.pools import combine_pools
from egm.staff.identities import IdentityRegister
from egm.staff.options import apply_options
from egm.testing.admission import admit_games_cached
from egm.tickets.model import Venue
from egm.tickets.store import TicketStore
from meters import Journal, JournalPolicy, Phase, Transaction, Transfer
from meters.copies import SECOND_FOLDER
from meters.storage import DiskStorage, Storage, StorageFile
from rng import (
    KernelSource,
    OutOfService,
    Personalization,
    RandomService,
    ReseedNotAllowed,
    ReseedPolicy,
)
from rng.draws import Draw
from rng.self_test import run_self_test

#: The game of test machines that name no other.
DEFAULT_GAME_ID = "maple-classic"
#: Small log segments: tests create thousands of machines, and each preallocates a segment on both media.
_POLICY: Final = JournalPolicy(segment_size_bytes=1 << 18)
#: The device kind of each device that a test may give a machine.
_DEVICE_KIND_BY_NAME: Final = {"printer": "ticket_printer", "hopper": "hopper"}
#: One person per role, by staff number, without PINs, for tests that need no sign-in.
ROSTER_WITHOUT_PINS = Roster(
    person_by_staff_number={str(n): Person(str(n), role.value, role) for n, role in enumerate(Role, 1)}
)


class StoppedClock:
    """A clock that advances only when a test advances it."""

    def __init__(self) -> None:
        self.wall = datetime(2026, 1, 1, tzinfo=UTC)
        self.ns = 0

    def now(self) -> datetime:
        """Return the time of day at which a test has set this clock."""
        return self.wall

    def monotonic_ns(self) -> int:
        """Return the nanoseconds since the clock was created."""
        return self.ns

    def pass_seconds(self, seconds: float) -> None:
        """Advance wall clock and monotonic clock."""
        self.wall += timedelta(seconds=seconds)
        self.ns += int(seconds * 1e9)


class RepeatableStorage(DiskStorage):
    """The disk of a test machine: it gives the same random bytes for the same seed, and syncs without threads."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._request_count = 0
        """How often random bytes were requested."""

    def random_bytes(self, count: int) -> bytes:
        """Return the next bytes of this seed's sequence."""
        self._request_count += 1
        return hashlib.shake_256(f"{self._seed} {self._request_count}".encode()).digest(count)

    def sync_together(self, files: Sequence[StorageFile]) -> None:
        """Sync the files one after the other, because in a test starting threads takes longer than the syncs."""
        for file in files:
            file.sync()


class ScriptedStep:
    """Substitute for one step of the random number generator: it returns numbers that a test has chosen."""

    def __init__(self, values: list[int]) -> None:
        self._values = values
        self.draws: list[Draw] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def below(self, bound: int, purpose: str = "") -> int:
        """Return the next number of the script."""
        value = self._values.pop(0)
        assert 0 <= value < bound
        self.draws.append(Draw(bound, value, purpose))
        return value


class ScriptedGenerator:
    """Substitute for the random number generator that returns the numbers which a test has chosen."""

    def __init__(self, *values: int) -> None:
        self.values = list(values)

    def step(self) -> ScriptedStep:
        """Return a step that continues with the next numbers of the script."""
        return ScriptedStep(self.values)

    def reseed(self, reason: str) -> None:
        """Raise an error, as with a profile that forbids reseeding."""
        raise ReseedNotAllowed(reason)


class GeneratorOutOfService:
    """Substitute for a random number generator that is out of service."""

    def step(self) -> ScriptedStep:
        """Raise OutOfService instead of returning a step."""
        raise OutOfService("planted")

    def reseed(self, reason: str) -> None:  # noqa: ARG002 (signature of the generator)
        """Raise OutOfService instead of reseeding."""
        raise OutOfService("planted")


class GeneratorFailingDuringStep(GeneratorOutOfService):
    """Substitute for a random number generator that fails during a step."""

    def step(self) -> ScriptedStep:
        """Return a step whose first draw fails."""
        return _StepFailingAtFirstDraw([])


class _StepFailingAtFirstDraw(ScriptedStep):
    """A scripted step whose generator is out of service at the first draw."""

    def below(self, bound: int, purpose: str = "") -> int:  # noqa: ARG002 (signature of a step)
        """Raise OutOfService, as a generator that fails at its first draw does."""
        raise OutOfService("planted")


class OrderRecorder:
    """Test double of the devices and the screen: it records the orders and messages that the machine sends.

    Stack and print orders are also written to the device ledgers, as the real drivers do.
    """

    def __init__(self) -> None:
        self.messages: list[object] = []
        self.orders: list[tuple[str, int]] = []
        self.device_ledgers: DeviceLedgers | None = None
        self.offered: dict[int, Banknote | Barcode] = {}
        self.jobs: list[TicketJob] = []
        self.payouts: list[tuple[str, int]] = []

    def send_message(self, message: object) -> None:
        """Record a message that the machine sends to the screen."""
        self.messages.append(message)

    def stack(self, escrow_number: int) -> None:
        """Record an order to stack the bill or ticket in escrow, in the escrow ledger too, as the driver would."""
        self.orders.append(("stack", escrow_number))
        assert self.device_ledgers is not None
        self.device_ledgers.escrow_ledger.reserve_credit_before_stacking(self.offered[escrow_number], 0)

    def return_paper(self, escrow_number: int) -> None:
        """Record an order to return the bill or ticket in escrow."""
        self.orders.append(("return", escrow_number))

    def hold_in_escrow(self, escrow_number: int) -> None:
        """Record an order to hold the bill or ticket in escrow."""
        self.orders.append(("hold", escrow_number))

    def print_ticket(self, job: TicketJob) -> None:
        """Record an order to print a ticket, in the print ledger too, as the driver would."""
        assert self.device_ledgers is not None
        self.jobs.append(job)
        self.device_ledgers.print_ledger.open_print_job(job)

    def pay(self, payout_id: str, coins: int) -> None:
        """Record an order to pay coins."""
        self.payouts.append((payout_id, coins))


class RepeatableEntropySource(KernelSource):
    """Entropy source with the same bytes in every run, so that no test fails by chance."""

    _source_count_by_test: Final[Counter[str]] = Counter()
    """The number of sources created in a test so far, so that each source gives different bytes."""

    def __init__(self) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" (")[0]
        self._source_count_by_test[test] += 1
        self._name = f"{test} {self._source_count_by_test[test]}"
        self._request_count = 0

    def read_samples(self, count: int) -> bytes:
        """Return ``count`` bytes that this source has not returned before."""
        self._request_count += 1
        return hashlib.shake_256(f"{self._name} {self._request_count}".encode()).digest(count)


class _GeneratorTestedOnce(RandomService):
    """The random number generator, with only one start-up self-test in a process.

    The self-test has fixed inputs, so a second run shows nothing more; without this class, it would take an eighth of
    the time of creating a test machine.
    """

    _run_start_up_self_test = staticmethod(cache(run_self_test))


def create_generator() -> RandomService:
    """Return the real random number generator, with repeatable entropy and a stopped clock."""
    personalization = Personalization(
        product="test", version="1", machine_serial="TEST-1", instance=1, boot_counter=1
    )
    policy = ReseedPolicy(fresh_input_each_request=False)
    return _GeneratorTestedOnce.start(
        personalization=personalization, sources=[RepeatableEntropySource()], policy=policy, clock=lambda: 0
    )


class PowerCutError(Exception):
    """Simulated power cut, raised before a journal entry is written."""


#: Machines created by a test; those left running are closed after it (see tests/conftest.py).
OPENED_RIGS: list["MachineRig"] = []
#: Storages created by a test so far: each has random bytes of its own, the same in every run.
_created_storage_count = 0


def restart_random_bytes() -> None:
    """Restart the sequence of random bytes, so that each test's first machine gets the same bytes."""
    global _created_storage_count  # noqa: PLW0603 (one counter for each process)
    _created_storage_count = 0


def _create_storage(folder: Path) -> RepeatableStorage:
    """Return the disk of the next test machine, with its memory in ``folder``."""
    global _created_storage_count  # noqa: PLW0603 (as above)
    _created_storage_count += 1
    return RepeatableStorage(f"{_created_storage_count} {folder.name}")


class MachineRig:
    """A test machine on one state folder; a second one on the same folder simulates a restart."""

    def __init__(
        self,
        folder: Path,
        *,
        profile: str | Path = "generic",
        generator: Any = None,
        games: tuple[str, ...] = (DEFAULT_GAME_ID,),
        devices: tuple[str, ...] = (),
        host: HostMoney | None = None,
        levels: tuple[ProgressiveLevelTable, ...] = (),
        position: Position | None = None,
        first_rig: "MachineRig | None" = None,
        denominations_cents: tuple[int, ...] = (),
        storage: Storage | None = None,
        wall_time: datetime | None = None,
        gaming_day: GamingDay = UTC_GAMING_DAY,
        acceptor: bool = True,
        disabling_sources: tuple[str, ...] = ("host:main", "progressive"),
        features: Features = FEATURES,
    ) -> None:
        """Create the machine in state BOOT; :meth:`boot` starts it.

        * ``generator``: a substitute for the random number generator.
        * ``games``: the ids of the games, all offered at ``denominations_cents``.
        * ``devices``: which of ``printer`` and ``hopper`` the cabinet has.
        * ``host``: the host through which money moves.
        * ``levels``: the progressive levels.
        * ``position``: the player position.
        * ``first_rig``: the rig of position 1; this rig shares its journal, clock and ticket store.
        * ``storage``: the medium of the journal, if not the folder's own.
        * ``wall_time``: the date and time on the machine's clock.
        * ``gaming_day``: the venue's gaming day.
        * ``acceptor``: whether the machine has a bill acceptor.
        * ``disabling_sources``: the hosts and links of the cabinet file that may disable the machine.
        * ``features``: the machine's features.
        """
        self.first_rig = first_rig
        self.clock: StoppedClock = StoppedClock() if first_rig is None else first_rig.clock
        if wall_time is not None:
            self.clock.wall = wall_time
        self.hands = OrderRecorder()
        self.profile = load_profile(profile)
        game_tables = tuple(
            GameTable(game=game_id_or_path, denominations_cents=denominations_cents)
            for game_id_or_path in games
        )
        installed_games, self.refused_games = admit_games_cached(game_tables, self.profile, levels)
        self.journal: Journal = (
            Journal.open(
                folder, now=self.clock.now, storage=storage or _create_storage(folder), policy=_POLICY
            )
            if first_rig is None
            else first_rig.journal
        )
        self.is_open = True
        self.next_generators: list[Any] = []
        self.machine: PositionMachine = PositionMachine(
            identity=MachineIdentity(
                "TEST-1",
                "7",
                Venue(site="test", licence_holder="nobody", time_zone=gaming_day.time_zone),
                gaming_day.ends_hour,
            ),
            journal=self.journal,
            storage_keys=features.storage_keys,
            entry_declarations=features.entry_declarations,
            profile=self.profile,
            games={game_id: installed_game.game for game_id, installed_game in installed_games.items()},
            denominations_cents={
                game_id: installed_game.denominations_cents
                for game_id, installed_game in installed_games.items()
            },
            clock=self.clock,
            timekeeper=create_timekeeper(self.journal, self.clock)
            if first_rig is None
            else first_rig.machine.timekeeper,
            random_service=create_generator() if generator is None else generator,
            screen_outbox=self.hands,
            position=position or Position(),
        )
        self.machine.install(features)
        self.machine.install(build_menu(features))
        self._install(installed_games, host, (*devices, "acceptor") if acceptor else devices)
        self.ticket_store: TicketStore | None = None if first_rig is None else first_rig.ticket_store
        self._open_ticket_store_and_identities(folder)
        self.device_kinds = {"coin_acceptor", *(_DEVICE_KIND_BY_NAME[device] for device in devices)}
        self.device_kinds |= {"bill_acceptor"} if acceptor else set()
        self.disabling_sources = disabling_sources
        self.change_count = 0
        self.engine = StateMachineEngine(self.machine, features.state_table, self._count_change)
        self.device_ledgers = create_ledgers(self.machine, self.engine.handle)
        self.escrow_ledger = self.device_ledgers.escrow_ledger
        self.hands.device_ledgers = self.device_ledgers
        self._escrow_number = 0
        OPENED_RIGS.append(self)

    def _install(
        self, installed_games: Mapping[str, InstalledGame], host: HostMoney | None, devices: tuple[str, ...]
    ) -> None:
        """Install the components that the machine's features need at start-up, such as games, host and devices."""
        order_recorder: Any = self.hands
        lowest_return_by_game = {
            game_id: installed_game.lowest_return for game_id, installed_game in installed_games.items()
        }
        for component in (
            combine_pools(installed_game.progressive_pools for installed_game in installed_games.values()),
            host or HostMoney(),
            ROSTER_WITHOUT_PINS,
            GeneratorFactory(self._take_next_generator),
            InstalledGames(self.machine.games, self.machine.denominations_cents, lowest_return_by_game),
            MoneyDevices(**dict.fromkeys(devices, order_recorder)),
        ):
            self.machine.install(component)

    def _open_ticket_store_and_identities(self, folder: Path) -> None:
        """Open the ticket store and the register of identities, and complete what the last run left open in them.

        As the machine's process does, also record whether the clock is trusted, and apply the operator's options. Both
        are done before the tickets are recovered, because the recovery depends on them.
        """
        ledger_error = ""
        if self.first_rig is None:
            self.ticket_store, ledger_error = open_ticket_store(self.journal, folder, folder / SECOND_FOLDER)
        if self.ticket_store is not None:
            self.machine.install(
                create_ticket_desk(
                    self.ticket_store,
                    self.machine.identity,
                    self.profile,
                    self.clock,
                    self.machine.timekeeper,
                    lambda: self.machine.random_service,
                    self.machine.component(HostMoney).ticket_validator,
                    is_known_to_journal=lambda record: is_ticket_accounted(self.machine, record),
                )
            )
        record_clock_trust(self.machine)
        apply_options(self.machine)
        recover_tickets(self.machine, ledger_error)
        if self.first_rig is None:
            self.machine.install(IdentityRegister.open(folder, folder / SECOND_FOLDER))
        else:
            self.machine.install(self.first_rig.machine.component(IdentityRegister))

    def _count_change(self) -> None:
        """Count one event that the engine has processed, with all events that followed from it."""
        self.change_count += 1

    def _take_next_generator(self) -> RandomService:
        """Return the next generator that the test has prepared for a restart; if it is an error, raise it."""
        next_generator = self.next_generators.pop(0)
        if isinstance(next_generator, Exception):
            raise next_generator
        generator: RandomService = next_generator
        return generator

    # ------------------------------------------------------------------ actions
    def boot(self) -> "MachineRig":
        """Start as the machine's process does, to the end of the self-test."""
        self.engine.handle(EventType.MEMORY_READY)
        settle_removed_devices_and_hosts(
            self.machine, self.device_ledgers, self.engine.submit, self.device_kinds, self.disabling_sources
        )
        open_levels(self.machine)
        self.engine.handle(EventType.SELF_TEST_PASSED)
        return self

    def submit_event(self, event: Event) -> None:
        """Submit an event to the machine's engine, as a driver or a host connection does."""
        self.engine.submit(event)

    def offer(self, amount_cents: int) -> None:
        """Report a bill of this amount in escrow; the machine has not decided about it yet."""
        self._escrow_number += 1
        self.hands.offered[self._escrow_number] = Banknote(amount_cents)
        self.engine.submit(
            Event(
                EventType.BILL_ESCROWED,
                BillEscrowed(escrow_number=self._escrow_number, amount_cents=amount_cents),
            )
        )

    def insert(self, amount_cents: int) -> "MachineRig":
        """Insert a bill and let the acceptor stack it, so that its amount is credited."""
        self.offer(amount_cents)
        assert self.hands.orders[-1][0] == "stack", f"{amount_cents} was not taken: {self.machine.notice}"
        self.escrow_ledger.credit_stacked_paper()
        self.escrow_ledger.close_confirmed_paper()
        return self

    def offer_ticket(self, digits: str) -> None:
        """Report a ticket with these digits in escrow; the machine has not decided about it yet."""
        self._escrow_number += 1
        self.hands.offered[self._escrow_number] = Barcode(digits)
        self.engine.submit(
            Event(EventType.TICKET_ESCROWED, TicketEscrowed(escrow_number=self._escrow_number, digits=digits))
        )

    def report_print_state(self, state: PrintState, detail: str = "") -> None:
        """Report that the ticket being printed has reached ``state``, as the printer's driver does."""
        record = self.device_ledgers.print_ledger.find_open()
        assert record is not None
        self.device_ledgers.print_ledger.record_print_state(record.job.job_id, state, detail)

    def cash_out_ticket(self) -> str:
        """Cash out by ticket; return the ticket's number."""
        self.engine.handle(EventType.CASH_OUT)
        for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
            self.report_print_state(state)
        return self.hands.jobs[-1].barcode

    def play(self) -> None:
        """Press the PLAY button."""
        self.engine.handle(EventType.PLAY)

    def report_shown(self) -> None:
        """Report to the machine that the screen has shown the game's outcome."""
        game = self.machine.memory.get(PlayKey.GAME) or self.machine.memory.get(PlayKey.TOURNAMENT_GAME)
        self.engine.submit(
            Event(EventType.OUTCOME_SHOWN, OutcomeShown(play_id=None if game is None else game["play_id"]))
        )

    def cut_power_after(self, entry_count: int) -> None:
        """Let the next ``entry_count`` journal entries become durable; simulate a power cut at the one after them."""
        append_transaction, remaining_entries = self.journal.append, iter(range(entry_count))

        def append_or_fail(transaction: Transaction) -> Any:
            """Append the transaction; raise PowerCutError instead once the given number of entries is durable."""
            if next(remaining_entries, None) is None:
                raise PowerCutError(transaction.id)
            return append_transaction(transaction)

        self.journal.append = append_or_fail  # type: ignore[method-assign]

    def close(self) -> None:
        """Switch the machine off and close its journal; do nothing for a further position, which shares it."""
        if self.is_open and self.first_rig is None:
            self.journal.close()
            self._close_files()

    def lose_power(self) -> None:
        """Stop the machine as a power loss does, without closing the journal; release its other files."""
        self._close_files()

    def _close_files(self) -> None:
        """Close the machine's files outside the journal, and remove this rig from the list of opened rigs."""
        self.is_open = False
        if self.ticket_store is not None:
            self.ticket_store.close()
        register = self.machine.find_installed(IdentityRegister)
        if register is not None:
            register.close()
        OPENED_RIGS[:] = (rig for rig in OPENED_RIGS if rig is not self)

    # ------------------------------------------------------------------ observations
    @property
    def state(self) -> State:
        """Return the engine's state."""
        return self.engine.state

    @property
    def credit_cents(self) -> int:
        """Return the player's credit, in minor units."""
        return self.machine.credit_cents

    @property
    def notice(self) -> str | None:
        """Return the code of the notice on the screen, or None."""
        return None if self.machine.notice is None else self.machine.notice.code

    def records(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the records of every journal entry of a kind."""
        return [entry.record for entry in self.journal.entries(kind)]  # type: ignore[misc]


def write_undeclared_entry(
    machine: PositionMachine,
    kind: str,
    *,
    transaction_id: str | None = None,
    phase: Phase = Phase.POST,
    ref: str | None = None,
    transfers: tuple[Transfer, ...] = (),
    counts: Mapping[str, int] | None = None,
    state: Mapping[str, object] | None = None,
    details: object = None,
) -> None:
    """Append a journal entry without checking it against a declaration; ``details`` becomes its record.

    Tests use it for entries of earlier versions and for forged ones.
    """
    machine.append(
        Transaction(
            id=transaction_id or machine.fresh_id(kind),
            kind=kind,
            phase=phase,
            ref=ref,
            transfers=transfers,
            counts=dict(counts or {}),
            dims=machine.position.meter_dimensions,
            state=machine.encode_state(state or {}),
            record=encode_value(details),
        )
    )
