"""Run one simulated cabinet with its media, devices, power supply, host and staff."""

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
from egm.devices.line import LineLostError, LineSettings, SerialHandle
from egm.devices.protocols import PROTOCOLS
from egm.devices.twin import ActionError, Twin
from egm.errors import RestartRequested
from egm.kernel.feature import Features
from egm.kernel.service_pages import PageText
from egm.kernel.services import BackgroundService, MachineContext, ServiceFactory
from egm.links.monitoring import create_metrics_service
from egm.links.sas.line_service import create_sas_line_services
from egm.links.sas.readout_builder import MeterReadingCache
from egm.people import Person, Role, Roster
from egm.people.pins import PinDigest
from egm.profiles import load_profile
from egm.progressive.link_service import ProgressiveLinkService
from egm.progressive.mqtt import create_progressive_link_service
from egm.staff.page_texts import build_multilingual_text, build_plain_text
from egm.testing.cable import LossyCable
from egm.testing.forgetful import ForgetfulStorage, SimulatedMedium
from egm.testing.jumping_loop import SIMULATION_START_TIME, LoopClock
from egm.testing.sas import HostWire, LoopLine
from egm.tickets.model import mask_number
from meters import open_view
from meters.copies import SECOND_FOLDER
from meters.errors import JournalError
from meters.lock import MACHINE_LOCK_FILE_NAME
from meters.recall import read_details
from tools.dev.host.host import Host
from tools.dev.simulation.boxes import BoxContents
from tools.dev.simulation.cabinet_file_work import sign_cabinet_file
from tools.dev.simulation.cabinet_setup import CabinetSetup
from tools.dev.simulation.clears import MemoryClears
from tools.dev.simulation.link import FloorLink

#: PINs by staff number: the manager, the second person that some forms need, and the technician.
PIN_BY_STAFF_NUMBER: Final = {"1001": "730194", "1002": "582601", "1003": "914327"}
ROLE_BY_STAFF_NUMBER: Final = {"1001": "manager", "1002": "manager", "1003": "technician"}
#: Cost of a PIN's digest. It is low because the PINs are not secret.
_PIN_DIGEST_COST: Final = 2


class _SeededSource:
    """The only entropy source of a simulated machine; its bytes come from the seed."""

    name = "simulation"
    entropy_bits = Fraction(8)
    claim_basis = "none: it is a seed, and must repeat"

    def __init__(self, random_source: random.Random) -> None:
        self._random_source = random_source

    def read_samples(self, count: int) -> bytes:
        """Return ``count`` bytes that the seed determines."""
        return self._random_source.randbytes(count)


class SimulatedWorld:
    """One simulated cabinet with its surroundings. Use it on a :class:`~egm.testing.jumping_loop.JumpingLoop`."""

    def __init__(self, root: Path, setup: CabinetSetup, seed: int) -> None:
        self.setup = setup
        self.folder = StateFolder(root / "state")
        self.folder.create_private_folders()
        self.cabinet = setup.write_cabinet_file(root)
        self._seed = root / "cabinet.seed.toml"
        self.file = load_cabinet(self.cabinet)
        self._machine_table = self.file.machine
        self.profile = load_profile(self.file.machine.profile)
        random_source = random.Random(seed)  # noqa: S311 (the sequence must be repeatable)
        self._random_source = random_source
        self._locks = {
            self.folder.root / MACHINE_LOCK_FILE_NAME,
            self.folder.root / SECOND_FOLDER / MACHINE_LOCK_FILE_NAME,
        }
        salts = random.Random(random_source.randbytes(8))  # noqa: S311
        self._digest = partial(PinDigest.from_pin, cost=_PIN_DIGEST_COST, random_bytes=salts.randbytes)
        self._prepare_first_start()
        self._source = _SeededSource(random.Random(random_source.randbytes(8)))  # noqa: S311
        self.medium = SimulatedMedium(random.Random(random_source.randbytes(8)))  # noqa: S311
        self.medium.on_power_loss = self._handle_power_loss
        self.random_bytes = random.Random(random_source.randbytes(8)).randbytes  # noqa: S311
        self.cables: dict[str, LossyCable] = {}
        self.twins: dict[str, Twin[Any]] = {}
        for name, device in self.file.devices.items():
            protocol = PROTOCOLS[device.protocol]
            self.cables[name] = LossyCable(character_seconds=protocol.line_settings.character_seconds)
            self.twins[name] = protocol.create_twin(name, self.cables[name])
            self.twins[name].currency = self.profile.currency
        self._features = Features(
            replace(
                feature, service_factories=tuple(self._replace_threaded_services(feature.service_factories))
            )
            for feature in FEATURES.features
        )
        self.host = Host(self.exchange_with_host) if setup.host else None
        self._wire: HostWire | None = None
        self.link: FloorLink | None = None
        if setup.link:
            clock = LoopClock(asyncio.get_running_loop())
            source = _SeededSource(random.Random(random_source.randbytes(8)))  # noqa: S311
            self.link = FloorLink(root, random.Random(random_source.randbytes(8)), clock.now, source)  # noqa: S311
        self.lossy_messages = 0
        """The number of next host messages of which the message or its reply may be lost."""
        self.rulings_needed: dict[int, str] = {}
        """The line of the service menu that leads to the ruling for which a position waits, by position."""
        self.requested_forms: Sequence[str] = ()
        """The menu lines of the forms that the staff fill in next, in order; if empty, they open any page."""
        self._machine: asyncio.Task[None] | None = None
        self.is_on = False
        self.release = 1
        self.previous_file = ""
        """The text of the cabinet file before the last update."""
        self.clears = MemoryClears()
        self.boxes = BoxContents(self._read_boxes)
        self.pending_work: Callable[[], None] | None = None
        """Work to do on the machine the next time it is off, or None."""
        self.runs = self.cuts = self.restarts = 0

    def _prepare_first_start(self) -> None:
        """Enrol the staff and sign the cabinet file, unless the first start on the screen does this."""
        text = self.cabinet.read_text(encoding="utf-8")
        if self.setup.start == "asked":
            self._seed.write_text(self.setup.format_first_start_seed(self.cabinet), encoding="utf-8")
            self.cabinet.unlink()
            return
        for number, pin in PIN_BY_STAFF_NUMBER.items():
            person = Person(number, f"Simulation {number}", Role(ROLE_BY_STAFF_NUMBER[number]))
            Roster.load(self.folder.roster_file).enrol_person(
                person, self._digest(pin), changed_by="", changed_at=SIMULATION_START_TIME
            )
        if self.setup.start == "signed":
            sign_cabinet_file(self.folder.root, text, SIMULATION_START_TIME)

    # ------------------------------------------------------------ power
    def start(self) -> None:
        """Switch the machine on. The contents of its devices remain."""
        self.boxes.handle_power_loss()
        self.is_on = True
        for name, twin in self.twins.items():
            self.cables[name].plug()
            twin.start_autonomous_behaviour()
        self._machine = asyncio.ensure_future(self._run_machine())

    async def _run_machine(self) -> None:
        """Run the machine, and start it again whenever the staff restart it."""
        while self.is_on:
            self.runs += 1
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
                opener=self._open_cable,
                entropy_sources=(self._source,),
                features=self._features,
                storage=storage,
                release=f"simulation-{self.release}",
            )
            try:
                await machine.run()
            except* RestartRequested:
                self.restarts += 1
            finally:
                storage.close_open_files()

    def schedule_power_cut(self, operations: int) -> None:
        """Cut the power after the given number of operations of the medium."""
        self.medium.power_loss_at_operation = self.medium.operation_count + operations

    def _handle_power_loss(self) -> None:
        """Simulate a power loss on all lines: they are unplugged, but bytes already sent may still arrive."""
        self.is_on = False
        self.cuts += 1
        for cable in self.cables.values():
            if cable.is_plugged_in and self._random_source.random() < 0.5:
                cable.deliver_sent_data()
            cable.unplug()
        if self.link is not None:
            self.link.drop_connection()
        if self._machine is not None:
            self._machine.cancel()

    async def stop(self, *, cut: bool = False) -> None:
        """Switch the machine off, or cut its power, and restore the media.

        Raises the error that ended the machine, unless it ended because of the power cut.
        """
        machine, self._machine = self._machine, None
        if cut:
            self.medium.cut_power()
        was_cut, self.is_on = self.medium.is_without_power, False
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
        """Close the files that a stopped process left open and restore the media; return whether the power was cut."""
        was_cut = self.medium.is_without_power
        self._release_locks()
        self.medium.lose_unsynced_data_and_power_on()
        return was_cut

    @property
    def is_work_pending(self) -> bool:
        """Return whether work waits for the machine to be off, and no power cut is scheduled."""
        return self.pending_work is not None and self.medium.power_loss_at_operation is None

    def do_pending_work(self) -> None:
        """Do the work that waits for the machine to be off."""
        work, self.pending_work = self.pending_work, None
        if work is not None:
            work()

    def restore_previous_file(self) -> None:
        """Put back the cabinet file as it was before the last update."""
        self.cabinet.write_text(self.previous_file, encoding="utf-8")

    def now(self) -> datetime:
        """Return the current time, UTC."""
        return LoopClock(asyncio.get_running_loop()).now()

    def _release_locks(self) -> None:
        """Close the lock files of a stopped machine, as the end of a real process does."""
        for descriptor_path in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                if descriptor_path.readlink() in self._locks:
                    os.close(int(descriptor_path.name))

    def find_failure(self) -> BaseException | None:
        """Return the error that ended the machine, or None if it is running or was ended by a power cut."""
        if self._machine is None or self.medium.is_without_power or not self._machine.done():
            return None
        if self._machine.cancelled():
            return RuntimeError("the machine was cancelled")
        return self._machine.exception() or RuntimeError("the machine ended by itself")

    def shut_down_devices(self) -> None:
        """Stop every device and the controller permanently."""
        for twin in self.twins.values():
            twin.shut_down()
        if self.link is not None:
            self.link.close()

    # ------------------------------------------------------------ the host
    def _replace_threaded_services(self, services: Iterable[ServiceFactory]) -> Iterator[ServiceFactory]:
        """Yield the services to run: without the monitoring server, and with host and progressive lines on the loop."""
        for service in services:
            if service is create_sas_line_services:
                yield self._create_sas_lines
            elif service is create_progressive_link_service:
                yield self._create_progressive_link
            elif service is not create_metrics_service:
                yield service

    def _create_sas_lines(self, context: MachineContext) -> Iterator[BackgroundService]:
        readings = MeterReadingCache(context.engine.machine.journal)
        for name, settings in context.cabinet_file.sas.items():
            line = LoopLine(context, name, settings, readings)
            self._wire = HostWire(line, context.clock)
            yield line

    def _create_progressive_link(self, context: MachineContext) -> Iterator[BackgroundService]:
        if self.link is not None:
            yield ProgressiveLinkService(context, self.link)

    def exchange_with_host(self, message: bytes) -> bytes:
        """Send one message of the host; return the machine's reply, or nothing if either was lost."""
        wire = self._wire
        if not self.is_on or wire is None or not isinstance(wire.line, LoopLine) or not wire.line.is_served:
            return b""
        lost_part = ""
        if self.lossy_messages:
            self.lossy_messages -= 1
            lost_part = self._random_source.choice(("request", "answer", ""))
        try:
            wire.tick()
            reply = b"" if lost_part == "request" else wire.send(message)
        except JournalError:
            if not self.medium.is_without_power:
                raise
            return b""  # the power failed while the machine answered
        return reply if self.is_on and not lost_part else b""

    # ------------------------------------------------------------ devices
    def act_on_device(self, device: str, action: str, **values: int | str | bool) -> bool:
        """Perform an action on a device; return False if it does not exist or the action is impossible now."""
        if device not in self.twins or (action == "plug" and not self.is_on):
            return False
        try:
            self.twins[device].perform_action(action, values)
        except ActionError:
            return False
        return True

    def describe_device(self, device: str) -> Mapping[str, Any]:
        """Return the description that a simulated device gives of its own state."""
        return self.twins[device].describe()

    def find_devices(self, kind: str) -> dict[int, str]:
        """Return the names of the devices of a kind, by position."""
        return {
            device.position: name
            for name, device in self.file.devices.items()
            if PROTOCOLS[device.protocol].device_kind == kind
        }

    def _read_boxes(self) -> Mapping[str, int] | None:
        """Return the contents of the boxes of all positions in minor units, or None while a bill or coin is moving."""
        bills = [self.describe_device(name) for name in self.find_devices("bill_acceptor").values()]
        coins = [self.describe_device(name) for name in self.find_devices("coin_acceptor").values()]
        if any(device["status"] not in {"idle", "disabled"} for device in bills):
            return None
        return {
            "bill_box": sum(device["stacked_cents"] for device in bills),
            "coin_box": sum(device["drop_cents"] for device in coins),
        }

    @property
    def first_start_choices(self) -> tuple[PageText, ...]:
        """Return what to choose from the lists of a first start: the jurisdiction and its time zone."""
        return (build_multilingual_text(load_profile(self.setup.jurisdiction).title), build_plain_text("UTC"))

    @property
    def first_start_answers(self) -> Mapping[str, str]:
        """Return the text to type at a first start, by the name of the field."""
        machine = self._machine_table
        names = ("serial", "operator_number", "site", "address", "licence_holder")
        return {name: str(getattr(machine, name)) for name in names}

    @property
    def today(self) -> str:
        """Return the current date in the format that a form requires."""
        return f"{self.now():%Y%m%d}"

    def list_printed_tickets(self) -> list[str]:
        """Return the numbers of the complete tickets that each position printed last."""
        printers = self.find_devices("ticket_printer")
        return [
            ticket["barcode"]
            for position in sorted(printers)
            for ticket in self.describe_device(printers[position])["printed"][-8:]
            if ticket["barcode_complete"] and ticket["barcode"]
        ]

    def is_ticket_printed(self, position: int, dispute: str) -> bool:
        """Return whether the printer of a position printed the complete ticket that a dispute is about.

        The ticket number is masked in the journal, so it is compared with the masked numbers of the printed tickets.
        """
        with open_view(self.folder.root) as view:
            records = [read_details(entry) for entry in view.entries("ticket.disputed")]
        masked = {str(record["number"]) for record in records if record["id"] == dispute}
        tickets = self.describe_device(self.find_devices("ticket_printer")[position])["printed"]
        return any(
            ticket["barcode_complete"] and mask_number(ticket["barcode"]) in masked for ticket in tickets
        )

    def _open_cable(self, path: str, settings: LineSettings) -> SerialHandle:
        if not self.is_on:
            raise LineLostError(path, "no power")
        return self.cables[Path(path).name].open(path, settings)
