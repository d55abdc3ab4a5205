"""The shape of a jurisdiction profile, and its loader.

A profile is either valid or refused with a message naming the file, the key and the reason. Odds are exact
fractions, money is minor units; a TOML float is refused for both.
"""

import contextlib
import dataclasses
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from egm.config.documented import Documented
from egm.errors import OperatorError
from egm.people import Permission
from meters.table import BY_NAME, Unit
from paytables.definition import Identifier
from paytables.errors import DefinitionError
from paytables.source import Source, read, toml
from rng import ReseedPolicy, RngError

_FOLDER = Path(__file__).parent


def _fraction(value: object) -> Fraction:
    if isinstance(value, str):
        with contextlib.suppress(ZeroDivisionError):
            return Fraction(value)
    raise ValueError('write odds as a string, such as "0.83" or "5/6": a float is not exact')


def _policy(value: object) -> ReseedPolicy:
    """When the generator takes fresh entropy: the rules of places contradict each other, so they choose."""
    if not isinstance(value, dict):
        raise ValueError("a table of settings is wanted")  # noqa: TRY004 (pydantic takes ValueError)
    try:
        return ReseedPolicy.from_mapping(value)
    except RngError as error:
        raise ValueError(str(error)) from None


_POLICY_MEANINGS: Final = {
    "mechanism": "The generator (SP 800-90A).",
    "every_generates": "Fresh entropy before the next step once so many requests were served; 0: never.",
    "every_seconds": "The same after so many seconds; 0: never.",
    "on_event": "What besides lets the generator take fresh entropy.",
    "prediction_resistance": "Fresh entropy before every step.",
    "fresh_input_each_step": "Mix bytes of the kernel's into each step, never counted as entropy.",
    "cycle_min_ms": "Background cycling at intervals from this; 0 with the next: none (NJ-G(b)4).",
    "cycle_max_ms": "Up to this; the generator draws each interval itself.",
    "self_test_every_generates": "The whole chain is tested again after so many requests; 0: never.",
}


def _policy_schema() -> dict[str, object]:
    """The settings of :class:`rng.ReseedPolicy` as JSON Schema; what they mean together only it can say."""
    kinds: dict[type, dict[str, object]] = {
        bool: {"type": "boolean"},
        int: {"type": "integer", "minimum": 0},
        frozenset: {"type": "array", "items": {"type": "string"}},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            one.name: {"description": _POLICY_MEANINGS[one.name]}
            | next(
                (made for kind, made in kinds.items() if isinstance(one.default, kind)), {"type": "string"}
            )
            | {"default": sorted(one.default) if isinstance(one.default, frozenset) else one.default}
            for one in dataclasses.fields(ReseedPolicy)
        },
    }


_ODDS_SCHEMA: Final = {"type": "string", "pattern": r"^(0|1|0?\.\d+|\d+/\d+)$"}
Odds = Annotated[Fraction, BeforeValidator(_fraction), Field(ge=0, le=1), WithJsonSchema(_ODDS_SCHEMA)]
Cents = Annotated[int, Field(ge=0, strict=True)]
Minutes = Annotated[int, Field(gt=0, strict=True)]


class _Table(Documented, BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)


@dataclasses.dataclass(frozen=True, slots=True)
class Floor:
    """The least return, and what it is held against: each bet of a game, its best bet, or nothing."""

    least: Fraction
    of: Literal["bet", "game", "nothing"] = "bet"

    def refused(self, returns: Mapping[str, Fraction]) -> str | None:
        """Return the bet whose return makes the game refused; None where it is not. ``returns``: by bet."""
        if self.of == "nothing" or not returns:
            return None
        choose = min if self.of == "bet" else max
        bet = choose(returns, key=lambda name: returns[name])
        return bet if returns[bet] < self.least else None


class TableReturns(_Table):
    """The least return of a table game, where the text that has the floor is about slot machines only."""

    least: Odds = Fraction(0)
    """What a bet should return; certification names every bet below it."""
    applies_to: Literal["bet", "game", "nothing"] = "nothing"
    """Refused below it: any bet, a game no bet of which returns as much, or nothing."""
    ceiling: Odds | None = None
    """The most a bet of a table may return, 1 where odds are paid as they stand; none: `returns.ceiling`."""


class Returns(_Table):
    """The least return a game may have, by family; the machine refuses a game below it."""

    reels: Odds
    """Games of slot machines: reels and video poker (Québec s.93)."""
    keno: Odds
    """Keno (Québec s.85)."""
    wheel: Odds
    """Wheels of fortune (Québec s.122)."""
    tables: TableReturns = TableReturns()
    """Table games, which have no floor of their own in the texts."""
    ceiling: Odds | None = None
    """The most a game may return; certification refuses one above. None: what is above 100 % is noted."""

    def floor(self, family: str) -> Floor:
        """The floor for a family of games: its own, or that of table games."""
        own = self._of_machines.get(family)
        return Floor(self.tables.least, self.tables.applies_to) if own is None else Floor(own)

    def most(self, family: str) -> Fraction | None:
        """Return the ceiling for a family of games: at tables their own, where the profile has one."""
        if family in self._of_machines or self.tables.ceiling is None:
            return self.ceiling
        return self.tables.ceiling

    @property
    def _of_machines(self) -> dict[str, Fraction]:
        """The floors of the families that are no table games."""
        return {"reels": self.reels, "video-poker": self.reels, "keno": self.keno, "wheel": self.wheel}


class ValueIn(_Table):
    """What the machine takes in."""

    bills_cents: tuple[Cents, ...]
    """The bills taken, smallest first."""
    credit_limit_cents: Cents
    """At or above this balance no more value is taken (NZ 1.43.9 [BKNTLIM])."""
    within_pay_out: bool = False
    """The credit limit may not be above what the machine can pay by itself at once (FR68-1)."""


class Play(_Table):
    """Limits of one game."""

    bet_limit_cents: Cents
    """The most one game may cost (Québec s.3; Québec VLT: $2.50)."""
    bet_minimum_cents: Cents = 0
    """The least one game may cost; the operator may set it higher (Québec s.3)."""
    win_limit_cents: Cents | None = None
    """A win the rules cap (Québec VLT); None where there is no cap."""
    credit_limit_cents: Annotated[int, Field(gt=0, strict=True)] | None = None
    """The dearest credit (Québec VLT: $0.25); dearer denominations are not offered."""
    game_time_ms: Annotated[int, Field(ge=0, strict=True)]
    """The least time from button to button."""
    advice: bool = True
    """The best answer may be shown, or held for the player, where the game knows it (NJ-A(g), NZ 1.22.13)."""


class Awards(_Table):
    """How long the odds of an award may be, and from where on the player is told them."""

    top_told_one_in: Annotated[int, Field(gt=0, strict=True)] | None = 17_000_000
    """The odds of a top award longer than 1 in so many games are told to the player (Ontario 10.1)."""
    other_told_one_in: Annotated[int, Field(gt=0, strict=True)] | None = 34_000_000
    """The same for any other award (Ontario 10.1)."""
    longest_one_in: Annotated[int, Field(gt=0, strict=True)] | None = None
    """A game with an award of longer odds is refused (NJ-A(c), PA 1112a.7, NZ 1.22.16a); None: no limit."""
    every_prize_at_every_bet: bool = False
    """Every prize of a pay table can be won with every bet on it (NJ-A(b)); else a bet may buy part of it."""


class PayOut(_Table):
    """When money leaves, and by which hand."""

    order: tuple[Literal["ticket", "coins"], ...]
    """Ways out in the order they are tried; the attendant's hand is always the last."""
    automatic_cents: Annotated[int, Field(gt=0, strict=True)] | None = None
    """From this balance on the machine pays by itself (Québec VLT: a coupon at $1,000); None: never."""
    large_win_cents: Cents
    """A win of this much or more locks the machine until an attendant has paid it (NZ 1.16.6)."""
    defect: Literal["refund", "keep"] = "refund"
    """A game the machine could not finish: refund the stake (Québec s.95), or keep it for a decision."""
    rest: Literal["stays", "next_way"] = "next_way"
    """What the hopper could not pay in whole coins: it goes the next way by itself, or stays (MS 8-2.3)."""
    residual: Literal["stays", "given_up", "played"] = "stays"
    """A rest too small to be played or paid in coins stays; or the player may give it up; or stake it on one
    draw for the least that can be used here, at even odds (NZ 1.22.40). Both are metered."""


class ByHand(_Table):
    """What a person must do, or may decide, about a player's money. None: no such amount here."""

    identity_cents: Cents | None = None
    """A hand-pay of this much or more is paid only against an identity document (Monaco 21.1)."""
    methods: Annotated[tuple[Literal["cash", "cheque", "transfer"], ...], Field(min_length=1)] = ("cash",)
    """How a hand-pay may be settled (Monaco 21.1)."""
    tax_cents: Cents | None = None
    """A win of this much or more is paid by hand, marked as to be reported for tax (NJD 1.40, CFR 547.11)."""
    ticket_instead: bool = True
    """Credits an attendant was to pay may leave on a ticket once one can be printed: the player asks, the
    attendant's key lets it."""
    prizes_in_kind: Literal["refused", "delivered", "or_cash"] = "refused"
    """Games that can win merchandise are refused, or an attendant delivers the prize (Québec s.90), or the
    player may take its stated value in money instead."""
    forfeits: tuple[Literal["game", "handpay", "credits"], ...] = ()
    """What a player who disrupted the machine may be refused (Québec s.94): a game that is not decided, with
    its wager; the prize that waits for an attendant; the credits. Two persons always decide."""


class Tickets(_Table):
    """Tickets out. A greater amount is paid by hand; None days: a ticket never expires."""

    limit_cents: Cents
    """The most one ticket may be worth; more is paid by hand (H-11)."""
    valid_days: Annotated[int, Field(gt=0, strict=True)] | None = None
    """How many days after its own a ticket is good; none: it never expires (H-10)."""
    central: bool = False
    """Tickets only with a system that keeps them centrally (Monaco 19.7); without it there are none."""
    promotional: bool = False
    """Whether restricted and nonrestricted tickets are taken in."""
    restricted_out: bool = False
    """Whether restricted credit may leave on a ticket; otherwise it stays until played or expired."""


class Host(_Table):
    """Money through a host, on a machine whose cabinet file names one."""

    answer_seconds: Annotated[int, Field(gt=0, le=60, strict=True)] = 10
    """How long a host is waited for: for a number, a ticket's worth, or to take a cash-out."""
    offline_tickets: Annotated[int, Field(ge=0, le=31, strict=True)] = 0
    """Tickets a machine may number by itself while the host is silent (H-09); 0: the attendant pays."""
    silence_seconds: Annotated[int, Field(ge=0, strict=True)] | None = None
    """A machine whose host has not polled for so long goes out of service (SC: 72 hours; Ontario: at once);
    None: it plays on."""
    full_queue_stops: bool = False
    """A machine whose host has fallen behind with its exceptions goes out of service (AGE 11.1.2(3))."""
    starts_machine: bool = False
    """A new machine plays only once its host has started it up (SD addendum 1)."""
    transfer_limit_cents: Cents = 1_000_000
    """The most one electronic transfer may move."""


class Protection(_Table):
    """What keeps a player from forgetting time and money. A session lasts until credits have been zero."""

    clock: bool = False
    """The time of day is always in sight (VIC r.19)."""
    remind_minutes: tuple[Minutes, ...] = ()
    """Minutes of play to the first reminder, from it to the second, and so on; the last is repeated."""
    remind_spend_cents: Annotated[int, Field(gt=0, strict=True)] | None = None
    """A reminder each time so much more has been spent: wagers less wins."""
    limit_minutes: Minutes | None = None
    """The longest session."""
    limit_spend_cents: Annotated[int, Field(gt=0, strict=True)] | None = None
    """The most one session may cost."""
    at_limit: Literal["pause", "cash_out"] = "pause"
    """At a limit play pauses; ``cash_out`` besides pays the player out by itself."""
    pause_minutes: Annotated[int, Field(ge=0, strict=True)] = 0
    """How long play pauses at a limit; 0: until the session has ended."""
    own_limits: bool = False
    """The player may set limits of his own, which bind like the place's (UK B2)."""
    session_gap_minutes: Annotated[int, Field(ge=0, strict=True)] = 0
    """How long credits must have been zero for a session to have ended."""
    help_line: dict[str, str] = {}
    """Where help is found, by language (Loto-Québec)."""

    @property
    def counts(self) -> bool:
        """Whether this place keeps count of sessions at all."""
        spent = self.remind_spend_cents or self.limit_spend_cents
        return bool(spent or self.remind_minutes or self.limit_minutes or self.own_limits)


class Sound(_Table):
    """How loud the machine may be; an alarm and the tones of a test keep a floor no limit lowers (J-17)."""

    loudness_percent: Annotated[int, Field(ge=0, le=100, strict=True)] = 100
    """The loudest volume step, as a share of full scale: a house, or its neighbours, may want less."""


class Coins(_Table):
    """Coins taken, the one the hopper pays, and the most it may pay at once. No coins: leave both empty."""

    accepted_cents: tuple[Cents, ...] = ()
    """The coins taken (Monaco 19.5)."""
    hopper_cents: Cents = 0
    """The coin the hopper pays; 0: there is none."""
    hopper_full_cents: Cents = 0
    """From this level on coins fall to the box in the base (Monaco 19.5); 0: never."""
    payout_coins_max: Annotated[int, Field(ge=0, le=255, strict=True)] = 0
    """The most coins of one payout; a greater amount goes the next way."""


class HardMeters(_Table):
    """Electromechanical counters on the I/O board (FR68-11)."""

    pulse_cents: Annotated[int, Field(gt=0, strict=True)] | None = None
    """What one pulse stands for; none: there are no hard meters here."""
    meters: Annotated[tuple[str, ...], Field(min_length=1, max_length=6)] = (
        "coin_in",
        "coin_drop",
        "coin_out",
        "hand_paid",
        "bill_in.value",
    )
    """The electronic meter each counter follows: entries, cash box, exits, wins by hand, bills."""


class Progressives(_Table):
    """What the place says of progressive levels."""

    stale_seconds: Annotated[int, Field(ge=1, strict=True)] = 5
    """A controller not heard for so long is down: its level shows it, and cannot be played for."""
    link_down: Literal["wager", "machine"] = "wager"
    """Without its controller: refuse the wagers that play for the level, or the whole machine (NJ)."""
    unanswered: Literal["wait", "hand"] = "hand"
    """A hit no controller answers: wait, or an attendant pays the amount shown."""
    hand_cents: Cents | None = None
    """A level of so much or more is paid by hand, whatever the game's own win; None: as a large win."""
    counted: Literal["nothing", "reset", "all"] = "nothing"
    """What of a level counts towards the floor of returns: nothing, its reset, or its growth as well."""


class Staff(_Table):
    """Who must prove what at the machine, and how (J-08, J-16; Monaco arts 20-23; FR-door)."""

    menu_key: bool = True
    """The service menu opens only with the operator's or the audit key; else also from the screen."""
    key_alone: tuple[Permission, ...] = (
        Permission.ANSWER_CALLS,
        Permission.CLEAR_TILTS,
        Permission.PAY_BY_HAND,
        Permission.RESTART,
    )
    """What the attendant's key does by itself; for the rest it asks who turns it."""
    two_persons: tuple[Permission, ...] = (Permission.CLEAR_MEMORY,)
    """What one person may not do alone."""
    wrong_tries: Annotated[int, Field(ge=1, le=10, strict=True)] = 3
    """Wrong PINs in a row after which a staff number is locked."""
    locked_minutes: Annotated[int, Field(ge=1, strict=True)] = 15
    """For how long it is locked then."""
    time_out_seconds: Annotated[int, Field(ge=10, strict=True)] = 180
    """A menu nobody touches signs out after so long."""
    identify_before_opening: bool = False
    """A door opened without an intervention declared first is an event of its own (Monaco art. 20.3)."""
    monitored_openings: bool = False
    """Such a door opens only once the monitoring system has read who is at work (Monaco art. 20.3)."""
    slips: bool = False
    """An access ticket at an intervention, an audit ticket at an open main or logic door (SD addenda 1-5)."""
    test_coins_max: Annotated[int, Field(ge=0, le=50, strict=True)] = 5
    """The most coins a test of the hopper pays out; 0: hoppers are not tested here."""
    meter_names: Literal["us", "mc", "fr", "anz"] = "us"
    """Whose words the meters are shown under."""


class Inventory(_Table):
    """What must be on record of a machine; one whose every device is simulated is a demonstration."""

    complete: bool = False
    """Without its kind, maker, model, base number and photograph a machine does not start (Monaco 19.3)."""
    certified: bool = False
    """A game is offered only with a certificate signed by the key the cabinet file names (Monaco 19.3)."""


class Journal(_Table):
    """How the journal is kept: entries between signed checkpoints, and the most one entry may move (A-26)."""

    checkpoint_every: Annotated[int, Field(ge=10, strict=True)] = 1000
    """Entries between two signed checkpoints."""
    increment_limits_cents: dict[str, Cents] = {}
    """Account -> the most one transaction may move out of it or into it; the machine stops above that."""


class Profile(_Table):
    """One jurisdiction. Fields are documented in the tables they stand in."""

    id: Identifier
    """Its name, and that of its tickets' template."""
    title: dict[str, str]
    """What the place is called, by language."""
    source: str
    """The texts it is made from."""
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    """ISO 4217."""
    languages: Annotated[tuple[str, ...], Field(min_length=1)]
    """The languages of the screen; the first is spoken to whoever comes."""
    returns: Returns
    value_in: ValueIn
    play: Play
    awards: Awards = Awards()
    pay_out: PayOut
    by_hand: ByHand = ByHand()
    tickets: Tickets
    protection: Protection = Protection()
    sound: Sound = Sound()
    coins: Coins = Coins()
    host: Host = Host()
    progressives: Progressives = Progressives()
    hard_meters: HardMeters = HardMeters()
    staff: Staff = Staff()
    inventory: Inventory = Inventory()
    journal: Journal = Journal()
    chance: Annotated[ReseedPolicy, BeforeValidator(_policy), WithJsonSchema(_policy_schema())]
    """When the generator takes fresh entropy, and how often it is tested (rng.ReseedPolicy)."""
    _file: Source | None = PrivateAttr(default=None)

    @property
    def file(self) -> Source | None:
        """The file it was read from, as it was read; None for a profile made of data."""
        return self._file

    @model_validator(mode="after")
    def _complete(self) -> "Profile":
        if len(set(self.languages)) != len(self.languages):
            raise ValueError("languages: list each language once")
        missing = [code for code in self.languages if code not in self.title]
        if missing:
            raise ValueError(f"title: no text for {', '.join(missing)}")
        if self.value_in.bills_cents != tuple(sorted(set(self.value_in.bills_cents))):
            raise ValueError("value_in.bills_cents: list each bill once, smallest first")
        unknown = [
            name
            for name in self.hard_meters.meters
            if name not in BY_NAME or BY_NAME[name].is_level or BY_NAME[name].unit is not Unit.CENTS
        ]
        if unknown:
            raise ValueError(
                f"hard_meters.meters: no cumulative meter of money is called {', '.join(unknown)}"
            )
        line = self.protection.help_line
        unsaid = [code for code in self.languages if line and code not in line]
        if unsaid:
            raise ValueError(f"protection.help_line: no text for {', '.join(unsaid)}")
        if "coins" in self.pay_out.order and not self.coins.hopper_cents:
            raise ValueError("pay_out.order: coins are paid, and coins.hopper_cents names no coin")
        if self.play.win_limit_cents is not None and self.by_hand.prizes_in_kind != "refused":
            raise ValueError(
                "by_hand.prizes_in_kind: play.win_limit_cents limits prizes, and a prize in kind is over no "
                "limit of money: it must be refused"
            )
        if self.value_in.within_pay_out and self.value_in.credit_limit_cents > self._payable_cents:
            raise ValueError(
                f"value_in.credit_limit_cents: {self.value_in.credit_limit_cents} may be taken in, and only "
                f"{self._payable_cents} can be paid out by the machine itself"
            )
        return self

    @property
    def _payable_cents(self) -> int:
        """The most the machine can pay at once without a person."""
        ways = {
            "ticket": self.tickets.limit_cents,
            "coins": self.coins.hopper_cents * self.coins.payout_coins_max,
        }
        return max((ways[way] for way in self.pay_out.order), default=0)


def available() -> tuple[str, ...]:
    """The profiles that ship with the machine, by id."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load_profile(name: str | Path) -> Profile:
    """Load a profile by id, or from a file of one's own (:mod:`paytables.source`).

    Raises OperatorError naming the file, the key and the reason when it is missing or wrong.
    """
    try:
        source = read(name, _FOLDER)
    except DefinitionError as error:
        raise OperatorError(f"jurisdiction profile {error}") from None
    file = source.path.name
    try:
        return _profile_of(source)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OperatorError(f"{file}: not TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "profile"
        raise OperatorError(f"{file}: {where}: {first['msg']}") from None


@lru_cache(maxsize=16)
def _profile_of(source: Source) -> Profile:
    """Make the profile of a file as it was read: the same file is loaded by several parts of the machine."""
    profile = Profile.model_validate(toml(source.data.decode()))
    profile._file = source  # noqa: SLF001 (its own maker)
    return profile
