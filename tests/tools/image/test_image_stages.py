"""The stages of the image's start, from power to attract picture, compared with a bare boot of its kernel.

Each stage is observed from outside: the firmware's messages, which driver uses the disks, how far they have been read
and written, and the display. ``pytest -m slow -s`` prints the stages with the load of the host.
"""

import os
import re
import time

import pytest
from rigs.emulated_cabinet import (
    PATIENCE_S,
    Cabinet,
    extract_kernel,
    find_or_build_image,
    list_missing_image_requirements,
    read_initramfs_texts,
)
from rigs.screen_words import is_console_text_shown

from tools.image import image as builder
from tools.image.emulated import EmulatedComputer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(2 * PATIENCE_S),
    pytest.mark.skipif(
        bool(list_missing_image_requirements()), reason=f"missing: {list_missing_image_requirements()}"
    ),
]
#: The kernel's command line of a bare boot: to the first program of its initramfs, and no further.
_BARE = "quiet console=ttyS0 break=top"


class Stages:
    """The observed stages of one boot, in seconds since power on."""

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
        """Return whether a driver uses a disk: the firmware's first, then none, then the kernel's."""
        disks = [
            device
            for device in self._computer.run_qmp_command("x-query-virtio")
            if device["name"] == "virtio-blk"
        ]
        status = (
            self._computer.run_qmp_command("x-query-virtio-status", path=disk["path"])["status"]
            for disk in disks
        )
        return any(status_row["statuses"] for status_row in status)

    def did(self, disk, statistic):
        (device,) = (
            device
            for device in self._computer.run_qmp_command("query-blockstats")
            if device["device"] == f"disk{disk}"
        )
        return device["stats"][statistic]

    def starts(self):
        """Wait for the stages that every boot has."""
        self.until("the firmware starts the slot", lambda: self.says(b"BdsDxe: starting"))
        self.until("its program is read: the kernel runs", lambda: not self.driven())

    def print_stages(self, name, load):
        stage_texts = [f"{stage} {seconds:.0f}" for stage, seconds in self.seen]
        print(f" [{name}, at a load of {load:.1f}: {', '.join(stage_texts)}]", flush=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return find_or_build_image(tmp_path_factory.mktemp("image"))


def boot_to_first_program(folder, built):
    """Boot the same kernel and initramfs with the same firmware up to the first program."""
    extract_kernel(f"{built / 'open-egm.img'}@@{builder.compute_partition_offsets()['egm-esp-a']}", folder)
    builder._build_esp(folder, _BARE, "0")
    computer = EmulatedComputer(folder, [f"format=raw,file={folder / 'esp.img'}"], {})
    try:
        stages = Stages(folder, computer)
        stages.starts()
        stages.until("its first program runs", lambda: stages.says(b"(initramfs)"))
    finally:
        computer.cut_power()
    return stages


def is_screen_drawn(lines, cabinet):
    """Return whether the screen has drawn a picture; check that until then the display shows these lines."""
    drawn = cabinet.count_colours() > 1000
    assert drawn or is_console_text_shown(cabinet.picture(), lines) or cabinet.count_colours() > 1000
    return drawn


def boot_to_game(folder, built):
    """Boot the image up to a picture of a game and a lit button deck."""
    command_line = extract_kernel(
        f"{built / 'open-egm.img'}@@{builder.compute_partition_offsets()['egm-esp-a']}", folder
    )
    (root_bytes,) = map(int, re.findall(r"egm.hashoffset=(\d+)", command_line))
    cabinet = Cabinet(folder, built)
    try:
        cabinet.switch_on()
        stages = Stages(folder, cabinet.computer)
        stages.starts()
        stages.until("its initramfs has the disks", stages.driven)
        start, starting = stages.did(0, "rd_bytes"), read_initramfs_texts("show")
        stages.until(
            "the display says that it is starting",
            lambda: is_console_text_shown(cabinet.picture(), starting),
            1,
        )
        cabinet.save_picture("starting")
        stages.until("all of the root is read", lambda: stages.did(0, "rd_bytes") - start > root_bytes)
        stages.until("both media are mounted", lambda: stages.did(1, "wr_operations"))
        stages.until(
            "both slots are checked and the screen is up", lambda: is_screen_drawn(starting, cabinet), 1
        )
        stages.until("the machine has lit its deck", cabinet.is_up)
        stages.until("the attract picture is complete", lambda: cabinet.count_colours() > 20_000, 1)
    finally:
        cabinet.close()
    return stages


def test_the_time_from_power_to_attract_is_measured_beside_a_bare_boot(tmp_path, built):
    """The test takes about five minutes on idle processors."""
    reached = []
    for boot in (boot_to_first_program, boot_to_game):
        folder, load = tmp_path / boot.__name__, os.getloadavg()[0]
        folder.mkdir()
        stages = boot(folder, built)
        stages.print_stages(boot.__name__, load)
        reached.append(stages.seen[-1][1])
    assert reached[0] < reached[1]


def test_a_computer_in_a_folder_with_a_long_path_starts(tmp_path):
    """The paths of its sockets are longer than a socket's address can hold."""
    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    computer = EmulatedComputer(folder, [], {})
    try:
        assert computer.run_qmp_command("query-status")["running"]
        computer.plug_second_display(640, 480)
    finally:
        computer.cut_power()
