"""A command that reads a machine's memory reports a missing state folder and does not create it."""

import pytest
from click.testing import CliRunner

from tools.cli import main

READING = [
    ("people", "list"),
    ("people", "pin", "1"),
    ("people", "disable", "1"),
    ("people", "enable", "1"),
    ("memory", "show"),
    ("audit", "inspect"),
    ("meters",),
    ("returns",),
    ("inventory", "show"),
    ("intervention", "list"),
]


@pytest.mark.parametrize("words", READING)
def test_a_missing_state_folder_is_reported_and_not_created(tmp_path, words):
    for name, is_created in (("typo", False), ("file", True)):
        path = tmp_path / name
        if is_created:
            path.write_bytes(b"")
        result = CliRunner().invoke(main, [*words, "--state", str(path)], input="")
        assert result.exit_code == 1, result.output
        assert str(path) in result.output
        assert "no machine has been started in this folder" in result.output
        assert path.exists() is is_created
