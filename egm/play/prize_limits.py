"""The largest prize of a game, which some places limit: computed once for each definition, then remembered.

It takes a search over a game's windows: some seconds, and no laboratory package. The result
is kept in the journal, chained and signed like everything there, under the digests of the definition and of
the code that computed it; when either is another, it is computed anew. (Returns are computed at every start:
see :mod:`egm.play.installed_games`.)
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paytables
from egm.records.keys import PlayKey
from egm.verify.digest import measure
from meters import Journal, Transaction
from paytables import Depth, Game, analyse

Prizes = Callable[[Game], tuple[tuple[int | None, int], ...]]
"""For each way to bet on a game: its largest win (None: no exact figure) and its cost, both in credits."""


def largest_prizes(game: Game) -> tuple[tuple[int | None, int], ...]:
    """Compute them, in seconds."""
    return tuple((bet.max_win_credits, bet.cost_credits) for bet in analyse(game, Depth.HIGHEST).bets)


def largest_win_cents(
    game: Game, denomination_cents: int, bet_limit_cents: int, prizes: tuple[tuple[int | None, int], ...]
) -> int | None:
    """The most one game can win at this denomination, within the bet limit, in minor units.

    A dearer bet multiplies prizes, and a double-up what was won: both are part of it, and it is never stated
    too low. None where a prize has no exact figure. Some bet must be within the limit. At a table bets of any
    cost may be laid together, and none of them wins a greater share than the best of them alone.
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
    return game.after_double_up(largest) * denomination_cents


def remembered(journal: Journal, compute: Prizes = largest_prizes) -> Prizes:
    """The same, from this machine's memory where it has been computed by the same code before."""
    code = code_digest()

    def prizes(game: Game) -> tuple[tuple[int | None, int], ...]:
        key = f"{PlayKey.EXAMINED}{game.digest}"
        stored: Any = journal.state(key)
        if stored is not None and stored["code"] == code:
            return tuple((win, cost) for win, cost in stored["prizes"])
        found = compute(game)
        known = {"code": code, "prizes": [list(each) for each in found]}
        journal.append(
            Transaction(
                id=journal.fresh_id("game.examined"),
                kind="game.examined",
                state={key: known},
                record={"game": game.id, "digest": game.digest, **known},
            )
        )
        return found

    return prizes


def code_digest() -> str:
    """SHA-256 over the code that plays and analyses games."""
    root = Path(paytables.__file__).parent
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    lines = (f"{digest}  {name}\n" for name, digest in measure(files).items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()
