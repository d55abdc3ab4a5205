"""Messages between the machine and the screen, and from the screen's drawer to the simulated devices.

One JSON object a line. The machine sends :class:`Snapshot` whenever anything a person can see has changed,
and :class:`Play` when an outcome is durable and may be shown. The screen sends :class:`Intent`: a request,
never a command; the state table decides. Money is in minor units; credits are the game's.

Whatever does not parse is refused with a :class:`MessageError`; nothing is guessed.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from egm.errors import PeerError
from egm.kernel.service_pages import ServicePage
from egm.validation import first_fault

INTEGER_MAX: Final = 2**63 - 1
"""The largest integer of a request, either sign."""
TEXT_MAX: Final = 4096
"""The longest text of a request; no field of a form takes as much."""
_PARTS_MAX: Final = 10_000
_DEPTH_MAX: Final = 8


class MessageError(PeerError):
    """A line that is no message: says what was wrong and quotes its beginning."""


class _Message(BaseModel):
    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", strict=True)


class LongOdds(_Message):
    """An award whose odds are so long that the player is told them (Ontario 10.1): 1 in so many games.

    ``bets`` are what the ways to bet cost, in credits, at which the odds are these; ``stage`` is where it is
    won, empty for a progressive level or a prize in kind.
    """

    name: str
    stage: str
    one_in: int
    bets: tuple[int, ...]


class ArtFile(_Message):
    """A file of a game's own: where it is, and the SHA-256 the machine read; another is not used."""

    path: str
    sha256: str


class GameArt(_Message):
    """How a game looks and sounds, where it says so: a look's name, pictures by symbol, sounds by cue."""

    look: str = ""
    pictures: dict[str, ArtFile] = {}
    sounds: dict[str, ArtFile] = {}


class Chances(_Message):
    """How often a way to bet wins, from the game's own exact analysis, rounded only here.

    ``bet`` is the way's name in the analysis, ``cost_credits`` its cheapest play. ``hit_percent`` is how many
    of a hundred games win anything, empty where only laboratories work it out; ``prizes_in_100`` how many
    prizes a hundred games win on average, each line counted. ``features`` start once in so many games. The
    award that pays the most is ``top``, ``top_credits`` at that cost, once in ``top_one_in`` games.

    ``spots`` are the spots of a table, or the areas of a wheel, that are bet on. ``hit_percent`` is then how
    many of a hundred rounds return more than was staked: a stake that is only given back is no prize.
    ``hands`` is how many hands are played at once where the player chooses that.
    """

    bet: str
    cost_credits: int
    hit_percent: str
    prizes_in_100: str
    features: tuple[tuple[str, int], ...]
    top: str
    top_stage: str
    top_credits: int
    top_one_in: int
    spots: tuple[str, ...] = ()
    hands: int = 0


class GameView(_Message):
    """What the screen needs to draw a game it has not computed: read once per game, at the hello.

    ``presentation`` is the family's own data (for reels: strips, window, symbols, lines, pays), as published
    by ``paytables``; texts are by language code.
    """

    id: str
    family: str
    version: str
    digest: str
    title: dict[str, str]
    help: dict[str, str]
    bet_options: tuple[int, ...]
    denominations_cents: tuple[int, ...]
    return_percent: str
    presentation: dict[str, Any]
    long_odds: tuple[LongOdds, ...] = ()
    art: GameArt = GameArt()
    chances: tuple[Chances, ...] = ()
    returns: dict[str, str] = {}
    """Of a table, the return of each kind of bet, percent, by its group: ``return_percent`` is the least."""
    main_bet: str = ""
    """The group of the bet a table's game is about: no bet beside it stands for the game."""
    offered: bool = True
    """False: not offered any more; here because a game of it is open."""


class Notice(_Message):
    """One text for the player or attendant: a catalogue key and its values; the screen words it."""

    code: str
    severity: Literal["info", "warning", "alarm"] = "info"
    values: dict[str, int | str] = {}


class SpotNow(_Message):
    """What of a spot is otherwise than published, as the table stands."""

    odds: str
    least: int
    most: int
    step: int
    most_times: int | None = None


class Felt(_Message):
    """What is to be known of a table as it stands, beside bets (:file:`paytables/FELTS.md`).

    ``first``: spots of which one has a bet with any new one. ``plays``: whether a bet there plays, where the
    player says it. ``point``: of craps. ``spots``: what of a spot is otherwise than published, and the most
    that may be bet there within the limits of the place.
    """

    point: int | None = None
    first: tuple[str, ...] = ()
    plays: dict[str, bool] = {}
    spots: dict[str, SpotNow] = {}


class ProgressiveView(_Message):
    """A progressive level the bet in force plays for: what it shows, and whether that would be paid.

    ``id`` is the amount's own, ``level`` the game's name of it. ``stale``: its controller has been silent too
    long; ``down``: it has none. A mystery level is won by chance beside the outcome.
    """

    id: str
    level: str
    names: dict[str, str]
    amount_cents: int
    status: Literal["up", "stale", "down"]
    kind: Literal["stand_alone", "linked", "wide_area"] = "stand_alone"
    mystery: bool = False


class ProgressiveWin(_Message):
    """A progressive level a game has won; ``amount_cents`` is None until its controller has locked it."""

    id: str
    level: str
    names: dict[str, str]
    amount_cents: int | None


class Tilt(_Message):
    """An active lock-up: what, since when (UTC, ISO 8601), and who may clear it."""

    code: str
    since: str
    cleared_by: Literal["self", "attendant", "technician", "ruling", "memory_clear"]
    detail: str = ""
    """What exactly, for whoever must put it right; the screen shows it where it is free of any language."""
    held_cents: int = 0
    """The player's money that its device holds."""


class PrizeInKind(_Message):
    """A prize that is a thing: its names by language, and what the house states it is worth."""

    id: str
    names: dict[str, str]
    value_cents: int


HandpayKind = Literal["cancelled_credit", "jackpot", "progressive", "bonus", "merchandise"]


class Handpay(_Message):
    """What an attendant must pay by hand, or bring, before play goes on."""

    kind: HandpayKind
    amount_cents: int
    """The money; 0 where only things were won."""
    prizes: tuple[PrizeInKind, ...] = ()
    cash_instead: bool = False
    """The player may take the prizes' value in money."""
    why: str = ""
    """Why credits are paid by hand: a code of ``handpay.why``; empty: for what its kind says."""
    owed_cents: int = 0
    coins_cents: int = 0
    """Of a rest: what was owed when the hopper began to pay, and what came as coins; 0: it paid nothing."""
    since: str = ""
    """When it was reserved, UTC, ISO 8601."""
    number: int = 0
    """The number its slip will have."""
    position: int = 0
    """The player's place at a machine that has several; 0: there is one."""
    form_first: bool = False
    """The form about the player is to be filled in before it may be settled."""
    ticket: Literal["", "offered", "asked"] = ""
    """A ticket could be printed instead: the player may ask for it (``cash_out``), or has."""


class HostLock(_Message):
    """A host holds the machine still while it deals with the credits; it ends by itself at ``until_utc``."""

    host: str
    """The name of its line."""
    cash_out: bool
    """It is asked to take the credits, which the player cashes out; else it moves value by itself."""
    until_utc: str


class Residual(_Message):
    """A rest of credit that buys nothing here, and what :class:`Intent` ``residual`` does with it.

    ``prize_cents`` 0: it is given up. Else it is staked: of that prize, ``amount_cents`` chances in it.
    """

    amount_cents: int
    prize_cents: int = 0


class PayOut(_Message):
    """Credits on their way out: ``way`` is ``ticket``, ``coins``, or one the screen has no picture for."""

    way: str
    amount_cents: int


ReminderKind = Literal["time", "spend", "time_limit", "spend_limit"]


class Reminder(_Message):
    """What the place's rules, or the player's own limits, bring to mind between two games.

    ``time`` and ``spend`` wait for an :class:`Intent` ``acknowledge``. ``time_limit`` and ``spend_limit``
    pause the play until ``until_utc`` (ISO 8601; empty: the session's end). Cashing out ends a reminder.
    """

    kind: ReminderKind
    minutes: int
    """Since the session began, whole minutes."""
    spent_cents: int
    """Wagers less wins since then; below zero the player is ahead."""
    until_utc: str = ""
    own: bool = True
    """A limit is the player's own; else it is the place's."""


class Session(_Message):
    """One player's time at the machine, since credits were last zero. The limits are the player's own."""

    since_utc: str
    spent_cents: int
    limit_minutes: int = 0
    limit_cents: int = 0


class Protection(_Message):
    """What the place wants a player to see at all times."""

    clock: bool = False
    """The time of day is always in sight (VIC r.19)."""
    limits: bool = False
    """The player may set limits: an :class:`Intent` ``limit``."""
    help_line: dict[str, str] = {}
    """Where help is found, by language."""


class Snapshot(_Message):
    """Everything a person can see of the machine, complete each time; the screen keeps nothing else."""

    type: Literal["snapshot"] = "snapshot"
    journal_sequence: int
    state: str
    time_utc: str
    time_zone: str = "UTC"
    """Where the house is, an IANA name: the time people read."""
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
    """The options of the bet in force, as :class:`Intent` ``bet`` set them."""
    standing: dict[str, int] = {}
    """Credits that stay on spots of the table from the rounds before."""
    shut: tuple[str, ...] = ()
    """Spots that take no bet as the table stands."""
    felt: Felt = Felt()
    staked_cents: int = 0
    """What the open game has staked so far, what answers have added included; 0 between two games."""
    bet_least_cents: int = 0
    bet_most_cents: int | None = None
    """What the place lets be at stake in one game, bets that stand included; None: all that is offered."""
    most_staked_cents: int | None = None
    """The most that one round of the selected game can stake here, raises included."""
    bet_needs_cents: int = 0
    """The credit that the bet in force needs: its cost and what its round may still add; 0: there is none."""
    credit_cents: int
    """All the player may wager, promotional credit included."""
    restricted_cents: int = 0
    """Of it, what can only be played."""
    nonrestricted_cents: int = 0
    """Of it, promotional credit that may be cashed out."""
    win_cents: int
    last_display: dict[str, object] | None
    results: tuple[str, ...] = ()
    """At a table, how its last rounds ended, the newest first; of a shoe that lasts, since it was new."""
    accepts: tuple[str, ...]
    notices: tuple[Notice, ...] = ()
    tilts: tuple[Tilt, ...] = ()
    handpay: Handpay | None = None
    paying: PayOut | None = None
    lock: HostLock | None = None
    residual: Residual | None = None
    doors_open: tuple[str, ...] = ()
    defect: Literal["refund", "keep"] = "refund"
    """What the place's rules make of a bet on a machine that fails; the player is told just that."""
    key_fingerprint: str = ""
    journal_head: str = ""
    """Entry and twelve digits of the journal's hash, for ``egm audit verify --witness``."""
    sound: str = "on"
    """What a host lets be heard: ``on``; ``no_play``: games are silent; ``off``: all but alarms."""
    loudness_percent: int = 100
    """How loud the loudest volume step may be here; an alarm keeps its floor."""
    touch: tuple[int, ...] = ()
    """Calibration of the touch screen (:mod:`egm.kernel.touch`); empty where there is none."""
    reminder: Reminder | None = None
    session: Session | None = None
    """None while nobody plays, and where the place keeps no count."""
    protection: Protection = Protection()
    progressives: tuple[ProgressiveView, ...] = ()
    """The levels the bet in force plays for; empty where it plays for none."""
    page: ServicePage | None = None
    """The page of the service menu that is open; it covers everything else."""


class Hello(_Message):
    """The first line of either side: the screen proves itself, the machine answers with games."""

    type: Literal["hello"] = "hello"
    token: str = ""
    games: tuple[GameView, ...] = ()
    words: dict[str, dict[str, str]] = {}
    """Texts that features bring beside the screen's own catalogues: by language, then by key."""
    onlooker: bool = False
    """It only looks on, as a top screen or an update does: no player sees and plays by what it is told."""
    proves: bool = False
    """It says :class:`Alive` for as long as it goes on; who does not say so here is never asked to."""


class Play(_Message):
    """A durable outcome to show. ``display`` is what the family's evaluation returned for this game."""

    type: Literal["play"] = "play"
    play_id: str
    game_id: str
    bet_credits: int
    win_credits: int
    win_cents: int
    display: dict[str, Any]
    progressives: tuple[ProgressiveWin, ...] = ()
    """What it won of progressive levels, in order; what is locked of it is in ``win_cents``."""
    prizes: tuple[PrizeInKind, ...] = ()
    """What it won that is no money."""
    resumed: bool = False
    settlements: tuple[dict[str, Any], ...] = ()
    """At a table: what became of each bet (:class:`paytables.contract.Settlement`, as JSON), in order."""
    cues: tuple[dict[str, Any], ...] = ()
    """At a table: what is animated since the last decision (:class:`paytables.contract.Cue`, as JSON)."""


class Decision(_Message):
    """A game in progress asks the player; the answer is an :class:`Intent` ``choose`` with one option."""

    type: Literal["decision"] = "decision"
    play_id: str
    kind: str
    options: tuple[int | str, ...]
    display: dict[str, Any]
    costs: dict[str, int] = {}
    """What options add to the stake, credits by option; the others cost nothing."""
    seat: int = 0
    """Who is asked."""
    settlements: tuple[dict[str, Any], ...] = ()
    """At a table: the bets that are decided already."""
    cues: tuple[dict[str, Any], ...] = ()
    """At a table: what is animated before it asks."""


class Intent(_Message):
    """A request of the person at the screen.

    ``play``; ``choose`` (value: one of the options asked); ``bet`` (value: credits; options: what
    the family needs beside them, such as a Keno ticket's selections); ``game`` (value: id);
    ``denomination`` (value: minor units); ``cash_out``;
    ``language`` (value: code); ``shown`` (value: play_id, the animation has ended); ``service`` (call
    attendant); ``acknowledge`` (the reminder is read); ``limit`` (the player's own limit, value: 0 for none;
    options ``of``: ``minutes`` or ``cents``); ``residual`` (give up or stake credit too
    small for anything); ``menu`` (open the service menu); ``answer`` (to the page that
    is open: see :mod:`egm.kernel.service_pages`). A request the state table refuses comes back as a notice
    ``refused.<reason>`` in the next snapshot, where the reason is the state or the guard that failed.
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
        | Annotated[str, Field(max_length=TEXT_MAX)]
        | None
    ) = None
    options: dict[str, Any] | None = None

    @field_validator("options", mode="after")
    @classmethod
    def _bounded(cls, options: dict[str, object] | None) -> dict[str, object] | None:
        """Credits and numbers are whole: 1.0 is equal to 1, and the journal would refuse to keep it.

        Sizes and depth have a limit that no honest request reaches: whatever handles one may count on it.
        """
        if options is not None and _count_parts(options, 0) > _PARTS_MAX:
            raise ValueError(f"more than {_PARTS_MAX} parts")
        return options


def _count_parts(value: object, depth: int) -> int:
    """Count the values within ``value``. Raises ValueError for one that no request may hold."""
    if depth > _DEPTH_MAX:
        raise ValueError(f"nested more than {_DEPTH_MAX} deep")
    if isinstance(value, float):
        raise ValueError("a number that is not whole")  # noqa: TRY004 (pydantic takes it for a refusal)
    if isinstance(value, int) and abs(value) > INTEGER_MAX:
        raise ValueError("a number of more than 63 bits")
    if isinstance(value, str) and len(value) > TEXT_MAX:
        raise ValueError(f"a text of more than {TEXT_MAX} characters")
    inside: list[object] = []
    if isinstance(value, dict):
        inside = [*value, *value.values()]
    elif isinstance(value, list):
        inside = value
    return 1 + sum(_count_parts(part, depth + 1) for part in inside)


class Alive(_Message):
    """The screen's frame loop has gone round: said every few seconds, by that loop."""

    type: Literal["alive"] = "alive"


class Pressed(_Message):
    """A button of the deck that means what its key on the screen means there and then: stop, skip, play.

    So a page that covers the game, or a game being shown, is never staked on by the hand beside the screen.
    """

    type: Literal["pressed"] = "pressed"
    button: Literal["play"]


class BenchCommand(_Message):
    """A hand on a simulated peripheral: from drawer or ``egm device`` to the bench, never to the machine."""

    type: Literal["bench"] = "bench"
    device: str
    action: str
    values: dict[str, int | str | bool] = {}


class BenchReply(_Message):
    """What the bench did, or why it would not; ``state`` is the device's own description of itself."""

    type: Literal["bench_reply"] = "bench_reply"
    ok: bool
    text: str = ""
    state: dict[str, Any] = {}


Message = Annotated[
    Snapshot | Hello | Play | Decision | Pressed | Intent | Alive | BenchCommand | BenchReply,
    Field(discriminator="type"),
]
_ADAPTER: TypeAdapter[Message] = TypeAdapter(Message)

#: The same for a line of a screen, which sends requests only.
REQUEST_BYTES_MAX: Final = 256 * 1024
#: A longer line is refused unread: the largest honest message (a hello with every game) is far below it.
LINE_BYTES_MAX = 4 * 1024 * 1024


def encode(message: Message) -> bytes:
    """The message as one JSON line, newline included."""
    return message.model_dump_json().encode() + b"\n"


def decode(line: bytes) -> Message:
    """Parse one line. Raises :class:`MessageError` on anything that is not exactly a message."""
    if len(line) > LINE_BYTES_MAX:
        raise MessageError(f"line of {len(line)} bytes; at most {LINE_BYTES_MAX} are read")
    try:
        return _ADAPTER.validate_json(line)
    except ValidationError as error:
        raise MessageError(first_fault(error, line, "line")) from None
