"""The bet in force: the player's choice, as its game and the machine's levels have accepted it, once."""

from dataclasses import dataclass, replace
from typing import Final

from egm.kernel.games import Selection
from egm.kernel.machine import Machine
from egm.progressive.pools import NoPoolError, Pool, Pools, is_of_its_worth
from egm.records.game_record import TableRecord
from egm.records.tables import table_of
from meters.transaction import JSON
from paytables import Game, LevelPlay, PaytableError, Wager


@dataclass(frozen=True, slots=True)
class Bet:
    """A wager that its game offers as its table stands, and whose levels are all kept, with those levels."""

    game: Game
    """The game as its table stands."""
    wager: Wager
    denomination_cents: int
    pools: tuple[Pool, ...]
    table: JSON = None
    """How it stands (:meth:`paytables.Game.at`)."""

    @property
    def cents(self) -> int:
        """What it costs, minor units."""
        return self.wager.credits * self.denomination_cents

    @property
    def reserve_cents(self) -> int:
        """What its round may still cost, played as certified, minor units: raises, doubles, splits."""
        return self.game.rules.reserve(self.wager) * self.denomination_cents

    @property
    def fed_cents(self) -> dict[str, int]:
        """What of it feeds each level, by the game's name, minor units: a side bet's stake, or all of it."""
        return {
            play.level: fed_credits(play, self.wager) * self.denomination_cents
            for play in self.game.levels(self.wager)
        }

    @property
    def at_stake_cents(self) -> int:
        """What is at stake with it: the bets that stand, less what it takes down, and what it costs."""
        standing = sum(bet.credits for bet in self.game.rules.standing())
        taken_down = sum(-bet.credits for bet in self.wager.bets if bet.credits < 0)
        return (standing - taken_down) * self.denomination_cents + self.cents


def fed_credits(play: LevelPlay, wager: Wager) -> int:
    """What of a wager feeds a level, in credits."""
    return wager.credits if play.fed_credits is None else play.fed_credits


@dataclass(slots=True)
class BetInForce:
    """The bet last accepted, with the choice and the table it was accepted for."""

    selection: Selection | None = None
    game: Game | None = None
    table: TableRecord | None = None
    bet: Bet | None = None
    nothing_new: bool = False
    """While a round begins that the player has placed no bets on: only what stands is played."""


#: What of a wager only a table says (:meth:`paytables.game.Rules.seated`): a player lays his own bets.
_OF_TABLES: Final = frozenset({"seat", "others", "seats"})


def bet_of(machine: Machine, selection: Selection) -> Bet | None:
    """The bet that a choice makes; None where its game has no such bet, or a level of it is not kept.

    What costs nothing is a bet only while others stand, and those stand at the denomination they were made
    at.
    """
    game, cents = machine.games.get(selection.game_id), selection.denomination_cents
    if game is None or not _OF_TABLES.isdisjoint(selection.options):
        return None
    kept = table_of(machine, game.digest)
    if kept is not None and kept.staked and kept.denomination_cents != cents:
        return None
    try:
        table = None if kept is None else kept.table
        at = game.at(table)
        wager = at.wager(selection.bet_credits, **selection.options)
        if not wager.credits and not at.rules.standing():
            return None
        limit_cents = machine.profile.play.win_limit_cents
        if not is_of_its_worth(at, wager, cents) or _wins_too_much(at, wager, cents, limit_cents):
            return None
        return Bet(at, wager, cents, machine.state(Pools).played(game, wager, cents), table)
    except (NoPoolError, PaytableError, TypeError, ValueError):
        return None


def _wins_too_much(game: Game, wager: Wager, denomination_cents: int, limit_cents: int | None) -> bool:
    """Whether bets laid at a table could win more than the place allows: such a wager is not taken."""
    if limit_cents is None or not game.rules.layout() or not wager.credits:
        return False
    most = game.rules.most_of_round(wager)
    return most is None or most * denomination_cents > limit_cents


def bet_in_force(machine: Machine) -> Bet | None:
    """The bet now chosen, or None; judged when first asked for, and not again until another is chosen."""
    known, selection = machine.state(BetInForce), machine.selection
    if known.nothing_new:
        selection = replace(selection, bet_credits=0, options={"bets": {}})
    game = machine.games.get(selection.game_id)
    table = None if game is None else table_of(machine, game.digest)
    if known.selection != selection or known.game is not game or known.table != table:
        known.selection, known.game, known.table = selection, game, table
        known.bet = bet_of(machine, selection)
    return known.bet
