"""Admit games to test machines, computed once per process for equal definitions, rules and levels.

Thousands of test machines are built from the same few games. :func:`egm.play.installed_games.admit` is a pure
function of what it reads, and its results are immutable, so they are shared.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from egm.config.cabinet_file import GameSlot
from egm.config.levels import LevelSlot
from egm.play.installed_games import InstalledGame, Refusal, admit
from egm.profiles import Profile
from paytables.definition import source_of
from paytables.errors import PaytableError

#: Number of admissions cached; the analysis of a large table takes about ten megabytes.
_ADMISSIONS = 16


@dataclass(frozen=True, slots=True)
class _Request:
    """The arguments of an admission; two are equal if everything they lead to reading is equal."""

    content: tuple[str, ...]
    slots: tuple[GameSlot, ...] = field(compare=False)
    profile: Profile = field(compare=False)
    levels: tuple[LevelSlot, ...] = field(compare=False)


def admit_once(
    slots: tuple[GameSlot, ...], profile: Profile, levels: tuple[LevelSlot, ...]
) -> tuple[Mapping[str, InstalledGame], tuple[Refusal, ...]]:
    """Return the result of ``admit`` for a cabinet with a wheel."""
    try:
        digests = tuple(source_of(slot.game).digest for slot in slots)
    except PaytableError:  # a missing definition: admit reports it
        return admit(slots, profile, levels, has_wheel=True)
    content = (repr(slots), repr(levels), profile.model_dump_json(), *digests)
    return _admit(_Request(content, slots, profile, levels))


@lru_cache(maxsize=_ADMISSIONS)
def _admit(request: _Request) -> tuple[Mapping[str, InstalledGame], tuple[Refusal, ...]]:
    return admit(request.slots, request.profile, request.levels, has_wheel=True)
