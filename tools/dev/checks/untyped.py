"""Count what the type checker cannot see in the product; the counts may only decrease.

Counted in the source of ``egm``, ``meters``, ``paytables`` and ``rng``: every use of ``typing.Any`` and of
its alias ``Json`` in ``paytables``, and every function with an argument or result that is or contains a
mapping of ``Any`` (``dict[str, Any]``, ``Mapping[str, Any]``).

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
from tools.dev.checks.source import Module, modules

COUNTED: Final = ("egm", "meters", "paytables", "rng")
_ANY: Final = frozenset({"typing.Any", "paytables.contract.Json", "paytables.Json"})
#: In an annotation that is written as text.
_IN_TEXT: Final = re.compile(r"^(Any|\w+\[.*\bAny\b.*\].*)$")
_TABLES: Final = frozenset({"dict", "Mapping", "MutableMapping"})


@dataclass(frozen=True, slots=True, order=True)
class Counts:
    """Uses of ``Any``, and functions with a table of it in their signatures."""

    uses: int
    signatures: int


#: As many as there are; one more fails. Lower them with every one that goes.
MOST: Final = Counts(uses=302, signatures=111)


def _uses(module: Module, *nodes: ast.AST) -> Iterator[ast.AST]:
    """Yield each use of ``Any`` within these nodes, including annotations written as strings."""
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and part not in module.docstrings:
                if isinstance(part.value, str) and _IN_TEXT.search(part.value):
                    yield part
            elif (
                isinstance(part, ast.Name | ast.Attribute)
                and (module.dotted(part) or _own(module, part)) in _ANY
            ):
                yield part


def _own(module: Module, node: ast.AST) -> str:
    """Return the definition behind a name that the module itself defines."""
    return f"{module.name}.{node.id}" if isinstance(node, ast.Name) else ""


def _has_table(module: Module, node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Subscript)
        and isinstance(part.value, ast.Name)
        and part.value.id in _TABLES
        and any(True for _ in _uses(module, part.slice))
        for part in ast.walk(node)
    )


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    given = node.args
    every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    annotations = [each.annotation for each in every if each is not None]
    return [each for each in (*annotations, node.returns) if each is not None]


def count(root: Path) -> Counts:
    """Return the counts of the tree at ``root``. Raises SyntaxError for a file that cannot be parsed."""
    uses = signatures = 0
    for module in modules(root, COUNTED).values():
        uses += sum(1 for _ in _uses(module, *(n for n in module.nodes if isinstance(n, ast.Module))))
        signatures += sum(
            any(_has_table(module, each) for each in _signature(node))
            for node in module.nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
    return Counts(uses, signatures)


def main(arguments: list[str]) -> int:
    """Print the counts of the tree named, or of this one; 0 where neither has grown."""
    found = count(Path(arguments[0]) if arguments else Path())
    echo(f"untyped: Any {found.uses} times, in the signatures of {found.signatures} functions as a table")
    grown = found.uses > MOST.uses or found.signatures > MOST.signatures
    if grown:
        echo(f"untyped: there were {MOST.uses} and {MOST.signatures}: give what is new its type")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
