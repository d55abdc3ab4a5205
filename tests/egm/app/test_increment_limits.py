"""The jurisdiction's limit on a single meter increment applies to the journal of the machine."""

import pytest

from egm.app.process import MachineProcess
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.profiles import load_profile
from egm.testing.machine import StoppedClock
from meters import ExcessiveIncrement, Transaction, Transfer


@pytest.mark.requirement("A-26")
@pytest.mark.parametrize("jurisdiction", ["quebec-vlt", "generic", "quebec-casino", "monaco"])
@pytest.mark.parametrize(("source", "most_cents"), [("world:bill", 1_000_000), ("world:coin", 100_000)])
def test_no_meter_moves_at_once_by_more_than_the_jurisdiction_allows(
    tmp_path, jurisdiction, source, most_cents
):
    """New Zealand, 3.3.19a: $1,000 in coins, $10,000 in bills; Québec's video lotteries take no coins."""
    if (jurisdiction, source) == ("quebec-vlt", "world:coin"):
        assert not load_profile(jurisdiction).coins.accepted_coins_cents
        return
    state = StateFolder(tmp_path)
    state.create_private_folders()
    file = load_cabinet()
    named = file.machine.model_copy(update={"profile": jurisdiction})
    process = MachineProcess(state, file.model_copy(update={"machine": named}), StoppedClock())
    with process._open_journal() as journal:
        for excess_cents in (1, 0):
            moved = (Transfer(source, "credit:1:cashable", most_cents + excess_cents),)
            bill = Transaction(id=journal.fresh_id("bill"), kind="bill.in", transfers=moved)
            if excess_cents:
                with pytest.raises(ExcessiveIncrement, match=source):
                    journal.append(bill)
            else:
                journal.append(bill)
        assert journal.balance_cents("credit:1:cashable") == most_cents
