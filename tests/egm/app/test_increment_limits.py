"""What the place says a master meter may move by at once binds the journal of the machine that runs there."""

import pytest

from egm.app.process import MachineProcess
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.profiles import load_profile
from egm.testing.machine import StoppedClock
from meters import ExcessiveIncrement, Transaction, Transfer


@pytest.mark.requirement("A-26")
@pytest.mark.parametrize("place", ["quebec-vlt", "generic"])
def test_no_meter_moves_further_at_once_than_the_place_allows(tmp_path, place):
    most_cents = load_profile(place).journal.increment_limits_cents["world:bill"]
    state = StateFolder(tmp_path)
    state.prepare()
    file = load_cabinet()
    named = file.machine.model_copy(update={"profile": place})
    process = MachineProcess(state, file.model_copy(update={"machine": named}), StoppedClock())
    with process._open_journal() as journal:
        for more in (1, 0):
            moved = (Transfer("world:bill", "credit:1:cashable", most_cents + more),)
            bill = Transaction(id=journal.fresh_id("bill"), kind="bill.in", transfers=moved)
            if more:
                with pytest.raises(ExcessiveIncrement, match="world:bill"):
                    journal.append(bill)
            else:
                journal.append(bill)
        assert journal.balance_cents("credit:1:cashable") == most_cents
