"""Power cuts of a whole computer while a first start is signed, on disks that lose unflushed data.

An unset machine is set up by hand at its display. What both its disks held, flushed and not, is kept at every write
and flush from the last PIN to its attract picture. Then the power goes at such an instant, many times over: each of
the first, where the file is signed, and random ones of the rest. What is left on the media is looked at from outside:
either all is asked again, or the file is there as two have signed it, and the audit finds nothing wrong. With every
tenth the computer boots: it asks again on its display, or comes up, plays and pays. ``--kills N``: a sixth of it are cuts.
"""

import random
import time

import pytest
from powercut_rig import list_missing_requirements
from rigs.emulated_cabinet import image_in, lacking
from rigs.emulated_hands import STAFF, FirstStart
from rigs.emulated_media import Computer

from egm.app.first_start.signing import create_restore_step
from egm.clock import SystemClock
from egm.config.cabinet_file import StateFolder
from egm.integrity.signed_file import (
    CABINET_SIGNED_KIND,
    SIGNATURE_FILE_NAME,
    CabinetFileSignature,
    compute_digest,
)
from meters import open_view
from meters.copies import SECOND_FOLDER, JournalLocation
from meters.storage import DiskStorage

BOOT_EVERY = 10
SIGNERS = [number for number, *_ in STAFF]
ABSENT = [*lacking(), *list_missing_requirements()]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(8 * 3600),
    pytest.mark.skipif(bool(ABSENT), reason=f"missing: {ABSENT}"),
]


@pytest.fixture
def computer(tmp_path):
    """One that nobody has set up yet."""
    computer = Computer(tmp_path, image_in(tmp_path), random.Random(20261123), answered=False)
    yield computer
    computer.close()


def set_up(computer, folder):
    """By hand, to the attract picture; what its disks held at each write and flush after the last PIN."""
    folder.mkdir()

    def last():
        computer.power.instants = []

    computer.on()
    FirstStart(computer, folder, last=last).run()
    computer.comes_up()
    instants, computer.power.instants = computer.power.instants, None
    computer.cut()
    return instants


def is_asking_again(computer):
    """Whether nothing is there but what all is asked again for; what is there is audited."""
    with computer.read() as (first, _):
        file = first / "cabinet.toml"
        is_unset = not file.exists()
        if is_unset:
            half = create_restore_step(StateFolder(first), file, SystemClock().now)
            assert half is None, "half a memory, and no file"
        has_journal = JournalLocation(DiskStorage(), first, first / SECOND_FOLDER).has_journal
        if not (is_unset or has_journal):
            signature, _ = CabinetFileSignature.read(first / SIGNATURE_FILE_NAME)
            assert (signature.digest, [*signature.persons]) == (compute_digest(file.read_text()), SIGNERS)
    if has_journal:
        computer.audited()
    return is_unset


def check_machine_runs(computer):
    """It boots, plays and pays under the file that two have signed, and its journal says so once."""
    computer.boots()
    computer.cut()
    computer.audited(rests=True)
    with computer.read() as (first, _), open_view(first) as view:
        expected = (compute_digest((first / "cabinet.toml").read_text()), SIGNERS)
        signed = [
            (entry.record["digest"], entry.record["persons"]) for entry in view.entries(CABINET_SIGNED_KIND)
        ]
        assert signed == [expected]
        assert not (first / SIGNATURE_FILE_NAME).exists(), "a signature that was taken up is put away"


@pytest.mark.requirement("A-08", "A-22")
def test_a_first_start_interrupted_by_power_cuts_is_asked_again_or_signed(computer, tmp_path, request):
    """Six minutes until it is set up; some five seconds a cut, and some three minutes a boot."""
    cut_count, began, lost, seen = request.config.getoption("--kills") // 6, time.monotonic(), 0, []
    instants = set_up(computer, tmp_path / "beside")
    signing, chance = len(instants) // 4, random.Random(20261124)
    cut_indices = [*range(min(signing, cut_count // 2))]
    cut_indices += sorted(
        chance.sample(
            range(len(cut_indices), len(instants)), min(cut_count, len(instants)) - len(cut_indices)
        )
    )
    print(f" [{time.monotonic() - began:.0f} s: set up, {len(instants)} instants kept]", flush=True)
    for cuts, instant in enumerate(cut_indices, 1):
        lost += computer.cut_at(instants[instant])
        seen.append(is_asking_again(computer))
        if cuts % BOOT_EVERY == 0:
            if seen[-1]:
                computer.on()
                FirstStart(computer, tmp_path / f"beside{cuts}").wait_for_first_page()
                computer.cut()
            else:
                check_machine_runs(computer)
        found = f"{'asks' if seen[-1] else 'signed'}{', booted' if cuts % BOOT_EVERY == 0 else ''}"
        summary = f"cut {cuts}/{len(cut_indices)} at {instant}: {found}; {lost} sectors lost in all"
        print(f" [{time.monotonic() - began:.0f} s: {summary}]", flush=True)
    assert lost, "nothing was ever lost: it shows nothing"
    assert set(seen) == {True, False}
