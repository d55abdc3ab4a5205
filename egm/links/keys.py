"""Storage keys of the links: the last request of a GAT verifier, and the state of the SAS hosts' lines."""

from egm.kernel.keys import ClearAction, Key, KeyOwner


class LinksKey(Key):
    """Storage keys of the links: the last request of a GAT verifier, and the state of the SAS hosts' lines."""

    GAT = "gat", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """The last calculation that a verifier requested over GAT, and its result."""
    HOST_SILENT = "host_silent:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Key prefix: the time at which a SAS host, by name, stopped polling; no value while it polls."""
    HOST_KNOWN = "host_known:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Key prefix: a SAS host, by name, whose first enabling of the machine (poll 02) has been awaited once already."""
    HOST_TIME = "host_time:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Key prefix: the number of seconds by which the clock of a SAS host, by name, is ahead of the machine's."""
