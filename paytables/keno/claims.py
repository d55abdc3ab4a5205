"""The life cycle of a Keno ticket at the central computer: its states, and the events that change them (ss. 83-86).

A :class:`KenoTicketRecord` is the central computer's data of one ticket. It is immutable: every function returns the
record after the event, or raises :class:`TicketRefusedError`. The record alone decides what is paid; the paper only
proves who may claim it (s. 84: if they differ, the central data prevail). Amounts are credits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

from paytables.contract import Json
from paytables.errors import PaytableError
from paytables.keno.printed_ticket import PrintedTicket, is_same_control_number, is_well_formed_control_number


class KenoTicketState(StrEnum):
    """The state of a Keno ticket. Once IN_PLAY, each of its draws has its own state."""

    UNPAID = "unpaid"
    """The stake has not been received yet."""
    SOLD = "paid"
    """The stake was received, and none of the draws is closed."""
    IN_PLAY = "in_play"
    """At least one of the ticket's draws is closed to bets."""
    VOID = "void"
    """The ticket was cancelled, or not paid for in time."""
    EXPIRED = "expired"
    """The claim period is over."""


class TicketEvent(StrEnum):
    """An event in the life cycle of a Keno ticket, such as its payment or cancellation."""

    PAY = "pay"
    """The stake is received."""
    CANCEL = "cancel"
    """The ticket is cancelled before any of its draws is closed."""
    CLOSE = "close"
    """Sales are closed for a draw in which the ticket takes part."""
    SETTLE = "settle"
    """A draw in which the ticket takes part was held, and the ticket's prize is known."""
    FAULT = "fault"
    """A draw in which the ticket takes part cannot be held."""
    CLAIM = "claim"
    """The ticket is presented for payment."""
    EXPIRE = "expire"
    """The claim period ends."""


#: The state of a Keno ticket after each allowed event, by current state and event. Events not listed are
#: refused.
TICKET_TRANSITIONS: Final[Mapping[tuple[KenoTicketState, TicketEvent], KenoTicketState]] = {
    (KenoTicketState.UNPAID, TicketEvent.PAY): KenoTicketState.SOLD,
    (KenoTicketState.UNPAID, TicketEvent.CANCEL): KenoTicketState.VOID,
    (KenoTicketState.UNPAID, TicketEvent.CLOSE): KenoTicketState.VOID,
    (KenoTicketState.SOLD, TicketEvent.CANCEL): KenoTicketState.VOID,
    (KenoTicketState.SOLD, TicketEvent.CLOSE): KenoTicketState.IN_PLAY,
    (KenoTicketState.IN_PLAY, TicketEvent.CLOSE): KenoTicketState.IN_PLAY,
    (KenoTicketState.IN_PLAY, TicketEvent.SETTLE): KenoTicketState.IN_PLAY,
    (KenoTicketState.IN_PLAY, TicketEvent.FAULT): KenoTicketState.IN_PLAY,
    (KenoTicketState.IN_PLAY, TicketEvent.CLAIM): KenoTicketState.IN_PLAY,
    (KenoTicketState.IN_PLAY, TicketEvent.EXPIRE): KenoTicketState.EXPIRED,
}
#: What the text of a refusal says about a ticket's state.
_STATE_TEXTS: Final[Mapping[KenoTicketState, str]] = {
    KenoTicketState.UNPAID: "has not been paid for yet",
    KenoTicketState.SOLD: "has been paid for, and none of its draws is closed yet",
    KenoTicketState.IN_PLAY: "has been paid for, and a draw of it is closed",
    KenoTicketState.VOID: "is void: it was cancelled, or not paid for in time",
    KenoTicketState.EXPIRED: "is closed, because its claim period is over",
}
#: What the text of a refusal says about the event that a ticket's state does not permit.
_EVENT_TEXTS: Final[Mapping[TicketEvent, str]] = {
    TicketEvent.PAY: "its payment cannot be recorded",
    TicketEvent.CANCEL: "it cannot be cancelled",
    TicketEvent.CLOSE: "it cannot take part in the closing of a draw",
    TicketEvent.SETTLE: "no draw can be settled for it",
    TicketEvent.FAULT: "no draw of it can be recorded as failed",
    TicketEvent.CLAIM: "nothing can be claimed with it",
    TicketEvent.EXPIRE: "its claim period cannot end",
}


class TicketCondition(StrEnum):
    """The condition of a Keno ticket's paper when presented; each except INTACT is a ground for refusal (s. 83)."""

    INTACT = "intact"
    ILLEGIBLE = "illegible"
    MUTILATED = "mutilated"
    ALTERED = "altered"
    COUNTERFEIT = "counterfeit"
    MISCUT = "miscut"
    MISPRINTED = "misprinted"
    INCOMPLETE = "incomplete"
    ISSUED_IN_ERROR = "issued_in_error"
    DEFECTIVE = "defective"


class KenoTicketRefusal(StrEnum):
    """The reason why an event, such as a claim, is refused for a Keno ticket."""

    NOT_IN_THIS_STATE = "not_in_this_state"
    """The ticket's state does not permit the event."""
    NOT_ITS_DRAW = "not_its_draw"
    """The ticket does not take part in the draw."""
    DRAW_IS_CLOSED_OR_DECIDED = "draw_is_decided"
    """Sales for the draw are closed, or the draw is already decided for the ticket."""
    DRAW_IS_OPEN = "draw_is_open"
    """The draw is still open to bets, so that it cannot be settled."""
    VOID = "void"
    """The ticket is void."""
    NOT_PROVEN = "not_proven"
    """The control number cannot be read or is not that of the ticket, so nothing proves which ticket it is (s. 83)."""
    WRONG_PLACE = "wrong_place"
    """The ticket was presented elsewhere than at its place of claim."""
    TOO_LATE = "too_late"
    """The claim period is over."""
    TOO_EARLY = "too_early"
    """The ticket is claimed before any of its draws was held, or is to expire before the end of its claim period."""
    ALREADY_PAID = "already_paid"
    """The prize was paid before."""
    NO_PRIZE = "no_prize"
    """The ticket has won nothing."""


class TicketRefusedError(PaytableError):
    """Raised if an event is not allowed for a Keno ticket. ``code`` names the reason; the message states it."""

    def __init__(self, code: KenoTicketRefusal, text: str) -> None:
        self.code = code
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class DecidedDraw:
    """The result of a decided draw for a Keno ticket: a prize if it was settled, the returned stake if it failed."""

    credits: int
    """The prize, or the returned stake, in credits."""
    is_refund: bool
    """Whether the amount is the stake returned because the draw failed."""
    decided_on: date
    """The day on which the draw was decided."""
    is_paid: bool = False
    """Whether the holder has received the amount."""


@dataclass(frozen=True, slots=True)
class KenoTicketRecord:
    """A Keno ticket's stored record: its state, the draws closed to it, and the result of each decided draw."""

    printed_ticket: PrintedTicket
    """What is printed on the ticket."""
    state: KenoTicketState = KenoTicketState.UNPAID
    """The state of the ticket in its life cycle."""
    closed_draws: frozenset[int] = frozenset()
    """The numbers of the ticket's draws that are closed to bets."""
    decided_draws: Mapping[int, DecidedDraw] = field(default_factory=dict)
    """The result of each decided draw, by draw number."""

    @property
    def claim_deadline(self) -> date | None:
        """Return the last day to claim the Keno ticket, counted from its last draw, or None while draws are pending."""
        if set(self.decided_draws) != set(self.printed_ticket.draw_numbers):
            return None
        return max(d.decided_on for d in self.decided_draws.values()) + timedelta(
            days=self.printed_ticket.claim_days
        )

    @property
    def unpaid_credits(self) -> int:
        """Return the credits that decided draws owe the Keno ticket's holder and that were not paid yet."""
        return sum(d.credits for d in self.decided_draws.values() if not d.is_paid)

    def to_json(self) -> dict[str, Json]:
        """Return the record as the JSON object that the central computer stores; :meth:`from_json` is the inverse."""
        return {
            "paper": self.printed_ticket.to_json(),
            "state": self.state.value,
            "closed": sorted(self.closed_draws),
            "decided": {
                str(n): {
                    "credits": d.credits,
                    "refund": d.is_refund,
                    "on": d.decided_on.isoformat(),
                    "paid": d.is_paid,
                }
                for n, d in sorted(self.decided_draws.items())
            },
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "KenoTicketRecord":
        """Return the record that :meth:`to_json` has written to the JSON object ``data``."""
        return cls(
            printed_ticket=PrintedTicket.from_json(data["paper"]),
            state=KenoTicketState(data["state"]),
            closed_draws=frozenset(data["closed"]),
            decided_draws={
                int(n): DecidedDraw(d["credits"], d["refund"], date.fromisoformat(d["on"]), d["paid"])
                for n, d in data["decided"].items()
            },
        )


@dataclass(frozen=True, slots=True)
class PresentedTicket:
    """A Keno ticket presented for payment: its condition, its control number, and other data read from it."""

    condition: TicketCondition
    """The condition of the ticket's paper."""
    control_number: str | None
    """The control number read from the ticket, or None if it cannot be read."""
    printed_values: Mapping[str, Json] = field(default_factory=dict)
    """Other data read from the ticket, named as in :meth:`PrintedTicket.to_json`; the pay does not depend on them."""


@dataclass(frozen=True, slots=True)
class ClaimPayment:
    """The payment of a claim on a Keno ticket: the credits, the draws they are for, and how the paper differs."""

    credits: int
    """The credits that are paid."""
    draws: tuple[int, ...]
    """The numbers of the draws for which the claim is paid."""
    is_paper_void: bool
    """Whether the paper alone was void, but its control number proved which ticket it is (s. 83)."""
    differing_values: tuple[str, ...]
    """The names of the printed data that differ from the record."""


def _require_next_state(record: KenoTicketRecord, event: TicketEvent) -> KenoTicketState:
    """Return a Keno ticket's state after an event. Raises :class:`TicketRefusedError` if it is not allowed now."""
    state = TICKET_TRANSITIONS.get((record.state, event))
    if state is None:
        raise TicketRefusedError(
            KenoTicketRefusal.VOID
            if record.state is KenoTicketState.VOID
            else KenoTicketRefusal.NOT_IN_THIS_STATE,
            f"ticket {record.printed_ticket.ticket_number} {_STATE_TEXTS[record.state]}; {_EVENT_TEXTS[event]}",
        )
    return state


def record_ticket_payment(record: KenoTicketRecord) -> KenoTicketRecord:
    """Return the record of a Keno ticket after its payment. It must be paid before its first draw is closed (s. 83)."""
    return replace(record, state=_require_next_state(record, TicketEvent.PAY))


def cancel_ticket(record: KenoTicketRecord) -> tuple[KenoTicketRecord, int]:
    """Return the record of a Keno ticket after its cancellation, and the credits to refund.

    Raises :class:`TicketRefusedError` once one of its draws was closed.
    """
    state = _require_next_state(record, TicketEvent.CANCEL)
    refund = record.printed_ticket.cost_credits if record.state is KenoTicketState.SOLD else 0
    return replace(record, state=state), refund


def record_draw_closing(record: KenoTicketRecord, draw_number: int) -> KenoTicketRecord:
    """Return a Keno ticket's record after sales close for a draw, which is before the first ball.

    A ticket of that draw that is still unpaid becomes void (s. 83).
    """
    _check_draw_is_open(record, draw_number)
    state = _require_next_state(record, TicketEvent.CLOSE)
    return replace(record, state=state, closed_draws=record.closed_draws | {draw_number})


def settle_ticket_draw(
    record: KenoTicketRecord, draw_number: int, prize_credits: int, decided_on: date
) -> KenoTicketRecord:
    """Return the Keno ticket's record with its prize from one draw, 0 if it won nothing.

    Raises :class:`TicketRefusedError` for a draw that is not closed, is decided already, or is not one of the ticket.
    """
    if prize_credits < 0:
        raise ValueError(f"a prize of {prize_credits} credits was given; expected 0 or more")
    return _record_decided_draw(
        record,
        TicketEvent.SETTLE,
        draw_number,
        DecidedDraw(prize_credits, is_refund=False, decided_on=decided_on),
    )


def record_draw_fault(record: KenoTicketRecord, draw_number: int, decided_on: date) -> KenoTicketRecord:
    """Return the Keno ticket's record after a draw failed permanently: the stake of the draw is returned to the holder.

    Raises :class:`TicketRefusedError` as :func:`settle_ticket_draw` does.
    """
    return _record_decided_draw(
        record,
        TicketEvent.FAULT,
        draw_number,
        DecidedDraw(record.printed_ticket.cost_per_draw_credits, is_refund=True, decided_on=decided_on),
    )


def _check_takes_part(record: KenoTicketRecord, draw_number: int) -> None:
    """Raise :class:`TicketRefusedError` if a Keno ticket does not take part in a draw."""
    if draw_number not in record.printed_ticket.draw_numbers:
        raise TicketRefusedError(
            KenoTicketRefusal.NOT_ITS_DRAW,
            f"draw {draw_number} is not one of {list(record.printed_ticket.draw_numbers)}",
        )


def _check_draw_is_open(record: KenoTicketRecord, draw_number: int) -> None:
    """Raise :class:`TicketRefusedError` if a Keno ticket has no part in a draw, or if the draw's sales are closed."""
    _check_takes_part(record, draw_number)
    if draw_number in record.closed_draws:
        raise TicketRefusedError(
            KenoTicketRefusal.DRAW_IS_CLOSED_OR_DECIDED, f"sales for draw {draw_number} are already closed"
        )


def _record_decided_draw(
    record: KenoTicketRecord, event: TicketEvent, draw_number: int, decided_draw: DecidedDraw
) -> KenoTicketRecord:
    """Return the Keno ticket's record with the result of one draw."""
    state = _require_next_state(record, event)
    _check_takes_part(record, draw_number)
    if draw_number not in record.closed_draws:
        raise TicketRefusedError(
            KenoTicketRefusal.DRAW_IS_OPEN, f"sales for draw {draw_number} have not ended"
        )
    if draw_number in record.decided_draws:
        raise TicketRefusedError(
            KenoTicketRefusal.DRAW_IS_CLOSED_OR_DECIDED,
            f"draw {draw_number} was already decided for this ticket",
        )
    return replace(record, state=state, decided_draws={**record.decided_draws, draw_number: decided_draw})


def claim_ticket(
    record: KenoTicketRecord, presented_ticket: PresentedTicket, *, claim_place: str, claimed_at: datetime
) -> tuple[KenoTicketRecord, ClaimPayment]:
    """Return the record and the payment when a Keno ticket's holder claims all decided, unpaid amounts (s. 86).

    Later draws of the ticket remain valid. ``claimed_at`` is local time at ``claim_place``, where the claim is made.
    Raises :class:`TicketRefusedError` with the first ground that applies. The control number is checked first, so that
    a refusal reveals nothing about the ticket to a stranger.
    """
    number = presented_ticket.control_number
    if (
        number is None
        or not is_well_formed_control_number(number)
        or not is_same_control_number(number, record.printed_ticket.control_number)
    ):
        raise TicketRefusedError(
            KenoTicketRefusal.NOT_PROVEN,
            f"the control number is not that of the ticket (condition of the paper: {presented_ticket.condition})",
        )
    state = _require_next_state(record, TicketEvent.CLAIM)
    if claim_place != record.printed_ticket.claim_place:
        raise TicketRefusedError(
            KenoTicketRefusal.WRONG_PLACE,
            f"claimed at {claim_place}; the ticket says {record.printed_ticket.claim_place}",
        )
    if record.claim_deadline is not None and claimed_at.date() > record.claim_deadline:
        raise TicketRefusedError(
            KenoTicketRefusal.TOO_LATE,
            f"claimed on {claimed_at.date()}; the last day was {record.claim_deadline}",
        )
    if not record.decided_draws:
        raise TicketRefusedError(KenoTicketRefusal.TOO_EARLY, "none of its draws has been held")
    credits_ = record.unpaid_credits
    if not credits_:
        has_won = any(d.credits for d in record.decided_draws.values())
        raise TicketRefusedError(
            KenoTicketRefusal.ALREADY_PAID if has_won else KenoTicketRefusal.NO_PRIZE,
            f"ticket {record.printed_ticket.ticket_number}: its prizes were paid already"
            if has_won
            else f"ticket {record.printed_ticket.ticket_number} has won nothing in the draws held so far",
        )
    due_draws = tuple(n for n, d in sorted(record.decided_draws.items()) if d.credits and not d.is_paid)
    paper_values = record.printed_ticket.to_json()
    paid_draws = {n: replace(d, is_paid=d.is_paid or n in due_draws) for n, d in record.decided_draws.items()}
    return replace(record, state=state, decided_draws=paid_draws), ClaimPayment(
        credits=credits_,
        draws=due_draws,
        is_paper_void=presented_ticket.condition is not TicketCondition.INTACT,
        differing_values=tuple(
            sorted(k for k, v in presented_ticket.printed_values.items() if paper_values.get(k) != v)
        ),
    )


def expire_ticket(record: KenoTicketRecord, today: date) -> tuple[KenoTicketRecord, int]:
    """Return the record of a Keno ticket after the end of its claim period, and the credits that were not claimed.

    Raises :class:`TicketRefusedError` until the claim period is over.
    """
    state = _require_next_state(record, TicketEvent.EXPIRE)
    if record.claim_deadline is None or today <= record.claim_deadline:
        raise TicketRefusedError(
            KenoTicketRefusal.TOO_EARLY, f"it may be claimed until {record.claim_deadline or 'its last draw'}"
        )
    return replace(record, state=state), record.unpaid_credits
