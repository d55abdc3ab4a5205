"""Rules of progressive levels: awards and mystery prizes that a controller locks, closes or never answers."""

from typing import Final

from egm.kernel.events import EventType, Next, State
from egm.kernel.machine import Machine
from egm.kernel.rules import REPORT, Rule
from egm.kernel.states import (
    AT_WORK,
    AWAKE,
    RULING_ON_PRIZES,
    only,
)
from egm.progressive.enrolling import ENROLMENT, enrol_link, link_folder_is_own
from egm.progressive.forms import FORMS
from egm.progressive.game_levels import (
    are_awards_locked,
    attendant_may_settle,
    close_claim,
    settle_unanswered,
    show_awaited,
)
from egm.progressive.level_moves import level_may_move, move_level
from egm.progressive.unproved import (
    prize_is_held,
    prize_ruling_is_complete,
    rule_on_prize,
    stated_amount_is_payable,
)
from egm.staff.form import build_form_rule
from egm.staff.options import (
    machine_is_open,
    nothing_is_owed,
)
from egm.staff.service.effects import (
    ask_who,
    key_is_enough,
    no_service_page_is_open,
)

_AWAITING: Final = only(State.AWAITING_AWARD)

RULES: Final[tuple[Rule[Machine], ...]] = (
    Rule(EventType.CLAIM_CLOSED, AWAKE, (), (close_claim,)),
    Rule(EventType.LEVELS_MOVED, AWAKE),  # nothing to record, only to show
    Rule(EventType.WHEN_IDLE, _AWAITING, (are_awards_locked,), (show_awaited,)),
    Rule(
        EventType.KEY_TURNED,
        _AWAITING,
        (attendant_may_settle, key_is_enough),
        (settle_unanswered,),
        Next.DERIVED,
        REPORT,
    ),
    Rule(
        EventType.KEY_TURNED,
        _AWAITING,
        (no_service_page_is_open, attendant_may_settle),
        (ask_who,),
        Next.DERIVED,
        REPORT,
    ),
    # ------------------------------------------------------------------ what persons decide
    build_form_rule(
        FORMS, EventType.MOVE_LEVEL, AT_WORK, (machine_is_open, nothing_is_owed, level_may_move), move_level
    ),
    build_form_rule(ENROLMENT, EventType.LINK_ENROLMENT, AT_WORK, (link_folder_is_own,), enrol_link),
    build_form_rule(
        FORMS,
        EventType.PRIZE_RULED,
        RULING_ON_PRIZES,
        (prize_is_held, prize_ruling_is_complete, stated_amount_is_payable),
        rule_on_prize,
    ),
)
