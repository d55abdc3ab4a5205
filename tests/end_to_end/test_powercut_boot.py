"""Power cuts of a whole computer at random instants of its boot, on disks that lose unflushed data.

The computer runs the image from its firmware on; both its disks are disks of the rig that lose, tear and reorder
what was not flushed. It is cut at a random instant of the boot, or at a random write or flush of the boot and of the
play after it; after each cut the audit reads both media, and after some of them it boots whole, plays and pays.
``--kills N`` asks for more: a sixth of it are cuts here.
"""

import random
import time

import pytest
from powercut_rig import list_missing_requirements
from rigs.emulated_cabinet import PATIENCE_S, image_in, lacking
from rigs.emulated_media import Computer

#: After how many cuts there is a whole boot; and in how many chains they come, each on disks of its own.
BOOT_EVERY, CHAINS = 5, 2
ABSENT = [*lacking(), *list_missing_requirements()]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(8 * 3600),
    pytest.mark.skipif(bool(ABSENT), reason=f"missing: {ABSENT}"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return image_in(tmp_path_factory.mktemp("image"))


@pytest.mark.requirement("A-08")
@pytest.mark.parametrize("chain", range(CHAINS))
def test_a_computer_whose_power_is_cut_boots_and_has_lost_nothing(tmp_path, built, request, chain):
    """Two to six minutes a cut, and as long a whole boot: one for every fifth cut, and one before."""
    cut_count, chance = request.config.getoption("--kills") // 6 // CHAINS, random.Random(20261123 + chain)
    computer, lost, began = Computer(tmp_path, built, chance), 0, time.monotonic()
    try:
        took, steps = computer.boots()
        lost += computer.cut()
        computer.audited(rests=True)
        for cuts in range(1, cut_count + 1):
            if cuts % 2:
                computer.power.cut_step = chance.randint(1, steps + steps // 4)
                lasting = PATIENCE_S
            else:
                lasting = chance.uniform(0, took)
            aim = computer.power.cut_step or f"{lasting:.0f} s"
            computer.on()
            computer.lives_until_gone(lasting)
            steps_done = computer.power.steps
            lost += computer.cut()
            computer.audited()
            summary = f"cut {cuts}/{cut_count} at {aim}, after {steps_done} of {steps} steps; {lost} sectors lost in all"
            print(
                f" [{time.monotonic() - began:.0f} s: {summary}; {len(computer.journal)} entries]", flush=True
            )
            if cuts % BOOT_EVERY == 0 or cuts == cut_count:
                took, steps = computer.boots()
                lost += computer.cut()
                computer.audited(rests=True)
                print(f" [{time.monotonic() - began:.0f} s: whole boot, up after {took:.0f} s]", flush=True)
        assert lost, "nothing was ever lost: it shows nothing"
    finally:
        computer.close()
