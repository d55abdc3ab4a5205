"""A whole visit in a real browser by touch alone, in each size of window: from attract to cash-out.

Everything is real: the bench with its simulated devices, the machine, the screen process, Chromium. The tests read
the machine's own link and the page's text for screen readers, and touch where the picture's own map says.
"""

import json
from dataclasses import replace

import pytest
from chromium import Browser, executable
from test_live_browser import Cabinet

from egm.kernel.messages import BenchCommand, BenchReply, GameOutcome, Snapshot
from egm.links.screen.client import ScreenClient
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import apply_bench_reply, apply_message
from egm.screen.picture import Picture
from egm.screen.text import Texts
from egm.screen.view import Action, PlayerPage, View
from egm.screen.web import choose_fitting_layout
from tools.dev.gallery.draw import WINDOW_SIZES

pytestmark = pytest.mark.skipif(executable() is None, reason="no Chromium on this computer")


class Hand(Cabinet):
    """A cabinet, and touches on its picture in a browser window of one size."""

    def __init__(self, folder, browser, theme, size):
        self.view = View(has_device_drawer=True)
        super().__init__(folder, "--silent")
        run = folder / "state" / "run"
        self.drawer = ScreenClient(run / "bench.sock", run / "bench.token")
        self.browser, self.size = browser, size
        self.picture = Picture(theme, layout=choose_fitting_layout(size, portrait=False)[0])

    def snapshot(self):
        """Return the snapshot as another screen would receive it."""
        self.now += 0.05
        for message in self.ear.poll(self.now).messages:
            if isinstance(message, Snapshot):
                self.last = message
            if not isinstance(message, GameOutcome):
                self.view = apply_message(self.view, message)
        return self.last

    def touch(self, *actions, **changes):
        """Touch the area of the first of these actions that the picture has."""
        self.snapshot()
        view = replace(self.view, **changes)
        touches = self.picture.list_touch_targets(view)
        places = (t for expected in actions for t in touches if t.action == expected)
        x, y, w, h = next(places).rect
        width, height = self.picture.layout.size
        box = json.loads(
            self.browser.evaluate("JSON.stringify(document.getElementById('screen').getBoundingClientRect())")
        )
        point = {
            "x": box["x"] + (x + w / 2) / width * box["width"],
            "y": box["y"] + (y + h / 2) / height * box["height"],
        }
        self.browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[point])
        self.browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def words(self):
        """Return the page's text for users who cannot see the picture."""
        return self.browser.evaluate("document.getElementById('words').textContent") or ""

    def until_said(self, part):
        return Browser.wait_until(lambda: part in self.words(), f"{part!r} to be said, not {self.words()!r}")

    def bench_told(self):
        """Read the list of devices from the bench, as an open drawer does."""
        for message in self.drawer.poll(self.now).messages:
            if isinstance(message, BenchReply):
                self.view = apply_bench_reply(self.view, message)
        self.drawer.send(BenchCommand(device="bench", action="state"))
        return self.view.state_by_device

    def insert(self, amount_cents):
        """Touch the drawer's bill of this amount."""
        self.until(lambda _: bool(self.bench_told()), "the bench's devices")
        drawer_open = {"drawer_opening_began_at": -1.0, "is_bench_connected": True}
        bills = [
            touch.action
            for touch in self.picture.list_touch_targets(replace(self.view, **drawer_open))
            if touch.action.name == "bench" and touch.action.value[0].values == {"amount_cents": amount_cents}
        ]
        self.touch(bills[0], **drawer_open)

    def close(self):
        self.drawer.close()
        super().close()


@pytest.fixture
def browser(tmp_path):
    (tmp_path / "browser").mkdir()
    opened_browser = Browser(tmp_path / "browser")
    yield opened_browser
    opened_browser.close()


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(size, id="x".join(map(str, size)), marks=() if size == (390, 844) else pytest.mark.slow)
        for size in WINDOW_SIZES
    ],
)
def test_a_visit_by_touch_alone(tmp_path, browser, theme, size):
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **metrics)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    calm = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    browser.call("Emulation.setEmulatedMedia", features=calm)
    player, texts = Hand(tmp_path, browser, theme, size), Texts("en")
    try:
        browser.open(Browser.wait_until(player.address, "the address"))
        browser.wait_until(lambda: browser.frames() > 0, "the first frame")
        player.until(lambda s: s.state == "idle" and s.credit_cents == 0, "the machine to wait for a player")
        player.until_said(texts.translate("status.insert"))
        canvas = json.loads(
            browser.evaluate("JSON.stringify([document.getElementById('screen').width, innerWidth])")
        )
        assert canvas[1] == width
        assert (player.picture.layout is LANDSCAPE_LAYOUT) == (width > height)

        player.touch(Action("drawer"))
        player.after(lambda: player.insert(2000), lambda s: s.credit_cents == 2000, "a bill to be credited")
        player.touch(Action("drawer"), drawer_opening_began_at=-1.0)
        player.until_said("$20.00")

        player.touch(Action("help"))
        player.touch(
            Action("play"), player_page=PlayerPage.HELP
        )  # under the open page it closes it, and stakes nothing
        Browser.wait_until(lambda: player.snapshot() is not None, "the machine's word")
        assert player.last.credit_cents == 2000
        player.after(lambda: player.touch(Action("play")), lambda s: s.state == "playing", "a game")
        player.touch(Action("play"))  # the reels stop
        player.until(lambda s: s.state == "idle" and s.last_display is not None, "the game's end")
        over = player.last
        assert over.credit_cents == 2000 - over.bet_credits * over.denomination_cents + over.paid_cents

        player.after(lambda: player.touch(Action("language")), lambda s: s.language == "fr", "French")
        player.until_said(Texts("fr").translate("meter.credit"))
        player.after(lambda: player.touch(Action("language")), lambda s: s.language == "en", "English")

        player.touch(Action("cash_out"))
        player.until(lambda s: s.credit_cents == 0 and s.state in {"idle", "handpay"}, "the pay-out")
        owed = texts.format_money(over.credit_cents, over.currency)
        paid = "handpay.wait" if player.last.state == "handpay" else "notice.ticket_printed"
        player.until_said(texts.translate(paid, amount=owed))
    finally:
        player.close()
