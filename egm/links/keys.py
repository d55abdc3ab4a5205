"""Storage keys of the links: the last verifier query, and the state of the hosts' lines."""

from egm.kernel.keys import ClearAction, Key, Owner


class LinksKey(Key):
    """Storage keys of the links: the last verifier query, and the state of the hosts' lines."""

    GAT = "gat", ClearAction.TRANSIENT, Owner.MACHINE
    """The last query of a verifier over GAT, and its result."""
    HOST_SILENT = "host_silent:", ClearAction.IDENTITY, Owner.MACHINE
    """Prefix; one key per host that does not reply: since when."""
    HOST_KNOWN = "host_known:", ClearAction.IDENTITY, Owner.MACHINE
    """Prefix; one key per host that the machine waits for at its start."""
    HOST_TIME = "host_time:", ClearAction.IDENTITY, Owner.MACHINE
    """Prefix; one key per host: how far its clock is ahead."""
