"""Messages between the machine and its screen, and to the process of the simulated devices.

Each line is one JSON object. The machine sends a :class:`Snapshot` whenever anything that a person can see has
changed, a :class:`DecisionRequest` when a player must decide, and a :class:`GameOutcome` when an outcome is durable and
may be shown. The screen sends :class:`Intent`: a request, never a command; the machine's state table decides whether it
is accepted. Money is in minor units; credits have the game's denomination. A line that is not a valid message raises
:class:`MessageError`; no value is guessed.
"""

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from egm.errors import PeerError
from egm.kernel.service_pages import ServicePage
from egm.message_errors import format_first_error

#: The largest absolute value of an integer in a request from the screen.
INTEGER_MAX: Final = 2**63 - 1
#: The longest text in a request from the screen, in characters; the form fields accept fewer.
TEXT_LENGTH_MAX: Final = 4096
#: The maximum number of values in the options of one request.
_OPTION_VALUES_MAX: Final = 10_000
#: Deepest nesting in the options of one request.
_OPTION_NESTING_MAX: Final = 8


class MessageError(PeerError):
    """Raised if a line is not a valid message.

    The text states why and, unless the line is too long, quotes its beginning.
    """


class _Message(BaseModel):
    """Base of the messages between machine and screen, and of their parts; an unknown field is refused."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", strict=True)


class LongOdds(_Message):
    """An award that is so unlikely that its odds must be shown (Ontario 10.1)."""

    name: str
    """The award's name: a prize, a progressive level or a prize in kind."""
    stage: str
    """The base game or feature that pays the award; empty for a progressive level or a prize in kind."""
    one_in: int
    """The number of games in which the award is won once on average."""
    bets: tuple[int, ...]
    """The costs, in credits, of the bets that have these odds."""


class ArtFile(_Message):
    """A picture or sound file of a game and its SHA-256; the screen rejects a file with a different digest."""

    path: str
    """The file of the picture or sound."""
    sha256: str


class GameArt(_Message):
    """A game's own pictures and sounds."""

    look: str = ""
    """The name of the game's visual style; empty for the default of its family."""
    pictures: dict[str, ArtFile] = {}
    """The game's own pictures, by symbol."""
    sounds: dict[str, ArtFile] = {}
    """The game's own sounds, by sound cue, such as ``win_1`` (:data:`paytables.assets.REPLACEABLE_SOUNDS`)."""


#: What a game publishes for its screen, as JSON; its content depends on the game family.
GamePresentation: TypeAlias = dict[str, Any]


class BetChances(_Message):
    """The winning chances of one way to bet, computed exactly and rounded here for display."""

    bet: str
    """The name of this way to bet, such as a bet mode or a betting spot."""
    cost_credits: int
    """The cheapest stake of this way to bet, in credits."""
    hit_percent: str
    """The share of games that win a prize, in percent; empty if the machine does not know it exactly.

    At a table it is the share of rounds that return more than the stake.
    """
    prizes_in_100: str
    """The average number of prizes in a hundred games, without returned stakes; each winning line counts."""
    features: tuple[tuple[str, int], ...]
    """The bonus games (features), each with its name and the number of games in which it starts once on average."""
    top: str
    """The name of the highest award."""
    top_stage: str
    """The part of the game (base game or a feature) in which the highest award is won."""
    top_credits: int
    """The highest award at the cheapest stake, in credits."""
    top_one_in: int
    """The number of games in which the highest award is won once on average."""
    spots: tuple[str, ...] = ()
    """The betting spots of a table, or the areas of a wheel, that the bet covers."""
    hands: int = 0
    """The number of hands played at once, if the player chooses this number; else 0."""


class GameView(_Message):
    """Everything that the screen needs to draw a game; sent once per game in the :class:`Hello` message.

    ``presentation`` is the data that ``paytables`` publishes for a game of this family (for reels: strips,
    window, symbols, lines, pays). Texts are by language code.
    """

    id: str
    family: str
    """The game family, such as ``reels`` or ``keno``."""
    version: str
    digest: str
    """The SHA-256 of the game's definition."""
    title: dict[str, str]
    help: dict[str, str]
    departures: tuple[dict[str, str], ...] = ()
    """Where the game's rules differ from the usual rules of a game of this name, each as text by language."""
    bet_options: tuple[int, ...]
    """The bets that the player may choose, in credits."""
    denominations_cents: tuple[int, ...]
    return_percent: str
    """The lowest return (RTP) of all the ways to bet on the game, in percent."""
    presentation: GamePresentation
    """What the screen draws of the game; its content depends on the family."""
    long_odds: tuple[LongOdds, ...] = ()
    """The unlikely awards whose odds must be shown."""
    art: GameArt = GameArt()
    chances: tuple[BetChances, ...] = ()
    """The winning chances of each way to bet."""
    returns: dict[str, str] = {}
    """The return (RTP) of each group of a table game's bets, in percent; ``return_percent`` is the lowest of them."""
    commission_percent: str = ""
    """If players play against each other: the share of the pot that the venue retains, shown instead of a return."""
    main_bet: str = ""
    """The group of a table game's main bet (not a side bet), whose figures are shown for the game."""
    is_offered: bool = True
    """Whether the game is offered; False if it is shown only because a round of it is still open."""


class Notice(_Message):
    """One text shown to the player or attendant: a catalogue key and its values, which the screen translates."""

    code: str
    """The key of the text in the screen's catalogue, below ``notice``."""
    severity: Literal["info", "warning", "alarm"] = "info"
    values: dict[str, int | str] = {}
    """The values of the text's placeholders."""
    is_lasting: bool = False
    """Whether the notice describes a lasting condition; the status line then shows it until the condition ends."""


class SpotState(_Message):
    """Current odds and limits of one betting spot, sent only if they differ from the game's published ones."""

    odds: str
    """The payout odds of the spot now, as text such as ``35:1``."""
    bet_min_credits: int
    """The lowest bet on the spot, in credits."""
    bet_max_credits: int
    """The highest bet on the spot, in credits."""
    bet_step_credits: int
    """The difference in credits between one allowed bet on the spot and the next."""
    bet_max_multiple: int | None = None
    """The highest bet on the spot as a multiple of the bet on a different spot, or None."""


class FeltState(_Message):
    """The current state of a table layout, apart from the bets on it (:file:`paytables/FELTS.md`).

    ``spots`` has the current odds and limits of betting spots that differ from the game's published ones.
    """

    point: int | None = None
    """The point number at craps; None before the come-out throw has set one."""
    bank: int | None = None
    """The number of the seat that is first asked whether it takes the bank (plays against the others), or None."""
    banco: int = 0
    """For the seat that is asked first: the smallest stake, in credits, that keeps the bank; 0 if the bank is new."""
    button: int | None = None
    """At a poker table, the number of the seat to which the dealer button is offered first, or None."""
    first: tuple[str, ...] = ()
    """Spots of which at least one must have a bet before the player may bet on any other spot."""
    plays: dict[str, bool] = {}
    """For each spot whose bet the player may switch on or off: whether the bet takes part in the next throw."""
    spots: dict[str, SpotState] = {}


class ProgressiveView(_Message):
    """A progressive level that the current bet plays for, with its displayed amount."""

    id: str
    """The id of the level on this machine (of the pool that holds the level's money)."""
    level: str
    """The name of the level in the game's definition."""
    names: dict[str, str]
    amount_cents: int
    status: Literal["up", "stale", "down"]
    """Whether the amount is current (``up``), was not updated in time (``stale``), or has no controller (``down``)."""
    scope: Literal["stand_alone", "linked", "wide_area"] = "stand_alone"
    """Whether wagers on one machine, on the machines of a venue or on those of several venues feed the level."""
    mystery: bool = False
    """Whether the level is awarded independently of the game's outcome."""


class ProgressiveWin(_Message):
    """A hit of a progressive level by a game; ``amount_cents``: None until a controller has confirmed the hit."""

    id: str
    level: str
    names: dict[str, str]
    amount_cents: int | None


class Tilt(_Message):
    """An active tilt: its code, since when (UTC, ISO 8601), and who may clear it."""

    code: str
    """The code of the fault that stops play."""
    since: str
    """The time at which the fault was raised, UTC, ISO 8601."""
    cleared_by: Literal["self", "attendant", "technician", "ruling", "memory_clear"]
    detail: str = ""
    """Details for the technician; the screen shows them only for a code with a text ``tilt.detail``."""
    held_cents: int = 0
    """The player's money that is in the faulty device, in minor units."""


class PrizeInKind(_Message):
    """A prize in kind: its names by language, and the value stated by the operator."""

    id: str
    names: dict[str, str]
    value_cents: int


HandpayKind = Literal["cancelled_credit", "jackpot", "progressive", "bonus", "merchandise"]


class HandpayView(_Message):
    """A hand-pay or prize in kind that an attendant must settle before play continues."""

    kind: HandpayKind
    amount_cents: int
    """The money to pay, minor units; 0 if only prizes in kind were won."""
    prizes: tuple[PrizeInKind, ...] = ()
    can_take_cash: bool = False
    """Whether the player may take the value of the prizes in kind in money instead."""
    reason: str = ""
    """Why credits are paid by hand, as a code of the catalogue's ``handpay.why``; empty if ``kind`` already says it."""
    owed_cents: int = 0
    """If a hopper payout stopped: the amount owed when the payout began, in minor units."""
    paid_in_coins_cents: int = 0
    """If a hopper payout stopped: the amount that was paid in coins, in minor units."""
    since: str = ""
    """When the amount was reserved, UTC, ISO 8601."""
    slip_number: int = 0
    """The number that the hand-pay slip will have; 0 if another position also waits for one, so it is unknown."""
    position: int = 0
    """The player position, if the machine has several, else 0."""
    needs_form: bool = False
    """Whether the payment form with the player's data must be completed before the payment."""
    ticket_option: Literal["", "offered", "asked"] = ""
    """Whether a ticket can be printed instead of the hand-pay.

    It is either offered to the player (``cash_out``) or already requested by the player.
    """


class HostLock(_Message):
    """A host has locked the machine for a transfer; the lock ends at ``until_utc`` at the latest."""

    host: str
    """The name of the communication line of the host."""
    is_cash_out: bool
    """Whether the player is cashing out to the host; if False, the host itself has started the transfer."""
    until_utc: str


class ResidualCreditView(_Message):
    """Residual credit, too small for a game and for a coin, and what the player's request ``residual`` does with it.

    With ``prize_cents`` 0 it is given up. Otherwise it is staked on a prize of ``prize_cents``, which it wins
    with probability ``amount_cents`` / ``prize_cents``.
    """

    amount_cents: int
    """The residual credit, in minor units."""
    prize_cents: int = 0
    """The prize for which the residual credit is staked, in minor units; 0 if it is given up."""


class PayoutView(_Message):
    """A payout in progress."""

    method: str
    """How the credit is paid: ``ticket``, ``coins`` or another way, for which the screen has no picture."""
    amount_cents: int
    """The amount being paid, in minor units."""


ReminderKind = Literal["time", "spend", "time_limit", "spend_limit"]


class Reminder(_Message):
    """A player-protection reminder between two games, required by the jurisdiction or by the player's own limits.

    Reminders of the kinds ``time`` and ``spend`` wait for an :class:`Intent` ``acknowledge``. Those of the
    kinds ``time_limit`` and ``spend_limit`` pause play until ``until_utc``, or else until the session ends. Cashing
    out ends a reminder.
    """

    kind: ReminderKind
    minutes: int
    """Whole minutes since the session began."""
    spent_cents: int
    """Wagers less wins since the session began, minor units; negative if the player is ahead."""
    until_utc: str = ""
    """The time at which the pause of play ends, ISO 8601; empty if it lasts until the session ends."""
    is_own: bool = True
    """For the kinds ``time_limit`` and ``spend_limit``: whether the limit reached is the player's own.

    It is False if the jurisdiction sets the limit.
    """


class PlayerSessionView(_Message):
    """One player's session: play since the last player left or a pause of play ended.

    A player has left if no game, payment, credit or standing bet is on the machine. The limits are those that the
    player has set.
    """

    since_utc: str
    """When the session began, ISO 8601."""
    spent_cents: int
    """Wagers less wins since the session began, minor units; negative if the player is ahead."""
    limit_minutes: int = 0
    """The player's own time limit, in minutes; 0 for none."""
    limit_cents: int = 0
    """The player's own money limit, in minor units; 0 for none."""


class PlayerProtectionView(_Message):
    """Player-protection information that the jurisdiction requires to be visible at all times."""

    must_show_clock: bool = False
    """Whether the time of day must be visible at all times (VIC r.19)."""
    can_set_limits: bool = False
    """Whether the player may set limits, with an :class:`Intent` ``limit``."""
    help_line: dict[str, str] = {}
    """Contact of the gambling help line, by language."""


class TournamentView(_Message):
    """A tournament and its rules, for the screen.

    While ``is_on`` is False, it is only announced. ``entry`` is the tournament entry of which this position plays a
    round, or has played it (``is_round_over``). Points are shown as credits.
    """

    name: dict[str, str]
    rules: dict[str, tuple[tuple[str, tuple[str, ...]], ...]]
    """The published rules by language, each as a list of sections with a heading and sentences."""
    is_on: bool
    """Whether the machine is used for the tournament now; False while it is only announced."""
    entry: int = 0
    """The number of the tournament entry whose round is played at this position; 0 for none."""
    round: int = 0
    points: int = 0
    """The points with which this entry can still play."""
    won_points: int = 0
    """The points that this entry has won in this round so far."""
    games_left: int | None = None
    """The number of games left in the round, or None if the round is limited by time."""
    minutes_left: int | None = None
    """The minutes left in the round, rounded up, or None if the round is limited by games."""
    starts_utc: str = ""
    """The time at which play starts, ISO 8601 UTC; empty once it has started."""
    is_round_over: bool = False
    """Whether the entry's round at this position has ended."""


class Snapshot(_Message):
    """Everything that a person can see of the machine at one moment.

    Each snapshot is complete: it replaces the previous one.
    """

    type: Literal["snapshot"] = "snapshot"
    journal_sequence: int
    state: str
    time_utc: str
    time_zone: str = "UTC"
    """The venue's time zone, an IANA name; used for displayed times."""
    site: str
    serial: str
    operator_number: str
    currency: str
    language: str
    languages: tuple[str, ...]
    game_id: str | None
    denomination_cents: int
    bet_credits: int
    bet_wager: dict[str, Any] = {}
    """The options of the current bet, as set by :class:`Intent` ``bet``."""
    standing_credits_by_spot: dict[str, int] = {}
    """Credits that remain on betting spots from earlier rounds, by spot."""
    closed_spots: tuple[str, ...] = ()
    """The betting spots that accept no bet at present."""
    felt_state: FeltState = FeltState()
    """The current state of a table layout, apart from the bets on it."""
    staked_cents: int = 0
    """Total stake of the open game, including stakes added during it; 0 between games."""
    bet_min_cents: int = 0
    """The minimum stake per game, in minor units."""
    bet_max_cents: int | None = None
    """The maximum stake per game, standing bets included, in minor units; None for no maximum.

    It is the jurisdiction's, or a lower one of the operator. In a tournament it is the fixed bet of the tournament.
    """
    round_stake_max_cents: int | None = None
    """The highest total stake, with raises, that a round of the selected game can reach here, in minor units."""
    bet_credit_needed_cents: int = 0
    """The credit that the current bet requires, in minor units; 0 without a bet.

    It is the cost of the bet and what the round may still add to it.
    """
    credit_cents: int
    """All credit the player may wager, promotional credit included."""
    restricted_cents: int = 0
    """The part of ``credit_cents`` that can only be played, not cashed out."""
    nonrestricted_cents: int = 0
    """The part of ``credit_cents`` that is promotional but may be cashed out."""
    paid_cents: int
    """What the last game paid, in minor units: wins, returned stakes and progressive levels.

    0 once it was cashed out or another game was selected.
    """
    last_display: dict[str, object] | None
    """The picture data of the last game's outcome, shown until the next game.

    None if there was no game yet, if it has no outcome, or if the player has selected a different game since.
    """
    last_results: tuple[str, ...] = ()
    """The results of a table's last rounds, newest first.

    For a shoe that lasts several rounds, these are the rounds since its shuffle.
    """
    accepted_inputs: tuple[str, ...]
    """The names of the requests and inputs that the machine accepts now."""
    notices: tuple[Notice, ...] = ()
    tilts: tuple[Tilt, ...] = ()
    """The active faults that lock the machine."""
    handpay: HandpayView | None = None
    payout: PayoutView | None = None
    """The payout in progress, or None."""
    host_lock: HostLock | None = None
    """The host's lock of the machine for a transfer, or None."""
    residual_credit: ResidualCreditView | None = None
    open_doors: tuple[str, ...] = ()
    defect_rule: Literal["refund", "keep"] = "refund"
    """What the jurisdiction prescribes for the bet of a game that fails, refund or retention; shown to the player."""
    journal_head: str = ""
    """The number of the journal's last entry and twelve digits of its hash, for ``egm audit verify --witness``."""
    allowed_sound: str = "on"
    """The sound that the host allows: ``on`` (all), ``no_play`` (no game sounds) or ``off``.

    With ``off``, only alarms and test tones sound.
    """
    loudness_percent: int = 100
    """The loudness of the highest volume step, in percent of full scale; alarms and test tones have a minimum."""
    touch_calibration: tuple[int, ...] = ()
    """The calibration of the touch screen (:mod:`egm.kernel.touch`); empty if it is not calibrated."""
    reminder: Reminder | None = None
    session: PlayerSessionView | None = None
    """The player's session; None while nobody plays, or if the jurisdiction requires no session data."""
    protection: PlayerProtectionView = PlayerProtectionView()
    progressives: tuple[ProgressiveView, ...] = ()
    """The progressive levels that the current bet plays for."""
    tournament: TournamentView | None = None
    """The tournament that the machine is in or that is announced; None for none.

    While it is on, ``credit_cents`` are points: one point per credit, at the denomination.
    """
    service_page: ServicePage | None = None
    """The open page of the service menu, which covers everything else on the screen; None if the menu is closed."""

    @property
    def is_between_games(self) -> bool:
        """Return whether the machine is ready for a game with credits or tournament points."""
        return self.state in {"idle", "tournament"}

    @property
    def current_tournament(self) -> TournamentView | None:
        """Return the tournament that the machine is in, or None."""
        return self.tournament if self.tournament is not None and self.tournament.is_on else None


class Hello(_Message):
    """The first message in either direction: a client sends its access token, the machine replies with its games.

    The process of the simulated devices replies without games.
    """

    type: Literal["hello"] = "hello"
    token: str = ""
    games: tuple[GameView, ...] = ()
    feature_texts: dict[str, dict[str, str]] = {}
    """Texts of the machine's features that the screen's own catalogues lack: by language, then by key."""
    is_onlooker: bool = False
    """Whether the client only observes, as a top screen does, and no player plays on it."""
    sends_heartbeats: bool = False
    """Whether the client sends :class:`ScreenHeartbeat` regularly; missing heartbeats are then treated as a failure."""


class GameOutcome(_Message):
    """The message with the durable outcome of a game, which the screen then shows.

    ``display`` is the data for drawing the outcome; its form depends on the game's family, such as reels or
    keno.
    """

    type: Literal["play"] = "play"
    play_id: str
    game_id: str
    bet_credits: int
    returned_credits: int
    """What the game pays, in credits: wins and returned stakes."""
    paid_cents: int
    """What the game pays, in minor units: wins, returned stakes, and progressive wins whose amount is confirmed."""
    display: dict[str, Any]
    progressives: tuple[ProgressiveWin, ...] = ()
    """The progressive levels won, in order."""
    prizes: tuple[PrizeInKind, ...] = ()
    """The prizes in kind won."""
    is_resumed: bool = False
    """Whether the outcome is sent after an interruption: a restart, an open door, a tilt or a new connection."""
    settlements: tuple[dict[str, Any], ...] = ()
    """For a table game: the result of each bet (a :class:`paytables.contract.Settlement` as JSON), in order."""
    cues: tuple[dict[str, Any], ...] = ()
    """For a table game: the animation steps since the last decision, each a :class:`paytables.contract.Cue` as JSON."""


class DecisionRequest(_Message):
    """The message that says which decision of a player an open game is waiting for.

    The reply is an :class:`Intent` ``choose``.
    """

    type: Literal["decision"] = "decision"
    play_id: str
    kind: str
    options: tuple[int | str, ...]
    """The options that the player may choose; empty if the player of another position decides."""
    display: dict[str, Any]
    step: int = 0
    """The number of steps that the game has had, which the reply repeats with ``play_id``."""
    costs: dict[str, int] = {}
    """The credits that an option adds to the stake, by option; options that are not listed are free."""
    seat: int = 0
    """The number of the seat at the table that must decide."""
    settlements: tuple[dict[str, Any], ...] = ()
    """For a table game: the results of the bets that are already decided."""
    cues: tuple[dict[str, Any], ...] = ()
    """For a table game: the animation steps to show before the decision."""


class Intent(_Message):
    """A request of the person at the screen: its ``name``, and details in ``value`` and ``options``.

    Names: ``play``; ``choose`` (value: one of the offered options; options: ``play_id`` and ``step`` of the
    decision that it answers); ``bet`` (value: credits; options: what else the family needs, such as a Keno
    ticket's selections); ``game`` (value: id); ``denomination`` (value:
    minor units); ``cash_out``; ``language`` (value: code); ``shown`` (value: the play_id whose animation has
    ended); ``service`` (call the attendant); ``acknowledge`` (the reminder has been read); ``limit`` (the
    player's own limit, value: 0 for none; options ``of``: ``minutes`` or ``cents``); ``residual`` (give up or
    stake residual credit); ``menu`` (open the service menu); ``answer`` (reply to the open page: see
    :mod:`egm.kernel.service_pages`).

    A request that the state table refuses is reported as a notice ``refused.<reason>`` in the next snapshot,
    where the reason is the state or the guard that failed.
    """

    type: Literal["intent"] = "intent"
    name: Literal[
        "play",
        "choose",
        "bet",
        "game",
        "denomination",
        "cash_out",
        "language",
        "shown",
        "service",
        "acknowledge",
        "limit",
        "residual",
        "menu",
        "answer",
    ]
    value: (
        Annotated[int, Field(ge=-INTEGER_MAX, le=INTEGER_MAX)]
        | Annotated[str, Field(max_length=TEXT_LENGTH_MAX)]
        | None
    ) = None
    options: dict[str, Any] | None = None

    @field_validator("options", mode="after")
    @classmethod
    def _check_options(cls, options: dict[str, object] | None) -> dict[str, object] | None:
        """Return a request's options; raise ValueError if they have floats, or are too large or too deeply nested.

        The journal cannot store floats. The limits on size and depth are beyond any honest request.
        """
        if options is not None and _count_values(options, 0) > _OPTION_VALUES_MAX:
            raise ValueError(f"options have more than {_OPTION_VALUES_MAX} values")
        return options


def _count_values(value: object, depth: int) -> int:
    """Return the number of values in ``value``, nested ones included, for the size limit of a request's options.

    ``depth`` is the nesting depth of ``value``. Raises ValueError for a value that no request may contain.
    """
    if depth > _OPTION_NESTING_MAX:
        raise ValueError(f"options are nested more than {_OPTION_NESTING_MAX} deep")
    if isinstance(value, float):
        raise ValueError("a number in options is not a whole number")  # noqa: TRY004 (pydantic expects ValueError)
    if isinstance(value, int) and abs(value) > INTEGER_MAX:
        raise ValueError("a number in options has more than 63 bits")
    if isinstance(value, str) and len(value) > TEXT_LENGTH_MAX:
        raise ValueError(f"a text in options has more than {TEXT_LENGTH_MAX} characters")
    parts: list[object] = []
    if isinstance(value, dict):
        parts = [*value, *value.values()]
    elif isinstance(value, list):
        parts = value
    return 1 + sum(_count_values(part, depth + 1) for part in parts)


class ScreenHeartbeat(_Message):
    """A sign of life that a player's screen sends every few seconds from the loop that draws its frames."""

    type: Literal["alive"] = "alive"


class PlayButtonPress(_Message):
    """A press of the play button, which the screen handles like a touch of the play key that it shows now.

    That key may stop or skip an animation instead of playing, or be covered by a page. A button can thus never
    start a game while the play key is not visible.
    """

    type: Literal["pressed"] = "pressed"
    button: Literal["play"]


class BenchCommand(_Message):
    """A manual action on a simulated device, such as inserting a bill, or a query of its state.

    The screen's drawer of simulated devices, or ``egm device``, sends it to the process that simulates the
    devices.
    """

    type: Literal["bench"] = "bench"
    device: str
    action: str
    values: dict[str, int | str | bool] = {}


class BenchReply(_Message):
    """The result of a manual action on a simulated device, or why it was refused.

    ``state`` is the state of the simulated device after the action. The reply to the query ``state`` of the device
    ``bench`` has the state of every device, by its name.
    """

    type: Literal["bench_reply"] = "bench_reply"
    ok: bool
    text: str = ""
    state: dict[str, Any] = {}


Message = Annotated[
    Snapshot
    | Hello
    | GameOutcome
    | DecisionRequest
    | PlayButtonPress
    | Intent
    | ScreenHeartbeat
    | BenchCommand
    | BenchReply,
    Field(discriminator="type"),
]
_MESSAGE_ADAPTER: TypeAdapter[Message] = TypeAdapter(Message)

#: The longest line accepted from a screen, in bytes; a screen only sends requests.
REQUEST_BYTES_MAX: Final = 256 * 1024
#: The longest line accepted in either direction, in bytes; a hello with every game is far shorter.
LINE_BYTES_MAX = 4 * 1024 * 1024


def encode_message(message: Message) -> bytes:
    """Return a message between machine and screen as one line of JSON, newline included."""
    return message.model_dump_json().encode() + b"\n"


def decode_message(line: bytes) -> Message:
    """Return the message in one line between machine and screen.

    Raises :class:`MessageError` for anything that is not exactly one message.
    """
    if len(line) > LINE_BYTES_MAX:
        raise MessageError(f"line of {len(line)} bytes; at most {LINE_BYTES_MAX} are read")
    try:
        return _MESSAGE_ADAPTER.validate_json(line)
    except ValidationError as error:
        raise MessageError(format_first_error(error, line, "line")) from None
