"""The power of a Keno office is cut at every operation on its media: nothing sold, drawn or paid is lost or done twice."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import POLICY, leave
from powercut_storage import SimStorage

from egm.testing.machine import ScriptedGenerator
from meters import Journal
from paytables import load_game
from paytables.keno.claims import PresentedTicket, TicketCondition
from tools.floor.keno.office import KenoOffice

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
REQUEST = {"selections": [{"groups": [[1, 2, 3, 4, 5]], "stakes": {"5": 1}}], "draws": 2}


class Evening:
    """The steps of an evening, of which those missing in the journal are done, as staff do after a cut."""

    def __init__(self, folder, disk, now=NOW):
        self._folder, self._storage, self._time = folder, SimStorage(disk), now
        self.journal, self.printed = None, {}

    def now(self):
        return self._time

    def run(self):
        """Do the steps of the evening; return whether the power stayed on to its end."""
        try:
            self._run()
            self.journal.close()
        except PowerCut:
            return False
        finally:
            leave(self._storage, self._folder / "one", self._folder / "two")
        return True

    def _run(self):
        self.journal = Journal.open(
            self._folder / "one",
            second_folder=self._folder / "two",
            now=self.now,
            policy=POLICY,
            storage=self._storage,
        )
        game = load_game("aurora-keno")
        if self.journal.state("keno:office") is None:
            terms = {"source": "aurora-keno", "casino": "Mont", "claim_place": "cage", "unit_cents": 25}
            KenoOffice.create(self.journal, game, self.now, **terms)
        self.office = KenoOffice(self.journal, game, self.now)
        has = self.journal.has_entry
        with ScriptedGenerator(*[0] * 20, 0).step() as generator:
            for number in (1, 2):
                if not has(f"keno-ticket-{number}.sold"):
                    ticket = self.office.sell(REQUEST, generator, station="1", is_paid=number == 1)
                    self.printed[number] = ticket.printed_ticket.control_number
            if not has("keno-ticket-2.paid"):
                self.office.pay(2)
            if not has("keno-draw-1.closed"):
                self.office.close_sales()
            if not has("keno-draw-1.held"):
                self.office.conduct_draw(generator)
        ticket = self.office.find_ticket(1)
        if not has("keno-ticket-1.claimed-1"):
            self.office.claim(
                PresentedTicket(TicketCondition.INTACT, ticket.printed_ticket.control_number),
                claim_place="cage",
            )
        self.office.compute_totals()
        tickets = self.office.list_tickets().items()
        self.recorded = {number: ticket.printed_ticket.control_number for number, ticket in tickets}
        self.kinds = [entry.kind for entry in self.journal.entries() if entry.kind.startswith("keno.")]


@pytest.mark.requirement("M-16", "M-06")
@pytest.mark.parametrize("survival", [pytest.param(0.0, marks=pytest.mark.slow), 0.5])
def test_a_power_cut_of_a_keno_office_loses_and_repeats_nothing(tmp_path, survival):
    dice, cuts, operation_number, is_complete = random.Random(5), 0, 1, False
    while not is_complete:
        folder = tmp_path / str(operation_number)
        disk = Disk()
        disk.cut_at = operation_number
        first = Evening(folder, disk)
        is_complete = first.run()
        evening = Evening(folder, disk.reboot(dice, survival), NOW + timedelta(minutes=1))
        assert evening.run()
        assert first.printed.items() <= evening.recorded.items()  # what was printed is what is recorded
        assert evening.kinds == [
            "keno.opened", "keno.sold", "keno.sold", "keno.paid", "keno.sales_closed", "keno.drawn", "keno.claimed",
        ]  # fmt: skip
        cuts += 1
        operation_number += 7
    assert cuts > 10
