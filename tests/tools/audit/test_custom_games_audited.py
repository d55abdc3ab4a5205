"""A custom game is audited from the export alone, because the journal contains its definition."""

import base64
import json
import zlib

import pytest
from rigs.lies import KEY, audit_findings

from egm.testing.machine import MachineRig, ScriptedGenerator
from paytables.definition import read_source
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.dev.lies import adopt_entries

OWN = "my-own-game"


@pytest.fixture
def played(tmp_path):
    own_game_file = tmp_path / f"{OWN}.toml"
    own_game_file.write_text(read_source("maple-classic").path.read_text().replace("maple-classic", OWN))
    rig = (
        MachineRig(tmp_path / "state", games=(str(own_game_file),), generator=ScriptedGenerator(23, 7, 5))
        .boot()
        .insert(1000)
    )
    rig.play()
    rig.report_shown()
    bodies = list(rig.journal.iter_bodies())
    rig.close()
    return bodies


@pytest.mark.requirement("E-13")
def test_a_custom_game_is_audited_from_its_export_alone_with_a_notice_of_its_digest(played):
    report = Auditor(GameFiles()).audit_entries(played)
    assert (report.findings, report.game_count) == ([], 1)
    (pointed_out,) = [notice.text for notice in report.notices if OWN in notice.text]
    digest = next(json.loads(body)["record"]["game"]["digest"] for body in played if b"game.start" in body)
    assert "with its certificate" in pointed_out
    assert digest in pointed_out


@pytest.mark.requirement("E-13")
def test_a_stored_definition_that_does_not_match_its_digest_is_not_used(played):
    """A definition with other pays must not give the draws another outcome."""
    entries = adopt_entries(played, KEY)
    start = next(raw for raw in entries if raw["kind"] == "game.start")
    key = next(key for key in start["state"] if key.startswith("definition:"))
    text = zlib.decompress(base64.b85decode(start["state"][key])).decode()
    start["state"][key] = base64.b85encode(zlib.compress(text.replace("500", "501").encode())).decode()
    assert any("no definition available" in reason for reason in audit_findings(entries).values())
    start["state"][key] = "not a definition"
    assert any("no definition available" in reason for reason in audit_findings(entries).values())


def test_a_library_game_raises_no_notice(tmp_path):
    rig = MachineRig(tmp_path / "state", generator=ScriptedGenerator(23, 7, 5)).boot().insert(1000)
    rig.play()
    rig.report_shown()
    assert not list(Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).notices)
    rig.close()
