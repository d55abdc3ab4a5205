"""Standing bets on a table between two games, and what happens to them when the player leaves or play must stop.

Standing bets are wagered, and belong to the player until a round decides them. At a cash-out, bets that the game's
rules allow to be taken down are returned. Others, such as a pass line bet with its point, must be decided by further
rounds; the machine shows a notice that says so. These rounds cost nothing. If play is not possible, because of a fault
or a pause of play, all bets are returned. Nothing is drawn here, and no bet is lost by leaving.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from egm.kernel.credits import divide_stakes_among_amounts
from egm.kernel.events import Event, EventType
from egm.kernel.games import InstalledGames
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import FeltState, Notice, SpotState
from egm.kernel.rules import refusal_code
from egm.money.events import CashOut
from egm.money.host_restrictions import is_game_allowed
from egm.play import player_protection
from egm.play.entries import TABLE_BETS_RETURNED
from egm.play.keys import PlayKey, TableKey
from egm.play.records.game_record import TableBetsReturned, TableRecord
from egm.play.records.games import PUSH_ACCOUNT
from egm.play.records.tables import extract_player_state_by_digest, list_tables_with_standing_bets, read_table
from egm.play.records.tournament_round import find_open_round
from egm.play.selections import clear_bet, has_abandoned_chips
from egm.progressive.pools import ProgressivePools, list_closed_spots
from meters import Transfer
from meters.transaction import JSON
from paytables import Game, Spot


# ---------------------------------------------------------------------------------------------- for the screen
class TableViewData(NamedTuple):
    """What the screen shows of the selected game's table."""

    standing_credits_by_spot: dict[str, int]
    closed_spot_ids: tuple[str, ...]
    """The ids of the spots that accept no bet now."""
    felt_state: FeltState
    """The table's state as the game defines it.

    Its ``spots`` lists the odds and limits of spots that now differ from the published layout, because of the table's
    state or the profile's limit on a round.
    """


def read_table_view(machine: PositionMachine) -> TableViewData:
    """Return what the screen shows of the selected game's table.

    The result is empty if no game is selected, or if the game cannot be continued from the stored state of its table.
    """
    game = machine.games.get(machine.selection.game_id)
    table = None if game is None else read_table(machine, game.digest)
    current_game = game if game is None or table is None else _rebuild_table_game(machine, table)
    tournament_round = find_open_round(machine)
    if game is not None and tournament_round is not None:
        current_game = game.with_table_state(tournament_round.table_state)
    if game is None or current_game is None:
        return TableViewData({}, (), FeltState())
    standing_credits_by_spot: dict[str, int] = {}
    for bet in current_game.rules.list_standing_bets():
        standing_credits_by_spot[bet.spot] = standing_credits_by_spot.get(bet.spot, 0) + bet.credits
    spots = current_game.rules.list_spots()
    felt_state = FeltState.model_validate(current_game.rules.build_current_view())
    denomination_cents = machine.selection.denomination_cents
    bet_max_by_spot = current_game.rules.find_highest_bet(
        machine.profile.play.bet_max_cents // denomination_cents
    )
    spot_views = {
        current_spot.id: _build_spot_view(current_spot, bet_max_by_spot)
        for published_spot, current_spot in zip(game.rules.list_spots(), spots, strict=True)
        if _build_spot_view(published_spot, {}) != _build_spot_view(current_spot, bet_max_by_spot)
    }
    unavailable_spot_ids = {
        *list_closed_spots(machine.component(ProgressivePools), current_game, denomination_cents),
        *_iter_unavailable_hand_spots(machine, spots),
    }
    return TableViewData(
        standing_credits_by_spot,
        tuple(spot.id for spot in spots if not spot.accepts_bets or spot.id in unavailable_spot_ids),
        felt_state.model_copy(update={"spots": spot_views}),
    )


def _iter_unavailable_hand_spots(machine: PositionMachine, spots: Iterable[Spot]) -> Iterator[str]:
    """Yield the ids of the spots for bets on another player's hand that this position cannot use.

    These are the spot for the position's own hand, and the spots for seats that the machine does not have.
    """
    own_seat_index, seat_count = machine.position.number - 1, machine.position.position_count
    for spot in spots:
        if spot.hand_seat is not None and (spot.hand_seat == own_seat_index or spot.hand_seat >= seat_count):
            yield spot.id


def _build_spot_view(spot: Spot, bet_max_by_spot: Mapping[str, int]) -> SpotState:
    """Return a spot's current odds and limits for the screen; ``bet_max_by_spot`` has limits in credits."""
    return SpotState(
        odds=spot.odds,
        bet_min_credits=spot.bet_min,
        bet_max_credits=min(spot.bet_max, bet_max_by_spot.get(spot.id, spot.bet_max)),
        bet_step_credits=spot.bet_step,
        bet_max_multiple=spot.required_multiple_max,
    )


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("bets_stand")
def bets_stand_between_games(machine: PositionMachine, _: Event) -> bool:
    """Return whether there are standing bets on some table and no game is open."""
    return bool(list_tables_with_standing_bets(machine)) and machine.memory.get(PlayKey.GAME) is None


@refusal_code("bets_may_leave")
def standing_bets_can_be_returned(machine: PositionMachine, event: Event) -> bool:
    """Return whether some standing bets can be returned: the game's rules allow it, or play is not possible."""
    return bets_stand_between_games(machine, event) and any(
        not _is_table_playable(machine, table) or _count_returnable_credits(machine, table)
        for table in list_tables_with_standing_bets(machine)
    )


@refusal_code("standing_bets_are_abandoned")
def bets_are_abandoned(machine: PositionMachine, event: Event) -> bool:
    """Return whether there are bets on a table that cannot be played any more.

    They are standing bets of a game that cannot be continued (see :func:`_rebuild_table_game`), or chips placed by a
    player who has no credit left.
    """
    has_discontinued_table = bets_stand_between_games(machine, event) and any(
        _rebuild_table_game(machine, table) is None for table in list_tables_with_standing_bets(machine)
    )
    return has_discontinued_table or has_abandoned_chips(machine)


# ---------------------------------------------------------------------------------------------- effects
def take_down_bets_and_cash_out(machine: PositionMachine, _: Event) -> Event:
    """Take down the standing bets and credit them to the player; return the cash-out event, to be processed next.

    Bets that the rules do not allow to be taken down stay, unless the table cannot be played now: then all its bets are
    credited.
    """
    for table in list_tables_with_standing_bets(machine):
        if _is_table_playable(machine, table):
            _take_down_bets(machine, table)
        else:
            _return_all_bets(machine, table, "stopped")
    return Event(EventType.CASH_OUT, CashOut())


def return_bets_and_cash_out(machine: PositionMachine, _: Event) -> Event:
    """Credit all standing bets to the player, as play is not possible; return the cash-out event to process next."""
    return return_bets_before_event(machine, Event(EventType.CASH_OUT, CashOut()))


def return_bets_before_event(machine: PositionMachine, event: Event) -> Event:
    """Credit all standing bets of this position to its player; return ``event``, to be processed next.

    The event then applies to credits that include the bets, and the next player finds no bets.
    """
    for table in list_tables_with_standing_bets(machine):
        _return_all_bets(machine, table, "stopped")
    return event


def notify_bets_stay(machine: PositionMachine, _: Event) -> None:
    """Show a notice that the standing bets cannot be taken down and are decided by further rounds at no cost.

    The notice states the selected game's bets. If only another game has standing bets, it states those and
    names that game.
    """
    tables, selected_id = list_tables_with_standing_bets(machine), machine.selection.game_id
    table = next((record for record in tables if record.game_reference.id == selected_id), tables[0])
    values: dict[str, int | str] = {"amount_cents": table.standing_bets_cents}
    if table.game_reference.id == selected_id:
        machine.notice = Notice(code="bets_stay", severity="warning", values=values)
    else:
        values["game"] = table.game_reference.id
        machine.notice = Notice(code="bets_stay_elsewhere", severity="warning", values=values)


def return_abandoned_bets(machine: PositionMachine, _: Event) -> None:
    """Credit standing bets of games that cannot be continued; clear chips placed by a player who has no credit."""
    if has_abandoned_chips(machine):
        clear_bet(machine)
    for table in list_tables_with_standing_bets(machine):
        if _rebuild_table_game(machine, table) is None:
            _return_all_bets(machine, table, "changed")
            values: dict[str, int | str] = {"amount_cents": table.standing_bets_cents}
            machine.notice = Notice(code="bets_given_back", severity="warning", values=values)


# ---------------------------------------------------------------------------------------------- one table
def _rebuild_table_game(machine: PositionMachine, table: TableRecord) -> Game | None:
    """Return the table's game in its stored state, or None if it cannot be continued.

    A game cannot be continued if its definition has changed or is not installed, if it is no longer offered at the
    denomination of the bets, or if its rules cannot read the stored state.
    """
    installed_games, game_id = machine.component(InstalledGames), table.game_reference.id
    game = installed_games.game_by_id.get(game_id) or machine.games.get(game_id)
    offered_denominations = (installed_games.denominations_cents or machine.denominations_cents).get(
        game_id, ()
    )
    if (
        game is None
        or game.digest != table.game_reference.digest
        or table.denomination_cents not in offered_denominations
    ):
        return None
    try:
        return game.with_table_state(table.table_state)
    except (LookupError, TypeError, ValueError):
        return None


def _is_table_playable(machine: PositionMachine, table: TableRecord) -> bool:
    """Return whether the player may continue to play at the table now."""
    game_id = table.game_reference.id
    offered_denominations = machine.denominations_cents.get(game_id, ()) if game_id in machine.games else ()
    return (
        table.denomination_cents in offered_denominations
        and is_game_allowed(machine, game_id)
        and not player_protection.is_play_paused(machine)
    )


def _count_returnable_credits(machine: PositionMachine, table: TableRecord) -> int:
    """Return how many credits the player would get back by taking down all bets that may be taken down now."""
    game = _rebuild_table_game(machine, table)
    if game is None:
        return 0
    settlements, _ = game.rules.take_down_standing_bets()
    return sum(settlement.credits for settlement in settlements)


def _take_down_bets(machine: PositionMachine, table: TableRecord) -> None:
    """Credit to the player the bets on one table that may be taken down; the other bets stay."""
    game = _rebuild_table_game(machine, table)
    if game is None or not _count_returnable_credits(machine, table):
        return
    settlements, remaining_table_state = game.rules.take_down_standing_bets()
    returned_cents = sum(settlement.credits for settlement in settlements) * table.denomination_cents
    commission_cents = (
        sum(settlement.staked_credits for settlement in settlements) * table.denomination_cents
        - returned_cents
    )
    _post_returned_bets(
        machine, table, "taken_down", returned_cents, remaining_table_state, commission_cents=commission_cents
    )


def _return_all_bets(
    machine: PositionMachine, table: TableRecord, reason: Literal["stopped", "changed"]
) -> None:
    """Credit to the player all standing bets on one table."""
    _post_returned_bets(machine, table, reason, table.standing_bets_cents, None)


def _post_returned_bets(
    machine: PositionMachine,
    table: TableRecord,
    reason: Literal["taken_down", "stopped", "changed"],
    returned_cents: int,
    remaining_table_state: JSON,
    *,
    commission_cents: int = 0,
) -> None:
    """Record that bets on a table were credited to the player.

    ``returned_cents`` is the amount credited, ``remaining_table_state`` the state of the table with the bets
    that stay. ``commission_cents`` is what the operator keeps of the bets taken down, such as a commission paid
    when the bet was made.
    """
    remaining_cents = table.standing_bets_cents - returned_cents - commission_cents
    _, standing_stakes, returned_stakes = divide_stakes_among_amounts(
        table.standing_stakes, (commission_cents, remaining_cents, returned_cents), machine.position
    )
    stored_table_state = extract_player_state_by_digest(
        machine, table.game_reference.digest, remaining_table_state
    )
    table_after = (
        None
        if stored_table_state is None
        else TableRecord(
            game_reference=table.game_reference,
            denomination_cents=table.denomination_cents,
            table_state=stored_table_state,
            standing_stakes=standing_stakes,
        )
    )
    machine.post(
        TABLE_BETS_RETURNED,
        TableBetsReturned(
            game_reference=table.game_reference,
            denomination_cents=table.denomination_cents,
            return_reason=reason,
            amount_cents=returned_cents,
        ),
        transfers=tuple(Transfer(PUSH_ACCOUNT, account, cents) for account, cents in returned_stakes),
        dims={
            "game": table.game_reference.id,
            "paytable": f"{table.game_reference.id}@{table.game_reference.version}",
            "denomination_cents": table.denomination_cents,
        },
        state={
            f"{TableKey.TABLE_STATE}{table.game_reference.digest}": table_after,
            **player_protection.build_session_change(machine, won_cents=returned_cents),
        },
    )
