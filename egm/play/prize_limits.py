"""The largest prize of a game, which some jurisdictions limit: computed once per definition, then cached.

The computation searches a game's reel windows, which takes some seconds and no laboratory package. The result
is stored in the journal, chained and signed like everything there, under the digests of the definition and of
the code that computed it; if either changes, it is computed again. (Returns are computed at every start: see
:mod:`egm.play.installed_games`.)
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paytables
from egm.play.entries import GAME_EXAMINED, GameExamined, LargestPrizes
from egm.play.keys import PlayKey
from egm.record_codec import to_json
from egm.verify.digest import compute_digests
from meters import Journal, Transaction
from paytables import Depth, Game, analyse

Prizes = Callable[[Game], tuple[tuple[int | None, int], ...]]
"""For each way to bet on a game: its largest win (None: no exact figure) and its cost, both in credits."""


def compute_largest_prizes(game: Game) -> tuple[tuple[int | None, int], ...]:
    """Return the largest prize and the cost of each way to bet on a game; the computation takes seconds."""
    return tuple((bet.max_win_credits, bet.cost_credits) for bet in analyse(game, Depth.HIGHEST).bets)


def compute_largest_win_cents(
    game: Game, denomination_cents: int, bet_limit_cents: int, prizes: tuple[tuple[int | None, int], ...]
) -> int | None:
    """Return the most one game can win at this denomination within the bet limit, in minor units, or None.

    A larger bet multiplies prizes, and a double-up multiplies the win: both are included, so the figure is
    never too low. None means that a prize has no exact figure. Some bet must be within the limit. At a table,
    bets of any cost may be laid together; no combination wins a greater multiple of its cost than the best
    single bet.
    """
    affordable = max(bet for bet in game.bet_options if bet * denomination_cents <= bet_limit_cents)
    laid_freely = bool(game.rules.layout())
    if laid_freely:
        affordable = bet_limit_cents // denomination_cents
    largest = 0
    for win_credits, cost_credits in prizes:
        if win_credits is None:
            return None
        if laid_freely:
            largest = max(largest, -(-win_credits * affordable // cost_credits))
        else:
            largest = max(largest, win_credits * max(affordable // cost_credits, 1))
    return game.find_most_after_double_up(largest) * denomination_cents


def cache_in_journal(journal: Journal, compute: Prizes = compute_largest_prizes) -> Prizes:
    """Return a function like ``compute`` that stores its results in the journal and reuses them.

    A stored result is valid for one definition and one version of the code.
    """
    code = compute_code_digest()

    def get_largest_prizes(game: Game) -> tuple[tuple[int | None, int], ...]:
        key = f"{PlayKey.EXAMINED}{game.digest}"
        stored: Any = journal.state(key)
        if stored is not None and stored["code"] == code:
            return tuple((win, cost) for win, cost in stored["prizes"])
        largest = compute(game)
        examined = GameExamined(game=game.id, digest=game.digest, code=code, prizes=largest)
        journal.append(
            Transaction(
                id=journal.fresh_id(GAME_EXAMINED.kind),
                kind=GAME_EXAMINED.kind,
                state={key: to_json(LargestPrizes(code=code, prizes=largest))},
                record=to_json(examined),
            )
        )
        return largest

    return get_largest_prizes


def compute_code_digest() -> str:
    """Return the SHA-256 digest of the code that plays and analyses games."""
    root = Path(paytables.__file__).parent
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    lines = (f"{digest}  {name}\n" for name, digest in compute_digests(files).items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()
