"""What a player chooses between two games: the game, what a credit is worth, the bet and the language."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from egm.kernel.events import Event
from egm.kernel.games import Selection
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.money.host.controls import game_is_allowed
from egm.progressive.bet import Bet, bet_of
from egm.records.tables import standing_tables, table_of


# ---------------------------------------------------------------------------------------------- guards
def bet_is_offered(machine: Machine, event: Event) -> bool:
    """The game offers this bet, and it is neither under the least nor over the most of the place."""
    credits_, options = event.data.get("value"), event.data.get("options") or {}
    if not isinstance(credits_, int) or isinstance(credits_, bool) or not isinstance(options, Mapping):
        return False
    if credits_ == 0 and options == {"bets": {}} and _has_spots(machine):
        return True  # every chip is off the cloth: nothing is to be played for what lay there
    bet = bet_of(machine, replace(machine.selection, bet_credits=credits_, options=options))
    return bet is not None and is_taken_here(machine, bet)


def game_is_offered(machine: Machine, event: Event) -> bool:
    """The game is resident, and no host has disabled it."""
    game_id = event.data.get("value")
    return game_id in machine.games and game_is_allowed(machine, str(game_id))


def denomination_is_offered(machine: Machine, event: Event) -> bool:
    """This cabinet offers the selected game at this denomination."""
    offered = machine.denominations_cents.get(machine.selection.game_id, ())
    return event.data.get("value") in offered


def language_is_offered(machine: Machine, event: Event) -> bool:
    """A language of the profile."""
    return event.data.get("value") in machine.profile.languages


def no_bets_stand(machine: Machine, _: Event) -> bool:
    """No bet stands on the table of the selected game: what one is worth does not change while it stands."""
    return _standing_at(machine, machine.selection.game_id) is None


def is_taken_here(machine: Machine, bet: Bet) -> bool:
    """What a bet costs is not under the least of the place, and all its round may cost not over the most.

    What costs nothing puts nothing more at stake: bets that stood before the most was lowered are played on.
    """
    rules = machine.profile.play
    if bet.cents and bet.cents < rules.bet_minimum_cents:
        return False
    if not bet.cents:
        return True
    return bet.at_stake_cents + bet.reserve_cents <= rules.bet_limit_cents


@dataclass(slots=True)
class MostStaked:
    """The most that a round can stake, in credits, by the game's digest and the credits the place allows."""

    known: dict[tuple[str, int], int] = field(default_factory=dict)


def most_staked_credits(machine: Machine, game_id: str, denomination_cents: int) -> int:
    """The most that one round of a game can stake here, raises included: for hosts and players alike."""
    game, known = machine.games[game_id], machine.state(MostStaked).known
    within = game.digest, machine.profile.play.bet_limit_cents // denomination_cents
    if within not in known:
        known[within] = game.rules.most_staked(within[1])
    return known[within]


def bet_is_left_behind(machine: Machine) -> bool:
    """Bets are laid at a table and no credit is left: whoever comes next has not laid them."""
    return machine.selection.bet_credits > 0 and machine.credit_cents == 0 and _has_spots(machine)


def _has_spots(machine: Machine) -> bool:
    game = machine.games.get(machine.selection.game_id)
    return game is not None and bool(game.rules.layout())


def _standing_at(machine: Machine, game_id: str) -> int | None:
    """The denomination, in minor units, at which bets stand on a game's table; None where none does."""
    if not standing_tables(machine) or game_id not in machine.games:
        return None
    table = table_of(machine, machine.games[game_id].digest)
    return table.denomination_cents if table is not None and table.staked else None


# ---------------------------------------------------------------------------------------------- effects
def set_bet(machine: Machine, event: Event) -> None:
    """Remember the bet."""
    options = dict(event.data.get("options") or {})
    machine.select(replace(machine.selection, bet_credits=int(event.data["value"]), options=options))


def clear_bet(machine: Machine) -> None:
    """No bet is laid any more."""
    machine.select(replace(machine.selection, bet_credits=0, options={}))


def select_game(machine: Machine, event: Event) -> None:
    """Turn to another game at its smallest bet, at a table with none.

    A credit keeps its price where the game offers it; where bets stand on its table, it is worth what it was
    when they were made.
    """
    game_id = str(event.data["value"])
    offered, before_cents = machine.denominations_cents[game_id], machine.selection.denomination_cents
    denomination_cents = before_cents if before_cents in offered else offered[0]
    standing_cents = _standing_at(machine, game_id)
    if standing_cents in offered:
        denomination_cents = standing_cents
    machine.select(
        Selection(
            game_id=game_id,
            denomination_cents=denomination_cents,
            bet_credits=machine.least_bet(game_id, denomination_cents),
            language=machine.selection.language,
        )
    )
    if denomination_cents != before_cents:
        machine.notice = Notice(code="denomination_changed", values={"amount_cents": denomination_cents})


def select_denomination(machine: Machine, event: Event) -> None:
    """Change what a credit is worth. Balances are kept in money, so no credit changes its value (O-05)."""
    machine.select(replace(machine.selection, denomination_cents=int(event.data["value"])))


def set_language(machine: Machine, event: Event) -> None:
    """Speak the player's language."""
    machine.select(replace(machine.selection, language=str(event.data["value"])))
