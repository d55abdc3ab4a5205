"""Text from files and journals never controls the terminal: unprintable characters are shown escaped."""

import ast
import json
import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from egm.app.features import STAFF_REGISTERS
from egm.staff.inventory import INVENTORY_ENTRY_KIND as INVENTORY
from meters import Journal, Transaction, Transfer
from tools.cli import main
from tools.cli.terminal import (
    Terminal,
    echo,
    escape_markup,
    format_json,
    make_lines_printable,
    make_printable,
)

EVIL = "\x1b[2K\x9b31m\x07[red]all right[/red]\u202egnihton\u2066\r"
MARKED = "[red]all right[/red]"
ABOUT = ("kind", "serial", "operator_number", "person", "reason", "id")
NAMED = (
    *("kind", "manufacturer", "model", "made", "serial", "operator_number", "base_number"),
    *("site", "location", "photograph", "profile"),
)
ROOT = Path(__file__).parents[3]


def list_control_characters(text):
    """Return the characters in a text that control a terminal or its writing direction."""
    return [
        character
        for character in text
        if character != "\n" and unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co"}
    ]


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    """The memory of a machine in which every free text contains control sequences."""
    folder = tmp_path_factory.mktemp("state")
    with Journal.open(folder, now=lambda: datetime(2026, 5, 1, tzinfo=UTC)) as journal:

        def record(kind, **parts):
            journal.append(Transaction(id=journal.fresh_id(kind), kind=kind, **parts))

        for register in STAFF_REGISTERS.values():
            fields = dict.fromkeys((*register.columns, *ABOUT), EVIL) | {"persons": [EVIL], "meters": {}}
            fields["prizes"] = [{"id": EVIL, "names": {"en": EVIL}, "value_cents": 5}]
            if register.required_field and register.required_field != "prizes":
                fields[register.required_field] = EVIL
            record(register.entry_kinds[0], record=fields | dict(register.required_value_by_field or {}))
        after = dict.fromkeys(NAMED, EVIL) | {"games": [], "serial": EVIL, "operator_number": EVIL}
        record(INVENTORY, record={"before": None, "after": after})
        link = {"sequence": 1, "counted": 1, "since": 0, "shown_cents": 5, "falls": 0}
        record("progressive.ahead", state={f"link:{MARKED}": link})
        cents = Transfer("world:bill", "credit:1:cashable", 500, {"bill_cents": 500})
        record("bill.in", transfers=(cents,), dims={"game": MARKED})
    return folder


WALKS = [
    *(
        ["register", "show", name, "--state", "{}", *form]
        for name in STAFF_REGISTERS
        for form in ((), ("--csv",))
    ),
    ["register", "show", "visits", "--state", "{}", "--json"],
    ["intervention", "list", "--state", "{}"],
    ["intervention", "list", "--state", "{}", "--json"],
    ["inventory", "show", "--state", "{}"],
    ["inventory", "show", "--state", "{}", "--json"],
    ["inventory", "show", "--state", "{}", "--language", "fr"],
    ["levels", "--state", "{}"],
    ["meters", "--state", "{}", "--by", "game"],
    ["audit", "log", "events", "--state", "{}"],
    ["audit", "verify", "--state", "{}"],
    ["intervention", "show", EVIL, "--state", "{}"],
    ["audit", "verify", "--witness", EVIL, "--state", "{}"],
    ["ticket", "check", "123", "--state", "{}/" + EVIL],
    ["device", "--state", "{}/" + EVIL, "list"],
    ["gat", "status", "--state", "{}/" + EVIL],
    ["people", "list", "--state", "{}/" + EVIL],
]


@pytest.mark.parametrize("words", WALKS, ids=lambda words: ascii(" ".join(words))[1:50])
def test_no_command_prints_control_characters_from_the_machines_memory(words, state):
    run = CliRunner(env={"COLUMNS": "900"}).invoke(main, [word.replace("{}", str(state)) for word in words])
    assert run.exception is None or isinstance(run.exception, SystemExit), run.exception
    output = run.output.replace("\r\n", "\n")
    assert not list_control_characters(output), ascii(output)
    if "{}" in words and words[0] in {"register", "inventory"} and "--json" not in words:
        assert "x1b" in re.sub(r"[^\w]", "", output)  # it is there, and shown


def test_markup_in_a_name_is_shown_literally(state):
    for words in (["levels"], ["meters", "--by", "game"]):
        run = CliRunner(env={"COLUMNS": "200"}).invoke(main, [*words, "--state", str(state)])
        assert run.exit_code == 0, run.output
        assert MARKED in run.output


def test_printable_text_keeps_its_spaces_and_json_stays_valid():
    assert make_printable("5\xa0\u202f$ é") == "5\xa0\u202f$ é"
    assert make_printable(EVIL) == "\\x1b[2K\\x9b31m\\x07[red]all right[/red]\\u202egnihton\\u2066\\r"
    assert make_lines_printable("one\r\ntwo\n\x1b") == "one\ntwo\n\\x1b"
    assert escape_markup("[red]") == "\\[red]"
    for value in (EVIL, {"é": [EVIL, 1, None]}, "\U000e0041\ud800"):
        text = format_json(value, indent=1)
        assert not list_control_characters(text)
        assert json.loads(text) == value


#: The one place; and tables, whose cells have been through it before they are set apart by colour.
PRINTERS = {"egm/terminal.py": None, "tools/cli/terminal.py": None, "tools/cli/tables.py": {"click.echo"}}
PRINTS = {
    "click.echo",
    "click.secho",
    "print",
    "Console",
    "rich.print",
    "pprint",
    "sys.stdout.write",
    "sys.stderr.write",
}


#: A picture that is drawn anew and a table of our own figures: what a peer said in them is plain.
_TABLES = {
    "tools/dev/bench/__main__.py": {"rich.table.Table"},
}


def test_every_process_and_command_prints_through_the_terminal_module():
    """Text printed in any other way could contain control sequences that a terminal obeys."""
    found = {}
    last_parts = {name.rpartition(".")[2] for name in PRINTS}
    for path in sorted([*(ROOT / "tools").rglob("*.py"), *(ROOT / "egm").rglob("*.py")]):
        name = path.relative_to(ROOT).as_posix()
        allowed = PRINTERS.get(name, set())
        if allowed is None:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = (
            (node, node.attr if isinstance(node, ast.Attribute) else node.id)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute | ast.Name)
        )
        calls = {ast.unparse(node) for node, last in named if last in last_parts}
        imported = {
            f"{node.module}.{name.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        tables = {name for name in imported if name.startswith("rich.table.")} - _TABLES.get(name, set())
        if wrong := ((calls & PRINTS) - allowed) | tables | (imported & {"click.echo", "click.secho"}):
            found[name] = wrong
    assert found == {}


def test_echo_and_terminal_escape_control_characters(capsys):
    echo(EVIL, fg="red")
    echo(EVIL, err=True)
    Terminal(width=200).print(f"[bold]{escape_markup(EVIL)}[/bold]", EVIL.replace("[", "("))
    output = "".join(capsys.readouterr())
    assert not list_control_characters(output), ascii(output)
    assert output.count("nihton") == 4
