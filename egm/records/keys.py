"""Keys of the machine's memory that its own features declare, an enumeration a feature.

They stand below the features because several read the same record: a transfer waits for the game to end.
"""

from egm.kernel.keys import Fate, Key, Owner


class PlayKey(Key):
    """Play: the game, the session, and what is known of a definition."""

    GAME = "game", Fate.OWED, Owner.PLAYER
    """The open game."""
    LAST = "last_game", Fate.TRANSIENT, Owner.PLAYER
    """The last game that has ended."""
    SESSION = "session", Fate.IDENTITY, Owner.PLAYER
    """What player protection counts since the player came."""
    REMINDER = "reminder", Fate.IDENTITY, Owner.PLAYER
    """The reminder that is shown."""
    LIMITS = "limits", Fate.IDENTITY, Owner.PLAYER
    """The player's own limits."""
    DEFINITION = "definition:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key each definition played here, by its digest: see :mod:`egm.play.definitions`."""
    RESIDUAL = "residual_terms", Fate.TRANSIENT, Owner.PLAYER
    """What becomes of a remainder of credit here (:class:`egm.records.residual.ResidualTerms`)."""
    EXAMINED = "examined:", Fate.TRANSIENT, Owner.MACHINE
    """Prefix; one key each definition whose largest prize is known, by its digest."""


class TableKey(Key):
    """Tables: what lasts between two rounds."""

    TABLE = "table:", Fate.OWED, Owner.PLAYER
    """Prefix; one key a definition by its digest: how its table stands, and the bets that stay on it."""
    SHARED = "in_common:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key a definition by its digest: what all who play have in common of its table."""


class WheelKey(Key):
    """A real wheel."""

    SPIN = "wheel_spin", Fate.IDENTITY, Owner.MACHINE
    """The last spin that bets were closed for."""


class MoneyKey(Key):
    """Money: what is on its way in or out, and what is owed by hand."""

    PAY_OUT = "pay_out", Fate.OWED, Owner.PLAYER
    """The payout under way."""
    PRINT = "print", Fate.OWED, Owner.PLAYER
    """How far the printer is with it."""
    HOPPER = "hopper", Fate.OWED, Owner.PLAYER
    """How far the hopper is with it."""
    COINS = "coins", Fate.IDENTITY, Owner.PLAYER
    """The coins in the hopper."""
    COINS_GONE = "coins_gone", Fate.OWED, Owner.PLAYER
    """What left the hopper before its payout was given up, and is not posted yet."""
    DISPUTED = "disputed:", Fate.OWED, Owner.PLAYER
    """Prefix; one key an amount a person must decide."""
    RULING = "ruling", Fate.OWED, Owner.PLAYER
    """What a person has decided of a disputed amount, and is not posted yet."""
    HANDPAY = "handpay", Fate.OWED, Owner.PLAYER
    """What waits for an attendant's hand."""
    SLIP = "slip", Fate.IDENTITY, Owner.MACHINE
    """The number of the last hand-pay slip."""
    UNCLAIMED = "unclaimed", Fate.OWED, Owner.PLAYER
    """A hand-pay given up, and not yet an orphan."""
    GOES_ON = "cash_out_goes_on", Fate.IDENTITY, Owner.PLAYER
    """What one way out has left over, which goes the next way; true in journals from before."""
    PAPER = "paper", Fate.OWED, Owner.PLAYER
    """The bill or ticket on its way into the box."""
    RESTRICTED = "restricted", Fate.OWED, Owner.PLAYER
    """Until when the restricted credit on the meter is good, and the pool it belongs to."""
    TICKETS = "tickets", Fate.TRANSIENT, Owner.MACHINE
    """How far the ticket ledger has come, and what it knew when this journal began."""
    TICKET_TERMS = "ticket_terms", Fate.IDENTITY, Owner.MACHINE
    """What the host has laid down about tickets."""


class HostKey(Key):
    """The host of the money: transfers, the tickets it validates, and what it has set."""

    TICKET = "host_ticket", Fate.IDENTITY, Owner.MACHINE
    """What became of the last ticket a host was asked about."""
    RING = "validation:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key a place of the ring of tickets that the host reads: their cash-outs."""
    RING_COUNT = "validations", Fate.IDENTITY, Owner.MACHINE
    """How many tickets were ever put into the ring."""
    RING_READ = "validations_read", Fate.IDENTITY, Owner.MACHINE
    """How many of them the host has read."""
    TRANSFER = "transfer", Fate.IDENTITY, Owner.MACHINE
    """The last electronic transfer a host ordered, and what became of it."""
    TRANSFERS = "transfers", Fate.IDENTITY, Owner.MACHINE
    """How many there were."""
    CASH_OUT = "host_cash_out", Fate.IDENTITY, Owner.MACHINE
    """Whether cash-outs are offered to the host first."""
    REGISTRATION = "registration", Fate.OWED, Owner.MACHINE
    """With what the machine is registered for transfers."""
    TRANSFERS_UNPROVED = "transfers_unproved", Fate.IDENTITY, Owner.MACHINE
    """Since a clear it is not known which transfers have moved value: none does before the host registers."""
    CONTROL = "control:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key what each host asks for of each control."""


class ProgressiveKey(Key):
    """Progressive levels: what the machine holds of its own, and what is open with a controller."""

    AWAITING = "awaiting_award", Fate.OWED, Owner.PLAYER
    """The game that waits for a controller to lock its award."""
    LEVEL = "level:", Fate.OWED, Owner.MACHINE
    """Prefix; one key a progressive level this machine keeps."""
    LINK = "link:", Fate.OWED, Owner.MACHINE
    """Prefix; one key a linked level: how far this machine's contributions have come."""
    SEALED = "sealed:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key a linked mystery level: its prize's number, and the commitment to its secret amount."""
    UNDECIDED = "undecided", Fate.OWED, Owner.PLAYER
    """The game an attendant let end without knowing whether it has won a mystery level."""
    CLAIM = "claim:", Fate.OWED, Owner.MACHINE
    """Prefix; one key a hit of a linked level that is not over."""
    HELD = "held:", Fate.OWED, Owner.MACHINE
    """Prefix; one key each thing a controller said that is not proved (:mod:`egm.progressive.unproved`)."""
    CERTIFICATE = "link_certificate", Fate.IDENTITY, Owner.MACHINE
    """The certificate that proves this machine to its link."""
    WIN = "progressive_win:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key a hit of a broadcast level that the host has not read yet."""


class StaffKey(Key):
    """Staff: the service menu, who works at the machine, and what the staff has set."""

    MENU = "menu", Fate.TRANSIENT, Owner.PLAYER
    """The service menu is open: since when, and who is signed in."""
    OPTIONS = "options", Fate.IDENTITY, Owner.MACHINE
    """What the staff has set; see :mod:`egm.staff.options`."""
    TOUCH = "touch", Fate.IDENTITY, Owner.PLAYER
    """How the touch screen is calibrated: six integers (:mod:`egm.kernel.touch`)."""
    INVENTORY = "inventory", Fate.IDENTITY, Owner.MACHINE
    """The machine's inventory entry as last recorded."""
    INTERVENTION = "intervention", Fate.IDENTITY, Owner.MACHINE
    """Who is at work in the machine, since when, and why."""
    MONITORED = "intervention_seen", Fate.IDENTITY, Owner.MACHINE
    """The last intervention that the monitoring system has read."""
    COLLECTED = "collected", Fate.TRANSIENT, Owner.MACHINE
    """The last collection: what was metered into each box, and which of them are counted."""
    BASE = "base", Fate.IDENTITY, Owner.MACHINE
    """The base withdrawn from under the machine, and who has its lock and key."""
    STAFF = "staff", Fate.IDENTITY, Owner.MACHINE
    """The last change to the staff that is recorded: its number, and the roster's digest after it."""
    TRIES = "tries:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key a bucket of staff numbers whose PIN was wrong: how often, and how long it is locked."""


class IntegrityKey(Key):
    """Integrity: starts, the service call, who keeps the machine out of service, and what was found of it."""

    BOOTS = "boots", Fate.IDENTITY, Owner.MACHINE
    """How often the machine has started."""
    SERVICE = "service_call", Fate.TRANSIENT, Owner.PLAYER
    """The player has called for service."""
    OUT_OF_SERVICE = "out_of_service", Fate.IDENTITY, Owner.MACHINE
    """Why the machine has taken itself out of service."""
    DISABLED = "disabled:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key for each who has taken the machine out of service."""
    HARD_METERS = "hard_meters", Fate.TRANSIENT, Owner.MACHINE
    """The electronic meters, in pulses, less what the hard meters had been given when they were fitted."""
    MEDIUM_REPLACED = "memory.medium_replaced", Fate.IDENTITY, Owner.MACHINE
    """The journal's own: a medium was replaced, and nobody has been told yet."""
    SOFTWARE = "software", Fate.TRANSIENT, Owner.MACHINE
    """What is installed, by component, as its manufacturer signed it."""
    CABINET = "cabinet_file", Fate.IDENTITY, Owner.MACHINE
    """The cabinet file that was signed last: its digest, by whom, and when."""


class LinksKey(Key):
    """Links: what a verifier asked last, and how the hosts' lines stand."""

    GAT = "gat", Fate.TRANSIENT, Owner.MACHINE
    """The last thing a verifier asked over GAT, and what came of it."""
    HOST_SILENT = "host_silent:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key a host that is silent: since when."""
    HOST_KNOWN = "host_known:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key a host that has been waited for, to start the machine."""
    HOST_TIME = "host_time:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key a host: by how much its clock is ahead."""
