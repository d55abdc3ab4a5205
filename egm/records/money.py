"""Money under way, as the memory keeps it: hand-pays, payouts, what the printer has, paper in escrow.

Amounts are minor units.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from egm.devices.interface import PrintState
from egm.devices.ledgers import EscrowPhase
from egm.kernel.credits import CreditKind
from egm.kernel.messages import HandpayKind
from egm.record_codec import omitted
from meters import Transfer
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeRecord:
    """A prize in kind: its id, its names by language, and what the house states it is worth."""

    id: str
    names: Mapping[str, str]
    value_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayForm:
    """How a hand-pay is to be paid, who wrote it down, and the commitment to the player's identity."""

    method: str
    persons: tuple[str, ...]
    identity: str = omitted("")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidInCoins:
    """What was owed when the hopper began to pay a cash-out, and what it has paid of that."""

    owed_cents: int
    paid_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutRest:
    """What one way out has left over of a cash-out, for the next or ``by_hand``, and what came as coins."""

    rest_cents: int
    by_hand: bool = omitted(False)
    in_coins: PaidInCoins | None = omitted(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayRecord:
    """What waits for an attendant's hand; ``id`` is that of its reservation.

    ``why``: no ticket could be printed. ``in_coins``: it is the rest of a cash-out the hopper began.
    ``pool`` and ``play_id``: the levels it pays, and their game. ``instead_of``: an older reservation that it
    replaces. ``way``: the player would rather have a ticket.
    """

    id: str
    kind: HandpayKind
    amount_cents: int
    why: str = omitted("")
    in_coins: PaidInCoins | None = omitted(None)
    prizes: tuple[PrizeRecord, ...] = omitted(())
    pool: str = omitted("")
    play_id: str = omitted("")
    form: HandpayForm | None = omitted(None)
    instead_of: str = omitted("")
    way: str = omitted("")

    @property
    def worth_cents(self) -> int:
        """Its money, and its prizes in kind at their stated value."""
        return self.amount_cents + sum(prize.value_cents for prize in self.prizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutRecord:
    """Credits on their way out: on a ticket, or in coins.

    Of a ticket: ``kind`` of credit, the ``pool`` a host gave it from, its masked ``number`` (empty: it waits
    for one), and the ``language`` it is printed in. Of coins: how many. ``in_coins``: it is the rest of a
    cash-out the hopper began.
    """

    id: str
    way: Literal["ticket", "coins"]
    amount_cents: int
    kind: CreditKind | None = omitted(None)
    pool: int | None = omitted(None)
    number: str | None = omitted(None)
    language: str = omitted("")
    coins: int = omitted(0)
    in_coins: PaidInCoins | None = omitted(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinsGone:
    """What left the hopper before its payout was given up; ``doubt``: nobody knows where the rest is.

    ``in_coins``: with it, all that came as coins of this cash-out.
    """

    id: str
    way: Literal["coins"]
    amount_cents: int
    coins: int
    paid_coins: int
    coin_cents: int
    doubt: str = ""
    in_coins: PaidInCoins | None = omitted(None)

    @property
    def counted_cents(self) -> int:
        """What the coins that were counted out are worth."""
        return self.paid_coins * self.coin_cents

    @property
    def paid_cents(self) -> int:
        """What of them is the player's."""
        return min(self.counted_cents, self.amount_cents)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintingRecord:
    """The ticket, slip or test the printer has."""

    id: str
    language: str
    state: PrintState


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRecord:
    """The bill or ticket on its way into the box; ``ticket``: its masked number, empty for a bill.

    ``mark``: the driver's place in its protocol. ``outward``: the acceptor says that it gives it back.
    """

    id: str
    amount_cents: int
    ticket: str
    phase: EscrowPhase
    mark: int
    outward: bool | None = omitted(None)


@dataclass(frozen=True, slots=True)
class OrphanFlow:
    """A transfer that an orphan will be posted with; in the journal ``[source, target, amount_cents]``."""

    source: str
    target: str
    amount_cents: int

    def to_json(self) -> list[JSON]:
        """Return it as the journal keeps it."""
        return [self.source, self.target, self.amount_cents]

    @classmethod
    def from_json(cls, data: Sequence[str | int]) -> Self:
        """Read it back. A journal from before there were prizes in kind names no target: all was money."""
        source, *target, amount_cents = data
        return cls(str(source), str(*target) or "house:orphan", int(amount_cents))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclaimedRecord:
    """A hand-pay given up, and not yet an orphan; ``story``: what the orphan's entry tells."""

    id: str
    flows: tuple[OrphanFlow, ...]
    story: Mapping[str, JSON]

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        """What the orphan's entry moves."""
        return tuple(Transfer(flow.source, flow.target, flow.amount_cents) for flow in self.flows)
