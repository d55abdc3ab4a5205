"""Backup of what a machine may be given back: cabinet file, staff, certificates; never its journal.

What has happened is in the journal, on two media, and goes on from where it is: an older one, or another
machine's, would undo what was played and paid since. So a backup has none, and nothing else is taken from
one. It is signed with the machine's key, and knows how far the journal had come when it was made.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.errors import OperatorError
from egm.progressive.link_folder import LinkFolder
from egm.record_codec import RecordError, from_json
from meters import open_view
from meters.copies import SECOND_FOLDER
from meters.entry import canonical
from meters.keys import MachineKey, signed_by
from meters.recall import details
from meters.storage import DiskStorage
from paytables.source import contents

FORMAT: Final = 1
CABINET, STAFF = "cabinet.toml", "people.json"
#: What of a progressive link lies in files, by its key in the cabinet file.
LINK: Final = ("authority", "certificate", "key")
#: A journal's entries are numbered in 64 bits.
_SEQUENCES: Final = 1 << 63
#: All that a backup may hold.
NAMES: Final = frozenset({CABINET, STAFF, *LINK})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kept:
    """A backup as it stands in its file; bytes of files in base 64, key and signature hexadecimal."""

    format: int
    machine: str
    at: str
    sequence: int
    head: str
    public_key: str
    files: Mapping[str, str]
    signature: str


@dataclass(frozen=True, slots=True)
class Backup:
    """What was kept of a machine: the bytes of each file, by name.

    ``sequence`` and ``head``: the journal's last entry then, and its hash; ``at`` ISO 8601 UTC;
    ``public_key`` of the machine, hexadecimal.
    """

    machine: str
    at: str
    sequence: int
    head: str
    public_key: str
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, state: Path, cabinet: Path, at: str) -> Self:
        """What there is of a machine. Raises OperatorError, JournalError, OSError."""
        file, folder = load_cabinet(cabinet), StateFolder(state)
        found = {CABINET: cabinet, STAFF: folder.staff}
        link = file.progressive_link
        if link is not None and link.key != LinkFolder.of(state).key:  # what the machine made never leaves it
            found |= {name: getattr(link, name) for name in LINK}
        files = {name: path.read_bytes() for name, path in found.items() if path.exists()}
        with open_view(state, second_dir=file.memory.second_copy) as view:
            machine = str(details(next(view.entries(limit=1))).get("machine_id", ""))
            sequence, head = view.sequence, view.head_hash
        return cls(machine, at, sequence, head, key_of(state).public_key.hex(), files)

    def _content(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "machine": self.machine,
            "at": self.at,
            "sequence": self.sequence,
            "head": self.head,
            "public_key": self.public_key,
            "files": {name: base64.b64encode(data).decode() for name, data in self.files.items()},
        }

    def text(self, key: MachineKey) -> str:
        """The backup as a file, signed."""
        content = self._content()
        return json.dumps({**content, "signature": key.sign(canonical(content)).hex()}, indent=1) + "\n"

    @classmethod
    def read(cls, path: Path) -> Self:
        """A backup, its signature checked. Raises OperatorError for what is none, or holds what none may."""
        try:
            content = json.loads(contents(path))
            kept = from_json(_Kept, content, "it")
            if kept.format != FORMAT:
                raise OperatorError(f"{path}: format {kept.format} is not {FORMAT}")
            if not 0 <= kept.sequence < _SEQUENCES:
                raise OperatorError(f"{path}: sequence {kept.sequence} is none of a journal")
            files = {name: base64.b64decode(text, validate=True) for name, text in kept.files.items()}
            found = cls(kept.machine, kept.at, kept.sequence, kept.head, kept.public_key, files)
            del content["signature"]
            whole = signed_by(
                bytes.fromhex(kept.public_key), canonical(content), bytes.fromhex(kept.signature)
            )
        except OSError as error:
            raise OperatorError(f"{path}: {error.strerror or error}") from error
        except (ValueError, RecursionError, RecordError) as error:
            raise OperatorError(
                f"{path}: not a backup, and a journal, its export or its archive is never put back: {error}"
            ) from error
        if not whole:
            raise OperatorError(f"{path}: is not as the machine signed it")
        if strange := sorted(files.keys() - NAMES):
            raise OperatorError(f"{path}: {', '.join(strange)}: may not be put back")
        return found


def key_of(state: Path) -> MachineKey:
    """The machine's key. Raises OperatorError where there is none, JournalError where it is damaged."""
    key = MachineKey.load(DiskStorage(), state, state / SECOND_FOLDER)
    if key is None:
        raise OperatorError(f"{state}: no machine has been here: there is no key")
    return key
