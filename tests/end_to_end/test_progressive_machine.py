"""A real machine on a real link: ``egm run``, Mosquitto and ``egm progressive serve``, each as a process."""

import asyncio
import contextlib
import json
import shutil
import signal
import sqlite3
import ssl
import subprocess
import time
from fractions import Fraction
from pathlib import Path

import aiomqtt
import pytest
from run_rig import EGM, PATIENCE_SECONDS, Visit, cabinet, snapshot, until

from egm.config.cabinet_file import StateFolder
from egm.kernel.messages import DecisionRequest, GameOutcome, Snapshot, decode_message
from egm.profiles import load_profile
from egm.progressive.connection import build_tls_context, open_connection
from egm.progressive.messages import Contribution, encode
from egm.progressive.topics import build_uplink_topic
from meters import JournalError, open_view
from paytables import load_game
from tools.dev.progressive.broker import Broker, BrokerMissingError, find_mosquitto
from tools.floor.progressive.store_option import open_controller

try:
    find_mosquitto()
except BrokerMissingError as missing:
    pytestmark = pytest.mark.skip(reason=str(missing))

GAME = Path(__file__).parents[1] / "vectors" / "three-levels.toml"
#: Age at which the link's values are stale, as the profile says: the shortest permitted time.
STALE_SECONDS = 1
SERIAL = "EGM-0000001"
STAKE_CENTS = 50


def write_sure_game(folder):
    """Write the test game with the level "top" in every prize and jar, so that every game wins it; return its file."""
    text = GAME.read_text()
    for prize, sure in (
        ("pays = { 1 = 3 }", 'pays = { 1 = 3 }\ngives = [{ progressive = "top" }]'),
        ("{ credits = 1 }", '{ credits = 1, gives = [{ progressive = "top" }] }'),
    ):
        assert text.count(prize) == 1
        text = text.replace(prize, sure)
    file = folder / "sure.toml"
    file.write_text(text)
    return file


def cabinet_of(broker, linked="top", name="TOP", game=GAME):
    """Return a change of the demonstration cabinet: only the test game, with one of its levels linked."""
    slot = broker.build_link_settings(SERIAL)
    profile = broker.log.with_name("profile.toml")
    generic = load_profile("generic").file.data.decode()
    profile.write_text(f"{generic}\n[progressives]\nstale_seconds = {STALE_SECONDS}\n")

    def alone(text):
        return (text[: text.index("[[games]]")] + text[text.index("[devices.bill]") :]).replace(
            'profile = "generic"', f'profile = "{profile}"'
        )

    shared = f'kind = "linked"\nstakes = {{ {STAKE_CENTS} = "{name}" }}\n'
    level_tables = "".join(
        f'[[progressives]]\ngame = "three-levels"\nlevel = "{level}"\n{shared if level == linked else ""}'
        for level in ("top", "luck", "mystery")
    )
    link = (
        f'[progressive_link]\nport = {slot.port}\nauthority = "{slot.authority}"\n'
        f'certificate = "{slot.certificate}"\nkey = "{slot.key}"\n'
    )
    return alone, f'[[games]]\ngame = "{game}"\n{level_tables}{link}'


def level_file(folder, file=GAME, **changes):
    game = load_game(file)
    (play,) = (level for level in game.list_levels(game.build_wager(10)) if level.level == "top")
    values = {
        "stake_cents": STAKE_CENTS,
        "odds": f'"{play.hit_rate}"',
        "base_cents": 1500,
        "increment": '"1/70"',
    }
    lines = "".join(f"{key} = {value}\n" for key, value in {**values, **changes}.items())
    file = folder / "levels.toml"
    file.write_text(f'[[level]]\nid = "TOP"\nname = {{ en = "Top", fr = "Sommet" }}\n{lines}')
    return file


@contextlib.asynccontextmanager
async def serve_controller(folder, broker, levels, *machines):
    """Run ``egm progressive serve`` as a process."""
    admitted = [option for machine in machines for option in ("--admit", machine)]
    process = await asyncio.create_subprocess_exec(
        *(*EGM, "progressive", "serve", str(levels), "--certificates", str(folder / "link")),
        *("--store", str(folder / "controller.db"), "--port", str(broker.port), *admitted),
        stdout=subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(120):
            while b"serving" not in await process.stdout.readline():
                pass
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.communicate()


def query_controller(folder, verb):
    result = subprocess.run(
        [*EGM, "progressive", verb, "--store", str(folder / "controller.db"), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(result.stdout)


def _all_paid(folder, wagers):
    """Wait until the controller has received every wager and every payment."""

    def is_all_paid(controller):
        (level_record,) = controller.list_level_records()
        fed = level_record.level.contributed_amount == wagers * STAKE_CENTS * Fraction(1, 70)
        return fed and all(hit.closed_at for hit in controller.read_win_register())

    _until_recorded(folder, is_all_paid)


def _until_recorded(folder, holds):
    """Wait until the store of the controller, which is another process, satisfies the condition."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with open_controller(str(folder / "controller.db"), read_only=True) as controller:
            if holds(controller):
                return
        time.sleep(0.05)
    raise AssertionError("the controller does not hear of it")


def has_level_status(status, name="TOP"):
    return lambda m: (
        isinstance(m, Snapshot) and any(hit.id == name and hit.status == status for hit in m.progressives)
    )


async def one_game(person, level="top"):
    """Play one game, choosing a jar if it asks; return whether it won the level.

    While the machine waits, it sends a snapshot whenever a level grows; only a snapshot after the outcome ends the
    game.
    """
    person.send_intent("play")
    won, is_over = False, False
    async with asyncio.timeout(120):
        while True:
            message = decode_message(await person.screen.readline())
            if isinstance(message, DecisionRequest):
                person.send_intent("choose", message.options[0])
            elif isinstance(message, GameOutcome):
                won = won or any(win.level == level for win in message.progressives)
                is_over = True
                person.send_intent("shown", message.play_id)
            elif is_over and snapshot(state="idle")(message) and "play" in message.accepted_inputs:
                return won


@pytest.mark.requirement("I-01", "I-02", "I-09", "I-17")
def test_a_machine_feeds_and_wins_a_linked_level_across_a_controller_restart(tmp_path):
    folder, game = StateFolder(tmp_path / "state"), write_sure_game(tmp_path)
    games = 2

    async def session():
        broker = Broker(tmp_path / "link", [SERIAL])
        await broker.start()
        levels = level_file(tmp_path, game)
        alone, tables = cabinet_of(broker, game=game)
        try:
            async with cabinet(folder, tables, alone), Visit.connect(folder) as person:
                async with serve_controller(tmp_path, broker, levels, SERIAL):
                    await until(person.screen, has_level_status("up"))
                    await person.operate_until_accepted("bill", "insert", amount_cents=10000)
                    await person.wait_until_shown(credit_cents=10000)
                    assert await one_game(person)
                await until(person.screen, has_level_status("stale"))
                async with serve_controller(tmp_path, broker, levels):
                    await until(person.screen, has_level_status("up"))
                    assert await one_game(person)
                    await asyncio.to_thread(_all_paid, tmp_path, games)
        finally:
            broker.close()

    asyncio.run(session())
    level_state = query_controller(tmp_path, "show")["TOP"]["level"]
    assert Fraction(level_state["contributed"]) == games * STAKE_CENTS * Fraction(1, 70)
    register = query_controller(tmp_path, "register")
    assert len(register) == games
    for hit in register:
        assert (hit["machine"], hit["paid_cents"]) == (SERIAL, hit["amount_cents"])
        assert hit["combination"] == "three-levels top"


@pytest.mark.slow
@pytest.mark.requirement("I-04", "I-09", "I-17")
def test_a_machine_wins_a_committed_mystery_across_a_controller_restart(tmp_path):
    """The prize is won by its ceiling, within ninety wagers. The controller restarts after the first one."""
    folder = StateFolder(tmp_path / "state")
    file = tmp_path / "levels.toml"
    file.write_text(
        '[[level]]\nid = "LUCKY"\nname = { en = "Lucky", fr = "Chanceux" }\nmystery = true\n'
        f'game = "{GAME}"\ngame_level = "mystery"\nstake_cents = {STAKE_CENTS}\nbase_cents = 500\n'
        'ceiling_cents = 550\nincrement = "1/90"\n'
    )
    won = []

    async def session():
        broker = Broker(tmp_path / "link", [SERIAL])
        await broker.start()
        alone, tables = cabinet_of(broker, "mystery", "LUCKY")
        try:
            async with cabinet(folder, tables, alone), Visit.connect(folder) as person:
                async with serve_controller(tmp_path, broker, file, SERIAL):
                    await until(person.screen, has_level_status("up", "LUCKY"))
                    await person.operate_until_accepted("bill", "insert", amount_cents=10000)
                    await person.wait_until_shown(credit_cents=10000)
                    won.append(await one_game(person, "mystery"))
                await until(person.screen, has_level_status("stale", "LUCKY"))
                async with serve_controller(tmp_path, broker, file):
                    await until(person.screen, has_level_status("up", "LUCKY"))
                    while not any(won):
                        won.append(await one_game(person, "mystery"))
                    await asyncio.to_thread(_closed, tmp_path)
        finally:
            broker.close()

    asyncio.run(session())
    hit = query_controller(tmp_path, "register")[0]
    assert (hit["machine"], hit["combination"]) == (SERIAL, "mystery")
    assert hit["after"] <= 91  # by its ceiling, whatever is drawn
    assert hit["paid_cents"] == hit["amount_cents"] <= 550
    first, *_ = query_controller(tmp_path, "prizes")
    assert (first["claim"], first["turns"]) == (hit["claim"], hit["after"])
    with open_view(folder.root) as view:
        (sealed_entry, *_), (won_entry, *_) = (
            list(view.entries(f"progressive.{kind}")) for kind in ("sealed", "won")
        )
    assert sealed_entry.record["commitment"] == first["commitment"]
    assert (won_entry.record["proved"], won_entry.record["sequence"]) == (True, hit["after"])


def _closed(folder):
    """Wait until the controller has recorded that its first prize is paid."""
    _until_recorded(
        folder, lambda controller: any(hit.closed_at for hit in controller.read_win_register()[:1])
    )


@pytest.mark.requirement("I-03")
def test_a_machine_with_other_odds_is_refused_and_its_level_stays_down(tmp_path):
    folder = StateFolder(tmp_path / "state")

    async def session():
        broker = Broker(tmp_path / "link", [SERIAL])
        await broker.start()
        levels = level_file(tmp_path, odds='"1/1000"')
        alone, tables = cabinet_of(broker)
        try:
            async with (
                serve_controller(tmp_path, broker, levels, SERIAL),
                cabinet(folder, tables, alone),
                Visit.connect(folder) as person,
            ):
                await until(person.screen, has_level_status("down"))
                await asyncio.to_thread(_refused, folder)
        finally:
            broker.close()

    asyncio.run(session())


def _refused(folder):
    """Wait until the machine has recorded that the broker refuses it."""
    for _ in range(600):
        with contextlib.suppress(JournalError), open_view(folder.root) as view:
            for entry in view.entries("progressive.refused"):
                if entry.record["code"] == "refused.other_odds":
                    return
        time.sleep(0.05)  # another process
    raise AssertionError("the machine does not hear that it is refused")


@pytest.mark.requirement("K-07")
def test_nobody_publishes_on_anothers_topic_or_without_a_certificate(tmp_path):
    async def session():
        broker = Broker(tmp_path / "link", ["EGM-1", "EGM-2"])
        stranger = Broker(tmp_path / "strange", ["EGM-1"])
        await broker.start()
        levels = level_file(tmp_path)
        contribution = Contribution(
            machine="EGM-2", level="TOP", sequence=1, wager_cents=50, amount=Fraction(5, 7)
        )
        forged = Contribution(machine="EGM-2", level="TOP", sequence=1, wager_cents=50, amount=Fraction(5, 7))
        try:
            async with serve_controller(tmp_path, broker, levels, "EGM-1", "EGM-2"):
                slot = broker.build_link_settings("EGM-1")
                async with open_connection(slot, build_tls_context(slot), "EGM-1") as client:
                    with contextlib.suppress(aiomqtt.MqttError):  # the broker may say that it will not
                        await client.publish(build_uplink_topic("EGM-2"), encode(contribution), 1)
                    await client.publish(build_uplink_topic("EGM-1"), encode(forged), 1)
                    await client.publish(build_uplink_topic("EGM-1"), b"no message", 1)
                await asyncio.to_thread(_recorded, tmp_path, {"forged", "misunderstood"})
                false = broker.build_link_settings("EGM-1").model_copy(
                    update={
                        kind: getattr(stranger.build_link_settings("EGM-1"), kind)
                        for kind in ("certificate", "key")
                    }
                )
                assert await _answer_to(false) == b""
                await asyncio.to_thread(_logged, broker.log, "certificate verify failed")
        finally:
            broker.close()
            stranger.close()

    asyncio.run(session())
    assert query_controller(tmp_path, "show")["TOP"]["level"]["contributed"] == "0"


@pytest.mark.slow
def test_a_revoked_certificate_is_refused_and_its_machine_may_have_another(tmp_path):
    """As after the theft of a machine: the broker refuses it, and other machines stay connected."""
    folder = tmp_path / "link"

    async def let_in(broker, name, where):
        slot = broker.build_link_settings(name).model_copy(
            update={"certificate": where / f"{name}.crt", "key": where / f"{name}.key"}
        )
        try:
            async with open_connection(slot, build_tls_context(slot), name):
                return True
        except (aiomqtt.MqttError, ssl.SSLError, ConnectionError):
            return False

    async def session():
        broker = Broker(folder, ["EGM-1", "EGM-2"])
        stolen = tmp_path / "stolen"
        shutil.copytree(folder, stolen)
        try:
            await broker.start()
            assert await let_in(broker, "EGM-1", stolen)
            result = await asyncio.to_thread(
                subprocess.run,
                [*EGM, "progressive", "revoke", folder, "EGM-1"],
                capture_output=True,
                check=False,
            )
            assert result.returncode == 0, result.stderr
            command = [*EGM, "progressive", "certificates", folder, "EGM-1", "--port", str(broker.port)]
            result = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False)
            assert result.returncode == 0, result.stderr
            broker.kill()
            await broker.start()
            assert not await let_in(broker, "EGM-1", stolen)
            assert await let_in(broker, "EGM-1", folder)
            assert await let_in(broker, "EGM-2", stolen)
        finally:
            broker.close()

    asyncio.run(session())
    for name, expected_text in (
        ("EGM-9", "no certificate to revoke"),
        ("broker", "cannot be revoked by a list"),
    ):
        result = subprocess.run(
            [*EGM, "progressive", "revoke", folder, name], capture_output=True, text=True, check=False
        )
        assert (result.returncode, expected_text in result.stderr) == (1, True), result.stderr
    (folder / "authority.key").chmod(0o644)
    result = subprocess.run(
        [*EGM, "progressive", "revoke", folder, "EGM-2"], capture_output=True, text=True, check=False
    )
    assert "users other than its owner may read" in result.stderr


async def _answer_to(slot):
    """Check that the broker does not reply to a certificate of another authority."""
    with contextlib.suppress(ssl.SSLError, ConnectionError):
        reader, writer = await asyncio.open_connection(slot.host, slot.port, ssl=build_tls_context(slot))
        try:
            return await reader.read(1)
        finally:
            writer.transport.abort()
    return b""


def _logged(log, expected):
    """Wait until the log of the broker, which receives false certificates, contains this text."""
    for _ in range(600):
        if expected in log.read_text().lower():
            return
        time.sleep(0.05)  # another process
    raise AssertionError(log.read_text())


def _recorded(folder, expected):
    """Wait until the controller has recorded all of this."""
    for _ in range(600):
        base = sqlite3.connect(f"file:{folder / 'controller.db'}?mode=ro", uri=True)
        with contextlib.closing(base):
            if expected <= {row[0] for row in base.execute("SELECT kind FROM event")}:
                return
        time.sleep(0.05)  # another process
    raise AssertionError(f"not recorded: {expected}")
