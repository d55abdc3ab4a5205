"""A command names its checkout if that is not the one in the working directory."""

from pathlib import Path

import tools
from tools.cli.other_checkout import find_other_checkout, format_other_checkout_note

OWN_CHECKOUT = Path(tools.__file__).parents[1]


def test_another_checkout_in_the_working_directory_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_other_checkout() is None
    (tmp_path / "tools" / "cli").mkdir(parents=True)
    assert find_other_checkout() == tmp_path
    note = format_other_checkout_note(tmp_path)
    assert note == f"note: this is the egm of {OWN_CHECKOUT}; for {tmp_path}, make a .venv there (make setup)"


def test_the_commands_own_checkout_is_not_reported_as_another(monkeypatch):
    monkeypatch.chdir(OWN_CHECKOUT)
    assert find_other_checkout() is None


def test_a_removed_working_directory_is_not_reported_as_a_checkout(tmp_path, monkeypatch):
    removed = tmp_path / "removed"
    removed.mkdir()
    monkeypatch.chdir(removed)
    removed.rmdir()
    assert find_other_checkout() is None
