"""The player's selections between two games: game, denomination, bet and language."""

from dataclasses import dataclass, field, replace

from egm.kernel.events import Event
from egm.kernel.games import Selection
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.money.host_restrictions import is_game_allowed
from egm.play.events import BetRequest, DenominationRequest, GameRequest, LanguageRequest
from egm.play.records.tables import list_tables_with_standing_bets, read_table
from egm.progressive.bet import AcceptedBet, find_accepted_bet


# ---------------------------------------------------------------------------------------------- guards
def bet_is_offered(machine: PositionMachine, event: Event) -> bool:
    """Return whether the selected game offers the requested bet, and the bet is within the profile's limits."""
    request = event.read_payload(BetRequest)
    credits_, options = request.bet_credits, request.options or {}
    if credits_ is None:
        return False
    if credits_ == 0 and options == {"bets": {}} and _is_table_selected(machine):
        return True  # all chips were removed from the felt: there is no bet, and nothing can be played
    bet = find_accepted_bet(machine, replace(machine.selection, bet_credits=credits_, options=options))
    return bet is not None and is_within_profile_limits(machine, bet)


def game_is_offered(machine: PositionMachine, event: Event) -> bool:
    """Return whether the requested game is offered on this machine and no host has disabled it."""
    game_id = event.read_payload(GameRequest).game_id
    return game_id in machine.games and is_game_allowed(machine, game_id)


def denomination_is_offered(machine: PositionMachine, event: Event) -> bool:
    """Return whether this cabinet offers the selected game at the requested denomination."""
    offered_denominations = machine.denominations_cents.get(machine.selection.game_id, ())
    return event.read_payload(DenominationRequest).denomination_cents in offered_denominations


def language_is_offered(machine: PositionMachine, event: Event) -> bool:
    """Return whether the profile has the requested language."""
    return event.read_payload(LanguageRequest).language in machine.profile.languages


@refusal_code("no_bets_stand")
def no_bets_stand_on_selected_table(machine: PositionMachine, _: Event) -> bool:
    """Return whether the selected game's table has no standing bets; with some, the denomination cannot change."""
    return _find_standing_denomination(machine, machine.selection.game_id) is None


def is_within_profile_limits(machine: PositionMachine, bet: AcceptedBet) -> bool:
    """Return whether a bet, with all stakes that may be added in its round, is within the profile's limits.

    The bet must be at least the profile's minimum; the most that its round can cost must be at most the
    profile's maximum. A bet that costs nothing is always accepted, because it only decides standing bets.
    """
    rules = machine.profile.play
    return not bet.bet_cents or (
        bet.bet_cents >= rules.bet_min_cents
        and bet.total_stake_cents + bet.raise_reserve_cents <= rules.bet_max_cents
    )


@dataclass(slots=True)
class HighestStakeCache:
    """A cache of the highest stake that one round of a game can cost, in credits.

    A key is the pair of the game's digest and the profile's maximum bet in credits.
    """

    credits_by_digest_and_bet_limit: dict[tuple[str, int], int] = field(default_factory=dict)


def find_highest_stake_credits(machine: PositionMachine, game_id: str, denomination_cents: int) -> int:
    """Return the most that one round of a game can cost on this machine, in credits, raises included."""
    game, cache = machine.games[game_id], machine.component(HighestStakeCache).credits_by_digest_and_bet_limit
    bet_limit_credits = machine.profile.play.bet_max_cents // denomination_cents
    key = game.digest, bet_limit_credits
    if key not in cache:
        cache[key] = game.rules.find_highest_stake(bet_limit_credits)
    return cache[key]


def has_abandoned_chips(machine: PositionMachine) -> bool:
    """Return whether chips are placed on the table but not staked yet, while no credit is left.

    Their player has left; the chips are removed so that the next player does not find them.
    """
    return machine.selection.bet_credits > 0 and machine.credit_cents == 0 and _is_table_selected(machine)


def _is_table_selected(machine: PositionMachine) -> bool:
    """Return whether the selected game is a table game with betting spots."""
    game = machine.games.get(machine.selection.game_id)
    return game is not None and bool(game.rules.list_spots())


def _find_standing_denomination(machine: PositionMachine, game_id: str) -> int | None:
    """Return the denomination of a game's standing bets, in minor units; None if it has no standing bets."""
    if not list_tables_with_standing_bets(machine) or game_id not in machine.games:
        return None
    table = read_table(machine, machine.games[game_id].digest)
    return table.denomination_cents if table is not None and table.standing_stakes else None


# ---------------------------------------------------------------------------------------------- effects
def set_bet(machine: PositionMachine, event: Event) -> None:
    """Store the bet that the player has selected."""
    request = event.read_payload(BetRequest)
    options = dict(request.options or {})
    machine.store_selection(replace(machine.selection, bet_credits=request.bet_credits or 0, options=options))


def clear_bet(machine: PositionMachine) -> None:
    """Clear the player's selected bet."""
    machine.store_selection(replace(machine.selection, bet_credits=0, options={}))


def select_game(machine: PositionMachine, event: Event) -> None:
    """Select the game that the player requests, with its smallest bet, or at a table without any bet.

    The denomination stays the same if the game offers it; otherwise the game's first denomination is selected. If the
    game's table has standing bets, their denomination is selected. A changed denomination is shown as a notice.
    """
    game_id = event.read_payload(GameRequest).game_id
    offered_denominations = machine.denominations_cents[game_id]
    previous_denomination_cents = machine.selection.denomination_cents
    denomination_cents = (
        previous_denomination_cents
        if previous_denomination_cents in offered_denominations
        else offered_denominations[0]
    )
    standing_denomination_cents = _find_standing_denomination(machine, game_id)
    if standing_denomination_cents in offered_denominations:
        denomination_cents = standing_denomination_cents
    machine.store_selection(
        Selection(
            game_id=game_id,
            denomination_cents=denomination_cents,
            bet_credits=machine.find_starting_bet_credits(game_id, denomination_cents),
            language=machine.selection.language,
        )
    )
    if denomination_cents != previous_denomination_cents:
        machine.notice = Notice(code="denomination_changed", values={"amount_cents": denomination_cents})


def select_denomination(machine: PositionMachine, event: Event) -> None:
    """Select the requested denomination. Balances are stored as money, so their value does not change (O-05)."""
    machine.store_selection(
        replace(
            machine.selection, denomination_cents=event.read_payload(DenominationRequest).denomination_cents
        )
    )


def set_language(machine: PositionMachine, event: Event) -> None:
    """Select the language that the player requests."""
    machine.store_selection(replace(machine.selection, language=event.read_payload(LanguageRequest).language))
