"""Storage keys of the money host: transfers, tickets it validates, and its settings."""

from egm.kernel.keys import Fate, Key, Owner


class HostKey(Key):
    """Storage keys of the money host: transfers, tickets it validates, and its settings."""

    TICKET = "host_ticket", Fate.IDENTITY, Owner.MACHINE
    """The result of the last ticket the host was queried about."""
    RING = "validation:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per index of the ring of tickets the host reads: the id of the cash-out."""
    RING_COUNT = "validations", Fate.IDENTITY, Owner.MACHINE
    """The number of tickets ever added to the ring."""
    RING_READ = "validations_read", Fate.IDENTITY, Owner.MACHINE
    """The number of them that the host has read."""
    TRANSFER = "transfer", Fate.IDENTITY, Owner.MACHINE
    """The last electronic transfer ordered by a host, and its result."""
    TRANSFERS = "transfers", Fate.IDENTITY, Owner.MACHINE
    """The number of electronic transfers so far."""
    CASH_OUT = "host_cash_out", Fate.IDENTITY, Owner.MACHINE
    """Whether cash-outs are offered to the host first."""
    REGISTRATION = "registration", Fate.OWED, Owner.MACHINE
    """The machine's registration for transfers."""
    TRANSFERS_UNPROVED = "transfers_unproved", Fate.IDENTITY, Owner.MACHINE
    """Set if, since a memory clear, the earlier transfers are unknown: none is executed until the host registers."""
    CONTROL = "control:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per control and host: the host's request."""
