"""The cabinet file: which devices and games this machine has, and where its memory is.

A TOML file names the machine, its profile, its games and the device on each port. It is either valid or refused
with every mistake in it: line, key, what is wrong, what was probably meant and what is allowed
(:mod:`egm.config.mistakes`). The meaning of each key is documented below its field; `make docs` generates a page
from it.
"""

import json
import os
from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PrivateAttr,
    field_validator,
    model_validator,
)

from egm.config.documented_fields import DocumentedFieldsMixin
from egm.config.key_documentation import KNOWN_ONLY_TO_OPERATOR_SCHEMA_KEY
from egm.config.levels import LevelScope, ProgressiveLevelTable, ProgressiveLinkTable
from egm.config.mistakes import ConfigMistake, build_config_mistake, build_model_error, read_toml_file
from egm.config.sas_line import SasLineTable
from egm.config.serials import Serial
from egm.devices.protocols import PROTOCOLS
from egm.errors import OperatorError
from egm.private_files import make_folder_private, require_private_files, write_private_file
from egm.tickets.errors import InvalidTicket
from egm.tickets.model import Venue
from meters.lock import MACHINE_LOCK_FILE_NAME
from meters.machine_key import KEY_FILE_NAME
from paytables.definition import check_ascending
from paytables.source import is_path

#: The demonstration cabinet.
DEFAULT_CABINET: Final = Path(__file__).parent / "default.toml"

#: Ports without hardware: a simulated device's, or a pseudo-terminal of the machine's own.
SIMULATED_PORT_NAMES: Final = frozenset({"bench", "pty"})
#: Keys of the cabinet file whose value is either a library id or the path of a file.
_KEYS_THAT_NAME_LIBRARY_FILES: Final = frozenset({"game", "profile"})


class _CabinetTable(DocumentedFieldsMixin, BaseModel):
    """Base class of the tables of a cabinet file; an unknown key is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


#: Marks a key in the JSON Schema whose value only the machine's operator knows: its example must not remain in a
#: file.
_KNOWN_ONLY_TO_OPERATOR_SCHEMA: Final[dict[str, JsonValue]] = {KNOWN_ONLY_TO_OPERATOR_SCHEMA_KEY: True}
#: The maximum number of player positions of a machine.
POSITIONS_MAX: Final = 16


class MachineTable(_CabinetTable):
    """The machine's section of a cabinet file: identity, profile, venue, time zone and number of player positions.

    Serial and operator's number are permanent (Monaco art. 19.1).
    """

    serial: Serial = Field(examples=["EGM-0000001"], json_schema_extra=_KNOWN_ONLY_TO_OPERATOR_SCHEMA)
    """The manufacturer's serial number: capital letters, digits and hyphens, 24 at most. It never changes."""
    operator_number: Serial = Field(examples=["OP-0000001"], json_schema_extra=_KNOWN_ONLY_TO_OPERATOR_SCHEMA)
    """The operator's number of the machine: capital letters, digits and hyphens, 24 at most."""
    profile: str = Field(examples=["quebec-vlt"])
    """The jurisdiction: the id of its profile (`egm profile list`), or the path of a profile file."""
    site: str = Field(examples=["The house"], json_schema_extra=_KNOWN_ONLY_TO_OPERATOR_SCHEMA)
    """The venue's name, as printed on its tickets."""
    address: str = Field(
        "", examples=["The house's address"], json_schema_extra=_KNOWN_ONLY_TO_OPERATOR_SCHEMA
    )
    """The venue's address, if the jurisdiction's tickets print one."""
    licence_holder: str = Field(
        "", examples=["The licence's holder"], json_schema_extra=_KNOWN_ONLY_TO_OPERATOR_SCHEMA
    )
    """The licence holder, if the jurisdiction's tickets name one (Québec)."""
    time_zone: str = Field("UTC", examples=["America/Toronto"])
    """The venue's time zone, an IANA name; records are in UTC."""
    day_ends_hour: Annotated[int, Field(ge=0, le=23, strict=True)] = 0
    """The local hour at which the venue's gaming day ends. With 6, what happens until 06:00 belongs to the day
    before in statements and sheets."""
    position_count: Annotated[int, Field(ge=1, le=POSITIONS_MAX, strict=True)] = Field(1, alias="positions")
    """The number of player positions; each device states the one that it serves. Every position has its own screen."""
    certifier_key_hex: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = Field("", alias="certifier")
    """The public key, 64 hexadecimal digits, that must have signed the certificates of games (`egm certify`)."""

    @field_validator("time_zone", mode="after")
    @classmethod
    def _check_time_zone(cls, time_zone: str) -> str:
        """Return the time zone; raise ValueError if this computer does not know it."""
        try:
            Venue(site="", time_zone=time_zone)
        except InvalidTicket:
            raise ValueError(
                f"{time_zone!r} is not a time zone of this computer: write an IANA name, such as America/Montreal"
            ) from None
        return time_zone

    @property
    def venue(self) -> Venue:
        """Return the venue data printed on tickets. Raises InvalidTicket for an unknown time zone."""
        return Venue(
            site=self.site,
            address=self.address,
            licence_holder=self.licence_holder,
            time_zone=self.time_zone,
        )


class InventoryTable(_CabinetTable):
    """The venue's inventory data about the machine, in addition to its numbers (Monaco arts 19.1-19.4)."""

    machine_type: str = Field("", examples=["video slot"], alias="kind")
    """The type of machine, in the venue's words."""
    manufacturer: str = ""
    """The name of the machine's manufacturer."""
    model: str = ""
    """The manufacturer's model name."""
    manufacture_date: date | None = Field(None, examples=[date(2026, 5, 1)], alias="made")
    """The date of manufacture."""
    base_number: Annotated[str, Field(pattern=r"^[A-Z0-9-]{0,24}$")] = ""
    """The number of the base on which the machine stands; once recorded it cannot be changed."""
    location: Literal["floor", "store", "workshop"] = "floor"
    """Where the machine is: on the gaming floor, in the store or in the workshop."""
    photograph: Path | None = None
    """The path of a photograph of the machine."""
    certification_date_by_game: dict[str, date] = Field({}, alias="certified_on")
    """The date on which the theoretical return of each game was last certified, by game; not needed with a
    certificate."""


class GameTable(_CabinetTable):
    """One game of this machine. The file has one table per game, in the order of the game menu."""

    game: str = Field(examples=["maple-classic"])
    """The id of a game of the library (`egm game list`), or the path of a definition file."""
    denominations_cents: Annotated[
        tuple[Annotated[int, Field(gt=0, strict=True)], ...], AfterValidator(check_ascending)
    ] = Field((), examples=[[5, 25]])
    """The denominations offered on this machine, in minor units, ascending; by default all of the game's."""
    certificate: Path | None = None
    """The folder of the game's certificate (`egm certify`), signed by `machine.certifier`."""


def _check_protocol(protocol: str) -> str:
    """Return the device protocol if there is a driver for it; raise ValueError otherwise.

    The check is a separate validator, so that its mistake is reported together with the other mistakes of the file.
    """
    if protocol not in PROTOCOLS:
        raise build_model_error(
            build_config_mistake(
                "", f"{protocol!r} is not a known device protocol", *PROTOCOLS, written_word=protocol
            )
        )
    return protocol


class DeviceTable(_CabinetTable):
    """One peripheral, under a name of your choice: its protocol and its serial port."""

    protocol: Annotated[str, AfterValidator(_check_protocol)] = Field(examples=["id003"])
    """The device's protocol; `egm cabinet devices` lists the protocols and the available serial ports."""
    port: str = Field("bench", examples=["/dev/serial/by-id/usb-FTDI_FT232R_A1B2C3D4-if00-port0"])
    """The device's serial port; `bench` is the simulated device."""
    position: Annotated[int, Field(ge=1, strict=True)] = 1
    """The player position that the device serves. An I/O board of the first position also serves every position without
    a board of its own."""
    channel_values_cents: tuple[Annotated[int, Field(ge=0, strict=True)], ...] = Field(
        (), examples=[[500, 1000, 2000]], alias="values_cents"
    )
    """The values that a bill or coin acceptor is programmed to report, in minor units by channel from 1 (0: an
    empty channel); by default dollars."""


class MetricsTable(_CabinetTable):
    """The network port from which Prometheus reads metrics, on the loopback address only."""

    port: Annotated[int, Field(ge=0, le=65535, strict=True)] = 9477
    """The port on 127.0.0.1; 0: any free one."""
    proxy_host_names: tuple[str, ...] = Field((), alias="hosts")
    """The host names of a proxy through which others read the metrics; without any, only this computer can read
    them."""


class MemoryTable(_CabinetTable):
    """The location of the machine's memory: folders on two media."""

    second_copy: Path | None = Field(None, examples=[Path("/media/second/egm")])
    """The folder of the journal's second copy, preferably on a second medium; by default in the first copy's folder."""
    archive: Path | None = Field(None, examples=[Path("/srv/archive/first")])
    """The folder for archived entries of the first copy; by default beside that copy. It may be temporarily
    unavailable."""
    second_archive: Path | None = Field(None, examples=[Path("/media/second/archive")])
    """The folder for archived entries of the second copy, which must differ from `archive`; preferably on the
    second medium."""
    reserve_mib: Annotated[int, Field(ge=8, le=1024, strict=True)] = 8
    """The space reserved on each medium in MiB, so that what is owed can be paid and recorded when it is full."""


class SoftwareTable(_CabinetTable):
    """The verification of the software. A machine without this table is a development checkout: nothing is verified."""

    manifest: Path
    """The path of the signed manifest (`egm manifest`)."""
    manufacturer_key_hex: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = Field(alias="key")
    """The manufacturer's public key, 64 hexadecimal digits, that must have signed the manifest."""
    recheck_hours: Annotated[int, Field(gt=0, le=24 * 7, strict=True)] = 24
    """The hours between two verifications of all of the software; it is also verified at each start."""


class GatTable(_CabinetTable):
    """The serial port for an inspector's verifier (GAT protocol)."""

    port: str = "pty"
    """A serial port; `pty`: a pseudo-terminal named `run/gat` in the state folder."""


class TicketValidator(StrEnum):
    """Who makes the numbers of printed tickets and states the value of inserted ones: the machine or a host."""

    STAND_ALONE = "stand_alone"
    """The machine makes the ticket numbers and redeems tickets itself, with its own ticket ledger."""
    SYSTEM = "system"
    """A host supplies each ticket number and redeems tickets."""
    SECURE_ENHANCED = "secure_enhanced"
    """The machine makes ticket numbers from an identifier that a host has sent; the host redeems tickets."""

    @property
    def is_host(self) -> bool:
        """Return whether a host, and not the machine, states the value of an inserted ticket."""
        return self is not TicketValidator.STAND_ALONE


class HostTable(_CabinetTable):
    """The functions that a host (casino system) performs for this machine; without this table no host handles money."""

    ticket_validator: TicketValidator = Field(TicketValidator.STAND_ALONE, alias="tickets")
    """How tickets are validated: by the machine itself, or by the host in one of the two ways of SAS."""
    can_transfer: bool = Field(False, alias="transfers")
    """Whether credit may be transferred from and to the host (AFT)."""
    can_award_bonuses: bool = Field(False, alias="bonuses")
    """Whether the host may award bonuses."""
    line_name: str = Field("", examples=["main"], alias="line")
    """The name of the SAS line to this host; required if the file has several lines."""
    asset_number: Annotated[int, Field(ge=0, lt=1 << 32, strict=True)] = 0
    """The machine's number in the host's system; transfers are refused while it is 0."""

    @property
    def handles_money(self) -> bool:
        """Return whether a host handles any money on this machine: tickets, transfers or bonuses."""
        return self.ticket_validator.is_host or self.can_transfer or self.can_award_bonuses


#: The maximum number of games of a cabinet: several times the size of the library.
GAMES_MAX: Final = 1000


class CabinetFile(_CabinetTable):
    """The validated content of a cabinet file."""

    machine: MachineTable
    games: Annotated[tuple[GameTable, ...], Field(max_length=GAMES_MAX)]
    devices: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")], DeviceTable] = {}
    progressives: tuple[ProgressiveLevelTable, ...] = ()
    progressive_link: ProgressiveLinkTable | None = None
    metrics: MetricsTable = MetricsTable()
    sas: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")], SasLineTable] = {}
    memory: MemoryTable = MemoryTable()
    host: HostTable = HostTable()
    inventory: InventoryTable = InventoryTable()
    software: SoftwareTable | None = None
    gat: GatTable | None = None

    _written_paths: dict[str, str] = PrivateAttr(default_factory=dict)
    _text: str = PrivateAttr("")

    def with_resolved_paths(self, folder: Path) -> Self:
        """Return a copy of the cabinet file with the relative paths in it resolved against ``folder``."""
        return self.model_copy(update=_resolve_table_paths(self, folder, self._written_paths))

    def find_written_path(self, path: str) -> str:
        """Return the path of a game or profile as it is written in the cabinet file.

        ``path`` is the resolved path. The written path is the same on every machine with this file; the
        resolved path is not.
        """
        return self._written_paths.get(path, path)

    @property
    def text(self) -> str:
        """Return the text of the cabinet file, or "" if the content was not read from a file."""
        return self._text

    @property
    def money_host_line_name(self) -> str:
        """Return the name of the SAS line to the host that handles money, or "" if no host does."""
        if not self.host.handles_money:
            return ""
        return self.host.line_name or next(iter(self.sas))

    @property
    def ports_by_key(self) -> dict[str, str]:
        """Return the port of every device and host line, by the key of the port in the cabinet file."""
        ports = {f"devices.{name}.port": device.port for name, device in self.devices.items()}
        ports |= {f"sas.{name}.port": line.port for name, line in self.sas.items()}
        return ports if self.gat is None else ports | {"gat.port": self.gat.port}

    @property
    def has_wheel(self) -> bool:
        """Return whether the machine has a real or simulated roulette wheel."""
        return any(PROTOCOLS[device.protocol].device_kind == "wheel" for device in self.devices.values())

    @property
    def hardware_port_descriptions(self) -> tuple[str, ...]:
        """Return the devices and host lines with ports of real hardware, each as text: ``table.name: port``."""
        devices = (
            f"devices.{name}: {device.port}"
            for name, device in self.devices.items()
            if device.port != "bench"
        )
        lines = (f"sas.{name}: {line.port}" for name, line in self.sas.items() if line.port != "pty")
        return (*devices, *lines)

    @model_validator(mode="after")
    def _check_consistency(self) -> "CabinetFile":
        """Return the cabinet file; raise an error with all contradictions if its parts contradict each other."""
        rules = (
            self._find_position_mistakes,
            self._find_device_mistakes,
            self._find_port_mistakes,
            self._find_host_line_mistakes,
        )
        if mistakes := [mistake for rule in rules for mistake in rule()]:
            raise build_model_error(*mistakes)
        return self

    def _find_position_mistakes(self) -> Iterator[ConfigMistake]:
        """Yield a mistake for each setting that a machine with several player positions must not have."""
        position_count = self.machine.position_count
        if position_count > 1 and self.host.handles_money:
            yield build_config_mistake(
                "machine.positions", "a host that moves money requires a machine with one position"
            )
        if position_count > 1 and any(
            level.scope is not LevelScope.STAND_ALONE for level in self.progressives
        ):
            yield build_config_mistake(
                "machine.positions", "a linked progressive level requires a machine with one position"
            )

    def _find_device_mistakes(self) -> Iterator[ConfigMistake]:
        """Yield a mistake for each error in the cabinet file's tables of devices.

        It is an error if a device serves a position that the machine does not have, is the second one of its
        kind at a position, or has coin or bill values that do not fit its channels.
        """
        name_by_position_and_kind: dict[tuple[int, str], str] = {}
        for name, device in self.devices.items():
            table_key = f"devices.{name}"
            protocol_definition = PROTOCOLS[device.protocol]
            if device.position > self.machine.position_count:
                position_count = self.machine.position_count
                reason = f"there is no position {device.position}: machine.positions is {position_count}"
                yield build_config_mistake(f"{table_key}.position", reason)
            first_name = name_by_position_and_kind.setdefault(
                (device.position, protocol_definition.device_kind), name
            )
            if first_name != name:
                kind = protocol_definition.device_kind.replace("_", " ")
                yield build_config_mistake(
                    table_key,
                    f"position {device.position} already has a {kind}, devices.{first_name}; it can have one",
                )
            if device.channel_values_cents:
                try:
                    protocol_definition.build_channel_value_table(name, device.channel_values_cents)
                except OperatorError as error:
                    key, _, reason = str(error).partition(": ")
                    yield build_config_mistake(key, reason)

    def _find_port_mistakes(self) -> Iterator[ConfigMistake]:
        """Yield a mistake for each serial port that two devices or lines use, even under different names.

        Devices on one bus may share a port.
        """
        position_by_bus_device = {
            name: device.position
            for name, device in self.devices.items()
            if PROTOCOLS[device.protocol].is_bus
        }
        first_use_by_port: dict[str, tuple[str, int | None]] = {}
        for key, port in self.ports_by_key.items():
            if port in SIMULATED_PORT_NAMES:
                continue
            table_name, _, name = key.removesuffix(".port").partition(".")
            bus_position = position_by_bus_device.get(name) if table_name == "devices" else None
            first_key, first_bus_position = first_use_by_port.setdefault(
                port if "://" in port else os.path.realpath(port), (key, bus_position)
            )
            if first_key != key and (bus_position is None or bus_position != first_bus_position):
                yield build_config_mistake(
                    key, f"{port} is already used by {first_key.removesuffix('.port')}"
                )

    def _find_host_line_mistakes(self) -> Iterator[ConfigMistake]:
        """Yield a mistake if a host handles money but its line is not named or does not exist."""
        if not self.host.handles_money:
            return
        line_names = tuple(self.sas)
        if not self.host.line_name and len(line_names) != 1:
            yield build_config_mistake(
                "host.line", "a host handles money, so the name of its SAS line must be given", *line_names
            )
        if self.host.line_name and self.host.line_name not in line_names:
            yield build_config_mistake(
                "host.line",
                f"there is no SAS line {self.host.line_name!r} in this file",
                *line_names,
                written_word=self.host.line_name,
            )


def load_cabinet(path: Path | None = None) -> CabinetFile:
    """Read the cabinet file ``path``; without a path, read the demonstration cabinet.

    Relative paths in the file are relative to its folder. Raises OperatorError with every mistake of a file that
    cannot be used.
    """
    path = path or DEFAULT_CABINET
    cabinet_file, text = read_toml_file(path, "cabinet file", CabinetFile)
    cabinet_file = cabinet_file.with_resolved_paths(path.absolute().parent)
    cabinet_file._text = text  # noqa: SLF001 (this function creates the object)
    return cabinet_file


def _resolve_table_paths(table: BaseModel, folder: Path, written_paths: dict[str, str]) -> dict[str, object]:
    """Return the fields of a table that are paths, resolved against ``folder``.

    The path as written is added to ``written_paths``, by resolved path.
    """
    resolved_paths: dict[str, object] = {}
    for name, value in table:
        if isinstance(value, BaseModel):
            resolved_value: Any = value.model_copy(update=_resolve_table_paths(value, folder, written_paths))
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            resolved_value = tuple(
                item.model_copy(update=_resolve_table_paths(item, folder, written_paths)) for item in value
            )
        elif isinstance(value, Path):
            resolved_value = folder / value
        elif name in _KEYS_THAT_NAME_LIBRARY_FILES and is_path(value):
            resolved_value = os.path.normpath(folder / value)
            written_paths[resolved_value] = value
        else:
            continue
        if resolved_value != value:
            resolved_paths[name] = resolved_value
    return resolved_paths


def find_default_state_folder() -> Path:
    """Return the default location of a machine's memory: the user's state folder (XDG_STATE_HOME)."""
    state_home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state_home) / "open-egm"


def _format_position_suffix(position: int) -> str:
    """Return the suffix for the file names of a player position; "" for position 1."""
    return "" if position == 1 else f"-{position}"


class StateFolder:
    """The layout of a machine's state folder: the path of each file in it.

    The subfolder ``run_folder`` has files that are only valid while the machine runs.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.run_folder = root / "run"
        self.screen_socket = self.get_screen_socket_path(1)
        self.screen_token = self.get_screen_token_path(1)
        self.bench_socket = self.run_folder / "bench.sock"
        self.bench_token = self.run_folder / "bench.token"
        self.gat_port = self.run_folder / "gat"
        self.start_up_file = self.run_folder / "starting.json"
        self.carry_over_file = root / "carry-over"
        self.metrics_token = root / "metrics.token"
        self.roster_file = root / "people.json"

    def get_screen_socket_path(self, position: int) -> Path:
        """Return the path of the socket to which the screens of a player position connect."""
        return self.run_folder / f"screen{_format_position_suffix(position)}.sock"

    def get_screen_token_path(self, position: int) -> Path:
        """Return the path of the token file that authenticates the screens of a player position."""
        return self.run_folder / f"screen{_format_position_suffix(position)}.token"

    def get_screen_address_path(self, position: int | None) -> Path:
        """Return the path of the file with the network address of a player position's browser screen.

        Without a position, the address is that of the top screen's page.
        """
        return self.run_folder / (
            "top.url" if position is None else f"screen{_format_position_suffix(position)}.url"
        )

    def list_files_that_imply_journal(self) -> list[str]:
        """Return the names of the files in the state folder that can exist only if the machine had a journal."""
        patterns = ("tickets.*", "identities.db", "sas-*.told", "carry-over")
        names = sorted(path.name for pattern in patterns for path in self.root.glob(pattern))
        return [*names, *([self.roster_file.name] if self._is_roster_authenticated() else ())]

    def _is_roster_authenticated(self) -> bool:
        """Return whether the staff roster in the folder has an HMAC, made with the machine key.

        It has none before the machine's first start, which creates the key.
        """
        try:
            return bool(json.loads(self.roster_file.read_text(encoding="utf-8"))["seal"])
        except (OSError, ValueError, KeyError, RecursionError, TypeError):
            return False

    def create_private_folders(self) -> None:
        """Create the state folder and its subfolder ``run_folder``, accessible to their owner only.

        Raises OperatorError, naming folder and reason, if that fails, if an existing folder is accessible to
        others and not clearly this machine's, or if others may read a key or roster in it.
        """
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            make_folder_private(self.root, MACHINE_LOCK_FILE_NAME, KEY_FILE_NAME, self.roster_file.name)
            self.run_folder.mkdir(mode=0o700, exist_ok=True)
            make_folder_private(self.run_folder, self.run_folder.name)
            probe_file = self.run_folder / ".probe"
            probe_file.unlink(missing_ok=True)
            write_private_file(probe_file, b"")
            probe_file.unlink()
        except FileExistsError as error:
            raise OperatorError(f"state folder {self.root}: {error.filename} is not a folder") from None
        except OSError as error:
            raise OperatorError(f"state folder {self.root}: cannot write: {error.strerror}") from None
        require_private_files(self.root / KEY_FILE_NAME, self.roster_file, self.metrics_token)

    def get_sas_port_path(self, line_name: str) -> Path:
        """Return the path at which a host on this computer can open the machine's SAS line ``line_name``."""
        return self.run_folder / "sas" / line_name

    def remove_line_links(self) -> None:
        """Remove from the state folder the links to the pseudo-terminals for hosts and verifiers.

        After a crash of the machine they may lead to terminals of other processes.
        """
        for link in (self.gat_port, *(self.run_folder / "sas").glob("*")):
            if link.is_symlink():
                link.unlink(missing_ok=True)

    def get_device_port_path(self, device_name: str, device: DeviceTable) -> Path:
        """Return the path of the port of the device ``device_name``.

        A simulated device has a port of the simulation in the state folder; any other device has the port in
        the cabinet file.
        """
        return self.run_folder / "dev" / device_name if device.port == "bench" else Path(device.port)
