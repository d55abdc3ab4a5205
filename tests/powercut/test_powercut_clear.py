"""The power is cut at every storage operation of an authorised clear: it is finished or starts over.

Whatever instant it goes, the machine plays on nothing in between; what the old journal owed, the new one owes
when the two people are done, claim by claim, and owes it once.
"""

import random
from pathlib import Path

import pytest
from powercut_disk import Disk, PowerCut
from powercut_life import cuts, every_nth, tell
from powercut_session import leave
from powercut_storage import SimStorage

from egm.app.features import FEATURES
from egm.features.memory_clear.carrying import inspect_claims
from egm.testing.clearing import build_clearance, read_clear_time
from egm.testing.machine import MachineRig, ScriptedGenerator
from meters import Journal, JournalDamaged
from meters.clear import clear_memory, finish_memory_clear, is_clear_unfinished
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


def prepare_claims(folder: Path, disk: Disk) -> dict[str, object]:
    """Prepare a machine with credit and a game decided but not ended; return its claims."""
    storage = SimStorage(disk)
    rig = MachineRig(folder, generator=ScriptedGenerator(23, 7, 5), storage=storage).boot().insert(2000)
    rig.play()
    rig.journal.close()
    rig.lose_power()
    leave(storage, folder, folder / "second")
    return read_claims(folder, disk)


def read_claims(folder: Path, disk: Disk) -> dict[str, object]:
    storage = SimStorage(disk)
    claims = {
        proposal.id: proposal.claim.amount
        for proposal in inspect_claims(folder, FEATURES, storage=storage).proposals
    }
    leave(storage, folder, folder / "second")
    return claims


def two_persons_clear(folder: Path, disk: Disk) -> bool:
    """Authorise or finish the clear; return whether the power stayed on."""
    storage = SimStorage(disk)
    try:
        if is_clear_unfinished(folder, storage):
            finish_memory_clear(folder, now=read_clear_time, storage=storage)
        elif not is_cleared(folder, storage):
            clear_memory(
                folder,
                build_clearance(inspect_claims(folder, FEATURES, storage=storage)),
                now=read_clear_time,
                storage=storage,
            )
    except PowerCut:
        leave(storage, folder, folder / "second")
        return False
    return True


def is_cleared(folder: Path, storage: SimStorage) -> bool:
    """Return whether the machine starts on the new journal."""
    try:
        journal = Journal.open(folder, now=read_clear_time, storage=storage)
    except JournalDamaged:
        return False
    with journal:
        return "cleared" in next(journal.entries()).record


@pytest.mark.requirement("A-05", "A-08", "F-06")
@pytest.mark.parametrize("is_cut_twice", [False, True], ids=["once", "once more while it is finished"])
@every_nth(89)
def test_a_power_cut_in_a_memory_clear_loses_and_doubles_nothing(tmp_path, capsys, is_cut_twice, every):
    ready = Disk()
    before = prepare_claims(tmp_path, ready)
    assert len(before) == 2
    operation_number = 0
    for operation_number, rebooted_disk in cuts(lambda disk: two_persons_clear(tmp_path, disk), ready, every):
        disk_left = rebooted_disk
        if is_cut_twice:
            disk_left.cut_at = 1 + (operation_number - 1) % 23
            if not two_persons_clear(tmp_path, disk_left):
                disk_left = disk_left.reboot(random.Random(operation_number), 0.5)
            disk_left.cut_at = None
        assert two_persons_clear(tmp_path, disk_left)
        assert read_claims(tmp_path, disk_left) == before
        judge(tmp_path, disk_left)
    assert operation_number > 50
    tell(capsys, 1 + (operation_number - 1) // every)


def judge(folder: Path, disk: Disk) -> None:
    """Check that the new journal opens, the audit has no finding, and the game is present."""
    storage = SimStorage(disk)
    with Journal.open(folder, now=read_clear_time, storage=storage) as journal:
        assert "cleared" in next(journal.entries()).record
        assert Auditor(GameFiles()).audit_entries(journal.iter_bodies()).findings == []
    leave(storage, folder, folder / "second")
