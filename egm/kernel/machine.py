"""One machine as its features act on it: journal, memory, clock, generator, and what each feature holds.

A :class:`Machine` keeps no truth of its own. Everything that must outlive a power cut is in the journal,
under the keys of its features; what is held here besides is only what can be rebuilt from it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final, Protocol, TypeVar, cast

from egm.clock import Clock
from egm.errors import InvariantError
from egm.kernel.credits import MONEY, CreditKind, taken
from egm.kernel.events import Event, EventType, SupersededBy
from egm.kernel.games import Selection
from egm.kernel.keys import KernelKey, Keys
from egm.kernel.memory import Memory
from egm.kernel.messages import Decision, Notice, Play
from egm.kernel.positions import Position, is_own_fault
from egm.kernel.timekeeping import Timekeeper
from egm.profiles import Profile
from egm.record_codec import is_record, to_json
from egm.tickets.model import House
from meters import ExcessiveIncrement, Journal, Mark, Phase, Posted, Transaction, Transfer
from meters.transaction import JSON
from paytables import Game
from paytables.companions import first_stakes
from rng import RandomService

T = TypeVar("T")

#: The fault of an entry that would have moved a master meter further at once than the place allows (A-26).
METER_JUMP: Final = "meter_jump"


def _json(value: object) -> JSON:
    """What is recorded of a value: of a record, its JSON."""
    return to_json(value) if is_record(value) else cast(JSON, value)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who this machine is, and whose: serial, operator's number, the house (Monaco art. 19.1)."""

    serial: str
    operator_number: str
    house: House
    day_ends_hour: int = 0
    """The local hour at which the venue's gaming day ends."""


class Outbox(Protocol):
    """Where the machine speaks to the screen."""

    def show(self, message: Play | Decision) -> None:
        """Show this outcome, or ask this question."""
        ...


@dataclass(slots=True, kw_only=True)
class Machine:
    """One position of a machine, and most have one; several share journal, games, generator and desk."""

    identity: Identity
    journal: Journal
    #: Every key its features declare; nothing is remembered under another.
    keys: Keys
    profile: Profile
    games: Mapping[str, Game]
    denominations_cents: Mapping[str, tuple[int, ...]]
    clock: Clock
    times: Timekeeper
    chance: RandomService | None
    position: Position = field(default_factory=Position)
    outbox: Outbox
    notice: Notice | None = None
    #: Told after each entry.
    recorded: Callable[[], None] = lambda: None
    _states: dict[type, object] = field(default_factory=dict)
    #: The stakes that begin a round of a game, in credits, by its digest: asked for at every snapshot.
    _first_stakes: dict[str, set[int]] = field(default_factory=dict)
    #: What the journal keeps between one instant and the next, by key.
    memory: Memory = field(init=False)

    def __post_init__(self) -> None:
        self.memory = Memory(self.journal, self.position, self.keys)

    # ------------------------------------------------------------------ what each feature holds for itself
    def state(self, kind: type[T]) -> T:
        """The volatile state of a feature: what was installed as such, else one made now, of no arguments.

        Nothing in it outlives the process. InvariantError where it is not installed, and cannot be made.
        """
        found = self._states.get(kind)
        if found is None:
            try:
                found = self._states[kind] = kind()
            except TypeError as error:
                raise InvariantError(f"{kind.__qualname__} was not installed") from error
        return cast("T", found)

    def install(self, state: object) -> None:
        """Put in a feature's state, in place of any of the same class: what the composition root makes."""
        self._states[type(state)] = state

    def installed(self, kind: type[T]) -> T | None:
        """What was installed or made of a class, or None: for what a machine may do without."""
        return cast("T | None", self._states.get(kind))

    # ------------------------------------------------------------------ the memory
    def record(
        self,
        kind: str,
        *,
        transaction_id: str | None = None,
        transfers: tuple[Transfer, ...] = (),
        phase: Phase = Phase.POST,
        ref: str | None = None,
        counts: Mapping[str, int] | None = None,
        dims: Mapping[str, str | int] | None = None,
        marks: tuple[Mark, ...] = (),
        state: Mapping[str, object] | None = None,
        details: object = None,
    ) -> Posted:
        """Append one transaction to the journal; durable when this returns.

        Without an id of its own the transaction gets a fresh one. ``details`` and each value of ``state`` is
        a record (:mod:`egm.record_codec`) or JSON. What would move a master meter further than the place
        allows is not written, and a fault happens instead.
        """
        transaction = Transaction(
            id=transaction_id or self.fresh_id(kind),
            kind=kind,
            transfers=transfers,
            phase=phase,
            ref=ref,
            counts=dict(counts or {}),
            dims={**self.position.dims, **(dims or {})},
            marks=marks,
            state={self.keys.name(key, self.position): _json(value) for key, value in (state or {}).items()},
            record=_json(details),
        )
        try:
            posted = self.journal.append(transaction)
        except ExcessiveIncrement as why:  # nothing is written: what would have moved stays where it is
            jump = Event(EventType.FAULT_RAISED, {"code": METER_JUMP, "detail": str(why)})
            raise SupersededBy(jump) from why
        self.recorded()
        return posted

    def fresh_id(self, kind: str) -> str:
        """An id that stands for one thing for ever, whatever journal the machine keeps."""
        return self.journal.fresh_id(kind)

    def log(self, kind: str, details: Mapping[str, object]) -> None:
        """Record an event that moves nothing."""
        self.record(kind, details=dict(details))

    @property
    def witness(self) -> str:
        """The journal's head as it is printed and shown: entry and twelve digits of the hash.

        Whoever has it, on paper or in a book of his own, holds an export to what the journal was then.
        """
        return f"{self.journal.sequence}:{self.journal.head_hash[:12]}"

    @property
    def doors_open(self) -> tuple[str, ...]:
        """The names of the doors that stand open."""
        return tuple(
            name.removeprefix(KernelKey.DOOR) for name in sorted(self.journal.states(KernelKey.DOOR))
        )

    @property
    def faults(self) -> dict[str, Any]:
        """Standing faults by code: this position's own, and the machine's."""
        standing = sorted(self.journal.states(KernelKey.FAULT).items())
        faults = {key.removeprefix(KernelKey.FAULT): entry for key, entry in standing}
        if self.position.number == 1:
            return faults
        shared = {code: entry for code, entry in faults.items() if not is_own_fault(code)}
        prefix = f"{self.position.number}/{KernelKey.FAULT}"
        own = sorted(self.journal.states(prefix).items())
        return shared | {key.removeprefix(prefix): entry for key, entry in own}

    @property
    def is_tilted(self) -> bool:
        """Whether a standing fault stops play."""
        return any(entry["locks"] for entry in self.faults.values())

    def credit(self, kind: CreditKind) -> str:
        """The account of the player's credits of a kind."""
        return self.position.account(kind)

    def take(
        self, amount_cents: int, target: str, kinds: Iterable[CreditKind] = CreditKind
    ) -> tuple[Transfer, ...]:
        """The transfers that take so much of the player's credits to ``target``, kind after kind."""
        return taken(amount_cents, target, self.journal.available_cents, kinds, self.position)

    def kind_cents(self, kind: CreditKind) -> int:
        """The player's credits of one kind, everything reserved taken off."""
        return self.journal.available_cents(self.credit(kind))

    @property
    def credit_cents(self) -> int:
        """What the player could wager now, of every kind, everything reserved taken off."""
        return sum(self.kind_cents(kind) for kind in CreditKind)

    @property
    def cash_cents(self) -> int:
        """What the player could cash out now: everything but restricted credit."""
        return sum(self.kind_cents(kind) for kind in MONEY)

    @property
    def local_date(self) -> date:
        """Today, where the house is, as far as it is known."""
        return self.times.now().astimezone(self.identity.house.zone).date()

    @property
    def selection(self) -> Selection:
        """The game, denomination, bet and language in force; the first game's least bet at the start."""
        stored = self.memory.read(Selection, KernelKey.SELECTION)
        if stored is not None and stored.denomination_cents in self.denominations_cents.get(
            stored.game_id, ()
        ):
            if not stored.bet_cents or stored.bet_cents >= self.profile.play.bet_minimum_cents:
                return stored  # what costs nothing, or is no bet yet, is under no least bet
            least = self.least_bet(stored.game_id, stored.denomination_cents)
            return replace(stored, bet_credits=least, options={})
        game_id = next(iter(self.games), "")
        if not game_id:
            return Selection("", 1, 0, self.profile.languages[0])
        language = stored.language if stored is not None else self.profile.languages[0]
        denomination_cents = self.denominations_cents[game_id][0]
        return Selection(game_id, denomination_cents, self.least_bet(game_id, denomination_cents), language)

    def least_bet(self, game_id: str, denomination_cents: int) -> int:
        """The smallest bet of a game, in credits, that the place takes; its smallest where it takes none.

        None at a table with spots: whoever plays there has laid his bets himself.
        """
        if self.games[game_id].rules.layout():
            return 0
        return self.least_stake(game_id, denomination_cents)

    def least_stake(self, game_id: str, denomination_cents: int) -> int:
        """Return the least credits that begin a game, at a table those of its cheapest bet and all it needs.

        The jurisdiction's minimum counts; where no stake reaches it, the game's own least is returned.
        """
        game, minimum_cents = self.games[game_id], self.profile.play.bet_minimum_cents
        stakes = self._first_stakes.get(game.digest)
        if stakes is None:
            spots = {spot.id: spot for spot in game.rules.layout()}
            stakes = self._first_stakes[game.digest] = {*game.bet_options, *first_stakes(spots)}
        allowed = (credits_ for credits_ in stakes if credits_ * denomination_cents >= minimum_cents)
        return min(allowed, default=min(stakes))

    def select(self, chosen: Selection) -> None:
        """Remember a changed game, denomination, bet or language; the one in force is not written again."""
        if chosen == self.selection:
            return
        self.record("selection", state={KernelKey.SELECTION: chosen})
