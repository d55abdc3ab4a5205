"""The play feature: rounds from wager to result, the player's own limits, and residual credit."""

from typing import Final

from egm.kernel.events import State
from egm.kernel.feature import Feature
from egm.kernel.rules import DerivedState
from egm.play.forms import FORMS
from egm.play.recall_page import PAGES
from egm.play.reminders import create_reminders
from egm.play.rules import RULES
from egm.records.keys import PlayKey

PLAY: Final = Feature(
    name="play",
    keys=PlayKey,
    rules=RULES,
    offers=(*PAGES, *FORMS),
    states=(DerivedState(State.PLAYING, lambda machine: machine.memory.get(PlayKey.GAME) is not None),),
    position_services=(create_reminders,),
)
