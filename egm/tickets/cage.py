"""The cage: the cashier's actions on tickets; each action is recorded with the cashier's number.

The ticket ledger decides, not the paper: a torn, stained or unreadable ticket is paid by its number (H-12), and a
forged ticket has no valid number. A cash payment locks and redeems the ticket in one transaction, so a power loss
cannot leave the ticket locked.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from egm.clock import Clock
from egm.errors import OperatorError
from egm.tickets import numbers
from egm.tickets.model import CAGE_ACTOR_PREFIX, HOST_ISSUER, Ticket, TicketKind, TicketState
from egm.tickets.record import TICKET_TRANSITIONS, TicketAction, TicketMove, TicketRecord
from egm.tickets.redemption import (
    TicketRedemption,
    TicketRefusal,
    TicketRefusalReason,
    end_redemption,
    lock_for_redemption,
)
from egm.tickets.store import TicketStore
from egm.tickets.templates import CageAction, load_template

#: Checks for the validation numbers that a person may type or scan: all that a machine here can print.
_NUMBER_FORM_CHECKS: Final = (
    numbers.is_stand_alone_number,
    numbers.is_secure_enhanced_number,
    numbers.is_system_number,
)


@dataclass(frozen=True, slots=True)
class TicketPayee:
    """The person to whom the cage pays a ticket, recorded if the jurisdiction requires it (H-14, Q-01)."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class PayeeRegisterLine:
    """One payment in the register of payees: the ticket, and when, by whom and to whom it was paid."""

    record: TicketRecord
    """The ticket with all actions recorded on it."""
    payment_move: TicketMove
    """The redemption of the ticket at the cage."""
    payee: TicketPayee


class TicketCage:
    """The actions of one cashier on the tickets of a ledger.

    The caller has authenticated ``person``, the cashier, and ``second_person``, whom some actions also require. If
    ``is_clock_trusted`` is False (the clock is not trusted), no ticket counts as expired, and the cashier must read the
    printed date. ``is_known_to_journal`` returns whether the machine's journal confirms a ticket of the ledger; other
    tickets are not paid. ``is_credited`` returns whether the journal has credited a locked ticket; such a ticket is
    not released.
    """

    def __init__(
        self,
        store: TicketStore,
        clock: Clock,
        person: str,
        *,
        second_person: str = "",
        is_clock_trusted: bool = True,
        is_known_to_journal: Callable[[TicketRecord], bool] = lambda _: True,
        is_credited: Callable[[TicketRecord], bool] = lambda _: False,
    ) -> None:
        """Open the cage for the cashier ``person``.

        Raises :class:`OperatorError` if ``person`` is empty, or if ``second_person`` is the same person.
        """
        if not person.strip():
            raise OperatorError("the cage: name the person who acts; nothing was paid or changed")
        if second_person.strip() == person.strip():
            raise OperatorError("the cage: the two people must be different")
        self._store = store
        self._clock = clock
        self._actor = f"{CAGE_ACTOR_PREFIX}{person.strip()}"
        self._second_person = second_person.strip()
        self._is_clock_trusted = is_clock_trusted
        self._is_known_to_journal = is_known_to_journal
        self._is_credited = is_credited

    def pay_ticket(
        self, ticket_number: str, payee: TicketPayee | None = None
    ) -> TicketRedemption | TicketRefusal:
        """Redeem a ticket for cash, or return why it is refused; the redemption is durable when this returns.

        The cashier hands over the money only afterwards. Raises :class:`OperatorError` if the jurisdiction requires a
        second person or the payee's data and they are missing.
        """
        action_time = self._clock.now().replace(microsecond=0)
        with self._store.transaction():
            record = self._store.find_ticket(ticket_number)
            redemption_id = f"{self._actor}:{ticket_number}:{1 if record is None else len(record.moves)}"
            result = lock_for_redemption(
                self._store,
                redemption_id,
                ticket_number,
                is_ticket_number,
                actor=self._actor,
                action_time=action_time,
                find_refusal=self._find_cash_refusal,
            )
            if isinstance(result, TicketRefusal):
                return result
            self._require_second_person(result.ticket, CageAction.PAY)
            _require_payee(result.ticket, payee)
            details: dict[str, Any] = {} if not self._second_person else {"second": self._second_person}
            if payee is not None:
                details["payee"] = {"name": payee.name, "address": payee.address}
            end_redemption(
                self._store,
                redemption_id,
                TicketAction.REDEEM,
                action_time=action_time,
                actor=self._actor,
                details=details,
            )
        self._store.store_head()
        return result

    def void_ticket(self, ticket_number: str, reason: str) -> TicketRecord:
        """Void an issued ticket for a reason, such as a test print, or because the player was paid in another way."""
        return self._record_action(ticket_number, TicketAction.VOID, CageAction.VOID, reason)

    def reprint_ticket(self, ticket_number: str, reason: str) -> Ticket:
        """Record the reprint of a ticket; return the duplicate to print, which has the same number (H-07).

        Only one of original and duplicate can be redeemed, because both have one record in the ledger.
        """
        return replace(
            self._record_action(ticket_number, TicketAction.REPRINT, CageAction.REPRINT, reason).ticket,
            is_duplicate=True,
        )

    def release_locked_ticket(self, ticket_number: str, reason: str) -> TicketRecord:
        """Unlock a ticket that a machine locked for a redemption which it will never complete.

        Check first that the ticket is not in that machine's cash box. If the machine stacks the ticket later, it finds
        that the lock is gone and does not credit it.
        """
        return self._record_action(ticket_number, TicketAction.RELEASE, CageAction.RELEASE, reason)

    def revive_expired_ticket(self, ticket_number: str, reason: str) -> TicketRecord:
        """Record that a ticket is owed in spite of its expiry date, because a wrong clock caused that date."""
        return self._record_action(ticket_number, TicketAction.REVIVE, CageAction.REVIVE, reason)

    def _record_action(
        self, ticket_number: str, action: TicketAction, cage_action: CageAction, reason: str
    ) -> TicketRecord:
        """Record a cashier's action on a ticket, with its reason, and update the ledger's head.

        Raises OperatorError, changing nothing, if the reason is empty, the number is unknown, the ticket's state does
        not allow the action, or a required second person is missing.
        """
        if not reason.strip():
            raise OperatorError(f"the cage: {action} requires a reason; nothing was changed")
        action_time = self._clock.now().replace(microsecond=0)
        with self._store.transaction():
            record = self._store.find_ticket(ticket_number)
            if record is None:
                raise OperatorError("the cage: no ticket has this number")
            allowed_states = TICKET_TRANSITIONS[action].allowed_states
            if record.state not in allowed_states:
                state_names = " or ".join(sorted(allowed_states))
                raise OperatorError(
                    f"the cage: the ticket is {record.state}; {action} requires it to be {state_names}"
                )
            if action is TicketAction.RELEASE and self._is_credited(record):
                raise OperatorError(
                    "the cage: the machine has credited this ticket: it is not released. The machine completes the"
                    " redemption at its next start"
                )
            self._require_second_person(record.ticket, cage_action)
            redemption_id = None if record.current_lock is None else record.current_lock.redemption_id
            details = {"why": reason.strip()} | (
                {"second": self._second_person} if self._second_person else {}
            )
            ticket_record = self._store.record_move(
                ticket_number,
                action,
                action_time=action_time,
                actor=self._actor,
                redemption_id=redemption_id,
                details=details,
            )
        self._store.store_head()
        return ticket_record

    def _require_second_person(self, ticket: Ticket, cage_action: CageAction) -> None:
        """Raise OperatorError if the jurisdiction requires two people for this action and only one is given."""
        if cage_action in load_template(ticket.template).cage.two_persons and not self._second_person:
            raise OperatorError(f"the cage: {cage_action} requires a second person in this jurisdiction")

    def _find_cash_refusal(self, record: TicketRecord) -> TicketRefusal | None:
        """Return why the cage may not pay this ticket in cash, or None."""
        ticket = record.ticket
        if ticket.machine_serial == HOST_ISSUER:
            return TicketRefusal(TicketRefusalReason.PAYABLE_ONLY_BY_HOST)
        if not self._is_known_to_journal(record):
            return TicketRefusal(TicketRefusalReason.NOT_IN_JOURNAL, record.issue_id)
        if ticket.kind is TicketKind.RESTRICTED:
            return TicketRefusal(TicketRefusalReason.WRONG_KIND, ticket.kind.value)
        is_expired = self._is_clock_trusted and record.is_expired_at(self._clock.now())
        if is_expired and load_template(ticket.template).cage.expired == "refused":
            return TicketRefusal(
                TicketRefusalReason.EXPIRED, f"good until {record.expires_at:%Y-%m-%d %H:%M:%S} UTC"
            )
        return None


def is_ticket_number(ticket_number: str) -> bool:
    """Return whether these digits have the form of a ticket number of any kind."""
    return any(has_number_form(ticket_number) for has_number_form in _NUMBER_FORM_CHECKS)


def iter_payee_register_lines(store: TicketStore) -> Iterator[PayeeRegisterLine]:
    """Yield the cash payments with a recorded payee, ordered by the ticket's issue, newest first (QC-VLM 40)."""
    for record in store.iter_records(TicketState.REDEEMED):
        payee = record.moves[-1].details.get("payee")
        if isinstance(payee, Mapping):
            yield PayeeRegisterLine(
                record, record.moves[-1], TicketPayee(str(payee["name"]), str(payee["address"]))
            )


def _require_payee(ticket: Ticket, payee: TicketPayee | None) -> None:
    """Raise OperatorError if the payee must be recorded for this ticket and name or address is missing.

    The jurisdiction's ticket template has the amount from which payees are recorded.
    """
    register_from_cents = load_template(ticket.template).register_from_cents
    if register_from_cents is None or ticket.amount_cents < register_from_cents:
        return
    if payee is None or not payee.name.strip() or not payee.address.strip():
        raise OperatorError(
            f"the cage: not paid: from {register_from_cents} cents on, the payee's name and address are required"
        )
