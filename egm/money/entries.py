"""The journal entries of money: bills, coins and tickets in; tickets, coins and hand-pays out."""

from dataclasses import dataclass
from types import NoneType
from typing import Final

from egm.kernel.entries import Entry, Moves
from egm.record_codec import omit_if_default
from egm.record_fields import Cents, Count, Masked, Words
from egm.records.keys import HostKey, MoneyKey
from meters import Phase

_CASHABLE: Final = "credit:*:cashable"


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeDetails:
    """A dispute that an entry opens, with the known bounds of the amount; ``number``: of a disputed ticket."""

    id: Words
    device: Words
    why: str = omit_if_default("")
    number: Masked = omit_if_default("")
    least_cents: Count
    most_cents: Count


# ---------------------------------------------------------------------------------------------- bills and tickets in
@dataclass(frozen=True, slots=True, kw_only=True)
class BillIn:
    """A bill was stacked and its amount credited."""

    amount_cents: Cents


@dataclass(frozen=True, slots=True, kw_only=True)
class BillNotStacked:
    """An ordered bill did not reach the box, or it is disputed whether it did; nothing is credited."""

    amount_cents: Cents
    why: str
    disputed: DisputeDetails | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoucherIn:
    """A ticket was stacked and its amount credited."""

    amount_cents: Cents
    number: Masked
    commitment: str = omit_if_default("")
    """Commits to the ticket's full number, which no journal contains (E-06)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoucherNotStacked:
    """An ordered ticket did not reach the box, or it is disputed whether it did; nothing is credited."""

    amount_cents: Cents
    number: Masked
    why: str
    disputed: DisputeDetails | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoucherDisputed:
    """A ticket is in the box whose lock this machine no longer holds; nothing is credited until a ruling."""

    amount_cents: Cents
    number: Masked
    disputed: DisputeDetails


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRejected:
    """The acceptor rejected something by itself, or a bill or ticket was returned to the player."""

    reason: str


BILL_ESCROW: Final = Entry(
    kind="bill.escrow",
    record=NoneType,
    about="A bill is ordered into the box and its credit reserved.",
    phase=Phase.RESERVE,
    moves=(Moves("world:bill", _CASHABLE),),
    writes=(MoneyKey.PAPER,),
)
BILL_IN: Final = Entry(
    kind="bill.in",
    record=BillIn,
    phase=Phase.SETTLE,
    settles=(BILL_ESCROW,),
    counts={"bills_accepted": 1},
    writes=(MoneyKey.PAPER,),
)
BILL_NOT_STACKED: Final = Entry(
    kind="bill.not_stacked",
    record=BillNotStacked,
    phase=Phase.VOID,
    settles=(BILL_ESCROW,),
    counts={"bills_not_stacked": 1},
    writes=(MoneyKey.PAPER,),
    may_write=(MoneyKey.DISPUTED,),
)
VOUCHER_ESCROW: Final = Entry(
    kind="voucher.escrow",
    record=NoneType,
    about="A ticket is ordered into the box and its credit reserved.",
    phase=Phase.RESERVE,
    moves=(Moves("world:voucher_in:*", "credit:*:*"),),
    writes=(MoneyKey.PAPER,),
)
VOUCHER_IN: Final = Entry(
    kind="voucher.in",
    record=VoucherIn,
    phase=Phase.SETTLE,
    settles=(VOUCHER_ESCROW,),
    counts={"vouchers_accepted": 1},
    writes=(MoneyKey.PAPER,),
    may_write=(HostKey.TICKET, MoneyKey.RESTRICTED, MoneyKey.TICKETS),
)
VOUCHER_DISPUTED: Final = Entry(
    kind="voucher.disputed",
    record=VoucherDisputed,
    phase=Phase.VOID,
    settles=(VOUCHER_ESCROW,),
    counts={"vouchers_disputed": 1},
    writes=(MoneyKey.PAPER, MoneyKey.DISPUTED),
)
VOUCHER_NOT_STACKED: Final = Entry(
    kind="voucher.not_stacked",
    record=VoucherNotStacked,
    phase=Phase.VOID,
    settles=(VOUCHER_ESCROW,),
    counts={"vouchers_not_stacked": 1},
    writes=(MoneyKey.PAPER,),
    may_write=(HostKey.TICKET, MoneyKey.DISPUTED),
)
VOUCHER_REFUSED: Final = Entry(
    kind="voucher.refused",
    record=PaperRejected,
    about="No ledger redeems the ticket; it is returned.",
    counts={"vouchers_refused": 1},
)
PAPER_MARK: Final = Entry(
    kind="bill.mark",
    record=NoneType,
    about="The position of the acceptor's protocol changed while a bill or ticket is open.",
    writes=(MoneyKey.PAPER,),
)
PAPER_MOVING: Final = Entry(
    kind="bill.moving",
    record=NoneType,
    about="The acceptor reports in which direction a bill or ticket moves.",
    writes=(MoneyKey.PAPER,),
)
PAPER_CONFIRMED: Final = Entry(
    kind="bill.confirmed",
    record=NoneType,
    about="The acceptor has confirmed that it received the acknowledgement of a stacked bill or ticket.",
    writes=(MoneyKey.PAPER,),
)
BILL_RETURNED: Final = Entry(
    kind="bill.returned",
    record=PaperRejected,
    about="A bill was returned to the player.",
    counts={"bills_returned": 1},
    may_write=(HostKey.TICKET,),
)
VOUCHER_RETURNED: Final = Entry(
    kind="voucher.returned",
    record=PaperRejected,
    about="A ticket was returned to the player.",
    counts={"vouchers_returned": 1},
    may_write=(HostKey.TICKET,),
)
BILL_REJECTED: Final = Entry(
    kind="bill.rejected",
    record=PaperRejected,
    about="The acceptor rejected something by itself.",
    counts={"bills_rejected": 1},
)


# ---------------------------------------------------------------------------------------------- coins in
@dataclass(frozen=True, slots=True, kw_only=True)
class CoinInDisputed:
    """Coins were accepted, and it is disputed how many."""

    disputed: DisputeDetails


_COINS: Final = (
    Moves("world:coin", _CASHABLE),
    Moves("stock:floor", "stock:hopper"),
    Moves("stock:floor", "stock:coin_box"),
)
COIN_IN: Final = Entry(
    kind="coin.in",
    record=NoneType,
    about="Coins were accepted and credited.",
    moves=_COINS,
    counts={"coins_accepted": None},
    writes=(MoneyKey.COINS,),
)
COIN_IN_DISPUTED: Final = Entry(
    kind="coin.in",
    record=CoinInDisputed,
    moves=_COINS,
    counts={"coins_accepted": None},
    writes=(MoneyKey.COINS, MoneyKey.DISPUTED),
)
