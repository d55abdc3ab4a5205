"""A house from its seed: the cabinet's positions, its devices and their protocols, its games and place."""

import random
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Final

from paytables.definition import LIBRARY
from tools.dev.host.host import ASSET
from tools.dev.simulation.link import GAME, SERIAL, slots

REELS: Final = ("maple-classic", "hold-fast", "river-wheel", "seven-rivers", "aurora-keno", "orchard-picnic")
TABLES: Final = (
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
#: A roulette of the library, decided by the wheel that stands with the machine.
BY_WHEEL: Final = "quebec-roulette-french"
#: Games with levels the machine keeps itself.
LEVELS: Final = {"lantern-harbour": ("harbour", "grand-harbour")}
PRINTERS: Final = ("tcl", "ithaca")
#: Places that take few games, and those.
ELSEWHERE: Final = {
    "quebec-vlt": ("maple-classic", "river-wheel"),
    "quebec-casino": ("maple-classic", "quebec-roulette-french", "quebec-blackjack"),
    "monaco": ("maple-classic", "hold-fast", "river-wheel"),
}
#: Player protection that a venue may require in addition to the neutral jurisdiction's rules.
LIMITS: Final = """
[protection]
own_limits = true
clock = true
"""


@dataclass(frozen=True, slots=True)
class House:
    """The cabinet on the floor."""

    place: str = "generic"
    positions: int = 1
    bill: str = "id003"
    printer: str = "tcl"
    hopper: bool = True
    limits: bool = False
    host: bool = False
    """Whether its tickets and transfers go through a host."""
    link: bool = False
    """Whether a controller keeps levels of one of its games."""
    wheel: bool = False
    games: tuple[str, ...] = ("maple-classic", "hold-fast", "river-wheel")
    levels: tuple[tuple[str, str], ...] = field(default=())
    start: str = "file"
    """Where its cabinet file comes from: a ``file`` that nobody signed, one ``signed`` by two persons before
    the machine is started, or one ``asked`` for on the screen at the first start."""

    @property
    def may_be_asked(self) -> bool:
        """Whether its cabinet file can come from the first start, whose places are those of the library."""
        return self.positions == 1 and not (self.limits or self.link)

    @classmethod
    def of(cls, dice: random.Random) -> "House":
        """Any house; each has some of what there is, so that no part hides another."""
        if (place := dice.choice(("generic", "generic", "generic", *ELSEWHERE))) in ELSEWHERE:
            return cls(place=place, printer=dice.choice(PRINTERS), games=ELSEWHERE[place])
        positions = dice.choice((1, 1, 2, 3))
        host = positions == 1 and dice.random() < 0.5
        wheel = positions > 1 and dice.random() < 0.5
        games = [*dice.sample(REELS, dice.randint(1, 2)), *dice.sample(TABLES, dice.randint(1, 2))]
        levels: list[tuple[str, str]] = []
        if dice.random() < 0.4:
            game = dice.choice(sorted(LEVELS))
            games.append(game)
            levels += [(game, level) for level in LEVELS[game]]
        return cls(
            positions=positions,
            bill=dice.choice(("id003", "ebds", "cctalk_bill")),
            printer=dice.choice(PRINTERS),
            hopper=dice.random() < 0.7,
            limits=dice.random() < 0.4,
            host=host,
            link=positions == 1 and dice.random() < 0.4,
            wheel=wheel,
            games=tuple(games),
            levels=tuple(levels),
        )

    def devices(self) -> dict[str, str]:
        """Return each device's name and its table in the cabinet file."""
        found = {"io": 'protocol = "ioboard"'}
        if self.wheel:
            found["wheel"] = 'protocol = "wheel"'
        for number in range(1, self.positions + 1):
            kinds = {"bill": self.bill, "printer": self.printer, "coin": "cctalk_coin"}
            kinds |= {"hopper": "cctalk_hopper"} if self.hopper else {}
            for kind, protocol in kinds.items():
                found[f"{kind}-{number}"] = f'protocol = "{protocol}"\nposition = {number}'
        return found

    def seed(self, cabinet: Path) -> str:
        """Return the builder's part of its cabinet file; the first start asks for the rest."""
        return "[metrics]\nport = 0\n\n" + cabinet.read_text(encoding="utf-8").partition("port = 0\n\n")[2]

    def write(self, folder: Path) -> Path:
        """Write its cabinet file, and what that names, into a folder."""
        profile = folder / "place.toml"
        text = (Path(str(files("egm.profiles"))) / f"{self.place}.toml").read_text(encoding="utf-8")
        profile.write_text(text + (LIMITS if self.limits else ""), encoding="utf-8")
        games = [*self.games, *([_by_wheel(folder)] if self.wheel else [])]
        games += [str(GAME)] if self.link else []
        tables = [f'[[games]]\ngame = "{game}"' for game in games]
        tables += [f'[[progressives]]\ngame = "{game}"\nlevel = "{level}"' for game, level in self.levels]
        tables += [f"[devices.{name}]\n{table}" for name, table in self.devices().items()]
        tables += [slots()] if self.link else []
        tables += [_HOST] if self.host else []
        path = folder / "cabinet.toml"
        path.write_text(
            _MACHINE.format(serial=SERIAL, positions=self.positions) + "\n\n".join(tables), encoding="utf-8"
        )
        return path


_MACHINE: Final = """[machine]
serial = "{serial}"
operator_number = "1"
site = "Simulation"
address = "1 Seed Street"
licence_holder = "Nobody"
profile = "./place.toml"
positions = {positions}

[metrics]
port = 0

"""


_HOST: Final = f"""[sas.main]

[host]
tickets = "system"
transfers = true
bonuses = true
asset_number = {ASSET}"""


def _by_wheel(folder: Path) -> str:
    name = "roulette-by-wheel"
    text = (LIBRARY / "tables" / f"{BY_WHEEL}.toml").read_text(encoding="utf-8")
    text = text.replace(f'id = "{BY_WHEEL}"', f'id = "{name}"', 1)
    text = text.replace("[cylinder]", '[cylinder]\ndecided_by = "wheel"', 1)
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return f"./{name}.toml"
