"""Service menu timeout: signs out whoever has left the menu open, as an attachment of the machine."""

import asyncio
from collections.abc import Iterable

from egm.kernel.events import Event, EventType
from egm.kernel.messages import Snapshot
from egm.kernel.services import Attachment, MachineContext


class ServiceTimeout:
    """Counts from the last answer to a page: its id changes with every answer."""

    name = "service menu"

    def __init__(self, context: MachineContext) -> None:
        self._handle = context.handle
        self._seconds = context.engine.machine.profile.staff.time_out_seconds
        self._page = ""
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """There is nothing to do but wait for the timer."""
        await asyncio.get_running_loop().create_future()

    def changed(self, now: Snapshot) -> None:
        """Count anew when somebody has touched the page, and not at all without one."""
        page = "" if now.page is None else now.page.id
        if page == self._page:
            return
        self._page = page
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if page:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._expire)

    def _expire(self) -> None:
        self._timer = None
        self._handle(Event(EventType.MENU_CLOSED, {"why": "time_out"}))


def service_timeout(context: MachineContext) -> Iterable[Attachment]:
    """One machine, one menu."""
    return (ServiceTimeout(context),)
