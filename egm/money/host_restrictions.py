"""Restrictions by hosts: bills, games and sounds that a host disables without taking the machine out of service.

The restrictions of each host are stored separately and survive a power loss; the machine does only what all
hosts allow.
"""

from enum import StrEnum
from typing import Any

from egm.host.keys import HostKey
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine


class RestrictableFunction(StrEnum):
    """The functions of the machine that a host can restrict, each with the values that a host may set."""

    BILL_ACCEPTOR = "bill_acceptor"
    """Whether the acceptor takes bills and tickets; False disables it."""
    BILL_DENOMINATIONS = "bills"
    """The list of bill denominations that may be accepted, in minor units."""
    GAME = "game"
    """Whether one game (``game.<id>``) is offered; False disables it."""
    SOUND = "sound"
    """The sound level: ``no_play`` mutes the games, ``off`` mutes everything except alarms."""


def list_host_restrictions(
    machine: PositionMachine, function: RestrictableFunction, game_id: str = ""
) -> list[Any]:
    """Return the restrictions that hosts have set for ``function``, one for each host that has set it.

    ``game_id`` is the id of the game if the function is :attr:`RestrictableFunction.GAME`.
    """
    function_name = f"{function}.{game_id}" if game_id else str(function)
    return list(machine.journal.states(f"{HostKey.FUNCTION_RESTRICTION}{function_name}:").values())


def is_acceptor_allowed(machine: PositionMachine) -> bool:
    """Return whether every host allows the bill acceptor to take bills and tickets."""
    return False not in list_host_restrictions(machine, RestrictableFunction.BILL_ACCEPTOR)


def list_allowed_bills(machine: PositionMachine, bills_cents: frozenset[int]) -> frozenset[int]:
    """Return the bill denominations among ``bills_cents`` (minor units) that every host allows."""
    if not is_acceptor_allowed(machine):
        return frozenset()
    for host_bills_cents in list_host_restrictions(machine, RestrictableFunction.BILL_DENOMINATIONS):
        bills_cents &= frozenset(host_bills_cents)
    return bills_cents


def is_game_allowed(machine: PositionMachine, game_id: str) -> bool:
    """Return whether every host allows the game to be offered."""
    return False not in list_host_restrictions(machine, RestrictableFunction.GAME, game_id)


def find_allowed_sound(machine: PositionMachine) -> str:
    """Return the sound level that all hosts allow: ``on``, ``no_play`` or ``off``."""
    sound_levels = list_host_restrictions(machine, RestrictableFunction.SOUND)
    return next((sound_level for sound_level in ("off", "no_play") if sound_level in sound_levels), "on")


def game_is_enabled(machine: PositionMachine, _: Event) -> bool:
    """Return whether every host allows the selected game."""
    return is_game_allowed(machine, machine.selection.game_id)
