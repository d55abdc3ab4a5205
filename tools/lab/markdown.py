"""Markdown, for pages that are written from the code itself."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numeric: frozenset[int] = frozenset()) -> str:
    """A Markdown table; the columns in ``numeric`` are set to the right."""
    rule = ["---:" if column in numeric else "---" for column in range(len(head))]
    lines = [head, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
