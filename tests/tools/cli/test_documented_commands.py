"""Every ``egm`` command in a document exists with the sub-commands and options that the document uses."""

import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from egm.config.cabinet_file import DEFAULT_CABINET, StateFolder, load_cabinet
from egm.kernel.messages import BenchReply
from egm.screen.message_reducer import apply_bench_reply
from egm.screen.view import View
from tools.cli import main
from tools.cli.commands.run import _build_child_processes, _list_start_notes, _ScreenOptions

HOUSE = Path(__file__).parents[3]
DOCUMENTS = (
    "CONTRIBUTING.md",
    "README.md",
    "docs/floor-link.md",
    "docs/image.md",
    "docs/keno-office.md",
    "docs/tournaments.md",
    "egm/CABINET-FILE.md",
    "paytables/DEFINITIONS.md",
)
COMMAND = re.compile(r"^(?:sudo )?(?:\.venv/bin/)?(egm [a-z].*)$")


def list_commands(document):
    """Return the commands in a document's code blocks and inline code."""
    text = (HOUSE / document).read_text(encoding="utf-8")
    lines = [
        line.partition(" #")[0].strip() for block in text.split("```")[1::2] for line in block.splitlines()
    ]
    lines += re.findall(r"`([^`\n]+)`", "".join(text.split("```")[::2]))
    return [found[1] for line in lines if (found := COMMAND.match(line))]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_in_a_document_exists_with_its_options(document):
    commands_shown = list_commands(document)
    assert commands_shown
    for line in commands_shown:
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


def test_a_file_is_passed_to_the_machine_as_its_stick(tmp_path):
    """The path given to `egm run --stick` is passed to the machine's process."""
    shown = _ScreenOptions(mode="none", stick=tmp_path / "stick")
    (machine,) = (
        process
        for process in _build_child_processes(StateFolder(tmp_path), None, None, shown)
        if process.name == "machine"
    )
    assert machine.command[-2:] == ("--stick", str(tmp_path / "stick"))


def test_each_of_several_positions_has_a_screen_address_that_names_it(tmp_path):
    """With two equal addresses, the player at position 2 would see the screen of position 1."""
    cabinet_file = tmp_path / "two.toml"
    text = DEFAULT_CABINET.read_text(encoding="utf-8").replace("[machine]", "[machine]\npositions = 2", 1)
    cabinet_file.write_text(text + '\n[devices.bill-2]\nprotocol = "id003"\nposition = 2\n')
    shown = _ScreenOptions(mode="web", flags=("--silent",))
    folder = StateFolder(tmp_path / "state")
    folder.run_folder.mkdir(parents=True)
    screens = [
        c
        for c in _build_child_processes(folder, cabinet_file, load_cabinet(cabinet_file), shown)
        if c.prints_to_terminal and "screen" in c.name
    ]
    commands = [[*child.command[: child.command.index("--held")]] for child in screens]
    assert [command[command.index("--position") + 1] for command in commands] == ["1", "2"]
    works = [[command[n + 1] for n, word in enumerate(command) if word == "--device"] for command in commands]
    assert works == [[name for name in load_cabinet(cabinet_file).devices if name != "bill-2"], ["bill-2"]]
    assert all("--bench" in command for command in commands)
    assert [c.ready_file for c in screens] == [
        folder.get_screen_address_path(1),
        folder.get_screen_address_path(2),
    ]  # so one after the other
    notes = _list_start_notes(folder, "web", load_cabinet(cabinet_file))
    another = f"egm screen address --position N --state {folder.root}"
    assert (
        f"open each address below in a browser on this computer, as soon as it is printed (for a new address: {another})"
        in notes
    )
    assert any("opens the drawer of position 1 and of 2: insert a bill there" in line for line in notes)
    with subprocess.Popen(commands[-1], stdout=subprocess.PIPE, text=True) as screen:
        first = next(line for line in screen.stdout if "http" in line)
        arguments = ["screen", "address", "--state", str(folder.root), "--position", "2"]
        fresh = CliRunner().invoke(main, arguments).output
        screen.terminate()
    assert first.startswith("Screen of position 2: http://127.0.0.1:")
    assert fresh.partition("?")[0] == first.removeprefix("Screen of position 2: ").partition("?")[0]
    stopped = CliRunner().invoke(main, arguments)
    assert (stopped.exit_code, "no screen is running at http://127.0.0.1:" in stopped.output) == (1, True)


def test_a_positions_drawer_shows_only_that_positions_bench_devices():
    """The first bill acceptor belongs to position 1; the drawer of position 2 must not operate it."""
    reply = BenchReply(ok=True, state={"bill": {"inside_cents": 0}, "bill-2": {"inside_cents": 0}})
    assert list(apply_bench_reply(View(), reply).state_by_device) == ["bill", "bill-2"]
    assert list(apply_bench_reply(View(), reply, frozenset({"bill-2"})).state_by_device) == ["bill-2"]
