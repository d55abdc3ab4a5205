"""A loaded game: its definition, and the rules that its family built from it."""

import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel

from paytables import definition, help_numbers
from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.assets import add_asset_digests, read_assets
from paytables.contract import (
    Bet,
    Choice,
    DefinitionRemark,
    DrawSource,
    Json,
    LevelParticipation,
    Outcome,
    PrizeInKind,
    RoundEvents,
    Settlement,
    Spot,
    TimeCharge,
    TimeToAct,
    Wager,
    play_with_choices,
)
from paytables.definition import Definition
from paytables.errors import DefinitionError
from paytables.figure_binding import check_binding_digest, remove_binding_digest
from paytables.layout import BetLimits, TableDefinition
from paytables.source import SourceFile
from paytables.wording import format_count, format_known_names

#: Family name in a definition -> the module that plays it, which defines ``FAMILY``.
FAMILY_MODULE_BY_NAME: Final[Mapping[str, str]] = {
    "baccarat": "paytables.bank.baccarat",
    "banque": "paytables.bank.banque",
    "blackjack": "paytables.blackjack",
    "chemin-de-fer": "paytables.bank.chemin",
    "craps": "paytables.craps",
    "keno": "paytables.keno",
    "pai-gow": "paytables.poker.tiles",
    "pai-gow-poker": "paytables.poker.paigow",
    "poker": "paytables.poker.table",
    "poker-room": "paytables.poker.room",
    "red-dog": "paytables.bank.red_dog",
    "reels": "paytables.reels",
    "roulette": "paytables.roulette",
    "sic-bo": "paytables.sicbo",
    "super-pan-9": "paytables.bank.super_pan",
    "trente-et-quarante": "paytables.bank.trente",
    "video-poker": "paytables.poker.video",
    "war": "paytables.bank.war",
    "wheel": "paytables.wheel",
}


DefinitionT = TypeVar("DefinitionT", bound=Definition)


class GameRules(Protocol):
    """The interface of a playable game's rules. The game's family builds them from its definition."""

    @property
    def bet_options(self) -> tuple[int, ...]:
        """Return every total bet the game offers, in credits, ascending."""

    def build_wager(self, credits_: int, **options: Json) -> Wager:
        """Return the game's wager of that many credits. Raises WagerError if the game does not offer it."""

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play one round of the game: a generator of events (:mod:`paytables.contract.round`)."""

    def list_spots(self) -> tuple[Spot, ...]:
        """Return the betting spots of the table in its current state; none if a wager is a single bet."""

    @property
    def is_decided_by_wheel(self) -> bool:
        """Return whether a real roulette wheel, instead of the random number generator, decides a round.

        The round then asks for a decision of the kind :data:`WHEEL_DECISION_KIND`, whose answer is the wheel's result.
        """

    @property
    def seats_min(self) -> int:
        """Return how many betting seats a round needs at least."""

    def count_seats_needed(self, wager: Wager) -> int:
        """Return how many betting seats a round needs at least if it includes this wager."""

    @property
    def has_fixed_seats(self) -> bool:
        """Return whether a seat must be the same player position in every round (the table state names seats)."""

    @property
    def commission_rate(self) -> Fraction | None:
        """Return the share of wins that the house takes if players play against each other, otherwise None.

        It is the certified figure of such a game, instead of a return (Monaco art. 19.3).
        """

    @property
    def time_charge(self) -> TimeCharge | None:
        """Return what each player pays for a period of play at the table, in addition to the stakes, or None."""

    @property
    def time_to_act(self) -> TimeToAct:
        """Return the time that a player has for a decision for which other players wait."""

    @property
    def betting_seconds(self) -> int | None:
        """Return how many seconds several seats have to bet on one round, or None if each seat plays alone."""

    @property
    def shared_state_fields(self) -> frozenset[str]:
        """Return the fields of ``Outcome.table_state`` that all players at a table share, such as the shoe."""

    @property
    def standing_bet_state_fields(self) -> frozenset[str]:
        """Return the shared fields of the table state that standing bets depend on.

        A player who misses a round keeps the earlier values of these fields.
        """

    def combine_seat_wagers(self, wager: Wager, seat: int, other_wagers: Mapping[int, Wager]) -> Wager:
        """Return one seat's wager for a round that is played together with the wagers of the other seats."""

    def with_table_state(self, table_state: object) -> "GameRules":
        """Return the rules for a stored table state (``Outcome.table_state``); None is a newly opened table.

        Raises ValueError for a state in which no round of this game can end.
        """

    def list_standing_bets(self) -> tuple[Bet, ...]:
        """Return the bets that remain on the table from earlier rounds."""

    def build_current_view(self) -> Mapping[str, object]:
        """Return the table's current state as a screen needs it, without spots and bets (FELTS.md)."""

    def take_down_standing_bets(self) -> tuple[tuple[Settlement, ...], Json]:
        """Return the settlements of the standing bets that a leaving player takes down, and the table without them.

        Bets that the rules do not allow the player to take down remain in the table and have no settlement.
        """

    def find_highest_win_after_double_up(self, win_credits: int) -> int:
        """Return the highest win, in credits, that a win of up to ``win_credits`` can become in the double-up.

        Without a double-up, it is ``win_credits``.
        """

    def list_levels(self, wager: Wager) -> tuple[LevelParticipation, ...]:
        """Return the progressive levels for which a wager plays, in the order of the definition."""

    def list_every_level(self) -> tuple[LevelParticipation, ...]:
        """Return each progressive level of the game, once for each stake that a wager can have on it."""

    def list_prizes_in_kind(self) -> tuple[PrizeInKind, ...]:
        """Return the prizes in kind of the game, in the order of the definition."""

    def build_presentation(self) -> dict[str, object]:
        """Return what a screen needs to draw the game before the first round, as JSON data."""

    def explain_pays(self) -> tuple[str, ...]:
        """Return sentences on what the game pays, which a designer can compare with the design sheet."""

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return remarks on parts of the game's definition that are legal but may surprise."""

    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of the game; ``depth`` selects how many of them are computed."""

    def compute_raise_reserve(self, wager: Wager) -> int:
        """Return the most credits that the certified strategy may add to a wager during its round, such as a raise."""

    def find_highest_bet(self, credits_: int) -> Mapping[str, int]:
        """Return the maximum bet on each spot if a round may cost at most ``credits_``; 0 means no bet.

        Used only for tables where a round may cost more than the bet.
        """

    def find_highest_stake(self, credits_: int) -> int:
        """Return the most that one round can stake within ``credits_``, raises included."""

    def check_installation(self, file: str) -> None:
        """Raise :class:`DefinitionError` if the definition may not be installed.

        It refuses errors that earlier versions accepted. Only definition files are checked. A game that is stored in a
        journal is not: it must be possible to finish it and to replay it in the audit.
        """

    def find_highest_round_return(self, wager: Wager) -> int | None:
        """Return the most credits that a round of a wager may return to a seat, standing bets included.

        The value is an upper bound; None if it cannot be computed.
        """

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of any wager; the variance is None if it is beyond exact computation."""


def _return_unchanged(definition_data: Mapping[str, object], file: str) -> Mapping[str, object]:  # noqa: ARG001 (signature of a function that expands shorthand)
    """Return a definition's data unchanged (for a game family whose definitions have no shorthand)."""
    return definition_data


@dataclass(frozen=True, slots=True)
class GameFamily(Generic[DefinitionT]):
    """A family (kind) of games: the data model of its definitions, and the function that builds its rules.

    The JSON Schema of ``definition_class`` is published for editors. ``build_rules`` raises :class:`DefinitionError`
    for errors that the model alone cannot detect.
    """

    definition_class: type[DefinitionT]
    """The data model of the family's definitions."""
    build_rules: Callable[[DefinitionT, str], GameRules]
    """The function that builds the rules from a checked definition; its second argument is the file name."""
    prepare_data: Callable[[Mapping[str, Any], str], Mapping[str, Any]] = _return_unchanged
    """The function that expands a definition's shorthand before the model checks it."""
    help_figures: frozenset[int] = frozenset()
    """Numbers that help texts may state although no definition contains them, such as card values."""
    counted_cases: str = "over all results"
    """The cases that the exact figures count, as text for PAR sheets; it completes "integer counts ..."."""


@dataclass(frozen=True, slots=True)
class Game:
    """One playable game, loaded from its definition; nothing else determines it."""

    header: definition.GameHeader
    """The id, version and texts of the definition."""
    digest: str
    """The SHA-256 of ``text``, which identifies the game."""
    rules: GameRules
    """The rules that play the game."""
    text: str
    """The definition as canonical JSON; the same game can be built from it again."""
    source: SourceFile | None = field(default=None, compare=False)
    """The definition file as it was read, or None for a game made from data."""
    art: definition.GameArt = field(default=definition.GameArt(), compare=False)
    """The game's own pictures and sounds."""
    assets: Mapping[str, SourceFile] = field(default_factory=dict, compare=False)
    """The game's own pictures and sounds by file name, as they were read; empty for a game made from data."""
    _analyses: dict[AnalysisDepth, Analysis] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Cache of the game's figures by analysis depth (:func:`analyse`)."""

    @property
    def id(self) -> str:
        """Return the game's id, unique in a cabinet."""
        return self.header.id

    @property
    def version(self) -> str:
        """Return the version that the game's definition states."""
        return self.header.version

    @property
    def family(self) -> str:
        """Return the name of the family whose rules play the game."""
        return self.header.family

    @property
    def title(self) -> dict[str, str]:
        """Return the game's title, by language."""
        return self.header.title.model_dump()

    @property
    def help(self) -> dict[str, str]:
        """Return the game's rules as shown to the player, by language."""
        return self.header.help.model_dump()

    @property
    def departures(self) -> tuple[dict[str, str], ...]:
        """Return the points in which the game differs from the standard game of its name, as texts by language."""
        return tuple(text.model_dump() for text in self.header.departure)

    @property
    def denominations_cents(self) -> tuple[int, ...]:
        """Return the denominations that the game may be offered in, in minor units."""
        return self.header.denominations_cents

    @property
    def bet_options(self) -> tuple[int, ...]:
        """Return every total bet the game offers, in credits, ascending."""
        return self.rules.bet_options

    def build_wager(self, credits_: int, **options: Json) -> Wager:
        """Return the game's wager of ``credits_``. Raises :class:`WagerError` if the game does not offer it."""
        return self.rules.build_wager(credits_, **options)

    def compute_round_cost(self, credits_: int) -> int:
        """Return the most credits that a round with this bet can cost, raises of the certified strategy included."""
        return credits_ + self.rules.compute_raise_reserve(self.rules.build_wager(credits_))

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play one round of the game: a generator of events that returns the outcome."""
        return self.rules.play(wager, draw)

    def with_table_state(self, table_state: object) -> "Game":
        """Return the game for a stored table state. Raises ValueError for a state in which no round can end."""
        rules = self.rules.with_table_state(table_state)
        return self if rules is self.rules else replace(self, rules=rules)

    def find_highest_win_after_double_up(self, win_credits: int) -> int:
        """Return the highest win, in credits, that a win of up to ``win_credits`` can become in the double-up.

        Without a double-up, it is ``win_credits``.
        """
        return self.rules.find_highest_win_after_double_up(win_credits)

    def list_levels(self, wager: Wager) -> tuple[LevelParticipation, ...]:
        """Return the progressive levels for which a wager plays, in the order of the definition."""
        return self.rules.list_levels(wager)

    def list_every_level(self) -> tuple[LevelParticipation, ...]:
        """Return each progressive level of the game, once for each stake that a wager can have on it."""
        return self.rules.list_every_level()

    def list_prizes_in_kind(self) -> tuple[PrizeInKind, ...]:
        """Return the prizes in kind of the game, in the order of the definition."""
        return self.rules.list_prizes_in_kind()

    def build_presentation(self) -> dict[str, object]:
        """Return what a screen needs to draw the game before the first round, as JSON data."""
        return self.rules.build_presentation()


def find_family(family_name: str, file: str = "") -> GameFamily[Any]:
    """Return the game family of that name. Raises :class:`DefinitionError` if it does not exist."""
    if family_name not in FAMILY_MODULE_BY_NAME:
        raise DefinitionError(
            file,
            "game.family",
            f"there is no family {family_name!r}; {format_known_names(family_name, sorted(FAMILY_MODULE_BY_NAME))}",
        )
    family: GameFamily[Any] = importlib.import_module(FAMILY_MODULE_BY_NAME[family_name]).FAMILY
    return family


def build_game(
    definition_data: Mapping[str, Any],
    file: str,
    source: SourceFile | None = None,
    assets: Mapping[str, SourceFile] = MappingProxyType({}),
) -> Game:
    """Build a game from the parsed TOML of its definition.

    ``file`` is named in errors; ``source`` is the file that was parsed. Raises :class:`DefinitionError`. Whether
    stored figures belong to the definition is checked only by :func:`load_game`.
    """
    family = find_family(definition.read_header_value(definition_data, file, "family"), file)
    checked_definition = definition.parse_model(
        family.definition_class, family.prepare_data(remove_binding_digest(definition_data), file), file
    )
    symbols = [symbol.id for symbol in getattr(checked_definition, "symbols", ())]
    for name in checked_definition.art.pictures:
        if name not in symbols:
            raise DefinitionError(
                file,
                f"art.pictures.{name}",
                f"there is no symbol {name!r}; {format_known_names(name, symbols)}",
            )
    rules = family.build_rules(checked_definition, file)
    if isinstance(checked_definition, TableDefinition):
        _check_fixed_sums(checked_definition, checked_definition.game.denominations_cents, file)
    return Game(
        header=checked_definition.game,
        digest=definition.compute_digest(definition_data),
        rules=rules,
        text=definition.format_canonical_text(definition_data),
        source=source,
        art=checked_definition.art,
        assets=assets,
    )


def _check_fixed_sums(part: object, denominations_cents: Sequence[int], file: str, key: str = "") -> None:
    """Raise :class:`DefinitionError` if a bet of a fixed money amount cannot be made at any denomination.

    The check goes through every part of the definition.
    """
    if isinstance(part, BetLimits):
        worth_cents = part.worth_cents
        stakes = range(part.bet_min, part.bet_max + 1, part.bet_step)
        if worth_cents and not any(
            worth_cents % cents == 0 and worth_cents // cents in stakes for cents in denominations_cents
        ):
            raise DefinitionError(
                file,
                f"{key}.worth_cents",
                f"no bet of {part.bet_min:,} to {format_count(part.bet_max, 'credit')} is worth "
                f"{worth_cents} minor units at any of {list(denominations_cents)}",
            )
    elif isinstance(part, BaseModel | tuple):
        for name, inner in _iter_keys(part) if isinstance(part, BaseModel) else enumerate(part):
            _check_fixed_sums(inner, denominations_cents, file, f"{key}.{name}" if key else str(name))


def _iter_keys(table: BaseModel) -> Iterator[tuple[str, object]]:
    """Yield each key of a definition's table, as its author writes it, with its value."""
    return ((type(table).model_fields[name].alias or name, value) for name, value in table)


def build_game_from_json(text: str, file: str) -> Game:
    """Build a game from its definition's canonical JSON; ``file`` is named in errors.

    Raises :class:`DefinitionError` if the text is not a valid definition.
    """
    try:
        definition_data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DefinitionError(file, "JSON", str(error)) from None
    if not isinstance(definition_data, dict):
        raise DefinitionError(file, "definition", "is not a table")
    return build_game(definition_data, file)


def load_game(id_or_path: str | Path) -> Game:
    """Load a game by library id or path (:mod:`paytables.source`). Raises :class:`DefinitionError`.

    Stored figures must match the rules of the definition (:mod:`paytables.figure_binding`).
    """
    source = definition.read_source(id_or_path)
    return _build_from_source(source, _read_game_assets(source) if _has_named_files(source) else ())


#: Size of the cache of games by file contents. There is room for the whole library and some more, because
#: a command loads each game several times. Refused definitions are not cached.
_CACHED_GAMES_MAX: Final = 80

#: The asset files of a game, each with its name.
_NamedAssets: TypeAlias = tuple[tuple[str, SourceFile], ...]


#: Cached because loading one game parses it twice.
_parse_definition_cached: Final = lru_cache(1)(definition.parse)


def _read_game_assets(source: SourceFile) -> _NamedAssets:
    """Return the asset files that a game's definition names, each with its name."""
    return tuple(read_assets(_parse_definition_cached(source), source.path).items())


@lru_cache(_CACHED_GAMES_MAX)
def _has_named_files(source: SourceFile) -> bool:
    """Return whether a definition names asset files, which may change although the definition's text does not."""
    return bool(_read_game_assets(source))


@lru_cache(_CACHED_GAMES_MAX)
def _build_from_source(source: SourceFile, assets: _NamedAssets) -> Game:
    """Build a game from its definition file and its asset files."""
    definition_data, file, asset_by_file_name = (
        _parse_definition_cached(source),
        str(source.path),
        dict(assets),
    )
    game = build_game(
        add_asset_digests(definition_data, asset_by_file_name, file), file, source, asset_by_file_name
    )
    check_binding_digest(definition_data, file)
    game.rules.check_installation(file)
    return game


def play_through(game: Game, wager: Wager, draw: DrawSource, choices: Iterable[Choice] = ()) -> Outcome:
    """Play one game to its end with the given choices and return its outcome.

    Raises :class:`ChoiceError` if the choices do not fit the game's decisions.
    """
    return play_with_choices(game.play(wager, draw), wager, choices)


def analyse(game: Game, depth: AnalysisDepth = AnalysisDepth.FULL) -> Analysis:
    """Return the exact figures of ``game``, computed once for each depth.

    ``AnalysisDepth.RETURN`` takes milliseconds and needs no laboratory package.
    """
    analyses = game._analyses  # noqa: SLF001 (this function fills the fields that a game stores)
    if depth not in analyses:
        analyses[depth] = game.rules.analyse(depth)
    return analyses[depth]


def _iter_help_figure_remarks(game: Game) -> Iterator[DefinitionRemark]:
    """Yield a remark on each number in a game's help text that occurs neither in its definition nor in its pays."""
    known_numbers = (
        help_numbers.find_numbers_in_definition(game.text)
        | help_numbers.find_mentioned_numbers(*game.rules.explain_pays())
        | find_family(game.family).help_figures
    )
    for language, text in help_numbers.read_help_texts(game.text).items():
        if unknown_numbers := [
            number
            for number in help_numbers.list_written_numbers(text)
            if not any(reading <= known_numbers for reading in help_numbers.parse_written_number(number))
        ]:
            remark = (
                f"mentions {', '.join(dict.fromkeys(unknown_numbers))}, which is not a number of the game"
            )
            yield DefinitionRemark(f"game.help.{language}", remark)


def _iter_zero_win_remarks(game: Game) -> Iterator[DefinitionRemark]:
    """Yield a remark on each pay that returns only the stake, such as ``0:1`` and ``x1``."""
    rows = game.build_presentation().get("pays")
    shown_odds = [(f"spot {spot.id}", spot.odds) for spot in game.rules.list_spots()]
    shown_odds += (
        [(str(row["name"]), row["odds"]) for row in rows if "odds" in row] if isinstance(rows, list) else []
    )
    for subject, odds in shown_odds:
        if odds in {"0:1", "x1"}:
            yield DefinitionRemark(subject, f"pays {odds}: a win only returns the stake")


def list_remarks(game: Game, analysis: Analysis | None) -> tuple[DefinitionRemark, ...]:
    """Return remarks on what is legal in a game but may surprise, from its rules and from its figures.

    ``analysis`` may be of any depth, or None if the figures are beyond exact computation.
    """
    remarks = [*game.rules.list_remarks(), *_iter_help_figure_remarks(game), *_iter_zero_win_remarks(game)]
    # A bet that requires another, such as the odds behind a flat bet, may return 100 %: it is never placed alone.
    dependent_spots = {
        name for spot in game.rules.list_spots() if spot.required_spot for name in (spot.id, spot.group)
    }
    for bet in () if analysis is None else analysis.bets:
        if bet.rtp > 1:
            reason = f"returns more than {bet.rtp * 100 // 1:,} %: the player wins in the long run"
            remarks.append(DefinitionRemark(f"bet {bet.bet}", reason))
        elif bet.rtp == 1 and dependent_spots.isdisjoint({bet.bet, bet.bet.partition(" ")[0]}):
            reason = "returns 100 %: the operator keeps nothing"
            remarks.append(DefinitionRemark(f"bet {bet.bet}", reason))
        remarks += [
            DefinitionRemark(
                f"bet {bet.bet}", f"no result wins {p.stage_or_spot} {p.name}: others take its place"
            )
            for p in bet.prizes_never_won
        ]
        win_max = bet.max_win_credits_with_double_up
        if (
            win_max is not None
            and win_max * max(game.denominations_cents) > definition.DEFINITION_CREDITS_MAX
        ):
            remarks.append(
                DefinitionRemark(
                    f"bet {bet.bet}",
                    f"may win {win_max:,} credits: more cents than a ten-digit meter holds",
                )
            )
    return tuple(remarks)
