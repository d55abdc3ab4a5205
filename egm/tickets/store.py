"""The ticket ledger: every ticket a machine or bank of machines has issued, and all that became of it.

For machines that stand alone there is no host to say what is owed; this ledger says it. A method that changes
something **returns only when the change is durable**, in both copies (:mod:`egm.tickets.copies`), and a power
cut leaves the whole change or none of it. Several processes of one computer may share a ledger.

A ticket is a number and its *moves*, in order. The ledger only grows (triggers refuse anything else), the
state of a ticket is that of its last move, and (number, step) is unique: of two redeemers who both saw the
ticket issued, the medium itself refuses the second. Every move carries a digest over the move before it,
checked at each read; it finds damage, not an adversary who rewrites both copies (for that, the machine's
journal counts every ticket too).
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from egm.errors import OperatorError
from egm.tickets.copies import FILE_NAME, Copies
from egm.tickets.errors import TicketOrderError
from egm.tickets.model import ELSEWHERE, Ticket, TicketKind, TicketState, mask
from egm.tickets.movelog import digest
from egm.tickets.record import LIFE, Action, Enrolment, Move, Record, Sum
from meters.storage import DiskStorage, Storage

#: Validation sequences are 24-bit and begin again.
_SEQUENCES: Final = 1 << 24


class TicketStore:
    """The open ledger. Not safe for several threads at once; any number of processes may have it open."""

    def __init__(self, copies: Copies) -> None:
        self._copies = copies
        self._run = copies.run

    @classmethod
    def open(
        cls, folder: Path, *, storage: Storage | None = None, make: bool = True, prove: bool = True
    ) -> Self:
        """Open the ledger in ``folder``, making it there unless ``make`` is False.

        Every move of both copies is proved unless ``prove`` is False, as beside a machine that does so.

        Raises :class:`OperatorError` when it is absent and not to be made, or of a later format;
        :class:`TicketLedgerUnwritable` when the medium refuses; :class:`TicketLedgerDamaged` when neither
        copy is whole.
        """
        storage = storage or DiskStorage()
        if not make and not storage.exists(folder / FILE_NAME):
            raise OperatorError(f"{folder}: no ticket ledger here ({FILE_NAME})")
        return cls(Copies(folder, storage, prove=prove))

    @property
    def mended(self) -> str:
        """What was made again from the other copy, in words for the machine's log; empty when nothing was."""
        return self._copies.mended

    def close(self) -> None:
        """Close the ledger."""
        self._copies.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    def together(self) -> AbstractContextManager[None]:
        """Several changes as one: all of them durable at the end, or none of them."""
        return self._copies.together()

    def verify(self) -> int:
        """Prove every row of both copies; return how many moves there are.

        Raises :class:`TicketLedgerDamaged` at the first that is not what was written.
        """
        return self._copies.verify()

    # ------------------------------------------------------------------ changes
    def reserve(self, issue_id: str, ticket: Ticket, *, by: str) -> Record:
        """Give a ticket its number. Raises :class:`TicketOrderError` where the id or number is known."""
        with self.together():
            if self.by_issue(issue_id) is not None or self.get(ticket.number) is not None:
                raise TicketOrderError(f"ticket {ticket.masked} ({issue_id}): reserved a second time")
            story = {"issue_id": issue_id, "ticket": json.loads(ticket.to_json())}
            self._append(ticket.number, 1, Action.RESERVE, ticket.issued_at, by, None, story)
            return self.found(ticket.number)

    def move(
        self,
        number: str,
        action: Action,
        *,
        at: datetime,
        by: str,
        redemption_id: str | None = None,
        story: Mapping[str, Any] | None = None,
    ) -> Record:
        """Move a ticket. Raises :class:`TicketOrderError`, changing nothing, when its state forbids it."""
        with self.together():
            record = self.found(number)
            needs, _ = LIFE[action]
            if record.state is not needs:
                raise TicketOrderError(f"ticket {mask(number)}: {action} while {record.state}")
            self._append(number, record.moves[-1].step + 1, action, at, by, redemption_id, story or {})
            return self.found(number)

    def enrol(self, machine_serial: str, enrolment: Enrolment) -> None:
        """Set a machine's validation identifier and sequence; the next number uses the sequence after it."""
        with self.together():
            self._run(
                "INSERT INTO enrolment VALUES (?, ?, ?) ON CONFLICT (machine_serial) DO UPDATE"
                " SET validation_id = excluded.validation_id, sequence = excluded.sequence",
                machine_serial,
                enrolment.validation_id,
                enrolment.sequence,
            )

    def spend_sequence(self, machine_serial: str) -> Enrolment | None:
        """Move an enrolled machine's validation sequence one on, and return it; None for any other."""
        with self.together():
            self._run(
                "UPDATE enrolment SET sequence = (sequence + 1) % ? WHERE machine_serial = ?",
                _SEQUENCES,
                machine_serial,
            )
            return self.enrolment(machine_serial)

    def report(self, number: str, at: datetime) -> None:
        """Note that the host knows the ticket; a repeat changes nothing."""
        with self.together():
            self.found(number)
            self._run("INSERT INTO reported VALUES (?, ?) ON CONFLICT DO NOTHING", number, at.isoformat())

    # ------------------------------------------------------------------ questions
    def get(self, number: str) -> Record | None:
        """The ticket of a number, or None where there is none."""
        row = self._run("SELECT issue_id FROM tickets WHERE number = ?", number).fetchone()
        return None if row is None else self._read(number, row[0])

    def found(self, number: str) -> Record:
        """The ticket of a number. Raises :class:`TicketOrderError` where there is none."""
        record = self.get(number)
        if record is None:
            raise TicketOrderError(f"ticket {mask(number)} is not in the ledger")
        return record

    def by_issue(self, issue_id: str) -> Record | None:
        """The ticket its issuer knows by this id."""
        row = self._run("SELECT number FROM tickets WHERE issue_id = ?", issue_id).fetchone()
        return None if row is None else self._read(row[0], issue_id)

    def by_redemption(self, redemption_id: str) -> Record | None:
        """The ticket that this redemption has locked, now or in the past."""
        row = self._run(
            "SELECT number FROM moves WHERE redemption_id = ? AND action = 'lock'", redemption_id
        ).fetchone()
        return None if row is None else self.found(row[0])

    def next_ticket(self, machine_serial: str) -> int:
        """The sequence number of the machine's next ticket."""
        row = self._run(
            "SELECT max(sequence) FROM tickets WHERE machine_serial = ?", machine_serial
        ).fetchone()
        return int(row[0] or 0) + 1

    def enrolment(self, machine_serial: str) -> Enrolment | None:
        """What the machine is enrolled with, or None."""
        row = self._run(
            "SELECT validation_id, sequence FROM enrolment WHERE machine_serial = ?", machine_serial
        ).fetchone()
        return None if row is None else Enrolment(*row)

    def records(self, *states: TicketState, machine_serial: str | None = None) -> Iterator[Record]:
        """The tickets in any of ``states`` (all when none is named), newest first."""
        wanted = states or tuple(TicketState)
        rows = self._run(
            f"""SELECT t.number, t.issue_id FROM tickets t JOIN moves m USING (number)
                WHERE m.step = (SELECT max(step) FROM moves WHERE number = t.number)
                  AND m.state IN ({", ".join("?" * len(wanted))})
                  AND t.machine_serial = coalesce(?, t.machine_serial)
                ORDER BY (SELECT place FROM moves WHERE number = t.number AND step = 1) DESC""",  # noqa: S608 (only question marks)
            *(state.value for state in wanted),
            machine_serial,
        ).fetchall()
        return (self._read(number, issue_id) for number, issue_id in rows)

    def unreported(self, machine_serial: str) -> list[Record]:
        """The machine's tickets the host does not know yet, oldest first; never-printed ones do not count."""
        rows = self._run(
            """SELECT t.number, t.issue_id FROM tickets t LEFT JOIN reported r USING (number)
               WHERE r.number IS NULL AND t.machine_serial = ?
                 AND NOT EXISTS (SELECT 1 FROM moves WHERE number = t.number AND action = 'fail')
               ORDER BY t.sequence""",
            machine_serial,
        ).fetchall()
        return [self._read(number, issue_id) for number, issue_id in rows]

    def sums(self) -> list[Sum]:
        """Count and value of tickets issued here, by state and kind; :attr:`Sum.owed` is the liability."""
        rows = self._run(
            """SELECT m.state, json_extract(first.story, '$.ticket.kind'),
                      json_extract(first.story, '$.ticket.currency'), count(*),
                      sum(json_extract(first.story, '$.ticket.amount_cents'))
               FROM moves m JOIN moves first ON first.number = m.number AND first.step = 1
               WHERE m.step = (SELECT max(step) FROM moves WHERE number = m.number)
                 AND json_extract(first.story, '$.ticket.machine_serial') <> ?
               GROUP BY 1, 2, 3 ORDER BY 1, 2, 3""",
            ELSEWHERE,
        ).fetchall()
        return [
            Sum(TicketState(state), TicketKind(kind), currency, tickets, amount_cents)
            for state, kind, currency, tickets, amount_cents in rows
        ]

    # ------------------------------------------------------------------ rows
    def _append(
        self,
        number: str,
        step: int,
        action: Action,
        at: datetime,
        by: str,
        redemption_id: str | None,
        story: Mapping[str, Any],
    ) -> None:
        place, before = self._copies.end()
        told = json.dumps(story, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        state = LIFE[action][1].value
        row = (place + 1, number, step, action.value, state, at.isoformat(), by, redemption_id, told)
        self._copies.insert((*row, digest(before, row)))

    def _read(self, number: str, issue_id: str) -> Record:
        moves = tuple(
            Move(
                step=step,
                action=Action(action),
                state=TicketState(state),
                at=datetime.fromisoformat(at),
                by=by,
                redemption_id=redemption_id,
                story=json.loads(told),
            )
            for _, _, step, action, state, at, by, redemption_id, told, _ in self._copies.rows_of(number)
        )
        ticket = Ticket.from_json(json.dumps(moves[0].story["ticket"]))
        return Record(ticket=ticket, issue_id=issue_id, moves=moves)
