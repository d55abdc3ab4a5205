"""Notices are listed apart from findings, each with its entry and a sentence."""

import json
from datetime import UTC, datetime

from click.testing import CliRunner
from journals import make_state

from meters import Journal
from tools.audit.notices import format_notice
from tools.cli import main


def verify(*words):
    run = CliRunner().invoke(main, ["audit", "verify", *map(str, words)])
    assert run.exit_code == 0, run.output
    return run.output


def test_a_repaired_copy_and_a_clock_set_back_are_notices_and_not_findings(tmp_path):
    state = make_state(tmp_path / "state")
    first = state / "journal.sqlite"
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 0xFF
    first.write_bytes(content)
    before = datetime(2020, 1, 1, tzinfo=UTC)
    with Journal.open(state, now=lambda: before) as journal:
        entries = {entry.sequence: entry for entry in journal.entries(("event", "clock.changed"))}
        expected = {sequence: entry.kind for sequence, entry in entries.items()}
    assert {"event", "clock.changed"} <= set(expected.values())
    for copy in json.loads(verify("--state", state, "--json")).values():
        assert copy["wrong"] == 0
        assert not copy["findings"]
        assert copy["noted"] == len(expected)
        notices_by_entry = {notice["entry"]: notice for notice in copy["notices"]}
        assert {sequence: entry.id for sequence, entry in entries.items()} == {
            sequence: n["id"] for sequence, n in notices_by_entry.items()
        }
        for sequence, kind in expected.items():
            assert ("rebuilt from the other" if kind == "event" else "2020-01-01") in notices_by_entry[
                sequence
            ]["why"]
            assert notices_by_entry[sequence]["why"] == format_notice(entries[sequence])
    text = " ".join(verify("--state", state).split())
    assert "nothing wrong" in text
    for sequence in expected:
        assert f"notice entry {sequence} " in text


def test_a_journal_without_repairs_or_clock_changes_has_no_notices(tmp_path):
    state = make_state(tmp_path / "state")
    for copy in json.loads(verify("--state", state, "--json")).values():
        assert copy["noted"] == 0
        assert copy["notices"] == []
