"""A full medium: what is owed is still recorded, a restart succeeds, nothing is lost or invented.

Method: the power-cut rig's session with a reserve; the disk is filled by somebody else at every stage of it,
to the last byte, and the session is judged as after a power cut.
"""

import random
from dataclasses import replace

import powercut_session
import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import CREDIT, SESSION, Player, judge, post

from meters.disk_reserve import RESERVE_FILE_NAME

RESERVE = 300_000


@pytest.fixture(autouse=True)
def reserved(monkeypatch):
    monkeypatch.setattr(
        powercut_session, "POLICY", replace(powercut_session.POLICY, reserve_size_bytes=RESERVE)
    )


def fill(disk):
    """Fill the medium with another file."""
    disk.room = sum(len(i.seen) for i in disk.names.values())
    assert disk.count_free_bytes() == 0


def list_event_codes(journal):
    return [e.record["code"] for e in journal.entries("event")]


@pytest.mark.requirement("A-08")
def test_a_disk_that_fills_at_any_stage_still_records_all_that_is_owed(tmp_path):
    for stage in range(len(SESSION)):
        disk = Disk()
        player = Player(tmp_path, disk)
        journal = player.open()
        for n, transaction in enumerate(SESSION):
            if n == stage:
                assert not journal.full_medium_error
                assert {p.parent.name for p in disk.names if p.name == RESERVE_FILE_NAME} == {"one", "two"}
                fill(disk)
            player.attempted.append(transaction)
            journal.append(transaction)
            player.acknowledged.append(transaction)
        # Either it needed the reserve, or the next look finds that there is no room and gives it up.
        assert journal.refresh_full_medium_error()
        assert journal.full_medium_error
        assert not [p for p in disk.names if p.name == RESERVE_FILE_NAME]
        assert list_event_codes(journal).count("memory.full") == 1
        # A restart on the full disk comes up, and says the same.
        disk.dead = True
        player.leave()
        rebooted_disk = disk.reboot(random.Random(stage), 1.0)
        rebooted_disk.room = disk.room
        restarted = Player(tmp_path, rebooted_disk)
        journal = restarted.open()
        assert journal.full_medium_error
        journal.append(post("late", "bill.in", ("world:bill", CREDIT, 500)))
        journal.close()
        # Room is made: it goes on as before.
        rebooted_disk.room = None
        journal = restarted.open()
        assert not journal.full_medium_error
        assert {p.parent.name for p in rebooted_disk.names if p.name == RESERVE_FILE_NAME} == {"one", "two"}
        assert journal.get("late") is not None
        journal.close()


@pytest.mark.requirement("A-08")
def test_a_machine_stopped_by_a_full_disk_starts_in_its_reserve(tmp_path):
    disk = Disk()
    assert Player(tmp_path, disk).run(SESSION[:9])
    fill(disk)
    player = Player(tmp_path, disk)
    player.acknowledged, player.attempted = list(SESSION[:9]), list(SESSION[:9])
    journal = player.open()
    assert journal.full_medium_error
    for transaction in SESSION[9:]:
        journal.append(transaction)
    journal.close()
    player.acknowledged = player.attempted = list(SESSION)
    disk.room = None
    judge(tmp_path, disk, player)


def test_the_reserve_is_restored_only_when_there_is_ample_room(tmp_path):
    disk = Disk()
    journal = Player(tmp_path, disk).open()
    fill(disk)
    assert journal.refresh_full_medium_error()
    disk.room = sum(len(i.seen) for i in disk.names.values()) + RESERVE
    assert journal.refresh_full_medium_error(), "it would be full again at once"
    disk.room += 10 * RESERVE
    assert not journal.refresh_full_medium_error()
    assert not journal.full_medium_error
    journal.close()


def test_a_power_cut_while_the_reserve_is_used_or_restored_loses_nothing(tmp_path):
    def session(disk, player):
        player.open()
        for n, transaction in enumerate(SESSION):
            if n == 8:
                fill(disk)
            if n == 14:
                disk.room = None
                player.journal.refresh_full_medium_error()
            player.attempted.append(transaction)
            player.journal.append(transaction)
            player.acknowledged.append(transaction)
        player.journal.close()

    uncut_disk = Disk()
    session(uncut_disk, Player(tmp_path, uncut_disk))
    rng = random.Random(3)
    for operation_number in sorted(rng.sample(range(1, uncut_disk.operations), 60)):
        disk = Disk()
        disk.cut_at = operation_number
        player = Player(tmp_path, disk)
        with pytest.raises(PowerCut):
            session(disk, player)
        player.leave()
        judge(tmp_path, disk.reboot(rng, rng.choice((0.0, 0.5, 1.0))), player)
