"""If a medium is missing, read-only, full or failed, the display says so and the machine accepts no money.

The texts are read on the guest's own display. After each test, the media have their earlier content, and the computer
starts.
"""

import random
import time

import pytest
from rigs.emulated_cabinet import (
    PATIENCE_S,
    find_or_build_image,
    list_missing_image_requirements,
    read_initramfs_texts,
)
from rigs.emulated_media import BILL_CENTS, Computer
from rigs.screen_words import is_console_text_shown, is_plate_shown

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(8 * PATIENCE_S),
    pytest.mark.skipif(
        bool(list_missing_image_requirements()), reason=f"missing: {list_missing_image_requirements()}"
    ),
]
#: Shortest wait for a medium: the limit in root/etc/fstab, less the time between two pictures.
_WAIT_S = 80


@pytest.fixture(scope="module")
def computer(tmp_path_factory):
    """A computer that has accepted a bill, played a game and paid a ticket."""
    folder = tmp_path_factory.mktemp("computer")
    computer = Computer(
        folder, find_or_build_image(tmp_path_factory.mktemp("image")), random.Random(20261123)
    )
    try:
        computer.boot_and_cash_out()
        computer.cut_power()
        computer.audit_media(is_settled=True)
        yield computer
    finally:
        computer.close()


def measure_start_until_fault(computer, code):
    """Wait until the display shows a fault; return for how many seconds it showed that the machine starts."""
    lines, seen = read_initramfs_texts("show"), []

    def other():
        shown = computer.picture()
        if is_console_text_shown(shown, lines):
            seen.append(time.monotonic())
            if len(seen) == 1:
                computer.save_picture("starting")
        return is_plate_shown(shown, code)

    computer.until(other, f"{code} on the display", every_s=2)
    assert seen, "the display never showed that the machine starts"
    return seen[-1] - seen[0]


def check_fault_refuses_money(computer, code, reason=""):
    """Check that the display shows the fault and that no money is accepted."""
    computer.until(
        lambda: is_plate_shown(computer.picture(), code, reason), f"{code} on the display", every_s=5
    )
    before = computer.command_device("bill").state["stacked_cents"]
    computer.command_device("bill", "insert", amount_cents=BILL_CENTS)
    computer.until(
        lambda: not computer.command_device("bill").state["inside_cents"], "the bill is given back"
    )
    assert computer.command_device("bill").state["stacked_cents"] == before
    computer.save_picture(code)


def check_media(computer):
    computer.cut_power()
    computer.repair_media()
    computer.audit_media(is_settled=True)


@pytest.mark.requirement("A-09")
def test_a_medium_that_fails_under_a_running_machine_is_reported(computer):
    """First the second medium fails, then also the first; the display still works. Takes about ten minutes."""
    computer.switch_on()
    computer.wait_until_up()
    first, second = computer.parts
    computer.fail_medium(second)
    computer.command_device("io", "door", name="main", open=True)  # causes a journal entry
    check_fault_refuses_money(computer, "memory_waits")
    computer.fail_medium(first)
    check_fault_refuses_money(computer, "memory_waits")
    computer.command_device("io", "door", name="main", open=False)
    check_media(computer)


@pytest.mark.requirement("A-09")
def test_a_first_medium_that_is_missing_or_read_only_is_reported(computer):
    """The test takes about fifteen minutes."""
    first, _ = computer.parts
    computer.fail_medium(first)
    computer.switch_on()
    check_fault_refuses_money(computer, "first_memory_missing", "egm-state-1")
    check_media(computer)
    computer.run_on_medium(first, "tune2fs", "-O", "read-only")
    computer.switch_on()
    check_fault_refuses_money(computer, "memory_waits")
    computer.cut_power()
    computer.run_on_medium(first, "tune2fs", "-O", "^read-only")
    computer.boot_and_cash_out()
    check_media(computer)


@pytest.mark.requirement("A-09")
def test_a_full_medium_is_reported(computer):
    """The machine starts even with a full first medium. The test takes about twenty minutes."""
    for part, code in zip(computer.parts, ("out_of_service.memory_full", "memory_full"), strict=True):
        with computer.filled_medium(part):
            computer.switch_on()
            check_fault_refuses_money(computer, code)
            computer.cut_power()
        computer.audit_media(is_settled=True)


@pytest.mark.requirement("A-09")
def test_a_second_medium_missing_or_read_only_from_power_on_is_reported(computer):
    """During the wait, the display says that the machine is starting. Takes about ten minutes."""
    first, second = computer.disks
    for media, least_s in (([first], _WAIT_S), ([first, f"{second},readonly=on"], 0)):
        computer.disks = media
        computer.switch_on()
        assert measure_start_until_fault(computer, "out_of_service.memory_missing") >= least_s
        check_fault_refuses_money(computer, "out_of_service.memory_missing")
        check_media(computer)
    computer.disks = [first, second]
    computer.boot_and_cash_out()
    check_media(computer)
