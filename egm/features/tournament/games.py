"""Games played with the points of a tournament, with the same rules, random numbers and steps as games for money.

Stakes and wins are booked on the accounts of the tournament. Credits, meters and the last game played with credits do
not change. The open game is stored under :attr:`PlayKey.TOURNAMENT_GAME`. It is resumed after a restart like any other
game.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from egm.errors import InvariantError
from egm.features.tournament.entries import (
    TOURNAMENT_GAME_CHOICE,
    TOURNAMENT_GAME_END,
    TOURNAMENT_GAME_START,
    TOURNAMENT_GAME_VOID,
    PurseGameEnd,
    PurseGameVoid,
)
from egm.features.tournament.installed import has_tournament_started, read_installed_rules
from egm.kernel.events import Event
from egm.kernel.games import Selection
from egm.kernel.keys import KernelKey
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import refusal_code
from egm.play.definitions import build_definition_change
from egm.play.events import BetRequest, ChoiceRequest
from egm.play.game_messages import send_screen_update
from egm.play.keys import PlayKey
from egm.play.records.game_record import GameChoice, GamePointer, GameRecord, GameReference, LastGame
from egm.play.records.games import GameInProgress, find_tournament_game
from egm.play.records.tournament_round import (
    TournamentRound,
    find_last_round,
    find_open_round,
    name_points_account,
    name_won_points_account,
    read_playable_points,
)
from egm.play.rounds import play_step, require_open_game
from egm.play.stepped_game import SteppedGame
from egm.progressive import game_levels
from egm.progressive.bet import AcceptedBet
from egm.progressive.pools import meets_prescribed_amounts
from egm.staff.form import build_ruling_details
from meters import Transfer
from meters.transaction import JSON
from paytables import Game, PaytableError

#: The account of stakes in points.
_WAGER_ACCOUNT: Final = "tournament:wager"
#: Parts of a wager that only a shared table sets, never the player.
_SHARED_TABLE_OPTIONS: Final = frozenset({"seat", "others", "seats"})


@dataclass(slots=True)
class TournamentBet:
    """A cache of the last valid bet with tournament points.

    ``bet`` was computed from ``selection``, ``game`` and ``table_state``.
    """

    selection: Selection | None = None
    game: Game | None = None
    table_state: JSON = None
    """The state of the table from which the bet was computed; None for games without a table state."""
    bet: AcceptedBet | None = None


# ---------------------------------------------------------------------------------------------- guards
def purse_is_open(machine: PositionMachine, _: Event) -> bool:
    """Return whether a round of a tournament entry is being played at this position."""
    return find_open_round(machine) is not None


def tournament_has_started(machine: PositionMachine, _: Event) -> bool:
    """Return whether the start of the tournament, as its rules state it, has passed."""
    rules = read_installed_rules(machine)
    return rules is not None and has_tournament_started(machine, rules)


@refusal_code("bet_is_the_tournaments")
def selected_bet_is_tournament_wager(machine: PositionMachine, _: Event) -> bool:
    """Return whether the selected bet is the wager that the tournament prescribes, and the game accepts it."""
    return find_tournament_bet(machine) is not None


@refusal_code("bet_is_within_the_tournaments")
def requested_bet_fits_tournament_wager(machine: PositionMachine, event: Event) -> bool:
    """Return whether the player may select the requested bet in the tournament.

    The bet must be the wager that the tournament prescribes, and the game must accept it. At a table, where the player
    places one chip after the other, the bet may be less than that wager.
    """
    request, tournament_round = event.read_payload(BetRequest), find_open_round(machine)
    credits_, options = request.bet_credits, dict(request.options or {})
    game = machine.games.get(machine.selection.game_id)
    if (
        tournament_round is None
        or game is None
        or credits_ is None
        or not 0 <= credits_ <= tournament_round.bet_points
    ):
        return False
    if not game.rules.list_spots() and credits_ != tournament_round.bet_points:
        return False
    if credits_ == 0:
        return options == {"bets": {}}
    selection = replace(machine.selection, bet_credits=credits_, options=options)
    return _build_bet(machine, selection, tournament_round) is not None


def purse_game_is_open(machine: PositionMachine, _: Event) -> bool:
    """Return whether the open game of this position is played with tournament points."""
    return find_tournament_game(machine) is not None


def purse_game_is_closed(machine: PositionMachine, _: Event) -> bool:
    """Return whether this position has no open game that is played with tournament points."""
    return find_tournament_game(machine) is None


# ---------------------------------------------------------------------------------------------- the bet
def find_tournament_bet(machine: PositionMachine) -> AcceptedBet | None:
    """Return the bet to be played with tournament points.

    None if the selected bet is not the wager that the tournament prescribes, or the game does not accept it.
    """
    tournament_round, selection = find_open_round(machine), machine.selection
    if tournament_round is None or selection.bet_credits != tournament_round.bet_points:
        return None
    cached_bet, game = machine.component(TournamentBet), machine.games.get(selection.game_id)
    if (
        cached_bet.selection != selection
        or cached_bet.game is not game
        or cached_bet.table_state != tournament_round.table_state
    ):
        cached_bet.selection, cached_bet.game, cached_bet.table_state = (
            selection,
            game,
            tournament_round.table_state,
        )
        cached_bet.bet = _build_bet(machine, selection, tournament_round)
    return cached_bet.bet


def _build_bet(
    machine: PositionMachine, selection: Selection, tournament_round: TournamentRound
) -> AcceptedBet | None:
    """Return the selected bet for the table state of the round; None if the game does not accept it."""
    game, denomination_cents = machine.games.get(selection.game_id), selection.denomination_cents
    if game is None or not _SHARED_TABLE_OPTIONS.isdisjoint(selection.options):
        return None
    try:
        game_at_table = game.with_table_state(tournament_round.table_state)
        wager = game_at_table.build_wager(selection.bet_credits, **selection.options)
        if game_at_table.list_levels(wager) or not meets_prescribed_amounts(
            game_at_table, wager, denomination_cents
        ):
            return None
    except (PaytableError, TypeError, ValueError):
        return None
    return AcceptedBet(game_at_table, wager, denomination_cents, (), tournament_round.table_state)


def _compute_needed_points(bet: AcceptedBet) -> int:
    """Return how many points a game with this bet can cost: its wager, and the stakes that it may need later.

    Later stakes follow the strategy with which the game was certified.
    """
    return bet.wager.credits + bet.game.rules.compute_raise_reserve(bet.wager)


def are_points_used_up(machine: PositionMachine, tournament_round: TournamentRound) -> bool:
    """Return whether the remaining points are too few for another game.

    They must cover the wager and the stakes that the game may need later.
    """
    bet = find_tournament_bet(machine)
    return read_playable_points(machine) < (
        tournament_round.bet_points if bet is None else _compute_needed_points(bet)
    )


# ---------------------------------------------------------------------------------------------- effects
def start_purse_game(machine: PositionMachine, _: Event) -> None:
    """Start a game with tournament points.

    Draw its first step, record the stake and the result in the journal, then show the result.
    """
    machine.journal.check()  # do not play on a journal that has just gone bad
    bet, tournament_round = find_tournament_bet(machine), find_open_round(machine)
    if bet is None or tournament_round is None:
        raise InvariantError("a tournament game was started, but no bet of points is selected")
    game, play_id = bet.game, machine.fresh_id("play")
    stepped_game = SteppedGame(game, bet.wager, bet.table_state)
    step = play_step(
        machine, stepped_game, None, game_levels.build_changes_for_start(machine, bet, play_id), None
    )
    game_record = GameRecord(
        play_id=play_id,
        game_reference=GameReference(id=game.id, version=game.version, digest=game.digest),
        denomination_cents=bet.denomination_cents,
        bet_credits=bet.wager.credits,
        wager=bet.wager,
        language=machine.selection.language,
        credit_before_cents=read_playable_points(machine) * bet.denomination_cents,
        steps=(step,),
        outcome=stepped_game.outcome,
        standing_credits=stepped_game.standing_credits,
        table_state=bet.table_state,
    )
    machine.post(
        TOURNAMENT_GAME_START,
        game_record,
        entry_id=f"{play_id}.start",
        transfers=_list_stake_transfers(machine, bet.wager.credits),
        state={
            PlayKey.TOURNAMENT_GAME: GamePointer(play_id=play_id),
            **build_definition_change(machine, game),
            **_build_clock_state(machine, tournament_round),
        },
    )
    game_in_progress = machine.component(GameInProgress)
    game_in_progress.stepped_game, game_in_progress.record = stepped_game, game_record
    send_screen_update(machine, is_resumed=False)


def _build_clock_state(machine: PositionMachine, tournament_round: TournamentRound) -> dict[str, object]:
    """Return the state to store so that the time limit of a round begins with its first game.

    Empty if the round has no time limit, or its time is already running.
    """
    if tournament_round.round_end or not tournament_round.round_minutes:
        return {}
    return {
        PlayKey.TOURNAMENT_ROUND: replace(
            tournament_round, round_end=compute_round_end(machine, tournament_round)
        )
    }


def compute_round_end(machine: PositionMachine, tournament_round: TournamentRound) -> str:
    """Return when a round that starts now will reach its time limit (ISO 8601)."""
    return (
        machine.timekeeper.read_steady_time() + timedelta(minutes=tournament_round.round_minutes)
    ).isoformat()


def continue_purse_game(machine: PositionMachine, event: Event) -> None:
    """Continue the open game with the player's choice.

    Record the choice, its stake in points and the next step in the journal, then show the result.
    """
    choice, game_record = event.read_payload(ChoiceRequest).choice, require_open_game(machine)
    stepped_game = machine.component(GameInProgress).stepped_game
    staked_credits = stepped_game.decision.get_added_credits(choice)
    step = play_step(
        machine, stepped_game, choice, game_levels.build_changes_for_step(machine, game_record), None
    )
    game_choice = GameChoice(
        play_id=game_record.play_id,
        choice=choice,
        draws=step.draws,
        outcome=stepped_game.outcome,
        staked_credits=staked_credits,
        standing_credits=stepped_game.standing_credits,
    )
    machine.post(
        TOURNAMENT_GAME_CHOICE,
        game_choice,
        entry_id=f"{game_record.play_id}.choice-{len(game_record.steps)}",
        transfers=_list_stake_transfers(machine, staked_credits),
    )
    machine.component(GameInProgress).record = game_record.with_step(game_choice)
    send_screen_update(machine, is_resumed=False)


def end_purse_game(machine: PositionMachine, _: Event) -> None:
    """Close the open game: add its win to the points won, and returned stakes to the points that can be played."""
    game_record, tournament_round = require_open_game(machine), find_last_round(machine)
    if tournament_round is None or game_record.outcome is None:
        raise InvariantError(
            f"{game_record.play_id}: a tournament game ended, but the record of its round or its outcome is missing"
        )
    push_points = game_record.outcome.push_credits
    won_points = game_record.outcome.returned_credits - push_points
    number = machine.position.number
    accounts_and_points = (
        ("tournament:win", name_won_points_account(number), won_points),
        ("tournament:push", name_points_account(number), push_points),
    )
    round_after = replace(
        tournament_round,
        games_played=tournament_round.games_played + 1,
        won_points=tournament_round.won_points + won_points,
        best_points=max(tournament_round.best_points, won_points),
        table_state=game_record.outcome.table_state,
        last_game=LastGame(play_id=game_record.play_id, paid_cents=game_record.returned_cents),
    )
    machine.post(
        TOURNAMENT_GAME_END,
        PurseGameEnd(play_id=game_record.play_id, won_points=won_points, push_points=push_points),
        entry_id=f"{game_record.play_id}.end",
        transfers=tuple(
            Transfer(source, target, points) for source, target, points in accounts_and_points if points
        ),
        state={PlayKey.TOURNAMENT_GAME: None, PlayKey.TOURNAMENT_ROUND: round_after},
    )
    machine.component(GameInProgress).stepped_game = None


def refund_purse_game(machine: PositionMachine, event: Event) -> None:
    """Declare the open game void for a reason that is not the player's fault.

    It does not count, and its stakes can be played again.
    """
    game_record = require_open_game(machine)
    _void_purse_game(machine, event, game_record, game_record.bet_credits + game_record.raised_credits)


def forfeit_purse_game(machine: PositionMachine, event: Event) -> None:
    """End the open game as forfeited because the player disrupted it: it does not count, and its stakes are lost."""
    _void_purse_game(machine, event, require_open_game(machine), 0)


def _void_purse_game(
    machine: PositionMachine, event: Event, game_record: GameRecord, refund_points: int
) -> None:
    """Record in the journal that the open game is void.

    ``refund_points`` points of its stakes can be played again.
    """
    refund = Transfer("tournament:push", name_points_account(machine.position.number), refund_points)
    machine.post(
        TOURNAMENT_GAME_VOID,
        PurseGameVoid(
            play_id=game_record.play_id, refund_points=refund_points, **build_ruling_details(machine, event)
        ),
        entry_id=f"{game_record.play_id}.void",
        transfers=(refund,) if refund_points else (),
        state={PlayKey.TOURNAMENT_GAME: None, f"{KernelKey.FAULT}game_defective": None},
    )
    machine.component(GameInProgress).stepped_game = None


def _list_stake_transfers(machine: PositionMachine, points: int) -> tuple[Transfer, ...]:
    """Return the transfer that stakes ``points`` points of this position; nothing if ``points`` is 0."""
    return (Transfer(name_points_account(machine.position.number), _WAGER_ACCOUNT, points),) if points else ()
