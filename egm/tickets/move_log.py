"""The log of moves: the second copy of the ticket ledger, a plain file, written before the database.

A move is one recorded action on a ticket; a row holds one move. Each line of the file is one transaction: a JSON array
of its rows. A line cut short by a power loss has no line end and is ignored, so a transaction is in the file completely
or not at all. Every row ends with a digest of itself and the previous row's digest, computed with a key of the machine:
a row written without that key is invalid.
"""

import hmac
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from egm.tickets.errors import TicketLedgerDamaged, TicketLedgerUnwritable
from meters import JournalUnwritable
from meters.storage import StorageFile

#: Not ``.log``: the journal's segments have that suffix, and may be in the same folder.
MOVE_LOG_FILE_NAME: Final = "tickets.moves"
#: Bytes read from the file's end to find its last line.
_LOG_TAIL_SIZE_BYTES: Final = 1 << 16

#: (number of the move, number of the ticket, index among the ticket's moves, action, state, time, actor, redemption id,
#: details as JSON, digest)
MoveRow = tuple[Any, ...]


class LedgerEnd(NamedTuple):
    """The end of a copy of the ledger: the move number and the digest of its last row."""

    move_number: int
    digest: str


#: The end of an empty copy.
EMPTY_LEDGER_END: Final = LedgerEnd(0, "")


def compute_row_digest(key: bytes, previous_digest: str, row: MoveRow) -> str:
    """Return the HMAC that authenticates the row of a ledger move and chains it to the previous row's digest."""
    return hmac.digest(key, json.dumps([previous_digest, *row], ensure_ascii=False).encode(), "sha256").hex()


def is_next_row(key: bytes, previous_end: LedgerEnd, row: MoveRow) -> bool:
    """Return whether a ledger row has the next move number and a valid digest made with ``key``.

    ``previous_end`` is the number and digest of the preceding move.
    """
    return (
        len(row) == 10
        and row[0] == previous_end.move_number + 1
        and isinstance(row[-1], str)
        and hmac.compare_digest(
            row[-1].encode(), compute_row_digest(key, previous_end.digest, row[:-1]).encode()
        )
    )


def get_row_end(row: MoveRow) -> LedgerEnd:
    """Return the move number and the digest in ``row``, the last row of a copy of the ledger."""
    return LedgerEnd(row[0], row[-1])


class TicketMoveLog:
    """The log file of the ticket ledger's moves; its only writer must hold the write lock of the database."""

    def __init__(self, file: StorageFile, key: bytes) -> None:
        self._file = file
        self._key = key

    def close(self) -> None:
        """Close the log file of the ticket ledger."""
        self._file.close()

    def read_end(self) -> LedgerEnd | None:
        """Return the number and digest of the last move, read from the last line of the log only.

        Return (0, "") for an empty log, and None if the last line is incomplete, malformed or too long: the whole log
        must then be read.
        """
        size = self._file.size()
        if not size:
            return EMPTY_LEDGER_END
        tail = self._file.read_at(max(0, size - _LOG_TAIL_SIZE_BYTES), _LOG_TAIL_SIZE_BYTES)
        lines = tail.split(b"\n")
        if lines[-1] or len(lines) < (2 if size <= _LOG_TAIL_SIZE_BYTES else 3):
            return None
        with suppress(ValueError, TypeError, IndexError, RecursionError):
            return get_row_end(json.loads(lines[-2])[-1])
        return None

    def iter_rows(self) -> Iterator[MoveRow]:
        """Yield the row of every ledger move in order. Raises :class:`TicketLedgerDamaged` at an altered line."""
        last_end = EMPTY_LEDGER_END
        for _, rows in self._iter_lines():
            for row in rows:
                if not is_next_row(self._key, last_end, row):
                    raise TicketLedgerDamaged(
                        f"{MOVE_LOG_FILE_NAME}: move {last_end.move_number + 1} was altered after it was written"
                    )
                last_end = get_row_end(row)
                yield row

    def find_highest_move_number(self) -> int:
        """Return the highest number of a ledger move in the log's readable lines; damaged lines are skipped.

        Return 0 if no line is readable.
        """
        move_numbers = [0]
        for line in self._file.read_at(0, self._file.size()).split(b"\n"):
            with suppress(ValueError, TypeError, IndexError, KeyError, RecursionError):
                move_numbers.append(int(json.loads(line)[-1][0]))
        return max(move_numbers)

    def append(self, rows: Sequence[MoveRow]) -> int:
        """Append the ledger moves of one transaction as one line of the log, durably.

        Return the log's size before the line was added, in bytes; calling :meth:`truncate_to` with it removes the line.
        """
        line = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        try:
            size = self._find_complete_size()
            if size != self._file.size():
                self._file.truncate(size)
            self._file.write_at(size, line)
            self._file.sync()
        except JournalUnwritable as error:
            raise TicketLedgerUnwritable(str(error)) from None
        return size

    def truncate_to(self, size: int) -> None:
        """Cut the ledger's log to ``size`` bytes, to remove the line of a transaction that was not committed.

        If the medium refuses, the line stays, and the next opening of the ledger completes its transaction.
        """
        with suppress(JournalUnwritable):
            self._file.truncate(size)
            self._file.sync()

    def rewrite(self, rows: Sequence[MoveRow]) -> None:
        """Rewrite the whole log from the ledger moves in the database, which must be known to be intact."""
        self.truncate_to(0)
        if rows:
            self.append(rows)

    def _find_complete_size(self) -> int:
        """Return the size in bytes of the log up to the end of its last complete line."""
        size = self._file.size()
        tail = self._file.read_at(max(0, size - 1), 1)
        if tail in {b"", b"\n"}:
            return size
        return max((end for end, _ in self._iter_lines()), default=0)

    def _iter_lines(self) -> Iterator[tuple[int, list[MoveRow]]]:
        """Yield each complete line of the ledger's log: where it ends, in bytes, and its rows."""
        line_end = 0
        *lines, _ = self._file.read_at(0, self._file.size()).split(b"\n")
        for line_number, line in enumerate(lines, 1):
            line_end += len(line) + 1
            try:
                rows = [tuple(row) for row in json.loads(line)]
            except (ValueError, TypeError, RecursionError):
                raise TicketLedgerDamaged(
                    f"{MOVE_LOG_FILE_NAME}: line {line_number} was altered after it was written"
                ) from None
            yield line_end, rows
