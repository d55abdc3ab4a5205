"""Storage keys of integrity: number of starts, reasons for being out of service, installed software."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


class IntegrityKey(StorageKey):
    """Storage keys of integrity: starts, the service call, out-of-service reasons, and installed software."""

    BOOT_COUNT = "boots", ClearAction.KEEP, KeyOwner.MACHINE
    """The number of starts of the machine."""
    CURRENCY = "currency", ClearAction.KEEP, KeyOwner.MACHINE
    """The currency in which the journal is kept, ISO 4217; recorded at the first start."""
    SERVICE_CALL = "service_call", ClearAction.TRANSIENT, KeyOwner.POSITION
    """The player's call for service, while it is active."""
    OUT_OF_SERVICE = "out_of_service", ClearAction.KEEP, KeyOwner.MACHINE
    """Why the machine has taken itself out of service."""
    DISABLING_RECORD = "disabled:", ClearAction.KEEP, KeyOwner.MACHINE
    """Key prefix of the reasons why the machine is disabled: one key per host, link or operator function."""
    HARD_METER_OFFSETS = "hard_meters", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """For each hard meter, electronic meter less hard meter in pulses, when the present hard meters were detected."""
    ARCHIVE_END = "journal.archive", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """Where the journal's archive ends (:class:`meters.archive.ArchiveEnd`); the journal itself writes it."""
    MEDIUM_REPLACED = "memory.medium_replaced", ClearAction.KEEP, KeyOwner.MACHINE
    """Which medium was replaced: the journal sets this, and the machine removes it once it has raised a fault."""
    INSTALLED_SOFTWARE = "software", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """The installed software by component, as signed by its manufacturer."""
    SIGNED_CABINET_FILE = "cabinet_file", ClearAction.KEEP, KeyOwner.MACHINE
    """The cabinet file that staff signed last: its digest, who signed it, and when."""
