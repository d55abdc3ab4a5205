"""Host controls: what a host withholds without taking the machine out of service: bills, games, sounds.

Each host's request is kept on its own account and over a power cut; the machine does what all of them allow.
A request of None is no request.
"""

from enum import StrEnum
from typing import Any

from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.records.keys import HostKey


class Control(StrEnum):
    """What can be withheld."""

    BILL_ACCEPTOR = "bill_acceptor"
    """False: no bills, no tickets."""
    BILLS = "bills"
    """The bills that may be taken, in minor units."""
    GAME = "game"
    """Of one game (``game.<id>``), False: it is not offered."""
    SOUND = "sound"
    """``no_play``: games are silent; ``off``: everything but alarms is."""


def record_control(machine: Machine, event: Event) -> None:
    """Keep what a host asks for; a repeat changes nothing."""
    source, name, value = (event.data.get(key) for key in ("source", "name", "value"))
    key = f"{HostKey.CONTROL}{name}:{source}"
    if machine.journal.state(key) == value:
        return
    machine.record(
        "host.control", state={key: value}, details={"source": source, "name": name, "value": value}
    )


def requests(machine: Machine, control: Control, of: str = "") -> list[Any]:
    """What every host asks of a control; ``of`` is the game it is about."""
    name = f"{control}.{of}" if of else str(control)
    return list(machine.journal.states(f"{HostKey.CONTROL}{name}:").values())


def acceptor_is_allowed(machine: Machine) -> bool:
    """Whether bills and tickets may be taken at all."""
    return False not in requests(machine, Control.BILL_ACCEPTOR)


def bills_allowed(machine: Machine, bills_cents: frozenset[int]) -> frozenset[int]:
    """Those of ``bills_cents`` (minor units) that every host allows."""
    if not acceptor_is_allowed(machine):
        return frozenset()
    for allowed in requests(machine, Control.BILLS):
        bills_cents &= frozenset(allowed)
    return bills_cents


def game_is_allowed(machine: Machine, game_id: str) -> bool:
    """Whether no host has disabled a game."""
    return False not in requests(machine, Control.GAME, game_id)


def sound(machine: Machine) -> str:
    """How much may be heard: ``on``, ``no_play`` or ``off``."""
    asked = requests(machine, Control.SOUND)
    return next((level for level in ("off", "no_play") if level in asked), "on")


# ---------------------------------------------------------------------------------------------- guards
def game_is_enabled(machine: Machine, _: Event) -> bool:
    """No host has disabled the selected game."""
    return game_is_allowed(machine, machine.selection.game_id)
