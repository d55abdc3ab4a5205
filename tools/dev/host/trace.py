"""A recording of a line: JSON lines, one for each portion of bytes, with its time and direction.

The first line says what the file is; every other holds ``us`` (microseconds since the recording began),
``from`` (``host`` or ``machine``) and ``bytes`` in hexadecimal. ``wake`` is true where the first byte carried
the wakeup bit, which begins a message.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final, TextIO

from egm.errors import OperatorError
from paytables.source import open_regular_file

_VERSION: Final = 1
_KIND: Final = "sas-line"
#: Characters of a line that are read: no bytes that pass together come near it, and a file need not end.
_LINE_MOST: Final = 1 << 20


class TraceError(OperatorError):
    """A recording that cannot be read: file, line and reason."""


class Side(StrEnum):
    """Sender of the bytes."""

    HOST = "host"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class Portion:
    """Bytes that were sent or arrived together, at ``us`` microseconds since the beginning."""

    us: int
    side: Side
    data: bytes
    wake: bool = False


class Recorder:
    """Writes portions to a text file as they pass."""

    def __init__(self, file: TextIO, now_ns: Callable[[], int], *, started: str = "") -> None:
        """``now_ns``: a monotonic clock; ``started``: the time of day, for people."""
        self._file = file
        self._now_ns = now_ns
        self._zero_ns = now_ns()
        self._write({"recording": _KIND, "version": _VERSION, "started": started})

    def record(self, side: Side, data: bytes, *, wake: bool = False) -> None:
        """Add one portion, timed now."""
        line: dict[str, Any] = {
            "us": (self._now_ns() - self._zero_ns) // 1000,
            "from": str(side),
            "bytes": data.hex(" "),
        }
        if wake:
            line["wake"] = True
        self._write(line)

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def read_trace(path: Path) -> Iterator[Portion]:
    """Read a recording. Raises :class:`TraceError` naming the line that is not one of a recording."""
    try:
        with open_regular_file(path) as file, io.TextIOWrapper(file, "utf-8") as text:
            yield from parse_trace(iter(partial(text.readline, _LINE_MOST + 1), ""), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise TraceError(f"{path}: cannot be read: {error}") from error


def parse_trace(lines: Iterable[str], name: str) -> Iterator[Portion]:
    """Read the lines of the recording called ``name``. Raises :class:`TraceError`."""
    last_us = 0
    empty = True
    for number, text in enumerate(lines, 1):
        where = f"{name}, line {number}"
        if len(text) > _LINE_MOST:
            raise TraceError(f"{where}: longer than any message: {_LINE_MOST:,} characters are read")
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise TraceError(f"{where}: not JSON: {error}") from None
        if not isinstance(line, dict):
            raise TraceError(f"{where}: not an object")
        if empty:
            if line.get("recording") != _KIND or line.get("version") != _VERSION:
                raise TraceError(f"{where}: not a recording of a SAS line, version {_VERSION}")
            empty = False
            continue
        portion = _portion(line, where)
        if portion.us < last_us:
            raise TraceError(f"{where}: time goes back, from {last_us} us to {portion.us} us")
        last_us = portion.us
        yield portion
    if empty:
        raise TraceError(f"{name}: empty")


def _portion(line: dict[str, Any], where: str) -> Portion:
    us, side, data = line.get("us"), line.get("from"), line.get("bytes")
    if not isinstance(us, int) or isinstance(us, bool) or us < 0:
        raise TraceError(f"{where}: us must be a whole number of microseconds, not {us!r}")
    if side not in set(Side):
        raise TraceError(f"{where}: from must be host or machine, not {side!r}")
    try:
        octets = bytes.fromhex(data if isinstance(data, str) else "?")
    except ValueError:
        raise TraceError(f"{where}: bytes must be hexadecimal, not {data!r}") from None
    if not octets:
        raise TraceError(f"{where}: no bytes")
    return Portion(us, Side(side), octets, bool(line.get("wake", False)))
