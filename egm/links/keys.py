"""Storage keys of the links: the last request of a GAT verifier, and the state of the SAS hosts' lines."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


class LinksKey(StorageKey):
    """Storage keys of the links: the last request of a GAT verifier, and the state of the SAS hosts' lines."""

    GAT = "gat", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """The last calculation that a verifier requested over GAT, and its result."""
    HOST_SILENT = "host_silent:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Key prefix, followed by a SAS host's name: the time at which it stopped polling; no value while it polls."""
    HOST_KNOWN = "host_known:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Key prefix, followed by a SAS host's name: true if the machine has once waited for that host to enable it.

    Some jurisdictions require that a new machine is out of service until a host enables it by poll 02.
    """
    HOST_TIME = "host_time:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Key prefix, followed by a SAS host's name: by how many seconds its clock is ahead of the machine's."""
