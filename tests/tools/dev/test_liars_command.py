"""``python -m tools.dev liars`` tests exports given on the command line."""

import json

from click.testing import CliRunner

from egm.kernel.events import EventType
from egm.kernel.positions import Position
from egm.testing.machine import MachineRig
from tools.cli import main
from tools.dev.commands.liars import command


def export_positions(folder, positions):
    """Write the export of a machine of several positions, each with a bill and an attendant call."""
    rigs = []
    for number in range(1, positions + 1):
        beside = rigs[0] if rigs else None
        rig = MachineRig(
            folder / "state", devices=("printer",), position=Position(number, positions), first_rig=beside
        )
        rigs.append(rig.boot().insert(500))
        rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    for rig in reversed(rigs):
        rig.close()
    file = folder / f"{positions}.jsonl"
    result = CliRunner().invoke(main, ["audit", "export", str(file), "--state", str(folder / "state")])
    assert result.exit_code == 0, result.output
    return file


def test_the_liars_command_lies_about_every_given_export(tmp_path):
    files = []
    for positions in (1, 3):
        folder = tmp_path / str(positions)
        folder.mkdir()
        files.append(str(export_positions(folder, positions)))
    result = CliRunner().invoke(command, ["--lies", "100", "--json", "--journals", *files])
    assert result.exit_code == 0, result.output
    score = json.loads(result.stdout)
    assert (score["lies"], score["undetected"]) == (100, [])
    assert "position" in score["by_what_they_touch"]
