"""The table class of all commands truncates nothing at any width, and prints the same data as JSON, CSV and text."""

import ast
import csv
import io
import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from tools.cli import main
from tools.cli.tables import (
    GOOD_STYLE,
    Column,
    Table,
    add_format_options,
    build_facts_table,
    build_number_column,
    show,
    show_progress,
)

ROOT = Path(__file__).parents[3]
ROWS = [
    ("lantern-harbour/grand", "a level of the machine's own, fed by every wager", 1_234_567, None),
    ("x", "水" * 9, 0, "Anna"),
    ("\x1b[2Kred", "", -5, "[red]no markup[/red]"),
]
COLUMNS = (
    "level",
    "what it is",
    build_number_column("amount", "amount_cents"),
    Column("who", choose_style=lambda _: GOOD_STYLE),
)


def words(text):
    return sorted(text.replace("─", " ").split())


@pytest.mark.parametrize("width", [10, 20, 30, 40, 60, 80, 200])
def test_no_word_is_truncated_at_any_width(width):
    whole_text = Table(COLUMNS, ROWS).to_text()
    drawn = click.unstyle(Table(COLUMNS, ROWS).to_text(width))
    expected_words = {
        word
        for word in words(click.unstyle(whole_text))
        if word not in {"level", "who", "what", "it", "is", "amount"}
    }
    assert expected_words <= set(words(drawn))
    longest = max(cell_len(word) for word in expected_words)
    if width >= longest + len("what it is") + 2:
        assert max(map(cell_len, drawn.splitlines())) <= width


def test_a_table_wraps_and_then_shows_each_row_as_a_block():
    wrapped = click.unstyle(Table(COLUMNS, ROWS).to_text(80)).splitlines()
    assert wrapped[0].split() == ["level", "what", "it", "is", "amount", "who"]
    assert set(wrapped[1]) == {"─", " "}
    blocks = click.unstyle(Table(COLUMNS, ROWS).to_text(30)).split("\n\n")
    assert len(blocks) == len(ROWS)
    assert "amount      1,234,567" in blocks[0].splitlines()


@pytest.mark.parametrize("width", [30, 40, 60, 100])
def test_a_wide_table_of_figures_continues_below_with_its_row_names_repeated(width):
    titles = (
        "level",
        *(
            build_number_column(title)
            for title in ("shows", "hidden", "overflow", "hits", "to the hidden pool")
        ),
    )
    rows = [("lantern.harbour.25", 1_234_567, 0, 12, 3, 7), ("x", 2, 3, 4, 5, 1_000_000)]
    drawn = click.unstyle(Table(titles, rows, title="levels", identifying_column_count=1).to_text(width))
    assert max(map(cell_len, drawn.splitlines())) <= width
    parts = drawn.removeprefix("levels\n").split("\n\n")
    assert len(parts) == {30: 5, 40: 3, 60: 2, 100: 1}[width]
    assert all(
        part.startswith("level") and "\nlantern.harbour.25 " in part and "\nx " in part for part in parts
    )
    printed_words = words(drawn.replace("lantern.harbour.25", "").replace("level", ""))
    assert {"1,234,567", "1,000,000", "12", "hits", "overflow", "pool"} <= set(printed_words)


def test_columns_are_aligned_with_double_width_letters():
    lines = click.unstyle(Table(("a", "b"), [("水水", 1), ("abcd", 2)]).to_text()).splitlines()
    assert [cell_len(line[: line.index(digit)]) for line, digit in zip(lines[2:], "12", strict=True)] == [
        6,
        6,
    ]


@click.command()
@add_format_options
def run_table_command(output_format):
    """A command with a table."""
    show(output_format, Table(COLUMNS, ROWS), text_before="text before", text_after="text after")


def test_json_and_csv_contain_the_values_and_no_control_sequence_is_printed():
    read = json.loads(CliRunner().invoke(run_table_command, ["--json"]).output)
    assert [tuple(row.values()) for row in read] == ROWS
    assert list(read[0]) == ["level", "what_it_is", "amount_cents", "who"]
    csv_output = CliRunner().invoke(run_table_command, ["--csv"]).output
    lines = list(csv.DictReader(io.StringIO(csv_output)))
    assert [line["amount_cents"] for line in lines] == ["1234567", "0", "-5"]
    assert lines[2]["level"] == "\\x1b[2Kred"
    text = CliRunner().invoke(run_table_command, []).output
    assert (text.startswith("text before\n"), text.endswith("text after\n")) == (True, True)
    assert "\x1b" not in csv_output + text
    assert "[red]no markup[/red]" in text


def test_a_pipe_has_no_width_unless_columns_is_set():
    longest = max(map(len, CliRunner().invoke(run_table_command, []).output.splitlines()))
    assert longest > 80
    narrow = CliRunner(env={"COLUMNS": "70"}).invoke(run_table_command, []).output
    assert max(map(len, narrow.splitlines())) <= 70


def test_a_column_of_lists_is_wrapped_also_in_a_pipe():
    listed = ", ".join(f"name-{n}" for n in range(60))
    table = Table(("line", Column("there are", width_max=40)), [(1, listed), (2, "x" * 50)])
    lines = table.to_text().splitlines()
    assert max(map(len, lines)) == 6 + 50  # no word is cut
    assert " ".join(line[6:] for line in lines[2:-1]) == listed
    (json_row,) = table.to_json_rows()[:1]
    assert json_row["there_are"] == listed


def test_an_empty_table_prints_its_text_and_an_empty_json_list():
    table = Table(("a", "b"), empty_text="nothing yet")
    assert (table.to_text(80), table.to_json_rows(), table.to_csv()) == ("nothing yet", [], "a,b\n")
    assert not table


def test_facts_have_no_heading_and_nested_values_are_readable():
    text = build_facts_table([("doors", ["main", "top"]), ("open", True), ("inside", {"5": 2})]).to_text()
    assert text.splitlines() == ["doors   main, top", "open    yes", "inside  5 2"]


def test_progress_is_shown_only_on_a_terminal(capfd):
    with show_progress("counting\x1b[2K", 3) as report_progress:
        for i in range(3):
            report_progress(i + 1)
    assert capfd.readouterr() == ("", "")


def _functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def test_every_command_with_a_table_has_json_and_csv():
    """All commands print tables with the common class."""
    found = 0
    for file in sorted((ROOT / "tools/cli/commands").glob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        assert not [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module in {"rich.table", "rich.progress", "rich.box"}
        ], file.name
        for function in _functions(tree):
            taking = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
            marks = {ast.unparse(mark) for mark in function.decorator_list}
            if any(
                mark.split("(")[0].endswith("command") for mark in marks
            ) and "output_format: OutputFormat" in ast.unparse(function.args):
                assert "add_format_options" in marks, f"{file.name}: {function.name}"
                assert "output_format" in taking
                found += 1
    assert found > 25


@pytest.mark.parametrize(
    "words", ["register list", "profile list", "people roles", "rng selftest"], ids=str
)  # fmt: skip
@pytest.mark.parametrize("columns", ["40", "80"])
def test_tables_of_real_commands_are_complete_at_any_width(words, columns):
    wide = CliRunner().invoke(main, words.split())
    narrow = CliRunner(env={"COLUMNS": columns}).invoke(main, words.split())
    assert (wide.exit_code, narrow.exit_code) == (0, 0), narrow.output
    rows = json.loads(CliRunner().invoke(main, [*words.split(), "--json"]).output)
    assert rows
    assert "…" not in narrow.output
    for row in rows:
        for value in row.values():
            text = ", ".join(value) if isinstance(value, list) else str(value)
            assert set(text.split()) <= set(narrow.output.split())
