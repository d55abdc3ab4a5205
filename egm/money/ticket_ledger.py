"""The ticket ledger held against the journal: neither is believed of tickets without the other.

The journal keeps how far the ledger had come (place and digest of a move) with each ticket that leaves and
comes in, and what each has moved in all. So the machine knows, at its start and each time a door is closed,
a ledger that is lost, that was put back to an earlier day, or that knows of other money than the journal. It
then neither issues nor takes tickets, says so, and goes on with everything else: nothing is guessed, and two
persons restore the ledger (``egm ticket restore``).
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from egm.errors import OperatorError
from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.kernel.standing_faults import note_fault
from egm.money.host.model import Redeeming
from egm.money.host.records import HostTicketRecord
from egm.records.earlier_journal import has_ended
from egm.records.keys import HostKey, MoneyKey
from egm.tickets.audit import (
    DIGEST_DIGITS,
    Comparison,
    LedgerAnchor,
    before_a_clear,
    compare,
    disagreement,
    journal_knows,
    ledger_cents,
    put_back,
    restoration_text,
)
from egm.tickets.desk import TicketDesk
from egm.tickets.errors import TicketLedgerDamaged, TicketLedgerUnwritable
from egm.tickets.proof import PURPOSE as NUMBERS
from egm.tickets.proof import commitment
from egm.tickets.record import Action, Move, Record
from egm.tickets.store import PURPOSE, JournalSeen, TicketStore
from meters import Journal, JournalDamaged, JournalUnwritable
from meters.chart import CREDIT_KINDS
from meters.storage import Storage
from meters.transaction import JSON

FAULT: Final = "ticket_ledger"
JOURNAL_SHORT: Final = "journal_short"
#: Said with every reason: what to do.
_REMEDY: Final = "; no tickets until two persons have looked: egm ticket restore"
_ACCOUNT: Final = (
    "; no play and no payment until two persons have accounted for it:"
    " egm audit inspect, egm audit clear or egm ticket restore"
)


def open_store(
    journal: Journal, folder: Path, second: Path, storage: Storage | None = None
) -> tuple[TicketStore | None, str]:
    """The ledger in ``folder``, or None and why there is none that may be used.

    A new one is begun only beside a journal that knows of no ticket. Raises TicketLedgerUnwritable when the
    medium refuses: the machine stops, and tries again.
    """
    known = journal.state(MoneyKey.TICKETS) is not None or any(
        journal.balance_cents(f"out:voucher:{kind}") for kind in CREDIT_KINDS
    )
    key = journal.derive(PURPOSE)
    try:
        return TicketStore.open(folder, key=key, second=second, storage=storage, make=not known), ""
    except (OperatorError, TicketLedgerDamaged) as error:
        return None, f"{error}{_REMEDY}"


def tickets_may_move(machine: Machine) -> bool:
    """There is a ledger, and it agrees with the journal."""
    return machine.installed(TicketDesk) is not None and FAULT not in machine.faults


def anchor(machine: Machine) -> dict[str, LedgerAnchor]:
    """The machine state that keeps how far the ledger has come by now."""
    stored = machine.memory.read(LedgerAnchor, MoneyKey.TICKETS) or _beginning(machine)
    place, digest = machine.state(TicketDesk).store.end
    return {MoneyKey.TICKETS: replace(stored, place=place, digest=digest[:DIGEST_DIGITS])}


def committed(machine: Machine, number: str) -> dict[str, str]:
    """What an entry tells of a ticket's number (:mod:`egm.tickets.proof`)."""
    return {"commitment": commitment(machine.journal.derive(NUMBERS), number)}


def host_ticket(machine: Machine, ticket_id: str, status: Redeeming) -> dict[str, HostTicketRecord]:
    """What the host may read of this ticket from now on; nothing where it was not asked about it."""
    stored = machine.memory.read(HostTicketRecord, HostKey.TICKET)
    if stored is None or stored.id != ticket_id:
        return {}
    return {HostKey.TICKET: replace(stored, status=status)}


def is_accounted(machine: Machine, record: Record) -> bool:
    """Whether the journal knows a ticket that the ledger says this machine has issued."""
    return journal_knows(machine.journal, record)


def hold_against(machine: Machine) -> str:
    """Hold the ledger against the journal; why they differ and what to do, or nothing.

    Where they agree, how far the ledger has come is recorded, unless it stands there already.
    """
    store, stored = machine.state(TicketDesk).store, machine.memory.read(LedgerAnchor, MoneyKey.TICKETS)
    fresh = _beginning(machine)
    begun_anew = stored is None or stored.begun != fresh.begun
    if differs := put_back(store, machine.journal):
        return f"{differs}{_REMEDY}"
    base = fresh if stored is None or begun_anew else stored
    differs = disagreement(store, base, machine.journal.balance_cents, machine.identity.serial)
    if differs:
        return f"{differs}{_REMEDY}"
    place, digest = store.end
    now = replace(base, place=place, digest=digest[:DIGEST_DIGITS])
    if now != stored:
        details = {"place": place} | ({"begun": _who_began(store)} if base.begun and begun_anew else {})
        machine.record("tickets.checked", state={MoneyKey.TICKETS: now}, details=details)
    return ""


def journal_is_short(machine: Machine) -> str:
    """Why the journal lacks entries that the ledger saw, and what to do; empty where it lacks none.

    The journal leads in everything the two share, so that a ticket which this machine has issued or credited
    by the ledger, and not by its own journal, stood in entries that are gone: what they paid is owed again.
    """
    store, journal, serial = machine.state(TicketDesk).store, machine.journal, machine.identity.serial
    with suppress(JournalDamaged):
        seen = store.journal_seen()
        if seen is not None and seen.mark == journal.mark and not _has(journal, seen):
            return f"the journal is not the one that had come to entry {seen.sequence}{_ACCOUNT}"
    stored, fresh = machine.memory.read(LedgerAnchor, MoneyKey.TICKETS), _beginning(machine)
    base = fresh if stored is None or stored.begun != fresh.begun else stored
    if all(pair.journal_cents >= pair.ledger_cents for pair in _pairs(machine, base)):
        return ""
    for record in store.records():
        for move in record.moves:
            entry_id = _ENTRIES.get(move.action, "").format(
                issue=record.issue_id, redemption=move.redemption_id
            )
            if (
                entry_id
                and move.by == serial
                and move.place > base.from_
                and not has_ended(journal, entry_id)
            ):
                ticket = record.ticket
                return (
                    f"the journal knows nothing of ticket {ticket.masked} over {ticket.amount_cents} cents,"
                    f" which the ticket ledger has{_ACCOUNT}"
                )
    return ""


#: What stands in the journal before the ledger moves a ticket so.
_ENTRIES: Final = {Action.ISSUE: "{issue}.printed", Action.REDEEM: "{redemption}.in"}


def _pairs(machine: Machine, base: LedgerAnchor) -> list[Comparison]:
    store, balance_cents = machine.state(TicketDesk).store, machine.journal.balance_cents
    return compare(store, balance_cents, machine.identity.serial, base.base)


def _has(journal: Journal, seen: JournalSeen) -> bool:
    """Whether an entry is in the journal; one that the archive cannot give any more is not denied."""
    if seen.sequence > journal.sequence:
        return False
    with suppress(JournalDamaged):
        entry = next(journal.entries(since=seen.sequence - 1, limit=1))
        return entry.sequence != seen.sequence or entry.hash_hex == seen.hash_hex
    return True


def note_ledger(machine: Machine, why: str) -> None:
    """Raise or clear what stands of the ledger and the journal against each other; ``why`` tickets stop."""
    has_ledger = machine.installed(TicketDesk) is not None
    note_fault(machine, JOURNAL_SHORT, journal_is_short(machine) if has_ledger else "")
    note_fault(machine, FAULT, why)
    keep_head(machine)


def keep_head(machine: Machine) -> None:
    """Leave on both media, beside the ledger, how far the journal has come: money has moved for good."""
    desk, journal = machine.installed(TicketDesk), machine.journal
    if desk is None or {FAULT, JOURNAL_SHORT} & machine.faults.keys():
        return
    with suppress(JournalUnwritable, TicketLedgerUnwritable):  # the next payment or start does it again
        desk.store.keep_head(JournalSeen(journal.mark, journal.sequence, journal.head_hash))


def _beginning(machine: Machine) -> LedgerAnchor:
    """What the ledger knew when this journal began, or when two persons began the ledger anew.

    A journal that neither was begun by a clear nor has a restored ledger beside it knows all there is.
    """
    store, journal = machine.state(TicketDesk).store, machine.journal
    begun = store.restoration()
    base: Mapping[str, int] = {}
    if begun is not None or _is_cleared(journal):
        known = ledger_cents(store, machine.identity.serial)
        base = {name: cents - abs(journal.balance_cents(name)) for name, cents in known.items()}
    return LedgerAnchor(
        begun=restoration_text(store),
        from_=_known_to(journal, begun, store.end[0]) if base else 0,
        base={name: cents for name, cents in base.items() if cents},
        place=0,
        digest="",
    )


def _known_to(journal: Journal, begun: Move | None, end: int) -> int:
    """The last move of the ledger that was accounted for when this journal or this ledger began.

    Two persons who begin a ledger anew account for all of it; a clear for what the journal before it knew.
    """
    earlier = before_a_clear(journal)
    return end if begun is not None or earlier is None else earlier.place


def _who_began(store: TicketStore) -> dict[str, JSON]:
    begun = store.restoration()
    return {} if begun is None else {"by": begun.by, **begun.story}


def _is_cleared(journal: Journal) -> bool:
    genesis = next(journal.entries("machine.genesis", limit=1)).record
    return isinstance(genesis, Mapping) and "cleared" in genesis


def check_ledger(machine: Machine, _: Event) -> None:
    """Hold the ledger against the journal when a door is closed; where they differ, tickets stop."""
    if machine.installed(TicketDesk) is not None:
        note_ledger(machine, hold_against(machine))
