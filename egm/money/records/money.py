"""Stored records of money in progress: hand-pays, payouts, the printer's job, bills and tickets in escrow.

Amounts are minor units.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Self

from egm.devices.interface import PrintState
from egm.devices.ledgers import EscrowPhase
from egm.kernel.credits import CreditKind
from egm.kernel.messages import HandpayKind
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import NonBlankText, Sha256Digest
from meters import Transfer
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeRecord:
    """A prize in kind (merchandise) as the journal stores it."""

    id: str
    """The id of the prize."""
    names: Mapping[str, str]
    """The name of the prize by language."""
    value_cents: int
    """The stated value of the prize, in minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayForm:
    """The stored form of a hand-pay: the means of payment, and a commitment to the player's identity."""

    payment_means: NonBlankText = field(metadata=stored_as("method"))
    """The means of payment: cash, cheque or another."""
    persons: tuple[str, ...]
    """The people who filled in the form."""
    identity_commitment: Sha256Digest = omit_if_default("", key="identity")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinPayoutProgress:
    """The amounts owed and paid of a cash-out that the hopper has started to pay in coins."""

    owed_cents: int
    """The amount owed when the hopper started to pay, in minor units."""
    paid_cents: int
    """The part of the owed amount that the hopper has paid, in minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutRemainder:
    """The unpaid remainder of a cash-out, which the next payout method or an attendant pays."""

    amount_cents: int = field(metadata=stored_as("rest_cents"))
    """The amount that is still to be paid, in minor units."""
    must_be_paid_by_hand: bool = omit_if_default(False, key="by_hand")
    """Whether an attendant must pay the remainder."""
    coin_payout: CoinPayoutProgress | None = omit_if_default(None, key="in_coins")
    """If the hopper has paid a part of the cash-out: the amount owed and the part paid; otherwise None."""


class HandpayEnding(StrEnum):
    """How a hand-pay ends; the value is part of the id of the entry that ends it."""

    PAID = "paid"
    """An attendant has paid it."""
    RETURNED = "returned"
    """A ticket replaces it."""
    REPLACED = "replaced"
    """Another hand-pay replaces it."""
    UNCLAIMED = "unclaimed"
    """Nobody claimed it."""
    ORPHAN = "orphan"
    """Its amount, which nobody claimed, is posted as unclaimed money."""
    FORFEIT = "forfeit"
    """Its prize is forfeited."""

    def format_entry_id(self, handpay_id: str) -> str:
        """Return the id of the entry that ends a hand-pay in this way."""
        return f"{handpay_id}.{self}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayRecord:
    """A hand-pay that waits for an attendant."""

    id: str
    """The id of the hand-pay, which is the id of its reservation."""
    kind: HandpayKind
    """Why the hand-pay is owed, such as ``jackpot`` or ``cancelled_credit``."""
    amount_cents: int
    reason_without_ticket: str = omit_if_default("", key="why")
    """The code of the reason why no ticket could be printed, or empty."""
    coin_payout: CoinPayoutProgress | None = omit_if_default(None, key="in_coins")
    """If the hopper has paid a part of the same cash-out: the amount owed and the part paid; otherwise None."""
    prizes: tuple[PrizeRecord, ...] = omit_if_default(())
    """The prizes in kind that are handed over with the hand-pay."""
    progressive_pools: str = omit_if_default("", key="pool")
    """The ids of the progressive levels whose hits the hand-pay pays, separated by commas; or empty."""
    play_id: str = omit_if_default("")
    """The id of the game that hit those progressive levels, or empty."""
    filled_form: HandpayForm | None = omit_if_default(None, key="form")
    """The form of the hand-pay; None until it is filled in."""
    replaced_reservation_id: str = omit_if_default("", key="instead_of")
    """The id of an older reservation that this hand-pay replaces, or empty."""
    requested_method: str = omit_if_default("", key="way")
    """``ticket`` if the player has requested a ticket instead, or empty."""

    @property
    def worth_cents(self) -> int:
        """Return what the hand-pay is worth: the money plus the stated value of the prizes in kind, in minor units."""
        return self.amount_cents + sum(prize.value_cents for prize in self.prizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutRecord:
    """One payout of a cash-out: credits that are being paid out on a ticket or in coins."""

    id: str
    """The id of the payout, which is the id of its reservation."""
    payout_method: Literal["ticket", "coins"] = field(metadata=stored_as("way"))
    """How the credits leave the machine: on a ticket or in coins."""
    amount_cents: int
    credit_kind: CreditKind | None = omit_if_default(None, key="kind")
    """The kind of credit that a ticket pays out; missing for coins."""
    restricted_pool: int | None = omit_if_default(None, key="pool")
    """The number of the host's pool of restricted credit that a ticket pays out; missing for coins."""
    masked_number: str | None = omit_if_default(None, key="number")
    """The masked number of the ticket; empty while it waits for a number; missing for coins."""
    language: str = omit_if_default("")
    """The language in which a ticket is printed."""
    ordered_coins: int = omit_if_default(0, key="coins")
    """The number of coins to pay; missing for a ticket."""
    coin_payout: CoinPayoutProgress | None = omit_if_default(None, key="in_coins")
    """If the hopper has paid a part of the cash-out: the amount owed and the part paid; otherwise None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DispensedCoins:
    """Coins that left the hopper before its payout was voided, and that are not posted yet."""

    id: str
    payout_method: Literal["coins"] = field(metadata=stored_as("way"))
    """The payout method of the cash-out: coins."""
    amount_cents: int
    """The amount ordered from the hopper, in minor units."""
    ordered_coins: int = field(metadata=stored_as("coins"))
    """The number of coins ordered from the hopper."""
    paid_coins: int
    """The number of coins that the hopper counted out."""
    coin_cents: int
    """The value of one coin, in minor units."""
    doubt_reason: str = field(default="", metadata=stored_as("doubt"))
    """The reason why more coins may have left than the hopper counted; empty if the count is certain."""
    coin_payout: CoinPayoutProgress | None = omit_if_default(None, key="in_coins")
    """The amount owed by the whole cash-out and the part paid, these coins included; None if it is not recorded."""

    @property
    def counted_cents(self) -> int:
        """Return the value of all coins that the hopper counted out, in minor units."""
        return self.paid_coins * self.coin_cents

    @property
    def paid_cents(self) -> int:
        """Return the value of the counted coins, but at most the ordered amount: what counts as paid to the player."""
        return min(self.counted_cents, self.amount_cents)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintingRecord:
    """The state of the print job of a ticket, a slip or a test page."""

    id: str
    language: str
    state: PrintState


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRecord:
    """The bill or ticket that is being stacked."""

    id: str
    amount_cents: int
    masked_ticket_number: str = field(metadata=stored_as("ticket"))
    """The masked number of the ticket, empty for a bill."""
    phase: EscrowPhase
    """How far the stacking has come: ordered, or already in the box and credited."""
    exchange_progress: int = field(metadata=stored_as("mark"))
    """The last of the acceptor's messages about this bill or ticket that the driver has read, in its own encoding."""
    is_returning: bool | None = omit_if_default(None, key="outward")
    """Whether the acceptor reports that it is returning the bill or ticket; None if it has reported no direction."""


@dataclass(frozen=True, slots=True)
class UnclaimedTransfer:
    """A transfer that moves unclaimed money or prizes to their register or stock.

    In the journal it is the list ``[source, target, amount_cents]``.
    """

    source: str
    target: str
    amount_cents: int

    def to_json(self) -> list[JSON]:
        """Return the transfer in its journal form, ``[source, target, amount_cents]``."""
        return [self.source, self.target, self.amount_cents]

    @classmethod
    def from_json(cls, stored_transfer: Sequence[str | int]) -> Self:
        """Decode a transfer from its journal form.

        Journals of software versions without prizes in kind lack the target: it is then the account of unclaimed money.
        """
        source, *target, amount_cents = stored_transfer
        return cls(str(source), str(*target) or "house:orphan", int(amount_cents))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclaimedRecord:
    """A hand-pay that was voided because nobody claimed it, until it is posted to the register of unclaimed money."""

    id: str
    reserved_transfers: tuple[UnclaimedTransfer, ...] = field(metadata=stored_as("flows"))
    """The transfers that the hand-pay had reserved, each with the account to which it now goes."""
    entry_record: Mapping[str, JSON] = field(metadata=stored_as("story"))
    """The record of the journal entry that posts the transfers."""

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        """Return the transfers that post the voided hand-pay as unclaimed money or as an unclaimed prize."""
        return tuple(
            Transfer(transfer.source, transfer.target, transfer.amount_cents)
            for transfer in self.reserved_transfers
        )
