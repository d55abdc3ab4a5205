"""The logs of the journal: lists of its last entries of certain kinds.

The declaration of an entry names the logs that show the entry. A log shows only its last entries; the journal
keeps all of them.
"""

from enum import StrEnum
from typing import Self


class Log(StrEnum):
    """One of the logs that show journal entries: its name, and the number of entries shown by default."""

    default_entry_count: int

    def __new__(cls, name: str, default_entry_count: int) -> Self:
        """Create a log that shows the last ``default_entry_count`` entries by default."""
        log = str.__new__(cls, name)
        log._value_, log.default_entry_count = name, default_entry_count
        return log

    EVENTS = "events", 100
    """The log of all events (E-08, E-09; NY 5317.26)."""
    BILLS = "bills", 35
    """The log of accepted bills, without rejected and returned ones (E-07; FL 75-14.043(3))."""
    TICKETS = "vouchers", 35
    """The log of tickets in and out (E-06; AGE 5.1.5).

    A ticket has an entry when it is printed, redeemed or disputed, and none for the steps in between, so that
    the log shows the last 35 tickets.
    """
    TRANSFERS = "transfers", 35
    """The log of electronic transfers (E-05; FL 75-14.043(1))."""
    HANDPAYS = "handpays", 35
    """The log of hand-pays and prizes in kind (D-10; NJ-C(a)4-5)."""
    COMPLEMENTS = "complements", 100
    """The log of amounts paid by staff because the machine paid too little (Q-05; MC 21.4)."""
    ORPHANS = "orphans", 100
    """The log of amounts without a known owner (Q-06; MC 21.3)."""
    FORFEITS = "forfeits", 100
    """The log of forfeited amounts (F-15; QC s.94)."""
    PROTECTION = "protection", 100
    """The log of player protection, such as limits and reminders (N-02, N-03)."""
    DISPUTES = "disputes", 100
    """The log of disputes with players (Q-02, Q-04; MC 21.1-21.2)."""
    PROGRESSIVES = "progressives", 25
    """The log of progressive wins (D-19; NY 5320.8(b))."""
    ACCESS = "access", 100
    """The log of accesses to the machine (J-18; NY 5321.9(e))."""
    SOFTWARE = "software", 100
    """The log of changes of the software and the cabinet file, and of failed checks (A-16, E-11; MS 8-2.9(b)3).

    Passed checks are left out: there is one at every start, after every closed door and every day, and they
    would displace the last ten changes.
    """
