"""The journal entries of money: bills, coins and tickets in; tickets, coins and hand-pays out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Final, Literal

from egm.host.keys import HostKey
from egm.kernel.entries import Entry, Moves
from egm.kernel.keys import KernelKey
from egm.kernel.logs import Log
from egm.kernel.messages import HandpayKind
from egm.kernel.significance import Clear, Effect, Significance
from egm.money.keys import MoneyKey
from egm.money.records.host import TransferRecord
from egm.money.records.money import CashOutRecord, CoinPayoutProgress, HandpayForm, HandpayRecord, PrizeRecord
from egm.record_codec import inline_record, omit_if_default, stored_as
from egm.record_fields import Cents, Count, Masked, NonBlankText, Person, Positive, Serial
from egm.staff.records import RulingDetails
from meters import Phase
from meters.transaction import JSON

#: The accounts of the players' cashable credit, at any position.
_CASHABLE: Final = "credit:*:cashable"


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeDetails:
    """The record of a dispute that a journal entry opens, with the known bounds of the amount."""

    id: NonBlankText
    """The id of the dispute."""
    device: NonBlankText
    """The device that took or paid the money."""
    reason: str = omit_if_default("", key="why")
    masked_ticket_number: Masked = omit_if_default("", key="number")
    """The number of a disputed ticket, masked; empty for bills and coins."""
    smallest_cents: Count = field(metadata=stored_as("least_cents"))
    """The smallest amount that may be owed."""
    largest_cents: Count = field(metadata=stored_as("most_cents"))
    """The largest amount that may be owed."""


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
class TicketIn:
    """A ticket was stacked and its amount credited."""

    amount_cents: Cents
    number: Masked
    commitment: str = omit_if_default("")
    """A commitment to the ticket's full number, which no journal contains (E-06)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketNotStacked:
    """An ordered ticket did not reach the box, or it is disputed whether it did; nothing is credited."""

    amount_cents: Cents
    number: Masked
    why: str
    disputed: DisputeDetails | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketDisputed:
    """A ticket was stacked, but its lock on this machine had been removed; nothing is credited until a ruling."""

    amount_cents: Cents
    number: Masked
    disputed: DisputeDetails


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRejected:
    """The acceptor rejected a bill, ticket or other paper, or the machine returned a bill or ticket to the player."""

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
    subject="amount_cents",
    significance={
        "100": Significance(Effect.LOG, sas=0x47),
        "200": Significance(Effect.LOG, sas=0x4D),
        "500": Significance(Effect.LOG, sas=0x48),
        "1000": Significance(Effect.LOG, sas=0x49),
        "2000": Significance(Effect.LOG, sas=0x4A),
        "5000": Significance(Effect.LOG, sas=0x4B),
        "10000": Significance(Effect.LOG, sas=0x4C),
        "20000": Significance(Effect.LOG, sas=0x50),
        "50000": Significance(Effect.LOG, sas=0x4E),
        "*": Significance(Effect.LOG, sas=0x4F),
    },
    logs=(Log.BILLS,),
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
    significance=Significance(Effect.LOG),
)
VOUCHER_IN: Final = Entry(
    kind="voucher.in",
    record=TicketIn,
    phase=Phase.SETTLE,
    settles=(VOUCHER_ESCROW,),
    counts={"vouchers_accepted": 1},
    writes=(MoneyKey.PAPER,),
    may_write=(HostKey.TICKET, MoneyKey.RESTRICTED, MoneyKey.TICKETS),
    significance=Significance(Effect.LOG),
    logs=(Log.VOUCHERS,),
)
VOUCHER_DISPUTED: Final = Entry(
    kind="voucher.disputed",
    record=TicketDisputed,
    phase=Phase.VOID,
    settles=(VOUCHER_ESCROW,),
    counts={"vouchers_disputed": 1},
    writes=(MoneyKey.PAPER, MoneyKey.DISPUTED),
    significance=Significance(Effect.LOG),
    logs=(Log.VOUCHERS,),
)
VOUCHER_NOT_STACKED: Final = Entry(
    kind="voucher.not_stacked",
    record=TicketNotStacked,
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
    is_bookkeeping=True,
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
    significance=Significance(Effect.LOG, sas=0x2B),
)


# ---------------------------------------------------------------------------------------------- coins in
@dataclass(frozen=True, slots=True, kw_only=True)
class CoinInDisputed:
    """Coins were accepted, and it is disputed how many."""

    disputed: DisputeDetails


#: The transfers when coins are accepted: to the player's credit, and to the hopper or the drop box.
_COINS_IN_MOVES: Final = (
    Moves("world:coin", _CASHABLE),
    Moves("stock:floor", "stock:hopper"),
    Moves("stock:floor", "stock:coin_box"),
)
COIN_IN: Final = Entry(
    kind="coin.in",
    record=NoneType,
    about="Coins were accepted and credited.",
    moves=_COINS_IN_MOVES,
    counts={"coins_accepted": None},
    writes=(MoneyKey.COIN_EVENTS,),
)
COIN_IN_DISPUTED: Final = Entry(
    kind="coin.in",
    record=CoinInDisputed,
    moves=_COINS_IN_MOVES,
    counts={"coins_accepted": None},
    writes=(MoneyKey.COIN_EVENTS, MoneyKey.DISPUTED),
)


# ---------------------------------------------------------------------------------------------- tickets out
@dataclass(frozen=True, slots=True, kw_only=True)
class TicketOut:
    """A ticket's bar code is printed: the reserved credit has become the ticket."""

    cash_out: CashOutRecord = inline_record()
    commitment: str = omit_if_default("")
    """A commitment to the ticket's full number, which no journal contains (E-06)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketTaken:
    """The printer no longer holds the printed ticket."""

    id: str
    """The id of the cash-out that printed the ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutVoided:
    """A payout failed; the unpaid amount is on the credit meter again."""

    cash_out: CashOutRecord = inline_record()
    why: str


VOUCHER_REQUEST: Final = Entry(
    kind="voucher.request",
    record=NoneType,
    about="Credit is reserved for a ticket.",
    phase=Phase.RESERVE,
    moves=(Moves("credit:*:*", "out:voucher:*"),),
    writes=(MoneyKey.PAY_OUT, MoneyKey.CASH_OUT_REMAINDER),
    significance=Significance(Effect.LOG, sas=0x66),
)
TICKET_PENDING: Final = Entry(
    kind="ticket.pending",
    record=NoneType,
    about="The printer has accepted a ticket, a slip or a test print.",
    writes=(MoneyKey.PRINT,),
)
TICKET_PRINTING: Final = Entry(
    kind="ticket.printing",
    record=NoneType,
    about="The printer has started to print.",
    writes=(MoneyKey.PRINT,),
)
VOUCHER_OUT: Final = Entry(
    kind="voucher.out",
    record=TicketOut,
    phase=Phase.SETTLE,
    settles=(VOUCHER_REQUEST,),
    writes=(MoneyKey.PAY_OUT, MoneyKey.PRINT),
    may_write=(HostKey.RING_COUNT, HostKey.RING, MoneyKey.TICKETS),
    significance=Significance(Effect.LOG, sas=0x3D),
    logs=(Log.VOUCHERS,),
)
TICKET_TAKEN: Final = Entry(
    kind="ticket.taken",
    record=TicketTaken,
    writes=(MoneyKey.PRINT,),
)
TICKET_CASH_OUT_VOID: Final = Entry(
    kind="cashout.void",
    record=CashOutVoided,
    about="A ticket was not printed; its amount is on the credit meter again.",
    phase=Phase.VOID,
    settles=(VOUCHER_REQUEST,),
    writes=(MoneyKey.PAY_OUT,),
    may_write=(MoneyKey.PRINT, MoneyKey.CASH_OUT_REMAINDER),
)
TICKET_DISPUTED: Final = Entry(
    kind="ticket.disputed",
    record=DisputeDetails,
    about="It is disputed whether a ticket came out of the printer; its credit stays reserved until a ruling.",
    writes=(MoneyKey.PRINT, MoneyKey.DISPUTED),
    significance=Significance(Effect.LOG),
    logs=(Log.VOUCHERS,),
)


# ---------------------------------------------------------------------------------------------- coins out
@dataclass(frozen=True, slots=True, kw_only=True)
class CoinsCounted:
    """The hopper has counted out coins of the open payout; the number so far is recorded."""

    id: str
    """The id of the cash-out."""
    paid_coins: Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinsOut:
    """The hopper has paid all coins of a payout."""

    cash_out: CashOutRecord = inline_record()
    paid_coins: Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinsOutOfVoided:
    """Coins are posted that had left the hopper before their payout was voided."""

    id: str
    """The id of the voided cash-out."""
    payment_method: Literal["coins"] = field(metadata=stored_as("way"))
    """The payment method of the cash-out: coins."""
    amount_cents: Cents
    coins: Positive
    """The number of coins ordered."""
    paid_coins: Count
    doubt_reason: str = omit_if_default("", key="doubt")
    """The reason why more coins may have left the hopper than it counted; empty if the count is certain."""
    in_coins: CoinPayoutProgress | None = omit_if_default(None)


#: The transfers when the hopper has paid coins.
_COINS_DISPENSED_MOVES: Final = (Moves(_CASHABLE, "out:hopper"), Moves("stock:hopper", "stock:floor"))
COINS_REQUEST: Final = Entry(
    kind="coins.request",
    record=NoneType,
    about="Credit is reserved for coins from the hopper.",
    phase=Phase.RESERVE,
    moves=_COINS_DISPENSED_MOVES,
    writes=(MoneyKey.PAY_OUT, MoneyKey.CASH_OUT_REMAINDER),
    significance=Significance(Effect.LOG, sas=0x66),
)
COINS_ORDERED: Final = Entry(
    kind="coins.ordered",
    record=NoneType,
    about="The driver is about to order coins from the hopper; the hopper's counters before the order are stored.",
    writes=(MoneyKey.HOPPER,),
)
COINS_COUNTED: Final = Entry(
    kind="coins.counted",
    record=CoinsCounted,
    writes=(MoneyKey.HOPPER,),
)
COINS_OUT: Final = Entry(
    kind="coins.out",
    record=CoinsOut,
    phase=Phase.SETTLE,
    settles=(COINS_REQUEST,),
    writes=(MoneyKey.PAY_OUT, MoneyKey.HOPPER),
    may_write=(MoneyKey.CASH_OUT_REMAINDER,),
)
COINS_CASH_OUT_VOID: Final = Entry(
    kind="cashout.void",
    record=CashOutVoided,
    about="The hopper did not pay all coins; their amount is on the credit meter again.",
    phase=Phase.VOID,
    settles=(COINS_REQUEST,),
    writes=(MoneyKey.PAY_OUT, MoneyKey.HOPPER, MoneyKey.COINS_DISPENSED),
    may_write=(MoneyKey.CASH_OUT_REMAINDER,),
)
COINS_OUT_OF_VOIDED: Final = Entry(
    kind="coins.out",
    record=CoinsOutOfVoided,
    moves=_COINS_DISPENSED_MOVES,
    writes=(MoneyKey.COINS_DISPENSED,),
    may_write=(MoneyKey.CASH_OUT_REMAINDER,),
)
CASH_OUT_ENDED: Final = Entry(
    kind="cashout.ended",
    record=NoneType,
    about="The balance has changed, so no remainder of a cash-out waits to be paid any more.",
    writes=(MoneyKey.CASH_OUT_REMAINDER,),
)
CREDIT_CONVERTED: Final = Entry(
    kind="credit.converted",
    record=NoneType,
    about="Nonrestricted credit has become cashable, to be paid out.",
    moves=(Moves("credit:*:nonrestricted", _CASHABLE),),
)


# ---------------------------------------------------------------------------------------------- hand-pays
@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayMethodChosen:
    """The player has requested a ticket instead of the hand-pay, or has withdrawn the request."""

    handpay_id: str
    payment_method: Literal["ticket", "hand"]
    """``ticket`` if the player requested a ticket; ``hand`` if they withdrew the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayReturned:
    """An attendant has returned a hand-pay to the credit meter, to be paid by ticket."""

    handpay_id: str = field(metadata=stored_as("handpay"))
    amount_cents: Cents
    person: Person
    persons: tuple[str, ...]
    """The members of staff who returned it, or the key that was turned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayFormFilled:
    """The form of a hand-pay was filled in."""

    handpay_id: str = field(metadata=stored_as("handpay"))
    amount_cents: Count
    form: HandpayForm = inline_record()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayPaid:
    """A hand-pay was paid, and its prizes in kind were handed over; this record is its slip."""

    handpay: HandpayRecord = inline_record()
    payment_means: str = field(metadata=stored_as("method"))
    """The means of payment: cash, cheque or another."""
    identity_commitment: str = omit_if_default("", key="identity")
    """A commitment to the player's identity, which no journal contains."""
    slip_number: Positive = field(metadata=stored_as("slip"))
    """The slip's running number."""
    journal_head: str = omit_if_default("", key="witness")
    """The journal head (last entry's number and hash prefix) before this entry, as printed on the slip."""
    machine: Serial
    is_taxable: bool = field(metadata=stored_as("taxable"))
    """Whether the amount reaches the profile's limit from which a win is reported for tax."""
    person: Person
    persons: tuple[str, ...]
    """The people who filled in the form and those who paid: members of staff, a key switch, or a host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayUnclaimed:
    """Nobody has claimed a hand-pay: it is voided, and its money and prizes are registered as unclaimed."""

    id: str
    """The id of the hand-pay."""


#: Kinds of the entries of other features whose reservations a hand-pay settles.
_WIN_RESERVATIONS: Final = ("game.end", "handpay.exchanged", "progressive.won")
HANDPAY_PENDING: Final = Entry(
    kind="handpay.pending",
    record=NoneType,
    about="The player's money is reserved for an attendant to pay.",
    phase=Phase.RESERVE,
    moves=(Moves(_CASHABLE, "out:handpay_cancelled_credit"),),
    writes=(MoneyKey.HANDPAY, MoneyKey.CASH_OUT_REMAINDER),
    significance=Significance(Effect.LOCK, Clear.ATTENDANT, sas=0x51),
    logs=(Log.HANDPAYS,),
)
AFT_JACKPOT: Final = Entry(
    kind="aft.complete",
    record=TransferRecord,
    about="A bonus that the host awarded is reserved for an attendant to pay.",
    phase=Phase.RESERVE,
    moves=(Moves("house:bonus", "out:handpay_bonus"),),
    writes=(HostKey.TRANSFERS, HostKey.TRANSFER, MoneyKey.HANDPAY),
    significance=Significance(Effect.LOG),
    logs=(Log.TRANSFERS,),
)
HANDPAY_WAY: Final = Entry(
    kind="handpay.way",
    record=HandpayMethodChosen,
    writes=(MoneyKey.HANDPAY,),
    logs=(Log.HANDPAYS,),
)
HANDPAY_RETURNED: Final = Entry(
    kind="handpay.returned",
    record=HandpayReturned,
    phase=Phase.VOID,
    settles=(HANDPAY_PENDING,),
    writes=(MoneyKey.HANDPAY, MoneyKey.CASH_OUT_REMAINDER),
    significance=Significance(Effect.LOG, sas=0x52),
    logs=(Log.HANDPAYS,),
)
HANDPAY_FORM: Final = Entry(
    kind="handpay.form",
    record=HandpayFormFilled,
    writes=(MoneyKey.HANDPAY,),
    logs=(Log.HANDPAYS,),
)
HANDPAY_PAID: Final = Entry(
    kind="handpay.paid",
    record=HandpayPaid,
    phase=Phase.SETTLE,
    settles=(HANDPAY_PENDING, AFT_JACKPOT, *_WIN_RESERVATIONS),
    counts={"handpays.*": 1},
    writes=(MoneyKey.HANDPAY, MoneyKey.SLIP),
    significance=Significance(Effect.LOG, sas=0x52),
    logs=(Log.HANDPAYS,),
)
HANDPAY_UNCLAIMED: Final = Entry(
    kind="handpay.unclaimed",
    record=HandpayUnclaimed,
    phase=Phase.VOID,
    settles=(HANDPAY_PENDING, AFT_JACKPOT, *_WIN_RESERVATIONS),
    writes=(MoneyKey.HANDPAY, MoneyKey.UNCLAIMED),
    logs=(Log.HANDPAYS, Log.ORPHANS),
)


# ---------------------------------------------------------------------------------------------- disputes
@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeReleased:
    """The credit that was set aside for a dispute is released by a ruling; the ruling's payment follows."""

    id: str
    """The id of the dispute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeRuled(RulingDetails):
    """Staff have ruled on a disputed amount."""

    disputed: DisputeDetails = inline_record()
    amount_cents: Count
    """The amount awarded to the player."""
    commitment: str = omit_if_default("")
    """A commitment to the full number of the ticket that the ruling redeems."""


DISPUTE_OPENED: Final = Entry(
    kind="disputed.opened",
    record=DisputeDetails,
    about="A device's reports do not settle whether money was paid or taken; staff decide.",
    moves=(Moves("stock:hopper", "stock:floor"),),
    writes=(MoneyKey.DISPUTED,),
    significance=Significance(Effect.LOG),
)
DISPUTE_OPENED_WITH_CREDIT: Final = Entry(
    kind="disputed.opened",
    record=DisputeDetails,
    about="It is disputed how many coins left the hopper; their amount is set aside until staff decide.",
    phase=Phase.RESERVE,
    moves=(Moves(_CASHABLE, "out:handpay_disputed"),),
    writes=(MoneyKey.DISPUTED,),
    significance=Significance(Effect.LOG),
)
DISPUTE_RELEASED: Final = Entry(
    kind="disputed.released",
    record=DisputeReleased,
    phase=Phase.VOID,
    settles=(DISPUTE_OPENED_WITH_CREDIT,),
    writes=(MoneyKey.RULING,),
    significance=Significance(Effect.LOG),
)
DISPUTE_RULED: Final = Entry(
    kind="disputed.ruled",
    record=DisputeRuled,
    moves=(
        Moves("house:disputed", "out:handpay_disputed"),
        Moves("world:voucher_in:*", "out:handpay_disputed"),
        Moves(_CASHABLE, "out:handpay_disputed"),
        Moves(_CASHABLE, "out:hopper"),
        Moves("stock:hopper", "stock:floor"),
    ),
    counts={"rulings": 1},
    writes=(MoneyKey.DISPUTED,),
    may_write=(KernelKey.FAULT, MoneyKey.RULING, MoneyKey.PRINT, MoneyKey.TICKETS, HostKey.TICKET),
    significance=Significance(Effect.LOG),
)


# ---------------------------------------------------------------------------------------------- rulings
@dataclass(frozen=True, slots=True, kw_only=True)
class ComplementPaid(RulingDetails):
    """Staff have paid by hand the part of a winning combination that the machine did not pay (Monaco 21.4)."""

    amount_cents: Cents
    play_id: str | None
    slip_number: Count = omit_if_default(0, key="slip")
    """The number of the hand-pay slip that the complement completes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OrphanRuling(RulingDetails):
    """Base class of the rulings by which staff register money without a known owner."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanCredits(_OrphanRuling):
    """Credit left on the meter was taken into the register of unclaimed money; restricted credit expires instead."""

    kind: Literal["credits"] = "credits"
    """The kind of unclaimed money in the register: always `credits`."""
    amount_cents: Count
    """The amount taken into the register."""
    expired_cents: Count
    """The restricted credit that expired and is not in the register."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanHandpay(_OrphanRuling):
    """The money of an unclaimed hand-pay is in the register of unclaimed money."""

    kind: HandpayKind
    """The kind of hand-pay."""
    id: str
    """The id of the hand-pay."""
    amount_cents: Count
    prizes: tuple[PrizeRecord, ...] = omit_if_default(())


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanTicket(_OrphanRuling):
    """A ticket that was found was redeemed into the register of unclaimed money."""

    kind: Literal["ticket"] = "ticket"
    """The kind of unclaimed money in the register: always `ticket`."""
    amount_cents: Cents
    number: Masked
    commitment: str = omit_if_default("")
    """A commitment to the ticket's full number, which no journal contains (E-06)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanRefused(_OrphanRuling):
    """A ticket that was found without an owner could not be redeemed into the register of unclaimed money."""

    ledger_answer: str = field(metadata=stored_as("answer"))
    """The reason why the ticket cannot be redeemed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeForfeited(RulingDetails):
    """Two people have forfeited the prize that waited for an attendant (Québec s.94)."""

    id: str
    """The id of the hand-pay."""
    amount_cents: Count
    prizes: tuple[PrizeRecord, ...] = omit_if_default(())


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditsForfeited(RulingDetails):
    """Two people have removed credits won in a disrupted game (Québec s.94)."""

    amount_cents: Cents


COMPLEMENT_PAID: Final = Entry(
    kind="complement.paid",
    record=ComplementPaid,
    moves=(Moves("house:complement", "out:handpay_complement"),),
    counts={"complements": 1},
    significance=Significance(Effect.LOG),
    logs=(Log.COMPLEMENTS,),
)
ORPHAN_CREDITS: Final = Entry(
    kind="orphan.credits",
    record=OrphanCredits,
    moves=(
        Moves(_CASHABLE, "house:orphan"),
        Moves("credit:*:nonrestricted", "house:orphan"),
        Moves("credit:*:restricted", "house:expired"),
    ),
    counts={"orphans": 1},
    significance=Significance(Effect.LOG),
    logs=(Log.ORPHANS,),
)
ORPHAN_HANDPAY: Final = Entry(
    kind="orphan.handpay",
    record=OrphanHandpay,
    moves=(
        Moves(_CASHABLE, "house:orphan"),
        Moves("house:*", "house:orphan"),
        Moves("prizes:*:offered", "prizes:*:unclaimed"),
    ),
    counts={"orphans": 1},
    writes=(MoneyKey.UNCLAIMED,),
    significance=Significance(Effect.LOG),
    logs=(Log.ORPHANS,),
)
ORPHAN_TICKET: Final = Entry(
    kind="orphan.ticket",
    record=OrphanTicket,
    moves=(Moves("world:voucher_in:*", "house:orphan"),),
    counts={"orphans": 1},
    may_write=(MoneyKey.TICKETS,),
    significance=Significance(Effect.LOG),
    logs=(Log.ORPHANS,),
)
ORPHAN_REFUSED: Final = Entry(
    kind="orphan.refused",
    record=OrphanRefused,
    significance=Significance(Effect.LOG),
    logs=(Log.ORPHANS,),
)
PRIZE_FORFEITED: Final = Entry(
    kind="forfeit.prize",
    record=PrizeForfeited,
    phase=Phase.VOID,
    settles=(AFT_JACKPOT, *_WIN_RESERVATIONS),
    counts={"forfeits": 1},
    writes=(MoneyKey.HANDPAY,),
    significance=Significance(Effect.LOG),
    logs=(Log.FORFEITS,),
)
CREDITS_FORFEITED: Final = Entry(
    kind="forfeit.credits",
    record=CreditsForfeited,
    moves=(Moves("credit:*:*", "house:forfeit"),),
    counts={"forfeits": 1},
    significance=Significance(Effect.LOG),
    logs=(Log.FORFEITS,),
)


# ---------------------------------------------------------------------------------------------- the ticket ledger
@dataclass(frozen=True, slots=True, kw_only=True)
class TicketLedgerChecked:
    """The ticket ledger was compared with the journal, and they agree."""

    move_number: Count = field(metadata=stored_as("place"))
    """The number of the ticket ledger's last move at the comparison."""
    last_restoration: Mapping[str, JSON] | None = omit_if_default(None, key="begun")
    """The last restoration of the ticket ledger by two people: who, when and why; missing if there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketContradicted:
    """A ticket was credited but not redeemed in the ticket ledger; staff must find out who else was paid."""

    id: str
    """The id that the machine gave to the inserted ticket."""
    number: Masked
    amount_cents: Cents


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketLedgerMended:
    """One copy of the ticket ledger was damaged or lost, and was restored from the other."""

    repair: str
    """A text that says which copy was restored, and why."""


TICKETS_CHECKED: Final = Entry(
    kind="tickets.checked",
    record=TicketLedgerChecked,
    writes=(MoneyKey.TICKETS,),
    significance=Significance(Effect.LOG),
)
TICKETS_CONTRADICTED: Final = Entry(
    kind="tickets.contradicted",
    record=TicketContradicted,
    writes=(MoneyKey.TICKETS,),
    significance=Significance(Effect.LOG),
)
TICKETS_MENDED: Final = Entry(
    kind="tickets.mended",
    record=TicketLedgerMended,
    significance=Significance(Effect.LOG),
)
