"""The figures of a poker room's game, which the players play against each other.

What a player wins depends on the others. The certified figure is the commission (:attr:`RoomRules.levy`). The
return is stated of one play that can be counted: two players with equal table stakes, of whom the button calls
the big blind and both check to the showdown. Both hands are dealt alike, so each wins as often as the other. The
highest win is that of any play: as much from each other seat as the player has.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Final

from paytables.analysis import BetAnalysis, Depth
from paytables.contract import Bet, Wager
from paytables.errors import BeyondReach
from paytables.layout import Case, analyse_cases
from paytables.poker.room.betting import Player
from paytables.poker.room.pots import award_pots, build_pots, settle_stack
from paytables.poker.room.schema import STACK, RoomDefinition

#: The chance that two hands of two hole cards and a board of five are equal: of all deals, counted.
HOLDEM_TIES: Final = Fraction(113_130_263_816, 2_781_381_002_400)
_OWN, _OTHER = 0, 1
_NOTE: Final = (
    "players play against each other: the return is that of the button, who calls the big blind and then checks "
    "against one player who checks"
)


def find_tie_chance(definition: RoomDefinition) -> Fraction:
    """Return the chance that two players have equal hands. Raises BeyondReach for a deal that is not counted."""
    if (definition.hole_count, definition.board_count, definition.uses) != (2, 5, None):
        raise BeyondReach("the chance of equal hands is counted for two hole cards and a board of five only")
    return HOLDEM_TIES


def analyse_stack(definition: RoomDefinition, stack: int, depth: Depth) -> BetAnalysis:
    """Return the figures of table stakes of ``stack`` credits: of calling and checking against one other player."""
    bets = {STACK: stack}
    options = {"bets": bets, "seat": _OWN, "others": {str(_OTHER): bets}}
    found = analyse_cases(STACK, Wager(stack, {"bets": bets}), _iter_cases(definition, stack), depth)
    found = replace(found, prizes=(), options=options, table={"button": _OWN}, notes=(_NOTE,))
    if found.max_win_credits is None:
        return found
    most = stack * definition.table.seats
    return replace(found, max_win_credits=most, max_win_probability=None)


def _iter_cases(definition: RoomDefinition, stack: int) -> Iterator[Case]:
    """Yield the three results of the own seat: its hand is higher, equal or lower."""
    tie = find_tie_chance(definition)
    bet_credits = definition.blinds.big + definition.blinds.ante
    pots = build_pots({_OTHER: bet_credits, _OWN: bet_credits}, (_OTHER, _OWN))
    pots = definition.commission_rules.take(pots)
    player = Player(_OWN, stack - bet_credits, total=bet_credits)
    for own_strength, chance in ((2, (1 - tie) / 2), (1, tie), (0, (1 - tie) / 2)):
        awards = award_pots(pots, {_OTHER: 1, _OWN: own_strength}, (_OTHER, _OWN))
        yield Case(chance, [*settle_stack(Bet(STACK, stack), player, awards.get(_OWN))])
