"""Connect the simulated machine to a real progressive controller over a connection in memory.

The connection delivers the real bytes late, some of them twice, and loses the bytes in transit when it breaks. The
controller can be restarted on its store.
"""

import asyncio
import random
from collections.abc import Callable
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Final

from egm.config.levels import LevelScope
from egm.progressive.carrier import CarrierListener
from egm.progressive.definition import LevelDefinition, create_levels
from egm.progressive.messages import MachineMessage, decode_controller_message, decode_machine_message, encode
from rng import EntropySource, Personalization, RandomService, ReseedPolicy
from tools.floor.progressive.controller import Controller, ReceivedMessage
from tools.floor.progressive.mystery_secrets import MysterySecrets
from tools.floor.progressive.store import SqliteStore

MACHINE_SERIAL: Final = "EGM-0000001"
#: The game that contributes to its levels, at this stake.
LINKED_GAME_FILE: Final = Path(__file__).parents[3] / "tests" / "vectors" / "three-levels.toml"
STAKE_CENTS: Final = 50
LINKED_LEVELS: Final = ("TOP", "LUCKY")
_VALUES_INTERVAL_SECONDS: Final = 0.5
_DELAY_SECONDS_MAX: Final = 0.3
_DUPLICATE_PROBABILITY: Final = 0.05


def create_level_definitions() -> tuple[LevelDefinition, ...]:
    """Return the definitions of the controller's two levels: one is won by a prize, one at its secret amount."""
    names = {"en": "Lucky", "fr": "Chanceux"}
    top = {
        "id": "TOP",
        "name": names,
        "game": str(LINKED_GAME_FILE),
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
    """The controller and the connection to it: a :class:`~egm.progressive.carrier.LinkCarrier` for the machine."""

    def __init__(
        self, folder: Path, random_source: random.Random, now: Callable[[], datetime], source: EntropySource
    ) -> None:
        self._path, self._random_source, self._now, self._source = (
            folder / "controller.db",
            random_source,
            now,
            source,
        )
        self.is_up = True
        """Whether the connection is working."""
        self._listener: CarrierListener | None = None
        self._connections = 0
        self._open_controller()

    def _open_controller(self) -> None:
        self._store = SqliteStore(self._path)
        self.controller = Controller(
            self._store, self._now, MysterySecrets(bytes(32), self._create_generator)
        )
        self.controller.open_levels(create_level_definitions())
        self.controller.admit_machine(MACHINE_SERIAL)

    def _create_generator(self, term: int) -> RandomService:
        personalization = Personalization(
            product="simulation", version="1", machine_serial="controller", instance=1, boot_counter=term
        )
        policy = ReseedPolicy(fresh_input_each_request=False)
        return RandomService.start(
            personalization=personalization, sources=[self._source], policy=policy, clock=lambda: 0
        )

    def restart(self) -> None:
        """Restart the controller; messages on their way to it are lost."""
        self._disconnect()
        self._store.close()
        self._open_controller()

    def close(self) -> None:
        """Close the controller's store."""
        self._store.close()

    # ------------------------------------------------------------ as a carrier
    async def run(self, listener: CarrierListener) -> None:
        """Send the values of the levels to the machine while the connection is working."""
        try:
            while True:
                if self.is_up and self._listener is None:
                    self._listener = listener
                    self._connections += 1
                    listener.handle_connected()
                if self.is_up:
                    for value in self.controller.update_values():
                        self._deliver_to_machine(encode(value))
                await asyncio.sleep(_VALUES_INTERVAL_SECONDS)
        finally:
            self._listener = None

    def send(self, message: MachineMessage) -> None:
        """Send a machine's message to the controller; discard it if the connection is broken."""
        if self._listener is not None:
            self._send_delayed(encode(message), self._deliver_to_controller)

    def drop_connection(self) -> None:
        """Stop all traffic, because the machine has lost its power."""
        self._listener = None

    def break_wire(self) -> None:
        """Break the connection."""
        self.is_up = False
        self._disconnect()

    def _disconnect(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.handle_disconnected("the wire is broken")

    # ------------------------------------------------------------ the wire
    def _send_delayed(self, data: bytes, deliver: Callable[[bytes], None]) -> None:
        """Deliver data after a delay, unless the connection is lost meanwhile.

        What a machine sent before its power loss may still arrive.
        """
        connection = self._connections

        def there() -> None:
            if self.is_up and connection == self._connections:
                deliver(data)

        for _ in range(2 if self._random_source.random() < _DUPLICATE_PROBABILITY else 1):
            delay_seconds = self._random_source.choice(
                (0.0, self._random_source.uniform(0.0, _DELAY_SECONDS_MAX))
            )
            asyncio.get_running_loop().call_later(delay_seconds, there)

    def _deliver_to_controller(self, data: bytes) -> None:
        for reply in self.controller.process_messages(
            [ReceivedMessage(MACHINE_SERIAL, decode_machine_message(data))]
        ):
            self._send_delayed(encode(reply), self._deliver_to_machine)

    def _deliver_to_machine(self, data: bytes) -> None:
        if self._listener is not None:
            self._listener.process_message(decode_controller_message(data))

    # ------------------------------------------------------------ records
    @property
    def has_open_items(self) -> bool:
        """Return whether a hit waits for the machine's report that it was paid."""
        return any(not hit.payment_method for hit in self.controller.read_win_register())

    def sum_paid_cents(self) -> int:
        """Return the total of the payments from all levels in the controller's win register, in minor units."""
        self.controller.verify_levels()
        return sum(
            hit.paid_cents or 0 for hit in self.controller.read_win_register() if hit.payment_method != "void"
        )

    def read_contributions(self, level: str) -> Fraction:
        """Return the sum of all wagers' contributions to a level, in minor units."""
        return next(
            each.level.contributed_amount for each in self.controller.list_level_records() if each.id == level
        )


def format_link_tables() -> str:
    """Return the tables of the levels in the cabinet file, as TOML text.

    With them the machine offers the game only at the stake that plays for the levels.
    """
    tables = [
        f'[[progressives]]\ngame = "three-levels"\nlevel = "{level}"\nkind = "{LevelScope.LINKED}"\n'
        f'stakes = {{ "{STAKE_CENTS}" = "{name}" }}'
        for level, name in (("top", "TOP"), ("mystery", "LUCKY"))
    ]
    return "\n\n".join([*tables, '[[progressives]]\ngame = "three-levels"\nlevel = "luck"'])
