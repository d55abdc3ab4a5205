"""Derive a cabinet from a seed: its positions, devices and protocols, its games and its jurisdiction."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Final

from paytables.definition import LIBRARY_FOLDER
from tools.dev.host.host import ASSET_NUMBER
from tools.dev.simulation.link import LINKED_GAME_FILE, MACHINE_SERIAL, format_link_tables

REEL_GAMES: Final = (
    "maple-classic",
    "hold-fast",
    "river-wheel",
    "seven-rivers",
    "aurora-keno",
    "orchard-picnic",
)
TABLE_GAMES: Final = (
    "quebec-roulette-french",
    "monaco-roulette-european",
    "quebec-craps",
    "quebec-blackjack",
    "monaco-blackjack",
    "quebec-three-card-poker",
    "quebec-sic-bo",
    "quebec-war",
    "jacks-or-better-9-6",
)
#: Games of which several positions play one round in common, and the numbers of positions of their cabinets.
POSITION_COUNTS_BY_SHARED_GAME: Final[Mapping[str, tuple[int, ...]]] = {
    "quebec-texas-holdem-room": (2, 3, 4),
    "quebec-omaha-room": (2, 3, 4),
    "quebec-seven-card-stud-room": (2, 3, 4),
    "monaco-chemin-de-fer": (5, 5, 6),  # four must bet at the same time, and one of them as the bank
    "monaco-banque-a-tout-va": (2, 3),
    "monaco-trente-et-quarante": (2, 3),
    "quebec-super-pan-9": (2, 3),
    "quebec-pai-gow": (2, 3),
    "quebec-pai-gow-poker": (2, 3),
    "quebec-craps": (2, 3),
    "quebec-blackjack": (2, 3),
}
#: A roulette of the library whose result comes from a physical wheel.
PHYSICAL_WHEEL_GAME: Final = "quebec-roulette-french"
#: Games with levels of the machine itself.
STAND_ALONE_LEVELS_BY_GAME: Final = {"lantern-harbour": ("harbour", "grand-harbour")}
BILL_ACCEPTORS: Final = ("id003", "ebds", "cctalk_bill")
PRINTERS: Final = ("tcl", "ithaca")
#: Jurisdictions that permit few games, and these games.
GAMES_BY_JURISDICTION: Final = {
    "quebec-vlt": ("maple-classic", "river-wheel"),
    "quebec-casino": ("maple-classic", "quebec-roulette-french", "quebec-blackjack"),
    "monaco": ("maple-classic", "hold-fast", "river-wheel"),
}
#: Player protection that a venue may require in addition to the neutral jurisdiction's rules.
PROTECTION_TABLE: Final = """
[protection]
own_limits = true
clock = true
"""


@dataclass(frozen=True, slots=True)
class CabinetSetup:
    """The setup of one simulated cabinet: positions, devices, games and jurisdiction."""

    jurisdiction: str = "generic"
    positions: int = 1
    bill: str = "id003"
    printer: str = "tcl"
    hopper: bool = True
    limits: bool = False
    host: bool = False
    """Whether the cabinet's tickets and transfers go through a host system."""
    link: bool = False
    """Whether one of the cabinet's games has levels at a progressive controller."""
    wheel: bool = False
    games: tuple[str, ...] = ("maple-classic", "hold-fast", "river-wheel")
    levels: tuple[tuple[str, str], ...] = field(default=())
    gathering: str = ""
    """The game at whose table the players of all positions gather, or empty if they choose games independently."""
    start: str = "file"
    """How the cabinet file is made: ``file`` (unsigned), ``signed`` or ``asked``.

    ``signed``: two people sign it before the machine is started. ``asked``: they enter it on the screen at the first
    start.
    """

    @property
    def can_use_first_start(self) -> bool:
        """Return whether the cabinet file can be made at the first start.

        The first start offers only the library's jurisdictions.
        """
        return self.positions == 1 and not (self.limits or self.link)

    @classmethod
    def choose(cls, random_source: random.Random) -> "CabinetSetup":
        """Return a random cabinet.

        A cabinet has only some of all features, so that no feature hides another one.
        """
        if (
            jurisdiction := random_source.choice(("generic", "generic", "generic", *GAMES_BY_JURISDICTION))
        ) in GAMES_BY_JURISDICTION:
            return cls(
                jurisdiction=jurisdiction,
                printer=random_source.choice(PRINTERS),
                games=GAMES_BY_JURISDICTION[jurisdiction],
            )
        positions = random_source.choice((1, 1, 2, 3))
        has_host = positions == 1 and random_source.random() < 0.5
        has_wheel = positions > 1 and random_source.random() < 0.5
        games = [
            *random_source.sample(REEL_GAMES, random_source.randint(1, 2)),
            *random_source.sample(TABLE_GAMES, random_source.randint(1, 2)),
        ]
        levels: list[tuple[str, str]] = []
        if random_source.random() < 0.4:
            game = random_source.choice(sorted(STAND_ALONE_LEVELS_BY_GAME))
            games.append(game)
            levels += [(game, level) for level in STAND_ALONE_LEVELS_BY_GAME[game]]
        return cls(
            positions=positions,
            bill=random_source.choice(BILL_ACCEPTORS),
            printer=random_source.choice(PRINTERS),
            hopper=random_source.random() < 0.7,
            limits=random_source.random() < 0.4,
            host=has_host,
            link=positions == 1 and random_source.random() < 0.4,
            wheel=has_wheel,
            games=tuple(games),
            levels=tuple(levels),
        )

    @classmethod
    def choose_gathering(cls, random_source: random.Random) -> "CabinetSetup":
        """Return a random cabinet whose players gather at one table.

        It has few games, so that the players stay at this table.
        """
        game = random_source.choice(sorted(POSITION_COUNTS_BY_SHARED_GAME))
        return cls(
            positions=random_source.choice(POSITION_COUNTS_BY_SHARED_GAME[game]),
            bill=random_source.choice(BILL_ACCEPTORS),
            printer=random_source.choice(PRINTERS),
            hopper=random_source.random() < 0.5,
            limits=random_source.random() < 0.2,
            games=(game, random_source.choice(REEL_GAMES)),
            gathering=game,
        )

    def list_device_tables(self) -> dict[str, str]:
        """Return the table of each device in the cabinet file as TOML text, by the device's name."""
        device_lines = {"io": 'protocol = "ioboard"'}
        if self.wheel:
            device_lines["wheel"] = 'protocol = "wheel"'
        for number in range(1, self.positions + 1):
            kinds = {"bill": self.bill, "printer": self.printer, "coin": "cctalk_coin"}
            kinds |= {"hopper": "cctalk_hopper"} if self.hopper else {}
            for kind, protocol in kinds.items():
                device_lines[f"{kind}-{number}"] = f'protocol = "{protocol}"\nposition = {number}'
        return device_lines

    def format_first_start_seed(self, cabinet: Path) -> str:
        """Return the manufacturer's part of the cabinet file; the first start asks for the other parts."""
        return "[metrics]\nport = 0\n\n" + cabinet.read_text(encoding="utf-8").partition("port = 0\n\n")[2]

    def write_cabinet_file(self, folder: Path) -> Path:
        """Write the cabinet file and the files that it names into a folder; return its path."""
        profile = folder / "jurisdiction.toml"
        text = (Path(str(files("egm.profiles"))) / f"{self.jurisdiction}.toml").read_text(encoding="utf-8")
        profile.write_text(text + (PROTECTION_TABLE if self.limits else ""), encoding="utf-8")
        games = [*self.games, *([_write_wheel_roulette(folder)] if self.wheel else [])]
        games += [str(LINKED_GAME_FILE)] if self.link else []
        tables = [f'[[games]]\ngame = "{game}"' for game in games]
        tables += [f'[[progressives]]\ngame = "{game}"\nlevel = "{level}"' for game, level in self.levels]
        tables += [f"[devices.{name}]\n{table}" for name, table in self.list_device_tables().items()]
        tables += [format_link_tables()] if self.link else []
        tables += [_SAS_HOST_TABLE] if self.host else []
        path = folder / "cabinet.toml"
        path.write_text(
            _MACHINE_TABLES.format(serial=MACHINE_SERIAL, positions=self.positions) + "\n\n".join(tables),
            encoding="utf-8",
        )
        return path


_MACHINE_TABLES: Final = """[machine]
serial = "{serial}"
operator_number = "1"
site = "Simulation"
address = "1 Seed Street"
licence_holder = "Nobody"
profile = "./jurisdiction.toml"
positions = {positions}

[metrics]
port = 0

"""


_SAS_HOST_TABLE: Final = f"""[sas.main]

[host]
tickets = "system"
transfers = true
bonuses = true
asset_number = {ASSET_NUMBER}"""


def _write_wheel_roulette(folder: Path) -> str:
    name = "roulette-by-wheel"
    text = (LIBRARY_FOLDER / "tables" / f"{PHYSICAL_WHEEL_GAME}.toml").read_text(encoding="utf-8")
    text = text.replace(f'id = "{PHYSICAL_WHEEL_GAME}"', f'id = "{name}"', 1)
    text = text.replace("[cylinder]", '[cylinder]\ndecided_by = "wheel"', 1)
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return f"./{name}.toml"
