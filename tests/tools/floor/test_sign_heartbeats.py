"""The controller stores which signs show their amounts, and records when a sign stops."""

import asyncio
import json
import re
import time
import urllib.request
from contextlib import closing
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from rigs.moments import get_fixed_now
from test_sign import LEVEL, Eye, build_level_value

from egm.links.metrics import MetricsExporter
from egm.progressive import topics
from egm.progressive.connection import RECONNECT_SECONDS, build_tls_context, keep_connected
from egm.progressive.messages import EnrolmentRequest, LevelEnrolment, ProgressiveMessageError
from tools.cli.commands.progressive import command
from tools.dev.progressive.broker import Broker, BrokerMissingError, find_mosquitto
from tools.floor.progressive.certificates import format_sign_name
from tools.floor.progressive.controller import Controller, ReceivedMessage
from tools.floor.progressive.controller_metrics import ControllerMetrics
from tools.floor.progressive.heartbeat import (
    HEARTBEAT_INTERVAL_NS,
    HeartbeatSource,
    ShownLevel,
    SignHeartbeat,
    read_heartbeat,
)
from tools.floor.progressive.serve import ControllerService
from tools.floor.progressive.sign import VALUE_AGE_MAX_NS, Sign
from tools.floor.progressive.sign_window import show_sign
from tools.floor.progressive.signs import SignBook, read_signs
from tools.floor.progressive.store import SqliteStore


class Book:
    """The sign register on a store, with a clock that the test sets."""

    def __init__(self, open_store):
        self.store = open_store()
        self.now_ns = 0
        self.lines = []
        self.book = SignBook(
            self.store,
            lambda: datetime.fromtimestamp(self.now_ns // 10**9, UTC),
            lambda: self.now_ns,
            self.lines.append,
        )

    def beat(self, name="sign-1", **shown):
        self.book.store_heartbeat(
            SignHeartbeat(
                sign=name, shown=tuple(ShownLevel(level=k, amount_cents=v) for k, v in shown.items())
            )
        )

    def read_states_at(self, seconds):
        self.now_ns = round(seconds * 10**9)
        return {sign.id: sign.status for sign in self.book.update_states()}

    def events(self):
        with self.store.transaction() as session:
            return [
                (kind, details["sign"])
                for _, kind, details in session.read_events()
                if kind.startswith("sign")
            ]

    def read_stored_signs(self):
        with self.store.transaction() as session:
            return {sign.id: (sign.status, sign.shown_cents_by_level) for sign in read_signs(session)}


@pytest.fixture
def book(open_store):
    return Book(open_store)


@pytest.mark.requirement("I-02")
def test_a_sign_silent_for_five_seconds_and_its_return_are_recorded(book):
    assert book.read_states_at(0) == {}
    book.beat(grand=100)
    assert book.read_states_at(0.5) == {"sign-1": "lit"}
    assert book.read_states_at(5) == {"sign-1": "lit"}
    assert book.read_states_at(5.1) == {"sign-1": "silent"}
    assert book.read_states_at(60) == {"sign-1": "silent"}
    book.beat(grand=120)
    assert book.read_states_at(60.1) == {"sign-1": "lit"}
    assert book.events() == [(f"sign_{status}", "sign-1") for status in ("lit", "silent", "lit")]
    assert book.lines[1] == "sign sign-1: silent since 1970-01-01T00:00:00+00:00"
    assert book.read_stored_signs() == {"sign-1": ("lit", {"grand": 120})}


@pytest.mark.requirement("I-02")
def test_a_sign_that_stops_showing_a_level_is_recorded(book):
    book.beat(grand=100, petit=7)
    book.read_states_at(0)
    book.beat(grand=None, petit=7)
    assert book.read_states_at(1) == {"sign-1": "dark"}
    book.beat(grand=None, petit=None)
    assert book.read_states_at(2) == {"sign-1": "dark"}
    book.beat(grand=101, petit=8)
    assert book.read_states_at(3) == {"sign-1": "lit"}
    assert [kind for kind, _ in book.events()] == ["sign_lit", "sign_dark", "sign_dark", "sign_lit"]
    assert book.lines[1:3] == ["sign sign-1: no amount of grand", "sign sign-1: no amount of grand, petit"]


@pytest.mark.requirement("I-02", "I-07")
def test_another_controller_stores_the_signs_and_gives_each_five_seconds(book, open_store):
    book.beat(grand=100)
    book.read_states_at(0)
    book.store.close()
    later = Book(open_store)
    assert later.read_states_at(4) == {"sign-1": "lit"}
    assert later.read_states_at(5.1) == {"sign-1": "silent"}
    later.beat("sign-2", grand=100)
    assert later.read_states_at(6) == {"sign-1": "silent", "sign-2": "lit"}
    Controller(later.store, get_fixed_now).forget_sign("sign-1")
    assert later.read_states_at(7.5) == {"sign-2": "lit"}
    assert list(later.read_stored_signs()) == ["sign-2"]
    later.beat("sign-1", grand=100)
    assert later.read_states_at(8) == {"sign-1": "lit", "sign-2": "lit"}


@pytest.mark.requirement("I-02")
def test_a_heartbeat_is_sent_once_a_second_and_only_while_the_sign_draws():
    sign, heart = Sign(), HeartbeatSource("sign-1")
    assert heart.build_due_heartbeat(0) is None
    sign.update_value(build_level_value(1, 500_00), 0)
    heart.store_frame(sign.build_plates(1), 1)
    first = heart.build_due_heartbeat(2)
    assert read_heartbeat(first) == SignHeartbeat(
        sign="sign-1", shown=(ShownLevel(level="grand", amount_cents=500_00),)
    )
    assert heart.build_due_heartbeat(HEARTBEAT_INTERVAL_NS) is None
    assert heart.build_due_heartbeat(HEARTBEAT_INTERVAL_NS + 2) is None, "nothing was drawn for a second"
    heart.store_frame(sign.build_plates(VALUE_AGE_MAX_NS + 1), VALUE_AGE_MAX_NS + 1)
    assert read_heartbeat(heart.build_due_heartbeat(VALUE_AGE_MAX_NS + 2)).level_ids_without_amount == (
        "grand",
    )


@pytest.mark.parametrize(
    "data", [b"", b"{}", b'{"sign": "a/b"}', b'{"sign": "a", "shown": [{"level": "x", "amount_cents": -1}]}']
)
def test_an_invalid_heartbeat_is_refused(data):
    with pytest.raises(ProgressiveMessageError):
        read_heartbeat(data)


def test_a_heartbeat_topic_names_its_sign_and_an_uplink_topic_none():
    assert topics.parse_sign_id(topics.build_heartbeat_topic("sign-1")) == "sign-1"
    assert topics.parse_sign_id(topics.build_uplink_topic("EGM-1")) == ""


@pytest.mark.requirement("I-02")
def test_a_controller_on_a_real_link_notices_a_sign_that_ends(tmp_path):
    """Sign, broker and controller are real; a machine's certificate cannot send the sign's heartbeat."""
    try:
        find_mosquitto()
    except BrokerMissingError as missing:
        pytest.skip(str(missing))
    store = SqliteStore(tmp_path / "levels.db")
    lines, jump = [], [0]

    def clock_ns():
        return time.monotonic_ns() + jump[0]

    async def run():
        broker = Broker(tmp_path / "link", ("EGM-1",))
        await broker.start()
        controller = Controller(store, get_fixed_now)
        controller.open_levels([LEVEL])
        silent = asyncio.Event()

        def tell(line):
            lines.append(line)
            if "silent" in line:
                silent.set()

        signs = SignBook(store, get_fixed_now, clock_ns, tell)
        readings = ControllerMetrics()
        service = ControllerService(
            controller,
            broker.build_link_settings("controller"),
            lambda _: None,
            value_interval_seconds=0.02,
            signs=signs,
            observe=readings.replace_metrics,
        )
        serving = asyncio.create_task(service.run())
        eye = Eye(lambda shown: "sign sign-1: lit" not in lines or shown["grand"] is None)
        try:
            async with asyncio.timeout(120):
                await show_sign(
                    broker.build_link_settings(format_sign_name("1")),
                    eye,
                    levels=("grand",),
                    name="sign-1",
                    report=lambda _: None,
                )
                await _forge(broker)
                jump[0] = VALUE_AGE_MAX_NS
                await silent.wait()
            with closing(MetricsExporter(readings, 0)) as exporter:
                text = await asyncio.to_thread(_scraped, exporter.port)
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            store.close()
            broker.close()
        assert 'egm_progressive_sign{sign="sign-1",status="silent"} 1.0' in text
        assert 'egm_progressive_level_cents{level="grand"} 100000.0' in text

    asyncio.run(run())
    result = CliRunner().invoke(command, ["status", "--store", str(tmp_path / "levels.db"), "--json"])
    assert result.exit_code == 1
    report = json.loads(result.output)
    assert [(sign["id"], sign["status"]) for sign in report["signs"]] == [("sign-1", "silent")]
    assert report["levels"] == {"grand": 100000}
    shown = CliRunner().invoke(command, ["status", "--store", str(tmp_path / "levels.db")])
    assert re.search(r"sign-1\s.*silent", shown.output)


async def _forge(broker):
    """Send a sign's heartbeat with a machine's certificate; the broker must block it."""
    slot = broker.build_link_settings("EGM-1")
    sent = asyncio.Event()

    async def beat(line):
        await line.publish(
            topics.build_heartbeat_topic("sign-9"), SignHeartbeat(sign="sign-9").model_dump_json().encode(), 0
        )
        sent.set()
        await asyncio.sleep(60)

    task = asyncio.create_task(
        keep_connected(
            slot,
            lambda: build_tls_context(slot),
            "EGM-1",
            beat,
            lambda _: None,
            retry_seconds=RECONNECT_SECONDS,
        )
    )
    await sent.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _scraped(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        return answer.read().decode()


def test_the_status_states_when_each_machine_was_last_received(tmp_path):
    path = tmp_path / "levels.db"
    with closing(SqliteStore(path)) as store:
        controller = Controller(store, lambda: datetime(2026, 11, 23, 8, 30, tzinfo=UTC))
        controller.open_levels([LEVEL])
        for machine in ("EGM-1", "EGM-2"):
            controller.admit_machine(machine)
        expected = LevelEnrolment(
            level="grand",
            stake_cents=LEVEL.stake_and_hit_rate.stake_cents,
            odds=LEVEL.stake_and_hit_rate.hit_rate,
        )
        controller.process_messages(
            [ReceivedMessage("EGM-1", EnrolmentRequest(machine="EGM-1", nonce="n", levels=(expected,)))]
        )
    shown = CliRunner().invoke(command, ["status", "--store", str(path)])
    assert re.search(r"EGM-1 +2026-11-23T08:30:00 +grand", shown.output), shown.output
    assert re.search(r"EGM-2 +never", shown.output)
    result = CliRunner().invoke(command, ["status", "--store", str(path), "--json"])
    assert [machine["heard_at"] is None for machine in json.loads(result.output)["machines"]] == [False, True]


def test_forgetting_an_unknown_sign_is_refused(tmp_path):
    SqliteStore(tmp_path / "levels.db").close()
    result = CliRunner().invoke(command, ["forget-sign", "sign-1", "--store", str(tmp_path / "levels.db")])
    assert (result.exit_code, "not on the list" in result.output) == (1, True)
    assert CliRunner().invoke(command, ["status", "--store", str(tmp_path / "levels.db")]).exit_code == 0
