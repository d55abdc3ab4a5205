"""Moving a progressive level's whole amount to another level of the machine.

A level whose game was removed, or that is discontinued, keeps its amount in memory until staff move it (requirements
I-12 and I-13). For this the main door or the logic door must be open, with nothing owed and no game in progress, which
the rule's guards check.
"""

from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.progressive import posting
from egm.progressive.entries import LEVEL_MOVED, LevelMoved
from egm.progressive.events import LevelMoveForm
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level_views import read_own_level
from egm.progressive.pools import ProgressivePools


@refusal_code("level_may_move")
def level_can_be_moved(machine: PositionMachine, event: Event) -> bool:
    """Return whether staff may move the money of the form's source level to its target level.

    The source must hold money, and no installed game may still play for it; a game must play for the target.
    """
    pools, form = machine.component(ProgressivePools), event.read_payload(LevelMoveForm)
    source, target = read_own_level(machine, form.source), pools.pool_by_id.get(form.target)
    return (
        source is not None
        and source.held_amount > 0
        and form.source not in pools.pool_by_id
        and target is not None
        and target.is_own
    )


def move_level(machine: PositionMachine, event: Event) -> None:
    """Move everything that a progressive level holds, including fractions of a cent, to another level."""
    form = event.read_payload(LevelMoveForm)
    source_id, target_id = form.source, form.target
    source_level, target_level = read_own_level(machine, source_id), read_own_level(machine, target_id)
    if source_level is None or target_level is None:
        return
    amount, emptied_level = source_level.release_whole_amount()
    increased_level = target_level.add_received_amount(amount)
    machine.post(
        LEVEL_MOVED,
        LevelMoved(
            source=source_id,
            target=target_id,
            amount=amount,
            persons=form.persons,
        ),
        transfers=posting.build_moving_transfers(
            source_id, source_level, target_id, target_level, increased_level
        ),
        state={
            f"{ProgressiveKey.OWN_LEVEL}{source_id}": emptied_level,
            f"{ProgressiveKey.OWN_LEVEL}{target_id}": increased_level,
        },
    )
    machine.notice = Notice(code="level_moved", values={"amount_cents": int(amount)})
