"""Follow values within one module: the names that hold a source's value, however they received it.

Names are followed without regard to scope, which can only find more: any kind of assignment, a loop, a
function that returns what it read, another name for the source itself.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tools.dev.checks.source import Module

#: Whether an expression stands for a source: something that gives a value when it is called.
Source: TypeAlias = Callable[[ast.expr], bool]

#: Calls that give what they are given in another form. Any other call gives what it makes itself.
_FORMS: Final = frozenset(
    {
        "abs", "bin", "blake2b", "blake2s", "bytearray", "bytes", "dict", "divmod", "enumerate", "float",
        "Fraction", "frozenset", "from_bytes", "hash", "hex", "int", "iter", "iter_unpack", "join", "list",
        "map", "max", "min", "new", "next", "oct", "ord", "pow", "repr", "reversed", "round", "set", "sha1",
        "sha224", "sha256", "sha384", "sha3_256", "sha3_512", "sha512", "shake_256", "sorted", "str", "sum",
        "tuple", "unpack", "unpack_from", "zip",
    }
)  # fmt: skip


@dataclass(slots=True)
class Values:
    """The names of ``module`` that hold a value of ``source``, that stand for it, or that return one."""

    module: Module
    source: Source
    holders: set[str] = field(default_factory=set)
    givers: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        bindings = [binding for node in self.module.nodes for binding in _bindings(node)]
        functions = [n for n in self.module.nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        before = -1
        while before != (before := len(self.holders) + len(self.givers) + len(self.functions)):
            for target, value in bindings:
                if self._gives(value) or (isinstance(value, ast.Lambda) and self.within(value.body)):
                    self.givers.update(_names(target))
                elif self.within(value):
                    self.holders.update(_names(target))
            for function in functions:
                returned = (n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value)
                if any(self.within(value) for value in returned):
                    self.functions |= {function.name, f"self.{function.name}"}

    def within(self, node: ast.AST) -> bool:
        """Whether a value of the source is in ``node``, or the source itself."""
        return any(
            isinstance(part, ast.expr)
            and (self._gives(part) or _name(part) in self.holders or self._returns(part))
            for part in _parts(node)
        )

    def _gives(self, node: ast.expr) -> bool:
        return self.source(node) or _name(node) in self.givers

    def _returns(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and _name(node.func) in self.functions


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """``node`` and all within it that its value is made of."""
    yield node
    left_out: list[ast.AST] = []
    if isinstance(node, ast.Call) and called(node) not in _FORMS:
        left_out = [*node.args, *node.keywords]
    for child in ast.iter_child_nodes(node):
        if child not in left_out:
            yield from _parts(child)


def called(node: ast.Call) -> str:
    """Return the last part of the called name."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _name(node: ast.AST) -> str | None:
    """Return the name of a variable or of an attribute of ``self``, or None."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return f"self.{node.attr}"
    return None


def _names(target: ast.AST) -> Iterator[str]:
    """Yield the names that a target binds."""
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _names(part)
    elif isinstance(target, ast.Starred):
        yield from _names(target.value)
    elif (name := _name(target)) is not None:
        yield name


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each (target, value) pair that ``node`` binds."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield node.target, node.iter
