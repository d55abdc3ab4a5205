"""Storage keys of tournaments. The points of each position are stored by play (:class:`egm.play.keys.PlayKey`)."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


class TournamentKey(StorageKey):
    """Storage keys of tournaments: the installed rules, and whether the machine is in the tournament."""

    INSTALLED_RULES = "tournament_rules", ClearAction.KEEP, KeyOwner.MACHINE
    """The installed rules: those of the tournament for which the machine will be used."""
    TOURNAMENT_MODE = "tournament", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """The tournament that the machine is in; absent outside a tournament."""
