"""Staff forms about play: exchanging prizes in kind, the check before a large payment, and rulings on a game."""

from typing import Final

from egm.kernel.events import EventType
from egm.people import Permission
from egm.play.prizes_in_kind import prize_can_be_exchanged_for_money
from egm.play.rulings import game_cannot_end, open_game_has_neither_outcome_nor_win
from egm.staff.form import REASON_FIELD, Form, FormField

PLAY_FORMS: Final[tuple[Form, ...]] = (
    Form(
        id="prize_cash",
        event=EventType.EXCHANGE_PRIZE,
        permission=Permission.PAY_BY_HAND,
        menu_section="money",
        submission_guards=(prize_can_be_exchanged_for_money,),
    ),
    Form(
        id="machine_check",
        event=EventType.MACHINE_CHECKED,
        permission=Permission.RULE_ON_MONEY,
        menu_section="money",
        fields=(FormField(name="remark", is_required=False),),
    ),
    Form(
        id="forfeit_game",
        event=EventType.FORFEIT_GAME,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        person_count=2,
        fields=(REASON_FIELD,),
        submission_guards=(open_game_has_neither_outcome_nor_win,),
    ),
    Form(
        id="refund_game",
        event=EventType.REFUND_GAME,
        permission=Permission.RULE_ON_MONEY,
        menu_section="money",
        person_count=2,
        fields=(REASON_FIELD,),
        submission_guards=(game_cannot_end,),
    ),
)
