"""A medium of a whole computer that is missing, read-only, full or failed: it is displayed and no money is accepted.

The words are read off the guest's own display. Afterwards the media hold what they held, and the computer comes up.
"""

import random
import time

import pytest
from rigs.emulated_cabinet import PATIENCE_S, image_in, initramfs_lines, lacking
from rigs.emulated_media import BILL_CENTS, Computer
from rigs.screen_words import is_console_text_shown, is_plate_shown

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(8 * PATIENCE_S),
    pytest.mark.skipif(bool(lacking()), reason=f"missing: {lacking()}"),
]
#: How long a medium is waited for: root/etc/fstab, but for what passes between two pictures.
_WAIT_S = 80


@pytest.fixture(scope="module")
def computer(tmp_path_factory):
    """A computer that has lived: a bill, a game, a ticket."""
    folder = tmp_path_factory.mktemp("computer")
    computer = Computer(folder, image_in(tmp_path_factory.mktemp("image")), random.Random(20261123))
    try:
        computer.boots()
        computer.cut()
        computer.audited(rests=True)
        yield computer
    finally:
        computer.close()


def starting_until(computer, code):
    """Wait until the display shows the given fault after the start; return the seconds."""
    lines, seen = initramfs_lines("show"), []

    def other():
        shown = computer.picture()
        if is_console_text_shown(shown, lines):
            seen.append(time.monotonic())
            if len(seen) == 1:
                computer.keep("starting")
        return is_plate_shown(shown, code)

    computer.until(other, f"{code} on the display", every_s=2)
    assert seen, "that it is starting"
    return seen[-1] - seen[0]


def check_fault_refuses_money(computer, code, reason=""):
    """Check that the display shows the fault and that no money is accepted."""
    computer.until(
        lambda: is_plate_shown(computer.picture(), code, reason), f"{code} on the display", every_s=5
    )
    before = computer.hand("bill").state["stacked_cents"]
    computer.hand("bill", "insert", amount_cents=BILL_CENTS)
    computer.until(lambda: not computer.hand("bill").state["inside_cents"], "the bill is given back")
    assert computer.hand("bill").state["stacked_cents"] == before
    computer.keep(code)


def after(computer):
    computer.cut()
    computer.repair_media()
    computer.audited(rests=True)


@pytest.mark.requirement("A-09")
def test_a_medium_that_fails_under_a_running_machine_is_reported(computer):
    """About ten minutes: the second, then the first too; the machine still reaches its display."""
    computer.on()
    computer.comes_up()
    first, second = computer.parts
    computer.dies(second)
    computer.hand("io", "door", name="main", open=True)  # something to be written down
    check_fault_refuses_money(computer, "memory_waits")
    computer.dies(first)
    check_fault_refuses_money(computer, "memory_waits")
    computer.hand("io", "door", name="main", open=False)
    after(computer)


@pytest.mark.requirement("A-09")
def test_a_first_medium_that_is_missing_or_read_only_is_reported(computer):
    """About fifteen minutes."""
    first, _ = computer.parts
    computer.dies(first)
    computer.on()
    check_fault_refuses_money(computer, "first_memory_missing", "egm-state-1")
    after(computer)
    computer.edit(first, "tune2fs", "-O", "read-only")
    computer.on()
    check_fault_refuses_money(computer, "memory_waits")
    computer.cut()
    computer.edit(first, "tune2fs", "-O", "^read-only")
    computer.boots()
    after(computer)


@pytest.mark.requirement("A-09")
def test_a_full_medium_is_reported(computer):
    """About twenty minutes. What a full first medium needs to come up both have given."""
    for part, code in zip(computer.parts, ("out_of_service.memory_full", "memory_full"), strict=True):
        with computer.full(part):
            computer.on()
            check_fault_refuses_money(computer, code)
            computer.cut()
        computer.audited(rests=True)


@pytest.mark.requirement("A-09")
def test_a_second_medium_missing_or_read_only_from_power_on_is_reported(computer):
    """About ten minutes. While it is waited for, the display says that the machine is starting."""
    first, second = computer.disks
    for media, least_s in (([first], _WAIT_S), ([first, f"{second},readonly=on"], 0)):
        computer.disks = media
        computer.on()
        assert starting_until(computer, "out_of_service.memory_missing") >= least_s
        check_fault_refuses_money(computer, "out_of_service.memory_missing")
        after(computer)
    computer.disks = [first, second]
    computer.boots()
    after(computer)
