"""Storage keys of integrity: number of starts, reasons for being out of service, installed software."""

from egm.kernel.keys import ClearAction, Key, KeyOwner


class IntegrityKey(Key):
    """Storage keys of integrity: starts, the service call, out-of-service reasons, and installed software."""

    BOOTS = "boots", ClearAction.IDENTITY, KeyOwner.MACHINE
    """The number of starts of the machine."""
    SERVICE = "service_call", ClearAction.TRANSIENT, KeyOwner.PLAYER
    """The player's call for service, while it is active."""
    OUT_OF_SERVICE = "out_of_service", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Why the machine has taken itself out of service."""
    DISABLED = "disabled:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Key prefix of the reasons why the machine is disabled: one key per host, link or operator function."""
    HARD_METERS = "hard_meters", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """Electronic meter less hard meter when the hard meters were first seen, in pulses, for each hard meter."""
    ARCHIVE = "journal.archive", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """How far the journal is archived (:class:`meters.archive.ArchiveEnd`); written by the journal itself."""
    MEDIUM_REPLACED = "memory.medium_replaced", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Set by the journal if a medium was replaced, until the machine has raised a fault about it."""
    SOFTWARE = "software", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """The installed software by component, as signed by its manufacturer."""
    CABINET = "cabinet_file", ClearAction.IDENTITY, KeyOwner.MACHINE
    """The cabinet file that staff signed last: its digest, who signed it, and when."""
