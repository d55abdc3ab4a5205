"""The power is cut at every storage operation of a ticket's handling: no ticket is lost, invented or paid twice.

The machine is judged by the calls that returned: a step whose call returned has happened, a step whose call did not
return has happened or not, and none has happened in part. Then the same machine goes on with the same ids.
"""

import random
from datetime import UTC, datetime
from itertools import count

import pytest
from powercut_disk import Disk, PowerCut
from powercut_life import every_nth
from powercut_storage import SimStorage

from egm.tickets.desk import TicketDesk, TicketIssuer, TicketRules, build_stand_alone_numbering
from egm.tickets.model import TicketState, Venue
from egm.tickets.numbers import is_stand_alone_number
from egm.tickets.store import TicketStore

KEY = bytes(32)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Noon:
    def now(self):
        return NOON

    def monotonic_ns(self):
        return 0


def steps(desk, numbers):
    """One session: (name, call) in order. ``numbers`` holds the numbers of the tickets prepared so far."""

    def prepare(issue_id, cents):
        numbers[issue_id] = desk.prepare_ticket(issue_id, cents, denomination_cents=1).number

    return (
        ("reserve a", lambda: prepare("a", 1000)),
        ("issue a", lambda: desk.record_printed(numbers["a"])),
        ("reserve b", lambda: prepare("b", 2000)),
        ("fail b", lambda: desk.record_failed_print(numbers["b"], "jam")),
        ("lock a 1", lambda: desk.begin_redemption("in-1", numbers["a"])),
        ("release a 1", lambda: desk.abort_redemption("in-1", "returned")),
        ("lock a 2", lambda: desk.begin_redemption("in-2", numbers["a"])),
        ("redeem a 2", lambda: desk.commit_redemption("in-2")),
        ("report a", lambda: desk.mark_read_by_host(numbers["a"])),
        ("reserve c", lambda: prepare("c", 3000)),
        ("issue c", lambda: desk.record_printed(numbers["c"])),
    )


#: What each ticket has been through when the first n of the steps above are done.
def expected(step_count):
    moves = {}
    for name, _ in steps(None, {})[:step_count]:
        action, ticket, *_ = name.split()
        if action != "report":
            moves.setdefault(ticket, []).append(action)
    return moves


class Session:
    def __init__(self, folder, disk, seed, numbers=(), step_count=0):
        self.storage = SimStorage(disk)
        self.generator = random.Random(seed)
        self.folder = folder
        self.numbers = dict(numbers)
        self.step_count = step_count

    def run(self):
        """Run to the end or the power cut; return whether it ended."""
        machine = TicketIssuer(serial="EGM-1", operator_number="1", venue=Venue(site="here"))
        rules = TicketRules(currency="CAD", template="generic", limit_cents=10**6, valid_days=1)
        try:
            with TicketStore.open(self.folder, storage=self.storage, key=KEY) as store:
                desk = TicketDesk(
                    store,
                    machine,
                    rules,
                    Noon(),
                    create_number=build_stand_alone_numbering(self.generator.randrange),
                    is_ticket_number=is_stand_alone_number,
                )
                for _, call in steps(desk, self.numbers)[self.step_count :]:
                    call()
                    self.step_count += 1
        except PowerCut:
            return False
        finally:
            self.storage.leave()
        return True


def read_ticket_lives(folder, disk):
    storage = SimStorage(disk)
    with TicketStore.open(folder, storage=storage, key=KEY) as store:
        store.verify_moves()
        assert (
            store.find_replaced_ledger_error() == ""
        )  # nor does a cut while it is made leave a ledger without its head
        records = list(store.iter_records())
        return {r.issue_id: [m.action.value for m in r.moves] for r in records}, {
            r.issue_id: r.ticket.number for r in records
        }


def cut_once(folder, operation, survival, seed):
    """Cut at one operation, judge and continue; return False if the session ended before it."""
    disk = Disk()
    disk.cut_at = operation
    session = Session(folder, disk, seed)
    if session.run():
        return False
    rebooted_disk = disk.reboot(random.Random(seed), survival)
    lived, numbers = read_ticket_lives(folder, rebooted_disk)
    assert lived in (expected(session.step_count), expected(session.step_count + 1))
    for issue_id, number in session.numbers.items():
        assert numbers[issue_id] == number  # a number that was handed out stays that ticket's
    # The machine goes on with the step it does not know the end of.
    restarted = Session(folder, rebooted_disk, seed + 1, session.numbers, session.step_count)
    assert restarted.run()
    lived, _ = read_ticket_lives(folder, rebooted_disk)
    assert lived == expected(11)
    return True


@pytest.mark.requirement("A-08", "H-07", "H-08")
@pytest.mark.parametrize("survival", [0.0, 0.5, 1.0], ids=["nothing", "half", "all"])
@every_nth(13)
def test_a_power_cut_at_an_operation_loses_and_doubles_no_ticket(tmp_path, survival, every):
    first = 1 + int(2 * survival) % every  # each survival chance cuts at other operations
    end = next(
        operation_number
        for operation_number in count(first, every)
        if not cut_once(tmp_path, operation_number, survival, seed=operation_number)
    )
    assert end > 40


def test_a_ticket_session_without_a_power_cut_ends_in_the_expected_states(tmp_path):
    disk = Disk()
    session = Session(tmp_path, disk, 1)
    assert session.run()
    lived, _ = read_ticket_lives(tmp_path, disk)
    assert lived == expected(11)
    with TicketStore.open(tmp_path, storage=SimStorage(disk), key=KEY) as store:
        states = {r.issue_id: r.state for r in store.iter_records()}
    assert states == {"a": TicketState.REDEEMED, "b": TicketState.VOID, "c": TicketState.ISSUED}
