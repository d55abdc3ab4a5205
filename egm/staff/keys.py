"""Storage keys of staff work: the service menu, options, interventions and collections."""

import hashlib
from typing import Final

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey

#: Number of groups of staff numbers in which wrong PINs are counted.
_STAFF_NUMBER_GROUP_COUNT: Final = 1024


class StaffKey(StorageKey):
    """Storage keys of staff work: the service menu, operator options, interventions, collections and wrong PINs."""

    OPEN_MENU = "menu", ClearAction.TRANSIENT, KeyOwner.POSITION
    """The open service menu: since when, and who is signed in."""
    OPERATOR_OPTIONS = "options", ClearAction.KEEP, KeyOwner.MACHINE
    """The options set by the staff; see :mod:`egm.staff.options`."""
    TOUCH_CALIBRATION = "touch", ClearAction.KEEP, KeyOwner.POSITION
    """The touch screen's calibration: six integers (:mod:`egm.kernel.touch`)."""
    INVENTORY = "inventory", ClearAction.KEEP, KeyOwner.MACHINE
    """The machine's inventory entry as last recorded."""
    INTERVENTION = "intervention", ClearAction.KEEP, KeyOwner.MACHINE
    """The open intervention: who is working in the machine, since when, and why."""
    MONITORED_INTERVENTION = "intervention_seen", ClearAction.KEEP, KeyOwner.MACHINE
    """The id of the last intervention for which the monitoring system has read who is at work."""
    LAST_COLLECTION = "collected", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """The last collection of cash boxes: the metered content of each, and which have been counted."""
    WITHDRAWN_BASE = "base", ClearAction.KEEP, KeyOwner.MACHINE
    """The machine's stand (base) while it is withdrawn, and who has its lock and key."""
    ROSTER_CHANGE = "staff", ClearAction.KEEP, KeyOwner.MACHINE
    """The last recorded change of the staff roster: its number, and the roster's digest after it."""
    WRONG_PINS = "tries:", ClearAction.KEEP, KeyOwner.MACHINE
    """Prefix; one key per group of staff numbers: the count of wrong PINs, and the lock's seconds as last stored."""


def format_wrong_pins_key(fingerprint: str, staff_number: str, *, is_opened_by_key: bool) -> str:
    """Return the storage key under which a machine counts the wrong PINs of a group of staff numbers.

    The group is the one to which ``staff_number`` belongs. ``fingerprint`` is that of the machine's public key.
    ``is_opened_by_key`` is whether the menu was opened by a key switch; wrong PINs typed in a menu that was opened
    from the screen are counted under another storage key.
    """
    menu_suffix = "" if is_opened_by_key else " without a key"
    digest = hashlib.sha256(f"{fingerprint} {staff_number}{menu_suffix}".encode()).digest()
    return f"{StaffKey.WRONG_PINS}{int.from_bytes(digest[:4]) % _STAFF_NUMBER_GROUP_COUNT}"
