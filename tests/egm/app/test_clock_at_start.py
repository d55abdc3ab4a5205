"""If the clock was set back while the power was off, the machine's process records that before anything else."""

import asyncio
from datetime import timedelta

import pytest

from egm.app.process import MachineProcess
from egm.config.cabinet_file import GameTable, StateFolder, load_cabinet
from egm.testing.machine import MachineRig, StoppedClock


@pytest.mark.requirement("E-08")
def test_a_clock_behind_the_journal_is_doubted_at_the_start(tmp_path, monkeypatch):
    state = StateFolder(tmp_path)
    state.create_private_folders()
    rig = MachineRig(tmp_path, wall_time=StoppedClock().wall + timedelta(days=400)).boot().insert(2000)
    serial, last = rig.machine.identity.serial, rig.journal.sequence
    rig.close()
    file = load_cabinet()
    changes = {
        "machine": file.machine.model_copy(update={"serial": serial}),
        "games": (GameTable(game="maple-classic"),),
        "progressives": (),
    }
    process = MachineProcess(state, file.model_copy(update=changes), StoppedClock())
    kinds = []

    async def look(_):
        kinds.extend(entry.kind for entry in process._first_machine.journal.entries(after_sequence=last))
        assert not process._first_machine.timekeeper.is_clock_trusted

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", look)
    asyncio.run(process.run())
    started = kinds.index("power.up")
    assert "clock.doubted" in kinds[:started], "before anything else"
