"""Bets that stand on a table between two games, when the player leaves or the table cannot be played on.

They were wagered, and are the player's until a round decides them. What the rules let him take down is given
back when he cashes out. What they do not (a pass line with its point) is played on, which costs nothing: the
machine says so and pays when it is decided. Where it cannot play on, by its own fault or because the place
has paused him, everything goes back. Nothing here is drawn, and no bet is ever given up by leaving.
"""

from collections.abc import Mapping
from typing import Literal

from egm.kernel.credits import parted
from egm.kernel.events import Event, EventType
from egm.kernel.games import InstalledGames
from egm.kernel.machine import Machine
from egm.kernel.messages import Felt, Notice, SpotNow
from egm.money.host.controls import game_is_allowed
from egm.play import player_protection as protection
from egm.play.choosing import bet_is_left_behind, clear_bet
from egm.progressive.pools import Pools, shut
from egm.records.game_record import TableRecord, TableReturned
from egm.records.games import PUSH
from egm.records.keys import PlayKey, TableKey
from egm.records.tables import own_of, standing_tables, table_of
from meters import Transfer
from meters.transaction import JSON
from paytables import Game, Spot


# ---------------------------------------------------------------------------------------------- what is seen
def on_table(machine: Machine) -> tuple[dict[str, int], tuple[str, ...], Felt]:
    """Of the selected game: the credits that stand on its spots, the spots that take no bet, how it stands.

    How it stands is the rules' own word, and under ``spots`` whatever of a spot is otherwise than published:
    as the table stands, and within what the place lets a round cost.
    """
    game = machine.games.get(machine.selection.game_id)
    table = None if game is None else table_of(machine, game.digest)
    at = game if game is None or table is None else _at(machine, table)
    if game is None or at is None:
        return {}, (), Felt()
    standing: dict[str, int] = {}
    for bet in at.rules.standing():
        standing[bet.spot] = standing.get(bet.spot, 0) + bet.credits
    spots, felt = at.rules.layout(), Felt.model_validate(at.rules.current_view())
    cents = machine.selection.denomination_cents
    most = at.rules.most_on(machine.profile.play.bet_limit_cents // cents)
    now = {
        new.id: _now(new, most)
        for old, new in zip(game.rules.layout(), spots, strict=True)
        if _now(old, {}) != _now(new, most)
    }
    felt = felt.model_copy(update={"spots": now})
    closed = shut(machine.state(Pools), at, cents)
    return standing, tuple(spot.id for spot in spots if not spot.open or spot.id in closed), felt


def _now(spot: Spot, most: Mapping[str, int]) -> SpotNow:
    """A spot as a screen is told it, where no more than the ``most`` may be bet."""
    return SpotNow(
        odds=spot.odds,
        least=spot.least,
        most=min(spot.most, most.get(spot.id, spot.most)),
        step=spot.step,
        most_times=spot.most_times,
    )


# ---------------------------------------------------------------------------------------------- guards
def bets_stand(machine: Machine, _: Event) -> bool:
    """Bets stand on some table, and no game is open."""
    return bool(standing_tables(machine)) and machine.memory.get(PlayKey.GAME) is None


def bets_may_leave(machine: Machine, event: Event) -> bool:
    """Some bets that stand can be given back: the rules let them be taken down, or play has stopped."""
    return bets_stand(machine, event) and any(
        not _goes_on(machine, table) or _taken_down_credits(machine, table)
        for table in standing_tables(machine)
    )


def bets_are_nobodys(machine: Machine, event: Event) -> bool:
    """Bets stand on a table that this machine has no more as it was, or are laid by a player who has left."""
    gone = bets_stand(machine, event) and any(
        _at(machine, table) is None for table in standing_tables(machine)
    )
    return gone or bet_is_left_behind(machine)


# ---------------------------------------------------------------------------------------------- effects
def take_bets_down(machine: Machine, _: Event) -> Event:
    """Give back what can be; then the player cashes out."""
    for table in standing_tables(machine):
        if _goes_on(machine, table):
            _take_down(machine, table)
        else:
            _give_back(machine, table, "stopped")
    return Event(EventType.CASH_OUT)


def give_bets_back(machine: Machine, _: Event) -> Event:
    """The machine is out of service: every bet goes back; then the player cashes out."""
    return give_bets_back_first(machine, Event(EventType.CASH_OUT))


def give_bets_back_first(machine: Machine, event: Event) -> Event:
    """Whoever staked them has left: they are his credits again, and the next player finds no bet of his.

    Then what was asked for happens to all that is left.
    """
    for table in standing_tables(machine):
        _give_back(machine, table, "stopped")
    return event


def say_bets_stay(machine: Machine, _: Event) -> None:
    """What stands cannot be taken down: it is played on, at no cost, until it is decided.

    Of the game that is up first; of another it is said where, for playing on here would decide nothing.
    """
    tables, here = standing_tables(machine), machine.selection.game_id
    table = next((each for each in tables if each.game.id == here), tables[0])
    values: dict[str, int | str] = {"amount_cents": table.standing_cents}
    if table.game.id == here:
        machine.notice = Notice(code="bets_stay", severity="warning", values=values)
    else:
        values["game"] = table.game.id
        machine.notice = Notice(code="bets_stay_elsewhere", severity="warning", values=values)


def take_off_nobodys_bets(machine: Machine, _: Event) -> None:
    """Where a game is another since its last round, its table is void, and every bet on it goes back.

    What was laid and not staked is laid no more when no credit is left: the next player has not laid it.
    """
    if bet_is_left_behind(machine):
        clear_bet(machine)
    for table in standing_tables(machine):
        if _at(machine, table) is None:
            _give_back(machine, table, "changed")
            values: dict[str, int | str] = {"amount_cents": table.standing_cents}
            machine.notice = Notice(code="bets_given_back", severity="warning", values=values)


# ---------------------------------------------------------------------------------------------- parts of it
def _at(machine: Machine, table: TableRecord) -> Game | None:
    """The game as its table stands; None where this machine has it so no more, or not for its credits."""
    resident, game_id = machine.state(InstalledGames), table.game.id
    installed = resident.games.get(game_id) or machine.games.get(game_id)
    offered = (resident.denominations_cents or machine.denominations_cents).get(game_id, ())
    if installed is None or installed.digest != table.game.digest or table.denomination_cents not in offered:
        return None
    try:
        return installed.at(table.table)
    except (LookupError, TypeError, ValueError):
        return None


def _goes_on(machine: Machine, table: TableRecord) -> bool:
    """Whether the player may play on here and now."""
    game_id = table.game.id
    offered = machine.denominations_cents.get(game_id, ()) if game_id in machine.games else ()
    return (
        table.denomination_cents in offered
        and game_is_allowed(machine, game_id)
        and not protection.play_is_paused(machine)
    )


def _taken_down_credits(machine: Machine, table: TableRecord) -> int:
    game = _at(machine, table)
    return 0 if game is None else sum(each.credits for each in game.rules.take_down()[0])


def _take_down(machine: Machine, table: TableRecord) -> None:
    """Give back what the rules let the player take down of one table; the rest stays."""
    game = _at(machine, table)
    if game is None or not _taken_down_credits(machine, table):
        return
    settled, left = game.rules.take_down()
    back_cents = sum(each.credits for each in settled) * table.denomination_cents
    kept_cents = sum(each.staked for each in settled) * table.denomination_cents - back_cents
    _post(machine, table, "taken_down", back_cents, left, kept_cents=kept_cents)


def _give_back(machine: Machine, table: TableRecord, why: Literal["stopped", "changed"]) -> None:
    _post(machine, table, why, table.standing_cents, None)


def _post(
    machine: Machine,
    table: TableRecord,
    why: Literal["taken_down", "stopped", "changed"],
    back_cents: int,
    left: JSON,
    *,
    kept_cents: int = 0,
) -> None:
    """``kept_cents``: what of the bets taken down the rules keep, a commission paid for taking them."""
    stays_cents = table.standing_cents - back_cents - kept_cents
    _, standing, back = parted(table.staked, (kept_cents, stays_cents, back_cents), machine.position)
    kept, cents = own_of(machine, table.game.digest, left), table.denomination_cents
    after = (
        None
        if kept is None
        else TableRecord(game=table.game, denomination_cents=cents, table=kept, staked=standing)
    )
    machine.record(
        "table.returned",
        transfers=tuple(Transfer(PUSH, account, cents) for account, cents in back),
        dims={
            "game": table.game.id,
            "paytable": f"{table.game.id}@{table.game.version}",
            "denomination_cents": table.denomination_cents,
        },
        state={
            f"{TableKey.TABLE}{table.game.digest}": after,
            **protection.counted(machine, won_cents=back_cents),
        },
        details=TableReturned(
            game=table.game,
            denomination_cents=table.denomination_cents,
            why=why,
            amount_cents=back_cents,
        ),
    )
