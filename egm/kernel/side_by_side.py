"""Positions side by side: what is done at one position of a machine and concerns another finds it here.

Every position has the same object. What a board of keys and lamps serves is its own position; the first
position's serves each that has no board of its own as well.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from egm.kernel.engine import Engine
from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.kernel.messages import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class AtWork:
    """A position at work: how events are let happen there, and what a person may see of it.

    ``signal`` makes its board's tower light and bell true again; ``has_board``: it has one.
    """

    engine: Engine[Machine]
    handle: Callable[[Event], None]
    snapshot: Callable[[], Snapshot]
    signal: Callable[[], None]
    has_board: bool


@dataclass(slots=True)
class SideBySide:
    """The positions of a machine that are at work, by number."""

    at: dict[int, AtWork] = field(default_factory=dict)

    def served_by(self, number: int) -> Iterator[AtWork]:
        """The positions that the board of one serves, in their order."""
        for other in sorted(self.at):
            if other == number or (number == 1 and not self.at[other].has_board):
                yield self.at[other]
