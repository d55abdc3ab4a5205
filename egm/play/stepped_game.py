"""A game in progress as a sequence of steps, with its draws, its decisions and its outcome.

The player makes a decision between two steps; a game without decisions has one step. Replaying the recorded
draws and choices gives the same outcome: restarts, the recall and the check of the machine before a large
hand-pay (:mod:`egm.play.machine_check`) all use :func:`replay_game`.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from egm.errors import LocalError
from egm.kernel.machine import PositionMachine
from egm.play.definitions import GameDefectiveError, find_definition
from egm.play.records.game_record import GameRecord
from meters.transaction import JSON
from paytables import (
    Choice,
    Cue,
    Decision,
    DrawSource,
    Game,
    Outcome,
    PaytableError,
    ReplayDrawSource,
    ReplayError,
    Round,
    Settlement,
    Wager,
)


class _StepRandomSource:
    """Passes each draw of a game on to the draw source of the game's current step.

    In a replay, that draw source returns the recorded numbers.
    """

    def __init__(self) -> None:
        self.current_source: DrawSource | None = None

    def below(self, bound: int, purpose: str) -> int:
        """Return a random number from 0 to ``bound`` - 1 from the draw source of the game's current step."""
        if self.current_source is None:
            raise GameDefectiveError("a game drew a random number outside its steps")
        return self.current_source.below(bound, purpose)


class SteppedGame:
    """A game in progress, played or replayed step by step, with its pending decision or its outcome."""

    def __init__(
        self, game: Game, wager: Wager, table_state: JSON = None, *, completes_prompts: bool = True
    ) -> None:
        """Start the game; ``table_state`` is the state of its table before the game, or None for the initial state.

        If ``completes_prompts`` is False, decisions lack what only a player needs, such as the advice, because it
        takes time to compute.
        """
        self.game = game if table_state is None else game.with_table_state(table_state)
        self._random_source = _StepRandomSource()
        self.round = Round(
            self.game.play(wager, self._random_source), wager, completes_prompts=completes_prompts
        )

    @property
    def decision(self) -> Decision | None:
        """Return the game's pending decision, or None before the first step and after the outcome."""
        return self.round.decision

    @property
    def outcome(self) -> Outcome | None:
        """Return the game's outcome, or None if the game is not decided yet."""
        return self.round.outcome

    @property
    def cues(self) -> tuple[Cue, ...]:
        """Return the animation cues that the game's last step added."""
        return tuple(self.round.cues)

    @property
    def settlements(self) -> tuple[Settlement, ...]:
        """Return the bets that the game has settled so far."""
        return tuple(self.round.settlements)

    @property
    def standing_credits(self) -> int:
        """Return the total of the bets that remain on the table after the outcome, in credits; 0 before the outcome."""
        if self.outcome is None or self.outcome.table_state is None:
            return 0
        return sum(
            bet.credits
            for bet in self.game.with_table_state(self.outcome.table_state).rules.list_standing_bets()
        )

    def advance(self, draw: DrawSource, choice: Choice | None = None) -> None:
        """Perform the next step of the game, with random numbers from ``draw``.

        The first step has no choice; each later one applies the player's ``choice``.
        """
        self._random_source.current_source = draw
        try:
            self.round.advance(choice)
        finally:
            self._random_source.current_source = None


@dataclass(frozen=True, slots=True)
class UnreplayableGame:
    """A substitute for the :class:`SteppedGame` of a decided game whose recorded draws cannot be replayed.

    The game is shown with its recorded outcome. The attributes are those that showing a game uses; they are empty.
    """

    decision: Decision | None = None
    cues: tuple[Cue, ...] = ()
    settlements: tuple[Settlement, ...] = ()


#: The exceptions of a replay whose definition, code and record do not match.
REPLAY_ERRORS: Final = (LocalError, PaytableError, ArithmeticError, LookupError, TypeError, ValueError)


def replay_game(game: Game, game_record: GameRecord) -> SteppedGame:
    """Replay a game from its recorded draws and choices, up to its last recorded step.

    Raises one of :data:`REPLAY_ERRORS` if the result differs from the record.
    """
    stepped_game = SteppedGame(game, game_record.wager, game_record.table_state)
    for step in game_record.steps:
        draw_source = ReplayDrawSource(step.draws)
        stepped_game.advance(draw_source, None if step.choice is None else Choice(step.choice))
        draw_source.check_all_numbers_used()
    if (
        stepped_game.outcome != game_record.outcome
        or stepped_game.standing_credits != game_record.standing_credits
    ):
        raise GameDefectiveError(f"{game_record.play_id}: its recorded draws give a different outcome")
    return stepped_game


def try_replay_game(machine: PositionMachine, game_record: GameRecord) -> SteppedGame | None:
    """Replay an open game up to its last recorded step; return None if the replay fails."""
    with suppress(*REPLAY_ERRORS):
        return replay_game(find_definition(machine, game_record.game_reference), game_record)
    return None


def list_settled_bets_of_open_game(stepped_game: SteppedGame | None) -> tuple[Settlement, ...]:
    """Return the bets that an open game has already settled and that stay settled if the game is declared void.

    Two kinds of bet are left out: wagers that are settled only as a whole at the end, and bets on spots with standing
    bets of earlier rounds, because those remain on the table. After the outcome, the result is empty.
    """
    if stepped_game is None or stepped_game.outcome is not None:
        return ()
    standing_bets = {(bet.seat, bet.spot) for bet in stepped_game.game.rules.list_standing_bets()}
    staked_spots = {(bet.seat, bet.spot) for bet in stepped_game.round.staked_bets} - standing_bets
    return tuple(
        settlement
        for settlement in stepped_game.settlements
        if settlement.staked_credits and (settlement.seat, settlement.spot) in staked_spots
    )


def can_win_without_draw(game: Game, game_record: GameRecord) -> bool:
    """Return whether the player can end the game with a win now, by an answer that draws no random number.

    A returned stake is not a win, and bets already settled do not count. The result is False while the game waits for
    the number of a real wheel, because the player cannot answer then.
    """
    # The first decision of a game that a real wheel decides asks for the wheel's number.
    if game_record.outcome is not None or (game.rules.is_decided_by_wheel and len(game_record.steps) == 1):
        return False
    outcomes = [outcome for _, outcome in list_answers_without_draw(game, game_record) if outcome is not None]
    if not outcomes:
        return False
    settled_bets = list_settled_bets_of_open_game(replay_game(game, game_record))
    settled_credits = sum(
        settlement.credits for settlement in settled_bets if not settlement.is_stake_returned
    )
    return any(
        outcome.returned_credits - outcome.push_credits > settled_credits
        or outcome.progressives
        or outcome.merchandise
        for outcome in outcomes
    )


def list_answers_without_draw(game: Game, game_record: GameRecord) -> list[tuple[JSON, Outcome | None]]:
    """Return the answers to the pending decision that draw no random number, each with the outcome that follows.

    The outcome is None if the game then continues with another decision.
    """
    decision = replay_game(game, game_record).decision
    answers: list[tuple[JSON, Outcome | None]] = []
    for option in () if decision is None else decision.options:
        stepped_game = replay_game(game, game_record)
        with suppress(ReplayError):
            stepped_game.advance(ReplayDrawSource(()), Choice(option))
            answers.append((option, stepped_game.outcome))
    return answers
