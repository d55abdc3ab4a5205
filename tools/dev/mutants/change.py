"""A mutant's change of a file: of a function by an operator, of a key of a TOML file, or of a quoted text.

Operators of a function, which is named as ``Class.method`` or ``function``:

* ``returns EXPRESSION``: the body is this alone;
* ``drops NAME``: no statement that is a call of this name is made;
* ``without NAME``: calls are made without the keyword argument of this name;
* ``flips NUMBER``: the condition of this number, in the order of the text, is the contrary;
* ``calls A B``: a call of ``A`` is one of the expression ``B``.

``is EXPRESSION`` is of a constant of a module or a class: its value is this.
"""

import ast
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from tools.dev.conformance.requirements import Mutant

_HEADER: Final = re.compile(r"^(\[{1,2})([^\[\]]+)\]{1,2}\s*(?:#.*)?$")
_IDENTITY: Final = re.compile(r"""^id\s*=\s*["']([^"']+)["']""")


class MutantError(Exception):
    """A mutant that cannot be tried; the message names its file and says why."""


def changed(mutant: Mutant, root: Path) -> str:
    """Return the text of the mutant's file with its behaviour removed.

    Raises :class:`MutantError` unless the text to remove is there exactly once.
    """
    try:
        text = (root / mutant.file).read_text(encoding="utf-8")
    except OSError as error:
        raise MutantError(f"{mutant.file}: {error.strerror}") from error
    if mutant.function:
        return _of_function(mutant, text)
    if mutant.key:
        return _of_key(mutant, text)
    if (found := text.count(mutant.text)) != 1:
        raise MutantError(
            f"{mutant.file} holds the text to be taken away {found} times, not once: {mutant.text!r}"
        )
    result = text.replace(mutant.text, mutant.becomes)
    if mutant.file.endswith(".py"):
        try:
            compile(result, mutant.file, "exec")
        except SyntaxError as error:
            raise MutantError(f"{mutant.file} would not be Python: {error}") from error
    return result


def _of_key(mutant: Mutant, text: str) -> str:
    """Return the TOML text with another value at the key; a list entry is named by its ``id``."""
    lines = text.splitlines(keepends=True)
    found = []
    path: list[tuple[str, str]] = []  # tables around a line: their names, and the ids of entries of lists
    is_entry = False
    for number, line in enumerate(lines):
        if header := _HEADER.match(line):
            names = [name.strip().strip("\"'") for name in header[2].split(".")]
            same = 0
            while same < min(len(path), len(names)) and path[same][0] == names[same]:
                same += 1
            is_entry = header[1] == "[["
            again = is_entry and same == len(names)
            path = [*path[: same - again], *((name, "") for name in names[same - again :])]
        elif is_entry and (identity := _IDENTITY.match(line)):
            path[-1] = (path[-1][0], identity[1])
        elif value := re.match(r"^([\w-]+|\"[^\"]+\")(\s*=\s*)", line):
            named = [part for entry in path for part in entry if part] + [value[1].strip('"')]
            if ".".join(named) == mutant.key:
                found.append((number, value.end()))
    if len(found) != 1:
        raise MutantError(f"{mutant.file} has {len(found)} lines with the key {mutant.key}, not one")
    number, start = found[0]
    lines[number] = f"{lines[number][:start]}{mutant.becomes}\n"
    result = "".join(lines)
    try:
        if tomllib.loads(result) == tomllib.loads(text):
            raise MutantError(f"{mutant.file}: {mutant.key} is {mutant.becomes} already")
    except tomllib.TOMLDecodeError as error:
        raise MutantError(f"{mutant.file} would not be TOML: {error}") from error
    return result


def _of_function(mutant: Mutant, text: str) -> str:
    """Return the Python text with an operator applied to one function or constant."""
    tree = ast.parse(text)
    operator, _, operand = mutant.change.partition(" ")
    if operator not in _OPERATORS:
        raise MutantError(f"{mutant.file}: {operator!r} is no operator; they are {', '.join(_OPERATORS)}")
    scope: list[ast.stmt] = tree.body
    found: ast.stmt | None = None
    for name in mutant.function.split("."):
        found = next((node for node in scope if name in _names(node)), None)
        scope = getattr(found, "body", [])
    kinds = (ast.Assign, ast.AnnAssign) if operator == "is" else (ast.FunctionDef, ast.AsyncFunctionDef)
    if not isinstance(found, kinds):
        raise MutantError(f"{mutant.file} has no {mutant.function} that {mutant.change!r} could be of")
    before = ast.dump(found)
    _OPERATORS[operator](found, operand)
    if ast.dump(found) == before:
        raise MutantError(f"{mutant.file}: {mutant.change!r} changes nothing of {mutant.function}")
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _returns(function: Any, operand: str) -> None:
    function.body = [ast.Return(_expression(operand))]


def _is(constant: Any, operand: str) -> None:
    constant.value = _expression(operand)


def _drops(function: Any, operand: str) -> None:
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                left = [statement for statement in block if not _is_call(statement, operand)]
                setattr(node, name, left if left or not block else [ast.Pass()])


def _is_call(statement: ast.stmt, name: str) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    call = call.value if isinstance(call, ast.Await) else call
    return isinstance(call, ast.Call) and ast.unparse(call.func) == name


def _without(function: Any, operand: str) -> None:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != operand]


def _flips(function: Any, operand: str) -> None:
    branches = [node for node in ast.walk(function) if isinstance(node, ast.If | ast.IfExp | ast.While)]
    branches.sort(key=lambda node: (node.test.lineno, node.test.col_offset))
    if len(branches) >= int(operand):
        branch = branches[int(operand) - 1]
        branch.test = ast.UnaryOp(ast.Not(), branch.test)


def _calls(function: Any, operand: str) -> None:
    old, _, new = operand.partition(" ")
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == old:
            node.func = _expression(new)


_OPERATORS: Final[Mapping[str, Callable[[Any, str], None]]] = {
    "returns": _returns,
    "drops": _drops,
    "without": _without,
    "flips": _flips,
    "calls": _calls,
    "is": _is,
}


def _names(node: ast.stmt) -> set[str]:
    """Return the names that a definition or an assignment binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}
