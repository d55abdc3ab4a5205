"""Events of a tournament: the forms that staff fill in, and the end of a round's time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from egm.kernel.events import EventName, NoData, Payload
from egm.staff.events import FilledForm, RulingForm


class TournamentEvent(EventName):
    """An event of a tournament."""

    INSTALL_RULES = "install_rules"
    #: Staff install the rules of a tournament.
    REMOVE_RULES = "remove_rules"
    #: Staff remove the rules.
    ENTER_TOURNAMENT = "enter_tournament"
    #: Staff put the machine into the tournament.
    LEAVE_TOURNAMENT = "leave_tournament"
    #: Staff take the machine out of the tournament.
    SELL_ENTRY = "sell_entry"
    #: An attendant sells an entry.
    VOID_ENTRY = "void_entry"
    #: Staff declare an entry void.
    PAY_PRIZE = "pay_prize"
    #: Staff hand over a prize.
    BEGIN_ROUND = "begin_round"
    #: An attendant gives a position the points of a round.
    END_ROUND = "end_round"
    ROUND_TIME = "round_time"
    """Staff end a round before its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryForm(FilledForm):
    """Form: an entry is sold to a participant for the fee, and starts its first round here or later."""

    entry: int = 0
    participant: str = ""
    fee_cents: int = 0
    start: Literal["here", "later"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundForm(FilledForm):
    """Form: an attendant gives this position the points of a round of an entry, for the first time or again."""

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
