"""Value out: reserved when the player asks, settled when it has left.

The credits leave the player's account only with the settlement; while they are reserved they can neither be
played nor paid a second time.
"""

from collections.abc import Callable, Sequence
from typing import Final

from egm.cabinet.cabinet import CREDIT, Cabinet, Key, Occurrence
from egm.link.messages import Notice
from meters import Phase, Transfer


def has_credit(cabinet: Cabinet, _: Occurrence) -> bool:
    """There is something to pay."""
    return cabinet.credit_cents > 0


def reserve_pay_out(cabinet: Cabinet, _: Occurrence) -> None:
    """Set the whole balance aside for the player."""
    amount_cents = cabinet.credit_cents
    pay_out_id = f"cashout-{cabinet.journal.sequence + 1}"
    cabinet.record(
        "cashout.request",
        transaction_id=pay_out_id,
        phase=Phase.RESERVE,
        transfers=(Transfer(CREDIT, "out:handpay_cancelled_credit", amount_cents),),
        state={Key.PAY_OUT: {"id": pay_out_id, "amount_cents": amount_cents}},
    )


def open_cancelled_credit(cabinet: Cabinet, _: Occurrence) -> None:
    """No device can pay: the amount becomes a cancelled credit, paid by an attendant (NZ 1.20.2)."""
    pay_out = cabinet.recall(Key.PAY_OUT)
    cabinet.record(
        "handpay.pending",
        transaction_id=f"{pay_out['id']}.handpay",
        state={Key.PAY_OUT: None, Key.HANDPAY: {**pay_out, "kind": "cancelled_credit"}},
        story=pay_out,
    )


def settle_handpay(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """The attendant has paid: the reservation is settled and the machine is free."""
    handpay = cabinet.recall(Key.HANDPAY)
    cabinet.record(
        "handpay.paid",
        transaction_id=f"{handpay['id']}.paid",
        phase=Phase.SETTLE,
        ref=handpay["id"],
        counts={f"handpays.{handpay['kind']}": 1},
        state={Key.HANDPAY: None},
        story={**handpay, "person": occurrence.values.get("key", "attendant")},
    )
    cabinet.notice = Notice(code="handpay_paid", values={"amount_cents": handpay["amount_cents"]})


GUARDS: Final[Sequence[Callable[[Cabinet, Occurrence], bool]]] = (has_credit,)
EFFECTS: Final[Sequence[Callable[[Cabinet, Occurrence], None]]] = (
    reserve_pay_out,
    open_cancelled_credit,
    settle_handpay,
)
