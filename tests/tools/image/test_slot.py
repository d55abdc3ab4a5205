"""Only signed, complete and newer releases are installed in a slot, and one changed byte is detected."""

import io
import json
from dataclasses import replace

import pytest

from egm.verify.manifest import create_signing_key, format_public_key, read_signing_key
from tools.image import slot, update
from tools.image.slot import SlotError, SystemSlot
from tools.image.update import find_first_slot

KEY, OTHER = (read_signing_key(create_signing_key(), name) for name in ("ours", "another's"))
PUBLIC = format_public_key(KEY)
SIZES = {"esp": 300_000, "root": 500_000}


@pytest.fixture
def released(tmp_path):
    """The bytes of an update bundle with release 7."""
    parts = {name: tmp_path / f"{name}.img" for name in SIZES}
    for name, path in parts.items():
        path.write_bytes(name.encode() * (SIZES[name] // len(name)))
    bundle_file = tmp_path / "bundle"
    slot.write_bundle(slot.sign_release(7, "1.0", parts, KEY), parts, bundle_file)
    return bundle_file.read_bytes()


@pytest.fixture
def empty(tmp_path):
    empty_slot = SystemSlot(tmp_path / "esp-b", tmp_path / "root-b")
    for name, path in zip(slot.SLOT_PARTITION_NAMES, (empty_slot.esp, empty_slot.root), strict=True):
        path.write_bytes(bytes(SIZES[name] + 2 * slot.RELEASE_SIZE_BYTES))
    return empty_slot


def install(data, where, *, newer_than=6, public=PUBLIC):
    stream = io.BytesIO(data)
    release = slot.read_bundle_release(stream, public, newer_than, "stick")
    slot.install_release(stream, release, where, "stick")


@pytest.mark.library_only("A-13")
def test_a_signed_newer_release_is_installed_and_verified(released, empty):
    assert slot.check_slot(empty, PUBLIC) is None
    install(released, empty)
    assert slot.check_slot(empty, PUBLIC).number == 7


@pytest.mark.library_only("A-12")
@pytest.mark.parametrize("part", slot.SLOT_PARTITION_NAMES)
@pytest.mark.parametrize("where", [0, 0.5, 1])
def test_one_changed_byte_of_a_slot_is_detected(released, empty, part, where):
    install(released, empty)
    with empty.get_partition(part).open("r+b") as stream:
        offset = round((slot.read_slot_release(empty, PUBLIC).partitions[part].length - 1) * where)
        stream.seek(offset)
        byte = stream.read(1)[0]
        stream.seek(offset)
        stream.write(bytes([byte ^ 1]))
    with pytest.raises(SlotError, match=r"differs from release 1\.0"):
        slot.check_slot(empty, PUBLIC)


@pytest.mark.library_only("A-15")
def test_a_bootable_slot_without_a_release_is_detected(empty):
    with empty.esp.open("r+b") as stream:
        stream.write(b"something")
    with pytest.raises(SlotError, match="does not contain a release"):
        slot.check_slot(empty, PUBLIC)


@pytest.mark.parametrize("newer_than", [7, 8])
def test_an_older_release_is_refused_before_a_byte_is_written(released, empty, newer_than):
    before = empty.root.read_bytes()
    with pytest.raises(SlotError, match="is not newer than"):
        install(released, empty, newer_than=newer_than)
    assert empty.root.read_bytes() == before


@pytest.mark.library_only("A-13")
def test_an_unsigned_or_wrongly_signed_bundle_is_refused(released, empty):
    line, _, content = released.partition(b"\n")
    with pytest.raises(SlotError, match="not signed with the key this machine trusts"):
        install(released, empty, public=format_public_key(OTHER))
    newer = json.loads(line)
    newer["release"]["number"] = 9
    with pytest.raises(SlotError, match="not signed"):
        install(json.dumps(newer).encode() + b"\n" + content, empty)
    for nothing in (b"", b"\0" * 100_000, b"{}\n", b"[1]\n", b"not a bundle\n"):
        with pytest.raises(SlotError, match="does not contain a release"):
            install(nothing, empty)


@pytest.mark.parametrize("kept_share", [0.0, 0.3, 0.7, 0.999])
def test_a_truncated_bundle_leaves_an_empty_slot(released, empty, kept_share):
    install(released, empty)  # the previous content must not return either
    line = released.index(b"\n") + 1
    torn = released[: line + round((len(released) - line) * kept_share)]
    with pytest.raises(SlotError, match="is truncated"):
        install(torn, empty)
    assert slot.check_slot(empty, PUBLIC) is None


def test_a_bundle_with_altered_content_leaves_an_empty_slot(released, empty):
    with pytest.raises(SlotError, match="differs from the release"):
        install(released[:-1] + b"?", empty)
    assert slot.check_slot(empty, PUBLIC) is None


class PowerGone(Exception):
    """Raised where the power is cut between two pieces."""


@pytest.mark.parametrize("pieces", range(1, 5))
def test_a_power_cut_during_an_update_leaves_an_empty_slot(released, empty, pieces, monkeypatch):
    monkeypatch.setattr(slot, "_COPY_BLOCK_SIZE_BYTES", 170_000)
    install(released, empty)

    class Cut(io.BytesIO):
        pieces_left = pieces

        def read(self, size=-1):
            if self.pieces_left == 0:
                raise PowerGone
            self.pieces_left -= 1
            return super().read(size)

    stream = Cut(released)
    release = slot.read_bundle_release(stream, PUBLIC, 6, "stick")
    with pytest.raises(PowerGone):
        slot.install_release(stream, release, empty, "stick")
    assert slot.check_slot(empty, PUBLIC) is None


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ("BootOrder: 0005,0006\n", "a"),
        ("BootOrder: 0006,0005,0001\n", "b"),
        ("BootOrder: 0001,0006,0005\n", "b"),
        ("BootOrder: 0001,0002\n", None),
        ("", None),
    ],
)
def test_the_slot_first_in_the_boot_order_is_found_and_none_on_a_new_computer(order, first):
    """The firmware may have its own entries before those of the slots."""
    output = (
        f"BootCurrent: 0001\nTimeout: 0 seconds\n{order}Boot0001* UEFI Misc Device\nBoot0005* open-egm a\n"
    )
    assert find_first_slot(output, {"a": "0005", "b": "0006"}) == first


@pytest.mark.parametrize("cut", [1, 4096, 400_000])
def test_a_truncated_signed_release_changes_no_slot(released, empty, tmp_path, monkeypatch, cut):
    """Regression: the fallback slot was emptied before a validly signed bundle was found to be truncated."""
    install(released, empty)
    before = (empty.esp.read_bytes(), empty.root.read_bytes())
    running = SystemSlot(tmp_path / "esp-a", tmp_path / "root-a")
    monkeypatch.setattr(update, "find_slots", lambda: {"a": running, "b": empty})
    monkeypatch.setattr(update, "find_running_slot", lambda: "a")
    monkeypatch.setattr(
        update, "read_slot_release", lambda *_: replace(slot.read_slot_release(empty, PUBLIC), number=6)
    )
    stick = tmp_path / "stick"
    stick.write_bytes(released[:-cut])
    with pytest.raises(SlotError, match="truncated or differs from the release; no slot was changed"):
        update.install_in_other_slot(stick, PUBLIC)
    assert (empty.esp.read_bytes(), empty.root.read_bytes()) == before
    stick.write_bytes(released)
    assert update.install_in_other_slot(stick, PUBLIC)[0] == "b"
    monkeypatch.setattr(update, "require_complete_bundle", lambda *_: None)  # pulled out while it is written
    stick.write_bytes(released[:-cut])
    with pytest.raises(SlotError, match="slot b is empty now, so there is no release to fall back to"):
        update.install_in_other_slot(stick, PUBLIC)
    assert slot.check_slot(empty, PUBLIC) is None
