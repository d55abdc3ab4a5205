"""One machine as its features use it: journal, memory, clock, random numbers and the features' own objects.

Everything that must survive a power loss is in the journal, under the features' keys. Everything else in a
:class:`PositionMachine` can be rebuilt from the journal.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final, Protocol, TypeVar, cast, overload

from egm.clock import Clock
from egm.errors import InvariantError
from egm.kernel.credits import CASH_OUT_CREDIT_KINDS, CreditKind, build_credit_transfers
from egm.kernel.entries import AnyEntryDeclaration, EntryDeclaration, EntryDeclarations, EntryError
from egm.kernel.events import Event, EventReplacement, EventType, FaultChange
from egm.kernel.games import Selection
from egm.kernel.keys import KernelKey, StorageKeys
from egm.kernel.memory import PositionMemory
from egm.kernel.messages import DecisionRequest, GameOutcome, Notice
from egm.kernel.own_entries import EVENT_UNEXPECTED, SELECTION_CHANGED, UnexpectedEvent
from egm.kernel.positions import Position, is_position_fault
from egm.kernel.timekeeping import Timekeeper
from egm.profiles import Profile
from egm.record_codec import is_record, to_json
from egm.tickets.model import Venue
from meters import AppendResult, ExcessiveIncrement, Journal, Transaction, Transfer
from meters.transaction import JSON
from paytables import Game
from paytables.required_bets import find_minimum_stakes
from rng import RandomService

RecordT = TypeVar("RecordT")
ComponentT = TypeVar("ComponentT")

#: The fault raised when one entry would advance a master meter further than the jurisdiction allows (A-26).
METER_JUMP_FAULT: Final = "meter_jump"


def encode_value(value: object) -> JSON:
    """Return a state value as JSON: a record is encoded, a value that is JSON already is returned unchanged."""
    return to_json(value) if is_record(value) else cast(JSON, value)


@dataclass(frozen=True, slots=True)
class MachineIdentity:
    """Identity of the machine and its venue: serial number, operator's number and venue data (Monaco art. 19.1)."""

    serial: str
    operator_number: str
    venue: Venue
    gaming_day_end_hour: int = 0
    """The hour (0 to 23, local time) at which the venue's gaming day ends."""


class ScreenOutbox(Protocol):
    """Interface for sending outcomes and decisions to the screen."""

    def send_message(self, message: GameOutcome | DecisionRequest) -> None:
        """Send an outcome, or a decision that the player must make, to the screen."""
        ...


@dataclass(slots=True, kw_only=True)
class PositionMachine:
    """The machine as one player position uses it.

    The positions of a machine share journal, games, random numbers and service menu.
    """

    identity: MachineIdentity
    journal: Journal
    storage_keys: StorageKeys
    """Every key that the features declare; no value can be stored under another."""
    entry_declarations: EntryDeclarations
    """Every journal entry that the features declare."""
    profile: Profile
    games: Mapping[str, Game]
    """The games that are offered, by game id."""
    denominations_cents: Mapping[str, tuple[int, ...]]
    """The denominations at which each game is offered, in minor units, by game id."""
    clock: Clock
    timekeeper: Timekeeper
    """The timekeeper, which decides whether the clock can be trusted."""
    random_service: RandomService | None
    """The random number generator's service; None before it has started."""
    position: Position = field(default_factory=Position)
    screen_outbox: ScreenOutbox
    """The object through which outcomes and decisions are sent to the screens."""
    notice: Notice | None = None
    """The message to the person at the machine about the last event, or None."""
    on_entry_recorded: Callable[[], None] = lambda: None
    """A function that is called after this position has written a journal entry."""
    _components: dict[type, object] = field(default_factory=dict)
    _smallest_stake_cache: dict[tuple[str, int], int] = field(default_factory=dict)
    """The smallest stake that starts a round, in credits, by game digest and denomination; cached because each
    snapshot needs it."""
    memory: PositionMemory = field(init=False)
    """The values that the journal stores for this position and for the whole machine, by storage key."""

    def __post_init__(self) -> None:
        self.memory = PositionMemory(self.journal, self.position, self.storage_keys)

    # ------------------------------------------------------------------ volatile objects of the features
    def component(self, component_class: type[ComponentT]) -> ComponentT:
        """Return the machine's object of class ``component_class``, in which a feature holds volatile data.

        The data is lost when the process ends. If no such object was installed, one is created without
        arguments. Raises InvariantError if that is not possible.
        """
        component = self._components.get(component_class)
        if component is None:
            try:
                component = self._components[component_class] = component_class()
            except TypeError as error:
                raise InvariantError(f"{component_class.__qualname__} was not installed") from error
        return cast("ComponentT", component)

    def install(self, component: object) -> None:
        """Store ``component`` as the machine's object of its class, replacing any earlier one.

        From then on :meth:`component` returns it.
        """
        self._components[type(component)] = component

    def find_installed(self, component_class: type[ComponentT]) -> ComponentT | None:
        """Return the machine's object of class ``component_class`` if one exists, else None."""
        return cast("ComponentT | None", self._components.get(component_class))

    # ------------------------------------------------------------------ the memory
    @overload
    def post(
        self,
        declaration: EntryDeclaration[None],
        record: None = None,
        *,
        entry_id: str | None = None,
        ref: str | None = None,
        transfers: tuple[Transfer, ...] = (),
        counts: Mapping[str, int] | None = None,
        dims: Mapping[str, str | int] | None = None,
        state: Mapping[str, object] | None = None,
    ) -> AppendResult: ...

    @overload
    def post(
        self,
        declaration: EntryDeclaration[RecordT],
        record: RecordT,
        *,
        entry_id: str | None = None,
        ref: str | None = None,
        transfers: tuple[Transfer, ...] = (),
        counts: Mapping[str, int] | None = None,
        dims: Mapping[str, str | int] | None = None,
        state: Mapping[str, object] | None = None,
    ) -> AppendResult: ...

    def post(
        self,
        declaration: AnyEntryDeclaration,
        record: object = None,
        *,
        entry_id: str | None = None,
        ref: str | None = None,
        transfers: tuple[Transfer, ...] = (),
        counts: Mapping[str, int] | None = None,
        dims: Mapping[str, str | int] | None = None,
        state: Mapping[str, object] | None = None,
    ) -> AppendResult:
        """Append a declared entry to the journal; it is durable when this returns.

        Without an ``entry_id`` a new one is generated. ``ref`` is the id of the reservation that the entry
        settles or voids. Counts with a number fixed by the declaration need not be given. Raises EntryError,
        before anything is written, if the entry differs from its declaration or no feature declares it. Raises
        EventReplacement with a fault event if the entry would advance a master meter by more than the
        jurisdiction allows.
        """
        if declaration not in self.entry_declarations:
            raise EntryError(f"no feature declares the entry {declaration.kind}")
        transaction = Transaction(
            id=entry_id or self.fresh_id(declaration.kind),
            kind=declaration.kind,
            transfers=transfers,
            phase=declaration.phase,
            ref=ref,
            counts={**declaration.fixed_counts, **(counts or {})},
            dims={**self.position.meter_dimensions, **(dims or {})},
            marks=declaration.marks,
            state=self.encode_state(state or {}),
            record=encode_value(record),
        )
        declaration.check_transaction(transaction, self.storage_keys)
        return self.append(transaction)

    def encode_state(self, state: Mapping[str, object]) -> dict[str, JSON]:
        """Return values to store, as JSON, by the names under which the journal stores them for this position."""
        return {
            self.storage_keys.build_stored_name(key, self.position): encode_value(value)
            for key, value in state.items()
        }

    def append(self, transaction: Transaction) -> AppendResult:
        """Append a transaction that agrees with its entry's declaration to the journal.

        Only :meth:`post` and tests call this.
        """
        try:
            result = self.journal.append(transaction)
        except ExcessiveIncrement as error:  # nothing is written, so no value has moved
            jump_report = Event(EventType.FAULT_RAISED, FaultChange(code=METER_JUMP_FAULT, detail=str(error)))
            raise EventReplacement(jump_report) from error
        self.on_entry_recorded()
        return result

    def fresh_id(self, kind: str) -> str:
        """Return a new id for a journal entry of this kind, never used before in any journal of this machine."""
        return self.journal.fresh_id(kind)

    def record_unexpected_event(
        self, event: str, state: str, reason: str, values: Mapping[str, int | str]
    ) -> None:
        """Record in the journal an event that no rule accepts in this state, and why."""
        details = UnexpectedEvent(event=event, state=state, reason=reason, values=values)
        self.post(EVENT_UNEXPECTED, details)

    @property
    def journal_head(self) -> str:
        """Return the journal head as printed and shown: the number of the last entry and twelve digits of its hash.

        A person who has it in writing can prove later what the journal contained at that moment.
        """
        return f"{self.journal.sequence}:{self.journal.head_hash[:12]}"

    @property
    def open_doors(self) -> tuple[str, ...]:
        """Return the names of the machine's open doors."""
        return tuple(
            name.removeprefix(KernelKey.DOOR) for name in sorted(self.journal.states(KernelKey.DOOR))
        )

    @property
    def active_faults(self) -> dict[str, Any]:
        """Return the active faults that concern this position (its own and the machine's), by fault code."""
        stored_faults = sorted(self.journal.states(KernelKey.FAULT).items())
        faults = {key.removeprefix(KernelKey.FAULT): fault for key, fault in stored_faults}
        if self.position.number == 1:
            return faults
        machine_faults = {code: fault for code, fault in faults.items() if not is_position_fault(code)}
        prefix = f"{self.position.number}/{KernelKey.FAULT}"
        own_faults = sorted(self.journal.states(prefix).items())
        return machine_faults | {key.removeprefix(prefix): fault for key, fault in own_faults}

    @property
    def is_tilted(self) -> bool:
        """Return whether an active fault stops play."""
        return any(fault["locks"] for fault in self.active_faults.values())

    def name_credit_account(self, kind: CreditKind) -> str:
        """Return the name of the account that holds the player's credits of one kind."""
        return self.position.name_credit_account(kind)

    def build_debit_transfers(
        self, amount_cents: int, target: str, kinds: Iterable[CreditKind] = CreditKind
    ) -> tuple[Transfer, ...]:
        """Return the journal transfers that move this amount of the player's credits to the account ``target``.

        The kinds of credit are used one after the other, in the order of ``kinds``.
        """
        return build_credit_transfers(
            amount_cents, target, self.journal.available_cents, kinds, self.position
        )

    def read_credit_cents(self, kind: CreditKind) -> int:
        """Return the player's unreserved credits of one kind, in minor units."""
        return self.journal.available_cents(self.position.name_credit_account(kind))

    @property
    def credit_cents(self) -> int:
        """Return the unreserved credits that the player could wager now, all kinds, in minor units."""
        return sum(map(self.read_credit_cents, CreditKind))

    @property
    def cashable_cents(self) -> int:
        """Return the unreserved credits that the player could cash out now: all but restricted credit."""
        return sum(map(self.read_credit_cents, CASH_OUT_CREDIT_KINDS))

    @property
    def local_date(self) -> date:
        """Return the date at the venue: by the clock if it is trusted, otherwise by the best known time."""
        return self.timekeeper.now().astimezone(self.identity.venue.zone).date()

    @property
    def selection(self) -> Selection:
        """Return the player's current selection of game, denomination, bet and language.

        Before the player has selected anything, or if the selected denomination of the game is no longer offered,
        return the first game at its first denomination and starting bet; the selected language stays. If no game is
        offered, the game id is "". A bet below the jurisdiction's minimum, other than 0, is replaced by the game's
        starting bet without options.
        """
        last_selection = self.memory.read(Selection, KernelKey.SELECTION)
        if last_selection is not None and last_selection.denomination_cents in self.denominations_cents.get(
            last_selection.game_id, ()
        ):
            if not last_selection.bet_cents or last_selection.bet_cents >= self.profile.play.bet_min_cents:
                return last_selection  # a free game, or a table without bets yet, has no minimum bet
            starting_bet_credits = self.find_starting_bet_credits(
                last_selection.game_id, last_selection.denomination_cents
            )
            return replace(last_selection, bet_credits=starting_bet_credits, options={})
        game_id = next(iter(self.games), "")
        if not game_id:
            return Selection("", 1, 0, self.profile.languages[0])
        language = last_selection.language if last_selection is not None else self.profile.languages[0]
        denomination_cents = self.denominations_cents[game_id][0]
        return Selection(
            game_id, denomination_cents, self.find_starting_bet_credits(game_id, denomination_cents), language
        )

    def find_starting_bet_credits(self, game_id: str, denomination_cents: int) -> int:
        """Return the bet in credits that is preset when the player selects a game.

        It is the smallest stake that starts the game, or 0 if the player places bets on spots.
        """
        if self.games[game_id].rules.list_spots():
            return 0
        return self.find_smallest_stake_credits(game_id, denomination_cents)

    def find_smallest_stake_credits(self, game_id: str, denomination_cents: int) -> int:
        """Return the smallest stake in credits that starts a round of a game.

        It includes companion bets that the game requires, and is not below the jurisdiction's minimum. If no
        stake of the game reaches that minimum, the game's own minimum is returned.
        """
        game, bet_min_cents = self.games[game_id], self.profile.play.bet_min_cents
        key = game.digest, denomination_cents
        smallest_credits = self._smallest_stake_cache.get(key)
        if smallest_credits is None:
            spots = {spot.id: spot for spot in game.rules.list_spots()}
            stakes_credits = {*game.bet_options, *find_minimum_stakes(spots)}
            allowed_stakes_credits = (
                stake for stake in stakes_credits if stake * denomination_cents >= bet_min_cents
            )
            smallest_credits = min(allowed_stakes_credits, default=min(stakes_credits))
            self._smallest_stake_cache[key] = smallest_credits
        return smallest_credits

    def store_selection(self, selection: Selection) -> None:
        """Store the player's selection of game, denomination, bet and language.

        Do nothing if it equals the current :attr:`selection`.
        """
        if selection == self.selection:
            return
        self.post(SELECTION_CHANGED, state={KernelKey.SELECTION: selection})
