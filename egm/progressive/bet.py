"""The bet in force: the player's choice, as its game and the machine's levels have accepted it, once."""

from dataclasses import dataclass

from egm.kernel.games import Selection
from egm.kernel.machine import Machine
from egm.progressive.pools import NoPoolError, Pool, Pools
from paytables import Game, PaytableError, Wager


@dataclass(frozen=True, slots=True)
class Bet:
    """A wager that its game offers and whose levels are all kept, with those levels."""

    game: Game
    wager: Wager
    denomination_cents: int
    pools: tuple[Pool, ...]

    @property
    def cents(self) -> int:
        """What it costs, minor units."""
        return self.wager.credits * self.denomination_cents


@dataclass(slots=True)
class BetInForce:
    """The bet last accepted, with the choice it was accepted for."""

    selection: Selection | None = None
    game: Game | None = None
    bet: Bet | None = None


def bet_of(machine: Machine, selection: Selection) -> Bet | None:
    """The bet that a choice makes; None where its game has no such bet, or a level of it is not kept."""
    game, cents = machine.games.get(selection.game_id), selection.denomination_cents
    if game is None:
        return None
    try:
        wager = game.wager(selection.bet_credits, **selection.options)
        if _wins_too_much(game, wager, cents, machine.profile.play.win_limit_cents):
            return None
        return Bet(game, wager, cents, machine.state(Pools).played(game, wager, cents))
    except (NoPoolError, PaytableError, TypeError, ValueError):
        return None


def _wins_too_much(game: Game, wager: Wager, denomination_cents: int, limit_cents: int | None) -> bool:
    """Whether bets laid at a table could win more than the place allows: such a wager is not taken."""
    if limit_cents is None or not game.rules.layout() or not wager.credits:
        return False
    most = game.rules.analyse_wager(wager).max_win_credits
    return most is None or most * denomination_cents > limit_cents


def bet_in_force(machine: Machine) -> Bet | None:
    """The bet now chosen, or None; judged when first asked for, and not again until another is chosen."""
    known, selection = machine.state(BetInForce), machine.selection
    game = machine.games.get(selection.game_id)
    if known.selection != selection or known.game is not game:
        known.selection, known.game, known.bet = selection, game, bet_of(machine, selection)
    return known.bet
