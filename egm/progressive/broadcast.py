"""Progressive levels whose amounts a SAS host broadcasts (polls 80 and 86).

A broadcast contains group, level and amount only. It has no sequence number, and nothing says why an amount fell: the
level may have been won at another machine. Therefore a lower amount is shown, unlike on a controller's link, and
recorded. A hit pays the amount last broadcast, frozen with the outcome; the host reads it with polls 84, 85 and 87.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from egm.clock import NANOSECONDS_PER_SECOND
from egm.kernel.events import Event, EventType
from egm.kernel.messages import Snapshot
from egm.kernel.services import MachineContext
from egm.progressive.display import DisplayedAmount, LevelAmountSources, LevelStatus
from egm.progressive.entries import (
    BROADCAST_AMOUNT_FELL,
    LEVEL_LINK_BACK,
    LEVEL_LINK_LOST,
    BroadcastAmountFell,
    LevelLinkChanged,
)
from egm.progressive.pools import LevelKeeper, ProgressivePools

#: Interval at which levels that are no longer received are detected.
_BROADCAST_CHECK_INTERVAL_SECONDS: Final = 0.25


class BroadcastLevelService:
    """Background service for the progressive levels whose amounts SAS hosts broadcast to this machine.

    A level is down if no amount was received within the time limit.
    """

    name = "progressive broadcasts"

    def __init__(self, context: MachineContext) -> None:
        self._context = context
        self._machine = context.engine.machine
        self._down_after_ns = (
            self._machine.profile.progressives.controller_down_after_seconds * NANOSECONDS_PER_SECOND
        )
        pools = self._machine.component(ProgressivePools).pool_by_id.values()
        self._last_broadcast_by_pool_id: dict[str, tuple[int, int]] = {}
        """The amount last received for each level in minor units, and the monotonic time of its receipt."""
        self._pool_ids = [pool.id for pool in pools if pool.keeper is LevelKeeper.BROADCAST]
        self._last_displayed_by_pool_id: dict[str, DisplayedAmount] = {}
        self._machine.component(LevelAmountSources).broadcasts = self

    async def run(self) -> None:
        """Check repeatedly, until cancelled, whether each broadcast level is still received."""
        while True:
            self._record_changes()
            await asyncio.sleep(_BROADCAST_CHECK_INTERVAL_SECONDS)

    def process_change(self, _: Snapshot) -> None:
        """Do nothing: the amount of a broadcast level does not depend on this machine's state."""

    def store_broadcast(self, group_number: int, cents_by_level_number: Mapping[int, int]) -> None:
        """Store a host's broadcast: the amounts of a group's levels; record each amount that has fallen.

        Levels that no game here plays for are ignored.
        """
        for level_number, amount_cents in cents_by_level_number.items():
            pool_id = f"sas.{group_number}.{level_number}"
            if pool_id not in self._pool_ids:
                continue
            last_cents, _ = self._last_broadcast_by_pool_id.get(pool_id, (0, 0))
            if amount_cents < last_cents:
                self._machine.post(
                    BROADCAST_AMOUNT_FELL,
                    BroadcastAmountFell(pool_id=pool_id, from_cents=last_cents, to_cents=amount_cents),
                )
            self._last_broadcast_by_pool_id[pool_id] = (amount_cents, self._context.clock.monotonic_ns())
        self._record_changes()

    def find_displayed_amount(self, pool_id: str) -> DisplayedAmount:
        """Return the amount that a broadcast level shows: the last one received."""
        last_broadcast = self._last_broadcast_by_pool_id.get(pool_id)
        if last_broadcast is None:
            return DisplayedAmount(0, LevelStatus.DOWN)
        amount_cents, received_ns = last_broadcast
        is_fresh = self._context.clock.monotonic_ns() - received_ns <= self._down_after_ns
        return DisplayedAmount(amount_cents, LevelStatus.UP if is_fresh else LevelStatus.DOWN)

    def _record_changes(self) -> None:
        """Record each level whose broadcasts have stopped or resumed; update the machine if any has changed."""
        displayed_by_pool_id = {pool_id: self.find_displayed_amount(pool_id) for pool_id in self._pool_ids}
        if displayed_by_pool_id == self._last_displayed_by_pool_id:
            return
        for pool_id, displayed_amount in displayed_by_pool_id.items():
            last_amount = self._last_displayed_by_pool_id.get(pool_id, DisplayedAmount(0, LevelStatus.DOWN))
            if last_amount.status is not displayed_amount.status:
                change = LEVEL_LINK_LOST if last_amount.status is LevelStatus.UP else LEVEL_LINK_BACK
                self._machine.post(change, LevelLinkChanged(pool_id=pool_id))
        self._last_displayed_by_pool_id = displayed_by_pool_id
        self._context.submit_event(Event(EventType.PROGRESSIVE_AMOUNTS_CHANGED))


def create_broadcast_services(context: MachineContext) -> Iterable[BroadcastLevelService]:
    """Create the service for broadcast levels; nothing if no game of the machine plays for such a level."""
    pools = context.engine.machine.component(ProgressivePools).pool_by_id.values()
    has_broadcast_levels = any(pool.keeper is LevelKeeper.BROADCAST for pool in pools)
    return (BroadcastLevelService(context),) if has_broadcast_levels else ()
