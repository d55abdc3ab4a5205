"""Markdown helpers for generated pages."""

from collections.abc import Iterable, Sequence


def format_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], numeric: frozenset[int] = frozenset()
) -> str:
    """Return a Markdown table; the columns in ``numeric`` are right-aligned."""
    rule = ["---:" if column in numeric else "---" for column in range(len(head))]
    lines = [head, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
