"""A first start on a medium that is read-only or becomes full: it is reported, and nothing is lost."""

import asyncio
import contextlib
import os
import subprocess

import pytest
from run_rig import PATIENCE_SECONDS, connect, until
from test_first_start import (
    PINS,
    Hand,
    answer_site_pages,
    choose_devices_and_games,
    enrol_persons,
    entries,
    run_first_start,
)
from test_media_at_start import fill, remount

from egm.app.first_start.wizard import CABINET_PRESET_FILE_NAME
from egm.config.cabinet_file import StateFolder
from egm.kernel.messages import MessageError, Snapshot
from egm.testing.service_menu import translate_text


@pytest.fixture
def medium(tmp_path):
    """A state folder on a medium of 40 MiB, with its run-time folder in RAM, as in the image."""
    where, run = tmp_path / "state", tmp_path / "run"
    for folder in (where, run):
        folder.mkdir(mode=0o700)
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=40m,mode=700", "tmpfs", where],
            capture_output=True,
            check=False,
        ).returncode
    )
    if not mounted:
        pytest.skip("only root mounts a small medium")
    (where / "run").mkdir(mode=0o700)
    subprocess.run(["mount", "--bind", run, where / "run"], check=True)
    try:
        yield where
    finally:
        for mount_point in (where / "run", where):
            subprocess.run(["umount", "--lazy", mount_point], check=True)


async def wait_for_snapshot(folder, condition):
    """Return the first snapshot that satisfies the condition, reconnecting if necessary."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            with contextlib.suppress(MessageError, ConnectionError):
                reader, writer = await connect(folder.screen_socket, folder.screen_token)
                try:
                    return await until(reader, lambda m: isinstance(m, Snapshot) and condition(m))
                finally:
                    writer.close()
            await asyncio.sleep(0.05)


def is_waiting_for_memory(shown):
    return [tilt.code for tilt in shown.tilts] == ["memory_waits"]


@pytest.mark.slow
def test_a_first_start_waits_for_a_writable_medium_and_is_signed_once_there_is_room(tmp_path, medium):
    folder, file = StateFolder(medium), medium / "cabinet.toml"
    seed = tmp_path / CABINET_PRESET_FILE_NAME
    seed.write_text("[[games]]\ngame = 'maple-classic'\n[metrics]\nport = 0\n")
    options = ("--seed", str(seed))

    async def session():
        remount(medium, "ro")
        async with run_first_start(folder, file, options=options) as process:
            await wait_for_snapshot(folder, is_waiting_for_memory)
            assert process.returncode is None
            remount(medium, "rw")
            await wait_for_snapshot(
                folder, lambda message: message.service_page is not None
            )  # it has tried again by itself
            async with Hand.connect(folder) as hand:
                await answer_site_pages(hand)
                await choose_devices_and_games(hand)
                fill(medium)
                await hand.touch("request")  # the key has no room
                assert hand.notice == "notice.refused.medium_full"
                (medium / "filler").unlink()
                await hand.touch("without")
                await enrol_persons(hand)
                await hand.come_to("signing", ready=lambda page: hand.offers("sign"))
                fill(medium)
                await hand.touch("sign")
                await hand.type("11", PINS["11"])
                full = {"notice.refused.medium_full"}
                if hand.notice not in full:  # even a wrong PIN must be written down
                    await hand.type("12", PINS["12"])
                assert hand.notice in full
                assert not file.exists()
                for language in ("en", "fr"):
                    assert translate_text(hand.page.notice, language)
                (medium / "filler").unlink()
                await hand.type("11", PINS["11"], "12")
                hand.last(PINS["12"])
                async with asyncio.timeout(PATIENCE_SECONDS):
                    assert await process.wait() == 4
        remount(medium, "ro")
        async with run_first_start(folder, file, options=options):
            await wait_for_snapshot(folder, is_waiting_for_memory)
            remount(medium, "rw")
            return await wait_for_snapshot(folder, lambda message: message.journal_sequence > 0)

    shown = asyncio.run(session())
    assert {tilt.code.partition(".")[2] for tilt in shown.tilts} <= {"communication"}  # there is no bench
    (record,) = entries(folder, "cabinet.signed")
    assert record["persons"] == ["11", "12"]
