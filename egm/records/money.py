"""Stored records of money in progress: hand-pays, payouts, the printer's job, bills and tickets in escrow.

Amounts are minor units.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from egm.devices.interface import PrintState
from egm.devices.ledgers import EscrowPhase
from egm.kernel.credits import CreditKind
from egm.kernel.messages import HandpayKind
from egm.record_codec import omit_if_default
from egm.record_fields import Digest, Words
from meters import Transfer
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeRecord:
    """A prize in kind: its id, its names by language, and its stated value."""

    id: str
    names: Mapping[str, str]
    value_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayForm:
    """The form of a hand-pay: means of payment, who filled it in, and the commitment to the player's identity."""

    method: Words
    persons: tuple[str, ...]
    identity: Digest = omit_if_default("")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidInCoins:
    """The amount owed when the hopper began to pay a cash-out, and how much of it has been paid."""

    owed_cents: int
    paid_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutRest:
    """The unpaid remainder of a cash-out, for the next payout method or ``by_hand``, and the coins paid so far."""

    rest_cents: int
    by_hand: bool = omit_if_default(False)
    in_coins: PaidInCoins | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayRecord:
    """A hand-pay that waits for an attendant; ``id`` is the id of its reservation.

    ``why``: why no ticket could be printed. ``in_coins``: set if it is the remainder of a cash-out started by
    the hopper. ``pool`` and ``play_id``: the levels it pays, and their game. ``instead_of``: an older
    reservation that it replaces. ``way``: set if the player has requested a ticket instead.
    """

    id: str
    kind: HandpayKind
    amount_cents: int
    why: str = omit_if_default("")
    in_coins: PaidInCoins | None = omit_if_default(None)
    prizes: tuple[PrizeRecord, ...] = omit_if_default(())
    pool: str = omit_if_default("")
    play_id: str = omit_if_default("")
    form: HandpayForm | None = omit_if_default(None)
    instead_of: str = omit_if_default("")
    way: str = omit_if_default("")

    @property
    def worth_cents(self) -> int:
        """Return the money plus the stated value of the prizes in kind."""
        return self.amount_cents + sum(prize.value_cents for prize in self.prizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutRecord:
    """Credits being paid out on a ticket or in coins.

    For a ticket: ``kind`` of credit, the ``pool`` of a host's restricted credit, its masked ``number`` (empty
    while it waits for one), and the ``language`` it is printed in. For coins: their count. ``in_coins``: set
    if it is the remainder of a cash-out started by the hopper.
    """

    id: str
    way: Literal["ticket", "coins"]
    amount_cents: int
    kind: CreditKind | None = omit_if_default(None)
    pool: int | None = omit_if_default(None)
    number: str | None = omit_if_default(None)
    language: str = omit_if_default("")
    coins: int = omit_if_default(0)
    in_coins: PaidInCoins | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinsGone:
    """The coins that left the hopper before its payout was abandoned; ``doubt``: why the others are unaccounted for.

    ``in_coins``: all coins paid in this cash-out, including these.
    """

    id: str
    way: Literal["coins"]
    amount_cents: int
    coins: int
    paid_coins: int
    coin_cents: int
    doubt: str = ""
    in_coins: PaidInCoins | None = omit_if_default(None)

    @property
    def counted_cents(self) -> int:
        """Return the value of the coins counted out."""
        return self.paid_coins * self.coin_cents

    @property
    def paid_cents(self) -> int:
        """Return the part of it that counts as paid to the player."""
        return min(self.counted_cents, self.amount_cents)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintingRecord:
    """The ticket, slip or test that the printer is handling."""

    id: str
    language: str
    state: PrintState


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRecord:
    """The bill or ticket being stacked; ``ticket``: its masked number, empty for a bill.

    ``mark``: the driver's protocol position. ``outward``: whether the acceptor reports that it is returning
    it.
    """

    id: str
    amount_cents: int
    ticket: str
    phase: EscrowPhase
    mark: int
    outward: bool | None = omit_if_default(None)


@dataclass(frozen=True, slots=True)
class OrphanFlow:
    """A transfer to be posted for an orphan; in the journal ``[source, target, amount_cents]``."""

    source: str
    target: str
    amount_cents: int

    def to_json(self) -> list[JSON]:
        """Return the flow as stored in the journal."""
        return [self.source, self.target, self.amount_cents]

    @classmethod
    def from_json(cls, data: Sequence[str | int]) -> Self:
        """Return the flow read from the journal. Journals older than prizes in kind have no target: all was money."""
        source, *target, amount_cents = data
        return cls(str(source), str(*target) or "house:orphan", int(amount_cents))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclaimedRecord:
    """A voided hand-pay whose orphan is not posted yet; ``story``: the details of the orphan's entry."""

    id: str
    flows: tuple[OrphanFlow, ...]
    story: Mapping[str, JSON]

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        """Return the transfers of the orphan's entry."""
        return tuple(Transfer(flow.source, flow.target, flow.amount_cents) for flow in self.flows)
