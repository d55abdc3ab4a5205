"""Tables for every command: on a terminal of any width, in a pipe, as JSON and as CSV.

A command makes a :class:`Table` of plain values and gives it to :func:`show` with the form that
:func:`add_format_options` took from the command line. On a terminal a table wraps between words. A table of
figures that still does not fit is split into several tables, one below the other, each with the columns that
identify a row. Any other table is printed as one block of ``column  value`` lines per row. Nothing is cut,
and values from files or journals cannot send control sequences to the terminal (:mod:`tools.cli.terminal`).
"""

import csv
import io
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

import click
from rich.cells import cell_len

from tools.cli.terminal import Terminal, echo, format_json, make_lines_printable, make_printable

#: The format in which a command prints its tables.
OutputFormat = Literal["text", "json", "csv"]
#: The style of a cell on a terminal: arguments for ``click.style``.
Style = dict[str, Any]

#: The columns of a table; a text is the title of a plain column.
Columns = Sequence["Column | str"]
_CommandT = TypeVar("_CommandT", bound=Callable[..., Any])
#: What separates columns on a terminal.
_COLUMN_GAP: Final = "  "
#: The width of an output without a line limit.
_WIDTH_WITHOUT_LIMIT: Final = 1 << 30

#: The style of what is right.
GOOD_STYLE: Final[Style] = {"fg": "green"}
#: The style of what should be questioned.
DOUBT_STYLE: Final[Style] = {"fg": "yellow"}
#: The style of what is wrong.
BAD_STYLE: Final[Style] = {"fg": "red", "bold": True}


def format_cell(value: Any) -> str:
    """Return a value as the text of a table cell: yes or no for a bool, lists with commas, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} {format_cell(part)}" for key, part in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(map(format_cell, value))
    return str(value)


def _to_spreadsheet_cell(value: Any) -> str:
    """Return a value for a spreadsheet cell; a nested value is written as JSON."""
    parts = value if isinstance(value, list | tuple) else (value,)
    has_names = any(isinstance(part, dict) for part in parts)
    return format_json(value) if has_names else format_cell(value)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a printed table. ``key`` is its name in JSON and CSV, by default the title with underscores.

    ``format_value`` returns a value as the terminal displays it; JSON and CSV contain the value itself.
    """

    title: str
    key: str = ""
    is_right_aligned: bool = False
    format_value: Callable[[Any], str] = format_cell
    choose_style: Callable[[Any], Style | None] = lambda _: None
    width_max: int = _WIDTH_WITHOUT_LIMIT
    """The maximum width in characters, even if the terminal is wider; for columns whose cells are long lists."""

    @property
    def name(self) -> str:
        """Return the column's name in JSON and CSV."""
        title_words = "".join(letter if letter.isalnum() else " " for letter in self.title.lower())
        return self.key or "_".join(title_words.split()) or "value"


def format_figure(value: Any) -> str:
    """Return a whole number with thousands separators, None as a dash, anything else as text."""
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else format_cell(value)


def build_number_column(title: str, key: str = "") -> Column:
    """Return a column of whole numbers, shown with thousands separators."""
    return Column(title, key, is_right_aligned=True, format_value=format_figure)


@dataclass(slots=True)
class Table:
    """A table of values to print; a column given as text becomes a :class:`Column` with this text as its title."""

    columns: Columns
    rows: Iterable[Iterable[Any]] = ()
    title: str = ""
    empty_text: str = "none"
    """The text a terminal shows for a table without rows."""
    shows_titles: bool = True
    """Whether a terminal shows the column titles; False for a table of names and values."""
    identifying_column_count: int = 0
    """The number of leading columns that identify a row, in a table of figures.

    They are repeated if the table is split because it is too wide.
    """
    _columns: tuple[Column, ...] = field(init=False)
    _rows: list[tuple[Any, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self._columns = tuple(
            Column(column) if isinstance(column, str) else column for column in self.columns
        )
        self._rows = [tuple(row) for row in self.rows]

    def __bool__(self) -> bool:
        """Return whether there is any row."""
        return bool(self._rows)

    def to_json_rows(self) -> list[dict[str, Any]]:
        """Return the rows as JSON objects, by column name."""
        names = [column.name for column in self._columns]
        return [dict(zip(names, row, strict=True)) for row in self._rows]

    def to_csv(self) -> str:
        """Return the rows as CSV, under the columns' names."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow([column.name for column in self._columns])
        writer.writerows([make_printable(_to_spreadsheet_cell(value)) for value in row] for row in self._rows)
        return buffer.getvalue()

    def to_text(self, width_max: int = _WIDTH_WITHOUT_LIMIT) -> str:
        """Return the table as text at most ``width_max`` characters wide; a longer word is not cut."""
        cells = [
            [
                make_lines_printable(column.format_value(value))
                for column, value in zip(self._columns, row, strict=True)
            ]
            for row in self._rows
        ]
        titles = [make_lines_printable(column.title) for column in self._columns] if self.shows_titles else []
        title_lines = [make_lines_printable(self.title)] if self.title else []
        if not cells:
            return "\n".join((*title_lines, self.empty_text))
        widths = _fit_widths(self._columns, titles, cells, width_max)
        if widths is None:
            parts = [part.to_text(width_max) for part in self._split_to_width(titles, cells, width_max)]
            return "\n".join(
                (*title_lines, "\n\n".join(parts or (self._format_block(row, width_max) for row in cells)))
            )
        lines = list(title_lines)
        if titles:
            lines += self._format_row(titles, widths, [None] * len(titles), bold=True)
            lines.append(_COLUMN_GAP.join("─" * width for width in widths))
        for row, values in zip(cells, self._rows, strict=True):
            styles = [column.choose_style(value) for column, value in zip(self._columns, values, strict=True)]
            lines += self._format_row(row, widths, styles)
        return "\n".join(lines)

    def _split_to_width(
        self, titles: Sequence[str], cells: Sequence[Sequence[str]], width_max: int
    ) -> list["Table"]:
        """Split the table by columns into tables that fit into ``width_max`` characters.

        Each has the columns that identify a row, and some of the remaining columns. Return an empty list if
        that is impossible.
        """

        def can_columns_fit(column_indexes: Sequence[int]) -> bool:
            """Return whether a table of these columns alone fits into the width."""
            chosen_titles = [titles[column_index] for column_index in column_indexes] if titles else ()
            rows = [[row[column_index] for column_index in column_indexes] for row in cells]
            return (
                _fit_widths(
                    [self._columns[column_index] for column_index in column_indexes],
                    chosen_titles,
                    rows,
                    width_max,
                )
                is not None
            )

        identifying_indexes = list(range(self.identifying_column_count))
        index_groups: list[list[int]] = []
        for column_index in range(self.identifying_column_count, len(self._columns)):
            if index_groups and can_columns_fit([*index_groups[-1], column_index]):
                index_groups[-1].append(column_index)
            elif identifying_indexes and can_columns_fit([*identifying_indexes, column_index]):
                index_groups.append([*identifying_indexes, column_index])
            else:
                return []
        return [
            Table(
                [self._columns[column_index] for column_index in index_group],
                ([row[column_index] for column_index in index_group] for row in self._rows),
                shows_titles=self.shows_titles,
            )
            for index_group in index_groups
        ]

    def _format_row(
        self, cells: Sequence[str], widths: Sequence[int], styles: Sequence[Style | None], **row_style: Any
    ) -> Iterator[str]:
        """Yield the lines of a row, with each cell wrapped to its column's width and in its style."""
        cell_lines_by_column = [_wrap_cell(cell, width) for cell, width in zip(cells, widths, strict=True)]
        for line_number in range(max(map(len, cell_lines_by_column))):
            parts = []
            for column, cell_lines, width, style in zip(
                self._columns, cell_lines_by_column, widths, styles, strict=True
            ):
                part = cell_lines[line_number] if line_number < len(cell_lines) else ""
                padding = " " * (width - cell_len(part))
                styled_text = (
                    click.style(part, **{**(style or {}), **row_style})
                    if part and (style or row_style)
                    else part
                )
                parts.append(padding + styled_text if column.is_right_aligned else styled_text + padding)
            yield _COLUMN_GAP.join(parts).rstrip()

    def _format_block(self, row: Sequence[str], width_max: int) -> str:
        """Return one row as a block of text, with one line for each column: title and value."""
        names = [make_lines_printable(column.title) or column.name for column in self._columns]
        name_width = max(map(cell_len, names))
        indent = "\n" + " " * (name_width + len(_COLUMN_GAP))
        value_width = max(width_max - name_width - len(_COLUMN_GAP), 1)
        return "\n".join(
            (
                f"{name}{' ' * (name_width - cell_len(name))}{_COLUMN_GAP}"
                f"{indent.join(_wrap_cell(cell, value_width))}"
            ).rstrip()
            for name, cell in zip(names, row, strict=True)
        )


def _wrap_cell(cell: str, width_max: int) -> list[str]:
    """Return a cell's text in lines of at most ``width_max`` characters."""
    wrapped = [
        part
        for line in cell.split("\n")
        for part in textwrap.wrap(line, width_max, break_long_words=False, break_on_hyphens=False) or [""]
    ]
    return wrapped or [""]


def _fit_widths(
    columns: Sequence[Column], titles: Sequence[str], rows: Sequence[Sequence[str]], width_max: int
) -> list[int] | None:
    """Return the column widths with which all columns fit into ``width_max``, or None if they cannot.

    The widest column is reduced first. No column becomes narrower than its longest word or figure.
    """
    widths, minimum_widths = [], []
    for index, column in enumerate(columns):
        cell_lines = [line for row in rows for line in row[index].split("\n")]
        title = titles[index] if titles else ""
        parts = [
            *title.split(),
            *(
                cell_lines
                if column.is_right_aligned
                else (word for line in cell_lines for word in line.split())
            ),
        ]
        minimum_widths.append(max(map(cell_len, parts), default=0))
        widths.append(
            min(max(map(cell_len, [title, *cell_lines])), max(column.width_max, minimum_widths[-1]))
        )
    excess = sum(widths) + len(_COLUMN_GAP) * (len(widths) - 1) - width_max
    while excess > 0:
        reducible_indexes = [index for index, width in enumerate(widths) if width > minimum_widths[index]]
        if not reducible_indexes:
            return None
        widest_index = max(reducible_indexes, key=lambda index: widths[index])
        widths[widest_index] -= 1
        excess -= 1
    return widths


def find_terminal_width() -> int:
    """Return the width of the terminal in characters, or the value of COLUMNS; unlimited for a pipe."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    return _WIDTH_WITHOUT_LIMIT


def add_format_options(command: _CommandT) -> _CommandT:
    """Add ``--json`` and ``--csv`` to a command, which gets the chosen one as its argument ``output_format``."""
    command = click.option("--csv", "output_format", flag_value="csv", type=str, help="For spreadsheets.")(
        command
    )
    command = click.option("--json", "output_format", flag_value="json", type=str, help="For scripts.")(
        command
    )
    return click.option("--text", "output_format", flag_value="text", type=str, default=True, hidden=True)(
        command
    )


def show(
    output_format: OutputFormat,
    *tables: Table,
    document: Any = None,
    text_before: str = "",
    text_after: str = "",
) -> None:
    """Print tables in the given format: text, JSON or CSV.

    ``document`` is the data to print as JSON; without it, JSON has the rows of the only table.
    ``text_before`` and ``text_after`` are sentences printed as text only. In CSV the tables are separated by
    an empty line.
    """
    if output_format == "json":
        echo(format_json(tables[0].to_json_rows() if document is None else document, indent=2))
    elif output_format == "csv":
        echo("\n".join(table.to_csv() for table in tables), nl=False)
    else:
        width = find_terminal_width()
        body = "\n\n".join(table.to_text(width) for table in tables)
        # cells are escaped (tools.cli.terminal) before they are styled
        click.echo(
            "\n".join(
                part
                for part in (make_lines_printable(text_before), body, make_lines_printable(text_after))
                if part
            )
        )


def build_facts_table(rows: Iterable[tuple[str, Any]], title: str = "") -> Table:
    """Return a table with two columns, name and value, without titles."""
    return Table(("fact", "value"), rows, title=title, shows_titles=False)


@contextmanager
def show_progress(activity: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Yield a function that shows progress on the terminal; call it with the number of steps done.

    Progress is shown only if standard error is a terminal, and is removed at the end.
    """
    console = Terminal(stderr=True)
    if not console.is_terminal:
        yield lambda done_count: None  # noqa: ARG005 (signature of the progress function)
        return
    from rich.progress import (  # noqa: PLC0415 (a tenth of the time of a short command)
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    count_columns = () if total is None else (MofNCompleteColumn(),)
    columns = (TextColumn("{task.description}"), BarColumn(), *count_columns, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task_id = progress.add_task(make_printable(activity), total=total)
        yield lambda done_count: progress.update(task_id, completed=done_count)
