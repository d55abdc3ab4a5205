"""The floor sign never shows an amount that is unknown, above the received one, or lower without a counted fall."""

import asyncio
import os
from fractions import Fraction

os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"

import pygame
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rigs.moments import get_fixed_now

from egm.config.levels import LevelScope
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate
from egm.progressive.level import LevelTerms
from egm.progressive.messages import (
    Claim,
    Contribution,
    EnrolmentRequest,
    LevelEnrolment,
    LevelValue,
    LevelWin,
)
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.theme import load_theme
from tools.cli.commands.progressive import command
from tools.dev.progressive.broker import Broker, BrokerMissingError, find_mosquitto
from tools.floor.progressive.certificates import format_sign_name
from tools.floor.progressive.controller import Controller, ReceivedMessage
from tools.floor.progressive.serve import ControllerService
from tools.floor.progressive.sign import DRUM_MOVE_DURATION_NS, VALUE_AGE_MAX_NS, Sign, SignMonitor
from tools.floor.progressive.sign_picture import SignPicture
from tools.floor.progressive.sign_window import SignFile, SignWindow, show_sign
from tools.floor.progressive.store import SqliteStore

NAMES = {"en": "Grand Harbour", "fr": "Grand Port"}


def build_level_value(sequence, cents, falls=0, level="grand"):
    return LevelValue(
        level=level, sequence=sequence, time_utc="", amount_cents=cents, falls=falls, names=NAMES
    )


def amount(sign, now_ns):
    return sign.build_plates(now_ns)[0].amount_thousandths


@pytest.mark.requirement("I-02")
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2 * DRUM_MOVE_DURATION_NS), st.integers(0, 10**9), st.booleans(), st.booleans()
        ),
        min_size=1,
    )
)
def test_no_amount_shown_is_above_the_true_one_or_below_the_one_before(details):
    """Values rise, fall, and arrive late, twice and out of order; the sign is read between any two of them."""
    sign, now, true, falls, shown = Sign(), 0, 1_000_00, 0, 0
    sent_values = [build_level_value(0, true)]
    sign.update_value(sent_values[0], now)
    for passed, increase_cents, fell, is_repeated in details:
        for part in (0, passed // 3, passed):
            seen = amount(sign, now + part)
            assert shown <= seen <= true * 1000
            shown = seen
        now += passed
        if fell:
            true, falls, shown = 1_000_00 + increase_cents % 7, falls + 1, 0
        else:
            true += increase_cents
        sent_values.append(build_level_value(len(sent_values), true, falls))
        sign.update_value(sent_values[-1], now)
        if is_repeated:
            assert sign.update_value(sent_values[len(sent_values) // 2], now) == ""
        if fell:
            assert amount(sign, now) == true * 1000, "a fall is shown at once"
    assert amount(sign, now + DRUM_MOVE_DURATION_NS) == true * 1000


@pytest.mark.requirement("I-02")
def test_a_level_not_received_for_five_seconds_shows_no_amount():
    sign, messages = Sign(), []
    watch = SignMonitor(sign, messages.append)
    sign.update_value(build_level_value(1, 500_00), 0)
    assert watch.report_changes(VALUE_AGE_MAX_NS)[0].amount_thousandths == 500_00_000
    assert watch.report_changes(VALUE_AGE_MAX_NS + 1)[0].amount_thousandths is None
    sign.update_value(build_level_value(2, 600_00), VALUE_AGE_MAX_NS + 2)
    assert watch.report_changes(VALUE_AGE_MAX_NS + 2)[0].amount_thousandths == 500_00_000, (
        "it goes on from where it was"
    )
    assert messages == ["grand: shown", "grand: not received, no amount is shown", "grand: shown"]


@pytest.mark.requirement("I-02")
def test_a_lower_amount_without_a_fall_is_not_shown_and_does_not_refresh_the_level():
    sign = Sign()
    sign.update_value(build_level_value(1, 500_00), 0)
    assert "but no fall was counted" in sign.update_value(build_level_value(2, 499_99), 10)
    sign.update_value(build_level_value(4, 100_00, falls=2), 30)
    assert (
        sign.update_value(build_level_value(5, 900_00, falls=1), 40)
        == "grand: the count of falls is 1; expected at least 2, as before"
    )
    assert amount(sign, 40) == 100_00_000
    assert sign.build_plates(VALUE_AGE_MAX_NS + 31)[0].amount_thousandths is None


def test_a_repeated_amount_does_not_delay_the_drums():
    sign = Sign()
    sign.update_value(build_level_value(1, 500_00), 0)
    for n in range(100):
        sign.update_value(build_level_value(2 + n, 600_00), 1 + n * DRUM_MOVE_DURATION_NS // 99)
    assert amount(sign, 1 + DRUM_MOVE_DURATION_NS) == 600_00_000


def test_a_retained_value_does_not_count_as_received():
    sign = Sign(("grand", "minor"))
    sign.update_value(build_level_value(1, 500_00), 0, retained=True)
    grand, minor = sign.build_plates(1)
    assert (grand.amount_thousandths, grand.names) == (None, NAMES)
    assert (minor.level_id, minor.amount_thousandths) == ("minor", None)
    sign.update_value(build_level_value(2, 500_01), 2)
    assert sign.build_plates(2)[0].amount_thousandths == 500_00_000
    assert Sign().build_plates(0) == ()


@pytest.mark.requirement("I-02", "I-09")
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_the_sign_shows_the_amount_or_in_both_languages_that_it_is_being_updated(layout):
    pygame.font.init()
    picture = SignPicture(load_theme(), scale=0.3, layout=layout)
    surface = pygame.Surface(picture.size_pixels)
    written, drums = [], []
    text, original = picture.painter.draw_text, picture.painter.find_or_create_surface
    picture.painter.draw_text = lambda words, *arguments, **options: (
        written.append(words),
        text(words, *arguments, **options),
    )[1]
    picture.painter.find_or_create_surface = lambda key, make: (drums.append(key), original(key, make))[1]
    sign = Sign()
    sign.update_value(build_level_value(1, 1_234_56), 0)

    def painted(now_ns):
        written.clear()
        drums.clear()
        picture.paint(surface, sign.build_plates(now_ns), now_ns, "CAD")
        return " ".join(written), [key[1] for key in drums if key[0] == "odometer digit"]

    words, digits = painted(1)
    assert ("Grand Harbour" in words, "Grand Port" in words) == (True, True)
    assert digits == [1, 2, 3, 4, 5, 6]
    sign.update_win(LevelWin(level="grand", machine="EGM-7", amount_cents=9_876_50), 2)
    words, digits = painted(2)
    assert "Machine EGM-7 won $9,876.50" in words
    assert digits == [1, 2, 3, 4, 5, 6]
    words, digits = painted(VALUE_AGE_MAX_NS + 1)
    assert "Being updated" in words
    assert "Mise à jour en cours" in words
    assert digits == [], "no amount is shown as if it were true"


ODDS = Fraction(1, 1000)
LEVEL = LevelDefinition(
    id="grand",
    names=NAMES,
    scope=LevelScope.LINKED,
    terms=LevelTerms(base_cents=1_000_00, increment=Fraction(1, 5)),
    stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=25, hit_rate=ODDS),
)


class Eye:
    """A wall display that passes every frame to the test, which may act on it."""

    def __init__(self, act):
        self._record_act = act
        self.closed = False

    def show(self, plates, now_ns):
        return self._record_act({plate.level_id: plate for plate in plates})

    def close(self):
        self.closed = True


def run_sign_on_link(folder, act):
    """Run a sign with a real broker and controller; call ``act(shown, tell, stop)`` at each frame."""
    try:
        find_mosquitto()
    except BrokerMissingError as missing:
        pytest.skip(str(missing))

    async def run():
        broker = Broker(folder / "link", ("EGM-1",))
        await broker.start()
        store = SqliteStore(folder / "levels.db")
        controller = Controller(store, get_fixed_now)
        controller.open_levels([LEVEL])
        controller.admit_machine("EGM-1")
        service = ControllerService(
            controller, broker.build_link_settings("controller"), lambda _: None, value_interval_seconds=0.02
        )
        serving = asyncio.create_task(service.run())
        eye = Eye(lambda shown: act(shown, controller, serving))
        try:
            async with asyncio.timeout(120):
                await show_sign(
                    broker.build_link_settings(format_sign_name("1")),
                    eye,
                    levels=("grand",),
                    name="sign-1",
                    report=lambda _: None,
                )
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            store.close()
            broker.close()
        assert eye.closed

    asyncio.run(run())


@pytest.mark.requirement("I-02", "I-09")
def test_a_sign_on_a_real_link_follows_the_level_up_and_down_after_a_hit(tmp_path):
    steps = iter(("wager", "hit"))
    expected = [1_000_00_000, 1_000_05_000, 1_000_00_000]
    seen, wins = [], []

    def act(shown, controller, serving):
        assert not serving.done()
        plate = shown["grand"]
        if plate.amount_thousandths is not None:
            seen.append(plate.amount_thousandths)
        if plate.win is not None:
            wins.append((plate.win.machine, plate.win.amount_cents))
        if not expected:
            return not wins
        if not seen or seen[-1] != expected[0]:
            return True
        expected.pop(0)
        step = next(steps, None)
        machine = {"machine": "EGM-1", "level": "grand"}
        if step == "wager":
            enrol = LevelEnrolment(level="grand", stake_cents=25, odds=ODDS)
            give = Contribution(**machine, sequence=1, wager_cents=25, amount=Fraction(5))
            join = EnrolmentRequest(machine="EGM-1", nonce="1", levels=(enrol,))
            controller.process_messages([ReceivedMessage("EGM-1", join), ReceivedMessage("EGM-1", give)])
        elif step == "hit":
            controller.process_messages(
                [ReceivedMessage("EGM-1", Claim(**machine, claim="1", after=1, shown_cents=1_000_05))]
            )
        return bool(expected) or not wins

    run_sign_on_link(tmp_path, act)
    assert set(wins) == {("EGM-1", 1_000_05)}
    top = seen.index(1_000_05_000)
    assert seen[:top] == sorted(seen[:top])
    assert set(seen[top + 1 :]) <= {1_000_05_000, 1_000_00_000}, "a fall is shown at once"


def test_a_window_and_a_file_show_the_sign(tmp_path):
    sign = Sign()
    sign.update_value(build_level_value(1, 1_234_56), 0)
    window = SignWindow("CAD")
    assert window.show(sign.build_plates(1), 1)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not window.show(sign.build_plates(2), 2)
    window.close()
    file = SignFile("CAD", tmp_path / "sign.png")
    assert file.show(sign.build_plates(3), 3)
    assert not (tmp_path / "sign.png").exists(), "a level that is there may not have said so yet"
    assert not file.show(sign.build_plates(VALUE_AGE_MAX_NS), VALUE_AGE_MAX_NS)
    assert pygame.image.load(tmp_path / "sign.png").get_size() == LANDSCAPE_LAYOUT.size


def test_a_sign_without_its_certificate_names_the_missing_file(tmp_path):
    result = CliRunner().invoke(
        command, ["sign", "--certificates", str(tmp_path), "--png", str(tmp_path / "sign.png")]
    )
    assert result.exit_code == 1
    assert "certificates" in result.output
    assert "sign-1.crt" in result.output
