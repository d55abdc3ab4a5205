"""Storage keys of tournaments; the purse of each position belongs to play (:class:`egm.play.keys.PlayKey`)."""

from egm.kernel.keys import ClearAction, Key, Owner


class TournamentKey(Key):
    """Storage keys of tournaments: the installed rules, and whether the machine is in the tournament."""

    RULES = "tournament_rules", ClearAction.IDENTITY, Owner.MACHINE
    """The rules of the tournament that the machine is used for, shown to players from their installation on."""
    MODE = "tournament", ClearAction.TRANSIENT, Owner.MACHINE
    """Set while the machine is in the tournament."""
