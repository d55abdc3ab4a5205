"""A loaded game: its definition, and the rules its family made of it."""

import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel

from paytables import definition, prose
from paytables.analysis import Analysis, BetAnalysis, Depth
from paytables.assets import read_assets, with_digests
from paytables.carried import check_bound, figures_of
from paytables.contract import (
    Bet,
    Choice,
    Draw,
    Json,
    LevelPlay,
    Outcome,
    Play,
    PrizeInKind,
    Remark,
    Settlement,
    Spot,
    Wager,
    drive,
)
from paytables.definition import Definition
from paytables.errors import DefinitionError
from paytables.layout import Limits, TableDefinition
from paytables.source import Source
from paytables.wording import among, counted

#: family name of a definition -> the module that plays it, which defines ``FAMILY``.
FAMILIES: Final[Mapping[str, str]] = {
    "baccarat": "paytables.bank.baccarat",
    "blackjack": "paytables.blackjack",
    "craps": "paytables.craps",
    "keno": "paytables.keno",
    "pai-gow": "paytables.poker.tiles",
    "pai-gow-poker": "paytables.poker.paigow",
    "poker": "paytables.poker.table",
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


D = TypeVar("D", bound=Definition)


class Rules(Protocol):
    """A definition made playable by its family."""

    @property
    def bet_options(self) -> tuple[int, ...]:
        """Every total bet the game offers, in credits, ascending."""

    def wager(self, credits_: int, **options: Json) -> Wager:
        """Return the wager of that many credits. Raises WagerError when the game does not offer it."""

    def play(self, wager: Wager, draw: Draw) -> Play:
        """Play one round: a generator of steps (:mod:`paytables.contract.round`)."""

    def layout(self) -> tuple[Spot, ...]:
        """Return the spots of a table, as it stands; nothing where a wager is one whole."""

    @property
    def by_wheel(self) -> bool:
        """Whether a real wheel decides a round: it asks :data:`WHEEL_DECIDES`, and the wheel answers."""

    @property
    def betting_seconds(self) -> int | None:
        """How long several seats place bets on one round; None where each plays by itself."""

    @property
    def shared_keys(self) -> frozenset[str]:
        """Which keys of ``Outcome.table`` all who play at a table have in common: its shoe, its point."""

    @property
    def bound_keys(self) -> frozenset[str]:
        """Which of them a player's standing bets hang on: they keep it where they have missed a round."""

    def seated(self, wager: Wager, seat: int, others: Mapping[int, Wager]) -> Wager:
        """Return the wager of a seat for the round it plays with the wagers of other seats."""

    def at(self, table: object) -> "Rules":
        """Return the rules as a round has left the table (``Outcome.table``); None: as it opens.

        Raises ValueError for what no round of this game leaves.
        """

    def standing(self) -> tuple[Bet, ...]:
        """Return the bets that stay on the table from the rounds before."""

    def as_it_stands(self) -> Mapping[str, object]:
        """Return what a screen must know of the table as it stands, beside spots and bets (FELTS.md)."""

    def take_down(self) -> tuple[tuple[Settlement, ...], Json]:
        """Return what a player who leaves is given back of standing bets, and the table without them.

        What the rules do not let him take down stays in the table and stands in no settlement.
        """

    def after_double_up(self, win_credits: int) -> int:
        """Return the most that any win of up to so many credits can be doubled to; itself where none is."""

    def levels(self, wager: Wager) -> tuple[LevelPlay, ...]:
        """Return the progressive levels a wager plays for, in the definition's order."""

    def every_level(self) -> tuple[LevelPlay, ...]:
        """Return each level at each stake that some wager plays for it."""

    def prizes_in_kind(self) -> tuple[PrizeInKind, ...]:
        """Return the things the game can give, in the definition's order."""

    def presentation(self) -> dict[str, object]:
        """Return what a screen needs to draw the game before anything was played, as JSON data."""

    def explain(self) -> tuple[str, ...]:
        """Return what the game pays, in sentences a designer can hold against his sheet."""

    def remarks(self) -> tuple[Remark, ...]:
        """Return what is legal in the definition and may surprise."""

    def analyse(self, depth: Depth) -> Analysis:
        """Return the exact figures, as far as ``depth`` asks."""

    def reserve(self, wager: Wager) -> int:
        """Return what the certified play of a wager may still stake in its round, in credits: a raise."""

    def most_on(self, credits_: int) -> Mapping[str, int]:
        """Return the most that may be bet on each spot where a round may cost so many credits; 0: nothing.

        Only of tables where a round may cost more than one bet.
        """

    def most_staked(self, credits_: int) -> int:
        """Return the most that one round can stake within so many credits, raises included."""

    def most_of_round(self, wager: Wager) -> int | None:
        """Return the most credits a round of a wager may give back to a seat, what stands included.

        Never too low; None: beyond reach.
        """

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the return and variance of any wager; the variance is None where it is beyond reach."""


def _as_it_is(data: Mapping[str, object], file: str) -> Mapping[str, object]:  # noqa: ARG001 (no shorthand)
    return data


@dataclass(frozen=True, slots=True)
class Family(Generic[D]):
    """A kind of game: the ``model`` of its definition, and what makes its rules.

    The model's JSON Schema is published for editors. ``build`` makes the rules of a checked definition, and
    raises :class:`DefinitionError` for what the model alone cannot see; ``prepare`` expands the family's
    shorthand before the model checks the data. Both are given the file, to name it in refusals.
    """

    model: type[D]
    build: Callable[[D, str], Rules]
    prepare: Callable[[Mapping[str, Any], str], Mapping[str, Any]] = _as_it_is
    figures: frozenset[int] = frozenset()
    """Numbers of its rules that no definition has, and that help may name: tiles, the worth of a card."""


@dataclass(frozen=True, slots=True)
class Game:
    """One game, ready to be played; the definition file is all it depends on.

    ``text`` is the definition in canonical JSON, from which :func:`game_from_text` makes the same game again;
    ``digest`` is the SHA-256 over it.
    """

    header: definition.Header
    digest: str
    rules: Rules
    text: str
    source: Source | None = field(default=None, compare=False)
    """The file it was read from, as it was read; None for a game made of data."""
    art: definition.Art = field(default=definition.Art(), compare=False)
    assets: Mapping[str, Source] = field(default_factory=dict, compare=False)
    """Its own pictures and sounds by file name, as they were read; empty for a game made of data."""
    _analyses: dict[Depth, Analysis] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The figures of these rules computed so far (:func:`analyse`)."""

    @property
    def id(self) -> str:
        """The game's id, unique in a cabinet."""
        return self.header.id

    @property
    def version(self) -> str:
        """The definition's version."""
        return self.header.version

    @property
    def family(self) -> str:
        """The family that plays it."""
        return self.header.family

    @property
    def title(self) -> dict[str, str]:
        """The name, by language."""
        return self.header.title.model_dump()

    @property
    def help(self) -> dict[str, str]:
        """The rules as the player reads them, by language."""
        return self.header.help.model_dump()

    @property
    def denominations_cents(self) -> tuple[int, ...]:
        """The credit values the game may be offered at, in minor units."""
        return self.header.denominations_cents

    @property
    def bet_options(self) -> tuple[int, ...]:
        """Every total bet the game offers, in credits, ascending."""
        return self.rules.bet_options

    def wager(self, credits_: int, **options: Json) -> Wager:
        """Return a wager of ``credits_``. Raises :class:`WagerError` when the game does not offer it."""
        return self.rules.wager(credits_, **options)

    def round_cost(self, credits_: int) -> int:
        """Return what a round of the bet offered at that cost may come to cost, played as certified."""
        return credits_ + self.rules.reserve(self.rules.wager(credits_))

    def play(self, wager: Wager, draw: Draw) -> Play:
        """Play one round: a generator of steps that returns the outcome."""
        return self.rules.play(wager, draw)

    def at(self, table: object) -> "Game":
        """Return the game as a round has left its table. Raises ValueError for what no round leaves."""
        rules = self.rules.at(table)
        return self if rules is self.rules else replace(self, rules=rules)

    def after_double_up(self, win_credits: int) -> int:
        """Return the most that any win of up to so many credits can be doubled to; itself where none is."""
        return self.rules.after_double_up(win_credits)

    def levels(self, wager: Wager) -> tuple[LevelPlay, ...]:
        """Return the progressive levels a wager plays for, in the definition's order."""
        return self.rules.levels(wager)

    def every_level(self) -> tuple[LevelPlay, ...]:
        """Return each level at each stake that some wager plays for it."""
        return self.rules.every_level()

    def prizes_in_kind(self) -> tuple[PrizeInKind, ...]:
        """Return the things the game can give, in the definition's order."""
        return self.rules.prizes_in_kind()

    def presentation(self) -> dict[str, object]:
        """Return what a screen needs before anything was played, as JSON data."""
        return self.rules.presentation()


def family(name: str, file: str = "") -> Family[Any]:
    """Return the family of that name. Raises :class:`DefinitionError` when there is none."""
    if name not in FAMILIES:
        raise DefinitionError(file, "game.family", f"no family {name!r}; {among(name, sorted(FAMILIES))}")
    found: Family[Any] = importlib.import_module(FAMILIES[name]).FAMILY
    return found


def game_from(
    data: Mapping[str, Any],
    file: str,
    source: Source | None = None,
    assets: Mapping[str, Source] = MappingProxyType({}),
) -> Game:
    """Make a game of parsed TOML; ``file`` names it in refusals, ``source`` is what was parsed."""
    kind = family(definition.header_value(data, file, "family"), file)
    checked = definition.check(kind.model, kind.prepare(figures_of(data), file), file)
    symbols = [symbol.id for symbol in getattr(checked, "symbol", ())]
    for name in checked.art.pictures:
        if name not in symbols:
            raise DefinitionError(file, f"art.pictures.{name}", f"no symbol {name!r}; {among(name, symbols)}")
    rules = kind.build(checked, file)
    if isinstance(checked, TableDefinition):
        _sums_are_made(checked, checked.game.denominations_cents, file)
    return Game(
        header=checked.game,
        digest=definition.digest_of(data),
        rules=rules,
        text=definition.canonical_text(data),
        source=source,
        art=checked.art,
        assets=assets,
    )


def _sums_are_made(part: object, denominations_cents: Sequence[int], file: str, key: str = "") -> None:
    """Refuse a bet of a sum that its limits make up at no denomination. Raises :class:`DefinitionError`."""
    if isinstance(part, Limits):
        worth, stakes = part.worth_cents, range(part.least, part.most + 1, part.step)
        if worth and not any(
            worth % cents == 0 and worth // cents in stakes for cents in denominations_cents
        ):
            raise DefinitionError(
                file,
                f"{key}.worth_cents",
                f"no bet of {part.least:,} to {counted(part.most, 'credit')} is worth {worth} minor units "
                f"at any of {list(denominations_cents)}",
            )
    elif isinstance(part, BaseModel | tuple):
        for name, inner in part if isinstance(part, BaseModel) else enumerate(part):
            _sums_are_made(inner, denominations_cents, file, f"{key}.{name}" if key else str(name))


def game_from_text(text: str, file: str) -> Game:
    """Make a game of its canonical text; ``file`` names it in refusals. Raises :class:`DefinitionError`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DefinitionError(file, "JSON", str(error)) from None
    if not isinstance(data, dict):
        raise DefinitionError(file, "definition", "is not a table")
    return game_from(data, file)


def load_game(name: str | Path) -> Game:
    """Load a game by library id or path (:mod:`paytables.source`). Raises :class:`DefinitionError`.

    Figures that its file carries must be bound to it (:mod:`paytables.carried`).
    """
    source = definition.source_of(name)
    return _game_of(source, _assets_of(source) if _names_files(source) else ())


#: Games stored by what was read of them, the whole library and some more: a command loads each several times.
#: Refused definitions are not stored.
_GAMES_STORED: Final = 80

_Assets: TypeAlias = tuple[tuple[str, Source], ...]


#: What loading one game reads twice.
_parsed: Final = lru_cache(1)(definition.parse)


def _assets_of(source: Source) -> _Assets:
    return tuple(read_assets(_parsed(source), source.path).items())


@lru_cache(_GAMES_STORED)
def _names_files(source: Source) -> bool:
    """Whether a definition has files beside it, which may be others while it is the same."""
    return bool(_assets_of(source))


@lru_cache(_GAMES_STORED)
def _game_of(source: Source, assets: _Assets) -> Game:
    """Make the game of a file and the files beside it, by their paths and contents."""
    data, file, files = _parsed(source), str(source.path), dict(assets)
    game = game_from(with_digests(data, files, file), file, source, files)
    check_bound(data, file)
    return game


def play_through(game: Game, wager: Wager, draw: Draw, choices: Iterable[Choice] = ()) -> Outcome:
    """Play one game to its end with the given choices. Raises :class:`ChoiceError` when they do not fit."""
    return drive(game.play(wager, draw), wager, choices)


def analyse(game: Game, depth: Depth = Depth.FULL) -> Analysis:
    """Return the exact figures of ``game``, computed once for each depth.

    ``Depth.RETURN`` takes milliseconds and no laboratory package.
    """
    analyses = game._analyses  # noqa: SLF001 (a game stores them and this function fills them)
    if depth not in analyses:
        analyses[depth] = game.rules.analyse(depth)
    return analyses[depth]


def _figures_in_help(game: Game) -> Iterator[Remark]:
    """Figures in the help's own prose that neither the definition nor what it pays has: left from before."""
    known = prose.known(game.text) | prose.figures(*game.rules.explain()) | family(game.family).figures
    for code, text in prose.help_of(game.text).items():
        if strange := [
            figure
            for figure in prose.written(text)
            if not any(each <= known for each in prose.readings(figure))
        ]:
            words = f"says {', '.join(dict.fromkeys(strange))}, which is no number of the game"
            yield Remark(f"game.help.{code}", words)


def _wins_of_nothing(game: Game) -> Iterator[Remark]:
    """Odds at which a win gives back the stake and no more, as ``0:1`` and ``x1`` do."""
    rows = game.presentation().get("pays")
    shown = [(f"spot {spot.id}", spot.odds) for spot in game.rules.layout()]
    shown += (
        [(str(row["name"]), row["odds"]) for row in rows if "odds" in row] if isinstance(rows, list) else []
    )
    for what, odds in shown:
        if odds in {"0:1", "x1"}:
            yield Remark(what, f"pays {odds}: whoever wins it gets the stake back and wins nothing")


def remarks(game: Game, analysis: Analysis | None) -> tuple[Remark, ...]:
    """Return what is legal in a game and may surprise: its family's remarks, and what its figures say.

    ``analysis`` is at any depth, or None where the figures are beyond exact reach.
    """
    found = [*game.rules.remarks(), *_figures_in_help(game), *_wins_of_nothing(game)]
    #: Odds behind a line bet pay what they risk, and are never bet alone.
    beside = {name for spot in game.rules.layout() if spot.needs for name in (spot.id, spot.group)}
    for bet in () if analysis is None else analysis.bets:
        if bet.rtp > 1:
            words = f"returns more than {bet.rtp * 100 // 1:,} %: the player wins in the long run"
            found.append(Remark(f"bet {bet.bet}", words))
        elif bet.rtp == 1 and beside.isdisjoint({bet.bet, bet.bet.partition(" ")[0]}):
            words = "returns 100 %: all that is wagered comes back, and the house keeps nothing"
            found.append(Remark(f"bet {bet.bet}", words))
        found += [
            Remark(f"bet {bet.bet}", f"no result wins {p.where} {p.name}: others take its place")
            for p in bet.never_won
        ]
        most = bet.most_credits
        if most is not None and most * max(game.denominations_cents) > definition.CREDITS_MAX:
            found.append(
                Remark(
                    f"bet {bet.bet}",
                    f"may win {most:,} credits: more cents than a ten-digit meter holds",
                )
            )
    return tuple(found)
