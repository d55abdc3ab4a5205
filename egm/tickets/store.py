"""The ticket ledger: every ticket that a machine or bank of machines has issued, and everything done with it.

A stand-alone machine has no host that knows which tickets are owed; it uses this ledger. A method that changes
something **returns only when the change is durable** in both copies (:mod:`egm.tickets.copies`); a power loss leaves
the whole change or none of it. Several processes of one computer may share a ledger.

A ticket is a number and its *moves*, the actions recorded on it, in order. Triggers in the database refuse to change or
delete a move. A ticket is in the state of its last move. (number, step) is unique: if two machines try to redeem the
same ticket at once, the database refuses the second. Every move contains a digest that chains it to the previous move,
under a key derived from the machine's. Each read of a ticket checks it, so a move written by anybody else is rejected
even if it is in both copies. Totals are sums in the database: they rely on the verification when the ledger is opened.
The machine's journal stores the ledger's last move (:mod:`egm.money.ticket_ledger`), so the machine
detects a ledger that was reset to an earlier day.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from egm.tickets.copies import (
    FIRST_TICKET_MOVE_STEP,
    LEDGER_MOVE_NAME_PREFIX,
    TICKET_DATABASE_FILE_NAME,
    TicketLedgerCopies,
)
from egm.tickets.errors import TicketLedgerAbsent, TicketLedgerUnwritable, TicketOrderError
from egm.tickets.model import HOST_ISSUER, Ticket, TicketKind, TicketState, mask_number
from egm.tickets.move_log import (
    EMPTY_LEDGER_END,
    MOVE_LOG_FILE_NAME,
    LedgerEnd,
    MoveRow,
    compute_row_digest,
)
from egm.tickets.record import (
    TICKET_TRANSITIONS,
    TicketAction,
    TicketMove,
    TicketNumberingEnrolment,
    TicketRecord,
    TicketTotal,
)
from meters import JournalDamaged, JournalUnwritable
from meters.mirror import MirroredValue
from meters.storage import DiskStorage, Storage
from meters.transaction import JSON

#: Validation sequences are 24-bit and wrap around.
_TICKET_SEQUENCE_MODULUS: Final = 1 << 24


#: Name of the file of the ledger's head, on both media (:func:`read_ledger_head`).
LEDGER_HEAD_FILE_NAME: Final = "tickets.head"
#: Purpose of the key, derived from the machine key, that authenticates the moves and the ledger's head
#: (:meth:`meters.machine_key.MachineKey.derive_key`).
LEDGER_HEAD_MAC_PURPOSE: Final = b"ticket ledger"


def read_ledger_head(storage: Storage, folder: Path, second_folder: Path, key: bytes) -> MirroredValue:
    """Return the file of the ticket ledger's head, mirrored on both media and authenticated with ``key``.

    The head has the ledger's last move and the journal's last entry. The machine writes both after each payment and
    comparison; the cage writes the last move after each of its actions.
    """
    return MirroredValue(storage, (folder, second_folder), LEDGER_HEAD_FILE_NAME, key=key)


class LastSeenJournalEntry(NamedTuple):
    """The journal's last durable entry when the machine last stored the ticket ledger's head."""

    journal_tag: str
    """The journal's tag: eight hexadecimal digits from the hash of its first entry, which identify the journal."""
    sequence: int
    hash_hex: str


def encode_head(last_move: LedgerEnd, journal_entry: LastSeenJournalEntry | None = None) -> bytes:
    """Encode a ticket ledger's head as JSON: the number and digest of the last move, and the journal entry."""
    return json.dumps([*last_move, *(journal_entry or ())]).encode()


class TicketStore:
    """The open ticket ledger. Not thread-safe, but several processes may have it open."""

    def __init__(
        self, copies: TicketLedgerCopies, key: bytes, head: MirroredValue, *, read_only: bool
    ) -> None:
        self._copies = copies
        self._key = key
        self._head = head
        self._read_only = read_only
        self._run_sql = copies.run_sql

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        key: bytes,
        second_folder: Path | None = None,
        storage: Storage | None = None,
        create_missing: bool = True,
        verify: bool = True,
        read_only: bool = False,
    ) -> Self:
        """Open the ticket ledger in ``folder``, and create it if it is missing and ``create_missing`` is True.

        If the head of a ledger is stored without a ledger, the ledger was lost, and no new one is created.

        ``key`` is the machine key derived for :data:`LEDGER_HEAD_MAC_PURPOSE`; it authenticates every move.
        ``second_folder`` is the folder of the second copy, by default ``folder``. If ``verify`` is True, every move
        in both copies is verified; a program that runs next to the machine need not do so, because the machine has
        verified them. If ``read_only`` is True, nothing is created or repaired.

        Raises :class:`TicketLedgerAbsent` if the ledger is missing and may not be created;
        :class:`TicketLedgerUnwritable` if the medium refuses a write; :class:`TicketLedgerDamaged` if neither copy is
        intact, or the format is unknown.
        """
        storage, second_folder = storage or DiskStorage(), second_folder or folder
        head = read_ledger_head(storage, folder, second_folder, key)
        create_missing = create_missing and not any(
            storage.exists(head_folder / LEDGER_HEAD_FILE_NAME) for head_folder in (folder, second_folder)
        )
        has_ledger = storage.exists(folder / TICKET_DATABASE_FILE_NAME) or (
            storage.exists(second_folder / MOVE_LOG_FILE_NAME) and not read_only
        )
        if not has_ledger and (read_only or not create_missing):
            raise TicketLedgerAbsent(f"{folder}: no ticket ledger here ({TICKET_DATABASE_FILE_NAME})")
        copies = TicketLedgerCopies(folder, second_folder, storage, key, verify=verify, read_only=read_only)
        store = cls(copies, key, head, read_only=read_only)
        try:
            store._write_first_head()
        except BaseException as error:
            store.close()
            if isinstance(error, JournalUnwritable):
                raise TicketLedgerUnwritable(str(error)) from None
            raise
        return store

    def _write_first_head(self) -> None:
        """Write the first head of a ticket ledger that has no moves yet.

        The head records the ledger's last move. For a ledger with moves nothing is written: if its head is missing,
        :meth:`find_replaced_ledger_error` reports it.
        """
        if self._read_only or self.last_move != EMPTY_LEDGER_END:
            return
        with (
            self.transaction(),
            contextlib.suppress(JournalDamaged),  # reported by :meth:`find_replaced_ledger_error`
        ):
            if self.last_move == EMPTY_LEDGER_END and self._head.read() is None:
                self._head.write(encode_head(EMPTY_LEDGER_END))

    @property
    def repair_text(self) -> str:
        """Return a text for the log that says which copy was rebuilt from the other when the ledger was opened.

        Return "" if none was.
        """
        return self._copies.repair_text

    def close(self) -> None:
        """Close both copies of the ticket ledger."""
        self._copies.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_class: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def last_move(self) -> LedgerEnd:
        """Return the number and digest of the ticket ledger's last move; (0, "") for an empty ledger."""
        return self._copies.find_database_end()

    def read_move_digest(self, move_number: int) -> str | None:
        """Return the digest of the ticket ledger's move with this number; None if the ledger ends before it."""
        return self._copies.read_move_digest(move_number)

    def store_head(self, journal_entry: LastSeenJournalEntry | None = None) -> None:
        """Write the number and digest of the ledger's last move to both media, in the ledger's head.

        A ledger that is later replaced by an older copy lacks this move, and is detected. ``journal_entry`` is the
        journal's last entry; if it is omitted (by the cage), the entry stored before stays. Raises JournalUnwritable if
        no medium accepts the head.
        """
        with self.transaction(), contextlib.suppress(JournalDamaged):  # a damaged head stays
            self._head.write(
                encode_head(self.last_move, journal_entry or self.read_last_seen_journal_entry())
            )

    def read_last_seen_journal_entry(self) -> LastSeenJournalEntry | None:
        """Return the journal entry stored in the ticket ledger's head; None if no entry was stored.

        Raises JournalDamaged if the head cannot be read.
        """
        head = self._head.read(repair=not self._read_only)
        _, _, *entry_fields = EMPTY_LEDGER_END if head is None else json.loads(head)
        return LastSeenJournalEntry(*entry_fields) if entry_fields else None

    def find_replaced_ledger_error(self) -> str:
        """Return an error text if the ticket ledger is not the one that its stored head describes, or "" if it is.

        The head has the number and the digest of the last move when machine or cage stored it (:meth:`store_head`). The
        ledger lacks that move if it was replaced by an older copy or by another machine's ledger. A missing or
        unreadable head is an error too.
        """
        try:
            head = self._head.read(repair=not self._read_only)
        except JournalDamaged as error:
            return f"the head of the ticket ledger, with its last move, cannot be read: {error}"
        if head is None and self.last_move != EMPTY_LEDGER_END:  # removed, or written before heads existed
            return (
                "the head of the ticket ledger, with its last move, "
                f"is missing on both media ({LEDGER_HEAD_FILE_NAME})"
            )
        move_number, digest, *_ = EMPTY_LEDGER_END if head is None else json.loads(head)
        if self.read_move_digest(move_number) == digest:
            return ""
        return (
            f"the ticket ledger ends at move {self.last_move.move_number}, but is not the one with the stored last move"
            f" {move_number}: it was replaced by an older ledger or by that of another machine"
        )

    def transaction(self) -> AbstractContextManager[None]:
        """Combine several changes of the ticket ledger into one: at the end all of them are durable, or none."""
        return self._copies.transaction()

    def verify_moves(self) -> int:
        """Verify every move in both copies of the ticket ledger; return the number of moves.

        Unless the ledger is read-only, a log that is damaged or lacks moves is repaired from the database, and a
        database that lacks moves is completed from the log. Raises :class:`TicketLedgerDamaged` for any other damage.
        """
        return self._copies.verify_moves()

    # ------------------------------------------------------------------ changes
    def reserve_ticket(self, issue_id: str, ticket: Ticket, *, actor: str) -> TicketRecord:
        """Reserve the number of a new ticket; return the ticket's record.

        Raises :class:`TicketOrderError` if the id or the number is already used.
        """
        with self.transaction():
            if self.find_by_issue(issue_id) is not None or self.find_ticket(ticket.number) is not None:
                raise TicketOrderError(
                    f"ticket {ticket.masked_number} ({issue_id}) cannot be reserved,"
                    " because its number or id is already used"
                )
            details = {"issue_id": issue_id, "ticket": json.loads(ticket.to_json())}
            self._append_move(
                ticket.number,
                FIRST_TICKET_MOVE_STEP,
                TicketAction.RESERVE,
                ticket.issued_at,
                actor,
                None,
                details,
            )
            return self.require_ticket(ticket.number)

    def record_move(
        self,
        ticket_number: str,
        action: TicketAction,
        *,
        action_time: datetime,
        actor: str,
        redemption_id: str | None = None,
        details: Mapping[str, JSON] | None = None,
    ) -> TicketRecord:
        """Append an action to a ticket's moves (the actions recorded on it); return the ticket's record.

        Raises :class:`TicketOrderError`, changing nothing, if the ticket's state does not allow the action.
        """
        with self.transaction():
            record = self.require_ticket(ticket_number)
            allowed_states = TICKET_TRANSITIONS[action].allowed_states
            if record.state not in allowed_states:
                raise TicketOrderError(
                    f"ticket {mask_number(ticket_number)}: {action} is not possible while the ticket is {record.state}"
                )
            self._append_move(
                ticket_number,
                record.moves[-1].step + 1,
                action,
                action_time,
                actor,
                redemption_id,
                details or {},
            )
            return self.require_ticket(ticket_number)

    def restore(
        self,
        rows: Sequence[MoveRow],
        *,
        actor: str,
        second_person: str,
        reason: str,
        action_time: datetime,
        proof_text: str,
    ) -> None:
        """Copy the moves of an old ticket ledger into this one, under the present key, and record the restoration.

        The record has the two persons ``actor`` and ``second_person``, the ``reason``, and ``proof_text``: what
        proves the old moves.
        """
        with self.transaction():
            for row in rows:
                last_move_number, last_digest = self._copies.find_database_end()
                row_without_digest = (last_move_number + 1, *row[1:-1])
                self._copies.insert_move(
                    (*row_without_digest, compute_row_digest(self._key, last_digest, row_without_digest))
                )
            last_move_number, last_digest = self._copies.find_database_end()
            details = {"second": second_person, "why": reason, "moves": len(rows), "vouches": proof_text}
            details_json = json.dumps(details, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
            state = TICKET_TRANSITIONS[TicketAction.RESTORE_LEDGER].resulting_state.value
            ledger_move_name = f"{LEDGER_MOVE_NAME_PREFIX}{last_move_number + 1}"
            row = (
                last_move_number + 1,
                ledger_move_name,
                0,
                TicketAction.RESTORE_LEDGER.value,
                state,
                action_time.isoformat(),
                actor,
                None,
                details_json,
            )
            self._copies.insert_move((*row, compute_row_digest(self._key, last_digest, row)))

    def merge_write_ahead_log(self) -> None:
        """Move the content of SQLite's write-ahead log into the ledger's main file, before that file is renamed."""
        self._run_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._run_sql("PRAGMA journal_mode=DELETE").fetchall()

    def store_enrolment(self, machine_serial: str, enrolment: TicketNumberingEnrolment) -> None:
        """Store the enrolment of a machine: the host's validation identifier and sequence.

        The machine's next ticket uses the sequence number that follows the stored one.
        """
        with self.transaction():
            self._run_sql(
                "INSERT INTO enrolment VALUES (?, ?, ?) ON CONFLICT (machine_serial) DO UPDATE"
                " SET validation_id = excluded.validation_id, sequence = excluded.sequence",
                machine_serial,
                enrolment.validation_id,
                enrolment.sequence,
            )

    def advance_enrolment(self, machine_serial: str) -> TicketNumberingEnrolment | None:
        """Increment the sequence in a machine's enrolment, and return the enrolment, or None."""
        with self.transaction():
            self._run_sql(
                "UPDATE enrolment SET sequence = (sequence + 1) % ? WHERE machine_serial = ?",
                _TICKET_SEQUENCE_MODULUS,
                machine_serial,
            )
            return self.find_enrolment(machine_serial)

    def mark_read_by_host(self, ticket_number: str, read_at: datetime) -> None:
        """Record that the host knows a printed ticket; repeats change nothing."""
        with self.transaction():
            self.require_ticket(ticket_number)
            self._run_sql(
                "INSERT INTO reported VALUES (?, ?) ON CONFLICT DO NOTHING",
                ticket_number,
                read_at.isoformat(),
            )

    # ------------------------------------------------------------------ queries
    def find_ticket(self, ticket_number: str) -> TicketRecord | None:
        """Return the record of the ticket with this number, or None."""
        row = self._run_sql("SELECT issue_id FROM tickets WHERE number = ?", ticket_number).fetchone()
        return None if row is None else self._read_record(ticket_number, row[0])

    def require_ticket(self, ticket_number: str) -> TicketRecord:
        """Return the ticket with this number. Raises :class:`TicketOrderError` if none exists."""
        record = self.find_ticket(ticket_number)
        if record is None:
            raise TicketOrderError(f"ticket {mask_number(ticket_number)} is not in the ledger")
        return record

    def find_by_issue(self, issue_id: str) -> TicketRecord | None:
        """Return the record of the ticket that was reserved under this issue id, or None."""
        row = self._run_sql("SELECT number FROM tickets WHERE issue_id = ?", issue_id).fetchone()
        return None if row is None else self._read_record(row[0], issue_id)

    def find_by_redemption(self, redemption_id: str) -> TicketRecord | None:
        """Return the record of the ticket that was locked under this redemption id, or None."""
        row = self._run_sql(
            "SELECT number FROM moves WHERE redemption_id = ? AND action = 'lock'", redemption_id
        ).fetchone()
        return None if row is None else self.require_ticket(row[0])

    def find_next_sequence(self, machine_serial: str) -> int:
        """Return the sequence number of the machine's next ticket."""
        row = self._run_sql(
            "SELECT max(sequence) FROM tickets WHERE machine_serial = ?", machine_serial
        ).fetchone()
        return int(row[0] or 0) + 1

    def find_enrolment(self, machine_serial: str) -> TicketNumberingEnrolment | None:
        """Return the machine's validation identifier and the sequence last used, or None."""
        row = self._run_sql(
            "SELECT validation_id, sequence FROM enrolment WHERE machine_serial = ?", machine_serial
        ).fetchone()
        return None if row is None else TicketNumberingEnrolment(*row)

    def iter_records(self, *states: TicketState, machine_serial: str | None = None) -> Iterator[TicketRecord]:
        """Yield ticket records, newest first: those in the given states and issued by the given machine.

        Without ``states``, tickets in all states are included; without ``machine_serial``, those of all machines.
        """
        selected_states = states or tuple(TicketState)
        rows = self._run_sql(
            f"""SELECT t.number, t.issue_id FROM tickets t JOIN moves m USING (number)
                WHERE m.step = (SELECT max(step) FROM moves WHERE number = t.number)
                  AND m.state IN ({", ".join("?" * len(selected_states))})
                  AND t.machine_serial = coalesce(?, t.machine_serial)
                ORDER BY (SELECT place FROM moves WHERE number = t.number AND step = 1) DESC""",  # noqa: S608 (it inserts only question marks)
            *(state.value for state in selected_states),
            machine_serial,
        ).fetchall()
        return (self._read_record(number, issue_id) for number, issue_id in rows)

    def list_unread(self, machine_serial: str) -> list[TicketRecord]:
        """Return the records of a machine's tickets that the host has not acknowledged, oldest first.

        Tickets whose printing failed are left out.
        """
        rows = self._run_sql(
            """SELECT t.number, t.issue_id FROM tickets t LEFT JOIN reported r USING (number)
               WHERE r.number IS NULL AND t.machine_serial = ?
                 AND NOT EXISTS (SELECT 1 FROM moves WHERE number = t.number AND action = 'fail')
               ORDER BY t.sequence""",
            machine_serial,
        ).fetchall()
        return [self._read_record(number, issue_id) for number, issue_id in rows]

    def list_totals(self) -> list[TicketTotal]:
        """Return the number and value of all tickets, one total for each state, kind and currency.

        Tickets of other machines, entered with the value that the host stated, are left out. The sum of the totals
        whose :attr:`TicketTotal.is_owed` is True is the outstanding liability.
        """
        rows = self._run_sql(
            """SELECT m.state, json_extract(first.story, '$.ticket.kind'),
                      json_extract(first.story, '$.ticket.currency'), count(*),
                      sum(json_extract(first.story, '$.ticket.amount_cents'))
               FROM moves m JOIN moves first ON first.number = m.number AND first.step = 1
               WHERE m.step = (SELECT max(step) FROM moves WHERE number = m.number)
                 AND json_extract(first.story, '$.ticket.machine_serial') <> ?
               GROUP BY 1, 2, 3 ORDER BY 1, 2, 3""",
            HOST_ISSUER,
        ).fetchall()
        return [
            TicketTotal(TicketState(state), TicketKind(kind), currency, ticket_count, amount_cents)
            for state, kind, currency, ticket_count, amount_cents in rows
        ]

    def sum_action_cents_by_kind(self, actor: str, action: TicketAction) -> dict[TicketKind, int]:
        """Return the total value of the tickets on which ``actor`` (a machine or cashier) recorded ``action``.

        The values are minor units, by kind of ticket.
        """
        rows = self._run_sql(
            """SELECT json_extract(first.story, '$.ticket.kind'),
                      sum(json_extract(first.story, '$.ticket.amount_cents'))
               FROM moves m JOIN moves first ON first.number = m.number AND first.step = 1
               WHERE m.by = ? AND m.action = ? GROUP BY 1""",
            actor,
            action.value,
        ).fetchall()
        return {TicketKind(kind): int(amount_cents) for kind, amount_cents in rows}

    def find_last_restoration(self) -> TicketMove | None:
        """Return the move that records the ledger's last restoration by two people, or None if there was none.

        A restoration starts a new ledger with the provable moves of the old one (:mod:`egm.tickets.restoration`).
        """
        row = self._run_sql("SELECT number FROM moves WHERE step = 0 ORDER BY place DESC LIMIT 1").fetchone()
        return None if row is None else self._read_moves(row[0])[0]

    # ------------------------------------------------------------------ rows
    def _append_move(
        self,
        ticket_number: str,
        step: int,
        action: TicketAction,
        action_time: datetime,
        actor: str,
        redemption_id: str | None,
        details: Mapping[str, JSON],
    ) -> None:
        """Append one move to the ticket ledger, with a keyed digest that chains it to the last move."""
        last_move_number, last_digest = self._copies.find_database_end()
        details_json = json.dumps(details, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        state = TICKET_TRANSITIONS[action].resulting_state.value
        row = (
            last_move_number + 1,
            ticket_number,
            step,
            action.value,
            state,
            action_time.isoformat(),
            actor,
            redemption_id,
            details_json,
        )
        self._copies.insert_move((*row, compute_row_digest(self._key, last_digest, row)))

    def _read_record(self, ticket_number: str, issue_id: str) -> TicketRecord:
        """Return a ticket with all its moves; its data are in the first move."""
        moves = self._read_moves(ticket_number)
        ticket = Ticket.from_json(json.dumps(moves[0].details["ticket"]))
        return TicketRecord(ticket=ticket, issue_id=issue_id, moves=moves)

    def _read_moves(self, ticket_number: str) -> tuple[TicketMove, ...]:
        """Return the moves of the ticket with this number, oldest first."""
        rows = self._copies.read_ticket_rows(ticket_number)
        return tuple(
            TicketMove(
                move_number=move_number,
                step=step,
                action=TicketAction(action),
                state=TicketState(state),
                action_time=datetime.fromisoformat(action_time),
                actor=actor,
                redemption_id=redemption_id,
                details=json.loads(details_json),
            )
            for move_number, _, step, action, state, action_time, actor, redemption_id, details_json, _ in rows
        )
