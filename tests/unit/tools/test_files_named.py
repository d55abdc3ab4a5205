"""Whatever a person names as a file: a device, a pipe or a folder is refused, and stays what it is."""

import os
import stat

import pytest
from click.testing import CliRunner

from egm.clock import SystemClock
from meters import Journal
from tools.cli import main


def egm(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def refused(*words):
    told = egm(*words)
    assert told.exit_code in {1, 2}, told.output
    assert told.exception is None or isinstance(told.exception, SystemExit), repr(told.exception)
    return told.output


@pytest.fixture
def state(tmp_path):
    with Journal.open(tmp_path / "state", now=SystemClock().now):
        pass
    return tmp_path / "state"


@pytest.mark.parametrize("command", [("export",), ("verify", "--point")])
def test_what_is_no_regular_file_is_not_replaced(command, state, tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for name in (pipe, link):
        assert "is no regular file" in refused("audit", *command, name, "--state", state)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert link.is_symlink()


def test_an_export_goes_where_a_link_leads_and_past_what_lies_at_its_partial_name(state, tmp_path):
    kept, link = tmp_path / "kept", tmp_path / "link"
    kept.write_text("old")
    link.symlink_to(kept)
    os.mkfifo(tmp_path / "kept.partial")
    assert egm("audit", "export", link, "--state", state).exit_code == 0
    assert link.is_symlink()
    assert kept.read_bytes().startswith(b'{"')
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "link", "state"]
