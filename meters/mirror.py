r"""A small value stored on both media: either copy suffices, and each repairs the other.

It is used for data outside the journal that must not be lost with one medium: the machine key, the staff
roster, a register. Every write leaves the old or the new value intact on each medium. The first medium is
written before the second, so a power loss between the two writes leaves copies of two generations; the newer
one is valid.

    OEGM1 NAME GENERATION CHECK\n    then the value.

CHECK is the SHA-256 of name, generation and value or, if a key is given, their HMAC-SHA256 (hexadecimal).
"""

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from meters.errors import JournalDamaged, JournalUnwritable
from meters.memory_findings import MemoryFinding, MemoryFindingKind
from meters.storage import Storage, read_file, replace_file

#: First word of the header.
_FILE_MAGIC: Final = "OEGM1"
#: Form of a value's name.
_VALUE_NAME_PATTERN: Final = re.compile(r"[a-z0-9.-]{1,40}")
#: Form of the header: name, generation and check.
_HEADER_PATTERN: Final = re.compile(rb"OEGM1 ([a-z0-9.-]{1,40}) ([1-9][0-9]{0,17}) ([0-9a-f]{64})\n")


@dataclass(frozen=True, slots=True)
class _ValueCopy:
    """One medium's copy of a mirrored value, as it was read."""

    folder: Path
    """The folder that contains the copy."""
    generation: int = 0
    """The number of the write that made this copy, counted from 1; 0 if the copy is absent."""
    value: bytes = b""
    """The stored bytes."""
    error_text: str = ""
    """What is wrong with the copy; empty if nothing is."""
    is_unreadable: bool = False
    """Whether the copy could not be read because the medium refused it."""


class MirroredValue:
    """A small value stored under ``name`` on each medium, in ``folders`` (the first medium's first).

    With ``key`` (see :meth:`meters.machine_key.MachineKey.derive_key`), only this machine can have written the value.
    ``findings`` lists the repairs that were made or failed since construction. Processes that write the same
    value must use a lock.
    """

    def __init__(
        self, storage: Storage, folders: Sequence[Path], name: str, *, key: bytes | None = None
    ) -> None:
        if not folders or not _VALUE_NAME_PATTERN.fullmatch(name):
            raise ValueError(
                f"mirror {name!r}: expected a valid file name and at least one folder, found {len(folders)} folders"
            )
        self._storage = storage
        self._folders = tuple(dict.fromkeys(folders))
        self._name = name
        self._key = key
        self.findings: list[MemoryFinding] = []

    def read(self, *, must_exist: bool = False, repair: bool = True) -> bytes | None:
        """Return the newest intact copy of the value, or None if it was never written.

        If ``repair`` is True, a copy that is missing, damaged or older is replaced. Otherwise nothing is
        written, as is necessary beside a running machine. Raises :class:`JournalDamaged` if a copy is damaged and none
        is intact, if copies of one generation differ, or if the value is missing although ``must_exist`` is True;
        :class:`JournalUnwritable` if no copy was found and a medium cannot be read.
        """
        copies = [self._read_copy(folder) for folder in self._folders]
        best_copy = self._choose_best_copy(copies, must_exist=must_exist)
        if best_copy is None:
            return None
        for copy in copies:
            if repair and (copy.error_text or copy.generation < best_copy.generation):
                self._repair_copy(copy, best_copy)
        return best_copy.value

    def write(self, value: bytes) -> None:
        """Replace the mirrored value, durably, on every medium that accepts it.

        If one of two media refuses the write, a finding is added. Raises :class:`JournalUnwritable` if none
        accepts it, :class:`JournalDamaged` like :meth:`read`.
        """
        best_copy = self._choose_best_copy(
            [self._read_copy(folder) for folder in self._folders], must_exist=False
        )
        generation = 1 if best_copy is None else best_copy.generation + 1
        refusals = []
        for folder in self._folders:
            try:
                self._write_copy(folder, generation, value)
            except JournalUnwritable as error:
                refusals.append(error)
        if len(refusals) == len(self._folders):
            raise refusals[0]
        self.findings += [
            MemoryFinding(MemoryFindingKind.REPAIRED, self._name, f"one copy could not be written: {reason}")
            for reason in refusals
        ]

    def remove(self) -> None:
        """Remove the mirrored value from all media, durably; do nothing if it is absent."""
        for folder in self._folders:
            if self._storage.exists(folder / self._name):
                self._storage.remove(folder / self._name)
                self._storage.sync_folder(folder)

    # ------------------------------------------------------------------ one copy
    def _choose_best_copy(self, copies: Sequence[_ValueCopy], *, must_exist: bool) -> _ValueCopy | None:
        """Return the newest intact copy of the value, or None if there is no copy and ``must_exist`` is False.

        Raises :class:`JournalDamaged` or :class:`JournalUnwritable` if copies exist but none is usable, if two
        copies of the same generation differ, or if an expected value is missing.
        """
        intact_copies = [copy for copy in copies if copy.generation]
        if not intact_copies:
            reasons = "; ".join(copy.error_text for copy in copies if copy.error_text)
            if reasons and all(copy.is_unreadable for copy in copies if copy.error_text):
                raise JournalUnwritable(reasons)
            if reasons or must_exist:
                locations = " and ".join(str(copy.folder / self._name) for copy in copies)
                raise JournalDamaged(locations, reasons or "it is missing")
            return None
        best_copy = max(intact_copies, key=lambda copy: copy.generation)
        for copy in intact_copies:
            if copy.generation == best_copy.generation and copy.value != best_copy.value:
                raise JournalDamaged(
                    f"{best_copy.folder / self._name} and {copy.folder / self._name}",
                    f"generation {best_copy.generation} has two different contents",
                )
        return best_copy

    def _read_copy(self, folder: Path) -> _ValueCopy:
        """Return the copy of a mirrored value in one folder.

        If it is not valid, its ``error_text`` says what is wrong.
        """
        path = folder / self._name
        try:
            data = read_file(self._storage, path)
        except JournalUnwritable as error:
            return _ValueCopy(folder, error_text=str(error), is_unreadable=True)
        if data is None:
            return _ValueCopy(folder)
        header = _HEADER_PATTERN.match(data)
        if header is None:
            return _ValueCopy(folder, error_text=f"{path} is not what was written")
        value = data[header.end() :]
        name, generation, check = header[1].decode(), int(header[2]), header[3].decode()
        if name != self._name or not hmac.compare_digest(check, self._compute_check(generation, value)):
            return _ValueCopy(folder, error_text=f"{path} is not what was written")
        return _ValueCopy(folder, generation, value)

    def _repair_copy(self, copy: _ValueCopy, best_copy: _ValueCopy) -> None:
        """Write the value of ``best_copy`` to the medium of ``copy``; add a finding whether or not this succeeds."""
        path = copy.folder / self._name
        reason = copy.error_text or (f"{path} was behind" if copy.generation else f"{path} was missing")
        try:
            self._write_copy(copy.folder, best_copy.generation, best_copy.value)
        except JournalUnwritable as refusal:
            reason = f"{reason}, and cannot be written: {refusal}"
        self.findings.append(MemoryFinding(MemoryFindingKind.REPAIRED, self._name, reason))

    def _write_copy(self, folder: Path, generation: int, value: bytes) -> None:
        """Replace the file in ``folder`` by this value with a new header, which has the generation number."""
        self._storage.make_folder(folder)
        header = f"{_FILE_MAGIC} {self._name} {generation} {self._compute_check(generation, value)}\n"
        replace_file(self._storage, folder / self._name, header.encode() + value)

    def _compute_check(self, generation: int, value: bytes) -> str:
        """Return the checksum of a mirrored value with its name and generation: an HMAC, or SHA-256 without a key."""
        message = f"{self._name} {generation}\n".encode() + value
        if self._key is None:
            return hashlib.sha256(message).hexdigest()
        return hmac.new(self._key, message, "sha256").hexdigest()
