"""Every `egm` command that a document gives is one: its sub-commands and its options are there."""

import re
import shlex
from pathlib import Path

import click
import pytest

from egm.config.cabinet_file import StateFolder
from tools.cli import main
from tools.cli.commands.run import _children, _Shown

HOUSE = Path(__file__).parents[3]
DOCUMENTS = (
    "README.md",
    "docs/floor-link.md",
    "docs/image.md",
    "egm/CABINET-FILE.md",
    "paytables/DEFINITIONS.md",
)
COMMAND = re.compile(r"^(?:sudo )?(?:\.venv/bin/)?(egm [a-z].*)$")


def given(document):
    """Commands of code blocks and of single words of code."""
    text = (HOUSE / document).read_text(encoding="utf-8")
    lines = [
        line.partition(" #")[0].strip() for block in text.split("```")[1::2] for line in block.splitlines()
    ]
    lines += re.findall(r"`([^`\n]+)`", "".join(text.split("```")[::2]))
    return [found[1] for line in lines if (found := COMMAND.match(line))]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_of_a_document_are_there(document):
    found = given(document)
    assert found
    for line in found:
        words = shlex.split(line.partition("`")[0])[1:]
        command, context = main, click.Context(main)
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            name = words.pop(0)
            if name == "...":
                break
            command = command.get_command(context, name)
            assert command is not None, f"{document}: {line}: no command {name!r}"
        known = {option for param in command.params for option in param.opts} | {"--help"}
        options = {word.partition("=")[0] for word in words if word.startswith("--") and len(word) > 2}
        assert options <= known or isinstance(command, click.Group), f"{document}: {line}: {options - known}"


def test_a_file_may_stand_for_the_stick(tmp_path):
    """What `egm run --stick` names is what the machine is started with."""
    shown = _Shown(mode="none", stick=tmp_path / "stick")
    (machine,) = (
        each for each in _children(StateFolder(tmp_path), None, None, shown) if each.name == "machine"
    )
    assert machine.command[-2:] == ("--stick", str(tmp_path / "stick"))
