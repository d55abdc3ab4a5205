"""The client reconnects whichever reply the broker omits, and stops when the machine stops it.

The broker speaks real MQTT 5 over real TLS, but omits the replies that a test selects.
"""

import asyncio
import contextlib
import ssl
from fractions import Fraction

import aiomqtt
import pytest
from rigs.moments import CERTIFIED, get_fixed_now, make_certificates_permanent

from egm.config.levels import LevelScope, ProgressiveLinkTable
from egm.progressive import topics
from egm.progressive.connection import QOS_AT_LEAST_ONCE, build_tls_context, open_connection, run_together
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate
from egm.progressive.level import LevelTerms
from egm.progressive.messages import (
    Claim,
    Contribution,
    EnrolmentRequest,
    LevelEnrolment,
    decode_controller_message,
    encode,
)
from egm.progressive.mqtt import MqttCarrier
from tools.floor.progressive.certificates import (
    AUTHORITY_CERTIFICATE_NAME,
    BROKER_CERTIFICATE_NAME,
    CONTROLLER_CERTIFICATE_NAME,
    make_authority,
    make_certificate,
)
from tools.floor.progressive.controller import Controller, ReceivedMessage
from tools.floor.progressive.serve import ControllerService
from tools.floor.progressive.store import SqliteStore

NAMES = {1: "connect", 3: "publish", 8: "subscribe", 12: "ping", 14: "disconnect"}
LIMIT = 0.2
LEVEL = LevelDefinition(
    id="grand",
    names={"en": "Grand", "fr": "Grand"},
    scope=LevelScope.LINKED,
    terms=LevelTerms(base_cents=1_000_00, increment=Fraction(1, 300), hidden_increment=Fraction(0)),
    stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=25, hit_rate=Fraction(1, 1000)),
)


@pytest.fixture(autouse=True)
def _certified_for_ever(monkeypatch):
    make_certificates_permanent(monkeypatch)


class Taciturn:
    """A broker with one client at a time that does not answer packets named ``unanswered``."""

    def __init__(self, folder, unanswered, refusing=False):
        self._folder, self._handle_missing_reply, self._refusing = folder, unanswered, refusing
        now = CERTIFIED
        make_authority(folder, now)
        make_certificate(folder, BROKER_CERTIFICATE_NAME, now, ("127.0.0.1",))
        make_certificate(folder, "EGM-1", now)
        make_certificate(folder, CONTROLLER_CERTIFICATE_NAME, now)
        self.connections = 0
        self.published_bodies = []
        self._writers = []

    @contextlib.asynccontextmanager
    async def listening(self, *, older=False):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        if older:
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(
            self._folder / f"{BROKER_CERTIFICATE_NAME}.crt", self._folder / f"{BROKER_CERTIFICATE_NAME}.key"
        )
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            # A connection in its TLS handshake has no writer yet. Only a wait begun before close() includes it.
            closed = asyncio.create_task(server.wait_closed())
            await asyncio.sleep(0)
            server.close()
            while not closed.done():
                for writer in self._writers:
                    writer.transport.abort()
                await asyncio.wait({closed}, timeout=0.01)

    def slot(self, name):
        files = {
            "certificate": f"{name}.crt",
            "key": f"{name}.key",
            "authority": f"{AUTHORITY_CERTIFICATE_NAME}.crt",
        }
        return ProgressiveLinkTable(
            port=self.port, **{key: self._folder / file for key, file in files.items()}
        )

    async def _serve(self, reader, writer):
        self._writers.append(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readexactly(1))[0]
                length, shift = 0, 0
                while True:
                    byte = (await reader.readexactly(1))[0]
                    length, shift = length | (byte & 127) << shift, shift + 7
                    if byte < 128:
                        break
                body = await reader.readexactly(length)
                name = NAMES[head >> 4]
                if name == "publish":
                    self.published_bodies.append(body)
                if name == "connect":
                    self.connections += 1
                if name == "disconnect":
                    break
                if name != self._handle_missing_reply:
                    writer.write(self._answer(name, head, body))
        writer.close()

    def _answer(self, name, head, body):
        match name:
            case "connect":
                return b"\x20\x03\x00\x00\x00"
            case "subscribe":
                return b"\x90\x04" + body[:2] + b"\x00" + (b"\x87" if self._refusing else b"\x01")
            case "ping":
                return b"\xd0\x00"
            case _ if head & 0b110:
                after = 2 + int.from_bytes(body[:2])
                return b"\x40\x02" + body[after : after + 2]
        return b""


class Claimant:
    """A receiver that makes a claim as soon as it is connected."""

    def __init__(self):
        self.events = []

    def handle_connected(self):
        self.events.append("connected")
        self.carrier.send(Claim(machine="EGM-1", level="grand", claim="c", after=0, shown_cents=1))

    def handle_disconnected(self, reason):
        self.events.append(reason)

    def process_message(self, message):
        raise AssertionError(message)

    def handle_invalid_message(self, text):
        raise AssertionError(text)


async def until(condition, task):
    while not condition():
        assert not task.done()
        await asyncio.sleep(0.01)


def machine(broker, folder):
    del folder
    ears = Claimant()
    ears.carrier = MqttCarrier(
        broker.slot("EGM-1"), "EGM-1", retry_seconds=0.01, broker_reply_seconds_max=LIMIT
    )
    return ears.carrier.run(ears), ears.events


def controller(broker, folder):
    events, store = [], SqliteStore(folder / "levels.db")
    serving = Controller(store, get_fixed_now)
    serving.open_levels([LEVEL])
    slot = broker.slot(CONTROLLER_CERTIFICATE_NAME)
    service = ControllerService(
        serving, slot, events.append, retry_seconds=0.01, broker_reply_seconds_max=LIMIT
    )

    async def run():
        with contextlib.closing(store):
            await service.run()

    return run(), events


@pytest.mark.requirement("I-07")
@pytest.mark.parametrize(
    ("connect_peer", "unanswered", "refusing", "reason"),
    [
        *((machine, unanswered, False, "") for unanswered in ("connect", "subscribe")),
        (machine, "", True, ""),
        (machine, "publish", False, "acknowledgement"),
        (machine, "ping", False, "Disconnected"),
        (controller, "connect", False, "connection"),
        (controller, "subscribe", False, "subscription"),
        (controller, "", True, "refuses"),
        (
            controller,
            "publish",
            False,
            "acknowledgement",
        ),  # a value arrives twice a second, so that no ping is sent
    ],
)
def test_an_unresponsive_broker_is_disconnected_and_connected_again(
    tmp_path, connect_peer, unanswered, refusing, reason
):
    async def session():
        async with Taciturn(tmp_path / "link", unanswered, refusing).listening() as broker:
            work, connections = connect_peer(broker, tmp_path)
            task = asyncio.create_task(work)
            async with asyncio.timeout(60):
                await until(lambda: broker.connections > 1, task)
            task.cancel()
            async with asyncio.timeout(60):
                await asyncio.wait({task})
            assert task.cancelled()
            return connections

    connections = asyncio.run(session())
    assert any(reason in connection for connection in connections) or not reason
    if connect_peer is machine:
        assert (connections[:1] == ["connected"]) is bool(reason), "only who was connected was disconnected"


@pytest.mark.requirement("I-15:c", "K-07")
@pytest.mark.parametrize("intruder", ["", "of another authority", "of another name", "of an older protocol"])
def test_a_broker_without_a_valid_certificate_receives_nothing(tmp_path, intruder):
    """A false broker receives no wager and no claim."""

    async def session():
        async with Taciturn(tmp_path / "link", "").listening(older=intruder.endswith("protocol")) as broker:
            slot = broker.slot("EGM-1")
            if intruder.endswith("authority"):
                make_authority(tmp_path / "other", CERTIFIED)
                slot = slot.model_copy(
                    update={"authority": tmp_path / "other" / f"{AUTHORITY_CERTIFICATE_NAME}.crt"}
                )
            if intruder.endswith("name"):
                slot = slot.model_copy(update={"host": "localhost"})
            raised = pytest.raises(aiomqtt.MqttError) if intruder else contextlib.nullcontext()
            with raised:
                async with open_connection(slot, build_tls_context(slot), "EGM-1"):
                    pass
            return broker.connections

    assert asyncio.run(session()) == (not intruder)


@pytest.mark.requirement("I-15")
def test_a_queued_message_is_sent_once(tmp_path):
    """On a line slower than the repeat interval of claims, repeats must not accumulate."""

    async def session():
        ears = Claimant()
        first, last = (
            Claim(machine="EGM-1", level="grand", claim=name, after=0, shown_cents=1) for name in "cd"
        )
        async with Taciturn(tmp_path / "link", "").listening() as broker:
            ears.carrier = MqttCarrier(broker.slot("EGM-1"), "EGM-1")
            task = asyncio.create_task(ears.carrier.run(ears))
            async with asyncio.timeout(60):
                await until(lambda: ears.events, task)
                for _ in range(50):
                    ears.carrier.send(first)
                ears.carrier.send(last)
                await until(lambda: encode(last) in b"".join(broker.published_bodies), task)
            task.cancel()
            await asyncio.wait({task})
            return b"".join(broker.published_bodies).count(encode(first))

    assert asyncio.run(session()) <= 2  # the one it makes when it is connected, and one repeat


@pytest.mark.parametrize("answered", ["_on_connect", "_on_subscribe", "_on_publish"])
def test_a_stop_at_the_moment_of_a_reply_takes_effect(tmp_path, monkeypatch, answered):
    tasks = []
    honest = getattr(aiomqtt.Client, answered)

    def cancel_after_reply(*values):
        honest(*values)
        tasks[0].cancel()

    async def speak(slot):
        async with open_connection(slot, build_tls_context(slot), "EGM-1") as line:
            await line.subscribe(topics.LEVEL_VALUE_TOPIC_FILTER)
            while True:
                await line.publish(topics.build_uplink_topic("EGM-1"), b"x", QOS_AT_LEAST_ONCE)
                await asyncio.sleep(0)

    async def session():
        async with Taciturn(tmp_path / "link", "").listening() as broker:
            tasks.append(asyncio.create_task(speak(broker.slot("EGM-1"))))
            monkeypatch.setattr(aiomqtt.Client, answered, cancel_after_reply)
            ended_tasks, _ = await asyncio.wait(tasks, timeout=60)
            monkeypatch.undo()
            return ended_tasks == set(tasks) and tasks[0].cancelled()

    assert asyncio.run(session())


def test_consecutive_wagers_share_one_disk_write(tmp_path):
    store = SqliteStore(tmp_path / "levels.db")
    keeper = Controller(store, get_fixed_now)
    keeper.open_levels([LEVEL])
    keeper.admit_machine("EGM-1")
    enrolment = LevelEnrolment(level="grand", stake_cents=25, odds=LEVEL.stake_and_hit_rate.hit_rate)
    keeper.process_messages(
        [ReceivedMessage("EGM-1", EnrolmentRequest(machine="EGM-1", nonce="n", levels=(enrolment,)))]
    )
    messages = []

    class Said:
        async def publish(self, topic, data, qos):
            messages.append(decode_controller_message(data))

    async def session():
        nowhere = ProgressiveLinkTable(port=1, **dict.fromkeys(("authority", "certificate", "key"), tmp_path))
        service = ControllerService(keeper, nowhere, messages.append)
        answering = asyncio.create_task(service._publish_replies(Said()))
        for n in range(1, 101):
            share = {"wager_cents": 25, "amount": Fraction(25, 300)}
            service._inbox.put_nowait(
                ReceivedMessage("EGM-1", Contribution(machine="EGM-1", level="grand", sequence=n, **share))
            )
            for _ in range(3):  # as a socket is read: the next message is some turns of the loop away
                await asyncio.sleep(0)
        await until(lambda: messages and messages[-1].last_counted_number == 100, answering)
        answering.cancel()
        await asyncio.wait({answering})

    before = store.run("SELECT used FROM office")[0][0]
    asyncio.run(session())
    assert store.run("SELECT used FROM office")[0][0] - before <= 2
    store.close()


def test_a_lost_connection_is_reported_after_other_ends_of_the_same_moment():
    async def lost():
        raise aiomqtt.MqttError("gone")

    async def wrong():
        raise ArithmeticError("money")

    async def both():
        await run_together(lost(), asyncio.sleep(3600), wrong())

    with pytest.raises(ArithmeticError):
        asyncio.run(both())


def test_a_machine_starts_without_certificate_and_connects_once_it_has_one(tmp_path):
    """A certificate installed later is used at the next connection; a missing one is reported once."""
    ears = Claimant()

    async def session():
        async with Taciturn(tmp_path, "").listening() as broker:
            slot, away = broker.slot("EGM-1"), tmp_path / "away.crt"
            slot.certificate.rename(away)
            ears.carrier = MqttCarrier(slot, "EGM-1", retry_seconds=0.01, broker_reply_seconds_max=LIMIT)
            task = asyncio.create_task(ears.carrier.run(ears))
            await until(lambda: ears.events, task)
            await asyncio.sleep(0.05)
            assert broker.connections == 0
            away.rename(slot.certificate)
            await until(lambda: broker.connections, task)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    asyncio.run(session())
    (reason,) = [problem for problem in ears.events if "EGM-1.crt" in problem]
    assert "certificates" in reason
