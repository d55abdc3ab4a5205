"""Restoration of the ticket ledger: two persons begin it anew from what can be proved of it.

For a ledger that a machine does not trust: lost, damaged in both copies, with a line that this machine did
not write, reset to an earlier day, sealed with a machine key that is gone, or in the format that had no
seals. Every provable move is carried over under the present key, followed by a record of who restored the
ledger, when and why, which the machine reads and records at its next start. All old files are kept under
other names. A ticket that can no longer be proved from the ledger is proved from the journal (``egm ticket
prove``) and paid by hand.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from egm.errors import OperatorError
from egm.tickets.copies import FILE_NAME, LOCK_NAME
from egm.tickets.model import CAGE, TicketState
from egm.tickets.movelog import FILE_NAME as LOG_NAME
from egm.tickets.movelog import START, Row, end_of, is_next_row
from egm.tickets.record import Action
from egm.tickets.store import TicketStore, encode_head, read_ledger_head
from meters.storage import DiskStorage, MediumError

#: Name of the second copy in old versions, which stored it beside the journal's.
_OLD_LOG_NAME: Final = "tickets.log"
#: States in which a ticket may still be money, and the moves from each to its redemption.
_WAYS_TO_REDEEMED: Final = {
    TicketState.RESERVED: (Action.ISSUE, Action.LOCK, Action.REDEEM),
    TicketState.ISSUED: (Action.LOCK, Action.REDEEM),
    TicketState.EXPIRED: (Action.REVIVE, Action.LOCK, Action.REDEEM),
    TicketState.PENDING: (Action.REDEEM,),
}
_FRESH: Final = "tickets.restoring"
_COLUMNS: Final = "place, number, step, action, state, at, by, redemption_id, story, digest"


def restore(
    folder: Path,
    second: Path,
    key: bytes,
    *,
    persons: Sequence[str],
    why: str,
    at: datetime,
    taken: Callable[[str], str | None],
) -> tuple[int, str]:
    """Start a new ledger from what can be proved of the old one.

    Return the number of moves carried over, and what proves them. ``taken`` returns by which redemption a
    journal of this machine accepted a number, or None: if the old data is older than the journal, such a
    ticket would be money a second time. Raises :class:`OperatorError` without two different persons and a
    reason, or while any program has the ledger open.
    """
    if len({person.strip() for person in persons} - {""}) != 2 or not why.strip():
        raise OperatorError("restoring the ticket ledger requires two persons and a reason")
    descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        rows, vouches = _find_provable_moves(folder, second, key)
        fresh = folder / _FRESH
        shutil.rmtree(fresh, ignore_errors=True)
        with TicketStore.open(fresh, key=key) as store:
            store.restore(rows, by=persons[0], second=persons[1], why=why.strip(), at=at, vouches=vouches)
            _redeem_accepted_tickets(store, taken, by=f"{CAGE}{persons[0]}", at=at)
            store.settle()
            head_value = encode_head(store.end)
        _replace_files(folder, second, fresh)
        head = read_ledger_head(DiskStorage(), folder, second, key)
        head.remove()
        head.write(head_value)
    except BlockingIOError:
        raise OperatorError(f"{folder}: close every program that has the ticket ledger open") from None
    finally:
        os.close(descriptor)
    return len(rows), vouches


def _redeem_accepted_tickets(
    store: TicketStore, taken: Callable[[str], str | None], *, by: str, at: datetime
) -> None:
    """Redeem every ticket that a journal has accepted but the old ledger still considers money."""
    story = {"why": "the journal had taken it in"}
    for record in list(store.records(*_WAYS_TO_REDEEMED)):
        number = record.ticket.number
        redemption_id = taken(number)
        if redemption_id is None:
            continue
        if record.state is TicketState.PENDING:
            redemption_id = record.moves[-1].redemption_id
        elif store.find_by_redemption(redemption_id) is not None:  # locked and released again before
            redemption_id = f"{redemption_id}.restored"
        for action in _WAYS_TO_REDEEMED[record.state]:
            store.move(
                number,
                action,
                at=at,
                by=by,
                redemption_id=None if action is Action.ISSUE else redemption_id,
                story=story,
            )


def _find_provable_moves(folder: Path, second: Path, key: bytes) -> tuple[list[Row], str]:
    """Return the moves to carry over, and what proves them.

    They are the longest part that has valid digests of this key, or else those of earlier versions. Failing
    both, they are all moves if the two copies are identical.
    """
    copies = [
        _read_database_rows(folder / FILE_NAME),
        _read_log_rows(second / LOG_NAME),
        _read_log_rows(folder / _OLD_LOG_NAME),
    ]
    for vouches, proves in (
        ("this machine's seal", lambda last, row: is_next_row(key, last, row)),
        ("unsealed digests, of before there were seals", _is_next_unsealed_row),
    ):
        found = max((_take_proved_prefix(rows, proves) for rows in copies), key=len)
        if found:
            return found, vouches
    complete = [_take_proved_prefix(rows, _is_next_place) for rows in copies[:2]]
    if complete[0] and complete[0] == complete[1]:
        return complete[0], "two copies alike, sealed by a machine key that is gone"
    return [], "nothing"


def _take_proved_prefix(rows: Sequence[Row], proves: Callable[[tuple[int, str], Row], bool]) -> list[Row]:
    last, found = START, []
    for row in rows:
        if not proves(last, row):
            break
        found.append(row)
        last = end_of(row)
    return found


def _is_next_place(last: tuple[int, str], row: Row) -> bool:
    return len(row) == 10 and row[0] == last[0] + 1


def _is_next_unsealed_row(last: tuple[int, str], row: Row) -> bool:
    text = json.dumps([last[1], *row[:-1]], ensure_ascii=False)
    return _is_next_place(last, row) and row[-1] == hashlib.sha256(text.encode()).hexdigest()


def _read_database_rows(path: Path) -> list[Row]:
    """Return the rows that SQLite can still read."""
    rows: list[Row] = []
    if not path.exists():
        return rows
    database = DiskStorage().connect(path, read_only=True)
    with suppress(MediumError):
        found = database.execute(f"SELECT {_COLUMNS} FROM moves ORDER BY place")  # noqa: S608 (no values)
        rows = [tuple(row) for row in found.fetchall()]
    database.close()
    return rows


def _read_log_rows(path: Path) -> list[Row]:
    """Return the rows of the log up to the first unreadable line."""
    rows: list[Row] = []
    with suppress(FileNotFoundError, ValueError, TypeError, RecursionError):
        for line in path.read_bytes().splitlines():
            rows += [tuple(row) for row in json.loads(line)]
    return rows


def _replace_files(folder: Path, second: Path, fresh: Path) -> None:
    """Replace the old files, which are kept, by the new ones; SQLite's side files come first."""
    storage = DiskStorage()
    storage.make_folder(second)
    number = sum(name.startswith(f"{FILE_NAME}.before-") for name in storage.names(folder)) + 1
    old = [(folder, f"{FILE_NAME}{end}") for end in ("-wal", "-shm", "")]
    for place, name in (*old, (second, LOG_NAME), (folder, _OLD_LOG_NAME)):
        if storage.exists(place / name):
            storage.rename(place / name, place / f"{name}.before-{number}")
    shutil.copyfile(fresh / LOG_NAME, second / LOG_NAME)
    (second / LOG_NAME).chmod(0o600)
    storage.rename(fresh / FILE_NAME, folder / FILE_NAME)
    for place in dict.fromkeys((second, folder)):
        storage.sync_folder(place)
    shutil.rmtree(fresh)
