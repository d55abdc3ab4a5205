"""The stored record of a real wheel's spin, for whose number the games of a round wait."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from egm.kernel.machine import Machine
from egm.play.keys import WheelKey
from egm.play.records.game_record import GameRecord
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import Count

MissedSpinReason: TypeAlias = Literal["another_spin", "went_on", "line_lost", "restart"]
"""Why the number of a spin was missed: the wheel moved on, the reader's line was lost, or the machine restarted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelSpin:
    """A spin of a real wheel, identified by the id of the round that it decides; with its number once known.

    ``wheel_counter`` is the wheel's own counter, which restarts and wraps around. It is for display only and decides
    nothing.
    """

    round_id: str
    wheel_counter: Count = field(metadata=stored_as("spin"))
    winning_number: Count | None = omit_if_default(None, key="number")
    missed_reason: Literal["", "another_spin", "went_on", "line_lost", "restart"] = omit_if_default(
        "", key="unheard"
    )
    """Why the number of the spin was missed for good; empty while it may still arrive."""

    earlier_numbers: Mapping[str, Count] = omit_if_default({}, key="earlier")
    """The numbers of earlier spins that a game has not taken yet, by round id."""

    @property
    def is_awaited(self) -> bool:
        """Return whether the number of the spin is not known yet and may still arrive."""
        return self.winning_number is None and not self.missed_reason

    @property
    def numbers(self) -> dict[str, int]:
        """Return the winning numbers recorded for rounds whose games may still have to take them, by round id."""
        return {
            **self.earlier_numbers,
            **({} if self.winning_number is None else {self.round_id: self.winning_number}),
        }


def read_last_spin(machine: Machine) -> WheelSpin | None:
    """Return the last spin for which betting was closed, or None."""
    return machine.memory.read(WheelSpin, WheelKey.SPIN)


def read_recorded_number(machine: Machine, game: GameRecord) -> int | None:
    """Return the number of the spin that decides a real-wheel game, or None if none is recorded."""
    spin = read_last_spin(machine)
    return None if spin is None else spin.numbers.get(game.round_id)
