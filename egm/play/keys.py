"""Storage keys of play, its tables and its wheel: what each stores in the journal."""

from egm.kernel.keys import ClearAction, Key, Owner


class PlayKey(Key):
    """Storage keys of play: the game, the player's session, and data about definitions."""

    GAME = "game", ClearAction.OWED, Owner.PLAYER
    """The open game."""
    LAST = "last_game", ClearAction.TRANSIENT, Owner.PLAYER
    """The last game that has ended."""
    PURSE = "purse", ClearAction.TRANSIENT, Owner.PLAYER
    """The points with which a tournament entry plays at this position in place of credits; worth no money."""
    PURSE_GAME = "purse_game", ClearAction.TRANSIENT, Owner.PLAYER
    """The open game of a tournament entry, which stakes points in place of credits."""
    SESSION = "session", ClearAction.IDENTITY, Owner.PLAYER
    """The counts of the player's session (player protection)."""
    REMINDER = "reminder", ClearAction.IDENTITY, Owner.PLAYER
    """The active reminder."""
    LIMITS = "limits", ClearAction.IDENTITY, Owner.PLAYER
    """The player's own limits."""
    DEFINITION = "definition:", ClearAction.IDENTITY, Owner.MACHINE
    """Prefix; one key per game definition played here, by digest, which stores it (:mod:`egm.play.definitions`)."""
    RESIDUAL = "residual_terms", ClearAction.TRANSIENT, Owner.PLAYER
    """The terms for residual credit on this position (:class:`egm.play.records.residual.ResidualTerms`)."""
    TIME_PAID = "time_charge", ClearAction.IDENTITY, Owner.PLAYER
    """The table for whose time the player has paid, and until when (:class:`egm.play.records.time_paid.TimePaid`)."""
    EXAMINED = "examined:", ClearAction.TRANSIENT, Owner.MACHINE
    """Prefix; one key per game definition, by digest, which stores its largest prizes."""


class TableKey(Key):
    """Storage keys of table games: state that lasts between two rounds."""

    TABLE = "table:", ClearAction.OWED, Owner.PLAYER
    """Prefix; one key per game definition, by digest: the player's part of the table's state, and standing bets."""
    SHARED = "in_common:", ClearAction.IDENTITY, Owner.MACHINE
    """Prefix; one key per game definition, by digest: the table state that all players share."""


class WheelKey(Key):
    """Storage keys of a real wheel that decides the game."""

    SPIN = "wheel_spin", ClearAction.IDENTITY, Owner.MACHINE
    """The last spin for which betting was closed."""
