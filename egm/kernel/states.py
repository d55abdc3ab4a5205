"""Named sets of machine states, and the priority of states when the memory implies several.

A rule of the state table applies in a set of states. Facts of the physical world (a bill is in the box, a door
is open) are accepted in :data:`STATES_AFTER_BOOT`: rejecting a fact would lose money or hide it from the audit.
``NextState.DERIVED`` is the state with the highest priority (:data:`STATES_BY_URGENCY`) that the memory implies
(:class:`egm.kernel.rules.DerivedState`). A restart, a closed door and a cleared tilt all lead to that state, so
no previous state needs to be stored.
"""

from collections.abc import Mapping
from typing import Final

from egm.kernel.events import State

#: Every state.
ALL_STATES: Final = frozenset(State)
#: The states after the boot, in which the memory can be read and written.
STATES_AFTER_BOOT: Final = ALL_STATES - {State.BOOT}
#: The states in which requests of the attendant and the player are accepted.
STATES_AFTER_SELF_TEST: Final = STATES_AFTER_BOOT - {State.SELF_TEST}
#: The states in which the closed service menu may be opened: no game is being played (one may wait for its award), no
#: payout is in progress, and no host has locked the machine.
STATES_FOR_SERVICE_MENU: Final = STATES_AFTER_SELF_TEST - {
    State.PLAYING,
    State.PAYING,
    State.SERVICE_MENU,
    State.LOCKED,
}
#: The states in which staff may work at the machine: the menu is open, or could be opened.
STATES_WITH_STAFF_AT_WORK: Final = STATES_FOR_SERVICE_MENU | {State.SERVICE_MENU}
#: The states in which a form about money may arrive: the menu is open, or a hand-pay, door or tilt has covered it.
STATES_FOR_RULINGS: Final = frozenset({State.SERVICE_MENU, State.HANDPAY, State.DOOR_OPEN, State.TILT})
#: The states in which staff rule on a controller's award: also while the game waits for it.
STATES_FOR_PRIZE_RULINGS: Final = STATES_FOR_RULINGS | {State.AWAITING_AWARD}
#: The states in which credits can be paid out: a machine that cannot play still owes the player.
STATES_FOR_CASH_OUT: Final = frozenset({State.IDLE, State.OUT_OF_SERVICE})
#: The states in which the attendant's key acts without a sign-in: it answers a service call, or restarts a generator
#: that has failed. If neither applies, the key asks for a sign-in in the states of STATES_ASKING_FOR_IDENTIFICATION.
STATES_FOR_ATTENDANT_KEY: Final = STATES_FOR_CASH_OUT | {State.SERVICE_MENU, State.TOURNAMENT}
#: The states in which turning the attendant's key asks for a staff number and a PIN.
STATES_ASKING_FOR_IDENTIFICATION: Final = STATES_FOR_CASH_OUT | {State.TILT, State.TOURNAMENT}
#: The states in which a game is shown or waits for its award.
STATES_SHOWING_OUTCOME: Final = frozenset({State.PLAYING, State.AWAITING_AWARD})
#: The states in which a bill or ticket in escrow may still be stacked.
STATES_FOR_STACKING: Final = frozenset({State.IDLE, State.PLAYING})
#: The states in which a host may transfer credits and lock the machine.
STATES_FOR_TRANSFERS: Final = frozenset({State.IDLE, State.LOCKED})
#: The states in which bets are chosen.
STATES_FOR_BETTING: Final = frozenset({State.IDLE, State.BETTING})
#: All states but PLAYING. In them, the object of a game that has ended is dropped from memory.
STATES_NOT_PLAYING: Final = ALL_STATES - {State.PLAYING}
#: The states in which a deferred host order is answered, because no game is played and no payout is in progress.
STATES_FOR_DEFERRED_HOST_ORDERS: Final = STATES_AFTER_BOOT - {State.PLAYING, State.PAYING}

#: The name of each set in the generated state table, in test names and, as ``manual.set.NAME``, in the catalogue.
STATE_SET_NAMES: Final[Mapping[frozenset[State], str]] = {
    ALL_STATES: "everywhere",
    STATES_AFTER_BOOT: "after boot",
    STATES_AFTER_SELF_TEST: "after self-test",
    STATES_FOR_SERVICE_MENU: "for service menu",
    STATES_WITH_STAFF_AT_WORK: "with staff at work",
    STATES_FOR_RULINGS: "for rulings",
    STATES_FOR_PRIZE_RULINGS: "for prize rulings",
    STATES_FOR_CASH_OUT: "for cash-out",
    STATES_FOR_ATTENDANT_KEY: "for attendant key",
    STATES_ASKING_FOR_IDENTIFICATION: "asking for identification",
    STATES_SHOWING_OUTCOME: "showing outcome",
    STATES_FOR_STACKING: "for stacking",
    STATES_FOR_TRANSFERS: "for transfers",
    STATES_FOR_BETTING: "for betting",
    STATES_NOT_PLAYING: "not playing",
    STATES_FOR_DEFERRED_HOST_ORDERS: "for deferred host orders",
    **{frozenset({state}): state.value for state in State},
}


def single_state(state: State) -> frozenset[State]:
    """Return the set that contains this state only, for a rule that applies in one state."""
    return frozenset({state})


#: The states that follow from the memory, most pressing first. A door and a tilt stop everything. Money owed
#: and an open game come before being out of service: a durable outcome is shown and paid whatever has
#: happened to the random number generator since. While the service menu is open, no player action proceeds,
#: but a hand-pay and a game that waits for its award stay visible above it. A tournament comes before a host's lock
#: and a betting period, because it allows neither. If none of these applies, the machine is idle.
STATES_BY_URGENCY: Final = (
    State.DOOR_OPEN,
    State.TILT,
    State.HANDPAY,
    State.AWAITING_AWARD,
    State.SERVICE_MENU,
    State.PAYING,
    State.PLAYING,
    State.OUT_OF_SERVICE,
    State.TOURNAMENT,
    State.LOCKED,
    State.BETTING,
)
