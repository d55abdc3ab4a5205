"""The saved state of an audit, so that the next audit only has to check the entries written since.

The file belongs to the verifier (the person or authority who audits) and is stored with the verifier's exports:
it contains what the verifier proved, not what the machine states. It is written only after an audit without
findings, and is bound to the last entry of that audit.
"""

import hashlib
import importlib
import io
import json
import pickle
from pathlib import Path
from types import MethodType
from typing import Any, Final

from meters import JournalDamaged
from meters.storage import DiskStorage, replace_file
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

#: The format of saved states; it changes with the classes that they contain.
_SAVED_STATE_FORMAT: Final = "open-egm verified point 26"
#: The name that stands for the available definitions in a saved state.
_GAMES_PLACEHOLDER: Final = "games at hand"
#: Prefixes of this project's modules whose classes a saved state may contain.
_PROJECT_MODULE_PREFIXES: Final = (
    "meters.",
    "tools.audit.",
    "egm.gaming_day",
    "egm.progressive.",
    "egm.play.records.",
    "egm.money.records.",
    "paytables.contract",
)
#: Classes that a saved state may contain in addition.
_OTHER_ALLOWED_CLASSES: Final = {
    ("egm.kernel.events", "State"),
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("collections", "Counter"),
    ("collections", "deque"),
    ("collections", "defaultdict"),
    ("datetime", "datetime"),
    ("datetime", "timezone"),
    ("datetime", "timedelta"),
    ("fractions", "Fraction"),
}


class _StatePickler(pickle.Pickler):
    """A pickler of an auditor's state that omits game definitions, rules, storage keys and callbacks.

    The next audit provides these itself.
    """

    def __init__(self, buffer: io.BytesIO, auditor: Auditor) -> None:
        super().__init__(buffer, protocol=5)
        self._declared_object_by_name = _list_declared_objects(auditor)

    def persistent_id(self, pickled_object: object) -> str | None:
        """Return the name under which the next audit provides this object, or None if the object is to be saved."""
        if isinstance(pickled_object, GameFiles):
            return _GAMES_PLACEHOLDER
        for name, declared in self._declared_object_by_name.items():
            if pickled_object is declared:
                return name
        return (
            pickled_object.__name__
            if isinstance(pickled_object, MethodType) and isinstance(pickled_object.__self__, Auditor)
            else None
        )


def _list_declared_objects(auditor: Auditor) -> dict[str, object]:
    """Return the audit rules and storage keys that an auditor takes from the features' declarations, by name."""
    return {"rules": auditor.entry_rules.rules, "keys": auditor.entry_rules.facts.keys}


class _StateUnpickler(pickle.Unpickler):
    """An unpickler of an auditor's saved state that creates only plain values and classes of this project."""

    def __init__(self, data: bytes, auditor: Auditor, games: GameFiles) -> None:
        super().__init__(io.BytesIO(data))
        methods = (
            auditor.report_finding,
            auditor.add_notice,
            auditor.can_start_game,
            auditor.read_memory,
            auditor.read_meters,
        )
        object_by_name = {_GAMES_PLACEHOLDER: games} | {method.__name__: method for method in methods}
        self._object_by_name = object_by_name | _list_declared_objects(auditor)

    def persistent_load(self, persistent_name: Any) -> Any:
        """Return the object that a saved state omits under this name: game files, rules, keys or auditor method."""
        return self._object_by_name[persistent_name]

    def find_class(self, module: str, name: str) -> Any:
        """Return the class of that name for unpickling.

        Raises UnpicklingError unless it is the class of a plain value or belongs to this project.
        """
        if (module, name) in _OTHER_ALLOWED_CLASSES or module.startswith(_PROJECT_MODULE_PREFIXES):
            cls = getattr(importlib.import_module(module), name)
            if isinstance(cls, type) and cls.__module__ == module:
                return cls
        raise pickle.UnpicklingError(f"{module}.{name} is not a class that a saved state may contain")


def save_auditor(auditor: Auditor, path: Path) -> None:
    """Write the state of ``auditor`` to ``path`` atomically."""
    pickled = io.BytesIO()
    _StatePickler(pickled, auditor).dump(vars(auditor))
    data = pickled.getvalue()
    sequence, head_hash = auditor.last_entry_checked
    header = {
        "format": _SAVED_STATE_FORMAT,
        "machine": auditor.report.fingerprint,
        "sequence": sequence,
        "head": head_hash,
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    replace_file(DiskStorage(), path, json.dumps(header).encode() + b"\n" + data)


def load_auditor(path: Path, games: GameFiles) -> Auditor:
    """Return an auditor with the state saved in ``path``, or a new auditor if there is no such file.

    Raises :class:`JournalDamaged` if the file is not a saved state, or was written by another release.
    """
    auditor = Auditor(games)
    if not path.exists():
        return auditor
    header_line, _, data = path.read_bytes().partition(b"\n")
    try:
        header = json.loads(header_line)
        if header["format"] != _SAVED_STATE_FORMAT or header["sha256"] != hashlib.sha256(data).hexdigest():
            raise ValueError(f"expected format {_SAVED_STATE_FORMAT} and the digest of the saved state")
        vars(auditor).update(_StateUnpickler(data, auditor, games).load())
    except Exception as error:
        raise JournalDamaged(
            str(path), f"not a verified point; verify from the beginning ({error})"
        ) from error
    if auditor.last_entry_checked != (header["sequence"], header["head"]):
        raise JournalDamaged(str(path), "the saved state does not match its recorded entry")
    return auditor
