"""Each way in which the journal's head leaves the machine; the audit compares each with an export."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from rigs.monitored import read_snapshot, start_monitoring

from egm.kernel.events import EventType
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.painter import Painter
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.lockup import describe_lockup_with_journal_head
from egm.screen.text import Texts
from egm.screen.theme import load_theme
from egm.screen.view import Scene, View
from egm.testing.machine import MachineRig
from tools.cli import main


def read_head_on_screen(rig, scene, language="en"):
    """Return the head that the lock-up page shows."""
    view = replace(View(), snapshot=read_snapshot(rig))
    words = describe_lockup_with_journal_head(
        DrawingContext(Painter(load_theme()), Texts(language), LANDSCAPE_LAYOUT, view), scene
    )
    return words.lines[-1].split()[-1]


def read_head_in_metrics(rig, folder):
    """Return the head as a monitoring system stores it: two numbers, as floats."""
    [*found] = start_monitoring(rig, folder, [])._iter_families(read_snapshot(rig))
    values = {family.name: family.samples[0].value for family in found if family.samples}
    return f"{values['egm_journal_sequence']:.0f}={float(values['egm_journal_head'])!r}"


@pytest.mark.requirement("E-13")
def test_the_journal_head_on_slips_screens_and_metrics_is_checked_by_the_audit(tmp_path):
    noted = []
    rig = MachineRig(tmp_path / "state").boot().insert(2000)
    noted.append(read_head_in_metrics(rig, tmp_path))
    rig.engine.handle(EventType.CASH_OUT)
    noted.append(read_head_on_screen(rig, Scene.HANDPAY, "fr"))
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    noted.append(rig.records("handpay.paid")[0]["witness"])
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    noted.append(read_head_on_screen(rig, Scene.DOOR))
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    noted.append(read_head_on_screen(rig, Scene.TILT))
    assert noted[1] == noted[2]  # the head on the slip was on the screen at the payment
    rig.close()
    book = tmp_path / "book.txt"

    def verified():
        book.write_text("\n".join(noted))
        result = CliRunner().invoke(
            main, ["audit", "verify", "--state", str(tmp_path / "state"), "--witness", str(book), "--json"]
        )
        return list(json.loads(result.output).values())

    for report in verified():
        assert (report["ok"], report["witnessed"]) == (True, len(noted))
    for n, honest in enumerate(noted):
        forged = honest[:-6] + ("1" if honest[-6] != "1" else "2") + honest[-5:]
        noted[n] = forged
        assert not any(report["ok"] for report in verified()), forged
        noted[n] = honest
