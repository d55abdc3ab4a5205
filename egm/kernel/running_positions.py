"""Access from one player position to the machine's other ones, for actions that concern them.

All positions share one :class:`RunningPositions`. An I/O board (keys, lamps, tower light) serves its own
position; the board of position 1 also serves every position without a board.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from egm.devices.interface import FaultCode
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningPosition:
    """One running player position: it takes events and returns its current snapshot.

    ``update_tower_light_and_bell`` updates the tower light and the bell of the I/O board that serves the
    position. ``has_own_io_board`` says whether the position has its own I/O board. ``find_open_doors`` returns
    the doors that this board reports open, or None until it has reported its inputs; ``list_board_faults`` returns
    the board's active faults.
    """

    engine: StateMachineEngine[PositionMachine]
    submit_event: Callable[[Event], None]
    build_snapshot: Callable[[], Snapshot]
    update_tower_light_and_bell: Callable[[], None]
    has_own_io_board: bool
    find_open_doors: Callable[[], frozenset[str] | None] = frozenset
    list_board_faults: Callable[[], frozenset[FaultCode]] = frozenset


@dataclass(slots=True)
class RunningPositions:
    """All running player positions of the machine, by position number."""

    position_by_number: dict[int, RunningPosition] = field(default_factory=dict)
    _shared_snapshot_by_number: dict[int, Snapshot] | None = None
    """The snapshots built so far during :meth:`share_snapshots`, by position number; None at other times."""

    @contextmanager
    def share_snapshots(self) -> Iterator[None]:
        """Let :meth:`read_snapshot` build each position's snapshot only once while the context lasts.

        The screen, the tower lights and the background services process a change one after the other, and all read
        the same snapshots.
        """
        self._shared_snapshot_by_number = {}
        try:
            yield
        finally:
            self._shared_snapshot_by_number = None

    def read_snapshot(self, position_number: int) -> Snapshot:
        """Return the current snapshot of position ``position_number``.

        Within :meth:`share_snapshots`, a snapshot is built once and returned until the next journal entry;
        otherwise a new one is built for each call.
        """
        position = self.position_by_number[position_number]
        if self._shared_snapshot_by_number is None:
            return position.build_snapshot()
        snapshot = self._shared_snapshot_by_number.get(position_number)
        if snapshot is None or snapshot.journal_sequence != position.engine.machine.journal.sequence:
            snapshot = self._shared_snapshot_by_number[position_number] = position.build_snapshot()
        return snapshot

    def iter_positions_served(self, number: int) -> Iterator[RunningPosition]:
        """Yield, in order, the positions that the I/O board of position ``number`` serves.

        These are the position itself and, for position 1, every position without a board.
        """
        for position_number in sorted(self.position_by_number):
            if position_number == number or (
                number == 1 and not self.position_by_number[position_number].has_own_io_board
            ):
                yield self.position_by_number[position_number]
