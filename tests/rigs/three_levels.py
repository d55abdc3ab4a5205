"""Machines with progressive levels: the test game of three levels, its levels their own or a controller's."""

from fractions import Fraction
from pathlib import Path

import egm.profiles
from egm.config.levels import LevelScope, ProgressiveLevelTable
from egm.kernel.events import EventType, State
from egm.progressive.definition import LevelDefinition, LevelStakeAndOdds, compute_mystery_odds
from egm.progressive.display import DisplayedAmount, LevelDisplays, LevelStatus
from egm.progressive.level import LevelTerms
from egm.testing.machine import MachineRig, ScriptedChance, create_generator

GAME = Path(__file__).parents[1] / "vectors" / "three-levels.toml"
OWN = tuple(ProgressiveLevelTable(game="three-levels", level=level) for level in ("top", "luck", "mystery"))
LINKED = (
    ProgressiveLevelTable(
        game="three-levels", level="top", kind=LevelScope.LINKED, stakes={"50": "TOP", "100": "TOP-2"}
    ),
    ProgressiveLevelTable(
        game="three-levels", level="luck", kind=LevelScope.LINKED, stakes={"50": "LUCK", "100": "LUCK-2"}
    ),
    ProgressiveLevelTable(game="three-levels", level="mystery"),
)
STAKE = 50
MYSTERY_TERMS = LevelTerms(
    base_cents=500,
    increment=Fraction(1, 90),
    hidden_share=Fraction(1, 1000),
    ceiling_cents=550,
    is_mystery=True,
)
LINKED_MYSTERY = (
    ProgressiveLevelTable(game="three-levels", level="top"),
    ProgressiveLevelTable(game="three-levels", level="luck"),
    ProgressiveLevelTable(
        game="three-levels", level="mystery", kind=LevelScope.LINKED, stakes={"50": "LUCKY"}
    ),
)
A, B, C = 0, 1, 3  # the stops of the reel
NO_LUCK, LUCK = 5, 0


def lucky(terms=MYSTERY_TERMS):
    """The shared mystery level, as a level file defines it."""
    chance = LevelStakeAndOdds(stake_cents=STAKE, odds=compute_mystery_odds(terms, STAKE))
    names = {"en": "Lucky", "fr": "Chanceux"}
    return LevelDefinition(
        id="LUCKY", names=names, kind=LevelScope.LINKED, terms=terms, stake_and_odds=chance
    )


def write_profile(folder: Path, old: str, new: str) -> Path:
    """The generic profile with ``old`` replaced, in a file of its own."""
    text = Path(egm.profiles.__file__).with_name("generic.toml").read_text()
    assert old in text
    path = folder / "place.toml"
    path.write_text(text.replace(old, new))
    return path


class FixedFace:
    """What linked levels show, as a test wants it."""

    def __init__(self, amount_cents: int = 1700) -> None:
        self.now = DisplayedAmount(amount_cents, LevelStatus.UP)

    def find_displayed_amount(self, pool: str) -> DisplayedAmount:
        return self.now

    def find_contribution_status(self, pool: str) -> None:
        return None


def room_of(
    folder: Path,
    *numbers: int,
    levels: tuple[ProgressiveLevelTable, ...] = OWN,
    games: tuple[str, ...] = (str(GAME),),
    **options,
) -> MachineRig:
    """A machine with the test game at 5 cents a credit, and the numbers it will draw."""
    chance = ScriptedChance(*numbers) if numbers else None
    rig = MachineRig(folder, games=games, levels=levels, chance=chance, **options)
    if levels is not OWN:
        rig.machine.component(LevelDisplays).link = FixedFace()
    return rig


def hitting(folder: Path, **options) -> MachineRig:
    """A machine that shows a game which has hit a linked level, with no controller to answer."""
    rig = room_of(folder, A, NO_LUCK, 49, levels=LINKED, devices=("printer",), **options)
    rig.boot().insert(500)
    rig.play()
    rig.machine.random_service = create_generator()
    return rig


def awaiting(folder: Path, **options) -> MachineRig:
    """A machine whose game waits for the linked level that it has hit, with no controller to answer."""
    rig = hitting(folder, **options)
    rig.report_shown()
    assert rig.state is State.AWAITING_AWARD
    return rig


#: The level that nobody plays for any more at :func:`given_up`.
DEAR = "three-levels.top.1000"


def given_up(folder: Path) -> MachineRig:
    """A machine that was played at 5 cents and at 1 dollar a credit, and offers only 5 cents any more."""
    first = room_of(folder, *(B, NO_LUCK, 49) * 4).boot().insert(10000)
    first.engine.handle(EventType.DENOMINATION, value=100)
    for _ in range(3):
        first.play()
        first.report_shown()
    first.engine.handle(EventType.DENOMINATION, value=5)
    first.play()
    first.report_shown()
    first.engine.handle(EventType.CASH_OUT)
    first.engine.handle(EventType.KEY_TURNED, key="attendant")
    first.close()
    return room_of(folder, denominations_cents=(5,)).boot()
