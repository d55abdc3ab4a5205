"""If all its games are refused, a machine is out of service with a notice; one admitted game is enough to play."""

import asyncio

import pytest

from egm.app.features import SERVICE_MENU
from egm.app.process import MachineProcess
from egm.config.cabinet_file import GameTable, StateFolder, load_cabinet
from egm.kernel.events import EventType
from egm.testing.machine import StoppedClock
from egm.testing.service_menu import iter_page_texts, translate_text
from paytables.definition import LIBRARY_FOLDER


@pytest.mark.requirement("Q-21")
@pytest.mark.parametrize("games", [("poor-keno",), ("poor-keno", "maple-classic")], ids=["alone", "beside"])
def test_a_machine_with_only_refused_games_is_out_of_service_with_a_notice(tmp_path, monkeypatch, games):
    state = StateFolder(tmp_path / "state")
    state.create_private_folders()
    text = (LIBRARY_FOLDER / "aurora-keno.toml").read_text("utf-8")
    poor = tmp_path / "poor-keno.toml"
    poor.write_text(text.replace("{ 2 = 9, 1 = 1 }", "{ 2 = 4, 1 = 1 }"), encoding="utf-8")
    assert poor.read_text("utf-8") != text
    file = load_cabinet()
    slots = tuple(GameTable(game=str(poor) if game == "poor-keno" else game) for game in games)
    changes = {"games": slots, "progressives": ()}
    process = MachineProcess(state, file.model_copy(update=changes), StoppedClock())
    seen, after_key = [], []

    async def look(_):
        seen.append(process._positions[0].build_snapshot())
        refusal_reasons = [
            e.record["reason"] for e in process._first_machine.journal.entries() if e.kind == "game.refused"
        ]
        assert len(refusal_reasons) == 1
        assert "at least 65.00 %" in refusal_reasons[0]
        assert process._first_machine.active_faults["cabinet_file"]["detail"] == refusal_reasons[0]
        (software,) = (entry.create_page() for entry in SERVICE_MENU.menu_items if entry.id == "software")
        words = [
            translate_text(text, "en")
            for text in iter_page_texts(software.build_page(process._first_machine))
        ]
        assert {str(poor), refusal_reasons[0]} <= set(words), "staff read why at the machine"
        process._positions[0].engine.handle(EventType.KEY_TURNED, key="attendant")
        after_key.append(process._positions[0].build_snapshot())

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", look)
    asyncio.run(process.run())
    (snapshot,) = seen
    notices = [notice.code for notice in snapshot.notices]
    if len(games) == 1:
        assert snapshot.state == "out_of_service"
        assert "out_of_service.self_test" in notices
        assert after_key[0].state == "out_of_service"  # regression: the attendant's key ended it
        assert "self_test_still_fails" in [notice.code for notice in after_key[0].notices]
    else:
        assert snapshot.state == "idle"
        assert not [code for code in notices if code.startswith("out_of_service")]
