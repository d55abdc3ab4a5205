"""Storage keys of the money host: transfers, tickets that the host validates, and the host's settings."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


class HostKey(StorageKey):
    """Storage keys of the money host: transfers, tickets that the host validates, and the host's settings."""

    LAST_TICKET_REDEMPTION = "host_ticket", ClearAction.KEEP, KeyOwner.MACHINE
    """The redemption of the last ticket about which the host was queried, and its result."""
    PRINTED_TICKET_RING = "validation:", ClearAction.KEEP, KeyOwner.MACHINE
    """Key prefix of the ring buffer of printed tickets for the host to read: the cash-out's id, by index 1 to 31."""
    TICKETS_ADDED_TO_RING = "validations", ClearAction.KEEP, KeyOwner.MACHINE
    """The number of tickets ever added to the ring buffer of printed tickets."""
    TICKETS_READ_FROM_RING = "validations_read", ClearAction.KEEP, KeyOwner.MACHINE
    """The number of tickets in the ring buffer of printed tickets that the host has read."""
    LAST_TRANSFER = "transfer", ClearAction.KEEP, KeyOwner.MACHINE
    """The last electronic transfer ordered by a host, and its result."""
    TRANSFER_COUNT = "transfers", ClearAction.KEEP, KeyOwner.MACHINE
    """The number of electronic transfers so far."""
    CASH_OUT_TERMS = "host_cash_out", ClearAction.KEEP, KeyOwner.MACHINE
    """The host's terms for cash-outs: whether they are offered to it first, and whether only it may pay them."""
    REGISTRATION = "registration", ClearAction.OWED, KeyOwner.MACHINE
    """The machine's registration with the host for electronic transfers."""
    TRANSFER_IDENTIFIERS_LOST = "transfers_unproved", ClearAction.KEEP, KeyOwner.MACHINE
    """Set if a memory clear has lost the identifiers of earlier transfers.

    Until the host registers the machine again, no transfer is executed, because it may be a repeat.
    """
    FUNCTION_RESTRICTION = "control:", ClearAction.KEEP, KeyOwner.MACHINE
    """Key prefix of the host's restrictions of functions: the requested setting, by function and host."""
