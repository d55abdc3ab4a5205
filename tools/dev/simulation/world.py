"""World of a simulation: one cabinet with its media and devices, its power, and hands on all of it."""

import asyncio
import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

from egm.app.features import FEATURES
from egm.app.first_start.wizard import run_first_start
from egm.app.process import MachineProcess
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.devices.catalogue import PROTOCOLS
from egm.devices.line import Handle, LineLostError, LineSettings
from egm.devices.twin import ActionError, Twin
from egm.errors import RestartAsked
from egm.kernel.feature import Features
from egm.kernel.service_pages import Words
from egm.kernel.services import Attachment, MachineContext, Make
from egm.links.monitoring import create_exporter
from egm.links.sas.attachment import create_sas_lines
from egm.links.sas.reader import Readings
from egm.people import Person, Role, Roster
from egm.people.pins import PinDigest
from egm.profiles import load_profile
from egm.progressive.attachment import ProgressiveLink
from egm.progressive.mqtt import create_progressive_link
from egm.staff.words import say_local, say_plain
from egm.testing.cable import Cable
from egm.testing.forgetful import ForgetfulStorage, Medium
from egm.testing.jumping_loop import BEGINNING, LoopClock
from egm.testing.sas import HostWire, LoopLine
from egm.tickets.model import mask_number
from meters import open_view
from meters.copies import SECOND_FOLDER
from meters.lock import FILE_NAME
from meters.recall import read_details
from tools.dev.host.host import Host
from tools.dev.simulation.boxes import Boxes
from tools.dev.simulation.clears import Clears
from tools.dev.simulation.house import House
from tools.dev.simulation.link import FloorLink
from tools.dev.simulation.upkeep import sign

#: PINs by staff number: the manager, the second person that some forms need, and the technician.
STAFF: Final = {"1001": "730194", "1002": "582601", "1003": "914327"}
ROLES: Final = {"1001": "manager", "1002": "manager", "1003": "technician"}
#: Cost of a PIN's digest here: it is nobody's secret.
_PIN_COST: Final = 2


class _SeededSource:
    """The generator's only source of entropy: the seed."""

    name = "simulation"
    entropy_bits = Fraction(8)
    claim = "none: it is a seed, and must repeat"

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def samples(self, count: int) -> bytes:
        """``count`` bytes."""
        return self._dice.randbytes(count)


class World:
    """See the module. Use on a :class:`~egm.testing.jumping_loop.JumpingLoop`."""

    def __init__(self, root: Path, house: House, seed: int) -> None:
        self.house = house
        self.folder = StateFolder(root / "state")
        self.folder.prepare()
        self.cabinet = house.write(root)
        self._seed = root / "cabinet.seed.toml"
        self.file = load_cabinet(self.cabinet)
        self._machine_table = self.file.machine
        self.profile = load_profile(self.file.machine.profile)
        dice = random.Random(seed)  # noqa: S311 (it must repeat)
        self._dice = dice
        self._locks = {self.folder.root / FILE_NAME, self.folder.root / SECOND_FOLDER / FILE_NAME}
        salts = random.Random(dice.randbytes(8))  # noqa: S311
        self._digest = partial(PinDigest.of, cost=_PIN_COST, random_bytes=salts.randbytes)
        self._prepare_first_start()
        self._source = _SeededSource(random.Random(dice.randbytes(8)))  # noqa: S311
        self.medium = Medium(random.Random(dice.randbytes(8)))  # noqa: S311
        self.medium.gone = self._power_gone
        self.random_bytes = random.Random(dice.randbytes(8)).randbytes  # noqa: S311
        self.cables: dict[str, Cable] = {}
        self.twins: dict[str, Twin[Any]] = {}
        for name, device in self.file.devices.items():
            protocol = PROTOCOLS[device.protocol]
            self.cables[name] = Cable(character_seconds=protocol.line.character_seconds)
            self.twins[name] = protocol.twin(name, self.cables[name])
            self.twins[name].currency = self.profile.currency
        self._features = Features(
            replace(feature, services=tuple(self._without_threads(feature.services)))
            for feature in FEATURES.all
        )
        self.bank = Host(self.send) if house.host else None
        self._wire: HostWire | None = None
        self.link: FloorLink | None = None
        if house.link:
            clock = LoopClock(asyncio.get_running_loop())
            source = _SeededSource(random.Random(dice.randbytes(8)))  # noqa: S311
            self.link = FloorLink(root, random.Random(dice.randbytes(8)), clock.now, source)  # noqa: S311
        self.bad_messages = 0
        """How many of the next messages of the host, or of their answers, may be lost."""
        self.rulings_needed: dict[int, str] = {}
        """By position, the line of the service menu that leads to a ruling it waits for."""
        self.errands: Sequence[str] = ()
        """The lines of forms that the staff fills in one after the other; without any they look around."""
        self._machine: asyncio.Task[None] | None = None
        self.is_on = False
        self.release = 1
        self.file_before = ""
        """The cabinet file before the last update."""
        self.clears = Clears()
        self.boxes = Boxes(self._boxes)
        self.work: Callable[[], None] | None = None
        """What persons do to the machine when it is off next."""
        self.lives = self.cuts = self.restarts = 0

    def _prepare_first_start(self) -> None:
        """Enrol the staff and sign the cabinet file, or leave both to the first start on the screen."""
        text = self.cabinet.read_text(encoding="utf-8")
        if self.house.start == "asked":
            self._seed.write_text(self.house.seed(self.cabinet), encoding="utf-8")
            self.cabinet.unlink()
            return
        for number, pin in STAFF.items():
            person = Person(number, f"Simulation {number}", Role(ROLES[number]))
            Roster.load(self.folder.staff).with_person(person, self._digest(pin), by="", at=BEGINNING)
        if self.house.start == "signed":
            sign(self.folder.root, text, BEGINNING)

    # ------------------------------------------------------------ power
    def start(self) -> None:
        """Switch the machine on. Its devices keep what they have."""
        self.boxes.power_gone()
        self.is_on = True
        for name, twin in self.twins.items():
            self.cables[name].plug()
            twin.begin()
        self._machine = asyncio.ensure_future(self._live())

    async def _live(self) -> None:
        """Run the machine, and again whenever its staff has it start anew."""
        while self.is_on:
            self.lives += 1
            if not self.cabinet.exists():
                await run_first_start(
                    self.folder,
                    self.cabinet,
                    self._seed,
                    LoopClock(asyncio.get_running_loop()),
                    list,
                    self._seed.with_name("stick"),
                    self._digest,
                )
            self.file = load_cabinet(self.cabinet)
            storage = ForgetfulStorage(self.medium, self.random_bytes)
            machine = MachineProcess(
                self.folder,
                self.file,
                LoopClock(asyncio.get_running_loop()),
                opener=self._open,
                sources=(self._source,),
                features=self._features,
                storage=storage,
                release=f"simulation-{self.release}",
            )
            try:
                await machine.run()
            except* RestartAsked:
                self.restarts += 1
            finally:
                storage.leave()

    def cut_after(self, operations: int) -> None:
        """Cut the power after the given number of operations of the medium."""
        self.medium.cut_at = self.medium.operations + operations

    def _power_gone(self) -> None:
        """Discard everything that the dying process still sends; bytes already on the lines may arrive."""
        self.is_on = False
        self.cuts += 1
        for cable in self.cables.values():
            if cable.is_plugged_in and self._dice.random() < 0.5:
                cable.deliver_sent_data()
            cable.unplug()
        if self.link is not None:
            self.link.cut()
        if self._machine is not None:
            self._machine.cancel()

    async def stop(self, *, cut: bool = False) -> None:
        """Switch the machine off, or cut its power; the media are then what they hold.

        Raises what had ended the machine before, if anything but the power had.
        """
        machine, self._machine = self._machine, None
        if cut:
            self.medium.cut()
        was_cut, self.is_on = self.medium.dead, False
        if machine is not None:
            machine.cancel()
            if was_cut:
                await asyncio.wait((machine,))
                machine.cancelled() or machine.exception()
            else:
                with suppress(asyncio.CancelledError):
                    await machine
        self.recover_media()

    def recover_media(self) -> bool:
        """Close what a process left open and restore the media; return whether the power had gone."""
        was_cut = self.medium.dead
        self._let_go()
        self.medium.restore()
        return was_cut

    @property
    def is_work_due(self) -> bool:
        """Whether persons have switched the machine off, or are about to, to work on it."""
        return self.work is not None and self.medium.cut_at is None

    def do_work(self) -> None:
        """Have persons do what they came for, the machine being off."""
        work, self.work = self.work, None
        if work is not None:
            work()

    def put_file_back(self) -> None:
        """Put back the cabinet file as it was before the last update."""
        self.cabinet.write_text(self.file_before, encoding="utf-8")

    def now(self) -> datetime:
        """Return the current time, UTC."""
        return LoopClock(asyncio.get_running_loop()).now()

    def _let_go(self) -> None:
        """Close the locks a dying process has left, as the end of a real one does."""
        for held in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                if held.readlink() in self._locks:
                    os.close(int(held.name))

    def failure(self) -> BaseException | None:
        """Return what ended the machine, or None if it was the power cut or is still running."""
        if self._machine is None or self.medium.dead or not self._machine.done():
            return None
        if self._machine.cancelled():
            return RuntimeError("the machine was cancelled")
        return self._machine.exception() or RuntimeError("the machine ended by itself")

    def put_away(self) -> None:
        """Stop every device, for good."""
        for twin in self.twins.values():
            twin.halt()
        if self.link is not None:
            self.link.close()

    # ------------------------------------------------------------ the host
    def _without_threads(self, services: Iterable[Make]) -> Iterator[Make]:
        """No server for monitoring, and a host's line on the loop."""
        for each in services:
            if each is create_sas_lines:
                yield self._lines
            elif each is create_progressive_link:
                yield self._linked
            elif each is not create_exporter:
                yield each

    def _lines(self, context: MachineContext) -> Iterator[Attachment]:
        readings = Readings(context.engine.machine.journal)
        for name, settings in context.file.sas.items():
            line = LoopLine(context, name, settings, readings)
            self._wire = HostWire(line, context.clock)
            yield line

    def _linked(self, context: MachineContext) -> Iterator[Attachment]:
        if self.link is not None:
            yield ProgressiveLink(context, self.link)

    def send(self, message: bytes) -> bytes:
        """One message of the host's, and what it hears of the answer."""
        wire = self._wire
        if not self.is_on or wire is None or not isinstance(wire.line, LoopLine) or not wire.line.served:
            return b""
        lost = ""
        if self.bad_messages:
            self.bad_messages -= 1
            lost = self._dice.choice(("request", "answer", ""))
        wire.tick()
        answer = b"" if lost == "request" else wire.send(message)
        return answer if self.is_on and not lost else b""

    # ------------------------------------------------------------ devices
    def hand(self, device: str, action: str, **values: int | str | bool) -> bool:
        """Act on a device; return False if there is no such device or the act is impossible now."""
        if device not in self.twins or (action == "plug" and not self.is_on):
            return False
        try:
            self.twins[device].act(action, values)
        except ActionError:
            return False
        return True

    def say(self, device: str) -> Mapping[str, Any]:
        """Return a device's description of itself."""
        return self.twins[device].describe()

    def of_kind(self, kind: str) -> dict[int, str]:
        """Return the names of the devices of a kind, by position."""
        return {
            device.position: name
            for name, device in self.file.devices.items()
            if PROTOCOLS[device.protocol].kind == kind
        }

    def _boxes(self) -> Mapping[str, int] | None:
        """Return the contents of the boxes of all positions, or None while a paper or a coin is moving."""
        bills = [self.say(name) for name in self.of_kind("bill_acceptor").values()]
        coins = [self.say(name) for name in self.of_kind("coin_acceptor").values()]
        if any(said["status"] not in {"idle", "disabled"} for said in bills):
            return None
        return {
            "bill_box": sum(said["stacked_cents"] for said in bills),
            "coin_box": sum(said["drop_cents"] for said in coins),
        }

    @property
    def first_choices(self) -> tuple[Words, ...]:
        """Return the choices for a first start where it shows a list: the jurisdiction and its time zone."""
        return (say_local(load_profile(self.house.place).title), say_plain("UTC"))

    @property
    def first_answers(self) -> Mapping[str, str]:
        """Return the text typed at a first start, by the name of the field."""
        machine = self._machine_table
        names = ("serial", "operator_number", "site", "address", "licence_holder")
        return {name: str(getattr(machine, name)) for name in names}

    @property
    def today(self) -> str:
        """The date as a form asks for it."""
        return f"{self.now():%Y%m%d}"

    def papers(self) -> list[str]:
        """Return the numbers of the last complete tickets printed at each position."""
        printers = self.of_kind("ticket_printer")
        return [
            paper["barcode"]
            for position in sorted(printers)
            for paper in self.say(printers[position])["printed"][-8:]
            if paper["barcode_complete"] and paper["barcode"]
        ]

    def is_on_paper(self, position: int, dispute: str) -> bool:
        """Whether the printer of a position has put out a whole ticket with the number of a dispute.

        The number is masked in the journal, so it is compared with the papers' numbers masked alike.
        """
        with open_view(self.folder.root) as view:
            records = [read_details(entry) for entry in view.entries("ticket.disputed")]
        masked = {str(record["number"]) for record in records if record["id"] == dispute}
        papers = self.say(self.of_kind("ticket_printer")[position])["printed"]
        return any(paper["barcode_complete"] and mask_number(paper["barcode"]) in masked for paper in papers)

    def _open(self, path: str, settings: LineSettings) -> Handle:
        if not self.is_on:
            raise LineLostError(path, "the power is gone")
        return self.cables[Path(path).name].open(path, settings)
