"""Storage keys of the progressive levels and of the link to their controller."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


class ProgressiveKey(StorageKey):
    """Storage keys of the progressive levels and of the link to their controller."""

    GAME_AWAITING_AWARD = "awaiting_award", ClearAction.OWED, KeyOwner.POSITION
    """The id of the game that waits for a controller to lock the amount of its hit, or to report a mystery result."""
    OWN_LEVEL = "level:", ClearAction.OWED, KeyOwner.MACHINE
    """Prefix; one key per progressive level of this machine itself, which stores the level's state."""
    LINK_PROGRESS = "link:", ClearAction.OWED, KeyOwner.MACHINE
    """Prefix; one key per controller's level, which stores the counts of this machine's contributions."""
    PRIZE_COMMITMENT = "sealed:", ClearAction.KEEP, KeyOwner.MACHINE
    """Prefix; one key per mystery level of a controller: its prize number, and the commitment to its secret amount."""
    GAME_ENDED_UNDECIDED = "undecided", ClearAction.OWED, KeyOwner.POSITION
    """The id of the game that an attendant ended without knowing whether it has won a mystery level."""
    CLAIM = "claim:", ClearAction.OWED, KeyOwner.MACHINE
    """Prefix; one key per open hit of a linked level, which stores the claim to its controller."""
    HELD_PRIZE = "held:", ClearAction.OWED, KeyOwner.MACHINE
    """Prefix; one key per reported prize that cannot be verified and is held (:mod:`egm.progressive.held_prizes`)."""
    LINK_CERTIFICATE = "link_certificate", ClearAction.KEEP, KeyOwner.MACHINE
    """The digest of the certificate that identifies this machine on its progressive link."""
    UNREAD_BROADCAST_WIN = "progressive_win:", ClearAction.KEEP, KeyOwner.MACHINE
    """Prefix; one key per hit of a broadcast level that the host has not read yet, which stores the hit."""
