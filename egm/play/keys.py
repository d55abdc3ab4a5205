"""Storage keys of play, of its tables and of a real wheel: what each stores in the journal."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


class PlayKey(StorageKey):
    """Storage keys of play: games, the player's session, and data about game definitions."""

    GAME = "game", ClearAction.OWED, KeyOwner.POSITION
    """The reference to the open game."""
    LAST_GAME = "last_game", ClearAction.TRANSIENT, KeyOwner.POSITION
    """The last game that has ended: its id and what it paid."""
    TOURNAMENT_ROUND = "purse", ClearAction.TRANSIENT, KeyOwner.POSITION
    """The record of the tournament round that this position plays with points; points are worth no money."""
    TOURNAMENT_GAME = "purse_game", ClearAction.TRANSIENT, KeyOwner.POSITION
    """The reference to the open game of a tournament round, which stakes points in place of credits."""
    SESSION = "session", ClearAction.KEEP, KeyOwner.POSITION
    """The counts of the player's session, for player protection."""
    REMINDER = "reminder", ClearAction.KEEP, KeyOwner.POSITION
    """The active player-protection reminder."""
    OWN_LIMITS = "limits", ClearAction.KEEP, KeyOwner.POSITION
    """The limits of time and net spending that the player has set for themselves."""
    GAME_DEFINITION = "definition:", ClearAction.KEEP, KeyOwner.MACHINE
    """Prefix; one key per game definition played here, by digest, which stores it (:mod:`egm.play.definitions`)."""
    RESIDUAL_CREDIT_TERMS = "residual_terms", ClearAction.TRANSIENT, KeyOwner.POSITION
    """The rules for residual credit at this player position
    (:class:`egm.play.records.residual_terms.ResidualTerms`)."""
    PAID_PLAYING_TIME = "time_charge", ClearAction.KEEP, KeyOwner.POSITION
    """The table at which the player has paid for time, and the end of that time."""
    LARGEST_PRIZES = "examined:", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """Prefix; one key per game definition, by digest, which stores its largest prizes."""


class TableKey(StorageKey):
    """Storage keys of the state of table games that lasts between two rounds."""

    TABLE_STATE = "table:", ClearAction.OWED, KeyOwner.POSITION
    """Prefix; one key per game definition, by digest: this position's part of the table state and its standing bets."""
    SHARED_STATE = "in_common:", ClearAction.KEEP, KeyOwner.MACHINE
    """Prefix; one key per game definition, by digest: the table state that all players share."""


class WheelKey(StorageKey):
    """Storage keys of a real wheel that decides the game."""

    LAST_SPIN = "wheel_spin", ClearAction.KEEP, KeyOwner.MACHINE
    """The last spin for which betting was closed, with its number once the wheel has reported it."""
