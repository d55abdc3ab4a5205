"""Game definitions stored in the journal, so that every started game can be shown and completed.

The first game played with a definition stores the definition's canonical text, compressed, under
:attr:`PlayKey.GAME_DEFINITION` and its digest; later games only refer to the digest. If the definition's file, the
cabinet file or the options change, an open game continues with the stored text. The texts are never deleted,
because the recall shows old games.
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
from egm.kernel.machine import PositionMachine
from egm.play.entries import GAME_VERSION_CONFLICT, VersionConflict
from egm.play.keys import PlayKey
from egm.play.records.game_record import GameReference
from meters.transaction import JSON
from paytables import Game, PaytableError, build_game_from_json

#: Upper limit of a definition's text; a longer one is damaged.
_DEFINITION_TEXT_BYTES_MAX: Final = 4_000_000
#: Number of stored definitions whose games are cached.
_CACHED_GAMES_MAX: Final = 16


class GameDefectiveError(LocalError):
    """Raised if a recorded game cannot be completed as recorded."""


def build_definition_change(machine: PositionMachine, game: Game) -> dict[str, str]:
    """Return the state change that stores a game's definition; empty if it is stored already."""
    key = f"{PlayKey.GAME_DEFINITION}{game.digest}"
    if machine.journal.state(key) is not None:
        return {}
    return {key: base64.b85encode(zlib.compress(game.text.encode(), 9)).decode("ascii")}


def find_definition(machine: PositionMachine, game_reference: GameReference) -> Game:
    """Return the game definition that a journal entry names by id, version and digest.

    If no installed game has this digest, the definition is built from the text stored in the journal. Raises
    :class:`GameDefectiveError` if the text is missing or damaged.
    """
    installed_game = machine.games.get(game_reference.id) or machine.component(InstalledGames).game_by_id.get(
        game_reference.id
    )
    if installed_game is not None and installed_game.digest == game_reference.digest:
        return installed_game
    description = f"{game_reference.id} {game_reference.version} with digest {game_reference.digest[:12]}"
    stored_text = machine.journal.state(f"{PlayKey.GAME_DEFINITION}{game_reference.digest}")
    if not isinstance(stored_text, str):
        raise GameDefectiveError(f"game not installed or stored: {description}")
    try:
        game = build_stored_game(stored_text)
    except (PaytableError, ValueError, zlib.error, binascii.Error) as error:
        raise GameDefectiveError(f"the stored definition of {description} cannot be read: {error}") from error
    if game.digest != game_reference.digest:
        raise GameDefectiveError(
            f"the stored definition of {description} has another digest, {game.digest[:12]}"
        )
    return game


def decode_definition(stored_text: str) -> str:
    """Return the canonical text of a game definition as stored in the journal, decompressed.

    Raises ValueError or zlib.error if it is damaged.
    """
    return zlib.decompressobj().decompress(base64.b85decode(stored_text), _DEFINITION_TEXT_BYTES_MAX).decode()


def find_conflicting_digest(definitions: Mapping[str, JSON], game: Game) -> str:
    """Return the digest of a different definition that was played under this game's id and version; empty if none was.

    Meters and returns are separated by version, so every changed definition needs a new version.
    ``definitions`` is the journal's state under :attr:`PlayKey.GAME_DEFINITION`; damaged definitions in it are
    ignored.
    """
    for key, text in definitions.items():
        digest = key.removeprefix(PlayKey.GAME_DEFINITION)
        if digest == game.digest or not isinstance(text, str):
            continue
        with suppress(PaytableError, ValueError, zlib.error, binascii.Error):
            header = build_stored_game(text).header
            if (header.id, header.version) == (game.id, game.version):
                return digest
    return ""


def record_conflicting_versions(machine: PositionMachine, games: Iterable[Game]) -> list[Game]:
    """Record and return each game whose version was played here before with a different definition.

    A journal entry about the game is written at every start until the new definition has been played.
    """
    definitions, conflicting_games = machine.journal.states(PlayKey.GAME_DEFINITION), []
    for game in games:
        earlier_digest = find_conflicting_digest(definitions, game)
        if earlier_digest and f"{PlayKey.GAME_DEFINITION}{game.digest}" not in definitions:
            machine.post(
                GAME_VERSION_CONFLICT,
                VersionConflict(
                    game_id=game.id, version=game.version, digest=game.digest, earlier_digest=earlier_digest
                ),
            )
            conflicting_games.append(game)
    return conflicting_games


@lru_cache(maxsize=_CACHED_GAMES_MAX)
def build_stored_game(stored_text: str) -> Game:
    """Return the game that a definition text stored in the journal describes; results are cached.

    Raises PaytableError, ValueError or zlib.error if the text is damaged or is not a definition.
    """
    return build_game_from_json(decode_definition(stored_text), "the journal")
