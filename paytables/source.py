"""Where a definition comes from: an id names a file of a library, a path names a file of one's own.

The two cannot be taken for each other. An id has no separator and no ``.toml``, and is looked up in the
library and nowhere else: no file of the working directory stands in for what was certified. A path ends in
``.toml`` and has a separator, unless it is a :class:`~pathlib.Path` already.

A file is read once, links resolved: what is parsed is what is digested.
"""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from paytables.errors import DefinitionError

#: Letters and digits first: an id can neither climb out of a folder nor be hidden in it.
ID_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9+._-]{0,63}$"
_ID: Final = re.compile(ID_PATTERN[1:-1])
_SUFFIX: Final = ".toml"


@dataclass(frozen=True, slots=True)
class Source:
    """A definition file as it was read."""

    path: Path
    """Absolute, links resolved."""
    data: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


def is_path(name: str | Path) -> bool:
    """Whether a name, as definitions and cabinet files write it, is a path and no id."""
    return isinstance(name, Path) or (name.endswith(_SUFFIX) and "/" in name)


def locate(name: str | Path, library: Path) -> Path:
    """Return the file of an id of ``library``, or of a path, links resolved; it need not be there for a path.

    Raises :class:`DefinitionError` for a name that is neither.
    """
    if is_path(name):
        path = Path(name)
        if path.suffix != _SUFFIX:
            raise DefinitionError(str(name), "file", f"the name of a definition ends in {_SUFFIX}")
        return path.resolve()
    written = str(name)
    if written.endswith(_SUFFIX):
        raise DefinitionError(written, "file", f"a file is named by a path: write ./{written}")
    shipped = library / f"{written}{_SUFFIX}"
    if not _ID.fullmatch(written) or not shipped.is_file():
        known = ", ".join(sorted(path.stem for path in library.glob(f"*{_SUFFIX}")))
        raise DefinitionError(written, "id", f"not in the library; there are: {known}")
    return shipped.resolve()


def read(name: str | Path, library: Path) -> Source:
    """Read a definition by id or path, once. Raises :class:`DefinitionError`."""
    path = locate(name, library)
    try:
        if path.exists() and not path.is_file():
            raise DefinitionError(str(path), "file", "is no regular file")
        return Source(path, path.read_bytes())
    except OSError as error:
        raise DefinitionError(str(path), "file", error.strerror or str(error)) from None
