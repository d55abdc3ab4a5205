"""The shape of a jurisdiction profile, and its loader.

A profile is either valid or refused with a message naming the file, the key and the reason. Odds are exact
fractions, money is minor units; a TOML float is refused for both.
"""

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from egm.errors import OperatorError
from egm.people import Permission
from rng import ReseedPolicy, RngError

_FOLDER = Path(__file__).parent


def _fraction(value: object) -> Fraction:
    if isinstance(value, str):
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


Odds = Annotated[Fraction, BeforeValidator(_fraction), Field(ge=0, le=1)]
Cents = Annotated[int, Field(ge=0, strict=True)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Returns(_Table):
    """The least return a game may have, by family; the machine refuses a game below it."""

    reels: Odds
    keno: Odds
    wheel: Odds

    def floor(self, family: str) -> Fraction:
        """The floor for a family of games. Raises OperatorError for a family the profile does not know."""
        value = getattr(self, family, None)
        if not isinstance(value, Fraction):
            raise OperatorError(f"returns: this profile has no floor for the game family {family!r}")
        return value


class ValueIn(_Table):
    """What the machine takes in."""

    bills_cents: tuple[Cents, ...]
    credit_limit_cents: Cents
    """At or above this balance no more value is taken (NZ 1.43.9 [BKNTLIM])."""


class Play(_Table):
    """Limits of one game."""

    bet_limit_cents: Cents
    win_limit_cents: Cents | None = None
    """A win the rules cap (Québec VLT); None where there is no cap."""
    credit_limit_cents: Annotated[int, Field(gt=0, strict=True)] | None = None
    """The dearest credit (Québec VLT: $0.25); dearer denominations are not offered."""
    game_time_ms: Annotated[int, Field(ge=0, strict=True)]
    """The least time from button to button."""


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


class Tickets(_Table):
    """Tickets out. A greater amount is paid by hand; None days: a ticket never expires."""

    limit_cents: Cents
    valid_days: Annotated[int, Field(gt=0, strict=True)] | None
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
    transfer_limit_cents: Cents = 1_000_000
    """The most one electronic transfer may move."""


class Coins(_Table):
    """Coins taken, the one the hopper pays, and the most it may pay at once. No coins: leave both empty."""

    accepted_cents: tuple[Cents, ...] = ()
    hopper_cents: Cents = 0
    payout_coins_max: Annotated[int, Field(ge=0, le=255, strict=True)] = 0


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
    time_out_seconds: Annotated[int, Field(ge=10, strict=True)] = 180
    """A menu nobody touches signs out after so long."""
    identify_before_opening: bool = False
    """A door opened without an intervention declared first is an event of its own (Monaco art. 20.3)."""
    test_coins_max: Annotated[int, Field(ge=0, le=50, strict=True)] = 5
    """The most coins a test of the hopper pays out; 0: hoppers are not tested here."""
    meter_names: Literal["us", "mc", "fr", "anz"] = "us"
    """Whose words the meters are shown under."""


class Journal(_Table):
    """How the journal is kept: entries between signed checkpoints, and the most one entry may move (A-26)."""

    checkpoint_every: Annotated[int, Field(ge=10, strict=True)] = 1000
    increment_limits_cents: dict[str, Cents] = {}
    """Account -> the most one transaction may move out of it or into it; the machine stops above that."""


class Profile(_Table):
    """One jurisdiction. Fields are documented in the tables they stand in."""

    id: str
    title: dict[str, str]
    source: str
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    languages: Annotated[tuple[str, ...], Field(min_length=1)]
    returns: Returns
    value_in: ValueIn
    play: Play
    pay_out: PayOut
    tickets: Tickets
    coins: Coins = Coins()
    host: Host = Host()
    progressives: Progressives = Progressives()
    staff: Staff = Staff()
    journal: Journal = Journal()
    chance: Annotated[ReseedPolicy, BeforeValidator(_policy)]

    @model_validator(mode="after")
    def _complete(self) -> "Profile":
        missing = [code for code in self.languages if code not in self.title]
        if missing:
            raise ValueError(f"title: no text for {', '.join(missing)}")
        if self.value_in.bills_cents != tuple(sorted(set(self.value_in.bills_cents))):
            raise ValueError("value_in.bills_cents: list each bill once, smallest first")
        return self


def available() -> tuple[str, ...]:
    """The profiles that ship with the machine, by id."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load_profile(name: str | Path) -> Profile:
    """Load a profile by id, or from a file: a path, or a name that ends in ``.toml``.

    Raises OperatorError naming the file, the key and the reason when it is missing or wrong.
    """
    is_file = isinstance(name, Path) or name.endswith(".toml")
    path = Path(name) if is_file else _FOLDER / f"{name}.toml"
    if not path.is_file():
        raise OperatorError(f"no jurisdiction profile {str(name)!r}; there are: {', '.join(available())}")
    try:
        return Profile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise OperatorError(f"{path.name}: not TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "profile"
        raise OperatorError(f"{path.name}: {where}: {first['msg']}") from None
