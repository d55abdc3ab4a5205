"""Events of a tournament: the forms that staff fill in, and the end of a round's time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from egm.kernel.events import EventName, NoData, Payload
from egm.staff.events import FilledForm, RulingForm


class TournamentEvent(EventName):
    """An event of a tournament."""

    INSTALL_RULES = "install_rules"
    REMOVE_RULES = "remove_rules"
    ENTER_TOURNAMENT = "enter_tournament"
    LEAVE_TOURNAMENT = "leave_tournament"
    SELL_ENTRY = "sell_entry"
    VOID_ENTRY = "void_entry"
    PAY_PRIZE = "pay_prize"
    BEGIN_ROUND = "begin_round"
    END_ROUND = "end_round"
    ROUND_TIME = "round_time"
    """The time of a round has advanced: what its player sees has changed, or the time is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryForm(FilledForm):
    """Form: an entry is sold to a participant for the fee, and starts its first round here or later."""

    entry: int = 0
    participant: str = ""
    fee_cents: int = 0
    start: Literal["here", "later"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundForm(FilledForm):
    """Form: an entry begins, or repeats, a round at this position."""

    entry: int = 0
    participant: str = ""
    round: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEndForm(FilledForm):
    """Form: staff end the round of this position before its end, and say why."""

    status: Literal["interrupted", "failed"] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidForm(RulingForm):
    """Form: an entry is void, and its fee is refunded."""

    entry: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeForm(FilledForm):
    """Form: the prize of an entry is handed over to its participant."""

    entry: int = 0
    participant: str = ""
    amount_cents: int = 0


EVENTS: Final[Mapping[EventName, type[Payload]]] = {
    TournamentEvent.INSTALL_RULES: FilledForm,
    TournamentEvent.REMOVE_RULES: FilledForm,
    TournamentEvent.ENTER_TOURNAMENT: FilledForm,
    TournamentEvent.LEAVE_TOURNAMENT: FilledForm,
    TournamentEvent.SELL_ENTRY: EntryForm,
    TournamentEvent.VOID_ENTRY: VoidForm,
    TournamentEvent.PAY_PRIZE: PrizeForm,
    TournamentEvent.BEGIN_ROUND: RoundForm,
    TournamentEvent.END_ROUND: RoundEndForm,
    TournamentEvent.ROUND_TIME: NoData,
}
