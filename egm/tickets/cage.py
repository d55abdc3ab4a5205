"""The cage: what a cashier does with tickets by hand, each act with the person who did it.

The ledger is the authority, the paper is not: a torn, stained or unreadable ticket is paid from its number
(H-12), a forged one has none. A cash payment is one transaction: the ticket is redeemed or it is not, and
there is no moment at which a power cut leaves it locked to the cage.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from egm.clock import Clock
from egm.errors import OperatorError
from egm.tickets import numbers
from egm.tickets.model import CAGE, ELSEWHERE, Ticket, TicketKind, TicketState
from egm.tickets.record import LIFE, Action, Move, Record
from egm.tickets.redemption import Reason, Redemption, Refusal, end, lock
from egm.tickets.store import TicketStore
from egm.tickets.templates import CageAct, load_template

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
    """The tickets of a ledger in the hands of ``person``, and of ``second`` where a second one is needed.

    Both are enrolled and have proved who they are to whoever makes this. ``date_is_known``: whether the clock
    may be believed; while it may not, no ticket is past its date here either: the cashier reads the paper.
    ``is_accounted``: whether the machine's journal knows of a ticket the ledger says was issued.
    """

    def __init__(
        self,
        store: TicketStore,
        clock: Clock,
        person: str,
        *,
        second: str = "",
        date_is_known: bool = True,
        is_accounted: Callable[[Record], bool] = lambda _: True,
    ) -> None:
        """Raise :class:`OperatorError` without a person, or where the second is the first."""
        if not person.strip():
            raise OperatorError("the cage: who is it? Nothing is paid or changed without a person's name")
        if second.strip() == person.strip():
            raise OperatorError("the cage: the second person must be another than the first")
        self._store = store
        self._clock = clock
        self._by = f"{CAGE}{person.strip()}"
        self._second = second.strip()
        self._date_is_known = date_is_known
        self._is_accounted = is_accounted

    def pay(self, number: str, payee: Payee | None = None) -> Redemption | Refusal:
        """Redeem a ticket for cash: durable when it returns, and only then is money handed over.

        Raises :class:`OperatorError` when the place wants a second person or the payee written down and there
        is none.
        """
        at = self._clock.now().replace(microsecond=0)
        with self._store.together():
            known = self._store.get(number)
            redemption_id = f"{self._by}:{number}:{1 if known is None else len(known.moves)}"
            answer = lock(
                self._store, redemption_id, number, reads, by=self._by, at=at, refuse=self._not_for_cash
            )
            if isinstance(answer, Refusal):
                return answer
            self._want_second(answer.ticket, CageAct.PAY)
            _want_payee(answer.ticket, payee)
            story: dict[str, Any] = {} if not self._second else {"second": self._second}
            if payee is not None:
                story["payee"] = {"name": payee.name, "address": payee.address}
            end(self._store, redemption_id, Action.REDEEM, at=at, by=self._by, story=story)
        self._store.keep_head()
        return answer

    def void(self, number: str, why: str) -> Record:
        """Cancel an issued ticket, for a reason (a test print, a player paid otherwise)."""
        return self._act(number, Action.VOID, CageAct.VOID, why)

    def reprint(self, number: str, why: str) -> Ticket:
        """The ticket as a duplicate, to print: the same number, still redeemed once (H-07)."""
        return replace(self._act(number, Action.REPRINT, CageAct.REPRINT, why).ticket, duplicate=True)

    def release(self, number: str, why: str) -> Record:
        """Free a ticket whose machine will never end its redemption: gone, or its memory lost.

        Dangerous where the paper lies in that machine's box: whoever does it has looked. A machine that
        stacks the paper after all finds that the lock is not its own any more, and does not credit it.
        """
        return self._act(number, Action.RELEASE, CageAct.RELEASE, why)

    def revive(self, number: str, why: str) -> Record:
        """Say that a ticket is owed whatever its date: a clock that was wrong dated or expired it."""
        return self._act(number, Action.REVIVE, CageAct.REVIVE, why)

    def _act(self, number: str, action: Action, act: CageAct, why: str) -> Record:
        if not why.strip():
            raise OperatorError(f"the cage: {action} wants a reason")
        at = self._clock.now().replace(microsecond=0)
        with self._store.together():
            record = self._store.get(number)
            if record is None:
                raise OperatorError("the cage: no ticket has this number")
            needs, _ = LIFE[action]
            if record.state not in needs:
                wants = " or ".join(sorted(needs))
                raise OperatorError(f"the cage: the ticket is {record.state}; {action} wants it {wants}")
            self._want_second(record.ticket, act)
            redemption_id = None if record.lock is None else record.lock.redemption_id
            story = {"why": why.strip()} | ({"second": self._second} if self._second else {})
            moved = self._store.move(
                number, action, at=at, by=self._by, redemption_id=redemption_id, story=story
            )
        self._store.keep_head()
        return moved

    def _want_second(self, ticket: Ticket, act: CageAct) -> None:
        if act in load_template(ticket.template).cage.two_persons and not self._second:
            raise OperatorError(f"the cage: {act} takes a second person here")

    def _not_for_cash(self, record: Record) -> Refusal | None:
        ticket = record.ticket
        if ticket.machine_serial == ELSEWHERE:
            return Refusal(Reason.HOST_OWES)
        if not self._is_accounted(record):
            return Refusal(Reason.NOT_OURS, record.issue_id)
        if ticket.kind is TicketKind.RESTRICTED:
            return Refusal(Reason.WRONG_KIND, ticket.kind.value)
        past = self._date_is_known and record.is_past(self._clock.now())
        if past and load_template(ticket.template).cage.expired == "refused":
            return Refusal(Reason.EXPIRED, f"good until {record.expires_at:%Y-%m-%d %H:%M:%S} UTC")
        return None


def reads(number: str) -> bool:
    """Whether these digits can be a ticket's number, of whichever kind."""
    return any(can_be(number) for can_be in _READS)


def register(store: TicketStore) -> Iterator[RegisterLine]:
    """The payments whose payee was written down, newest ticket first (QC-VLM 40)."""
    for record in store.records(TicketState.REDEEMED):
        payee = record.moves[-1].story.get("payee")
        if isinstance(payee, Mapping):
            whom = Payee(str(payee["name"]), str(payee["address"]))
            yield RegisterLine(record, record.moves[-1], whom)


def _want_payee(ticket: Ticket, payee: Payee | None) -> None:
    above = load_template(ticket.template).register_from_cents
    if above is None or ticket.amount_cents < above:
        return
    if payee is None or not payee.name.strip() or not payee.address.strip():
        raise OperatorError(
            f"the cage: from {above} cents on, the payee's name and address are written down; not paid"
        )
