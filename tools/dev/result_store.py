"""Store the results of a long calculation as they arrive, so that it can be resumed.

The file begins with a line that identifies the calculation. The results follow in the order of their cases. Each result
is a length of four bytes and then its numpy arrays, compressed. A truncated result is computed again.
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
#: Number of results per sync, because a sync takes longer than some results.
RESULTS_PER_SYNC: Final = 32


class OtherCalculationError(Exception):
    """Raised if the stored results belong to a different calculation."""


class ResultStore:
    """The stored results of one calculation in the file ``path``.

    ``identity`` is text that identifies the calculation. Raises :class:`OtherCalculationError`, naming the difference,
    and OSError.
    """

    def __init__(self, path: Path, identity: Mapping[str, str]) -> None:
        self.path, self.stored_results = path, list[Arrays]()
        if path.exists():
            with path.open("rb") as file:
                self._check_identity(file.readline(), dict(identity))
                complete_bytes = file.tell()
                while (result := _read_result(file)) is not None:
                    self.stored_results.append(result)
                    complete_bytes = file.tell()
            os.truncate(path, complete_bytes)
        else:
            path.write_bytes(json.dumps(dict(identity)).encode() + b"\n")
        self.file = path.open("ab")
        self.next_index = 0

    def _check_identity(self, line: bytes, identity: dict[str, str]) -> None:
        try:
            stored_identity = json.loads(line)
        except ValueError:
            stored_identity = None
        if not isinstance(stored_identity, dict):
            raise OtherCalculationError(
                f"{self.path}: does not identify its calculation; remove the file to start again"
            )
        differing_names = sorted(
            name
            for name in stored_identity.keys() | identity.keys()
            if stored_identity.get(name) != identity.get(name)
        )
        if differing_names:
            names_text = " and ".join(differing_names)
            raise OtherCalculationError(
                f"{self.path}: belongs to a different {names_text}; remove the file to start again"
            )

    def map(
        self, map_function: Callable[..., Iterator[Arrays]], work: Callable[..., Arrays], cases: Iterable[int]
    ) -> Iterator[Arrays]:
        """Yield the result of each case, stored results first; ``map_function`` computes the others with ``work``.

        A calculation that calls this several times must always do so in the same order.
        """
        pending_cases = list(cases)
        stored_results = self.stored_results[self.next_index : self.next_index + len(pending_cases)]
        self.next_index += len(stored_results)
        yield from stored_results
        for result in map_function(work, pending_cases[len(stored_results) :]):
            self._store_result(result)
            yield result

    def _store_result(self, result: Arrays) -> None:
        buffer = BytesIO()
        for array in result:
            np.save(buffer, array, allow_pickle=False)
        data = zlib.compress(buffer.getvalue(), 1)
        self.file.write(len(data).to_bytes(4) + data)
        self.file.flush()
        self.next_index += 1
        if self.next_index % RESULTS_PER_SYNC == 0:
            os.fsync(self.file.fileno())

    def close(self, *, done: bool) -> None:
        """Close the file; also remove it if the calculation is ``done``."""
        self.file.close()
        if done:
            self.path.unlink()


def _read_result(file: BinaryIO) -> Arrays | None:
    """Return the next result, or None if there is no complete one."""
    length = int.from_bytes(file.read(4))
    data = file.read(length)
    if not length or len(data) != length:
        return None
    try:
        buffer = BytesIO(zlib.decompress(data))
    except zlib.error:
        return None
    arrays = []
    while buffer.tell() < buffer.getbuffer().nbytes:
        arrays.append(np.load(buffer, allow_pickle=False))
    return tuple(arrays)
