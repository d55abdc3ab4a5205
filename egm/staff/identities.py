"""Register of identities: names of persons who were paid by hand or excluded, stored outside the journal.

The journal is exported, copied and read by many; a person's name and document must not be in it. The clear text
exists only here, in a file on each medium that only the machine's user can read. The journal stores a
*commitment*: the SHA-256 of a random salt and the record. With both, one can prove that the record is the one
written when the money was paid. The journal alone reveals nothing, not even by trying names, because the salt
is unknown. After the jurisdiction's retention period, record and salt are erased together; the journal does not
change.

A record is durable here before the journal stores the commitment: a power loss in between leaves a record
without a commitment, and the form is filled in again.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from egm.errors import OperatorError

#: File name of the register.
IDENTITY_FILE_NAME: Final = "identities.db"
#: Bytes of a salt.
_SALT_SIZE_BYTES: Final = 32
#: SQL statements that create the table.
_CREATE_TABLE_SQL: Final = """
CREATE TABLE IF NOT EXISTS identity (
    commitment TEXT PRIMARY KEY,
    subject TEXT NOT NULL,
    time_utc TEXT NOT NULL,
    salt BLOB,
    fields TEXT
) STRICT
"""


@dataclass(frozen=True, slots=True)
class IdentityRecord:
    """One record of the register of identities: the person who was paid by hand or excluded, and when."""

    commitment: str
    """The commitment to the identity, which the journal stores in place of it."""
    subject: str
    """The id of the hand-pay or of the exclusion."""
    time_utc: datetime
    salt: bytes | None
    """The random bytes of the commitment; None after the record was erased."""
    text_by_field: Mapping[str, str] | None
    """The texts that identify the person, by field; None after the record was erased."""

    @property
    def matches_commitment(self) -> bool:
        """Return whether the identity record matches its commitment; always True for an erased record."""
        if self.salt is None or self.text_by_field is None:
            return True
        return compute_commitment(self.salt, self.subject, self.text_by_field) == self.commitment


def compute_commitment(salt: bytes, subject: str, text_by_field: Mapping[str, str]) -> str:
    """Return the commitment to a person's identity that the journal stores in place of the identity.

    It is the SHA-256 of salt, subject and fields, in hexadecimal.
    """
    text = json.dumps({"subject": subject, "fields": dict(text_by_field)}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(salt + text.encode()).hexdigest()


class IdentityRegister:
    """The register of identities: a file in the state folder and a copy on the second medium.

    If one of the two is lost, it is restored from the other.
    """

    def __init__(self, copies: list[sqlite3.Connection], random_bytes: Callable[[int], bytes]) -> None:
        self._copies = copies
        self._random_bytes = random_bytes

    @classmethod
    def open(
        cls,
        folder: Path,
        second_folder: Path | None = None,
        random_bytes: Callable[[int], bytes] = os.urandom,  # noqa: TID251 (it makes a salt)
    ) -> Self:
        """Open the register of identities and make both copies equal; create files that do not exist (mode 0600).

        ``second_folder`` is the folder on the second medium. ``random_bytes`` returns random bytes for salts. A record
        erased in one copy is erased in both. Raises OperatorError with the file and the reason if neither copy
        can be used.
        """
        copies: list[sqlite3.Connection] = []
        refused_paths: list[tuple[Path, OSError | sqlite3.Error]] = []
        for path in dict.fromkeys(
            (folder / IDENTITY_FILE_NAME, (second_folder or folder) / IDENTITY_FILE_NAME)
        ):
            try:
                copies.append(_connect(path))
            except (OSError, sqlite3.Error) as error:
                refused_paths.append((path, error))
        if not copies:
            path, open_error = refused_paths[0]
            raise OperatorError(f"register of identities {path}: {open_error}") from open_error
        for path, open_error in refused_paths:
            # not a register any more: created again
            if not isinstance(open_error, OSError | sqlite3.OperationalError):
                path.unlink()
                copies.append(_connect(path))
        register = cls(copies, random_bytes)
        register._merge_copies()
        return register

    def _merge_copies(self) -> None:
        """Make both copies of the register equal: each gets the records of both.

        A record that is erased in one of them is erased in both. A copy that refuses a write, because its medium is
        full or fails, is updated at a later start; until then the register is read from the other copy.
        """
        row_by_commitment: dict[str, tuple[Any, ...]] = {}
        for copy in self._copies:
            for row in copy.execute("SELECT * FROM identity ORDER BY rowid"):
                commitment, _, _, salt, _ = row
                merged_row = row_by_commitment.setdefault(commitment, row)
                if merged_row is not row and (
                    salt is None or not _build_identity_record(*merged_row).matches_commitment
                ):
                    row_by_commitment[commitment] = row
        for copy in tuple(self._copies):
            copied_row_by_commitment = {row[0]: row for row in copy.execute("SELECT * FROM identity")}
            if differing_rows := [
                row
                for commitment, row in row_by_commitment.items()
                if copied_row_by_commitment.get(commitment) != row
            ]:
                try:
                    copy.execute("BEGIN IMMEDIATE")
                    copy.executemany("INSERT OR REPLACE INTO identity VALUES (?, ?, ?, ?, ?)", differing_rows)
                    copy.execute("COMMIT")
                except sqlite3.OperationalError:
                    if copy.in_transaction:
                        copy.execute("ROLLBACK")
                    self._copies.remove(copy)
                    self._copies.append(copy)  # last, because records are read from the first copy

    def store_identity(self, subject: str, text_by_field: Mapping[str, str], time_utc: datetime) -> str:
        """Store the identity of a person paid by hand or excluded, and return the commitment for the journal.

        ``subject`` is the id of the hand-pay or of the exclusion; ``text_by_field`` has the texts that identify the
        person. The record is then durable on every medium that accepts it. Raises sqlite3.Error if none does.
        """
        salt = self._random_bytes(_SALT_SIZE_BYTES)
        commitment = compute_commitment(salt, subject, text_by_field)
        fields_text = json.dumps(dict(text_by_field), ensure_ascii=False)
        row = (commitment, subject, _format_utc(time_utc), salt, fields_text)
        write_errors = []
        for copy in self._copies:
            try:
                copy.execute("INSERT INTO identity VALUES (?, ?, ?, ?, ?)", row)
            except sqlite3.DatabaseError as error:  # the next start updates it
                write_errors.append(error)
        if len(write_errors) == len(self._copies):
            raise write_errors[0]
        return commitment

    def iter_records(self) -> Iterator[IdentityRecord]:
        """Yield every identity record, oldest first."""
        rows = self._copies[0].execute("SELECT * FROM identity ORDER BY time_utc, rowid")
        yield from (_build_identity_record(*row) for row in rows)

    def erase_before(self, cutoff_time_utc: datetime) -> int:
        """Erase names, documents and salts of all records older than ``cutoff_time_utc``; return the number erased."""
        erased_counts = [
            copy.execute(
                "UPDATE identity SET salt = NULL, fields = NULL WHERE time_utc < ? AND salt IS NOT NULL",
                (_format_utc(cutoff_time_utc),),
            ).rowcount
            for copy in self._copies
        ]
        return max(erased_counts)

    def close(self) -> None:
        """Close both copies of the register of identities."""
        for copy in self._copies:
            copy.close()


def _build_identity_record(
    commitment: str, subject: str, time_utc: str, salt: bytes | None, fields_json: str | None
) -> IdentityRecord:
    """Build an identity record from the columns of a row in the register's file."""
    text_by_field = None if fields_json is None else json.loads(fields_json)
    return IdentityRecord(commitment, subject, datetime.fromisoformat(time_utc), salt, text_by_field)


def _connect(path: Path) -> sqlite3.Connection:
    """Open one copy of the register of identities; create the file if it does not exist.

    Raises OSError or sqlite3.Error.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA secure_delete = ON")  # erased data is overwritten
        connection.execute(_CREATE_TABLE_SQL)
        (result,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if result != "ok":
            raise sqlite3.DatabaseError(result)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _format_utc(time_utc: datetime) -> str:
    """Return a time as the register stores it: ISO 8601, UTC."""
    return time_utc.astimezone(UTC).isoformat(timespec="seconds")
