"""The power goes at random instants of a first start, on a file system of a medium that forgets.

Afterwards all is asked again, or the file is there as two have signed it and the machine runs with it; never less.
``--kills N`` asks for more: a tenth of it are cuts here.
"""

import asyncio
import contextlib
import random
import subprocess

import pytest
from powercut_rig import Medium, _run, missing
from run_rig import connect, until
from test_first_start import PINS, Hand, answered, enrolled

from egm.app.first_start.wizard import SEED_NAME
from egm.config.cabinet_file import StateFolder
from egm.integrity.signed_file import digest_of
from egm.isolated import python_module
from egm.kernel.messages import MessageError, Snapshot
from meters import open_view

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(5400),
    pytest.mark.skipif(bool(missing()), reason=f"needs root, FUSE and loop devices; missing: {missing()}"),
]


class Cabinet:
    """A computer at its first start: everything it keeps is on one medium."""

    def __init__(self, root, chance):
        self.folder, self.chance = StateFolder(root / "state"), chance
        self.file, self._run_at = self.folder.root / "cabinet.toml", root / "run"
        self._run_at.mkdir(mode=0o700)
        self.seed = root / SEED_NAME
        self.seed.write_text("[[games]]\ngame = 'maple-classic'\n[metrics]\nport = 0\n")
        # As large as to have a second superblock, as the image's have: half of the first may be lost.
        self.medium = Medium(self.folder.root, root, chance, mib=256)
        self.mount()

    def mount(self):
        self.medium.mount()
        self.folder.root.chmod(0o700)
        self.folder.run.mkdir(mode=0o700, exist_ok=True)
        _run("mount", "--bind", str(self._run_at), str(self.folder.run))  # no socket is a file of the machine

    async def on(self):
        where = ("--state", self.folder.root, "--cabinet", self.file, "--seed", self.seed, "--first-start")
        self.folder.screen_socket.unlink(missing_ok=True)
        words = python_module("egm.app", *map(str, where))
        self.process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.DEVNULL)

    async def cut(self):
        """The plug is pulled; what is mounted afterwards is what the medium has kept."""
        self.medium.disk.off()
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.medium.disk.refuse()
        await self.process.wait()
        _run("umount", "-l", str(self.folder.run))
        self.medium.unmount()
        self.medium.disk.on()
        self.mount()

    async def stop(self):
        self.process.terminate()
        await self.process.wait()

    def close(self):
        subprocess.run(("umount", "-l", str(self.folder.run)), check=False, capture_output=True)
        self.medium.close()

    async def answer_all(self):
        """As two persons do it; ends with the last PIN."""
        async with Hand.at(self.folder) as hand:
            await answered(hand)
            await hand.come_to("devices", ready=lambda page: hand.offers("simulated"))
            await hand.touch("simulated")
            await hand.touch("next")
            await hand.come_to("games", ready=lambda page: hand.offers("next"))
            await hand.touch("next")
            await hand.come_to("denominations", ready=lambda page: hand.offers("next"))
            await hand.touch("next")
            await enrolled(hand)
            await hand.come_to("signing", ready=lambda page: hand.offers("sign"))
            await hand.touch("sign")
            await hand.type("11", PINS["11"], "12")
            hand.last(PINS["12"])

    async def comes_to(self):
        """``asks`` or ``runs``; a process that has its file is begun again, as systemd does."""
        while True:
            if self.process.returncode is not None:
                assert self.process.returncode == 4
                await self.on()
            with contextlib.suppress(MessageError, ConnectionError):
                reader, writer = await connect(self.folder.screen_socket, self.folder.screen_token)
                try:
                    shown = await until(reader, lambda m: isinstance(m, Snapshot))
                    if shown.page is not None and shown.page.title.value == "first.welcome.title":
                        return "asks"
                    ails = [one for one in shown.tilts if not one.code.endswith(".communication")]
                    assert not ails, ails  # its simulated devices are not there
                    if shown.page is None and shown.journal_sequence:
                        return "runs"
                finally:
                    writer.close()
            await asyncio.sleep(0.05)


async def campaign(cabinet, cuts):
    """Lives with a cut each, until so many; what was found after each."""
    found = []
    await cabinet.on()
    for number in range(cuts):
        work = asyncio.ensure_future(cabinet.answer_all())
        if number % 3:  # most at the instants that decide: what the last PIN leads to
            await work
        if number % 3 == 2:  # the file is written; its first journal is begun
            await cabinet.process.wait()
            await cabinet.on()
        await asyncio.wait({work}, timeout=cabinet.chance.random() * 4)
        if number % 3:
            await asyncio.sleep(cabinet.chance.random() * (0.3 if number % 3 == 1 else 3))
        await cabinet.cut()
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError, MessageError, ConnectionError, ValueError):
            await work
        await cabinet.on()
        found.append(await cabinet.comes_to())
        if found[-1] == "runs":
            break
        assert not cabinet.file.exists(), "a file that is there is used"
    await cabinet.stop()
    return found


def test_a_first_start_is_begun_again_or_done(tmp_path, request):
    """About ten seconds a cut."""
    chance, wanted, seen = random.Random(20261123), request.config.getoption("--kills") // 10, []
    while len(seen) < wanted:
        root = tmp_path / str(len(seen))
        root.mkdir()
        cabinet = Cabinet(root, chance)
        try:
            found = asyncio.run(campaign(cabinet, wanted - len(seen)))
            if found[-1] == "runs":
                text = cabinet.file.read_text()
                with open_view(cabinet.folder.root) as view:
                    (told,) = [entry.record for entry in view.entries("cabinet.signed")]
                assert (told["persons"], told["digest"]) == (["11", "12"], digest_of(text))
                assert told["text"] == text
        finally:
            cabinet.close()
        seen += found
    print(f" [{len(seen)} cuts: {seen.count('asks')} ask again, {seen.count('runs')} run]")
    assert {"asks", "runs"} == set(seen)
