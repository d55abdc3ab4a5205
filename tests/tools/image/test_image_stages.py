"""The time of an image's computer from power to attract picture by stage, compared with a bare boot of its kernel.

Each stage is seen from outside: what the firmware says, who has the disks, how far they were read and written, and
what the display shows. ``pytest -m slow -s`` prints them with the load of the computer below.
"""

import os
import re
import time

import pytest
from rigs.emulated_cabinet import PATIENCE_S, Cabinet, image_in, initramfs_lines, lacking, program_in
from rigs.screen_words import is_console_text_shown

from tools.image import image as builder
from tools.image.emulated import EmulatedComputer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(2 * PATIENCE_S),
    pytest.mark.skipif(bool(lacking()), reason=f"missing: {lacking()}"),
]
#: The kernel's command line of a bare boot: to the first program of its initramfs, and no further.
_BARE = "quiet console=ttyS0 break=top"


class Stages:
    """What has been seen of one boot since its power, in seconds."""

    def __init__(self, folder, computer):
        self._computer, self._console = computer, folder / "console.log"
        self._began, self.seen = time.monotonic(), []

    def until(self, stage, condition, every_s=0.2):
        while not condition():
            assert time.monotonic() < self._began + PATIENCE_S, f"never: {stage}"
            time.sleep(every_s)
        self.seen.append((stage, time.monotonic() - self._began))

    def says(self, words):
        return words in self._console.read_bytes()

    def driven(self):
        """Whether anybody drives a disk now: the firmware, then nobody, then the kernel."""
        disks = [device for device in self._computer("x-query-virtio") if device["name"] == "virtio-blk"]
        status = (self._computer("x-query-virtio-status", path=disk["path"])["status"] for disk in disks)
        return any(status_row["statuses"] for status_row in status)

    def did(self, disk, statistic):
        (device,) = (
            device for device in self._computer("query-blockstats") if device["device"] == f"disk{disk}"
        )
        return device["stats"][statistic]

    def starts(self):
        """The stages that every boot has."""
        self.until("the firmware starts the slot", lambda: self.says(b"BdsDxe: starting"))
        self.until("its program is read: the kernel runs", lambda: not self.driven())

    def print_stages(self, name, load):
        stage_texts = [f"{stage} {seconds:.0f}" for stage, seconds in self.seen]
        print(f" [{name}, at a load of {load:.1f}: {', '.join(stage_texts)}]", flush=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return image_in(tmp_path_factory.mktemp("image"))


def boot_to_first_program(folder, built):
    """The same kernel and initramfs, by the same firmware, as far as the first program."""
    program_in(f"{built / 'open-egm.img'}@@{builder.compute_partition_offsets()['egm-esp-a']}", folder)
    builder._build_esp(folder, _BARE, "0")
    computer = EmulatedComputer(folder, [f"format=raw,file={folder / 'esp.img'}"], {})
    try:
        stages = Stages(folder, computer)
        stages.starts()
        stages.until("its first program runs", lambda: stages.says(b"(initramfs)"))
    finally:
        computer.cut()
    return stages


def drawn_after(lines, cabinet):
    """Whether the screen's first picture is there; these lines stand until then, and the display is never black."""
    drawn = cabinet.colours() > 1000
    assert drawn or is_console_text_shown(cabinet.picture(), lines) or cabinet.colours() > 1000
    return drawn


def boot_to_game(folder, built):
    """The image, as far as a picture of a game and a lit deck."""
    command_line = program_in(
        f"{built / 'open-egm.img'}@@{builder.compute_partition_offsets()['egm-esp-a']}", folder
    )
    (root_bytes,) = map(int, re.findall(r"egm.hashoffset=(\d+)", command_line))
    cabinet = Cabinet(folder, built)
    try:
        cabinet.on()
        stages = Stages(folder, cabinet.computer)
        stages.starts()
        stages.until("its initramfs has the disks", stages.driven)
        start, starting = stages.did(0, "rd_bytes"), initramfs_lines("show")
        stages.until(
            "the display says that it is starting",
            lambda: is_console_text_shown(cabinet.picture(), starting),
            1,
        )
        cabinet.keep("starting")
        stages.until("all of the root is read", lambda: stages.did(0, "rd_bytes") - start > root_bytes)
        stages.until("both media are mounted", lambda: stages.did(1, "wr_operations"))
        stages.until("both slots are checked and the screen is up", lambda: drawn_after(starting, cabinet), 1)
        stages.until("the machine has lit its deck", cabinet.is_up)
        stages.until("the attract picture is complete", lambda: cabinet.colours() > 20_000, 1)
    finally:
        cabinet.close()
    return stages


def test_the_time_from_power_to_attract_is_measured_beside_a_bare_boot(tmp_path, built):
    """About five minutes on quiet cores."""
    reached = []
    for boot in (boot_to_first_program, boot_to_game):
        folder, load = tmp_path / boot.__name__, os.getloadavg()[0]
        folder.mkdir()
        stages = boot(folder, built)
        stages.print_stages(boot.__name__, load)
        reached.append(stages.seen[-1][1])
    assert reached[0] < reached[1]
