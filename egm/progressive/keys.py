"""Storage keys of the progressive levels and their link."""

from egm.kernel.keys import ClearAction, Key, KeyOwner


class ProgressiveKey(Key):
    """Storage keys of progressive levels: the machine's own, and open claims with controllers."""

    AWAITING = "awaiting_award", ClearAction.OWED, KeyOwner.PLAYER
    """The game that waits for a controller to lock its award."""
    LEVEL = "level:", ClearAction.OWED, KeyOwner.MACHINE
    """Prefix; one key per progressive level run by this machine, which stores the level's state."""
    LINK = "link:", ClearAction.OWED, KeyOwner.MACHINE
    """Prefix; one key per linked level: the progress of this machine's contributions."""
    SEALED = "sealed:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Prefix; one key per mystery level of a controller: its prize number, and the commitment to its secret amount."""
    UNDECIDED = "undecided", ClearAction.OWED, KeyOwner.PLAYER
    """The game that an attendant ended without knowing whether it has won a mystery level."""
    CLAIM = "claim:", ClearAction.OWED, KeyOwner.MACHINE
    """Prefix; one key per open hit of a linked level, which stores the claim to its controller."""
    HELD = "held:", ClearAction.OWED, KeyOwner.MACHINE
    """Prefix; one key per message of a controller that is unproved and held (:mod:`egm.progressive.unproved`)."""
    CERTIFICATE = "link_certificate", ClearAction.IDENTITY, KeyOwner.MACHINE
    """The digest of the certificate that identifies this machine on its progressive link."""
    WIN = "progressive_win:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Prefix; one key per hit of a broadcast level that the host has not read yet, which stores the hit."""
