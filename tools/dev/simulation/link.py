"""Link of the simulated machine: the real controller of shared levels, at the other end of a wire in memory.

The wire carries the real bytes late, some of them twice, and loses what is under way when it breaks. The
controller may start again on its store, which keeps everything.
"""

import asyncio
import random
from collections.abc import Callable
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Final

from egm.config.levels import Kind
from egm.progressive.carrier import CarrierListener
from egm.progressive.definition import LevelDefinition, create_levels
from egm.progressive.messages import FromMachine, decode_controller_message, decode_machine_message, encode
from rng import EntropySource, Personalization, RandomService, ReseedPolicy
from tools.floor.progressive.controller import Controller, ReceivedMessage
from tools.floor.progressive.secret_store import SecretStore
from tools.floor.progressive.store import SqliteStore

SERIAL: Final = "EGM-0000001"
#: The game that plays for its levels, at this stake.
GAME: Final = Path(__file__).parents[3] / "tests" / "vectors" / "three-levels.toml"
STAKE_CENTS: Final = 50
LINKED: Final = ("TOP", "LUCKY")
_VALUES_SECONDS: Final = 0.5
_LATE_SECONDS: Final = 0.3
_TWICE: Final = 0.05


def definitions() -> tuple[LevelDefinition, ...]:
    """Return the levels of the controller: one won by a prize, one by its secret amount."""
    names = {"en": "Lucky", "fr": "Chanceux"}
    top = {
        "id": "TOP",
        "name": names,
        "game": str(GAME),
        "game_level": "top",
        "stake_cents": STAKE_CENTS,
        "base_cents": 1500,
        "increment": "1/70",
    }
    mystery = {
        "id": "LUCKY",
        "name": names,
        "mystery": True,
        "stake_cents": STAKE_CENTS,
        "base_cents": 500,
        "ceiling_cents": 550,
        "increment": "1/90",
        "hidden": "1/1000",
    }
    return create_levels({"level": [top, mystery]}, "the simulation")


class FloorLink:
    """The controller and the wire; a :class:`~egm.progressive.carrier.Carrier` of the machine's."""

    def __init__(
        self, folder: Path, dice: random.Random, now: Callable[[], datetime], source: EntropySource
    ) -> None:
        self._path, self._dice, self._now, self._source = folder / "controller.db", dice, now, source
        self.is_up = True
        """Whether the wire is whole."""
        self._ears: CarrierListener | None = None
        self._connections = 0
        self._open()

    def _open(self) -> None:
        self._store = SqliteStore(self._path)
        self.controller = Controller(self._store, self._now, SecretStore(bytes(32), self._chance))
        self.controller.open_levels(definitions())
        self.controller.admit(SERIAL)

    def _chance(self, term: int) -> RandomService:
        who = Personalization(
            product="simulation", version="1", machine_serial="controller", instance=1, boot_counter=term
        )
        policy = ReseedPolicy(fresh_input_each_step=False)
        return RandomService.start(
            personalization=who, sources=[self._source], policy=policy, clock=lambda: 0
        )

    def restart(self) -> None:
        """Restart the controller; messages on their way to it are lost."""
        self._break()
        self._store.close()
        self._open()

    def close(self) -> None:
        """Give the store up."""
        self._store.close()

    # ------------------------------------------------------------ as a carrier
    async def run(self, ears: CarrierListener) -> None:
        """Send the levels' values to the machine while the wire is connected."""
        try:
            while True:
                if self.is_up and self._ears is None:
                    self._ears = ears
                    self._connections += 1
                    ears.handle_connection()
                if self.is_up:
                    for value in self.controller.values():
                        self._to_machine(encode(value))
                await asyncio.sleep(_VALUES_SECONDS)
        finally:
            self._ears = None

    def send(self, message: FromMachine) -> None:
        """Send, or lose it where the wire is broken."""
        if self._ears is not None:
            self._carry(encode(message), self._to_controller)

    def cut(self) -> None:
        """Stop all traffic because the machine has lost its power."""
        self._ears = None

    def lose(self) -> None:
        """Break the wire."""
        self.is_up = False
        self._break()

    def _break(self) -> None:
        ears, self._ears = self._ears, None
        if ears is not None:
            ears.disconnected("the wire is broken")

    # ------------------------------------------------------------ the wire
    def _carry(self, data: bytes, arrive: Callable[[bytes], None]) -> None:
        """Deliver data unless its connection is lost; what a machine sent before its power loss may arrive."""
        connection = self._connections

        def there() -> None:
            if self.is_up and connection == self._connections:
                arrive(data)

        for _ in range(2 if self._dice.random() < _TWICE else 1):
            late = self._dice.choice((0.0, self._dice.uniform(0.0, _LATE_SECONDS)))
            asyncio.get_running_loop().call_later(late, there)

    def _to_controller(self, data: bytes) -> None:
        for answer in self.controller.take([ReceivedMessage(SERIAL, decode_machine_message(data))]):
            self._carry(encode(answer), self._to_machine)

    def _to_machine(self, data: bytes) -> None:
        if self._ears is not None:
            self._ears.process_message(decode_controller_message(data))

    # ------------------------------------------------------------ its books
    @property
    def is_open(self) -> bool:
        """Whether a hit is not paid yet."""
        return any(not hit.way for hit in self.controller.register())

    def paid_cents(self) -> int:
        """Return what the machine reports as paid from all levels, by the win register."""
        self.controller.check()
        return sum(hit.paid_cents or 0 for hit in self.controller.register() if hit.way != "void")

    def contributed(self, level: str) -> Fraction:
        """Return the contributions of wagers to a level."""
        return next(each.level.contributed for each in self.controller.records() if each.id == level)


def slots() -> str:
    """Return the levels' part of the cabinet file; the game is offered at this stake only."""
    tables = [
        f'[[progressives]]\ngame = "three-levels"\nlevel = "{level}"\nkind = "{Kind.LINKED}"\n'
        f'stakes = {{ "{STAKE_CENTS}" = "{name}" }}'
        for level, name in (("top", "TOP"), ("mystery", "LUCKY"))
    ]
    return "\n\n".join([*tables, '[[progressives]]\ngame = "three-levels"\nlevel = "luck"'])
