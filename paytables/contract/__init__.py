"""The interface between a game and the program that drives it: wagers, draws, events, outcomes.

A game is played in rounds. A round is a generator of events over the bets of a wager: a :class:`Decision` asks
a seat (and may add to its stake), a :class:`Settlement` decides a bet, a :class:`Cue` is for the screen only.
State that lasts between rounds (a point, a shoe, bets that stay) is the outcome's ``table``. Every driver of
a game uses :class:`Round`.

All of it is plain data that converts to JSON and back, because the journal stores it and the audit replays
it. Amounts are credits (int).
"""

from paytables.contract.chance import (
    DIE_FACES,
    DrawSource,
    RecordingDrawSource,
    ReplayDrawSource,
    draw_and_remove_element,
    draw_weighted_index,
    throw_dice,
)
from paytables.contract.data import Json
from paytables.contract.prizes import (
    DefinitionRemark,
    LevelHit,
    LevelParticipation,
    PartialLevelHit,
    PrizeInKind,
)
from paytables.contract.round import (
    ALL_STAKED_OPTION,
    NO_SEAT,
    SEATS_DECISION_KIND,
    STAKES_RETURNED_OPTION,
    WHEEL_DECISION_KIND,
    Choice,
    Cue,
    Decision,
    Outcome,
    Round,
    RoundEvent,
    RoundEvents,
    Settlement,
    filter_events_for_seat,
    play_with_answers,
    play_with_choices,
)
from paytables.contract.wager import SINGLE_SPOT_ID, Bet, Spot, TimeCharge, TimeToAct, Wager

__all__ = [
    "ALL_STAKED_OPTION",
    "DIE_FACES",
    "NO_SEAT",
    "SEATS_DECISION_KIND",
    "SINGLE_SPOT_ID",
    "STAKES_RETURNED_OPTION",
    "WHEEL_DECISION_KIND",
    "Bet",
    "Choice",
    "Cue",
    "Decision",
    "DefinitionRemark",
    "DrawSource",
    "Json",
    "LevelHit",
    "LevelParticipation",
    "Outcome",
    "PartialLevelHit",
    "PrizeInKind",
    "RecordingDrawSource",
    "ReplayDrawSource",
    "Round",
    "RoundEvent",
    "RoundEvents",
    "Settlement",
    "Spot",
    "TimeCharge",
    "TimeToAct",
    "Wager",
    "draw_and_remove_element",
    "draw_weighted_index",
    "filter_events_for_seat",
    "play_with_answers",
    "play_with_choices",
    "throw_dice",
]
