"""The power is cut at every storage operation of a session, for both copies, and nothing is lost or invented.

Goal: every operation the journal asks of the medium (SQLite through its VFS, the log, the sums, the key, the
anchor, names in folders) is a place where the power may go. Method: run the session on a simulated disk, cut
at operation N, keep a random part of what was not synced, reopen, judge, and play the session to its end.
"""

import random

import pytest
from powercut_disk import Disk
from powercut_life import every_nth
from powercut_session import Player, cut_once


def operations(folder):
    disk = Disk()
    assert Player(folder, disk).run()
    return disk.operations


@pytest.mark.requirement("A-08", "D-15", "A-01")
@pytest.mark.parametrize("survival", [0.0, 0.5, 1.0], ids=["nothing", "half", "all"])
@every_nth(29)
def test_a_power_cut_at_an_operation_loses_and_invents_nothing(tmp_path, survival, every):
    first = 1 + int(2 * survival) % every  # each survival chance cuts at other operations
    last = operations(tmp_path)
    assert last > 100
    for operation_number in range(first, last + 1, every):
        assert cut_once(tmp_path, operation_number, survival, seed=operation_number)
    assert not cut_once(tmp_path, last + 1, survival, seed=0)


@pytest.mark.requirement("A-08")
def test_a_second_power_cut_during_recovery_changes_nothing(tmp_path):
    last = operations(tmp_path)
    rng = random.Random(1)
    for n in range(40):
        cut_once(
            tmp_path,
            rng.randrange(1, last + 1),
            0.5,
            seed=n,
            again_at=rng.randrange(1, 40),
        )


@pytest.mark.slow
@pytest.mark.requirement("A-08")
def test_lost_torn_and_reordered_writes_of_many_seeds_lose_nothing(tmp_path):
    last = operations(tmp_path)
    rng = random.Random(2)
    for n in range(3000):
        second_cut = rng.randrange(1, 60) if n % 3 == 0 else None
        cut_once(
            tmp_path,
            rng.randrange(1, last + 1),
            rng.choice((0.1, 0.3, 0.5, 0.7, 0.9)),
            seed=n,
            again_at=second_cut,
        )
