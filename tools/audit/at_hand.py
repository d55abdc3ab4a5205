"""The definitions an audit has at hand: a shelf's, and those whose text the journal itself has kept."""

import binascii
import zlib
from contextlib import suppress
from functools import lru_cache
from typing import Final

from egm.play.definitions import text_of
from egm.records.keys import PlayKey
from meters import StoredEntry
from paytables import Game, PaytableError, game_from_text
from tools.audit.games import Shelf

#: Definitions made of kept texts that are remembered.
_MADE: Final = 16


class GamesAtHand:
    """Those of a shelf; and those whose text the journal itself has kept, a game of one's own for instance.

    A definition is its text, and an entry names it by digest: what the journal has kept is what was played.
    Whether it is what was certified, only whoever has the certificate can say: ``is_kept_only`` tells which
    to hold against it.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._texts: dict[str, str] = {}
        """As the journal keeps them, by digest."""

    def see(self, entry: StoredEntry) -> None:
        """Keep the definitions that an entry keeps."""
        for key, kept in entry.state.items():
            if key.startswith(PlayKey.DEFINITION) and isinstance(kept, str):
                self._texts[key.removeprefix(PlayKey.DEFINITION)] = kept

    def find(self, game_id: str, digest: str) -> Game | None:
        """Return the very definition of that digest, or None where neither has it."""
        return self._shelf.find(game_id, digest) or self._of_journal(digest)

    def is_kept_only(self, game_id: str, digest: str) -> bool:
        """Whether a definition is at hand from the journal alone."""
        return self._shelf.find(game_id, digest) is None and self._of_journal(digest) is not None

    def _of_journal(self, digest: str) -> Game | None:
        kept = self._texts.get(digest)
        game = None if kept is None else _made(kept)
        return game if game is not None and game.digest == digest else None


@lru_cache(maxsize=_MADE)
def _made(kept: str) -> Game | None:
    """The game of a kept text; None where it is none."""
    with suppress(PaytableError, ValueError, LookupError, TypeError, zlib.error, binascii.Error):
        return game_from_text(text_of(kept), "the journal")
    return None
