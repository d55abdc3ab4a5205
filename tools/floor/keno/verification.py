"""Verification of a Keno office's journal: each entry is recomputed from the entries before it and compared.

The journal itself proves that no entry was changed later (:mod:`meters`). This module checks that each entry
is correct: the tickets of a draw, the balls from the recorded numbers, every prize, every payment, and all
transfers between accounts.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final, cast

from egm.errors import LocalError, OperatorError
from egm.record_codec import from_json
from meters import Journal, StoredEntry, Transaction
from paytables import Game, PaytableError, ReplayDrawSource
from paytables.contract import Json
from paytables.keno.claims import KenoTicketRecord, KenoTicketState, PresentedTicket, TicketCondition
from tools.floor.keno.entries import (
    KIND_BY_RECORD_CLASS,
    DrawFailed,
    DrawHeld,
    OfficeOpened,
    SalesClosed,
    TicketCancelled,
    TicketClaimed,
    TicketExpired,
    TicketPaid,
    TicketSold,
)
from tools.floor.keno.office import TICKET_KEY_PREFIX, KenoOffice

_RECORD_CLASS_BY_KIND: Final[Mapping[str, type]] = {
    kind: record for record, kind in KIND_BY_RECORD_CLASS.items()
}


class _JournalInMemory:
    """A substitute for the journal: it holds the office's state in memory, and the transaction appended last."""

    def __init__(self, journal: Journal) -> None:
        self.medium_folders, self.derive_key = journal.medium_folders, journal.derive_key
        self.last_transaction: Transaction | None = None
        self._state: dict[str, Json] = {}

    def state(self, key: str) -> Json:
        """Return the value stored in memory under a key, or None."""
        return self._state.get(key)

    def states(self, prefix: str) -> dict[str, Json]:
        """Return all values stored in memory whose keys begin with ``prefix``, by key."""
        return {key: value for key, value in self._state.items() if key.startswith(prefix)}

    def append(self, transaction: Transaction) -> None:
        """Store the state of a transaction in memory, and the transaction as the last one."""
        self.last_transaction = transaction
        for key, value in transaction.state.items():
            if value is None:
                self._state.pop(key, None)
            else:
                self._state[key] = value


class _Verifier:
    """A Keno office in memory that repeats each recorded action at its recorded time."""

    def __init__(self, journal: Journal, game: Game) -> None:
        self._memory_journal = _JournalInMemory(journal)
        self._game = game
        self._office: KenoOffice | None = None
        self._recorded_time = datetime(2000, 1, 1, tzinfo=UTC)

    def recompute(self, entry: StoredEntry) -> Transaction | None:
        """Repeat the action that an entry records, and return the transaction that results from it."""
        record: object = from_json(
            _RECORD_CLASS_BY_KIND[entry.kind], entry.record, f"entry {entry.sequence}, {entry.kind}"
        )
        self._recorded_time = datetime.fromisoformat(
            getattr(record, "recorded_at", self._recorded_time.isoformat())
        )
        if isinstance(record, OfficeOpened):
            names = ("source", "casino", "claim_place", "unit_cents", "currency")
            office_terms = {name: getattr(record, name) for name in names}
            self._office = KenoOffice.create(
                cast("Journal", self._memory_journal), self._game, lambda: self._recorded_time, **office_terms
            )
        elif self._office is None:
            raise OperatorError("no entry before this one opens the office")
        else:
            self._recompute_in_office(self._office, record, entry.transaction.state)
        return self._memory_journal.last_transaction

    def _recompute_in_office(self, office: KenoOffice, record: object, state: Mapping[str, Json]) -> None:
        """Repeat a recorded action in an opened office.

        ``state`` is the state that the entry stores; for a sale, it contains the sold ticket.
        """
        match record:
            case TicketSold():
                sold_ticket = KenoTicketRecord.from_json(state[f"{TICKET_KEY_PREFIX}{record.number}"])
                office.sell(
                    sold_ticket.printed_ticket.wager_options,
                    ReplayDrawSource(()),  # a quick pick has its numbers already
                    station=record.station,
                    is_paid=sold_ticket.state is KenoTicketState.SOLD,
                )
            case TicketPaid():
                office.pay(record.number)
            case TicketCancelled():
                office.cancel(record.number)
            case SalesClosed():
                office.close_sales()
            case DrawHeld():
                office.conduct_draw(ReplayDrawSource(record.draws))
            case DrawFailed():
                office.fail_draw(record.reason)
            case TicketClaimed():
                control_number = office.find_ticket(record.number).printed_ticket.control_number
                # Of the values on the paper, only which differ is recorded; an object() differs from every value.
                values_on_paper = dict.fromkeys(record.differing_values, object())
                office.claim(
                    PresentedTicket(TicketCondition(record.condition), control_number, values_on_paper),
                    claim_place=record.claim_place,
                )
            case TicketExpired():
                office.expire_ticket(record.number)


def iter_findings(journal: Journal, game: Game) -> Iterator[str]:
    """Yield a sentence for each part of a journal entry that differs from the recomputed entry.

    After an entry that cannot be recomputed, nothing more is checked.
    """
    verifier = _Verifier(journal, game)
    for entry in journal.entries((*_RECORD_CLASS_BY_KIND,)):
        location = f"entry {entry.sequence}, {entry.kind}"
        try:
            expected_transaction = verifier.recompute(entry)
        except (LocalError, OperatorError, PaytableError, KeyError, ValueError) as error:
            yield f"{location}: it cannot be recomputed: {error}"
            return
        recorded_transaction = entry.transaction
        for name in ("id", "kind", "record", "transfers", "state"):
            recorded_value, expected_value = (
                getattr(recorded_transaction, name),
                getattr(expected_transaction, name),
            )
            if _convert_tuples(recorded_value) != _convert_tuples(expected_value):
                yield f"{location}: {name} is {recorded_value}; expected {expected_value}"


def _convert_tuples(value: Json) -> Json:
    """Return a JSON value with tuples converted to lists, so that it can be compared."""
    if isinstance(value, Mapping):
        return {key: _convert_tuples(member) for key, member in value.items()}
    return [_convert_tuples(member) for member in value] if isinstance(value, list | tuple) else value
