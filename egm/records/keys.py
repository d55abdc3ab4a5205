"""Storage keys of the machine's features, one enumeration per feature.

They are defined below the features because several features read the same record: a transfer waits for the
game to end.
"""

from egm.kernel.keys import Fate, Key, Owner


class PlayKey(Key):
    """Play: the game, the session, and data about definitions."""

    GAME = "game", Fate.OWED, Owner.PLAYER
    """The open game."""
    LAST = "last_game", Fate.TRANSIENT, Owner.PLAYER
    """The last game that has ended."""
    SESSION = "session", Fate.IDENTITY, Owner.PLAYER
    """The counts of the player's session (player protection)."""
    REMINDER = "reminder", Fate.IDENTITY, Owner.PLAYER
    """The active reminder."""
    LIMITS = "limits", Fate.IDENTITY, Owner.PLAYER
    """The player's own limits."""
    DEFINITION = "definition:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per definition played here, by digest: see :mod:`egm.play.definitions`."""
    RESIDUAL = "residual_terms", Fate.TRANSIENT, Owner.PLAYER
    """The terms for residual credit on this position (:class:`egm.records.residual.ResidualTerms`)."""
    EXAMINED = "examined:", Fate.TRANSIENT, Owner.MACHINE
    """Prefix; one key per definition whose largest prize is known, by digest."""


class TableKey(Key):
    """Tables: state that lasts between two rounds."""

    TABLE = "table:", Fate.OWED, Owner.PLAYER
    """Prefix; one key per definition, by digest: the state of its table and the bets standing on it."""
    SHARED = "in_common:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per definition, by digest: the table state shared by all players."""


class WheelKey(Key):
    """A real wheel."""

    SPIN = "wheel_spin", Fate.IDENTITY, Owner.MACHINE
    """The last spin for which betting was closed."""


class MoneyKey(Key):
    """Money: payments in progress in or out, and hand-pays owed."""

    PAY_OUT = "pay_out", Fate.OWED, Owner.PLAYER
    """The payout in progress."""
    PRINT = "print", Fate.OWED, Owner.PLAYER
    """The printer's progress with the payout."""
    HOPPER = "hopper", Fate.OWED, Owner.PLAYER
    """The hopper's progress with the payout."""
    COINS = "coins", Fate.IDENTITY, Owner.PLAYER
    """The coin acceptor's event counter up to which coins are recorded."""
    COINS_DISPENSED = "coins_gone", Fate.OWED, Owner.PLAYER
    """The coins of an abandoned hopper payout that are not posted yet."""
    DISPUTED = "disputed:", Fate.OWED, Owner.PLAYER
    """Prefix; one key per disputed amount."""
    RULING = "ruling", Fate.OWED, Owner.PLAYER
    """A ruling on a disputed amount that is not posted yet."""
    HANDPAY = "handpay", Fate.OWED, Owner.PLAYER
    """The hand-pay that waits for an attendant."""
    SLIP = "slip", Fate.IDENTITY, Owner.MACHINE
    """The number of the last hand-pay slip."""
    UNCLAIMED = "unclaimed", Fate.OWED, Owner.PLAYER
    """A voided hand-pay whose orphan is not posted yet."""
    GOES_ON = "cash_out_goes_on", Fate.IDENTITY, Owner.PLAYER
    """The remainder of a cash-out, to be paid by the next payout method; ``true`` in older journals."""
    PAPER = "paper", Fate.OWED, Owner.PLAYER
    """The bill or ticket being stacked."""
    RESTRICTED = "restricted", Fate.OWED, Owner.PLAYER
    """Expiry date and pool of the restricted credit on the meter."""
    TICKETS = "tickets", Fate.TRANSIENT, Owner.MACHINE
    """How far the ticket ledger has progressed, and its state when this journal began."""
    TICKET_TERMS = "ticket_terms", Fate.IDENTITY, Owner.MACHINE
    """The ticket terms set by the host."""


class HostKey(Key):
    """The host of the money: transfers, tickets it validates, and its settings."""

    TICKET = "host_ticket", Fate.IDENTITY, Owner.MACHINE
    """The result of the last ticket the host was queried about."""
    RING = "validation:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per index of the ring of tickets the host reads: the id of the cash-out."""
    RING_COUNT = "validations", Fate.IDENTITY, Owner.MACHINE
    """The number of tickets ever added to the ring."""
    RING_READ = "validations_read", Fate.IDENTITY, Owner.MACHINE
    """The number of them that the host has read."""
    TRANSFER = "transfer", Fate.IDENTITY, Owner.MACHINE
    """The last electronic transfer ordered by a host, and its result."""
    TRANSFERS = "transfers", Fate.IDENTITY, Owner.MACHINE
    """The number of electronic transfers so far."""
    CASH_OUT = "host_cash_out", Fate.IDENTITY, Owner.MACHINE
    """Whether cash-outs are offered to the host first."""
    REGISTRATION = "registration", Fate.OWED, Owner.MACHINE
    """The machine's registration for transfers."""
    TRANSFERS_UNPROVED = "transfers_unproved", Fate.IDENTITY, Owner.MACHINE
    """Set if, since a memory clear, the earlier transfers are unknown: none is executed until the host registers."""
    CONTROL = "control:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per control and host: the host's request."""


class ProgressiveKey(Key):
    """Progressive levels: the machine's own, and open claims with controllers."""

    AWAITING = "awaiting_award", Fate.OWED, Owner.PLAYER
    """The game that waits for a controller to lock its award."""
    LEVEL = "level:", Fate.OWED, Owner.MACHINE
    """Prefix; one key per progressive level run by this machine."""
    LINK = "link:", Fate.OWED, Owner.MACHINE
    """Prefix; one key per linked level: the progress of this machine's contributions."""
    SEALED = "sealed:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per linked mystery level: its prize number, and the commitment to its secret amount."""
    UNDECIDED = "undecided", Fate.OWED, Owner.PLAYER
    """The game that an attendant ended without knowing whether it has won a mystery level."""
    CLAIM = "claim:", Fate.OWED, Owner.MACHINE
    """Prefix; one key per open hit of a linked level."""
    HELD = "held:", Fate.OWED, Owner.MACHINE
    """Prefix; one key per unproved statement of a controller (:mod:`egm.progressive.unproved`)."""
    CERTIFICATE = "link_certificate", Fate.IDENTITY, Owner.MACHINE
    """The certificate that proves this machine to its link."""
    WIN = "progressive_win:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per hit of a broadcast level that the host has not read yet."""


class StaffKey(Key):
    """Staff: the service menu, who is working at the machine, and what the staff has set."""

    MENU = "menu", Fate.TRANSIENT, Owner.PLAYER
    """The open service menu: since when, and who is signed in."""
    OPTIONS = "options", Fate.IDENTITY, Owner.MACHINE
    """The options set by the staff; see :mod:`egm.staff.options`."""
    TOUCH = "touch", Fate.IDENTITY, Owner.PLAYER
    """The touch screen's calibration: six integers (:mod:`egm.kernel.touch`)."""
    INVENTORY = "inventory", Fate.IDENTITY, Owner.MACHINE
    """The machine's inventory entry as last recorded."""
    INTERVENTION = "intervention", Fate.IDENTITY, Owner.MACHINE
    """The current intervention: who is working in the machine, since when, and why."""
    MONITORED = "intervention_seen", Fate.IDENTITY, Owner.MACHINE
    """The last intervention that the monitoring system has read."""
    COLLECTED = "collected", Fate.TRANSIENT, Owner.MACHINE
    """The last collection: the metered content of each box, and which boxes have been counted."""
    BASE = "base", Fate.IDENTITY, Owner.MACHINE
    """The base withdrawn from under the machine, and who has its lock and key."""
    STAFF = "staff", Fate.IDENTITY, Owner.MACHINE
    """The last recorded change to the staff: its number, and the roster's digest after it."""
    TRIES = "tries:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per bucket of staff numbers: the count of wrong PINs, and the end of its lockout."""


class IntegrityKey(Key):
    """Integrity: starts, the service call, out-of-service reasons, and installed software."""

    BOOTS = "boots", Fate.IDENTITY, Owner.MACHINE
    """The number of starts of the machine."""
    SERVICE = "service_call", Fate.TRANSIENT, Owner.PLAYER
    """The player's service call."""
    OUT_OF_SERVICE = "out_of_service", Fate.IDENTITY, Owner.MACHINE
    """Why the machine has taken itself out of service."""
    DISABLED = "disabled:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per host or person that has taken the machine out of service."""
    HARD_METERS = "hard_meters", Fate.TRANSIENT, Owner.MACHINE
    """The offset between the electronic meters and the hard meters when the latter were first seen, in pulses."""
    ARCHIVE = "journal.archive", Fate.TRANSIENT, Owner.MACHINE
    """Set by the journal: the end of its archive (:class:`meters.archive.Boundary`)."""
    MEDIUM_REPLACED = "memory.medium_replaced", Fate.IDENTITY, Owner.MACHINE
    """Set by the journal: a medium was replaced, and staff have not been notified yet."""
    SOFTWARE = "software", Fate.TRANSIENT, Owner.MACHINE
    """The installed software by component, as signed by its manufacturer."""
    CABINET = "cabinet_file", Fate.IDENTITY, Owner.MACHINE
    """The cabinet file signed last: its digest, by whom, and when."""


class LinksKey(Key):
    """Links: the last verifier query, and the state of the hosts' lines."""

    GAT = "gat", Fate.TRANSIENT, Owner.MACHINE
    """The last query of a verifier over GAT, and its result."""
    HOST_SILENT = "host_silent:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per host that does not reply: since when."""
    HOST_KNOWN = "host_known:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per host that the machine waits for at its start."""
    HOST_TIME = "host_time:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per host: how far its clock is ahead."""
