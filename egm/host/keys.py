"""Storage keys of the money host: transfers, tickets it validates, and its settings."""

from egm.kernel.keys import ClearAction, Key, Owner


class HostKey(Key):
    """Storage keys of the money host: transfers, tickets it validates, and its settings."""

    TICKET = "host_ticket", ClearAction.IDENTITY, Owner.MACHINE
    """The result of the last ticket the host was queried about."""
    RING = "validation:", ClearAction.IDENTITY, Owner.MACHINE
    """Prefix; one key per index of the ring of printed tickets that the host reads: the id of the cash-out."""
    RING_COUNT = "validations", ClearAction.IDENTITY, Owner.MACHINE
    """The number of tickets ever added to the ring."""
    RING_READ = "validations_read", ClearAction.IDENTITY, Owner.MACHINE
    """The number of those tickets that the host has read."""
    TRANSFER = "transfer", ClearAction.IDENTITY, Owner.MACHINE
    """The last electronic transfer ordered by a host, and its result."""
    TRANSFERS = "transfers", ClearAction.IDENTITY, Owner.MACHINE
    """The number of electronic transfers so far."""
    CASH_OUT = "host_cash_out", ClearAction.IDENTITY, Owner.MACHINE
    """Whether cash-outs are offered to the host first."""
    REGISTRATION = "registration", ClearAction.OWED, Owner.MACHINE
    """The machine's registration for transfers."""
    TRANSFERS_UNPROVED = "transfers_unproved", ClearAction.IDENTITY, Owner.MACHINE
    """Set if, since a memory clear, the earlier transfers are unknown: none is executed until the host registers."""
    CONTROL = "control:", ClearAction.IDENTITY, Owner.MACHINE
    """Prefix; one key per control and host: the host's request."""
