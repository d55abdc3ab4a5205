"""The game definitions available to an audit: from the library, from given folders and from the journal itself."""

import binascii
import zlib
from contextlib import suppress
from functools import lru_cache
from typing import Final

from egm.play.definitions import decode_definition
from egm.play.keys import PlayKey
from meters import StoredEntry
from paytables import Game, PaytableError, build_game_from_json
from tools.audit.games import GameFiles

#: The number of definitions compiled from stored texts that are cached.
_CACHED_DEFINITIONS_MAX: Final = 16


class AvailableGames:
    """Game definitions from files (library and folders) and from the journal, which stores each definition played.

    A definition is identified by the digest of its text. The journal stores that text, so the definition
    found here is the one that was played. Whether it is also the certified one can only be decided with the
    certificate; ``is_only_in_journal`` returns whether a definition must be compared with it.
    """

    def __init__(self, game_files: GameFiles) -> None:
        self._game_files = game_files
        self._stored_text_by_digest: dict[str, str] = {}
        """Definition texts stored in the journal, by digest."""

    def store_definitions(self, entry: StoredEntry) -> None:
        """Add the texts of game definitions that a journal entry contains."""
        for key, stored_text in entry.state.items():
            if key.startswith(PlayKey.GAME_DEFINITION) and isinstance(stored_text, str):
                self._stored_text_by_digest[key.removeprefix(PlayKey.GAME_DEFINITION)] = stored_text

    def find(self, game_id: str, digest: str) -> Game | None:
        """Return the game definition with the digest ``digest``, or None if neither a file nor the journal has it."""
        return self._game_files.find(game_id, digest) or self._find_in_journal(digest)

    def is_only_in_journal(self, game_id: str, digest: str) -> bool:
        """Return whether the game definition with this digest is stored in the journal and in no file."""
        return self._game_files.find(game_id, digest) is None and self._find_in_journal(digest) is not None

    def _find_in_journal(self, digest: str) -> Game | None:
        """Return the game definition that the journal stores under ``digest``, or None if it has no valid one."""
        stored_text = self._stored_text_by_digest.get(digest)
        game = None if stored_text is None else _parse_stored_game(stored_text)
        return game if game is not None and game.digest == digest else None


@lru_cache(maxsize=_CACHED_DEFINITIONS_MAX)
def _parse_stored_game(stored_text: str) -> Game | None:
    """Return the game of a stored definition text, or None if the text is not a valid definition."""
    with suppress(PaytableError, ValueError, LookupError, TypeError, zlib.error, binascii.Error):
        return build_game_from_json(decode_definition(stored_text), "the journal")
    return None
