"""Lookup of definition files (games, profiles): an id names a library file, a path names an operator's own file.

The two cannot be confused. An id has no separator and no ``.toml``, and is looked up only in the library: a
file in the working directory can never replace what was certified. A path ends in ``.toml`` and has a
separator, unless it is a :class:`~pathlib.Path` already.

A file is read once, with links resolved, so the parsed bytes are the digested bytes.
"""

import errno
import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from paytables.errors import DefinitionError, UnknownNameError
from paytables.wording import format_known_names

#: The form of an id. It starts with a letter or digit, so that it cannot leave its folder or name a hidden file.
IDENTIFIER_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9+._-]{0,63}$"
_IDENTIFIER_REGEX: Final = re.compile(IDENTIFIER_PATTERN[1:-1])
_DEFINITION_SUFFIX: Final = ".toml"

#: Maximum size in bytes of a file that people write.
DEFINITION_BYTES_MAX: Final = 4 << 20
#: Maximum nesting depth of tables and lists in a TOML file.
NESTING_DEPTH_MAX: Final = 20
#: TOML integers are from minus this number to this number minus 1 (64 bits).
_INTEGER_LIMIT: Final = 1 << 63


def open_regular_file(path: Path) -> BinaryIO:
    """Open a named file for reading. Raises :class:`OSError` if it is not a regular file.

    Reading a pipe would block, and a device may have no end.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    return path.open("rb")


def read_contents(path: Path, bytes_max: int = DEFINITION_BYTES_MAX) -> bytes:
    """Return the contents of a named file. Raises :class:`OSError` if it is larger than ``bytes_max``."""
    with open_regular_file(path) as file:
        data = file.read(bytes_max + 1)
    if len(data) > bytes_max:
        raise OSError(errno.EFBIG, f"is too large: at most {bytes_max:,} bytes are read", str(path))
    return data


def parse_toml(text: str) -> dict[str, Any]:
    """Return the data of a hand-written TOML text.

    Raises :class:`tomllib.TOMLDecodeError` also if it starts with a byte order mark, is nested deeper than
    :data:`NESTING_DEPTH_MAX`, or an integer exceeds 64 bits. The error names the key of such an integer, or its line if
    the integer has thousands of digits.
    """
    if text.startswith("\ufeff"):
        raise tomllib.TOMLDecodeError(f"{_BYTE_ORDER_MARK_REASON} (at line 1, column 1)")
    try:
        # The parser's time grows with the square of the number of parts of a key.
        if _LONG_DOTTED_KEY_PATTERN.search(text):
            raise RecursionError  # handled below like that of a parser that meets too deep nesting
        data = tomllib.loads(text)
        reason = _find_size_error(data)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        reason = _NESTING_REASON
    except ValueError:  # an integer with more digits than the interpreter accepts
        line = next(
            (n for n, line_text in enumerate(text.splitlines(), 1) if _LONG_NUMBER_PATTERN.search(line_text)),
            0,
        )
        reason = f"line {line}: {_LONG_NUMBER_REASON}"
    if reason:
        raise tomllib.TOMLDecodeError(reason)
    return data


def describe_toml_error(error: tomllib.TOMLDecodeError | UnicodeDecodeError) -> str:
    """Return why a file cannot be read as TOML, for an error message."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start + 1}"
    return f"not TOML: {error}"


_BYTE_ORDER_MARK_REASON: Final = (
    "it starts with a byte order mark (BOM), which must be left out when it is saved as UTF-8,"
)
_NESTING_REASON: Final = f"tables and lists are nested more than {NESTING_DEPTH_MAX} deep"
_LONG_NUMBER_REASON: Final = "a whole number has more than 64 bits"
#: A dotted key with far more parts than allowed, or text that looks like one. Possessive quantifiers avoid
#: backtracking.
_LONG_DOTTED_KEY_PATTERN: Final = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"""
    f"{{{4 * NESTING_DEPTH_MAX}}}"
)
_LONG_NUMBER_PATTERN: Final = re.compile(r"[\d_]{4000}")


def _find_size_error(data: object) -> str:
    """Return why a parsed TOML document exceeds the limits of hand-written files, or an empty string."""
    layer: list[tuple[str, object]] = [("", data)]
    for _ in range(NESTING_DEPTH_MAX + 1):
        layer = [inner for key, value in layer for inner in _list_children(key, value)]
        for key, value in layer:
            if isinstance(value, int) and not -_INTEGER_LIMIT <= value < _INTEGER_LIMIT:
                return f"{key[:100]}: {_LONG_NUMBER_REASON}"
        if not layer:
            return ""
    return _NESTING_REASON


def _list_children(key: str, value: object) -> list[tuple[str, object]]:
    """Return the members of a TOML table or list, each with its key."""
    if not isinstance(value, Mapping | list):
        return []
    inner = value.items() if isinstance(value, Mapping) else enumerate(value)
    return [(f"{key}.{name}" if key else str(name), child) for name, child in inner]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A definition file, or an asset file beside it, as it was read."""

    path: Path
    """Absolute path of the file, with symbolic links resolved."""
    data: bytes = field(repr=False)
    """The bytes of the file."""

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the file's bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


def is_path(id_or_path: str | Path) -> bool:
    """Return whether a name in a definition or cabinet file is a path and not an id."""
    return isinstance(id_or_path, Path) or (id_or_path.endswith(_DEFINITION_SUFFIX) and "/" in id_or_path)


def _is_file(path_text: str) -> bool:
    """Return whether a file of this name exists."""
    try:
        return Path(path_text).is_file()
    except OSError:  # longer than any file name
        return False


def locate_definition(id_or_path: str | Path, library_folder: Path) -> Path:
    """Return the path, with links resolved, for an id (a file of ``library_folder``, which must exist) or a path.

    The file of a path need not exist. Raises :class:`DefinitionError` if ``id_or_path`` is neither.
    """
    if is_path(id_or_path):
        path = Path(id_or_path)
        if path.suffix != _DEFINITION_SUFFIX:
            raise DefinitionError(
                str(id_or_path), "", f"the name of a definition file must end in {_DEFINITION_SUFFIX}"
            )
        return path.resolve()
    written_name = str(id_or_path)
    if written_name.endswith(_DEFINITION_SUFFIX):
        raise DefinitionError(written_name, "", f"a file is named by a path: write ./{written_name}")
    if _IDENTIFIER_REGEX.fullmatch(written_name):
        for path in (
            library_folder / f"{written_name}{_DEFINITION_SUFFIX}",
            *library_folder.glob(f"*/{written_name}{_DEFINITION_SUFFIX}"),
        ):
            if path.is_file():
                return path.resolve()
    if "/" in written_name or _is_file(written_name):
        raise DefinitionError(
            written_name, "", f"the name of a definition file must end in {_DEFINITION_SUFFIX}"
        )
    if not written_name:
        raise DefinitionError("''", "", "the name is empty")
    known_names = sorted(path.stem for path in library_folder.rglob(f"*{_DEFINITION_SUFFIX}"))
    raise UnknownNameError(
        written_name, "", f"not in the library; {format_known_names(written_name, known_names)}"
    )


def read_source_file(id_or_path: str | Path, library_folder: Path) -> SourceFile:
    """Return a definition file by id or path, read once.

    Raises :class:`DefinitionError` if there is no such file, or it cannot be read.
    """
    path = locate_definition(id_or_path, library_folder)
    try:
        return SourceFile(path, read_contents(path))
    except OSError as error:
        raise DefinitionError(str(path), "", error.strerror or str(error)) from None
