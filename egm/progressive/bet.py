"""The bet that would be played now: the player's selection, if its game and the progressive levels accept it."""

from dataclasses import dataclass, replace
from typing import Final

from egm.kernel.games import Selection
from egm.kernel.machine import PositionMachine
from egm.play.records.game_record import TableRecord
from egm.play.records.tables import read_table
from egm.progressive.pools import (
    LevelConfigurationError,
    ProgressivePool,
    ProgressivePools,
    meets_prescribed_amounts,
)
from meters.transaction import JSON
from paytables import Game, LevelParticipation, PaytableError, Wager


@dataclass(frozen=True, slots=True)
class AcceptedBet:
    """A bet that its game accepts and that can be played now, with the progressive levels that it plays for."""

    game: Game
    """The game of the bet, in its table's current state."""
    wager: Wager
    denomination_cents: int
    progressive_pools: tuple[ProgressivePool, ...]
    table_state: JSON = None
    """The table's state before the round, for :meth:`paytables.game.GameRules.with_table_state`, or None."""

    @property
    def bet_cents(self) -> int:
        """Return the cost of the bet, in minor units."""
        return self.wager.credits * self.denomination_cents

    @property
    def raise_reserve_cents(self) -> int:
        """Return the most that the game's certified strategy may stake later in the round, in minor units.

        These are raises and doubles.
        """
        return self.game.rules.compute_raise_reserve(self.wager) * self.denomination_cents

    @property
    def qualifying_stake_cents_by_level(self) -> dict[str, int]:
        """Return the stake that qualifies for each progressive level's increment, in minor units by the level's name.

        For a level of a side bet it is that side bet's stake; for any other level the whole bet.
        """
        return {
            participation.level: compute_qualifying_credits(participation, self.wager)
            * self.denomination_cents
            for participation in self.game.list_levels(self.wager)
        }

    @property
    def total_stake_cents(self) -> int:
        """Return the player's total stake if this bet is played, in minor units.

        It is the cost of the bet plus the standing bets of earlier rounds, without those that the bet takes down.
        """
        standing_credits = sum(bet.credits for bet in self.game.rules.list_standing_bets())
        taken_down_credits = sum(-bet.credits for bet in self.wager.bets if bet.credits < 0)
        return (standing_credits - taken_down_credits) * self.denomination_cents + self.bet_cents


def compute_qualifying_credits(participation: LevelParticipation, wager: Wager) -> int:
    """Return of how many credits of the wager the progressive level of ``participation`` receives its increment."""
    return wager.credits if participation.qualifying_credits is None else participation.qualifying_credits


@dataclass(slots=True)
class AcceptedBetCache:
    """The last result of :func:`find_current_bet`, with the selection and the table state for which it was computed."""

    selection: Selection | None = None
    game: Game | None = None
    table_record: TableRecord | None = None
    bet: AcceptedBet | None = None
    is_without_new_bets: bool = False
    """Whether a round without new bets is starting, which only decides the bets that still stand on the table.

    The shared table sets it, so that :func:`find_current_bet` returns an empty bet.
    """


#: Options of a wager that only the table sets (:meth:`paytables.game.GameRules.combine_seat_wagers`), never the
#: player.
_SHARED_TABLE_OPTIONS: Final = frozenset({"seat", "others", "seats"})


def find_accepted_bet(machine: PositionMachine, selection: Selection) -> AcceptedBet | None:
    """Return the bet that the player's selection makes, or None if it cannot be played.

    It can be played if all of this is true: the game offers it, the machine has enough positions for it, each stake
    has the amount that a regulation prescribes for its spot, if any, it cannot win more than the jurisdiction
    allows, and its progressive levels are configured. A bet that costs nothing can be played only if standing bets are
    on the table. While there are standing bets, only their denomination can be played.
    """
    game, denomination_cents = machine.games.get(selection.game_id), selection.denomination_cents
    if game is None or not _SHARED_TABLE_OPTIONS.isdisjoint(selection.options):
        return None
    standing_table = read_table(machine, game.digest)
    if (
        standing_table is not None
        and standing_table.standing_stakes
        and standing_table.denomination_cents != denomination_cents
    ):
        return None
    try:
        table_state = None if standing_table is None else standing_table.table_state
        current_game = game.with_table_state(table_state)
        wager = current_game.build_wager(selection.bet_credits, **selection.options)
        has_too_few_positions = current_game.rules.count_seats_needed(wager) > machine.position.position_count
        if has_too_few_positions or (not wager.credits and not current_game.rules.list_standing_bets()):
            return None
        win_limit_cents = machine.profile.play.win_max_cents
        if not meets_prescribed_amounts(current_game, wager, denomination_cents) or _can_win_too_much(
            current_game, wager, denomination_cents, win_limit_cents
        ):
            return None
        return AcceptedBet(
            current_game,
            wager,
            denomination_cents,
            machine.component(ProgressivePools).list_played_pools(game, wager, denomination_cents),
            table_state,
        )
    except (LevelConfigurationError, PaytableError, TypeError, ValueError):
        return None


def _can_win_too_much(game: Game, wager: Wager, denomination_cents: int, win_limit_cents: int | None) -> bool:
    """Return whether a wager at a table could win more than the jurisdiction allows, so that it must be refused."""
    if win_limit_cents is None or not game.rules.list_spots() or not wager.credits:
        return False
    highest_return = game.rules.find_highest_round_return(wager)
    return highest_return is None or highest_return * denomination_cents > win_limit_cents


def find_current_bet(machine: PositionMachine) -> AcceptedBet | None:
    """Return the bet that would be played now, or None if the selected bet cannot be played.

    In a round without new bets it is an empty bet, which only decides the standing bets. The result is cached
    until the selection or the table changes.
    """
    cache, selection = machine.component(AcceptedBetCache), machine.selection
    if cache.is_without_new_bets:
        selection = replace(selection, bet_credits=0, options={"bets": {}})
    game = machine.games.get(selection.game_id)
    table_record = None if game is None else read_table(machine, game.digest)
    if cache.selection != selection or cache.game is not game or cache.table_record != table_record:
        cache.selection, cache.game, cache.table_record = selection, game, table_record
        cache.bet = find_accepted_bet(machine, selection)
    return cache.bet
