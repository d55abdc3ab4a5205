"""A changed definition with an unchanged version is reported, because meters and returns are stored by version."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from egm.app.process import MachineProcess
from egm.config.cabinet_file import DEFAULT_CABINET, StateFolder, load_cabinet
from egm.testing.machine import DEFAULT_GAME_ID, MachineRig, ScriptedGenerator, StoppedClock
from meters import Journal
from paytables import load_game
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main


@pytest.fixture
def played(tmp_path):
    """The memory of a machine that has played the library's game."""
    rig = MachineRig(tmp_path / "state", generator=ScriptedGenerator(0, 0, 0)).boot().insert(500)
    rig.play()
    rig.report_shown()
    rig.close()
    return tmp_path / "state"


def cabinet(folder, version):
    """Write a cabinet file whose game is that of the library with a changed sentence of help."""
    text = load_game(DEFAULT_GAME_ID).source.data.decode()
    assert f'version = "{load_game(DEFAULT_GAME_ID).version}"' in text
    text = text.replace("Three reels", "Three wheels").replace(
        f'version = "{load_game(DEFAULT_GAME_ID).version}"', f'version = "{version}"'
    )
    (folder / "own.toml").write_text(text)
    file = folder / "cabinet.toml"
    machine = DEFAULT_CABINET.read_text().partition("[[games]]")[0]
    file.write_text(
        f'{machine}\n[[games]]\ngame = "./own.toml"\n[devices.bill]\nprotocol = "id003"\n[devices.io]\nprotocol = "ioboard"\n'
    )
    return file


@pytest.mark.requirement("O-03")
@pytest.mark.parametrize("changed", [True, False], ids=["new version", "same version"])
def test_changed_definition_with_the_same_version_is_reported_by_check_and_machine(
    played, tmp_path, monkeypatch, changed
):
    before = load_game(DEFAULT_GAME_ID)
    file = cabinet(tmp_path, "9.0.0" if changed else before.version)
    result = CliRunner().invoke(main, ["cabinet", "check", "--json", "--state", str(played), str(file)])
    remarks = [fault["what"] for fault in json.loads(result.output) if fault["key"] == "games[1].game"]
    assert result.exit_code == 0, result.output
    remark = f"this machine played another definition, {before.digest[:12]}, as version {before.version}: give this one a new game.version"
    assert remarks == ([] if changed else [remark])

    async def not_yet(_):
        """What it does once it has started is another test's."""

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", not_yet)
    state = StateFolder(played)
    state.create_private_folders()
    asyncio.run(MachineProcess(state, load_cabinet(file), StoppedClock()).run())
    with Journal.open(played, now=StoppedClock().now) as journal:
        entries = [entry.record for entry in journal.entries("game.same_version")]
        bodies = list(journal.iter_bodies())
    now = load_game(str(tmp_path / "own.toml"))
    assert now.digest != before.digest
    same = {"game": DEFAULT_GAME_ID, "version": before.version, "digest": now.digest, "before": before.digest}
    assert entries == ([] if changed else [same])
    assert Auditor(GameFiles([tmp_path])).audit_entries(bodies).findings == []
