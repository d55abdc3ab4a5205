"""State-table rules of standing bets: taken down at a cash-out, decided by further rounds, or returned."""

from typing import Final

from egm.kernel.events import EventType, NextState, State
from egm.kernel.feature import Feature
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import REPORT_REFUSAL, Rule
from egm.kernel.states import STATES_FOR_CASH_OUT, single_state
from egm.money.forms import MONEY_FORMS
from egm.money.rulings import location_is_stated
from egm.play.keys import TableKey
from egm.play.records.game_record import SharedTableState, TableRecord
from egm.play.standing_bets import (
    bets_are_abandoned,
    bets_stand_between_games,
    notify_bets_stay,
    return_abandoned_bets,
    return_bets_and_cash_out,
    return_bets_before_event,
    standing_bets_can_be_returned,
    take_down_bets_and_cash_out,
)
from egm.staff.form import build_form_rule

#: The rules, in the order in which they are tried.
_STANDING_BET_RULES: Final[tuple[Rule[PositionMachine], ...]] = (
    Rule(
        EventType.CASH_OUT,
        single_state(State.OUT_OF_SERVICE),
        (bets_stand_between_games,),
        (return_bets_and_cash_out,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.CASH_OUT,
        single_state(State.IDLE),
        (standing_bets_can_be_returned,),
        (take_down_bets_and_cash_out,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.CASH_OUT,
        single_state(State.IDLE),
        (bets_stand_between_games,),
        (notify_bets_stay,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    build_form_rule(
        MONEY_FORMS,
        EventType.REGISTER_UNCLAIMED_CREDITS,
        single_state(State.SERVICE_MENU),
        (bets_stand_between_games, location_is_stated),
        return_bets_before_event,
        NextState.SAME,
    ),
    Rule(EventType.AFTER_EVENT, STATES_FOR_CASH_OUT, (bets_are_abandoned,), (return_abandoned_bets,)),
)

TABLES_FEATURE: Final = Feature(
    name="tables",
    storage_keys=TableKey,
    value_types={TableKey.TABLE_STATE: TableRecord, TableKey.SHARED_STATE: SharedTableState},
    rules=_STANDING_BET_RULES,
)
