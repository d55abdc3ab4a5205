"""Storage keys of integrity: starts, reasons for being out of service, and installed software."""

from egm.kernel.keys import ClearAction, Key, Owner


class IntegrityKey(Key):
    """Storage keys of integrity: starts, the service call, out-of-service reasons, and installed software."""

    BOOTS = "boots", ClearAction.IDENTITY, Owner.MACHINE
    """The number of starts of the machine."""
    SERVICE = "service_call", ClearAction.TRANSIENT, Owner.PLAYER
    """The player's service call."""
    OUT_OF_SERVICE = "out_of_service", ClearAction.IDENTITY, Owner.MACHINE
    """Why the machine has taken itself out of service."""
    DISABLED = "disabled:", ClearAction.IDENTITY, Owner.MACHINE
    """Prefix; one key per host or person that has taken the machine out of service."""
    HARD_METERS = "hard_meters", ClearAction.TRANSIENT, Owner.MACHINE
    """The offset between the electronic meters and the hard meters when the latter were first seen, in pulses."""
    ARCHIVE = "journal.archive", ClearAction.TRANSIENT, Owner.MACHINE
    """Set by the journal: the end of its archive (:class:`meters.archive.Boundary`)."""
    MEDIUM_REPLACED = "memory.medium_replaced", ClearAction.IDENTITY, Owner.MACHINE
    """Set by the journal: a medium was replaced, and staff have not been notified yet."""
    SOFTWARE = "software", ClearAction.TRANSIENT, Owner.MACHINE
    """The installed software by component, as signed by its manufacturer."""
    CABINET = "cabinet_file", ClearAction.IDENTITY, Owner.MACHINE
    """The cabinet file signed last: its digest, by whom, and when."""
