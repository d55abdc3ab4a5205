"""Flipped bytes, cut files, full and read-only media, stuck bits, falsified memory, clocks that jump back.

Goal: damage to one copy is detected and repaired from the other; damage to both stops the machine and keeps
it stopped; nothing is ever guessed. Method: the same session on the simulated disk, then damage, then reopen.
"""

import copy
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from powercut_disk import Disk
from powercut_session import CREDIT, POLICY, SESSION, Player, check_money, judge, post
from powercut_storage import SimStorage

from meters import JournalDamaged, JournalUnwritable, SelfAuditFailed, Transfer
from meters.entry import GENESIS_HASH, encode
from meters.log import AuthenticatedEntry, LogCopy

COPIES = ("journal.sqlite", "journal.sqlite-wal", "journal.sqlite.sums", ".log")


@pytest.fixture
def closed(tmp_path):
    """A disk with the whole session and a clean end."""
    disk = Disk()
    assert Player(tmp_path, disk).run()
    return disk


@pytest.fixture
def killed(tmp_path):
    """A disk as a killed process leaves it: everything synced, the WAL still there."""
    disk = Disk()
    player = Player(tmp_path, disk)
    journal = player.open()
    for transaction in SESSION:
        journal.append(transaction)
    disk.dead = True
    player.leave()
    rebooted_disk = disk.reboot(random.Random(0), 1.0)
    assert any(p.name.endswith("-wal") for p in rebooted_disk.names)
    return rebooted_disk


def end_of_records(segment):
    """Where the last record of an open segment ends: its own last byte may be a zero too (see meters/log.py)."""
    offset = 52
    while length := int.from_bytes(segment[offset : offset + 4], "big"):
        offset += 8 + length
    assert offset > 52, "the segment holds no record"
    return offset


def list_copy_files(disk):
    return sorted(p for p in disk.names if p.name.endswith(COPIES) and len(disk.names[p].seen))


def damage_copy(disk, path, change):
    """A copy of ``disk`` with ``change`` applied to the content of ``path``."""
    hurt = copy.deepcopy(disk)
    content = hurt.names[path].seen
    change(content)
    hurt.names[path].durable = bytearray(content)
    return hurt


def flip(offset, bits):
    def change(content):
        content[offset] ^= bits

    return change


def reopen_and_read_events(folder, disk):
    """Open ``disk``, check that all is there, and return what start-up recorded."""
    journal = Player(folder, disk).open()
    check_money(journal, SESSION)
    assert [e.id for e in journal.entries() if e.id in {t.id for t in SESSION}] == [t.id for t in SESSION]
    codes = [e.record["code"] for e in journal.entries("event")]
    journal.close()
    return codes


def count_used_bytes(path, content):
    """Bytes of a file that hold something: of a WAL that started over, those before the stale frames.

    SQLite fills up the last sector of a commit with its last frame once more; of the last commit it is not read.
    """
    if not path.name.endswith("-wal"):
        return len(content)
    offset, frame = 32, 24 + 4096
    while content[offset + 8 : offset + 16] == content[16:24]:
        offset += frame
    return (
        offset - frame
        if content[offset - frame : offset - frame + 8]
        == content[offset - 2 * frame : offset - 2 * frame + 8]
        else offset
    )


def check_flip(folder, disk, rng):
    path = rng.choice(list_copy_files(disk))
    offset, bits = rng.randrange(count_used_bytes(path, disk.names[path].seen)), 1 << rng.randrange(8)
    hurt = damage_copy(disk, path, flip(offset, bits))
    codes = reopen_and_read_events(folder, hurt)
    assert codes, f"bit {bits} of byte {offset} of {path.name} was not seen"
    assert reopen_and_read_events(folder, hurt) == codes, "the repair did not last"


@pytest.mark.requirement("A-02", "A-03")
def test_any_flipped_byte_is_detected_and_repaired(tmp_path, closed, killed):
    rng = random.Random(7)
    for _ in range(40):
        check_flip(tmp_path, closed, rng)
        check_flip(tmp_path, killed, rng)


@pytest.mark.slow
@pytest.mark.requirement("A-02", "A-03")
def test_two_thousand_flipped_bytes_are_detected_and_repaired(tmp_path, closed, killed):
    rng = random.Random(8)
    for _ in range(1200):
        check_flip(tmp_path, closed, rng)
        check_flip(tmp_path, killed, rng)


@pytest.mark.requirement("A-02")
def test_a_truncated_or_lost_file_is_rebuilt(tmp_path, closed):
    rng = random.Random(9)
    for path in list_copy_files(closed):
        # Zeros laid out ahead hold nothing: a cut among them is no damage.
        size = len(closed.names[path].seen.rstrip(b"\0"))
        for keep in (0, 1, size // 2, size - 1, rng.randrange(size)):
            hurt = damage_copy(
                closed, path, lambda content, keep=keep: content.__delitem__(slice(keep, None))
            )
            assert reopen_and_read_events(tmp_path, hurt), f"{path.name} cut to {keep} bytes was not seen"
        lost = copy.deepcopy(closed)
        del lost.names[path], lost.durable_names[path]
        assert reopen_and_read_events(tmp_path, lost), f"{path.name} lost was not seen"


@pytest.mark.requirement("A-05")
def test_damage_to_both_copies_stops_the_machine_permanently(tmp_path, closed):
    rng = random.Random(10)
    logs = [p for p in list_copy_files(closed) if p.suffix == ".log"]
    for _ in range(30):
        first = next(p for p in list_copy_files(closed) if p.name == "journal.sqlite")
        hurt = damage_copy(closed, first, flip(rng.randrange(len(closed.names[first].seen)), 4))
        log = rng.choice(logs)
        written = len(closed.names[log].seen.rstrip(b"\0"))
        hurt = damage_copy(hurt, log, flip(rng.randrange(written), 4))
        for _ in range(2):
            with pytest.raises(JournalDamaged, match="both copies"):
                Player(tmp_path, hurt).open()


@pytest.mark.requirement("A-02", "A-08")
def test_an_unacknowledged_torn_record_does_not_damage_the_only_copy_left(tmp_path, closed):
    """The first medium fails while a record is written to the second; acknowledged entries are complete."""
    rng = random.Random(11)
    last = max(p for p in list_copy_files(closed) if p.suffix == ".log")
    first = next(p for p in list_copy_files(closed) if p.name == "journal.sqlite")
    written = end_of_records(closed.names[last].seen)
    for _ in range(20):
        torn = rng.randbytes(rng.randrange(1, 600))

        def tear(content, torn=torn):
            content[written : written + len(torn)] = torn

        hurt = damage_copy(closed, last, tear)
        del hurt.names[first], hurt.durable_names[first]
        assert reopen_and_read_events(tmp_path, hurt)
    # Where the last entry acknowledged is the one that is torn, it is damage as before.
    hurt = damage_copy(closed, last, flip(written - 1, 4))
    del hurt.names[first], hurt.durable_names[first]
    with pytest.raises(JournalDamaged, match="both copies"):
        Player(tmp_path, hurt).open()


@pytest.mark.requirement("A-05")
def test_the_same_end_cut_off_both_copies_is_detected(tmp_path, closed):
    """Both copies are intact but shorter; only the signed head states how far the journal had come."""
    disk = Disk()
    player = Player(tmp_path, disk)
    journal = player.open()
    for transaction in SESSION[:9]:
        journal.append(transaction)
    journal.close()
    early = copy.deepcopy(disk)
    journal = Player(tmp_path, disk).open()
    journal.append(SESSION[9])
    journal.close()
    for path, inode in disk.names.items():
        if path.name == "journal.head":
            early.names[path] = inode
    with pytest.raises(JournalDamaged, match="was acknowledged"):
        Player(tmp_path, early).open()


@pytest.mark.requirement("E-13", "D-07")
@pytest.mark.parametrize("wreck", [True, False], ids=["first-copy-wrecked", "first-copy-whole"])
def test_a_rewritten_log_without_the_machine_key_is_rejected(tmp_path, closed, wreck):
    """A forger rewrites the whole log around an edited entry and recomputes every checksum and hash."""
    storage = SimStorage(closed)
    folder = tmp_path / "two"
    log = LogCopy(storage, folder, segment_size_bytes=POLICY.segment_size_bytes)
    items = list(log.iter_entries())
    log.rename_as_evidence(1)
    log.scan()
    previous = GENESIS_HASH
    for item in items:
        transaction = item.entry.transaction
        if transaction.id == "t1":
            transaction = replace(transaction, transfers=(Transfer(CREDIT, "out:voucher:cashable", 1),))
        entry = encode(transaction, item.entry.sequence, item.entry.time_utc, previous)
        previous = entry.hash_hex
        log.write(AuthenticatedEntry(entry, item.mac))
    assert not LogCopy(storage, folder).scan().damage
    if wreck:
        database = next(p for p in closed.names if p.name == "journal.sqlite")
        closed = damage_copy(closed, database, flip(5000, 1))
    with pytest.raises(JournalDamaged, match="HMAC" if wreck else "both copies: they differ at entry"):
        Player(tmp_path, closed).open()


@pytest.mark.requirement("A-02")
def test_a_damaged_journal_head_is_repaired_and_recorded(tmp_path, closed):
    head = next(p for p in closed.names if p.name == "journal.head")
    assert reopen_and_read_events(tmp_path, damage_copy(closed, head, flip(3, 1))) == ["memory.anchor_lost"]


@pytest.mark.requirement("A-02")
@pytest.mark.parametrize("change", [flip(0, 1), flip(100, 128)])
@pytest.mark.parametrize("medium", ["one", "two"])
def test_a_damaged_or_lost_key_is_restored_from_the_other_medium(tmp_path, closed, medium, change):
    path = tmp_path / medium / "machine.key"
    hurt = damage_copy(closed, path, change)
    assert reopen_and_read_events(tmp_path, hurt) == ["memory.repaired"]
    assert bytes(hurt.names[path].seen) == bytes(closed.names[path].seen)
    lost = copy.deepcopy(closed)
    del lost.names[path], lost.durable_names[path]
    assert reopen_and_read_events(tmp_path, lost) == ["memory.repaired"]


def test_a_key_damaged_on_both_media_stops_the_machine(tmp_path, closed):
    for key in [p for p in closed.names if p.name == "machine.key"]:
        closed = damage_copy(closed, key, flip(100, 1))
    with pytest.raises(JournalDamaged, match=r"machine\.key"):
        Player(tmp_path, closed).open()


def test_a_key_lost_on_both_media_is_not_replaced(tmp_path, closed):
    for key in [p for p in closed.names if p.name == "machine.key"]:
        del closed.names[key]
    with pytest.raises(JournalDamaged, match="key is missing"):
        Player(tmp_path, closed).open()


@pytest.mark.requirement("A-04")
def test_a_copy_that_cannot_be_rewritten_stops_the_machine(tmp_path, closed):
    log = next(p for p in list_copy_files(closed) if p.suffix == ".log")
    hurt = damage_copy(closed, log, flip(200, 1))
    hurt.stuck = (".log.new", 0), (".log", 300)
    with pytest.raises(JournalDamaged, match="cannot be rewritten"):
        Player(tmp_path, hurt).open()


@pytest.mark.requirement("A-08")
def test_a_full_disk_refuses_entries_and_loses_nothing(tmp_path):
    disk = Disk()
    uncut_player = Player(tmp_path, disk)
    assert uncut_player.run()
    largest = sum(len(i.seen) for i in disk.names.values())
    refusals = 0
    for rig in range(1000, largest, 1777):
        disk = Disk()
        disk.room = rig
        player = Player(tmp_path, disk)
        try:
            player.run()
        except JournalUnwritable:
            refusals += 1
            if player.journal is not None:
                with pytest.raises(JournalUnwritable):
                    player.journal.append(SESSION[0])
            disk.dead = True
            player.leave()
        rebooted_disk = disk.reboot(random.Random(rig), 1.0)
        judge(tmp_path, rebooted_disk, player)
    assert refusals > 20


def test_a_read_only_medium_is_reported_and_not_changed(tmp_path, closed):
    before = {p: bytes(i.seen) for p, i in closed.names.items()}
    closed.room = 0
    with pytest.raises(JournalUnwritable):
        Player(tmp_path, closed).open()
    assert {p: bytes(i.seen) for p, i in closed.names.items()} == before


def test_a_clock_that_jumps_back_changes_no_order(tmp_path):
    disk = Disk()
    player = Player(tmp_path, disk, tick=timedelta(hours=-7))
    assert player.run()
    judge(tmp_path, disk.reboot(random.Random(0), 1.0), player)
    later = Player(tmp_path, disk, start=datetime(1970, 1, 2, tzinfo=UTC)).open()
    sequences = [e.sequence for e in later.entries()]
    assert sequences == list(range(1, len(sequences) + 1))
    assert next(later.entries("clock.changed", newest_first=True)).record["now"].startswith("1970-01-02")
    later.close()


@pytest.mark.requirement("A-27:b")
@pytest.mark.parametrize("book", ["outflows_cents", "inflows_cents"])
def test_a_falsified_meter_stops_the_machine_until_a_clear(tmp_path, closed, book):
    player = Player(tmp_path, closed)
    journal = player.open()
    getattr(journal._ledger, book)["house:wager" if book == "inflows_cents" else "house:win"] += 1
    before = journal.sequence
    with pytest.raises(SelfAuditFailed, match="credits are"):
        journal.append(post("late", "bill.in", ("world:bill", CREDIT, 500)))
    assert journal.sequence == before
    with pytest.raises(JournalUnwritable, match="reopened"):
        journal.append(post("later", "bill.in", ("world:bill", CREDIT, 500)))
    journal.close_without_checkpoint()
    with pytest.raises(JournalDamaged, match="authorised clear"):
        player.open()


@pytest.mark.requirement("A-03")
@pytest.mark.parametrize("suffix", [".log", ".sqlite"])
def test_damage_between_plays_is_repaired_before_the_next(tmp_path, closed, suffix):
    player = Player(tmp_path, closed)
    journal = player.open()
    path = next(p for p in list_copy_files(closed) if p.name.endswith(suffix))
    inode = closed.names[path]
    inode.seen[len(inode.seen) // 3] ^= 1
    for _ in range(40):
        journal.check()
    assert [e.record["code"] for e in journal.entries("event")] == ["memory.repaired"]
    journal.append(post("after", "bill.in", ("world:bill", CREDIT, 500)))
    check_money(journal, (*SESSION, post("after", "bill.in", ("world:bill", CREDIT, 500))))
    journal.close()


def test_acknowledged_entries_lost_by_a_disk_with_false_syncs_are_detected_by_the_judge(
    tmp_path, monkeypatch
):
    """Negative control: on a disk that ignores syncs acknowledged entries are lost, and the judge reports it."""
    monkeypatch.setattr(Disk, "sync", lambda self, path, inode: self.operation(f"sync {path.name}"))
    disk = Disk()
    player = Player(tmp_path, disk)
    player.run()
    with pytest.raises((AssertionError, JournalDamaged)):
        judge(tmp_path, disk.reboot(random.Random(0), 0.0), player)
