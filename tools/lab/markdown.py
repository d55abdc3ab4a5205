"""Markdown helpers for generated pages."""

from collections.abc import Iterable, Sequence


def format_table(
    column_titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    right_aligned_columns: frozenset[int] = frozenset(),
) -> str:
    """Return a Markdown table; the columns in ``right_aligned_columns`` are right-aligned."""
    rule = ["---:" if column in right_aligned_columns else "---" for column in range(len(column_titles))]
    lines = [column_titles, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
