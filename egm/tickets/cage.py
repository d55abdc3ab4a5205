"""The cage: what a cashier does with tickets by hand, each act with the person who did it.

The ledger is the authority, the paper is not: a torn, stained or unreadable ticket is paid from its number
(H-12), a forged one has none. A cash payment is one transaction: the ticket is redeemed or it is not, and
there is no moment at which a power cut leaves it locked to the cage.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from egm.clock import Clock
from egm.errors import OperatorError
from egm.tickets import numbers
from egm.tickets.model import CAGE, ELSEWHERE, Ticket, TicketKind, TicketState
from egm.tickets.record import Action, Move, Record
from egm.tickets.redemption import Reason, Redemption, Refusal, end, expire, lock
from egm.tickets.store import TicketStore
from egm.tickets.templates import load_template

#: What a person may type or scan: any of the numbers a machine here can print.
_READS: Final = (numbers.is_stand_alone, numbers.is_secure_enhanced, numbers.is_system)


@dataclass(frozen=True, slots=True)
class Payee:
    """Who was paid, where the place wants it written down (H-14, Q-01)."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class RegisterLine:
    """One payment in the register: the ticket, when, by whom, to whom."""

    record: Record
    paid: Move
    payee: Payee


class Cage:
    """The tickets of a ledger in the hands of ``person``."""

    def __init__(self, store: TicketStore, clock: Clock, person: str) -> None:
        """Raise :class:`OperatorError` without a person: nothing here happens anonymously."""
        if not person.strip():
            raise OperatorError("the cage: who is it? Nothing is paid or changed without a person's name")
        self._store = store
        self._clock = clock
        self._by = f"{CAGE}{person.strip()}"

    def pay(self, number: str, payee: Payee | None = None) -> Redemption | Refusal:
        """Redeem a ticket for cash: durable when it returns, and only then is money handed over.

        Raises :class:`OperatorError` when the place wants the payee written down and there is none.
        """
        at = self._clock.now().replace(microsecond=0)
        with self._store.together():
            known = self._store.get(number)
            redemption_id = f"{self._by}:{number}:{1 if known is None else len(known.moves)}"
            answer = lock(self._store, redemption_id, number, reads, by=self._by, at=at, refuse=_not_for_cash)
            if isinstance(answer, Refusal):
                return answer
            _want_payee(answer.ticket, payee)
            story = {} if payee is None else {"payee": {"name": payee.name, "address": payee.address}}
            end(self._store, redemption_id, Action.REDEEM, at=at, by=self._by, story=story)
            return answer

    def void(self, number: str, why: str) -> Record:
        """Cancel an issued ticket, for a reason (a test print, a player paid otherwise)."""
        return self._act(number, Action.VOID, why)

    def reprint(self, number: str, why: str) -> Ticket:
        """The ticket as a duplicate, to print: the same number, still redeemed once (H-07)."""
        return replace(self._act(number, Action.REPRINT, why).ticket, duplicate=True)

    def release(self, number: str, why: str, witness: str) -> Record:
        """Free a ticket whose machine will never end its redemption: gone, or its memory lost.

        Dangerous where the paper lies in that machine's box, so it takes a second person, and both have
        looked. A machine that comes back and commits is told that it may not, and stops.
        """
        if not witness.strip() or f"{CAGE}{witness.strip()}" == self._by:
            raise OperatorError("the cage: releasing a locked ticket takes a second person")
        return self._act(number, Action.RELEASE, why, witness=witness.strip())

    def _act(self, number: str, action: Action, why: str, **story: str) -> Record:
        if not why.strip():
            raise OperatorError(f"the cage: {action} wants a reason")
        at = self._clock.now().replace(microsecond=0)
        with self._store.together():
            record = self._store.get(number)
            if record is None:
                raise OperatorError("the cage: no ticket has this number")
            record = expire(self._store, record, at=at, by=self._by)
            redemption_id = None if record.lock is None else record.lock.redemption_id
            wants = TicketState.PENDING if action is Action.RELEASE else TicketState.ISSUED
            if record.state is wants:
                told = {"why": why.strip(), **story}
                return self._store.move(
                    number, action, at=at, by=self._by, redemption_id=redemption_id, story=told
                )
        raise OperatorError(f"the cage: the ticket is {record.state}; {action} wants it {wants}")


def reads(number: str) -> bool:
    """Whether these digits can be a ticket's number, of whichever kind."""
    return any(can_be(number) for can_be in _READS)


def register(store: TicketStore) -> Iterator[RegisterLine]:
    """The payments whose payee was written down, newest ticket first (QC-VLM 40)."""
    for record in store.records(TicketState.REDEEMED):
        payee = record.moves[-1].story.get("payee")
        if payee is not None:
            yield RegisterLine(record, record.moves[-1], Payee(**payee))


def expire_due(store: TicketStore, clock: Clock, by: str) -> int:
    """Mark every issued ticket whose time has come, so that reports agree; return how many there were."""
    at = clock.now().replace(microsecond=0)
    due = [
        record
        for record in store.records(TicketState.ISSUED)
        if record.ticket.expires_at is not None and record.ticket.expires_at <= at
    ]
    with store.together():
        changed = [expire(store, store.found(record.ticket.number), at=at, by=by) for record in due]
    return sum(record.state is TicketState.EXPIRED for record in changed)


def _not_for_cash(ticket: Ticket) -> Refusal | None:
    if ticket.machine_serial == ELSEWHERE:
        return Refusal(Reason.HOST_OWES)
    if ticket.kind is TicketKind.RESTRICTED:
        return Refusal(Reason.WRONG_KIND, ticket.kind.value)
    return None


def _want_payee(ticket: Ticket, payee: Payee | None) -> None:
    above = load_template(ticket.template).register_from_cents
    if above is None or ticket.amount_cents < above:
        return
    if payee is None or not payee.name.strip() or not payee.address.strip():
        raise OperatorError(
            f"the cage: from {above} cents on, the payee's name and address are written down; not paid"
        )
