"""The spin of a real wheel that rounds wait for, as the journal keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass

from egm.kernel.machine import Machine
from egm.record_codec import omitted
from egm.records.game_record import GameRecord
from egm.records.keys import WheelKey


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelSpin:
    """A spin, known by the round of its games; and the pocket once it is known.

    ``spin`` is the wheel's own counter, which starts again and wraps: it tells people which spin it was, and
    decides nothing.
    """

    round_id: str
    spin: int
    number: int | None = omitted(None)
    unheard: str = omitted("")
    """Why its number will never be known; empty while it may be."""

    earlier: Mapping[str, int] = omitted({})
    """Numbers of rounds before, by round, that a game has still to take."""

    @property
    def is_awaited(self) -> bool:
        """Whether its number is still to come."""
        return self.number is None and not self.unheard

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers recorded that games may have to take, by round."""
        return {**self.earlier, **({} if self.number is None else {self.round_id: self.number})}


def last_spin(machine: Machine) -> WheelSpin | None:
    """The last spin that bets were closed for; None: none was."""
    return machine.memory.read(WheelSpin, WheelKey.SPIN)


def recorded_number(machine: Machine, game: GameRecord) -> int | None:
    """The number of the spin that decides a game of a real wheel; None while none is recorded."""
    spin = last_spin(machine)
    return None if spin is None else spin.numbers.get(game.round_id)
