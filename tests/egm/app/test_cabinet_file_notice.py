"""A cabinet file with games that cannot be offered: staff see it on the screen and in the menu until it is corrected."""

import asyncio

from egm.app.__main__ import _is_absent
from egm.app.process import MachineProcess
from egm.config.cabinet_file import GameTable, StateFolder, load_cabinet
from egm.people import Role
from egm.staff.desk import ServiceDesk
from egm.testing.machine import MachineRig, StoppedClock
from egm.testing.service_menu import MenuUser
from meters import Journal

GAME = "maple-classic"


def start_and_read_faults(folder, monkeypatch, *games):
    """Start a machine with these games and return its faults once it is running."""
    found = {}

    async def not_yet(machine):
        found.update(machine._first_machine.active_faults)
        found["refused"] = machine._first_machine.component(ServiceDesk).device_page_data.refused_games

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", not_yet)
    file = load_cabinet().model_copy(update={"games": tuple(GameTable(game=name) for name in games)})
    state = StateFolder(folder)
    state.create_private_folders()
    asyncio.run(MachineProcess(state, file, StoppedClock()).run())
    return found


def test_a_game_left_out_is_a_notice_until_the_file_is_corrected(tmp_path, monkeypatch):
    start_state = start_and_read_faults(tmp_path, monkeypatch, GAME, "no-such-game")
    assert start_state["cabinet_file"]["cleared_by"] == "self"
    assert not start_state["cabinet_file"]["locks"]
    assert "no-such-game" in start_state["cabinet_file"]["detail"]
    ((game, reason),) = start_state["refused"]
    assert (game, "not in the library" in reason) == ("no-such-game", True)
    start_state = start_and_read_faults(tmp_path, monkeypatch, GAME, "another-one")
    assert "another-one" in start_state["cabinet_file"]["detail"]
    start_state = start_and_read_faults(tmp_path, monkeypatch, GAME, GAME)
    assert "another game with the id" in start_state["cabinet_file"]["detail"]
    assert start_and_read_faults(tmp_path, monkeypatch, GAME) == {"refused": ()}
    with Journal.open(tmp_path, now=StoppedClock().now) as journal:
        kinds = [entry.kind for entry in journal.entries() if entry.kind.startswith("fault.")]
    assert kinds == [
        "fault.raised",
        "fault.cleared",
        "fault.raised",
        "fault.cleared",
        "fault.raised",
        "fault.cleared",
    ]


def test_the_menu_states_under_software_why_a_game_was_refused(tmp_path):
    rig = MachineRig(tmp_path / "state").boot()
    rig.machine.component(ServiceDesk).device_page_data.refused_games = (
        ("no-such-game", "not in the library"),
    )
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN)
    menu.touch("software")
    assert "not in the library" in str(menu.page)
    rig.close()


def test_an_unreadable_cabinet_file_is_not_treated_as_missing(tmp_path):
    """A machine that has a cabinet file must not ask for a first start."""
    (tmp_path / "there").write_text("")
    (tmp_path / "unreadable").symlink_to("unreadable")
    assert _is_absent(tmp_path / "none")
    assert not _is_absent(tmp_path / "there")
    assert not _is_absent(tmp_path / "unreadable")
