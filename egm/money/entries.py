"""The journal entries of money: bills, coins and tickets in; tickets, coins and hand-pays out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Final, Literal

from egm.host.keys import HostKey
from egm.kernel.entries import EntryDeclaration, PermittedTransfer
from egm.kernel.keys import KernelKey
from egm.kernel.logs import Log
from egm.kernel.messages import HandpayKind
from egm.kernel.significance import ClearCondition, EventEffect, Significance
from egm.money.keys import MoneyKey
from egm.money.records.host import TransferRecord
from egm.money.records.money import CashOutRecord, CoinPayoutProgress, HandpayForm, HandpayRecord, PrizeRecord
from egm.record_codec import inline_record, omit_if_default, stored_as
from egm.record_fields import (
    ActorId,
    Cents,
    CentsOrZero,
    Count,
    MachineSerialNumber,
    MaskedTicketNumber,
    NonBlankText,
    PositiveNumber,
)
from egm.staff.records import RulingDetails
from meters import Phase
from meters.transaction import JSON

#: The accounts of the players' cashable credit, at any position.
_CASHABLE_ACCOUNT_PATTERN: Final = "credit:*:cashable"


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedAmountDetails:
    """The part of a journal entry that describes the disputed amount which the entry opens or rules on."""

    id: NonBlankText
    """The id of the disputed amount."""
    device: NonBlankText
    """The device that may have taken or paid the money."""
    reason: str = omit_if_default("", key="why")
    masked_ticket_number: MaskedTicketNumber = omit_if_default("", key="number")
    """The number of a disputed ticket, masked; empty for bills, coins and a ticket no longer locked for the machine."""
    amount_min_cents: CentsOrZero = field(metadata=stored_as("least_cents"))
    """The smallest amount that may be owed, in minor units."""
    amount_max_cents: CentsOrZero = field(metadata=stored_as("most_cents"))
    """The largest amount that may be owed, in minor units."""


# ---------------------------------------------------------------------------------------------- bills and tickets in
@dataclass(frozen=True, slots=True, kw_only=True)
class BillIn:
    """A bill was stacked and its amount credited."""

    amount_cents: Cents


@dataclass(frozen=True, slots=True, kw_only=True)
class BillNotStacked:
    """A bill ordered into the cash box did not reach it, or it is disputed whether it did; nothing is credited."""

    amount_cents: Cents
    reason: str = field(metadata=stored_as("why"))
    disputed_amount: DisputedAmountDetails | None = omit_if_default(None, key="disputed")


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketIn:
    """A ticket was stacked and its amount credited."""

    amount_cents: Cents
    number: MaskedTicketNumber
    number_commitment: str = omit_if_default("", key="commitment")
    """A commitment to the ticket's full number; the number itself is in no journal (E-06)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketNotStacked:
    """A ticket ordered into the cash box did not reach it, or it is disputed whether it did; nothing is credited."""

    amount_cents: Cents
    number: MaskedTicketNumber
    reason: str = field(metadata=stored_as("why"))
    disputed_amount: DisputedAmountDetails | None = omit_if_default(None, key="disputed")


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketInDisputed:
    """A ticket was stacked, but it was no longer locked for this machine; nothing is credited before a ruling."""

    amount_cents: Cents
    number: MaskedTicketNumber
    disputed_amount: DisputedAmountDetails = field(metadata=stored_as("disputed"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperNotAcceptedReason:
    """Why a bill or ticket was not accepted: refused by the machine, returned, or rejected by the acceptor itself."""

    reason: str


BILL_ESCROW: Final = EntryDeclaration(
    kind="bill.escrow",
    record=NoneType,
    description="A bill is ordered into the cash box, and its credit is reserved.",
    phase=Phase.RESERVE,
    permitted_transfers=(PermittedTransfer("world:bill", _CASHABLE_ACCOUNT_PATTERN),),
    written_keys=(MoneyKey.PAPER_BEING_STACKED,),
)
BILL_IN: Final = EntryDeclaration(
    kind="bill.in",
    record=BillIn,
    phase=Phase.SETTLE,
    closed_reservations=(BILL_ESCROW,),
    counts={"bills_accepted": 1},
    written_keys=(MoneyKey.PAPER_BEING_STACKED,),
    subject_field="amount_cents",
    significance={
        "100": Significance(EventEffect.LOG, sas_exception_code=0x47),
        "200": Significance(EventEffect.LOG, sas_exception_code=0x4D),
        "500": Significance(EventEffect.LOG, sas_exception_code=0x48),
        "1000": Significance(EventEffect.LOG, sas_exception_code=0x49),
        "2000": Significance(EventEffect.LOG, sas_exception_code=0x4A),
        "5000": Significance(EventEffect.LOG, sas_exception_code=0x4B),
        "10000": Significance(EventEffect.LOG, sas_exception_code=0x4C),
        "20000": Significance(EventEffect.LOG, sas_exception_code=0x50),
        "50000": Significance(EventEffect.LOG, sas_exception_code=0x4E),
        "*": Significance(EventEffect.LOG, sas_exception_code=0x4F),
    },
    logs=(Log.BILLS,),
)
BILL_NOT_STACKED: Final = EntryDeclaration(
    kind="bill.not_stacked",
    record=BillNotStacked,
    phase=Phase.VOID,
    closed_reservations=(BILL_ESCROW,),
    counts={"bills_not_stacked": 1},
    written_keys=(MoneyKey.PAPER_BEING_STACKED,),
    optional_keys=(MoneyKey.DISPUTED_AMOUNT,),
)
TICKET_ESCROW: Final = EntryDeclaration(
    kind="voucher.escrow",
    record=NoneType,
    description="A ticket is ordered into the cash box, and its credit is reserved.",
    phase=Phase.RESERVE,
    permitted_transfers=(PermittedTransfer("world:voucher_in:*", "credit:*:*"),),
    written_keys=(MoneyKey.PAPER_BEING_STACKED,),
    significance=Significance(EventEffect.LOG),
)
TICKET_IN: Final = EntryDeclaration(
    kind="voucher.in",
    record=TicketIn,
    phase=Phase.SETTLE,
    closed_reservations=(TICKET_ESCROW,),
    counts={"vouchers_accepted": 1},
    written_keys=(MoneyKey.PAPER_BEING_STACKED,),
    optional_keys=(
        HostKey.LAST_TICKET_REDEMPTION,
        MoneyKey.RESTRICTED_CREDIT_TERMS,
        MoneyKey.TICKET_LEDGER_ANCHOR,
    ),
    significance=Significance(EventEffect.LOG),
    logs=(Log.TICKETS,),
)
TICKET_IN_DISPUTED: Final = EntryDeclaration(
    kind="voucher.disputed",
    record=TicketInDisputed,
    phase=Phase.VOID,
    closed_reservations=(TICKET_ESCROW,),
    counts={"vouchers_disputed": 1},
    written_keys=(MoneyKey.PAPER_BEING_STACKED, MoneyKey.DISPUTED_AMOUNT),
    significance=Significance(EventEffect.LOG),
    logs=(Log.TICKETS,),
)
TICKET_NOT_STACKED: Final = EntryDeclaration(
    kind="voucher.not_stacked",
    record=TicketNotStacked,
    phase=Phase.VOID,
    closed_reservations=(TICKET_ESCROW,),
    counts={"vouchers_not_stacked": 1},
    written_keys=(MoneyKey.PAPER_BEING_STACKED,),
    optional_keys=(HostKey.LAST_TICKET_REDEMPTION, MoneyKey.DISPUTED_AMOUNT),
)
TICKET_REFUSED: Final = EntryDeclaration(
    kind="voucher.refused",
    record=PaperNotAcceptedReason,
    description="The ticket ledger or the profile refuses the ticket; it is returned.",
    counts={"vouchers_refused": 1},
)
PAPER_EXCHANGE_PROGRESS_STORED: Final = EntryDeclaration(
    kind="bill.mark",
    record=NoneType,
    description="The acceptor's driver has advanced in its protocol while a bill or ticket is being stacked.",
    written_keys=(MoneyKey.PAPER_BEING_STACKED,),
    is_omitted_from_event_log=True,
)
PAPER_DIRECTION_REPORTED: Final = EntryDeclaration(
    kind="bill.moving",
    record=NoneType,
    description="The acceptor reports in which direction a bill or ticket moves.",
    written_keys=(MoneyKey.PAPER_BEING_STACKED,),
)
PAPER_CONFIRMED: Final = EntryDeclaration(
    kind="bill.confirmed",
    record=NoneType,
    description="The acceptor has confirmed that it received the acknowledgement of a stacked bill or ticket.",
    written_keys=(MoneyKey.PAPER_BEING_STACKED,),
)
BILL_RETURNED: Final = EntryDeclaration(
    kind="bill.returned",
    record=PaperNotAcceptedReason,
    description="A bill, or paper that may be a bill or a ticket, was returned to the player.",
    counts={"bills_returned": 1},
    optional_keys=(HostKey.LAST_TICKET_REDEMPTION,),
)
TICKET_RETURNED: Final = EntryDeclaration(
    kind="voucher.returned",
    record=PaperNotAcceptedReason,
    description="A ticket was returned to the player.",
    counts={"vouchers_returned": 1},
    optional_keys=(HostKey.LAST_TICKET_REDEMPTION,),
)
BILL_REJECTED: Final = EntryDeclaration(
    kind="bill.rejected",
    record=PaperNotAcceptedReason,
    description="The acceptor rejected something by itself.",
    counts={"bills_rejected": 1},
    significance=Significance(EventEffect.LOG, sas_exception_code=0x2B),
)


# ---------------------------------------------------------------------------------------------- coins in
@dataclass(frozen=True, slots=True, kw_only=True)
class CoinInDisputed:
    """Coins were accepted, and it is disputed how many."""

    disputed_amount: DisputedAmountDetails = field(metadata=stored_as("disputed"))


#: The transfers when coins are accepted: to the player's credit, and to the hopper or the drop box.
_COINS_IN_TRANSFERS: Final = (
    PermittedTransfer("world:coin", _CASHABLE_ACCOUNT_PATTERN),
    PermittedTransfer("stock:floor", "stock:hopper"),
    PermittedTransfer("stock:floor", "stock:coin_box"),
)
COIN_IN: Final = EntryDeclaration(
    kind="coin.in",
    record=NoneType,
    description="Coins were accepted and credited.",
    permitted_transfers=_COINS_IN_TRANSFERS,
    counts={"coins_accepted": None},
    written_keys=(MoneyKey.LAST_COIN_EVENT,),
)
COIN_IN_DISPUTED: Final = EntryDeclaration(
    kind="coin.in",
    record=CoinInDisputed,
    permitted_transfers=_COINS_IN_TRANSFERS,
    counts={"coins_accepted": None},
    written_keys=(MoneyKey.LAST_COIN_EVENT, MoneyKey.DISPUTED_AMOUNT),
)


# ---------------------------------------------------------------------------------------------- tickets out
@dataclass(frozen=True, slots=True, kw_only=True)
class TicketOut:
    """A ticket's bar code was printed: the reserved credit has become the ticket."""

    cash_out: CashOutRecord = inline_record()
    number_commitment: str = omit_if_default("", key="commitment")
    """A commitment to the ticket's full number; the number itself is in no journal (E-06)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketTaken:
    """The printed ticket has left the printer."""

    id: str
    """The id of the cash-out that printed the ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutVoided:
    """A payout failed; its whole amount is on the credit meter again.

    If the hopper has paid a part of it in coins, the entry ``coins.out`` that follows posts that part.
    """

    cash_out: CashOutRecord = inline_record()
    reason: str = field(metadata=stored_as("why"))


TICKET_CASH_OUT_REQUESTED: Final = EntryDeclaration(
    kind="voucher.request",
    record=NoneType,
    description="Credit is reserved for a ticket.",
    phase=Phase.RESERVE,
    permitted_transfers=(PermittedTransfer("credit:*:*", "out:voucher:*"),),
    written_keys=(MoneyKey.PAY_OUT, MoneyKey.CASH_OUT_REMAINDER),
    significance=Significance(EventEffect.LOG, sas_exception_code=0x66),
)
TICKET_PENDING: Final = EntryDeclaration(
    kind="ticket.pending",
    record=NoneType,
    description="The printer has accepted a ticket, a slip or a test print.",
    written_keys=(MoneyKey.PRINT_JOB,),
)
TICKET_PRINTING: Final = EntryDeclaration(
    kind="ticket.printing",
    record=NoneType,
    description="The printer has started to print.",
    written_keys=(MoneyKey.PRINT_JOB,),
)
TICKET_OUT: Final = EntryDeclaration(
    kind="voucher.out",
    record=TicketOut,
    phase=Phase.SETTLE,
    closed_reservations=(TICKET_CASH_OUT_REQUESTED,),
    written_keys=(MoneyKey.PAY_OUT, MoneyKey.PRINT_JOB),
    optional_keys=(HostKey.TICKETS_ADDED_TO_RING, HostKey.PRINTED_TICKET_RING, MoneyKey.TICKET_LEDGER_ANCHOR),
    significance=Significance(EventEffect.LOG, sas_exception_code=0x3D),
    logs=(Log.TICKETS,),
)
TICKET_TAKEN: Final = EntryDeclaration(
    kind="ticket.taken",
    record=TicketTaken,
    written_keys=(MoneyKey.PRINT_JOB,),
)
TICKET_CASH_OUT_VOID: Final = EntryDeclaration(
    kind="cashout.void",
    record=CashOutVoided,
    description="A ticket was not printed; its amount is on the credit meter again.",
    phase=Phase.VOID,
    closed_reservations=(TICKET_CASH_OUT_REQUESTED,),
    written_keys=(MoneyKey.PAY_OUT,),
    optional_keys=(MoneyKey.PRINT_JOB, MoneyKey.CASH_OUT_REMAINDER),
)
TICKET_PRINT_DISPUTED: Final = EntryDeclaration(
    kind="ticket.disputed",
    record=DisputedAmountDetails,
    description="It is disputed whether a ticket came out of the printer; its credit stays reserved until a ruling.",
    written_keys=(MoneyKey.PRINT_JOB, MoneyKey.DISPUTED_AMOUNT),
    significance=Significance(EventEffect.LOG),
    logs=(Log.TICKETS,),
)


# ---------------------------------------------------------------------------------------------- coins out
@dataclass(frozen=True, slots=True, kw_only=True)
class CoinsCounted:
    """The hopper has counted out more coins of the open payout; the entry has their number so far."""

    id: str
    """The id of the cash-out, or of the hopper test."""
    paid_coins: PositiveNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinsOut:
    """The hopper has paid all coins of a payout."""

    cash_out: CashOutRecord = inline_record()
    paid_coins: PositiveNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinsOutAfterVoid:
    """The coins of a voided payout that had already left the hopper were posted as paid."""

    id: str
    """The id of the cash-out, which was voided before these coins were paid."""
    payout_method: Literal["coins"] = field(metadata=stored_as("way"))
    """The payout method of the cash-out: coins."""
    amount_cents: Cents
    ordered_coins: PositiveNumber = field(metadata=stored_as("coins"))
    """The number of coins that were ordered from the hopper."""
    paid_coins: Count
    doubt_reason: str = omit_if_default("", key="doubt")
    """The reason why more coins may have left the hopper than it counted; empty if the count is certain."""
    in_coins: CoinPayoutProgress | None = omit_if_default(None)


#: The transfers when the hopper has paid coins.
_COINS_DISPENSED_TRANSFERS: Final = (
    PermittedTransfer(_CASHABLE_ACCOUNT_PATTERN, "out:hopper"),
    PermittedTransfer("stock:hopper", "stock:floor"),
)
COIN_CASH_OUT_REQUESTED: Final = EntryDeclaration(
    kind="coins.request",
    record=NoneType,
    description="Credit is reserved for coins from the hopper.",
    phase=Phase.RESERVE,
    permitted_transfers=_COINS_DISPENSED_TRANSFERS,
    written_keys=(MoneyKey.PAY_OUT, MoneyKey.CASH_OUT_REMAINDER),
    significance=Significance(EventEffect.LOG, sas_exception_code=0x66),
)
COINS_ORDERED: Final = EntryDeclaration(
    kind="coins.ordered",
    record=NoneType,
    description="The driver is about to order coins from the hopper; the hopper's counters before it are stored.",
    written_keys=(MoneyKey.HOPPER_PAYOUT,),
)
COINS_COUNTED: Final = EntryDeclaration(
    kind="coins.counted",
    record=CoinsCounted,
    written_keys=(MoneyKey.HOPPER_PAYOUT,),
)
COINS_OUT: Final = EntryDeclaration(
    kind="coins.out",
    record=CoinsOut,
    phase=Phase.SETTLE,
    closed_reservations=(COIN_CASH_OUT_REQUESTED,),
    written_keys=(MoneyKey.PAY_OUT, MoneyKey.HOPPER_PAYOUT),
    optional_keys=(MoneyKey.CASH_OUT_REMAINDER,),
)
COINS_CASH_OUT_VOID: Final = EntryDeclaration(
    kind="cashout.void",
    record=CashOutVoided,
    description="The hopper did not pay all coins, or more; the whole amount is on the credit meter again.",
    phase=Phase.VOID,
    closed_reservations=(COIN_CASH_OUT_REQUESTED,),
    written_keys=(MoneyKey.PAY_OUT, MoneyKey.HOPPER_PAYOUT, MoneyKey.UNPOSTED_COINS),
    optional_keys=(MoneyKey.CASH_OUT_REMAINDER,),
)
COINS_OUT_AFTER_VOID: Final = EntryDeclaration(
    kind="coins.out",
    record=CoinsOutAfterVoid,
    permitted_transfers=_COINS_DISPENSED_TRANSFERS,
    written_keys=(MoneyKey.UNPOSTED_COINS,),
    optional_keys=(MoneyKey.CASH_OUT_REMAINDER,),
)
CASH_OUT_ENDED: Final = EntryDeclaration(
    kind="cashout.ended",
    record=NoneType,
    description="The balance has changed, so no remainder of a cash-out waits to be paid any more.",
    written_keys=(MoneyKey.CASH_OUT_REMAINDER,),
)
CREDIT_CONVERTED: Final = EntryDeclaration(
    kind="credit.converted",
    record=NoneType,
    description="Nonrestricted credit has become cashable, to be paid out.",
    permitted_transfers=(PermittedTransfer("credit:*:nonrestricted", _CASHABLE_ACCOUNT_PATTERN),),
)


# ---------------------------------------------------------------------------------------------- hand-pays
@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayMethodChosen:
    """The player requested a ticket instead of the hand-pay, or the request was withdrawn."""

    handpay_id: str = field(metadata=stored_as("handpay"))
    payment_method: Literal["ticket", "hand"] = field(metadata=stored_as("way"))
    """``ticket`` if the player requested a ticket.

    ``hand`` if the player withdrew the request, or if the machine cancelled it because it can print no ticket now.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayReturned:
    """An attendant returned a hand-pay to the credit meter, so that it is paid by ticket."""

    handpay_id: str = field(metadata=stored_as("handpay"))
    amount_cents: Cents
    person: ActorId
    persons: tuple[str, ...]
    """The members of staff who returned the hand-pay, or the key switch that was turned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayFormFilled:
    """The form of a hand-pay was filled in."""

    handpay_id: str = field(metadata=stored_as("handpay"))
    amount_cents: CentsOrZero
    form: HandpayForm = inline_record()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayPaid:
    """A hand-pay was paid, and its prizes in kind were handed over; this entry is its slip."""

    handpay: HandpayRecord = inline_record()
    payment_means: str = field(metadata=stored_as("method"))
    """The means of payment: cash, cheque or another."""
    identity_commitment: str = omit_if_default("", key="identity")
    """A commitment to the player's identity; the identity itself is in no journal."""
    slip_number: PositiveNumber = field(metadata=stored_as("slip"))
    """The number of the hand-pay slip; the machine numbers its slips consecutively."""
    journal_head: str = omit_if_default("", key="witness")
    """The number and hash prefix of the journal's last entry before this one, as printed on the slip."""
    machine: MachineSerialNumber
    is_taxable: bool = field(metadata=stored_as("taxable"))
    """Whether amount and value of the prizes together reach the profile's limit for reporting a win for tax."""
    person: ActorId
    persons: tuple[str, ...]
    """The people who filled in the form and those who paid: members of staff, a key switch, or a host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayUnclaimed:
    """A hand-pay that nobody claimed was voided; its money and prizes are registered as unclaimed."""

    id: str
    """The id of the hand-pay that nobody claimed."""


#: Kinds of the entries of other features whose reservations a hand-pay settles.
_ENTRY_KINDS_THAT_RESERVE_WINS: Final = ("game.end", "handpay.exchanged", "progressive.won")
HANDPAY_PENDING: Final = EntryDeclaration(
    kind="handpay.pending",
    record=NoneType,
    description="The player's money is reserved for an attendant to pay.",
    phase=Phase.RESERVE,
    permitted_transfers=(PermittedTransfer(_CASHABLE_ACCOUNT_PATTERN, "out:handpay_cancelled_credit"),),
    written_keys=(MoneyKey.HANDPAY, MoneyKey.CASH_OUT_REMAINDER),
    significance=Significance(EventEffect.LOCK, ClearCondition.ATTENDANT, sas_exception_code=0x51),
    logs=(Log.HANDPAYS,),
)
AFT_JACKPOT: Final = EntryDeclaration(
    kind="aft.complete",
    record=TransferRecord,
    description="A bonus that the host awarded is reserved for an attendant to pay.",
    phase=Phase.RESERVE,
    permitted_transfers=(PermittedTransfer("house:bonus", "out:handpay_bonus"),),
    written_keys=(HostKey.TRANSFER_COUNT, HostKey.LAST_TRANSFER, MoneyKey.HANDPAY),
    significance=Significance(EventEffect.LOG),
    logs=(Log.TRANSFERS,),
)
HANDPAY_METHOD_CHOSEN: Final = EntryDeclaration(
    kind="handpay.way",
    record=HandpayMethodChosen,
    written_keys=(MoneyKey.HANDPAY,),
    logs=(Log.HANDPAYS,),
)
HANDPAY_RETURNED: Final = EntryDeclaration(
    kind="handpay.returned",
    record=HandpayReturned,
    phase=Phase.VOID,
    closed_reservations=(HANDPAY_PENDING,),
    written_keys=(MoneyKey.HANDPAY, MoneyKey.CASH_OUT_REMAINDER),
    significance=Significance(EventEffect.LOG, sas_exception_code=0x52),
    logs=(Log.HANDPAYS,),
)
HANDPAY_FORM_FILLED: Final = EntryDeclaration(
    kind="handpay.form",
    record=HandpayFormFilled,
    written_keys=(MoneyKey.HANDPAY,),
    logs=(Log.HANDPAYS,),
)
HANDPAY_PAID: Final = EntryDeclaration(
    kind="handpay.paid",
    record=HandpayPaid,
    phase=Phase.SETTLE,
    closed_reservations=(HANDPAY_PENDING, AFT_JACKPOT, *_ENTRY_KINDS_THAT_RESERVE_WINS),
    counts={"handpays.*": 1},
    written_keys=(MoneyKey.HANDPAY, MoneyKey.LAST_SLIP_NUMBER),
    significance=Significance(EventEffect.LOG, sas_exception_code=0x52),
    logs=(Log.HANDPAYS,),
)
HANDPAY_UNCLAIMED: Final = EntryDeclaration(
    kind="handpay.unclaimed",
    record=HandpayUnclaimed,
    phase=Phase.VOID,
    closed_reservations=(HANDPAY_PENDING, AFT_JACKPOT, *_ENTRY_KINDS_THAT_RESERVE_WINS),
    written_keys=(MoneyKey.HANDPAY, MoneyKey.UNCLAIMED_HANDPAY),
    logs=(Log.HANDPAYS, Log.ORPHANS),
)


# ---------------------------------------------------------------------------------------------- disputed amounts
@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedCreditReleased:
    """A ruling released the credit that was reserved for a disputed amount; the payment of the ruling follows."""

    id: str
    """The id of the disputed amount."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedAmountRuled(RulingDetails):
    """Staff have ruled on a disputed amount."""

    disputed_amount: DisputedAmountDetails = inline_record()
    amount_cents: CentsOrZero
    """The amount awarded to the player."""
    number_commitment: str = omit_if_default("", key="commitment")
    """A commitment to the full number of the ticket that the ruling redeems."""


DISPUTED_AMOUNT_OPENED: Final = EntryDeclaration(
    kind="disputed.opened",
    record=DisputedAmountDetails,
    description="A device's reports do not show whether money was paid or taken; staff decide.",
    permitted_transfers=(PermittedTransfer("stock:hopper", "stock:floor"),),
    written_keys=(MoneyKey.DISPUTED_AMOUNT,),
    significance=Significance(EventEffect.LOG),
)
DISPUTED_AMOUNT_OPENED_WITH_CREDIT: Final = EntryDeclaration(
    kind="disputed.opened",
    record=DisputedAmountDetails,
    description="It is disputed how many coins left the hopper; the amount in doubt is reserved until a ruling.",
    phase=Phase.RESERVE,
    permitted_transfers=(PermittedTransfer(_CASHABLE_ACCOUNT_PATTERN, "out:handpay_disputed"),),
    written_keys=(MoneyKey.DISPUTED_AMOUNT,),
    significance=Significance(EventEffect.LOG),
)
RESERVED_CREDIT_RELEASED: Final = EntryDeclaration(
    kind="disputed.released",
    record=ReservedCreditReleased,
    phase=Phase.VOID,
    closed_reservations=(DISPUTED_AMOUNT_OPENED_WITH_CREDIT,),
    written_keys=(MoneyKey.DISPUTED_AMOUNT_RULING,),
    significance=Significance(EventEffect.LOG),
)
DISPUTED_AMOUNT_RULED: Final = EntryDeclaration(
    kind="disputed.ruled",
    record=DisputedAmountRuled,
    permitted_transfers=(
        PermittedTransfer("house:disputed", "out:handpay_disputed"),
        PermittedTransfer("world:voucher_in:*", "out:handpay_disputed"),
        PermittedTransfer(_CASHABLE_ACCOUNT_PATTERN, "out:handpay_disputed"),
        PermittedTransfer(_CASHABLE_ACCOUNT_PATTERN, "out:hopper"),
        PermittedTransfer("stock:hopper", "stock:floor"),
    ),
    counts={"rulings": 1},
    written_keys=(MoneyKey.DISPUTED_AMOUNT,),
    optional_keys=(
        KernelKey.FAULT,
        MoneyKey.DISPUTED_AMOUNT_RULING,
        MoneyKey.PRINT_JOB,
        MoneyKey.TICKET_LEDGER_ANCHOR,
        HostKey.LAST_TICKET_REDEMPTION,
    ),
    significance=Significance(EventEffect.LOG),
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
    """Base class of entries about staff registering money whose owner is unknown."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanCredits(_OrphanRuling):
    """Credit left on the meter was moved to the register of unclaimed money; restricted credit expired."""

    kind: Literal["credits"] = "credits"
    """The kind of unclaimed money in the register: always `credits`."""
    amount_cents: CentsOrZero
    """The amount taken into the register."""
    expired_cents: CentsOrZero
    """The restricted credit that expired and is not in the register."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanHandpay(_OrphanRuling):
    """The money of an unclaimed hand-pay was entered in the register of unclaimed money."""

    kind: HandpayKind
    """Why the hand-pay was owed, such as ``jackpot`` or ``cancelled_credit``."""
    id: str
    """The id of the hand-pay that nobody claimed."""
    amount_cents: CentsOrZero
    prizes: tuple[PrizeRecord, ...] = omit_if_default(())


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanTicket(_OrphanRuling):
    """A ticket found without its owner was redeemed into the register of unclaimed money."""

    kind: Literal["ticket"] = "ticket"
    """The kind of unclaimed money in the register: always `ticket`."""
    amount_cents: Cents
    number: MaskedTicketNumber
    number_commitment: str = omit_if_default("", key="commitment")
    """A commitment to the ticket's full number; the number itself is in no journal (E-06)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanTicketRefused(_OrphanRuling):
    """A ticket found without its owner could not be redeemed into the register of unclaimed money."""

    refusal_reason: str = field(metadata=stored_as("answer"))
    """The reason why the ticket cannot be redeemed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeForfeited(RulingDetails):
    """Two people declared a prize forfeited that waited for an attendant (Québec s.94)."""

    id: str
    """The id of the hand-pay whose prize was forfeited."""
    amount_cents: CentsOrZero
    prizes: tuple[PrizeRecord, ...] = omit_if_default(())


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditsForfeited(RulingDetails):
    """Two people declared credits won in a disrupted game forfeited, and removed them (Québec s.94)."""

    amount_cents: Cents


COMPLEMENT_PAID: Final = EntryDeclaration(
    kind="complement.paid",
    record=ComplementPaid,
    permitted_transfers=(PermittedTransfer("house:complement", "out:handpay_complement"),),
    counts={"complements": 1},
    significance=Significance(EventEffect.LOG),
    logs=(Log.COMPLEMENTS,),
)
ORPHAN_CREDITS: Final = EntryDeclaration(
    kind="orphan.credits",
    record=OrphanCredits,
    permitted_transfers=(
        PermittedTransfer(_CASHABLE_ACCOUNT_PATTERN, "house:orphan"),
        PermittedTransfer("credit:*:nonrestricted", "house:orphan"),
        PermittedTransfer("credit:*:restricted", "house:expired"),
    ),
    counts={"orphans": 1},
    significance=Significance(EventEffect.LOG),
    logs=(Log.ORPHANS,),
)
ORPHAN_HANDPAY: Final = EntryDeclaration(
    kind="orphan.handpay",
    record=OrphanHandpay,
    permitted_transfers=(
        PermittedTransfer(_CASHABLE_ACCOUNT_PATTERN, "house:orphan"),
        PermittedTransfer("house:*", "house:orphan"),
        PermittedTransfer("prizes:*:offered", "prizes:*:unclaimed"),
    ),
    counts={"orphans": 1},
    written_keys=(MoneyKey.UNCLAIMED_HANDPAY,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ORPHANS,),
)
ORPHAN_TICKET: Final = EntryDeclaration(
    kind="orphan.ticket",
    record=OrphanTicket,
    permitted_transfers=(PermittedTransfer("world:voucher_in:*", "house:orphan"),),
    counts={"orphans": 1},
    optional_keys=(MoneyKey.TICKET_LEDGER_ANCHOR,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ORPHANS,),
)
ORPHAN_TICKET_REFUSED: Final = EntryDeclaration(
    kind="orphan.refused",
    record=OrphanTicketRefused,
    significance=Significance(EventEffect.LOG),
    logs=(Log.ORPHANS,),
)
PRIZE_FORFEITED: Final = EntryDeclaration(
    kind="forfeit.prize",
    record=PrizeForfeited,
    phase=Phase.VOID,
    closed_reservations=(AFT_JACKPOT, *_ENTRY_KINDS_THAT_RESERVE_WINS),
    counts={"forfeits": 1},
    written_keys=(MoneyKey.HANDPAY,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.FORFEITS,),
)
CREDITS_FORFEITED: Final = EntryDeclaration(
    kind="forfeit.credits",
    record=CreditsForfeited,
    permitted_transfers=(PermittedTransfer("credit:*:*", "house:forfeit"),),
    counts={"forfeits": 1},
    significance=Significance(EventEffect.LOG),
    logs=(Log.FORFEITS,),
)


# ---------------------------------------------------------------------------------------------- the ticket ledger
@dataclass(frozen=True, slots=True, kw_only=True)
class TicketLedgerChecked:
    """The ticket ledger was compared with the journal, and they agree."""

    move_number: Count = field(metadata=stored_as("place"))
    """The number of the last action on a ticket that the ticket ledger contained at the comparison."""
    last_restoration: Mapping[str, JSON] | None = omit_if_default(None, key="begun")
    """By whom, when and why two people last restored the ticket ledger.

    Only in the first entry after a restoration, or in a journal that begins after one; missing in all others.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketContradicted:
    """A ticket was credited here, but the ticket ledger does not show it as redeemed by this machine.

    Staff must find out whether a cashier has paid it too.
    """

    id: str
    """The id of the ticket's redemption in the ticket ledger."""
    number: MaskedTicketNumber
    amount_cents: Cents


TICKET_LEDGER_CHECKED: Final = EntryDeclaration(
    kind="tickets.checked",
    record=TicketLedgerChecked,
    written_keys=(MoneyKey.TICKET_LEDGER_ANCHOR,),
    significance=Significance(EventEffect.LOG),
)
TICKET_LEDGER_CONTRADICTED: Final = EntryDeclaration(
    kind="tickets.contradicted",
    record=TicketContradicted,
    written_keys=(MoneyKey.TICKET_LEDGER_ANCHOR,),
    significance=Significance(EventEffect.LOG),
)
