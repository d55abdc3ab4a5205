"""Storage keys of play, its tables and its wheel: what each stores in the journal."""

from egm.kernel.keys import ClearAction, Key, KeyOwner


class PlayKey(Key):
    """Storage keys of play: the game, the player's session, and data about definitions."""

    GAME = "game", ClearAction.OWED, KeyOwner.PLAYER
    """The open game."""
    LAST = "last_game", ClearAction.TRANSIENT, KeyOwner.PLAYER
    """The last game that has ended."""
    PURSE = "purse", ClearAction.TRANSIENT, KeyOwner.PLAYER
    """The points with which a tournament entry plays at this position in place of credits; worth no money."""
    PURSE_GAME = "purse_game", ClearAction.TRANSIENT, KeyOwner.PLAYER
    """The open game of a tournament entry, which stakes points in place of credits."""
    SESSION = "session", ClearAction.IDENTITY, KeyOwner.PLAYER
    """The counts of the player's session (player protection)."""
    REMINDER = "reminder", ClearAction.IDENTITY, KeyOwner.PLAYER
    """The active reminder."""
    LIMITS = "limits", ClearAction.IDENTITY, KeyOwner.PLAYER
    """The player's own limits."""
    DEFINITION = "definition:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Prefix; one key per game definition played here, by digest, which stores it (:mod:`egm.play.definitions`)."""
    RESIDUAL = "residual_terms", ClearAction.TRANSIENT, KeyOwner.PLAYER
    """The terms for residual credit on this position (:class:`egm.play.records.residual.ResidualTerms`)."""
    TIME_PAID = "time_charge", ClearAction.IDENTITY, KeyOwner.PLAYER
    """The table for whose time the player has paid, and until when (:class:`egm.play.records.time_paid.TimePaid`)."""
    EXAMINED = "examined:", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """Prefix; one key per game definition, by digest, which stores its largest prizes."""


class TableKey(Key):
    """Storage keys of table games: state that lasts between two rounds."""

    TABLE = "table:", ClearAction.OWED, KeyOwner.PLAYER
    """Prefix; one key per game definition, by digest: the player's part of the table's state, and standing bets."""
    SHARED = "in_common:", ClearAction.IDENTITY, KeyOwner.MACHINE
    """Prefix; one key per game definition, by digest: the table state that all players share."""


class WheelKey(Key):
    """Storage keys of a real wheel that decides the game."""

    SPIN = "wheel_spin", ClearAction.IDENTITY, KeyOwner.MACHINE
    """The last spin for which betting was closed."""
