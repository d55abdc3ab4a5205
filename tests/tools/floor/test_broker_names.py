"""Names on the link's broker, tested with a real Mosquitto, real certificates and a client under another's name."""

import asyncio
import contextlib

import pytest
from click.testing import CliRunner
from rigs.moments import NOW, get_real_now

from egm.errors import OperatorError
from egm.progressive import topics
from egm.progressive.connection import QOS_AT_MOST_ONCE, build_tls_context, keep_connected, open_connection
from tools.cli.commands.progressive import command
from tools.dev.progressive.broker import Broker, BrokerMissingError
from tools.floor.progressive.certificates import (
    AUTHORITY_CERTIFICATE_NAME,
    BROKER_CERTIFICATE_NAME,
    format_sign_name,
    make_link_certificates,
)

ROGUE = "EGM-1"


@contextlib.asynccontextmanager
async def run_broker(folder):
    """Run a broker for two machines and two signs; the certificates in its folder decide who may connect."""
    try:
        make_link_certificates(folder / "link", (), "127.0.0.1", get_real_now(), ("1", "2"))
        broker = Broker(folder / "link", (ROGUE, "EGM-2"))
    except BrokerMissingError as missing:
        pytest.skip(str(missing))
    await broker.start()
    try:
        yield (
            broker,
            {path.stem for path in (folder / "link").glob("*.crt")}
            - {AUTHORITY_CERTIFICATE_NAME, BROKER_CERTIFICATE_NAME},
        )
    finally:
        broker.close()


def test_a_certificate_holder_under_another_name_disconnects_nobody(tmp_path):
    """A second client with the same name disconnects the first, so that a certificate must permit only its own name."""
    lost, is_connected = [], asyncio.Event()

    async def run():
        async with (
            run_broker(tmp_path) as (broker, names),
            asyncio.TaskGroup() as group,
            asyncio.timeout(120),
        ):
            assert {"controller", "EGM-2", "sign-1", "sign-2"} <= names
            waiting = names - {ROGUE}
            victims = sorted(waiting)

            async def stay(name):
                slot = broker.build_link_settings(name)

                async def serve(line):
                    await line.subscribe(topics.LEVEL_VALUE_TOPIC_FILTER)
                    waiting.discard(name)
                    if not waiting:
                        is_connected.set()
                    await asyncio.sleep(600)

                await keep_connected(
                    slot,
                    lambda: build_tls_context(slot),
                    name,
                    serve,
                    lambda reason: lost.append((name, reason)),
                )

            tasks = [group.create_task(stay(name)) for name in victims]
            await is_connected.wait()
            rogue = broker.build_link_settings(ROGUE)
            for name in [*victims, ""]:
                async with open_connection(rogue, build_tls_context(rogue), name) as line:
                    await line.subscribe(topics.build_downlink_topic(ROGUE))
                    await asyncio.sleep(0.1)  # a disconnected client would notice it now
            for task in tasks:
                task.cancel()

    asyncio.run(run())
    assert lost == []


def test_a_sign_certificate_may_report_only_that_sign_and_a_machines_none(tmp_path):
    """Regression: one certificate could report thousands of invented signs, which were all stored."""

    async def run():
        sign_ids = []
        async with run_broker(tmp_path) as (broker, _), asyncio.timeout(120):
            ear = broker.build_link_settings("controller")
            async with open_connection(ear, build_tls_context(ear), "controller") as listening:
                await listening.subscribe(topics.SIGN_HEARTBEAT_TOPIC_FILTER)
                for bearer in (ROGUE, format_sign_name("2"), format_sign_name("1")):
                    slot = broker.build_link_settings(bearer)
                    async with open_connection(slot, build_tls_context(slot), bearer) as line:
                        for name in (*(f"sign-{n}" for n in range(2, 40)), bearer, "sign", "sign-1"):
                            await line.publish(topics.build_heartbeat_topic(name), b"{}", QOS_AT_MOST_ONCE)
                        await line.subscribe(
                            topics.LEVEL_VALUE_TOPIC_FILTER
                        )  # the reply shows that earlier messages have arrived
                async for message in listening.messages:
                    sign_ids.append(topics.parse_sign_id(str(message.topic)))
                    if sign_ids[-1] == "sign-1" and sign_ids.count("sign-1") == 2:
                        return sign_ids
        return None

    assert asyncio.run(run()) == ["sign-2", "sign-2", "sign-1", "sign-1"]


@pytest.mark.parametrize("name", ["controller", "broker", "authority", "sign", "sign-1", "sign-lobby"])
def test_a_machine_serial_cannot_be_the_name_of_another_part_of_the_link(tmp_path, name):
    with pytest.raises(OperatorError, match="not a valid machine serial number"):
        make_link_certificates(tmp_path, (name,), "127.0.0.1", NOW)


def test_a_sign_is_certified_by_its_name(tmp_path):
    folder = str(tmp_path / "keys")
    result = CliRunner().invoke(command, ["certificates", folder, "--sign", "lobby", "--sign", "bar"])
    assert result.exit_code == 0, result.output
    access = (tmp_path / "keys" / "broker.acl").read_text()
    for name in ("sign-lobby", "sign-bar"):
        assert (tmp_path / "keys" / f"{name}.key").stat().st_mode & 0o077 == 0
        assert f"user {name}\ntopic write {topics.build_heartbeat_topic(name)}\n" in access
    assert "sign/+/beat" not in access.partition("user controller")[0]
    assert CliRunner().invoke(command, ["revoke", folder, "sign-bar"]).exit_code == 0
    assert CliRunner().invoke(command, ["certificates", folder, "--sign", "lobby"]).exit_code == 0
    assert "sign-bar" not in (tmp_path / "keys" / "broker.acl").read_text()
    assert CliRunner().invoke(command, ["certificates", folder, "--sign", "../x"]).exit_code == 1
