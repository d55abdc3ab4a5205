"""Player positions: one machine may have several, each with its own credits, meters, game and devices.

What is the player's stands under the position's number; what is the machine's (doors, generator, software,
staff, levels, hosts) is shared by all of them. The first position of a machine, and so the only one of most,
has the plain names: a journal begun with one position is read the same with more.
"""

from dataclasses import dataclass
from typing import Final

#: Faults of what a position has for itself; every other fault is the whole machine's (O-06).
OWN_FAULTS: Final = frozenset(
    {"bill_acceptor", "coin_acceptor", "hopper", "ticket_printer", "game_defective"}
)


def is_own_fault(code: str) -> bool:
    """Whether a fault stops its position only."""
    return code.partition(".")[0] in OWN_FAULTS


@dataclass(frozen=True, slots=True)
class Position:
    """A position: its number, from 1, and how many the machine has."""

    number: int = 1
    of: int = 1

    def account(self, kind: str) -> str:
        """The account of this position's credits of a kind."""
        return f"credit:{self.number}:{kind}"

    @property
    def dims(self) -> dict[str, str | int]:
        """What the meters of this position are told apart by, where there are several."""
        return {"position": self.number} if self.of > 1 else {}
