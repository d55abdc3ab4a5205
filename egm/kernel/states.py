"""Named sets of states, and which state is the more pressing where the memory holds several.

A rule holds in a set of states. Facts of the physical world (a bill is in the box, a door is open) hold in
:data:`AWAKE`: refusing to know a fact would lose money or blind the audit. ``Next.DERIVED`` is the most
pressing state that follows from the memory (:data:`PRESSING`, :class:`egm.kernel.rules.DerivedState`): a
restart, a closed door and a cleared tilt all lead there, so nothing needs to remember where it was.
"""

from collections.abc import Mapping
from typing import Final

from egm.kernel.events import State

EVERYWHERE: Final = frozenset(State)
#: Once the memory is ready.
AWAKE: Final = EVERYWHERE - {State.BOOT}
#: Where the attendant and the player can always be heard.
LISTENING: Final = AWAKE - {State.SELF_TEST}
#: Where the service menu may be opened: whenever no game and no payout is under way.
SERVICEABLE: Final = LISTENING - {State.PLAYING, State.PAYING, State.SERVICE_MENU, State.LOCKED}
#: Where staff work at the machine: the menu is open, or something more pressing holds.
AT_WORK: Final = SERVICEABLE | {State.SERVICE_MENU}
#: Where a form about money may arrive: the menu is open, or a hand-pay, a door or a tilt came over it.
RULING: Final = frozenset({State.SERVICE_MENU, State.HANDPAY, State.DOOR_OPEN, State.TILT})
#: Where persons rule on what a controller said: also while the game waits for it.
RULING_ON_PRIZES: Final = RULING | {State.AWAITING_AWARD}
#: Where credits can be paid out: a machine that cannot play still owes the player.
PAYABLE: Final = frozenset({State.IDLE, State.OUT_OF_SERVICE})
#: Where the attendant's key answers calls.
ON_CALL: Final = PAYABLE | {State.SERVICE_MENU}
#: Where the attendant's key asks who turned it.
CHALLENGED: Final = PAYABLE | {State.TILT}
#: Where a game is shown, or waits for its award.
SHOWING: Final = frozenset({State.PLAYING, State.AWAITING_AWARD})
#: Where a ticket that a host has called good may still be taken.
TAKING_TICKETS: Final = frozenset({State.IDLE, State.PLAYING})
#: Where a host may move credits and hold the machine still.
TRANSFERRING: Final = frozenset({State.IDLE, State.LOCKED})
#: Where bets are chosen.
BETTABLE: Final = frozenset({State.IDLE, State.BETTING})
#: Where no game is shown: what was said of one is over.
NOT_PLAYING: Final = EVERYWHERE - {State.PLAYING}
#: Where a host's order is answered as soon as nothing else goes on.
ORDERS_DUE: Final = AWAKE - {State.PLAYING, State.PAYING}

#: By the names they have in the generated table.
SETS: Final[Mapping[frozenset[State], str]] = {
    EVERYWHERE: "everywhere",
    AWAKE: "awake",
    LISTENING: "listening",
    SERVICEABLE: "serviceable",
    AT_WORK: "at work",
    RULING: "ruling",
    RULING_ON_PRIZES: "ruling on prizes",
    PAYABLE: "payable",
    ON_CALL: "on call",
    CHALLENGED: "challenged",
    SHOWING: "showing",
    TAKING_TICKETS: "taking tickets",
    TRANSFERRING: "transferring",
    BETTABLE: "bettable",
    NOT_PLAYING: "not playing",
    ORDERS_DUE: "orders due",
    **{frozenset({state}): state.value for state in State},
}


def only(state: State) -> frozenset[State]:
    """The set of one state."""
    return frozenset({state})


#: The states that follow from what the memory holds, the most pressing first. A door and a tilt stop
#: everything. Money owed and a game begun come before being out of service: a durable outcome is shown and
#: paid whatever has happened to the generator since. While the service menu is open nothing of the player's
#: goes on. Where nothing holds, the machine is idle.
PRESSING: Final = (
    State.DOOR_OPEN,
    State.TILT,
    State.HANDPAY,
    State.AWAITING_AWARD,
    State.SERVICE_MENU,
    State.PAYING,
    State.PLAYING,
    State.OUT_OF_SERVICE,
    State.LOCKED,
    State.BETTING,
)
