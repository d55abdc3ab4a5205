"""Player positions: one machine may have several, each with its own credits, meters, game and devices.

Storage keys and credit accounts of a player position contain its number, except the storage keys of position 1. Its
meters have the dimension ``position`` if the machine has several positions. A journal that was started with one
position therefore remains valid when positions are added. What belongs to the machine (doors, random number generator,
software, staff, levels, hosts) is shared.
"""

from dataclasses import dataclass
from typing import Final

#: Faults that concern one position; every other fault concerns the whole machine (O-06).
POSITION_FAULT_PREFIXES: Final = frozenset(
    {"bill_acceptor", "coin_acceptor", "hopper", "ticket_printer", "game_defective"}
)


def is_position_fault(code: str) -> bool:
    """Return whether the fault concerns only the player position at which it occurs, not the whole machine."""
    return code.partition(".")[0] in POSITION_FAULT_PREFIXES


@dataclass(frozen=True, slots=True)
class Position:
    """A player position: its number, from 1, and the number of positions of the machine."""

    number: int = 1
    position_count: int = 1

    def name_credit_account(self, credit_kind: str) -> str:
        """Return the name of this player position's account for credits of one kind."""
        return f"credit:{self.number}:{credit_kind}"

    @property
    def meter_dimensions(self) -> dict[str, str | int]:
        """Return the meter dimensions that name this player position; empty if it is the machine's only one."""
        return {"position": self.number} if self.position_count > 1 else {}
