"""Staff at a running cabinet: key and PIN, tests of every device by its real driver, a requested restart.

Processes and pseudo-terminals are real; the PINs are those of the demonstration's staff.
"""

import asyncio
import contextlib
import json

import pytest
from run_rig import Visit, cabinet, until

from egm.config.cabinet_file import StateFolder
from egm.kernel.messages import MessageError, Snapshot
from egm.people.demonstration import DEMONSTRATION_FILE_NAME
from meters import open_view


class Staff:
    """A member of the demonstration's staff at the screen of a running cabinet."""

    def __init__(self, visit: Visit, folder: StateFolder, role: str) -> None:
        self._visit = visit
        badges = json.loads((folder.root / DEMONSTRATION_FILE_NAME).read_text())
        self._badge = next(badge for badge in badges if badge["role"] == role)
        self._page = None

    async def wait_until_shown(self, condition):
        """Return the next page that satisfies the condition."""

        def holds(message):
            return (
                isinstance(message, Snapshot)
                and message.service_page is not None
                and condition(message.service_page)
            )

        self._page = (await until(self._visit.screen, holds)).service_page
        return self._page

    async def title(self, title: str):
        return await self.wait_until_shown(lambda page: page.title.value == title)

    def touch(self, action: str, text: str = "") -> None:
        self._visit.send_intent("answer", action, {"page": self._page.id, "input": text})

    async def goes(self, action: str, title: str):
        self.touch(action)
        return await self.title(title)

    async def sign_in(self) -> None:
        """Turn the operator's key and sign in."""
        await self._visit.operate("io", "key", name="operator", on=True)
        await self.title("service.sign_in")
        self.touch("enter", self._badge["number"])
        await self.wait_until_shown(lambda page: page.prompt is not None and page.prompt.kind == "pin")
        self.touch("enter", self._badge["pin"])
        await self.title("service.menu.title")

    async def confirm_report(self, text: str, action: str) -> None:
        """Wait until the device's page shows a report, then touch the key that follows."""
        await self.wait_until_shown(
            lambda page: any(text in str(c.value) for t in page.tables for r in t.rows for c in r.cells)
        )
        self.touch(action)


@pytest.mark.requirement("J-10", "J-11", "J-16", "D-17")
def test_a_mechanic_tests_every_device_without_changing_a_meter_of_value(tmp_path):
    folder = StateFolder(tmp_path / "state")

    async def session():
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(cabinet(folder))
            visit = await stack.enter_async_context(Visit.connect(folder))
            await visit.wait_until_shown(state="idle", notices=())
            await visit.operate("io", "door", name="main", open=True)
            await visit.wait_until_shown(state="door_open")
            mechanic = Staff(visit, folder, "mechanic")
            await mechanic.sign_in()
            await mechanic.goes("devices", "service.menu.devices")

            await mechanic.goes("device:printer", "service.test.title")
            await mechanic.confirm_report("LineRestored", "print")
            await mechanic.confirm_report("state=taken", "back")
            ticket = (await visit.operate("printer", "state")).state["printed"][-1]
            assert any("NO VALUE" in text for text in ticket["lines"])

            await mechanic.title("service.menu.devices")
            await mechanic.goes("device:hopper", "service.test.title")
            mechanic.touch("enter", "2")
            await mechanic.confirm_report("PayoutFinished", "back")
            assert (await visit.operate("hopper", "state")).state["tray_coins"] == 2

            await mechanic.title("service.menu.devices")
            await mechanic.goes("device:bill", "service.test.title")
            mechanic.touch("take")
            await visit.operate_until_accepted("bill", "insert", amount_cents=500)
            await mechanic.confirm_report("PaperReturned content=a bill of 5.00", "stop")
            assert (await visit.operate("bill", "state")).state["inside_cents"] == 0

            await visit.operate("io", "key", name="operator", on=False)
            await visit.wait_until_shown(service_page=None)
            await visit.operate("io", "door", name="main", open=False)
            await visit.wait_until_shown(state="idle", credit_cents=0)

    asyncio.run(session())
    with open_view(folder.root) as view:
        moved = {name for name, v in view.meters().values.items() if v and ".since_" not in name}
        # Progressive levels start with the operator's money; a busy computer may have left a line unanswered (a fault).
        aside = {name for name in moved if name.startswith(("progressive.", "fault."))}
        assert moved - aside == {"power_resets", "door.main.opens", "hopper_fill", "hopper_level"}
        values = view.meters().values
        assert values["hopper_level"] == values["hopper_fill"], "the opening coins, and none a test paid"
        tested = [entry.record["device"] for entry in view.entries("test.started")]
        assert tested[:3] == ["printer", "hopper", "bill"]
        assert view.credits_cents() == 0


async def _reconnect(folder: StateFolder) -> Snapshot:
    """Connect repeatedly until the restarted machine sends its first idle snapshot, and return that."""
    async with asyncio.timeout(120):
        while True:
            with contextlib.suppress(MessageError, ConnectionError):
                async with Visit.connect(folder) as reconnected:
                    return await reconnected.wait_until_shown(state="idle")
            await asyncio.sleep(0.05)  # a process is starting; no event announces that it is ready


@pytest.mark.requirement("J-16")
def test_after_a_restart_requested_by_a_technician_nobody_is_signed_in(tmp_path):
    folder = StateFolder(tmp_path / "state")

    async def session():
        async with cabinet(folder):
            async with Visit.connect(folder) as visit:
                # The machine ignores a key turned before it polls its board: wait until it reports a door.
                await visit.operate("io", "door", name="belly", open=True)
                await visit.wait_until_shown(state="door_open")
                await visit.operate("io", "door", name="belly", open=False)
                await visit.wait_until_shown(state="idle")
                technician = Staff(visit, folder, "technician")
                await technician.sign_in()
                await technician.goes("form:restart", "form.restart.title")
                technician.touch("confirm")
                assert await visit.screen.read() is not None  # until the machine ends
            shown = await _reconnect(folder)
            assert shown.service_page is None

    asyncio.run(session())
    with open_view(folder.root) as view:
        assert [e.record["why"] for e in view.entries("menu.left")] == ["restart"]
        assert len(list(view.entries("power.up"))) == 2
