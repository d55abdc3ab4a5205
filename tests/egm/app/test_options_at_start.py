"""The operator's options apply in the machine's process, not only in test rigs."""

import asyncio

import pytest

from egm.app.process import MachineProcess
from egm.config.cabinet_file import GameTable, StateFolder, load_cabinet
from egm.kernel.events import EventType
from egm.people import Role
from egm.testing.machine import MachineRig, StoppedClock
from egm.testing.service_menu import MenuUser

GAMES = ("maple-classic", "comet-respin")


@pytest.mark.requirement("C-04", "E-11", "O-03")
def test_the_process_applies_the_operators_options(tmp_path, monkeypatch):
    state = StateFolder(tmp_path)
    state.create_private_folders()
    rig = MachineRig(tmp_path, games=GAMES).boot()
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN).touch("options")
    menu.touch("bet_limit").fill_open_form("200")
    menu.touch("bet_minimum").fill_open_form("10")
    menu.touch("game:comet-respin").touch("game").fill_open_form("no")
    serial = rig.machine.identity.serial
    rig.close()
    file = load_cabinet()
    changes = {
        "machine": file.machine.model_copy(update={"serial": serial}),
        "games": tuple(GameTable(game=game) for game in GAMES),
        "progressives": (),
    }
    process = MachineProcess(state, file.model_copy(update=changes), StoppedClock())
    found = []

    async def look(_):
        machine = process._first_machine
        play = machine.profile.play
        found.append((play.bet_min_cents, play.bet_max_cents, set(machine.games)))

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", look)
    asyncio.run(process.run())
    assert found == [(10, 200, {"maple-classic"})]
