"""A ticket interrupted by a power cut between journal and ticket ledger is completed at the next start."""

import asyncio

import pytest

from egm.app.process import MachineProcess
from egm.config.cabinet_file import GameTable, StateFolder, load_cabinet
from egm.testing.machine import MachineRig, StoppedClock
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TicketState


class PowerLost(Exception):
    """Raised where the power is cut."""


@pytest.mark.requirement("H-08", "H-07")
def test_a_ticket_credited_before_a_power_cut_is_redeemed_at_the_next_start(tmp_path, monkeypatch):
    state = StateFolder(tmp_path)
    state.create_private_folders()
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(2000)
    number = rig.cash_out_ticket()
    rig.offer_ticket(number)

    def lose_power(*_):
        raise PowerLost

    with monkeypatch.context() as cut:
        cut.setattr(TicketDesk, "commit_redemption", lose_power)
        with pytest.raises(PowerLost):
            rig.escrow_ledger.credit_stacked_paper()
    assert rig.credit_cents == 2000
    assert rig.ticket_store.find_ticket(number).state is TicketState.PENDING
    serial = rig.machine.identity.serial
    rig.close()
    file = load_cabinet()
    changes = {
        "machine": file.machine.model_copy(update={"serial": serial}),
        "games": (GameTable(game="maple-classic"),),
        "progressives": (),
    }
    process = MachineProcess(state, file.model_copy(update=changes), StoppedClock())
    found = []

    async def look(_):
        desk = process._first_machine.component(TicketDesk)
        found.append((process._first_machine.credit_cents, desk.store.find_ticket(number).state))

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", look)
    asyncio.run(process.run())
    assert found == [(2000, TicketState.REDEEMED)]
