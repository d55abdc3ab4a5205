"""The log of a journal on a terminal of 80 columns: complete times and kinds, with the details in lines."""

import pytest
from click.testing import CliRunner

from egm.kernel.events import EventType
from egm.testing.machine import MachineRig
from tools.audit.log_text import format_log_lines
from tools.cli import main

ROW = {
    "entry": 926,
    "time": "2026-11-22T10:31:05+00:00",
    "kind": "aft.complete",
    "effect": "stop",
    "clear": "attendant",
    "person": "1001",
    "cents": 5000,
    "story": {
        "identifier": "T1",
        "trouble": "",
        "zero": 0,
        "kind": "in",
        "cents": {"cashable": 5000},
        "why": "x " * 60,
    },
}


@pytest.mark.parametrize("width", [80, 60, 200])
def test_a_log_entry_fits_the_terminal_and_is_not_truncated(width):
    lines = list(format_log_lines([ROW], width))
    assert all(len(line) <= width for line in lines)
    assert lines[0] == "     926  2026-11-22 10:31:05  aft.complete"
    assert lines[1].strip() == "stop · to be cleared by attendant · person 1001"
    text = " ".join(line.strip() for line in lines[2:])
    assert text.startswith('cents {"cashable": 5000}; identifier T1; zero 0; kind in')
    assert text.count("x") == 60


def test_a_log_prints_at_most_five_lines_per_entry(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    rig = MachineRig(tmp_path / "state").boot().insert(2000)
    rig.engine.handle(
        EventType.FAULT_RAISED, code="bill_acceptor.jam", detail="a folded note, pulled out by hand"
    )
    rig.close()
    for name in ("events", "bills"):
        run = CliRunner().invoke(main, ["audit", "log", name, "--state", str(tmp_path / "state")])
        assert run.exit_code == 0
        lines = run.output.splitlines()
        assert max(map(len, lines)) <= 80
        entries = [line for line in lines if line[:8].strip().isdigit()]
        assert entries
        assert len(lines) <= 5 * len(entries)
    assert "bill.in" in run.output


def test_unprintable_characters_of_a_log_never_reach_the_terminal():
    hostile = {
        **ROW,
        "kind": "a\x1b[2K",
        "person": "\x1b[8m",
        "story": {"[/red]\n": "\x9b31m", "x": "\ud800"},
    }
    text = "\n".join(format_log_lines([hostile], 80))
    assert all(c.isprintable() or c == "\n" for c in text)
    assert "[/red]" in text
