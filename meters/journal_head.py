"""The journal head: the number and hash of the last entry, authenticated, in a file on each medium.

Cutting the same entries off the end of both copies would leave two intact but shorter copies; the journal head shows
how long they must be. It is written after both copies are durable, so it is never ahead of them. Once the head is
durable too, the entry is *acknowledged*. The head's two slots are written in turn. A torn write damages one slot only:
the other still holds the previous head, and the damage shows that one more entry was being written. If the head is
lost on every medium, the end of the journal cannot be proved.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from meters.machine_key import MAC_SIZE_BYTES, MachineKey
from meters.storage import Storage, read_file, replace_file

#: File name of the journal head.
JOURNAL_HEAD_FILE_NAME: Final = "journal.head"
#: Layout of a head: sequence and hash.
_HEAD_STRUCT: Final = struct.Struct(">Q32s")
#: Bytes of a slot: the head and its MAC.
_SLOT_SIZE_BYTES: Final = _HEAD_STRUCT.size + MAC_SIZE_BYTES
#: Offset of each of the two slots in the file; each slot is in a separate disk sector.
_SLOT_OFFSETS: Final = (0, 512)


@dataclass(frozen=True, slots=True)
class JournalHead:
    """A journal head: the sequence and hash of the last acknowledged journal entry."""

    sequence: int
    """The number of the last acknowledged entry."""
    hash_hex: str
    """The hash of the last acknowledged entry."""


@dataclass(frozen=True, slots=True)
class JournalHeadReading:
    """The content that was read from the file of a journal head."""

    head: JournalHead | None
    """The newest journal head in the file, or None if no slot is valid."""
    is_intact: bool
    """Whether both slots are valid: neither is torn or altered."""

    @property
    def last_sequence_lower_bound(self) -> int:
        """Return the lowest number that the journal's last entry can have according to this file; 0 without a head.

        If a slot is torn, that is one more than the head's number, because the torn slot was written for a
        later entry.
        """
        return 0 if self.head is None else self.head.sequence + (not self.is_intact)


class JournalHeadFile:
    """The file of the journal head in ``folder``, open for writing.

    The constructor durably replaces the file, with ``head`` in both slots.
    """

    def __init__(self, storage: Storage, folder: Path, key: MachineKey, head: JournalHead) -> None:
        self._key = key
        data = bytearray(_SLOT_OFFSETS[-1] + _SLOT_SIZE_BYTES)
        for slot_number, offset in enumerate(_SLOT_OFFSETS):
            data[offset : offset + _SLOT_SIZE_BYTES] = _pack_slot(key, slot_number, head)
        replace_file(storage, folder / JOURNAL_HEAD_FILE_NAME, bytes(data))
        self.file = storage.open_file(folder / JOURNAL_HEAD_FILE_NAME, write=True)

    @staticmethod
    def read(storage: Storage, folder: Path, key: MachineKey) -> JournalHeadReading:
        """Return the content of the file in ``folder``, after verifying the MAC of each slot with ``key``."""
        data = read_file(storage, folder / JOURNAL_HEAD_FILE_NAME) or b""
        old_head = _unpack_slot(
            key, b"", data
        )  # one slot without a number, written by a version that had only one
        if old_head is not None:
            return JournalHeadReading(old_head, is_intact=True)
        slots = [
            _unpack_slot(key, bytes([slot_number]), data[offset : offset + _SLOT_SIZE_BYTES])
            for slot_number, offset in enumerate(_SLOT_OFFSETS)
        ]
        heads = [head for head in slots if head is not None]
        return JournalHeadReading(
            max(heads, key=lambda head: head.sequence, default=None), len(heads) == len(_SLOT_OFFSETS)
        )

    def write(self, head: JournalHead) -> None:
        """Write the journal head ``head`` into the file. It is durable only once :attr:`file` is synced.

        Call this after both copies of the journal have the entry.
        """
        slot_number = head.sequence % len(_SLOT_OFFSETS)
        self.file.write_at(_SLOT_OFFSETS[slot_number], _pack_slot(self._key, slot_number, head))

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def _pack_slot(key: MachineKey, slot_number: int, head: JournalHead) -> bytes:
    """Return the bytes of a slot of the file: the journal head, and a MAC of head and slot number."""
    body = _HEAD_STRUCT.pack(head.sequence, bytes.fromhex(head.hash_hex))
    return body + key.compute_mac(bytes([slot_number]) + body)


def _unpack_slot(key: MachineKey, number_bytes: bytes, slot_bytes: bytes) -> JournalHead | None:
    """Return the journal head in the bytes of a slot of the file; None if the slot is torn or its MAC is not valid.

    ``number_bytes`` is the byte of the slot's number; empty for a file of an earlier version, whose only slot has none.
    """
    body = slot_bytes[: _HEAD_STRUCT.size]
    if len(slot_bytes) != _SLOT_SIZE_BYTES or not key.is_mac_valid(
        number_bytes + body, slot_bytes[_HEAD_STRUCT.size :]
    ):
        return None
    sequence, digest = _HEAD_STRUCT.unpack(body)
    return JournalHead(sequence, digest.hex())
