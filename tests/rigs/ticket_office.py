"""Helpers of the ticket tests: a clock that does not run, a ticket issuer, and a ticket desk on a real ledger."""

import random
import weakref
from datetime import UTC, datetime, timedelta

from egm.tickets.desk import TicketDesk, TicketIssuer, TicketRules, build_stand_alone_numbering
from egm.tickets.model import Ticket, TicketKind, Venue
from egm.tickets.numbers import is_stand_alone_number
from egm.tickets.store import TicketStore

#: Authenticates the entries of a ledger that has no machine's journal beside it.
KEY = bytes(range(32))
HOUSE = Venue(
    site="Maison du Jeu",
    address="1 rue du Port",
    licence_holder="Licence 70-1234",
    time_zone="America/Montreal",
)
RULES = TicketRules(currency="CAD", template="generic", limit_cents=1_000_000, valid_days=30)


class StandingClock:
    def __init__(self):
        self.wall = datetime(2026, 3, 1, 14, 5, 9, 123456, tzinfo=UTC)

    def now(self):
        return self.wall

    def monotonic_ns(self):
        return 0

    def pass_days(self, days):
        self.wall += timedelta(days=days)


def make_issuer(serial="EGM-0000001"):
    return TicketIssuer(serial=serial, operator_number="17", venue=HOUSE)


class Office:
    """A ticket desk on the ledger in a folder; ``restart`` opens both again as after a power loss."""

    def __init__(
        self, folder, *, serial="EGM-0000001", rules=RULES, storage=None, second=None, key=KEY, **options
    ):
        self.key = key
        self.folder, self.clock, self.storage, self.second = folder, StandingClock(), storage, second
        self._chance = random.Random(serial)
        self._made = (make_issuer(serial), rules)
        self._options = {
            "create_number": build_stand_alone_numbering(self._chance.randrange),
            "is_ticket_number": is_stand_alone_number,
        } | options
        self.restart()

    def restart(self):
        self.store = TicketStore.open(
            self.folder, key=self.key, storage=self.storage, second_folder=self.second
        )
        weakref.finalize(self, self.store.close)
        self.desk = TicketDesk(self.store, *self._made, self.clock, **self._options)

    def issue_ticket(self, issue_id="cashout-1", amount_cents=1234, **options):
        ticket = self.desk.prepare_ticket(issue_id, amount_cents, denomination_cents=25, **options)
        return self.desk.record_printed(ticket.number)


def make_ticket(**changes):
    """Return a complete ticket, with the fields in ``changes`` replaced."""
    fields = {
        "number": "911234567890123456",
        "sequence": 417,
        "kind": TicketKind.CASHABLE,
        "amount_cents": 12345,
        "currency": "CAD",
        "denomination_cents": 25,
        "issued_at": datetime(2026, 3, 1, 14, 5, 9, tzinfo=UTC),
        "expires_at": datetime(2026, 4, 1, 4, 0, 0, tzinfo=UTC),
        "machine_serial": "EGM-0000001",
        "operator_number": "17",
        "venue": HOUSE,
        "template": "generic",
    }
    return Ticket(**(fields | changes))
