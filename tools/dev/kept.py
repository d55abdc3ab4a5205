"""A long calculation that can be resumed: the results of its cases are stored as they arrive.

The file has a line that identifies the calculation, then every result in the order of its case: its length in
four bytes, then numpy arrays one after another, compressed. A truncated result is computed again.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

Arrays = tuple[NDArray[np.generic], ...]
#: A result becomes durable with others, for a disk takes longer than some of them.
DURABLE_EVERY: Final = 32


class OtherCalculationError(Exception):
    """The stored results belong to a different calculation."""


class Kept:
    """The stored results of one calculation at ``path``; ``of`` identifies it.

    Raises :class:`OtherCalculationError`, naming the difference, and OSError.
    """

    def __init__(self, path: Path, of: Mapping[str, str]) -> None:
        self.path, self.found = path, list[Arrays]()
        if path.exists():
            with path.open("rb") as file:
                self._check(file.readline(), dict(of))
                whole = file.tell()
                while (result := _read(file)) is not None:
                    self.found.append(result)
                    whole = file.tell()
            os.truncate(path, whole)
        else:
            path.write_bytes(json.dumps(dict(of)).encode() + b"\n")
        self.file = path.open("ab")
        self.at = 0

    def _check(self, line: bytes, of: dict[str, str]) -> None:
        try:
            kept = json.loads(line)
        except ValueError:
            kept = None
        if not isinstance(kept, dict):
            raise OtherCalculationError(f"{self.path}: does not say what it is of; remove it to begin anew")
        other = sorted(name for name in kept.keys() | of.keys() if kept.get(name) != of.get(name))
        if other:
            what = " and ".join(other)
            raise OtherCalculationError(f"{self.path}: is part of another {what}; remove it to begin anew")

    def map(
        self, each: Callable[..., Iterator[Arrays]], work: Callable[..., Arrays], cases: Iterable[int]
    ) -> Iterator[Arrays]:
        """Yield the result of each case in turn: the kept ones first, then what ``each`` (a map) makes.

        A calculation with several maps asks for them in the same order every time.
        """
        waiting = list(cases)
        known = self.found[self.at : self.at + len(waiting)]
        self.at += len(known)
        yield from known
        for result in each(work, waiting[len(known) :]):
            self._keep(result)
            yield result

    def _keep(self, result: Arrays) -> None:
        buffer = BytesIO()
        for array in result:
            np.save(buffer, array, allow_pickle=False)
        data = zlib.compress(buffer.getvalue(), 1)
        self.file.write(len(data).to_bytes(4) + data)
        self.file.flush()
        self.at += 1
        if self.at % DURABLE_EVERY == 0:
            os.fsync(self.file.fileno())

    def close(self, *, done: bool) -> None:
        """Leave what is kept for the next time, or remove it where all is ``done``."""
        self.file.close()
        if done:
            self.path.unlink()


def _read(file: BinaryIO) -> Arrays | None:
    """Return the next result, or None if there is no complete one."""
    length = int.from_bytes(file.read(4))
    data = file.read(length)
    if not length or len(data) != length:
        return None
    try:
        buffer = BytesIO(zlib.decompress(data))
    except zlib.error:
        return None
    found = []
    while buffer.tell() < buffer.getbuffer().nbytes:
        found.append(np.load(buffer, allow_pickle=False))
    return tuple(found)
