"""The spin of a real wheel that rounds wait for, as the journal keeps it."""

from dataclasses import dataclass

from egm.kernel.machine import Machine
from egm.record_codec import omitted
from egm.records.keys import WheelKey


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelSpin:
    """A spin: the round of its games, the wheel's own number of it, and the pocket once it is known."""

    round_id: str
    spin: int
    number: int | None = omitted(None)


def last_spin(machine: Machine) -> WheelSpin | None:
    """The last spin that bets were closed for; None: none was."""
    return machine.memory.read(WheelSpin, WheelKey.SPIN)
