"""Storage keys of the links: the last request of a GAT verifier, and the state of the SAS hosts' lines."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


class LinksKey(StorageKey):
    """Storage keys of the links: the last request of a GAT verifier, and the state of the SAS hosts' lines."""

    LAST_GAT_CALCULATION = "gat", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """The last calculation that a verifier requested over GAT, and its result."""
    HOST_STOPPED_POLLING_AT = "host_silent:", ClearAction.KEEP, KeyOwner.MACHINE
    """Key prefix, followed by a SAS host's name: the time since which that host does not poll.

    There is no value while the host polls. Without one when the machine starts, the time of that start is stored,
    because no host has polled yet.
    """
    HAS_AWAITED_HOST_START = "host_known:", ClearAction.KEEP, KeyOwner.MACHINE
    """Key prefix, followed by a SAS host's name: true if the machine has once waited for that host to enable it.

    Some jurisdictions require that a new machine is out of service until a host enables it by poll 02.
    """
    HOST_CLOCK_AHEAD_SECONDS = "host_time:", ClearAction.KEEP, KeyOwner.MACHINE
    """Key prefix, followed by a SAS host's name: by how many seconds the host's clock is ahead of the machine's."""
