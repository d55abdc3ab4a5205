"""A whole cabinet with a real browser: load, insert, play, cash out, language, attendant, a restart.

Everything is real: the bench with its simulated devices, the machine, the screen process, Chromium. The tests read
the machine's own link, never pixels.
"""

import os
import signal
import subprocess
import sys

import pytest
from chromium import Browser, executable
from rigs.small_cabinet import write_cabinet

from egm.kernel.messages import Snapshot
from egm.links.screen.client import ScreenClient
from egm.screen.message_reducer import apply_message
from egm.screen.picture import Picture
from egm.screen.theme import load_theme
from egm.screen.view import Action, View

pytestmark = pytest.mark.skipif(executable() is None, reason="no Chromium on this computer")

# Places in the picture's units: the drawer's tab, its $20 bill and attendant key; keys of the deck.
TAB, TAB_OUT, TWENTY, KEY = (1900, 400), (1516, 400), (1590, 212), (1610, 687)
OPERATOR = (1720, 693)
CASH_OUT, PLAY, LANGUAGE, HELP = (836, 1000), (1680, 1000), (510, 1000), (230, 1000)


class Cabinet:
    """``egm run`` with one game in its own folder, and a second screen link on which the test reads messages."""

    def __init__(self, folder, *options):
        self.folder = folder
        self.log = (folder / "run.log").open("w+b")
        environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
        command = [
            sys.executable,
            "-m",
            "tools.cli",
            "run",
            "--state",
            str(folder / "state"),
            "--cabinet",
            str(write_cabinet(folder)),
            "--screen",
            "web",
            *options,
        ]
        self.process = subprocess.Popen(
            command, stdout=self.log, stderr=self.log, env=environment, start_new_session=True
        )
        run = folder / "state" / "run"
        self.ear = ScreenClient(run / "screen.sock", run / "screen.token")
        self.now = 0.0
        self.last = None

    def address(self):
        text = (self.folder / "run.log").read_text()
        return text.split("Screen: ")[1].split()[0] if "Screen: http" in text else ""

    def snapshot(self):
        self.now += 0.05
        for message in self.ear.poll(self.now).messages:
            if isinstance(message, Snapshot):
                self.last = message
        return self.last

    def until(self, holds, condition_text, seconds=40.0):
        return Browser.wait_until(
            lambda: self.snapshot() is not None and holds(self.last), condition_text, seconds
        )

    def after(self, act, holds, condition_text):
        """Repeat an act until it has an effect: the drawer has no controls until the bench has replied."""
        for _ in range(6):
            act()
            try:
                return self.until(holds, condition_text, 8.0)
            except AssertionError:
                continue
        raise AssertionError(f"{condition_text}: nothing came of it")

    def close(self):
        self.ear.close()
        self.process.terminate()
        self.process.wait(timeout=30)
        self.log.close()


@pytest.fixture
def cabinet(tmp_path):
    opened = Cabinet(tmp_path, "--silent")
    yield opened
    opened.close()


@pytest.fixture
def sounding_cabinet(tmp_path):
    opened = Cabinet(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def browser(tmp_path):
    (tmp_path / "browser").mkdir()
    opened_browser = Browser(tmp_path / "browser")
    yield opened_browser
    opened_browser.close()


def check_note_is_legible(browser):
    """Check that the page's own text is large enough, and that no text under it shows through."""
    note = "document.getElementById('note')"
    assert browser.evaluate(f"getComputedStyle({note}).backgroundColor") == "rgb(24, 22, 36)"
    assert float(browser.evaluate(f"getComputedStyle({note}).fontSize").removesuffix("px")) >= 18


@pytest.mark.slow
def test_a_whole_visit_in_a_browser(sounding_cabinet, browser):
    cabinet = sounding_cabinet
    browser.open(Browser.wait_until(cabinet.address, "the address"))
    browser.wait_until(lambda: browser.frames() > 3, "the first frames")
    cabinet.until(lambda s: s.state == "idle", "the machine to be idle")
    assert browser.evaluate("location.search") == "", "the token does not stay in the address"
    assert browser.call("Network.getCookies")["cookies"] == [], "nothing that goes to another port by itself"
    browser.call("Page.reload")
    browser.wait_until(lambda: browser.frames() > 3, "frames after the page was loaded again")

    browser.tap(*TAB)
    cabinet.after(lambda: browser.tap(*TWENTY), lambda s: s.credit_cents == 2000, "a bill to be credited")
    browser.tap(*TAB_OUT)
    before = cabinet.last

    browser.tap(*PLAY)
    cabinet.until(lambda s: s.state == "playing", "a game")
    over = (
        cabinet.until(lambda s: s.state == "idle" and s.last_display is not None, "the game's end")
        and cabinet.last
    )
    assert (
        before.credit_cents - over.credit_cents
    ) == over.bet_credits * over.denomination_cents - over.paid_cents

    browser.wait_until(lambda: browser.sounds() > 2, "key, reels and stops to be heard")

    browser.tap(*LANGUAGE)
    cabinet.until(lambda s: s.language == "fr", "French")
    browser.key("KeyL", "l")
    cabinet.until(lambda s: s.language == "en", "English, from the keyboard")

    owed = cabinet.last.credit_cents
    browser.tap(*CASH_OUT)
    cabinet.until(lambda s: s.state != "idle" or s.credit_cents == 0, "the cash-out")
    paid = cabinet.until(lambda s: s.state in {"handpay", "idle"}, "the pay-out's end") and cabinet.last
    if paid.state == "handpay":
        assert paid.handpay.amount_cents == owed
        browser.tap(*TAB)
        cabinet.after(lambda: browser.tap(*KEY), lambda s: s.state == "idle", "the attendant's key")
    assert cabinet.last.credit_cents == 0


@pytest.mark.slow
@pytest.mark.requirement("J-16")
def test_a_manager_signs_in_reads_the_meters_and_leaves(tmp_path, browser):
    """The manager uses the key in the drawer, the page's keyboard and touch."""
    enrol = [sys.executable, "-m", "tools.cli", "people", "add", "7", "Marie", "--role", "manager"]
    where = ["--state", str(tmp_path / "state")]
    subprocess.run([*enrol, *where], input="864209\n864209\n", text=True, check=True, capture_output=True)
    cabinet = Cabinet(tmp_path)
    try:
        browser.open(Browser.wait_until(cabinet.address, "the address"))
        browser.wait_until(lambda: browser.frames() > 3, "the first frames")
        cabinet.until(lambda s: s.state == "idle", "the machine to be idle")
        browser.tap(*TAB)
        cabinet.after(lambda: browser.tap(*OPERATOR), lambda s: s.service_page is not None, "the menu")
        browser.tap(*TAB_OUT)
        browser.key("Digit7", "7")
        browser.key("Enter", "Enter")
        cabinet.until(
            lambda s: s.service_page.prompt is not None and s.service_page.prompt.kind == "pin",
            "the PIN asked for",
        )
        for digit in "864209":
            browser.key(f"Digit{digit}", digit)
        browser.key("Enter", "Enter")
        cabinet.until(
            lambda s: s.service_page is not None and s.service_page.person is not None, "the main menu"
        )

        theme = load_theme()
        picture = Picture(theme)

        def touch(action):
            view = apply_message(View(is_machine_connected=True), cabinet.last)
            touch = next(t for t in picture.list_touch_targets(view) if t.action == Action("answer", action))
            browser.tap(touch.rect[0] + touch.rect[2] / 2, touch.rect[1] + touch.rect[3] / 2)

        def goes(action, title):
            cabinet.after(lambda: touch(action), lambda s: s.service_page.title.value == title, title)

        goes("subject:money", "service.section.money")
        goes("meters", "service.menu.meters")
        assert any(
            cell.kind == "money" for row in cabinet.last.service_page.tables[0].rows for cell in row.cells
        )
        goes("back", "service.section.money")
        goes("back", "service.menu.title")
        cabinet.after(
            lambda: touch("leave"), lambda s: s.service_page is None and s.state == "idle", "the end"
        )
    finally:
        cabinet.close()


@pytest.mark.slow
def test_a_screen_killed_during_a_game_returns_to_it(cabinet, browser):
    """The next screen shows the rest of the game, and no credit changes."""
    browser.open(Browser.wait_until(cabinet.address, "the address"))
    browser.wait_until(lambda: browser.frames() > 3, "the first frames")
    cabinet.until(lambda s: s.state == "idle", "the machine to be idle")
    browser.tap(*TAB)
    cabinet.after(lambda: browser.tap(*TWENTY), lambda s: s.credit_cents == 2000, "a bill to be credited")
    browser.tap(*TAB_OUT)
    browser.tap(*PLAY)
    cabinet.until(lambda s: s.state == "playing" or s.last_display is not None, "a game")
    children = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(cabinet.process.pid)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    pid = next(int(line.split()[0]) for line in children.splitlines() if "egm.screen" in line)
    os.kill(pid, signal.SIGKILL)
    before = browser.frames()
    browser.wait_until(lambda: browser.frames() > before + 3, "the open page to go on by itself")
    over = (
        cabinet.until(lambda s: s.state == "idle" and s.last_display is not None, "the end") and cabinet.last
    )
    assert over.credit_cents == 2000 - over.bet_credits * over.denomination_cents + over.paid_cents

    cabinet.process.terminate()
    note = "document.getElementById('note')"
    browser.wait_until(lambda: browser.evaluate(f"{note}.textContent") != "", "a word on the page")
    assert "L\u2019appareil ne r\u00e9pond pas;" in browser.evaluate(f"{note}.textContent")
    check_note_is_legible(browser)


def test_a_page_without_a_session_says_where_to_get_an_address(cabinet, browser):
    address = Browser.wait_until(cabinet.address, "the address")
    browser.open(address.partition("?")[0])
    browser.wait_until(
        lambda: (
            "egm screen address" in browser.evaluate("document.getElementById('note')?.textContent ?? ''")
        ),
        "its words",
    )
    assert browser.frames() == 0
    check_note_is_legible(browser)
