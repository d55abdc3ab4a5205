"""Progressive levels whose amounts a SAS host broadcasts (polls 80 and 86).

A broadcast contains group, level and amount only: it has no sequence, and a win elsewhere shows as a lower
amount. So a lower amount is shown, and recorded. A hit pays the amount last broadcast, frozen with the
outcome; the host reads it with polls 84, 85 and 87.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from egm.clock import NANOSECONDS_PER_SECOND
from egm.kernel.events import Event, EventType
from egm.kernel.messages import Snapshot
from egm.kernel.services import MachineContext
from egm.progressive.display import DisplayedAmount, LevelDisplays, LevelStatus
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
        self._stale_ns = self._machine.profile.progressives.stale_seconds * NANOSECONDS_PER_SECOND
        pools = self._machine.component(ProgressivePools).by_id.values()
        self._amounts: dict[str, tuple[int, int]] = {}
        self._levels = [pool.id for pool in pools if pool.keeper is LevelKeeper.BROADCAST]
        self._last_shown: dict[str, DisplayedAmount] = {}
        self._machine.component(LevelDisplays).broadcasts = self

    async def run(self) -> None:
        """Check repeatedly, until cancelled, whether each broadcast level is still received."""
        while True:
            self._record_changes()
            await asyncio.sleep(_BROADCAST_CHECK_INTERVAL_SECONDS)

    def process_change(self, _: Snapshot) -> None:
        """Do nothing: the amount of a broadcast level does not depend on this machine's state."""

    def store_broadcast(self, group: int, amounts_cents: Mapping[int, int]) -> None:
        """Store a host's broadcast: the amounts of a group's levels; record each amount that has fallen.

        Levels that no game here plays for are ignored.
        """
        for level, amount_cents in amounts_cents.items():
            name = f"sas.{group}.{level}"
            if name not in self._levels:
                continue
            before_cents, _ = self._amounts.get(name, (0, 0))
            if amount_cents < before_cents:
                self._machine.post(
                    BROADCAST_AMOUNT_FELL,
                    BroadcastAmountFell(pool=name, from_cents=before_cents, to_cents=amount_cents),
                )
            self._amounts[name] = (amount_cents, self._context.clock.monotonic_ns())
        self._record_changes()

    def find_displayed_amount(self, pool_id: str) -> DisplayedAmount:
        """Return the amount that a broadcast level shows: the last one received."""
        last_broadcast = self._amounts.get(pool_id)
        if last_broadcast is None:
            return DisplayedAmount(0, LevelStatus.DOWN)
        amount_cents, at_ns = last_broadcast
        is_fresh = self._context.clock.monotonic_ns() - at_ns <= self._stale_ns
        return DisplayedAmount(amount_cents, LevelStatus.UP if is_fresh else LevelStatus.DOWN)

    def _record_changes(self) -> None:
        """Record each level whose broadcasts have stopped or resumed; update the machine if any has changed."""
        amounts = {level: self.find_displayed_amount(level) for level in self._levels}
        if amounts == self._last_shown:
            return
        for level, displayed_amount in amounts.items():
            last_amount = self._last_shown.get(level, DisplayedAmount(0, LevelStatus.DOWN))
            if last_amount.status is not displayed_amount.status:
                change = LEVEL_LINK_LOST if last_amount.status is LevelStatus.UP else LEVEL_LINK_BACK
                self._machine.post(change, LevelLinkChanged(pool=level))
        self._last_shown = amounts
        self._context.submit_event(Event(EventType.PROGRESSIVE_AMOUNTS_CHANGED))


def create_broadcasts(context: MachineContext) -> Iterable[BroadcastLevelService]:
    """Create the service for broadcast levels; nothing if no game of the machine plays for such a level."""
    pools = context.engine.machine.component(ProgressivePools).by_id.values()
    has_broadcast_levels = any(pool.keeper is LevelKeeper.BROADCAST for pool in pools)
    return (BroadcastLevelService(context),) if has_broadcast_levels else ()
