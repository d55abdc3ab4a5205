"""Definition of a progressive level: its names, kind and parameters, and the stake and odds at which it is won.

A controller reads its levels from a level file; a machine creates the levels of its games from the games'
definitions (:mod:`egm.progressive.pools`). Both use :class:`LevelDefinition`. The current amounts are stored
elsewhere.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from egm.config.faults import read_toml
from egm.config.levels import LevelId, LevelScope
from egm.errors import OperatorError
from egm.exact import Rational
from egm.progressive.level import LevelTerms, LevelTermsError
from paytables import LevelParticipation, PaytableError, compute_mystery_rate, load_game
from paytables.source import SourceFile, describe_toml_error, is_path, parse_toml, read_contents
from paytables.wording import describe_wrong_value


class LevelFileError(OperatorError):
    """Raised if a file with progressive levels cannot be used; the text names file, key and reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelStakeAndOdds:
    """The stake that plays for a progressive level, and its odds of a hit.

    They are equal on every machine that feeds the level (Québec by-law, s.92).
    """

    stake_cents: int
    """The wager that plays for the level, in minor units."""
    odds: Fraction
    """The exact mean number of hits of the level per wager of ``stake_cents``."""
    hits_per_wager_max: int = 1
    """The most hits of the level that one wager can make; further hits are held until staff have ruled on them."""
    odds_by_share: Mapping[Fraction, Fraction] = field(default_factory=dict)
    """The parts of the level that can also be won, such as 1/10, each with its mean number of hits per wager."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelDefinition:
    """The definition of a progressive level: its id, names and parameters, and the stake and odds of a hit."""

    id: str
    names: Mapping[str, str]
    kind: LevelScope
    terms: LevelTerms
    stake_and_odds: LevelStakeAndOdds


#: Longest name of a level.
_NAME_CHARACTERS_MAX: Final = 200
#: An amount in a level file, minor units; far below the capacity of a store's column.
_LevelCents = Annotated[int, Field(gt=0, le=10**15, strict=True)]
#: A part of a level, such as ``1/10``.
ShareText = Annotated[str, Field(pattern=r"^[1-9]\d*/[1-9]\d*$")]


class _LevelTable(BaseModel):
    """Base class of the tables in a file of progressive levels; an unknown key is refused."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", arbitrary_types_allowed=True)


class _LevelEntry(_LevelTable):
    """One ``[[level]]`` table in a file of progressive levels.

    ``odds`` is the mean number of hits of the level per wager of ``stake_cents``. Without it, the odds are
    those of level ``game_level`` of ``game`` (library id or file). A ``mystery`` level is awarded by the
    controller at a secret amount below its ceiling; its odds follow from base, ceiling, increment and stake.
    ``shares`` are parts of the level that can also be won, each with its mean number of hits.
    """

    id: LevelId
    name: dict[str, Annotated[str, Field(max_length=_NAME_CHARACTERS_MAX)]]
    kind: LevelScope = LevelScope.LINKED
    stake_cents: _LevelCents
    odds: Rational | None = None
    shares: dict[ShareText, Rational] = {}
    game: str | None = None
    game_level: str | None = None
    base_cents: _LevelCents
    increment: Rational
    hidden: Rational = Fraction(0)
    ceiling_cents: _LevelCents | None = None
    mystery: bool = False
    hits_most: Annotated[int, Field(gt=0, strict=True)] = 1


class _LevelFile(_LevelTable):
    """The whole content of a progressive level file."""

    level: Annotated[tuple[_LevelEntry, ...], Field(min_length=1)]


def create_level_source(path: Path) -> SourceFile:
    """Return the file at ``path`` as a source whose content is read only once. Raises :class:`LevelFileError`."""
    try:
        return SourceFile(path.resolve(), read_contents(path))
    except OSError as error:
        raise LevelFileError(f"level file {path}: {error.strerror}") from None


def read_levels(source: SourceFile) -> tuple[LevelDefinition, ...]:
    """Return the progressive levels that a level file defines. Raises :class:`LevelFileError`.

    A relative path of a game in the file is relative to the file's folder.
    """
    data = _parse_level_file(source)
    _, faults = read_toml(source.data.decode(), _LevelFile)
    if faults:
        raise LevelFileError("\n".join(f"level file {source.path}: {fault}" for fault in faults))
    for entry, game_path in _iter_entries_with_game_paths(data):
        entry["game"] = str(source.path.parent / game_path)
    return create_levels(data, str(source.path))


def list_level_and_game_files(source: SourceFile) -> tuple[tuple[str, str], ...]:
    """Return the level file and each game file that it names, as pairs of a name and a path.

    The name is the same on every computer: it does not depend on the folder of the file. Raises
    :class:`LevelFileError`.
    """
    path_by_name = {source.path.name: source.path}
    path_by_name |= {
        written: source.path.parent / written
        for _, written in _iter_entries_with_game_paths(_parse_level_file(source))
    }
    return tuple((f"own/levels/{name.lstrip('/')}", str(path)) for name, path in path_by_name.items())


def _parse_level_file(source: SourceFile) -> dict[str, object]:
    """Return the content of a level file, parsed as TOML."""
    try:
        return parse_toml(source.data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LevelFileError(f"level file {source.path}: {describe_toml_error(error)}") from None


def _iter_entries_with_game_paths(
    level_file_data: Mapping[str, object],
) -> Iterator[tuple[dict[str, object], str]]:
    """Yield each entry of a parsed level file that names its game by a path, together with that path."""
    entries = level_file_data.get("level")
    for entry in entries if isinstance(entries, list) else ():
        game = entry.get("game") if isinstance(entry, dict) else None
        if isinstance(game, str) and is_path(game):
            yield entry, game


def create_levels(level_file_data: Mapping[str, object], file_name: str) -> tuple[LevelDefinition, ...]:
    """Create the progressive levels from parsed TOML; errors name ``file_name``. Raises :class:`LevelFileError`."""
    try:
        entries = _LevelFile.model_validate(level_file_data).level
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        location = ".".join(str(part) for part in first_error["loc"]) or "level"
        fault = describe_wrong_value(first_error["msg"], first_error["input"])
        raise LevelFileError(f"level file {file_name}: {location}: {fault}") from None
    levels: dict[str, LevelDefinition] = {}
    for n, entry in enumerate(entries):
        location = f"level file {file_name}: level.{n} ({entry.id})"
        if entry.id in levels:
            raise LevelFileError(f"{location}: this id is used twice")
        if entry.kind is LevelScope.STAND_ALONE:
            raise LevelFileError(
                f"{location}: kind: must be linked or wide_area, because a stand-alone level has no controller"
            )
        if {"en", "fr"} - entry.name.keys():
            raise LevelFileError(f"{location}: name: must have a text in en and in fr")
        try:
            terms = LevelTerms(
                base_cents=entry.base_cents,
                increment=entry.increment,
                hidden_share=entry.hidden,
                ceiling_cents=entry.ceiling_cents,
                is_mystery=entry.mystery,
            )
        except LevelTermsError as error:
            raise LevelFileError(f"{location}: {error}") from None
        odds, shares = _find_odds(entry, terms, location), _find_shares(entry, location)
        if odds <= 0:
            raise LevelFileError(
                f"{location}: odds: must be above 0, because otherwise nobody can win the level"
            )
        stake_and_odds = LevelStakeAndOdds(
            stake_cents=entry.stake_cents, odds=odds, hits_per_wager_max=entry.hits_most, odds_by_share=shares
        )
        levels[entry.id] = LevelDefinition(
            id=entry.id, names=entry.name, kind=entry.kind, terms=terms, stake_and_odds=stake_and_odds
        )
    return tuple(levels.values())


def compute_mystery_odds(terms: LevelTerms, stake_cents: int) -> Fraction:
    """Return the exact mean number of hits of a mystery level per wager of ``stake_cents``.

    ``terms`` are the parameters of the level, which always starts again from its base.
    """
    room_cents = (terms.ceiling_cents or 0) - terms.base_cents
    return compute_mystery_rate(room_cents / (terms.increment * stake_cents))


def _find_odds(entry: _LevelEntry, terms: LevelTerms, location: str) -> Fraction:
    """Return the odds of a level: as the level file states them, or as its game or its mystery parameters give them."""
    if entry.mystery and entry.odds is not None:
        raise LevelFileError(
            f"{location}: odds: must be omitted, because those of a mystery level follow from its other terms"
        )
    has_game, has_game_level = entry.game is not None, entry.game_level is not None
    if has_game != has_game_level or (entry.odds is None) == (not has_game and not entry.mystery):
        raise LevelFileError(f"{location}: odds: give either odds, or game and game_level")
    if entry.game is not None:
        return _find_odds_of_game(entry, location)
    return compute_mystery_odds(terms, entry.stake_cents) if entry.odds is None else entry.odds


def _find_shares(entry: _LevelEntry, location: str) -> Mapping[Fraction, Fraction]:
    """Return the mean number of hits per wager for each part (share) of the level that can be won separately.

    It is taken from the definition of the entry's game; if the entry names no game, from the level file.
    """
    if entry.game is not None and entry.shares:
        raise LevelFileError(f"{location}: shares: must be omitted, because the game defines them")
    if entry.game is not None:
        return _find_level_play(entry, location).partial_hit_rates
    shares = {Fraction(share): odds for share, odds in entry.shares.items()}
    wrong_share = next((share for share, odds in shares.items() if share >= 1 or odds <= 0), None)
    if wrong_share is not None or (shares and entry.mystery):
        raise LevelFileError(
            f"{location}: shares: {wrong_share or 'a mystery level'}: expected parts below 1 with odds above 0, "
            "and none for a mystery level"
        )
    return shares


def _find_odds_of_game(entry: _LevelEntry, location: str) -> Fraction:
    """Return the mean number of hits per wager that the definition of the entry's game gives at the entry's stake."""
    return _find_level_play(entry, location).hit_rate


def _find_level_play(entry: _LevelEntry, location: str) -> LevelParticipation:
    """Return how the entry's game plays for the level with a wager of the entry's stake: its odds and terms.

    Raises LevelFileError if no bet of that stake plays for the level, or if the game's terms differ from the
    entry's.
    """
    try:
        game = load_game(str(entry.game))
    except PaytableError as error:
        raise LevelFileError(f"{location}: game: {error}") from None
    for cents in game.denominations_cents:
        for play in game.list_every_level():
            if play.level == entry.game_level and play.stake_credits * cents == entry.stake_cents:
                _check_same_as_game(entry, play, cents, location)
                return play
    raise LevelFileError(
        f"{location}: game_level: no bet of {entry.game} at {entry.stake_cents} plays for a level {entry.game_level!r}"
    )


def _check_same_as_game(
    entry: _LevelEntry, play: LevelParticipation, cents_per_credit: int, location: str
) -> None:
    """Raise LevelFileError unless the entry's parameters of the level equal those in its game's definition."""
    if not play.has_single_stake:
        raise LevelFileError(
            f"{location}: game_level: wagers of several prices play for "
            "it; a level of a controller takes one price only"
        )
    if play.increment != entry.increment:
        raise LevelFileError(f"{location}: increment: must be {play.increment}, as in the game")
    if entry.mystery != (play.ceiling_credits is not None):
        raise LevelFileError(f"{location}: mystery: must be {str(not entry.mystery).lower()}, as in the game")
    if play.ceiling_credits is not None:
        terms = (play.reset_credits * cents_per_credit, play.ceiling_credits * cents_per_credit)
        if terms != (entry.base_cents, entry.ceiling_cents):
            raise LevelFileError(
                f"{location}: base_cents, ceiling_cents: the game defines {terms[0]} and {terms[1]}"
            )
