"""The cabinet file: what this cabinet is made of, and where its memory lives.

A TOML file names the machine, its profile, its games and the device on each port. It is either valid or
refused with a message naming the file, the key and the reason.
"""

import json
import os
import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from egm.cabinet.host.model import Validation
from egm.cabinet.positions import POSITIONS_MOST
from egm.errors import OperatorError
from egm.progressive.definition import Kind
from egm.progressive.slots import LevelSlot, LinkSlot
from egm.sas.settings import SasLine
from egm.secret_files import require_private
from egm.tickets.model import House
from meters.keys import FILE_NAME as KEY_FILE

#: The demonstration cabinet.
DEFAULT_CABINET: Final = Path(__file__).parent / "cabinet" / "default.toml"


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Machine(_Table):
    """Who the machine is (Monaco art. 19.1: a manufacturer's serial and an operator's number, both fixed)."""

    serial: Annotated[str, Field(pattern=r"^[A-Z0-9-]{1,24}$")]
    operator_number: Annotated[str, Field(pattern=r"^[A-Z0-9-]{1,24}$")]
    profile: str
    site: str
    address: str = ""
    licence_holder: str = ""
    time_zone: str = "UTC"
    positions: Annotated[int, Field(ge=1, le=POSITIONS_MOST, strict=True)] = 1
    """Player positions; each device says which it serves."""
    certifier: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    """The public key, in hex, whose certificates of games count here."""

    @property
    def house(self) -> House:
        """Whose machine it is, as tickets say it. Raises InvalidTicket for an unknown time zone."""
        return House(
            site=self.site,
            address=self.address,
            licence_holder=self.licence_holder,
            time_zone=self.time_zone,
        )


class Inventory(_Table):
    """What the house's inventory says of the machine beside its numbers (Monaco arts 19.1-19.4)."""

    kind: str = ""
    """What sort of machine it is, in the house's words."""
    manufacturer: str = ""
    model: str = ""
    made: date | None = None
    base_number: Annotated[str, Field(pattern=r"^[A-Z0-9-]{0,24}$")] = ""
    """The number of the base it stands on; once given it is never another."""
    location: Literal["floor", "store", "workshop"] = "floor"
    photograph: Path | None = None
    certified_on: dict[str, date] = {}
    """Game -> when its theoretical return was last certified; a certificate says it itself."""


class GameSlot(_Table):
    """A resident game: a library id or a definition file, with the denominations offered here."""

    game: str
    denominations_cents: tuple[Annotated[int, Field(gt=0, strict=True)], ...] = ()
    certificate: Path | None = None
    """The folder of its certificate (``egm certify``), signed by ``machine.certifier``."""


class Device(_Table):
    """One peripheral: its protocol and its serial port. ``bench`` means the simulated twin.

    ``values_cents``: what a bill or coin acceptor was programmed to name, in minor units by channel from 1
    (0: an empty channel); dollars when nothing is said.
    """

    protocol: str
    port: str = "bench"
    position: Annotated[int, Field(ge=1, strict=True)] = 1
    """The player position it serves. Doors, keys and the tower light are the first position's."""
    values_cents: tuple[Annotated[int, Field(ge=0, strict=True)], ...] = ()


class Metrics(_Table):
    """Where Prometheus reads. Loopback only."""

    port: Annotated[int, Field(ge=0, le=65535, strict=True)] = 9477
    hosts: tuple[str, ...] = ()
    """Names of a proxy that reads for others; without any, only requests to this computer are answered."""


class Memory(_Table):
    """Where the journal's second copy lies: best on another medium; beside the first when nothing is said.

    ``reserve_mib`` are kept free on each medium, so that what is owed is paid and recorded when it is full.
    """

    second_copy: Path | None = None
    reserve_mib: Annotated[int, Field(ge=8, le=1024, strict=True)] = 8


class Software(_Table):
    """The signed manifest the software is held against, and the manufacturer's public key that signs it."""

    manifest: Path
    key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    recheck_hours: Annotated[int, Field(gt=0, le=24 * 7, strict=True)] = 24


class Gat(_Table):
    """The port an inspector's verifier plugs into; ``pty``: a pseudo-terminal named ``run/gat``."""

    port: str = "pty"


class Host(_Table):
    """What goes through a host here; without this table the machine stands alone.

    ``line`` is the SAS line whose host it is: its name, to be given where there are several. ``asset_number``
    is the machine's in that host's books; transfers are refused while it is 0.
    """

    tickets: Validation = Validation.STAND_ALONE
    transfers: bool = False
    bonuses: bool = False
    line: str = ""
    asset_number: Annotated[int, Field(ge=0, lt=1 << 32, strict=True)] = 0

    @property
    def is_used(self) -> bool:
        """Whether any money goes through it."""
        return self.tickets.by_host or self.transfers or self.bonuses


class CabinetFile(_Table):
    """A whole cabinet."""

    machine: Machine
    games: tuple[GameSlot, ...]
    devices: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")], Device] = {}
    progressives: tuple[LevelSlot, ...] = ()
    progressive_link: LinkSlot | None = None
    metrics: Metrics = Metrics()
    sas: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")], SasLine] = {}
    """One or two hosts, by name."""
    memory: Memory = Memory()
    host: Host = Host()
    inventory: Inventory = Inventory()

    @property
    def money_line(self) -> str:
        """The name of the line whose host the money goes through; empty where there is none."""
        if not self.host.is_used:
            return ""
        return self.host.line or next(iter(self.sas))

    @property
    def real_ports(self) -> tuple[str, ...]:
        """What is no simulation: the devices and host lines on ports of their own, as ``kind.name: port``."""
        devices = (f"devices.{n}: {d.port}" for n, d in self.devices.items() if d.port != "bench")
        lines = (f"sas.{n}: {line.port}" for n, line in self.sas.items() if line.port != "pty")
        return (*devices, *lines)

    @model_validator(mode="after")
    def _positions_are_there(self) -> "CabinetFile":
        there = self.machine.positions
        for name, device in self.devices.items():
            if device.position > there:
                raise ValueError(f"devices.{name}.position: {device.position}; the machine has {there}")
        if there > 1 and self.host.is_used:
            raise ValueError("machine.positions: money through a host goes to a machine of one position only")
        if there > 1 and any(level.kind is not Kind.STAND_ALONE for level in self.progressives):
            raise ValueError("machine.positions: a shared progressive level wants a machine of one position")
        return self

    @model_validator(mode="after")
    def _money_has_a_line(self) -> "CabinetFile":
        if not self.host.is_used:
            return self
        names = ", ".join(self.sas) or "none"
        if not self.host.line and len(self.sas) != 1:
            raise ValueError(f"host: name its line; there are: {names}")
        if self.host.line and self.host.line not in self.sas:
            raise ValueError(f"host: no line {self.host.line!r}; there are: {names}")
        return self

    software: Software | None = None
    """Without it nothing vouches for the software: a development checkout, and said to be one."""
    gat: Gat | None = None


def load_cabinet(path: Path | None = None) -> CabinetFile:
    """Read a cabinet file; without one, the demonstration cabinet. Raises OperatorError on any fault."""
    path = path or DEFAULT_CABINET
    try:
        return CabinetFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise OperatorError(f"cabinet file {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OperatorError(f"cabinet file {path}: not TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise OperatorError(f"cabinet file {path}: {where}: {first['msg']}") from None


def default_state_dir() -> Path:
    """Where a machine's memory lives when nobody says: the user's state folder (XDG_STATE_HOME)."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "open-egm"


def _suffix(position: int) -> str:
    """The first position, and so the only one of most machines, has the plain names."""
    return "" if position == 1 else f"-{position}"


class StateFolder:
    """The layout of a machine's state folder. ``run`` holds what is only true while it runs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.run = root / "run"
        self.screen_socket = self.screen_socket_of(1)
        self.screen_token = self.screen_token_of(1)
        self.bench_socket = self.run / "bench.sock"
        self.bench_token = self.run / "bench.token"
        self.gat_port = self.run / "gat"
        self.carry_over = root / "carry-over"
        self.metrics_token = root / "metrics.token"
        self.staff = root / "people.json"

    def screen_socket_of(self, position: int) -> Path:
        """Where the screens of a player position connect."""
        return self.run / f"screen{_suffix(position)}.sock"

    def screen_token_of(self, position: int) -> Path:
        """What proves a screen of a player position."""
        return self.run / f"screen{_suffix(position)}.token"

    def left_by_a_journal(self) -> list[str]:
        """The names of what only a machine with a journal writes here: ledgers, registers, cursors."""
        patterns = ("tickets.*", "identities.db", "sas-*.told", "carry-over")
        found = sorted(path.name for pattern in patterns for path in self.root.glob(pattern))
        return [*found, *([self.staff.name] if self._staff_is_sealed() else ())]

    def _staff_is_sealed(self) -> bool:
        """Whether the roster was written beside a machine key; before the first start there is none."""
        try:
            return bool(json.loads(self.staff.read_text(encoding="utf-8"))["seal"])
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def prepare(self) -> None:
        """Make the folders, for their owner only. Raises OperatorError naming the folder and the reason.

        The same for a key or a roster in it that others may read.
        """
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.run.mkdir(mode=0o700, exist_ok=True)
            probe = self.run / ".probe"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise OperatorError(f"state folder {self.root}: cannot write: {error.strerror}") from None
        require_private(self.root / KEY_FILE, self.staff, self.metrics_token)

    def sas_port_of(self, line: str) -> Path:
        """Where a host on this computer finds a SAS line of the machine's own."""
        return self.run / "sas" / line

    def forget_lines(self) -> None:
        """Take away the names of the pseudo-terminals a machine gave hosts and verifiers.

        After its death they lead to whoever has those terminals next.
        """
        for link in (self.gat_port, *self.sas_port_of("x").parent.glob("*")):
            if link.is_symlink():
                link.unlink(missing_ok=True)

    def port(self, name: str, device: Device) -> Path:
        """The serial port of a device: the twin's on the bench, or the one named."""
        return self.run / "dev" / name if device.port == "bench" else Path(device.port)
