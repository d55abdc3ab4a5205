"""Machines with a test game of three progressive levels, stand-alone or linked to a controller."""

from fractions import Fraction
from pathlib import Path

import egm.profiles
from egm.config.levels import LevelScope, ProgressiveLevelTable
from egm.kernel.events import EventType, State
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate, compute_mystery_hit_rate
from egm.progressive.display import DisplayedAmount, LevelAmountSources, LevelStatus
from egm.progressive.level import LevelTerms
from egm.testing.machine import MachineRig, ScriptedGenerator, create_generator

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
    hidden_increment=Fraction(1, 1000),
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


def define_mystery_level(terms=MYSTERY_TERMS):
    """Return the definition of the linked mystery level."""
    stake_and_hit_rate = LevelStakeAndHitRate(
        stake_cents=STAKE, hit_rate=compute_mystery_hit_rate(terms, STAKE)
    )
    names = {"en": "Lucky", "fr": "Chanceux"}
    return LevelDefinition(
        id="LUCKY", names=names, scope=LevelScope.LINKED, terms=terms, stake_and_hit_rate=stake_and_hit_rate
    )


def write_profile(folder: Path, old: str, new: str) -> Path:
    """Write the generic profile with ``old`` replaced by ``new``; return the file's path."""
    text = Path(egm.profiles.__file__).with_name("generic.toml").read_text()
    assert old in text
    path = folder / "place.toml"
    path.write_text(text.replace(old, new))
    return path


class FixedDisplays:
    """The displays of linked levels, all with the amount in ``now``."""

    def __init__(self, amount_cents: int = 1700) -> None:
        self.now = DisplayedAmount(amount_cents, LevelStatus.UP)

    def find_displayed_amount(self, pool_id: str) -> DisplayedAmount:
        return self.now

    def find_contribution_status(self, pool_id: str) -> None:
        return None


def make_levels_machine(
    folder: Path,
    *numbers: int,
    levels: tuple[ProgressiveLevelTable, ...] = OWN,
    games: tuple[str, ...] = (str(GAME),),
    **options,
) -> MachineRig:
    """Return a machine with the test game at 5 cents a credit that will draw these numbers."""
    generator = ScriptedGenerator(*numbers) if numbers else None
    rig = MachineRig(folder, games=games, levels=levels, generator=generator, **options)
    if levels is not OWN:
        rig.machine.component(LevelAmountSources).link = FixedDisplays()
    return rig


def show_linked_hit(folder: Path, **options) -> MachineRig:
    """Return a machine that is showing a game that has hit a linked level; no controller is connected."""
    rig = make_levels_machine(folder, A, NO_LUCK, 49, levels=LINKED, devices=("printer",), **options)
    rig.boot().insert(500)
    rig.play()
    rig.machine.random_service = create_generator()
    return rig


def await_linked_award(folder: Path, **options) -> MachineRig:
    """Return a machine whose game waits for the award of a linked level; no controller is connected."""
    rig = show_linked_hit(folder, **options)
    rig.report_shown()
    assert rig.state is State.AWAITING_AWARD
    return rig


#: The level that no denomination of the machine of :func:`drop_denomination` plays for any more.
DROPPED_LEVEL = "three-levels.top.1000"


def drop_denomination(folder: Path) -> MachineRig:
    """Return a machine that was played at 5 cents and at 1 dollar a credit, and now offers only 5 cents."""
    first = make_levels_machine(folder, *(B, NO_LUCK, 49) * 4).boot().insert(10000)
    first.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    for _ in range(3):
        first.play()
        first.report_shown()
    first.engine.handle(EventType.SELECT_DENOMINATION, value=5)
    first.play()
    first.report_shown()
    first.engine.handle(EventType.CASH_OUT)
    first.engine.handle(EventType.KEY_TURNED, key="attendant")
    first.close()
    return make_levels_machine(folder, denominations_cents=(5,)).boot()
