"""The stored record of a real wheel's spin, whose number decides the games of a round."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from egm.kernel.machine import PositionMachine
from egm.play.keys import WheelKey
from egm.play.records.game_record import GameRecord
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import Count

#: Why the number of a spin was missed.
#:
#: ``another_spin``: the wheel reported the number of a different spin. ``went_on``: it began the next spin without
#: reporting a number. ``line_lost``: the connection to the reader was lost. ``restart``: the machine restarted.
MissedSpinReason: TypeAlias = Literal["another_spin", "went_on", "line_lost", "restart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelSpin:
    """One spin of a real wheel, with its number once that is known."""

    round_id: str
    """The id of the round that the spin decides; it identifies the spin."""
    spin_counter: Count = field(metadata=stored_as("spin"))
    """The wheel's own count of its spins, which restarts and wraps around; a different value means a different spin."""
    winning_number: Count | None = omit_if_default(None, key="number")
    missed_reason: Literal["", MissedSpinReason] = omit_if_default("", key="unheard")
    """Why the number of the spin will never be known; empty while it may still arrive."""

    earlier_numbers: Mapping[str, Count] = omit_if_default({}, key="earlier")
    """The numbers of earlier spins whose games have not been completed with them yet, by round id."""

    @property
    def is_awaited(self) -> bool:
        """Return whether the number of the spin is unknown but may still arrive."""
        return self.winning_number is None and not self.missed_reason

    @property
    def number_by_round_id(self) -> dict[str, int]:
        """Return the recorded winning numbers, also of earlier spins whose games still need them, by round id."""
        return {
            **self.earlier_numbers,
            **({} if self.winning_number is None else {self.round_id: self.winning_number}),
        }


def read_last_spin(machine: PositionMachine) -> WheelSpin | None:
    """Return the last spin for which betting was closed, or None."""
    return machine.memory.read(WheelSpin, WheelKey.LAST_SPIN)


def read_winning_number(machine: PositionMachine, game_record: GameRecord) -> int | None:
    """Return the number of the wheel spin that decides a game; None if it is not recorded, or no wheel decides."""
    spin = read_last_spin(machine)
    return None if spin is None else spin.number_by_round_id.get(game_record.round_id)
