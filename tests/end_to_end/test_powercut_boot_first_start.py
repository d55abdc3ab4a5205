"""Power cuts of a whole computer while a first start is signed, on disks that lose unflushed data.

An unset machine is set up at its display. From the last PIN to the attract picture, a snapshot of both disks is taken
at every write and flush. Then the power is cut at many of these instants: at each of the first ones, in which the
file is signed, and at random later ones. The media are then read from outside: either the machine will ask everything
again, or the file is complete and signed by both persons, and the audit has no findings. After every tenth cut the
computer boots: it asks again, or starts, plays and pays. A sixth of the number in ``--kills N`` are cuts of this
test.
"""

import random
import time

import pytest
from powercut_rig import list_missing_requirements
from rigs.emulated_cabinet import find_or_build_image, list_missing_image_requirements
from rigs.emulated_first_start import STAFF, FirstStart
from rigs.emulated_media import Computer

from egm.app.first_start.signing import create_restore_step
from egm.clock import SystemClock
from egm.config.cabinet_file import StateFolder
from egm.integrity.entries import CABINET_FILE_SIGNED
from egm.integrity.signed_file import (
    SIGNATURE_FILE_NAME,
    CabinetFileSignature,
    compute_cabinet_file_digest,
)
from meters import open_view
from meters.copies import SECOND_FOLDER, JournalLocation
from meters.storage import DiskStorage

BOOT_EVERY = 10
SIGNERS = [number for number, *_ in STAFF]
ABSENT = [*list_missing_image_requirements(), *list_missing_requirements()]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(8 * 3600),
    pytest.mark.skipif(bool(ABSENT), reason=f"missing: {ABSENT}"),
]


@pytest.fixture
def computer(tmp_path):
    """A computer that nobody has set up yet."""
    computer = Computer(
        tmp_path, find_or_build_image(tmp_path), random.Random(20261123), has_cabinet_file=False
    )
    yield computer
    computer.close()


def set_up(computer, folder):
    """Set the computer up to its attract picture; return snapshots of its disks at each step after the last PIN."""
    folder.mkdir()

    def last():
        computer.power.instants = []

    computer.switch_on()
    FirstStart(computer, folder, last=last).run()
    computer.wait_until_up()
    instants, computer.power.instants = computer.power.instants, None
    computer.cut_power()
    return instants


def is_asking_again(computer):
    """Return whether the machine will ask everything again; otherwise, audit what the media contain."""
    with computer.mounted_media() as (first, _):
        file = first / "cabinet.toml"
        is_unset = not file.exists()
        if is_unset:
            half = create_restore_step(StateFolder(first), file, SystemClock().now)
            assert half is None, "an incomplete memory without a file"
        has_journal = JournalLocation(DiskStorage(), first, first / SECOND_FOLDER).has_journal
        if not (is_unset or has_journal):
            signature, _ = CabinetFileSignature.read(first / SIGNATURE_FILE_NAME)
            assert (signature.digest, [*signature.persons]) == (
                compute_cabinet_file_digest(file.read_text()),
                SIGNERS,
            )
    if has_journal:
        computer.audit_media()
    return is_unset


def check_machine_runs(computer):
    """Check that the machine plays and pays with the signed file, and that its journal records one signing."""
    computer.boot_and_cash_out()
    computer.cut_power()
    computer.audit_media(is_settled=True)
    with computer.mounted_media() as (first, _), open_view(first) as view:
        expected = (compute_cabinet_file_digest((first / "cabinet.toml").read_text()), SIGNERS)
        signed = [
            (entry.record["digest"], entry.record["persons"])
            for entry in view.entries(CABINET_FILE_SIGNED.kind)
        ]
        assert signed == [expected]
        assert not (first / SIGNATURE_FILE_NAME).exists(), "the file of a recorded signature remains"


@pytest.mark.requirement("A-08", "A-22")
def test_a_first_start_interrupted_by_power_cuts_is_asked_again_or_signed(computer, tmp_path, request):
    """The set-up takes six minutes, each cut five seconds, and each boot three minutes."""
    cut_count, began, lost, seen = request.config.getoption("--kills") // 6, time.monotonic(), 0, []
    instants = set_up(computer, tmp_path / "beside")
    signing, generator = len(instants) // 4, random.Random(20261124)
    cut_indices = [*range(min(signing, cut_count // 2))]
    cut_indices += sorted(
        generator.sample(
            range(len(cut_indices), len(instants)), min(cut_count, len(instants)) - len(cut_indices)
        )
    )
    print(f" [{time.monotonic() - began:.0f} s: set up, {len(instants)} instants kept]", flush=True)
    for cuts, instant in enumerate(cut_indices, 1):
        lost += computer.cut_power_at(instants[instant])
        seen.append(is_asking_again(computer))
        if cuts % BOOT_EVERY == 0:
            if seen[-1]:
                computer.switch_on()
                FirstStart(computer, tmp_path / f"beside{cuts}").wait_for_first_page()
                computer.cut_power()
            else:
                check_machine_runs(computer)
        found = f"{'asks' if seen[-1] else 'signed'}{', booted' if cuts % BOOT_EVERY == 0 else ''}"
        summary = f"cut {cuts}/{len(cut_indices)} at {instant}: {found}; {lost} sectors lost in all"
        print(f" [{time.monotonic() - began:.0f} s: {summary}]", flush=True)
    assert lost, "no sector was ever lost: the test proves nothing"
    assert set(seen) == {True, False}
