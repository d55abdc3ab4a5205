"""A machine without a screen starts no game; a screen that fails repeatedly counts as missing."""

import asyncio

import pytest

from egm.app.screen_watch import SCREEN_MISSING_FAULT, ScreenWatch
from egm.kernel.events import State
from egm.kernel.messages import Hello, ScreenHeartbeat
from egm.links.screen.client import ScreenClient
from egm.links.screen.private_sockets import write_new_token
from egm.links.screen.server import ScreenServer
from egm.testing.machine import MachineRig


def test_without_a_stable_screen_the_machine_is_out_of_service(tmp_path):
    rig = MachineRig(tmp_path).boot()
    audiences = [1, 1]
    watch = ScreenWatch(rig.machine, rig.submit_event, lambda: audiences)

    def pass_seconds(seconds, *watching):
        audiences[:] = watching
        for _ in range(seconds):
            rig.clock.pass_seconds(1)
            watch.update_fault()
        return rig.engine.state

    assert pass_seconds(3600, 1, 1) is State.IDLE
    assert pass_seconds(29, 1, 0) is State.IDLE
    assert pass_seconds(1, 1, 0) is State.OUT_OF_SERVICE
    assert pass_seconds(59, 1, 1) is State.OUT_OF_SERVICE
    for _ in range(20):  # it fails after every start
        pass_seconds(2, 1, 0)
        assert pass_seconds(45, 1, 1) is State.OUT_OF_SERVICE
    assert pass_seconds(60, 1, 1) is State.IDLE
    for _ in range(2):
        pass_seconds(2, 0, 1)
        assert pass_seconds(8, 1, 1) is State.IDLE
    pass_seconds(2, 0, 1)
    assert pass_seconds(8, 1, 1) is State.OUT_OF_SERVICE
    assert [record["code"] for record in rig.records("fault.raised")] == [SCREEN_MISSING_FAULT] * 2
    rig.close()


@pytest.mark.parametrize(
    ("up", "down", "state"),
    [
        (9, 3, State.OUT_OF_SERVICE),
        (12, 5, State.OUT_OF_SERVICE),
        (11, 18, State.OUT_OF_SERVICE),
        (30, 19, State.OUT_OF_SERVICE),
        (55, 5, State.OUT_OF_SERVICE),
        (300, 5, State.IDLE),
        (600, 19, State.IDLE),
    ],
)
def test_a_screen_that_crashes_repeatedly_counts_as_missing_and_one_crash_does_not(tmp_path, up, down, state):
    rig = MachineRig(tmp_path).boot()
    audience = [1]
    watch = ScreenWatch(rig.machine, rig.submit_event, lambda: audience)
    for seconds, audience[0] in [(up, 1), (down, 0)] * (1200 // (up + down)):
        for _ in range(seconds):
            rig.clock.pass_seconds(1)
            watch.update_fault()
    assert rig.engine.state is state
    assert bool(rig.records("fault.raised")) is (state is State.OUT_OF_SERVICE)
    rig.close()


def test_a_hanging_screen_counts_as_missing_although_it_is_connected(tmp_path):
    """A screen that does not announce heartbeats counts as present as long as it is connected."""
    token, now_s = tmp_path / "token", [100.0]
    server = ScreenServer(
        tmp_path / "socket",
        write_new_token(token),
        build_greeting=lambda: (Hello(),),
        on_intent=lambda _: None,
        on_peer_error=pytest.fail,
        read_monotonic_seconds=lambda: now_s[0],
    )

    async def until(screen, living):
        async with asyncio.timeout(60):
            while server.responding_screen_count != living:
                screen.poll(asyncio.get_running_loop().time())
                await asyncio.sleep(0.01)

    async def visit():
        await server.start()
        older, screen = (
            ScreenClient(server._path, token, sends_heartbeats=proves) for proves in (False, True)
        )
        await until(older, 1)
        await until(screen, 2)
        for _ in range(2):
            now_s[0] += 9
            assert server.responding_screen_count == 2
            now_s[0] += 1
            assert (server.responding_screen_count, server.player_screen_count) == (1, 2)
            assert screen.send(ScreenHeartbeat())
            await until(screen, 2)
        screen.close()
        await until(older, 1)
        older.close()
        await server.close()

    asyncio.run(visit())


def test_an_observer_does_not_count_as_a_screen(tmp_path):
    """An update in waiting and a top screen receive every message but show nothing to a player."""
    token = tmp_path / "token"
    server = ScreenServer(
        tmp_path / "socket",
        write_new_token(token),
        build_greeting=lambda: (Hello(),),
        on_intent=lambda _: None,
        on_peer_error=lambda _: None,
    )

    async def linked(*clients):
        message_counts = [0] * len(clients)
        async with asyncio.timeout(60):
            while not all(message_counts):
                for i, client in enumerate(clients):
                    message_counts[i] += len(client.poll(asyncio.get_running_loop().time()).messages)
                await asyncio.sleep(0.01)
        return server.player_screen_count

    async def visit():
        await server.start()
        update, screen = (
            ScreenClient(server._path, token, is_onlooker=onlooker) for onlooker in (True, False)
        )
        assert await linked(update) == 0
        assert await linked(screen) == 1
        screen.close()
        async with asyncio.timeout(60):
            while server.player_screen_count:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        update.close()
        await server.close()

    asyncio.run(visit())
