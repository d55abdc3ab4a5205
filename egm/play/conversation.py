"""A game as a conversation: steps of draws, questions between them, an outcome; and the same from its record.

A game that asks the player nothing is one step. Taken again from its recorded draws and choices, a game comes
out as it did: a restart, the recall and the machine's own check all use :func:`replay`.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from egm.errors import LocalError
from egm.kernel.machine import Machine
from egm.play.definitions import GameDefectiveError, definition_of
from egm.records.game_record import GameRecord
from meters.transaction import JSON
from paytables import (
    Choice,
    Cue,
    Decision,
    Draw,
    Game,
    Outcome,
    PaytableError,
    ReplayDraw,
    ReplayError,
    Round,
    Settlement,
    Wager,
)


class _Feed:
    """The ``draw`` a game sees: the numbers of whichever step is being taken."""

    def __init__(self) -> None:
        self.source: Draw | None = None

    def below(self, bound: int, purpose: str) -> int:
        if self.source is None:
            raise GameDefectiveError("a game drew a number outside any step")
        return self.source.below(bound, purpose)


class Conversation:
    """A game in progress: what it asks next, or its outcome."""

    def __init__(self, game: Game, wager: Wager, table: JSON = None) -> None:
        """``table``: how the game's table stood when the game began."""
        self.game = game if table is None else game.at(table)
        self._feed = _Feed()
        self.round = Round(self.game.play(wager, self._feed), wager)

    @property
    def decision(self) -> Decision | None:
        """What is asked; None once it is decided."""
        return self.round.decision

    @property
    def outcome(self) -> Outcome | None:
        """What it came to; None before."""
        return self.round.outcome

    @property
    def cues(self) -> tuple[Cue, ...]:
        """What is animated of the last step."""
        return tuple(self.round.cues)

    @property
    def settlements(self) -> tuple[Settlement, ...]:
        """What is settled so far."""
        return tuple(self.round.settlements)

    @property
    def standing_credits(self) -> int:
        """What its outcome leaves standing on the table, credits."""
        if self.outcome is None or self.outcome.table is None:
            return 0
        return sum(bet.credits for bet in self.game.at(self.outcome.table).rules.standing())

    def advance(self, draw: Draw, choice: Choice | None = None) -> None:
        """Take one step: the first without a choice, each further one with the answer to the decision."""
        self._feed.source = draw
        try:
            self.round.advance(choice)
        finally:
            self._feed.source = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """Stands for the conversation of a decided game that is shown as recorded: nothing is asked any more."""

    decision: Decision | None = None
    cues: tuple[Cue, ...] = ()
    settlements: tuple[Settlement, ...] = ()


#: What a replay raises where the definition, its code and the record do not go together.
NO_REPLAY: Final = (LocalError, PaytableError, ArithmeticError, LookupError, TypeError, ValueError)


def replay(rules: Game, game: GameRecord) -> Conversation:
    """The game again, from its recorded draws and choices. Raises where it does not come out as recorded."""
    conversation = Conversation(rules, game.wager, game.table)
    for step in game.steps:
        recorded = ReplayDraw(step.draws)
        conversation.advance(recorded, None if step.choice is None else Choice(step.choice))
        recorded.finish()
    if conversation.outcome != game.outcome or conversation.standing_credits != game.standing_credits:
        raise GameDefectiveError(f"{game.play_id}: its recorded draws give another outcome")
    return conversation


def conversation_of(machine: Machine, game: GameRecord) -> Conversation | None:
    """Return a game as far as it has come, or None if its record does not replay."""
    with suppress(*NO_REPLAY):
        return replay(definition_of(machine, game.game), game)
    return None


def decided_bets(conversation: Conversation | None) -> tuple[Settlement, ...]:
    """The settlements that a game which cannot end has made of its own bets, and that stay made.

    A prize of a wager that is one whole decides nothing before the end, nor a settlement of a spot on which a
    bet has stood from before: those stand as they did.
    """
    if conversation is None or conversation.outcome is not None:
        return ()
    stood = {(bet.seat, bet.spot) for bet in conversation.game.rules.standing()}
    staked = {(bet.seat, bet.spot) for bet in conversation.round.staked} - stood
    return tuple(
        each for each in conversation.settlements if each.staked and (each.seat, each.spot) in staked
    )


def has_won(rules: Game, game: GameRecord) -> bool:
    """Return whether some answer to the open question ends the game with a win and needs no number.

    A stake given back is no win, and what is settled already is the player's whatever becomes of the rest. A
    real wheel, and not the player, answers the question for its number.
    """
    if game.outcome is not None or (rules.rules.by_wheel and len(game.steps) == 1):
        return False
    outcomes = [outcome for _, outcome in without_chance(rules, game) if outcome is not None]
    if not outcomes:
        return False
    settled = decided_bets(replay(rules, game))
    before = sum(each.credits for each in settled if not each.gives_back)
    return any(
        end.win_credits - end.push_credits > before or end.progressives or end.merchandise for end in outcomes
    )


def without_chance(rules: Game, game: GameRecord) -> list[tuple[JSON, Outcome | None]]:
    """The answers to an open game's question that need no number, each with the outcome it leads to."""
    decision = replay(rules, game).decision
    found: list[tuple[JSON, Outcome | None]] = []
    for option in () if decision is None else decision.options:
        taken = replay(rules, game)
        with suppress(ReplayError):
            taken.advance(ReplayDraw(()), Choice(option))
            found.append((option, taken.outcome))
    return found
