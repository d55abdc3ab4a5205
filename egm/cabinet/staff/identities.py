"""Who was paid by hand: a register of its own, beside the journal and never in it.

The journal is exported, copied and read by many; a person's name and document are not for all of them. So the
clear text stands only here, in one file for the machine's own user, and the journal keeps a *commitment*: the
SHA-256 of a salt and the record. Whoever holds both can prove that the record is the one that was written
when the money was paid; from the journal alone nothing can be learned, nor tried out, because the salt is
unknown. When the place's time for keeping such data is over, record and salt are erased together and the
journal stays whole.

A record is durable here before the journal commits to it: a power cut between the two leaves a record nothing
commits to, and the form is filled in again.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from egm.errors import OperatorError

FILE: Final = "identities.db"
_SALT_BYTES: Final = 32
_SCHEMA: Final = """
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
    """One record: what was paid (the hand-pay's id), when, and to whom. ``fields`` None: erased."""

    commitment: str
    subject: str
    time_utc: datetime
    salt: bytes | None
    fields: Mapping[str, str] | None

    @property
    def agrees(self) -> bool:
        """Whether the record is what was committed to; an erased one cannot be told wrong."""
        if self.salt is None or self.fields is None:
            return True
        return commit(self.salt, self.subject, self.fields) == self.commitment


def commit(salt: bytes, subject: str, fields: Mapping[str, str]) -> str:
    """The commitment the journal keeps: SHA-256 over salt, subject and fields, in hexadecimal."""
    told = json.dumps({"subject": subject, "fields": dict(fields)}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(salt + told.encode()).hexdigest()


class IdentityRegister:
    """The register in a state folder; opened by the machine, read by management's tools."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open it, making it at first (mode 0600). Raises OperatorError naming the file and the reason."""
        path = folder / FILE
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(path, isolation_level=None)
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten
            connection.execute(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise OperatorError(f"register of identities {path}: {error}") from error
        return cls(connection)

    def keep(self, subject: str, fields: Mapping[str, str], time_utc: datetime) -> str:
        """Write down who was paid; durable when it returns the commitment."""
        salt = os.urandom(_SALT_BYTES)
        commitment = commit(salt, subject, fields)
        told = json.dumps(dict(fields), ensure_ascii=False)
        row = (commitment, subject, _utc(time_utc), salt, told)
        self._connection.execute("INSERT INTO identity VALUES (?, ?, ?, ?, ?)", row)
        return commitment

    def records(self) -> Iterator[IdentityRecord]:
        """Every record, oldest first."""
        rows = self._connection.execute("SELECT * FROM identity ORDER BY time_utc, rowid")
        for commitment, subject, time_utc, salt, fields in rows:
            told = None if fields is None else json.loads(fields)
            yield IdentityRecord(commitment, subject, datetime.fromisoformat(time_utc), salt, told)

    def get(self, commitment: str) -> IdentityRecord | None:
        """The record of a commitment, or None."""
        return next((record for record in self.records() if record.commitment == commitment), None)

    def erase_before(self, time_utc: datetime) -> int:
        """Erase names, documents and salts of records older than this; return how many there were."""
        return self._connection.execute(
            "UPDATE identity SET salt = NULL, fields = NULL WHERE time_utc < ? AND salt IS NOT NULL",
            (_utc(time_utc),),
        ).rowcount

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _utc(time_utc: datetime) -> str:
    return time_utc.astimezone(UTC).isoformat(timespec="seconds")
