"""Game definitions kept in the journal: what was begun can always be shown and ended.

The first game of a definition keeps its canonical text with it, compressed, under
:attr:`PlayKey.DEFINITION` and its digest; later games only name the digest. Whatever becomes of the
definition's file, of the cabinet file or of the options, the game goes on by the text it began with. The
texts stay: a machine plays few definitions in its life, and its recall shows games of all of them.
"""

import base64
import binascii
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Final

from egm.errors import LocalError
from egm.kernel.games import InstalledGames
from egm.kernel.machine import Machine
from egm.records.game_record import GameName
from egm.records.keys import PlayKey
from meters.transaction import JSON
from paytables import Game, PaytableError, game_from_text

#: No definition is longer; what says it is was damaged.
_TEXT_MAX_BYTES: Final = 4_000_000
_BUILT: Final = 16


class GameDefectiveError(LocalError):
    """A game in memory that cannot be finished as it was recorded."""


def keeping(machine: Machine, game: Game) -> dict[str, str]:
    """What the start of a game sets in memory to keep its definition; nothing where it is kept already."""
    key = f"{PlayKey.DEFINITION}{game.digest}"
    if machine.journal.state(key) is not None:
        return {}
    return {key: base64.b85encode(zlib.compress(game.text.encode(), 9)).decode("ascii")}


def definition_of(machine: Machine, named: GameName) -> Game:
    """The very game an entry names by id, version and digest: a resident one, or made of the kept text.

    Raises :class:`GameDefectiveError` where neither is to be had.
    """
    resident = machine.games.get(named.id) or machine.state(InstalledGames).games.get(named.id)
    if resident is not None and resident.digest == named.digest:
        return resident
    what = f"{named.id} {named.version} with digest {named.digest[:12]}"
    stored = machine.journal.state(f"{PlayKey.DEFINITION}{named.digest}")
    if not isinstance(stored, str):
        raise GameDefectiveError(f"this machine has no game {what}")
    try:
        game = _built(stored)
    except (PaytableError, ValueError, zlib.error, binascii.Error) as error:
        raise GameDefectiveError(f"the kept definition of {what} cannot be read: {error}") from error
    if game.digest != named.digest:
        raise GameDefectiveError(f"the kept definition of {what} is another's, {game.digest[:12]}")
    return game


def text_of(kept: str) -> str:
    """The canonical text of a kept definition. Raises ValueError or zlib.error for what is none."""
    return zlib.decompressobj().decompress(base64.b85decode(kept), _TEXT_MAX_BYTES).decode()


def other_of_version(kept: Mapping[str, JSON], game: Game) -> str:
    """The digest of another definition that was played as the same version of ``game``, or nothing.

    Meters and returns are told apart by version: what changes a definition is a new one. ``kept`` is the
    journal's state under :attr:`PlayKey.DEFINITION`; what of it cannot be read is passed over.
    """
    for key, text in kept.items():
        digest = key.removeprefix(PlayKey.DEFINITION)
        if digest == game.digest or not isinstance(text, str):
            continue
        with suppress(PaytableError, ValueError, zlib.error, binascii.Error):
            header = _built(text).header
            if (header.id, header.version) == (game.id, game.version):
                return digest
    return ""


def note_same_versions(machine: Machine, games: Iterable[Game]) -> list[Game]:
    """Record each game that is another than this machine has played as its version, until it is played."""
    kept, found = machine.journal.states(PlayKey.DEFINITION), []
    for game in games:
        before = other_of_version(kept, game)
        if before and f"{PlayKey.DEFINITION}{game.digest}" not in kept:
            told = {"game": game.id, "version": game.version, "digest": game.digest, "before": before}
            machine.log("game.same_version", told)
            found.append(game)
    return found


@lru_cache(maxsize=_BUILT)
def _built(kept: str) -> Game:
    return game_from_text(text_of(kept), "the journal")
