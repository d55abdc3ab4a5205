"""Either medium suffices: each is lost at any instant, missing, exchanged or truncated without the key.

Goal: whatever becomes of one medium, all that was acknowledged is on the other, and nothing is rebuilt where
nobody put a medium. Method: the session of the power-cut rig with its two folders as media; a medium lost is
every file of its folder gone, in the middle of a session with the power cut, or afterwards.
"""

import copy
import random

import pytest
from powercut_disk import Disk
from powercut_session import SESSION, Player, check_money, judge, post
from powercut_storage import SimStorage

from meters import JournalDamaged, JournalUnwritable, MediumMissing
from meters.log import _SEGMENT_HEADER_SIZE_BYTES
from meters.media import LABEL_FILE_NAME, MediumLabel, replace_second


@pytest.fixture
def closed(tmp_path):
    """A disk with the whole session and a clean end."""
    disk = Disk()
    assert Player(tmp_path, disk).run()
    return disk


def replace_with_blank_medium(disk, folder):
    """Return the disk with a blank medium for ``folder``."""
    other_disk = copy.deepcopy(disk)
    for path in [path for path in other_disk.names if folder in path.parents]:
        del other_disk.names[path]
    other_disk.durable_names = dict(other_disk.names)
    other_disk.name_queue = []
    return other_disk


def take_medium_from(disk, other, folder):
    """``disk`` with the medium of ``folder`` as it is on ``other``."""
    mixed = replace_with_blank_medium(disk, folder)
    mixed.names |= {p: copy.deepcopy(i) for p, i in other.names.items() if folder in p.parents}
    mixed.durable_names = dict(mixed.names)
    return mixed


def list_event_codes(journal):
    return [e.record["code"] for e in journal.entries("event")]


def lose(folder, which, cut_at, seed, again_at=None):
    """Cut the power at operation ``cut_at`` of a session and lose one medium; judge the other."""
    disk, rng = Disk(), random.Random(seed)
    disk.cut_at = cut_at
    first = Player(folder, disk)
    if first.run() or not first.acknowledged:
        return False
    found = replace_with_blank_medium(disk.reboot(rng, rng.choice((0.0, 0.5, 1.0))), folder / which)
    second = which == "two"
    if again_at is not None:  # and once more while it recovers
        found.cut_at = again_at
        restarted = Player(folder, found)
        if not restarted.run(()):
            found = found.reboot(rng, 0.5)
        found.cut_at = None
    if second:
        assert not [p for p in found.names if folder / "two" in p.parents]
        with pytest.raises(MediumMissing):
            Player(folder, found).open()
    judge(folder, found, first, alone=second)
    first.acknowledged = list(SESSION)  # as the judge has played on
    if second:
        replace_second(SimStorage(found), folder / "one", folder / "two", "A. Tremblay: broken")
    judge(folder, found, first)
    journal = Player(folder, found).open()
    assert "memory.medium_replaced" in list_event_codes(journal)
    journal.close()
    # What was mended is whole by itself: now the other medium goes.
    other = replace_with_blank_medium(found, folder / ("one" if second else "two"))
    judge(folder, other, first, alone=not second)
    return True


def lose_at_random(folder, times, seed):
    disk = Disk()
    assert Player(folder, disk).run()
    rng, lost = random.Random(seed), 0
    while lost < times:
        which = ("one", "two")[lost % 2]
        second_cut = rng.randrange(1, 40) if which == "one" and rng.random() < 0.3 else None
        lost += lose(folder, which, rng.randrange(1, disk.operations + 1), rng.random(), second_cut)


@pytest.mark.requirement("A-02", "A-08")
def test_a_medium_lost_at_any_instant_loses_and_invents_nothing(tmp_path):
    lose_at_random(tmp_path, 30, seed=1)


@pytest.mark.slow
@pytest.mark.requirement("A-02", "A-08")
def test_five_hundred_lost_media_lose_and_invent_nothing(tmp_path):
    lose_at_random(tmp_path, 500, seed=2)


# ---------------------------------------------------------------------------------------------- missing, exchanged
def test_a_missing_second_medium_is_not_recreated_but_omitted_on_request(tmp_path, closed):
    lost = replace_with_blank_medium(closed, tmp_path / "two")
    with pytest.raises(MediumMissing, match="no medium of this machine"):
        Player(tmp_path, lost).open()
    late = post("late", "bill.in", ("world:bill", "credit:1:cashable", 500))
    player = Player(tmp_path, lost)
    journal = player.open(alone=True)
    assert journal.second_medium_error
    assert journal.medium_folders == (tmp_path / "one",)
    journal.append(late)
    assert list_event_codes(journal) == ["memory.medium_missing"]
    journal.close()
    assert not [p for p in lost.names if tmp_path / "two" in p.parents], "something was written there"
    # The medium comes back as it was, and catches up.
    back = take_medium_from(lost, closed, tmp_path / "two")
    journal = Player(tmp_path, back).open()
    assert not journal.second_medium_error
    check_money(journal, (*SESSION, late))
    journal.close()
    journal = Player(tmp_path, replace_with_blank_medium(back, tmp_path / "one")).open()
    check_money(journal, (*SESSION, late))
    journal.close()


def test_a_blank_first_medium_is_rebuilt_and_reported_until_acknowledged(tmp_path, closed):
    lost = replace_with_blank_medium(closed, tmp_path / "one")
    journal = Player(tmp_path, lost).open()
    check_money(journal, SESSION)
    assert "first medium" in journal.state("memory.medium_replaced")
    journal.close()
    assert Player(tmp_path, lost).run(())


def test_the_medium_of_another_machine_is_not_changed(tmp_path, closed):
    other = Disk()
    assert Player(tmp_path, other).run(SESSION[:3])
    mixed = take_medium_from(closed, other, tmp_path / "two")
    before = {p: bytes(i.seen) for p, i in mixed.names.items() if tmp_path / "two" in p.parents}
    with pytest.raises(MediumMissing, match="of machine"):
        Player(tmp_path, mixed).open()
    journal = Player(tmp_path, mixed).open(alone=True)
    check_money(journal, SESSION)
    journal.close()
    with pytest.raises(JournalDamaged, match="in use"):
        replace_second(SimStorage(mixed), tmp_path / "one", tmp_path / "two", "A. Tremblay: a mistake")
    assert {p: bytes(i.seen) for p, i in mixed.names.items() if tmp_path / "two" in p.parents} == before


def test_a_replaced_medium_is_recognised_when_it_returns(tmp_path, closed):
    old = copy.deepcopy(closed)
    now = replace_with_blank_medium(closed, tmp_path / "two")
    replace_second(SimStorage(now), tmp_path / "one", tmp_path / "two", "A. Tremblay: worn")
    late = post("late", "bill.in", ("world:bill", "credit:1:cashable", 500))
    assert Player(tmp_path, now).run((late,))
    with pytest.raises(MediumMissing, match="replaced since"):
        Player(tmp_path, take_medium_from(now, old, tmp_path / "two")).open()
    # The same for the first: what the second has since is not lost.
    new = replace_with_blank_medium(now, tmp_path / "one")
    later = post("later", "bill.in", ("world:bill", "credit:1:cashable", 700))
    assert Player(tmp_path, new).run((later,))
    mixed = take_medium_from(new, now, tmp_path / "one")
    journal = Player(tmp_path, mixed).open()
    check_money(journal, (*SESSION, late, later))
    assert "replaced since" in journal.state("memory.medium_replaced")
    journal.close()
    # The first as it was long ago, the second as it is now: which of them is behind is known.
    ancient = take_medium_from(mixed, old, tmp_path / "one")
    journal = Player(tmp_path, ancient).open()
    check_money(journal, (*SESSION, late, later))
    journal.close()


def test_two_media_never_used_together_are_refused(tmp_path, closed):
    first, other = (
        replace_with_blank_medium(closed, tmp_path / "two"),
        replace_with_blank_medium(closed, tmp_path / "one"),
    )
    replace_second(SimStorage(first), tmp_path / "one", tmp_path / "two", "A. Tremblay: worn")
    assert Player(tmp_path, first).run(())
    assert Player(tmp_path, other).run(())
    with pytest.raises(JournalUnwritable, match="never used together"):
        Player(tmp_path, take_medium_from(other, first, tmp_path / "two")).open()


def test_swapped_media_are_reported_and_not_changed(tmp_path, closed):
    swapped = copy.deepcopy(closed)
    first, second = (swapped.names[tmp_path / name / LABEL_FILE_NAME] for name in ("one", "two"))
    swapped.names[tmp_path / "one" / LABEL_FILE_NAME], swapped.names[tmp_path / "two" / LABEL_FILE_NAME] = (
        second,
        first,
    )
    with pytest.raises(JournalUnwritable, match="are swapped"):
        Player(tmp_path, swapped).open()


@pytest.mark.parametrize("which", ["one", "two"])
def test_a_damaged_or_lost_label_is_written_again(tmp_path, closed, which):
    path = tmp_path / which / LABEL_FILE_NAME
    good = MediumLabel.read(SimStorage(closed), tmp_path / which)
    closed.names[path].seen[-3] ^= 1
    assert Player(tmp_path, closed).run(())
    del closed.names[path]
    assert Player(tmp_path, closed).run(())
    label = MediumLabel.read(SimStorage(closed), tmp_path / which)
    assert (label.machine_fingerprint, label.name) == (good.machine_fingerprint, good.name)


def test_media_of_an_earlier_version_receive_labels(tmp_path, closed):
    for name in ("one", "two"):
        del closed.names[tmp_path / name / LABEL_FILE_NAME]
    head = tmp_path / "two" / "journal.head"
    del closed.names[head]
    assert Player(tmp_path, closed).run(())
    first, second = (MediumLabel.read(SimStorage(closed), tmp_path / name) for name in ("one", "two"))
    assert (first.other_medium_id, second.other_medium_id) == (second.id, first.id)
    assert closed.names[head].seen


# ---------------------------------------------------------------------------------------------- cut without the key
def cut_short(disk, folder):
    """Return the disk with the last record of the log overwritten with zeros."""
    log = max(p for p in disk.names if p.parent == folder / "two" and p.suffix == ".log")
    content, offset, start = disk.names[log].seen, _SEGMENT_HEADER_SIZE_BYTES, 0
    while length := int.from_bytes(content[offset : offset + 4], "big"):
        start, offset = offset, offset + 8 + length
    assert start, "there is no record"
    content[start:] = bytes(len(content) - start)
    disk.names[log].durable = bytearray(content)
    return disk


def drop(disk, *names):
    for path in [path for path in disk.names if path.name.startswith(names)]:
        del disk.names[path]
    return disk


@pytest.fixture
def running(tmp_path):
    """A disk as a killed process leaves it: the WAL there, nothing signed at the end."""
    disk = Disk()
    player = Player(tmp_path, disk)
    journal = player.open()
    for transaction in SESSION:
        journal.append(transaction)
    disk.dead = True
    player.leave()
    return disk.reboot(random.Random(0), 1.0)


@pytest.mark.requirement("A-05", "E-13")
def test_a_tail_cut_off_without_the_key_is_refused_even_without_the_first_copy(tmp_path, running):
    cut = drop(cut_short(running, tmp_path), "journal.sqlite")
    first, second = (tmp_path / name / "journal.head" for name in ("one", "two"))
    only_second = copy.deepcopy(cut)
    del only_second.names[first]
    with pytest.raises(JournalDamaged, match="was acknowledged"):
        Player(tmp_path, only_second).open()
    none = copy.deepcopy(only_second)
    del none.names[second]
    for _ in range(2):
        with pytest.raises(JournalDamaged, match="every journal head"):
            Player(tmp_path, none).open()
    # The whole first medium gone, with the second's head: no different.
    blank = replace_with_blank_medium(none, tmp_path / "one")
    with pytest.raises(JournalDamaged, match="every journal head"):
        Player(tmp_path, blank).open()


@pytest.mark.requirement("A-05", "E-13")
def test_wiping_the_newest_slot_of_each_head_does_not_hide_a_removed_entry(tmp_path, running):
    """A slot torn by a power cut belongs to an entry in both copies; that of a removed entry does not."""
    cut = drop(cut_short(running, tmp_path), "journal.sqlite")
    for name in ("one", "two"):
        content = cut.names[tmp_path / name / "journal.head"].seen
        offset = max((0, 512), key=lambda offset, content=content: bytes(content[offset : offset + 8]))
        content[offset : offset + 72] = bytes(72)
    with pytest.raises(JournalDamaged, match="was acknowledged"):
        Player(tmp_path, cut).open()


@pytest.mark.requirement("A-05")
def test_an_entry_is_written_to_the_second_medium_only_after_it_is_durable_on_the_first(tmp_path):
    """No outcome may be read from the second medium that a power cut could still undo."""
    disk = Disk()
    journal = Player(tmp_path, disk).open()
    write, under_way, seen = disk.write, [], []

    def watched(path, inode, offset, data):
        if path.parent == tmp_path / "two" and ".log" in path.name and under_way:
            seen.append((under_way.pop(), copy.deepcopy(disk)))
        write(path, inode, offset, data)

    for n in range(20):
        disk.write = watched
        under_way[:] = [f"g{n}"]
        journal.append(post(f"g{n}", "game.start", record={"outcome": n}))
        disk.write = write
    journal.close()
    assert len(seen) == 20
    for name, then in seen:
        first = replace_with_blank_medium(then.reboot(random.Random(0), 0.0), tmp_path / "two")
        alone = Player(tmp_path, first).open(alone=True)
        assert alone.get(name) is not None
        alone.close()


@pytest.mark.requirement("A-05")
def test_two_intact_copies_without_any_head_are_rejected(tmp_path, closed):
    with pytest.raises(JournalDamaged, match="every journal head"):
        Player(tmp_path, drop(closed, "journal.head")).open()


@pytest.mark.requirement("A-02")
@pytest.mark.parametrize("which", ["one", "two"])
def test_a_missing_head_is_repaired_and_recorded(tmp_path, closed, which):
    path = tmp_path / which / "journal.head"
    del closed.names[path]
    journal = Player(tmp_path, closed).open()
    assert list_event_codes(journal) == ["memory.anchor_lost"]
    journal.close()
    assert path in closed.names


@pytest.mark.requirement("A-05")
def test_a_journal_wiped_beside_its_labels_is_not_started_again(tmp_path, closed):
    wiped = drop(closed, "journal.", "0")
    with pytest.raises(JournalDamaged):
        Player(tmp_path, wiped).open()


@pytest.mark.requirement("A-05")
@pytest.mark.parametrize("which", ["one", "two"])
def test_a_stopped_machine_stays_stopped_with_either_medium(tmp_path, closed, which):
    player = Player(tmp_path, closed)
    journal = player.open()
    journal._ledger.outflows_cents["house:win"] += 1
    with pytest.raises(Exception, match="credits are"):
        journal.append(post("late", "bill.in", ("world:bill", "credit:1:cashable", 500)))
    journal.close_without_checkpoint()
    with pytest.raises(JournalDamaged, match="authorised clear"):
        Player(tmp_path, replace_with_blank_medium(closed, tmp_path / which)).open(alone=True)
