"""Old entries move from both copies into signed segments and remain readable and provable."""

import random
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from meters import (
    Journal,
    JournalDamaged,
    JournalPolicy,
    JournalUnwritable,
    Phase,
    Transaction,
    TransactionIdConflict,
    Transfer,
    open_view,
)
from meters.archive import ARCHIVE_END_KEY
from meters.clear import Clearance, clear_memory, inspect_journal
from meters.machine_key import MachineKey
from meters.storage import DiskStorage

CREDIT = "credit:1:cashable"
POLICY = JournalPolicy(
    entries_per_checkpoint=7,
    segment_size_bytes=4096,
    entries_archived_together_min=40,
    newest_entries_not_archived=30,
)


def clock():
    return datetime(2026, 1, 1, tzinfo=UTC)


def open_journal(folder, **options):
    return Journal.open(folder, now=clock, policy=POLICY, **options)


def play(journal, win=0):
    """Record one game as the machine does; return its id."""
    journal.check()
    play_id = journal.fresh_id("play")
    journal.append(
        Transaction(
            id=f"{play_id}.start",
            kind="game.start",
            transfers=(Transfer(CREDIT, "house:wager", 10),),
            counts={"games_played": 1},
            state={"game": {"play_id": play_id}},
            record={"play_id": play_id, "steps": [{"draws": [[24, 3, "reel"]]}]},
        )
    )
    journal.append(
        Transaction(
            id=f"{play_id}.end",
            kind="game.end",
            transfers=(Transfer("house:win", CREDIT, win),) if win else (),
            state={"game": None},
            record={"play_id": play_id, "win_cents": win},
        )
    )
    return play_id


def fund(journal):
    journal.append(
        Transaction(id="bill:1", kind="bill.in", transfers=(Transfer("world:bill", CREDIT, 10**6),))
    )


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """The memory of a machine after 400 games and other entries, with all entries that it ever wrote."""
    folder = tmp_path_factory.mktemp("archive") / "one"
    written = {}
    with open_journal(folder) as journal:
        fund(journal)
        journal.append(
            Transaction(
                id="ticket-9.out",
                kind="ticket.request",
                transfers=(Transfer(CREDIT, "out:voucher:cashable", 500),),
                phase=Phase.RESERVE,
            )
        )
        for n in range(400):
            play(journal, win=n % 3 * 10)
            if n % 50 == 0:
                journal.append(Transaction(id=f"host-{n}", kind="host.told", record={"n": n}))
            for entry in journal.entries(after_sequence=max(written, default=0)):
                written[entry.sequence] = entry.body
    with open_view(folder) as view:
        written |= {entry.sequence: entry.body for entry in view.entries(after_sequence=max(written))}
    assert sorted(written) == list(range(1, len(written) + 1))
    return folder, list(written.values())


@pytest.fixture
def lived(original, tmp_path):
    """A copy of that memory that a test may change."""
    folder, written = original
    return shutil.copytree(folder, tmp_path / "one"), written


def read_archived_sequence(folder):
    with open_view(folder) as view:
        return view.state(ARCHIVE_END_KEY)["through"]


def unarchived_entries(folder):
    with open_view(folder) as view:
        return view.sequence - view._database.read_first_sequence() + 1


def segments(folder):
    return sorted((folder / "archive").glob("*.seg"))


# ---------------------------------------------------------------------------------------------- complete archives
def test_recent_entries_stay_in_the_copies_and_older_ones_are_archived_on_both_media(lived):
    folder, written = lived
    assert read_archived_sequence(folder) > len(written) - 150
    assert unarchived_entries(folder) < 150
    names = [path.name for path in segments(folder)]
    assert len(names) > 5
    assert [p.name for p in segments(folder / "second")] == names
    for name in names:
        assert (folder / "archive" / name).read_bytes() == (folder / "second/archive" / name).read_bytes()
    assert len(list((folder / "second").glob("*.log"))) < 12


def test_every_entry_is_read_as_if_none_had_been_archived(lived):
    folder, written = lived
    key = MachineKey.load(DiskStorage(), folder)
    with open_view(folder, key=key) as view:
        assert list(view.iter_bodies()) == written
        assert list(view.iter_bodies(after_sequence=333)) == written[333:]
        assert [e.body for e in view.entries()] == written
        assert [e.body for e in view.entries(newest_first=True)] == written[::-1]
        assert [e.body for e in view.entries(after_sequence=17, before_sequence=61)] == written[17:60]
        assert [
            e.body for e in view.entries(after_sequence=17, before_sequence=61, newest_first=True)
        ] == written[17:60][::-1]
        numbers = [e.record["n"] for e in view.entries("host.told", newest_first=True)]
        assert numbers == list(range(350, -1, -50))
        assert [e.kind for e in view.entries(("bill.in", "machine.genesis"))] == [
            "machine.genesis",
            "bill.in",
        ]
        assert {"host.told", "bill.in", "game.end", "machine.genesis"} <= set(view.list_kinds())
        assert view.genesis.body == written[0]


def test_entries_too_large_for_one_block_are_archived_in_several(tmp_path, monkeypatch):
    """An entry may have 64 MiB: 256 of them in one block could not be read. The limits are reduced here."""
    monkeypatch.setattr("meters.segment.BODY_BYTES_MAX", 5000)
    monkeypatch.setattr("meters.segment._BLOCK_BYTES_MAX", 10000)
    with open_journal(tmp_path / "one") as journal:
        fund(journal)
        for n in range(12):
            journal.append(Transaction(id=f"host-{n}", kind="host.told", record={"text": "x" * 300 * n}))
        for _ in range(100):
            play(journal)
        entries = list(journal.entries())
    assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
    texts = [entry.record["text"] for entry in entries if entry.kind == "host.told"]
    assert texts == ["x" * 300 * n for n in range(12)]
    assert unarchived_entries(tmp_path / "one") < len(entries) - 13


def test_archived_entries_are_found_by_their_identifier(lived):
    folder, _written = lived
    with open_view(folder) as view:
        for entry in list(view.entries()):
            assert view.get(entry.id).sequence == entry.sequence, entry.id
        assert view.get("transfer:never") is None
        assert view.get(f"play-5-{view.journal_tag}.end") is None
        assert view.get(f"play-999999-{view.journal_tag}.start") is None


def test_a_repeat_of_an_archived_identifier_is_never_counted_twice(lived):
    folder, _written = lived
    with open_journal(folder) as journal:
        before = journal.balance_cents(CREDIT), journal.sequence
        for entry in list(journal.entries(limit=200)):
            posted = journal.append(entry.transaction)
            assert (posted.already_existed, posted.sequence) == (True, entry.sequence)
        with pytest.raises(TransactionIdConflict, match="other content"):
            journal.append(
                Transaction(id="bill:1", kind="bill.in", transfers=(Transfer("world:bill", CREDIT, 1),))
            )
        assert (journal.balance_cents(CREDIT), journal.sequence) == before


def test_an_identifier_is_known_after_its_segment_was_removed(lived):
    """The index states whether an identifier was used; only the segment has its entry."""
    folder, _written = lived
    both(folder, lambda archive: [path.unlink() for path in archive.glob("*.seg")])
    with open_view(folder) as view:
        assert [view.has_entry(name) for name in ("bill:1", "host-0", "host-350")] == [True] * 3
        assert not view.has_entry("bill:2")
        assert not view.has_entry(f"play-999999-{view.journal_tag}.start")
        with pytest.raises(JournalDamaged, match="missing"):
            view.get("host-0")
        with pytest.raises(JournalDamaged, match="missing"):  # found by its place, and by nothing else
            view.has_entry(f"play-4-{view.journal_tag}.start")
    with open_journal(folder) as journal:
        assert journal.has_entry("host-0")


def test_the_index_of_identifiers_does_not_grow_with_games(lived):
    """A game's later entries are found from its first one, so that the index does not contain them."""
    folder, _written = lived
    with open_journal(folder) as journal:
        before = max((folder / "archive").glob("*.ids")).stat().st_size
        through = read_archived_sequence(folder)
        for _ in range(100):
            journal.check()
            play_id = journal.fresh_id("play")
            for name in ("start", "choice-1", "double_up", "prize-1", "end"):
                details = {"play_id": play_id}
                journal.append(Transaction(id=f"{play_id}.{name}", kind="game.told", record=details))
        names = [f"{play_id}.{name}" for name in ("start", "double_up", "end")]
        for _ in range(60):
            play(journal)
        reached = journal.state(ARCHIVE_END_KEY)["through"]
        assert reached > through + 500
        assert all(journal.has_entry(name) for name in names)
        assert journal.get(names[1]).id == names[1]
    grown = max((folder / "archive").glob("*.ids")).stat().st_size - before
    assert grown < 16 * (reached - through) // 10, "what a segment ends in the middle of, and its own entry"


def test_a_repeat_is_refused_if_its_segment_was_removed(lived):
    folder, _ = lived
    for path in (*segments(folder), *segments(folder / "second")):
        path.unlink()
    with open_journal(folder) as journal:
        for _ in range(150):
            play(journal)
        for _ in range(100):
            journal.check()
        assert [e.record["code"] for e in journal.entries("event")] == ["memory.archive_damaged"]
        before = journal.balance_cents(CREDIT)
        with pytest.raises(TransactionIdConflict, match=r"entries 2 to 2 is missing"):
            journal.append(
                Transaction(id="bill:1", kind="bill.in", transfers=(Transfer("world:bill", CREDIT, 10**6),))
            )
        play(journal)
        assert journal.balance_cents(CREDIT) == before - 10


def test_a_reservation_made_before_archiving_is_settled_after_it(lived):
    folder, _ = lived
    with open_journal(folder) as journal:
        assert [r.id for r in journal.list_pending()] == ["ticket-9.out"]
        settle = Transaction(id="ticket-9.printed", kind="ticket.out", phase=Phase.SETTLE, ref="ticket-9.out")
        assert not journal.append(settle).already_existed
        assert journal.append(settle).already_existed
        assert journal.list_pending() == []


# ---------------------------------------------------------------------------------------------- tampering
def fault(folder, match):
    with open_view(folder) as view, pytest.raises(JournalDamaged, match=match):
        list(view.iter_bodies())


def test_an_archive_lost_on_one_medium_is_read_from_the_other(lived):
    folder, written = lived
    shutil.rmtree(folder / "archive")
    with open_journal(folder) as journal:
        assert list(journal.iter_bodies())[: len(written)] == written
        assert journal.append(Transaction(id="host-0", kind="host.told", record={"n": 0})).already_existed
        event_places = [e.record["where"] for e in journal.entries("event")]
        assert any(where.endswith(".ids") for where in event_places)


@pytest.mark.parametrize("media", [("archive",), ("second/archive",)])
def test_flipped_bytes_in_the_archive_of_one_medium_lose_nothing(lived, media):
    folder, written = lived
    rng = random.Random(4)
    for path in (p for name in media for p in sorted((folder / name).glob("*.seg"))):
        content = bytearray(path.read_bytes())
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
    with open_view(folder) as view:
        assert list(view.iter_bodies()) == written


def both(folder, change):
    for name in ("archive", "second/archive"):
        change(folder / name)


def test_a_missing_segment_is_reported(lived):
    folder, _ = lived
    name = segments(folder)[2].name
    both(folder, lambda archive: (archive / name).unlink())
    first, last = (int(part) for part in name.removesuffix(".seg").split("-"))
    fault(folder, f"entries {first} to {last} is missing")


def test_a_missing_last_segment_is_reported(lived):
    folder, _ = lived
    through = read_archived_sequence(folder)
    name = next(path.name for path in segments(folder) if path.name.endswith(f"-{through:012d}.seg"))
    both(folder, lambda archive: (archive / name).unlink())
    fault(folder, f"entries {int(name[:12])} to {through} is missing")


def test_an_altered_segment_is_reported(lived):
    folder, _ = lived
    name = segments(folder)[1].name

    def flip(archive):
        content = bytearray((archive / name).read_bytes())
        content[40] ^= 1
        (archive / name).write_bytes(content)

    both(folder, flip)
    fault(folder, name)


def test_a_segment_under_another_name_is_reported(lived):
    folder, _ = lived
    first, second = (path.name for path in segments(folder)[1:3])

    def swap(archive):
        (archive / first).rename(archive / "x")
        (archive / second).rename(archive / first)
        (archive / "x").rename(archive / second)

    both(folder, swap)
    fault(folder, "other entries or to another journal")


def test_a_segment_of_another_history_of_the_same_machine_is_reported(lived, tmp_path):
    """Key, first entry and range are the same; only the digests differ."""
    _folder, _ = lived
    other = tmp_path / "other"
    with open_journal(other) as journal:
        fund(journal)
        for _ in range(20):
            play(journal)
    copy_folder = shutil.copytree(other, tmp_path / "again")
    for where, win in ((other, 0), (copy_folder, 20)):
        with open_journal(where) as journal:
            for _ in range(200):
                play(journal, win)
    theirs = {path.name: path for path in segments(copy_folder)}
    name = next(path.name for path in segments(other)[1:] if path.name in theirs)
    both(other, lambda archive: shutil.copy(theirs[name], archive / name))
    fault(other, "follow|begins after|is not that of the segment the journal names")


def test_copies_older_than_the_archive_are_detected(tmp_path):
    """Copies and heads are valid and complete but older than the archive."""
    folder, early = tmp_path / "one", tmp_path / "early"
    with open_journal(folder) as journal:
        fund(journal)
    shutil.copytree(folder, early)
    with open_journal(folder) as journal:
        for _ in range(200):
            play(journal)
    assert read_archived_sequence(folder)
    for medium in ("archive", "second/archive"):
        shutil.copytree(folder / medium, early / medium)
    with pytest.raises(JournalDamaged, match="both copies end at entry 3, but the archive has entries up to"):
        open_journal(early)
    shutil.rmtree(early / "archive")
    with pytest.raises(JournalDamaged, match="both copies end at entry 3, but the archive has entries up to"):
        open_journal(early)


def test_entries_missing_from_the_beginning_of_both_copies_are_detected(lived):
    """Entries must be either in the archive or in the copies."""
    folder, _ = lived
    both(folder, shutil.rmtree)
    with pytest.raises(JournalDamaged, match=r"index|missing"):
        open_journal(folder)


def test_an_index_altered_on_both_media_stops_the_machine(lived):
    folder, _ = lived

    def flip(archive):
        path = max(archive.glob("*.ids"))
        content = bytearray(path.read_bytes())
        content[0] ^= 1
        path.write_bytes(content)

    both(folder, flip)
    with pytest.raises(JournalDamaged, match="index of identifiers"):
        open_journal(folder)


# ---------------------------------------------------------------------------------------------- copies lost
@pytest.mark.parametrize("lost", ["first", "second"])
def test_either_copy_is_rebuilt_from_the_other_after_archiving(lived, lost):
    folder, written = lived
    if lost == "first":
        for path in folder.glob("journal.sqlite*"):
            path.unlink()
    else:
        for path in (folder / "second").glob("*.log"):
            path.unlink()
    with open_journal(folder) as journal:
        assert list(journal.iter_bodies())[: len(written)] == written
        for _ in range(60):
            play(journal)
    with open_journal(folder) as journal:
        assert list(journal.iter_bodies())[: len(written)] == written


def test_a_log_that_lost_its_beginning_is_rewritten(lived):
    folder, written = lived
    next(iter(sorted((folder / "second").glob("*.log")))).unlink()
    with open_journal(folder) as journal:
        assert any("second copy" in e.record["where"] for e in journal.entries("event"))
        assert list(journal.iter_bodies())[: len(written)] == written


@pytest.mark.parametrize("medium", ["", "second"])
@pytest.mark.parametrize("damage", ["lost", "altered", "cut"])
def test_damaged_archive_files_on_one_medium_are_copied_from_the_other(lived, medium, damage):
    folder, written = lived
    archive = folder / medium / "archive"
    through = read_archived_sequence(folder)
    before = {
        path.name: path.read_bytes() for path in archive.glob("*.seg") if int(path.name[:12]) <= through
    }
    for name in list(before)[1:4]:
        if damage == "lost":
            (archive / name).unlink()
        elif damage == "cut":
            (archive / name).write_bytes(before[name][:-3])
        else:
            (archive / name).write_bytes(b"x" + before[name][1:])
    with open_journal(folder) as journal:
        for _ in range(300):
            journal.check()
        records = [e.record for e in journal.entries("event")]
        assert any("copied from the other medium" in record["why"] for record in records)
        assert list(journal.iter_bodies())[: len(written)] == written
    assert all((archive / name).read_bytes() == content for name, content in before.items())


# ---------------------------------------------------------------------------------------------- a clear
@pytest.mark.requirement("A-20")
def test_an_inspection_and_a_clear_include_the_archive(lived):
    """Both copies are damaged near their end and still prove the whole history with the archive."""
    folder, written = lived
    with open_view(folder) as view:
        total = view.meters().values["coin_in"]
    through = read_archived_sequence(folder)
    for path in (folder / "journal.sqlite", max((folder / "second").glob("*.log"))):
        content = bytearray(path.read_bytes().rstrip(b"\0"))
        for offset in range(len(content) // 2, len(content), 97):
            content[offset] ^= 1
        path.write_bytes(content)
    inspection = inspect_journal(folder)
    assert through <= inspection.best_reading.sequence < len(written)
    assert 3000 < inspection.best_reading.meter_values["coin_in"] <= total
    evidence = clear_memory(
        folder,
        Clearance(
            person="A. Tremblay",
            second_person="B. Roy",
            reason="both copies damaged",
            challenge=inspection.challenge,
            accounted_credit_cents=inspection.best_reading.credits_cents,
        ),
        now=clock,
    )
    assert list((evidence / "archive").glob("*.seg"))
    assert not segments(folder)
    with open_journal(folder) as journal:
        fund(journal)
        for _ in range(60):
            play(journal)
        assert len(list(journal.iter_bodies())) == journal.sequence


# ---------------------------------------------------------------------------------------------- a medium refuses
class Refusing(DiskStorage):
    """A medium on which the archive cannot be written."""

    refuses = True

    def open_file(self, path: Path, *, write: bool):
        if write and self.refuses and path.parent.name == "archive":
            raise JournalUnwritable(f"{path}: No space left on device")
        return super().open_file(path, write=write)


def test_a_medium_that_refuses_the_archive_only_delays_archiving(tmp_path, monkeypatch):
    monkeypatch.setattr("meters.journal._CHECKS_BEFORE_NEXT_ARCHIVING", 20)
    storage = Refusing()
    with open_journal(tmp_path, storage=storage) as journal:
        fund(journal)
        for _ in range(100):
            play(journal)
        assert journal.state(ARCHIVE_END_KEY) is None
        assert next(journal.entries("event")).record["code"] == "memory.archive_delayed"
        storage.refuses = False
        for _ in range(100):
            play(journal)
        assert journal.state(ARCHIVE_END_KEY)["through"] > 50
        assert len(list(journal.iter_bodies())) == journal.sequence
