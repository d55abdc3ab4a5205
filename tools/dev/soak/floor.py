"""One cabinet on a jumping loop: the real machine process, and every simulated device on a cable."""

import asyncio
import random
from contextlib import suppress
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from egm.app.process import MachineProcess
from egm.config.cabinet_file import CabinetFile, StateFolder, load_cabinet
from egm.devices.catalogue import PROTOCOLS
from egm.devices.line import Handle, LineSettings
from egm.devices.twin import ActionError, Twin
from egm.errors import OperatorError, RestartAsked
from egm.people import Person, Role, Roster
from egm.profiles import load_profile
from egm.testing.cable import Cable
from egm.testing.jumping_loop import BEGINNING, LoopClock

#: The one person on the staff.
STAFF_NUMBER: Final = "1001"
STAFF_PIN: Final = "730194"
#: Generators here must repeat: nothing of the kernel's goes into a step. All else is the profile's.
_REPEATABLE: Final = "[chance]\nfresh_input_each_step = false"


class _Seeded:
    """The generator's only source here: the campaign's seed."""

    name = "soak"
    entropy_bits = Fraction(8)
    claim = "none: it is the seed of a soak, and must repeat"

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def samples(self, count: int) -> bytes:
        """``count`` bytes."""
        return self._dice.randbytes(count)


class Floor:
    """A machine that can be stopped and started, and hands on its devices. Use on a :class:`JumpingLoop`."""

    def __init__(self, root: Path, seed: int, cabinet: Path | None, profile: str) -> None:
        self.folder = StateFolder(root / "state")
        self.folder.prepare()
        self.file = _with_profile(_alone(load_cabinet(cabinet)), root, profile)
        self.profile = load_profile(self.file.machine.profile)
        somebody = Person(STAFF_NUMBER, "Soak", Role.MANAGER)
        Roster.load(self.folder.staff).added(somebody, STAFF_PIN, by="", at=BEGINNING)
        self._source = _Seeded(random.Random(seed))  # noqa: S311 (it must repeat)
        self.cables: dict[str, Cable] = {}
        self.twins: dict[str, Twin[Any]] = {}
        for name, device in self.file.devices.items():
            self.cables[name] = Cable()
            self.twins[name] = PROTOCOLS[device.protocol].twin(
                name, self.cables[name], values_cents=device.values_cents
            )
        self._machine: asyncio.Task[None] | None = None
        self.restarts = 0
        """How often the staff had the machine start anew."""

    def start(self) -> None:
        """Switch the machine on. Its devices keep what they have."""
        self._machine = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        """Run the machine, and again whenever its staff has it start anew."""
        asked = True
        while asked:
            asked = False
            for cable in self.cables.values():
                cable.plug()
            machine = MachineProcess(
                self.folder,
                self.file,
                LoopClock(asyncio.get_running_loop()),
                opener=self._open,
                sources=(self._source,),
            )
            try:
                await machine.run()
            except* RestartAsked:
                asked = True
            self.restarts += asked

    async def stop(self) -> None:
        """Switch it off wherever it stands. Raises whatever had ended it before."""
        machine, self._machine = self._machine, None
        if machine is not None:
            machine.cancel()
            with suppress(asyncio.CancelledError):
                await machine

    def put_away(self) -> None:
        """Stop every device, for good."""
        for twin in self.twins.values():
            twin.halt()

    def failure(self) -> BaseException | None:
        """What ended the machine, if anything has."""
        if self._machine is None or not self._machine.done() or self._machine.cancelled():
            return None
        return self._machine.exception() or RuntimeError("the machine ended by itself")

    def hand(self, device: str, action: str, **values: int | str | bool) -> bool:
        """Do something to a device; False where it cannot be done now."""
        try:
            self.twins[device].act(action, values)
        except ActionError:
            return False
        return True

    def say(self, device: str) -> dict[str, Any]:
        """A device's own description of itself."""
        return self.twins[device].describe()

    def _open(self, path: str, settings: LineSettings) -> Handle:
        return self.cables[Path(path).name].open(path, settings)


def _alone(file: CabinetFile) -> CabinetFile:
    """The cabinet without its lines to hosts, whose threads keep to no clock but the world's.

    Raises OperatorError where its money or its levels hang on somebody outside.
    """
    for what, there in (("host", file.host.is_used), ("progressive_link", file.progressive_link is not None)):
        if there:
            raise OperatorError(f"the cabinet file's [{what}] table: a soak has nobody there; leave it out")
    return file.model_copy(update={"sas": {}})


def _with_profile(file: CabinetFile, root: Path, profile: str) -> CabinetFile:
    source = (
        Path(profile) if profile.endswith(".toml") else Path(str(files("egm.profiles"))) / f"{profile}.toml"
    )
    text = source.read_text(encoding="utf-8")
    here = root / source.name
    here.write_text(text.replace("[chance]", _REPEATABLE, 1), encoding="utf-8")
    house = {"address": "1 Soak Street", "licence_holder": "Soak"}  # some places' tickets must name them
    machine = file.machine.model_copy(update={"profile": str(here), **house})
    metrics = file.metrics.model_copy(update={"port": 0})
    return file.model_copy(update={"machine": machine, "metrics": metrics})
