"""Value in: a bill is reserved before it is stacked and posted when it is irrevocably in the box.

The acceptor's driver asks :class:`BillLedger` at each step that must count exactly once, and goes on only
when the answer is durable; the rule and its proof stand in :mod:`egm.devices.escrow`. Whenever the power
goes, the bill is either credited or given back, never both and never neither (NY 5319.21(a)(2), 5319.54(a)).
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from egm.cabinet.cabinet import CREDIT, Cabinet, Key, Occurrence
from egm.cabinet.states import Event, State
from egm.devices.interface import BillAcceptor, Content, Note
from egm.devices.ledgers import EscrowPhase, EscrowRecord
from egm.errors import InvariantError, invariant
from egm.link.messages import Notice
from meters import Phase, Transfer


def bills_wanted(cabinet: Cabinet, state: State) -> frozenset[int]:
    """The denominations the acceptor should take now; none unless the machine is ready to play (G-04)."""
    value_in = cabinet.profile.value_in
    ready = state is State.IDLE and cabinet.credit_cents < value_in.credit_limit_cents
    return frozenset(value_in.bills_cents) if ready else frozenset()


# ---------------------------------------------------------------------------------------------- guards
def bill_is_welcome(cabinet: Cabinet, occurrence: Occurrence) -> bool:
    """A bill the profile takes, below the credit limit, and no other bill on its way into the box."""
    return (
        occurrence.values.get("amount_cents") in bills_wanted(cabinet, State.IDLE)
        and cabinet.recall(Key.BILL) is None
    )


# ---------------------------------------------------------------------------------------------- effects
def stack_bill(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Order the bill into the box; the driver has the ledger reserve its credit first."""
    cabinet.notice = None
    _acceptor(cabinet).stack(int(occurrence.values["escrow"]))


def return_bill(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Order the bill back to the player, and say so."""
    _acceptor(cabinet).return_bill(int(occurrence.values["escrow"]))
    cabinet.notice = Notice(
        code="bill_returned",
        severity="warning",
        values={"amount_cents": int(occurrence.values.get("amount_cents") or 0)},
    )


def credit_bill(cabinet: Cabinet, _: Occurrence) -> None:
    """The bill is in the box: post its reservation into the player's credits."""
    bill = cabinet.recall(Key.BILL)
    cabinet.record(
        "bill.in",
        transaction_id=f"{bill['id']}.in",
        phase=Phase.SETTLE,
        ref=bill["id"],
        counts={"bills_accepted": 1},
        state={Key.BILL: {**bill, "phase": EscrowPhase.VENDED.value}},
        story={"amount_cents": bill["amount_cents"]},
    )
    cabinet.notice = Notice(code="bill_accepted", values={"amount_cents": bill["amount_cents"]})


def void_bill(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """An ordered bill never reached the box: void its reservation."""
    bill = cabinet.recall(Key.BILL)
    cabinet.record(
        "bill.not_stacked",
        transaction_id=f"{bill['id']}.void",
        phase=Phase.VOID,
        ref=bill["id"],
        counts={"bills_not_stacked": 1},
        state={Key.BILL: None},
        story={"why": occurrence.values["why"], "amount_cents": bill["amount_cents"]},
    )


def record_bill_returned(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """A bill went back to the player; nothing was credited."""
    cabinet.record("bill.returned", counts={"bills_returned": 1}, story=dict(occurrence.values))


def record_bill_rejected(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """The acceptor refused something by itself."""
    cabinet.record("bill.rejected", counts={"bills_rejected": 1}, story=dict(occurrence.values))
    cabinet.notice = Notice(code="bill_rejected", severity="warning")


def _acceptor(cabinet: Cabinet) -> BillAcceptor:
    if cabinet.acceptor is None:
        raise InvariantError("a bill without an acceptor")
    return cabinet.acceptor


# ---------------------------------------------------------------------------------------------- the ledger
class BillLedger:
    """The acceptor driver's durable memory (:class:`egm.devices.ledgers.EscrowLedger`), kept in the journal.

    ``handle`` is the engine's: what moves money goes through the state table like everything else, and is
    durable when it returns.
    """

    def __init__(self, cabinet: Cabinet, handle: Callable[..., None]) -> None:
        self._cabinet = cabinet
        self._handle = handle

    def pending(self) -> EscrowRecord | None:
        """The bill whose stacking is not finished."""
        bill = self._cabinet.recall(Key.BILL)
        if bill is None:
            return None
        return EscrowRecord(
            content=Note(bill["amount_cents"]), phase=EscrowPhase(bill["phase"]), mark=bill["mark"]
        )

    def stack_ordered(self, content: Content, mark: int) -> None:
        """Reserve the bill's credit: from here on the machine knows what may come."""
        invariant(self.pending() is None, "a second bill ordered into the box")
        if not isinstance(content, Note):
            raise InvariantError("a ticket ordered into the box as a bill")
        bill_id = f"bill-{self._cabinet.journal.sequence + 1}"
        amount_cents = content.amount_cents
        phase = EscrowPhase.ORDERED.value
        self._cabinet.record(
            "bill.escrow",
            transaction_id=bill_id,
            phase=Phase.RESERVE,
            transfers=(Transfer("world:bill", CREDIT, amount_cents, {"bill_cents": amount_cents}),),
            state={Key.BILL: {"id": bill_id, "amount_cents": amount_cents, "phase": phase, "mark": mark}},
        )

    def vended(self) -> None:
        """Credit the open bill."""
        invariant(self._phase() is EscrowPhase.ORDERED, "a bill credited out of order")
        self._handle(Event.BILL_STACKED)
        invariant(self._phase() is EscrowPhase.VENDED, "a stacked bill was not credited")

    def vend_confirmed(self) -> None:
        """The acceptor knows that we know; the record is closed."""
        invariant(self._phase() is EscrowPhase.VENDED, "a bill closed before it was credited")
        self._cabinet.record("bill.confirmed", state={Key.BILL: None})

    def not_stacked(self, why: str) -> None:
        """The bill never reached the box."""
        invariant(self._phase() is EscrowPhase.ORDERED, "a credited bill cannot be given back")
        self._handle(Event.BILL_NOT_STACKED, why=why)
        invariant(self.pending() is None, "a returned bill is still open")

    def set_mark(self, mark: int) -> None:
        """Keep the driver's place in its protocol with the open bill."""
        bill: dict[str, Any] = self._cabinet.recall(Key.BILL)
        self._cabinet.record("bill.mark", state={Key.BILL: {**bill, "mark": mark}})

    def _phase(self) -> EscrowPhase | None:
        record = self.pending()
        return None if record is None else record.phase


GUARDS: Final[Sequence[Callable[[Cabinet, Occurrence], bool]]] = (bill_is_welcome,)
EFFECTS: Final[Sequence[Callable[[Cabinet, Occurrence], None]]] = (
    stack_bill,
    return_bill,
    credit_bill,
    void_bill,
    record_bill_returned,
    record_bill_rejected,
)
