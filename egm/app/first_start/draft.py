"""Draft of a cabinet file in the first start: the answers given so far, and the resulting text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from egm.app.first_start.probing import FoundDevice
from egm.config.cabinet_file import CabinetFile, GameTable
from egm.config.key_documentation import format_toml
from egm.config.levels import ProgressiveLevelTable
from egm.config.mistakes import ConfigMistake, read_toml
from egm.devices.protocols import PROTOCOLS
from egm.people import Roster
from egm.play.installed_games import admit_games
from egm.profiles import Profile, load_profile
from egm.progressive.enrolment_data import CertificateDetails
from egm.tickets.templates import MANDATORY_FIELDS_BY_CLASS, load_template
from paytables import Game, list_non_table_games, load_game

#: The key in ``[devices]`` of the table of each device kind.
DEVICE_NAME_BY_KIND: Final[Mapping[str, str]] = {
    "bill_acceptor": "bill",
    "ticket_printer": "printer",
    "coin_acceptor": "coin",
    "hopper": "hopper",
    "io_board": "io",
    "wheel": "wheel",
}
#: Protocols of the simulated devices offered if no device was found at all.
SIMULATED_PROTOCOLS: Final = ("id003", "tcl", "ioboard")


@dataclass(slots=True)
class CabinetFileDraft:
    """A draft of a cabinet file: the answers given so far in the first start."""

    preset_tables: Mapping[str, Any] = field(default_factory=dict)
    """The cabinet file tables preset by the machine's builder, which the first start does not ask for."""
    machine_answers: dict[str, str] = field(default_factory=dict)
    """The answers for the cabinet file's ``machine`` table by key: serial number, operator's number, venue data."""
    profile: Profile = field(default_factory=lambda: load_profile("generic"))
    """The profile (rules) of the chosen jurisdiction; the generic profile until a jurisdiction is chosen."""
    is_jurisdiction_chosen: bool = False
    """Whether a person has chosen the jurisdiction."""
    devices: tuple[FoundDevice, ...] = ()
    """The devices that replied to the probing of the serial ports."""
    admitted_games: dict[str, Game] = field(default_factory=dict)
    """The loaded games that the jurisdiction admits, by their names in the cabinet file."""
    chosen_game_names: list[str] = field(default_factory=list)
    """The names of the games that the person has chosen to offer."""
    denominations_cents: list[int] = field(default_factory=list)
    """The denominations that the person has chosen to offer, in minor units."""
    roster: Roster = field(default_factory=Roster)
    """The staff enrolled so far."""
    link_certificate: CertificateDetails | None = None
    """The contents of the machine's certificate for the progressive link; None without a link."""
    progressive_link_table: Mapping[str, object] = field(default_factory=dict)
    """The cabinet file's table for the progressive link; empty without a link."""

    @property
    def currency(self) -> str:
        """Return the jurisdiction's currency; empty until one is chosen."""
        return self.profile.currency if self.is_jurisdiction_chosen else ""

    @property
    def required_venue_fields(self) -> tuple[str, ...]:
        """Return the keys of the venue data that the jurisdiction's tickets must print, except the venue's name."""
        mandatory_fields = MANDATORY_FIELDS_BY_CLASS[load_template(self.profile.id).ticket]
        return ("site", *(name for name in ("address", "licence_holder") if name in mandatory_fields))

    def examine_games(self) -> Iterator[str]:
        """Load the games and store those that the jurisdiction admits in ``admitted_games``.

        Yield each game's name before the game is loaded; the caller must exhaust the iterator. Chosen games that are
        not admitted are removed from ``chosen_game_names``. If the machine's builder has listed games, only those are
        examined; otherwise all games of the library.
        """
        self.admitted_games = {}
        preset_game_tables = [GameTable(**table) for table in self.preset_tables.get("games", ())]
        for game_table in preset_game_tables or [GameTable(game=name) for name in list_non_table_games()]:
            yield game_table.game
            game = load_game(game_table.game)
            if admit_games((game_table,), self.profile, list_game_levels(game))[0]:
                self.admitted_games[game_table.game] = game
        self.chosen_game_names = [name for name in self.chosen_game_names if name in self.admitted_games]

    @property
    def available_denominations_cents(self) -> list[int]:
        """Return every denomination that at least one of the chosen games offers, in minor units."""
        return sorted(
            {
                cents
                for name in self.chosen_game_names
                for cents in self.admitted_games[name].denominations_cents
            }
        )

    def list_game_denominations(self, game_name: str) -> list[int]:
        """Return those of the chosen denominations that the game ``game_name`` offers, in minor units.

        Without any, the machine will not offer the game.
        """
        return [
            cents
            for cents in self.admitted_games[game_name].denominations_cents
            if cents in self.denominations_cents
        ]

    def build_tables(self) -> dict[str, object]:
        """Return the tables of the drafted cabinet file, from the answers so far."""
        preset_by_game = {table["game"]: table for table in self.preset_tables.get("games", ())}
        game_names = [name for name in self.chosen_game_names if self.list_game_denominations(name)]
        games = [
            {**preset_by_game.get(name, {}), "game": name, **self._build_denominations_item(name)}
            for name in game_names
        ]
        level_tables = [
            {"game": level_table.game_id, "level": level_table.level_name}
            for name in game_names
            for level_table in list_game_levels(self.admitted_games[name])
        ]
        preset_level_tables = self.preset_tables.get("progressives", [])
        preset_keys = {(level_data["game"], level_data["level"]) for level_data in preset_level_tables}
        new_level_tables = [
            level_data
            for level_data in level_tables
            if (level_data["game"], level_data["level"]) not in preset_keys
        ]
        devices = {
            DEVICE_NAME_BY_KIND[PROTOCOLS[device.protocol].device_kind]: device.cabinet_file_table
            for device in self.devices
        }
        drafted_tables = {
            "machine": {
                **self.preset_tables.get("machine", {}),
                **self.machine_answers,
                "profile": self.profile.id,
            },
            "games": games,
            "progressives": [*preset_level_tables, *new_level_tables],
            "progressive_link": {
                **self.preset_tables.get("progressive_link", {}),
                **self.progressive_link_table,
            },
            "devices": {**self.preset_tables.get("devices", {}), **devices},
        }
        return {name: value for name, value in {**self.preset_tables, **drafted_tables}.items() if value}

    def _build_denominations_item(self, game_name: str) -> dict[str, list[int]]:
        """Return the ``denominations_cents`` entry of a game's table; empty if all its denominations are chosen."""
        denominations = self.list_game_denominations(game_name)
        return (
            {}
            if denominations == [*self.admitted_games[game_name].denominations_cents]
            else {"denominations_cents": denominations}
        )

    def format_cabinet_file(self) -> str:
        """Return the drafted cabinet file as text."""
        return "\n".join(_iter_toml_lines(self.build_tables())) + "\n"

    def parse_cabinet_file(self) -> tuple[CabinetFile | None, list[ConfigMistake]]:
        """Parse the drafted cabinet file; return it with its mistakes, or None with them if it cannot be parsed."""
        return read_toml(self.format_cabinet_file(), CabinetFile)


def list_game_levels(game: Game) -> tuple[ProgressiveLevelTable, ...]:
    """Return cabinet file tables for a game's progressive levels, all managed by the machine itself."""
    level_names = dict.fromkeys(participation.level for participation in game.list_every_level())
    return tuple(ProgressiveLevelTable(game=game.id, level=level) for level in level_names)


def _iter_toml_lines(tables: Mapping[str, object], table_path: str = "") -> Iterator[str]:
    """Yield tables as TOML lines: plain values, then subtables, then lists of tables.

    ``table_path`` is the prefix of the tables' names.
    """
    for name, value in tables.items():
        if not isinstance(value, Mapping) and not _list_subtables(value):
            yield f"{name} = {value.isoformat() if isinstance(value, date) else format_toml(value)}"
    for name, value in tables.items():
        if isinstance(value, Mapping):
            has_plain_values = any(
                not isinstance(inner_value, Mapping) and not _list_subtables(inner_value)
                for inner_value in value.values()
            )
            yield from ("", f"[{table_path}{name}]") if has_plain_values or not value else ()
            yield from _iter_toml_lines(value, f"{table_path}{name}.")
        for table in _list_subtables(value):
            yield from ("", f"[[{table_path}{name}]]", *_iter_toml_lines(table, f"{table_path}{name}."))


def _list_subtables(value: object) -> list[Mapping[str, object]]:
    """Return the tables in a list of tables; empty for any other value."""
    return [*value] if isinstance(value, list | tuple) and value and isinstance(value[0], Mapping) else []
