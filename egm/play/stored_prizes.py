"""Storage of the largest prizes of games: computed once per game definition and stored in the journal.

A result is stored under the digest of the definition, with the digest of the code that computed it; if either
changes, it is computed again. (Returns are computed at every start: see :mod:`egm.play.installed_games`.)
"""

import hashlib
from pathlib import Path
from typing import Any

import paytables
from egm.play.entries import LARGEST_PRIZES_COMPUTED, LargestPrizes, LargestPrizesComputed
from egm.play.keys import PlayKey
from egm.play.prize_limits import ComputeLargestPrizes, compute_largest_prizes
from egm.record_codec import to_json
from egm.verify.digest import compute_digests
from meters import Journal, Transaction
from paytables import Game


def build_prize_computer_with_cache(
    journal: Journal, compute_prizes: ComputeLargestPrizes = compute_largest_prizes
) -> ComputeLargestPrizes:
    """Return a function that computes largest prizes with ``compute_prizes`` and stores the results in the journal.

    A stored result is used again for the same game definition and the same version of the code.
    """
    code_digest = compute_code_digest()

    def get_largest_prizes(game: Game) -> tuple[tuple[int | None, int], ...]:
        """Return the largest prizes of a game: the stored ones, or else newly computed and stored.

        For each way to bet: a pair of the prize (None if it cannot be computed exactly) and the cost, in credits.
        """
        key = f"{PlayKey.LARGEST_PRIZES}{game.digest}"
        stored_record: Any = journal.state(key)
        if stored_record is not None and stored_record["code"] == code_digest:
            return tuple((win, cost) for win, cost in stored_record["prizes"])
        largest_prizes = compute_prizes(game)
        record = LargestPrizesComputed(
            game_id=game.id, digest=game.digest, code_digest=code_digest, prizes=largest_prizes
        )
        journal.append(
            Transaction(
                id=journal.fresh_id(LARGEST_PRIZES_COMPUTED.kind),
                kind=LARGEST_PRIZES_COMPUTED.kind,
                state={key: to_json(LargestPrizes(code_digest=code_digest, prizes=largest_prizes))},
                record=to_json(record),
            )
        )
        return largest_prizes

    return get_largest_prizes


def compute_code_digest() -> str:
    """Return the SHA-256 digest of the code that plays and analyses games."""
    root = Path(paytables.__file__).parent
    path_by_name = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    digest_lines = (f"{digest}  {name}\n" for name, digest in compute_digests(path_by_name).items())
    return hashlib.sha256("".join(digest_lines).encode()).hexdigest()
