"""Backups of a machine's restorable files: cabinet file, staff, certificates; never its journal.

A restore of an older journal, or of another machine's, would undo the games and payments made since. So a
backup contains no journal. The backup is signed with the machine's key, and records the last journal entry at
the time it was made.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.errors import OperatorError
from egm.people import load_recorded_roster, read_recorded_roster
from egm.progressive.link_folder import LinkCertificateFolder
from egm.record_codec import RecordError, from_json, stored_as
from meters import open_view
from meters.copies import SECOND_FOLDER
from meters.entry import encode_canonical_json
from meters.machine_key import MachineKey, is_signed_by
from meters.recall import read_details
from meters.storage import DiskStorage
from paytables.source import read_contents

#: The format number of the backups written now.
BACKUP_FORMAT: Final = 1
CABINET_FILE_NAME, STAFF_FILE_NAME = "cabinet.toml", "people.json"
#: The parts of a progressive link that are stored in files, by their keys in the cabinet file.
LINK_FILE_KEYS: Final = ("authority", "certificate", "key")
#: One more than the largest sequence number of a journal entry.
_SEQUENCE_NUMBER_LIMIT: Final = 1 << 63
#: The names of all files that a backup may contain.
BACKUP_FILE_NAMES: Final = frozenset({CABINET_FILE_NAME, STAFF_FILE_NAME, *LINK_FILE_KEYS})


@dataclass(frozen=True, kw_only=True, slots=True)
class _BackupFile:
    """The content of a backup file as JSON: files in base 64, key and signature in hexadecimal."""

    format: int
    machine_serial: str = field(metadata=stored_as("machine"))
    """The machine's serial number."""
    created_at: str = field(metadata=stored_as("at"))
    """The time of the backup, ISO 8601 UTC."""
    sequence: int
    """The number of the journal's last entry at the time of the backup."""
    head_hash: str = field(metadata=stored_as("head"))
    """The hash of the journal's last entry at the time of the backup."""
    public_key: str
    files: Mapping[str, str]
    signature: str


@dataclass(frozen=True, slots=True)
class Backup:
    """A machine's backed-up files, with the number and hash of the last journal entry at the time of the backup."""

    machine_serial: str
    created_at: str
    """The time of the backup, ISO 8601 UTC."""
    sequence: int
    """The number of the journal's last entry at the time of the backup."""
    head_hash: str
    """The hash of the journal's last entry at the time of the backup."""
    public_key: str
    """The machine's public key, in hexadecimal."""
    files: Mapping[str, bytes]
    """The content of each file, by name."""

    @classmethod
    def create(cls, state_folder: Path, cabinet_file: Path, created_at: str) -> Self:
        """Return a new backup of a machine's files; ``created_at`` is the current time, ISO 8601 UTC.

        Raises OperatorError, JournalError or OSError if a file cannot be read.
        """
        cabinet = load_cabinet(cabinet_file)
        path_by_name = {
            CABINET_FILE_NAME: cabinet_file,
            STAFF_FILE_NAME: _find_recorded_staff_file(state_folder, cabinet.memory.second_copy),
        }
        link_table = cabinet.progressive_link
        # a key made by the machine never leaves it
        if (
            link_table is not None
            and link_table.key != LinkCertificateFolder.for_state_folder(state_folder).key_path
        ):
            path_by_name |= {name: getattr(link_table, name) for name in LINK_FILE_KEYS}
        files = {name: path.read_bytes() for name, path in path_by_name.items() if path.exists()}
        with open_view(state_folder, second_folder=cabinet.memory.second_copy) as view:
            machine_serial = str(read_details(next(view.entries(limit=1))).get("machine_id", ""))
            sequence, head = view.sequence, view.head_hash
        return cls(
            machine_serial, created_at, sequence, head, load_machine_key(state_folder).public_key.hex(), files
        )

    def _build_content(self) -> dict[str, object]:
        """Return the backup as JSON data, as in its file but without the signature."""
        return {
            "format": BACKUP_FORMAT,
            "machine": self.machine_serial,
            "at": self.created_at,
            "sequence": self.sequence,
            "head": self.head_hash,
            "public_key": self.public_key,
            "files": {name: base64.b64encode(data).decode() for name, data in self.files.items()},
        }

    def format_signed_text(self, key: MachineKey) -> str:
        """Return the text of the backup file, signed with ``key``."""
        content = self._build_content()
        return (
            json.dumps({**content, "signature": key.sign(encode_canonical_json(content)).hex()}, indent=1)
            + "\n"
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the backup that a file contains.

        Raises OperatorError if its signature is wrong, the file is not a backup, or its format is unknown.
        """
        try:
            content = json.loads(read_contents(path))
            content_record = from_json(_BackupFile, content, "it")
            if content_record.format != BACKUP_FORMAT:
                raise OperatorError(
                    f"{path}: expected the backup format {BACKUP_FORMAT}, found {content_record.format}"
                )
            if not 0 <= content_record.sequence < _SEQUENCE_NUMBER_LIMIT:
                raise OperatorError(
                    f"{path}: sequence {content_record.sequence} is not a valid journal sequence"
                )
            files = {
                name: base64.b64decode(text, validate=True) for name, text in content_record.files.items()
            }
            backup = cls(
                content_record.machine_serial,
                content_record.created_at,
                content_record.sequence,
                content_record.head_hash,
                content_record.public_key,
                files,
            )
            del content["signature"]
            is_signed = is_signed_by(
                bytes.fromhex(content_record.public_key),
                encode_canonical_json(content),
                bytes.fromhex(content_record.signature),
            )
        except OSError as error:
            raise OperatorError(f"{path}: {error.strerror or error}") from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise OperatorError(
                f"{path}: not a backup (a journal, its export or its archive is never restored): not JSON"
            ) from error
        except (ValueError, RecursionError, RecordError) as error:
            raise OperatorError(
                f"{path}: not a backup (a journal, its export or its archive is never restored): {error}"
            ) from error
        if not is_signed:
            raise OperatorError(
                f"{path}: the machine's signature does not match its content, so the backup was changed"
            )
        if unknown_names := sorted(files.keys() - BACKUP_FILE_NAMES):
            raise OperatorError(
                f"{path}: contains {', '.join(unknown_names)}, which is never restored from a backup"
            )
        return backup


def _find_recorded_staff_file(state_folder: Path, second_folder: Path | None) -> Path:
    """Return the path of a copy of the staff roster that agrees with the journal's record of the roster.

    It is the second copy if the first one is refused or outdated. ``second_folder`` is the folder of the second copy
    if it is not inside ``state_folder``. Raises RosterError if neither copy can be used.
    """
    first_copy = StateFolder(state_folder).roster_file
    second_copy = (second_folder or state_folder / SECOND_FOLDER) / first_copy.name
    _, first_copy_error = load_recorded_roster(
        first_copy, second_copy, read_recorded_roster(state_folder, second_folder)
    )
    return first_copy if first_copy_error is None else second_copy


def load_machine_key(state_folder: Path) -> MachineKey:
    """Return the machine's signing key. Raises OperatorError if none exists, JournalError if it is damaged."""
    key = MachineKey.load(DiskStorage(), state_folder, state_folder / SECOND_FOLDER)
    if key is None:
        raise OperatorError(f"{state_folder}: there is no machine key; start the machine once")
    return key
