"""Admission of games to test machines, computed once per process for equal definitions, rules and levels.

Thousands of test machines use the same few games. :func:`egm.play.installed_games.admit_games` is a pure function
of its input, and its results are immutable, so they are shared.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from egm.config.cabinet_file import GameTable
from egm.config.levels import ProgressiveLevelTable
from egm.play.installed_games import InstalledGame, RefusedGame, admit_games
from egm.profiles import Profile
from paytables.definition import read_source
from paytables.errors import PaytableError

#: Number of cached admissions; a large table's analysis takes some ten megabytes.
_CACHED_ADMISSIONS_MAX = 16


@dataclass(frozen=True, slots=True)
class _AdmissionRequest:
    """The arguments of one call of :func:`admit_games`, used as a cache key.

    Two requests are equal if their ``content`` is equal: all settings, and the digests of all files that the call
    reads.
    """

    content: tuple[str, ...]
    game_tables: tuple[GameTable, ...] = field(compare=False)
    profile: Profile = field(compare=False)
    levels: tuple[ProgressiveLevelTable, ...] = field(compare=False)


def admit_games_cached(
    game_tables: tuple[GameTable, ...], profile: Profile, levels: tuple[ProgressiveLevelTable, ...]
) -> tuple[Mapping[str, InstalledGame], tuple[RefusedGame, ...]]:
    """Return the result of :func:`admit_games` for a cabinet with a wheel.

    If it was called before with equal arguments, the result comes from a cache.
    """
    try:
        digests = tuple(read_source(game_table.game).digest for game_table in game_tables)
    except PaytableError:  # admit_games reports the definition that cannot be read
        return admit_games(game_tables, profile, levels, has_wheel=True)
    content = (repr(game_tables), repr(levels), profile.model_dump_json(), *digests)
    return _admit_request(_AdmissionRequest(content, game_tables, profile, levels))


@lru_cache(maxsize=_CACHED_ADMISSIONS_MAX)
def _admit_request(request: _AdmissionRequest) -> tuple[Mapping[str, InstalledGame], tuple[RefusedGame, ...]]:
    """Return the games that a cabinet with a wheel may offer, and the refused games, from the cache."""
    return admit_games(request.game_tables, request.profile, request.levels, has_wheel=True)
