"""Plays on a machine that is killed again and again; remembers what it was told and what is true.

The bench lives here and outlives every machine: the bills in its twin's box are the physical truth. Every
snapshot and every outcome the machine showed is kept: what it acknowledged, it must still know.
"""

import asyncio
import contextlib
import os
import random
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

from egm.config import StateFolder
from egm.devices.bench import Bench
from egm.link.messages import (
    LINE_BYTES_MAX,
    BenchCommand,
    Decision,
    Hello,
    Intent,
    Play,
    Snapshot,
    decode,
    encode,
)

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
BILLS = (100, 500, 1000, 2000, 5000, 10000)


def texts(paper) -> list[str]:
    """Every text on a printed ticket, however the printer keeps it."""
    if isinstance(paper, str):
        return [paper]
    parts = paper.values() if isinstance(paper, dict) else paper if isinstance(paper, list | tuple) else ()
    return [text for part in parts for text in texts(part)]


@dataclass
class Witness:
    """What the outside world saw."""

    kills: int = 0
    inserted_cents: int = 0
    coins_unseen: int = 0  # given since the machine last said that it had one
    snapshots: dict[int, int] = field(default_factory=dict)  # journal sequence -> credit shown
    outcomes: dict[str, tuple] = field(default_factory=dict)  # play id -> (win, display)
    resumed: set[str] = field(default_factory=set)
    states: set[str] = field(default_factory=set)
    contradictions: list[str] = field(default_factory=list)

    def sees(self, message) -> None:
        if isinstance(message, Snapshot):
            known = self.snapshots.setdefault(message.journal_sequence, message.credit_cents)
            if known != message.credit_cents:
                self.contradictions.append(f"sequence {message.journal_sequence} showed two credits")
            self.states.add(message.state)
        elif isinstance(message, Play):
            said = (message.win_credits, message.display)
            if self.outcomes.setdefault(message.play_id, said) != said:
                self.contradictions.append(f"{message.play_id} was shown with two outcomes")
            if message.resumed:
                self.resumed.add(message.play_id)


class Player:
    """One connection to one life of the machine."""

    def __init__(self, folder: StateFolder, witness: Witness, chance: random.Random) -> None:
        self.random = chance
        self.folder = folder
        self.witness = witness
        self.snapshot: Snapshot | None = None
        self.greeted = asyncio.Event()
        self.gave_coin = False
        self._writer: asyncio.StreamWriter | None = None

    async def attend(self) -> None:
        """Connect, and watch until the machine is gone."""
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_unix_connection(
                    self.folder.screen_socket, limit=LINE_BYTES_MAX
                )
                writer.write(encode(Hello(token=self.folder.screen_token.read_text())))
                self._writer = writer
                with contextlib.suppress(ConnectionError):
                    while line := await reader.readline():
                        if not line.endswith(b"\n"):
                            break  # the machine died in the middle of a word
                        self._hear(decode(line))
                writer.close()
            await asyncio.sleep(0.002)

    def _hear(self, message) -> None:
        if isinstance(message, Snapshot) and any(n.code == "coins_accepted" for n in message.notices):
            self.witness.coins_unseen = 0
        self.witness.sees(message)
        if isinstance(message, Snapshot):
            self.snapshot = message
            self.greeted.set()
        elif isinstance(message, Play):
            seconds = self.random.choice((0.0, 0.0, 0.005, 0.05))
            asyncio.get_running_loop().call_later(seconds, self.wish, "shown", message.play_id)
        elif isinstance(message, Decision):
            self.wish("choose", self.random.choice(message.options))

    def wish(self, name: str, value=None) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(encode(Intent(name=name, value=value)))


class Rig:
    """The bench, the nursery and the hand that kills."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.folder = StateFolder(root / "state")
        self.folder.prepare()
        self.cabinet = root / "cabinet.toml"
        self.cabinet.write_text(CABINET)
        self.log = root / "machine.log"
        self.random = random.Random(seed)
        self.witness = Witness()
        twins = {"bill": "id003", "printer": "tcl", "coin": "cctalk_coin", "io": "ioboard"}
        self.bench = Bench(self.folder.root, twins, speed=40.0)
        # Its patience is not sped up: at forty times the speed, a computer busy for a moment would be a machine
        # that slept for ten seconds while papers changed places (tests/contract/test_bill_faults.py has that).
        self.bench.twins["bill"].escrow_seconds = None

    async def campaign(self, kills: int) -> None:
        """Live and be killed ``kills`` times, then live once to the end and come to rest."""
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
        try:
            for _ in range(kills):
                await self._one_life()
                self.witness.kills += 1
            await self._rest()
        finally:
            self.nursery.stdin.close()
            await self.nursery.wait()
            await self.bench.stop()

    async def _ask(self, line: str) -> int:
        self.nursery.stdin.write(f"{line}\n".encode())
        return int(await self.nursery.stdout.readline())

    async def _one_life(self) -> None:
        """One in five dies while coming up, the others at work, at a random instant."""
        loop = asyncio.get_running_loop()
        born = loop.time()
        pid = await self._ask("start")
        player = Player(self.folder, self.witness, self.random)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(player.attend()), group.create_task(self._busy(player))]
            if self.random.random() < 0.2:
                await asyncio.sleep(self.random.uniform(0.0, 0.25))
            else:
                await player.greeted.wait()
                # A life is as long as what can happen in it: a loaded computer gives longer ones.
                slowness = min(8.0, max(1.0, (loop.time() - born) / 0.3))
                await asyncio.sleep(self.random.uniform(0.0, 0.5) * slowness)
            os.kill(pid, signal.SIGKILL)
            status = await self._ask(f"reap {pid}")
            if status != -signal.SIGKILL:
                self.witness.contradictions.append(f"the machine ended by itself with status {status}")
            for task in tasks:
                task.cancel()

    async def _busy(self, player: Player) -> None:
        """Do what people do, without pause or sense."""
        while True:
            await asyncio.sleep(self.random.uniform(0.0, 0.008))
            chance = self.random.random()
            if chance < 0.55:
                self._play(player, change=chance < 0.02)
            elif chance < 0.60:
                player.wish("bet", self.random.randint(1, 3))
            elif chance < 0.65:
                player.wish("cash_out")
            elif chance < 0.67:
                self._hand("io", "key", name="attendant", on=True)
                self._hand("io", "key", name="attendant", on=False)
            elif chance < 0.68:
                self._hand("io", "door", name="main", open=True)
            elif chance < 0.73:
                self._hand("io", "door", name="main", open=False)
            elif chance < 0.76:
                self._coin(player)
            elif chance < 0.82:
                if papers := self.tickets():
                    self._hand("bill", "insert_ticket", barcode=self.random.choice(papers))
            elif chance < 0.93:
                bill = self.random.choice(BILLS)
                if self._hand("bill", "insert", amount_cents=bill):
                    self.witness.inserted_cents += bill

    def _play(self, player: Player, *, change: bool) -> None:
        """Play on, now and then at the other game."""
        if change:
            player.wish("game", self.random.choice(("maple-classic", "three-levels")))
        player.wish("play")

    def _coin(self, player: Player) -> None:
        """One coin a life, and no fifth unseen: an acceptor remembers five events, and loses what was never polled."""
        idle = player.snapshot is not None and player.snapshot.state == "idle"
        if idle and not player.gave_coin and self.witness.coins_unseen < 4:
            player.gave_coin = True
            self.witness.coins_unseen += 1
            self._hand("coin", "insert", amount_cents=self.random.choice((25, 100, 200)))

    def _hand(self, device: str, action: str, **values) -> bool:
        return self.bench.obey(BenchCommand(device=device, action=action, values=values)).ok

    async def _rest(self) -> None:
        """One life that ends in peace: doors closed, everything paid out, nothing in the acceptor."""
        pid = await self._ask("start")
        player = Player(self.folder, self.witness, self.random)
        attending = asyncio.create_task(player.attend())
        self._hand("io", "door", name="main", open=False)
        quiet = 0
        async with asyncio.timeout(120):
            while quiet < 20:
                await asyncio.sleep(0.02)
                now = player.snapshot
                if now is None:
                    continue
                if now.state == "idle" and now.credit_cents == 0 and "idle" in str(self.bill_state()):
                    quiet += 1
                    continue
                quiet = 0
                if now.state == "idle":
                    player.wish("cash_out")
                elif now.state in {"handpay", "tilt"}:
                    self._hand("io", "key", name="attendant", on=True)
                    self._hand("io", "key", name="attendant", on=False)
        os.kill(pid, signal.SIGTERM)
        self.last_status = await self._ask(f"reap {pid}")
        attending.cancel()

    def tickets(self) -> list[str]:
        """The bar codes of all tickets that ever came out of the printer whole, redeemed ones too."""
        printed = self.bench.twins["printer"].describe()["printed"]
        return [
            field
            for paper in printed
            if paper["barcode_complete"]
            for field in texts(paper)
            if len(field) == 18 and field.isdigit()
        ]

    def coin_state(self) -> dict:
        return self.bench.twins["coin"].describe()

    def bill_state(self) -> dict:
        return self.bench.twins["bill"].describe()
