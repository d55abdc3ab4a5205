"""The machine process: opens the memory, tests itself, then lets devices, people and time reach the engine.

It owns money, chance and devices, and no pixel. Start-up is in order and each step must succeed before the
next: memory, games, chance, self-test; only then does it speak to anything outside (NY 5319.54(d)).
"""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, Final

from egm.cabinet import play
from egm.cabinet.attached import attach
from egm.cabinet.attachments import Attachment, Surroundings
from egm.cabinet.cabinet import Cabinet, Identity, Key, Occurrence
from egm.cabinet.chance import keep_carry_over, start_chance
from egm.cabinet.engine import Engine
from egm.cabinet.host import HostMoney
from egm.cabinet.identities import IdentityRegister
from egm.cabinet.inventory import note_inventory
from egm.cabinet.ledgers import ledgers_of
from egm.cabinet.options import apply_options
from egm.cabinet.ports import Ports, build_ports
from egm.cabinet.prizes import remembered
from egm.cabinet.progressives import open_levels
from egm.cabinet.residents import Refusal, Resident, admit
from egm.cabinet.software import Verifier
from egm.cabinet.states import Event
from egm.cabinet.tickets import open_desk, recover
from egm.cabinet.value_in import bills_wanted, coins_wanted, tickets_wanted
from egm.cabinet.view import game_view, snapshot
from egm.cabinet.wiring import bell, lamps, occurrences, tested, tower, wish
from egm.clock import Clock
from egm.config import CabinetFile, StateFolder
from egm.devices.interface import DeviceEvent
from egm.devices.line import Opener, open_port
from egm.errors import LocalError, RestartAsked
from egm.link.messages import Decision, Hello, Intent, Message, Play, Snapshot
from egm.link.private import make_token
from egm.link.server import ScreenServer
from egm.people import Roster
from egm.profiles import load_profile
from egm.progressive.pools import all_pools
from egm.tickets.store import TicketStore
from meters import Journal, Policy
from rng import EntropySource, RandomService, RngError

_VERSION: Final = version("open-egm")
#: A screen that never says it has shown the outcome is not waited for longer than this.
_SHOW_SECONDS_MAX: Final = 60.0
#: How long an interrupted game waits for the screen to come back.
_RETURN_SECONDS_MAX: Final = 10.0
#: How often a generator that is not to be cycled is looked at again.
_IDLE_SECONDS: Final = 5.0


class Machine:
    """One machine on one event loop; :meth:`run` ends when cancelled, or with the error that stopped it."""

    def __init__(
        self,
        folder: StateFolder,
        cabinet_file: CabinetFile,
        clock: Clock,
        *,
        opener: Opener = open_port,
        sources: Sequence[EntropySource] | None = None,
    ) -> None:
        """``opener`` opens the devices' ports; ``sources``: entropy, or all that this computer has."""
        self._folder = folder
        self._file = cabinet_file
        self._clock = clock
        self._opener = opener
        self._sources = sources
        self._profile = load_profile(cabinet_file.machine.profile)
        self._shown: Snapshot | None = None
        self._show_timer: asyncio.TimerHandle | None = None
        self._showing = ""
        self._show_began_ns = 0
        self._stopped: asyncio.Future[None] | None = None
        self._over = False
        self._attachments: tuple[Attachment, ...] = ()

    async def run(self) -> None:
        """Come up, and work until cancelled."""
        with contextlib.ExitStack() as cleanup:
            journal = cleanup.enter_context(self._open_journal())
            self._residents, self._refused = admit(
                self._file.games, self._profile, self._file.progressives, remembered(journal)
            )
            self._assemble(journal, cleanup.enter_context(TicketStore.open(self._folder.root)))
            self._verifier.at_start()
            identities = IdentityRegister.open(self._folder.root)
            self._cabinet.identities = cleanup.enter_context(contextlib.closing(identities))
            self._self_test()
            try:
                await self._work()
            finally:
                self._over = True
                if self._cabinet.chance is not None:
                    keep_carry_over(self._folder.carry_over, self._cabinet.chance)

    # ------------------------------------------------------------------ coming up
    def _open_journal(self) -> Journal:
        rules = self._profile.journal
        return Journal.open(
            self._folder.root,
            now=self._clock.now,
            second_dir=self._file.memory.second_copy,
            machine_id=self._file.machine.serial,
            policy=Policy(
                checkpoint_every=rules.checkpoint_every, increment_max_cents=rules.increment_limits_cents
            ),
        )

    def _assemble(self, journal: Journal, store: TicketStore) -> None:
        machine = self._file.machine
        self._cabinet = Cabinet(
            identity=Identity(machine.serial, machine.operator_number, machine.house),
            journal=journal,
            profile=self._profile,
            games={game_id: resident.game for game_id, resident in self._residents.items()},
            denominations_cents={
                game_id: resident.denominations_cents for game_id, resident in self._residents.items()
            },
            returns={game_id: resident.least_return for game_id, resident in self._residents.items()},
            clock=self._clock,
            chance=None,
            restart_chance=self._start_chance,
            outbox=self,
            host=self._host_money(),
            staff=Roster(self._folder.staff),
            pools=all_pools(resident.pools for resident in self._residents.values()),
        )
        self._cabinet.desk = open_desk(
            store,
            self._cabinet.identity,
            self._profile,
            self._clock,
            lambda: self._cabinet.chance,
            self._file.host.tickets,
        )
        apply_options(self._cabinet)
        note_inventory(self._cabinet, self._file.inventory)
        recover(self._cabinet)
        if store.mended:
            self._cabinet.log("tickets.mended", {"what": str(store.mended)})
        self._engine = Engine(self._cabinet, self._changed)
        self._ports: Ports = build_ports(
            self._file,
            self._folder,
            self._on_device,
            ledgers_of(self._cabinet, self._engine.handle),
            self._opener,
        )
        self._cabinet.acceptor = self._ports.acceptor
        self._cabinet.printer = self._ports.printer
        self._cabinet.hopper = self._ports.hopper
        self._cabinet.service.bench.kinds = self._ports.kinds
        self._server = ScreenServer(
            self._folder.screen_socket,
            make_token(self._folder.screen_token),
            greeting=self._greeting,
            on_intent=self._on_intent,
            on_peer_error=lambda text: self._cabinet.log("screen.refused", {"text": text}),
        )
        surroundings = Surroundings(
            self._engine, self._file, self._folder, self._clock, self._handle, self._ports.drivers
        )
        self._attachments = attach(surroundings)
        self._verifier = Verifier(surroundings)
        self._engine.handle(Event.MEMORY_READY, version=_VERSION, profile=self._profile.id)

    def _host_money(self) -> HostMoney:
        host = self._file.host
        return HostMoney(
            validation=host.tickets,
            transfers=host.transfers,
            bonuses=host.bonuses,
            asset_number=host.asset_number,
            line=self._file.money_line,
        )

    def _self_test(self) -> None:
        """What must be right before a game is offered; the first thing wrong is the reason given."""
        try:
            self._cabinet.journal.self_audit()
            open_levels(self._cabinet)
            self._report_games(self._residents, self._refused)
            self._cabinet.chance = self._start_chance()
        except (LocalError, RngError) as error:
            self._engine.handle(Event.SELF_TEST_FAILED, detail=str(error))
            return
        self._engine.handle(
            Event.SELF_TEST_PASSED,
            games={game_id: resident.game.digest for game_id, resident in self._residents.items()},
        )

    def _report_games(self, residents: Mapping[str, Resident], refused: tuple[Refusal, ...]) -> None:
        for refusal in refused:
            self._cabinet.log("game.refused", {"game": refusal.game, "reason": refusal.reason})
        if not residents:
            reasons = "; ".join(refusal.reason for refusal in refused) or "the cabinet file names none"
            raise LocalError(f"no game may be offered: {reasons}")

    def _start_chance(self) -> RandomService:
        return start_chance(
            profile=self._profile,
            identity=self._cabinet.identity,
            boots=int(self._cabinet.recall(Key.BOOTS)),
            carry_over_file=self._folder.carry_over,
            clock=self._clock,
            on_event=lambda code, story: self._cabinet.log(f"chance.{code}", story),
            sources=self._sources,
        )

    # ------------------------------------------------------------------ working
    async def _work(self) -> None:
        self._stopped = asyncio.get_running_loop().create_future()
        await self._server.start()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._until_stopped(), name="stopped")
                for driver in self._ports.drivers:
                    group.create_task(driver.run(), name=driver.name)
                for attachment in self._attachments:
                    group.create_task(attachment.run(), name=attachment.name)
                group.create_task(self._cycle_chance(), name="chance")
        finally:
            await self._server.close()

    async def _until_stopped(self) -> None:
        if self._stopped is not None:
            await self._stopped

    def _handle(self, occurrence: Occurrence) -> None:
        """Let something happen. A machine that cannot do or remember it stops, and starts again.

        Timers that end after the machine has are not heard: its memory is closed.
        """
        if self._over:
            return
        try:
            self._engine.handle(occurrence.event, **occurrence.values)
        except Exception as error:
            if self._stopped is not None and not self._stopped.done():
                self._stopped.set_exception(error)
            raise
        if self._cabinet.service.restart and self._stopped is not None and not self._stopped.done():
            self._stopped.set_exception(RestartAsked())

    async def _cycle_chance(self) -> None:
        """Background cycling between games, at intervals the generator draws itself (NJ, OK, NZ)."""
        while True:
            pause_ns = 0
            if self._cabinet.chance is not None and self._cabinet.recall(Key.OUT_OF_SERVICE) is None:
                try:
                    pause_ns = self._cabinet.chance.cycle()
                except RngError as error:
                    self._handle(Occurrence(Event.CHANCE_FAILED, {"detail": str(error)}))
            await asyncio.sleep(pause_ns / 1e9 or _IDLE_SECONDS)

    def _on_device(self, event: DeviceEvent) -> None:
        self._cabinet.service.bench.hear(event)
        for occurrence in occurrences(event, self._ports.kinds[event.device], self._cabinet.doors_open):
            self._handle(occurrence)
        if self._cabinet.service.is_open:  # its pages show what devices report
            self._changed()

    def _on_intent(self, intent: Intent) -> None:
        occurrence = wish(intent)
        if occurrence.event is Event.SHOWN:
            self._shown_by_screen(occurrence.values.get("value"))
        else:
            self._handle(occurrence)

    # ------------------------------------------------------------------ the screen
    def show(self, message: Play | Decision) -> None:
        """Tell the screens. An outcome ends when one says so, at once without any, or after a limit."""
        self._server.send(message)
        if isinstance(message, Play):
            self._showing, self._show_began_ns = message.play_id, self._clock.monotonic_ns()
            self._show_for(self._patience_seconds(message), message.play_id)

    def _patience_seconds(self, message: Play) -> float:
        """How long to wait for a screen to say that it has shown an outcome."""
        if self._server.audience:
            return _SHOW_SECONDS_MAX
        # After a restart the screen is on its way back, and the player has yet to see how his game ended.
        return _RETURN_SECONDS_MAX if message.resumed else self._game_seconds()

    def _shown_by_screen(self, play_id: Any) -> None:
        if play_id != self._showing:  # late news of an earlier game: this one is still being shown
            return
        elapsed = (self._clock.monotonic_ns() - self._show_began_ns) / 1e9
        self._show_for(max(0.0, self._game_seconds() - elapsed), play_id)

    def _show_for(self, seconds: float, play_id: Any) -> None:
        if self._show_timer is not None:
            self._show_timer.cancel()
        self._show_timer = asyncio.get_running_loop().call_later(
            seconds, lambda: self._handle(Occurrence(Event.SHOWN, {"value": play_id}))
        )

    def _game_seconds(self) -> float:
        return self._profile.play.game_time_ms / 1000

    def _greeting(self) -> tuple[Message, ...]:
        offered = self._cabinet.denominations_cents
        games = tuple(
            game_view(replace(self._residents[game_id], denominations_cents=offered[game_id]))
            for game_id in self._cabinet.games
        )
        open_game = play.message(self._cabinet, resumed=True)
        return (Hello(games=games), self._snapshot(), *([] if open_game is None else [open_game]))

    def _snapshot(self) -> Snapshot:
        return snapshot(self._engine, fingerprint=self._cabinet.journal.fingerprint)

    def _changed(self) -> None:
        """Something has happened: make screen, deck, acceptor and metrics true again."""
        now = self._snapshot()
        self._server.send(now)
        self._settle_devices(now)
        for attachment in self._attachments:
            attachment.changed(now)

    def _settle_devices(self, now: Snapshot) -> None:
        if self._ports.acceptor is not None:
            taking = self._cabinet.service.bench.taking
            value_in = frozenset(self._profile.value_in.bills_cents)
            wanted = value_in if taking else bills_wanted(self._cabinet, self._engine.state)
            if wanted:
                barcodes = taking or tickets_wanted(self._cabinet, self._engine.state)
                self._ports.acceptor.enable(wanted, barcodes=barcodes)
            else:
                self._ports.acceptor.disable()
        if self._ports.coin_acceptor is not None:
            self._ports.coin_acceptor.enable(coins_wanted(self._cabinet, self._engine.state))
        if self._ports.io_board is not None:
            lit = self._cabinet.service.bench.outputs  # a test's, while there is one
            self._ports.io_board.lamps(tested(lit, "lamp") if lit else lamps(now))
            self._ports.io_board.tower(tested(lit, "tower") if lit else tower(now))
            self._ports.io_board.bell(on="bell" in lit or bell(now))
