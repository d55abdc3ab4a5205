"""Start and continuation of a game: each step is decided and recorded before it is shown, and never decided twice.

``start_game`` draws every number of the first step, evaluates the step, and records wager, draws and outcome in
one transaction; only then is the screen updated. An answer of the player is handled in the same way: the choice,
the amount that it adds to the stake, and the numbers drawn for it are one transaction, so that no stake is recorded
without its card. The end of a game is in :mod:`egm.play.endings`. Until then the game is stored under
:attr:`PlayKey.GAME`, and a restart replays it from its recorded draws with the same result
(:mod:`egm.play.resuming`).
"""

from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from egm.errors import InvariantError, check_invariant
from egm.integrity.events import FailureDetail
from egm.integrity.keys import IntegrityKey
from egm.kernel.events import Event, EventReplacement, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.play import player_protection
from egm.play.definitions import GameDefectiveError, build_definition_change, find_definition
from egm.play.entries import GAME_CHOICE, GAME_START
from egm.play.events import ChoiceRequest
from egm.play.game_messages import find_pending_decision, send_screen_update
from egm.play.keys import PlayKey
from egm.play.records.game_record import GameChoice, GamePointer, GameRecord, GameReference, RecordedStep
from egm.play.records.games import GameInProgress, find_open_game
from egm.play.records.tables import build_shared_state_change
from egm.play.records.wheel import read_winning_number
from egm.play.selections import is_within_profile_limits
from egm.play.shared_round import (
    PositionRounds,
    can_answer_decision,
    find_shared_round,
    is_answer_already_recorded,
)
from egm.play.stepped_game import (
    REPLAY_ERRORS,
    SteppedGame,
    UnreplayableGame,
    can_win_without_draw,
    list_answers_without_draw,
)
from egm.play.time_charge import collect_time_charge
from egm.progressive import game_levels
from egm.progressive.bet import find_current_bet
from egm.progressive.level_changes import LevelChanges
from meters.transaction import JSON
from paytables import WHEEL_DECISION_KIND, Choice, Outcome, ReplayDrawSource, ReplayError
from rng import OutOfService, RngError


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("bet_is_laid")
def bet_is_selected_or_standing(machine: PositionMachine, _: Event) -> bool:
    """Return whether there is something to play: a bet that the player has selected, or standing bets on the table."""
    return machine.selection.bet_credits > 0 or find_current_bet(machine) is not None


@refusal_code("bet_is_taken")
def selected_bet_is_accepted(machine: PositionMachine, _: Event) -> bool:
    """Return whether the game accepts the selected bet in its table's present state, and the profile allows the bet."""
    bet = find_current_bet(machine)
    return bet is not None and is_within_profile_limits(machine, bet)


def bet_is_covered(machine: PositionMachine, _: Event) -> bool:
    """Return whether the credits cover the selected bet."""
    bet = find_current_bet(machine)
    return bet is not None and bet.bet_cents <= machine.credit_cents


@refusal_code("raises_are_covered")
def credits_cover_bet_and_raises(machine: PositionMachine, _: Event) -> bool:
    """Return whether the credits cover the selected bet and all raises that the game's certified strategy may make."""
    bet = find_current_bet(machine)
    return bet is not None and bet.bet_cents + bet.raise_reserve_cents <= machine.credit_cents


@refusal_code("chance_is_ready")
def generator_is_in_service(machine: PositionMachine, _: Event | None = None) -> bool:
    """Return whether the random number generator is in service."""
    return machine.random_service is not None and machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is None


@refusal_code("choice_may_be_taken")
def choice_can_be_processed(machine: PositionMachine, event: Event) -> bool:
    """Return whether the chosen answer can be processed without the generator, or the generator is in service.

    No generator is needed for a real wheel's number, for a step that another seat has recorded, and for an answer that
    draws no number.
    """
    answer = event.read_payload(ChoiceRequest)
    if answer.spin_counter is not None or is_answer_already_recorded(machine, event):
        return True
    return generator_is_in_service(machine) or any(
        answer.choice == option for option, _ in _list_available_answers_without_draw(machine)
    )


def can_collect_win_without_draw(machine: PositionMachine) -> bool:
    """Return whether the player can end the open game with a win by an answer that draws no number."""
    game_record = find_open_game(machine)
    if game_record is None:
        return False
    with suppress(*REPLAY_ERRORS):
        return can_win_without_draw(find_definition(machine, game_record.game_reference), game_record)
    return False


def _list_available_answers_without_draw(machine: PositionMachine) -> list[tuple[JSON, Outcome | None]]:
    """Return the answers to the open game's decision that draw no number, each with the outcome that follows.

    Empty if a real wheel decides the game.
    """
    game_record = find_open_game(machine)
    if game_record is None or is_decided_by_wheel(machine):
        return []
    with suppress(*REPLAY_ERRORS):
        return list_answers_without_draw(find_definition(machine, game_record.game_reference), game_record)
    return []


@refusal_code("answer_is_in_time")
def answer_is_not_overdue(machine: PositionMachine, event: Event) -> bool:
    """Return whether the player's answer is in time.

    The answer is late if the table has already answered for the player, and no further decision of the player is
    pending. An answer of another seat or of a real wheel is never late.
    """
    game_record = find_open_game(machine)
    is_overdue = (
        game_record is not None and machine.component(PositionRounds).overdue_play_id == game_record.play_id
    )
    return not is_overdue or not _is_answered_by_player(event) or _has_pending_decision(machine)


def answered_decision_is_pending(machine: PositionMachine, event: Event) -> bool:
    """Return whether the decision that the player saw is the pending one; True if the answer does not state it.

    A second touch may arrive before the screen shows the next decision, and must not answer that one.
    """
    answered_decision = event.read_payload(ChoiceRequest).answered_decision
    game_record = find_open_game(machine)
    return (
        not answered_decision.play_id
        or game_record is None
        or (answered_decision.play_id, answered_decision.step_count)
        == (game_record.play_id, len(game_record.steps))
    )


@refusal_code("turn_is_yours")
def no_other_seat_is_asked(machine: PositionMachine, event: Event) -> bool:
    """Return whether this position's player may answer now: the pending decision is not another seat's.

    True if no decision of a player is pending, or if the answer comes from a real wheel or another seat.
    """
    stepped_game = machine.component(GameInProgress).stepped_game
    decision = None if stepped_game is None else stepped_game.decision
    is_pending = decision is not None and decision.kind != WHEEL_DECISION_KIND
    return not is_pending or not _is_answered_by_player(event) or _has_pending_decision(machine)


def _is_answered_by_player(event: Event) -> bool:
    """Return whether the event is an answer of the player, not of a real wheel or of another seat."""
    answer = event.read_payload(ChoiceRequest)
    return answer.spin_counter is None and answer.answering_seat is None


def _has_pending_decision(machine: PositionMachine) -> bool:
    """Return whether the open game waits for a decision of this position's player."""
    game_record, stepped_game = find_open_game(machine), machine.component(GameInProgress).stepped_game
    decision = None if stepped_game is None else stepped_game.decision
    return game_record is not None and decision is not None and decision.seat == (game_record.wager.seat or 0)


def choice_is_offered(machine: PositionMachine, event: Event) -> bool:
    """Return whether the open game's decision offers the chosen option to the sender of the event.

    The sender is the player, a real wheel or another seat of a shared round; each may answer only its own decisions.
    """
    stepped_game: SteppedGame | UnreplayableGame | None = machine.component(GameInProgress).stepped_game
    decision = stepped_game.decision if stepped_game is not None else None
    answer = event.read_payload(ChoiceRequest)
    if decision is None or (decision.kind == WHEEL_DECISION_KIND) != (answer.spin_counter is not None):
        return False
    return answer.choice in decision.options and can_answer_decision(machine, decision, event)


def is_waiting_for_wheel(machine: PositionMachine) -> bool:
    """Return whether the open game waits for the number of a real wheel that is not recorded yet."""
    game_record = find_open_game(machine)
    return (
        game_record is not None
        and is_decided_by_wheel(machine)
        and read_winning_number(machine, game_record) is None
    )


def is_decided_by_wheel(machine: PositionMachine) -> bool:
    """Return whether a real wheel decides the open game, and its number has not been applied to the game yet."""
    game_record = find_open_game(machine)
    if game_record is None or game_record.outcome is not None or len(game_record.steps) > 1:
        return False
    with suppress(*REPLAY_ERRORS):
        return find_definition(machine, game_record.game_reference).rules.is_decided_by_wheel
    return False


@refusal_code("choice_is_covered")
def stake_of_choice_is_allowed(machine: PositionMachine, event: Event) -> bool:
    """Return whether the credits and the profile's limits allow the amount that the answer adds to the stake."""
    decision = find_pending_decision(machine)
    return decision is not None and event.read_payload(ChoiceRequest).choice in decision.options


# ---------------------------------------------------------------------------------------------- effects
def start_game(machine: PositionMachine, _: Event) -> None:
    """Start a game: draw and evaluate its first step, record the wager and the result, then show the result."""
    machine.journal.check()  # do not play on a journal that has just gone bad
    bet = find_current_bet(machine)
    if bet is None:
        raise InvariantError("a game was started, but no bet is selected")
    game, wager = bet.game, bet.wager
    position_rounds = machine.component(PositionRounds)
    shared_round = position_rounds.starting_round
    if shared_round is not None:
        wager = game.rules.combine_seat_wagers(wager, position_rounds.seat_number, shared_round.wagers)
    stepped_game, play_id = SteppedGame(game, wager, bet.table_state), machine.fresh_id("play")
    level_changes = game_levels.build_changes_for_start(machine, bet, play_id)
    step = play_step(
        machine,
        stepped_game,
        None,
        level_changes,
        None if shared_round is None else shared_round.find_step(0),
    )
    game_record = GameRecord(
        play_id=play_id,
        game_reference=GameReference(id=game.id, version=game.version, digest=game.digest),
        denomination_cents=bet.denomination_cents,
        bet_credits=bet.wager.credits,
        wager=wager,
        language=machine.selection.language,
        credit_before_cents=machine.credit_cents,
        steps=(step,),
        outcome=stepped_game.outcome,
        standing_credits=stepped_game.standing_credits,
        table_state=bet.table_state,
        levels=level_changes.levels_played,
        round_id="" if shared_round is None else shared_round.round_id,
    )
    wager_transfers = machine.build_debit_transfers(bet.bet_cents, "house:wager")
    machine.post(
        GAME_START,
        game_record,
        entry_id=f"{play_id}.start",
        transfers=(*wager_transfers, *level_changes.transfers),
        dims=game_record.meter_dimensions,
        state={
            PlayKey.GAME: GamePointer(play_id=play_id),
            **build_definition_change(machine, game),
            **build_shared_state_change(machine, game.rules, game_record),
            **game_levels.build_step_state(machine, game_record, level_changes),
            **player_protection.build_session_change(machine, wagered_cents=bet.bet_cents),
        },
    )
    machine.component(GameInProgress).stepped_game = stepped_game
    machine.component(GameInProgress).record = game_record
    if shared_round is not None:
        shared_round.add_step(0, step)
    position_rounds.current_round = shared_round
    collect_time_charge(machine, game_record)
    send_screen_update(machine, is_resumed=False)


def continue_game(machine: PositionMachine, event: Event) -> None:
    """Continue the open game: record the choice, its stake and the draws of the next step, then show the result.

    In a shared round another seat may have made the choice; it then adds no stake at this position.
    """
    answer, position_rounds = event.read_payload(ChoiceRequest), machine.component(PositionRounds)
    choice, game_record = answer.choice, require_open_game(machine)
    step_index, shared_round = len(game_record.steps), None
    if game_record.wager.seat is not None:
        shared_round = find_shared_round(machine, game_record)
        check_invariant(
            shared_round is not None, f"{game_record.play_id}: the steps of its shared round are missing"
        )
    level_changes = game_levels.build_changes_for_step(machine, game_record)
    stepped_game = machine.component(GameInProgress).stepped_game
    is_answered_by_table = answer.answering_seat is not None and _has_pending_decision(machine)
    if answer.answering_seat is not None:
        table_answer_notice = Notice(code="answered_for", severity="warning")
        machine.notice = table_answer_notice if is_answered_by_table else answer.notice
        position_rounds.overdue_play_id = (
            game_record.play_id if is_answered_by_table else position_rounds.overdue_play_id
        )
    else:
        position_rounds.overdue_play_id = ""
    staked_credits = stepped_game.decision.get_added_credits(choice)
    staked_cents = staked_credits * game_record.denomination_cents
    stake_transfers = machine.build_debit_transfers(staked_cents, "house:wager")
    step = play_step(
        machine,
        stepped_game,
        choice,
        level_changes,
        None if shared_round is None else shared_round.find_step(step_index),
    )
    game_choice = GameChoice(
        play_id=game_record.play_id,
        choice=choice,
        draws=step.draws,
        outcome=stepped_game.outcome,
        staked_credits=staked_credits,
        standing_credits=stepped_game.standing_credits,
        hits=tuple(level_changes.hits),
        round_id="" if shared_round is None else shared_round.round_id,
        is_table_answer=is_answered_by_table,
    )
    continued_game_record = game_record.with_step(game_choice)
    transfers = (*stake_transfers, *level_changes.transfers)
    machine.post(
        GAME_CHOICE,
        game_choice,
        entry_id=f"{game_record.play_id}.choice-{step_index}",
        transfers=transfers,
        dims=game_record.meter_dimensions if transfers else {},
        state={
            **build_shared_state_change(machine, stepped_game.game.rules, continued_game_record),
            **game_levels.build_step_state(machine, game_record, level_changes),
            **(
                player_protection.build_session_change(machine, wagered_cents=staked_cents)
                if stake_transfers
                else {}
            ),
        },
    )
    machine.component(GameInProgress).record = continued_game_record
    if shared_round is not None:
        shared_round.add_step(step_index, step)
    send_screen_update(machine, is_resumed=False)


class _UnavailableGenerator:
    """Substitute for a generator that has failed, for steps that draw no number."""

    draws: tuple[()] = ()

    def below(self, bound: int, purpose: str = "") -> int:
        """Raise OutOfService, because the generator has failed."""
        raise OutOfService(f"no number below {bound} for {purpose}: the generator has failed")


def _open_step_generator(machine: PositionMachine) -> AbstractContextManager[Any]:
    """Return the generator for the next step, as a context manager.

    While the generator is out of service, return a substitute that raises an error on any draw.
    """
    is_in_service = generator_is_in_service(machine)
    return (
        machine.random_service.step()
        if is_in_service and machine.random_service is not None
        else nullcontext(_UnavailableGenerator())
    )


def play_step(
    machine: PositionMachine,
    stepped_game: SteppedGame,
    choice: JSON,
    level_changes: LevelChanges,
    recorded_step: RecordedStep | None,
) -> RecordedStep:
    """Perform the next step of the game, and return its record with the numbers drawn.

    ``recorded_step`` is the same step if another seat of the round has recorded it; its numbers are then used.
    In a game's first step, the wager's contributions to progressive levels are made and mystery prizes are drawn; in
    its last, the hits of the levels are recorded. If the generator fails before anything is recorded, a
    GENERATOR_FAILED event replaces the present one.
    """
    try:
        with _open_step_generator(machine) as generator_step:
            if recorded_step is None:
                stepped_game.advance(generator_step, None if choice is None else Choice(choice))
                draws = tuple((draw.bound, draw.value, draw.purpose) for draw in generator_step.draws)
                recorded_step = RecordedStep(choice=choice, draws=draws)
            else:
                _play_recorded_step(stepped_game, recorded_step)
            if choice is None:
                level_changes.contribute_and_draw_mysteries(generator_step)
            if stepped_game.outcome is not None:
                level_changes.record_outcome_hits(stepped_game.outcome.progressives)
            return recorded_step
    except RngError as error:
        # the step was interrupted: the game is resumed from the journal
        machine.component(GameInProgress).stepped_game = None
        raise EventReplacement(Event(EventType.GENERATOR_FAILED, FailureDetail(detail=str(error)))) from error


def _play_recorded_step(stepped_game: SteppedGame, recorded_step: RecordedStep) -> None:
    """Perform a game's next step with the recorded draws.

    Raises InvariantError if the game would have drawn other numbers.
    """
    replay_draws = ReplayDrawSource(recorded_step.draws)
    try:
        stepped_game.advance(
            replay_draws, None if recorded_step.choice is None else Choice(recorded_step.choice)
        )
        replay_draws.check_all_numbers_used()
    except ReplayError as error:
        raise InvariantError(f"the seat's game does not reproduce the draws of its round: {error}") from error


def require_open_game(machine: PositionMachine) -> GameRecord:
    """Return the open game. Raises GameDefectiveError if no game is open."""
    game_record = find_open_game(machine)
    if game_record is None:
        raise GameDefectiveError("there is no game in progress")
    return game_record
