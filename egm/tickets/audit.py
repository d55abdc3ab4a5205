"""The ticket ledger held against the machine's meters (H-15): two records of the same money, kept apart."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from egm.errors import OperatorError
from egm.record_codec import from_json
from egm.tickets.model import CAGE, ELSEWHERE, TicketKind
from egm.tickets.record import Action, Record
from egm.tickets.store import TicketStore
from meters import JournalView
from meters.chart import CREDIT_KINDS
from meters.transaction import JSON

#: The state of a journal that tells how far the ledger had come, and from what on it is this journal's.
STATE_KEY: Final = "tickets"
DIGEST_DIGITS: Final = 16

#: The accounts of a journal that tickets stand for.
ACCOUNTS: Final = tuple(
    f"{side}:{kind}" for side in ("out:voucher", "world:voucher_in") for kind in CREDIT_KINDS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAnchor:
    """How far the ticket ledger had come when a journal last looked: the place and digest of a move.

    ``begun``: as which one it was begun anew (:func:`begun_as`). ``from_`` and ``base``, minor units by
    account: what it knew already when the journal began, by a clear or beside a restored ledger.
    """

    begun: str
    from_: int
    base: Mapping[str, int]
    place: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierLedger:
    """The same of the journal before a clear, with every ledger that it ``known`` to be the machine's."""

    begun: str
    place: int
    digest: str
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One account of the machine beside the tickets it stands for, in minor units."""

    account: str
    journal_cents: int
    ledger_cents: int

    @property
    def agrees(self) -> bool:
        """Whether they are equal. A ticket on its way when the power went is the one innocent difference."""
        return self.journal_cents == self.ledger_cents


def _issuers(records: Iterable[Record]) -> set[str]:
    return {record.ticket.machine_serial for record in records} - {ELSEWHERE}


def _redeemers(records: Iterable[Record]) -> set[str]:
    """The machines of a ledger in which nothing was issued."""
    moves = [move for record in records for move in record.moves if move.action is Action.LOCK]
    return {move.by for move in moves if not move.by.startswith(CAGE)}


def compare(
    store: TicketStore,
    balance_cents: Callable[[str], int],
    machine_serial: str | None = None,
    base_cents: Mapping[str, int] | None = None,
) -> list[Comparison]:
    """Compare what the journal says went out and came in by ticket with what the ledger says.

    ``balance_cents`` gives the balance of an account of the machine's journal. ``machine_serial`` may be left
    out where all tickets are one machine's. ``base_cents``: what the ledger knew already when that journal
    began, by a clear. Raises :class:`OperatorError` where it must not.
    """
    if machine_serial is None:
        records = list(store.records())
        serials = _issuers(records) or _redeemers(records)
        if len(serials) > 1:
            raise OperatorError(f"this ledger is shared: which machine of {', '.join(sorted(serials))}?")
        machine_serial = next(iter(serials), "")
    sums = ledger_cents(store, machine_serial)
    base_cents = base_cents or {}
    # The journal counts what comes in as given by the world, below zero.
    return [
        Comparison(name, abs(balance_cents(name)), sums[name] - base_cents.get(name, 0)) for name in ACCOUNTS
    ]


def disagreement(
    store: TicketStore,
    kept: LedgerAnchor,
    balance_cents: Callable[[str], int],
    machine_serial: str | None = None,
) -> str:
    """Why a ledger is not the one a journal knows; empty where it is.

    ``kept`` is what the journal keeps of it. Raises :class:`OperatorError` where several machines share the
    ledger and none is named.
    """
    if put_back := _exchanged(store, kept):
        return put_back
    for pair in compare(store, balance_cents, machine_serial, kept.base):
        if not pair.agrees:
            return (
                f"{pair.account}: the journal says {pair.journal_cents} cents, the ticket ledger"
                f" {pair.ledger_cents}"
            )
    return ""


def _exchanged(store: TicketStore, kept: LedgerAnchor | EarlierLedger) -> str:
    found = store.digest_at(kept.place)
    if found is not None and found.startswith(kept.digest):
        return ""
    return (
        f"the ticket ledger ends at move {store.end[0]} and is not the one that had come to"
        f" {kept.place}: it was put back or exchanged"
    )


def put_back(store: TicketStore, journal: JournalView) -> str:
    """Why a ledger is an older one than a machine's journal knows, or another; empty where it is neither.

    For whoever acts beside the machine, which may be at work: sums are not compared, for a ticket on its way
    is in one of them only. A journal that has never seen a ledger, nor the one before a clear, says nothing;
    and none says anything of a ledger that two persons have begun anew and the machine has not seen yet.
    What the cage itself has done since stands in the ledger's own head.
    """
    if behind := store.behind():
        return behind
    stored = anchor_of(journal.state(STATE_KEY)) or before_a_clear(journal)
    if stored is None:
        return ""
    begun = begun_as(store)
    if begun == stored.begun:
        return _exchanged(store, stored)
    if was_known(journal, begun):
        return "the ticket ledger is that of before it was begun anew: it was put back"
    return ""


def anchor_of(state: JSON) -> LedgerAnchor | None:
    """What a journal's state tells of the ledger, or None. Raises RecordError where it is no such record."""
    return None if state is None else from_json(LedgerAnchor, state, f"the memory's {STATE_KEY!r}")


def before_a_clear(journal: JournalView) -> EarlierLedger | None:
    """How far the ledger had come when a clear began this journal; None where none did."""
    entry = next(journal.entries("clear.kept", limit=1), None)
    record = entry.record if entry is not None and isinstance(entry.record, Mapping) else {}
    found = record.get(STATE_KEY)
    return None if found is None else from_json(EarlierLedger, found, "entry clear.kept")


def _ended_before(journal: JournalView) -> list[JSON]:
    """The last entries by which tickets ended in the journal before a clear, by id."""
    entry = next(journal.entries("clear.kept", limit=1), None)
    ended = entry.record.get("ended") if entry is not None and isinstance(entry.record, Mapping) else None
    return ended if isinstance(ended, list) else []


def begun_as(store: TicketStore) -> str:
    """What stands in a journal for the last time two persons began the ledger anew; empty: they never did."""
    begun = store.begun()
    return "" if begun is None else str(store.digest_at(begun.place))[:DIGEST_DIGITS]


def was_known(journal: JournalView, begun: str) -> bool:
    """Whether a journal that goes by another ledger now went by the one :func:`begun_as` this before."""
    before = before_a_clear(journal)
    if not begun or (before is not None and begun in before.known):
        return True
    checked = (anchor_of(entry.state.get(STATE_KEY)) for entry in journal.entries("tickets.checked"))
    return any(kept is not None and kept.begun == begun for kept in checked)


def journal_knows(journal: JournalView, record: Record) -> bool:
    """Whether a machine's journal knows a ticket that the ledger says the machine has issued.

    Of one from before this journal began, by a clear or with a restored ledger, what the journal knows is how
    far the ledger had come then: such a ticket stands before that place, or among the last that had ended.
    One that a clear knew nothing of is refused: what it paid may have been carried over as credit.
    """
    entry = journal.get(f"{record.issue_id}.printed")
    if entry is None:
        issued = next((move.place for move in record.moves if move.action is Action.ISSUE), None)
        stored = anchor_of(journal.state(STATE_KEY))
        if issued is None or stored is None:
            return False
        return issued <= stored.from_ or f"{record.issue_id}.printed" in _ended_before(journal)
    told = entry.record if isinstance(entry.record, Mapping) else {}
    said = (told.get("amount_cents"), told.get("kind"))
    return entry.kind == "voucher.out" and said == (record.ticket.amount_cents, record.ticket.kind.value)


def ledger_cents(store: TicketStore, machine_serial: str) -> dict[str, int]:
    """What the ledger says went out of and came into one machine, by account of its journal."""
    out = store.moved_cents(machine_serial, Action.ISSUE)
    taken = store.moved_cents(machine_serial, Action.REDEEM)
    return {
        f"{side}:{kind}": moved.get(TicketKind(kind), 0)
        for side, moved in (("out:voucher", out), ("world:voucher_in", taken))
        for kind in CREDIT_KINDS
    }
