"""Events of a tournament: the forms that staff fill in, and the clock of a round."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from egm.kernel.events import EmptyPayload, EventName, Payload
from egm.record_codec import stored_as
from egm.staff.events import FilledForm, RulingForm


class TournamentEvent(EventName):
    """The events of a tournament: the forms of staff, and the clock of a round.

    The journal records the values, so a value must stay the same even if the name of its event changes.
    """

    INSTALL_RULES = "install_rules"
    """Staff install the rules of a tournament."""
    REMOVE_RULES = "remove_rules"
    """Staff remove the rules of a tournament."""
    ASSIGN_MACHINE = "enter_tournament"
    """Staff assign the machine to the tournament."""
    RELEASE_MACHINE = "leave_tournament"
    """Staff release the machine from the tournament."""
    SELL_ENTRY = "sell_entry"
    """An attendant sells a tournament entry."""
    VOID_ENTRY = "void_entry"
    """Staff declare a tournament entry void."""
    PAY_PRIZE = "pay_prize"
    """Staff hand over a tournament prize."""
    START_ROUND = "begin_round"
    """An attendant gives a player position the points for a round."""
    END_ROUND = "end_round"
    """Staff end a round early."""
    ROUND_CLOCK_ADVANCED = "round_time"
    """The clock of the open round has advanced: the round starts, a minute of it has passed, or its time is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySaleForm(FilledForm):
    """A form with which an attendant sells a participant a tournament entry and confirms that the fee was received.

    ``first_round_start`` says whether the entry's first round starts at this position now (``here``) or ``later``.
    """

    entry_number: int = field(default=0, metadata=stored_as("entry"))
    participant_number: str = field(default="", metadata=stored_as("participant"))
    fee_cents: int = 0
    first_round_start: Literal["here", "later"] | None = field(default=None, metadata=stored_as("start"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStartForm(FilledForm):
    """A form with which an attendant gives this player position the points for a round of a tournament entry.

    The round is the entry's next one, or one that was interrupted and is repeated.
    """

    entry_number: int = field(default=0, metadata=stored_as("entry"))
    participant_number: str = field(default="", metadata=stored_as("participant"))
    round_number: int = field(default=0, metadata=stored_as("round"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEndForm(FilledForm):
    """A form with which staff end the round at this player position early, with the reason.

    A round that was ``interrupted`` may be repeated if the rules say so; one that has ``failed`` may not.
    """

    status: Literal["interrupted", "failed"] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryVoidForm(RulingForm):
    """A form with which staff declare a tournament entry void, so that its fee is refunded."""

    entry_number: int = field(default=0, metadata=stored_as("entry"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizePaymentForm(FilledForm):
    """A form with which staff record that they have handed over the prize of a tournament entry to its participant."""

    entry_number: int = field(default=0, metadata=stored_as("entry"))
    participant_number: str = field(default="", metadata=stored_as("participant"))
    amount_cents: int = 0


PAYLOAD_CLASS_BY_EVENT: Final[Mapping[EventName, type[Payload]]] = {
    TournamentEvent.INSTALL_RULES: FilledForm,
    TournamentEvent.REMOVE_RULES: FilledForm,
    TournamentEvent.ASSIGN_MACHINE: FilledForm,
    TournamentEvent.RELEASE_MACHINE: FilledForm,
    TournamentEvent.SELL_ENTRY: EntrySaleForm,
    TournamentEvent.VOID_ENTRY: EntryVoidForm,
    TournamentEvent.PAY_PRIZE: PrizePaymentForm,
    TournamentEvent.START_ROUND: RoundStartForm,
    TournamentEvent.END_ROUND: RoundEndForm,
    TournamentEvent.ROUND_CLOCK_ADVANCED: EmptyPayload,
}
