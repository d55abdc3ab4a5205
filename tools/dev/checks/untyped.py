"""Count untyped values in the source of ``egm``, ``meters``, ``paytables`` and ``rng``; the counts may only decrease.

Two things are counted: every use of ``typing.Any`` and of its alias ``Json`` in ``paytables``, by these names; and
every function with an argument or result that is or contains a mapping of ``Any`` (``dict[str, Any]``, ``Mapping[str,
Any]``).

``python -m tools.dev.checks.untyped [ROOT]`` prints both counts and exits with 1 if either has grown.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.cli.terminal import echo

COUNTED_PACKAGES: Final = ("egm", "meters", "paytables", "rng")
_UNTYPED_NAMES: Final = frozenset({"Any", "Json"})
#: In an annotation that is written as text.
_ANY_IN_TEXT_PATTERN: Final = re.compile(r"^(Any|\w+\[.*\bAny\b.*\].*)$")
_MAPPING_TYPE_NAMES: Final = frozenset({"dict", "Mapping", "MutableMapping"})


@dataclass(frozen=True, slots=True, order=True)
class UntypedCounts:
    """The number of uses of ``Any``, and of functions with a mapping of ``Any`` in their signatures."""

    any_count: int
    signature_count: int


#: Maximum counts. Lower them whenever a use is removed.
COUNTS_MAX: Final = UntypedCounts(any_count=327, signature_count=120)


def _is_any(node: ast.AST) -> bool:
    """Return whether a syntax node is a use of ``Any``, also in an annotation written as text."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _UNTYPED_NAMES
        case ast.Constant(value=str() as text):
            return _ANY_IN_TEXT_PATTERN.search(text) is not None
    return False


def _is_mapping_of_any(node: ast.AST) -> bool:
    is_mapping = (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in _MAPPING_TYPE_NAMES
    )
    return is_mapping and any(map(_is_any, ast.walk(node)))


def _iter_annotations(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the annotations of a function's arguments and result."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for part in ast.walk(node.args):
            if isinstance(part, ast.arg) and part.annotation is not None:
                yield part.annotation
        if node.returns is not None:
            yield node.returns


def count(root: Path) -> UntypedCounts:
    """Return the counts of the tree at ``root``. Raises SyntaxError for a file that cannot be parsed."""
    nodes = [
        node
        for package in COUNTED_PACKAGES
        for path in (root / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes(), str(path)))
    ]
    signatures = [[part for each in _iter_annotations(node) for part in ast.walk(each)] for node in nodes]
    return UntypedCounts(
        sum(map(_is_any, nodes)), sum(any(map(_is_mapping_of_any, parts)) for parts in signatures)
    )


def main(arguments: list[str]) -> int:
    """Print the counts of the tree named in ``arguments``, or of this checkout; return 0 if neither has increased."""
    counts = count(Path(arguments[0]) if arguments else Path())
    echo(
        f"untyped: Any {counts.any_count} times, in the signatures of {counts.signature_count} functions as a table"
    )
    has_increased = (
        counts.any_count > COUNTS_MAX.any_count or counts.signature_count > COUNTS_MAX.signature_count
    )
    if has_increased:
        echo(
            f"untyped: the limits are {COUNTS_MAX.any_count} and {COUNTS_MAX.signature_count}: "
            "give what is new its type"
        )
    return 1 if has_increased else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
