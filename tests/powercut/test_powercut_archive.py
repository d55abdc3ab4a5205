"""The power is cut at every storage operation while entries are archived; none is lost.

Method: a session of games long enough for several segments, on the simulated disk; after each cut the machine
comes up again, plays the session to its end, and every entry is read once, from wherever it lies by then.
"""

import random
from datetime import UTC, datetime

import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import CREDIT, check_money, leave, play, post
from powercut_storage import SimStorage

from meters import Journal, JournalPolicy
from meters.archive import ARCHIVE_END_KEY
from meters.machine_key import MachineKey
from meters.view import open_view

POLICY = JournalPolicy(
    entries_per_checkpoint=5,
    segment_size_bytes=2500,
    entries_archived_together_min=12,
    newest_entries_not_archived=6,
)
GAMES = 26
SESSION = (
    post("b1", "bill.in", ("world:bill", CREDIT, 2000)),
    *(entry for n in range(GAMES) for entry in play(n, 25, 50 * (n % 2))),
)


class Machine:
    """Plays the session as the cabinet does, with a check before each game, which also archives."""

    def __init__(self, folder, disk):
        self._folders = folder / "one", folder / "two"
        self._storage = SimStorage(disk)
        self.acknowledged = []
        self.journal = None

    def run(self):
        """Play to the end of the session; return whether the power stayed on."""
        try:
            self.journal = Journal.open(
                self._folders[0],
                second_folder=self._folders[1],
                now=lambda: datetime(2026, 3, 1, tzinfo=UTC),
                policy=POLICY,
                storage=self._storage,
            )
            for transaction in SESSION:
                if transaction.kind == "game.start":
                    self.journal.check()
                self.journal.append(transaction)
                self.acknowledged.append(transaction)
            self.journal.close()
        except PowerCut:
            leave(self._storage, *self._folders)
            return False
        return True

    def judge(self, acknowledged):
        """Check that every entry is present once in its chain, the money exact, and archiving continued."""
        key = MachineKey.load(self._storage, *self._folders)
        with open_view(
            self._folders[0], key=key, storage=self._storage, second_folder=self._folders[1]
        ) as view:
            entries = list(view.entries())
            assert [entry.sequence for entry in entries] == list(range(1, view.sequence + 1))
            assert [entry.body for entry in entries] == list(view.iter_bodies())
            ids = [entry.id for entry in entries]
            assert len(set(ids)) == len(ids)
            assert {t.id for t in acknowledged} <= set(ids)
            check_money(view, SESSION)
            assert view.state(ARCHIVE_END_KEY)["through"] >= POLICY.entries_archived_together_min
            view.self_audit()
        leave(self._storage, *self._folders)


def cut(folder, cut_at, survival, seed, again_at=None):
    """Cut at operation ``cut_at``; return whether it occurred."""
    disk = Disk()
    disk.cut_at = cut_at
    first = Machine(folder, disk)
    if first.run():
        return False
    rng = random.Random(seed)
    rebooted_disk = disk.reboot(rng, survival)
    if again_at is not None:
        rebooted_disk.cut_at = again_at
        if not Machine(folder, rebooted_disk).run():
            rebooted_disk = rebooted_disk.reboot(rng, survival)
        rebooted_disk.cut_at = None
    second = Machine(folder, rebooted_disk)
    assert second.run()
    second.judge(first.acknowledged)
    return True


def operations(folder):
    disk = Disk()
    machine = Machine(folder, disk)
    assert machine.run()
    machine.judge(machine.acknowledged)
    return disk.operations


@pytest.mark.requirement("A-08", "D-15")
def test_power_cuts_while_entries_are_archived_lose_and_invent_nothing(tmp_path, capsys):
    """A sample of the operations, another part of the unsynced writes each time; all of them in the slow tier."""
    last = operations(tmp_path)
    rng = random.Random(5)
    for n in range(25):
        assert cut(tmp_path, rng.randrange(1, last + 1), rng.choice((0.0, 0.5, 1.0)), seed=n)
    with capsys.disabled():
        print(f" [25 cuts of {last} operations]", end="")


@pytest.mark.slow
@pytest.mark.requirement("A-08", "D-15")
@pytest.mark.parametrize("survival", [0.0, 0.5, 1.0])
def test_a_power_cut_at_every_operation_of_archiving_loses_nothing(tmp_path, survival):
    cuts = 0
    while cut(tmp_path, cuts + 1, survival, seed=cuts):
        cuts += 1
    assert cuts > 1000  # how many exactly, the sizes of a fresh key's signatures decide


@pytest.mark.slow
@pytest.mark.requirement("A-08")
def test_two_power_cuts_while_entries_are_archived_lose_nothing(tmp_path):
    last = operations(tmp_path)
    rng = random.Random(6)
    for n in range(600):
        cut(tmp_path, rng.randrange(1, last + 1), 0.5, seed=n, again_at=rng.randrange(1, 400))
