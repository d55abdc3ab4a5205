"""The journal entries of a real wheel: betting closed for a spin, the spin's number, or why no number was received."""

from dataclasses import dataclass, field
from typing import Final

from egm.kernel.entries import EntryDeclaration
from egm.play.keys import WheelKey
from egm.play.records.wheel import MissedSpinReason
from egm.record_codec import stored_as
from egm.record_fields import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class BettingClosedForSpin:
    """Betting was closed for a spin of the real wheel."""

    round_id: str
    spin_counter: Count = field(metadata=stored_as("spin"))
    """The wheel's own count of the spin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelNumberReceived(BettingClosedForSpin):
    """The real wheel reported the number of the spin for which betting had been closed."""

    winning_number: Count = field(metadata=stored_as("number"))
    """The number on which the ball came to rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelNumberMissed(BettingClosedForSpin):
    """The number of the real wheel's spin was missed for good; the spin decides no game."""

    missed_reason: MissedSpinReason = field(metadata=stored_as("unheard"))
    """The reason why the number was missed."""


BETTING_CLOSED: Final = EntryDeclaration(
    kind="wheel.no_more_bets", record=BettingClosedForSpin, written_keys=(WheelKey.LAST_SPIN,)
)
WHEEL_NUMBER_RECEIVED: Final = EntryDeclaration(
    kind="wheel.number", record=WheelNumberReceived, written_keys=(WheelKey.LAST_SPIN,)
)
WHEEL_NUMBER_MISSED: Final = EntryDeclaration(
    kind="wheel.unheard", record=WheelNumberMissed, written_keys=(WheelKey.LAST_SPIN,)
)
