"""The anchor: the last acknowledged entry, sealed, beside the copies.

Cutting the same entries off the end of both copies would leave two whole, shorter copies. The anchor
remembers how far the journal had come. It is written after both copies are durable and not itself synced,
so it is never ahead of them: after a power cut it may lag, and then proves a little less.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from meters.keys import SEAL_BYTES, MachineKey
from meters.storage import Storage, read_file

FILE_NAME: Final = "journal.head"
_HEAD: Final = struct.Struct(">Q32s")


@dataclass(frozen=True, slots=True)
class Head:
    """Entry ``sequence`` had hash ``hash_hex`` when it was acknowledged."""

    sequence: int
    hash_hex: str


class Anchor:
    """The sealed head in ``folder``."""

    def __init__(self, storage: Storage, folder: Path) -> None:
        self._file = storage.open_file(folder / FILE_NAME, write=True)

    @staticmethod
    def read(storage: Storage, folder: Path, key: MachineKey) -> Head | None:
        """Return the sealed head, or None when there is none or its seal is broken."""
        data = read_file(storage, folder / FILE_NAME) or b""
        body, seal = data[: _HEAD.size], data[_HEAD.size :]
        if len(data) != _HEAD.size + SEAL_BYTES or not key.sealed(body, seal):
            return None
        sequence, digest = _HEAD.unpack(body)
        return Head(sequence, digest.hex())

    def write(self, key: MachineKey, sequence: int, hash_hex: str) -> None:
        """Remember that entry ``sequence`` was acknowledged."""
        body = _HEAD.pack(sequence, bytes.fromhex(hash_hex))
        self._file.write_at(0, body + key.seal(body))

    def close(self) -> None:
        """Make it durable and close it."""
        try:
            self._file.sync()
        finally:
            self._file.close()
