"""F10 on a new cabinet always opens and closes the service menu."""

import asyncio
import contextlib
import time

from run_rig import PATIENCE_SECONDS, cabinet

from egm.config.cabinet_file import StateFolder
from egm.kernel.messages import BenchCommand
from egm.screen.app import ScreenApp, create_clients
from egm.screen.audio.cues import SoundPlayer
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.picture import Picture
from egm.screen.theme import load_theme
from egm.screen.view import Action, Scene


class Unseen:
    """A surface that nobody sees: the screen process runs, but draws nothing."""

    def __init__(self, theme):
        self.picture = Picture(theme, scale=0.1, layout=LANDSCAPE_LAYOUT)
        self.can_be_closed = False

    def take_inputs(self):
        return []

    def get_drawing_surface(self):
        return None

    def close(self):
        pass


class Person:
    """A person at the screen of a cabinet whose device drawer stays closed."""

    def __init__(self, app):
        self.app = app

    async def until(self, condition):
        end = time.monotonic() + PATIENCE_SECONDS
        while not condition(self.app.view):
            assert time.monotonic() < end, self.app.view
            assert self.app.run_frame()
            await asyncio.sleep(0.01)

    async def wait_until_shown(self, *states):
        await self.until(
            lambda v: v.scene is not Scene.CONNECTION_LOST and v.snapshot and v.snapshot.state in states
        )

    async def ask(self, device, action, **values):
        """Operate a device; return the reply of the bench."""
        command = BenchCommand(device=device, action=action, values=values)
        self.app.view = before = self._unsaid()
        self.app.apply_action(Action("bench", (command,)))
        await self.until(lambda v: v.bench_reply is not before.bench_reply)
        return self.app.view.bench_reply

    async def operate(self, device, action, **values):
        """Operate a device repeatedly until it accepts; the machine may not have enabled it yet."""
        while not (await self.ask(device, action, **values)).ok:
            pass

    async def insert_bill(self, cents):
        """Insert a bill until it is credited; just after staff have left, it may be returned."""
        wanted_cents = self.app.view.snapshot.credit_cents + cents
        while self.app.view.snapshot.credit_cents != wanted_cents:
            before = (await self.ask("bill", "state")).state
            await self.operate("bill", "insert", amount_cents=cents)
            now = before
            while (
                self.app.view.snapshot.credit_cents != wanted_cents
                and now["returned_cents"] == before["returned_cents"]
            ):
                now = (await self.ask("bill", "state")).state

    def _unsaid(self):
        from dataclasses import replace

        return replace(self.app.view, bench_reply=None)

    async def f10_opens_and_closes(self):
        self.app.apply_action(Action("menu"))
        await self.until(lambda v: v.scene is Scene.SERVICE)
        self.app.apply_action(Action("menu"))
        await self.until(lambda v: v.scene is not Scene.SERVICE)


def test_every_f10_opens_or_closes_the_menu_although_no_drawer_was_opened(tmp_path):
    folder = StateFolder(tmp_path / "state")
    theme = load_theme()

    async def session():
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(cabinet(folder))
            machine, bench = create_clients(folder.root, with_bench=True)
            app = ScreenApp(
                theme=theme,
                surface=Unseen(theme),
                machine_client=machine,
                bench_client=bench,
                sound_player=SoundPlayer(theme),
            )
            person = Person(app)
            try:
                await person.wait_until_shown("idle")
                await person.until(lambda v: v.is_bench_connected and v.snapshot.accepted_inputs)
                for _ in range(2):
                    await person.f10_opens_and_closes()
                await person.operate(
                    "io", "key", name="operator", on=True
                )  # by somebody else, at the switch itself
                await person.until(lambda v: v.scene is Scene.SERVICE)
                app.apply_action(Action("menu"))
                await person.until(lambda v: v.scene is not Scene.SERVICE)
                await person.f10_opens_and_closes()

                await person.insert_bill(500)
                await person.operate("printer", "paper", tickets=0)
                while app.view.snapshot.credit_cents % 100 == 0:  # a rest too small for a coin
                    app.apply_action(Action("play"))
                    await person.wait_until_shown("playing")
                    await person.wait_until_shown("idle")
                app.apply_action(Action("cash_out"))
                await person.wait_until_shown("handpay")
                await person.f10_opens_and_closes()
                await person.wait_until_shown("handpay")
            finally:
                machine.close()
                bench.close()

    asyncio.run(session())
