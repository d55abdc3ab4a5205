"""Money under way, as the memory keeps it: hand-pays and the prizes in kind they owe.

Amounts are minor units.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from egm.kernel.messages import HandpayKind
from egm.kernel.record_codec import omitted


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
class HandpayRecord:
    """What waits for an attendant's hand; ``id`` is that of its reservation.

    ``why``: no ticket could be printed. ``pool`` and ``play_id``: the levels it pays, and their game.
    ``instead_of``: an older reservation that it replaces. ``way``: the player would rather have a ticket.
    """

    id: str
    kind: HandpayKind
    amount_cents: int
    why: str = omitted("")
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
