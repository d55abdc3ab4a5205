"""Rules of integrity: doors, faults, the generator, and who takes the machine out of service."""

from typing import Final

from egm.integrity.lockups import (
    clear_tilts,
    has_failed,
    record_disabled,
    record_door_closed,
    record_door_opened,
    record_enabled,
    record_fault,
    record_fault_cleared,
    restart_generator,
    take_out_of_service,
)
from egm.kernel.events import EventType, Next, State
from egm.kernel.machine import Cabinet
from egm.kernel.rules import TELL, Rule
from egm.kernel.states import AWAKE, ON_CALL, only
from egm.money.host.controls import record_control
from egm.staff.rulings import game_waits_for_chance
from egm.staff.service.effects import (
    ask_who,
    key_is_enough,
    menu_may_open,
    nobody_is_asked,
    open_menu,
)

_PLAYING: Final = only(State.PLAYING)

RULES: Final[tuple[Rule[Cabinet], ...]] = (
    # ------------------------------------------------------------------ doors, faults, who stops the machine
    Rule(EventType.DOOR_OPENED, AWAKE, (), (record_door_opened,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.DOOR_CLOSED, AWAKE, (), (record_door_closed,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.FAULT_RAISED, AWAKE, (), (record_fault,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.FAULT_CLEARED, AWAKE, (), (record_fault_cleared,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.CHANCE_FAILED, AWAKE, (), (take_out_of_service,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.DISABLED, AWAKE, (), (record_disabled,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.ENABLED, AWAKE, (), (record_enabled,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.CONTROL, AWAKE, (), (record_control,)),
    Rule(EventType.KEY_TURNED, only(State.TILT), (key_is_enough,), (clear_tilts,), Next.DERIVED, TELL),
    # ------------------------------------------------------------------ a generator that has failed
    Rule(
        EventType.KEY_TURNED,
        ON_CALL,
        (has_failed, key_is_enough),
        (restart_generator,),
        Next.DERIVED,
        TELL,
    ),
    Rule(
        EventType.KEY_TURNED,
        _PLAYING,
        (game_waits_for_chance, key_is_enough),
        (restart_generator,),
        Next.DERIVED,
        TELL,
    ),
    Rule(
        EventType.KEY_TURNED,
        _PLAYING,
        (game_waits_for_chance, nobody_is_asked),
        (ask_who,),
        Next.DERIVED,
        TELL,
    ),
    Rule(
        EventType.MENU,
        _PLAYING,
        (game_waits_for_chance, menu_may_open),
        (open_menu,),
        Next.DERIVED,
        TELL,
    ),
)
