"""Play on a machine that is killed repeatedly, and store what the machine acknowledged and what really happened.

The bench is in this process and outlives every machine: the bills in its simulated box are the truth. The rig stores
every snapshot and every outcome that the machine has sent; after a restart, the machine must still know them.

The coverage does not depend on chance or on the speed of the computer. Each run has an :class:`Aim`: half of the runs
are killed while something known is in progress, however long it takes to get there. The last run continues until
everything has happened once.
"""

import asyncio
import contextlib
import os
import random
import signal
import sys
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from manager import Manager

from egm.app.bench import Bench
from egm.config.cabinet_file import StateFolder
from egm.devices.cctalk.events import read_accept_counter
from egm.kernel.messages import (
    LINE_BYTES_MAX,
    BenchCommand,
    DecisionRequest,
    GameOutcome,
    Hello,
    Intent,
    Snapshot,
    decode_message,
    encode_message,
)
from egm.money.keys import MoneyKey
from egm.unix_sockets import open_socket_address
from meters import JournalError, open_view

#: A game of the tests that wins progressive levels often, also after a choice of the player's.
LEVELS_GAME = Path(__file__).parents[1] / "vectors" / "three-levels.toml"

CABINET = f"""
[machine]
serial = "KILL-1"
operator_number = "1"
site = "rig"
profile = "generic"
[[games]]
game = "maple-classic"
[[games]]
game = "{LEVELS_GAME}"
[[progressives]]
game = "three-levels"
level = "top"
hidden = "1/700"
ceiling_bases = 2
[[progressives]]
game = "three-levels"
level = "luck"
[[progressives]]
game = "three-levels"
level = "mystery"
[devices.bill]
protocol = "id003"
[devices.printer]
protocol = "tcl"
[devices.coin]
protocol = "cctalk_coin"
[devices.io]
protocol = "ioboard"
[metrics]
port = 0
"""
#: How much faster than real devices those of the bench are.
SPEED = 40.0
BILLS = (100, 500, 1000, 2000, 5000, 10000)
#: A coin acceptor remembers five events, and loses older ones that were not polled.
UNCREDITED_COINS_MAX = 4
#: How long something that must happen may take on the slowest computer.
PATIENCE_SECONDS = 300.0
#: How long a person waits for the machine to say something before doing the next thing.
ANSWER_SECONDS = 0.1
#: Entries and states that must have occurred by the end.
KINDS = {"bill.in", "voucher.in", "voucher.out", "coin.in", "game.end", "door.opened", "progressive.hit"}
STATES = {"idle", "playing", "paying", "door_open"}


class Aim(StrEnum):
    """The moment at which a run is killed."""

    COMING_UP = "coming up"
    """In its first quarter of a second."""
    ANYWHEN = "anywhen"
    """At a random instant of its work."""
    GAME = "game"
    """As soon as the machine has sent a wager and its outcome; the screen never reports that it was shown."""
    COIN = "coin"
    """As soon as a coin has passed the acceptor, which the machine may or may not have heard of."""
    TICKET = "ticket"
    """Between the record that a ticket is being printed and the first byte to the printer; then nobody but a
    person can tell whether the ticket came out."""


#: The aims of eleven runs, which then repeat.
AIMS = (
    *(Aim.ANYWHEN, Aim.GAME, Aim.COMING_UP, Aim.TICKET, Aim.GAME, Aim.ANYWHEN),
    *(Aim.COIN, Aim.GAME, Aim.COMING_UP, Aim.ANYWHEN, Aim.GAME),
)


@dataclass
class Witness:
    """What was observed outside the machine."""

    kills: int = 0
    inserted_cents: int = 0
    interrupted: set[str] = field(default_factory=set)  # plays whose machine was killed before they ended
    snapshots: dict[int, int] = field(default_factory=dict)  # journal sequence -> credit shown
    outcomes: dict[str, tuple] = field(default_factory=dict)  # play id -> (win, display)
    resumed: set[str] = field(default_factory=set)
    states: set[str] = field(default_factory=set)
    contradictions: list[str] = field(default_factory=list)

    def record_message(self, message) -> None:
        if isinstance(message, Snapshot):
            known = self.snapshots.setdefault(message.journal_sequence, message.credit_cents)
            if known != message.credit_cents:
                self.contradictions.append(f"sequence {message.journal_sequence} showed two credits")
            self.states.add(message.state)
        elif isinstance(message, GameOutcome):
            result = (message.returned_credits, message.display)
            if self.outcomes.setdefault(message.play_id, result) != result:
                self.contradictions.append(f"{message.play_id} was shown with two outcomes")
            if message.is_resumed:
                self.resumed.add(message.play_id)


class Player:
    """One connection to one run of the machine."""

    def __init__(
        self, folder: StateFolder, witness: Witness, generator: random.Random, aim: Aim = Aim.ANYWHEN
    ) -> None:
        self.random = generator
        self.folder = folder
        self.witness = witness
        self.aim = aim
        self.snapshot: Snapshot | None = None
        self.greeted = asyncio.Event()
        self.wagered = asyncio.Event()
        self.gave_coin = False
        self.has_received = asyncio.Event()
        self._writer: asyncio.StreamWriter | None = None

    async def attend(self) -> None:
        """Connect, and receive messages until the machine has ended."""
        while True:
            with contextlib.suppress(OSError):
                with open_socket_address(self.folder.screen_socket) as address:
                    reader, writer = await asyncio.open_unix_connection(address, limit=LINE_BYTES_MAX)
                writer.write(encode_message(Hello(token=self.folder.screen_token.read_text())))
                self._writer = writer
                with contextlib.suppress(ConnectionError):
                    while line := await reader.readline():
                        if not line.endswith(b"\n"):
                            break  # the machine died in the middle of a word
                        self._hear(decode_message(line))
                writer.close()
            await asyncio.sleep(0.002)

    def _hear(self, message) -> None:
        self.has_received.set()
        self.witness.record_message(message)
        if isinstance(message, Snapshot):
            self.snapshot = message
            self.greeted.set()
        elif isinstance(message, GameOutcome) and self.aim is Aim.GAME and not message.is_resumed:
            self.witness.interrupted.add(message.play_id)
            self.wagered.set()
        elif isinstance(message, GameOutcome):
            seconds = self.random.choice((0.0, 0.0, 0.005, 0.05))
            asyncio.get_running_loop().call_later(seconds, self.send_intent, "shown", message.play_id)
        elif isinstance(message, DecisionRequest):
            self.send_intent("choose", self.random.choice(message.options))

    def send_intent(self, name: str, value=None, **options) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(encode_message(Intent(name=name, value=value, options=options or None)))

    async def wait_for_answer(self) -> None:
        """Wait a short time for a message of the machine, as a person would; there may be none.

        Otherwise a machine on a loaded computer would only process old requests and door events.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                await self.has_received.wait()


@contextlib.contextmanager
def _watched(pid: int):
    """Yield a future that is done when the process has ended, even though another task reaps the process."""
    loop, file = asyncio.get_running_loop(), os.pidfd_open(pid)
    ended = loop.create_future()
    loop.add_reader(file, lambda: ended.done() or ended.set_result(None))
    try:
        yield ended
    finally:
        loop.remove_reader(file)
        os.close(file)


class Rig:
    """The bench, the nursery process, and the function that kills the machine."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.folder = StateFolder(root / "state")
        self.folder.create_private_folders()
        self.cabinet = root / "cabinet.toml"
        self.cabinet.write_text(CABINET)
        self.log = root / "machine.log"
        self.random = random.Random(seed)
        self.witness = Witness()
        self.manager = Manager(self.folder, lambda on: self._operate("io", "key", name="operator", on=on))
        twins = {"bill": "id003", "printer": "tcl", "coin": "cctalk_coin", "io": "ioboard"}
        self.bench = Bench(self.folder.root, twins, speed=SPEED)
        # The acceptor has no time limit: it would return the paper while a killed machine starts on a busy computer
        # (tests/contract/test_bill_faults.py).
        self.bench.simulated_devices["bill"].escrow_seconds = None
        # The return of a paper is not shortened either. It would take 12 ms, less than two polls of a loaded machine,
        # and if no poll has seen where a paper went, staff must decide.
        self.bench.simulated_devices["bill"].return_seconds *= SPEED

    async def campaign(self, kills: int) -> None:
        """Run and kill the machine ``kills`` times, then run it once until everything is settled."""
        await self.begin()
        try:
            for life in range(kills):
                await self._run_once(AIMS[life % len(AIMS)])
                self.witness.kills += 1
            await self._run_until_settled()
        finally:
            await self.end()

    async def begin(self) -> None:
        """Start the devices and the nursery process."""
        await self.bench.start()
        self.nursery = await asyncio.create_subprocess_exec(
            sys.executable,
            str(Path(__file__).with_name("nursery.py")),
            str(self.folder.root),
            str(self.cabinet),
            str(self.log),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )

    async def end(self) -> None:
        """Stop the nursery process and the devices."""
        self.nursery.stdin.close()
        await self.nursery.wait()
        await self.bench.stop()

    async def _ask(self, line: str) -> int:
        self.nursery.stdin.write(f"{line}\n".encode())
        return int(await self.nursery.stdout.readline())

    async def _run_once(self, aim: Aim) -> None:
        """Run until the aim is reached, and kill the machine."""
        pid = await self._ask("start ticket" if aim is Aim.TICKET else "start")
        player = Player(self.folder, self.witness, self.random, aim)
        tasks = [asyncio.create_task(work) for work in (player.attend(), self._act_at_random(player))]
        with _watched(pid) as ended:
            end = asyncio.create_task(self._wait_for_aim(aim, player, ended))
            await asyncio.wait((end, ended, *tasks), timeout=PATIENCE_SECONDS, return_when="FIRST_COMPLETED")
        self._end(pid)
        status = await self._ask(f"reap {pid}")
        self._prepare_next_run()
        failed = [task for task in tasks if task.done()]
        for task in (*tasks, end):
            task.cancel()
        for task in failed:
            task.result()
        if status != -signal.SIGKILL:
            raise AssertionError(f"the machine ended by itself with status {status}\n{self.read_last_log()}")
        if not end.done():
            raise AssertionError(f"life {self.witness.kills}: never came to {aim}: {player.snapshot}")
        await end

    def _end(self, pid: int) -> None:
        """Kill the machine."""
        os.kill(pid, signal.SIGKILL)

    def _prepare_next_run(self) -> None:
        """Act between two runs of the machine."""

    async def _wait_for_aim(self, aim: Aim, player: Player, ended: asyncio.Future[None]) -> None:
        """Wait for the moment at which this run is to be killed."""
        loop = asyncio.get_running_loop()
        born = loop.time()
        if aim is Aim.COMING_UP:
            await asyncio.sleep(self.random.uniform(0.0, 0.25))
        elif aim is Aim.GAME:
            await player.wagered.wait()
            await asyncio.sleep(self.random.choice((0.0, self.random.uniform(0.0, 0.02))))
        elif aim is Aim.COIN:
            await player.greeted.wait()
            before = self.coin_state()["accepted_coins"]
            while self.coin_state()["accepted_coins"] == before:
                if not player.gave_coin:
                    self._insert_coin(player)
                await asyncio.sleep(0.002)
            await asyncio.sleep(self.random.uniform(0.0, 0.04))
        elif aim is Aim.TICKET:
            await asyncio.shield(
                ended
            )  # the nursery kills the machine, because only the machine knows the moment
        else:
            await player.greeted.wait()
            # On a loaded computer a run is longer, so that as much happens in it.
            slowness = min(8.0, max(1.0, (loop.time() - born) / 0.3))
            await asyncio.sleep(self.random.uniform(0.0, 0.5) * slowness)

    async def _act_at_random(self, player: Player) -> None:
        """Act at random like players and staff."""
        while True:
            await asyncio.sleep(self.random.uniform(0.0, 0.008))
            player.has_received.clear()
            if not self._manage(player):
                self._act(player)
            if player.snapshot is not None:
                await player.wait_for_answer()

    def _manage(self, player: Player) -> bool:
        """Answer an open page as the manager, or go towards a ruling; return whether a page was answered."""
        answer = self.manager.answer(player.snapshot, self.tickets())
        if answer is not None:
            page, action, text = answer
            player.send_intent("answer", action, page=page, input=text)
        return answer is not None

    def _act(self, player: Player) -> None:
        """Do one random act, or nothing."""
        generator = self.random.random()
        if generator < 0.55:
            self._play(player, change=generator < 0.02)
        elif generator < 0.60:
            player.send_intent("bet", self.random.randint(1, 3))
        elif generator < 0.65:
            player.send_intent("cash_out")
        elif generator < 0.67:
            self._operate("io", "key", name="attendant", on=True)
            self._operate("io", "key", name="attendant", on=False)
        elif generator < 0.68:
            self._operate("io", "door", name="main", open=True)
        elif generator < 0.73:
            self._operate("io", "door", name="main", open=False)
        elif generator < 0.76 and player.aim is not Aim.COIN and not player.gave_coin:
            self._insert_coin(player)
        elif generator < 0.82:
            if papers := self.tickets():
                self._operate("bill", "insert_ticket", barcode=self.random.choice(papers))
        elif generator < 0.93:
            bill = self.random.choice(BILLS)
            if self._operate("bill", "insert", amount_cents=bill):
                self.witness.inserted_cents += bill

    def _play(self, player: Player, *, change: bool) -> None:
        """Play, and sometimes change the game first; coins are only accepted between games."""
        if player.aim is Aim.COIN:
            return
        if change:
            player.send_intent("game", self.random.choice(("maple-classic", "three-levels")))
        player.send_intent("play")

    def _insert_coin(self, player: Player) -> None:
        """Insert a coin if the acceptor is idle and can still remember it."""
        takes = self.coin_state()["status"] == "idle"
        if takes and self._count_uncredited_coins() < UNCREDITED_COINS_MAX:
            player.gave_coin = True
            self._operate("coin", "insert", amount_cents=self.random.choice((25, 100, 200)))

    def _count_uncredited_coins(self) -> int:
        """Return how many accepted coins the journal lacks; the maximum while the journal is recovered."""
        try:
            with open_view(self.folder.root) as view:
                position = view.state(MoneyKey.LAST_COIN_EVENT)
        except JournalError:
            return UNCREDITED_COINS_MAX
        return self.coin_state()["accepted_coins"] - read_accept_counter(position)

    def _list_journal_kinds(self) -> set[str]:
        """Return the kinds of entries in the journal; none while the journal is being created."""
        with contextlib.suppress(JournalError), open_view(self.folder.root) as view:
            return set(view.list_kinds())
        return set()

    def _operate(self, device: str, action: str, **values) -> bool:
        return self.bench.execute_command(BenchCommand(device=device, action=action, values=values)).ok

    async def _run_until_settled(self) -> None:
        """Run once without a kill until the doors are closed, everything is paid and the acceptor is empty.

        The run first continues until everything has happened at least once.
        """
        pid = await self._ask("start")
        player = Player(self.folder, self.witness, self.random)
        attending = asyncio.create_task(player.attend())
        busy = asyncio.create_task(self._act_at_random(player))
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not (self._list_journal_kinds() >= KINDS and self.witness.states >= STATES):  # noqa: ASYNC110
                    await asyncio.sleep(0.2)
            busy.cancel()
            await self._settle(player)
        except BaseException:
            self._end(pid)  # it holds the nursery's pipe, for whose end the rig waits
            raise
        finally:
            busy.cancel()
        os.kill(pid, signal.SIGTERM)
        self.last_status = await self._ask(f"reap {pid}")
        attending.cancel()

    async def _settle(self, player: Player) -> None:
        """Close the door, have everything paid out, and wait until nothing has happened for a while."""
        self._operate("io", "door", name="main", open=False)
        quiet = 0
        async with asyncio.timeout(PATIENCE_SECONDS):
            while quiet < 20:
                await asyncio.sleep(0.02)
                now = player.snapshot
                if now is None:
                    continue
                if now.state == "idle" and now.credit_cents == 0 and "idle" in str(self.bill_state()):
                    quiet += 1
                    continue
                quiet = 0
                player.has_received.clear()
                if self._manage(player):
                    pass
                elif now.state == "idle":
                    player.send_intent("cash_out")
                elif now.state in {"handpay", "tilt"}:
                    self._operate("io", "key", name="attendant", on=True)
                    self._operate("io", "key", name="attendant", on=False)
                await player.wait_for_answer()

    def read_last_log(self) -> str:
        """Return the end of what the machines have printed."""
        return self.log.read_text()[-4000:] if self.log.exists() else ""

    def tickets(self) -> list[str]:
        """Return the bar codes of all completely printed tickets, redeemed ones too."""
        printed = self.bench.simulated_devices["printer"].describe()["printed"]
        return [paper["barcode"] for paper in printed if paper["barcode_complete"]]

    def coin_state(self) -> dict:
        return self.bench.simulated_devices["coin"].describe()

    def bill_state(self) -> dict:
        return self.bench.simulated_devices["bill"].describe()
