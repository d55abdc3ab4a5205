"""Rules of progressive levels: awards and mystery prizes a controller locks, closes or never answers."""

from typing import Final

from egm.kernel.events import EventType, Next, State
from egm.kernel.machine import Cabinet
from egm.kernel.rules import TELL, Rule
from egm.kernel.states import AWAKE, LISTENING, only
from egm.progressive.game_levels import (
    attendant_may_settle,
    awards_are_locked,
    close_claim,
    record_award,
    settle_unanswered,
    show_awaited,
)
from egm.progressive.mysteries import end_ruled_prizes, record_mystery, ruled_prize_can_end, tell_award
from egm.staff.service.effects import ask_who, key_is_enough, nobody_is_asked

_AWAITING: Final = only(State.AWAITING_AWARD)

RULES: Final[tuple[Rule[Cabinet], ...]] = (
    Rule(EventType.AWARD_LOCKED, AWAKE, (), (record_award, tell_award), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.CLAIM_CLOSED, AWAKE, (), (close_claim,)),
    Rule(EventType.MYSTERY_WON, AWAKE, (), (record_mystery,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.LEVELS_MOVED, AWAKE),  # nothing to record, only to show
    Rule(EventType.AFTER_EVENT, LISTENING, (ruled_prize_can_end,), (end_ruled_prizes,), Next.DERIVED),
    Rule(EventType.AT_REST, _AWAITING, (awards_are_locked,), (show_awaited,)),
    Rule(
        EventType.KEY_TURNED,
        _AWAITING,
        (attendant_may_settle, key_is_enough),
        (settle_unanswered,),
        Next.DERIVED,
        TELL,
    ),
    Rule(
        EventType.KEY_TURNED,
        _AWAITING,
        (nobody_is_asked, attendant_may_settle),
        (ask_who,),
        Next.DERIVED,
        TELL,
    ),
)
