"""Payloads of the money events: bills, coins and tickets, payouts, and the forms about a player's money."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from egm.devices.ledgers import DisputedCoins
from egm.kernel.events import EmptyPayload, EventName, EventType, Payload
from egm.record_codec import stored_as
from egm.staff.events import Authorisation, FilledForm, RulingForm


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperEscrowed:
    """Base class of the events of a bill or ticket in escrow."""

    escrow_number: int = field(metadata=stored_as("escrow"))
    """The number that the acceptor's driver gave to this bill or ticket."""

    @property
    def face_cents(self) -> int:
        """Return the face value of the bill in escrow, in minor units; 0 for a ticket, whose value is not known yet."""
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BillEscrowed(PaperEscrowed):
    """Event: the acceptor holds a bill in escrow."""

    amount_cents: int

    @property
    def face_cents(self) -> int:
        """Return the face value of the bill in escrow, in minor units."""
        return self.amount_cents


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketEscrowed(PaperEscrowed):
    """Event: the acceptor holds a ticket in escrow, with the digits of its bar code."""

    digits: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperNotAccepted:
    """Event: the acceptor has returned a bill or ticket to the player, or rejected paper on its own."""

    reason: str
    is_ticket: bool = False
    """Whether the paper is known to be a ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintFailure:
    """Event: the printer has failed to print a ticket; ``reason`` says why."""

    reason: str = field(default="", metadata=stored_as("why"))
    may_have_been_printed: bool = False
    """Whether the ticket may be on paper although the printer has reported a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinsPaid:
    """Event: the hopper has ended a payout after paying ``paid_coins`` coins."""

    paid_coins: int
    doubt_reason: str = field(default="", metadata=stored_as("uncertainty"))
    """The reason why more coins may have left the hopper than it counted; empty if the number is certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackingFailure:
    """Event: a bill or ticket whose stacking was ordered did not get into the box, or its location is unknown."""

    reason: str = field(metadata=stored_as("why"))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnorderedMoneyTaken:
    """Event: a device has taken money without an order of the machine."""

    device: str
    reason: str = field(metadata=stored_as("why"))
    amount_max_cents: int
    """The largest possible amount, in minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinsIn:
    """Event: coins have passed the acceptor."""

    coins: tuple[tuple[int, bool], ...]
    """For each coin: its value in minor units, and whether it fell into the hopper."""
    exchange_progress: int
    """The acceptor's last event that has been read, these coins included, in the encoding of the acceptor's driver."""
    disputed_coins: DisputedCoins | None = field(default=None, metadata=stored_as("disputed"))
    """Coins that cannot be credited, for which a disputed amount is opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnorderedCoinsPaid:
    """Event: coins have left the hopper without an order; ``reason`` says how the driver noticed."""

    coin_count: int = field(metadata=stored_as("coins"))
    reason: str = field(metadata=stored_as("why"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOut:
    """Event: the player's credits must be paid out by the first available payout method."""

    has_host_declined_credits: bool = False
    """Whether a host was offered the credits first and has declined to take them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoPayoutDevice:
    """Event: the player's credits must be paid by hand, because no device can; ``reason`` says why."""

    reason: str = field(default="", metadata=stored_as("why"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentForm(FilledForm):
    """A form about a hand-pay, with the means of payment and, if required, the player's identity document."""

    payment_means: str = field(default="", metadata=stored_as("method"))
    player_name: str | None = field(default=None, metadata=stored_as("name"))
    document: str | None = None
    document_number: str | None = field(default=None, metadata=stored_as("number"))

    @property
    def identity(self) -> dict[str, str]:
        """Return the player's identity data by field; empty unless every field is filled in."""
        text_by_field = {"name": self.player_name, "document": self.document, "number": self.document_number}
        stripped_text_by_field = {name: (text or "").strip() for name, text in text_by_field.items()}
        return stripped_text_by_field if all(stripped_text_by_field.values()) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplementForm(RulingForm):
    """A form about the part of a winning combination that the machine did not pay; amounts in minor units."""

    amount_cents: int = 0
    play_id: str | None = None
    slip_number: int | None = field(default=None, metadata=stored_as("slip"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTicketForm(RulingForm):
    """A form with the number of a ticket that was found without its owner."""

    ticket_number: str = field(default="", metadata=stored_as("number"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ForfeitCreditsForm(RulingForm):
    """A form by which two people declare credits won in a disrupted game forfeited; amounts in minor units."""

    amount_cents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedAmountRulingForm(RulingForm):
    """A form with a ruling on the disputed amount with the id ``disputed_amount_id``.

    ``amount_cents`` is the amount awarded in minor units. For a ticket that may have been printed,
    ``ticket_ruling`` states instead whether it is good or void.
    """

    disputed_amount_id: str = field(default="", metadata=stored_as("disputed"))
    amount_cents: int | None = None
    ticket_ruling: Literal["good", "void"] | None = field(default=None, metadata=stored_as("ticket"))


PAYLOAD_CLASS_BY_EVENT: Final[Mapping[EventName, type[Payload]]] = {
    EventType.BILL_ESCROWED: BillEscrowed,
    EventType.TICKET_ESCROWED: TicketEscrowed,
    EventType.BILL_STACKED: EmptyPayload,
    EventType.BILL_NOT_STACKED: StackingFailure,
    EventType.BILL_LOCATION_UNKNOWN: StackingFailure,
    EventType.BILL_RETURNED: PaperNotAccepted,
    EventType.BILL_REJECTED: PaperNotAccepted,
    EventType.UNORDERED_MONEY_TAKEN: UnorderedMoneyTaken,
    EventType.COINS_IN: CoinsIn,
    EventType.CASH_OUT: CashOut,
    EventType.NO_PAYOUT_DEVICE: NoPayoutDevice,
    EventType.TICKET_PRINTED: EmptyPayload,
    EventType.TICKET_PRINT_FAILED: PrintFailure,
    EventType.COINS_PAID: CoinsPaid,
    EventType.UNORDERED_COINS_PAID: UnorderedCoinsPaid,
    EventType.HANDPAY_RESET_BY_HOST: Authorisation,
    EventType.RECORD_HANDPAY_FORM: PaymentForm,
    EventType.FORFEIT_PRIZE: RulingForm,
    EventType.FORFEIT_CREDITS: ForfeitCreditsForm,
    EventType.PAY_COMPLEMENT: ComplementForm,
    EventType.RULE_ON_DISPUTED_AMOUNT: DisputedAmountRulingForm,
    EventType.REGISTER_UNCLAIMED_HANDPAY: RulingForm,
    EventType.REGISTER_UNCLAIMED_CREDITS: RulingForm,
    EventType.REGISTER_FOUND_TICKET: FoundTicketForm,
}
