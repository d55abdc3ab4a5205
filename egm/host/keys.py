"""Storage keys of the money host: transfers, tickets that the host validates, and the host's settings."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


class HostKey(StorageKey):
    """Storage keys of the money host: transfers, tickets that the host validates, and the host's settings."""

    TICKET = "host_ticket", ClearAction.IDENTITY, KeyOwner.MACHINE
    """The redemption of the last ticket about which the host was queried, and its result."""
    RING = "validation:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Key prefix of the ring buffer of printed tickets for the host to read: the cash-out's id, by index 1 to 31."""
    RING_COUNT = "validations", ClearAction.IDENTITY, KeyOwner.MACHINE
    """The number of tickets ever added to the ring buffer of printed tickets."""
    RING_READ = "validations_read", ClearAction.IDENTITY, KeyOwner.MACHINE
    """The number of tickets in the ring buffer of printed tickets that the host has read."""
    TRANSFER = "transfer", ClearAction.IDENTITY, KeyOwner.MACHINE
    """The last electronic transfer ordered by a host, and its result."""
    TRANSFERS = "transfers", ClearAction.IDENTITY, KeyOwner.MACHINE
    """The number of electronic transfers so far."""
    CASH_OUT = "host_cash_out", ClearAction.IDENTITY, KeyOwner.MACHINE
    """The host's terms for cash-outs: whether they are offered to it first, and whether only it may pay them."""
    REGISTRATION = "registration", ClearAction.OWED, KeyOwner.MACHINE
    """The machine's registration with the host for electronic transfers."""
    TRANSFERS_UNPROVED = "transfers_unproved", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Set if a memory clear has lost the identifiers of earlier transfers.

    Until the host registers the machine again, no transfer is executed, because it may be a repeat.
    """
    CONTROL = "control:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Key prefix of the host's restrictions of functions: the requested setting, by function and host."""
