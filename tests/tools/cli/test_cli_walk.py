"""Every command of ``egm`` rejects invalid arguments with a sentence, never with a traceback."""

import contextlib
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tools.cli import _EXTRA_BY_PACKAGE, main
from tools.cli.printed_text import PrintedText
from tools.dev.__main__ import main as dev

ROOT = Path(__file__).parents[3]
#: Commands that go on until they are stopped, or play for minutes: walked with wrong arguments only.
GO_ON = {
    "run", "bench-host", "world", "progressive serve", "progressive sign", "link", "screen preview",
    "liars", "rng battery", "rng bytes", "rng calibrate", "shots", "rng collect",
    "rng report", "gat sign",
    "game list",
}  # fmt: skip


def iter_commands(group, path=()):
    """Yield every command with its path."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from iter_commands(command, (*path, name))
        else:
            yield (*path, name), command


LEAVES = {path: command for group in (main, dev) for path, command in iter_commands(group)}
#: Packages that only developers have, by the names under which they are imported.
DEV = set(dict(iter_commands(dev)))


def answer(*args, cwd):
    """Run ``egm``; return its exit code and output, and raise what it raises."""
    group = dev if any(args[: len(path)] == path for path in DEV) else main
    with contextlib.chdir(cwd):
        result = CliRunner().invoke(group, [str(a) for a in args], prog_name="egm")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"egm {' '.join(map(str, args))}") from result.exception
    return result.exit_code, result.output


def test_command_names_are_lower_case_words_with_hyphens():
    """Regression: renaming a function renamed `egm manifest sign` to `encode_signed_manifest`."""
    assert LEAVES
    assert {name for path in LEAVES for name in path if not re.fullmatch(r"[a-z]+(-[a-z]+)*", name)} == set()
    assert ("manifest", "sign") in LEAVES


def build_nonsense_arguments(command, nonsense):
    """Return the required arguments and options of a command, each with an unknown value."""
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and parameter.required:
            yield nonsense
        elif isinstance(parameter, click.Option) and parameter.required:
            yield from (parameter.opts[0], nonsense)


def test_every_option_has_a_help_text():
    options = [
        (*path, *parameter.opts, parameter.help)
        for path, command in iter_commands(main)
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
    ]
    assert len(options) > 200
    assert [option for option in options if not option[-1]] == []


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_command_replies_to_valid_and_invalid_arguments_with_text(path, tmp_path):
    code, output = answer(*path, "--help", cwd=tmp_path)
    assert code == 0
    assert output.startswith(f"Usage: egm {' '.join(path)}")
    code, output = answer(*path, "--no-such-option", cwd=tmp_path)
    assert (code, "No such option" in output) == (2, True)
    nothing = tmp_path / "nothing"
    nothing.write_bytes(b"\x00\xff no table, no key, no journal \n")
    empty = tmp_path / "empty"
    empty.mkdir()
    wrong = [("no-such-thing",), (str(nothing),), (str(empty),), (str(tmp_path / "absent" / "x"),)]
    command = LEAVES[path]
    if " ".join(path) in GO_ON:
        wrong = []
    for (value,) in wrong:
        args = list(build_nonsense_arguments(command, value))
        where = ["--state", str(empty)] if any("--state" in p.opts for p in command.params) else []
        code, output = answer(*path, *args, *where, cwd=empty)
        assert code in {0, 1, 2}
        assert code == 0 or output.strip(), "refused without a word"
        if code:
            assert re.search(r"\w{3,}", output.splitlines()[-1] if output.splitlines() else ""), output


WITHOUT = (
    "import sys\n"
    f"for name in {sorted(_EXTRA_BY_PACKAGE)!r}: sys.modules[name] = None\n"
    "from tools.cli import main\n"
    "main(prog_name='egm')\n"
)


def run_without_laboratory(*args, cwd):
    """Run ``egm`` in a process without the laboratory packages, as on a cabinet."""
    command = [sys.executable, "-c", WITHOUT, *args]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd, timeout=240)


@pytest.mark.parametrize(
    "args",
    ["par maple-classic", "par northern-ways", "keno odds aurora-keno ?4", "simulate maple-classic --games 200", "game check aurora-twenty"],
)  # fmt: skip
def test_commands_without_laboratory_packages_work_on_a_cabinet(args, tmp_path):
    result = run_without_laboratory(*args.split(), cwd=tmp_path)
    # of honest simulations of few games some lie outside their interval, which is status 1
    assert result.returncode == 0 or (args.startswith("simulate") and "OUTSIDE" in result.stdout), (
        result.stderr
    )
    assert "Traceback" not in result.stderr
    assert result.stdout.strip()


@pytest.mark.parametrize(
    "args",
    ["certify maple-classic --jurisdiction quebec-casino --out bundle --games-played 200", "rng battery",
     "simulate maple-classic --compiled --games 200", "par maple-classic --html --out sheet.html"],
)  # fmt: skip
def test_a_command_that_needs_the_laboratory_packages_names_them_in_one_line(args, tmp_path):
    result = run_without_laboratory(*args.split(), cwd=tmp_path)
    assert result.returncode == 1
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert "Traceback" not in result.stderr
    assert re.fullmatch(
        r"Error: this command needs \w+, which is not installed\. In a checkout: make setup-dev; "
        r"elsewhere: pip install 'open-egm\[lab\]'", lines[-1],
    )  # fmt: skip
    assert not result.stdout.strip()  # reported before the work, not after it
    assert not list(tmp_path.rglob("manifest.sig"))


def test_a_par_sheet_without_the_laboratory_packages_names_the_extra_with_brackets(tmp_path):
    result = run_without_laboratory("par", "maple-classic", cwd=tmp_path)
    assert "pip install open-egm[lab]" in re.sub(r"\s+", " ", result.stdout)


def test_a_missing_controller_store_is_reported_and_not_created(tmp_path):
    result = run_without_laboratory(
        "progressive", "status", "--store", str(tmp_path / "none.db"), cwd=tmp_path
    )
    assert result.returncode == 1
    assert "no controller store" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "expected_text"),
    [("meters", "no machine has been started in this folder"), ("levels", "no machine has been started in this folder"),
     ("register show handpays", "no machine has been started in this folder"), ("device", "start the cabinet there with `egm run`"),
     ("gat status", "there is no GAT port: start the machine"), ("ticket list", "no machine has been started in this folder"),
     ("audit export audit.jsonl", "no machine has been started in this folder"),
     ("screen address", "no browser screen is running; `egm run --screen web` starts one")],
)  # fmt: skip
def test_before_the_first_start_commands_report_that_there_is_no_machine_yet(words, expected_text, tmp_path):
    code, output = answer(*words.split(), "--state", str(tmp_path), cwd=tmp_path)
    assert (code, expected_text in output) == (1, True), output
    assert len(output.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "expected_text"),
    [
        ("screen preview aurora-twenty", "expected a .webp file to write (choose the game with --game)"),
        ("device --port /dev/ttyUSB0", "--port needs --protocol"),
        ("device --protocol id003 --port none", "none does not exist; `egm cabinet devices` lists"),
        ("keno odds aurora-keno 3,3", "selection 1, group 1: 3 is marked twice"),
        ("audit verify empty.jsonl", "not an export of a journal (the file is empty)"),
        ("audit verify text.jsonl", "not an export of a journal (not JSON from character 1 on)"),
        ("audit verify bytes.jsonl", "not an export of a journal (not UTF-8 from byte 2 on)"),
    ],
)
def test_arguments_and_files_of_another_kind_are_refused_with_the_reason(words, expected_text, tmp_path):
    files = {"empty.jsonl": b"", "text.jsonl": b"hello\n", "bytes.jsonl": b"{\xff\n"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    code, output = answer(*words.split(), cwd=tmp_path)
    assert (code, expected_text in output) == (1, True), output
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)


def test_a_missing_cabinet_file_is_reported_before_the_state_folder_is_created(tmp_path):
    state = tmp_path / "state"
    code, output = answer(
        "run", "--cabinet", "nope.toml", "--state", str(state), "--screen", "none", cwd=tmp_path
    )
    assert code == 1
    assert output == (
        "Error: there is no cabinet file nope.toml: write one with `egm cabinet new nope.toml`, "
        "or create it on the screen with --first-start\n"
    )
    assert not state.exists()  # nothing was claimed or made for it


def test_every_required_reason_must_be_one_line_of_text():
    """A blank or multi-line reason is refused before anything is done."""
    reasons = {
        (*path, parameter.name): parameter.type
        for path, command in LEAVES.items()
        for parameter in command.params
        if parameter.name in {"reason", "why"} and parameter.required
    }
    assert len(reasons) >= 8
    assert [path for path, kind in reasons.items() if not isinstance(kind, PrintedText)] == []
    for blank in ("", "  ", "a\nb", "x" * 1001):
        with pytest.raises(click.BadParameter):
            PrintedText(1000).convert(blank, None, None)
