"""A slowed computer boots from the image without a reset, and uses a medium that is plugged in late.

Only the emulated computer is slowed inside QEMU: it has one processor, throttled disks, or a processor whose every
instruction takes a fixed time of the guest's clock. The guest and its watchdog therefore see a slow computer, however
fast the host is. ``-s`` prints a line for each boot: four kinds of slowness, five boots each.
"""

import os
import time
from dataclasses import dataclass

import pytest
from rigs.emulated_cabinet import PATIENCE_S, Cabinet, find_or_build_image, list_missing_image_requirements
from rigs.moments import get_real_now
from rigs.screen_words import is_plate_shown

from tools.image.emulated import EMULATED_DEVICE_PORTS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(5 * PATIENCE_S),
    pytest.mark.skipif(
        bool(list_missing_image_requirements()), reason=f"missing: {list_missing_image_requirements()}"
    ),
]
#: Observation after each boot in seconds. The watchdog's limit is then one minute.
_WATCHED_S = 75
_BILL_CENTS = 500
#: The medium that is plugged in late, by boot; None if both are present at power on.
_BOOTS = (None, "first", None, "second", "second")
#: The fault that the display shows while a medium is missing, and its detail.
_FAULTS = {"first": ("first_memory_missing", "egm-state-1"), "second": ("out_of_service.memory_missing", "")}


@dataclass(frozen=True)
class Slowness:
    """QEMU options that slow the computer, and options for each of its disks."""

    options: tuple[str, ...] = ()
    disk: str = ""


_ONE_PROCESSOR = ("-smp", "1")
_THROTTLED = ",throttling.bps-total=8000000,throttling.iops-total=200"
SLOWNESSES = {
    "one processor": Slowness(_ONE_PROCESSOR),
    "disks at 8 MB/s and 200 requests/s": Slowness(disk=_THROTTLED),
    "one processor, disks at 8 MB/s and 200 requests/s": Slowness(_ONE_PROCESSOR, _THROTTLED),
    "one processor of 31 million instructions/s": Slowness((*_ONE_PROCESSOR, "-icount", "shift=5")),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return find_or_build_image(tmp_path_factory.mktemp("image"))


class SlowComputer(Cabinet):
    """A computer whose two media are separate disks, each of which may be plugged in late."""

    def __init__(self, folder, built, slowness):
        super().__init__(folder, built)
        self._slowness = slowness
        self._system, second = self.disks
        self._media = {
            "first": (self.move_first_medium(), "raw"),
            "second": (second.split("file=")[1], "qcow2"),
        }

    def boot(self, late):
        """Boot until a bill is accepted; plug in the medium ``late`` once it is missed. Return seconds by stage."""
        media = [medium for name, medium in self._media.items() if name != late]
        disks = [self._system, *(f"format={kind},file={file}" for file, kind in media)]
        self.disks = [disk + self._slowness.disk for disk in disks]
        for name in EMULATED_DEVICE_PORTS:
            self.command_device(name, "power_on")
        self._power_on_s = get_real_now().timestamp()
        began, seen = time.monotonic(), {}
        self.switch_on(*self._slowness.options)
        if late:
            code, detail = _FAULTS[late]
            self.until(
                lambda: is_plate_shown(self.picture(), code, detail), f"{code} on the display", every_s=5
            )
            seen[f"{late} medium missed"] = time.monotonic() - began
            self.plug_medium(*self._media[late])
        self.wait_until_up()
        seen["up"] = time.monotonic() - began
        self.insert_bill(_BILL_CENTS)
        time.sleep(_WATCHED_S)
        return seen

    def resets(self):
        """Return how often the computer has restarted since power on, and each reset with its time."""
        self.computer.run_qmp_command("query-status")  # receives the events up to now
        events = [
            f"{event} after {seconds - self._power_on_s:.0f} s"
            for seconds, event in self.computer.events
            if event in {"RESET", "WATCHDOG"}
        ]
        return len(self.list_started_entries()) - 1, events

    def power_off(self):
        self.switch_off()
        for name in EMULATED_DEVICE_PORTS:
            self.command_device(name, "power_off")


@pytest.mark.parametrize("slowness", SLOWNESSES)
def test_a_slowed_computer_boots_without_a_reset_and_accepts_a_late_medium(tmp_path, built, slowness):
    """The test takes half an hour for each kind of slowness on idle processors."""
    computer = SlowComputer(tmp_path, built, SLOWNESSES[slowness])
    try:
        for number, late in enumerate(_BOOTS, 1):
            load = os.getloadavg()[0]
            seen = computer.boot(late)
            resets, events = computer.resets()
            stages = ", ".join(f"{stage} after {seconds:.0f} s" for stage, seconds in seen.items())
            summary = (
                f"{slowness}, boot {number} of {len(_BOOTS)}: {stages}; {resets} resets {', '.join(events)}"
            )
            print(f" [{summary}; load {load:.1f}]", flush=True)
            assert (resets, events) == (0, [])
            computer.power_off()
        assert computer.command_device("bill").state["stacked_cents"] == len(_BOOTS) * _BILL_CENTS
    finally:
        computer.close()
