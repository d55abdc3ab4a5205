"""A small value on both media: power cuts at every operation; one copy lost, flipped, outdated or forged."""

import random

import pytest
from powercut_disk import Disk, PowerCut
from powercut_storage import SimStorage

from meters import JournalDamaged, JournalUnwritable
from meters.machine_key import MachineKey
from meters.mirror import MirroredValue

KEY = b"k" * 32
VALUES = [b"", b"first", b"second\nwith a line", bytes(range(256)), b"last"]


@pytest.fixture
def folders(tmp_path):
    return tmp_path / "one", tmp_path / "two"


def mirror(disk, folders, key=KEY):
    return MirroredValue(SimStorage(disk), folders, "people.json", key=key)


def write_values(folders, *values):
    disk = Disk()
    for value in values:
        mirror(disk, folders).write(value)
    return disk


def put(disk, path, content):
    disk.names[path].seen = bytearray(content)


@pytest.mark.parametrize("survival", [0.0, 0.5, 1.0])
def test_a_power_cut_at_every_operation_leaves_the_old_or_the_new_value(folders, survival):
    operation_count = write_values(folders, *VALUES).operations
    for operation_number in range(1, operation_count + 1):
        disk, stored_values = Disk(), []
        disk.cut_at = operation_number
        try:
            for value in VALUES:
                mirror(disk, folders).write(value)
                stored_values.append(value)
        except PowerCut:
            pass
        rebooted_disk = disk.reboot(random.Random(operation_number), survival)
        read = mirror(rebooted_disk, folders).read()
        assert read in [
            stored_values[-1] if stored_values else None,
            *VALUES[len(stored_values) : len(stored_values) + 1],
        ]
        # Whichever it was, it is so from now on, with either medium alone.
        if read is not None:
            for folder in folders:
                assert mirror(rebooted_disk, (folder,)).read() == read


@pytest.mark.requirement("A-04")
@pytest.mark.parametrize("which", [0, 1])
def test_a_lost_flipped_or_outdated_copy_is_repaired_from_the_other(folders, which):
    disk = write_values(folders, b"old", b"new")
    path = folders[which] / "people.json"
    good = bytes(disk.names[path].seen)
    old = bytes(write_values(folders, b"old").names[path].seen)
    hurts = [
        b"",
        good[:-1],
        old,
        *(good[:n] + bytes([good[n] ^ 1]) + good[n + 1 :] for n in range(len(good))),
    ]
    for hurt in hurts:
        put(disk, path, hurt)
        reader = mirror(disk, folders)
        assert reader.read(repair=False) == b"new"
        assert bytes(disk.names[path].seen) == hurt
        assert reader.read() == b"new"
        assert bytes(disk.names[path].seen) == good
        assert [finding.location for finding in reader.findings] == ["people.json"]
    disk.unlink(path)
    assert mirror(disk, folders).read() == b"new"
    assert bytes(disk.names[path].seen) == good


def test_a_value_lost_or_damaged_on_both_media_is_reported_as_damage(folders):
    disk = write_values(folders, b"value")
    for folder in folders:
        put(disk, folder / "people.json", b"nonsense")
    with pytest.raises(JournalDamaged, match="not what was written"):
        mirror(disk, folders).read()
    with pytest.raises(JournalDamaged):
        mirror(disk, folders).write(b"over it")
    assert mirror(Disk(), folders).read() is None
    with pytest.raises(JournalDamaged, match="missing"):
        mirror(Disk(), folders).read(must_exist=True)


def test_two_contents_of_one_generation_are_reported_as_damage(folders):
    disk, other = write_values(folders, b"this"), write_values(folders, b"that")
    path = folders[1] / "people.json"
    put(disk, path, other.names[path].seen)
    with pytest.raises(JournalDamaged, match="two different contents"):
        mirror(disk, folders).read()


def test_a_value_written_with_another_key_is_rejected(folders):
    disk = write_values(folders, b"ours")
    forger = Disk()
    for _ in range(3):
        mirror(forger, folders, b"x" * 32).write(b"forged")
    for folder in folders:
        path = folder / "people.json"
        put(disk, path, forger.names[path].seen)
    with pytest.raises(JournalDamaged):
        mirror(disk, folders).read()


def test_another_value_of_this_machine_is_rejected(folders):
    disk = Disk()
    MirroredValue(SimStorage(disk), folders, "other", key=KEY).write(b"value")
    for folder in folders:
        disk.names[folder / "people.json"] = disk.names[folder / "other"]
    with pytest.raises(JournalDamaged):
        mirror(disk, folders).read()


def test_a_write_succeeds_on_one_medium_and_fails_on_none(folders):
    disk = write_values(folders, b"old")

    class Refusing(SimStorage):
        refused_folders = (folders[1],)

        def open_file(self, path, *, write):
            if path.parent in self.refused_folders:
                raise JournalUnwritable(f"{path}: Input/output error")
            return super().open_file(path, write=write)

    storage = Refusing(disk)
    writer = MirroredValue(storage, folders, "people.json", key=KEY)
    writer.write(b"new")
    assert "Input/output error" in writer.findings[0].reason
    assert writer.read() == b"new"
    storage.refused_folders = folders
    with pytest.raises(JournalUnwritable):
        writer.write(b"newer")
    with pytest.raises(JournalUnwritable):
        writer.read()
    assert mirror(disk, folders).read() == b"new"


def test_derived_keys_differ_by_purpose_and_machine():
    first, other = MachineKey(b"1" * 32), MachineKey(b"2" * 32)
    derived = {
        first.derive_key(b"tickets"),
        first.derive_key(b"roster"),
        other.derive_key(b"tickets"),
        b"1" * 32,
    }
    assert len(derived) == 4
    assert first.derive_key(b"tickets") == MachineKey(b"1" * 32).derive_key(b"tickets")
    with pytest.raises(ValueError, match="purpose"):
        first.derive_key(b"")
