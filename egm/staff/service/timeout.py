"""Background service that closes the service menu and signs out a person who has left it open."""

import asyncio
from collections.abc import Iterable

from egm.kernel.events import Event, EventType
from egm.kernel.messages import Snapshot
from egm.kernel.services import BackgroundService, MachineContext
from egm.staff.events import MenuClosed


class ServiceMenuTimeout:
    """Timer that signs out an idle person.

    Each input on a service page changes the page's id, which restarts the timer.
    """

    name = "service menu"

    def __init__(self, context: MachineContext) -> None:
        self._submit_event = context.submit_event
        self._timeout_seconds = context.engine.machine.profile.staff.sign_out_seconds
        self._page_id = ""
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Wait until cancelled; the idle timer does the work."""
        await asyncio.get_running_loop().create_future()

    def process_change(self, snapshot: Snapshot) -> None:
        """Restart the timer if the service page has changed, and stop it if no page is open."""
        page_id = "" if snapshot.service_page is None else snapshot.service_page.id
        if page_id == self._page_id:
            return
        self._page_id = page_id
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if page_id:
            self._timer = asyncio.get_running_loop().call_later(self._timeout_seconds, self._expire)

    def _expire(self) -> None:
        """Submit the event that closes the service menu, because the time is up."""
        self._timer = None
        self._submit_event(Event(EventType.SERVICE_MENU_CLOSED, MenuClosed(reason="time_out")))


def create_service_menu_timeout(context: MachineContext) -> Iterable[BackgroundService]:
    """Create the service that closes an idle service menu."""
    return (ServiceMenuTimeout(context),)
