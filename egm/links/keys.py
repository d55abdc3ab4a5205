"""Storage keys of the links: the last request of a GAT verifier, and the state of the SAS hosts' lines."""

from egm.kernel.keys import ClearAction, Key, Owner


class LinksKey(Key):
    """Storage keys of the links: the last request of a GAT verifier, and the state of the SAS hosts' lines."""

    GAT = "gat", ClearAction.TRANSIENT, Owner.MACHINE
    """The last calculation that a verifier requested over GAT, and its result."""
    HOST_SILENT = "host_silent:", ClearAction.IDENTITY, Owner.MACHINE
    """Key prefix of the SAS hosts that do not reply: since when, by host."""
    HOST_KNOWN = "host_known:", ClearAction.IDENTITY, Owner.MACHINE
    """Key prefix of the SAS hosts from which the machine has once awaited its first start, by host."""
    HOST_TIME = "host_time:", ClearAction.IDENTITY, Owner.MACHINE
    """Key prefix of the SAS hosts' clocks: how far each is ahead of the machine's, in seconds."""
