"""Every command on a page exists; those of the README run as printed, in an environment set up as it says."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from tools.cli import _EXTRA_BY_PACKAGE, main
from tools.dev.__main__ import main as dev
from tools.dev.conformance.requirements import ROOT

PAGES = sorted(
    page for page in ROOT.rglob("*.md")
    if not {".venv", "build", "node_modules"} & set(page.relative_to(ROOT).parts) and page.name != "CHANGELOG.md"
)  # fmt: skip
PATIENCE_SECONDS = 120


# ---------------------------------------------------------------- the commands on the pages
def _lines(text):
    """Yield every line of a code block and every code span in a sentence."""
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    yield from (line for block in blocks for line in block.replace("\\\n", " ").splitlines())
    yield from re.findall(
        r"`([^`\n]+(?:\n[^`\n]+)?)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    )


def commands(text, program):
    """Return the commands of ``program`` on a page, each as its words."""
    for line in _lines(text):
        shown = " ".join(line.split()).removeprefix(".venv/bin/")
        if re.match(rf"{program}(\s|$)", shown):
            usage = re.split(r"\s#|\s\|\s", shown)[0].replace("[", "").replace("]", "")
            yield [
                word
                for word in shlex.split(usage)[1:]
                if word.strip(".…") not in {"", "OPTIONS", "COMMAND", "ARGS"}
            ]


SHOWN = [
    pytest.param(page, tuple(words), id=f"{page.name} {' '.join(words)}"[:90])
    for page in PAGES
    for words in sorted({tuple(words) for words in commands(page.read_text(encoding="utf-8"), "egm")})
]


@pytest.mark.parametrize(("page", "words"), SHOWN)
def test_every_command_shown_on_a_page_exists_with_its_options(page, words):
    context, command = click.Context(main, info_name="egm"), main
    unread_words = list(words)
    while isinstance(command, click.Group) and unread_words and not unread_words[0].startswith("-"):
        name = unread_words.pop(0)
        below = command.get_command(context, name)
        if below is None and unread_words == [] and command is main and name.isupper():
            return  # a placeholder: egm COMMAND
        assert below is not None, f"{page.name}: egm {' '.join(words)}: no {name!r}"
        context, command = click.Context(below, info_name=name, parent=context), below
    taken = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    shown_options = {word.partition("=")[0] for word in unread_words if word.startswith("--")}
    assert shown_options <= taken | {"--help", "--version"}, f"{page.name}: egm {' '.join(words)}"


def test_the_pages_show_more_than_sixty_commands():
    assert len(SHOWN) > 60
    assert {page.name for page in PAGES} >= {
        "README.md",
        "WIRING.md",
        "PROFILES.md",
        "CABINET-FILE.md",
    }


def test_every_make_target_shown_on_a_page_exists():
    verbs = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shown_targets = {
        words[0] for page in PAGES for words in commands(page.read_text(encoding="utf-8"), "make") if words
    }
    assert {"run", "test", "bench", "conformance"} <= shown_targets
    assert shown_targets <= verbs | {"-C", "VERB"}


# ---------------------------------------------------------------- the README, run
LACKS = r"^Error: this command needs \w+, which is not installed\. In a checkout: make setup-dev; elsewhere: pip install "
#: Command of the README -> its status, the printed shape, and words added so that it ends before the day does.
PRINTED = {
    "par maple-classic": (0, r"^Maple Classic / Érable classique .*\ndefinition SHA-256 [0-9a-f]{64}\n\nBet line: 1 credit\nreturn +\d+\.\d+ %", ""),
    "meters": (0, r"^machine EGM-0000001, rules generic, amounts in minor units of USD, entry \d+, [\d-]{10} [\d:]{8} UTC\nmachine key [0-9a-f-]{19}, head [0-9a-f]{16}\nmeter +value  unit\n─+  ─+  ─+\n(.*\n)*power_resets +0{9}1  times", ""),
    "audit export audit.jsonl": (0, r"^audit\.jsonl: [\d,]+ entries, machine key [0-9a-f-]{19}\n$", ""),
    "audit verify audit.jsonl": (0, r"^audit\.jsonl +machine EGM-0000001, key .*\n  [\d,]+ entries chained to (.*\n)+  nothing wrong\n$", ""),
    "meters --file audit.jsonl": (0, r"^machine EGM-0000001, rules generic, amounts in minor units of USD, entry \d+, [\d-]{10} [\d:]{8} UTC\nmachine key [0-9a-f-]{19}, head [0-9a-f]{16}\nmeter +value  unit\n─+  ─+  ─+\n(.*\n)*power_resets +0{9}1  times", ""),
    "audit inspect": (0, r"^first copy: intact up to entry \d+; nothing wrong\nsecond copy: (.*\n)+challenge [0-9a-f]+\n$", ""),
    "memory show": (0, r"^medium  folder +label +MiB free\n(.*\n){3}both media are this machine's\n$", ""),
    "game check maple-classic": (0, r"(.*\n)+maple-classic 1\.\d+\.\d+ is valid.*; SHA-256 [0-9a-f]{64}\n$", ""),
    "simulate maple-classic": ((0, 1), r"^maple-classic .*: 300 games, production path\n  simulated return .*\n  exact return +87\.3770 %", "--games 300"),
    "device": (0, r"^device +kind +status  powered  plugged\n─.*\nbill +bill acceptor", ""),
    "gat sign": (0, r"^Name: Open EGM\nManufacturer: open-egm\nAlgorithm: sha1-hmac\naccounting: [0-9A-F]{40}", ""),
    "manifest --help": (0, r"^Usage: egm manifest .*\n(.*\n)*  verify ", ""),
    "levels": (0, r"^stand-alone levels, minor units\nlevel +shows +hidden", ""),
    "progressive --help": (0, r"^Usage: egm progressive .*\n(.*\n)*  status ", ""),
    "register list": (0, r"^register +columns +rule\n─.*\n(.*\n)*handpays ", ""),
    "tournament new rules.toml": (0, r"^rules\.toml: an example of tournament rules", ""),
    "cabinet new my.toml": (0, r"^my\.toml written; try: egm cabinet check my\.toml", ""),
    "certify maple-classic --jurisdiction quebec-casino --out bundle": (1, LACKS, ""),
    "rng battery --json battery.json": (1, LACKS, ""),
    "certify maple-classic --jurisdiction quebec-casino --out bundle --submission --battery battery.json": (2, r"'--battery': File 'battery.json' does not exist", ""),
    "certify --verify bundle/submission --reproduce": (2, r"'--verify': Directory 'bundle/submission' does not exist", ""),
}  # fmt: skip


#: Commands in the README's sentences for a person at the running demonstration.
IN_SENTENCES = (
    "device io key name=attendant on=true",
    "device io key name=attendant on=false",
    "screen address",
)

README_BLOCKS = re.findall(r"^```\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
#: The lines of blocks that run one of the two command lines, as their words.
README_LINES = [
    shlex.split(line, comments=True)
    for block in README_BLOCKS
    for line in block.splitlines()
    if line.startswith((".venv/bin/egm ", ".venv/bin/python -m tools.dev "))
]
#: Lines that start another machine, as the arguments of `egm run`.
README_MACHINES = [
    shlex.split(words)
    for block in README_BLOCKS
    for words in re.findall(r'^make run ARGS="([^"]+)"', block, re.MULTILINE)
]


@pytest.mark.parametrize("line", README_LINES, ids=" ".join)
def test_each_readme_command_has_all_its_required_arguments(line, tmp_path, monkeypatch):
    """The files that earlier lines of the page write exist."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audit.jsonl").touch()
    (tmp_path / "battery.json").touch()
    (tmp_path / "bundle/submission").mkdir(parents=True)
    command, words = (dev, line[3:]) if "tools.dev" in line else (main, line[1:])
    context = click.Context(command, info_name=line[0])
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name = words.pop(0)
        command = command.get_command(context, name)
        context = click.Context(command, info_name=name, parent=context)
    with contextlib.suppress(click.exceptions.Exit):  # --help
        command.make_context(context.info_name, words, parent=context.parent)


def test_only_readme_commands_of_the_laboratory_fail_without_its_packages():
    """Only commands that need the laboratory packages fail without them."""
    (laboratory,) = [block for block in README_BLOCKS if "make setup-dev" in block]
    refused_commands = [
        command
        for command, (status, _, _) in PRINTED.items()
        if 0 not in ((status,) if isinstance(status, int) else status)
    ]
    assert refused_commands
    assert all(f"egm {command}" in laboratory for command in refused_commands)


def test_the_readme_writes_each_file_before_a_command_uses_it():
    """Regression: a reader who followed the page had no battery result for the submission."""
    (block,) = [block for block in README_BLOCKS if "--submission" in block]
    battery, submission = "rng battery --json battery.json", "--submission --battery battery.json"
    assert 0 <= block.find(battery) < block.find(submission)
    assert block.find(submission) < block.find("--verify bundle/submission")


def test_the_tested_readme_commands_are_exactly_those_shown():
    shown = {
        " ".join(words) for line in [(ROOT / "README.md").read_text()] for words in commands(line, "egm")
    }
    blocks = {
        re.split(r"\s+#", line.strip())[0].removeprefix(".venv/bin/egm").strip()
        for block in re.findall(
            r"^```\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
        )
        for line in block.splitlines()
        if line.startswith(".venv/bin/egm ")
    }
    assert blocks == set(PRINTED)
    assert set(IN_SENTENCES) <= shown
    assert blocks <= shown


#: The slowest commands, which are run only in the separate environment.
LONG = {
    "cabinet new my.toml",
    "simulate maple-classic",
    "rng battery --json battery.json",
}


def walk(egm, folder, without=frozenset()):
    """Start the cabinet as `make run` does, and run each command of the README beside it as printed."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONWARNINGS": "default"}
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "COLUMNS", "PYTHONPATH", "VIRTUAL_ENV"):
        environment.pop(name, None)
    output_file = folder / "said"
    with output_file.open("w") as output:  # a pipe would fill because nothing reads it
        cabinet = subprocess.Popen([*egm, "run"], cwd=folder, env=environment, stdout=output, stderr=output)
    try:
        for _ in range(PATIENCE_SECONDS * 5):
            first = output_file.read_text()
            if "Screen: " in first:
                break
            time.sleep(0.2)
        assert re.search(r"open the address below in a browser", first)
        (badges,) = re.findall(
            r"^egm: staff numbers and PINs of this demonstration are in (.+)$", first, re.MULTILINE
        )
        assert Path(badges).stat().st_mode & 0o077 == 0
        pins = [badge["pin"] for badge in json.loads(Path(badges).read_text())]
        assert len(pins) > 3
        assert not [pin for pin in pins if pin in first], "a log that is kept tells nobody's PIN"
        assert re.search(r"^Screen: http://127\.0\.0\.1:\d+/\?token=\w+$", first, re.MULTILINE)
        _run(egm, ["device"], folder, environment, until="bill acceptor")
        _run(egm, ["meters"], folder, environment, until="power_resets")  # the games are counted first
        for command in IN_SENTENCES:
            assert _run(egm, shlex.split(command), folder, environment).returncode == 0, command
        for command, (status, shape, options) in PRINTED.items():
            if command in without:
                continue
            result = _run(egm, [*shlex.split(command), *options.split()], folder, environment)
            printed = result.stdout + result.stderr
            assert "Traceback" not in printed, printed
            assert result.returncode in (status if isinstance(status, tuple) else (status,)), (
                f"{command}: {printed}"
            )
            assert re.search(shape, printed), f"{command} printed:\n{printed}"
        cabinet.send_signal(signal.SIGINT)
        cabinet.wait(PATIENCE_SECONDS)
        noise = [line for line in output_file.read_text()[len(first) :].splitlines() if "metrics" not in line]
        assert (cabinet.returncode, noise) == (0, [])
    finally:
        if cabinet.poll() is None:
            cabinet.terminate()
            cabinet.wait(PATIENCE_SECONDS)


def start_others(egm, folder):
    """Start each other machine of the README as printed, and query it with `--state` as the page says."""
    environment = {**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "COLUMNS", "PYTHONPATH", "VIRTUAL_ENV"):
        environment.pop(name, None)
    for given in README_MACHINES:
        words = [str(folder / word[2:]) if word.startswith("~/") else word for word in given]
        state = words[words.index("--state") + 1]
        cabinet = subprocess.Popen(
            [*egm, "run", *words],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _run(egm, ["device", "--state", state], folder, environment, until="bill acceptor")
            _run(egm, ["gat", "sign", "--state", state], folder, environment, until="Algorithm: sha1-hmac")
            _run(egm, ["meters", "--state", state], folder, environment, until="power_resets")
        finally:
            cabinet.send_signal(signal.SIGINT)
            assert cabinet.wait(PATIENCE_SECONDS) == 0


def _run(egm, words, folder, environment, until=""):
    """Run a command; with ``until``, repeat it until that is printed, while the cabinet starts."""
    for _ in range(PATIENCE_SECONDS):
        result = subprocess.run(
            [*egm, *words], cwd=folder, env=environment, check=False, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        if until in result.stdout:
            return result
    raise AssertionError(f"egm {' '.join(words)}: {result.stdout}{result.stderr}")


#: ``egm`` in this environment, in which no package of a laboratory's is to be found.
BARE = (
    sys.executable,
    "-c",
    f"import sys\nfor name in {sorted(_EXTRA_BY_PACKAGE)!r}: sys.modules[name] = None\nfrom tools.cli import main\nmain(prog_name='egm')",
)


@pytest.mark.slow
def test_the_readme_runs_as_printed_without_the_laboratory_packages(tmp_path):
    walk(BARE, tmp_path, without=LONG)


@pytest.mark.slow
def test_the_other_machines_of_the_readme_start_as_printed(tmp_path):
    assert len(README_MACHINES) == 2
    start_others(BARE, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_readme_runs_as_printed_in_an_environment_of_its_own(tmp_path):
    """Set up by `make`: only python3, the pinned requirement files and this checkout."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    files = ["-r", ROOT / "requirements.txt", "-r", ROOT / "requirements-build.txt"]
    result = subprocess.run([*pip, "--require-hashes", *files], check=False, capture_output=True, text=True)
    if result.returncode and re.search(
        r"ConnectionError|NewConnectionError|Temporary failure", result.stderr
    ):
        pytest.skip("no package index is to be reached from here")
    assert result.returncode == 0, result.stderr
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "-e", ROOT], check=True)
    lacking = subprocess.run([python, "-c", "import numpy"], check=False, capture_output=True)
    assert lacking.returncode == 1
    walk((str(tmp_path / "venv/bin/egm"),), tmp_path)


# ---------------------------------------------------------------- completion
@pytest.mark.parametrize(
    ("typed", "found"), [("egm cab", "cabinet"), ("egm cabinet ", "check"), ("egm meters --j", "--json"), ("egm register show handp", "handpays")]
)  # fmt: skip
def test_the_tab_key_completes_documented_commands(typed, found):
    words = typed.split(" ")
    environment = {
        **os.environ,
        "_EGM_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
    }
    egm = Path(sys.executable).with_name("egm")
    result = subprocess.run([egm], env=environment, check=True, capture_output=True, text=True)
    assert f"plain,{found}" in result.stdout.splitlines()
    script = subprocess.run(
        [egm], env={**os.environ, "_EGM_COMPLETE": "bash_source"}, check=True, capture_output=True, text=True
    )
    assert "_egm_completion" in script.stdout
    assert "_EGM_COMPLETE=bash_source" in (ROOT / "README.md").read_text()
