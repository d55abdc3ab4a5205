"""Audits of a machine whose journal is mostly archived: completely, in two parts, and from a saved point."""

import shutil
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from journals import insert, make_state

from meters import Journal, JournalPolicy, open_view
from meters.archive import ARCHIVE_END_KEY
from meters.copies import SECOND_FOLDER
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main

POLICY = JournalPolicy(
    entries_per_checkpoint=10,
    entries_archived_together_min=30,
    newest_entries_not_archived=20,
    segment_size_bytes=1 << 16,
)


def clock():
    return datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A machine's memory of real games, of which nearly all entries are archived."""
    folder = tmp_path_factory.mktemp("archived") / "state"
    make_state(folder, cashes_out=False)
    with Journal.open(folder, now=clock, policy=POLICY) as journal:
        for _ in range(600):
            journal.check()
        assert journal.state(ARCHIVE_END_KEY)["through"] > 60
        for _ in range(10):
            insert(journal, 100)
    with open_view(folder) as view:
        assert view._database.read_first_sequence() > 60
    return folder


@pytest.fixture
def state(original, tmp_path):
    return shutil.copytree(original, tmp_path / "state")


def audit(*words):
    run = CliRunner().invoke(main, ["audit", *map(str, words)])
    return run.exit_code, run.output.replace("\n", " ")


def test_both_copies_are_verified_with_their_archives(state):
    code, output = audit("verify", "--state", state)
    assert code == 0, output
    assert output.count("nothing wrong") == 2


@pytest.mark.parametrize(("medium", "copy"), [("", "first copy"), (SECOND_FOLDER, "second copy")])
def test_a_segment_altered_on_one_medium_is_reported_for_that_copy(state, medium, copy):
    path = min((state / medium / "archive").glob("*.seg"))
    content = bytearray(path.read_bytes())
    content[50] ^= 1
    path.write_bytes(content)
    code, output = audit("verify", "--state", state)
    assert code == 1
    other = {"first copy": "second copy", "second copy": "first copy"}[copy]
    assert path.name in output[output.index(copy) :].split(other)[0]


def test_an_export_spans_the_archive(state, tmp_path):
    assert audit("export", tmp_path / "all", "--state", state)[0] == 0
    code, output = audit("verify", tmp_path / "all")
    assert code == 0, output
    with open_view(state) as view:
        assert len((tmp_path / "all").read_bytes().splitlines()) == view.sequence + 2


def test_a_verification_continues_from_its_saved_point_unless_verified_entries_changed(state, tmp_path):
    """After a complete verification, only later entries are verified; a change to verified entries is reported."""
    with open_view(state) as view:
        bodies = list(view.iter_bodies())
    point = tmp_path / "point"
    assert audit("export", tmp_path / "one", "--state", state)[0] == 0
    assert audit("verify", tmp_path / "one", "--point", point)[0] == 0
    with Journal.open(state, now=clock) as journal:
        insert(journal, 500)
    assert audit("export", tmp_path / "two", "--state", state, "--since", len(bodies))[0] == 0
    code, output = audit("verify", tmp_path / "two")
    assert code == 1
    assert "only entries up to 0 have been verified" in output
    code, output = audit("verify", tmp_path / "two", "--point", point)
    assert code == 0, output
    code, output = audit("verify", "--state", state, "--point", point)
    assert code == 0, output
    assert (tmp_path / "point.second").exists()


def test_a_damaged_verification_point_is_refused(state, tmp_path):
    point = tmp_path / "point"
    assert audit("verify", "--state", state, "--point", point)[0] == 0
    content = bytearray(point.read_bytes())
    content[-9] ^= 1
    point.write_bytes(content)
    code, output = audit("verify", "--state", state, "--point", point)
    assert code == 1
    assert "not a verified point" in output


def test_the_auditors_memory_does_not_grow_with_the_number_of_games(state):
    with open_view(state) as view:
        bodies = list(view.iter_bodies())
    auditor = Auditor(GameFiles())
    report = auditor.audit_entries(bodies)
    assert report.game_count > 50
    assert len(auditor._used_ids) < 50  # those of bills, of the archive, of checkpoints none
    assert not auditor._entry_ids_by_start_id
