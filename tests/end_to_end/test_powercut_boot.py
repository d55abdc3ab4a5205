"""Power cuts of a whole computer at random instants of its boot, on disks that lose unflushed data.

The computer runs the image from its firmware on. Both its disks lose, tear and reorder unflushed data. The power is
cut at a random instant of the boot, or at a random write or flush of the boot and of the following play. After each
cut, the audit reads both media; after some cuts, the computer boots completely, plays and pays. A sixth of the number
in ``--kills N`` are cuts of this test.
"""

import random
import time

import pytest
from powercut_rig import list_missing_requirements
from rigs.emulated_cabinet import PATIENCE_S, find_or_build_image, list_missing_image_requirements
from rigs.emulated_media import Computer

#: Number of cuts between complete boots, and number of chains of cuts, each on its own disks.
BOOT_EVERY, CHAINS = 5, 2
ABSENT = [*list_missing_image_requirements(), *list_missing_requirements()]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(8 * 3600),
    pytest.mark.skipif(bool(ABSENT), reason=f"missing: {ABSENT}"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return find_or_build_image(tmp_path_factory.mktemp("image"))


@pytest.mark.requirement("A-08")
@pytest.mark.parametrize("chain", range(CHAINS))
def test_a_computer_whose_power_is_cut_boots_and_has_lost_nothing(tmp_path, built, request, chain):
    """A cut takes two to six minutes, and so does a complete boot, once before and after every fifth cut."""
    cut_count, generator = request.config.getoption("--kills") // 6 // CHAINS, random.Random(20261123 + chain)
    computer, lost, began = Computer(tmp_path, built, generator), 0, time.monotonic()
    try:
        took, steps = computer.boot_and_cash_out()
        lost += computer.cut_power()
        computer.audit_media(is_settled=True)
        for cuts in range(1, cut_count + 1):
            if cuts % 2:
                computer.power.cut_step = generator.randint(1, steps + steps // 4)
                lasting = PATIENCE_S
            else:
                lasting = generator.uniform(0, took)
            aim = computer.power.cut_step or f"{lasting:.0f} s"
            computer.switch_on()
            computer.play_until_power_loss(lasting)
            steps_done = computer.power.steps
            lost += computer.cut_power()
            computer.audit_media()
            summary = f"cut {cuts}/{cut_count} at {aim}, after {steps_done} of {steps} steps; {lost} sectors lost in all"
            print(
                f" [{time.monotonic() - began:.0f} s: {summary}; {len(computer.journal)} entries]", flush=True
            )
            if cuts % BOOT_EVERY == 0 or cuts == cut_count:
                took, steps = computer.boot_and_cash_out()
                lost += computer.cut_power()
                computer.audit_media(is_settled=True)
                print(f" [{time.monotonic() - began:.0f} s: whole boot, up after {took:.0f} s]", flush=True)
        assert lost, "no sector was ever lost: the test proves nothing"
    finally:
        computer.close()
