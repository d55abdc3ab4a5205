"""The export: the journal in one signed file that anybody can check without the machine.

It consists of lines of UTF-8 JSON. The first is the header (format, machine, public key, last sequence and
hash, time). The next lines are the bytes of the entries, exactly as hashed: all entries, or those after the one
that the header names. The last line is the footer: the SHA-256 of every byte before it, and the machine's
Ed25519 signature of that digest.
"""

import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from meters.database import DatabaseReader, WritableDatabase
from meters.entry import BODY_BYTES_MAX, GENESIS_HASH, StoredEntry, decode, encode_canonical_json, parse_json
from meters.errors import JournalDamaged, JournalError
from meters.fields import (
    build_field_error,
    read_entry_number_field,
    read_field,
    read_hex_field,
    read_time_field,
)
from meters.log import AuthenticatedEntry
from meters.machine_key import MachineKey, is_signed_by
from meters.storage import DiskStorage, Storage
from meters.view import JournalView, load_ledger

#: Name and version of the format of a journal export.
EXPORT_FORMAT: Final = "open-egm journal 1"
#: Prefix of the signed bytes of a meter readout, so that the signature fits no other kind of document.
READOUT_SIGNATURE_PREFIX: Final = b"open-egm readout\0"
#: Prefix of the signed digest of an export, so that the signature fits no other kind of document.
_SIGNATURE_PREFIX: Final = b"open-egm export\0"


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """The header of a journal export, as its first line states it."""

    public_key: bytes
    """The public key of the machine that signed the export."""
    sequence: int
    """The number of the last exported entry."""
    head_hash: str
    """The hash of the last exported entry."""
    time_utc: datetime
    """The time when the export was written."""
    after_sequence: int = 0
    """The number of the entry before the first one in the export file; 0 if all entries are exported."""


def write_export(
    view: JournalView, key: MachineKey, file: BinaryIO, time_utc: datetime, *, after_sequence: int = 0
) -> int:
    """Write a signed export of the journal's entries after entry ``after_sequence`` to ``file``.

    Return the number of exported entries.
    """
    digest = hashlib.sha256()

    def write_line(data: bytes) -> None:
        """Write a line of the export and add it to the digest."""
        digest.update(data + b"\n")
        file.write(data + b"\n")

    write_line(
        encode_canonical_json(
            {
                "format": EXPORT_FORMAT,
                "public_key": view.public_key.hex(),
                "sequence": view.sequence,
                "head": view.head_hash,
                "time": time_utc.astimezone(UTC).isoformat(timespec="microseconds"),
                **({"after": after_sequence} if after_sequence else {}),
            }
        )
    )
    entry_count = 0
    for body in view.iter_bodies(after_sequence):
        write_line(body)
        entry_count += 1
    sha256 = digest.hexdigest()
    signature = key.sign(_SIGNATURE_PREFIX + sha256.encode()).hex()
    file.write(encode_canonical_json({"sha256": sha256, "signature": signature}) + b"\n")
    return entry_count


def verify_readout(signed_readout: Mapping[str, object], file_name: str) -> bytes:
    """Verify the signature of a meter readout and return the public key that made it.

    Raises :class:`JournalDamaged` if the signature is missing or wrong; its message names ``file_name``.
    """
    try:
        public_key = read_hex_field(signed_readout, "public_key")
        signature = read_hex_field(signed_readout, "signature")
        is_valid = is_signed_by(
            public_key,
            READOUT_SIGNATURE_PREFIX + encode_canonical_json(read_field(signed_readout, "readout")),
            signature,
        )
    except ValueError as error:
        raise JournalDamaged(file_name, f"not a signed readout ({error})") from error
    if not is_valid:
        raise JournalDamaged(file_name, "the signature is not that of this readout")
    return public_key


class ExportReader:
    """Reader of a journal export: first :attr:`header`, then :meth:`iter_bodies`, which ends with the footer check."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        """Read the export's header; raise :class:`JournalDamaged` if ``file`` is not an export."""
        self._file = file
        self._name = name
        """The file's name, for error messages."""
        self._digest = hashlib.sha256()
        self.footer_error = "the footer was not read"
        """What is wrong with the footer, or ""; valid after :meth:`iter_bodies` has ended."""
        self._read_line_count = 0
        """The number of lines read so far."""
        first_line = self._read_next_line()
        self._digest.update(first_line)
        try:
            header_fields = parse_json(first_line)
            if read_field(header_fields, "format") != EXPORT_FORMAT:
                raise build_field_error(header_fields, "format", repr(EXPORT_FORMAT))
            self.header = ExportHeader(
                read_hex_field(header_fields, "public_key"),
                read_entry_number_field(header_fields, "sequence"),
                read_hex_field(header_fields, "head").hex(),
                read_time_field(header_fields, "time"),
                read_entry_number_field(header_fields, "after") if "after" in header_fields else 0,
            )
        except ValueError as error:
            reason = str(error) if first_line else "the file is empty"
            raise JournalDamaged(f"{name} line 1", f"not an export of a journal ({reason})") from error

    def iter_bodies(self) -> Iterator[bytes]:
        """Yield the bytes of each exported entry; then check digest and signature, and set :attr:`footer_error`.

        Raises :class:`JournalDamaged` for a line that is longer than any entry.
        """
        last_line: bytes | None = None
        while line := self._read_next_line():
            if last_line is not None:
                self._digest.update(last_line)
                yield last_line.removesuffix(b"\n")
            last_line = line
        self.footer_error = self._find_footer_error(last_line or b"")

    def iter_entries(self) -> Iterator[StoredEntry]:
        """Yield each exported entry; then set :attr:`footer_error`.

        Raises :class:`JournalDamaged`, naming the line, for a line that is not an entry or does not follow the
        entry before it. The first entry must follow entry ``header.after_sequence``.
        """
        sequence = self.header.after_sequence
        head_hex = "" if self.header.after_sequence else GENESIS_HASH
        for line_number, body in enumerate(self.iter_bodies(), 2):
            try:
                entry = decode(body)
            except ValueError as error:
                raise JournalDamaged(f"{self._name} line {line_number}", str(error)) from error
            if entry.sequence != sequence + 1 or (head_hex and entry.previous_hex != head_hex):
                gap_error = f"entry {entry.sequence} ({entry.id}) does not follow entry {sequence}"
                raise JournalDamaged(
                    f"{self._name} line {line_number}", f"{gap_error}: one is missing, moved or altered"
                )
            sequence, head_hex = entry.sequence, entry.hash_hex
            yield entry

    def _read_next_line(self) -> bytes:
        """Return the export's next line with its newline, or b"" at the end.

        Raises :class:`JournalDamaged` for a line that is longer than any entry; it is read only in part, so that a
        hostile file cannot fill the memory.
        """
        self._read_line_count += 1
        line = self._file.readline(BODY_BYTES_MAX + 2)
        if len(line.removesuffix(b"\n")) > BODY_BYTES_MAX:
            reason = f"longer than any entry: {BODY_BYTES_MAX:,} bytes are read"
            raise JournalDamaged(f"{self._name} line {self._read_line_count}", reason)
        return line

    def _find_footer_error(self, line: bytes) -> str:
        """Return why the footer ``line`` does not match the file; "" if digest and signature match."""
        try:
            footer_fields = parse_json(line)
            sha256, signature = (
                read_hex_field(footer_fields, "sha256").hex(),
                read_hex_field(footer_fields, "signature"),
            )
        except ValueError as error:
            return f"the footer is missing or damaged ({error})"
        if sha256 != self._digest.hexdigest():
            return f"the file's SHA-256 is {self._digest.hexdigest()}; expected {sha256}, as in the footer"
        if not is_signed_by(self.header.public_key, _SIGNATURE_PREFIX + sha256.encode(), signature):
            return "the file's signature was not made with the machine's key"
        return ""


@contextmanager
def open_exported_view(file: BinaryIO, file_name: str) -> Iterator[JournalView]:
    """Open an exported journal for reading, as if it were the memory of the machine.

    Its entries are copied to a temporary database. It is checked that digest and signature of the whole file
    are right and that each entry follows the one before, but not what the entries record (``egm audit verify``
    does that). ``file_name`` is the file's name, for error messages. Raises :class:`JournalDamaged` for a file that
    is not an export, was altered, or does not begin with the journal's first entry.
    """
    reader = ExportReader(file, file_name)
    if reader.header.after_sequence:
        reason = f"it begins after entry {reader.header.after_sequence}; a complete export is needed"
        raise JournalDamaged(file_name, reason)
    storage = DiskStorage()
    with tempfile.TemporaryDirectory(prefix="egm-export-") as folder:
        try:
            key = MachineKey.create(storage, Path(folder))  # only for this database, whose rows need MACs
            entries = (
                AuthenticatedEntry(entry, key.compute_mac(bytes.fromhex(entry.hash_hex)))
                for entry in reader.iter_entries()
            )
            WritableDatabase.create_with_entries(storage, Path(folder), key, entries)
            if reader.footer_error:
                raise JournalDamaged(file_name, reader.footer_error)
            view = _open_copied_view(storage, Path(folder), reader.header)
        except JournalError as error:
            if isinstance(error, JournalDamaged) and error.location.startswith(file_name):
                raise
            raise JournalDamaged(file_name, str(error).replace(f"{folder}/", "")) from error
        with view:
            yield view


def _open_copied_view(storage: Storage, folder: Path, header: ExportHeader) -> JournalView:
    """Open a view of the database in ``folder``, into which all entries of an export were copied.

    Raises :class:`JournalDamaged` if the last entry or the public key differs from the export's header.
    """
    database = DatabaseReader.open(storage, folder)
    try:
        ledger, public_key = load_ledger(database)
        if (public_key, ledger.sequence, ledger.head_hex) != (
            header.public_key,
            header.sequence,
            header.head_hash,
        ):
            raise JournalDamaged("header", "it names another machine key or another last entry")
    except BaseException:
        database.close()
        raise
    return JournalView(database, ledger, public_key, storage=storage, archives=())
