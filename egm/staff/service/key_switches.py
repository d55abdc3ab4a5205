"""Key switches of a machine with several positions: for which position a turn of a key counts.

One I/O board with key switches may serve several positions. A turn of the attendant's key counts for one
position that waits for it, payments first; if none waits, for the position to which the board belongs. A menu
key opens the service menu at the board's position, from which the menu can be moved to another one. When that
key is turned back, the menu is closed at the position where it is open.
"""

from collections.abc import Iterable
from typing import Final

from egm.integrity.keys import IntegrityKey
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import Event, EventType, State
from egm.kernel.machine import PositionMachine
from egm.kernel.running_positions import RunningPosition, RunningPositions
from egm.kernel.states import STATES_FOR_ATTENDANT_KEY
from egm.staff.desk import ServiceDesk

#: States in which a position waits for the attendant's key, the most urgent first.
_STATES_SERVED_FIRST: Final = (State.HANDPAY, State.AWAITING_AWARD, State.TILT)


def iter_concerned_positions(
    running_positions: RunningPositions, board_position: int, event: Event
) -> Iterable[RunningPosition]:
    """Return the player positions that must process an event from an I/O board.

    ``board_position`` is the number of the position to which the board belongs.
    """
    own_position = running_positions.position_by_number[board_position]
    served_positions = tuple(running_positions.iter_positions_served(board_position))
    if event.name is EventType.KEY_TURNED:
        waiting_positions = [
            position for position in served_positions if is_waiting_for_key(position.engine, event)
        ]
        return (min(waiting_positions, key=_rank_waiting_position, default=own_position),)
    if event.name is EventType.SERVICE_MENU_CLOSED:
        return [
            position
            for position in served_positions
            if position is own_position or _has_menu(position.engine.machine)
        ]
    return (own_position,)


def is_waiting_for_key(engine: StateMachineEngine[PositionMachine], key_event: Event) -> bool:
    """Return whether a turn of the attendant's key now would have an effect at a player position.

    A turn that would only show a refusal has no effect.
    """
    machine = engine.machine
    if not engine.accepts_event(key_event):
        return False
    if engine.state is State.TILT:
        return any(fault["cleared_by"] == "attendant" for fault in machine.active_faults.values())
    if engine.state in STATES_FOR_ATTENDANT_KEY:
        awaited_storage_keys = (IntegrityKey.OUT_OF_SERVICE, IntegrityKey.SERVICE_CALL)
        return any(machine.memory.get(storage_key) is not None for storage_key in awaited_storage_keys)
    return True


def _rank_waiting_position(position: RunningPosition) -> int:
    """Return the rank of a position that waits for a key; the lowest is served first: payments, then tilts.

    All other states have the same, highest rank.
    """
    state = position.engine.state
    return _STATES_SERVED_FIRST.index(state) if state in _STATES_SERVED_FIRST else len(_STATES_SERVED_FIRST)


def _has_menu(machine: PositionMachine) -> bool:
    """Return whether the service menu is open at this player position."""
    return machine.component(ServiceDesk).is_open
