"""Definition of a progressive level: its names, scope and parameters, the stake that plays for it, and its hit rate.

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

from egm.config.levels import LevelId, LevelScope
from egm.config.mistakes import read_toml
from egm.errors import OperatorError
from egm.exact import Rational
from egm.progressive.level import LevelTerms, LevelTermsError
from paytables import LevelParticipation, PaytableError, compute_mystery_rate, load_game
from paytables.source import SourceFile, describe_toml_error, is_path, parse_toml, read_contents
from paytables.wording import describe_wrong_value


class LevelFileError(OperatorError):
    """Raised if a file with progressive levels cannot be used; the text names file, key and reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelStakeAndHitRate:
    """The stake that plays for a progressive level, and the level's hit rate at this stake.

    They are equal on every machine that feeds the level (Québec by-law, s.92).
    """

    stake_cents: int
    """The wager that plays for the level, in minor units."""
    hit_rate: Fraction
    """The exact mean number of hits of the level per wager of ``stake_cents``."""
    hits_per_wager_max: int = 1
    """The maximum number of hits of the level by one wager; further hits are held until staff have ruled on them."""
    hit_rate_by_share: Mapping[Fraction, Fraction] = field(default_factory=dict)
    """The hit rates of the shares of the level that can also be won, such as 1/10, per wager of ``stake_cents``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelDefinition:
    """The definition of a progressive level: its id, names and parameters, its stake and its hit rate."""

    id: str
    names: Mapping[str, str]
    scope: LevelScope
    terms: LevelTerms
    stake_and_hit_rate: LevelStakeAndHitRate


#: Longest name of a level.
_NAME_CHARACTERS_MAX: Final = 200
#: An amount in a level file, minor units; far below the capacity of a store's column.
_LevelCents = Annotated[int, Field(gt=0, le=10**15, strict=True)]
#: A share of a level, such as ``1/10``.
ShareText = Annotated[str, Field(pattern=r"^[1-9]\d*/[1-9]\d*$")]


class _LevelFileTable(BaseModel):
    """Base class of the tables in a file of progressive levels; an unknown key is refused."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", arbitrary_types_allowed=True)


class _LevelTable(_LevelFileTable):
    """One ``[[level]]`` table in a file of progressive levels.

    ``odds`` is the hit rate: the mean number of hits per wager of ``stake_cents``. Without it, the hit rate is
    that of level ``game_level`` of ``game`` (library id or file). A ``mystery`` level is awarded by the
    controller at a secret amount below its ceiling; its hit rate follows from base, ceiling, increment and stake.
    ``shares`` are shares of the level that can also be won, each with its hit rate.
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


class _LevelFile(_LevelFileTable):
    """The whole content of a progressive level file."""

    level: Annotated[tuple[_LevelTable, ...], Field(min_length=1)]


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
    _, mistakes = read_toml(source.data.decode(), _LevelFile)
    if mistakes:
        raise LevelFileError("\n".join(f"level file {source.path}: {mistake}" for mistake in mistakes))
    for level_table, game_path in _iter_level_tables_with_game_paths(data):
        level_table["game"] = str(source.path.parent / game_path)
    return create_levels(data, str(source.path))


def list_level_and_game_files(source: SourceFile) -> tuple[tuple[str, str], ...]:
    """Return the level file and each game file that it names, as pairs of a name and a path.

    The name is the same on every computer: it does not depend on the folder of the file. Raises
    :class:`LevelFileError`.
    """
    path_by_name = {source.path.name: source.path}
    path_by_name |= {
        written_path: source.path.parent / written_path
        for _, written_path in _iter_level_tables_with_game_paths(_parse_level_file(source))
    }
    return tuple((f"own/levels/{name.lstrip('/')}", str(path)) for name, path in path_by_name.items())


def _parse_level_file(source: SourceFile) -> dict[str, object]:
    """Return the content of a level file, parsed as TOML."""
    try:
        return parse_toml(source.data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LevelFileError(f"level file {source.path}: {describe_toml_error(error)}") from None


def _iter_level_tables_with_game_paths(
    level_file_data: Mapping[str, object],
) -> Iterator[tuple[dict[str, object], str]]:
    """Yield each ``[[level]]`` table of a parsed level file that names its game by a path, together with that path."""
    level_tables = level_file_data.get("level")
    for level_table in level_tables if isinstance(level_tables, list) else ():
        game_id_or_path = level_table.get("game") if isinstance(level_table, dict) else None
        if isinstance(game_id_or_path, str) and is_path(game_id_or_path):
            yield level_table, game_id_or_path


def create_levels(level_file_data: Mapping[str, object], file_name: str) -> tuple[LevelDefinition, ...]:
    """Create the progressive levels from parsed TOML; errors name ``file_name``. Raises :class:`LevelFileError`."""
    try:
        level_tables = _LevelFile.model_validate(level_file_data).level
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        location = ".".join(str(part) for part in first_error["loc"]) or "level"
        mistake = describe_wrong_value(first_error["msg"], first_error["input"])
        raise LevelFileError(f"level file {file_name}: {location}: {mistake}") from None
    level_by_id: dict[str, LevelDefinition] = {}
    for table_index, level_table in enumerate(level_tables):
        location = f"level file {file_name}: level.{table_index} ({level_table.id})"
        if level_table.id in level_by_id:
            raise LevelFileError(f"{location}: this id is used twice")
        if level_table.kind is LevelScope.STAND_ALONE:
            raise LevelFileError(
                f"{location}: kind: must be linked or wide_area, because a stand-alone level has no controller"
            )
        if {"en", "fr"} - level_table.name.keys():
            raise LevelFileError(f"{location}: name: must have a text in en and in fr")
        try:
            terms = LevelTerms(
                base_cents=level_table.base_cents,
                increment=level_table.increment,
                hidden_increment=level_table.hidden,
                ceiling_cents=level_table.ceiling_cents,
                is_mystery=level_table.mystery,
            )
        except LevelTermsError as error:
            raise LevelFileError(f"{location}: {error}") from None
        hit_rate, hit_rate_by_share = (
            _find_hit_rate(level_table, terms, location),
            _find_hit_rate_by_share(level_table, location),
        )
        if hit_rate <= 0:
            raise LevelFileError(
                f"{location}: odds: must be above 0, because otherwise nobody can win the level"
            )
        stake_and_hit_rate = LevelStakeAndHitRate(
            stake_cents=level_table.stake_cents,
            hit_rate=hit_rate,
            hits_per_wager_max=level_table.hits_most,
            hit_rate_by_share=hit_rate_by_share,
        )
        level_by_id[level_table.id] = LevelDefinition(
            id=level_table.id,
            names=level_table.name,
            scope=level_table.kind,
            terms=terms,
            stake_and_hit_rate=stake_and_hit_rate,
        )
    return tuple(level_by_id.values())


def compute_mystery_hit_rate(terms: LevelTerms, stake_cents: int) -> Fraction:
    """Return the exact mean number of hits of a mystery level per wager of ``stake_cents``.

    ``terms`` are the parameters of the level, which always starts again from its base.
    """
    room_cents = (terms.ceiling_cents or 0) - terms.base_cents
    return compute_mystery_rate(room_cents / (terms.increment * stake_cents))


def _find_hit_rate(level_table: _LevelTable, terms: LevelTerms, location: str) -> Fraction:
    """Return a level's hit rate: as the level file states it, or as its game or its mystery parameters give it."""
    if level_table.mystery and level_table.odds is not None:
        raise LevelFileError(
            f"{location}: odds: must be omitted, because the odds of a mystery level follow from its other terms"
        )
    has_game, has_game_level = level_table.game is not None, level_table.game_level is not None
    if has_game != has_game_level or (level_table.odds is None) == (not has_game and not level_table.mystery):
        raise LevelFileError(f"{location}: odds: give either odds, or game and game_level")
    if level_table.game is not None:
        return _find_hit_rate_in_game(level_table, location)
    return (
        compute_mystery_hit_rate(terms, level_table.stake_cents)
        if level_table.odds is None
        else level_table.odds
    )


def _find_hit_rate_by_share(level_table: _LevelTable, location: str) -> Mapping[Fraction, Fraction]:
    """Return the hit rate of each share of the level that can be won separately.

    It is taken from the definition of the table's game; if the table names no game, from the level file.
    """
    if level_table.game is not None and level_table.shares:
        raise LevelFileError(f"{location}: shares: must be omitted, because the game defines them")
    if level_table.game is not None:
        return _find_participation(level_table, location).partial_hit_rates
    hit_rate_by_share = {Fraction(share): hit_rate for share, hit_rate in level_table.shares.items()}
    wrong_share = next(
        (share for share, hit_rate in hit_rate_by_share.items() if share >= 1 or hit_rate <= 0), None
    )
    if wrong_share is not None or (hit_rate_by_share and level_table.mystery):
        raise LevelFileError(
            f"{location}: shares: {wrong_share or 'a mystery level'}: expected parts below 1 with odds above 0, "
            "and none for a mystery level"
        )
    return hit_rate_by_share


def _find_hit_rate_in_game(level_table: _LevelTable, location: str) -> Fraction:
    """Return the mean number of hits per wager that the definition of the table's game gives at the table's stake."""
    return _find_participation(level_table, location).hit_rate


def _find_participation(level_table: _LevelTable, location: str) -> LevelParticipation:
    """Return how the table's game plays for the level with a wager of the table's stake: its hit rate and terms.

    Raises LevelFileError if no bet of that stake plays for the level, or if the game's terms differ from the
    table's.
    """
    try:
        game = load_game(str(level_table.game))
    except PaytableError as error:
        raise LevelFileError(f"{location}: game: {error}") from None
    for cents in game.denominations_cents:
        for participation in game.list_every_level():
            if (
                participation.level == level_table.game_level
                and participation.stake_credits * cents == level_table.stake_cents
            ):
                _check_terms_of_game(level_table, participation, cents, location)
                return participation
    raise LevelFileError(
        f"{location}: game_level: no bet of {level_table.game} at {level_table.stake_cents} plays for a level "
        f"{level_table.game_level!r}"
    )


def _check_terms_of_game(
    level_table: _LevelTable, participation: LevelParticipation, cents_per_credit: int, location: str
) -> None:
    """Raise LevelFileError unless the table's parameters of the level equal those in its game's definition."""
    if not participation.has_single_stake:
        raise LevelFileError(
            f"{location}: game_level: wagers of several prices play for "
            "it; a level of a controller takes one price only"
        )
    if participation.increment != level_table.increment:
        raise LevelFileError(f"{location}: increment: must be {participation.increment}, as in the game")
    if level_table.mystery != (participation.ceiling_credits is not None):
        raise LevelFileError(
            f"{location}: mystery: must be {str(not level_table.mystery).lower()}, as in the game"
        )
    if participation.ceiling_credits is not None:
        base_cents = participation.reset_credits * cents_per_credit
        ceiling_cents = participation.ceiling_credits * cents_per_credit
        if (base_cents, ceiling_cents) != (level_table.base_cents, level_table.ceiling_cents):
            raise LevelFileError(
                f"{location}: base_cents, ceiling_cents: the game defines {base_cents} and {ceiling_cents}"
            )
