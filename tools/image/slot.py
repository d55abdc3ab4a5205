"""A system slot: one release of the machine's software on the disk, and the bundle that carries it there.

A slot is two partitions: a root file system, and an EFI system partition whose only program is a kernel with
the verity hash of that root file system. The last 64 KiB of the root partition hold the *release*: one line
of JSON with the SHA-256 of both partitions, signed (Ed25519) by the publisher of the software. A bundle is
that line, followed by the bytes of both partitions. The first sector of the EFI partition is erased before an
update writes anything, and written after everything else is on the medium: until then the slot is empty.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from egm.errors import OperatorError
from meters.entry import encode_canonical_json, parse_json
from meters.machine_key import is_signed_by

#: The format of releases, stated in each.
RELEASE_FORMAT: Final = "open-egm release 1"
#: It is signed in front of the release, so that a signature made for other data is not valid for a release.
_SIGNATURE_PREFIX: Final = b"open-egm release\0"
#: The size of the release at the end of a root partition.
RELEASE_SIZE_BYTES: Final = 64 * 1024
#: Bytes copied at once.
_COPY_BLOCK_SIZE_BYTES: Final = 1 << 20
#: The size of the first sector of the EFI partition, without which a slot cannot start; a medium writes it atomically.
_BOOT_SECTOR_SIZE_BYTES: Final = 512
#: The partitions of a slot: the EFI system partition, and the root file system.
SLOT_PARTITION_NAMES: Final = ("esp", "root")


class SlotError(OperatorError):
    """An update bundle or a system slot differs from the signed release; the text names it and the reason."""


@dataclass(frozen=True, slots=True)
class PartitionContent:
    """The content of one partition of a release: its length in bytes and its SHA-256 in hexadecimal."""

    length: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Release:
    """One signed release of the machine's software; ``partitions`` has the content of each partition."""

    number: int
    """The release number, which increases with each release."""
    version: str
    partitions: Mapping[str, PartitionContent]
    line: bytes
    """The signed line of JSON that describes the release."""


@dataclass(frozen=True, slots=True)
class SystemSlot:
    """A system slot: the paths of its two partitions (block devices or files)."""

    esp: Path
    """The EFI system partition."""
    root: Path

    def get_partition(self, name: str) -> Path:
        """Return the path of the slot's partition: ``esp`` (the EFI partition) or ``root``."""
        return self.esp if name == "esp" else self.root


def compute_stream_digest(stream: BinaryIO, length: int) -> str:
    """Return the SHA-256 of the next ``length`` bytes of a stream; of fewer bytes if the stream ends before."""
    sha256 = hashlib.sha256()
    while length > 0 and (block := stream.read(min(length, _COPY_BLOCK_SIZE_BYTES))):
        sha256.update(block)
        length -= len(block)
    return sha256.hexdigest()


def sign_release(
    number: int, version: str, file_by_partition: Mapping[str, Path], key: Ed25519PrivateKey
) -> bytes:
    """Return the signed release line for these partition files."""
    lengths = {name: file_by_partition[name].stat().st_size for name in SLOT_PARTITION_NAMES}
    partitions = {
        name: {"length": length, "sha256": _compute_digest(file_by_partition[name], length)}
        for name, length in lengths.items()
    }
    content = {"format": RELEASE_FORMAT, "number": number, "version": version, "parts": partitions}
    signature = key.sign(_SIGNATURE_PREFIX + encode_canonical_json(content))
    return encode_canonical_json({"release": content, "signature": signature.hex()}) + b"\n"


def read_release(line: bytes, public_key_hex: str, location: str) -> Release:
    """Return the release that a signed line describes.

    Raises SlotError if the line has no valid signature by this public key.
    """
    try:
        signed_release = parse_json(line)
        content, signature = signed_release["release"], bytes.fromhex(signed_release["signature"])
        signed_content = encode_canonical_json(content)
    except (ValueError, KeyError, TypeError) as error:
        raise SlotError(f"{location} does not contain a release of this software") from error
    if not is_signed_by(bytes.fromhex(public_key_hex), _SIGNATURE_PREFIX + signed_content, signature):
        raise SlotError(f"{location}: the release is not signed with the key this machine trusts")
    if content["format"] != RELEASE_FORMAT:
        raise SlotError(f"{location}: format: {content['format']!r} is not {RELEASE_FORMAT!r}")
    partitions = {name: PartitionContent(**content["parts"][name]) for name in SLOT_PARTITION_NAMES}
    return Release(content["number"], content["version"], partitions, line)


def read_slot_release(slot: SystemSlot, public_key_hex: str) -> Release:
    """Return the release that is stored in a slot. Raises SlotError if the slot has no signed release."""
    with slot.root.open("rb") as stream:
        stream.seek(-RELEASE_SIZE_BYTES, os.SEEK_END)
        release_area = stream.read()
    return read_release(release_area.rstrip(b"\0"), public_key_hex, str(slot.root))


def check_slot(slot: SystemSlot, public_key_hex: str) -> Release | None:
    """Compare every byte of a slot with the release stored there; return the release, or None if the slot is empty.

    Raises SlotError if they differ.
    """
    with slot.esp.open("rb") as stream:
        if not any(stream.read(_BOOT_SECTOR_SIZE_BYTES)):
            return None
    release = read_slot_release(slot, public_key_hex)
    for name, partition in release.partitions.items():
        if _compute_digest(slot.get_partition(name), partition.length) != partition.sha256:
            raise SlotError(f"{slot.get_partition(name)}: differs from release {release.version}")
    return release


def read_bundle_release(
    bundle: BinaryIO, public_key_hex: str, installed_number: int, location: str
) -> Release:
    """Return the release at the start of a bundle.

    Raises SlotError if it is not signed by this public key, or not newer than ``installed_number``.
    """
    release = read_release(bundle.readline(RELEASE_SIZE_BYTES), public_key_hex, location)
    if release.number <= installed_number:
        raise SlotError(
            f"{location}: release {release.number} is not newer than the installed {installed_number}"
        )
    return release


def require_complete_bundle(bundle: BinaryIO, release: Release, location: str) -> None:
    """Check the partitions in a bundle against its release, then set the stream back to where they start.

    Raises SlotError if the bundle is truncated or altered. This check comes before the first write, because the
    slot to be overwritten is the fallback, and only a complete release may replace it.
    """
    partitions_start = bundle.tell()
    for name in reversed(SLOT_PARTITION_NAMES):
        if compute_stream_digest(bundle, release.partitions[name].length) != release.partitions[name].sha256:
            raise SlotError(
                f"{location}: {name} is truncated or differs from the release; no slot was changed"
            )
    bundle.seek(partitions_start)


def install_release(bundle: BinaryIO, release: Release, slot: SystemSlot, location: str) -> None:
    """Write the partitions of an update bundle into a system slot.

    Raises SlotError if the bundle is truncated or altered, or if the slot does not read back as written; then the slot
    is empty and cannot start.
    """
    _write_at(slot.esp, 0, bytes(_BOOT_SECTOR_SIZE_BYTES))
    _copy_partition(bundle, release.partitions["root"], slot.root, f"{location}: root")
    boot_sector = _copy_partition(
        bundle,
        release.partitions["esp"],
        slot.esp,
        f"{location}: esp",
        withheld_byte_count=_BOOT_SECTOR_SIZE_BYTES,
    )
    if len(release.line) > RELEASE_SIZE_BYTES:
        raise SlotError(
            f"{location}: release: has {len(release.line)} bytes; at most {RELEASE_SIZE_BYTES} fit"
        )
    _write_at(slot.root, -RELEASE_SIZE_BYTES, release.line.ljust(RELEASE_SIZE_BYTES, b"\0"))
    _write_at(slot.esp, 0, boot_sector)
    for name, partition in release.partitions.items():
        if _compute_digest(slot.get_partition(name), partition.length) != partition.sha256:
            _write_at(slot.esp, 0, bytes(_BOOT_SECTOR_SIZE_BYTES))
            raise SlotError(f"{slot.get_partition(name)}: what was read back differs from what was written")


def _copy_partition(
    source: BinaryIO,
    content: PartitionContent,
    target_path: Path,
    location: str,
    *,
    withheld_byte_count: int = 0,
) -> bytes:
    """Copy one partition of a bundle to ``target_path``, except its first ``withheld_byte_count`` bytes; return these.

    Raises SlotError if the bundle is truncated or altered.
    """
    sha256, remaining_bytes, withheld_bytes = hashlib.sha256(), content.length, b""
    with target_path.open("r+b", buffering=0) as stream:
        while remaining_bytes and (block := source.read(min(remaining_bytes, _COPY_BLOCK_SIZE_BYTES))):
            sha256.update(block)
            remaining_bytes -= len(block)
            if withheld_byte_count and not withheld_bytes:
                withheld_bytes, block = block[:withheld_byte_count], block[withheld_byte_count:]
                stream.seek(withheld_byte_count)
            stream.write(block)
        os.fsync(stream.fileno())
    if remaining_bytes:
        raise SlotError(f"{location} is truncated: {remaining_bytes} bytes are missing")
    if sha256.hexdigest() != content.sha256:
        raise SlotError(f"{location} differs from the release")
    return withheld_bytes


def _write_at(target: Path, offset: int, data: bytes) -> None:
    """Write data durably at the offset ``offset`` of a partition; a negative offset counts from the end."""
    with target.open("r+b", buffering=0) as stream:
        stream.seek(offset, os.SEEK_END if offset < 0 else os.SEEK_SET)
        stream.write(data)
        os.fsync(stream.fileno())


def _compute_digest(path: Path, length: int) -> str:
    """Return the SHA-256 of the first ``length`` bytes of a file or partition.

    The bytes are read from the medium, not from the cache.
    """
    with path.open("rb") as stream:
        # to read the medium, not the page cache
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return compute_stream_digest(stream, length)


def write_bundle(release_line: bytes, file_by_partition: Mapping[str, Path], output_path: Path) -> None:
    """Write an update bundle: the release line, then the root and the EFI partition, in the order of installation."""
    with output_path.open("wb") as bundle:
        bundle.write(release_line)
        for name in reversed(SLOT_PARTITION_NAMES):
            with file_by_partition[name].open("rb") as stream:
                while block := stream.read(_COPY_BLOCK_SIZE_BYTES):
                    bundle.write(block)
