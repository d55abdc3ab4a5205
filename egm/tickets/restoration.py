"""Restoration of the ticket ledger: two people start a new ledger with those moves of the old one that can be proved.

A move is one recorded action on a ticket. Restoration is for a ledger that the machine does not trust:

* It is lost, or both of its copies are damaged.
* It was reset to an earlier day.
* It is authenticated with a machine key that is gone.
* It contains a line that this machine did not write.
* It has the old format, whose digests used no key.

Every move that can be proved is carried over under the present key. A record of who restored the ledger, when and why
follows. The machine reads this record at its next start and records it in the journal. All old files are renamed and
stay on the media. A ticket that the new ledger lacks is proved from the journal (``egm ticket prove``) and paid by
hand.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final

from egm.errors import OperatorError
from egm.tickets.copies import LOCK_FILE_NAME, MOVE_COLUMNS_SQL, TICKET_DATABASE_FILE_NAME
from egm.tickets.model import CAGE_ACTOR_PREFIX, TicketState
from egm.tickets.move_log import (
    EMPTY_LEDGER_END,
    MOVE_LOG_FILE_NAME,
    LedgerEnd,
    MoveRow,
    get_row_end,
    is_next_row,
)
from egm.tickets.record import TicketAction
from egm.tickets.store import TicketStore, encode_head, read_ledger_head
from meters.storage import DiskStorage, MediumError, replace_file

#: Name of the second copy in old versions, which stored it next to the journal's.
_EARLIER_LOG_FILE_NAME: Final = "tickets.log"
#: States in which a ticket may still be money, and the moves from each to its redemption.
_MOVES_TO_REDEEMED_BY_STATE: Final = {
    TicketState.RESERVED: (TicketAction.ISSUE, TicketAction.LOCK, TicketAction.REDEEM),
    TicketState.ISSUED: (TicketAction.LOCK, TicketAction.REDEEM),
    TicketState.EXPIRED: (TicketAction.REVIVE, TicketAction.LOCK, TicketAction.REDEEM),
    TicketState.PENDING: (TicketAction.REDEEM,),
}
#: Name of the folder in which the new ledger is created.
_NEW_LEDGER_FOLDER_NAME: Final = "tickets.restoring"


def restore_ticket_ledger(
    folder: Path,
    second_folder: Path,
    key: bytes,
    *,
    persons: Sequence[str],
    reason: str,
    action_time: datetime,
    find_redemption: Callable[[str], str | None],
) -> tuple[int, str]:
    """Start a new ticket ledger with those moves of the old one that can be proved.

    Return the number of moves carried over, and a text that says what proves them. ``find_redemption(number)`` returns
    the id of the redemption by which this machine took the ticket for good, as its journals record, or None. A ticket
    with such an id is marked as redeemed, because the old ledger may be older than the journal and still show the
    ticket as owed. Raises :class:`OperatorError` if there are not two different persons and a reason, or if any
    program has the ledger open.
    """
    if len({person.strip() for person in persons} - {""}) != 2 or not reason.strip():
        raise OperatorError("restoring the ticket ledger requires two people and a reason")
    descriptor = os.open(
        folder / LOCK_FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
    )
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        rows, proof_text = _find_provable_moves(folder, second_folder, key)
        new_folder = folder / _NEW_LEDGER_FOLDER_NAME
        shutil.rmtree(new_folder, ignore_errors=True)
        with TicketStore.open(new_folder, key=key) as store:
            store.restore(
                rows,
                actor=persons[0],
                second_person=persons[1],
                reason=reason.strip(),
                action_time=action_time,
                proof_text=proof_text,
            )
            _redeem_accepted_tickets(
                store, find_redemption, actor=f"{CAGE_ACTOR_PREFIX}{persons[0]}", action_time=action_time
            )
            store.merge_write_ahead_log()
            head_value = encode_head(store.last_move)
        _replace_files(folder, second_folder, new_folder)
        head = read_ledger_head(DiskStorage(), folder, second_folder, key)
        head.remove()
        head.write(head_value)
    except BlockingIOError:
        raise OperatorError(f"{folder}: close every program that has the ticket ledger open") from None
    finally:
        os.close(descriptor)
    return len(rows), proof_text


def _redeem_accepted_tickets(
    store: TicketStore, find_redemption: Callable[[str], str | None], *, actor: str, action_time: datetime
) -> None:
    """Mark as redeemed every ticket that the machine has taken for good, but that the restored ledger shows as owed.

    ``find_redemption`` is that of :func:`restore_ticket_ledger`.
    """
    details = {"why": "the journal had taken it in"}
    for record in list(store.iter_records(*_MOVES_TO_REDEEMED_BY_STATE)):
        number = record.ticket.number
        redemption_id = find_redemption(number)
        if redemption_id is None:
            continue
        if record.state is TicketState.PENDING:
            redemption_id = record.moves[-1].redemption_id
        elif store.find_by_redemption(redemption_id) is not None:  # used by a lock that was released
            redemption_id = f"{redemption_id}.restored"
        for action in _MOVES_TO_REDEEMED_BY_STATE[record.state]:
            store.record_move(
                number,
                action,
                action_time=action_time,
                actor=actor,
                redemption_id=None if action is TicketAction.ISSUE else redemption_id,
                details=details,
            )


def _find_provable_moves(folder: Path, second_folder: Path, key: bytes) -> tuple[list[MoveRow], str]:
    """Return the moves of the old ticket ledger to carry over, and a text that says what proves them.

    Of each copy, the moves before the first one with an invalid digest are taken; the longest such series is returned.
    The digests must be made with ``key``. If no copy has any, those of earlier versions, which used no key, are
    accepted. If no copy has those either, all moves are returned if the two copies are identical, otherwise none.
    """
    copies = [
        _read_database_rows(folder / TICKET_DATABASE_FILE_NAME),
        _read_log_rows(second_folder / MOVE_LOG_FILE_NAME),
        _read_log_rows(folder / _EARLIER_LOG_FILE_NAME),
    ]
    for proof_text, is_valid_next_row in (
        ("digests with this machine's key", lambda last_end, row: is_next_row(key, last_end, row)),
        ("digests of an earlier version, which used no key", _is_next_keyless_row),
    ):
        proved_rows = max((_take_valid_prefix(rows, is_valid_next_row) for rows in copies), key=len)
        if proved_rows:
            return proved_rows, proof_text
    numbered_database_rows, numbered_log_rows = (
        _take_valid_prefix(rows, _has_next_move_number) for rows in copies[:2]
    )
    if numbered_database_rows and numbered_database_rows == numbered_log_rows:
        return (
            numbered_database_rows,
            "two identical copies, authenticated with a machine key that no longer exists",
        )
    return [], "nothing"


def _take_valid_prefix(
    rows: Sequence[MoveRow], is_valid_next_row: Callable[[LedgerEnd, MoveRow], bool]
) -> list[MoveRow]:
    """Return the rows of ledger moves before the first one that ``is_valid_next_row`` rejects.

    ``is_valid_next_row(last_end, row)`` gets the number and digest of the previous move, and the row to check.
    """
    last_end, proved_rows = EMPTY_LEDGER_END, []
    for row in rows:
        if not is_valid_next_row(last_end, row):
            break
        proved_rows.append(row)
        last_end = get_row_end(row)
    return proved_rows


def _has_next_move_number(last_end: LedgerEnd, row: MoveRow) -> bool:
    """Return whether a ledger row has all its columns, and the number that follows the previous move's number.

    ``last_end`` has the previous move's number. The digest is not checked.
    """
    return len(row) == 10 and row[0] == last_end.move_number + 1


def _is_next_keyless_row(last_end: LedgerEnd, row: MoveRow) -> bool:
    """Return whether a ledger row has the next move number and a valid digest as earlier versions computed it.

    Earlier versions used no key. ``last_end`` is the number and digest of the previous move.
    """
    text = json.dumps([last_end.digest, *row[:-1]], ensure_ascii=False)
    return _has_next_move_number(last_end, row) and row[-1] == hashlib.sha256(text.encode()).hexdigest()


def _read_database_rows(path: Path) -> list[MoveRow]:
    """Return the rows that SQLite can still read from the old ledger's database."""
    rows: list[MoveRow] = []
    if not path.exists():
        return rows
    database = DiskStorage().connect(path, read_only=True)
    with suppress(MediumError):
        cursor = database.execute(f"SELECT {MOVE_COLUMNS_SQL} FROM moves ORDER BY place")  # noqa: S608 (it contains no values from outside)
        rows = [tuple(row) for row in cursor.fetchall()]
    database.close()
    return rows


def _read_log_rows(path: Path) -> list[MoveRow]:
    """Return the rows of the old ledger's log up to the first unreadable line."""
    rows: list[MoveRow] = []
    with suppress(FileNotFoundError, ValueError, TypeError, RecursionError):
        for line in path.read_bytes().splitlines():
            rows += [tuple(row) for row in json.loads(line)]
    return rows


def _replace_files(folder: Path, second_folder: Path, new_folder: Path) -> None:
    """Put the new ledger's files in the place of the old ones; the old files stay under other names.

    At every instant there is a complete copy of the old or the new ledger under its normal file name, so that a
    restoration which a power loss interrupted can be repeated. The new log is put in place first: until the new
    database is in place, the log alone has every move. Then SQLite's write-ahead files are removed, because they would
    be applied to the new database, which is put in place last.
    """
    storage = DiskStorage()
    storage.make_folder(second_folder)
    write_ahead_files = [folder / f"{TICKET_DATABASE_FILE_NAME}{suffix}" for suffix in ("-wal", "-shm")]
    database = folder / TICKET_DATABASE_FILE_NAME
    move_log = second_folder / MOVE_LOG_FILE_NAME
    earlier_move_log = folder / _EARLIER_LOG_FILE_NAME
    old_files = [
        path for path in (*write_ahead_files, database, move_log, earlier_move_log) if storage.exists(path)
    ]
    file_number = next(n for n in count(1) if not any(_name_old_file(path, n).exists() for path in old_files))
    for path in old_files:
        _add_second_name(path, _name_old_file(path, file_number))
    replace_file(storage, move_log, (new_folder / MOVE_LOG_FILE_NAME).read_bytes())
    move_log.chmod(0o600)
    for path in (*write_ahead_files, earlier_move_log):
        storage.remove(path)
    storage.rename(new_folder / TICKET_DATABASE_FILE_NAME, database)
    for changed_folder in dict.fromkeys((second_folder, folder)):
        storage.sync_folder(changed_folder)
    shutil.rmtree(new_folder)


def _name_old_file(path: Path, file_number: int) -> Path:
    """Return the path that an old file of the ledger gets; each restoration uses the next free ``file_number``."""
    return path.with_name(f"{path.name}.before-{file_number}")


def _add_second_name(path: Path, second_path: Path) -> None:
    """Give an old file a second name, so that replacing it does not delete it.

    On a file system without hard links it is renamed instead.
    """
    try:
        os.link(path, second_path)
    except OSError:
        path.rename(second_path)
