"""Apply a mutant's change to a file: to a function by an operator, to a key of a TOML file, or to a quoted text.

Operators of a function, which is named as ``Class.method`` or ``function``:

* ``returns EXPRESSION`` replaces the body by a return of this expression;
* ``drops NAME`` removes every statement that is a call of this name;
* ``without NAME`` removes the keyword argument of this name from all calls;
* ``flips NUMBER`` negates the condition of this number, in the order of the text;
* ``calls A B`` replaces the function ``A`` in all calls by the expression ``B``.

``is EXPRESSION`` sets the value of a constant of a module or a class.
"""

import ast
import builtins
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from tools.dev.conformance.requirements import Mutant

_TABLE_HEADER_PATTERN: Final = re.compile(r"^(\[{1,2})([^\[\]]+)\]{1,2}\s*(?:#.*)?$")
_WORD_PATTERN: Final = re.compile(r"[^\W\d]\w*")
_ID_LINE_PATTERN: Final = re.compile(r"""^id\s*=\s*["']([^"']+)["']""")


class MutantError(Exception):
    """Raised if a mutant cannot be applied; the message names its file and the reason."""


def apply_mutant(mutant: Mutant, root: Path) -> str:
    """Return the text of the mutant's file with its behaviour removed.

    Raises :class:`MutantError` unless the text to remove occurs exactly once. Also raises it if the change uses a name
    that the file does not have: tests would then fail for that, not because the behaviour is missing.
    """
    text, result = _read_and_change(mutant, root)
    if mutant.file.endswith(".py") and (unknown := _find_unknown_names(text, result)):
        raise MutantError(f"{mutant.file} has no {', '.join(unknown)}, which the change uses")
    return result


def _read_and_change(mutant: Mutant, root: Path) -> tuple[str, str]:
    """Return the text of the mutant's file before and after its change."""
    try:
        text = (root / mutant.file).read_text(encoding="utf-8")
    except OSError as error:
        raise MutantError(f"{mutant.file}: {error.strerror}") from error
    if mutant.function:
        return text, _change_function(mutant, text)
    if mutant.key:
        return text, _change_key(mutant, text)
    if (occurrence_count := text.count(mutant.text)) != 1:
        raise MutantError(
            f"{mutant.file} contains the text to remove {occurrence_count} times, not once: {mutant.text!r}"
        )
    result = text.replace(mutant.text, mutant.becomes)
    if mutant.file.endswith(".py"):
        try:
            compile(result, mutant.file, "exec")
        except SyntaxError as error:
            raise MutantError(f"{mutant.file} would not be Python: {error}") from error
    return text, result


def _find_unknown_names(text: str, result: str) -> list[str]:
    """Return the names that a change uses, and that neither the file nor Python defines, in order.

    ``text`` is the file before the change, ``result`` after it. Only words that the file did not contain before are
    examined. Of attributes, only private ones are: the class of any other may be defined in another file.
    """
    new_words = {*_WORD_PATTERN.findall(result)} - {*_WORD_PATTERN.findall(text)} - vars(builtins).keys()
    if not new_words:
        return []
    bound: set[str] = set()
    used: set[str] = set()
    for node in ast.walk(ast.parse(result)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.Attribute(attr=name) if name.startswith("_"):
                used.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                bound.update(alias.asname or alias.name for alias in aliases)
    return sorted(used & new_words - bound)


def _change_key(mutant: Mutant, text: str) -> str:
    """Return the TOML text with the mutant's value at its key; a list entry is named by its ``id``."""
    lines = text.splitlines(keepends=True)
    matches = []
    path: list[tuple[str, str]] = []  # names of the enclosing tables, and the ids of list entries
    is_entry = False
    for number, line in enumerate(lines):
        if header := _TABLE_HEADER_PATTERN.match(line):
            names = [name.strip().strip("\"'") for name in header[2].split(".")]
            common_depth = 0
            while common_depth < min(len(path), len(names)) and path[common_depth][0] == names[common_depth]:
                common_depth += 1
            is_entry = header[1] == "[["
            is_next_entry = is_entry and common_depth == len(names)
            path = [
                *path[: common_depth - is_next_entry],
                *((name, "") for name in names[common_depth - is_next_entry :]),
            ]
        elif is_entry and (identity := _ID_LINE_PATTERN.match(line)):
            path[-1] = (path[-1][0], identity[1])
        elif value := re.match(r"^([\w-]+|\"[^\"]+\")(\s*=\s*)", line):
            named = [part for entry in path for part in entry if part] + [value[1].strip('"')]
            if ".".join(named) == mutant.key:
                matches.append((number, value.end()))
    if len(matches) != 1:
        raise MutantError(f"{mutant.file} has {len(matches)} lines with the key {mutant.key}, not one")
    number, start = matches[0]
    lines[number] = f"{lines[number][:start]}{mutant.becomes}\n"
    result = "".join(lines)
    try:
        if tomllib.loads(result) == tomllib.loads(text):
            raise MutantError(f"{mutant.file}: {mutant.key} already is {mutant.becomes}")
    except tomllib.TOMLDecodeError as error:
        raise MutantError(f"{mutant.file} would not be TOML: {error}") from error
    return result


def _change_function(mutant: Mutant, text: str) -> str:
    """Return the Python text after the mutant's operator has changed one function or constant."""
    tree = ast.parse(text)
    operator, _, operand = mutant.change.partition(" ")
    if operator not in _OPERATOR_BY_NAME:
        raise MutantError(
            f"{mutant.file}: {operator!r} is not an operator; the operators are {', '.join(_OPERATOR_BY_NAME)}"
        )
    scope: list[ast.stmt] = tree.body
    definition: ast.stmt | None = None
    for name in mutant.function.split("."):
        definition = next((node for node in scope if name in _list_bound_names(node)), None)
        scope = getattr(definition, "body", [])
    kinds = (ast.Assign, ast.AnnAssign) if operator == "is" else (ast.FunctionDef, ast.AsyncFunctionDef)
    if not isinstance(definition, kinds):
        raise MutantError(f"{mutant.file} has no {mutant.function} to which {mutant.change!r} applies")
    dump_before = ast.dump(definition)
    _OPERATOR_BY_NAME[operator](definition, operand)
    if ast.dump(definition) == dump_before:
        raise MutantError(f"{mutant.file}: {mutant.change!r} does not change {mutant.function}")
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _parse_expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _replace_body(function: Any, operand: str) -> None:
    function.body = [ast.Return(_parse_expression(operand))]


def _replace_value(constant: Any, operand: str) -> None:
    constant.value = _parse_expression(operand)


def _remove_calls(function: Any, operand: str) -> None:
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                remaining_statements = [statement for statement in block if not _is_call(statement, operand)]
                setattr(
                    node, name, remaining_statements if remaining_statements or not block else [ast.Pass()]
                )


def _is_call(statement: ast.stmt, name: str) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    call = call.value if isinstance(call, ast.Await) else call
    return isinstance(call, ast.Call) and ast.unparse(call.func) == name


def _remove_keyword(function: Any, operand: str) -> None:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != operand]


def _negate_condition(function: Any, operand: str) -> None:
    branches = [node for node in ast.walk(function) if isinstance(node, ast.If | ast.IfExp | ast.While)]
    branches.sort(key=lambda node: (node.test.lineno, node.test.col_offset))
    if len(branches) >= int(operand):
        branch = branches[int(operand) - 1]
        branch.test = ast.UnaryOp(ast.Not(), branch.test)


def _replace_called_function(function: Any, operand: str) -> None:
    old_name, _, new_expression = operand.partition(" ")
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == old_name:
            node.func = _parse_expression(new_expression)


_OPERATOR_BY_NAME: Final[Mapping[str, Callable[[Any, str], None]]] = {
    "returns": _replace_body,
    "drops": _remove_calls,
    "without": _remove_keyword,
    "flips": _negate_condition,
    "calls": _replace_called_function,
    "is": _replace_value,
}


def _list_bound_names(node: ast.stmt) -> set[str]:
    """Return the names that a definition or an assignment binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}
