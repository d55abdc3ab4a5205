"""Storage keys of staff work: the service menu, options, interventions and collections."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


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
