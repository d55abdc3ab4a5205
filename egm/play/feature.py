"""The play feature: rounds from wager to result, the player's own limits, and residual credit."""

from typing import Final

from egm.kernel.entries import list_entries
from egm.kernel.events import State
from egm.kernel.feature import Feature
from egm.kernel.rules import DerivedState
from egm.play import entries
from egm.play.entries import LargestPrizes
from egm.play.events import PAYLOAD_CLASS_BY_EVENT
from egm.play.forms import PLAY_FORMS
from egm.play.keys import PlayKey
from egm.play.recall_page import MENU_ITEMS
from egm.play.records.game_record import GamePointer, LastGame
from egm.play.records.games import is_game_open
from egm.play.records.paid_playing_time import PaidPlayingTime
from egm.play.records.protection import OwnLimits, ReminderRecord, SessionRecord
from egm.play.records.residual_terms import ResidualTerms
from egm.play.records.tournament_round import TournamentRound
from egm.play.registers import PLAY_REGISTERS
from egm.play.reminders import create_reminder_service
from egm.play.rules import PLAY_RULES
from egm.play.time_charge import iter_time_charge_notices

PLAY_FEATURE: Final = Feature(
    name="play",
    storage_keys=PlayKey,
    value_types={
        PlayKey.GAME: GamePointer,
        PlayKey.LAST_GAME: LastGame,
        PlayKey.TOURNAMENT_ROUND: TournamentRound,
        PlayKey.TOURNAMENT_GAME: GamePointer,
        PlayKey.SESSION: SessionRecord,
        PlayKey.REMINDER: ReminderRecord,
        PlayKey.OWN_LIMITS: OwnLimits,
        PlayKey.GAME_DEFINITION: str,
        PlayKey.RESIDUAL_CREDIT_TERMS: ResidualTerms,
        PlayKey.PAID_PLAYING_TIME: PaidPlayingTime,
        PlayKey.LARGEST_PRIZES: LargestPrizes,
    },
    entry_declarations=list_entries(entries),
    payload_classes=PAYLOAD_CLASS_BY_EVENT,
    rules=PLAY_RULES,
    contributions=(*MENU_ITEMS, *PLAY_FORMS, *PLAY_REGISTERS),
    derived_states=(DerivedState(State.PLAYING, is_game_open),),
    position_service_factories=(create_reminder_service,),
    list_notices=iter_time_charge_notices,
)
