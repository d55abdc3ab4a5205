"""The schema of a jurisdiction profile, and its loader.

A profile is either valid or rejected with a message that names the file, the key and the reason. Odds are
exact fractions, money is minor units; a TOML float is rejected for both.

The alias of a field is its key in the file. The references in brackets, such as NZ 1.22.40 or H-10, are clauses of
the sources and numbers of the rows in ``tests/conformance/requirements.toml``, whose table ``[sources]`` explains
the abbreviations.
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

from egm.config.documented_fields import DocumentedFieldsMixin
from egm.config.mistakes import read_toml
from egm.errors import OperatorError
from egm.people import Permission
from meters.table import METER_BY_NAME, MeterUnit
from paytables.definition import Identifier
from paytables.errors import DefinitionError
from paytables.odds import DEFAULT_ODDS_LIMITS, OddsLimits
from paytables.source import SourceFile, describe_toml_error, parse_toml, read_source_file
from rng import ReseedPolicy, RngError

#: The folder of the profiles that ship with the machine.
_PROFILES_FOLDER = Path(__file__).parent


def _parse_fraction(value: object) -> Fraction:
    """Return the exact fraction in a text such as "0.83" or "5/6". Raises ValueError for any other value."""
    if isinstance(value, str):
        with contextlib.suppress(ZeroDivisionError):
            return Fraction(value)
    raise ValueError('write a fraction as a string, such as "0.83" or "5/6": a float is not exact')


def _parse_reseed_policy(value: object) -> ReseedPolicy:
    """Return the policy of when the random number generator takes fresh entropy, from its table in a profile."""
    if not isinstance(value, dict):
        raise ValueError("must be a table of settings")  # noqa: TRY004 (pydantic expects ValueError)
    try:
        return ReseedPolicy.from_mapping(value)
    except RngError as error:
        raise ValueError(str(error)) from None


#: The meaning of each key of the generator's policy. A step is one use of the generator's service, in which several
#: numbers may be drawn; it makes one or more requests (SP 800-90A: generate).
_RESEED_POLICY_MEANINGS: Final = {
    "mechanism": "The generator (SP 800-90A).",
    "every_generates": "After this many requests to the generator, take fresh entropy before the next step, "
    "which may make several requests; 0: never.",
    "every_seconds": "After this many seconds, take fresh entropy before the next step; 0: never.",
    "on_event": "Events after which the generator takes fresh entropy.",
    "prediction_resistance": "Take fresh entropy before every step.",
    "fresh_input_each_step": "Mix bytes from the operating system into every request (not only each step), "
    "without counting them as entropy.",
    "cycle_min_ms": "Minimum interval of background cycling, which discards output of the generator at random "
    "intervals; both 0: no cycling (NJ-G(b)4).",
    "cycle_max_ms": "Maximum interval of background cycling; the generator draws each interval itself.",
    "self_test_every_generates": "After this many requests, test the complete chain again; 0: never.",
}


def _build_reseed_policy_schema() -> dict[str, object]:
    """Return the JSON Schema of the generator's :class:`rng.ReseedPolicy`.

    The schema checks each value; rules between values are checked by the class itself.
    """
    schema_by_type: dict[type, dict[str, object]] = {
        bool: {"type": "boolean"},
        int: {"type": "integer", "minimum": 0},
        frozenset: {"type": "array", "items": {"type": "string"}},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            key: {"description": _RESEED_POLICY_MEANINGS[key]}
            | next(
                (
                    schema
                    for value_type, schema in schema_by_type.items()
                    if isinstance(setting.default, value_type)
                ),
                {"type": "string"},
            )
            | {
                "default": sorted(setting.default)
                if isinstance(setting.default, frozenset)
                else setting.default
            }
            for key, setting in ReseedPolicy.get_field_by_profile_key().items()
        },
    }


#: The JSON Schema of a fraction from 0 to 1.
_FRACTION_SCHEMA: Final = {"type": "string", "pattern": r"^(0|1|0?\.\d+|\d+/\d+)$"}
#: A probability or a return, from 0 to 1, read as an exact fraction.
UnitFraction = Annotated[
    Fraction, BeforeValidator(_parse_fraction), Field(ge=0, le=1), WithJsonSchema(_FRACTION_SCHEMA)
]
#: An amount of money in minor units, zero or more.
NonNegativeCents = Annotated[int, Field(ge=0, strict=True)]
#: A number of minutes, at least one.
PositiveMinutes = Annotated[int, Field(gt=0, strict=True)]


class _ProfileTable(DocumentedFieldsMixin, BaseModel):
    """Base class of the tables of a profile; an unknown key is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)


@dataclasses.dataclass(frozen=True, slots=True)
class MinimumReturn:
    """The minimum return (RTP) that a profile requires, and which bets of a game must have it."""

    required_return: Fraction
    applies_to: Literal["bet", "game", "nothing"] = "bet"
    """Which bets must have the minimum: each bet (``bet``), only the best bet of the game (``game``), or none
    (``nothing``)."""

    def find_bet_below(self, returns: Mapping[str, Fraction]) -> str | None:
        """Return the name of a bet of the game whose return is below the required minimum, or None.

        ``returns`` has the return of each bet, by name.
        """
        if self.applies_to == "nothing" or not returns:
            return None
        choose = min if self.applies_to == "bet" else max
        bet = choose(returns, key=lambda name: returns[name])
        return bet if returns[bet] < self.required_return else None


class TableReturnRules(_ProfileTable):
    """The minimum and maximum return of table games, for regulations whose limits are about slot machines only."""

    return_min: UnitFraction = Field(Fraction(0), alias="least")
    """The minimum return of a bet, as a fraction; certification lists every bet below it."""
    applies_to: Literal["bet", "game", "nothing"] = "nothing"
    """Which games are refused: `bet`: those with any bet below `least`; `game`: those whose best bet is below it;
    `nothing`: none."""
    return_max: UnitFraction | None = Field(None, alias="ceiling")
    """The maximum return of a bet on a table; None: `returns.ceiling` applies. With 1, a bet may have no house edge."""


class ReturnRules(_ProfileTable):
    """The minimum and the maximum return (RTP) of games, by family."""

    reels_return_min: UnitFraction = Field(alias="reels")
    """The minimum return of slot-machine games: reels and video poker (Québec s.93)."""
    keno_return_min: UnitFraction = Field(alias="keno")
    """The minimum return of Keno games (Québec s.85)."""
    wheel_return_min: UnitFraction = Field(alias="wheel")
    """The minimum return of wheels of fortune (Québec s.122)."""
    tables: TableReturnRules = TableReturnRules()
    """The limits of the return of table games; regulations for slot machines state none for them."""
    return_max: UnitFraction | None = Field(None, alias="ceiling")
    """The maximum return of a game; certification refuses a game above it. None: no maximum; certification then only
    notes a return above 100 %."""

    def find_minimum(self, family: str) -> MinimumReturn:
        """Return the minimum return that the games of a family must have, and which of their bets must have it."""
        family_minimum = self._minimum_by_family_except_tables.get(family)
        return (
            MinimumReturn(self.tables.return_min, self.tables.applies_to)
            if family_minimum is None
            else MinimumReturn(family_minimum)
        )

    def find_maximum(self, family: str) -> Fraction | None:
        """Return the maximum return allowed for the games of a family, or None for no limit.

        Table games have their own maximum if the profile states one.
        """
        if family in self._minimum_by_family_except_tables or self.tables.return_max is None:
            return self.return_max
        return self.tables.return_max

    @property
    def _minimum_by_family_except_tables(self) -> dict[str, Fraction]:
        """Return the minimum return of each family of games except table games."""
        return {
            "reels": self.reels_return_min,
            "video-poker": self.reels_return_min,
            "keno": self.keno_return_min,
            "wheel": self.wheel_return_min,
        }


class ValueInRules(_ProfileTable):
    """Money inserted: the bills accepted, and the credit limit."""

    bills_cents: tuple[NonNegativeCents, ...]
    """The denominations of the bills accepted, in minor units, smallest first."""
    credit_limit_cents: NonNegativeCents
    """If the credit is this amount or more, no further money is accepted (NZ 1.43.9 [BKNTLIM])."""
    requires_payable_credit_limit: bool = Field(False, alias="within_pay_out")
    """Whether the credit limit must not exceed what the machine can pay at once without staff (FR68-1)."""


class PlayRules(_ProfileTable):
    """Limits of one game: its bet, win, denomination and duration."""

    bet_max_cents: NonNegativeCents = Field(alias="bet_limit_cents")
    """The maximum cost of one game (Québec s.3; Québec VLT: $2.50)."""
    bet_min_cents: NonNegativeCents = Field(0, alias="bet_minimum_cents")
    """The minimum cost of one game; the operator may raise it (Québec s.3)."""
    win_max_cents: NonNegativeCents | None = Field(None, alias="win_limit_cents")
    """The maximum win of one game (Québec VLT); None: no maximum."""
    denomination_max_cents: Annotated[int, Field(gt=0, strict=True)] | None = Field(
        None, alias="credit_limit_cents"
    )
    """The maximum denomination (Québec VLT: $0.25); higher ones are not offered. This is not the limit of the credit,
    which is `value_in.credit_limit_cents`."""
    game_interval_min_ms: Annotated[int, Field(ge=0, strict=True)] = Field(alias="game_time_ms")
    """The minimum time from the start of one game to the next, in milliseconds."""
    allows_advice: bool = Field(True, alias="advice")
    """Whether the screen may show or preselect the best choice, if the game computes it (NJ-A(g), NZ 1.22.13)."""


class AwardOddsRules(_ProfileTable):
    """How unlikely an award must be before the player is shown its odds, and the longest odds allowed."""

    top_award_odds_shown_beyond: Annotated[int, Field(gt=0, strict=True)] | None = Field(
        DEFAULT_ODDS_LIMITS.top_one_in, alias="top_told_one_in"
    )
    """If a top award is less likely than 1 in this number of games, its odds are shown to the player (Ontario 10.1);
    None: never."""
    other_award_odds_shown_beyond: Annotated[int, Field(gt=0, strict=True)] | None = Field(
        DEFAULT_ODDS_LIMITS.other_one_in, alias="other_told_one_in"
    )
    """If any other award is less likely than 1 in this number of games, its odds are shown to the player (Ontario
    10.1); None: never."""
    longest_odds_one_in: Annotated[int, Field(gt=0, strict=True)] | None = Field(None, alias="longest_one_in")
    """A game with an award less likely than 1 in this number of games is refused (NJ-A(c), PA 1112a.7, NZ
    1.22.16a); None: no limit."""
    requires_every_prize_at_every_bet: bool = Field(False, alias="every_prize_at_every_bet")
    """Whether every bet must be able to win every prize of its pay table (NJ-A(b)). If not, a bet may play for only
    some of the prizes."""

    @property
    def odds_limits(self) -> OddsLimits:
        """Return the limits of an award's odds: if its odds are longer, they are shown to the player."""
        return OddsLimits(self.top_award_odds_shown_beyond, self.other_award_odds_shown_beyond)


class PayoutRules(_ProfileTable):
    """The payout methods, and when each is used."""

    payout_methods: tuple[Literal["ticket", "coins"], ...] = Field(alias="order")
    """The payout methods in the order in which they are tried; the hand-pay is always the last."""
    automatic_payout_min_cents: Annotated[int, Field(gt=0, strict=True)] | None = Field(
        None, alias="automatic_cents"
    )
    """If the credit is this amount or more, the machine pays out automatically (Québec VLT: a coupon at $1,000);
    None: never."""
    large_win_cents: NonNegativeCents
    """A win of this amount or more locks the machine until an attendant has paid it (NZ 1.16.6)."""
    defect_rule: Literal["refund", "keep"] = Field("refund", alias="defect")
    """What happens to the stake of a game that the machine cannot finish: `refund`: it is refunded (Québec s.95);
    `keep`: it is retained until staff decide."""
    coin_remainder_treatment: Literal["stays", "next_way"] = Field("next_way", alias="rest")
    """What happens to the remainder that the hopper cannot pay in whole coins: `next_way`: it is paid by the next
    payout method; `stays`: it stays as credit (MS 8-2.3)."""
    residual_credit_treatment: Literal["stays", "given_up", "played"] = Field("stays", alias="residual")
    """What may be done with residual credit, too small to be played or paid in coins: `stays`: nothing; `given_up`: the
    player may give it up; `played`: the player may stake it, at fair odds, on one draw that wins the smallest usable
    amount (NZ 1.22.40). Giving up and staking are metered."""


class HandpayRules(_ProfileTable):
    """Duties and powers of staff concerning a player's money. If an amount is None, its rule never applies."""

    identity_check_min_cents: NonNegativeCents | None = Field(None, alias="identity_cents")
    """A hand-pay of this amount or more is paid only against an identity document (Monaco 21.1)."""
    payment_means: Annotated[tuple[Literal["cash", "cheque", "transfer"], ...], Field(min_length=1)] = Field(
        ("cash",), alias="methods"
    )
    """The means of payment with which a hand-pay may be paid (Monaco 21.1)."""
    taxable_win_min_cents: NonNegativeCents | None = Field(None, alias="tax_cents")
    """A win of this amount or more is paid by hand and marked as taxable (NJD 1.40, CFR 547.11)."""
    allows_ticket_instead: bool = Field(True, alias="ticket_instead")
    """Whether a pending hand-pay of credit may become a ticket once one can be printed: the player requests the
    ticket, and the attendant confirms it with the key."""
    prizes_in_kind: Literal["refused", "delivered", "or_cash"] = "refused"
    """How prizes in kind are handled: `refused`: games that can win one are not offered; `delivered`: an attendant
    delivers the prize (Québec s.90); `or_cash`: the player may also take its stated value in money instead."""
    forfeitable_money_kinds: tuple[Literal["game", "handpay", "credits"], ...] = Field((), alias="forfeits")
    """What staff may deny to a player who disrupted the machine (Québec s.94): `game`: an undecided game
    with its wager; `handpay`: the prize that waits for an attendant; `credits`: the credits. Two people always
    decide."""


class TicketingRules(_ProfileTable):
    """Limits of tickets: their amount and validity, and which kinds are printed and accepted."""

    ticket_max_cents: NonNegativeCents = Field(alias="limit_cents")
    """The maximum amount of one ticket; more is paid by hand (H-11)."""
    validity_days: Annotated[int, Field(gt=0, strict=True)] | None = Field(None, alias="valid_days")
    """The number of days after the day of issue that a ticket is valid; None: it never expires (H-10)."""
    requires_central_system: bool = Field(False, alias="central")
    """Whether tickets require a central ticket system (Monaco 19.7); without one there are then no tickets."""
    accepts_promotional_credit: bool = Field(False, alias="promotional")
    """Whether tickets of restricted and nonrestricted credit are accepted."""
    pays_out_restricted_credit: bool = Field(False, alias="restricted_out")
    """Whether restricted credit may be paid out on a ticket; if not, it stays until played or expired."""


class HostRules(_ProfileTable):
    """The use of a host (casino system) for money, if the machine's cabinet file names one."""

    reply_seconds_max: Annotated[int, Field(gt=0, le=60, strict=True)] = Field(10, alias="answer_seconds")
    """The seconds to wait for a host's reply: a ticket number, a ticket's value, or accepting a cash-out."""
    offline_ticket_count_max: Annotated[int, Field(ge=0, le=31, strict=True)] = Field(
        0, alias="offline_tickets"
    )
    """The number of tickets that a machine may number itself while the host does not reply (H-09); 0: an attendant
    pays."""
    silence_seconds_max: Annotated[int, Field(ge=0, strict=True)] | None = Field(
        None, alias="silence_seconds"
    )
    """If the host does not poll for this number of seconds, the machine goes out of service (SC: 72 hours; Ontario:
    at once); None: the machine stays in service."""
    requires_stop_at_full_queue: bool = Field(False, alias="full_queue_stops")
    """Whether a machine goes out of service if its host reads the queued exceptions too slowly (AGE 11.1.2(3))."""
    requires_enabling_of_new_machine: bool = Field(False, alias="starts_machine")
    """Whether a new machine can be played only after its host has enabled it (SD addendum 1)."""
    electronic_transfer_max_cents: NonNegativeCents = Field(1_000_000, alias="transfer_limit_cents")
    """The maximum amount of one electronic transfer."""


class PlayerProtectionRules(_ProfileTable):
    """Reminders and limits of time and money. A session ends when the credits have been zero for a time."""

    shows_clock: bool = Field(False, alias="clock")
    """Whether the time of day is always displayed (VIC r.19)."""
    reminder_intervals_minutes: tuple[PositiveMinutes, ...] = Field((), alias="remind_minutes")
    """The minutes of play before the first reminder, then between the first and the second, and so on; the last number
    is repeated."""
    reminder_spending_cents: Annotated[int, Field(gt=0, strict=True)] | None = Field(
        None, alias="remind_spend_cents"
    )
    """A reminder is shown whenever the amount spent in the session (wagers minus wins) reaches a further multiple of
    this amount."""
    session_minutes_max: PositiveMinutes | None = Field(None, alias="limit_minutes")
    """The maximum length of a session, in minutes."""
    session_spending_max_cents: Annotated[int, Field(gt=0, strict=True)] | None = Field(
        None, alias="limit_spend_cents"
    )
    """The maximum amount spent in one session (wagers minus wins)."""
    action_at_limit: Literal["pause", "cash_out"] = Field("pause", alias="at_limit")
    """What happens at a limit: ``pause`` pauses play; ``cash_out`` also pays the player out automatically."""
    pause_minutes: Annotated[int, Field(ge=0, strict=True)] = 0
    """The minutes for which play pauses at a limit; 0: until the session has ended."""
    allows_own_limits: bool = Field(False, alias="own_limits")
    """Whether players may set their own limits, which apply like the profile's (UK B2)."""
    session_gap_minutes: Annotated[int, Field(ge=0, strict=True)] = 0
    """The minutes for which the credits must have been zero for a session to end."""
    help_text_by_language: dict[str, str] = Field({}, alias="help_line")
    """The text about where to find help, by language (Loto-Québec)."""

    @property
    def requires_session_tracking(self) -> bool:
        """Return whether this profile has a reminder or limit for which the machine must track player sessions."""
        has_spending_limit = self.reminder_spending_cents or self.session_spending_max_cents
        return bool(
            has_spending_limit
            or self.reminder_intervals_minutes
            or self.session_minutes_max
            or self.allows_own_limits
        )


class SoundRules(_ProfileTable):
    """Loudness limits; alarms and test tones have a minimum that no limit lowers (J-17)."""

    loudness_percent_max: Annotated[int, Field(ge=0, le=100, strict=True)] = Field(
        100, alias="loudness_percent"
    )
    """The loudness of the highest volume step, in percent of full scale."""


class CoinRules(_ProfileTable):
    """The coins accepted, the coin that the hopper pays, and its payout limit; empty for machines without coins."""

    accepted_coins_cents: tuple[NonNegativeCents, ...] = Field((), alias="accepted_cents")
    """The values of the coins accepted, in minor units (Monaco 19.5)."""
    hopper_coin_cents: NonNegativeCents = Field(0, alias="hopper_cents")
    """The value of the coin that the hopper pays, in minor units; 0: there is no hopper."""
    hopper_full_cents: NonNegativeCents = 0
    """When the hopper contains this much or more, in minor units, further coins fall into the drop box of the cabinet
    stand (Monaco 19.5); 0: never."""
    payout_coins_max: Annotated[int, Field(ge=0, le=255, strict=True)] = 0
    """The maximum number of coins of one payout; a larger amount is paid by the next method."""


class HardMeterRules(_ProfileTable):
    """Electromechanical counters on the I/O board (FR68-11)."""

    pulse_cents: Annotated[int, Field(gt=0, strict=True)] | None = None
    """The value of one pulse in minor units; None: there are no hard meters."""
    followed_meters: Annotated[tuple[str, ...], Field(min_length=1, max_length=6)] = Field(
        (
            "coin_in",
            "coin_drop",
            "coin_out",
            "hand_paid",
            "bill_in.value",
        ),
        alias="meters",
    )
    """The electronic meter that each counter follows, in order; by default the wagers (coin-in), the coins diverted to
    the drop box, the wins paid by the machine (coin-out), the amounts paid by hand, and the value of the bills."""


class ProgressiveRules(_ProfileTable):
    """Rules for progressive levels: lost controllers, hits without confirmation or paid by hand, and the return."""

    controller_down_after_seconds: Annotated[int, Field(ge=1, strict=True)] = Field(5, alias="stale_seconds")
    """The seconds without a message after which a controller counts as down: its levels are shown as unavailable
    and cannot be played for."""
    refused_while_link_down: Literal["wager", "machine"] = Field("wager", alias="link_down")
    """What is refused while a level's controller is down: `wager`: wagers that play for the level; `machine`: all play
    (NJ)."""
    unanswered_hit_treatment: Literal["wait", "hand"] = Field("hand", alias="unanswered")
    """What happens to a progressive win if its controller does not reply: ``wait`` until it does, or ``hand``: an
    attendant may pay the amount that the machine shows."""
    handpay_min_cents: NonNegativeCents | None = Field(None, alias="hand_cents")
    """A progressive win of this amount or more is paid by hand, whatever else the game wins; None:
    `pay_out.large_win_cents` decides."""
    part_counted_in_return: Literal["nothing", "reset", "all"] = Field("nothing", alias="counted")
    """The part of a progressive level that counts towards the minimum return: `nothing`; `reset`: its reset value;
    `all`: also its growth."""


class StaffRules(_ProfileTable):
    """Identification of staff at the machine (J-08, J-16; Monaco arts 20-23; FR-door)."""

    requires_menu_key: bool = Field(True, alias="menu_key")
    """Whether the service menu opens only with the operator's or the audit key; if not, it also opens from the
    screen."""
    permissions_of_key: tuple[Permission, ...] = Field(
        (
            Permission.ANSWER_SERVICE_CALLS,
            Permission.CLEAR_TILTS,
            Permission.PAY_BY_HAND,
            Permission.RESTART,
        ),
        alias="key_alone",
    )
    """The permissions that the attendant's key gives without a sign-in; for any other, a person must sign in first."""
    two_person_permissions: tuple[Permission, ...] = Field((Permission.CLEAR_MEMORY,), alias="two_persons")
    """The permissions that two people must use together."""
    wrong_pin_count_max: Annotated[int, Field(ge=1, le=10, strict=True)] = Field(3, alias="wrong_tries")
    """The number of consecutive wrong PINs after which a staff number is locked."""
    pin_lock_minutes: Annotated[int, Field(ge=1, strict=True)] = Field(15, alias="locked_minutes")
    """The minutes for which a staff number is locked after too many wrong PINs."""
    sign_out_seconds: Annotated[int, Field(ge=10, strict=True)] = Field(180, alias="time_out_seconds")
    """The seconds without a touch after which the person is signed out of the menu."""
    reports_undeclared_openings: bool = Field(False, alias="identify_before_opening")
    """Whether a tilt is raised, with its own journal entry, if a door is opened without a declared intervention (logged
    staff work) that covers it (Monaco art. 20.3). The machine cannot prevent the opening."""
    requires_reading_by_monitoring: bool = Field(False, alias="monitored_openings")
    """Whether an intervention counts as declared only after the monitoring system has read who is working (Monaco
    art. 20.3). For openings, this has an effect only with `identify_before_opening`."""
    prints_slips: bool = Field(False, alias="slips")
    """Whether to print an access ticket when an intervention starts, or when the logic door or a door to money is
    opened, and an audit ticket when the main door is opened (SD addenda 1-5)."""
    test_coins_max: Annotated[int, Field(ge=0, le=50, strict=True)] = 5
    """The maximum number of coins paid by a hopper test; 0: hoppers are not tested."""
    meter_naming: Literal["us", "mc", "fr", "anz"] = Field("us", alias="meter_names")
    """The jurisdiction whose meter names the service pages use."""


class InventoryRules(_ProfileTable):
    """The records that a machine must have. A machine with only simulated devices is a demonstration and needs none."""

    must_be_complete: bool = Field(False, alias="complete")
    """Whether a machine starts only if its kind, maker, model, base number and photograph are on record (Monaco
    19.3)."""
    requires_certificates: bool = Field(False, alias="certified")
    """Whether a game is offered only with a certificate signed by the key in the cabinet file (Monaco 19.3)."""


class JournalRules(_ProfileTable):
    """Journal settings: how often the journal is signed, and the maximum amount of one transaction (A-26)."""

    checkpoint_interval_entries: Annotated[int, Field(ge=10, strict=True)] = Field(
        1000, alias="checkpoint_every"
    )
    """The number of entries between two signed checkpoints."""
    transaction_max_cents_by_account: dict[str, NonNegativeCents] = Field({}, alias="increment_limits_cents")
    """The largest amount that one transaction may move into or out of each account; a larger one stops the machine."""


class Profile(_ProfileTable):
    """The rules of one jurisdiction. The keys are documented in their tables."""

    id: Identifier
    """The profile's id, which also selects its ticket template."""
    title: dict[str, str]
    """The name of the jurisdiction, by language."""
    regulations: str = Field(alias="source")
    """The regulations that the profile implements, as text."""
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    """The currency, ISO 4217."""
    languages: Annotated[tuple[str, ...], Field(min_length=1)]
    """The languages of the screen; the first is the default."""
    returns: ReturnRules
    value_in: ValueInRules
    play: PlayRules
    awards: AwardOddsRules = AwardOddsRules()
    pay_out: PayoutRules
    handpay: HandpayRules = Field(HandpayRules(), alias="by_hand")
    tickets: TicketingRules
    protection: PlayerProtectionRules = PlayerProtectionRules()
    sound: SoundRules = SoundRules()
    coins: CoinRules = CoinRules()
    host: HostRules = HostRules()
    progressives: ProgressiveRules = ProgressiveRules()
    hard_meters: HardMeterRules = HardMeterRules()
    staff: StaffRules = StaffRules()
    inventory: InventoryRules = InventoryRules()
    journal: JournalRules = JournalRules()
    reseed_policy: Annotated[
        ReseedPolicy, BeforeValidator(_parse_reseed_policy), WithJsonSchema(_build_reseed_policy_schema())
    ] = Field(alias="chance")
    """When the random number generator takes fresh entropy, and how often it is tested (rng.ReseedPolicy)."""
    _file: SourceFile | None = PrivateAttr(default=None)

    @property
    def file(self) -> SourceFile | None:
        """Return the file, with its bytes, from which the profile was read, or None if it was not read from a file."""
        return self._file

    @model_validator(mode="after")
    def _check_consistency(self) -> "Profile":
        """Return the profile; raise ValueError if keys contradict each other, or a text lacks one of its languages."""
        if len(set(self.languages)) != len(self.languages):
            raise ValueError("languages: list each language once")
        languages_without_title = [code for code in self.languages if code not in self.title]
        if languages_without_title:
            raise ValueError(f"title: no text for {', '.join(languages_without_title)}")
        if self.value_in.bills_cents != tuple(sorted(set(self.value_in.bills_cents))):
            raise ValueError("value_in.bills_cents: list each bill once, smallest first")
        unsuitable_meters = [
            name
            for name in self.hard_meters.followed_meters
            if name not in METER_BY_NAME
            or METER_BY_NAME[name].can_decrease
            or METER_BY_NAME[name].unit is not MeterUnit.CENTS
        ]
        if unsuitable_meters:
            raise ValueError(
                f"hard_meters.meters: no cumulative meter of money is called {', '.join(unsuitable_meters)}"
            )
        help_line = self.protection.help_text_by_language
        languages_without_help = [code for code in self.languages if help_line and code not in help_line]
        if languages_without_help:
            raise ValueError(f"protection.help_line: no text for {', '.join(languages_without_help)}")
        if "coins" in self.pay_out.payout_methods and not self.coins.hopper_coin_cents:
            raise ValueError("pay_out.order: has coins, but coins.hopper_cents names no coin")
        if self.play.win_max_cents is not None and self.handpay.prizes_in_kind != "refused":
            raise ValueError(
                "by_hand.prizes_in_kind: play.win_limit_cents limits prizes, and a prize in kind cannot "
                "be compared with it: it must be 'refused'"
            )
        if (
            self.value_in.requires_payable_credit_limit
            and self.value_in.credit_limit_cents > self._automatic_payout_max_cents
        ):
            raise ValueError(
                f"value_in.credit_limit_cents: {self.value_in.credit_limit_cents} may be accepted, but only "
                f"{self._automatic_payout_max_cents} can be paid out by the machine itself"
            )
        return self

    @property
    def _automatic_payout_max_cents(self) -> int:
        """Return the largest amount that the machine can pay at once without staff, in minor units."""
        payout_max_cents = {
            "ticket": self.tickets.ticket_max_cents,
            "coins": self.coins.hopper_coin_cents * self.coins.payout_coins_max,
        }
        return max((payout_max_cents[method] for method in self.pay_out.payout_methods), default=0)


def list_profile_ids() -> tuple[str, ...]:
    """Return the ids of the jurisdiction profiles that ship with the machine."""
    return tuple(sorted(path.stem for path in _PROFILES_FOLDER.glob("*.toml")))


def load_profile(id_or_path: str | Path) -> Profile:
    """Load a jurisdiction's profile by its id, or from an operator's own file (:mod:`paytables.source`).

    Raises OperatorError if it is missing or invalid; the text has every mistake with file, line, key and reason.
    """
    try:
        source = read_source_file(id_or_path, _PROFILES_FOLDER)
    except DefinitionError as error:
        raise OperatorError(f"jurisdiction profile {error}") from None
    file = source.path.name
    try:
        return _read_profile(source)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OperatorError(f"{file}: {describe_toml_error(error)}") from None
    except ValidationError:
        _, mistakes = read_toml(source.data.decode(), Profile)
        raise OperatorError("\n".join(f"{file}: {mistake}" for mistake in mistakes)) from None


@lru_cache(maxsize=16)
def _read_profile(source: SourceFile) -> Profile:
    """Return the profile read from a file; cached, because several parts of the machine load the same file."""
    profile = Profile.model_validate(parse_toml(source.data.decode()))
    profile._file = source  # noqa: SLF001 (this function creates the object)
    return profile
