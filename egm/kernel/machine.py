"""What the effects act on: the journal, the chance, the games and the ports of one machine.

A :class:`Cabinet` keeps no truth of its own. Everything that must outlive a power cut is in the journal,
under the keys of :class:`Key`; what is held here besides is only what can be rebuilt from it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import Any, Protocol, Self, TypeVar, cast

from egm.clock import Clock
from egm.errors import InvariantError
from egm.kernel.credits import MONEY, CreditKind, taken
from egm.kernel.games import Selection
from egm.kernel.memory import Memory
from egm.kernel.messages import Decision, Notice, Play
from egm.kernel.positions import Position, is_own_fault
from egm.kernel.record_codec import is_record, to_json
from egm.kernel.timekeeping import Timekeeper
from egm.profiles import Profile
from egm.tickets.model import House
from meters import Journal, Mark, Phase, Posted, Transaction, Transfer
from meters.transaction import JSON
from paytables import Game
from rng import RandomService

T = TypeVar("T")


class Fate(StrEnum):
    """What an authorised clear makes of what the memory holds under a key (`egm.memory_clear.claims`)."""

    OWED = "owed"
    """Part of a claim: settled by hand or carried over, by name."""
    IDENTITY = "identity"
    """What the machine is known by, set to or held by: it goes on in the next journal."""
    TRANSIENT = "transient"
    """Of this journal only, or found out anew: forgotten."""


class Key(StrEnum):
    """Names under which the journal keeps the machine's state between one instant and the next.

    Each says what an authorised clear makes of it.
    """

    fate: Fate

    def __new__(cls, name: str, fate: Fate) -> Self:
        """A key is its name; its fate goes with it."""
        key = str.__new__(cls, name)
        key._value_, key.fate = name, fate
        return key

    @property
    def is_transient(self) -> bool:
        """Whether an authorised clear forgets it."""
        return self.fate is Fate.TRANSIENT

    BOOTS = "boots", Fate.IDENTITY
    CLOCK = "clock", Fate.IDENTITY
    """Why the clock is not believed, and the last moment known to be right (`egm.kernel.timekeeping`)."""
    SELECTION = "selection", Fate.IDENTITY
    GAME = "game", Fate.OWED
    LAST = "last_game", Fate.TRANSIENT
    PAY_OUT = "pay_out", Fate.OWED
    PRINT = "print", Fate.OWED
    HOPPER = "hopper", Fate.OWED
    COINS = "coins", Fate.IDENTITY
    COINS_GONE = "coins_gone", Fate.OWED
    """What left the hopper before its payout was given up, and is not posted yet."""
    DISPUTED = "disputed:", Fate.OWED
    """Prefix; one key an amount a person must decide: see :mod:`egm.money.disputed`."""
    RULING = "ruling", Fate.OWED
    """What a person has decided of a disputed amount, and is not posted yet."""
    HANDPAY = "handpay", Fate.OWED
    SESSION = "session", Fate.IDENTITY
    """What player protection counts since the player came."""
    REMINDER = "reminder", Fate.IDENTITY
    LIMITS = "limits", Fate.IDENTITY
    """The player's own limits."""
    SLIP = "slip", Fate.IDENTITY
    """The number of the last hand-pay slip."""
    UNCLAIMED = "unclaimed", Fate.OWED
    """A hand-pay given up, and not yet an orphan."""
    GOES_ON = "cash_out_goes_on", Fate.IDENTITY
    """The hopper has paid what it could, and the rest goes the next way."""
    PAPER = "paper", Fate.OWED
    """The bill or ticket on its way into the box."""
    HOST_TICKET = "host_ticket", Fate.IDENTITY
    """What became of the last ticket a host was asked about."""
    TICKETS = "tickets", Fate.TRANSIENT
    """How far the ticket ledger has come, and what it knew when this journal began."""
    TICKET_TERMS = "ticket_terms", Fate.IDENTITY
    """What the host has laid down about tickets."""
    TRANSFER = "transfer", Fate.IDENTITY
    """The last electronic transfer a host ordered, and what became of it."""
    TRANSFERS = "transfers", Fate.IDENTITY
    """How many there were."""
    HOST_CASH_OUT = "host_cash_out", Fate.IDENTITY
    """Whether cash-outs are offered to the host first."""
    REGISTRATION = "registration", Fate.OWED
    """With what the machine is registered for transfers."""
    TRANSFERS_UNPROVED = "transfers_unproved", Fate.IDENTITY
    """Since a clear it is not known which transfers have moved value: none does before the host registers."""
    RESTRICTED = "restricted", Fate.OWED
    """Until when the restricted credit on the meter is good, and the pool it belongs to."""
    HARD_METERS = "hard_meters", Fate.TRANSIENT
    """The electronic meters, in pulses, less what the hard meters had been given when they were fitted."""
    SERVICE = "service_call", Fate.TRANSIENT
    MENU = "menu", Fate.TRANSIENT
    """The service menu is open: since when, and who is signed in."""
    OPTIONS = "options", Fate.IDENTITY
    """What the staff has set; see :mod:`egm.staff.options`."""
    INVENTORY = "inventory", Fate.IDENTITY
    """The machine's inventory entry as last recorded."""
    INTERVENTION = "intervention", Fate.IDENTITY
    """Who is at work in the machine, since when, and why."""
    MONITORED = "intervention_seen", Fate.IDENTITY
    """The last intervention that the monitoring system has read."""
    COLLECTED = "collected", Fate.TRANSIENT
    """The last collection: what was metered into each box, and which of them are counted."""
    BASE = "base", Fate.IDENTITY
    """The base withdrawn from under the machine, and who has its lock and key."""
    STAFF = "staff", Fate.IDENTITY
    """The last change to the staff that is recorded: its number, and the roster's digest after it."""
    TRIES = "tries:", Fate.IDENTITY
    """Prefix; one key a bucket of staff numbers whose PIN was wrong: how often, and how long it is locked."""
    OUT_OF_SERVICE = "out_of_service", Fate.IDENTITY
    GAT = "gat", Fate.TRANSIENT
    """The last thing a verifier asked over GAT, and what came of it."""
    SOFTWARE = "software", Fate.TRANSIENT
    """What is installed, by component, as its manufacturer signed it."""
    DISABLED = "disabled:", Fate.IDENTITY
    """Prefix; one key for each who has taken the machine out of service."""
    AWAITING = "awaiting_award", Fate.OWED
    """The game that waits for a controller to lock its award."""
    LEVEL = "level:", Fate.OWED
    """Prefix; one key a progressive level this machine keeps."""
    LINK = "link:", Fate.OWED
    """Prefix; one key a linked level: how far this machine's contributions have come."""
    SEALED = "sealed:", Fate.IDENTITY
    """Prefix; one key a linked mystery level: its prize's number, and the commitment to its secret amount."""
    UNDECIDED = "undecided", Fate.OWED
    """The game an attendant let end without knowing whether it has won a mystery level."""
    CLAIM = "claim:", Fate.OWED
    """Prefix; one key a hit of a linked level that is not over."""
    HELD = "held:", Fate.OWED
    """Prefix; one key each thing a controller said that is not proved: see `egm.progressive.unproved`."""
    PROGRESSIVE_WIN = "progressive_win:", Fate.IDENTITY
    """Prefix; one key a hit of a broadcast level that the host has not read yet."""
    DOOR = "door:", Fate.IDENTITY
    """Prefix; one key an open door."""
    DEFINITION = "definition:", Fate.IDENTITY
    """Prefix; one key each definition played here, by its digest: see :mod:`egm.play.definitions`."""
    EXAMINED = "examined:", Fate.TRANSIENT
    """Prefix; one key each definition whose largest prize is known, by its digest."""
    FAULT = "fault:", Fate.IDENTITY
    """Prefix; one key a standing fault."""


def _json(value: object) -> JSON:
    """What is recorded of a value: of a record, its JSON."""
    return to_json(value) if is_record(value) else cast(JSON, value)


def key_of(name: str) -> Key | None:
    """The key a name in the journal's state belongs to, a position's number before it or not."""
    bare = name.partition("/")[2] if name[:1].isdigit() and "/" in name else name
    return next((key for key in Key if bare == key or (key.endswith(":") and bare.startswith(key))), None)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who this machine is, and whose: serial, operator's number, the house (Monaco art. 19.1)."""

    serial: str
    operator_number: str
    house: House


class Outbox(Protocol):
    """Where the machine speaks to the screen."""

    def show(self, message: Play | Decision) -> None:
        """Show this outcome, or ask this question."""
        ...


@dataclass(slots=True, kw_only=True)
class Cabinet:
    """One position of a machine, and most have one; several share journal, games, generator and desk."""

    identity: Identity
    journal: Journal
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
    #: What the journal keeps between one instant and the next, by key.
    memory: Memory = field(init=False)

    def __post_init__(self) -> None:
        self.memory = Memory(self.journal, self.position)

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
        a record (:mod:`egm.kernel.record_codec`) or JSON.
        """
        posted = self.journal.append(
            Transaction(
                id=transaction_id or self.fresh_id(kind),
                kind=kind,
                transfers=transfers,
                phase=phase,
                ref=ref,
                counts=dict(counts or {}),
                dims={**self.position.dims, **(dims or {})},
                marks=marks,
                state={self.position.key(str(key)): _json(value) for key, value in (state or {}).items()},
                record=_json(details),
            )
        )
        self.recorded()
        return posted

    def fresh_id(self, kind: str) -> str:
        """An id that stands for one thing for ever, whatever journal the machine keeps."""
        return self.journal.fresh_id(kind)

    def log(self, kind: str, details: Mapping[str, Any]) -> None:
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
        return tuple(name.removeprefix(Key.DOOR) for name in sorted(self.journal.states(Key.DOOR)))

    @property
    def faults(self) -> dict[str, Any]:
        """Standing faults by code: this position's own, and the machine's."""
        standing = sorted(self.journal.states(Key.FAULT).items())
        faults = {key.removeprefix(Key.FAULT): entry for key, entry in standing}
        if self.position.number == 1:
            return faults
        shared = {code: entry for code, entry in faults.items() if not is_own_fault(code)}
        prefix = f"{self.position.number}/{Key.FAULT}"
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
        """The game, denomination, bet and language in force; the smallest of the first game at the start."""
        kept = self.memory.get(Key.SELECTION)
        if kept is not None and kept["denomination_cents"] in self.denominations_cents.get(
            kept["game_id"], ()
        ):
            chosen = Selection(**kept)
            if chosen.bet_cents >= self.profile.play.bet_minimum_cents:
                return chosen
            least = self.least_bet(chosen.game_id, chosen.denomination_cents)
            return replace(chosen, bet_credits=max(least, chosen.bet_credits), options={})
        game_id = next(iter(self.games), "")
        if not game_id:
            return Selection("", 1, 0, self.profile.languages[0])
        language = kept["language"] if kept is not None else self.profile.languages[0]
        denomination_cents = self.denominations_cents[game_id][0]
        return Selection(game_id, denomination_cents, self.least_bet(game_id, denomination_cents), language)

    def least_bet(self, game_id: str, denomination_cents: int) -> int:
        """The smallest bet of a game, in credits, that the place takes; its smallest where it takes none."""
        bets, minimum_cents = self.games[game_id].bet_options, self.profile.play.bet_minimum_cents
        return min((bet for bet in bets if bet * denomination_cents >= minimum_cents), default=min(bets))

    def select(self, **changes: Any) -> None:
        """Remember a changed game, denomination, bet or language."""
        self.record("selection", state={Key.SELECTION: asdict(replace(self.selection, **changes))})
